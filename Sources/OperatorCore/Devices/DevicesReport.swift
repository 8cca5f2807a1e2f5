import Operations
import Queue

/// What an import says: progress and refused rows on standard error, one summary on standard output.
struct DevicesReport {
    private let isTerminal = StandardStream.error.isTerminal
    private let start = ContinuousClock.now
    private let size: Int?
    private var hasProgress = false
    private(set) var done = 0
    private var inserted = 0
    private var updated = 0
    private(set) var refused = 0
    /// Rows of the registry that are others now.
    var changed: Int { inserted + updated }

    /// Refused rows that are shown; further ones only count.
    private static let mostShown = 20

    init(size: Int?) { self.size = size }

    private var seconds: Double {
        let (whole, atto) = (ContinuousClock.now - start).components
        return Double(whole) + Double(atto) / 1e18
    }

    /// Takes what became of a chunk, and what was refused before.
    mutating func add(
        _ outcome: DeviceImport.Outcome, rows: Int, refused early: [(line: Int, reason: String)], taken: Int
    ) {
        inserted += outcome.inserted
        updated += outcome.updated
        done += rows + early.count
        for (line, reason) in (early + outcome.refused).sorted(by: { $0.line < $1.line }) {
            refused += 1
            guard refused <= Self.mostShown else { continue }
            clear()
            StandardStream.error.writeLine(
                "todoke devices import: line \(line) refused: \(reason)"
                    + (refused == Self.mostShown ? " (further ones are not shown)" : ""))
        }
        guard isTerminal else { return }
        hasProgress = true
        var text = "\r\(done) rows, \(Int(Double(done) / max(seconds, 0.001))) rows/s"
        if let size, size > 0 { text += ", \(min(100, taken * 100 / size)) %" }
        StandardStream.error.write(text + "\u{1B}[K")
    }

    mutating func clear() {
        guard hasProgress else { return }
        hasProgress = false
        StandardStream.error.write("\r\u{1B}[K")
    }

    /// The one line at the end.
    mutating func finish(isJSON: Bool) {
        clear()
        let unchanged = done - refused - inserted - updated
        let tenths = Int((seconds * 10).rounded())
        let time = "\(tenths / 10).\(tenths % 10)"
        StandardStream.output.writeLine(
            isJSON
                ? """
                {"new":\(inserted),"updated":\(updated),"unchanged":\(unchanged),"refused":\(refused),"seconds":\(time)}
                """
                : "\(inserted) new, \(updated) updated, \(unchanged) unchanged, \(refused) refused in \(time) s")
    }
}
