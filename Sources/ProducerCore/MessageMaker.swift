import Delivery
import Operations
import Queue
import Signing

/// Turns rows into checked messages, in buffers that are reused.
struct MessageMaker {
    private(set) var template: Template
    private let columns: [String]
    private let userField: Int?
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

    /// Binds the template to the audience's columns.
    init(_ template: Template, _ audience: Audience, _ options: ProducerOptions) throws(Failure) {
        self.template = template
        columns = audience.reader.columns
        userField = columns.firstIndex(of: "user_id")
        let names = audience.reader.columns
        dedupeField = options.dedupeBy.flatMap { name in names.firstIndex(of: name) }
        if let name = options.dedupeBy, dedupeField == nil {
            throw Failure(
                .data, "the audience has no column \"\(name)\", which --dedupe-by names",
                remedy: "it has \(columns.prefix(12).map(shownColumn).joined(separator: ", "))")
        }
        expiresIn = options.expiresIn
        life = options.expiresIn.map { min($0, TemplateAdditions.longestTTL) }
        var zones = TimeZones(ZoneClocks.stretch)
        for zone in template.zones.sorted() where zones.offset(zone, at: 0) == nil {
            throw Failure(
                .data, "\(options.template): there is no time zone \"\(zone)\"",
                remedy: "name one of the IANA database, such as Europe/Paris")
        }
        desk = RenderingDesk(zones)
        do { hasher = try SHA256Hasher() } catch {
            throw Failure(.software, "SHA-256 is not available", remedy: "check the installation of libcrypto")
        }
        for (index, column) in template.columns.enumerated() {
            guard let field = columns.firstIndex(of: column.name) else {
                throw Self.missing(column, columns, options.template)
            }
            self.template.binding[index] = field
        }
    }

    /// The first column of the template that this row lacks, as a failure of the run.
    func missingColumn(_ row: TemplateRow, _ options: ProducerOptions) -> Failure? {
        for (index, column) in template.columns.enumerated() where !row.has(template.binding[index]) {
            return Failure(
                .data,
                "\(options.template)\(column.position.map { " \($0)" } ?? ""): the audience's first row has no field \"\(column.name)\"",
                remedy: "name a field that it has, or write null where it is empty")
        }
        return nil
    }

    /// Renders and checks one row; ``complete(due:)`` says when it expires.
    mutating func make(_ row: borrowing TemplateRow) -> Outcome {
        for (index, column) in template.columns.enumerated() where row.starts[template.binding[index]] < 0 {
            return .refused("there is no field \"\(column.name)\"")
        }
        if let dedupeField, !row.has(dedupeField) || row.starts[dedupeField] == row.ends[dedupeField] {
            return .refused("there is no \"\(columns[dedupeField])\", which --dedupe-by names")
        }
        message.removeAll(keepingCapacity: true)
        if let fault = template.render(row, &desk, into: &message) {
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
        identity.removeAll(keepingCapacity: true)
        if let dedupeField {
            // No kind of target is called so.
            identity.append(contentsOf: "by:".utf8)
            identity.append(contentsOf: row.bytes[row.starts[dedupeField]..<row.ends[dedupeField]])
        } else {
            identity.append(contentsOf: target.kind.rawValue.utf8)
            identity.append(UInt8(ascii: ":"))
            identity.append(contentsOf: target.value.utf8)
        }
        var digest = self.digest
        self.digest = []
        defer { self.digest = digest }
        do { try hasher.digest(identity.span, into: &digest) } catch {
            throw Failure(.software, "SHA-256 failed", remedy: "run it again")
        }
        return DedupeKey(digest: digest)
    }

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

    private static func missing(_ column: Template.Column, _ columns: [String], _ file: String) -> Failure {
        let near = columns.filter { abs($0.utf8.count - column.name.utf8.count) <= 2 }
        let close = near.map { ($0, editDistance($0, column.name)) }.min { $0.1 < $1.1 }
        let hint = close.flatMap { $0.1 <= 2 ? "did you mean \"\($0.0)\"? " : nil } ?? ""
        let place = column.position.map { " \($0)" } ?? ""
        let known = columns.prefix(12).map(shownColumn).joined(separator: ", ") + (columns.count > 12 ? ", …" : "")
        return Failure(
            .data, "\(file)\(place): the audience has no column \"\(column.name)\"", remedy: "\(hint)it has \(known)")
    }
}
