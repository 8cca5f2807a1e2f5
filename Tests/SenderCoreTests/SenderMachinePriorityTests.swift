import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// What somebody waits for goes first.
@Suite struct SenderMachinePriorityTests {
    @Test func `urgent messages are claimed while a usual claim is under way`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        #expect(harness.take().claims.map(\.priority) == [5])
        harness.pass(0.1)
        harness.hear(.woken(app: "recipes"))
        #expect(harness.take().urgentQuestions == 1)
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        #expect(harness.take().claims.map(\.priority) == [9])
    }

    @Test func `a wake-up while the question is under way asks again`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [])
        harness.pass(0.1)
        harness.hear(.woken(app: "recipes"))
        #expect(harness.take().urgentQuestions == 1)
        harness.hear(.woken(app: "recipes"), .woken(app: "recipes"))
        #expect(harness.take().urgentQuestions == 0)
        harness.hear(.urgent(due: []))
        #expect(harness.take().urgentQuestions == 1)
        harness.hear(MachineHarness.work())
        harness.pass(0.02)
        #expect(harness.take().workQuestions == 1)
    }

    @Test func `a wake-up claims at once where urgent messages were claimed last`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        _ = harness.take()
        harness.hear(.urgent(due: [MachineHarness.place(8)]))
        harness.answer(harness.take().claims[0], 1)
        _ = harness.take()
        harness.pass(50)
        harness.hear(.woken(app: "recipes"))
        var actions = harness.take()
        #expect(actions.claims.map(\.priority) == [8] && actions.urgentQuestions == 0)
        harness.answer(actions.claims[0], 0)
        actions = harness.take()
        #expect(actions.claims.isEmpty && actions.urgentQuestions == 1, "it may be somewhere else")
        harness.hear(.urgent(due: []))
        harness.pass(11)
        _ = harness.take()
        harness.hear(.woken(app: "recipes"))
        actions = harness.take()
        #expect(actions.claims.allSatisfy { $0.priority == 5 } && actions.urgentQuestions == 1, "that is long ago")
    }

    @Test func `a guess does not keep the question waiting`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        _ = harness.take()
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        let none = Claim.Answer(messages: [], taken: 0)
        harness.answer(harness.take().claims[0], 1)
        harness.hear(.woken(app: "recipes"))
        let guess = harness.take().claims
        #expect(guess.map(\.priority) == [9])
        harness.hear(.claimed(guess[0], none, askedAt: harness.now), .woken(app: "recipes"))
        let actions = harness.take()
        #expect(actions.urgentQuestions == 1 && actions.claims.isEmpty)
    }

    @Test func `nobody holds still for what was wanted long ago`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        harness.answer(harness.take().claims[0], 20)
        harness.finish(0, .retryAfter, status: 503, code: "UNAVAILABLE", retryAfter: 2)
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        #expect(harness.take().claims.isEmpty)
        harness.pass(2.1)
        let actions = harness.take()
        #expect(actions.claims.map(\.priority) == [9] && actions.posts.count == 1)
    }

    @Test func `a usual message is looked for where the last ones were though an urgent place is known`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [9, 5])
        for claim in harness.take().claims { harness.answer(claim, 1, from: claim.priority) }
        for slot in 0..<2 { harness.finish(slot, .sent, status: 200) }
        _ = harness.recordAll()
        harness.hear(MachineHarness.work())
        harness.pass(30)
        _ = harness.take()
        harness.hear(.woken(app: "recipes"))
        let claims = harness.take().claims
        #expect(claims.map(\.priority) == [9])
        harness.pass(0.025)
        #expect(harness.take().claims.map(\.priority) == [5], "as soon as it may, without an answer")
    }

    @Test func `everything else holds still for a moment while urgent messages are claimed`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        harness.answer(harness.take().claims[0], 20)
        harness.finish(0, .sent, status: 200)
        _ = harness.take()
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        let urgent = harness.take().claims[0]
        for slot in 1..<4 { harness.finish(slot, .sent, status: 200) }
        harness.pass(0.024)
        #expect(harness.take().isEmpty)
        #expect(harness.machine.nextDeadline(now: harness.now) - harness.now == 1_000_000)
        harness.answer(urgent, 1, from: 1_000)
        let actions = harness.take()
        #expect(actions.posts.map(\.message.key.id) == [1_000, 6, 7] && actions.records.count == 1)
        // The next has to wait its turn: no sooner than ten times as long after.
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        #expect(harness.take().claims.map(\.priority) == [9])
        harness.finish(1, .sent, status: 200)
        #expect(harness.take().posts.count == 1)
    }

    @Test func `a claim that takes long does not keep the others waiting`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        harness.answer(harness.take().claims[0], 20)
        _ = harness.take()
        harness.hear(.urgent(due: [MachineHarness.place(9)]))
        #expect(harness.take().claims.count == 1)
        harness.finish(0, .sent, status: 200)
        #expect(harness.take().posts.isEmpty)
        harness.pass(0.025)
        #expect(harness.take().posts.count == 1)
    }

    @Test func `what turns up later is claimed in the order of priorities`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [9, 5])
        let claims = harness.take().claims
        harness.hear(.urgent(due: [MachineHarness.place(7)]))
        harness.answer(claims[0], 100, from: 100)
        for _ in 0..<70 { harness.finish(0, .sent, status: 200) }
        #expect(harness.take().claims.map(\.priority).first == 9)
    }

    @Test func `the higher priority goes first and within it the earlier message`() {
        var harness = MachineHarness { $0.slots = 1 }
        harness.start(priorities: [9, 5])
        let claims = harness.take().claims
        #expect(claims.map(\.priority) == [9, 5])
        harness.answer(claims[1], 3)
        harness.answer(claims[0], 2, from: 10)
        var order = harness.take().posts.map(\.message.key.id)
        for _ in 0..<4 {
            harness.finish(0, .sent, status: 200)
            order += harness.take().posts.map(\.message.key.id)
        }
        #expect(order == [1, 10, 11, 2, 3])
    }

    @Test func `streams are kept for urgent messages`() {
        var harness = MachineHarness {
            $0.slots = 100
            $0.prefetch = 400
        }
        harness.start(priorities: [5, 7])
        let claims = harness.take().claims
        harness.answer(claims[1], 400)
        #expect(harness.take().posts.count == 99)
        harness.answer(claims[0], 3, from: 1_000)
        #expect(harness.take().posts.map(\.message.key.id) == [1_000])
        for slot in 0..<2 { harness.finish(slot, .sent, status: 200) }
        #expect(harness.take().posts.map(\.message.key.id) == [1_001, 1_002], "and the next that become free")
    }

    @Test func `the bucket's last tokens are for urgent messages`() {
        var harness = MachineHarness {
            $0.slots = 1_000
            $0.prefetch = 0
        }
        harness.start(priorities: [5, 9], perSecond: 80)
        let claims = harness.take().claims
        harness.answer(claims[1], 100)
        let usual = harness.take().posts.count
        #expect((15...20).contains(usual))
        harness.answer(claims[0], 2, from: 1_000)
        #expect(harness.take().posts.map(\.message.key.id) == [1_000, 1_001])
    }

    @Test func `there is room for urgent messages when the usual ones fill theirs`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        harness.answer(harness.take().claims[0], 20)
        #expect(harness.take().claims.isEmpty)
        harness.hear(.urgent(due: [MachineHarness.place(8)]))
        #expect(harness.take().claims.map(\.limit) == [100])
    }

    @Test func `urgent claims that fail end neither the sender nor what else goes on`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [9, 5])
        let claims = harness.take().claims
        harness.hear(.statementFailed(.urgent, Failure(.unavailable, "broken", remedy: "look")))
        harness.answer(claims[1], 1)
        #expect(harness.take().posts.count == 1)
        harness.pass(1)
        harness.hear(MachineHarness.work(due: [MachineHarness.place(9)]))
        #expect(harness.take().claims.map(\.priority) == [9])
    }
}
