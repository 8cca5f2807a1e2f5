import Postgres
import TestSupport
import Testing

@testable import Delivery

private enum Story {
    static let sql = """
        INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo'), ('idle', 'demo');
        INSERT INTO todoke.senders (host, pid, version) VALUES ('sender-1', 1, '0.1.0');
        INSERT INTO todoke.notifications (app, notification_id, campaign, rejected) VALUES (1, 'daily', 'c', 3), (1, 'other', 'c', 0);
        CREATE TEMPORARY TABLE told AS
        SELECT i, CASE WHEN i <= 18 THEN 1 ELSE 2 END AS notification,
            (CASE WHEN i <= 10 THEN 'sent' WHEN i <= 13 THEN 'failed' WHEN i = 14 THEN 'expired' WHEN i = 15 THEN 'cancelled'
                WHEN i = 16 THEN 'sending' ELSE 'pending' END)::todoke.message_state AS state
        FROM generate_series(1, 20) AS i;
        INSERT INTO todoke.payloads (id, notification, day, queued_at, dedupe_key, target_kind, target, user_id, payload)
        SELECT i, n.id, n.day, now() - interval '1 hour', md5(i::text)::uuid, 'token', 'token-' || i, 'user-' || i, '{}'
        FROM told JOIN todoke.notifications n ON n.id = told.notification;
        -- Sent after 1 to 10 seconds; number 10 was scheduled half an hour later and waited 10 seconds from then on.
        INSERT INTO todoke.messages (id, notification, app, day, state, priority, due_at, lease_until, sender_id, finished_at,
            attempts, http_status, error_code)
        SELECT i, n.id, 1, n.day, state, CASE WHEN i = 18 THEN 9 ELSE 5 END,
            CASE WHEN i = 10 THEN now() - interval '30 min' WHEN i = 20 THEN now() + interval '1 day'
                ELSE now() - interval '1 hour' END,
            CASE WHEN state = 'sending' THEN now() END, CASE WHEN state <> 'pending' THEN 1 END,
            CASE WHEN i = 10 THEN now() - interval '30 min' + interval '10 s'
                WHEN state NOT IN ('pending', 'sending') THEN now() - interval '1 hour' + i * interval '1 s' END,
            CASE WHEN state = 'failed' THEN 1 ELSE 0 END, CASE WHEN state = 'sent' THEN 200 END,
            CASE WHEN i IN (11, 12) THEN 'UNREGISTERED' WHEN i = 13 THEN 'HTTP_599' WHEN i = 17 THEN 'UNAVAILABLE' END
        FROM told JOIN todoke.notifications n ON n.id = told.notification;
        INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome, error_code, retry_at)
        SELECT m.id, m.notification, m.day, 1, a, a, CASE WHEN a = 1 THEN 'retry' ELSE 'token_invalid' END,
            CASE WHEN a = 1 THEN 'UNAVAILABLE' ELSE 'UNREGISTERED' END, CASE WHEN a = 1 THEN now() END
        FROM todoke.messages m, generate_series(1, 2) AS a WHERE m.id IN (11, 12);
        -- Opens by two devices, a user and nobody known, one of another notification.
        INSERT INTO todoke.events (app, notification_id, kind, device, user_id, subject) VALUES
            (1, 'daily', 'opened', 1, NULL, 'd1'), (1, 'daily', 'opened', 2, 'u', 'd2'),
            (1, 'daily', 'opened', NULL, 'u', 'uu'), (1, 'daily', 'opened', NULL, NULL, 'e5'),
            (1, 'daily', 'received', 3, NULL, 'd3'), (1, 'other', 'opened', 9, NULL, 'd9');
        """
}

/// The views count right, on twenty messages of two notifications whose numbers are known.
@Suite(
    .scratchDatabase { database in
        try database.migrate()
        try database.connect().script(Story.sql)
    }
) struct ViewTests {
    private func row(_ sql: String) throws -> [String?] {
        let result = try ScratchDatabase.shared().connect().query(sql)
        try #require(result.rowCount == 1)
        return (0..<result.columnCount).map { result.optionalString(0, $0) }
    }

    @Test func aNotificationIsSummedUp() throws {
        let counts = try row(
            """
            SELECT total, pending, sending, sent, failed, expired, cancelled, rejected, opens, open_rate
            FROM todoke.notification_summary WHERE app = 'recipes' AND notification_id = 'daily'
            """)
        #expect(counts == ["18", "2", "1", "10", "3", "1", "1", "3", "4", "0.4000"])
        let times = try row(
            """
            SELECT round(p50_seconds::numeric, 2), round(p95_seconds::numeric, 2),
                round(extract(epoch FROM last_sent_at - first_sent_at)), top_errors
            FROM todoke.notification_summary WHERE notification_id = 'daily'
            """)
        #expect(times[0] == "5.50")
        #expect(times[1] == "9.55")
        #expect(times[2] == "1809")
        #expect(
            times[3]?.filter { $0 != " " && $0 != "\n" }
                == #"[{"code":"UNREGISTERED","messages":2},{"code":"HTTP_599","messages":1},{"code":"UNAVAILABLE","messages":1}]"#
        )
    }

    @Test func whatIsNotThereIsZeroOrNull() throws {
        let counts = try row(
            """
            SELECT total, pending, sent, opens, open_rate, p50_seconds, top_errors
            FROM todoke.notification_summary WHERE notification_id = 'other'
            """)
        #expect(counts == ["2", "2", "0", "1", nil, nil, nil])
    }

    @Test func theQueueIsMeasuredPerAppAndPriority() throws {
        let result = try ScratchDatabase.shared().connect().query(
            """
            SELECT app, priority, due, scheduled, sending, round(oldest_due_seconds / 1000) FROM todoke.queue_depth
            ORDER BY app, priority
            """)
        let rows = (0..<result.rowCount).map { row in
            (0..<6).map { result.optionalString(row, $0) ?? "-" }.joined(separator: " ")
        }
        #expect(rows == ["idle 5 0 0 0 -", "recipes 5 2 1 1 4", "recipes 9 1 0 0 4"])
    }

    @Test func failuresAreExplained() throws {
        let result = try ScratchDatabase.shared().connect().query(
            """
            SELECT error_code, outcome, attempts, messages, final, hint IS NOT NULL FROM todoke.failures
            WHERE app = 'recipes' AND notification_id = 'daily' ORDER BY error_code
            """)
        let rows = (0..<result.rowCount).map { row in
            (0..<6).map { result.string(row, $0) }.joined(separator: " ")
        }
        #expect(rows == ["UNAVAILABLE retry 2 2 0 t", "UNREGISTERED token_invalid 2 2 2 t"])
    }

    @Test(arguments: [
        ("UNREGISTERED", true), ("HTTP_503", true), ("HTTP_429", true), ("HTTP_403", true), ("HTTP_418", true),
        ("CURL_56", true),
        ("NOBODY_KNOWS", false), ("HTTP_5033", false),
    ])
    func aCodeHasAHint(_ code: String, _ isKnown: Bool) throws {
        let hint = try row("SELECT todoke.error_hint('\(code)')")
        #expect((hint[0] != nil) == isKnown)
    }

    @Test func theHintsAreTheSenders() throws {
        let result = try ScratchDatabase.shared().connect().query("SELECT code, hint FROM todoke.error_hints")
        var hints: [String: String] = [:]
        for row in 0..<result.rowCount { hints[result.string(row, 0)] = result.string(row, 1) }
        for (code, text) in Hint.texts where code != "OK" { #expect(hints[code] == text, "\(code)") }
        // The queue's own, which no provider sends.
        #expect(
            Set(hints.keys).subtracting(Hint.texts.keys) == ["OUTCOME_UNKNOWN", "LEASE_EXPIRED", "PAYLOAD_MISSING"])
    }

    @Test func oneMessageIsShown() throws {
        let status = try row(
            """
            SELECT app, notification_id, state, target, user_id, error_code, sender_host, http_status
            FROM todoke.message_status WHERE day = todoke.day_of('recipes', 'daily') AND target = 'token-11'
            """)
        #expect(status == ["recipes", "daily", "failed", "token-11", "user-11", "UNREGISTERED", "sender-1", nil])
        let total = try row("SELECT count(*), count(DISTINCT id), count(hint) FROM todoke.message_status")
        #expect(total == ["20", "20", "3"])
    }

    /// 16 partitions of each table are there; naming the notification must leave one of them to read.
    @Test(arguments: [
        "notification_id = 'daily' AND app = 'recipes'", "day = todoke.day_of('recipes', 'daily')",
        "notification_id = 'daily' AND target = 'token-3'", "notification_id = 'daily' AND id = 3",
    ])
    func aQuestionAboutANotificationReadsItsDayOnly(_ condition: String) throws {
        let plan = try QueryPlan(
            "SELECT * FROM todoke.message_status WHERE \(condition)", on: ScratchDatabase.shared().connect())
        let read = Set(
            plan.nodes.compactMap(\.relation).filter { $0.hasPrefix("messages_") || $0.hasPrefix("payloads_") })
        #expect(read.count == 2, "\(read.sorted())")
    }
}
