import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Producers that do not come to their end, and the same line run again.
    @Suite("Interrupted producers")
    struct ProducerFaultTests {
        private static let rows = 50_000

        @Test("Killed in mid-run: the next run completes it at once, each target once", arguments: [1, 5_000, 25_000])
        func killed(_ queued: Int) throws {
            let pipeline = try Pipeline()
            let run = try Self.begin(pipeline, until: queued)
            run.send(SIGKILL)
            let ended = try run.end()
            #expect(ended.signal == SIGKILL, "\(ended.story)")
            try Self.complete(pipeline)
        }

        @Test("Its database restarted: one line says so, exit code 75, and the next run completes it")
        func restarted() throws {
            let server = try OwnPostgres()
            for how in [OwnPostgres.Stop.fast, .immediate] {
                let pipeline = try Pipeline(server: server)
                let run = try Self.begin(pipeline, until: 1)
                try server.stop(how)
                try server.start()
                let ended = try run.end()
                #expect(ended.exitCode == 75, "\(ended.story)")
                #expect(ended.messages.count == 1 && ended.errors.contains("the database went away"), "\(ended.story)")
                try pipeline.reconnect()
                try Self.complete(pipeline)
            }
        }

        /// A producer at work that has queued at least so many messages.
        private static func begin(_ pipeline: Pipeline, until queued: Int) throws -> RunningProgram {
            let lines = (1...rows).map { "device-\($0),Reader \($0),https://images.example.com/\($0).jpg\n" }
            let run = try RunningProgram("todoke-producer", arguments(pipeline, "token,name,image\n" + lines.joined()))
            try wait(for: "\(queued) messages are queued") {
                try pipeline.number("SELECT coalesce(sum(queued), 0) FROM todoke.notifications") >= queued
            }
            return run
        }

        private static func arguments(_ pipeline: Pipeline, _ audience: String) throws -> [String] {
            [
                "--app", pipeline.app, "--notification-id", "interrupted", "--database-url", pipeline.databaseURL,
                "--template", try pipeline.write("template.json", Pipeline.template),
                "--audience", try pipeline.write("audience.csv", audience),
            ]
        }

        /// Runs the same line again, and looks at what is queued then.
        private static func complete(_ pipeline: Pipeline) throws {
            let before = try pipeline.number("SELECT count(*) FROM todoke.payloads")
            #expect((1..<rows).contains(before), "it was not in the middle")
            let audience = pipeline.directory.appendingPathComponent("audience.csv")
            let ended = try pipeline.producer("interrupted", audience: ["--audience", audience.path])
            #expect(ended.exitCode == 0, "\(ended.story)")
            let said = "queued \(rows - before), already queued \(before), rejected 0"
            #expect(ended.output.hasPrefix(said), "\(ended.story)")
            #expect(try pipeline.states() == ["pending": rows])
            #expect(try pipeline.number("SELECT count(DISTINCT target) FROM todoke.payloads") == rows)
            #expect(
                try pipeline.number(
                    "SELECT count(*) FROM todoke.notifications WHERE run_id IS NULL AND loaded_at IS NOT NULL") == 1)
        }
    }
}
