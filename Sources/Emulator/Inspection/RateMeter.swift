/// Things per second, by seconds since the meter's start.
struct RateMeter {
    /// Seconds that are remembered.
    static let history = 60

    private let start: Int64
    private var second: Int64 = 0
    private var counts = [Int](repeating: 0, count: RateMeter.history)
    private(set) var peak = 0

    /// - Parameter start: nanoseconds of the monotonic clock.
    init(start: Int64) { self.start = start }

    mutating func count(at time: Int64) {
        advance(to: time)
        let place = Int(second % Int64(Self.history))
        counts[place] += 1
        peak = max(peak, counts[place])
    }

    /// In the last whole second.
    mutating func lastSecond(at time: Int64) -> Int {
        advance(to: time)
        return second == 0 ? 0 : counts[Int((second - 1) % Int64(Self.history))]
    }

    /// In the last minute, the second that has begun included.
    mutating func lastMinute(at time: Int64) -> Int {
        advance(to: time)
        return counts.reduce(0, +)
    }

    private mutating func advance(to time: Int64) {
        let now = max(second, (time - start) / 1_000_000_000)
        guard now > second else { return }
        for passed in (max(second, now - Int64(Self.history)) + 1)...now {
            counts[Int(passed % Int64(Self.history))] = 0
        }
        second = now
    }
}
