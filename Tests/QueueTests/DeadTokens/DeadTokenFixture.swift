import Postgres
import TestSupport
import Testing

@testable import Queue

/// An app with devices and messages to them that a sender has claimed, ready to be recorded as dead.
struct DeadTokenFixture {
    let queue: QueueFixture
    let sender = 1

    init() throws { queue = try QueueFixture() }

    /// Registers devices `t1` … and queues and claims one message to each of `targets`.
    func claimed(devices: Int, registered: String = "now() - interval '1 day'", targets: ClosedRange<Int>) throws
        -> [ClaimedMessage]
    {
        try queue.connection.script(
            """
            INSERT INTO todoke.devices (app, token, registered_at)
            SELECT \(queue.app), 't' || g, \(registered) FROM generate_series(1, \(devices)) AS g;
            """)
        return try claimed(targets: targets)
    }

    func claimed(targets: ClosedRange<Int>) throws -> [ClaimedMessage] {
        try queue.connection.script(
            """
            WITH ids AS (
                SELECT nextval('todoke.message_id_seq') AS id, g
                FROM generate_series(\(targets.lowerBound), \(targets.upperBound)) AS g),
            m AS (INSERT INTO todoke.messages (id, day, notification, app)
                SELECT id, \(queue.day.sql), \(queue.notification), \(queue.app) FROM ids)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(queue.day.sql), \(queue.notification), 'token', 't' || g, gen_random_uuid(), '{}' FROM ids
            """)
        let claim = Claim(app: queue.app, priority: 5, day: queue.day, limit: 10_000)
        let statement = claim.statement(sender: sender, leaseSeconds: 60)
        return claim.decode(try queue.connection.query(statement, format: Claim.format)).messages
            .sorted { $0.key.id < $1.key.id }
    }

    /// Records that the messages' tokens are dead; gives back what the statement says of the registry.
    @discardableResult
    func record(_ messages: [ClaimedMessage], sender: Int = 1, since: Int? = nil) throws -> String? {
        let results = messages.map {
            MessageResult(
                key: $0.key, next: .failed, httpStatus: 404, errorCode: "UNREGISTERED", outcome: "token_invalid",
                detail: "gone", tokenDeadSince: since ?? $0.claimedAt)
        }
        var note: String?
        for record in Record.batches(of: results) {
            let answer = try queue.connection.query(record.statement(sender: sender), record.parameters)
            #expect(answer.int(0, 0) == record.results.count)
            #expect(record.marksDeadTokens)
            note = answer.isNull(0, 1) ? note : answer.string(0, 1)
        }
        return note
    }

    /// Tokens of the app's devices that are marked, in order.
    func dead() throws -> [String] {
        let rows = try queue.connection.query(
            """
            SELECT token FROM todoke.devices WHERE app = $1::int AND invalidated_at IS NOT NULL
            ORDER BY length(token), token
            """, [.int(queue.app)])
        return (0..<rows.rowCount).map { rows.string($0, 0) }
    }

    func value(_ sql: String) throws -> String? {
        let result = try queue.connection.query("\(sql)", [.int(queue.app)])
        return result.isNull(0, 0) ? nil : result.string(0, 0)
    }
}
