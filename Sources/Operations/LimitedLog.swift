/// A log in which an event that repeats itself is written a few times in ten seconds, and then counted.
///
/// For long-running programs with one thread; times are monotonic nanoseconds.
package final class LimitedLog {
    private let log: Log
    private var limit: LogLimit

    package init(_ log: Log, limit: LogLimit = LogLimit()) {
        self.log = log
        self.limit = limit
    }

    /// Lines that were left out so far.
    package var suppressedTotal: Int { limit.suppressedTotal }
    /// When ``turn(now:)`` has something to do.
    package var deadline: Int64? { limit.deadline }

    package func write(
        _ level: Log.Level, _ message: String, _ fields: KeyValuePairs<String, String> = [:], now: Int64
    ) {
        guard log.writes(level) else { return }
        turn(now: now)
        let line = LogLimit.Line(level, message, fields.map { ($0.key, $0.value) })
        if limit.admit(line, now: now) { write(line) }
    }

    /// Writes how much was left out in the windows that are over.
    package func turn(now: Int64) { for line in limit.ended(now: now) { write(line) } }

    /// Writes how much was left out until now; called when the program ends.
    package func finish() { for line in limit.endAll() { write(line) } }

    private func write(_ line: LogLimit.Line) { log.write(line.level, line.message, line.fields) }
}
