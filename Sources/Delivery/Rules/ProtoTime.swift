/// Durations and points in time as proto3's JSON writes them.
enum ProtoTime {
    /// The longest duration that protobuf knows: about 10,000 years.
    static let mostSeconds = 315_576_000_000

    /// A duration such as `3.000000001s`.
    struct Duration {
        var isNegative = false
        /// Whole seconds, at most `Int.max`.
        var seconds = 0
        /// Where the digits of the whole seconds end, from the start of the text.
        var wholeDigits = 0
        var hasFraction = false
    }

    /// Reads `[-]digits[.1 to 9 digits]s`; nil for anything else.
    static func duration(_ text: Span<UInt8>) -> Duration? {
        var result = Duration()
        var index = 0
        if text.count > 0 && text[0] == UInt8(ascii: "-") {
            result.isNegative = true
            index = 1
        }
        let whole = index
        while index < text.count && ASCII.isDigit(text[index]) { index += 1 }
        guard let seconds = ASCII.saturatingInteger(text.extracting(whole..<index)) else { return nil }
        result.seconds = seconds
        result.wholeDigits = index
        if index < text.count && text[index] == UInt8(ascii: ".") {
            index += 1
            let fraction = index
            while index < text.count && ASCII.isDigit(text[index]) {
                if text[index] != UInt8(ascii: "0") { result.hasFraction = true }
                index += 1
            }
            guard (1...9).contains(index - fraction) else { return nil }
        }
        guard index == text.count - 1, text[index] == UInt8(ascii: "s") else { return nil }
        return result
    }

    /// Whether the text is a timestamp such as `2014-10-02T15:01:23.045123456Z` or with an offset such as `+09:00`.
    ///
    /// In UTC it must lie in the years 1 to 9999, which is all that protobuf's Timestamp holds.
    static func isTimestamp(_ text: Span<UInt8>) -> Bool {
        guard text.count >= 20,
            let year = number(text, 0, 4), let month = number(text, 5, 2), let day = number(text, 8, 2),
            let hour = number(text, 11, 2), let minute = number(text, 14, 2), let second = number(text, 17, 2),
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
        else { return false }
        guard year >= 1, (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, year: year),
            hour < 24, minute < 60, second < 60
        else { return false }
        var index = 19
        if text[index] == UInt8(ascii: ".") {
            index += 1
            let fraction = index
            while index < text.count && ASCII.isDigit(text[index]) { index += 1 }
            guard (1...9).contains(index - fraction) else { return false }
        }
        guard index < text.count else { return false }
        if text[index] == UInt8(ascii: "Z") { return index + 1 == text.count }
        guard text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-"), index + 6 == text.count,
            text[index + 3] == UInt8(ascii: ":"),
            let offsetHour = number(text, index + 1, 2), let offsetMinute = number(text, index + 4, 2)
        else { return false }
        guard offsetHour < 24, offsetMinute < 60 else { return false }
        let offset = (offsetHour * 60 + offsetMinute) * (text[index] == UInt8(ascii: "+") ? 60 : -60)
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        return timestamps.contains(days * 86_400 + hour * 3600 + minute * 60 + second - offset)
    }

    /// From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z, in seconds since 1970.
    private static let timestamps = -62_135_596_800...253_402_300_799

    private static func number(_ text: Span<UInt8>, _ start: Int, _ length: Int) -> Int? {
        ASCII.saturatingInteger(text.extracting(start..<start + length))
    }
}
