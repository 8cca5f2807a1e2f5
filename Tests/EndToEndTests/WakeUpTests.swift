import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// How soon an idle sender sees what was queued.
    @Suite("Wake-up")
    struct WakeUpTests {
        /// 20 messages one after the other, the bound for a machine that does other things too; 200, and what the design
        /// promises, with TODOKE_TEST_SCALE=full.
        ///
        /// Polling would take a minute for each.
        @Test("Idle sender: what is queued is posted within milliseconds")
        func notified() throws {
            let pipeline = try Pipeline()
            let sender = try pipeline.sender(["--poll-interval", "60000"])
            // The first answers prove the connection, and the token is there.
            for step in 1...3 { try deliver("first-\(step)", through: pipeline) }
            var committed: [String: Double] = [:]
            for step in 1...messages(quick: 20, full: 200) {
                // An application that has something to say now and then: the sender has gone to rest in between.
                try pipeline.database.query("SELECT pg_sleep(0.1)")
                try pipeline.database.query("BEGIN")
                try pipeline.enqueue("next-\(step)")
                committed["next-\(step)"] = millisecondsNow
                try pipeline.database.query("COMMIT")
                try pipeline.waitUntilSent("next-\(step)")
            }
            let arrived = try pipeline.arrivalTimes("next-")
            let latencies = Latencies(committed.map { token, time in (arrived[token] ?? .infinity) - time })
            #expect(latencies.percentile(0.5) <= (isFullSize ? 5 : 50), "\(latencies)")
            #expect(latencies.percentile(0.99) <= (isFullSize ? 25 : 500), "\(latencies)")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
        }

        @Test("Nobody notifies: polling finds it")
        func polled() throws {
            let pipeline = try Pipeline()
            let sender = try pipeline.sender(["--poll-interval", "100"])
            for step in 1...3 {
                try pipeline.enqueue("silent-\(step)", wakes: false)
                try pipeline.waitUntilSent("silent-\(step)")
            }
            sender.send(SIGTERM)
            #expect(try sender.end().exitCode == 0)
        }

        @Test("Nothing listens at --direct-database-url: polling finds it")
        func cannotListen() throws {
            let pipeline = try Pipeline()
            let nowhere = "host=\(pipeline.directory.path) dbname=nowhere"
            let sender = try pipeline.sender(["--poll-interval", "100", "--direct-database-url", nowhere])
            for step in 1...3 { try deliver("unheard-\(step)", through: pipeline) }
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
        }

        private func deliver(_ token: String, through pipeline: Pipeline) throws {
            try pipeline.enqueue(token)
            try pipeline.waitUntilSent(token)
        }
    }
}
