extension Verdict {
    /// What to wait after a 429 without a time: FCM's documented default.
    static let fcmQuotaWait = 60

    /// The verdict on an answer of FCM's v1 API; `now` in seconds since 1970.
    ///
    /// The FcmError in the details decides, then the rpc status, then the HTTP status. A final status counts even if
    /// the body is cut or is not JSON. An UNSPECIFIED_ERROR leaves it to the HTTP status.
    package static func fcm(_ answer: ProviderAnswer, now: Int) -> Verdict {
        if (200..<300).contains(answer.status) { return fcmSent(answer) }
        let error = FCMError(answer.body.span)
        let wait = answer.secondsToWait(now: now)
        if let code = error.code, let verdict = fcmCode(code, error, answer.status, wait) { return verdict }
        let byHTTP = fcmHTTP(answer.status, error, wait)
        guard let status = error.status, let byStatus = fcmStatus(status, error, answer.status, wait),
            !error.isUnspecified || byStatus.kind == byHTTP.kind
        else { return byHTTP }
        return byStatus
    }

    private static func fcmSent(_ answer: ProviderAnswer) -> Verdict {
        var verdict = Verdict(.sent, code: "OK", hint: Hint.accepted)
        verdict.providerMessageID = FCMName.messageID(inAnswer: answer.body.span)
        return verdict
    }

    private static func fcmCode(_ code: String, _ error: FCMError, _ status: Int, _ wait: Int?) -> Verdict? {
        switch code {
        case "UNREGISTERED": Verdict(.tokenInvalid, code: code, evidence: .fcmError)
        case "SENDER_ID_MISMATCH": Verdict(.permanent, code: code, evidence: .fcmError)
        case "QUOTA_EXCEEDED":
            Verdict(.retryAfter, code: code, retryAfterSeconds: wait ?? fcmQuotaWait, evidence: .fcmError)
        case "UNAVAILABLE", "INTERNAL": again(code, status, wait, .fcmError)
        // A new access token of ours would not help.
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": Verdict(.authConfig, code: code, evidence: .fcmError)
        case "INVALID_ARGUMENT": fcmInvalidArgument(error, status, wait)
        default: nil
        }
    }

    private static func fcmStatus(_ name: String, _ error: FCMError, _ status: Int, _ wait: Int?) -> Verdict? {
        switch name {
        case "INVALID_ARGUMENT": return fcmInvalidArgument(error, status, wait)
        case "UNAUTHENTICATED":
            // What APNs said to FCM is about the key in the Firebase console, not about our access token.
            if let reason = error.apnsReason { return Verdict(.authConfig, code: reason, evidence: .apnsError) }
            var verdict = Verdict(.authConfig, code: error.reason ?? name, evidence: .rpcStatus)
            verdict.asksForNewCredentials = true
            return verdict
        case "PERMISSION_DENIED": return Verdict(.authConfig, code: error.reason ?? name, evidence: .rpcStatus)
        case "NOT_FOUND": return deadToken(error) ?? Verdict(.permanent, code: name, evidence: .rpcStatus)
        case "RESOURCE_EXHAUSTED":
            return Verdict(
                .retryAfter, code: error.reason ?? name, retryAfterSeconds: wait ?? fcmQuotaWait, evidence: .rpcStatus)
        case "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED": return again(name, status, wait, .rpcStatus)
        case "ALREADY_EXISTS": return Verdict(.permanent, code: name, evidence: .rpcStatus)
        default: return nil
        }
    }

    private static func fcmHTTP(_ status: Int, _ error: FCMError, _ wait: Int?) -> Verdict {
        let code = "HTTP_\(status)"
        switch status {
        case 400: return deadToken(error) ?? Verdict(.payload, code: code)
        case 404, 410: return deadToken(error) ?? Verdict(.permanent, code: code)
        case 401:
            var verdict = Verdict(.authConfig, code: error.reason ?? code)
            verdict.asksForNewCredentials = true
            return verdict
        case 403: return Verdict(.authConfig, code: error.reason ?? code)
        case 407: return Verdict(.authConfig, code: code, hint: Hint.proxy)
        case 300..<400: return Verdict(.authConfig, code: code, hint: Hint.redirect)
        case 413, 414, 415, 422, 431: return Verdict(.payload, code: code)
        case 429: return again(error.reason ?? code, status, wait, .httpStatus)
        case 408, 409, 421, 425, 499, 500..<600: return again(code, status, wait, .httpStatus)
        case 400..<500: return Verdict(.permanent, code: code)
        // Below 200 no final status came; from 600 on it is none of HTTP.
        default: return Verdict(.unknown, code: code, evidence: status < 200 ? .transport : .httpStatus)
        }
    }

    private static func again(_ code: String, _ status: Int, _ wait: Int?, _ evidence: Evidence) -> Verdict {
        guard let seconds = wait ?? (status == 429 ? fcmQuotaWait : nil) else {
            return Verdict(.retry, code: code, evidence: evidence)
        }
        return Verdict(.retryAfter, code: code, retryAfterSeconds: seconds, evidence: evidence)
    }

    private static func deadToken(_ error: FCMError) -> Verdict? {
        guard let proof = error.proofOfDeadToken else { return nil }
        let code = error.apnsReason ?? error.code ?? error.status ?? "INVALID_ARGUMENT"
        return Verdict(.tokenInvalid, code: code, hint: Hint.badToken, evidence: proof)
    }

    private static func fcmInvalidArgument(_ error: FCMError, _ status: Int, _ wait: Int?) -> Verdict {
        if let verdict = deadToken(error) { return verdict }
        if let reason = error.apnsReason, let kind = APNsReason.kindsThroughFCM[reason] {
            if kind == .retry { return again(reason, status, wait, .apnsError) }
            return Verdict(kind, code: reason, evidence: .apnsError)
        }
        let code = error.apnsReason ?? error.code ?? error.status ?? "INVALID_ARGUMENT"
        let violation = error.violations.first.map { $0.field }
        return Verdict(
            .payload, code: code, hint: violation.map { Hint.badField($0) },
            evidence: error.code == nil ? .rpcStatus : .fcmError)
    }
}
