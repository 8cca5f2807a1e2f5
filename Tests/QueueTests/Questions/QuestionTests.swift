import Postgres
import TestSupport
import Testing

/// Each question of AskingSQL.md has its answer, asked as a reader.
@Suite(.migratedDatabase) struct QuestionTests {
    private func rows(_ sql: String, _ parameters: [Value] = []) throws -> [String] {
        try QuestionStory.rows(sql, parameters)
    }

    private func story(_ id: Int) throws -> [String] {
        try rows(
            """
            SELECT step, http_status, error_code, left(hint, 12), detail, at IS NOT NULL,
                round(extract(epoch FROM next_at - now()) / 60), sender_host
            FROM todoke.message_story($1::bigint)
            """, [.int(id)])
    }

    @Test func `a message that was sent after a retry tells both`() throws {
        let told = try story(2)
        #expect(
            told == [
                "queued | - | - | - | daily, token token-42, user 42 | t | - | -",
                "attempt | 503 | UNAVAILABLE | FCM is overl | retry: The service is currently unavailable. | t | -49 | push-1",
                "sent | 200 | - | - | 0:2 | t | - | push-1",
            ])
    }

    @Test func `a failure ends with its reason and a hint, after the attempt of the same moment`() throws {
        let told = try story(3)
        #expect(
            told.map { $0.prefix(32) } == [
                "queued | - | - | - | daily, toke", "attempt | 404 | UNREGISTERED | T",
                "failed | 404 | UNREGISTERED | Th",
            ])
    }

    @Test func `what is not at its end yet says when it goes on`() throws {
        #expect(try story(4).last == "sending | - | - | - | - | f | 1 | push-1")
        #expect(try story(5).last == "pending | - | - | - | - | f | 30 | -")
        #expect(try story(7).last == "pending | 503 | UNAVAILABLE | FCM is overl | - | f | -10 | -")
        #expect(try story(9).last == "pending | - | - | - | the notification is cancelled | f | 20 | -")
        #expect(try story(10).last == "expired | - | - | - | - | t | - | -")
        #expect(try story(999) == [])
        #expect(try rows("SELECT * FROM todoke.message_story(NULL)") == [])
    }

    @Test func `a user's messages come newest first, of the app asked for`() throws {
        let all = "SELECT id, app_name, notification_id, state, target, finished_at IS NULL FROM todoke.user_messages"
        #expect(
            try rows(all + "('recipes', '42')") == [
                "5 | recipes | tonight | pending | token-42 | t", "4 | recipes | order-42 | sending | token-42 | t",
                "2 | recipes | daily | sent | token-42 | f",
            ])
        #expect(try rows(all + "('recipes', '42', 1)").count == 1)
        #expect(try rows(all + "(NULL, '42')").first == "10 | radio | song | expired | token-of-radio | f")
        #expect(try rows(all + "('recipes', NULL)") == [])
        #expect(try rows(all + "('recipes', 'nobody')") == [])
    }

    @Test func `a token's messages come newest first`() throws {
        #expect(
            try rows(
                """
                SELECT id, notification_id, state, user_id, error_code, left(hint, 7)
                FROM todoke.token_messages('recipes', 'token-400')
                """) == ["3 | daily | failed | 400 | UNREGISTERED | The app"])
        #expect(try rows("SELECT id FROM todoke.token_messages('recipes', 'token-42')") == ["5", "4", "2"])
        #expect(try rows("SELECT id FROM todoke.token_messages('radio', 'token-42')") == [])
    }

    /// They become part of a statement's text.
    @Test(arguments: ["'", "x' OR true --", "\\", "\\' OR true --", "%L", "$1", "\u{1F600}"])
    func `what is asked for is never run`(_ text: String) throws {
        #expect(try rows("SELECT id FROM todoke.user_messages('recipes', $1)", [.text(text)]) == [])
        #expect(try rows("SELECT id FROM todoke.token_messages(NULL, $1)", [.text(text)]) == [])
        #expect(throws: PostgresError.self) {
            try rows("SELECT id FROM todoke.token_messages($1, 'token-42')", [.text(text)])
        }
    }

    @Test(arguments: [
        "('nobody', '42')", "('recipes', '42', 0)", "('recipes', '42', NULL)", "('recipes', '42', 10001)",
    ])
    func `a wrong argument is an error, not an empty answer`(_ arguments: String) throws {
        let error = #expect(throws: PostgresError.self) {
            try rows("SELECT id FROM todoke.user_messages\(arguments)")
        }
        #expect(error?.sqlState == SQLState(rawValue: "22023"))
    }

    @Test func `the end of messages is counted by the minute`() throws {
        let counted = "SELECT app, sent, failed, expired, cancelled FROM todoke.throughput"
        #expect(try rows(counted + "()") == ["recipes | 2 | 0 | 0 | 0", "recipes | 0 | 1 | 0 | 0"])
        #expect(try rows(counted + "('1 day')").first == "radio | 0 | 0 | 1 | 0")
        #expect(try rows(counted + "('1 minute')") == [])
    }

    @Test func `what is to be sent leaves out what will not be`() throws {
        let coming = """
            SELECT app, notification_id, round(extract(epoch FROM minute - date_trunc('minute', now())) / 60), messages, retries,
                paused_at IS NULL
            FROM todoke.upcoming
            """
        let due = "recipes | tonight | 0 | 1 | 1 | t"
        #expect(try rows(coming + "()") == [due, "recipes | tonight | 30 | 2 | 0 | t"])
        #expect(try rows(coming + "('1 minute')") == [due])
        #expect(try rows(coming + "('1 day')").count == 3)
    }

    @Test func `the message that waits longest is named`() throws {
        #expect(
            try rows("SELECT app, priority, id, round(due_seconds), paused_at FROM todoke.oldest_due").map {
                $0.prefix(22)
            }
                == ["recipes | 5 | 7 | 600 "].map { $0.prefix(22) })
    }

    @Test func `only senders that live are shown`() throws {
        #expect(try rows("SELECT host, state, in_flight FROM todoke.live_senders") == ["push-1 | running | 200"])
    }

    @Test func `rows that were refused are shown with their reason`() throws {
        #expect(
            try rows("SELECT line, reason FROM todoke.rejected_rows WHERE notification_id = 'daily' ORDER BY line").map
            {
                $0.prefix(12)
            } == ["3 | message.", "4 | 3 fields", "5 | text aft"])
    }

    @Test func `a payload is shown byte for byte`() throws {
        #expect(
            try rows(
                "SELECT payload FROM todoke.message_payloads WHERE notification_id = 'order-42' AND user_id = '42'")
                == [#"{"token":"token-42","data":{"notification_id":"order-42"}}"#])
    }
}
