import Foundation
import Testing

/// What tests of credentials need beyond a run.
extension Pipeline {
    /// The URL of the emulator's control API.
    var controlURL: String {
        get throws {
            try String(contentsOf: directory.appendingPathComponent("control"), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Asks the emulator's control API; an answer other than 200 fails.
    @discardableResult
    func control(_ path: String, method: String = "GET", body: String? = nil) throws -> [String: Any] {
        let data = try body.map { ["--data-binary", "@" + (try write("control.json", $0))] } ?? []
        let ended = try RunningProgram(
            path: "/usr/bin/curl", "curl",
            ["--silent", "--show-error", "--fail-with-body", "--noproxy", "*", "--request", method, controlURL + path]
                + data, input: nil, [:]
        ).end()
        guard ended.exitCode == 0 else { throw Late(description: ended.story) }
        return try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any] ?? [:]
    }

    /// The sender without credentials: those that the environment gives, if any.
    func senderWithoutCredentials(_ arguments: [String], environment: [String: String]) throws -> RunningProgram {
        try RunningProgram(
            "todoke-sender",
            ["--app", app, "--endpoint", endpoint, "--ca-file", certificate, "--database-url", databaseURL] + arguments,
            environment: environment)
    }

    /// Queues messages for another app than the pipeline's own.
    func queue(_ count: Int, _ notification: String, for app: String) throws {
        let lines = (1...count).map {
            "{\"token\": \"\(app)-\($0)\", \"name\": \"n\", \"image\": \"https://a.example/1.jpg\"}"
        }
        let template = try write("\(app)-template.json", Pipeline.template)
        let ended = try RunningProgram(
            "todoke-producer",
            [
                "--app", app, "--notification-id", notification, "--template", template, "--database-url", databaseURL,
                "--audience", "-", "--audience-format", "ndjson",
            ], input: lines.joined(separator: "\n")
        ).end()
        guard ended.exitCode == 0 else { throw Late(description: ended.story) }
    }
}
