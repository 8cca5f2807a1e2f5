/// How long to wait before a message is tried again: exponential, with jitter, each message on its own.
package struct RetryPolicy: Sendable {
    /// The shortest wait, in seconds: FCM asks for at least 10 s before any retry.
    package var base: Int
    /// The longest wait, in seconds.
    package var cap: Int

    package init(base: Int = 10, cap: Int = 3600) {
        // A second and a year, so that no setting makes the arithmetic below overflow.
        self.base = min(max(base, 0), 31_536_000)
        self.cap = min(max(cap, self.base), 31_536_000)
    }

    /// Answers about a message after which it fails, unless `--max-attempts` says otherwise.
    package static let maximumAttempts = 10

    /// How much of a wait that the provider asked for is kept to, in seconds: an hour at most.
    ///
    /// A year in a header would stop the app for good, and every message that was given it would fail by its age.
    package static func honoured(_ asked: Int) -> Int { min(asked, longestWait) }

    /// Whether a message is tried before the provider wanted it: that costs no attempt, so that only its age ends it.
    package static func isTooSoon(_ asked: Int?) -> Bool { asked.map { $0 > longestWait } ?? false }

    private static let longestWait = 3600

    /// Milliseconds to wait after the given attempt has failed, counted from 1, each equally likely.
    ///
    /// From `base` to `base · 2^attempt`, at most `cap`: the spread grows with each attempt, so that messages that
    /// failed together do not come back together. After a wait that the provider asked for, in seconds, a tenth of it; one
    /// shorter than `base` counts as `base`, since FCM asks for that much before any retry.
    package func range(attempt: Int, wait: Int? = nil) -> ClosedRange<Int> {
        let doublings = min(max(attempt, 1), 32)
        let own = base * 1000...min(cap, base << doublings) * 1000
        guard let wait else { return own }
        let asked = max(Self.honoured(wait), base) * 1000
        return asked + own.lowerBound / 10...asked + own.upperBound / 10
    }

    /// Milliseconds to wait where the credentials of another service are refused, 15 to 30 minutes by default: a person
    /// has to put that right, and until then every try is a wasted request.
    package var platformRange: ClosedRange<Int> { base * 90_000...base * 180_000 }

    /// A random one of `range(attempt:wait:)`.
    package func delay(attempt: Int, wait: Int? = nil, using generator: inout some RandomNumberGenerator) -> Int {
        Int.random(in: range(attempt: attempt, wait: wait), using: &generator)
    }
}
