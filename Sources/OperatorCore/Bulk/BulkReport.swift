import Delivery
import Operations

/// What a bulk operation says: how far it is, on a terminal, and one result at its end.
struct BulkReport {
    private let isTerminal = StandardStream.error.isTerminal
    private let start = ContinuousClock.now
    private var latest = ContinuousClock.now
    private var hasProgress = false

    /// Tenths of a second since the start.
    var seconds: String {
        let (whole, atto) = (ContinuousClock.now - start).components
        let tenths = whole * 10 + atto / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Shown at most five times a second, where somebody is looking.
    mutating func progress(_ text: @autoclosure () -> String) {
        guard isTerminal else { return }
        let now = ContinuousClock.now
        guard now - latest > .milliseconds(200) else { return }
        latest = now
        hasProgress = true
        StandardStream.error.write("\r\(text())\u{1B}[K")
    }

    mutating func clear() {
        guard hasProgress else { return }
        hasProgress = false
        StandardStream.error.write("\r\u{1B}[K")
    }

    /// One line of the result; control characters of names do not get through.
    static func say(_ text: String) {
        var line = ""
        for scalar in text.unicodeScalars {
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        StandardStream.output.writeLine(line)
    }

    static func say(_ object: [JSONValue.Member]) { StandardStream.output.writeLine(JSONValue.object(object).text) }

    /// Where a signal ended it.
    static let stopped = Failure(
        .temporary, "stopped by a signal; what is told above is done and stays",
        remedy: "run the same line again for the rest")
}
