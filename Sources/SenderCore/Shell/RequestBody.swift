import Queue

/// The body of `messages:send`: the queued message, byte for byte, inside its envelope.
enum RequestBody {
    private static let prefix = Array("{\"message\":".utf8)

    /// Puts the envelope around the payload; when the message expires, the android ttl's digits become the seconds
    /// that are left, and never more than were queued.
    static func make(payload: [UInt8], ttlDigits: Range<Int>?, secondsLeft: Int?) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(payload.count + prefix.count + 4)
        body += prefix
        if let digits = ttlDigits, let secondsLeft, digits.upperBound <= payload.count, digits.lowerBound >= 0 {
            let queued = Int(String(decoding: payload[digits], as: UTF8.self)) ?? .max
            body += payload[..<digits.lowerBound]
            body += Array(String(max(0, min(queued, secondsLeft))).utf8)
            body += payload[digits.upperBound...]
        } else {
            body += payload
        }
        body.append(UInt8(ascii: "}"))
        return body
    }
}
