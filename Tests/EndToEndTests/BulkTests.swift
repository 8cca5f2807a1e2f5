import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// `todoke pause`, `resume`, `cancel` and `retry` while senders and producers are at work.
    @Suite("Bulk operations")
    struct BulkTests {
        private static func todoke(_ pipeline: Pipeline, _ arguments: String...) throws -> EndedProgram {
            let ended = try RunningProgram(
                "todoke",
                [arguments[0], "--app", pipeline.app, "--database-url", pipeline.databaseURL]
                    + arguments.dropFirst()
            ).end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            return ended
        }

        @Test("Paused: nothing is posted; resumed: at once, though nobody polls")
        func paused() throws {
            let pipeline = try Pipeline()
            let sender = try pipeline.sender(["--poll-interval", "60000"])
            try pipeline.enqueue("before")
            try pipeline.waitUntilSent("before")
            _ = try Self.todoke(pipeline, "pause", "--reason", "wrong link")
            for step in 1...20 { try pipeline.enqueue("held-\(step)") }
            #expect(try pipeline.emulatorAPI.staysBelow(2, "accepted", for: 2))
            #expect(try pipeline.states() == ["pending": 20, "sent": 1])
            let resumed = try Self.todoke(pipeline, "resume")
            #expect(resumed.output.contains("(wrong link): due 20"), "\(resumed.story)")
            try pipeline.waitUntilAllIsSent(within: 30)
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }

        @Test("Cancelled while a producer loads: it ends with a line, and nothing waits or follows")
        func cancelledWhileLoading() throws {
            let pipeline = try Pipeline()
            let lines = (1...40_000).map { "device-\($0),Reader,https://images.example.com/1.jpg\n" }
            let run = try RunningProgram(
                "todoke-producer",
                [
                    "--app", pipeline.app, "--notification-id", "wrong", "--database-url", pipeline.databaseURL,
                    "--template", try pipeline.write("template.json", Pipeline.template),
                    "--audience", try pipeline.write("audience.csv", "token,name,image\n" + lines.joined()),
                ])
            try wait(for: "something is queued") {
                try pipeline.number("SELECT coalesce(sum(queued), 0) FROM todoke.notifications") > 0
            }
            let cancelled = try Self.todoke(pipeline, "cancel", "wrong")
            let queued = try pipeline.number("SELECT count(*) FROM todoke.messages")
            #expect(try pipeline.states() == ["cancelled": queued])
            #expect(cancelled.output.hasPrefix("wrong: cancelled \(queued), being sent 0, already sent 0"))
            let ended = try run.end()
            #expect(ended.exitCode == 65, "\(ended.story)")
            #expect(
                ended.errors.contains("notification \"wrong\" is cancelled (queued \(queued) before that)"),
                "\(ended.story)")
            #expect(queued < 40_000)
            #expect(try pipeline.states() == ["cancelled": queued])
        }

        @Test("Cancelled under a sender: after the command nothing is sent that was not being sent")
        func cancelledWhileSending() throws {
            let pipeline = try Pipeline(scenario: #"{"rules": [{"effect": {"latency": {"fixed": 20}}}]}"#)
            try pipeline.queue(10_000, "late")
            let sender = try pipeline.sender(["--poll-interval", "100"])
            try pipeline.emulatorAPI.wait("accepted=500")
            let ended = try Self.todoke(pipeline, "cancel", "late", "--json")
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
            let one = try #require((report["notifications"] as? [[String: Any]])?.first)
            let figures = ["cancelled", "sending", "sent", "pending"].compactMap { one[$0] as? Int }
            try #require(figures.count == 4)
            #expect(figures[0] > 0 && figures[3] == 0, "\(ended.output)")
            // Also what senders ended themselves.
            #expect(figures[0] + figures[1] + figures[2] == 10_000, "\(ended.output)")
            try wait(for: "nothing is under way") {
                try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state IN ('pending', 'sending')") == 0
            }
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
            let states = try pipeline.states()
            #expect(states["sent", default: 0] <= figures[2] + figures[1])
            #expect(states["sent", default: 0] + states["cancelled", default: 0] == 10_000)
            #expect(try pipeline.arrivals().count == states["sent"])
        }

        @Test("Failed by a fault that is mended: retried once, each message arrives")
        func retried() throws {
            let rule = #"{"rules": [{"name": "bad", "effect": {"error": "INVALID_ARGUMENT"}}]}"#
            let pipeline = try Pipeline(scenario: rule)
            try pipeline.queue(3_000, "again")
            #expect(try pipeline.sender().end().exitCode == 0)
            #expect(try pipeline.states() == ["failed": 3_000])
            try pipeline.emulatorAPI.remove("/rules")
            let sender = try pipeline.sender(["--poll-interval", "60000"])
            // It listens, and has gone to rest.
            try pipeline.enqueue("awake")
            try pipeline.waitUntilSent("awake")
            let retried = try Self.todoke(pipeline, "retry", "--notification", "again")
            #expect(retried.output.hasPrefix("retried 3000 in "), "\(retried.story)")
            try pipeline.waitUntilAllIsSent(within: 60)
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
            #expect(try pipeline.arrivalsByToken().values.allSatisfy { $0 == 1 })
            let again = try Self.todoke(pipeline, "retry", "--notification", "again")
            #expect(again.output == "nothing to retry: no failed message matches\n")
        }

        @Test("Ctrl-C between two batches: what is told is done, and the same line does the rest")
        func stopped() throws {
            let pipeline = try Pipeline()
            try pipeline.queue(20_000, "much")
            try pipeline.database.script(
                """
                UPDATE todoke.messages SET state = 'failed', finished_at = now(), error_code = 'UNAVAILABLE', claim_no = 1;
                INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome)
                SELECT id, notification, day, app, 1, 1, 'retry' FROM todoke.messages;
                """)
            let run = try RunningProgram(
                "todoke", ["retry", "--app", pipeline.app, "--all", "--database-url", pipeline.databaseURL])
            try wait(for: "it is at work") {
                try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'pending'") > 0
            }
            run.send(SIGINT)
            let ended = try run.end()
            #expect(ended.exitCode == 75, "\(ended.story)")
            let done = try pipeline.number("SELECT count(*) FROM todoke.messages WHERE state = 'pending'")
            #expect(done < 20_000 && ended.output.hasPrefix("retried \(done) in "), "\(ended.story)")
            let rest = try Self.todoke(pipeline, "retry", "--all")
            #expect(rest.output.hasPrefix("retried \(20_000 - done) in "), "\(rest.story)")
        }
    }
}
