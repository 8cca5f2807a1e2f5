import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// A sender that comes back after others took over what it held.
    @Suite("Fencing")
    struct FenceTests {
        @Test("Stopped beyond its lease and continued: its results are refused, nothing is overwritten")
        func stopped() throws {
            let pipeline = try Pipeline(scenario: #"{"rules": [{"effect": {"latency": {"fixed": 2000}}}]}"#)
            try pipeline.queue(100, "fence")
            let sleeper = try pipeline.sender([])
            // Counted when they arrive; the answers come later, into the socket of a sender that does not turn.
            try pipeline.emulatorAPI.wait("accepted=100")
            sleeper.send(SIGSTOP)
            #expect(try pipeline.states()["sending", default: 0] > 0)
            try pipeline.endLeases()

            let heir = try pipeline.sender().end()
            #expect(heir.exitCode == 0, "\(heir.story)")
            #expect(try pipeline.states() == ["sent": 100])
            let before = try pipeline.digest()

            sleeper.send(SIGCONT)
            _ = try sleeper.line(with: "results refused")
            sleeper.send(SIGTERM)
            let ended = try sleeper.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.digest() == before)
            let arrivals = try pipeline.arrivalsByToken()
            #expect(arrivals.count == 100)
            #expect(arrivals.values.allSatisfy { $0 <= 2 })
            let extra = try pipeline.extraArrivals()
            #expect(extra > 0)
            #expect(try pipeline.duplicateRisk() >= extra)
        }
    }
}

extension Pipeline {
    /// Changes whenever any message does.
    fileprivate func digest() throws -> String {
        try database.query("SELECT md5(string_agg(m::text, '|' ORDER BY id)) FROM todoke.messages m").string(0, 0)
    }
}
