import Delivery
import Operations
import Queue
import Rows

/// When each row's message is due: the same for every run of one notification, so that a rerun changes nothing.
struct Schedule {
    enum Outcome: Equatable {
        /// Microseconds since 1970.
        case due(Int)
        case refused(String)
    }

    private let options: ScheduleOptions
    private let zoneField: Int?
    private var zones = TimeZones(ZoneClocks.stretch)
    /// Microseconds since 1970: what the times of all rows are counted from.
    private var base = 0
    /// By zone, when its clocks show the time next; `nil` for a zone that does not exist.
    private var known: [String: Int?] = [:]

    /// Far more than there are zones.
    private static let mostZones = 2_000

    /// Finds the column with the rows' zones.
    init(_ options: ScheduleOptions, _ columns: [String]) throws(Failure) {
        self.options = options
        zoneField =
            if let name = options.timezoneColumn { try columns.field(name, for: "--timezone-column") } else { nil }
    }

    /// Counts from when the notification was made, in microseconds since 1970, unless `--at` names a moment.
    mutating func begin(_ made: Int) throws(Failure) {
        base = options.at.map { $0 * 1_000_000 } ?? made
        known = [:]
        guard base - made <= ScheduleOptions.longest * 1_000_000 else {
            throw Failure(
                .usage, "--at is more than \(ScheduleOptions.longest / 86_400) days ahead",
                remedy: "queue it later: a queue is no calendar")
        }
        // Hours late is a cron job that was held up; more is a mistake in the date.
        guard made - base <= 86_400 * 1_000_000 else {
            throw Failure(
                .usage, "--at is more than a day in the past",
                remedy: "correct the date, or leave --at out to send at once")
        }
    }

    /// When the row's message is due.
    mutating func due(_ row: borrowing TemplateRow, _ key: DedupeKey) -> Outcome {
        var due = base
        if let time = options.atLocal {
            var zone = zoneField.map { row.text($0) } ?? ""
            if zone.isEmpty { zone = options.defaultTimezone ?? "" }
            var moment = next(time, zone)
            if moment == nil, let other = options.defaultTimezone { moment = next(time, other) }
            guard let moment else {
                return .refused(
                    zone.isEmpty
                        ? "there is no time zone" : "there is no time zone \"\(shownColumn(zone))\"")
            }
            due = moment * 1_000_000
        }
        if options.spread > 0 {
            // The key is a digest, so that these are spread evenly, and the same in every run.
            due += Int(key.share(of: UInt64(options.spread * 1_000_000)))
        }
        return .due(due)
    }

    private mutating func next(_ time: LocalTime, _ zone: String) -> Int? {
        guard zone.utf8.count <= TimeZones.longestName else { return nil }
        if let found = known[zone] { return found }
        if known.count >= Self.mostZones { known.removeAll(keepingCapacity: true) }
        // The moment itself counts: whole seconds, rounded up.
        let moment = time.next(from: (base + 999_999) / 1_000_000, zone: zone, &zones)
        known[zone] = .some(moment)
        return moment
    }
}
