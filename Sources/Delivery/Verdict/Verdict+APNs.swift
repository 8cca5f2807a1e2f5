extension Verdict {
    /// What to wait after a 5xx: "After 15 minutes, you can retry" (Apple).
    static let apnsServerWait = 900

    /// The verdict on an answer of APNs; `now` in seconds since 1970.
    ///
    /// The reason outranks the status.
    package static func apns(_ answer: ProviderAnswer, now: Int) -> Verdict {
        if answer.status == 200 {
            var verdict = Verdict(.sent, code: "OK")
            verdict.providerMessageID = answer.apnsID
            return verdict
        }
        let body = try? JSONValue.parse(answer.body.span)
        let reason = body?["reason"]?.word.map { APNsReason.normalized($0) } ?? ""
        let wait = answer.secondsToWait(now: now)
        guard let kind = APNsReason.kinds[reason] else {
            // A reason that is not known yet is still worth reading.
            let code = reason.isEmpty ? "HTTP_\(answer.status)" : reason
            return apnsHTTP(answer.status, code, wait)
        }
        switch kind {
        case .retry, .retryAfter:
            return apnsAgain(reason, wait ?? (kind == .retryAfter ? apnsServerWait : nil))
        case .tokenInvalid:
            var verdict = Verdict(kind, code: reason)
            if answer.status == 410, case .number(let text)? = body?["timestamp"] {
                verdict.tokenInvalidSince = Int(text)
            }
            return verdict
        default:
            var verdict = Verdict(kind, code: reason)
            verdict.asksForNewCredentials = reason == "ExpiredProviderToken"
            return verdict
        }
    }

    private static func apnsHTTP(_ status: Int, _ code: String, _ wait: Int?) -> Verdict {
        switch status {
        case 400, 413, 414, 415, 422, 431: Verdict(.payload, code: code)
        case 401, 403, 300..<400: Verdict(.authConfig, code: code)
        case 410: Verdict(.tokenInvalid, code: code)
        case 408, 425, 429: apnsAgain(code, wait)
        case 500..<600: apnsAgain(code, wait ?? apnsServerWait)
        case 400..<500: Verdict(.permanent, code: code)
        // 2xx other than 200 is not in Apple's table, and 1xx is no final status.
        default: Verdict(.unknown, code: code)
        }
    }

    private static func apnsAgain(_ code: String, _ wait: Int?) -> Verdict {
        wait.map { Verdict(.retryAfter, code: code, retryAfterSeconds: $0) } ?? Verdict(.retry, code: code)
    }
}
