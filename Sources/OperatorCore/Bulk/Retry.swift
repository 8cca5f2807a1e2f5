import Delivery
import Operations
import Queue

extension Subcommand {
    /// `todoke retry`: failed messages are sent again.
    static let retry = Subcommand(
        name: "retry",
        options: OptionTable(
            program: "todoke retry",
            summary: "Makes failed messages pending again, by notification, code or time.",
            usage:
                "todoke retry --app NAME [--notification ID] [--code CODE]... [--since TIME] [--until TIME] [options]",
            options: [
                .databaseURL,
                Option("app", "NAME", help: "The app, as in todoke.apps."),
                Option("notification", "ID", onLineOnly: true, help: "Only messages of this notification."),
                Option(
                    "code", "CODE", repeatable: true, onLineOnly: true,
                    help:
                        "Only messages that failed with this error_code. OUTCOME_UNKNOWN, which may have arrived, is retried only where it is named."
                ),
                Option(
                    "since", "TIME", onLineOnly: true,
                    help: "Only messages that failed then or later, such as 2026-11-30T18:00:00+09:00."
                ),
                Option("until", "TIME", onLineOnly: true, help: "Only messages that failed before then."),
                Option("message", "ID", onLineOnly: true, help: "Only this message."),
                Option(
                    "all", onLineOnly: true,
                    help: "Every failed message of the app: needed where nothing else says which."),
                Option("dry-run", help: "Count, and change nothing."),
                .json,
            ],
            example: """
                todoke retry --app recipes --notification daily-2026-11-30 --code UNAVAILABLE --dry-run
                todoke retry --app recipes --since 2026-11-30T08:00:00Z --until 2026-11-30T09:30:00Z
                """),
        run: { options, _ in try retry(options) })

    private static func retry(_ options: ParsedOptions) throws(Failure) -> ExitCode {
        let request = try RetryFailed(options)
        let session = try BulkSession(options)
        var report = BulkReport()
        var counts = RetryFailed.Counts()
        var isStopped = false
        try StopSignal.heeded { () throws(Failure) in
            var cursor: RetryFailed.Cursor?
            repeat {
                let result = try session.query(
                    RetryFailed.statement, request.parameters(from: cursor),
                    while: "retrying (\(counts.retried) so far)")
                let batch = RetryFailed.decode(result)
                counts.add(batch.counts)
                cursor = batch.next
                report.progress(
                    "\(counts.retried) retried, \(counts.left) left\(cursor.map { ", at \($0.day)" } ?? "")")
                isStopped = cursor != nil && StopSignal.isRequested
            } while cursor != nil && !isStopped
        }
        report.clear()
        options.isSet("json") ? report.json(counts, request) : report.text(counts, request)
        if isStopped { throw BulkReport.stopped }
        return .ok
    }
}

extension RetryFailed {
    /// What the command line asks for.
    fileprivate init(_ options: ParsedOptions) throws(Failure) {
        self.init(app: try options.required("app"))
        notificationID = options.given("notification")
        codes = options.strings("code")
        since = try options.moment("since")
        until = try options.moment("until")
        message = try options.integer("message", in: 1...Int.max)
        isDryRun = options.isSet("dry-run")
        let narrowing = ["notification", "code", "since", "until", "message"]
        let isNarrowed = narrowing.contains { options.given($0) != nil }
        guard isNarrowed || options.isSet("all") else {
            throw Failure(
                .usage, "which messages of app \"\(app)\" is not said",
                remedy: "give --notification, --code, --since, --until or --message, or --all for all that failed")
        }
        if isNarrowed && options.isSet("all") {
            throw Failure(
                .usage, "--all and what narrows it exclude each other", remedy: "see \(options.program) --help")
        }
        if let since, let until, since >= until {
            throw Failure(.usage, "--since is not before --until", remedy: "see \(options.program) --help")
        }
    }
}

extension BulkReport {
    fileprivate func text(_ counts: RetryFailed.Counts, _ request: RetryFailed) {
        guard counts.retried + counts.left > 0 else { return Self.say("nothing to retry: no failed message matches") }
        let reasons = [
            ("closed", counts.closed), ("cancelled", counts.cancelled), ("dead token", counts.deadToken),
            ("expired", counts.expired), ("outcome unknown", counts.unknownOutcome), ("in other hands", counts.busy),
        ].filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
        let left = reasons.isEmpty ? "" : ", left \(counts.left): \(reasons.joined(separator: ", "))"
        Self.say("\(request.isDryRun ? "would retry" : "retried") \(counts.retried)\(left) in \(seconds) s")
        if counts.unknownOutcome > 0 {
            Self.say("those whose outcome is unknown may have arrived: --code OUTCOME_UNKNOWN sends them again")
        }
    }

    fileprivate func json(_ counts: RetryFailed.Counts, _ request: RetryFailed) {
        Self.say([
            .init("app", .string(request.app)), .init("dry_run", .boolean(request.isDryRun)),
            .init("retried", .number("\(counts.retried)")),
            .init(
                "left",
                .object([
                    .init("closed", .number("\(counts.closed)")), .init("cancelled", .number("\(counts.cancelled)")),
                    .init("dead_token", .number("\(counts.deadToken)")), .init("expired", .number("\(counts.expired)")),
                    .init("outcome_unknown", .number("\(counts.unknownOutcome)")),
                    .init("busy", .number("\(counts.busy)")),
                ])), .init("seconds", .number(seconds)),
        ])
    }
}
