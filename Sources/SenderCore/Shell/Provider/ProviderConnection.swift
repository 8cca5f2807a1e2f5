import Curl
import Reactor

/// One connection to the provider, from before its first request until the last answer.
final class ProviderConnection {
    enum State {
        /// Nothing is known of it: it carries one request until the answer has shown HTTP/2.
        case new
        /// It has answered over HTTP/2, and carries up to ``streams`` requests.
        case proven
        /// It gets no more requests; what it carries may still be answered.
        case draining
    }

    let driver: CurlDriver
    private(set) var state = State.new
    /// Requests at a time once it is proven; what the server was seen to allow, if that is less than was asked for.
    private(set) var streams: Int
    /// The server was seen to allow no more than ``streams``.
    private var isLimited = false
    /// Requests until it is to be replaced.
    private var requestsLeft: Int
    private let replaceAt: Int64
    /// A replacement for it failed: not tried again before this time.
    var keepUntil: Int64 = 0
    /// It takes over from another one, which goes on until this one is proven.
    weak var predecessor: ProviderConnection?
    /// When it last got its first request after being idle, or gave an answer.
    private(set) var lastSign: Int64
    /// Answers so far.
    private(set) var answers = 0
    /// It drains because it was silent; an answer would show that the server is slow, not the connection dead.
    private(set) var isSuspect = false

    init(driver: CurlDriver, limits: ConnectionLimits, jitter: Double, now: Int64) {
        self.driver = driver
        streams = limits.streams
        requestsLeft = limits.requests == 0 ? .max : limits.requests
        replaceAt = now + Int64(Double(limits.age) * jitter)
        lastSign = now
    }

    var inFlight: Int { driver.multi.inFlight }

    /// How many requests at a time it may carry.
    var capacity: Int {
        switch state {
        case .new: 1
        case .proven: streams
        case .draining: 0
        }
    }

    var hasRoom: Bool { inFlight < capacity }

    func wantsReplacement(now: Int64) -> Bool {
        state != .draining && (requestsLeft <= 0 || now >= replaceAt) && now >= keepUntil
    }

    func add(_ transfer: Transfer, now: Int64) throws(CurlError) {
        if inFlight == 0 { lastSign = now }
        requestsLeft -= 1
        try driver.multi.add(transfer)
    }

    /// An answer came, whatever it says.
    func answered(overHTTP2: Bool, now: Int64) {
        lastSign = now
        answers += 1
        if state == .new && overHTTP2 { state = .proven }
        // A server that once had few streams free may have more: one more is tried now and then.
        if isLimited && answers % 1_000 == 0 { streams += 1 }
    }

    /// It refused another request while it carried some: either that many is what the server allows, or it is about to end.
    func refusedAnother(most asked: Int) {
        let carried = driver.multi.issued
        guard state == .proven, carried > 0, !isLimited || carried >= streams else { return drain() }
        streams = min(carried, asked)
        isLimited = true
    }

    func drain(asSuspect: Bool = false) {
        state = .draining
        isSuspect = asSuspect
    }

    /// It has been idle: whether it is still there has to be shown again.
    func doubt() { if state == .proven && inFlight == 0 { state = .new } }

    /// It answered once, and has to show that it still does.
    var isDoubted: Bool { state == .new && answers > 0 }
}
