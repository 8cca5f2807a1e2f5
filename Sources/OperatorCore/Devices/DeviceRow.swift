import Delivery
import Operations
import Queue
import Rows

/// Reads the fields of a file's row as those of a device.
struct DeviceRow {
    /// The place of each column of a device in a row; `nil` where the file has none.
    private let places: [String: Int]
    /// The app of rows that name none, and that others must name.
    private let app: String?

    /// Checks the file's columns.
    ///
    /// - Parameter isClosed: the columns are those of a header, which must be right.
    init(columns: [String], app: String?, isClosed: Bool) throws(Failure) {
        let known = DeviceExport.columns.joined(separator: ", ")
        if isClosed {
            if let other = columns.first(where: { !DeviceExport.columns.contains($0) }) {
                throw Failure(
                    .data, "the devices have a column \"\(shownColumn(other))\", which is none of a device's",
                    remedy: "leave it out or rename it: there are \(known)")
            }
            guard columns.contains("token") else {
                throw Failure(
                    .data, "the devices have no column \"token\"",
                    remedy: "write the columns' names into the first line: \(known)")
            }
            guard app != nil || columns.contains("app") else {
                throw Failure(.usage, "nothing says which app the devices belong to", remedy: "name it with --app")
            }
        }
        places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
        self.app = app
    }

    /// The row as a device, or why it cannot be one.
    func device(_ row: TemplateRow, line: Int) -> Result<DeviceChunk.Device, Refusal> {
        do throws(Refusal) {
            var device = DeviceChunk.Device()
            device.line = line
            device.app = try app(text("app", row))
            device.token = text("token", row) ?? ""
            device.userID = text("user_id", row)
            device.platform = text("platform", row)
            device.locale = text("locale", row)
            device.timeZone = text("time_zone", row)
            device.channels = try text("channels", row).map { (names) throws(Refusal) in try Self.channels(names) }
            device.appVersion = text("app_version", row)
            device.installationID = text("installation_id", row)
            device.allowsNotifications = try flag("allows_notifications", row)
            device.environment = text("environment", row)
            device.registeredAt = try time("registered_at", row)
            device.lastSeenAt = try time("last_seen_at", row)
            device.invalidatedAt = try time("invalidated_at", row)
            device.invalidReason = text("invalid_reason", row)
            return .success(device)
        } catch { return .failure(error) }
    }

    /// Why a row is none.
    struct Refusal: Error {
        let reason: String
    }

    /// `nil` for a field that is empty or not there.
    private func text(_ column: String, _ row: TemplateRow) -> String? {
        guard let place = places[column], row.has(place), row.starts[place] < row.ends[place] else { return nil }
        return row.text(place)
    }

    private func app(_ name: String?) throws(Refusal) -> String {
        guard let name = name ?? app else { throw Refusal(reason: "it names no app, and --app does not either") }
        if let app, name != app { throw Refusal(reason: "its app is another than that of --app") }
        return name
    }

    private func flag(_ column: String, _ row: TemplateRow) throws(Refusal) -> Bool? {
        guard let text = text(column, row) else { return nil }
        switch text.lowercased() {
        case "true", "t", "yes", "1": return true
        case "false", "f", "no", "0": return false
        default: throw Refusal(reason: "\(column) is neither true nor false")
        }
    }

    private func time(_ column: String, _ row: TemplateRow) throws(Refusal) -> Int? {
        guard let text = text(column, row) else { return nil }
        guard let time = Self.microseconds(text) else {
            throw Refusal(reason: "\(column) is no time like 2026-11-30T09:00:00Z")
        }
        return time
    }

    /// Microseconds since 1970 of a time as ``Moment`` reads it; what is finer is cut.
    static func microseconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard let seconds = Moment.seconds(bytes.span), seconds >= 0 else { return nil }
        guard let point = bytes.firstIndex(of: UInt8(ascii: ".")) else { return seconds * 1_000_000 }
        let digits = bytes[(point + 1)...].prefix { (0x30...0x39).contains($0) }.prefix(6)
        let fraction = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return seconds * 1_000_000 + (digits.count..<6).reduce(fraction) { value, _ in value * 10 }
    }

    /// Names out of a JSON list, or with semicolons between them; each once.
    static func channels(_ text: String) throws(Refusal) -> [String] {
        var names: [String] = []
        if text.first == "[" {
            guard let list = try? JSONValue.parse(Array(text.utf8).span).arrayValue else {
                throw Refusal(reason: "channels is neither a JSON list nor names with ; between them")
            }
            for value in list {
                guard let name = value.stringValue else { throw Refusal(reason: "channels has a name that is no text") }
                names.append(name)
            }
        } else {
            names = text.split(separator: ";").map { name in
                String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }.filter { !$0.isEmpty }
        }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}
