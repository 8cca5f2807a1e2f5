import Delivery
import Operations
import Queue

/// What the producer says: progress and refused rows on standard error, one summary on standard output.
struct ProducerReport {
    private let isTerminal = StandardStream.error.isTerminal
    private let start = ContinuousClock.now
    private var latest = ContinuousClock.now
    private var shownRejections = 0
    private var hasProgress = false

    private static let mostShown = 5

    var seconds: Double {
        let (whole, atto) = (ContinuousClock.now - start).components
        return Double(whole) + Double(atto) / 1e18
    }

    /// Shows a refused row; all but the first few only count.
    mutating func refused(line: Int, reason: String) {
        shownRejections += 1
        guard shownRejections <= Self.mostShown else { return }
        clear()
        StandardStream.error.writeLine(
            "todoke-producer: line \(line) refused: \(reason)"
                + (shownRejections == Self.mostShown ? " (further ones are not shown)" : ""))
    }

    /// Rows read, their rate and how far in the input that is, at most five times a second, where somebody is looking.
    mutating func progress(rows: Int, taken: Int, of size: Int?) {
        guard isTerminal, rows & 255 == 0 else { return }
        let now = ContinuousClock.now
        guard now - latest > .milliseconds(200) else { return }
        latest = now
        hasProgress = true
        var text = "\r\(rows) rows, \(Int(Double(rows) / max(seconds, 0.001))) rows/s"
        if let size, size > 0, taken > 0 {
            let share = min(1, Double(taken) / Double(size))
            text += ", \(Int(share * 100)) %, \(Int(seconds / share - seconds)) s left"
        }
        StandardStream.error.write(text + "\u{1B}[K")
    }

    mutating func clear() {
        guard hasProgress else { return }
        hasProgress = false
        StandardStream.error.write("\r\u{1B}[K")
    }

    /// The one line that cron mails.
    mutating func summary(_ counts: LoadCounts, _ options: ProducerOptions) {
        clear()
        let time = Self.tenths(seconds)
        guard options.json else {
            var text =
                options.guards.dryRun
                ? "would queue at most \(counts.queued), would reject \(counts.rejected)"
                : "queued \(counts.queued), already queued \(counts.alreadyQueued), rejected \(counts.rejected)"
            if counts.skipped > 0 { text += ", skipped \(counts.skipped)" }
            text += " in \(time) s"
            if options.isNotificationIDNew { text += " (notification \(options.notificationID))" }
            StandardStream.output.writeLine(text)
            return
        }
        StandardStream.output.writeLine(
            """
            {"app":\(Self.quoted(options.app)),"notification_id":\(Self.quoted(options.notificationID)),\
            "dry_run":\(options.guards.dryRun),"validate_only":\(options.guards.validateOnly),"queued":\(counts.queued),\
            "already_queued":\(counts.alreadyQueued),"rejected":\(counts.rejected),"skipped":\(counts.skipped),\
            "seconds":\(time)}
            """)
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        appendJSONString(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
