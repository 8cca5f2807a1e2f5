import Delivery
import Operations
import Queue
import Rows
import Signing

/// Turns rows into checked messages, in buffers that are reused.
struct MessageMaker {
    private var templates: TemplateSet
    private let columns: [String]
    private let userField: Int?
    private let deviceField: Int?
    private let dedupeField: Int?
    /// Seconds that a message lives; the android ttl is never longer.
    private let life: Int?
    /// Seconds from due to expired.
    private let expiresIn: Int?
    private let hasher: SHA256Hasher
    private var desk: RenderingDesk
    private var digest: [UInt8] = []
    private var identity: [UInt8] = []
    /// The latest message.
    private(set) var message: [UInt8] = []
    private(set) var ttl: (start: Int, length: Int)?
    private var report = MessageReport()

    enum Outcome {
        case message(MessageTarget)
        case refused(String)
    }

    /// Binds the templates to the audience's columns.
    init(_ templates: TemplateSet, _ audience: Audience, _ options: ProducerOptions) throws(Failure) {
        let columns = audience.reader.columns
        self.columns = columns
        userField = columns.firstIndex(of: "user_id")
        // A column of that name in anybody else's audience means something else.
        deviceField = audience.isRegistry ? columns.firstIndex(of: "device_id") : nil
        dedupeField =
            if let name = options.dedupeBy { try columns.field(name, for: "--dedupe-by") } else { nil }
        expiresIn = options.expiresIn
        life = options.expiresIn.map { min($0, TemplateAdditions.longestTTL) }
        var zones = TimeZones(ZoneClocks.stretch)
        for (zone, name) in templates.zones where zones.offset(zone, at: 0) == nil {
            throw Failure(
                .data, "\(name): there is no time zone \"\(zone)\"",
                remedy: "name one of the IANA database, such as Europe/Paris")
        }
        desk = RenderingDesk(zones)
        hasher = try .forKeys()
        self.templates = templates
        try self.templates.bind(columns)
    }

    /// The first column of the row's template that it lacks, as a failure of the run.
    mutating func missingColumn(_ row: TemplateRow) -> Failure? {
        let entry = templates.entries[templates.choose(row)]
        for (index, column) in entry.template.columns.enumerated() where !row.has(entry.template.binding[index]) {
            return Failure(
                .data,
                "\(entry.place(column)): the audience's first row has no field \"\(column.name)\"",
                remedy: "name a field that it has, or write null where it is empty")
        }
        return nil
    }

    /// Renders and checks one row; ``complete(due:)`` says when it expires.
    mutating func make(_ row: borrowing TemplateRow) -> Outcome {
        let number = templates.choose(row)
        if let missing = templates.missing(row, number) { return .refused("there is no field \"\(missing)\"") }
        if let dedupeField, !row.has(dedupeField) || row.starts[dedupeField] == row.ends[dedupeField] {
            return .refused("there is no \"\(columns[dedupeField])\", which --dedupe-by names")
        }
        message.removeAll(keepingCapacity: true)
        if let fault = templates.entries[number].template.render(row, &desk, into: &message) {
            return .refused("column \"\(fault.column)\": \(fault.reason)")
        }
        report = MessageRules.check(message.span)
        guard report.isValid, let target = report.target else { return .refused(Self.reason(report)) }
        return .message(target)
    }

    /// Writes into the latest message when it expires, where it does.
    ///
    /// - Parameter due: microseconds since 1970.
    mutating func complete(due: Int) {
        if let life = expiresIn, let written = desk.expire(at: due / 1_000_000 + life, &message),
            let place = report.androidTTL, place.start > written.place
        {
            report.androidTTL = (place.start + written.moved, place.length)
        }
        if let life { lowerTTL(to: life) }
        ttl = report.androidTTL
    }

    /// What makes the message one of its kind within the notification.
    mutating func key(_ target: MessageTarget, _ row: borrowing TemplateRow) throws(Failure) -> DedupeKey {
        guard let dedupeField else { return try key(target) }
        identity.removeAll(keepingCapacity: true)
        // No kind of target is called so.
        identity.append(contentsOf: "by:".utf8)
        identity.append(contentsOf: row.bytes[row.starts[dedupeField]..<row.ends[dedupeField]])
        return try identityKey()
    }

    /// What makes it one of its kind where each target gets one.
    mutating func key(_ target: MessageTarget) throws(Failure) -> DedupeKey {
        identity.removeAll(keepingCapacity: true)
        identity.append(contentsOf: target.kind.rawValue.utf8)
        identity.append(UInt8(ascii: ":"))
        identity.append(contentsOf: target.value.utf8)
        return try identityKey()
    }

    private mutating func identityKey() throws(Failure) -> DedupeKey {
        var digest = self.digest
        self.digest = []
        defer { self.digest = digest }
        do { try hasher.digest(identity.span, into: &digest) } catch {
            throw Failure(.software, "SHA-256 failed", remedy: "run it again")
        }
        return DedupeKey(digest: digest)
    }

    /// The registry's number of the row's device.
    func device(_ row: borrowing TemplateRow) -> Int? { deviceField.flatMap { Int(row.text($0)) } }

    /// The range of the row's user id; empty when it has none.
    func userRange(_ row: borrowing TemplateRow) -> Range<Int> {
        guard let userField, row.starts[userField] >= 0 else { return 0..<0 }
        return row.starts[userField]..<row.ends[userField]
    }

    private mutating func lowerTTL(to life: Int) {
        guard let place = report.androidTTL else { return }
        let digits = place.start..<(place.start + place.length)
        guard let own = Int(String(decoding: message[digits], as: UTF8.self)), own > life else { return }
        let lower = String(life).utf8
        message.replaceSubrange(digits, with: lower)
        report.androidTTL = (place.start, lower.count)
    }

    private static func reason(_ report: MessageReport) -> String {
        guard !report.errors.isEmpty else { return "message: it has no target" }
        var text = report.errors.prefix(3).map(\.description).joined(separator: "; ")
        if report.errors.count > 3 { text += "; and \(report.errors.count - 3) more" }
        return text
    }
}
