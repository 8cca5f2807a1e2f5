/// Decides which lines of a log are written, so that a fault that repeats itself does not fill the disk.
///
/// Lines with the same level, message and key fields are the same event. In each window, which begins with an event's
/// first line, the first few of its lines pass; the others are counted, and when the window has ended the last of them is
/// written with that count. A pure value: times are passed in, monotonic nanoseconds.
package struct LogLimit: Sendable {
    /// A line as it is handed to the log.
    package struct Line: Equatable, Sendable {
        package let level: Log.Level
        package let message: String
        package let fields: [(key: String, value: String)]

        package init(_ level: Log.Level, _ message: String, _ fields: [(key: String, value: String)]) {
            self.level = level
            self.message = message
            self.fields = fields
        }

        package static func == (left: Line, right: Line) -> Bool {
            left.level == right.level && left.message == right.message
                && left.fields.elementsEqual(right.fields) { $0 == $1 }
        }
    }

    private struct Window {
        let ends: Int64
        var passed = 1
        var suppressed = 0
        var last: Line?
    }

    /// Fields that tell events with the same message apart: all others may differ from line to line.
    package static let keyFields: Set<String> = ["app", "credential", "statement", "code"]
    /// Events that are kept apart at a time; further ones share one window.
    static let maximumEvents = 256

    private let lines: Int
    private let window: Int64
    private var windows: [String: Window] = [:]
    private var earliestEnd = Int64.max
    /// Lines that were not written so far.
    package private(set) var suppressedTotal = 0

    /// - Parameters:
    ///   - lines: how many lines of an event pass in a window.
    ///   - window: nanoseconds.
    package init(lines: Int = 5, window: Int64 = 10_000_000_000) {
        self.lines = lines
        self.window = window
    }

    /// When ``ended(now:)`` has something to look at; nil when no window is open.
    package var deadline: Int64? { windows.isEmpty ? nil : earliestEnd }

    /// Whether the line is written now.
    ///
    /// Call ``ended(now:)`` first: a window that is over is not reopened here.
    package mutating func admit(_ line: Line, now: Int64) -> Bool {
        var key = Self.key(of: line)
        if windows[key] == nil && windows.count >= Self.maximumEvents { key = "" }
        guard var known = windows[key] else {
            windows[key] = Window(ends: now + window)
            earliestEnd = min(earliestEnd, now + window)
            return true
        }
        if known.passed < lines {
            known.passed += 1
            windows[key] = known
            return true
        }
        known.suppressed += 1
        known.last = line
        windows[key] = known
        suppressedTotal += 1
        return false
    }

    /// Closes the windows that are over, and gives back the lines that say what was left out in them.
    package mutating func ended(now: Int64) -> [Line] {
        guard now >= earliestEnd else { return [] }
        return close { $0.ends <= now }
    }

    /// Closes all windows: the program ends.
    package mutating func endAll() -> [Line] { close { _ in true } }

    private mutating func close(_ isOver: (Window) -> Bool) -> [Line] {
        let over = windows.filter { isOver($0.value) }
        for key in over.keys { windows[key] = nil }
        earliestEnd = windows.values.map(\.ends).min() ?? .max
        return over.sorted { ($0.value.ends, $0.key) < ($1.value.ends, $1.key) }.compactMap { _, window in
            window.last.map { last in
                Line(last.level, last.message, last.fields + [("suppressed", "\(window.suppressed)")])
            }
        }
    }

    private static func key(of line: Line) -> String {
        var key = "\(line.level.rawValue)\u{1F}\(line.message)"
        for (name, value) in line.fields where keyFields.contains(name) { key += "\u{1F}\(name)=\(value)" }
        return key
    }
}
