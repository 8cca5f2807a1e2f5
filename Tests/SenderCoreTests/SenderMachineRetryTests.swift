import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// What comes back, when, and what ends instead.
@Suite struct SenderMachineRetryTests {
    private static func message(age: Int = 0, attempts: Int = 0) -> ClaimedMessage {
        ClaimedMessage(
            key: MessageKey(id: 1, day: MachineHarness.day, claimNumber: 1), app: 1, attempts: attempts,
            expiresInMilliseconds: nil, ageInMilliseconds: age, isAtMostOnce: false, ttlDigits: nil, payload: [])
    }

    private func posted(age: Int, maximumAge: Int64 = 3_600) -> MachineHarness {
        var harness = MachineHarness {
            $0.drains = false
            $0.maximumAge = maximumAge * MachineHarness.second
        }
        harness.start(priorities: [5])
        let claim = harness.take().claims[0]
        harness.hear(
            .claimed(claim, Claim.Answer(messages: [Self.message(age: age)], taken: 1), askedAt: harness.now))
        _ = harness.take()
        return harness
    }

    @Test(arguments: [(3_579_000, false), (3_595_000, true), (.max, true)])
    func `a message that would be too old at its next try fails`(age: Int, isTooOld: Bool) {
        var harness = posted(age: age)
        harness.finish(0, .retry, status: 503, code: "UNAVAILABLE")
        let result = harness.take().results.first
        #expect((result?.next == .failed) == isTooOld)
        #expect(result?.errorCode == "UNAVAILABLE")
    }

    @Test func `age ends an unknown outcome too, and never a first try`() {
        var harness = posted(age: 100_000_000)
        for _ in 0..<2 {
            harness.hear(.transferFinished(slot: 0, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        }
        #expect(harness.take().results.map(\.next) == [.failed])
        var first = posted(age: 100_000_000)
        first.finish(0, .sent, status: 200)
        #expect(first.take().results.map(\.next) == [.sent])
    }

    @Test func `a fault of ours never ages a message`() {
        var harness = posted(age: 100_000_000)
        harness.finish(0, .authConfig, status: 403, code: "PERMISSION_DENIED")
        #expect(harness.take().results.map(\.next) == [.pending(delayMilliseconds: nil, isAttemptSpent: false)])
    }

    @Test func `an APNs key that Firebase lacks stops no message for Android`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 8)
        _ = harness.take()
        harness.finish(0, .sent, status: 200)
        for slot in 1...3 { harness.finish(slot, .authConfig, status: 403, code: "THIRD_PARTY_AUTH_ERROR") }
        #expect(harness.machine.apps[0].breaker.fault == nil)
        harness.pass(0.1)
        let actions = harness.take()
        #expect(actions.posts.count == 4)
        #expect(actions.logLines.filter { $0.message == "some messages wait" }.count == 1)
        let waiting = actions.results.filter { $0.next != .sent }
        #expect(waiting.count == 3 && waiting.allSatisfy { $0.outcome == "auth_config" })
        for result in waiting {
            guard case .pending(let delay?, false) = result.next else {
                Issue.record("\(result.next)")
                continue
            }
            #expect((900_000...1_800_000).contains(delay))
        }
        // A minute in which nothing else succeeds: then the app has no other messages.
        harness.pass(30)
        harness.finish(0, .authConfig, status: 403, code: "THIRD_PARTY_AUTH_ERROR")
        #expect(harness.machine.apps[0].breaker.fault == nil)
        harness.pass(31)
        harness.finish(1, .authConfig, status: 403, code: "THIRD_PARTY_AUTH_ERROR")
        #expect(harness.machine.apps[0].breaker.fault?.what.contains("THIRD_PARTY_AUTH_ERROR") == true)
    }

    @Test(arguments: [0, 1, 2])
    func `what comes back while the app is held does not outlast its lease`(kind: Int) {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        _ = harness.take()
        harness.finish(0, .retryAfter, status: 429, code: "QUOTA_EXCEEDED", retryAfter: 60)
        let fault = Failure(.unavailable, "gone", remedy: "look")
        switch kind {
        case 0: harness.hear(.transferFinished(slot: 1, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
        case 1:
            harness.hear(
                .transferFinished(slot: 1, TransferOutcome(.notIssued(fault, isConnectFault: false), issues: 0)))
        default: harness.finish(1, .authConfig, status: 401, code: "UNAUTHENTICATED")
        }
        #expect(harness.machine.held == 0)
    }

    @Test func `what waits for a stream is given back before its lease is too short`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 6)
        _ = harness.take()
        harness.hear(.capacity(streams: 0))
        let end = harness.now + 60 * MachineHarness.second
        while harness.machine.apps[0].ready.count > 0 && harness.now < end {
            harness.now = harness.machine.nextDeadline(now: harness.now)
            harness.hear()
        }
        #expect(harness.now <= end - 20 * MachineHarness.second)
        #expect(harness.machine.apps[0].ready.isEmpty)
    }

    @Test func `a stop returns what comes back from its stream`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        harness.hear(.stopRequested)
        harness.finish(0, .authConfig, status: 401, code: "UNAUTHENTICATED")
        #expect(harness.machine.held == 0)
        #expect(harness.recordAll().end?.exit == .ok)
    }
}
