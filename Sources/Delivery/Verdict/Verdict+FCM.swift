extension Verdict {
    /// What to wait after a 429 without a time: FCM's documented default.
    static let fcmQuotaWait = 60

    /// The verdict on an answer of FCM's v1 API; `now` in seconds since 1970.
    ///
    /// The FcmError in the details decides, then the rpc status, then the HTTP status. A final status counts even if
    /// the body is cut or is not JSON.
    package static func fcm(_ answer: ProviderAnswer, now: Int) -> Verdict {
        if (200..<300).contains(answer.status) { return fcmSent(answer) }
        let error = FCMError(answer.body.span)
        let wait = answer.secondsToWait(now: now)
        if let code = error.code, let verdict = fcmCode(code, error, answer.status, wait) { return verdict }
        if let status = error.status, let verdict = fcmStatus(status, error, answer.status, wait) { return verdict }
        return fcmHTTP(answer.status, error, wait)
    }

    private static func fcmSent(_ answer: ProviderAnswer) -> Verdict {
        var verdict = Verdict(.sent, code: "OK")
        let name = (try? JSONValue.parse(answer.body.span))?["name"]?.stringValue ?? ""
        // projects/p/messages/0:1500415314455276%31bd1c9631bd1c96
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        if let index = parts.firstIndex(of: "messages"), index + 1 < parts.count {
            let id = parts[(index + 1)...].joined(separator: "/")
            verdict.providerMessageID = id.isEmpty ? nil : id
        }
        return verdict
    }

    private static func fcmCode(_ code: String, _ error: FCMError, _ status: Int, _ wait: Int?) -> Verdict? {
        switch code {
        case "UNREGISTERED": Verdict(.tokenInvalid, code: code)
        case "SENDER_ID_MISMATCH": Verdict(.permanent, code: code)
        case "QUOTA_EXCEEDED": Verdict(.retryAfter, code: code, retryAfterSeconds: wait ?? fcmQuotaWait)
        case "UNAVAILABLE", "INTERNAL": again(code, status, wait)
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": Verdict(.authConfig, code: code)
        case "INVALID_ARGUMENT": fcmInvalidArgument(error)
        default: nil
        }
    }

    private static func fcmStatus(_ name: String, _ error: FCMError, _ status: Int, _ wait: Int?) -> Verdict? {
        switch name {
        case "INVALID_ARGUMENT": return fcmInvalidArgument(error)
        case "UNAUTHENTICATED":
            var verdict = Verdict(.authConfig, code: error.reason ?? name)
            verdict.asksForNewCredentials = true
            return verdict
        case "PERMISSION_DENIED": return Verdict(.authConfig, code: error.reason ?? name)
        case "NOT_FOUND": return Verdict(.permanent, code: name)
        case "RESOURCE_EXHAUSTED":
            return Verdict(.retryAfter, code: error.reason ?? name, retryAfterSeconds: wait ?? fcmQuotaWait)
        case "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED": return again(name, status, wait)
        default: return nil
        }
    }

    private static func fcmHTTP(_ status: Int, _ error: FCMError, _ wait: Int?) -> Verdict {
        let code = "HTTP_\(status)"
        switch status {
        case 400: return error.provesDeadToken ? fcmInvalidArgument(error) : Verdict(.payload, code: code)
        case 401:
            var verdict = Verdict(.authConfig, code: code)
            verdict.asksForNewCredentials = true
            return verdict
        case 403, 300..<400: return Verdict(.authConfig, code: code)
        case 413, 414, 415, 422, 431: return Verdict(.payload, code: code)
        case 408, 409, 425, 429, 499, 500..<600: return again(code, status, wait)
        case 400..<500: return Verdict(.permanent, code: code)
        // No final status of HTTP at all.
        default: return Verdict(.unknown, code: code)
        }
    }

    private static func again(_ code: String, _ status: Int, _ wait: Int?) -> Verdict {
        if let wait { return Verdict(.retryAfter, code: code, retryAfterSeconds: wait) }
        if status == 429 { return Verdict(.retryAfter, code: code, retryAfterSeconds: fcmQuotaWait) }
        return Verdict(.retry, code: code)
    }

    private static func fcmInvalidArgument(_ error: FCMError) -> Verdict {
        let code = error.apnsReason ?? error.code ?? error.status ?? "INVALID_ARGUMENT"
        if error.provesDeadToken { return Verdict(.tokenInvalid, code: code, hint: Hint.badToken) }
        // FCM passes on what APNs said: our settings for iOS may be wrong, not the message.
        if let reason = error.apnsReason, let kind = APNsReason.kinds[APNsReason.normalized(reason)] {
            return Verdict(kind == .retryAfter ? .retry : kind, code: reason)
        }
        let violation = error.violations.first.map { $0.field }
        return Verdict(.payload, code: code, hint: violation.map { Hint.badField($0) })
    }
}
