import Postgres
import TestSupport
import Testing

@testable import Queue

/// `todoke.retry_failed`: what it finds, and what it does to a message.
@Suite(.migratedDatabase) struct RetryTests {
    @Test func `a failed message waits again, with its attempts unspent and its past kept`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put(
            "n", .failed, code: "UNAVAILABLE", columns: ", http_status, provider_message_id", values: ", 503, 'x'")
        #expect(try fixture.retry { $0.notificationID = "n" } == .init(retried: 1))
        #expect(
            try fixture.look(
                id,
                "state attempts claim_no sender_id finished_at lease_until provider_message_id http_status error_code")
                == "pending 0 1 7 - - - 503 UNAVAILABLE")
        #expect(try fixture.look(id, "due_at>now()-interval'1min'") == "true")
        let kept = try fixture.connection.query(
            "SELECT count(*) FROM todoke.attempts WHERE message_id = $1::bigint", [.int(id)])
        #expect(kept.int(0, 0) == 1)
        #expect(try fixture.retry { $0.notificationID = "n" } == .init(), "a second run finds nothing")
    }

    @Test func `only what failed is touched`() throws {
        let fixture = try BulkFixture()
        for state in MessageState.allCases where state != .failed { try fixture.put("n", state) }
        #expect(try fixture.retry() == .init())
        try fixture.put("n", .failed, code: "A")
        #expect(try fixture.retry() == .init(retried: 1))
    }

    @Test func `codes, times, a notification and a message narrow it`() throws {
        let fixture = try BulkFixture()
        try fixture.put("a", .failed, 2, code: "A")
        try fixture.put("a", .failed, 3, code: "B")
        let last = try fixture.put("b", .failed, 4, code: "A")
        func dry(_ change: (inout RetryFailed) -> Void) throws -> Int {
            try fixture.retry {
                change(&$0)
                $0.isDryRun = true
            }.retried
        }
        let now = try #require(
            try fixture.connection.query("SELECT floor(extract(epoch FROM now()))::bigint").int(0, 0))
        #expect(try dry { _ in } == 9)
        #expect(try dry { $0.codes = ["A"] } == 6)
        #expect(try dry { $0.codes = ["A", "B", "it's {\"odd\"}"] } == 9)
        #expect(try dry { $0.codes = ["a"] } == 0)
        #expect(try dry { $0.notificationID = "a" } == 5)
        #expect(
            try dry {
                $0.notificationID = "b"
                $0.codes = ["B"]
            } == 0)
        #expect(try dry { $0.message = last } == 1)
        #expect(try dry { $0.since = now - 3_600 } == 9)
        #expect(try dry { $0.since = now + 3_600 } == 0)
        #expect(try dry { $0.until = now - 3_600 } == 0)
        #expect(try dry { $0.until = now + 3_600 } == 9)
        #expect(try fixture.retry { $0.codes = ["B"] } == .init(retried: 3))
        #expect(try dry { _ in } == 6)
    }

    @Test func `batches go through days and messages, other apps between them, and leave none out`() throws {
        let fixture = try BulkFixture()
        let other = try BulkFixture()
        for _ in 0..<3 {
            try fixture.put("today", .failed, 400, code: "A")
            try other.put("n", .failed, 300, code: "A")
        }
        try fixture.put("yesterday", .failed, 1)
        try fixture.change("yesterday", "day = day")
        try fixture.connection.query(
            """
            WITH m AS (UPDATE todoke.notifications SET day = day - 1, created_at = created_at - interval '1 day'
                WHERE notification_id = 'yesterday' RETURNING id, day),
            n AS (UPDATE todoke.messages SET day = messages.day - 1 FROM m WHERE notification = m.id),
            p AS (UPDATE todoke.payloads SET day = payloads.day - 1 FROM m WHERE notification = m.id)
            UPDATE todoke.attempts SET day = attempts.day - 1 FROM m WHERE notification = m.id
            """)
        #expect(try fixture.retry() == .init(retried: 1_201))
        #expect(try other.retry { $0.isDryRun = true } == .init(retried: 900))
        #expect(try other.retry { $0.notificationID = "n" } == .init(retried: 900))
    }

    @Test func `a large notification is found through its day's failures`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .sent, 2_500)
        try fixture.put("n", .failed, 1_500, code: "A")
        try fixture.put("m", .failed, 10, code: "A")
        #expect(try fixture.retry { $0.notificationID = "n" } == .init(retried: 1_500))
    }

    @Test func `senders are woken once a batch, and not by a look`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .failed, 500, code: "A")
        let listener = try ScratchDatabase.shared().connect()
        try listener.script("LISTEN \(Wake.channel)")
        _ = try fixture.retry {
            $0.notificationID = "n"
            $0.isDryRun = true
        }
        #expect(try fixture.wakeUps(listener) == 0)
        _ = try fixture.retry { $0.notificationID = "n" }
        #expect(try fixture.wakeUps(listener) == 1)
    }

    @Test func `what somebody else has locked is left and counted, without waiting`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .failed, 3, code: "A")
        let holder = try ScratchDatabase.shared().connect()
        try holder.script("BEGIN; SELECT 1 FROM todoke.messages WHERE id = \(id) FOR UPDATE")
        #expect(try fixture.retry() == .init(retried: 2, busy: 1))
        try holder.script("ROLLBACK")
        #expect(try fixture.retry() == .init(retried: 1))
    }

    @Test(arguments: [0, -1, 10_001]) func `a batch has bounds`(_ batch: Int) throws {
        let fixture = try BulkFixture()
        #expect(try fixture.refusal("retry_failed($1, batch => \(batch))").sqlState?.rawValue == "22023")
    }

    @Test func `a target of any kind is sent again when its device was registered again`() throws {
        for kind in ["token", "fid"] {
            let fixture = try BulkFixture()
            let id = try fixture.put("n", .failed, target: "again", code: "UNREGISTERED", outcome: "token_invalid")
            try fixture.connection.query(
                "UPDATE todoke.payloads SET target_kind = $2::todoke.target_kind WHERE id = $1::bigint",
                [.int(id), .text(kind)])
            #expect(try fixture.retry().deadToken == 1)
            try fixture.device("again", ", registered_at", ", now() + interval '1 s'")
            #expect(try fixture.retry().retried == 1, "\(kind)")
        }
    }
}
