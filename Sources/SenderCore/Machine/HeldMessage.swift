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
    var refusedTokens = 0
    var requeues = 0

    init(message: ClaimedMessage, priority: Int, dueSince: Int64, leaseEnds: Int64, expires: Int64?) {
        self.message = message
        self.priority = min(max(priority, 0), 9)
        self.dueSince = dueSince
        self.leaseEnds = leaseEnds
        self.expires = expires
    }

    var isUrgent: Bool { priority >= Work.urgentPriorities.lowerBound }
}
