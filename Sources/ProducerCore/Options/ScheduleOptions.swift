import Delivery
import Operations

/// When messages are to go out, as the command line says it.
struct ScheduleOptions: Equatable {
    /// Seconds since 1970; `nil` is at once.
    let at: Int?
    /// The time of day in each row's own zone.
    let atLocal: LocalTime?
    /// The column with that zone, and the zone of rows that name none.
    let timezoneColumn: String?
    let defaultTimezone: String?
    /// Seconds over which due times are spread evenly.
    let spread: Int

    /// Seconds into the future for which messages may be scheduled: their day's partition is kept for longer.
    static let longest = 28 * 86_400

    init(_ options: ParsedOptions) throws(Failure) {
        let usage = "see todoke-producer --help"
        if let text = options.string("at") {
            let bytes = Array(text.utf8)
            // Without an offset nobody can say which nine o'clock that is.
            let hasOffset =
                bytes.last == UInt8(ascii: "Z") || bytes.last == UInt8(ascii: "z")
                || bytes.dropFirst(10).contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
            guard hasOffset, let moment = Moment.seconds(bytes.span) else {
                throw Failure(
                    .usage, "--at must be a date and time with its offset, not \(GivenText.quoted(text))",
                    remedy: "write it as RFC 3339: 2026-12-24T18:00:00+09:00")
            }
            at = moment
        } else {
            at = nil
        }
        if let text = options.string("at-local") {
            guard let time = LocalTime(text) else {
                throw Failure(
                    .usage, "--at-local must be a time of day, not \(GivenText.quoted(text))",
                    remedy: "write it as 09:00")
            }
            atLocal = time
        } else {
            atLocal = nil
        }
        timezoneColumn = options.string("timezone-column")
        defaultTimezone = options.string("default-timezone")
        if atLocal == nil, options.isSet("default-timezone") || options.isSet("timezone-column") {
            throw Failure(.usage, "--timezone-column and --default-timezone are for --at-local", remedy: usage)
        }
        if atLocal != nil, timezoneColumn == nil, defaultTimezone == nil {
            throw Failure(
                .usage, "--at-local needs --timezone-column or --default-timezone",
                remedy: "say where each row's time zone stands")
        }
        if let zone = defaultTimezone, ZoneClocks.stretch(zone, 0) == nil {
            throw Failure(
                .usage, "--default-timezone: there is no time zone \(GivenText.quoted(zone))",
                remedy: "name one of the IANA database, such as Europe/Paris")
        }
        spread = try options.duration("spread", in: 1...Self.longest) ?? 0
    }

    /// What a later run of the same notification has to repeat.
    var definition: [String] {
        var lines: [String] = []
        if let at { lines.append("at=\(at)") }
        if let atLocal { lines.append("at-local=\(atLocal.seconds)") }
        if let timezoneColumn { lines.append("timezone-column=\(timezoneColumn)") }
        if let defaultTimezone { lines.append("default-timezone=\(defaultTimezone)") }
        if spread > 0 { lines.append("spread=\(spread)") }
        return lines
    }
}
