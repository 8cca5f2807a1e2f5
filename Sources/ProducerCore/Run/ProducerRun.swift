import Delivery
import FoundationEssentials
import Operations
import Queue
import Rows
import Signing

/// One run: template and audience are opened and checked, then row by row becomes a message in the queue.
struct ProducerRun {
    let options: ProducerOptions
    var audience: Audience
    var maker: MessageMaker
    var schedule: Schedule
    let request: LoadRequest
    private let wanted: [String]
    private let onlyTargets: TargetList?
    /// What an app of the sandbox may send to; `nil` for any.
    var allowedTargets: Set<DedupeKey>?
    var report = ProducerReport()
    var counts = LoadCounts()
    var row = TemplateRow()
    /// Rows read, and those of them that were not left out.
    private var rows = 0
    private var rowsTaken = 0
    /// The line of the latest row; 0 before the first.
    private(set) var line = 0
    /// Why the latest row is refused, if it is, and what it is.
    private(set) var reason = ""
    private(set) var input = ""
    /// The run ended at its limit, before the audience did.
    private(set) var isCutShort = false

    /// Reads and checks everything that does not depend on a row.
    init(_ options: ProducerOptions) throws(Failure) {
        self.options = options
        let templates = try TemplateSet(options.content, Self.additions(options))
        wanted = templates.columns + [options.dedupeBy, options.schedule.timezoneColumn].compactMap(\.self)
        onlyTargets = try options.guards.onlyTargets.map { (path) throws(Failure) in
            try TargetList(path, option: "only-targets")
        }
        audience = try Audience(options, wanted: wanted)
        maker = try MessageMaker(templates, audience, options)
        schedule = try Schedule(options.schedule, audience.reader.columns)
        request = Self.request(options, audience, templates)
    }

    private static func additions(_ options: ProducerOptions) -> TemplateAdditions {
        let id = Array(options.notificationID.utf8)
        // It becomes a header's value, which can hold no control characters and does not keep spaces at its ends.
        let fitsHeader =
            id.count <= 64 && id.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && id.first != 0x20 && id.last != 0x20
        return TemplateAdditions(
            notificationID: options.notificationID,
            collapseID: fitsHeader ? options.notificationID : SHA256.hex(id.span), image: options.content.image,
            expiresIn: options.expiresIn)
    }

    /// What is compared between runs is what changes messages: how many rows are taken is not.
    private static func request(
        _ options: ProducerOptions, _ audience: Audience, _ templates: TemplateSet
    ) -> LoadRequest {
        var lines = [
            audience.definition, "image=\(options.content.image ?? "")",
            "expires-in=\(options.expiresIn.map(String.init) ?? "")",
        ]
        lines += options.schedule.definition
        if let column = options.dedupeBy { lines.append("dedupe-by=\(column)") }
        if !options.content.variants.isEmpty { lines.append("locale-column=\(options.content.localeColumn)") }
        let definition = lines.joined(separator: "\n")
        return LoadRequest(
            app: options.app, notificationID: options.notificationID, templateDigest: templates.digest,
            definitionDigest: SHA256.hex(Array(definition.utf8).span), append: options.append,
            priority: options.priority, expiresIn: options.expiresIn, waits: options.ifRunning == .wait,
            campaign: options.campaign, delivery: options.delivery, validateOnly: options.guards.validateOnly)
    }

    /// Runs to the end of the audience and says what came of it.
    mutating func run() throws(Failure) -> ExitCode {
        try checkSize()
        if let count = options.guards.preview { return try preview(count) }
        if options.guards.dryRun {
            try rehearse()
        } else {
            try load()
        }
        report.summary(counts, options)
        return counts.rejected > 0 ? .data : .ok
    }

    /// Reads the audience once for its size, where that is limited.
    ///
    /// Not where a list of targets limits it: which rows are kept shows when messages are made.
    private func checkSize() throws(Failure) {
        guard let most = options.guards.maxAudience, audience.canBeReadAgain, onlyTargets == nil else { return }
        let enough = min(most, options.guards.limit ?? .max)
        var reader = try Audience(options, wanted: wanted, again: audience).reader
        var row = TemplateRow()
        var rows = 0
        while true {
            switch try reader.next(into: &row) {
            case .end: return
            case .skipped: continue
            case .row, .refused: rows += 1
            }
            if rows > most { throw tooLarge(most, "nothing was queued") }
            if rows > enough { return }
        }
    }

    private func tooLarge(_ most: Int, _ state: String) -> Failure {
        Failure(
            .data, "the audience has more than the \(most) rows of --max-audience",
            remedy: "\(state); look whom it is made of, or raise --max-audience")
    }

    enum Step {
        /// Its key, and when it is due in microseconds since 1970.
        case message(MessageTarget, DedupeKey, due: Int)
        case refused
        case skipped
        case end
    }

    /// Reads the next row and makes its message; `line` and `reason` say where and why it is refused.
    mutating func step() throws(Failure) -> Step {
        let step = try nextStep()
        // Here and not before the row is made: one that is left out does not count.
        if let most = options.guards.maxAudience, rowsTaken > most {
            if case .refused = step { counts.rejected -= 1 }
            throw tooLarge(most, "what stands before is queued")
        }
        return step
    }

    private mutating func nextStep() throws(Failure) -> Step {
        if let limit = options.guards.limit, rowsTaken >= limit {
            isCutShort = true
            return .end
        }
        let found = try audience.reader.next(into: &row)
        if found != .end {
            rows += 1
            rowsTaken += 1
        }
        report.progress(rows: rows, taken: audience.reader.bytesTaken, of: audience.size)
        switch found {
        case .end:
            guard line > 0 || !audience.hasLooseFields else {
                throw Failure(.data, "the audience is empty", remedy: "give it one JSON object a line")
            }
            return .end
        case .refused(let line, let reason, let input):
            return refuse(line, reason, input)
        case .skipped(let line):
            self.line = line
            return skip()
        case .row(let line):
            if self.line == 0 && audience.hasLooseFields, let failure = maker.missingColumn(row) { throw failure }
            self.line = line
            switch maker.make(row) {
            case .message(let target): return try judge(target)
            case .refused(let reason): return refuse(line, reason, rowText())
            }
        }
    }

    /// Whether the message made of the row may go, and when.
    private mutating func judge(_ target: MessageTarget) throws(Failure) -> Step {
        if let onlyTargets, try !onlyTargets.contains(target.value) { return skip() }
        let key = try maker.key(target, row)
        if let allowedTargets {
            let own = options.dedupeBy == nil ? key : try maker.key(target)
            guard allowedTargets.contains(own) else {
                return refuse(
                    line,
                    "the app \"\(options.app)\" is a sandbox, and this \(target.kind.rawValue) is not in todoke.allowed_targets",
                    rowText())
            }
        }
        switch schedule.due(row, key) {
        case .due(let due):
            maker.complete(due: due)
            return .message(target, key, due: due)
        case .refused(let reason):
            return refuse(line, reason, rowText())
        }
    }

    private mutating func skip() -> Step {
        rowsTaken -= 1
        counts.skipped += 1
        return .skipped
    }

    private mutating func refuse(_ line: Int, _ reason: String, _ input: String) -> Step {
        self.line = line
        self.reason = reason
        self.input = input
        counts.rejected += 1
        report.refused(line: line, reason: reason)
        return .refused
    }

    /// Whether so many rows are refused that the run is to stop.
    func hasTooManyRejections(atEnd: Bool = false) -> Bool {
        options.guards.maxRejections?.isPassed(rejected: counts.rejected, of: rowsTaken, atEnd: atEnd) ?? false
    }

    /// Stops a run with too many refused rows; the last of them is written already.
    func checkRejections(atEnd: Bool = false) throws(Failure) {
        guard let most = options.guards.maxRejections, hasTooManyRejections(atEnd: atEnd) else { return }
        throw Failure(
            .data, "more than \(most.text) are refused, the last at line \(line)",
            remedy: "correct the audience, or raise --max-rejections")
    }

    /// The row as a JSON object, for the record of refused rows.
    private func rowText() -> String {
        var bytes = [UInt8(ascii: "{")]
        for (field, name) in audience.reader.columns.enumerated() where field < row.count && row.has(field) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            appendJSONString(name, into: &bytes)
            bytes.append(contentsOf: ":\"".utf8)
            appendJSONEscaped(row.bytes.span.extracting(row.starts[field]..<row.ends[field]), into: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
        return storable(bytes[...])
    }
}
