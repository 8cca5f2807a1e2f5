import Postgres
import TestSupport
import Testing

/// The numbers of a notification of 30,000 messages, of which 25,000 are sent, 2,000 failed and 3,000 wait; a tenth of its
/// devices allow no notifications, half of them found by their token only.
@Suite(
    .serialized,
    .scratchDatabase { database in
        try database.migrate()
        try database.connect().script(
            """
            INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo');
            INSERT INTO todoke.notifications (app, notification_id, campaign) VALUES (1, 'large', 'autumn');
            INSERT INTO todoke.devices (id, app, token, allows_notifications)
            OVERRIDING SYSTEM VALUE SELECT i, 1, 't' || i, i % 10 <> 0 FROM generate_series(1, 30000) AS i;
            INSERT INTO todoke.messages (id, notification, app, day, state, finished_at, error_code)
            SELECT i, n.id, 1, n.day,
                (CASE WHEN i <= 25000 THEN 'sent' WHEN i <= 27000 THEN 'failed' ELSE 'pending' END)::todoke.message_state,
                CASE WHEN i <= 27000 THEN now() + i * interval '1 ms' END,
                CASE WHEN i BETWEEN 25001 AND 26500 THEN 'UNREGISTERED' WHEN i BETWEEN 26501 AND 27000 THEN 'INTERNAL' END
            FROM todoke.notifications AS n, generate_series(1, 30000) AS i;
            INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, device, payload)
            SELECT id, notification, day, md5(id::text)::uuid, 'token', 't' || id, CASE WHEN id % 20 <> 0 THEN id END, '{}'
            FROM todoke.messages;
            ANALYZE;
            """)
    }
) struct LargeNotificationTests {
    private func row(_ sql: String) throws -> [String?] {
        let result = try ScratchDatabase.shared().connect().query(sql)
        try #require(result.rowCount == 1)
        return (0..<result.columnCount).map { result.optionalString(0, $0) }
    }

    @Test func whatIsCountedIsExact() throws {
        #expect(
            try row(
                """
                SELECT total, pending, sending, sent, failed, expired, cancelled,
                    first_sent_at = (SELECT min(finished_at) FROM todoke.messages WHERE state = 'sent'),
                    last_sent_at = (SELECT max(finished_at) FROM todoke.messages WHERE state = 'sent'), top_errors
                FROM todoke.notification_summary
                """) == [
                    "30000", "3000", "0", "25000", "2000", "0", "0", "t", "t",
                    #"[{"code" : "UNREGISTERED", "messages" : 1500}, {"code" : "INTERNAL", "messages" : 500}]"#,
                ])
    }

    /// The bounds are those of the comment in the migration; the exact ones are 12.5, 23.75 and 22,500.
    @Test func whatIsEstimatedIsNear() throws {
        let result = try ScratchDatabase.shared().connect().query(
            "SELECT p50_seconds, p95_seconds, reach FROM todoke.notification_summary")
        #expect((12.3...12.7).contains(try #require(result.double(0, 0))))
        #expect((23.66...23.84).contains(try #require(result.double(0, 1))))
        #expect((22_390...22_610).contains(try #require(result.int(0, 2))))
    }

    /// 20,000 payloads three times, through an index: to know that there are so many, for the percentiles, and for the reach.
    @Test func noPayloadIsReadThatIsNotDrawn() throws {
        let connection = try ScratchDatabase.shared().connect()
        let before = try Self.read(connection)
        try connection.query("SELECT * FROM todoke.notification_summary WHERE notification_id = 'large'")
        let after = try Self.read(connection)
        #expect(after.scans == before.scans)
        #expect(after.fetched - before.fetched <= 60_000)
    }

    /// Complete scans of today's payloads so far in this transaction's session, and rows read of it through indexes.
    private static func read(_ connection: Connection) throws -> (scans: Int, fetched: Int) {
        try connection.query("SELECT pg_stat_force_next_flush()")
        let result = try connection.query(
            """
            SELECT sum(seq_scan)::int8, sum(coalesce(idx_tup_fetch, 0))::int8 FROM pg_stat_user_tables
            WHERE relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'todoke.payloads'::regclass)
            """)
        return (result.int(0, 0) ?? -1, result.int(0, 1) ?? -1)
    }

    @Test(arguments: [
        ("campaign = 'autumn'", "notifications_campaign"),
        ("app = 'recipes' AND campaign = 'autumn'", "notifications_campaign"),
        ("day = '2030-01-01'", "notifications_day"),
    ])
    func notificationsAreFoundByAnIndex(_ condition: String, _ index: String) throws {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            BEGIN;
            INSERT INTO todoke.notifications (app, notification_id, campaign, day)
            SELECT 1, 'n' || i, CASE i % 2 WHEN 0 THEN 'c' || i END, CURRENT_DATE - i % 30 FROM generate_series(1, 50000) AS i;
            ANALYZE todoke.notifications;
            """)
        let plan = try QueryPlan(
            "SELECT app, notification_id FROM todoke.notification_summary WHERE \(condition)", on: connection)
        #expect(plan.nodes.contains { $0.index == index }, "\(plan.nodes)")
        #expect(!plan.nodes.contains { $0.relation == "notifications" && $0.rowsRead > 100 })
        try connection.script("ROLLBACK")
    }
}
