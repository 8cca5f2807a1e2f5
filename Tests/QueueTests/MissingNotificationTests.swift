import Postgres
import TestSupport
import Testing

@testable import Queue

/// Somebody deleted a notification's row: its messages come to an end all the same.
@Suite(.migratedDatabase) struct MissingNotificationTests {
    private let connection: Connection
    private let day: Day
    private let app: Int

    /// Two messages whose notification is gone, of an app with this delivery.
    init() throws {
        let fixture = try QueueFixture()
        connection = fixture.connection
        app = fixture.app
        day = fixture.day
        let notification = fixture.notification
        try connection.script(
            """
            WITH m AS (INSERT INTO todoke.messages (day, notification, app)
                SELECT \(day.sql), \(notification), \(app) FROM generate_series(1, 2) RETURNING id)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(day.sql), \(notification), 'token', 't' || id, md5(id::text)::uuid, '{}' FROM m;
            DELETE FROM todoke.notifications WHERE id = \(notification)
            """)
    }

    private func claim() throws -> [ClaimedMessage] {
        let claim = Claim(app: app, priority: 5, day: day, limit: 5)
        return claim.decode(try connection.query(claim.statement(sender: 1, leaseSeconds: 60), format: Claim.format))
            .messages
    }

    private func count(_ condition: String) throws -> Int? {
        try connection.query("SELECT count(*) FROM todoke.messages WHERE app = \(app) AND \(condition)").int(0, 0)
    }

    private func rescue() throws -> Int? {
        try connection.script("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE app = \(app)")
        return try connection.query(Rescue.statement(apps: [app])).int(0, 0)
    }

    @Test(arguments: [nil, 1_000]) func itsMessagesGoBack(delay: Int?) throws {
        let results = try claim().map {
            MessageResult(key: $0.key, next: .pending(delayMilliseconds: delay, isAttemptSpent: false))
        }
        let record = try #require(Record.batches(of: results).first)
        #expect(try connection.query(record.statement(sender: 1), record.parameters).int(0, 0) == 2)
        #expect(try count("state = 'pending'") == 2)
    }

    @Test func itsMessagesAreRescued() throws {
        #expect(try claim().count == 2)
        #expect(try rescue() == 2)
        #expect(try count("state = 'pending'") == 2)
    }

    @Test func whatTheAppSaysOfDeliveryHolds() throws {
        try connection.script("UPDATE todoke.apps SET delivery = 'at_most_once' WHERE id = \(app)")
        #expect(try claim().map(\.isAtMostOnce) == [true, true])
        #expect(try rescue() == 2)
        #expect(try count("state = 'failed' AND error_code = 'OUTCOME_UNKNOWN'") == 2)
    }
}
