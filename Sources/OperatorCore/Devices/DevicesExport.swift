import Operations
import Postgres
import Queue
import Rows

extension Subcommand {
    /// `todoke devices export`: the registry as a file that import takes.
    static let devicesExport = Subcommand(
        name: "devices export",
        options: OptionTable(
            program: "todoke devices export",
            summary: "Writes the registry's devices to standard output, as CSV or NDJSON.",
            usage: "todoke devices export [options]",
            options: [
                Option("app", "NAME", help: "Devices of this app. Without it: of all apps."),
                Option("format", "FORMAT", default: "csv", help: "csv or ndjson."),
                Option(
                    "include-invalid",
                    help:
                        "Also tokens that are dead, replaced or unregistered, with when and why. Without it: those in use."
                ),
                .databaseURL,
            ],
            example: """
                todoke devices export --app recipes >devices.csv
                It reads todoke.devices: run it as a member of todoke_owner or todoke_producer.
                """),
        run: exportDevices)

    private static func exportDevices(_ options: ParsedOptions, _ context: Context) throws(Failure) -> ExitCode {
        let format = try DevicesFormat.read(options)
        let app = options.given("app")
        let connection = try connect(options)
        if let app { try checkApp(app, connection) }
        let output = BufferedOutput(StandardStream.output)
        do {
            try connection.script("BEGIN READ ONLY; SET LOCAL jit = off")
            for setting in DeviceExport.settings(app: app) {
                try connection.query("SELECT set_config($1, $2, true)", [.text(setting.name), setting.value])
            }
            try connection.copyOut(
                DeviceExport.statement(
                    isJSON: format == .ndjson, includesInvalid: options.isSet("include-invalid"))
            ) { row in
                output.writeLine(
                    String(decoding: row.last == UInt8(ascii: "\n") ? row.dropLast() : row[...], as: UTF8.self))
                // A reader that has gone, or a full disk: the rest need not be fetched.
                if output.hasFailed { try output.finish() }
            }
            try connection.script("COMMIT")
        } catch let error as PostgresError {
            throw devicesFailure(error, "exporting")
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.software, "exporting failed: \(error)", remedy: "please report this")
        }
        try output.finish()
        return .ok
    }
}
