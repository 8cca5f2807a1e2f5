/// A time of day as clocks on a wall show it.
package struct LocalTime: Equatable, Sendable {
    /// Seconds since midnight.
    package let seconds: Int

    /// Reads `HH:MM` or `HH:MM:SS`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isDigit) })
        else { return nil }
        let numbers = parts.map { Int($0) ?? 99 }
        guard numbers[0] < 24, numbers[1] < 60, numbers.count < 3 || numbers[2] < 60 else { return nil }
        seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
    }

    /// When the zone's clocks show this time next, at `moment` or later, in seconds since 1970; `nil` for a zone that does
    /// not exist.
    ///
    /// A time that clocks show twice, when they are set back, is the first of the two. One that they skip, when they are
    /// set forward, is as long after the change as it would be after the skipped hour began, as in iCalendar (RFC 5545,
    /// section 3.3.5).
    package func next(from moment: Int, zone: String, _ zones: inout TimeZones) -> Int? {
        guard let offset = zones.offset(zone, at: moment) else { return nil }
        let today = Self.dayStart(moment + offset)
        // The day before and two days after: zones have changed by a whole day, and dropped one.
        for day in -1...3 {
            guard let found = Self.moment(local: today + day * 86_400 + seconds, zone, &zones) else { return nil }
            if found >= moment { return found }
        }
        return nil
    }

    private static func dayStart(_ local: Int) -> Int {
        local - ((local % 86_400) + 86_400) % 86_400
    }

    /// When clocks show this local time, counted in seconds as if it were UTC.
    private static func moment(local: Int, _ zone: String, _ zones: inout TimeZones) -> Int? {
        guard let before = zones.offset(zone, at: local - 86_400), let after = zones.offset(zone, at: local + 86_400)
        else {
            return nil
        }
        // The larger offset is the earlier moment.
        for offset in before >= after ? [before, after] : [after, before]
        where zones.offset(zone, at: local - offset) == offset {
            return local - offset
        }
        return local - before
    }
}
