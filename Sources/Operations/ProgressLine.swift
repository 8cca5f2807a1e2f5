/// One line on standard error that tells how far something is, where somebody is looking.
package final class ProgressLine {
    private let what: String
    private let isTerminal = StandardStream.error.isTerminal
    private let start = ContinuousClock.now
    private var latest: ContinuousClock.Instant
    private var isShown = false

    /// - Parameter what: what is counted, such as `rows`.
    package init(_ what: String) {
        self.what = what
        latest = start
    }

    /// Shows the count and its rate, at most five times a second.
    package func show(_ count: Int) {
        let now = ContinuousClock.now
        guard isTerminal, now - latest > .milliseconds(200) else { return }
        latest = now
        isShown = true
        let (seconds, atto) = (now - start).components
        let rate = Double(count) / (Double(seconds) + Double(atto) / 1e18)
        StandardStream.error.write("\r\(count) \(what), \(Int(rate)) \(what)/s\u{1B}[K")
    }

    /// Takes the line away.
    package func end() {
        guard isShown else { return }
        isShown = false
        StandardStream.error.write("\r\u{1B}[K")
    }
}
