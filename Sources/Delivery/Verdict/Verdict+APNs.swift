extension Verdict {
    /// What to wait after a 5xx: "After 15 minutes, you can retry" (Apple).
    static let apnsServerWait = 900

    /// The verdict on an answer of APNs; `now` in seconds since 1970.
    ///
    /// The reason outranks the status. Any 2xx is a success: 201 and 204 are what the management of broadcast channels answers.
    package static func apns(_ answer: ProviderAnswer, now: Int) -> Verdict {
        if (200..<300).contains(answer.status) {
            var verdict = Verdict(.sent, code: "OK")
            verdict.providerMessageID = answer.apnsID
            return verdict
        }
        let body = AnswerBody.value(answer.body.span)
        let reason = body?["reason"]?.word.map { APNsReason.normalized($0) } ?? ""
        let wait = answer.secondsToWait(now: now)
        var verdict: Verdict
        if let kind = APNsReason.kinds[reason] {
            switch kind {
            case .retry: verdict = apnsAgain(reason, wait, .apnsReason)
            case .retryAfter: verdict = apnsAgain(reason, wait ?? apnsServerWait, .apnsReason)
            default: verdict = Verdict(kind, code: reason, evidence: .apnsReason)
            }
            verdict.asksForNewCredentials = reason == "ExpiredProviderToken"
        } else {
            // A reason that is not known yet is still worth reading.
            verdict = apnsHTTP(answer.status, reason.isEmpty ? "HTTP_\(answer.status)" : reason, wait)
        }
        // Present only with a 410 (Apple).
        if verdict.kind == .tokenInvalid, answer.status == 410 {
            verdict.tokenInvalidSince = body?["timestamp"]?.milliseconds
        }
        return verdict
    }

    private static func apnsHTTP(_ status: Int, _ code: String, _ wait: Int?) -> Verdict {
        switch status {
        case 400, 413, 414, 415, 422, 431: Verdict(.payload, code: code)
        case 401, 403: Verdict(.authConfig, code: code)
        case 407: Verdict(.authConfig, code: code, hint: Hint.proxy)
        case 300..<400: Verdict(.authConfig, code: code, hint: Hint.redirect)
        case 410: Verdict(.tokenInvalid, code: code)
        case 408, 421, 425, 429, 499: apnsAgain(code, wait, .httpStatus)
        case 500..<600: apnsAgain(code, wait ?? apnsServerWait, .httpStatus)
        case 400..<500: Verdict(.permanent, code: code)
        // Below 200 no final status came; from 600 on it is none of HTTP.
        default: Verdict(.unknown, code: code, evidence: status < 200 ? .transport : .httpStatus)
        }
    }

    private static func apnsAgain(_ code: String, _ wait: Int?, _ evidence: Evidence) -> Verdict {
        guard let wait else { return Verdict(.retry, code: code, evidence: evidence) }
        return Verdict(.retryAfter, code: code, retryAfterSeconds: wait, evidence: evidence)
    }
}

extension JSONValue {
    /// A time in milliseconds since 1970, as a number or as its digits in a string; nil for anything else.
    fileprivate var milliseconds: Int? {
        let text: String
        switch self {
        case .number(let digits), .string(let digits): text = digits
        default: return nil
        }
        // A number with an exponent is a whole one too, where it is small enough to be exact.
        let value = Int(text) ?? Double(text).flatMap { abs($0) < 9e15 ? Int(exactly: $0) : nil }
        return value.flatMap { $0 >= 0 ? $0 : nil }
    }
}
