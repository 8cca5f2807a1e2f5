/// A moment as audiences write it, read by arithmetic only.
package enum Moment {
    /// Seconds since 1970 of an RFC 3339 date and time, of Postgres' text for one, or of a number of seconds.
    ///
    /// A space may stand for the `T`, seconds may have a fraction, which is cut, and an offset may be `Z`, `+09`, `+0900`,
    /// `+09:00` or `+09:00:00`; without one the time is UTC. A date alone is its midnight. `nil` for anything else.
    package static func seconds(_ text: Span<UInt8>) -> Int? {
        if let seconds = plainSeconds(text) { return seconds }
        var reader = Reader()
        guard let year = reader.number(text, 4), reader.take(text, "-"), let month = reader.number(text, 2),
            reader.take(text, "-"),
            let day = reader.number(text, 2), (1...max(1, CivilDate.days(inMonth: month, year: year))).contains(day),
            (1...12).contains(month)
        else { return nil }
        let midnight = CivilDate.daysSince1970(year: year, month: month, day: day) * 86_400
        if reader.isAtEnd(text) { return midnight }
        guard reader.take(text, "T") || reader.take(text, "t") || reader.take(text, " "),
            let hour = reader.number(text, 2), hour < 24,
            reader.take(text, ":"), let minute = reader.number(text, 2), minute < 60
        else { return nil }
        var second = 0
        if reader.take(text, ":") {
            // A leap second is the one after it.
            guard let found = reader.number(text, 2), found <= 60 else { return nil }
            second = found
            if reader.take(text, "."), !reader.skipDigits(text) { return nil }
        }
        guard let offset = reader.offset(text), reader.isAtEnd(text) else { return nil }
        return midnight + hour * 3600 + minute * 60 + second - offset
    }

    /// A number of seconds, up to the year 9999.
    private static func plainSeconds(_ text: Span<UInt8>) -> Int? {
        guard (1...12).contains(text.count) else { return nil }
        for index in 0..<text.count where !ASCII.isDigit(text[index]) { return nil }
        return ASCII.saturatingInteger(text).flatMap { $0 < 253_402_300_800 ? $0 : nil }
    }

    private struct Reader {
        var position = 0

        func isAtEnd(_ text: Span<UInt8>) -> Bool { position == text.count }

        mutating func take(_ text: Span<UInt8>, _ character: Unicode.Scalar) -> Bool {
            guard position < text.count, UInt32(text[position]) == character.value else { return false }
            position += 1
            return true
        }

        mutating func number(_ text: Span<UInt8>, _ digits: Int) -> Int? {
            guard position + digits <= text.count else { return nil }
            var value = 0
            for index in position..<(position + digits) {
                guard ASCII.isDigit(text[index]) else { return nil }
                value = value * 10 + Int(text[index] - 0x30)
            }
            position += digits
            return value
        }

        mutating func skipDigits(_ text: Span<UInt8>) -> Bool {
            let start = position
            while position < text.count, ASCII.isDigit(text[position]) { position += 1 }
            return position > start
        }

        /// Seconds east of UTC.
        mutating func offset(_ text: Span<UInt8>) -> Int? {
            if isAtEnd(text) || take(text, "Z") || take(text, "z") { return 0 }
            let isWest = take(text, "-")
            guard isWest || take(text, "+"), let hours = number(text, 2), hours < 24 else { return nil }
            var seconds = hours * 3600
            if !isAtEnd(text) {
                let hasColon = take(text, ":")
                guard let minutes = number(text, 2), minutes < 60 else { return nil }
                seconds += minutes * 60
                if hasColon, take(text, ":") {
                    guard let rest = number(text, 2), rest < 60 else { return nil }
                    seconds += rest
                }
            }
            return isWest ? -seconds : seconds
        }
    }
}
