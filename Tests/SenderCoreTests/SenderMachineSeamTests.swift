import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// What the shell tells the machine about its connections, credentials and wake-ups.
@Suite("The machine and what its shell tells it")
struct SenderMachineSeamTests {
    @Test("no more is posted than the connections can carry")
    func capacity() throws {
        var harness = MachineHarness()
        harness.hear(.capacity(streams: 1))
        harness.start(messages: 3)
        let first = harness.take().posts
        #expect(first.count == 1)
        harness.hear(.capacity(streams: 3))
        #expect(harness.take().posts.count == 2)
    }

    @Test("an answer over HTTP/1.1 counts, and nothing more goes that way")
    func onlyHTTP1() throws {
        var harness = MachineHarness()
        harness.hear(.capacity(streams: 1))
        harness.start(messages: 2)
        let slot = try #require(harness.take().posts.first?.slot)
        var outcome = MachineHarness.answered(.sent, status: 200)
        outcome.isHTTP1 = true
        harness.hear(.transferFinished(slot: slot, outcome))
        let results = harness.take().results
        #expect(results.map(\.next).contains(.sent))
        #expect(results.map(\.next).contains(.pending(delayMilliseconds: nil, isAttemptSpent: false)))
        let fault = harness.machine.snapshot(now: harness.now).apps[0].fault
        #expect(fault?.what.contains("HTTP/1.1 only") == true)
        #expect(fault?.exit == .configuration)
    }

    @Test("credentials that are refused stop the apps that use them, and no others")
    func credentialsOfTwoApps() {
        var harness = MachineHarness(apps: ["recipes", "weather"]) {
            $0.apps = [.init(name: "recipes"), .init(name: "weather", credential: 1)]
            $0.drains = false
        }
        harness.hear(.databaseReady)
        #expect(harness.take().tokenRequests == 2)
        let failure = Failure(.configuration, "the key is revoked", remedy: "download another")
        harness.hear(
            .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second),
            .tokenFailed(credential: 1, failure))
        let apps = harness.machine.snapshot(now: harness.now).apps
        #expect(apps[0].fault == nil)
        #expect(apps[1].fault?.what == "the key is revoked")
        harness.hear(
            MachineHarness.work(
                ["recipes", "weather"],
                due: [1, 2].map { Work.Due(app: $0, priority: 5, day: MachineHarness.day) }))
        #expect(harness.take().claims.map(\.app) == [1])
        // A new key is tried at once, without waiting for the backoff of the old one.
        harness.hear(.credentialReplaced(1))
        #expect(harness.take().tokenRequests == 1)
        harness.hear(.tokenReady(credential: 1, lifetime: 3_600 * MachineHarness.second))
        #expect(harness.machine.snapshot(now: harness.now).apps[1].fault == nil)
    }

    @Test("a wake-up asks for urgent messages and for work at once")
    func woken() {
        var harness = MachineHarness()
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work())
        harness.pass(0.1)
        _ = harness.take()
        harness.hear(.woken(app: "recipes"))
        let actions = harness.take()
        #expect(actions.contains { if case .askUrgent(let apps) = $0 { apps == [1] } else { false } })
        #expect(actions.contains { if case .askWork = $0 { true } else { false } })
        let urgent = Work.Due(app: 1, priority: 9, day: MachineHarness.day)
        harness.hear(MachineHarness.work(due: []), .urgent(due: [urgent]))
        #expect(harness.take().claims.map(\.priority) == [9])
    }

    @Test("what a paused app's messages expire of is looked after every ten seconds")
    func housekeeping() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        harness.hear(MachineHarness.work(isPaused: true))
        func asked() -> Int {
            harness.take().count { if case .keepHouse(let apps, _) = $0 { apps == [1] } else { false } }
        }
        harness.pass(10)
        #expect(asked() == 1)
        harness.hear(.houseKept(expired: Housekeeping.limit))
        #expect(asked() == 1)
        harness.hear(.houseKept(expired: 3))
        #expect(asked() == 0)
        harness.pass(10)
        #expect(asked() == 1)
    }

    @Test func aSenderWhoseAppsAreWellLooksAfterPartitionsAndOldSendersEachHour() {
        var harness = MachineHarness { $0.drains = false }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 36_000 * MachineHarness.second))
        harness.hear(MachineHarness.work())
        func asked() -> Int {
            let count = harness.take().count { if case .keepHouse([], true) = $0 { true } else { false } }
            if count > 0 { harness.hear(.houseKept(expired: 0)) }
            return count
        }
        harness.pass(9)
        #expect(asked() == 0, "a short drain is not held up")
        harness.pass(2)
        #expect(asked() == 1)
        for _ in 0..<354 {
            harness.pass(10)
            #expect(asked() == 0)
        }
        for _ in 0..<10 { harness.pass(10) }
        #expect(asked() == 1)
    }

    @Test(arguments: [true, false])
    func aLookThatFailsIsDoneAgainInAMinute(isLost: Bool) {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [])
        harness.pass(11)
        _ = harness.take()
        let failure = Failure(.unavailable, "broken", remedy: "look")
        if isLost {
            harness.hear(.databaseLost(failure), .databaseReady)
        } else {
            harness.hear(.statementFailed(.housekeeping, failure))
        }
        harness.pass(49)
        func looks() -> Int { harness.take().count { if case .keepHouse([], true) = $0 { true } else { false } } }
        #expect(looks() == 0)
        harness.pass(20)
        #expect(looks() == 1)
    }
}
