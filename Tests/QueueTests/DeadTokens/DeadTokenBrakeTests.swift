import Postgres
import TestSupport
import Testing

@testable import Queue

/// Too many dead tokens at once are more likely a wrong setting than the truth.
@Suite(.migratedDatabase) struct DeadTokenBrakeTests {
    private let fixture: DeadTokenFixture

    init() throws { fixture = try DeadTokenFixture() }

    private func isHeld() throws -> Bool {
        try fixture.value("SELECT dead_tokens_held_at IS NOT NULL FROM todoke.apps WHERE id = $1::int") == "t"
    }

    private func pauseReason() throws -> String? {
        try fixture.value("SELECT pause_reason FROM todoke.apps WHERE id = $1::int AND paused_at IS NOT NULL")
    }

    @Test func aShareOfTheDevicesWithinTheWindowHoldsTheApp() throws {
        // A fifth of 1,000.
        #expect(try fixture.record(try fixture.claimed(devices: 1_000, targets: 1...150)) == nil)
        #expect(try fixture.record(try fixture.claimed(targets: 151...200)) == nil)
        #expect(try fixture.dead().count == 200)
        #expect(try !isHeld())
        let inFlight = try fixture.claimed(targets: 202...210)
        let note = try fixture.record(try fixture.claimed(targets: 201...201))
        #expect(note?.contains("201 of 1000 devices found dead within two hours, more than 20.0 %") == true)
        #expect(try isHeld())
        #expect(try pauseReason()?.contains("todoke devices sweep") == true)
        #expect(try fixture.dead().count == 200, "nothing of what brakes is marked")
        // What is still in flight is recorded, and marks nothing.
        #expect(try fixture.record(inFlight) == nil)
        #expect(try fixture.dead().count == 200)
    }

    @Test func sendersCountTogether() throws {
        try fixture.record(try fixture.claimed(devices: 1_000, targets: 1...150))
        try fixture.queue.connection.query(
            """
            INSERT INTO todoke.dead_token_counts (app, hour, sender_id, marked, devices)
            SELECT app, hour - interval '1 hour', 7, 40, devices FROM todoke.dead_token_counts WHERE app = $1::int
            """, [.int(fixture.queue.app)])
        #expect(try fixture.record(try fixture.claimed(targets: 151...161)) != nil)
        #expect(try isHeld())
    }

    @Test func whatWasMarkedLongBeforeDoesNotCount() throws {
        try fixture.record(try fixture.claimed(devices: 1_000, targets: 1...200))
        try fixture.queue.connection.query(
            "UPDATE todoke.dead_token_counts SET hour = hour - interval '2 hours' WHERE app = $1::int",
            [.int(fixture.queue.app)])
        #expect(try fixture.record(try fixture.claimed(targets: 201...300)) == nil)
        #expect(try fixture.dead().count == 300)
    }

    /// The devices are counted anew each hour, whatever the hour before knew.
    @Test(arguments: [(100, true), (100_000, false)]) func theNumberOfDevicesIsOfThisHour(
        _ before: Int, _ isMarked: Bool
    )
        throws
    {
        let messages = try fixture.claimed(devices: 1_000, targets: 1...(isMarked ? 150 : 250))
        try fixture.queue.connection.query(
            """
            INSERT INTO todoke.dead_token_counts (app, hour, sender_id, marked, devices)
            VALUES ($1::int, date_trunc('hour', now(), 'UTC') - interval '1 hour', 1, 1, $2::bigint)
            """, [.int(fixture.queue.app), .int(before)])
        #expect(try (fixture.record(messages) == nil) == isMarked)
        #expect(try isHeld() != isMarked)
    }

    /// Who queues for the app in an open transaction shares its key.
    @Test func aTransactionThatQueuesDoesNotHoldTheBrakeUp() throws {
        let messages = try fixture.claimed(devices: 300, targets: 1...200)
        let other = try ScratchDatabase.shared().connect()
        try other.script("BEGIN; SELECT FROM todoke.apps WHERE id = \(fixture.queue.app) FOR KEY SHARE")
        #expect(try fixture.record(messages) != nil)
        #expect(try isHeld())
        try other.script("ROLLBACK")
    }

    @Test func aHundredAreNeverTooMany() throws {
        #expect(try fixture.record(try fixture.claimed(devices: 100, targets: 1...100)) == nil)
        #expect(try fixture.dead().count == 100)
        #expect(try !isHeld())
    }

    /// Above 50,000 the planner's estimate stands for the count.
    @Test func manyDevicesAreEstimated() throws {
        let messages = try fixture.claimed(devices: 60_000, targets: 1...10)
        try fixture.queue.connection.script("ANALYZE todoke.devices")
        #expect(try fixture.record(messages) == nil)
        #expect(try fixture.dead().count == 10)
        let known = try fixture.value("SELECT max(devices) FROM todoke.dead_token_counts WHERE app = $1::int")
        #expect((50_000...70_000).contains(Int(known ?? "") ?? 0))
    }

    @Test func oneMarksAlways() throws {
        try fixture.queue.connection.query(
            "UPDATE todoke.apps SET dead_token_limit = 1 WHERE id = $1::int", [.int(fixture.queue.app)])
        #expect(try fixture.record(try fixture.claimed(devices: 300, targets: 1...300)) == nil)
        #expect(try fixture.dead().count == 300)
    }

    /// Somebody may be pausing the app in a transaction of their own: results do not wait for it.
    @Test func anAppThatSomebodyHoldsKeepsNoResultWaiting() throws {
        let messages = try fixture.claimed(devices: 400, targets: 1...301)
        let other = try ScratchDatabase.shared().connect()
        try other.script("BEGIN; UPDATE todoke.apps SET paused_at = now() WHERE id = \(fixture.queue.app)")
        #expect(try fixture.record(Array(messages[..<200])) == nil)
        try other.script("COMMIT")
        #expect(try fixture.dead() == [])
        #expect(try fixture.record(Array(messages[200...])) != nil)
        #expect(try isHeld())
        #expect(try pauseReason() == nil, "a pause of somebody's own keeps its reason")
    }
}
