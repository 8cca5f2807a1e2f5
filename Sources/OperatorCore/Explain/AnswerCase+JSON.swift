import Delivery

/// Why a line of a batch cannot be explained.
struct LineFault: Error, Equatable, Sendable {
    let reason: String
    /// The line's own name, where it could be read.
    var name: String?
}

extension AnswerCase {
    /// What a line of a batch may leave out.
    struct Defaults: Sendable {
        var provider = Provider.fcm
        var now: Int
        var attempt = 1
    }

    /// Reads a line such as `{"status": 404, "headers": {"retry-after": "30"}, "body": "…"}`.
    ///
    /// Keys: `provider`, `status`, `headers` (an object, an array of pairs or lines, or one text of lines), `body` (a text, or
    /// JSON), `transport_error`, `issued`, `attempt`, `now`, `name`; others are ignored, so that the file with expected
    /// results can be piped in.
    init(line: Span<UInt8>, defaults: Defaults) throws(LineFault) {
        let value = try Self.value(line)
        guard value.objectValue != nil else { throw LineFault(reason: "not a JSON object") }
        let name = value["name"]?.stringValue
        do throws(LineFault) {
            try self.init(value, name: name, defaults: defaults)
        } catch {
            throw LineFault(reason: error.reason, name: name)
        }
    }

    private init(_ value: JSONValue, name: String?, defaults: Defaults) throws(LineFault) {
        self.name = name
        provider = try Self.provider(value["provider"]) ?? defaults.provider
        transport = try Self.transport(value["transport_error"])
        isIssued = try Self.issued(value["issued"])
        now = try Self.now(value["now"]) ?? defaults.now
        attempt = try Self.integer(value["attempt"], "attempt", in: Self.attempts) ?? defaults.attempt
        var status = value["status"]
        // libcurl says 0 where no status came.
        if transport != nil, status == .number("0") { status = nil }
        answer = nil
        if let status = try Self.integer(status, "status", in: Self.statuses) {
            answer = Self.answer(
                status: status, headers: try Self.headers(value["headers"]), body: Self.body(value["body"]))
        }
        guard answer != nil || transport != nil else {
            throw LineFault(reason: "neither status nor transport_error is there")
        }
        guard isIssued != false || answer == nil else {
            throw LineFault(reason: "issued is false, and yet there is a status")
        }
    }

    /// Texts that no JSON of ours may hold are mended: they are quotations of what a server said.
    private static func value(_ line: Span<UInt8>) throws(LineFault) -> JSONValue {
        do throws(JSONError) {
            do throws(JSONError) {
                return try JSONValue.parse(line)
            } catch {
                guard AnswerBody.isRepairable(error) else { throw error }
                return try JSONValue.parse(AnswerBody.repaired(line).span)
            }
        } catch {
            throw LineFault(reason: "not usable JSON: \(error.problem.rawValue) (column \(error.column))")
        }
    }

    private static func provider(_ value: JSONValue?) throws(LineFault) -> Provider? {
        guard let value, value != .null else { return nil }
        guard let provider = value.stringValue.flatMap({ Provider(rawValue: $0.lowercased()) }) else {
            throw LineFault(reason: "provider must be \"fcm\" or \"apns\"")
        }
        return provider
    }

    private static func transport(_ value: JSONValue?) throws(LineFault) -> TransportCode? {
        let text: String
        switch value {
        case nil, .null: return nil
        case .number(let digits): text = digits
        case .string(let word): text = word
        default: text = ""
        }
        if ["0", "OK", "CURLE_OK"].contains(text.uppercased()) { return nil }
        guard let code = TransportCode(text) else {
            throw LineFault(reason: "transport_error must be a code of libcurl, such as 7 or \"COULDNT_CONNECT\"")
        }
        return code
    }

    private static func issued(_ value: JSONValue?) throws(LineFault) -> Bool? {
        switch value {
        case nil, .null: return nil
        case .boolean(let isIssued): return isIssued
        case .number(let digits):
            if let count = Int(digits), count >= 0 { return count > 0 }
        default: break
        }
        throw LineFault(reason: "issued must be true, false, or how often the request was issued")
    }

    private static func now(_ value: JSONValue?) throws(LineFault) -> Int? {
        let text: String
        switch value {
        case nil, .null: return nil
        case .number(let digits): text = digits
        case .string(let date): text = date
        default: text = ""
        }
        guard let seconds = time(text) else {
            throw LineFault(reason: "now must be seconds since 1970, or a date as HTTP writes it")
        }
        return seconds
    }

    private static func integer(
        _ value: JSONValue?, _ key: String, in range: ClosedRange<Int>
    ) throws(LineFault) -> Int? {
        let text: String
        switch value {
        case nil, .null: return nil
        case .number(let digits), .string(let digits): text = digits
        default: text = ""
        }
        guard let number = Int(text), range.contains(number) else {
            throw LineFault(
                reason: "\(key) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A text as it is, other JSON as it would be sent.
    private static func body(_ value: JSONValue?) -> [UInt8] {
        switch value {
        case nil, .null: return []
        case .string(let text): return Array(text.utf8)
        case let value?:
            var bytes: [UInt8] = []
            value.write(into: &bytes)
            return bytes
        }
    }
}
