import Delivery
import Queue

/// A claimed message with this sender's own times and counts.
struct HeldMessage: Sendable {
    let message: ClaimedMessage
    /// From 0 to 9, as it was claimed.
    let priority: Int
    /// Monotonic time since which it has been tried, or due.
    let dueSince: Int64
    /// Monotonic time at which the lease ends, judged early.
    let leaseEnds: Int64
    /// Monotonic time at which the message expires.
    let expires: Int64?
    var unknownOutcomes = 0
    /// What is known of its first post, if that had an unknown outcome: it belongs into the message's story, however it ends.
    var unknownReason: String?
    var refusedTokens = 0
    var requeues = 0

    init(message: ClaimedMessage, priority: Int, dueSince: Int64, leaseEnds: Int64, expires: Int64?) {
        self.message = message
        self.priority = min(max(priority, 0), 9)
        self.dueSince = dueSince
        self.leaseEnds = leaseEnds
        self.expires = expires
    }

    /// What becomes of it without another post; an earlier one without an answer is not forgotten.
    func result(_ next: MessageResult.Next) -> MessageResult {
        guard let unknownReason else { return MessageResult(key: message.key, next: next) }
        return MessageResult(
            key: message.key, next: next, errorCode: Self.unknownCode, outcome: Self.unknownOutcome,
            detail: unknownReason)
    }

    /// The hint of its last post, with what is known of the first one.
    func detail(_ hint: String) -> String {
        unknownReason.map { "\(hint) It was posted before as well: \($0)" } ?? hint
    }

    /// The name of an outcome that nobody knows, for SQL.
    static let unknownCode = "OUTCOME_UNKNOWN"
    static let unknownOutcome = VerdictClass.unknown.rawValue

    var isUrgent: Bool { priority >= Work.urgentPriorities.lowerBound }
}

extension MessageResult {
    /// A claim that comes to nothing: due again at once, for whoever can post it.
    static func untouched(_ key: MessageKey) -> MessageResult {
        MessageResult(key: key, next: .pending(delayMilliseconds: nil, isAttemptSpent: false))
    }
}
