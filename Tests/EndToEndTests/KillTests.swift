import Foundation
import Testing

extension EndToEnd {
    /// Senders that are killed again and again while others go on.
    @Suite("Killed senders")
    struct KillTests {
        /// 20,000 messages and 3 kills; 200,000 and 30 with TODOKE_TEST_SCALE=full.
        @Test("One of three killed again and again: none lost, twice only what was in a dead one's hands")
        func killed() throws {
            let count = messages(quick: 20_000, full: 200_000)
            let kills = messages(quick: 3, full: 30)
            let pipeline = try Pipeline()
            try pipeline.queue(count, "killed")
            let fleet = try Fleet(3, of: pipeline, ["--drain", "--lease", "5"])
            var held: [String: Int] = [:]
            for kill in 0..<kills {
                // The last one early enough that there is something left to be killed at.
                try pipeline.emulatorAPI.wait("accepted=\(count * (kill + 1) / (kills + 2))")
                for target in try fleet.replace(kill % 3) { held[target, default: 0] += 1 }
            }
            // The full run waits for the leases, the quick one has not the time.
            if !isFullSize { try pipeline.endLeases(of: fleet) }
            #expect(!held.isEmpty, "nobody was killed with a message in its hands, so this test shows nothing")

            for ended in try fleet.end(within: 600) { #expect(ended.exitCode == 0, "\(ended.story)") }
            #expect(try pipeline.states() == ["sent": count])
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == count)
            let unexplained = arrivals.filter { $0.value > 1 + held[$0.key, default: 0] }
            #expect(unexplained.isEmpty, "arrived more often than a sender was killed with it: \(unexplained)")
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
        }
    }
}
