import Delivery

/// One answer of a provider, or a transfer that ended without one, that somebody wants explained.
struct AnswerCase: Sendable {
    enum Provider: String, Sendable, CaseIterable { case fcm, apns }

    /// What the caller calls it.
    var name: String?
    var provider: Provider
    /// What came back; nil when no status line did.
    var answer: ProviderAnswer?
    /// How the transfer ended when it did not end well.
    var transport: TransportCode?
    /// Whether the request left; nil when nobody said.
    var isIssued: Bool?
    /// The clock for dates in `Retry-After` where the answer has no `Date`, in seconds since 1970.
    var now: Int
    /// Which attempt of the message this was, from 1.
    var attempt: Int

    /// A final status that came counts, also where the transfer then broke; else libcurl's code does.
    var verdict: Verdict {
        if let answer, answer.status >= 200 || transport == nil {
            return provider == .fcm ? .fcm(answer, now: now) : .apns(answer, now: now)
        }
        // Neither an answer nor a code is refused wherever a case is made.
        let code = transport?.number ?? 0
        return .transport(curlCode: code, issued: isIssued ?? (answer != nil || transport?.isBeforeRequest != true))
    }

    static let statuses = 100...599
    static let attempts = 1...1_000

    /// Only the headers that a verdict looks at, whatever the case of their names.
    ///
    /// Of a header that came twice the last value counts, as in the sender.
    static func answer(status: Int, headers: [(name: String, value: String)], body: [UInt8]) -> ProviderAnswer {
        func last(_ name: String) -> String? {
            let value = headers.last { $0.name.lowercased() == name }?.value
            return value?.isEmpty == false ? value : nil
        }
        // The sender keeps as much of a body and no more.
        return ProviderAnswer(
            status: status, retryAfter: last("retry-after"), date: last("date"), apnsID: last("apns-id"),
            body: body.count > keptBody ? Array(body.prefix(keptBody)) : body)
    }

    /// Bytes of a body that the sender keeps.
    static let keptBody = 1 << 20

    /// Splits `name: value`; nil without a colon or a name.
    static func header(_ line: some StringProtocol) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = trimmed(line[..<colon])
        return name.isEmpty ? nil : (name, trimmed(line[line.index(after: colon)...]))
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let scalars = text.unicodeScalars
        let isSpace = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" || scalar == "\r" || scalar == "\n"
        }
        guard let first = scalars.firstIndex(where: { !isSpace($0) }),
            let last = scalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }

    /// Seconds since 1970, from digits or from a date of HTTP.
    static func time(_ text: String) -> Int? {
        if let seconds = Int(text) { return (0...253_402_300_799).contains(seconds) ? seconds : nil }
        // Years of two digits are of this century.
        return HTTPDate.secondsSince1970(text, now: 1_800_000_000)
    }
}
