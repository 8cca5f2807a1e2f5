import Delivery
import Operations
import Postgres
import Queue
import Rows

extension Subcommand {
    /// `todoke devices import`: devices of another system into the registry.
    static let devicesImport = Subcommand(
        name: "devices import",
        options: OptionTable(
            program: "todoke devices import",
            summary: "Puts devices from a CSV or NDJSON file into the registry; what is newer counts.",
            usage: "todoke devices import [options] FILE",
            options: [
                Option(
                    "app", "NAME",
                    help: "The app of rows that name none; rows of another one are refused. Without it: the rows say."),
                Option(
                    "format", "FORMAT",
                    help: "csv or ndjson. Without it: NDJSON when the input begins with a brace, CSV otherwise."),
                Option(
                    "delimiter", "CHARACTER", default: ",",
                    help: "What stands between two fields of CSV; tab is one, too."),
                .databaseURL, .json,
            ],
            example: """
                todoke devices import --app recipes devices.csv
                psql -c "COPY (SELECT …) TO STDOUT (FORMAT csv, HEADER)" | todoke devices import --app recipes -
                It writes to todoke.devices: run it as a member of todoke_owner.
                """,
            operands: "FILE"),
        run: importDevices)

    private static func importDevices(_ options: ParsedOptions, _ context: Context) throws(Failure) -> ExitCode {
        guard options.operands.count == 1 else {
            throw Failure(
                .usage, options.operands.isEmpty ? "there is no file of devices" : "there is more than one file",
                remedy: "name one file, or - for standard input")
        }
        let remedy = "give it a CSV file with a header line, or NDJSON"
        let format = try DevicesFormat.read(options)
        let delimiter = try RowFile.delimiter(options.given("delimiter") ?? ",")
        let app = options.given("app")
        let file = try RowFile(
            InputFile(options.operands[0], remedy: remedy), what: "the file of devices", remedy: remedy, format: format,
            delimiter: delimiter)
        var reader = try file.reader(wanted: DeviceExport.columns, lists: ["channels"])
        let rows = try DeviceRow(columns: reader.columns, app: app, isClosed: file.format == .csv)
        let connection = try connect(options)
        if let app { try checkApp(app, connection) }

        var report = DevicesReport(size: file.size)
        var chunk = DeviceChunk()
        var row = TemplateRow()
        // Refused before they came to the database.
        var refused: [(line: Int, reason: String)] = []
        var isAtEnd = false
        while !isAtEnd {
            switch try reader.next(into: &row) {
            case .end: isAtEnd = true
            case .skipped: continue
            case .refused(let line, let reason, _): refused.append((line, reason))
            case .row(let line):
                switch rows.device(row, line: line) {
                case .success(let device): chunk.append(device)
                case .failure(let refusal): refused.append((line, refusal.reason))
                }
            }
            guard isAtEnd || chunk.isFull || refused.count >= DeviceChunk.most else { continue }
            let outcome: DeviceImport.Outcome
            do throws(PostgresError) {
                outcome = chunk.rows > 0 ? try DeviceImport.load(chunk, connection) : DeviceImport.Outcome()
            } catch {
                report.clear()
                throw devicesFailure(error, "importing; the \(report.done) rows before are in")
            }
            report.add(outcome, rows: chunk.rows, refused: refused, taken: reader.bytesTaken)
            refused.removeAll(keepingCapacity: true)
            chunk.reset()
        }
        do throws(PostgresError) {
            if report.changed >= DeviceImport.analyzedFrom { try DeviceImport.analyze(connection) }
        } catch {
            report.clear()
            // The rows are in, which is what was asked for.
            StandardStream.error.writeLine(
                "todoke devices import: the registry could not be analyzed: \(error.message); autovacuum does it later")
        }
        report.finish(isJSON: options.isSet("json"))
        return report.refused > 0 ? .data : .ok
    }

    /// Refuses an app that is not there.
    static func checkApp(_ name: String, _ connection: Connection) throws(Failure) {
        let found: QueryResult
        do {
            found = try connection.query("SELECT FROM todoke.apps WHERE name = $1", [.text(name)])
        } catch { throw devicesFailure(error, "looking for the app") }
        guard found.rowCount > 0 else {
            throw Failure(
                .configuration, "there is no app \(GivenText.quoted(name))",
                remedy: "see SELECT name FROM todoke.apps, or make it there")
        }
    }

    /// What a person has to know when the database refuses.
    static func devicesFailure(_ error: PostgresError, _ doing: String) -> Failure {
        let failure = Failure(error, while: doing)
        guard error.sqlState == .insufficientPrivilege else { return failure }
        return Failure(failure.exit, failure.what, remedy: "run it as a member of the role todoke_owner")
    }
}

/// The value of `--format`.
enum DevicesFormat {
    static func read(_ options: ParsedOptions) throws(Failure) -> RowFile.Format? {
        guard let text = options.given("format") else { return nil }
        guard let format = RowFile.Format(rawValue: text) else {
            throw Failure(
                .usage, "--format must be csv or ndjson, not \(GivenText.quoted(text))",
                remedy: "see \(options.program) --help")
        }
        return format
    }
}
