import Delivery
import HTTP1

/// A number of `/stats` and what it has to reach.
struct WaitCondition {
    let gauge: Gauge
    let value: Int
    let isAtMost: Bool

    /// Reads `accepted=5`, `accepted>=5` or `connections.now<=0`, which a query splits at its equals sign.
    init(name: String, value: String) throws(ControlError) {
        var path = name[...]
        let sign = path.last
        if sign == "<" || sign == ">" { path.removeLast() }
        guard let gauge = Gauge.named(String(path)) else {
            throw ControlError(
                400, "there is no number \"\(path)\" to wait for",
                remedy: "name a number of GET /stats by its path, for example accepted or errors.UNREGISTERED")
        }
        guard let number = Int(value), number >= 0 else {
            throw ControlError(
                400, "\(path) must be compared with a whole number, not \"\(value)\"",
                remedy: "for example \(path)=1000")
        }
        self.gauge = gauge
        self.value = number
        isAtMost = sign == "<"
    }

    func isMet(by inspector: Inspector, now: Int64) -> Bool {
        let current = gauge.read(inspector, now)
        return isAtMost ? current <= value : current >= value
    }
}

/// The clients of `/wait` that have no answer yet.
struct Waiters {
    private struct Waiter {
        let request: HTTP1Request
        let conditions: [WaitCondition]
        let since: Int64
        let deadline: Int64
    }

    private var waiters: [Waiter] = []
    private var seen = -1

    var count: Int { waiters.count }

    mutating func add(_ request: HTTP1Request, _ conditions: [WaitCondition], now: Int64, timeout: Int64) {
        waiters.append(Waiter(request: request, conditions: conditions, since: now, deadline: now + timeout))
        seen = -1
    }

    mutating func remove(_ request: HTTP1Request) { waiters.removeAll { $0.request === request } }

    /// Answers those whose conditions are met or whose time is over.
    mutating func check(_ inspector: Inspector, now: Int64) {
        guard !waiters.isEmpty else { return }
        let isNews = inspector.generation != seen
        seen = inspector.generation
        waiters.removeAll { waiter in
            if waiter.request.isGone { return true }
            let isMet = isNews && waiter.conditions.allSatisfy { $0.isMet(by: inspector, now: now) }
            guard isMet || waiter.deadline <= now else { return false }
            waiter.request.respond(Self.response(isMet, waiter, inspector, now))
            return true
        }
    }

    func delay(now: Int64) -> Int64? { waiters.lazy.map(\.deadline).min().map { max(0, $0 - now) } }

    private static func response(
        _ isMet: Bool, _ waiter: Waiter, _ inspector: Inspector, _ now: Int64
    ) -> HTTP1Response {
        let values = waiter.conditions.map { ($0.gauge.path, JSONValue.int($0.gauge.read(inspector, now))) }
        let waited = ("waited_ms", JSONValue.int(Int((now - waiter.since) / 1_000_000)))
        if isMet {
            return HTTP1Response(json: .members([("reached", .boolean(true)), waited, ("values", .members(values))]))
        }
        let missing = waiter.conditions.filter { !$0.isMet(by: inspector, now: now) }
            .map { "\($0.gauge.path)\($0.isAtMost ? "<=" : ">=")\($0.value)" }
        return HTTP1Response(
            json: .members([
                ("error", .string("not reached in time: " + missing.joined(separator: ", "))),
                ("remedy", .string("look at GET /stats and GET /messages, or wait longer with timeout=")),
                ("reached", .boolean(false)), waited, ("values", .members(values)),
            ]), status: 504)
    }
}
