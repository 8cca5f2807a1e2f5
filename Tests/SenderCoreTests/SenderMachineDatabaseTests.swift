import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite struct SenderMachineDatabaseTests {
    private static let refusal = Failure(.configuration, "permission denied", remedy: "grant")

    @Test func resultsSurviveTheLossOfTheDatabase() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        _ = harness.take()
        for slot in 0..<2 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        #expect(harness.take().results.count == 2)
        harness.hear(.databaseLost(Failure(.unavailable, "gone", remedy: "wait")))
        harness.pass(100)
        #expect(harness.take().records.isEmpty)
        harness.hear(.databaseReady)
        #expect(harness.take().results.count == 2, "the same batch once more")
        harness.hear(.recorded(matched: 0))
        #expect(harness.take().verifications == 1, "nothing matched: it may be there already")
        harness.hear(.verified(matched: 2))
        #expect(harness.machine.refusedResults == 0)
    }

    @Test func aSentResultThatCameTooLateMayBeADuplicate() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        _ = harness.take()
        for slot in 0..<2 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        harness.hear(.recorded(matched: 0), .verified(matched: 0))
        #expect(harness.machine.duplicateRisk == 2)
    }

    @Test func afterAnOutageResultsComeBeforeRescues() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        harness.hear(.databaseLost(Failure(.unavailable, "gone", remedy: "wait")))
        harness.pass(100)
        _ = harness.take()
        func rescues(_ actions: [SenderAction]) -> Int {
            actions.count { if case .rescue = $0 { true } else { false } }
        }
        harness.hear(.databaseReady)
        harness.pass(5)
        #expect(rescues(harness.take()) == 0)
        harness.pass(2)
        #expect(rescues(harness.take()) == 1)
    }

    @Test func aLostLeaseIsCountedNotHidden() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        _ = harness.take()
        for slot in 0..<2 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        harness.hear(.recorded(matched: 1))
        #expect(harness.take().verifications == 1)
        harness.hear(.verified(matched: 1))
        #expect(harness.machine.refusedResults == 1)
    }

    @Test(arguments: [true, false])
    func aDatabaseThatRefuses(drains: Bool) {
        let fault = Failure(.configuration, "wrong password", remedy: "look")
        var harness = MachineHarness { $0.drains = drains }
        harness.hear(.databaseLost(fault))
        #expect((harness.take().end != nil) == drains, "a drain ends at once")
        harness.pass(29)
        harness.hear(.databaseLost(fault))
        #expect(drains || harness.actions.end == nil)
        harness.pass(2)
        #expect(drains || harness.actions.end?.failure == fault)
    }

    @Test func aClaimThatFailedDoesNotEndADrain() {
        var harness = MachineHarness()
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        #expect(harness.take().claims.count == 1)
        harness.hear(.statementFailed(.claim, Self.refusal))
        harness.pass(0.5)
        // What is due is not known: nobody may be asked whether that was all, and nothing ends.
        let actions = harness.take()
        #expect(!actions.contains { if case .askUnfinished = $0 { true } else { false } })
        #expect(actions.end == nil)
        harness.pass(1)
        harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        #expect(harness.take().claims.count == 1)
    }

    @Test(arguments: [true, false])
    func aDrainWhoseClaimsGoOnFailingEndsWithTheReason(drains: Bool) {
        var harness = MachineHarness { $0.drains = drains }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        for _ in 0..<40 {
            harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
            harness.hear(.statementFailed(.claim, Self.refusal))
            harness.pass(1)
        }
        harness.pass(0.1)
        let end = harness.take().end
        #expect(end?.exit == (drains ? .configuration : nil))
        #expect(end?.failure?.what == (drains ? Self.refusal.what : nil))
    }

    @Test func aDrainWhoseResultsAreRefusedDoesNotWaitForThem() {
        var harness = MachineHarness()
        harness.start(messages: 4)
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        for _ in 0..<31 {
            harness.hear(.statementFailed(.record, Self.refusal))
            harness.pass(1)
        }
        #expect(harness.take().end?.failure?.what == Self.refusal.what)
    }

    @Test func nothingIsPostedOrClaimedWhileResultsCannotBeRecorded() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 6)
        _ = harness.take()
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        #expect(harness.take().posts.count == 1)
        harness.pass(0.1)
        #expect(harness.take().records.count == 1)
        harness.hear(.statementFailed(.record, Self.refusal))
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        let refused = harness.take()
        #expect(refused.posts.isEmpty)
        #expect(refused.claims.isEmpty)
        harness.pass(1)
        let again = harness.take()
        #expect(again.results.map(\.key.id) == [1])
        harness.hear(.recorded(matched: 1))
        let after = harness.take()
        #expect(after.posts.map(\.message.key.id) == [6])
        #expect(after.results.count == 4)
    }

    @Test func claimsWaitForResultsThatDoNotGetThrough() {
        var harness = MachineHarness {
            $0.drains = false
            $0.recordBatch = 10
        }
        let due = Work.Due(app: 1, priority: 5, day: MachineHarness.day)
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(due: [due]))
        var claimed = 0
        var recorded = 0
        for _ in 0..<50 {
            let actions = harness.take()
            recorded += actions.results.count
            for claim in actions.claims {
                let messages = (1...claim.limit).map {
                    ClaimedMessage(
                        key: MessageKey(id: claimed + $0, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: 0,
                        expiresInMilliseconds: nil, isAtMostOnce: false, ttlDigits: nil, payload: [])
                }
                claimed += claim.limit
                harness.hear(
                    .claimed(claim, Claim.Answer(messages: messages, taken: claim.limit), askedAt: harness.now))
            }
            for order in actions.posts {
                harness.hear(.transferFinished(slot: order.slot, MachineHarness.answered(.sent, status: 200)))
            }
            harness.pass(0.1)
        }
        // One batch is under way and gets no answer; beyond two batches each result takes the place of a message.
        #expect(recorded > 0)
        #expect((20...(2 * 10 + 4 + 16)).contains(claimed), "\(claimed)")
    }
}
