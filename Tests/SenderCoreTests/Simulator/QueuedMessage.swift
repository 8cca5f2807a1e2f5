import Delivery
import Queue

/// One row of `todoke.messages`, with what the provider will find in it.
struct QueuedMessage {
    /// What the provider says to it, whoever posts it and however often.
    enum Nature {
        case good, deadToken, badPayload, wrongSender
    }

    let id: Int
    let day: Day
    let app: Int
    let notification: Int
    let priority: Int
    let nature: Nature
    /// Whether `todoke.payloads` has its row.
    let hasPayload: Bool
    /// By the database's clock, as all times of this table.
    let expiresAt: Int64?

    /// When it was first due.
    let madeDueAt: Int64
    var dueAt: Int64
    var state = MessageState.pending
    var attempts = 0
    /// When its first row of `todoke.attempts` was written.
    var triedAt: Int64?
    var claimNumber = 0
    var sender = 0
    var leaseUntil: Int64 = 0
    var errorCode: String?
    /// The transaction that holds its row lock; 0 when nobody does.
    var lockedBy = 0
}

/// What a notification decides for its messages.
struct QueuedNotification {
    /// `nil` where the app decides.
    let isAtMostOnce: Bool?
    var isCancelled = false
}

/// A row of `todoke.apps`.
struct QueuedApp {
    let id: Int
    let name: String
    let messagesPerSecond: Int
    var isAtMostOnce = false
    var isPaused = false
}

/// A row of `todoke.senders`.
struct RegisteredSender {
    var heartbeatAt: Int64
    var isStopped = false
    var duplicateRisk = 0
}
