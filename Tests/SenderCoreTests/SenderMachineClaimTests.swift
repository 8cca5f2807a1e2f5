import Delivery
import Operations
import Queue
import Testing

@testable import SenderCore

/// What is claimed, how much, and from where on.
@Suite struct SenderMachineClaimTests {
    private static func floor(_ id: Int) -> Claim.Floor { Claim.Floor(dueAt: 5, id: id) }

    /// Answers the claim in full and sends what it brought; gives back the next claim.
    private func next(_ harness: inout MachineHarness, after claim: Claim, taken: Int? = nil, floor: Int) -> Claim? {
        harness.hear(
            .claimed(
                claim, Claim.Answer(messages: [], taken: taken ?? claim.limit, floor: Self.floor(floor)),
                askedAt: harness.now))
        return harness.take().claims.first
    }

    @Test func `full claims go on from where they got to`() throws {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        let first = try #require(harness.take().claims.first)
        #expect(first.floor == nil)
        let second = try #require(next(&harness, after: first, floor: 7))
        #expect(second.floor == Self.floor(7))
        let third = try #require(next(&harness, after: second, taken: 0, floor: 8))
        #expect(third.floor == nil, "a short one may have been short because of the floor")
        #expect(next(&harness, after: third, taken: 0, floor: 9) == nil, "nothing left")
    }

    @Test func `a floor is used for a second`() throws {
        var harness = MachineHarness { $0.drains = false }
        harness.start(priorities: [5])
        var claim = try #require(harness.take().claims.first)
        var without = 0
        for id in 0..<40 {
            harness.pass(0.1)
            claim = try #require(next(&harness, after: claim, floor: id))
            if claim.floor == nil { without += 1 }
        }
        #expect((3...5).contains(without))
    }

    @Test func `a wake-up, a rescue and a release forget it`() throws {
        let second = MachineHarness.second
        let events: [SenderEvent] = [
            .woken(app: "recipes"), .rescued(count: 1),
            .transferFinished(
                slot: 0, MachineHarness.answered(.retryAfter, status: 429, retryAfter: 30)),
        ]
        for event in events {
            var harness = MachineHarness { $0.drains = false }
            harness.start(messages: 12)
            let claim = try #require(harness.take().claims.first)
            let following = try #require(next(&harness, after: claim, floor: 3))
            #expect(following.floor != nil)
            harness.now += second / 100
            harness.hear(event)
            // The claim under way was asked before, and must not bring it back.
            harness.hear(
                .claimed(
                    following, Claim.Answer(messages: [], taken: following.limit, floor: Self.floor(9)),
                    askedAt: harness.now - second / 200))
            harness.pass(31)
            _ = harness.recordAll()
            harness.hear(MachineHarness.work(due: [MachineHarness.place(5)]))
            #expect(harness.take().claims.first.map { $0.floor == nil } ?? true)
        }
    }

    @Test func `an at-most-once app claims no more than can go at once`() {
        var harness = MachineHarness {
            $0.slots = 100
            $0.prefetch = 1_500
        }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        let app = Work.App(
            id: 1, name: "recipes", projectID: "demo", isPaused: false, messagesPerSecond: 10_000, liveSenders: 1,
            isAtMostOnce: true)
        harness.hear(.work(apps: [app], due: [MachineHarness.place(5)], nextInMilliseconds: nil))
        let claim = harness.take().claims[0]
        #expect(claim.limit == 100)
        harness.answer(claim, 100, isAtMostOnce: true)
        #expect(harness.take().claims.isEmpty)
        for slot in 0..<50 { harness.finish(slot, .sent, status: 200) }
        #expect(harness.machine.held <= 100)
        for claim in harness.take().claims { #expect(claim.limit <= 50) }
    }

    @Test func `an at-most-once app claims no more urgent ones either`() {
        var harness = MachineHarness { $0.slots = 5 }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        let app = Work.App(
            id: 1, name: "recipes", projectID: "demo", isPaused: false, messagesPerSecond: 10_000, liveSenders: 1,
            isAtMostOnce: true)
        harness.hear(.work(apps: [app], due: [9, 5].map(MachineHarness.place), nextInMilliseconds: nil))
        #expect(harness.take().claims.map(\.limit).reduce(0, +) <= 5)
    }

    @Test func `the app that holds least is claimed for next`() {
        var harness = MachineHarness(apps: ["one", "two", "three"]) {
            $0.slots = 200
            $0.prefetch = 1_500
        }
        harness.hear(.databaseReady, .tokenReady(credential: 0, lifetime: 3_600 * MachineHarness.second))
        let due = [1, 2, 3].map { Work.Due(app: $0, priority: 5, day: MachineHarness.day) }
        harness.hear(MachineHarness.work(["one", "two", "three"], due: due, perSecond: 100_000))
        var asked: [Int] = []
        for _ in 0..<3 {
            let claim = harness.take().claims[0]
            asked.append(claim.app)
            // So few that the first would have room for more each time.
            harness.answer(claim, claim.limit * 3 / 5, from: claim.app * 10_000)
        }
        #expect(asked == [1, 2, 3])
    }

    @Test func `a floor is good for a second from the answer that brought it`() {
        var floors = ClaimFloors()
        let claim = Claim(app: 1, priority: 5, day: MachineHarness.day, limit: 100)
        let answer = Claim.Answer(messages: [], taken: 100, floor: Self.floor(9))
        let place = MachineHarness.place(5)
        // A claim that took three seconds, since there was no floor for it.
        floors.learn(answer, of: claim, at: place, askedAt: 0, now: 3 * MachineHarness.second)
        #expect(floors.floor(for: place, now: 3_900_000_000) != nil)
        #expect(floors.floor(for: place, now: 4_000_000_000) == nil)
    }

    @Test func `wake-ups for apps of others forget nothing`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        let place = MachineHarness.place(5)
        let claim = Claim(app: 1, priority: 5, day: MachineHarness.day, limit: 1)
        harness.machine.floors.learn(
            Claim.Answer(messages: [], taken: 1, floor: Self.floor(9)), of: claim, at: place, askedAt: harness.now,
            now: harness.now)
        harness.hear(.woken(app: "weather"))
        #expect(harness.machine.floors.floor(for: place, now: harness.now) != nil)
        harness.hear(.woken(app: "recipes"))
        #expect(harness.machine.floors.floor(for: place, now: harness.now) == nil)
    }

    @Test func `a probe is one message for both lanes`() {
        var harness = MachineHarness { $0.drains = false }
        harness.start(messages: 1)
        harness.finish(0, .authConfig, status: 403, code: "PERMISSION_DENIED")
        _ = harness.recordAll()
        harness.pass(1.1)
        _ = harness.take()
        harness.hear(MachineHarness.work(due: [9, 5].map(MachineHarness.place)))
        #expect(harness.take().claims.map(\.limit) == [1])
    }
}
