import Postgres
import TestSupport
import Testing

@testable import Queue

/// An app of a test's own with messages in any state, and the bulk operations on them.
struct BulkFixture {
    let connection: Connection
    let app: String
    let day: Day

    init() throws {
        connection = try ScratchDatabase.shared().connect()
        app = "app-\(UInt64.random(in: 0 ... .max))"
        let made = try connection.query(
            """
            INSERT INTO todoke.apps (name, project_id) VALUES ($1, 'p')
            RETURNING to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')
            """, [.text(app)])
        day = try #require(Day(made.string(0, 0)))
    }

    /// Makes messages of a notification, and the notification where it is not there yet; gives back the first id.
    ///
    /// Failed ones have the row among the attempts that every sender writes.
    @discardableResult
    func put(
        _ notification: String, _ state: MessageState, _ count: Int = 1, target: String? = nil, code: String? = nil,
        outcome: String = "permanent", columns: String = "", values: String = ""
    ) throws -> Int {
        try connection.query(
            """
            INSERT INTO todoke.notifications (app, notification_id) SELECT id, $2 FROM todoke.apps WHERE name = $1
            ON CONFLICT DO NOTHING
            """, [.text(app), .text(notification)])
        let finished = state.isTerminal ? "now()" : "NULL"
        let lease = state == .sending ? "now() + interval '1 min'" : "NULL"
        let claims = state == .pending ? 0 : 1
        return try #require(
            try connection.query(
                """
                WITH n AS (
                    SELECT n.id, n.app, n.day FROM todoke.notifications AS n JOIN todoke.apps AS a ON a.id = n.app
                    WHERE a.name = $1 AND n.notification_id = $2
                ), m AS (
                    INSERT INTO todoke.messages (
                        notification, app, day, state, finished_at, lease_until, claim_no, attempts, sender_id, error_code,
                        due_at\(columns)
                    )
                    SELECT id, app, day, '\(state)'::todoke.message_state, \(finished), \(lease), \(claims), \(claims), 7, $4,
                        now() - interval '2 hours'\(values)
                    FROM n, generate_series(1, \(count)) RETURNING id, notification, day, app, state
                ), p AS (
                    INSERT INTO todoke.payloads (id, notification, dedupe_key, day, target_kind, target, payload)
                    SELECT id, notification, gen_random_uuid(), day, 'token', coalesce($3, 'token-' || id), '{}' FROM m
                ), t AS (
                    INSERT INTO todoke.attempts (
                        message_id, notification, day, app, claim_no, attempt_no, outcome, error_code
                    ) SELECT id, notification, day, app, 1, 1, $5, $4 FROM m WHERE state = 'failed'
                )
                SELECT min(id) FROM m
                """,
                [.text(app), .text(notification), .optional(target), .optional(code), .text(outcome)]
            ).int(0, 0))
    }

    func change(_ notification: String, _ assignment: String) throws {
        try connection.query(
            """
            UPDATE todoke.notifications SET \(assignment)
            WHERE notification_id = $2 AND app = (SELECT id FROM todoke.apps WHERE name = $1)
            """, [.text(app), .text(notification)])
    }

    func device(_ token: String, _ columns: String = "", _ values: String = "") throws {
        try connection.query(
            "INSERT INTO todoke.devices (app, token\(columns)) SELECT id, $2\(values) FROM todoke.apps WHERE name = $1",
            [.text(app), .text(token)])
    }

    /// Batches until the end, as `todoke retry` does.
    func retry(_ change: (inout RetryFailed) -> Void = { _ in }) throws -> RetryFailed.Counts {
        var request = RetryFailed(app: app)
        change(&request)
        var counts = RetryFailed.Counts()
        var cursor: RetryFailed.Cursor?
        repeat {
            let batch = RetryFailed.decode(
                try connection.query(RetryFailed.statement, request.parameters(from: cursor)))
            counts.add(batch.counts)
            cursor = batch.next
        } while cursor != nil
        return counts
    }

    /// Cancels it and walks through it once; gives back how many it ended.
    func cancel(_ notification: String) throws -> Int {
        _ = try connection.query(Cancellation.beginStatement, [.text(app), .text(notification)])
        return try walk(notification)
    }

    func walk(_ notification: String) throws -> Int {
        var total = 0
        var key: String?
        repeat {
            let batch = Cancellation.decodePending(
                try connection.query(
                    Cancellation.pendingStatement, [.text(app), .text(notification), .optional(key)]))
            total += batch.cancelled
            key = batch.next
        } while key != nil
        return total
    }

    func counts(_ notification: String) throws -> Cancellation.Counts {
        Cancellation.decodeCounts(
            try connection.query(Cancellation.countStatement, [.text(app), .text(notification)]))
    }

    /// Columns of one message, separated by spaces; NULL is a dash.
    func look(_ message: Int, _ columns: String) throws -> String {
        let list = columns.split(separator: " ").map { "coalesce((\($0))::text, '-')" }.joined(separator: " || ' ' || ")
        return try connection.query(
            "SELECT \(list) FROM todoke.messages WHERE id = $1::bigint", [.int(message)]
        ).string(0, 0)
    }

    /// How often the app's senders were woken since the last look, among all that listen.
    func wakeUps(_ listener: Connection) throws -> Int {
        // What was sent before this is heard before it.
        let end = "end-\(UInt64.random(in: 0 ... .max))"
        try connection.query("SELECT pg_notify('\(Wake.channel)', $1)", [.text(end)])
        var count = 0
        for _ in 0..<1_000 {
            for heard in try listener.notifications(waitMilliseconds: 1_000) {
                if heard.payload == app { count += 1 }
                if heard.payload == end { return count }
            }
        }
        return -1
    }

    /// Why a call is refused.
    func refusal(_ call: String, _ parameters: [Value] = []) throws -> PostgresError {
        try #require(throws: PostgresError.self) {
            try connection.query("SELECT * FROM todoke.\(call)", [.text(app)] + parameters)
        }
    }
}

extension RetryFailed.Counts {
    init(
        retried: Int = 0, closed: Int = 0, cancelled: Int = 0, deadToken: Int = 0, expired: Int = 0, unknown: Int = 0,
        busy: Int = 0
    ) {
        self.init()
        self.retried = retried
        self.closed = closed
        self.cancelled = cancelled
        self.deadToken = deadToken
        self.expired = expired
        unknownOutcome = unknown
        self.busy = busy
    }
}
