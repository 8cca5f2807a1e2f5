import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// The database's server dies, and its standby takes over.
    @Suite("Failover")
    struct FailoverTests {
        /// 6,000 messages; 100,000 with TODOKE_TEST_SCALE=full.
        @Test("A standby takes over: while it is read-only nothing is claimed, then the sender goes on by itself")
        func failover() throws {
            let count = messages(quick: 6_000, full: 100_000)
            let primary = try OwnPostgres()
            let pipeline = try Pipeline(server: primary)
            try pipeline.queue(count, "failover")
            let standby = try OwnPostgres(following: primary)
            try primary.awaitStandby()
            let sender = try pipeline.sender(["--database-url", pipeline.databaseURL(primary, or: standby)])
            try pipeline.emulatorAPI.wait("accepted=\(count / 4)")
            try primary.stop(.immediate)
            let accepted = try pipeline.emulatorAPI.number("accepted")
            #expect(accepted < count, "the outage came too late")
            // It posts what it holds, and no more: the standby can be reached all the time.
            #expect(try pipeline.emulatorAPI.staysBelow(accepted + 5_000, "accepted", for: 2))
            #expect(!sender.hasEnded, "\(sender.errorText)")
            try standby.promote()
            try pipeline.look(at: standby)
            try pipeline.waitUntilAllIsSent(within: 300)
            sender.send(SIGTERM)
            try pipeline.checkOutageCostNothing(try sender.end(), messages: count)
        }
    }
}
