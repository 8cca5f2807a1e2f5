import Operations
import Postgres
import Queue

extension Subcommand {
    /// `todoke migrate`: brings the database's schema to the version of the files.
    static let migrate = Subcommand(
        name: "migrate",
        options: OptionTable(
            program: "todoke migrate",
            summary: "Creates or upgrades the schema todoke in the queue's database.",
            usage: "todoke migrate [--database-url URL] [--sql-dir DIR]",
            options: [
                .databaseURL, .directDatabaseURL,
                Option(
                    "sql-dir", "DIR",
                    help: "Where the migrations are. Without it: ../share/todoke/sql beside the program, then ./sql."),
                .json,
            ],
            example: "todoke migrate --database-url postgres://localhost/queue"),
        run: migrate)

    private static func migrate(_ options: ParsedOptions, _ context: Context) throws -> ExitCode {
        let files = try MigrationDirectory.files(named: options.string("sql-dir"), program: context.program)
        let connection = try connect(options, direct: true)
        let report = try Migrator(files: files).migrate(connection)
        let made = try DaysAhead.make(connection)
        if options.isSet("json") {
            // Names of migrations are letters, digits, "_" and ".": nothing to escape.
            let names = report.applied.map { "\"\($0)\"" }.joined(separator: ",")
            StandardStream.output.writeLine(
                "{\"version\":\(report.version),\"applied\":[\(names)],\"partitions\":\(made)}")
        } else {
            for name in report.applied { StandardStream.output.writeLine("applied \(name)") }
            if made > 0 { StandardStream.output.writeLine("made \(made) partitions for the days ahead") }
            let isDone = report.applied.isEmpty && made == 0
            StandardStream.output.writeLine(
                "\(isDone ? "nothing to do: " : "")the schema is at version \(report.version)")
        }
        if let reminder = try missingIndexes(connection) { StandardStream.error.writeLine(reminder) }
        return .ok
    }

    /// What is left to do by hand, each time until it is done; nil when nothing is.
    static func missingIndexes(_ connection: Connection) throws(Failure) -> String? {
        do throws(PostgresError) {
            // Files of a release before there were any.
            let isThere = try connection.query("SELECT to_regclass('todoke.missing_indexes') IS NOT NULL")
            guard isThere.bool(0, 0) == true else { return nil }
            let count = MissingIndexes.decode(try connection.query(MissingIndexes.countStatement))
            guard count > 0 else { return nil }
            let are = count == 1 ? "1 large partition is" : "\(count) large partitions are"
            return
                "todoke migrate: \(are) without an index, and questions about those days are slow; while everything runs, "
                + "with psql: \(MissingIndexes.remedy)"
        } catch {
            // Who migrates is a member of the owner, but may not inherit from it: nothing was to be done then.
            guard error.sqlState == .insufficientPrivilege else {
                throw Failure(error, while: "looking for missing indexes")
            }
            return nil
        }
    }
}
