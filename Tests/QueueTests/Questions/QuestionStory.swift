import Postgres
import TestSupport

/// A day's messages whose answers are known, as AskingSQL.md shows them; times are of the moment they are asked for.
enum QuestionStory {
    static let sql = """
        INSERT INTO todoke.apps (id, name, project_id) OVERRIDING SYSTEM VALUE
        VALUES (1, 'recipes', 'demo-project'), (2, 'radio', 'demo-project');
        INSERT INTO todoke.senders (id, host, pid, version, apps, state, in_flight, rate, started_at, heartbeat_at, stopped_at)
            OVERRIDING SYSTEM VALUE
        VALUES (1, 'push-1', 2710, '0.1.0', '{recipes}', 'running', 200, 1387.5, now() - interval '1 hour', now(), NULL),
            (2, 'push-2', 811, '0.1.0', '{recipes}', 'running', 0, 0, now() - interval '1 day', now() - interval '1 hour', NULL),
            (3, 'push-3', 90, '0.1.0', '{recipes}', 'stopped', 0, 0, now() - interval '1 day', now(), now());
        INSERT INTO todoke.notifications (app, notification_id, campaign, rejected)
        VALUES (1, 'daily', 'recipes', 3), (1, 'order-42', NULL, 0), (1, 'tonight', NULL, 0), (1, 'dropped', NULL, 0),
            (2, 'song', NULL, 0);
        UPDATE todoke.notifications SET cancelled_at = now() WHERE notification_id = 'dropped';
        CREATE TEMPORARY TABLE told (
            id int, notification_id text, user_id text, target text, state todoke.message_state, due interval,
            finished interval, attempts int, http_status int, error_code text, provider_message_id text, priority int);
        INSERT INTO told VALUES
            (1, 'daily', '41', 'token-41', 'sent', '-50 min', '-49 min', 0, 200, NULL, '0:1', 5),
            (2, 'daily', '42', 'token-42', 'sent', '-50 min', '-49 min', 1, 200, NULL, '0:2', 5),
            (3, 'daily', '400', 'token-400', 'failed', '-50 min', '-48 min', 1, 404, 'UNREGISTERED', NULL, 5),
            (4, 'order-42', '42', 'token-42', 'sending', '-2 min', NULL, 0, NULL, NULL, NULL, 9),
            (5, 'tonight', '42', 'token-42', 'pending', '30 min', NULL, 0, NULL, NULL, NULL, 5),
            (6, 'tonight', '41', 'token-41', 'pending', '30 min', NULL, 0, NULL, NULL, NULL, 5),
            (7, 'tonight', '43', 'token-43', 'pending', '-10 min -0.3 s', NULL, 1, 503, 'UNAVAILABLE', NULL, 5),
            (8, 'tonight', '44', 'token-44', 'pending', '5 hours', NULL, 0, NULL, NULL, NULL, 5),
            (9, 'dropped', '44', 'token-44', 'pending', '20 min', NULL, 0, NULL, NULL, NULL, 5),
            (10, 'song', '42', 'token-of-radio', 'expired', '-3 hours', '-2 hours', 0, NULL, NULL, NULL, 5);
        INSERT INTO todoke.payloads (id, notification, day, queued_at, dedupe_key, target_kind, target, user_id, payload)
        SELECT t.id, n.id, n.day, now() - CASE t.id WHEN 10 THEN interval '4 h' ELSE interval '55 min' END + t.id * interval '1 ms', md5(t.id::text)::uuid, 'token', t.target,
            t.user_id, format('{"token":"%s","data":{"notification_id":"%s"}}', t.target, n.notification_id)::json
        FROM told AS t JOIN todoke.notifications AS n USING (notification_id);
        INSERT INTO todoke.messages (id, notification, app, day, due_at, state, finished_at, attempts, http_status, error_code,
            provider_message_id, priority, sender_id, claim_no, lease_until)
        SELECT t.id, n.id, n.app, n.day, now() + t.due, t.state, now() + t.finished, t.attempts, t.http_status, t.error_code,
            t.provider_message_id, t.priority, CASE WHEN t.state IN ('sent', 'failed', 'sending') THEN 1 END,
            CASE WHEN t.state = 'pending' AND t.attempts = 0 THEN 0 ELSE 1 + t.attempts END,
            CASE WHEN t.state = 'sending' THEN now() + interval '1 min' END
        FROM told AS t JOIN todoke.notifications AS n USING (notification_id);
        INSERT INTO todoke.attempts (message_id, notification, day, app, at, claim_no, attempt_no, http_status, sender_id, outcome,
            error_code, detail, retry_at)
        SELECT m.id, m.notification, m.day, m.app, CASE m.id WHEN 2 THEN now() - interval '50 min'
                WHEN 3 THEN m.finished_at ELSE now() - interval '15 min' END, 1, 1,
            CASE m.id WHEN 3 THEN 404 ELSE 503 END, 1, CASE m.id WHEN 3 THEN 'token_invalid' ELSE 'retry' END,
            CASE m.id WHEN 3 THEN 'UNREGISTERED' ELSE 'UNAVAILABLE' END,
            CASE m.id WHEN 3 THEN 'Requested entity was not found.' ELSE 'The service is currently unavailable.' END,
            CASE m.id WHEN 2 THEN now() - interval '49 min' WHEN 7 THEN m.due_at END
        FROM todoke.messages AS m WHERE m.id IN (2, 3, 7);
        INSERT INTO todoke.rejections (notification, day, line, reason, input)
        SELECT n.id, n.day, r.line, r.reason, r.input
        FROM todoke.notifications AS n, (VALUES
            (3, 'message.token: must not be empty; found a string of 0 bytes', '{"token":"","name":"Nobody"}'),
            (4, '3 fields where the header has 2', 'good-2,too,many'),
            (5, 'text after the closing quote of a field', 'brokenx,Eve')) AS r (line, reason, input)
        WHERE n.notification_id = 'daily';
        """

    /// What a reader gets of it.
    ///
    /// Data and question are in one transaction, so that the times of both are of one moment, however slow the machine is.
    static func ask<R>(_ body: (Connection) throws -> R) throws -> R {
        let session = try ScratchDatabase.shared().connect()
        try session.script("BEGIN; \(sql) SET LOCAL TIME ZONE 'UTC'; SET LOCAL ROLE todoke_reader")
        defer { try? session.script("ROLLBACK") }
        return try body(session)
    }

    static func rows(_ sql: String, _ parameters: [Value] = []) throws -> [String] {
        try ask { session in
            let result = try session.query(sql, parameters)
            return (0..<result.rowCount).map { row in
                (0..<result.columnCount).map { result.optionalString(row, $0) ?? "-" }.joined(separator: " | ")
            }
        }
    }
}
