/// Counts observations by size, in whole numbers: nanoseconds, rows.
///
/// An observation costs a walk along the bounds and two additions; nothing is allocated. One thread only.
package struct Histogram: Sendable {
    /// What the whole numbers stand for when they are shown.
    package enum Unit: Sendable { case nanosecondsAsSeconds, items }

    package let unit: Unit
    /// Ascending; an observation that equals a bound counts below it.
    package let bounds: [Int]
    /// One for each bound and one for what lies beyond the last, each counted once: they are added up when shown.
    package private(set) var counts: [Int]
    /// Not a whole number: nanoseconds of many messages at a time come to 2^63 within months.
    package private(set) var sum = 0.0

    package init(_ unit: Unit, bounds: [Int]) {
        self.unit = unit
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package var count: Int { counts.reduce(0, +) }

    /// Negative values count as 0.
    @inlinable
    package mutating func observe(_ value: Int) {
        var index = 0
        while index < bounds.count && value > bounds[index] { index += 1 }
        add(max(0, value), at: index)
    }

    @usableFromInline
    mutating func add(_ value: Int, at index: Int) {
        counts[index] &+= 1
        sum += Double(value)
    }

    /// Bounds given in milliseconds, for ``Unit/nanosecondsAsSeconds``.
    package static func latency(milliseconds: [Double]) -> Histogram {
        Histogram(.nanosecondsAsSeconds, bounds: milliseconds.map { Int($0 * 1_000_000) })
    }
}
