import Postgres
import TestSupport
import Testing

@testable import Queue

/// A day of long ago with its partitions, in a database of the test's own.
struct OldDay {
    let connection: Connection
    let day: Day

    /// - Parameter ago: in days; 40 is old enough for a purge of what is older than 30.
    init(_ connection: Connection, ago: Int) throws {
        self.connection = connection
        let text = try connection.query(
            "SELECT to_char((now() AT TIME ZONE 'UTC')::date - $1::int, 'YYYY-MM-DD')", [.int(ago)]
        ).string(0, 0)
        day = try #require(Day(text))
        try connection.script(
            "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p') ON CONFLICT DO NOTHING")
        let names = RetentionDay(day: day)
        for parent in RetentionDay.parents {
            let table = names.table(parent)
            try connection.script(
                """
                CREATE TABLE \(table) (LIKE todoke.\(parent) INCLUDING ALL);
                ALTER TABLE \(table) OWNER TO todoke_owner;
                ALTER TABLE todoke.\(parent) ATTACH PARTITION \(table) FOR VALUES FROM (\(day.sql)) TO (\(day.sql) + 1);
                """)
        }
    }

    func table(_ parent: String) -> String { RetentionDay(day: day).table(parent) }

    /// A notification that closed a week after that day, with messages in states and with devices of every kind.
    func fill(_ notificationID: String, messages: Int, state: String? = nil) throws {
        let one = state.map { "'\($0)'" } ?? "CASE i % 5 WHEN 0 THEN 'failed' WHEN 4 THEN 'expired' ELSE 'sent' END"
        try connection.script(
            """
            INSERT INTO todoke.devices (app, token, allows_notifications)
            SELECT 1, 'token-' || i, (ARRAY[true, false, NULL])[1 + i % 3] FROM generate_series(1, 30) AS i
            ON CONFLICT DO NOTHING;
            INSERT INTO todoke.notifications (app, notification_id, day, created_at, closes_at)
            VALUES (1, '\(notificationID)', \(day.sql), \(day.sql), \(day.sql) + 7);
            CREATE TEMPORARY TABLE made AS
            SELECT nextval('todoke.message_id_seq') AS id, n.id AS notification, i, (\(one))::todoke.message_state AS state
            FROM todoke.notifications AS n, generate_series(1, \(messages)) AS i
            WHERE n.notification_id = '\(notificationID)';
            INSERT INTO todoke.payloads (id, notification, day, queued_at, dedupe_key, target_kind, target, device, payload)
            SELECT id, notification, \(day.sql), \(day.sql), md5(id::text)::uuid, 'token', 'token-' || i,
                CASE WHEN i <= 10 THEN (SELECT d.id FROM todoke.devices AS d WHERE d.token = 'token-' || i) END, '{}'
            FROM made;
            INSERT INTO todoke.messages (id, notification, app, day, due_at, state, finished_at, error_code, attempts,
                lease_until, sender_id)
            SELECT id, notification, 1, \(day.sql), \(day.sql), state,
                CASE WHEN state >= 'sent' THEN \(day.sql) + i * interval '1.3 s' END,
                CASE state WHEN 'failed' THEN 'CODE_' || i % 7 END, i % 2,
                CASE state WHEN 'sending' THEN now() END, 1
            FROM made;
            DROP TABLE made;
            """)
    }

    /// What a session says that connects anew.
    static func summary(_ database: ScratchDatabase) throws -> [String] {
        try summary(database.connect())
    }

    /// Everything that notification_summary says, but for when it was settled and purged.
    func summary() throws -> [String] { try Self.summary(connection) }

    private static func summary(_ connection: Connection) throws -> [String] {
        let rows = try connection.query(
            """
            SELECT (to_jsonb(s) - 'settled_at' - 'purged_at')::text || coalesce(s.top_errors::text, '')
            FROM todoke.notification_summary AS s ORDER BY s.notification_id
            """)
        return (0..<rows.rowCount).map { rows.string($0, 0) }
    }

    /// The tables of the day that are there, by the name of their parent; with ` -` those that are no partitions.
    func tables() throws -> [String] {
        try RetentionDay.parents.compactMap { parent in
            let row = try connection.query(
                """
                SELECT i.inhrelid IS NOT NULL FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
                WHERE c.oid = to_regclass($1)
                """, [.text(table(parent))])
            guard row.rowCount == 1 else { return nil }
            return row.bool(0, 0) == true ? parent : parent + " -"
        }
    }

    /// Runs a purge of what is older than 30 days on a connection of its own.
    static func purge(
        _ database: ScratchDatabase, wait: Int = 0, events: Int? = nil, rehearsal: Bool = false,
        willDo: @escaping (String) throws -> Void = { _ in }
    ) throws -> PurgeReport {
        var request = Purger.Request(olderThanSeconds: 30 * 86_400)
        request.waitMilliseconds = wait
        request.eventsOlderThanSeconds = events
        request.isRehearsal = rehearsal
        return try Purger(database.connect(), request, willDo: willDo).run()
    }
}
