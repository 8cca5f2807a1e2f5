import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// One urgent message among very many others.
    @Suite("Priorities")
    struct PriorityTests {
        /// 100,000 normal messages and transactions open for half a second; a million and 5 s with
        /// TODOKE_TEST_SCALE=full.
        ///
        /// A transaction that stays open hides its row behind those that were claimed meanwhile: `due_at` is its start.
        @Test("Committed while a broadcast goes out: a message of high priority is posted at once")
        func urgent() throws {
            let count = messages(quick: 100_000, full: 1_000_000)
            let pipeline = try Pipeline(faults: ["--latency", "5"])
            try pipeline.queue(count, "broadcast")
            let sender = try pipeline.sender([])
            try pipeline.emulatorAPI.wait("accepted=\(count / 50)")
            let application = try pipeline.connect()
            var committed: [String: Double] = [:]
            for step in 1...messages(quick: 7, full: 11) {
                try application.query("BEGIN")
                try pipeline.enqueue("urgent-\(step)", priority: 9, on: application)
                try application.query("SELECT pg_sleep($1)", [.text(isFullSize ? "5" : "0.5")])
                committed["urgent-\(step)"] = millisecondsNow
                try application.query("COMMIT")
                try pipeline.waitUntilSent("urgent-\(step)")
            }
            #expect(try pipeline.states()["pending", default: 0] > 0, "the broadcast was over before the last one")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")

            let arrived = try pipeline.arrivalTimes("urgent-")
            let latencies = Latencies(committed.map { token, time in (arrived[token] ?? .infinity) - time })
            if isFullSize {
                // Emulator, Postgres and sender share this machine's cores with the broadcast: a COMMIT alone takes up to
                // 20 ms at times.
                #expect(latencies.percentile(0.5) <= 25, "\(latencies)")
                #expect(latencies.percentile(1) <= 100, "\(latencies)")
            } else {
                #expect(latencies.percentile(0.5) <= 100, "\(latencies)")
            }
        }
    }
}
