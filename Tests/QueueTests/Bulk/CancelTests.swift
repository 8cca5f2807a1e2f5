import Postgres
import TestSupport
import Testing

@testable import Queue

/// `todoke.cancel_notification` and `todoke.cancel_pending`.
@Suite(.migratedDatabase) struct CancelTests {
    @Test func `what waits ends, what is over or under way stays`() throws {
        let fixture = try BulkFixture()
        for (count, state) in MessageState.allCases.enumerated() { try fixture.put("n", state, count + 1) }
        try fixture.put("n", .pending, 2, columns: ", expires_at", values: ", now() + interval '1 h'")
        try fixture.put("other", .pending)
        #expect(try fixture.cancel("n") == 3)
        let counts = try fixture.counts("n")
        #expect([counts.pending, counts.sending, counts.sent, counts.failed, counts.expired] == [0, 2, 3, 4, 5])
        #expect(counts.cancelled == 6 + 3)
        #expect(try fixture.counts("other").pending == 1)
        #expect(try fixture.cancel("n") == 0)
    }

    @Test func `the first time counts, and says whether it was so before`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .pending)
        func cancel() throws -> QueryResult {
            try fixture.connection.query(
                "SELECT cancelled_at, was_cancelled, is_loading FROM todoke.cancel_notification($1, 'n')",
                [.text(fixture.app)])
        }
        try fixture.change("n", "run_id = gen_random_uuid(), run_until = now() + interval '1 min'")
        let first = try cancel()
        #expect(first.bool(0, 1) == false && first.bool(0, 2) == true)
        let second = try cancel()
        #expect(second.bool(0, 1) == true && second.string(0, 0) == first.string(0, 0))
    }

    @Test func `what is not cancelled is not touched`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .pending)
        let error = try fixture.refusal("cancel_pending($1, 'n')")
        #expect(error.sqlState?.rawValue == "55000" && error.hint?.contains("cancel_notification") == true)
        #expect(try fixture.counts("n").pending == 1)
        #expect(try fixture.refusal("cancel_notification($1, 'm')").hint == "The nearest by name: 'n'")
    }

    @Test func `batches walk through all of a large one`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .pending, 3_456)
        try fixture.put("m", .pending, 100)
        #expect(try fixture.cancel("n") == 3_456)
        #expect(try fixture.counts("n").cancelled == 3_456 && fixture.counts("m").pending == 100)
    }

    @Test func `what a sender has locked is left to it, without waiting`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .pending, 3)
        let holder = try ScratchDatabase.shared().connect()
        try holder.script("BEGIN; SELECT 1 FROM todoke.messages WHERE id = \(id) FOR UPDATE")
        _ = try fixture.connection.query(Cancellation.beginStatement, [.text(fixture.app), .text("n")])
        let row = try fixture.connection.query(
            "SELECT cancelled, busy FROM todoke.cancel_pending($1, 'n')", [.text(fixture.app)])
        #expect(row.int(0, 0) == 2 && row.int(0, 1) == 1)
        try holder.script("ROLLBACK")
        #expect(try fixture.walk("n") == 1)
    }

    @Test func `a retry verdict ends what was being sent, a known outcome stays`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .sending, 2)
        #expect(try fixture.cancel("n") == 0)
        let key = { MessageKey(id: id + $0, day: fixture.day, claimNumber: 1) }
        let results = [
            MessageResult(
                key: key(0), next: .pending(delayMilliseconds: 0, isAttemptSpent: true), httpStatus: 503,
                errorCode: "UNAVAILABLE", outcome: "retry"),
            MessageResult(key: key(1), next: .sent, httpStatus: 200),
        ]
        for record in Record.batches(of: results) {
            let matched = try fixture.connection.query(record.statement(sender: 7), record.parameters)
            #expect(matched.int(0, 0) == 1)
        }
        #expect(try fixture.look(id, "state") == "cancelled")
        #expect(try fixture.look(id + 1, "state") == "sent")
    }

    @Test func `a campaign is its notifications, oldest first, without those that are purged`() throws {
        let fixture = try BulkFixture()
        for name in ["b", "a", "gone", "none"] { try fixture.put(name, .pending) }
        for name in ["b", "a", "gone"] { try fixture.change(name, "campaign = 'c'") }
        try fixture.change(
            "gone", "purged_at = now(), settled_at = now(), settled_summary = '{\"sent\": 12, \"failed\": 3}'")
        let rows = try fixture.connection.query(Cancellation.campaignStatement, [.text(fixture.app), .text("c")])
        #expect((0..<rows.rowCount).map { rows.string($0, 0) } == ["b", "a"])
        let purged = try fixture.counts("gone")
        #expect(purged.sent == 12 && purged.failed == 3 && purged.pending == 0)
    }

    @Test func `a day that is gone has nothing to cancel or to retry`() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            try ScratchDatabase.$current.withValue(database) {
                let fixture = try BulkFixture()
                try fixture.put("n", .pending, 3)
                try fixture.put("n", .failed, 3, code: "A")
                let suffix = fixture.day.description.filter { $0 != "-" }
                for table in ["messages", "payloads", "attempts"] {
                    try fixture.connection.query(
                        "ALTER TABLE todoke.\(table) DETACH PARTITION todoke.\(table)_\(suffix)")
                }
                #expect(try fixture.retry() == .init())
                #expect(try fixture.retry { $0.notificationID = "n" } == .init())
                #expect(try fixture.cancel("n") == 0)
            }
        }
    }

    @Test(arguments: ["Asia/Tokyo", "America/Los_Angeles"]) func `the session's settings change nothing`(_ zone: String)
        throws
    {
        let fixture = try BulkFixture()
        try fixture.connection.script("SET timezone = '\(zone)'; SET datestyle = 'German'")
        try fixture.put("n", .failed, 1_200, code: "A")
        let now = try #require(
            try fixture.connection.query("SELECT floor(extract(epoch FROM now()))::bigint").int(0, 0))
        #expect(
            try fixture.retry {
                $0.since = now - 60
                $0.until = now + 60
            } == .init(retried: 1_200))
        #expect(try fixture.cancel("n") == 1_200)
    }
}
