/// A limit on how many messages go out per second, with a small burst; time is passed in.
package struct TokenBucket: Sendable {
    /// Messages per second; 0 stops the flow.
    package private(set) var rate: Double
    /// The most tokens that are ever saved up.
    package private(set) var burst: Double

    private var tokens: Double
    private var updated: Int64

    /// Starts full.
    ///
    /// `now` is in nanoseconds on any clock that does not go back.
    package init(rate: Double, burst: Double, now: Int64) {
        self.rate = max(rate, 0)
        self.burst = max(burst, 1)
        tokens = self.burst
        updated = now
    }

    /// Whole tokens that can be taken now.
    package mutating func available(now: Int64) -> Int {
        refill(now: now)
        return Int(tokens)
    }

    /// Takes up to `count` tokens and returns how many it got.
    package mutating func take(_ count: Int, now: Int64) -> Int {
        let taken = max(0, min(count, available(now: now)))
        tokens -= Double(taken)
        return taken
    }

    /// Gives back tokens that were taken and not used.
    package mutating func giveBack(_ count: Int) { tokens = min(burst, tokens + Double(max(count, 0))) }

    /// Changes the rate from now on; what is saved up stays, up to the burst.
    package mutating func setRate(_ rate: Double, burst: Double? = nil, now: Int64) {
        refill(now: now)
        self.rate = max(rate, 0)
        self.burst = max(burst ?? self.burst, 1)
        tokens = min(tokens, self.burst)
    }

    /// Empties the bucket, after the provider asked to slow down.
    package mutating func drain(now: Int64) {
        refill(now: now)
        tokens = 0
    }

    /// Empties the bucket and lets nothing in before `until`.
    package mutating func hold(until: Int64) {
        tokens = 0
        updated = max(updated, until)
    }

    /// Nanoseconds until the next whole token; nil when none will come because the rate is 0.
    package mutating func nanosecondsUntilNext(now: Int64) -> Int64? { nanosecondsUntil(1, now: now) }

    /// Nanoseconds until there are `count` whole tokens; nil when there never are: the rate is 0 or the burst is less.
    package mutating func nanosecondsUntil(_ count: Int, now: Int64) -> Int64? {
        refill(now: now)
        let missing = Double(count) - tokens
        if missing <= 0 { return 0 }
        guard rate > 0, Double(count) <= burst else { return nil }
        // Rounded up, so that the tokens are there when the time has passed; a bucket that is held fills later.
        let wait = (missing / rate * 1e9).rounded(.up) + 1 + Double(max(0, updated - now))
        return wait < 9e18 ? Int64(wait) : Int64.max
    }

    private mutating func refill(now: Int64) {
        guard now > updated else { return }
        tokens = min(burst, tokens + Double(now &- updated) * rate / 1e9)
        updated = now
    }
}
