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
}
