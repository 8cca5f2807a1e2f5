import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// Rescue must not take rows whose results are known and only not recorded yet, by this sender or by others.
@Suite struct SenderMachineRescueTests {
    private static let lost = Failure(.unavailable, "gone", remedy: "wait")

    private func rescues(_ harness: inout MachineHarness) -> Int {
        harness.take().count { if case .rescue = $0 { true } else { false } }
    }

    /// Answers whatever rescue is under way, so that the next may be asked.
    private func rescued(_ harness: inout MachineHarness) -> Int {
        let count = rescues(&harness)
        if count > 0 { harness.hear(.rescued(count: 0)) }
        return count
    }

    @Test func aFreshSenderLetsOthersRecordFirst() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work())
        harness.pass(5)
        #expect(rescues(&harness) == 0)
        harness.pass(2)
        #expect(rescues(&harness) == 1)
    }

    @Test func aDrainThatHasNothingToDoDoesNotWaitForIt() {
        var harness = MachineHarness()
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(), .unfinished(false))
        #expect(harness.take().end?.exit == .ok)
    }

    @Test func ownResultsThatDoNotGetThroughComeFirst() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        harness.pass(7)
        #expect(rescued(&harness) == 1)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        harness.pass(1)
        #expect(harness.take().records.count == 1, "under way, and not answered")
        for _ in 0..<10 {
            harness.pass(9)
            #expect(rescued(&harness) == 0)
        }
        harness.hear(.recorded(matched: 1))
        #expect(rescued(&harness) == 1)
    }

    @Test func resultsThatWaitBehindOthersCountAsWell() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 2)
        harness.pass(7)
        #expect(rescued(&harness) == 1)
        harness.hear(.transferFinished(slot: 0, MachineHarness.answered(.sent, status: 200)))
        harness.pass(1)
        harness.hear(.transferFinished(slot: 1, MachineHarness.answered(.sent, status: 200)))
        harness.hear(.databaseLost(Self.lost))
        harness.pass(30)
        harness.hear(.databaseReady)
        _ = harness.take()
        harness.pass(7)
        #expect(rescued(&harness) == 0, "the outage does not make them younger")
        harness.hear(.recorded(matched: 1))
        #expect(harness.take().records.count == 1)
        harness.pass(7)
        #expect(rescued(&harness) == 0)
        harness.hear(.recorded(matched: 1))
        #expect(rescued(&harness) == 1)
    }
}
