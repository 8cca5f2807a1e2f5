/// The most that one sender may post for one app, counted from outside: over any time its share of the rate, and the
/// bucket's content of a quarter of a second, or two messages where that is less.
struct RateMeter {
    private(set) var rate: Double
    private var level: Double
    private var updated: Int64

    init(rate: Double, now: Int64) {
        self.rate = rate
        level = Self.burst(of: rate)
        updated = now
    }

    private var burst: Double { Self.burst(of: rate) }

    private static func burst(of rate: Double) -> Double { max(2, rate / 4) }

    /// What the sender was told of its share.
    mutating func told(rate: Double, now: Int64) {
        refill(now: now)
        self.rate = rate
        level = min(level, burst)
    }

    /// Whether one more is within the share; a token more than exact, for arithmetic.
    mutating func take(now: Int64) -> Bool {
        refill(now: now)
        level -= 1
        return level > -1
    }

    private mutating func refill(now: Int64) {
        level = min(burst, level + Double(now - updated) * rate / 1e9)
        updated = now
    }
}

struct RateKey: Hashable {
    let sender: Int
    let app: Int
}
