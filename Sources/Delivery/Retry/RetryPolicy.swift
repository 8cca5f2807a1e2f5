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

    /// Milliseconds to wait after the given attempt has failed, counted from 1.
    ///
    /// Any value from `base` to `base · 2^attempt`, at most `cap`, is equally likely: the spread grows with each
    /// attempt, so that messages that failed together do not come back together.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Int {
        let doublings = min(max(attempt, 1), 32)
        let longest = min(cap, base << doublings)
        return Int.random(in: base * 1000...longest * 1000, using: &generator)
    }
}
