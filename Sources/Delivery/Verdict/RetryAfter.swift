/// The `Retry-After` header (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The longest wait that is read as one: a year.
    ///
    /// Longer ones are kept to it.
    package static let longest = 31_536_000

    /// Seconds to wait from `now` (seconds since 1970).
    ///
    /// A negative number and a date in the past are 0; nil for what is neither a number of seconds nor an HTTP date.
    package static func seconds(_ value: String, now: Int) -> Int? {
        let text = Array(value.utf8).trimmed
        if text.first == UInt8(ascii: "-") {
            return ASCII.saturatingInteger(Array(text.dropFirst()).span) == nil ? nil : 0
        }
        if let seconds = ASCII.saturatingInteger(text.span) { return min(seconds, longest) }
        guard let date = HTTPDate.secondsSince1970(value, now: now) else { return nil }
        // Neither side is near the ends of Int: dates have four-digit years.
        let (wait, overflow) = date.subtractingReportingOverflow(now)
        return overflow ? nil : min(max(wait, 0), longest)
    }
}

/// Dates of HTTP in their three forms (RFC 9110, section 5.6.7), read by arithmetic only.
package enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970; nil for anything that is not such a date.
    ///
    /// A year of two digits that would be more than 50 years after `now` is one of the century before.
    package static func secondsSince1970(_ value: String, now: Int = 0) -> Int? {
        let words = Array(value.utf8).trimmed.split(separator: UInt8(ascii: " ")).map { Array($0) }
        guard let weekday = words.first, weekday.contains(where: { ASCII.isLetter($0) }) else { return nil }
        if words.count == 6, weekday.last == UInt8(ascii: ","), isGMT(words[5]) {
            // Sun, 06 Nov 1994 08:49:37 GMT
            guard words[3].count == 4, let year = number(words[3]) else { return nil }
            return seconds(day: words[1], month: words[2], year: year, time: words[4])
        }
        if words.count == 4, weekday.last == UInt8(ascii: ","), isGMT(words[3]) {
            // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[1].split(separator: UInt8(ascii: "-")).map { Array($0) }
            guard parts.count == 3, parts[2].count == 2, let short = number(parts[2]) else { return nil }
            return seconds(day: parts[0], month: parts[1], year: century(short, now: now), time: words[2])
        }
        if words.count == 5 {
            // Sun Nov  6 08:49:37 1994
            guard words[4].count == 4, let year = number(words[4]) else { return nil }
            return seconds(day: words[2], month: words[1], year: year, time: words[3])
        }
        return nil
    }

    private static func century(_ short: Int, now: Int) -> Int {
        let thisYear = 1970 + now / 31_556_952
        let year = thisYear / 100 * 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    private static func seconds(day: [UInt8], month: [UInt8], year: Int, time: [UInt8]) -> Int? {
        let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { Array($0) }
        guard clock.count == 3, clock.allSatisfy({ $0.count == 2 }), day.count <= 2,
            let day = number(day), let month = self.month(month),
            let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2]),
            day >= 1, day <= CivilDate.days(inMonth: month, year: year), hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ digits: [UInt8]) -> Int? { ASCII.saturatingInteger(digits.span) }

    private static func month(_ name: [UInt8]) -> Int? {
        let name = name.map { $0 | 0x20 }
        return months.firstIndex { $0.utf8.elementsEqual(name) }.map { $0 + 1 }
    }

    private static func isGMT(_ zone: [UInt8]) -> Bool { zone.elementsEqual("GMT".utf8) }
}

extension [UInt8] {
    /// Without the spaces and tabs at both ends.
    fileprivate var trimmed: [UInt8] {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return Array(self[first...last])
    }
}
