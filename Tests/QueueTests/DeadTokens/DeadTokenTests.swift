import Postgres
import TestSupport
import Testing

@testable import Queue

/// What the provider proved dead is marked in the registry along with the message's result.
@Suite(.migratedDatabase) struct DeadTokenTests {
    private let fixture: DeadTokenFixture

    init() throws { fixture = try DeadTokenFixture() }

    @Test func theDeviceIsMarkedWithReasonAndEvidence() throws {
        let messages = try fixture.claimed(devices: 3, targets: 1...2)
        #expect(try fixture.record(messages) == nil)
        #expect(try fixture.dead() == ["t1", "t2"])
        let row = try fixture.queue.connection.query(
            """
            SELECT d.invalid_reason, d.invalid_evidence = p.id, d.invalidated_at = t.at, t.token_dead_at <= t.at
            FROM todoke.devices d JOIN todoke.payloads p ON p.target = d.token AND p.notification = $2::bigint
                JOIN todoke.attempts t ON t.message_id = p.id
            WHERE d.app = $1::int AND d.token = 't2'
            """, [.int(fixture.queue.app), .int(fixture.queue.notification)])
        #expect(row.string(0, 0) == "UNREGISTERED")
        #expect((1...3).allSatisfy { row.bool(0, $0) == true })
    }

    @Test func aRegistrationAfterTheProofWins() throws {
        let messages = try fixture.claimed(devices: 2, targets: 1...2)
        try fixture.queue.connection.query(
            "UPDATE todoke.devices SET registered_at = clock_timestamp() WHERE app = $1::int AND token = 't1'",
            [.int(fixture.queue.app)])
        try fixture.record(messages)
        #expect(try fixture.dead() == ["t2"])
    }

    /// APNs says since when: a device that registered between that moment and the answer is alive.
    @Test func theProvidersOwnTimeCounts() throws {
        let messages = try fixture.claimed(devices: 1, registered: "now() - interval '1 hour'", targets: 1...1)
        try fixture.record(messages, since: messages[0].claimedAt - 2 * 3_600_000_000)
        #expect(try fixture.dead() == [])
        let again = try fixture.claimed(targets: 1...1)
        try fixture.record(again, since: again[0].claimedAt - 60_000_000)
        #expect(try fixture.dead() == ["t1"])
    }

    @Test func whatOthersHoldIsLeftAndNobodyWaits() throws {
        let messages = try fixture.claimed(devices: 2, targets: 1...2)
        let other = try ScratchDatabase.shared().connect()
        try other.script(
            "BEGIN; UPDATE todoke.devices SET locale = 'ja' WHERE app = \(fixture.queue.app) AND token = 't1'")
        try fixture.record(messages)
        try other.script("ROLLBACK")
        #expect(try fixture.dead() == ["t2"])
    }

    @Test func tokensOfNoDeviceAndOfOtherAppsChangeNothing() throws {
        let other = try QueueFixture()
        try other.connection.query(
            "INSERT INTO todoke.devices (app, token, registered_at) VALUES ($1::int, 't9', now() - interval '1 day')",
            [.int(other.app)])
        try fixture.record(try fixture.claimed(devices: 1, targets: 9...9))
        #expect(try fixture.dead() == [])
        let marked = try other.connection.query(
            "SELECT count(*) FROM todoke.devices WHERE app = $1::int AND invalidated_at IS NOT NULL", [.int(other.app)])
        #expect(marked.int(0, 0) == 0)
    }

    /// Several messages to one token in one statement are one device.
    @Test func oneDeviceCountsOnce() throws {
        _ = try fixture.claimed(devices: 1, targets: 1...1)
        try fixture.queue.connection.query(
            "UPDATE todoke.messages SET state = 'pending', lease_until = NULL WHERE app = $1::int",
            [.int(fixture.queue.app)])
        try fixture.record(try fixture.claimed(targets: 1...1))
        #expect(try fixture.value("SELECT sum(marked) FROM todoke.dead_token_counts WHERE app = $1::int") == "1")
    }

    @Test func aFaultOfTheRegistryKeepsNoResultFromBeingRecorded() throws {
        let messages = try fixture.claimed(devices: 1, targets: 1...1)
        let owner = fixture.queue.connection
        try owner.script("BEGIN; ALTER TABLE todoke.devices RENAME COLUMN invalid_reason TO another")
        let note = try fixture.record(messages)
        #expect(note?.contains("todoke.devices could not be marked") == true)
        #expect(try fixture.value("SELECT state FROM todoke.messages WHERE app = $1::int") == "failed")
        try owner.script("ROLLBACK")
    }

    @Test func theViewNamesWhatToDelete() throws {
        try fixture.record(try fixture.claimed(devices: 0, targets: 1...2))
        let rows = try fixture.queue.connection.query(
            """
            SELECT target, error_code, dead_at <= proven_at, notification_id FROM todoke.dead_tokens
            WHERE app = $1 AND proven_at > now() - interval '1 hour' ORDER BY target
            """, [.text(fixture.queue.name)])
        #expect((0..<rows.rowCount).map { rows.string($0, 0) } == ["t1", "t2"])
        #expect(rows.string(1, 1) == "UNREGISTERED" && rows.bool(1, 2) == true && rows.string(1, 3) == "n")
    }

    @Test func staleDevicesAreThoseUnseenForThirtyDays() throws {
        try fixture.queue.connection.query(
            """
            INSERT INTO todoke.devices (app, token, last_seen_at, invalidated_at)
            SELECT $1::int, 's' || days, now() - days * interval '1 day' - interval '1 h',
                CASE WHEN days = 40 THEN now() END
            FROM unnest(ARRAY[1, 29, 30, 40, 269, 270]) AS days
            """, [.int(fixture.queue.app)])
        let rows = try fixture.queue.connection.query(
            "SELECT token, days_unseen, is_expired FROM todoke.stale_devices WHERE app = $1 ORDER BY days_unseen",
            [.text(fixture.queue.name)])
        #expect((0..<rows.rowCount).map { rows.string($0, 0) } == ["s30", "s269", "s270"])
        #expect((0..<rows.rowCount).map { rows.bool($0, 2) } == [false, false, true])
    }

    /// In a registry that nobody has analyzed yet, as it is on its first day: one look for each proof, not all devices.
    @Test func eachProofIsOneLook() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            try connection.script(
                """
                ALTER TABLE todoke.devices SET (autovacuum_enabled = off);
                INSERT INTO todoke.apps (name, project_id) VALUES ('young', 'p');
                INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'n');
                INSERT INTO todoke.devices (app, token, registered_at) VALUES (1, 't0', now() - interval '1 day');
                ANALYZE todoke.devices;
                INSERT INTO todoke.devices (app, token, registered_at)
                SELECT 1, 't' || g, now() - interval '1 day' FROM generate_series(1, 600) AS g;
                INSERT INTO todoke.messages (notification, app, day)
                SELECT n.id, 1, n.day FROM todoke.notifications AS n, generate_series(1, 600);
                INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
                SELECT id, notification, day, md5(id::text)::uuid, 'token', 't' || id, '{}' FROM todoke.messages;
                """)
            try connection.script("VACUUM ANALYZE todoke.messages")
            try connection.script("BEGIN")
            try connection.query(
                """
                SELECT todoke.record_dead_tokens(1, day, array_agg(id), array_agg(1), array_agg('UNREGISTERED'::text),
                    array_agg(now())) FROM todoke.messages GROUP BY day
                """)
            let read = try connection.query(
                """
                SELECT pg_stat_get_xact_tuples_fetched(i.indexrelid) FROM pg_index AS i
                WHERE i.indrelid = 'todoke.devices'::regclass
                UNION ALL SELECT pg_stat_get_xact_tuples_returned('todoke.devices'::regclass)
                """)
            let rows = (0..<read.rowCount).reduce(0) { $0 + (read.int($1, 0) ?? 0) }
            #expect(rows < 6_000, "\(rows) rows of devices")
            try connection.script("ROLLBACK")
        }
    }
}
