import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// A provider or a proxy that lets nothing through, without saying so in a way that libcurl names.
@Suite struct SenderMachineOutageTests {
    private static func gone(_ harness: inout MachineHarness, _ slot: Int) {
        let failure = Failure(.unavailable, "the proxy refuses CONNECT", remedy: "ask it")
        harness.hear(
            .transferFinished(slot: slot, TransferOutcome(.notIssued(failure, isConnectFault: false), issues: 0)))
    }

    private static func lost(_ harness: inout MachineHarness, _ slot: Int) {
        harness.hear(.transferFinished(slot: slot, TransferOutcome(.unknown(reason: "reset"), issues: 1)))
    }

    private static func service(slots: Int = 1) -> MachineHarness {
        MachineHarness {
            $0.drains = false
            $0.slots = slots
            $0.prefetch = 499
        }
    }

    @Test func `posts that never leave open the breaker, and a probe that does not leave opens it for longer`() {
        var harness = Self.service()
        harness.start(messages: 30)
        var posts = 0
        while let order = harness.take().posts.first {
            posts += 1
            Self.gone(&harness, order.slot)
        }
        #expect(posts == 21)
        #expect(harness.machine.held == 0, "the rest went back untouched")
        #expect(harness.machine.apps[0].breaker.fault?.what == "the proxy refuses CONNECT")
        _ = harness.recordAll()

        harness.pass(1.1)
        harness.hear(MachineHarness.work(due: [MachineHarness.place(5)]))
        let probe = harness.take().claims[0]
        #expect(probe.limit == 1)
        harness.answer(probe, 1)
        #expect(harness.take().posts.count == 1)
        Self.gone(&harness, 0)
        #expect(harness.take().posts.isEmpty, "a probe is one post")
        harness.pass(1.5)
        #expect(harness.machine.apps[0].breaker.allowance(now: harness.now) == 0, "two seconds now")
    }

    @Test func `what is turned away by one GOAWAY is no outage`() {
        var harness = Self.service(slots: 100)
        harness.start(messages: 100)
        let orders = harness.take().posts
        #expect(orders.count == 99)
        for order in orders { Self.gone(&harness, order.slot) }
        #expect(harness.machine.apps[0].breaker.fault == nil)
        for order in harness.take().posts { harness.finish(order.slot, .sent, status: 200) }
        #expect(harness.machine.apps[0].notIssuedInARow == 0)
    }

    @Test func `with at most once an outage costs no more than a few messages`() {
        var harness = Self.service(slots: 50)
        harness.start(messages: 500, isAtMostOnce: true)
        while let order = harness.take().posts.first { Self.lost(&harness, order.slot) }
        let failed = harness.recordAll().results.filter { $0.next == .failed }.count
        // The twenty that tell, and those that were under way with them.
        #expect((21...70).contains(failed), "\(failed)")
        #expect(harness.machine.apps[0].breaker.fault != nil)
    }

    @Test func `a probe without an answer opens the breaker again`() {
        var harness = Self.service()
        harness.start(messages: 30)
        while let order = harness.take().posts.first { Self.lost(&harness, order.slot) }
        _ = harness.recordAll()
        harness.pass(1.1)
        harness.hear(MachineHarness.work(due: [MachineHarness.place(5)]))
        harness.answer(harness.take().claims[0], 1)
        _ = harness.take()
        Self.lost(&harness, 0)
        #expect(harness.take().posts.isEmpty)
        harness.pass(1.5)
        #expect(harness.machine.apps[0].breaker.allowance(now: harness.now) == 0)
    }

    @Test func `a server that goes on answering over HTTP/1.1 is probed ever more rarely`() {
        var harness = Self.service()
        harness.start(messages: 1)
        func answer() -> TransferOutcome {
            var outcome = MachineHarness.answered(.sent, status: 200)
            outcome.isHTTP1 = true
            return outcome
        }
        _ = harness.take()
        harness.hear(.transferFinished(slot: 0, answer()))
        _ = harness.recordAll()
        for wait in [1.0, 2, 4] {
            harness.pass(wait - 0.1)
            #expect(harness.machine.apps[0].breaker.allowance(now: harness.now) == 0, "\(wait) s")
            harness.pass(0.2)
            harness.hear(MachineHarness.work(due: [MachineHarness.place(5)]))
            harness.answer(harness.take().claims[0], 1)
            harness.hear(.transferFinished(slot: 0, answer()))
            let results = harness.recordAll().results
            #expect(results.map(\.next) == [.sent], "it counts all the same")
        }
    }

    @Test func `one app without a row does not stop the others`() {
        var harness = MachineHarness(apps: ["recipes", "weather"]) { $0.drains = false }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(["recipes", "weather"], due: [MachineHarness.place(5)]))
        harness.answer(harness.take().claims[0], 10)
        let first = harness.take()
        #expect(first.posts.count == 4)
        for claim in first.claims { harness.answer(claim, 0) }
        _ = harness.take()
        // Renamed: the first has no row any more.
        let weather = Work.App(
            id: 2, name: "weather", projectID: "demo", isPaused: false, messagesPerSecond: 1_000, liveSenders: 1)
        let due = Work.Due(app: 2, priority: 5, day: MachineHarness.day)
        harness.hear(.work(apps: [weather], due: [due], nextInMilliseconds: nil))
        let actions = harness.take()
        #expect(actions.end == nil && actions.claims.map(\.app) == [2])
        #expect(actions.logLines.contains { $0.message == "an app has no row any more" })
        #expect(harness.machine.apps[0].ready.isEmpty)
        harness.hear(.work(apps: [weather], due: [due], nextInMilliseconds: nil))
        #expect(harness.take().logLines.isEmpty, "said once")
        // And back, as another row: what the old one had is not posted for it.
        let recipes = Work.App(
            id: 3, name: "recipes", projectID: "other", isPaused: false, messagesPerSecond: 1_000, liveSenders: 1)
        harness.hear(.work(apps: [recipes, weather], due: [due], nextInMilliseconds: nil))
        #expect(harness.take().posts.isEmpty)
    }

    @Test func `a claim for a row that has lost its name is given back`() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(due: [MachineHarness.place(5)]))
        let claim = harness.take().claims[0]
        let other = Work.App(
            id: 7, name: "recipes", projectID: "other", isPaused: false, messagesPerSecond: 1_000, liveSenders: 1)
        harness.hear(.work(apps: [other], due: [], nextInMilliseconds: nil))
        harness.answer(claim, 3)
        let results = harness.recordAll().results
        #expect(
            results.map(\.next) == Array(repeating: .pending(delayMilliseconds: nil, isAttemptSpent: false), count: 3))
    }
}
