import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite struct SenderMachineTests {
    @Test func aDrainPostsRecordsAndEnds() {
        var harness = MachineHarness()
        harness.start(messages: 6)
        #expect(harness.take().posts.count == 4, "as many as there are streams")
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        #expect(harness.take().posts.map(\.message.key.id) == [5])
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        let records = harness.take().records
        #expect(records.flatMap(\.results).count == 6)
        #expect(records.flatMap(\.results).allSatisfy { $0.next == .sent })
        for record in records { harness.hear(.recorded(matched: record.results.count)) }
        harness.pass(1)
        harness.hear(MachineHarness.work())
        #expect(harness.take().end == nil, "others may still be sending")
        harness.hear(.unfinished(false))
        #expect(harness.take().end?.exit == .ok)
    }

    @Test func aStopReturnsWhatWasNotPostedAndWaitsForTheRest() throws {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 6)
        _ = harness.take()
        harness.hear(.stopRequested)
        let returned = harness.take()
        #expect(returned.results.map(\.key.id) == [5, 6])
        #expect(returned.results.allSatisfy { $0.next == .pending(delayMilliseconds: nil, isAttemptSpent: false) })
        #expect(returned.end == nil)
        harness.hear(.recorded(matched: 2))
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        for record in actions.records { harness.hear(.recorded(matched: record.results.count)) }
        for record in harness.take().records { harness.hear(.recorded(matched: record.results.count)) }
        harness.pass(0.1)
        #expect(harness.machine.held == 0)
    }

    @Test func aSecondStopOrTheDeadlineGivesUp() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        _ = harness.take()
        var late = harness
        harness.hear(.stopRequested)
        #expect(harness.take().end == nil)
        harness.hear(.stopRequested)
        #expect(harness.take().end?.exit == .temporary)
        late.hear(.stopRequested)
        late.pass(29)
        #expect(late.take().end == nil)
        late.pass(2)
        #expect(late.take().end?.exit == .temporary)
    }

    @Test func anUnknownOutcomeIsResentOnceThenWaitsWithItsAttemptUnspent() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        _ = harness.take()
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        #expect(harness.take().posts.map(\.message.key.id) == [1])
        #expect(harness.machine.duplicateRisk == 1)
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        let result = harness.take().results.first
        #expect(result?.errorCode == "OUTCOME_UNKNOWN")
        guard case .pending(let delay?, let isSpent) = result?.next else {
            Issue.record("the message must go back")
            return
        }
        #expect(!isSpent)
        #expect((10_000...20_000).contains(delay))
        #expect(harness.machine.duplicateRisk == 2)
    }

    @Test func aServerThatNeverAnswersIsAnOutage() {
        var harness = MachineHarness {
            $0.drains = false
            $0.slots = 1
            $0.prefetch = 499
        }
        harness.start(messages: 30)
        var posts = 0
        while !harness.take().posts.isEmpty {
            posts += 1
            harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        }
        #expect(posts == 21)
        #expect(harness.machine.held == 0, "the rest went back untouched")
    }

    @Test func higherPrioritiesAreSeenWhileABatchDrains() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 20)
        _ = harness.take()
        harness.pass(1.1)
        #expect(harness.take().contains { if case .askWork = $0 { true } else { false } })
        let urgent = Work.Due(app: 1, priority: 9, day: MachineHarness.day)
        harness.hear(MachineHarness.work(due: [urgent, Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        for _ in 0..<4 {
            for slot in 0..<4 {
                harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200)))
            }
        }
        #expect(harness.take().claims.first?.priority == 9)
    }

    @Test func everySecondIssueCountsAsARisk() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200, issues: 3)))
        #expect(harness.machine.duplicateRisk == 2)
    }

    @Test func atMostOnceNeverSendsAgain() {
        var harness = MachineHarness()
        harness.start(messages: 1, isAtMostOnce: true)
        #expect(harness.take().posts.map(\.maximumIssues) == [1])
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        #expect(actions.results.map(\.next) == [.failed])
        #expect(actions.results.first?.errorCode == "OUTCOME_UNKNOWN")
        #expect(harness.machine.duplicateRisk == 0)
    }

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

    @Test(arguments: [(0, false), (8, false), (9, true)])
    func retriesSpendAnAttemptUntilTheyAreUsedUp(attempts: Int, isLast: Bool) {
        var harness = MachineHarness()
        harness.start(messages: 1, attempts: attempts)
        _ = harness.take()
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.retry, status: 503, code: "UNAVAILABLE")))
        let next = harness.take().results.first?.next
        if isLast {
            #expect(next == .failed)
        } else {
            guard case .pending(let delay?, true) = next else {
                Issue.record("must wait: \(String(describing: next))")
                return
            }
            #expect((10_000...min(3_600_000, 20_000 << attempts)).contains(delay))
        }
    }

    @Test func retryAfterHoldsTheWholeApp() {
        var harness = MachineHarness()
        harness.start(messages: 6)
        _ = harness.take()
        harness.hear(
            .transferFinished(
                slot: 0, MachineHarness.answered(.retryAfter, status: 429, code: "QUOTA_EXCEEDED", retryAfter: 30)))
        #expect(harness.take().posts.isEmpty)
        harness.pass(1)
        #expect(harness.take().posts.isEmpty)
    }

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

    @Test func aMessageWithoutPayloadFails() {
        var harness = MachineHarness()
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(due: [Work.Due(app: 1, priority: 5, day: MachineHarness.day)]))
        let claim = harness.take().claims[0]
        let key = MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1)
        harness.hear(.claimed(claim, Claim.Answer(messages: [], withoutPayload: [key], taken: 1), askedAt: harness.now))
        let result = harness.take().results.first
        #expect(result?.next == .failed)
        #expect(result?.errorCode == "PAYLOAD_MISSING")
    }

    @Test func anAppThatGoesAwayEndsTheSenderOnlyAfterItsResultsAreRecorded() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 4)
        _ = harness.take()
        harness.hear(MachineHarness.work([]))
        #expect(harness.take().end == nil)
        for slot in 0..<4 { harness.hear(.transferFinished(slot: slot, MachineHarness.answered(.sent, status: 200))) }
        var end: ExitCode?
        while end == nil {
            let actions = harness.take()
            end = actions.end?.exit
            for record in actions.records { harness.hear(.recorded(matched: record.results.count)) }
            if actions.isEmpty { break }
        }
        #expect(end == .configuration)
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

    @Test func anExpiryInAnotherAgeIsNoCrash() {
        var harness = MachineHarness()
        harness.start(messages: 1, expiresIn: .max / 2)
        #expect(harness.take().posts.count == 1)
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

    @Test func aLeaseTooShortForAPostIsGivenBack() {
        var harness = MachineHarness {
            $0.leaseSeconds = 30
            $0.requestTimeout = 20 * MachineHarness.second
        }
        harness.start(messages: 6)
        _ = harness.take()
        harness.pass(11)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        harness.pass(0.03)
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        #expect(actions.results.filter { $0.next != .sent }.map(\.key.id) == [5, 6])
    }

    @Test func whatExpiresBeforeItsPostIsNotPosted() {
        var harness = MachineHarness()
        harness.start(messages: 5, expiresIn: 3_500)
        #expect(harness.take().posts.first?.secondsLeft == 3)
        harness.pass(4)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        harness.pass(0.03)
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        #expect(actions.results.contains { $0.key.id == 5 && $0.next == .expired })
    }

    @Test func anAppThatIsNotThereIsNamed() {
        var harness = MachineHarness(apps: ["recipes", "nowhere"]) { $0.drains = false }
        harness.hear(.databaseReady, MachineHarness.work(["recipes"]))
        let end = harness.take().end
        #expect(end?.exit == .configuration)
        #expect(end?.failure?.what.contains("\"nowhere\"") == true)
    }

    @Test func pausedAppsDoNotHoldADrain() {
        var harness = MachineHarness()
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(isPaused: true))
        #expect(harness.take().end?.exit == .ok)
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

    private static let refusal = Failure(.configuration, "permission denied", remedy: "grant")

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
