import Operations
import Postgres
import TestSupport
import Testing

@testable import Queue

/// What an operator does once too many tokens were found dead.
@Suite(.migratedDatabase) struct DeadTokenSweepTests {
    private let fixture: DeadTokenFixture
    private let sweep: DeadTokenSweep

    init() throws {
        fixture = try DeadTokenFixture()
        sweep = DeadTokenSweep(fixture.queue.connection, app: fixture.queue.name)
    }

    /// 150 of 500 devices are marked, 10 more brake, and 5 more are proven dead while the app is held.
    private func hold(first change: () throws -> Void = {}) throws {
        try fixture.queue.connection.query(
            "UPDATE todoke.apps SET dead_token_limit = 0.3 WHERE id = $1::int", [.int(fixture.queue.app)])
        // Claimed before the brake: nothing of a paused app is.
        let messages = try fixture.claimed(devices: 500, targets: 1...165)
        try change()
        try fixture.record(Array(messages[..<150]))
        #expect(try fixture.record(Array(messages[150..<160])) != nil)
        try fixture.record(Array(messages[160...]))
    }

    private func state() throws -> String? {
        try fixture.value(
            """
            SELECT concat_ws(' ', CASE WHEN dead_tokens_held_at IS NOT NULL THEN 'held' END,
                CASE WHEN paused_at IS NOT NULL THEN 'paused' END, pause_reason) FROM todoke.apps WHERE id = $1::int
            """)
    }

    @Test func countingChangesNothing() throws {
        try hold()
        let report = try sweep.mark(confirm: false)
        #expect((report.proofs, report.devices) == (165, 15))
        #expect(report.heldSince != nil && !report.isReleased)
        #expect(try fixture.dead().count == 150)
        #expect(try state()?.hasPrefix("held paused") == true)
    }

    @Test func confirmingMarksEndsTheHoldAndResumes() throws {
        try hold()
        let report = try sweep.mark(confirm: true)
        #expect(report.devices == 15 && report.isReleased)
        #expect(try fixture.dead().count == 165)
        #expect(try state() == "")
        #expect(try sweep.mark(confirm: true) == .init(proofs: 165), "a second time finds nothing")
        // The window begins anew.
        #expect(try fixture.record(try fixture.claimed(targets: 166...200)) == nil)
        #expect(try fixture.dead().count == 200)
    }

    @Test func revivingTakesTheMarksBackAndForgetsTheProofs() throws {
        try hold()
        try fixture.queue.connection.query(
            """
            UPDATE todoke.devices SET invalid_evidence = NULL, invalid_reason = 'UNREGISTERED_BY_APP'
            WHERE app = $1::int AND token = 't1'
            """, [.int(fixture.queue.app)])
        let report = try sweep.revive(since: nil)
        #expect(report.devices == 149 && report.isReleased)
        #expect(try fixture.dead() == ["t1"], "what the app itself took back stays so")
        #expect(try state() == "")
        #expect(try sweep.mark(confirm: true).proofs == 0)
    }

    @Test func anInstallationThatHasAnotherTokenByNowKeepsThatOne() throws {
        let messages = try fixture.claimed(devices: 3, targets: 1...3)
        try fixture.queue.connection.query(
            "UPDATE todoke.devices SET installation_id = 'i-' || token WHERE app = $1::int", [.int(fixture.queue.app)])
        try fixture.record(messages)
        try fixture.queue.connection.query(
            """
            INSERT INTO todoke.devices (app, token, installation_id, invalidated_at, invalid_reason, invalid_evidence)
            VALUES ($1::int, 'new-1', 'i-t1', NULL, NULL, NULL), ($1::int, 'new-2', 'i-t2', now(), 'UNREGISTERED', 7)
            """, [.int(fixture.queue.app)])
        #expect(try sweep.revive(since: 1_700_000_000).devices == 2, "new-2 and t3")
        #expect(try fixture.dead() == ["t1", "t2"])
        let reasons = try fixture.value(
            """
            SELECT string_agg(invalid_reason, ' ') FROM todoke.devices
            WHERE app = $1::int AND invalidated_at IS NOT NULL AND invalid_evidence IS NULL
            """)
        #expect(reasons == "REPLACED REPLACED")
    }

    /// What a wrong setting made fail may be sent again once the proofs are taken back.
    @Test func whatFailedByAWrongProofMayBeRetried() throws {
        try fixture.record(try fixture.claimed(devices: 3, targets: 1...3))
        func retried() throws -> Int? {
            try fixture.queue.connection.query(
                "SELECT retried FROM todoke.retry_failed($1, 'n')", [.text(fixture.queue.name)]
            ).int(0, 0)
        }
        #expect(try retried() == 0)
        _ = try sweep.revive(since: 1_700_000_000)
        #expect(try retried() == 3)
    }

    @Test func withoutAHoldRevivingNeedsATime() throws {
        try fixture.record(try fixture.claimed(devices: 3, targets: 1...3))
        #expect(throws: Failure.self) { try sweep.revive(since: nil) }
        #expect(try fixture.dead().count == 3)
        #expect(try sweep.revive(since: 1_700_000_000).devices == 3)
        #expect(try fixture.dead() == [])
    }

    @Test func aPauseOfSomebodysOwnOutlivesTheSweep() throws {
        try hold {
            try fixture.queue.connection.query(
                "UPDATE todoke.apps SET paused_at = now(), pause_reason = 'maintenance' WHERE id = $1::int",
                [.int(fixture.queue.app)])
        }
        _ = try sweep.mark(confirm: true)
        #expect(try state() == "paused maintenance")
    }

    @Test func moreThanOneStepOfProofs() throws {
        try fixture.queue.connection.query(
            "UPDATE todoke.apps SET dead_tokens_held_at = now() WHERE id = $1::int", [.int(fixture.queue.app)])
        // They were recorded at one moment, so that only the message tells them apart.
        try fixture.record(try fixture.claimed(devices: 2_500, targets: 1...2_500))
        #expect(try sweep.mark(confirm: true).devices == 2_500)
    }

    @Test func anUnknownAppIsNamed() throws {
        #expect(throws: Failure.self) {
            try DeadTokenSweep(fixture.queue.connection, app: "nobody").mark(confirm: false)
        }
    }

    /// Everything proven so far would count no more, and nothing would be revived.
    @Test func aTimeThatHasNotComeRevivesNothing() throws {
        try hold()
        let failure = #expect(throws: Failure.self) { try sweep.revive(since: 4_000_000_000) }
        #expect(failure?.exit == .usage && failure?.what.contains("future") == true)
        #expect(try fixture.dead().count == 150)
        #expect(try state()?.hasPrefix("held paused") == true)
    }
}
