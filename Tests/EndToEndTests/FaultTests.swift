import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// Killed senders, broken connections: nothing is lost, and a duplicate only comes from an unknown outcome.
    @Suite("Faults")
    struct FaultTests {
        /// 20,000 messages; 100,000 with TODOKE_TEST_SCALE=full.
        @Test("A sender killed in the middle: the next one sends the rest, twice only what was in the dead one's hands")
        func killed() throws {
            let count = messages(quick: 20_000, full: 100_000)
            let pipeline = try Pipeline()
            try pipeline.queue(count, "killed")
            let victim = try pipeline.sender(["--drain", "--lease", "5"])
            try wait(for: "a quarter is sent") { try pipeline.states()["sent", default: 0] > count / 4 }
            victim.send(SIGKILL)
            #expect(try victim.end().signal == SIGKILL)
            // The server may still be busy with its last statement.
            try wait(for: "the dead sender's connections are closed") {
                try pipeline.number(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                        + " AND backend_type = 'client backend'") == 0
            }
            let states = try pipeline.states()
            let inItsHands = states["sending", default: 0]
            #expect(states["pending", default: 0] > 0, "it was killed too late: \(states)")

            let heir = try pipeline.sender(["--drain"]).end()
            #expect(heir.exitCode == 0, "\(heir.story)")
            #expect(try pipeline.states() == ["sent": count])
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == count)
            let twice = arrivals.values.count { $0 > 1 }
            #expect(twice <= inItsHands)
            #expect(arrivals.values.allSatisfy { $0 <= 2 })
        }

        /// 5,000 messages, every 500th arrival answered by a broken connection.
        @Test(
            "Connections reset after acceptance: every second arrival was counted by the sender",
            arguments: Faults.afterAcceptance)
        func resetAfter(fault: Faults.Named) throws {
            let pipeline = try Pipeline(faults: fault.flags)
            try sendAll(5_000, through: pipeline)
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == 5_000)
            let extra = arrivals.values.reduce(0) { $0 + $1 - 1 }
            #expect(extra > 0, "the emulator reset nothing, so this test shows nothing")
            let counted = try pipeline.number("SELECT coalesce(sum(duplicate_risk), 0) FROM todoke.senders")
            #expect(extra <= counted)
        }

        /// 5,000 messages; what was never accepted may be posted again without any risk.
        @Test("Refused before acceptance: everything is sent, once", arguments: Faults.beforeAcceptance)
        func refused(fault: Faults.Named) throws {
            let pipeline = try Pipeline(faults: fault.flags)
            try sendAll(5_000, through: pipeline)
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == 5_000)
            let extra = arrivals.values.reduce(0) { $0 + $1 - 1 }
            let counted = try pipeline.number("SELECT coalesce(sum(duplicate_risk), 0) FROM todoke.senders")
            #expect(extra <= counted)
        }

        /// 20,000 messages: enough that the signal comes in the middle.
        @Test("SIGTERM in the middle: exit 0, everything it held is recorded or given back")
        func terminated() throws {
            let count = 20_000
            let pipeline = try Pipeline()
            try pipeline.queue(count, "terminated")
            let sender = try pipeline.sender([])
            try wait(for: "some are sent") { try pipeline.states()["sent", default: 0] > count / 10 }
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            let states = try pipeline.states()
            #expect(states["sending"] == nil)
            #expect(states["pending", default: 0] > 0, "it was stopped too late: \(states)")
            #expect(states["sent", default: 0] + states["pending", default: 0] == count)
            #expect(try pipeline.arrivalsByToken().count == states["sent"])
        }

        private func sendAll(_ count: Int, through pipeline: Pipeline) throws {
            try pipeline.queue(count, "faulty")
            let sender = try pipeline.sender(["--drain", "--retry-base", "1"]).end()
            #expect(sender.exitCode == 0, "\(sender.story)")
            #expect(try pipeline.states() == ["sent": count])
        }
    }
}
