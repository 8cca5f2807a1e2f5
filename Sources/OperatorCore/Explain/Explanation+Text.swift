import Delivery
import FoundationEssentials

extension Explanation {
    /// A few lines for a person, with a line end after each.
    var text: String {
        """
        \(headline)
          because  \(because)
          message  \(message)
          token    \(token)
          app      \(app)
          hint     \(printable(verdict.hint))

        """
    }

    /// One line for a person.
    func summary(line: Int) -> String {
        let name = given.name.map { " \(printable($0))" } ?? ""
        return "\(line)\(name): \(headline); \(message); token \(consequence.isTokenDead ? "dead" : "kept")"
    }

    private var headline: String {
        let wait = verdict.retryAfterSeconds.map { " \($0) s" } ?? ""
        let what = given.answer.map { "HTTP \($0.status)" } ?? "no answer"
        return "\(verdict.kind.rawValue)\(wait): \(verdict.code) (\(providerName), \(what))"
    }

    private var providerName: String { given.provider == .fcm ? "FCM" : "APNs" }

    private var because: String {
        switch verdict.evidence {
        case .httpStatus where verdict.kind == .sent: "2xx says that the provider took it, whatever the body says"
        case .httpStatus: "only the HTTP status says anything that is known" + wait
        case .rpcStatus: "error.status decides, and no FcmError that is known stands in error.details" + wait
        case .fcmError: "the FcmError in error.details says so" + wait
        case .fieldViolation: "a field violation in error.details names the token"
        case .tokenMessage: "error.message says that the token is none"
        case .apnsError: "the ApnsError in error.details says what APNs told FCM" + wait
        case .apnsReason: "the reason in the body says so" + wait
        case .transport: transport
        }
    }

    /// Where the time to wait comes from.
    private var wait: String {
        let header = given.answer?.retryAfter
        var text = ""
        if verdict.kind == .retryAfter, let header, let askedWait {
            let limit = askedWait == RetryAfter.longest ? ", which counts as a year at most" : ""
            text = "; Retry-After is \"\(printable(header))\"\(limit)"
        } else if let header, askedWait == nil {
            text = "; Retry-After is \"\(printable(header))\", neither seconds nor a date, and does not count"
        }
        if verdict.kind == .retryAfter, askedWait == nil {
            text += given.provider == .fcm ? "; FCM documents 60 s" : "; Apple documents 15 minutes"
        }
        return text
    }

    private var transport: String {
        guard let code = given.transport else { return "1xx is no final status, and nothing followed" }
        let name = "libcurl \(code.number)" + (code.name.map { ", \($0)" } ?? "")
        if verdict.isUnprocessed { return "the request never left (\(name)), so the provider has not seen it" }
        return "the request was issued and no final status came (\(name))"
    }

    private var message: String {
        let spent =
            consequence.isAttemptSpent
            ? "attempt \(given.attempt) of \(RetryPolicy.maximumAttempts) is spent" : "no attempt is spent"
        let due = dueIn.map { "due in \($0.lowerBound) to \($0.upperBound) s" } ?? "due at once"
        switch consequence.state {
        case .sent: return "sent" + (verdict.providerMessageID.map { ", the provider's id is \(printable($0))" } ?? "")
        case .failed where verdict.kind == .retry || verdict.kind == .retryAfter || verdict.kind == .unknown:
            return
                "failed: it would be tried again, but this was attempt \(given.attempt) of \(RetryPolicy.maximumAttempts)"
        case .failed: return "failed, never tried again"
        case .pending where consequence.isDuplicateRisk:
            return "posted again at once, the first time; then pending, \(due); \(spent); it may arrive twice; "
                + "with at_most_once it is failed, OUTCOME_UNKNOWN"
        case .pending where consequence.needsNewCredentials:
            return "posted again with new credentials, once; if they are refused too, pending, \(due); \(spent)"
        case .pending where consequence.resends > 0:
            return "posted again at once, up to \(consequence.resends) times; then pending, \(due); \(spent)"
        case .pending: return "pending, \(due); \(spent)"
        }
    }

    private var token: String {
        guard consequence.isTokenDead else { return "kept" }
        var text = "proven dead; the row keeps the code, deleting the token is yours"
        if let since = verdict.tokenInvalidSince, since < 253_402_300_800_000 {
            let date = Date(timeIntervalSince1970: Double(since / 1_000)).formatted(Date.ISO8601FormatStyle())
            text += "; dead since \(date), so keep it if the app registered it later"
        }
        return text
    }

    private var app: String {
        switch consequence.app {
        case .goesOn: "other messages go on"
        case .waits(let seconds): "nothing of it is posted for \(seconds) s"
        case .breakerOpens:
            (consequence.needsNewCredentials ? "waits for a new token; if that is refused too, " : "")
                + "its breaker opens: nothing is posted for 1 s, then one message as a probe; 2 s, 4 s … 60 s while it fails"
        case .breakerOpensUnlessOthersSucceed:
            "other messages go on; where none succeeds for a minute, its breaker opens"
        }
    }
}

/// Text of a stranger on one line, with nothing that moves a terminal's cursor.
func printable(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: result.append("?")
        default: result.append(scalar)
        }
    }
    return String(result)
}
