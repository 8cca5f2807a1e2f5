import Delivery
import FoundationEssentials
import Operations

extension Subcommand {
    /// `todoke explain`: what Todoke does with an answer of FCM or APNs, and why.
    static let explain = Subcommand(
        name: "explain",
        options: OptionTable(
            program: "todoke explain",
            summary: "Says what Todoke does with an answer of FCM or APNs, and why.",
            usage: """
                todoke explain --status CODE [--header 'NAME: VALUE'] [--body FILE|-] [options]
                       todoke explain --transport-error CODE [--issued | --not-issued] [options]
                       todoke explain --batch FILE|- [options]
                """,
            options: [
                Option("provider", "NAME", default: "fcm", help: "Who answered: fcm or apns."),
                Option("status", "CODE", help: "The HTTP status, 100 to 599."),
                Option(
                    "header", "NAME: VALUE", repeatable: true,
                    help: "A header of the answer; retry-after, date and apns-id matter."),
                Option("body", "FILE", help: "The answer's body; - is standard input. 1 MiB of it counts."),
                Option(
                    "batch", "FILE",
                    help:
                        "Answers as JSON, one object a line, with provider, status, headers, body, transport_error, issued, attempt, now and name; - is standard input."
                ),
                Option(
                    "transport-error", "CODE",
                    help:
                        "How libcurl says that the transfer ended: a number, or a name such as COULDNT_CONNECT. A status of 200 or more counts before it."
                ),
                Option("issued", help: "The request left before the transfer failed: nobody knows what came of it."),
                Option(
                    "not-issued",
                    help:
                        "The request never left. Without either: 6, 7, 35, 60 and other codes of a connection that never stood say so themselves."
                ),
                Option(
                    "now", "TIME",
                    help:
                        "The clock for a Retry-After that is a date, where the answer has no Date: seconds since 1970, or a date as HTTP writes it. Without it: the present."
                ),
                Option(
                    "attempt", "N", default: "1", help: "Which attempt of the message this was; the tenth is the last."),
                .json,
            ],
            example: """
                todoke explain --status 404 --body answer.json
                todoke explain --status 429 --header 'retry-after: 30'
                todoke explain --transport-error COULDNT_CONNECT --json
                todoke explain --batch answers.ndjson --json
                """),
        run: { options, _ in try explain(options) })

    private static func explain(_ options: ParsedOptions) throws(Failure) -> ExitCode {
        let request = try ExplainRequest(options, now: Int(Date.now.timeIntervalSince1970))
        switch request {
        case .one(let given):
            let explanation = Explanation(given)
            StandardStream.output.write(options.isSet("json") ? explanation.json().text + "\n" : explanation.text)
        case .batch(let path, let defaults):
            let file = try InputFile(path, option: "batch")
            try ExplainBatch(defaults: defaults, isJSON: options.isSet("json")).run(file, StandardStream.output)
        }
        return .ok
    }
}
