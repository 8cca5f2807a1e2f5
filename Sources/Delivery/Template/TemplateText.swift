/// A string value of a template: pieces of plain text and names of columns.
struct TemplateText: Equatable, Sendable {
    enum Piece: Equatable, Sendable {
        case literal(String)
        case column(String)
    }

    var pieces: [Piece]

    /// The names of the columns in it, in order.
    var columns: [String] {
        pieces.compactMap {
            if case .column(let name) = $0 { name } else { nil }
        }
    }

    /// The text when it has no placeholder.
    var constant: String? {
        switch pieces.count {
        case 0: ""
        case 1: if case .literal(let text) = pieces[0] { text } else { nil }
        default: nil
        }
    }

    /// Whether a row can make it empty.
    var mayBeEmpty: Bool {
        !pieces.contains { if case .literal(let text) = $0 { !text.isEmpty } else { false } }
    }

    init(constant text: String) {
        pieces = text.isEmpty ? [] : [.literal(text)]
    }

    /// Splits at `{{` and `}}`; the name between is trimmed of spaces.
    init(_ text: String) throws(TemplateError) {
        pieces = []
        let bytes = Array(text.utf8)
        var literalStart = 0
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "{") && bytes[index + 1] == UInt8(ascii: "{") else {
                index += 1
                continue
            }
            guard let end = Self.end(of: bytes, from: index + 2) else { throw Self.unclosed(at: nil) }
            if literalStart < index {
                pieces.append(.literal(String(decoding: bytes[literalStart..<index], as: UTF8.self)))
            }
            pieces.append(.column(try Self.name(bytes[(index + 2)..<end], at: nil)))
            index = end + 2
            literalStart = index
        }
        if literalStart < bytes.count {
            pieces.append(.literal(String(decoding: bytes[literalStart...], as: UTF8.self)))
        }
    }

    /// The index of the `}}` that ends a placeholder.
    static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] == UInt8(ascii: "}") && bytes[index + 1] == UInt8(ascii: "}") { return index }
            index += 1
        }
        return nil
    }

    static func unclosed(at position: TemplatePosition?) -> TemplateError {
        TemplateError(
            "a placeholder that starts with {{ has no }} in the same string", at: position,
            remedy: "write {{column}}, inside one JSON string")
    }

    /// The trimmed name between the braces, or why it is none.
    static func name(_ bytes: ArraySlice<UInt8>, at position: TemplatePosition?) throws(TemplateError) -> String {
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let start = bytes.firstIndex { !spaces.contains($0) } ?? bytes.endIndex
        let end = (bytes.lastIndex { !spaces.contains($0) }).map { $0 + 1 } ?? start
        guard start < end else {
            throw TemplateError(
                "a placeholder names no column: {{}}", at: position,
                remedy: "put a column of the audience between the braces")
        }
        let name = bytes[start..<end]
        guard !name.contains(UInt8(ascii: "|")) else {
            throw TemplateError(
                "filters are not known: {{\(String(decoding: name, as: UTF8.self))}}", at: position,
                remedy: "compute the value in the audience and name its column alone")
        }
        guard !name.contains(UInt8(ascii: "{")) && !name.contains(UInt8(ascii: "}")) else {
            throw TemplateError(
                "braces inside a placeholder: {{\(String(decoding: name, as: UTF8.self))}}", at: position,
                remedy: "write {{column}}")
        }
        return String(decoding: name, as: UTF8.self)
    }
}
