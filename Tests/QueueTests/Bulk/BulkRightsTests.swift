import Postgres
import TestSupport
import Testing

@testable import Queue

/// Bulk operations are the owner's, and theirs whom the owner lets call them; and none of them reads the queue whole.
@Suite(.migratedDatabase) struct BulkRightsTests {
    private static let calls = [
        "retry_failed('a')", "cancel_notification('a', 'n')", "cancel_pending('a', 'n')",
        "notification_counts('a', 'n')",
        "campaign_notifications('a', 'c')", "pause_app('a')", "resume_app('a')", "app_backlog('a')", "bulk_app('a')",
        "bulk_notification('a', 'n')",
    ]

    @Test(arguments: ["todoke_producer", "todoke_sender", "todoke_app", "todoke_reader"])
    func `no role of the programs may call them`(_ role: String) throws {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION \(role)")
        for call in Self.calls {
            let error = #expect(throws: PostgresError.self) { try connection.query("SELECT * FROM todoke.\(call)") }
            #expect(error?.sqlState == .insufficientPrivilege, "\(call)")
        }
    }

    @Test func `whom they are granted to may, and sees nothing else`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .failed, code: "A")
        let support = "support_\(UInt64.random(in: 0 ... .max))"
        try fixture.connection.script(
            """
            CREATE ROLE \(support);
            GRANT USAGE ON SCHEMA todoke TO \(support);
            GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA todoke TO \(support);
            """)
        defer { try? fixture.connection.script("DROP OWNED BY \(support); DROP ROLE \(support)") }
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION \(support)")
        let retried = try connection.query("SELECT retried FROM todoke.retry_failed($1, 'n')", [.text(fixture.app)])
        #expect(retried.int(0, 0) == 1)
        try connection.query(Cancellation.beginStatement, [.text(fixture.app), .text("n")])
        let ended = try connection.query(
            Cancellation.pendingStatement, [.text(fixture.app), .text("n"), .null])
        #expect(ended.int(0, 0) == 1)
        #expect(throws: PostgresError.self) { try connection.query("SELECT * FROM todoke.messages") }
    }

    /// Nobody has analysed anything here, which is when plans go wrong.
    @Test func `a batch reads through indexes, and no more than its share`() throws {
        let fixture = try BulkFixture()
        try fixture.put("big", .failed, 4_000, code: "A")
        try fixture.put("wait", .pending, 4_000)
        _ = try fixture.connection.query(Cancellation.beginStatement, [.text(fixture.app), .text("wait")])
        for call in ["retry_failed($1)", "retry_failed($1, 'big')", "cancel_pending($1, 'wait')"] {
            // What a session has read is counted from its start.
            let session = try ScratchDatabase.shared().connect()
            try session.script("BEGIN")
            try session.query("SELECT * FROM todoke.\(call)", [.text(fixture.app)])
            let read = try session.query(
                """
                SELECT coalesce(sum(seq_scan), 0), max(idx_tup_fetch) FROM pg_stat_xact_user_tables
                WHERE schemaname = 'todoke' AND relname ~ '^(messages|payloads|attempts)_'
                """)
            try session.script("ROLLBACK")
            #expect(read.int(0, 0) == 0, "\(call)")
            #expect((1_000...5_000).contains(read.int(0, 1) ?? 0), "\(call) read \(read.string(0, 1))")
        }
    }
}
