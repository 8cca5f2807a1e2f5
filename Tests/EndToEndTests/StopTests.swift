import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// A sender that is told to stop.
    @Suite("Stopping")
    struct StopTests {
        private static let slow = #"{"rules": [{"effect": {"latency": {"fixed": 2000}}}]}"#
        private static let stalled = #"{"rules": [{"effect": {"stall": true}}]}"#

        /// 1,000 messages, 50 streams, answers after 2 s.
        @Test("Posts under way: the rest goes back at once, their answers are recorded, exit 0")
        func underWay() throws {
            let pipeline = try Pipeline(scenario: Self.slow)
            try pipeline.queue(1_000, "slow")
            let sender = try pipeline.sender(["--connections", "1", "--streams", "50"])
            try pipeline.emulatorAPI.wait("accepted=50")
            sender.send(SIGTERM)
            _ = try sender.line(with: "stopping")
            try wait(for: "what was not posted is back") { try pipeline.states()["sending", default: 0] <= 50 }
            #expect(!sender.hasEnded, "it waited for the answers first")
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            let states = try pipeline.states()
            #expect(Set(states.keys) == ["pending", "sent"])
            #expect(states["sent", default: 0] > 0)
            #expect(try pipeline.arrivalsByToken().count == states["sent"])
            #expect(try pipeline.number("SELECT max(attempts) FROM todoke.messages") == 0)
        }

        @Test("Answers that do not come until the deadline: exit 75, and others take the messages over")
        func deadline() throws {
            let pipeline = try Pipeline(scenario: Self.stalled)
            try pipeline.queue(20, "stalled")
            let sender = try pipeline.sender(["--stop-timeout", "1"])
            try pipeline.emulatorAPI.wait("faults.stall=2")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 75, "\(ended.story)")
            #expect(try pipeline.states()["sending", default: 0] > 0)
            try takeOver(pipeline, 20)
        }

        @Test("A second signal: exit 75 at once", arguments: [SIGTERM, SIGINT])
        func twice(second: Int32) throws {
            let pipeline = try Pipeline(scenario: Self.stalled)
            try pipeline.queue(20, "stalled")
            // A new connection carries one request until it is answered. A stop of an hour, so that only the second signal can be what ends it.
            let sender = try pipeline.sender(["--stop-timeout", "3600", "--lease", "3600"])
            try pipeline.emulatorAPI.wait("faults.stall=2")
            sender.send(SIGTERM)
            _ = try sender.line(with: "stopping")
            sender.send(second)
            let ended = try sender.end(within: 20)
            #expect(ended.exitCode == 75, "\(ended.story)")
            try takeOver(pipeline, 20)
        }

        @Test("While the database is away: an idle sender ends with 0")
        func databaseAway() throws {
            let server = try OwnPostgres()
            let pipeline = try Pipeline(server: server)
            let sender = try pipeline.sender([])
            try pipeline.enqueue("first")
            try pipeline.waitUntilSent("first")
            try server.stop(.fast)
            _ = try sender.line(with: "no database")
            sender.send(SIGTERM)
            let ended = try sender.end(within: 20)
            #expect(ended.exitCode == 0, "\(ended.story)")
            // It could not say goodbye, and removing the database needs the server.
            try server.start()
        }

        @Test("While the database is away, answers not recorded: exit 75 at the deadline, and others take over")
        func resultsLost() throws {
            let server = try OwnPostgres()
            let pipeline = try Pipeline(scenario: Self.slow, server: server)
            try pipeline.queue(20, "away")
            let sender = try pipeline.sender(["--stop-timeout", "4"])
            try pipeline.emulatorAPI.wait("accepted=20")
            try server.stop(.immediate)
            _ = try sender.line(with: "no database")
            sender.send(SIGTERM)
            let ended = try sender.end()
            #expect(ended.exitCode == 75, "\(ended.story)")
            try server.start()
            try pipeline.reconnect()
            try takeOver(pipeline, 20)
            #expect(try pipeline.arrivalsByToken().values.allSatisfy { $0 <= 2 })
        }

        @Test("The database comes back before the deadline: the answers are recorded, exit 0, nothing twice")
        func databaseBack() throws {
            let server = try OwnPostgres()
            let pipeline = try Pipeline(scenario: Self.slow, server: server)
            try pipeline.queue(20, "back")
            let sender = try pipeline.sender([])
            try pipeline.emulatorAPI.wait("accepted=20")
            try server.stop(.immediate)
            _ = try sender.line(with: "no database")
            sender.send(SIGTERM)
            _ = try sender.line(with: "stopping")
            try server.start()
            try pipeline.reconnect()
            let ended = try sender.end()
            #expect(ended.exitCode == 0, "\(ended.story)")
            #expect(try pipeline.states() == ["sent": 20])
            #expect(try pipeline.arrivalsByToken().values.allSatisfy { $0 == 1 })
        }

        /// The leases are over, the provider works: the next sender sends what is left.
        private func takeOver(_ pipeline: Pipeline, _ count: Int) throws {
            try pipeline.emulatorAPI.remove("/scenario")
            try pipeline.endLeases()
            let heir = try pipeline.sender().end()
            #expect(heir.exitCode == 0, "\(heir.story)")
            #expect(try pipeline.states() == ["sent": count])
            #expect(try pipeline.arrivalsByToken().count == count)
        }
    }
}
