import Postgres
import TestSupport
import Testing

@testable import Queue

/// What `todoke.retry_failed` leaves as it is, and says so.
@Suite(.migratedDatabase) struct RetryRefusalTests {
    @Test(arguments: [
        ("cancelled_at = now()", RetryFailed.Counts(cancelled: 2)),
        ("created_at = now() - interval '8 days', closes_at = now()", RetryFailed.Counts(closed: 2)),
        ("purged_at = now()", RetryFailed.Counts(closed: 2)),
        ("settled_at = now(), settled_summary = '{}'", RetryFailed.Counts(closed: 2)),
    ])
    func `a notification that is over stays so`(_ change: String, _ expected: RetryFailed.Counts) throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .failed, 2, code: "A")
        try fixture.change("n", change)
        #expect(try fixture.retry { $0.isDryRun = true } == expected)
        #expect(try fixture.retry() == expected)
        #expect(try fixture.counts("n").failed == (change.contains("purged_at") ? 0 : 2))
    }

    @Test func `what is past its end of life stays failed`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .failed, code: "A", columns: ", expires_at", values: ", now()")
        try fixture.put("n", .failed, code: "A", columns: ", expires_at", values: ", now() + interval '1 min'")
        #expect(try fixture.retry() == .init(retried: 1, expired: 1))
    }

    @Test func `an unknown outcome is sent again only where its code is named`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .failed, code: "OUTCOME_UNKNOWN", outcome: "unknown")
        #expect(try fixture.retry() == .init(unknown: 1))
        #expect(try fixture.retry { $0.message = id } == .init(unknown: 1))
        #expect(try fixture.retry { $0.codes = ["A"] } == .init())
        #expect(try fixture.retry { $0.codes = ["A", "OUTCOME_UNKNOWN"] } == .init(retried: 1))
    }

    @Test(
        arguments: [
            // Not in the registry: the proof itself counts.
            (nil, "token_invalid", true), (nil, "permanent", false),
            ("registered_at = now() - interval '1 h'", "token_invalid", true),
            // Registered again since: somebody uses it.
            ("registered_at = now() + interval '1 h'", "token_invalid", false),
            ("registered_at = now() - interval '1 h'", "permanent", false),
            ("invalidated_at = now(), registered_at = now() - interval '1 h'", "permanent", true),
            ("invalidated_at = now(), registered_at = now() + interval '1 h'", "token_invalid", true),
        ] as [(String?, String, Bool)])
    func `a dead token gets nothing more`(_ device: String?, _ outcome: String, _ isDead: Bool) throws {
        let fixture = try BulkFixture()
        let other = try BulkFixture()
        // The same token of another app says nothing.
        try other.device("t", ", invalidated_at", ", now()")
        if let device {
            try fixture.device("t")
            try fixture.connection.query(
                "UPDATE todoke.devices SET \(device) WHERE app = (SELECT id FROM todoke.apps WHERE name = $1)",
                [.text(fixture.app)])
        }
        try fixture.put("n", .failed, target: "t", code: "UNREGISTERED", outcome: outcome)
        #expect(try fixture.retry() == (isDead ? .init(deadToken: 1) : .init(retried: 1)))
    }

    @Test func `an earlier proof is no proof of the latest failure`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .failed, code: "UNREGISTERED", outcome: "token_invalid")
        try fixture.connection.query("UPDATE todoke.messages SET claim_no = 2 WHERE id = $1::bigint", [.int(id)])
        #expect(try fixture.retry() == .init(retried: 1))
    }

    @Test func `what is not there is named, with what is`() throws {
        let fixture = try BulkFixture()
        try fixture.put("daily-29", .sent)
        try fixture.put("daily-31", .sent)
        let notification = try fixture.refusal("retry_failed($1, $2)", [.text("daily-30")])
        #expect(notification.sqlState?.rawValue == "P0002" && notification.message.contains("'daily-30'"))
        #expect(notification.hint == "The nearest by name: 'daily-29' and 'daily-31'")
        let message = try fixture.refusal("retry_failed($1, message_id => 9223372036854775807)")
        #expect(message.sqlState?.rawValue == "P0002" && message.message.contains("no message 9223372036854775807"))
        let app = try fixture.refusal("retry_failed($1 || 'x')")
        #expect(app.sqlState?.rawValue == "P0002" && app.hint?.hasPrefix("There are ") == true)
        #expect(try fixture.refusal("retry_failed(left($1, 0))").message == "there is no app ''")
    }

    @Test func `names are values, whatever is in them`() throws {
        let fixture = try BulkFixture()
        for name in ["it's", "\"q\"; DROP TABLE todoke.apps; --", "届け 🎌", "%L %1$s", "\\"] {
            try fixture.put(name, .failed, code: name)
            #expect(
                try fixture.retry {
                    $0.notificationID = name
                    $0.codes = [name]
                } == .init(retried: 1))
            #expect(try fixture.cancel(name) == 1)
        }
        #expect(throws: PostgresError.self) { try fixture.retry { $0.notificationID = "nul\0" } }
    }
}
