import Delivery
import Operations
import Postgres
import Queue

extension Subcommand {
    /// `todoke purge`: settles what is over and drops the days that are old enough.
    static let purge = Subcommand(
        name: "purge",
        options: OptionTable(
            program: "todoke purge",
            summary: "Keeps the numbers of what is over, and drops the messages of old days.",
            usage: "todoke purge --older-than TIME [--events-older-than TIME] [--dry-run] [--database-url URL]",
            options: [
                Option(
                    "older-than", "TIME",
                    help: "Drop the messages of the days (UTC) that ended so long ago, such as 30d; at least 8d."),
                Option(
                    "events-older-than", "TIME",
                    help: "Delete the events of notifications made so long ago, such as 400d, and keep their numbers; "
                        + "at least 30d. Without it events are kept."),
                Option("dry-run", help: "Say which days would be dropped and which would stay; change nothing."),
                Option(
                    "wait", "TIME", default: "60s", help: "How long to wait for whoever is in the way of one statement."
                ),
                .databaseURL, .directDatabaseURL, .json,
            ],
            example: "todoke purge --older-than 30d"),
        run: purge)

    private static let day = 86_400

    private static func purge(_ options: ParsedOptions, _ context: Context) throws -> ExitCode {
        _ = try options.required("older-than")
        // A notification takes messages for 7 days unless it says otherwise, and is settled an hour later.
        var request = Purger.Request(
            olderThanSeconds: try options.duration("older-than", in: 8 * day...3_650 * day) ?? 0)
        request.eventsOlderThanSeconds = try options.duration("events-older-than", in: 30 * day...3_650 * day)
        request.waitMilliseconds = (try options.duration("wait", in: 0...day) ?? 60) * 1_000
        request.isRehearsal = options.isSet("dry-run")
        let connection = try connect(options, direct: true)
        let report: PurgeReport
        do {
            report = try Purger(connection, request).run()
        } catch let error as PostgresError {
            if error.sqlState == .insufficientPrivilege {
                throw Failure(
                    .configuration, "purging failed: \(error.message)",
                    remedy: "purge as a member of the owner: GRANT todoke_owner TO this user")
            }
            // No role of that name in this cluster (22023).
            if error.sqlState?.rawValue == "22023", error.message.contains("todoke_owner") {
                throw Failure(
                    .configuration, "purging failed: \(error.message)", remedy: "run todoke migrate on this database")
            }
            throw Failure(error, while: "purging")
        }
        PurgeForm(report: report, isRehearsal: request.isRehearsal).print(asJSON: options.isSet("json"))
        guard let blocked = report.blocked else { return .ok }
        throw Failure(
            .temporary, "the purge stopped: \(blocked)", remedy: "end that session or wait for it, and run it again")
    }
}
