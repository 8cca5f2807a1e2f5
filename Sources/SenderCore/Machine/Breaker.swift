package import Operations

/// Keeps an app still while its provider, network or credentials are at fault; the messages are not to blame.
package enum Breaker: Sendable {
    case closed
    /// Nothing is posted before `until`; then one message goes as a probe.
    case open(until: Int64, failures: Int, fault: Failure)

    /// The fault, while the breaker is not closed.
    package var fault: Failure? {
        if case .open(_, _, let fault) = self { fault } else { nil }
    }

    /// How many messages may be held at `now`: all, none, or one to probe with.
    package func allowance(now: Int64) -> Int {
        switch self {
        case .closed: .max
        case .open(let until, _, _): now >= until ? 1 : 0
        }
    }

    /// Opens, or stays open for twice as long as last time: from 1 s to 60 s.
    package mutating func open(fault: Failure, now: Int64) {
        var failures = 1
        if case .open(let until, let earlier, _) = self {
            // Posts that were under way when it opened fail too; they are one and the same trouble.
            if now < until { return }
            failures = earlier + 1
        }
        let seconds = min(60, 1 << min(failures - 1, 6))
        self = .open(until: now + Int64(seconds) * 1_000_000_000, failures: failures, fault: fault)
    }

    package mutating func close() { self = .closed }
}
