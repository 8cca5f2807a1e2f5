import Testing

@testable import Delivery

@Suite struct RetryPolicyTests {
    @Test(arguments: [(0, 10), (9, 10), (10, 10), (30, 30), (3_600, 3_600)])
    func `a provider that asks for less than the base gets the base`(_ asked: Int, _ seconds: Int) {
        #expect(RetryPolicy().range(attempt: 1, wait: asked) == seconds * 1000 + 1000...seconds * 1000 + 2000)
        #expect(RetryPolicy(base: 0).range(attempt: 1, wait: asked) == asked * 1000...asked * 1000)
    }

    @Test func `a provider that asks for a year gets an hour`() {
        #expect(RetryPolicy().range(attempt: 1, wait: 31_536_000) == 3_601_000...3_602_000)
        #expect(RetryPolicy.isTooSoon(3_601) && !RetryPolicy.isTooSoon(3_600) && !RetryPolicy.isTooSoon(nil))
    }

    @Test(arguments: [
        (-1, 20_000), (0, 20_000), (1, 20_000), (2, 40_000), (3, 80_000), (8, 2_560_000), (9, 3_600_000),
        (64, 3_600_000), (Int.max, 3_600_000),
    ])
    func `the wait spreads from the base to twice as far each time`(_ attempt: Int, _ longest: Int) {
        var generator = SplitMix64(seed: 3)
        let waits = (0..<2000).map { _ in RetryPolicy().delay(attempt: attempt, using: &generator) }
        #expect(waits.allSatisfy { (10_000...longest).contains($0) })
        let width = Double(longest - 10_000)
        let mean = Double(waits.reduce(0, +)) / 2000
        #expect(abs(mean - (10_000 + width / 2)) < width * 0.05)
    }

    @Test func `no setting breaks the arithmetic`() {
        var generator = SplitMix64(seed: 4)
        for (base, cap) in [(0, 0), (-5, -5), (Int.max, Int.max), (100, 1), (0, 60)] {
            let policy = RetryPolicy(base: base, cap: cap)
            for attempt in [0, 1, 40, Int.max] {
                #expect(policy.delay(attempt: attempt, using: &generator) >= 0)
            }
        }
        #expect(RetryPolicy(base: 100, cap: 1).delay(attempt: 5, using: &generator) == 100_000)
    }
}

@Suite struct TokenBucketTests {
    static let second: Int64 = 1_000_000_000

    @Test func `a bucket gives its burst and then its rate`() {
        var bucket = TokenBucket(rate: 100, burst: 10, now: 0)
        #expect(bucket.take(25, now: 0) == 10)
        #expect(bucket.take(1, now: 0) == 0)
        var taken = 0
        for step in 1...1000 { taken += bucket.take(5, now: Int64(step) * Self.second / 100) }
        #expect((999...1001).contains(taken))
        #expect(bucket.available(now: 1000 * Self.second) == 10)
    }

    @Test func `the next token is there when it was promised`() {
        for rate in [0.5, 3, 7, 9999.0] {
            var bucket = TokenBucket(rate: rate, burst: 1, now: 0)
            #expect(bucket.take(1, now: 0) == 1)
            let wait = bucket.nanosecondsUntilNext(now: 0) ?? 0
            #expect(abs(Double(wait) - 1e9 / rate) < 10)
            #expect(bucket.available(now: wait / 2) == 0)
            #expect(bucket.take(1, now: wait) == 1)
        }
    }

    @Test func `a clock that stands still or goes back gives nothing`() {
        var bucket = TokenBucket(rate: 100, burst: 10, now: 5 * Self.second)
        #expect(bucket.take(10, now: 5 * Self.second) == 10)
        #expect(bucket.available(now: 5 * Self.second) == 0)
        #expect(bucket.available(now: 0) == 0)
        #expect(bucket.available(now: 5 * Self.second + Self.second / 10) == 10)
    }

    @Test func `the rate can change, stop and come back`() {
        var bucket = TokenBucket(rate: 100, burst: 10, now: 0)
        bucket.drain(now: 0)
        #expect(bucket.nanosecondsUntilNext(now: 0) != 0)
        bucket.setRate(0, now: 0)
        #expect(bucket.nanosecondsUntilNext(now: Self.second) == nil)
        #expect(bucket.take(1, now: 9 * Self.second) == 0)
        bucket.setRate(10, burst: 100, now: 9 * Self.second)
        #expect(bucket.take(100, now: 10 * Self.second) == 10)
        bucket.giveBack(3)
        #expect(bucket.available(now: 10 * Self.second) == 3)
        #expect(bucket.take(-5, now: 10 * Self.second) == 0)
    }
}
