import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite struct SenderMachineBreakerTests {
    @Test func aStaleTokenIsReplacedOnceThenTheBreakerOpens() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        _ = harness.take()
        harness.hear(
            .transferFinished(slot: 0, MachineHarness.answered(.authConfig, status: 401, code: "UNAUTHENTICATED")))
        var actions = harness.take()
        #expect(actions.posts.isEmpty)
        #expect(actions.tokenRequests == 1)
        harness.hear(.tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        #expect(harness.take().posts.count == 1)
        harness.hear(
            .transferFinished(slot: 0, MachineHarness.answered(.authConfig, status: 401, code: "UNAUTHENTICATED")))
        actions = harness.take()
        #expect(actions.results.map(\.next) == [.pending(delayMilliseconds: nil, isAttemptSpent: false)])
        harness.hear(.recorded(matched: 1))
        #expect(harness.take().end?.exit == .configuration)
    }

    @Test func aServerOutOfReachReturnsMessagesUntouchedAndEndsADrain() {
        var harness = MachineHarness()
        harness.start(messages: 6)
        _ = harness.take()
        let fault = Failure(.unavailable, "refused", remedy: "look")
        for slot in 0..<4 {
            harness.hear(
                .transferFinished(slot: slot, TransferOutcome(.notIssued(fault, isConnectFault: true), issues: 0)))
        }
        var results: [MessageResult] = []
        while true {
            harness.pass(0.1)
            let records = harness.actions.records
            if records.isEmpty { break }
            _ = harness.take()
            for record in records {
                results += record.results
                harness.hear(.recorded(matched: record.results.count))
            }
        }
        #expect(results.count == 6)
        #expect(results.allSatisfy { $0.next == .pending(delayMilliseconds: nil, isAttemptSpent: false) })
        #expect(harness.machine.duplicateRisk == 0)
        #expect(harness.actions.end?.failure == fault)
    }

    @Test func aSenderThatWasIdleStaysUpWhenTheServerGoesAway() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(
            .databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second), MachineHarness.work())
        harness.pass(1_000)
        _ = harness.take()
        harness.start(messages: 1)
        let fault = Failure(.unavailable, "refused", remedy: "look")
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.notIssued(fault, isConnectFault: true), issues: 0)))
        for record in harness.take().records { harness.hear(.recorded(matched: record.results.count)) }
        harness.pass(100)
        #expect(harness.actions.end == nil)
    }

    @Test func anOpenBreakerProbesWithOneMessage() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 4)
        _ = harness.take()
        let fault = Failure(.unavailable, "refused", remedy: "look")
        for slot in 0..<4 {
            harness.hear(
                .transferFinished(slot: slot, TransferOutcome(.notIssued(fault, isConnectFault: true), issues: 0)))
        }
        for _ in 0..<3 {
            for record in harness.take().records { harness.hear(.recorded(matched: record.results.count)) }
        }
        harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        #expect(harness.take().claims.isEmpty, "closed for a second")
        harness.pass(1.1)
        #expect(harness.take().claims.map(\.limit) == [1])
    }

    @Test func oneAppsFaultDoesNotEndTheDrainOfAnother() {
        var harness = MachineHarness(apps: ["bad", "good"])
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        let due = (1...2).map { Work.Due(app: $0, priority: 5, day: MachineHarness.day) }
        harness.hear(MachineHarness.work(["bad", "good"], due: due))
        let claim = harness.take().claims[0]
        #expect(claim.app == 1)
        let message = ClaimedMessage(
            key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: 0,
            expiresInMilliseconds: nil, isAtMostOnce: false, ttlDigits: nil, payload: [])
        harness.hear(.claimed(claim, Claim.Answer(messages: [message], taken: 1), askedAt: harness.now))
        harness.hear(
            .transferFinished(slot: 0, MachineHarness.answered(.authConfig, status: 403, code: "PERMISSION_DENIED")))
        for record in harness.take().records { harness.hear(.recorded(matched: record.results.count)) }
        let actions = harness.take()
        #expect(actions.end == nil)
    }

    @Test func theTokenIsRefreshedAheadOfItsEnd() {
        var harness = MachineHarness { $0.drains = false }
        harness.pass(0)
        #expect(harness.take().tokenRequests == 1)
        harness.hear(.tokenReady(credential: 0, lifetime: 100 * MachineHarness.second))
        harness.pass(84)
        #expect(harness.take().tokenRequests == 0)
        harness.pass(2)
        harness.pass(1)
        #expect(harness.take().tokenRequests == 1, "once, while the old one still works")
    }
}
