import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

@Suite struct SenderMachineOutcomeTests {
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
        #expect(result?.detail == "reset It was posted before as well: reset")
    }

    @Test func anUnknownOutcomeIsToldHoweverTheMessageEnds() throws {
        func end(_ finish: (inout MachineHarness) -> Void) throws -> MessageResult {
            var harness = MachineHarness { $0.drains = false }
            harness.start(messages: 1, expiresIn: 60_000)
            harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
            _ = harness.take()
            finish(&harness)
            harness.pass(0.03)
            return try #require(harness.take().results.first)
        }
        let sent = try end { $0.finish(0, .sent, status: 200, code: "OK") }
        #expect(sent.next == .sent && sent.errorCode == "OUTCOME_UNKNOWN" && sent.outcome == "unknown")
        #expect(sent.detail == "Sent, and maybe twice. It was posted before as well: reset")
        let dead = try end { $0.finish(0, .tokenInvalid, status: 404, code: "UNREGISTERED") }
        #expect(dead.next == .failed && dead.errorCode == "UNREGISTERED")
        #expect(dead.detail == "hint It was posted before as well: reset")
        let stopped = try end { harness in
            harness.hear(.stopRequested)
            harness.hear(
                .transferFinished(
                    slot: 0,
                    TransferOutcome(
                        .notIssued(Failure(.unavailable, "gone", remedy: ""), isConnectFault: false), issues: 0)))
        }
        #expect(stopped.next == .pending(delayMilliseconds: nil, isAttemptSpent: false))
        #expect(stopped.errorCode == "OUTCOME_UNKNOWN" && stopped.outcome == "unknown" && stopped.detail == "reset")
    }

    /// A token registered after the claim, or after the time that APNs names, may be alive.
    @Test(
        arguments: [
            (nil, 5_000_000), (946_684_800_002, 2_000), (946_684_800_000 - 1, -1_000), (946_684_805_001, 5_000_000),
            (Int.max, 5_000_000), (.min, 5_000_000),
        ] as [(Int?, Int)])
    func aDeadTokenIsDeadSinceTheClaimAtTheLatest(_ said: Int?, _ since: Int) throws {
        var harness = MachineHarness()
        harness.start(priorities: [5])
        let claim = try #require(harness.take().claims.first)
        let message = ClaimedMessage(
            key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: 0,
            expiresInMilliseconds: nil, claimedAt: 5_000_000, isAtMostOnce: false, ttlDigits: nil, payload: [])
        harness.hear(.claimed(claim, Claim.Answer(messages: [message], taken: 1), askedAt: harness.now))
        var verdict = Verdict(.tokenInvalid, code: "Unregistered")
        verdict.tokenInvalidSince = said
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.answered(verdict, httpStatus: 410), issues: 1)))
        harness.pass(0.03)
        let result = try #require(harness.take().results.first)
        #expect(result.tokenDeadSince == since)
    }

    @Test func onlyDeadTokensHaveATimeOfDeath() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        harness.finish(0, .permanent, status: 403, code: "SENDER_ID_MISMATCH")
        harness.pass(0.03)
        #expect(harness.take().results.first?.tokenDeadSince == nil)
    }

    @Test func whatTheRegistrySaysIsLoggedAndTheAppsAreAskedFor() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        _ = harness.take()
        harness.hear(.registryNote("app recipes: too many"))
        let actions = harness.take()
        #expect(actions.contains { if case .askWork = $0 { true } else { false } })
        #expect(actions.contains { if case .log(let entry) = $0 { entry.level == .error } else { false } })
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

    @Test func everySecondIssueCountsAsARisk() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200, issues: 3)))
        #expect(harness.machine.duplicateRisk == 2)
    }

    @Test func atMostOnceNeverSendsAgain() {
        var harness = MachineHarness()
        harness.start(messages: 1, isAtMostOnce: true)
        #expect(harness.take().posts.count == 1)
        harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        let actions = harness.take()
        #expect(actions.posts.isEmpty)
        #expect(actions.results.map(\.next) == [.failed])
        #expect(actions.results.first?.errorCode == "OUTCOME_UNKNOWN")
        #expect(harness.machine.duplicateRisk == 0)
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

    @Test func anExpiryInAnotherAgeIsNoCrash() {
        var harness = MachineHarness()
        harness.start(messages: 1, expiresIn: .max / 2)
        #expect(harness.take().posts.count == 1)
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
}
