import Delivery

/// A route of the control API, as `GET /` shows it.
struct ControlRoute: Sendable {
    let method: String
    let path: String
    let help: String
    /// What follows `curl -s` and the URL stands for `{}`.
    let example: String

    static let all: [ControlRoute] = [
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
            help: "Answers 200 as soon as every number of /stats that is named has reached its value (accepted=1000, "
                + "or connections.now<=0 for at most), 504 after timeout= seconds (30; at most 3600).",
            example: "'{}/wait?accepted=1000&timeout=10'"),
        ControlRoute(
            method: "POST", path: "/reset",
            help: "Starts again: everything, or ?only= a list of parts.", example: "-X POST '{}/reset?only=counts'"),
    ]

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
