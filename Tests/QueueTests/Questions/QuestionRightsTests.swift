import Postgres
import TestSupport
import Testing

/// A reader may ask everything, and reads no table of the queue; the other programs ask nothing.
@Suite(.migratedDatabase) struct QuestionRightsTests {
    private static let questions = [
        "SELECT * FROM todoke.message_story(1)", "SELECT * FROM todoke.user_messages(NULL, 'u')",
        "SELECT * FROM todoke.token_messages(NULL, 't')", "SELECT * FROM todoke.throughput()",
        "SELECT * FROM todoke.upcoming()", "SELECT * FROM todoke.oldest_due", "SELECT * FROM todoke.live_senders",
        "SELECT * FROM todoke.rejected_rows", "SELECT * FROM todoke.message_payloads",
    ]

    private func refusal(_ role: String, _ sql: String) throws -> SQLState? {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION \(role)")
        do throws(PostgresError) {
            try connection.query(sql)
            return nil
        } catch {
            return error.sqlState
        }
    }

    @Test(arguments: questions) func `a reader may ask`(_ sql: String) throws {
        #expect(try refusal("todoke_reader", sql) == nil)
        for role in ["todoke_producer", "todoke_sender", "todoke_app"] {
            #expect(try refusal(role, sql) == .insufficientPrivilege, "\(role)")
        }
    }

    @Test(arguments: [
        "SELECT * FROM todoke.found_messages('true', NULL, 10)", "SELECT * FROM todoke.missing_indexes",
    ])
    func `what is meant for others a reader may not`(_ sql: String) throws {
        #expect(try refusal("todoke_reader", sql) == .insufficientPrivilege)
    }

    @Test func `a reader sees no table but the codes' texts and the list of migrations`() throws {
        let seen = try ScratchDatabase.shared().connect().query(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = 'todoke'::regnamespace AND relkind IN ('r', 'p') AND (
                has_table_privilege('todoke_reader', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
                OR has_any_column_privilege('todoke_reader', oid, 'SELECT, INSERT, UPDATE'))
            ORDER BY relname
            """)
        #expect((0..<seen.rowCount).map { seen.string($0, 0) } == ["error_hints", "migrations"])
    }

    /// `SchemaTests` says so of tables.
    @Test func `everything that can be asked is described`() throws {
        let silent = try ScratchDatabase.shared().connect().query(
            """
            SELECT c.relname || '.' || a.attname FROM pg_class AS c
            JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'todoke'::regnamespace AND c.relkind = 'v' AND col_description(c.oid, a.attnum) IS NULL
            UNION ALL
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'todoke'::regnamespace AND obj_description(oid) IS NULL
            """)
        #expect((0..<silent.rowCount).map { silent.string($0, 0) } == [])
    }
}
