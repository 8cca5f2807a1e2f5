import Delivery

/// A route of the control API, as `GET /` shows it.
struct ControlRoute: Sendable {
    let method: String
    let path: String
    let help: String
    /// What follows `curl -s` and the URL stands for `{}`.
    let example: String

    static let all: [ControlRoute] =
        [
            ControlRoute(method: "GET", path: "/", help: "This list.", example: "{}/"),
            ControlRoute(
                method: "GET", path: "/stats",
                help: "Counts by outcome, by FCM's error code and by fault; rates, concurrency, connections, targets.",
                example: "{}/stats"),
            ControlRoute(
                method: "GET", path: "/connections",
                help: "Connections that are open, and the last 100 that ended.", example: "{}/connections"),
            ControlRoute(
                method: "GET", path: "/violations",
                help: "What clients did against FCM's guidance: counts, sources, and the last 5 examples of each.",
                example: "{}/violations"),
            ControlRoute(
                method: "GET", path: "/messages",
                help: "The last requests to messages:send, 20 or ?last=1...1000; &target= a whole target, "
                    + "&outcome=accepted|validated|refused|faulted, &code=.",
                example: "'{}/messages?last=5&outcome=refused'"),
            ControlRoute(
                method: "GET", path: "/wait",
                help:
                    "Answers 200 as soon as every number of /stats that is named has reached its value (accepted=1000, "
                    + "or connections.now<=0 for at most), 504 after timeout= seconds (30; at most 3600).",
                example: "'{}/wait?accepted=1000&timeout=10'"),
            ControlRoute(
                method: "POST", path: "/reset",
                help:
                    "Starts again: everything, or ?only= a list of counts, scenario (its draws, quota, targets and clock), "
                    + "or of its parts quota, targets, rules.", example: "-X POST '{}/reset?only=counts'"),
            ControlRoute(
                method: "GET", path: "/scenario", help: "The scenario, as it can be put back.", example: "{}/scenario"),
            ControlRoute(
                method: "PUT", path: "/scenario", help: "Another scenario in the place of the present one.",
                example:
                    "-X PUT {}/scenario -d '{\"rules\": [{\"match\": {\"every\": 10}, \"effect\": {\"error\": \"UNAVAILABLE\"}}]}'"
            ),
            ControlRoute(
                method: "DELETE", path: "/scenario", help: "No scenario: everything works.",
                example: "-X DELETE {}/scenario"),
            ControlRoute(
                method: "PUT", path: "/targets/PATTERN",
                help:
                    "What the targets are that fit the pattern: unregistered, other_sender or apns_dead, at once or after n messages.",
                example: "-X PUT '{}/targets/dead-*' -d '{\"is\": \"unregistered\"}'"),
            ControlRoute(
                method: "DELETE", path: "/targets/PATTERN", help: "Takes that pattern out.",
                example: "-X DELETE '{}/targets/dead-*'"),
            ControlRoute(
                method: "GET", path: ControlAPI.metadataTokenPath,
                help:
                    "An access token, as the metadata server of Google's cloud gives it: GCE_METADATA_HOST=HOST:PORT.",
                example: "-H 'Metadata-Flavor: Google' {}\(ControlAPI.metadataTokenPath)"),
        ]
        + ScenarioFile.Part.allCases.flatMap { part in
            [
                ControlRoute(
                    method: "GET", path: "/\(part.rawValue)", help: "The scenario's \(part.rawValue).",
                    example: "{}/\(part.rawValue)"),
                ControlRoute(
                    method: "PUT", path: "/\(part.rawValue)", help: "Another value for it; the other parts go on.",
                    example: "-X PUT {}/\(part.rawValue) -d '\(part.example)'"),
                ControlRoute(
                    method: "DELETE", path: "/\(part.rawValue)", help: "Takes it out.",
                    example: "-X DELETE {}/\(part.rawValue)"),
            ]
        }

    /// A part of the path in capitals stands for anything.
    func fits(_ path: String) -> Bool {
        guard self.path.hasSuffix("PATTERN") else { return path == self.path }
        let start = self.path.dropLast("PATTERN".count)
        return path.hasPrefix(start) && path.utf8.count > start.utf8.count
    }

    func tree(url: String) -> JSONValue {
        .members([
            ("method", .string(method)), ("path", .string(path)), ("help", .string(help)),
            (
                "example",
                .string(
                    "curl -s " + example.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: url)
                )
            ),
        ])
    }
}

extension ScenarioFile.Part {
    fileprivate var example: String {
        switch self {
        case .quota: #"{"messages_per_minute": 600, "retry_after": 30}"#
        case .targets: #"[{"pattern": "dead-*", "is": "unregistered"}]"#
        case .rules: #"[{"effect": {"latency": {"fixed": 40}}}]"#
        case .server: #"{"date_skew": -60}"#
        case .token: #"{"lifetime": 5}"#
        }
    }
}
