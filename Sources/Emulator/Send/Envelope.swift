/// The request around a message, `{"message": …, "validate_only": bool}`; the message itself is not looked into.
struct Envelope: Equatable {
    /// What is wrong, in the server's words, and the field that the violation names.
    struct Fault: Error, Equatable {
        let field: String
        let description: String

        static let malformed = Fault(
            field: "", description: "Invalid JSON payload received. Expected an object with a message.")

        static func unknown(_ name: String) -> Fault {
            Fault(field: "", description: "Invalid JSON payload received. Unknown name \"\(name)\": Cannot find field.")
        }

        static func notBoolean(_ value: String) -> Fault {
            Fault(field: "validate_only", description: "Invalid value at 'validate_only' (TYPE_BOOL), \(value)")
        }
    }

    /// Where the message's value stands in the body; nil when there is none.
    private(set) var message: Range<Int>?
    private(set) var isValidateOnly = false

    /// Reads the names of the outer object; of a name that comes twice the last value counts.
    init(_ body: Span<UInt8>) throws(Fault) {
        var reader = EnvelopeReader()
        guard reader.take("{", body) else { throw .malformed }
        if !reader.take("}", body) {
            repeat {
                guard let name = reader.string(body), reader.take(":", body), let value = reader.value(body)
                else { throw .malformed }
                if Self.equals(name, "message", body) {
                    message = value
                } else if Self.equals(name, "validate_only", body) || Self.equals(name, "validateOnly", body) {
                    isValidateOnly = try Self.flag(value, body)
                } else {
                    throw .unknown(Self.text(name, body))
                }
            } while reader.take(",", body)
            guard reader.take("}", body) else { throw .malformed }
        }
        guard reader.isAtEnd(body) else { throw .malformed }
    }

    private static func flag(_ value: Range<Int>, _ body: Span<UInt8>) throws(Fault) -> Bool {
        if equals(value, "true", body) { return true }
        if equals(value, "false", body) || equals(value, "null", body) { return false }
        throw .notBoolean(text(value, body))
    }

    private static func equals(_ range: Range<Int>, _ expected: StaticString, _ body: Span<UInt8>) -> Bool {
        guard range.count == expected.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count where body[range.lowerBound + offset] != expected.utf8Start[offset] {
            return false
        }
        return true
    }

    private static func text(_ range: Range<Int>, _ body: Span<UInt8>) -> String {
        String(decoding: range.prefix(100).map { body[$0] }, as: UTF8.self)
    }
}
