import Foundation
import Glibc
import Postgres
import Testing

extension EndToEnd {
    /// The database goes away under a sender at work, and comes back.
    @Suite("Restarted databases")
    struct RestartTests {
        /// 20,000 messages and 2 s; 200,000 and 20 s with TODOKE_TEST_SCALE=full.
        @Test("Stopped and started twice: none lost, no attempt spent, the sender stays")
        func restarted() throws {
            let count = messages(quick: 20_000, full: 200_000)
            let seconds = messages(quick: 2, full: 20)
            let server = try OwnPostgres()
            let pipeline = try Pipeline(server: server)
            try pipeline.queue(count, "restarted")
            let sender = try pipeline.sender([])
            for (step, how) in [OwnPostgres.Stop.fast, .immediate].enumerated() {
                try pipeline.emulatorAPI.wait("accepted=\(count * (step + 1) / 4)")
                try server.stop(how)
                let accepted = try pipeline.emulatorAPI.number("accepted")
                // It posts what it holds, which is some batches, and no more.
                let bound = accepted + 5_000
                #expect(try pipeline.emulatorAPI.staysBelow(bound, "accepted", for: seconds))
                #expect(accepted < count, "the outage came too late")
                try server.start()
                try pipeline.reconnect()
                #expect(!sender.hasEnded, "\(sender.errorText)")
            }
            try pipeline.waitUntilAllIsSent(within: 600)
            #expect(!sender.hasEnded, "\(sender.errorText)")
            sender.send(SIGTERM)
            try pipeline.checkOutageCostNothing(try sender.end(), messages: count)
        }
    }
}
