import Delivery

/// How many messages a project may send, and how the server says that it were more.
struct QuotaSettings: Equatable, Sendable {
    enum Shape: String, CaseIterable, Sendable {
        case fcmError = "fcm_error"
        case errorInfo = "error_info"
    }

    /// FCM's is 600,000.
    var messagesPerMinute: Int
    /// Messages that may come at once after a quiet time; FCM's bucket holds a whole minute.
    var burst: Int
    /// Seconds in `retry-after`; nil leaves the header away.
    var retryAfter: Int?
    var shape = Shape.fcmError

    /// The answer to a message too many.
    var refusal: SendRefusal {
        switch shape {
        case .fcmError: .quotaExceeded(retryAfter: retryAfter)
        case .errorInfo: .rateLimitExceeded(retryAfter: retryAfter)
        }
    }
}

/// The token buckets of all projects; answers other than 429 take from them, errors too, as FCM's quota does.
struct Quota {
    let settings: QuotaSettings
    private var buckets: [TokenBucket]

    init(_ settings: QuotaSettings, projects: Int, now: Int64) {
        self.settings = settings
        let bucket = TokenBucket(
            rate: Double(settings.messagesPerMinute) / 60, burst: Double(settings.burst), now: now)
        buckets = Array(repeating: bucket, count: projects)
    }

    /// Messages that each project may send at once.
    mutating func left(now: Int64) -> [Int] {
        var left: [Int] = []
        for index in buckets.indices { left.append(buckets[index].available(now: now)) }
        return left
    }

    /// Whether the project may send one more message.
    mutating func take(project: Int, now: Int64) -> Bool { buckets[project].take(1, now: now) == 1 }
}
