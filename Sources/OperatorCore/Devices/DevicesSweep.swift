import Delivery
import Operations
import Postgres
import Queue

extension Subcommand {
    /// `todoke devices sweep`: what to do about tokens that were proven dead and are not marked.
    static let devicesSweep = Subcommand(
        name: "devices sweep",
        options: OptionTable(
            program: "todoke devices sweep",
            summary: "Counts the devices whose tokens are proven dead and not marked; marks or revives them.",
            usage: "todoke devices sweep --app NAME [--confirm | --revive [--since TIME]]",
            options: [
                .databaseURL, Option("app", "NAME", help: "The app, as in todoke.apps."),
                Option(
                    "confirm", onLineOnly: true, help: "Mark them. An app that was held because of too many is resumed."
                ),
                Option(
                    "revive", onLineOnly: true,
                    help:
                        "The proofs were wrong: take back the marks since two hours before the hold, and let no proof recorded so far count. The app is resumed."
                ),
                Option(
                    "since", "TIME", onLineOnly: true,
                    help: "With --revive: take back the marks since then, such as 2026-12-01T09:00:00+09:00."),
                .json,
            ],
            example: """
                todoke devices sweep --app recipes
                todoke devices sweep --app recipes --confirm
                """),
        run: { options, _ in try devicesSweep(options) })

    private static func devicesSweep(_ options: ParsedOptions) throws(Failure) -> ExitCode {
        let app = try options.required("app")
        let (confirms, revives) = (options.isSet("confirm"), options.isSet("revive"))
        if confirms && revives {
            throw Failure(.usage, "--confirm marks devices and --revive takes marks back", remedy: "give one of them")
        }
        if options.given("since") != nil && !revives {
            throw Failure(.usage, "--since is only for --revive", remedy: "see \(options.program) --help")
        }
        let since = try options.moment("since")
        let sweep = DeadTokenSweep(try connect(options), app: app)
        let progress = ProgressLine(revives ? "devices" : "proofs")
        let report =
            revives
            ? try sweep.revive(since: since, progress: progress.show)
            : try sweep.mark(confirm: confirms, progress: progress.show)
        progress.end()
        let text = options.isSet("json") ? json(report, app, confirms, revives) : text(report, confirms, revives)
        StandardStream.output.writeLine(text)
        return .ok
    }

    private static func text(_ report: DeadTokenSweep.Report, _ confirms: Bool, _ revives: Bool) -> String {
        let count = report.devices == 1 ? "1 device" : "\(report.devices) devices"
        if revives { return "\(count) revived" + (report.isReleased ? ", proofs so far count no more" : "") }
        if confirms { return "\(count) marked" + (report.isReleased ? ", the hold is over" : "") }
        let held = report.heldSince.map { ", and none is marked since \($0): too many at once" } ?? ""
        return report.devices == 0
            ? "no device has a token that is proven dead and not marked\(held)"
            : """
            \(count) with a token that is proven dead and not marked\(held)
            --confirm marks them; --revive says that the proofs are wrong
            """
    }

    private static func json(
        _ report: DeadTokenSweep.Report, _ app: String, _ confirms: Bool, _ revives: Bool
    ) -> String {
        let held: JSONValue = report.heldSince.map { .string($0) } ?? .null
        let members: [JSONValue.Member] = [
            .init("app", .string(app)), .init("action", .string(confirms ? "confirm" : revives ? "revive" : "count")),
            .init("proofs", .integer(report.proofs)), .init("devices", .integer(report.devices)),
            .init("held_since", held), .init("hold_ended", .boolean(report.isReleased)),
        ]
        return JSONValue.object(members).text
    }
}
