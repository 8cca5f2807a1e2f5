import Foundation
import Postgres
import Testing

extension EndToEnd {
    /// From FCM's answer to the registry, with the built programs.
    @Suite("Dead tokens")
    struct DeadTokenTests {
        private static let template = #"{"token": "{{token}}", "notification": {"title": "Hello"}}"#

        private func operate(_ arguments: [String], _ pipeline: Pipeline) throws -> EndedProgram {
            try RunningProgram("todoke", arguments + ["--database-url", pipeline.databaseURL]).end()
        }

        private func register(_ count: Int, _ pipeline: Pipeline) throws {
            try pipeline.database.query(
                """
                INSERT INTO todoke.devices (app, token, user_id, registered_at)
                SELECT a.id, 'device-' || g, g, now() - interval '1 day'
                FROM todoke.apps AS a, generate_series(1, $1::int) AS g WHERE a.name = $2
                """, [.int(count), .text(pipeline.app)])
        }

        @Test("A token that FCM proves dead is not in the next audience, until the app registers it again")
        func marked() throws {
            let pipeline = try Pipeline(scenario: #"{"targets": [{"pattern": "device-7", "is": "unregistered"}]}"#)
            try register(20, pipeline)
            for notification in ["first", "second"] {
                let queued = try pipeline.producer(
                    notification, template: Self.template, audience: ["--all"], input: "")
                try #require(queued.exitCode == 0, "\(queued.story)")
                #expect(queued.output.contains(notification == "first" ? "queued 20" : "queued 19"), "\(queued.story)")
                let sender = try pipeline.sender(["--drain"]).end()
                #expect(sender.exitCode == 0, "\(sender.story)")
            }
            let marked = try pipeline.database.query(
                """
                SELECT d.token, d.invalid_reason, d.invalid_evidence = m.id FROM todoke.devices AS d
                JOIN todoke.message_status AS m ON m.target = d.token AND m.state = 'failed'
                WHERE d.invalidated_at IS NOT NULL
                """)
            #expect(marked.rowCount == 1)
            #expect(marked.string(0, 0) == "device-7" && marked.string(0, 1) == "UNREGISTERED")
            #expect(marked.bool(0, 2) == true)
        }

        @Test("When a fifth of the devices seem dead, marking stops, the app is paused, and sweep ends it")
        func brake() throws {
            let pipeline = try Pipeline(scenario: #"{"targets": [{"pattern": "*", "is": "unregistered"}]}"#)
            try register(1_000, pipeline)
            try pipeline.database.query("UPDATE todoke.apps SET messages_per_second = 500")
            let queued = try pipeline.producer("all", template: Self.template, audience: ["--all"], input: "")
            try #require(queued.exitCode == 0, "\(queued.story)")
            let sender = try pipeline.sender(["--drain"]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(sender.errors.contains("more than 20.0 %"), "\(sender.story)")
            let marked = try pipeline.number("SELECT count(*) FROM todoke.devices WHERE invalidated_at IS NOT NULL")
            #expect((1...200).contains(marked))
            #expect(try pipeline.number("SELECT count(*) FROM todoke.apps WHERE paused_at IS NOT NULL") == 1)
            let states = try pipeline.states()
            #expect((states["pending"] ?? 0) > 0, "what was not claimed yet waits: \(states)")

            let failed = states["failed"] ?? 0
            let counted = try operate(["devices", "sweep", "--app", pipeline.app, "--json"], pipeline)
            #expect(counted.output.contains("\"devices\":\(failed - marked)"), "\(counted.story)")
            let revived = try operate(["devices", "sweep", "--app", pipeline.app, "--revive"], pipeline)
            #expect(revived.exitCode == 0 && revived.output.hasPrefix("\(marked) devices revived"), "\(revived.story)")
            #expect(try pipeline.number("SELECT count(*) FROM todoke.devices WHERE invalidated_at IS NOT NULL") == 0)
            #expect(try pipeline.number("SELECT count(*) FROM todoke.apps WHERE paused_at IS NOT NULL") == 0)
        }

        @Test(
            "What is wrong with the line is said",
            arguments: [
                (["--app", "nobody"], Int32(65), "there is no app"), ([], 64, "--app is missing"),
                (["--app", "x", "--confirm", "--revive"], 64, "give one of them"),
                (["--app", "x", "--since", "now"], 64, "only for --revive"),
                (["--app", "x", "--revive", "--since", "soon"], 64, "must be a date and time with an offset"),
            ])
        func refused(_ arguments: [String], _ code: Int32, _ words: String) throws {
            let pipeline = try Pipeline()
            let ended = try operate(["devices", "sweep"] + arguments, pipeline)
            #expect(ended.exitCode == code && ended.errors.contains(words), "\(ended.story)")
        }
    }
}
