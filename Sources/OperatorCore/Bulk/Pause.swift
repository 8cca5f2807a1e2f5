import Delivery
import Operations
import Postgres
import Queue

extension Subcommand {
    /// `todoke pause`: nothing more of an app is claimed.
    static let pause = Subcommand(
        name: "pause",
        options: OptionTable(
            program: "todoke pause",
            summary: "Pauses an app: nothing more of it is sent until todoke resume.",
            usage: "todoke pause --app NAME [--reason TEXT] [options]",
            options: [
                .databaseURL,
                Option("app", "NAME", help: "The app, as in todoke.apps."),
                Option("reason", "TEXT", help: "Why, for those who come across it; replaces an earlier one."),
                .json,
            ],
            example: "todoke pause --app recipes --reason 'wrong link in the template'"),
        run: { options, _ in
            let reason = options.given("reason")
            return try change(options, AppPause.pauseStatement, [.optional(reason)], isPause: true)
        })

    /// `todoke resume`: what waits of a paused app is sent.
    static let resume = Subcommand(
        name: "resume",
        options: OptionTable(
            program: "todoke resume",
            summary: "Ends the pause of an app, and wakes its senders.",
            usage: "todoke resume --app NAME [options]",
            options: [.databaseURL, Option("app", "NAME", help: "The app, as in todoke.apps."), .json],
            example: "todoke resume --app recipes"),
        run: { options, _ in try change(options, AppPause.resumeStatement, [], isPause: false) })

    private static func change(
        _ options: ParsedOptions, _ statement: String, _ more: [Value], isPause: Bool
    ) throws(Failure) -> ExitCode {
        let app = try options.required("app")
        let session = try BulkSession(options)
        let doing = isPause ? "pausing" : "resuming"
        let before = AppPause.decode(try session.query(statement, [.text(app)] + more, while: doing))
        // Counted afterwards: a long queue takes a moment, and nobody waits for it.
        let backlog = AppPause.decodeBacklog(
            try session.query(AppPause.backlogStatement, [.text(app)], while: "counting what waits"))
        let change = PauseChange(app: app, isPause: isPause, before: before, backlog: backlog)
        if options.isSet("json") { BulkReport.say(change.json) } else { change.text.forEach(BulkReport.say) }
        return .ok
    }
}

/// What was done to an app, in words and for programs.
struct PauseChange {
    let app: String
    let isPause: Bool
    let before: AppPause.Before
    let backlog: AppPause.Backlog

    var text: [String] {
        let since = "for \(before.seconds) s"
        let reason = before.reason.map { " (\($0))" } ?? ""
        let what =
            switch (isPause, before.wasPaused) {
            case (true, false): "paused \(app)\(reason)"
            case (true, true): "\(app) stays paused, as it has been \(since)\(reason)"
            case (false, true): "resumed \(app), paused \(since)\(reason)"
            case (false, false): "\(app) was not paused"
            }
        let oldest = backlog.oldestSeconds.map { ", the oldest for \($0) s" } ?? ""
        var lines = [
            "\(what): due \(backlog.due)\(oldest), scheduled \(backlog.scheduled), being sent \(backlog.sending)"
        ]
        if !isPause && before.holdsDeadTokens {
            lines.append(
                "dead tokens are not marked as such: so many at once look like a mistake; see todoke devices sweep --help"
            )
        }
        return lines
    }

    var json: [JSONValue.Member] {
        func number(_ key: String, _ value: Int?) -> JSONValue.Member {
            .init(key, value.map { .number("\($0)") } ?? .null)
        }
        var members: [JSONValue.Member] = [
            .init("app", .string(app)), .init("paused", .boolean(isPause)),
            .init("was_paused", .boolean(before.wasPaused)),
            .init("reason", before.reason.map { .string($0) } ?? .null),
            number("paused_seconds", before.wasPaused || isPause ? before.seconds : nil), number("due", backlog.due),
            number("scheduled", backlog.scheduled), number("sending", backlog.sending),
            number("oldest_due_seconds", backlog.oldestSeconds),
        ]
        if !isPause { members.append(.init("dead_tokens_held", .boolean(before.holdsDeadTokens))) }
        return members
    }
}
