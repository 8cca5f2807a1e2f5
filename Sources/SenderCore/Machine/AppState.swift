import Delivery
import Operations
import Queue

/// What the machine knows of one app that it sends for.
struct AppState: Sendable {
    let name: String
    /// Which of the machine's tokens its posts carry.
    let credential: Int
    /// Its row; nil before it was read, and while it has none.
    var info: Work.App?
    var rate: SendRate
    var breaker = Breaker.closed
    /// The breaker stands open for want of an access token, and closes when there is one.
    var isWaitingForToken = false
    /// When the breaker opened last.
    var openedAt: Int64 = 0
    /// Posts without an answer since the last one that had one.
    var unansweredInARow = 0
    /// Posts that did not leave since the last one that did.
    var notIssuedInARow = 0
    /// When the provider last took a message of the app, or judged one by what it says; `nil` if it never did.
    var judgedAt: Int64?
    var nextPlatformLogAt: Int64 = .min
    /// Nothing is posted before: what `Retry-After` asked for.
    var holdUntil: Int64 = 0
    var ready = ReadyQueue()
    var inFlight = 0
    /// Where messages of a usual priority were claimed last: the first place to look at a wake-up.
    var lastPlace: Work.Due?
    /// Where urgent ones were claimed last, and when.
    var lastUrgent: (place: Work.Due, at: Int64)?
    /// Somebody queued messages, and nothing was claimed since.
    var isExpected = false

    init(_ app: MachineSettings.App, now: Int64) {
        name = app.name
        credential = app.credential
        rate = SendRate(share: 1, ramp: 0, now: now)
    }

    var held: Int { ready.count + inFlight }

    /// This sender's share of the app's rate: all live senders get the same.
    private static func share(_ info: Work.App) -> Double {
        Double(max(1, info.messagesPerSecond)) / Double(max(1, info.liveSenders))
    }

    /// What the database says now; the rate starts cold with the first of it.
    mutating func learn(_ info: Work.App, ramp: Int64, now: Int64) {
        let share = Self.share(info)
        if self.info == nil {
            rate = SendRate(share: share, isAlone: info.liveSenders <= 1, ramp: ramp, now: now)
        } else {
            rate.setShare(share, now: now)
        }
        self.info = info
    }

    func mayPost(now: Int64) -> Bool {
        guard let info, !info.isPaused, now >= holdUntil else { return false }
        return inFlight < breaker.allowance(now: now)
    }

    /// The most messages that can be posted in the next seconds at the rate of now.
    func postable(seconds: Int) -> Int { max(1, Int(min(rate.level * Double(seconds), 1e9))) }
}
