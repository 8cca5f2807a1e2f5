import Postgres
import Queue
import TestSupport
import Testing

/// Events that were written before they had subjects.
@Suite struct EventMigrationTests {
    @Test func `what is there survives, once for each who reported`() throws {
        try ScratchDatabase.with { database in
            let connection = try database.connect()
            let files = try ScratchDatabase.migrations()
            let before = files.prefix { $0.name != "0009_events.sql" }
            _ = try Migrator(files: Array(before)).migrate(connection)
            try connection.script(
                """
                INSERT INTO todoke.apps (name, project_id) VALUES ('a', 'p');
                INSERT INTO todoke.events (app, notification_id, kind, device, user_id) VALUES
                    (1, 'n', 'opened', 7, NULL), (1, 'n', 'opened', 7, 'u'), (1, 'n', 'opened', NULL, 'u'),
                    (1, 'n', 'opened', NULL, 'u'), (1, 'n', 'opened', NULL, NULL), (1, 'n', 'opened', NULL, NULL),
                    (1, 'n', 'received', 7, NULL), (1, 'm', 'opened', NULL, repeat('u', 3000));
                """)
            _ = try Migrator(files: files).migrate(connection)
            let kept = try connection.query(
                "SELECT string_agg(notification_id || ' ' || kind || ' ' || subject, ', ' ORDER BY id) FROM todoke.events"
            )
            #expect(
                kept.string(0, 0)
                    == "n opened d7, n opened uu, n opened e5, n opened e6, n received d7, m opened e8")
        }
    }
}
