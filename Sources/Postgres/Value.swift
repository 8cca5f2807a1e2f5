/// One parameter of a statement.
///
/// The server infers the type from the place of use (`$1::bigint[]`), except for bytes.
package enum Value: Sendable {
    case null
    /// Must not contain U+0000, which Postgres has no text for.
    case text(String)
    case int(Int)
    /// A `bytea`, sent in binary.
    case bytes([UInt8])
    /// UTF-8 text that is at hand as bytes, such as a JSON document or an array's literal; no NUL.
    case utf8([UInt8])
    /// A value in the server's binary format, of the type with this OID: see ``BinaryArray``.
    case binary([UInt8], type: UInt32)

    /// A literal of integers for a parameter such as `$1::bigint[]`.
    package static func array(_ elements: [Int]) -> Value {
        var literal: [UInt8] = []
        literal.reserveCapacity(elements.count * 8 + 2)
        literal.append(UInt8(ascii: "{"))
        for element in elements {
            if literal.count > 1 { literal.append(UInt8(ascii: ",")) }
            literal.append(contentsOf: String(element).utf8)
        }
        literal.append(UInt8(ascii: "}"))
        return .utf8(literal)
    }

    /// A literal of integers with gaps.
    package static func array(_ elements: [Int?]) -> Value {
        array(elements.map { $0.map { String($0) } })
    }

    /// A literal of texts for a parameter such as `$1::text[]`; nil is NULL.
    package static func array(_ elements: [String?]) -> Value {
        var literal: [UInt8] = []
        literal.append(UInt8(ascii: "{"))
        for element in elements {
            if literal.count > 1 { literal.append(UInt8(ascii: ",")) }
            guard let element else {
                literal.append(contentsOf: "NULL".utf8)
                continue
            }
            literal.append(UInt8(ascii: "\""))
            for byte in element.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { literal.append(UInt8(ascii: "\\")) }
                literal.append(byte)
            }
            literal.append(UInt8(ascii: "\""))
        }
        literal.append(UInt8(ascii: "}"))
        return .utf8(literal)
    }
}

extension Value {
    /// Text or NULL.
    package static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }

    /// An integer or NULL.
    package static func optional(_ number: Int?) -> Value { number.map { .int($0) } ?? .null }
}
