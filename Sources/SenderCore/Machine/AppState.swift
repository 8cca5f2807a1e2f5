import Delivery
import Operations
import Queue

/// What the machine knows of one app that it sends for.
struct AppState: Sendable {
    let name: String
    /// Which of the machine's tokens its posts carry.
    let credential: Int
    var info: Work.App?
    var bucket: TokenBucket
    var breaker = Breaker.closed
    /// The breaker stands open for want of an access token, and closes when there is one.
    var isWaitingForToken = false
    /// When the breaker opened last.
    var openedAt: Int64 = 0
    /// Posts without an answer since the last one that had one.
    var unansweredInARow = 0
    /// Nothing is posted before: what `Retry-After` asked for.
    var holdUntil: Int64 = 0
    var ready = HeldQueue()
    var inFlight = 0

    init(_ app: MachineSettings.App, now: Int64) {
        name = app.name
        credential = app.credential
        bucket = AppState.bucket(perSecond: 1, now: now)
    }

    /// One second's worth of burst.
    static func bucket(perSecond: Int, now: Int64) -> TokenBucket {
        TokenBucket(rate: Double(perSecond), burst: Double(max(1, perSecond)), now: now)
    }

    var held: Int { ready.count + inFlight }

    /// This sender's share of the app's rate: all live senders get the same.
    var share: Int { info.map { max(1, $0.messagesPerSecond / $0.liveSenders) } ?? 1 }

    func mayPost(now: Int64) -> Bool {
        guard let info, !info.isPaused, now >= holdUntil else { return false }
        return inFlight < breaker.allowance(now: now)
    }
}
