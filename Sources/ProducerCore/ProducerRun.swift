import Delivery
import FoundationEssentials
import Operations
import Postgres
import Queue
import Signing

/// One run: template and audience are opened and checked, then row by row becomes a message in the queue.
struct ProducerRun {
    private let options: ProducerOptions
    private var audience: Audience
    private var maker: MessageMaker
    private var schedule: Schedule
    private let templateDigest: String
    private var report = ProducerReport()
    private var counts = LoadCounts()
    private var row = TemplateRow()
    /// Rows read.
    private var rows = 0
    /// The line of the latest row; 0 before the first.
    private var line = 0
    /// Why the latest row is refused, if it is, and what it is.
    private var reason = ""
    private var input = ""

    /// Reads and checks everything that does not depend on a row.
    init(_ options: ProducerOptions) throws(Failure) {
        self.options = options
        let text = try InputFile.contents(options.template, option: "template")
        templateDigest = SHA256.hex(text.span)
        let template: Template
        do {
            template = try Template(text, Self.additions(options))
        } catch { throw Failure(error, file: options.template) }
        let issues = template.issues()
        if let first = issues.first {
            let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
            throw Failure(
                .data, "\(options.template): \(first)\(more)", remedy: "correct the template; nothing was queued")
        }
        audience = try Audience(
            options,
            wanted: template.columns.map(\.name)
                + [options.dedupeBy, options.schedule.timezoneColumn].compactMap(\.self))
        maker = try MessageMaker(template, audience, options)
        schedule = try Schedule(options.schedule, audience.reader.columns)
    }

    private static func additions(_ options: ProducerOptions) -> TemplateAdditions {
        let id = Array(options.notificationID.utf8)
        // It becomes a header's value, which can hold no control characters and does not keep spaces at its ends.
        let fitsHeader =
            id.count <= 64 && id.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && id.first != 0x20 && id.last != 0x20
        return TemplateAdditions(
            notificationID: options.notificationID,
            collapseID: fitsHeader ? options.notificationID : SHA256.hex(id.span), image: options.image,
            expiresIn: options.expiresIn)
    }

    /// Runs to the end of the audience and says what came of it.
    mutating func run() throws(Failure) -> ExitCode {
        if let count = options.preview { return try preview(count) }
        if options.dryRun {
            try rehearse()
        } else {
            try load()
        }
        report.summary(counts, options)
        return counts.rejected > 0 ? .data : .ok
    }

    private enum Step {
        /// Its key, and when it is due in microseconds since 1970.
        case message(MessageTarget, DedupeKey, due: Int)
        case refused
        case end
    }

    /// Reads the next row and makes its message; `line` and `reason` say where and why it is refused.
    private mutating func step() throws(Failure) -> Step {
        switch try audience.reader.next(into: &row) {
        case .end:
            guard line > 0 || !audience.hasLooseFields else {
                throw Failure(.data, "the audience is empty", remedy: "give it one JSON object a line")
            }
            return .end
        case .refused(let line, let reason, let input):
            return try refuse(line, reason, input)
        case .row(let line):
            if self.line == 0 && audience.hasLooseFields, let failure = maker.missingColumn(row, options) {
                throw failure
            }
            self.line = line
            switch maker.make(row) {
            case .message(let target):
                let key = try maker.key(target, row)
                switch schedule.due(row, key) {
                case .due(let due):
                    maker.complete(due: due)
                    rows += 1
                    report.progress(rows: rows, taken: audience.reader.bytesTaken, of: audience.size)
                    return .message(target, key, due: due)
                case .refused(let reason):
                    return try refuse(line, reason, rowText())
                }
            case .refused(let reason):
                return try refuse(line, reason, rowText())
            }
        }
    }

    private mutating func refuse(_ line: Int, _ reason: String, _ input: String) throws(Failure) -> Step {
        self.line = line
        self.reason = reason
        self.input = input
        rows += 1
        counts.rejected += 1
        report.refused(line: line, reason: reason)
        return .refused
    }

    /// Stops a run with too many refused rows; the last of them is written already.
    private func checkRejections() throws(Failure) {
        guard let most = options.maxRejections, counts.rejected > most else { return }
        throw Failure(
            .data, "more than \(most) rows are refused, the last at line \(line)",
            remedy: "correct the audience, or raise --max-rejections")
    }

    private mutating func load() throws(Failure) {
        let connection: Connection
        do {
            connection = try Connection(Conninfo(options.databaseURL, applicationName: "todoke-producer"))
        } catch { throw Failure(error, while: "connecting to the queue's database") }
        let loader: Loader
        do { loader = try Loader(connection, request) } catch { throw Failure(error) }
        do throws(Failure) {
            try schedule.begin(loader.dueMicroseconds)
            try load(into: loader)
        } catch {
            report.clear()
            loader.abandon()
            guard loader.counts.queued > 0 else { throw error }
            throw Failure(
                error.exit, "\(error.what) (queued \(loader.counts.queued) before that)", remedy: error.remedy)
        }
        counts = loader.counts
    }

    private mutating func load(into loader: Loader) throws(Failure) {
        while true {
            let step: Step
            do throws(Failure) { step = try self.step() } catch {
                // Where the audience breaks off, what was read of it is queued; the break is what there is to tell.
                try? loader.stop()
                throw error
            }
            switch step {
            case .message(let target, let key, let due):
                let user = row.bytes.span.extracting(maker.userRange(row))
                do {
                    try loader.add(
                        maker.message.span, target: target, userID: user, key: key, due: due, ttl: maker.ttl)
                } catch { throw Failure(error) }
            case .refused:
                do {
                    try loader.reject(line: line, reason: reason, input: input)
                    if let most = options.maxRejections, counts.rejected > most { try loader.stop() }
                } catch { throw Failure(error) }
                try checkRejections()
            case .end:
                do { try loader.finish() } catch { throw Failure(error) }
                return
            }
        }
    }

    private var request: LoadRequest {
        var lines = [
            audience.definition, "image=\(options.image ?? "")",
            "expires-in=\(options.expiresIn.map(String.init) ?? "")",
        ]
        lines += options.schedule.definition
        if let column = options.dedupeBy { lines.append("dedupe-by=\(column)") }
        let definition = lines.joined(separator: "\n")
        return LoadRequest(
            app: options.app, notificationID: options.notificationID, templateDigest: templateDigest,
            definitionDigest: SHA256.hex(Array(definition.utf8).span), append: options.append,
            priority: options.priority, expiresIn: options.expiresIn)
    }

    /// Renders and checks everything and writes nothing.
    private mutating func rehearse() throws(Failure) {
        try beginNow()
        while true {
            switch try step() {
            case .message: counts.queued += 1
            case .refused: try checkRejections()
            case .end: return
            }
        }
    }

    /// Prints messages and writes nothing.
    private mutating func preview(_ count: Int) throws(Failure) -> ExitCode {
        try beginNow()
        var printed = 0
        while printed < count {
            switch try step() {
            case .message:
                printed += 1
                StandardStream.output.writeLine(String(decoding: maker.message, as: UTF8.self))
            case .refused: try checkRejections()
            case .end: return counts.rejected > 0 ? .data : .ok
            }
        }
        return counts.rejected > 0 ? .data : .ok
    }

    /// Without a notification in the database: as if it were made now.
    private mutating func beginNow() throws(Failure) {
        try schedule.begin(Int(Date.now.timeIntervalSince1970 * 1_000_000))
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
