import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// When the machine looks for work.
@Suite struct SenderMachineWakeTests {
    private func idle(isListening: Bool, next: Int? = nil) -> MachineHarness {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.listening(isListening))
        harness.start(priorities: [])
        harness.pass(1)
        _ = harness.take()
        harness.hear(MachineHarness.work(next: next))
        _ = harness.take()
        return harness
    }

    @Test func `an idle sender that is woken looks every ten seconds`() {
        var harness = idle(isListening: true)
        for _ in 0..<99 {
            harness.pass(0.1)
            #expect(harness.take().workQuestions == 0)
        }
        harness.pass(0.2)
        #expect(harness.take().workQuestions == 1)
    }

    @Test func `one that nobody wakes looks every second`() {
        var harness = idle(isListening: false)
        harness.pass(1.1)
        #expect(harness.take().workQuestions == 1)
        var listening = idle(isListening: true)
        listening.hear(.listening(false))
        listening.pass(1.1)
        #expect(listening.take().workQuestions == 1, "the listener is gone")
    }

    @Test(arguments: [true, false])
    func `what is due later is looked for when it is due`(isListening: Bool) {
        var harness = idle(isListening: isListening, next: 400)
        harness.pass(0.39)
        #expect(harness.take().workQuestions == 0)
        #expect(harness.machine.nextDeadline(now: harness.now) <= harness.now + 10_000_000)
        harness.pass(0.02)
        #expect(harness.take().workQuestions == 1)
    }

    @Test func `a retry of its own is looked for when it is due`() {
        var harness = MachineHarness {
            $0.drains = false
            $0.retry = RetryPolicy(base: 1, cap: 1)
        }
        harness.hear(.listening(true))
        harness.start(messages: 1)
        harness.finish(0, .retry, status: 503, code: "UNAVAILABLE")
        _ = harness.recordAll()
        harness.hear(MachineHarness.work())
        harness.pass(1.2)
        #expect(harness.take().workQuestions == 1)
    }

    @Test func `a woken sender claims at once where it claimed last`() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.listening(true))
        harness.start(messages: 1)
        harness.finish(0, .sent, status: 200)
        _ = harness.recordAll()
        harness.pass(0.1)
        harness.hear(MachineHarness.work())
        harness.pass(5)
        _ = harness.take()
        harness.hear(.woken(app: "recipes"))
        let actions = harness.take()
        #expect(actions.claims.map(\.priority) == [5])
        #expect(actions.workQuestions == 1 && actions.urgentQuestions == 1)
        harness.answer(actions.claims[0], 1, from: 7)
        #expect(harness.take().posts.map(\.message.key.id) == [7])
        harness.hear(.woken(app: "other"))
        #expect(harness.take().claims.isEmpty)
    }

    @Test(arguments: [0, 1, 2])
    func `what may not go for another reason than the rate does not wake it`(reason: Int) {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 8)
        switch reason {
        case 0: harness.hear(.capacity(streams: 0))
        case 1: harness.finish(0, .retryAfter, status: 503, code: "UNAVAILABLE", retryAfter: 5)
        default: harness.hear(.statementFailed(.record, Failure(.unavailable, "broken", remedy: "look")))
        }
        if reason == 2 { harness.finish(0, .sent, status: 200) }
        harness.pass(0.5)
        #expect(harness.machine.apps[0].ready.count == 4)
        #expect(harness.machine.nextDeadline(now: harness.now) >= harness.now + 20_000_000)
    }

    @Test func `an idle machine sleeps`() {
        var harness = idle(isListening: true)
        var turns = 0
        let end = harness.now + 60 * MachineHarness.second
        while harness.now < end {
            harness.now = harness.machine.nextDeadline(now: harness.now)
            turns += 1
            harness.hear()
            for action in harness.take() {
                switch action {
                case .askWork: harness.hear(MachineHarness.work())
                case .heartbeat: harness.hear(.heartbeatDone)
                case .rescue: harness.hear(.rescued(count: 0))
                default: break
                }
            }
        }
        // Heartbeats, rescues, housekeeping and questions; nothing else.
        #expect(turns <= 12 + 6 + 6 + 6 + 2, "\(turns)")
    }
}
