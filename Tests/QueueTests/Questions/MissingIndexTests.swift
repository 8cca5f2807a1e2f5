import Postgres
import TestSupport
import Testing

@testable import Queue

/// A database that has large days already gets its new indexes without anybody waiting for them.
@Suite struct MissingIndexTests {
    private static let before = 11

    /// A database as the release before left it, with `pages` of messages to users of yesterday.
    private func withOldDatabase(rows: Int, _ body: (ScratchDatabase, Connection) throws -> Void) throws {
        try ScratchDatabase.with { database in
            let files = try ScratchDatabase.migrations()
            _ = try Migrator(files: Array(files.prefix(Self.before))).migrate(database.connect())
            let connection = try database.connect()
            try connection.script(
                """
                SET synchronous_commit = off;
                INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo');
                INSERT INTO todoke.notifications (app, notification_id, day)
                VALUES (1, 'n', (now() AT TIME ZONE 'UTC')::date - 1);
                -- Not to be compressed: the size of the day is what matters.
                INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, user_id, payload)
                SELECT i, n.id, n.day, lpad(to_hex(i), 32, '0')::uuid, 'token', 'token-' || i, 'user-' || i,
                    to_json(repeat('x', 1900))
                FROM todoke.notifications AS n, generate_series(1, \(rows)) AS i;
                """)
            try body(database, connection)
        }
    }

    private func missing(_ connection: Connection) throws -> [String] {
        let rows = try connection.query("SELECT command FROM todoke.missing_indexes")
        return (0..<rows.rowCount).map { rows.string($0, 0) }
    }

    @Test func `days that are small have them at once`() throws {
        try withOldDatabase(rows: 1_000) { database, connection in
            try database.migrate()
            #expect(try missing(connection) == [])
            #expect(connection.takeNotices().isEmpty)
            let valid = try connection.query(
                """
                SELECT bool_and(indisvalid) FROM pg_index
                WHERE indexrelid IN ('todoke.payloads_user'::regclass, 'todoke.payloads_target'::regclass,
                    'todoke.messages_finished'::regclass)
                """)
            #expect(valid.bool(0, 0) == true)
            #expect(try connection.query("SELECT todoke.ensure_partitions(20)").int(0, 0) ?? 0 > 0)
            #expect(try missing(connection) == [])
        }
    }

    @Test func `a large day is left to be done while everything runs`() throws {
        // A little more than 256 MB.
        try withOldDatabase(rows: 140_000) { database, connection in
            let migrating = try database.connect()
            _ = try Migrator(files: ScratchDatabase.migrations()).migrate(migrating)
            let warning = try #require(migrating.takeNotices().first { $0.severity == "WARNING" })
            #expect(warning.message.hasPrefix("1 large partition"))
            let commands = try missing(connection)
            #expect(
                commands.map { $0.prefix(12) } == [
                    "CREATE INDEX", "SET LOCAL lo", "COMMENT ON I", "CREATE INDEX", "SET LOCAL lo", "COMMENT ON I",
                ])
            // New days do not wait for the old one.
            #expect(try connection.query("SELECT todoke.ensure_partitions(20)").int(0, 0) ?? 0 > 0)
            #expect(try missing(connection) == commands)
            for command in commands { try connection.script(command) }
            #expect(try missing(connection) == [])
        }
    }

    /// As when a build was broken off.
    @Test func `what a broken build left is taken away first`() throws {
        try withOldDatabase(rows: 140_000) { database, connection in
            try database.migrate()
            let create = try #require(try missing(connection).first { $0.contains("user_id") })
            try connection.script(create)
            try connection.script(
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = (SELECT max(oid) FROM pg_class)")
            let commands = try missing(connection)
            #expect(
                commands.filter { $0.hasPrefix("DROP INDEX CONCURRENTLY todoke.payloads_") }.count == 1, "\(commands)")
            for command in commands { try connection.script(command) }
            #expect(try missing(connection) == [])
        }
    }

    /// As when attaching waited for a reader, and gave up.
    @Test func `what is built already is only attached`() throws {
        try withOldDatabase(rows: 140_000) { database, connection in
            try database.migrate()
            let user = try missing(connection).filter { $0.contains("payloads_user") }
            try connection.script(user[0])
            let reader = try database.connect()
            try reader.script("BEGIN; SELECT count(*) FROM todoke.payloads")
            let refused = #expect(throws: PostgresError.self) { try connection.script(user[1]) }
            #expect(refused?.sqlState == .lockNotAvailable)
            try reader.script("COMMIT")
            let commands = try missing(connection).filter { $0.contains("payloads_user") }
            #expect(commands == Array(user.dropFirst()))
            for command in commands { try connection.script(command) }
            #expect(try missing(connection).allSatisfy { !$0.contains("payloads_user") })
        }
    }
}
