import Delivery

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A moment of the wall clock, read once per turn.
struct WallTime: Equatable, Sendable {
    /// Since 1970.
    let seconds: Int64
    let microseconds: Int

    static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: Int64(time.tv_sec), microseconds: Int(time.tv_nsec) / 1_000)
    }

    /// So many seconds later, and never before 1970.
    func moved(by seconds: Int) -> WallTime {
        WallTime(seconds: max(0, self.seconds + Int64(seconds)), microseconds: microseconds)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    var httpDate: String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let (year, month, day) = date
        let weekday = days[Int(seconds / 86_400 % 7)]
        return "\(weekday), \(Self.padded(day, 2)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// `1994-11-06T08:49:37.123456Z` (RFC 3339).
    var timestamp: String {
        let (year, month, day) = date
        return "\(year)-\(Self.padded(month, 2))-\(Self.padded(day, 2))T\(clock).\(Self.padded(microseconds, 6))Z"
    }

    private var clock: String {
        let second = Int(seconds % 86_400)
        return [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
    }

    private var date: (year: Int, month: Int, day: Int) { CivilDate.date(daysSince1970: Int(seconds / 86_400)) }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
