/// What FCM asks of its clients, and where it says so.
enum GuidanceRule: String, CaseIterable, Sendable {
    case earlyRetry = "early_retry"
    case sendingDuringHold = "sending_during_hold"
    case retryAfterFinal = "retry_after_final"
    case overQuota = "over_quota"
    case clientErrors = "client_errors"
    case connectionPerMessage = "connection_per_message"

    /// What a client should do.
    var rule: String {
        switch self {
        case .earlyRetry:
            "Repeat a message after a 429 or 5xx no sooner than its Retry-After, and never sooner than 10 s."
        case .sendingDuringHold:
            "After a 429 with Retry-After send nothing for the project until it is over (1 s is allowed for what was under way)."
        case .retryAfterFinal: "Do not repeat a message that was answered 400, 403 or 404: the answer will be the same."
        case .overQuota: "Stay within the messages per minute of the project: shape bursts instead of running into 429."
        case .clientErrors:
            "Keep answers 4xx (429 aside) under 5 %: remove dead tokens, repair messages. Counted once a minute with 100 messages or more."
        case .connectionPerMessage:
            "Keep connections open for many messages. Counted for each connection in a row, from the tenth, that carried one."
        }
    }

    var source: String {
        let documentation = "https://firebase.google.com/docs/cloud-messaging/"
        return switch self {
        case .earlyRetry, .sendingDuringHold, .retryAfterFinal, .connectionPerMessage: documentation + "scale-fcm"
        case .overQuota, .clientErrors: documentation + "throttling-and-quotas"
        }
    }
}

/// One time that a rule was broken.
struct Violation: Sendable {
    /// Nanoseconds of the monotonic clock.
    let time: Int64
    /// Redacted, when a message is concerned.
    let target: RedactedTarget?
    let detail: String
}
