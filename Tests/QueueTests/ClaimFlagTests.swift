import Postgres
import TestSupport
import Testing

@testable import Queue

/// What a notification says of its messages comes with the claim: each of its words by itself.
@Suite(.migratedDatabase) struct ClaimFlagTests {
    private let connection: Connection
    private let day: Day
    private let app: Int

    init() throws {
        let fixture = try QueueFixture()
        connection = fixture.connection
        app = fixture.app
        day = fixture.day
    }

    /// Makes a notification with these columns, and a message of it; its id.
    @discardableResult
    private func queue(_ name: String, _ columns: String = "", _ values: String = "") throws -> Int {
        let made = try connection.query(
            """
            WITH n AS (INSERT INTO todoke.notifications (app, notification_id, day\(columns))
                VALUES (\(app), '\(name)', \(day.sql)\(values)) RETURNING id, app, day),
            m AS (INSERT INTO todoke.messages (notification, app, day) SELECT id, app, day FROM n
                RETURNING id, day, notification)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, day, notification, 'token', 't', md5('t')::uuid, '{"token":"t"}' FROM m RETURNING id
            """)
        return try #require(made.int(0, 0))
    }

    private func claim(sender: Int = 1) throws -> Claim.Answer {
        let claim = Claim(app: app, priority: 5, day: day, limit: 500)
        return claim.decode(
            try connection.query(claim.statement(sender: sender, leaseSeconds: 60), format: Claim.format))
    }

    private struct Flags: Equatable {
        let isAtMostOnce: Bool
        let isValidateOnly: Bool

        init(_ isAtMostOnce: Bool, _ isValidateOnly: Bool) {
            self.isAtMostOnce = isAtMostOnce
            self.isValidateOnly = isValidateOnly
        }
    }

    private func flags(_ answer: Claim.Answer) -> [Int: Flags] {
        Dictionary(
            uniqueKeysWithValues: answer.messages.map { ($0.key.id, Flags($0.isAtMostOnce, $0.isValidateOnly)) })
    }

    @Test func oneClaimTellsThemApart() throws {
        let expected = [
            try queue("plain"): Flags(false, false),
            try queue("checked", ", validate_only", ", true"): Flags(false, true),
            try queue("once", ", delivery", ", 'at_most_once'"): Flags(true, false),
            try queue("both", ", validate_only, delivery", ", true, 'at_most_once'"): Flags(true, true),
        ]
        try queue("cancelled", ", cancelled_at", ", now()")
        try queue("cancelled and checked", ", cancelled_at, validate_only", ", now(), true")
        let answer = try claim()
        #expect(flags(answer) == expected)
        #expect(answer.taken == 6 && answer.cancelled == 2 && answer.expired == 0)
    }

    @Test func whatTheAppSaysOfDeliveryDoesNotHideIt() throws {
        try connection.script("UPDATE todoke.apps SET delivery = 'at_most_once' WHERE id = \(app)")
        let expected = [
            try queue("plain"): Flags(true, false),
            try queue("checked", ", validate_only", ", true"): Flags(true, true),
            try queue("more than once", ", validate_only, delivery", ", true, 'at_least_once'"): Flags(false, true),
        ]
        #expect(flags(try claim()) == expected)
    }

    @Test func whatComesBackIsStillOnlyToBeChecked() throws {
        try queue("checked", ", validate_only", ", true")
        let first = try #require(try claim().messages.first)
        let record = try #require(
            Record.batches(of: [
                MessageResult(key: first.key, next: .pending(delayMilliseconds: nil, isAttemptSpent: false))
            ]).first)
        #expect(try connection.query(record.statement(sender: 1), record.parameters).int(0, 0) == 1)
        #expect(try claim().messages.map(\.isValidateOnly) == [true], "it was given back")
        try connection.script("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE app = \(app)")
        #expect(try connection.query(Rescue.statement(apps: [app])).int(0, 0) == 1)
        #expect(try claim(sender: 2).messages.map(\.isValidateOnly) == [true], "it was rescued")
    }
}
