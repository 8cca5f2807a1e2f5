import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// How fast the machine posts, and what slows it down.
@Suite struct SenderMachineRateTests {
    @Test func `a cold sender starts slowly and a single push goes at once`() {
        var harness = MachineHarness {
            $0.ramp = 60 * MachineHarness.second
            $0.slots = 200
        }
        harness.start(priorities: [5], perSecond: 6_000)
        let claim = harness.take().claims[0]
        harness.answer(claim, 200)
        let first = harness.take().posts.count
        #expect((1...25).contains(first))
        harness.pass(1)
        #expect(harness.take().posts.count <= 110)
    }

    @Test func `a sender that joins halves the share at once`() {
        var harness = MachineHarness()
        harness.start(priorities: [])
        #expect(harness.machine.apps[0].rate.share == 1_000)
        let full = harness.machine.apps[0].rate.level
        harness.hear(MachineHarness.work(liveSenders: 2))
        #expect(harness.machine.apps[0].rate.share == 500)
        #expect(harness.machine.apps[0].rate.level <= full / 2)
        harness.hear(MachineHarness.work(liveSenders: 3))
        #expect(harness.machine.apps[0].rate.level <= 1_000 / 3)
    }

    @Test func `all 429s of one burst halve the rate once`() {
        var harness = MachineHarness()
        harness.start(messages: 4)
        let full = harness.machine.apps[0].rate.level
        _ = harness.take()
        for slot in 0..<4 {
            harness.now += 1_000
            harness.finish(slot, .retryAfter, status: 429, code: "QUOTA_EXCEEDED", retryAfter: 2)
        }
        #expect(harness.machine.apps[0].rate.level == full / 2)
        let lines = harness.take().logLines.map(\.message)
        #expect(lines.filter { $0 == "posting at half the rate" }.count == 1)
        #expect(lines.filter { $0 == "provider asks to wait" }.count == 4 || lines.contains("provider asks to wait"))
    }

    @Test func `nobody can stop an app for longer than an hour at a time`() {
        var harness = MachineHarness()
        harness.start(messages: 1)
        harness.finish(0, .retryAfter, status: 503, code: "UNAVAILABLE", retryAfter: 31_536_000)
        #expect(harness.machine.apps[0].holdUntil == harness.now + 3_600 * MachineHarness.second)
        let delays: [Int] = harness.recordAll().results.compactMap {
            if case .pending(let delay?, false) = $0.next { delay } else { nil }
        }
        #expect(delays.count == 1, "and no attempt is spent")
        #expect(delays.allSatisfy { (3_600_000...3_605_000).contains($0) })
    }

    @Test func `a short hold keeps what is ready and posts it afterwards`() {
        var harness = MachineHarness()
        harness.start(messages: 8)
        _ = harness.take()
        harness.finish(0, .retryAfter, status: 503, code: "UNAVAILABLE", retryAfter: 5)
        #expect(harness.take().posts.isEmpty)
        #expect(harness.machine.apps[0].ready.count == 4)
        harness.pass(4.9)
        #expect(harness.take().posts.isEmpty)
        harness.pass(0.2)
        #expect(harness.take().posts.count == 1, "the stream that is free")
    }

    @Test func `a long hold gives back what is ready, and what was being claimed`() {
        var harness = MachineHarness {
            $0.slots = 2
            $0.prefetch = 40
        }
        harness.start(priorities: [5, 9])
        let claims = harness.take().claims
        #expect(claims.map(\.priority) == [9, 5])
        harness.answer(claims[1], 10)
        harness.finish(0, .retryAfter, status: 429, code: "QUOTA_EXCEEDED", retryAfter: 20)
        harness.answer(claims[0], 3, from: 100)
        #expect(harness.machine.apps[0].ready.isEmpty)
        let returned = harness.recordAll().results.filter { $0.outcome == nil }
        #expect(returned.count == 11)
        #expect(returned.allSatisfy { $0.next == .pending(delayMilliseconds: nil, isAttemptSpent: false) })
        harness.pass(19)
        #expect(harness.take().claims.isEmpty)
    }

    @Test func `a provider that answers 500 to nearly everything is asked less`() {
        var harness = MachineHarness { $0.slots = 100 }
        harness.start(messages: 100)
        let full = harness.machine.apps[0].rate.level
        harness.pass(2)
        for slot in 0..<40 { harness.finish(slot, .retry, status: 500, code: "INTERNAL") }
        #expect(harness.machine.apps[0].rate.level == full / 2)
    }

    @Test func `no more is claimed than goes out in seconds`() {
        var harness = MachineHarness { $0.prefetch = 1_500 }
        harness.start(priorities: [5], perSecond: 10)
        #expect(harness.take().claims.map(\.limit) == [20])
    }

    @Test func `two apps share the room`() {
        var harness = MachineHarness(apps: ["recipes", "weather"]) {
            $0.slots = 200
            $0.prefetch = 1_500
        }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        let due = [1, 2].map { Work.Due(app: $0, priority: 5, day: MachineHarness.day) }
        harness.hear(MachineHarness.work(["recipes", "weather"], due: due))
        let first = harness.take().claims[0]
        #expect(first.app == 1 && first.limit == 500)
        harness.answer(first, 500)
        let second = harness.take().claims[0]
        #expect(second.app == 2 && second.limit == 500)
        harness.answer(second, 500, from: 1_000)
        let apps = harness.machine.apps
        #expect(abs(apps[0].inFlight - apps[1].inFlight) <= 200)
        #expect(apps[1].inFlight > 0 || apps[0].inFlight == 198)
    }
}
