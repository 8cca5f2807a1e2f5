import Postgres
import TestSupport
import Testing

@testable import Queue

/// The statements of the sender on a real server: what they change, and what they leave alone.
@Suite(.migratedDatabase) struct ClaimAndRecordTests {
    private let connection: Connection
    private let day: Day
    private let app: Int
    private let notification: Int

    /// Every test has an app of its own in the suite's database.
    init() throws {
        let fixture = try QueueFixture()
        connection = fixture.connection
        app = fixture.app
        notification = fixture.notification
        day = fixture.day
    }

    private func queue(_ count: Int, _ columns: String = "", _ values: String = "") throws {
        try connection.script(
            """
            WITH ids AS (SELECT nextval('todoke.message_id_seq') AS id, g FROM generate_series(1, \(count)) AS g),
            m AS (INSERT INTO todoke.messages (id, day, notification, app\(columns.isEmpty ? "" : ", " + columns))
                SELECT id, \(day.sql), \(notification), \(app)\(values.isEmpty ? "" : ", " + values) FROM ids)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(day.sql), \(notification), 'token', 't' || g, md5(g::text)::uuid, '{"token": "é\\u0041" }' FROM ids
            """)
    }

    private func claim(_ limit: Int = 500, sender: Int = 1, lease: Int = 60) throws -> Claim.Answer {
        let claim = Claim(app: app, priority: 5, day: day, limit: limit)
        return try perform(claim, on: connection, sender: sender, lease: lease)
    }

    private func perform(
        _ claim: Claim, on connection: Connection, sender: Int = 1, lease: Int = 60
    ) throws -> Claim.Answer {
        let statement = claim.statement(sender: sender, leaseSeconds: lease)
        return claim.decode(try connection.query(statement, format: Claim.format))
    }

    @discardableResult
    private func record(_ results: [MessageResult], sender: Int = 1) throws -> Int {
        try Record.batches(of: results).reduce(0) {
            $0 + (try connection.query($1.statement(sender: sender), $1.parameters).int(0, 0) ?? 0)
        }
    }

    private func states() throws -> [String: Int] {
        let result = try connection.query(
            "SELECT state, count(*) FROM todoke.messages WHERE app = $1::int GROUP BY 1", [.int(app)])
        return Dictionary(
            uniqueKeysWithValues: (0..<result.rowCount).map { (result.string($0, 0), result.int($0, 1) ?? 0) })
    }

    private func value(_ column: String) throws -> String? {
        try connection.query("SELECT \(column) FROM todoke.messages WHERE app = $1::int", [.int(app)]).optionalString(
            0, 0)
    }

    @Test func aClaimGivesThePayloadByteForByte() throws {
        try queue(1)
        let message = try #require(try claim().messages.first)
        #expect(String(decoding: message.payload, as: UTF8.self) == #"{"token": "é\u0041" }"#)
        #expect(message.key.claimNumber == 1)
        #expect(try states() == ["sending": 1])
    }

    @Test func twoSendersNeverHoldTheSameMessage() throws {
        try queue(1_000)
        let other = try ScratchDatabase.shared().connect()
        try connection.script("BEGIN")
        try other.script("BEGIN")
        let first = try claim(300, sender: 1).messages.map(\.key.id)
        let claim = Claim(app: app, priority: 5, day: day, limit: 500)
        let second = try perform(claim, on: other, sender: 2).messages.map(\.key.id)
        try connection.script("COMMIT")
        try other.script("COMMIT")
        #expect(first.count == 300)
        #expect(second.count == 500)
        #expect(Set(first).isDisjoint(with: second))
    }

    @Test func whatIsNotDueOrOfAnotherPriorityStays() throws {
        try queue(2, "due_at", "now() + interval '1 hour'")
        try connection.script(
            "UPDATE todoke.messages SET due_at = now(), priority = 9 WHERE app = \(app) AND id = (SELECT min(id) FROM todoke.messages WHERE app = \(app))"
        )
        #expect(try claim().taken == 0)
        #expect(try states() == ["pending": 2])
    }

    @Test func whatExpiredBeforeTheClaimIsNotGivenOut() throws {
        try queue(3, "due_at, expires_at", "now() - interval '2 hours', now() - interval '1 hour'")
        let answer = try claim()
        #expect(answer.messages.isEmpty)
        #expect(answer.taken == 3, "the batch was full, there may be more behind it")
        #expect(answer.expired == 3 && answer.cancelled == 0)
        #expect(try states() == ["expired": 3])
    }

    @Test func lifeIsCountedByTheDatabase() throws {
        try queue(1, "expires_at", "now() + interval '90 s'")
        let life = try #require(try claim().messages.first?.expiresInMilliseconds)
        #expect((80_000...90_000).contains(life))
    }

    @Test func anEndlessExpiryIsNoExpiry() throws {
        try queue(1, "expires_at", "'infinity'")
        #expect(try claim().messages.map(\.expiresInMilliseconds) == [nil])
    }

    @Test func sentWritesOnlyTheRow() throws {
        try queue(2)
        let results = try claim().messages.map {
            MessageResult(key: $0.key, next: .sent, httpStatus: 200, providerMessageID: "0:1%2")
        }
        #expect(try record(results) == 2)
        #expect(try states() == ["sent": 2])
        #expect(try value("provider_message_id || ' ' || http_status || ' ' || attempts") == "0:1%2 200 0")
        #expect(try attempts() == [])
    }

    private func attempts() throws -> [String] {
        let result = try connection.query(
            """
            SELECT outcome || ' ' || coalesce(error_code, '-') || ' ' || attempt_no || ' ' || (retry_at IS NOT NULL)
            FROM todoke.attempts WHERE app = $1::int
            """, [.int(app)])
        return (0..<result.rowCount).map { result.string($0, 0) }
    }

    @Test func aFailureTellsItsStory() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        try record([
            MessageResult(
                key: key, next: .failed, httpStatus: 404, errorCode: "UNREGISTERED", outcome: "token_invalid",
                detail: "gone")
        ])
        #expect(try states() == ["failed": 1])
        #expect(try attempts() == ["token_invalid UNREGISTERED 1 false"])
    }

    @Test func whatWasSentAtASecondPostTellsOfTheFirst() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        try record([
            MessageResult(
                key: key, next: .sent, httpStatus: 200, errorCode: "OUTCOME_UNKNOWN", providerMessageID: "0:1",
                outcome: "unknown", detail: "no answer")
        ])
        #expect(try states() == ["sent": 1])
        #expect(try attempts() == ["unknown OUTCOME_UNKNOWN 0 true"], "it was tried again, so it is no final failure")
        let statuses = try connection.query("SELECT http_status FROM todoke.attempts WHERE app = $1::int", [.int(app)])
        #expect(statuses.rowCount == 1 && statuses.isNull(0, 0), "that post had no answer")
        let row = "coalesce(error_code, '-') || ' ' || provider_message_id || ' ' || http_status"
        #expect(try value(row) == "- 0:1 200")
    }

    @Test func aRetryWaitsWithItsAttemptSpent() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        try record([
            MessageResult(
                key: key, next: .pending(delayMilliseconds: 60_000, isAttemptSpent: true), httpStatus: 503,
                errorCode: "UNAVAILABLE", outcome: "retry")
        ])
        #expect(
            try value("attempts || ' ' || (due_at > now() + interval '50 s') || ' ' || (lease_until IS NULL)")
                == "1 true true")
        #expect(try attempts() == ["retry UNAVAILABLE 1 true"])
        #expect(try claim().taken == 0)
    }

    @Test func aReleaseLeavesNoTrace() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        let before = try value("due_at")
        try record([MessageResult(key: key, next: .pending(delayMilliseconds: nil, isAttemptSpent: false))])
        #expect(try value("due_at") == before)
        #expect(try value("attempts") == "0")
        #expect(try attempts() == [])
        #expect(try claim().messages.map(\.key.claimNumber) == [2], "the fence moves on")
    }

    @Test func aRetryThatWouldPassItsExpiryIsExpiredNow() throws {
        try queue(1, "expires_at", "now() + interval '30 s'")
        let key = try #require(try claim().messages.first?.key)
        try record([
            MessageResult(key: key, next: .pending(delayMilliseconds: 60_000, isAttemptSpent: true), outcome: "retry")
        ])
        #expect(try states() == ["expired": 1])
    }

    @Test func aCancelledNotificationIsNotTriedAgain() throws {
        try queue(2)
        let keys = try claim().messages.map(\.key)
        try connection.script("UPDATE todoke.notifications SET cancelled_at = now() WHERE id = \(notification)")
        try record([
            MessageResult(
                key: keys[0], next: .pending(delayMilliseconds: 1_000, isAttemptSpent: true), outcome: "retry"),
            MessageResult(key: keys[1], next: .sent, httpStatus: 200),
        ])
        #expect(try states() == ["cancelled": 1, "sent": 1], "a known outcome is kept")
    }

    @Test func whatIsPendingOfACancelledNotificationIsNotGivenOut() throws {
        try queue(3)
        try connection.script("UPDATE todoke.notifications SET cancelled_at = now() WHERE id = \(notification)")
        let answer = try claim()
        #expect(answer.messages.isEmpty)
        #expect(answer.cancelled == 3 && answer.expired == 0)
        #expect(try states() == ["cancelled": 3])
    }

    @Test func aResultWithoutTheLeaseIsRefused() throws {
        try queue(1)
        let old = try #require(try claim(sender: 1, lease: 60).messages.first?.key)
        try connection.script("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE app = \(app)")
        #expect(try connection.query(Rescue.statement(apps: [app])).int(0, 0) == 1)
        let new = try #require(try claim(sender: 2).messages.first?.key)
        #expect(new.claimNumber == 2)
        #expect(try record([MessageResult(key: old, next: .sent)], sender: 1) == 0)
        #expect(try record([MessageResult(key: old, next: .sent)], sender: 2) == 0)
        #expect(try record([MessageResult(key: new, next: .sent)], sender: 1) == 0)
        #expect(try states() == ["sending": 1])
        #expect(try record([MessageResult(key: new, next: .sent)], sender: 2) == 1)
        #expect(try attempts() == ["unknown LEASE_EXPIRED 0 true"])
    }

    @Test func aBatchThatRanTwiceIsFoundToBeThere() throws {
        try queue(3)
        let results = try claim().messages.map { MessageResult(key: $0.key, next: .sent, httpStatus: 200) }
        #expect(try record(results) == 3)
        #expect(try record(results) == 0)
        let batch = try #require(Record.batches(of: results).first)
        #expect(try connection.query(batch.verification(sender: 1), batch.parameters).int(0, 0) == 3)
        #expect(try connection.query(batch.verification(sender: 2), batch.parameters).int(0, 0) == 0)
    }

    @Test func aMessageWithoutPayloadIsClaimedToBeEnded() throws {
        try queue1(due: "now()", priority: 5)
        let answer = try claim()
        #expect(answer.messages.isEmpty)
        #expect(answer.withoutPayload.count == 1)
        #expect(try states() == ["sending": 1])
    }

    @Test func duplicateRiskIsWrittenWithTheResults() throws {
        let sender = try #require(
            try connection.query(
                "INSERT INTO todoke.senders (host, pid, version, apps) VALUES ('h', 1, '0', '{}') RETURNING id"
            )
            .int(0, 0))
        func risk() throws -> Int? {
            try connection.query("SELECT duplicate_risk FROM todoke.senders WHERE id = $1::bigint", [.int(sender)]).int(
                0, 0)
        }
        try queue(1)
        let key = try #require(try claim(sender: sender).messages.first?.key)
        let batch = try #require(Record.batches(of: [MessageResult(key: key, next: .sent)]).first)
        let statement = batch.statement(sender: sender, duplicateRisk: 7)
        #expect(try connection.query(statement, batch.parameters).int(0, 0) == 1)
        #expect(try risk() == 7)
        try connection.query(batch.statement(sender: sender, duplicateRisk: 3), batch.parameters)
        #expect(try risk() == 7, "it never shrinks")
    }

    @Test func aProvidersTextWithANULIsRecordable() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        #expect(try record([MessageResult(key: key, next: .sent, providerMessageID: "0:1\0")]) == 1)
        #expect(try states() == ["sent": 1])
    }

    @Test func endlessDueTimesDoNotStopTheSender() throws {
        try queue1(due: "'infinity'", priority: 4)
        try queue1(due: "'-infinity'", priority: 3)
        let answer = Work.decodeDue(try connection.query(Work.dueStatement(apps: [app], days: [day])))
        #expect(answer.due == [Work.Due(app: app, priority: 3, day: day)])
        #expect(answer.nextInMilliseconds == 86_400_000)
        #expect(answer.oldestDueMilliseconds == [app: 86_400_000], "a day says enough")
        let claim = Claim(app: app, priority: 3, day: day, limit: 1)
        let taken = try perform(claim, on: connection)
        #expect(taken.taken == 1)
        #expect(taken.floor == nil, "there is nothing to go on from")
    }

    @Test func anUnknownOutcomeSpendsNoAttempt() throws {
        try queue(1)
        let key = try #require(try claim().messages.first?.key)
        try record([MessageResult(key: key, next: .failed, errorCode: "OUTCOME_UNKNOWN", outcome: "unknown")])
        #expect(try value("attempts") == "0")
    }

    @Test func aLiveLeaseIsNotRescued() throws {
        try queue(2)
        _ = try claim()
        #expect(try connection.query(Rescue.statement(apps: [app])).int(0, 0) == 0)
        #expect(try states() == ["sending": 2])
    }

    @Test func atMostOnceIsNotSentAgainAfterALostLease() throws {
        try queue(1)
        try connection.script("UPDATE todoke.apps SET delivery = 'at_most_once' WHERE id = \(app)")
        #expect(try claim().messages.map(\.isAtMostOnce) == [true])
        try connection.script("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE app = \(app)")
        _ = try connection.query(Rescue.statement(apps: [app]))
        #expect(try value("state || ' ' || error_code") == "failed OUTCOME_UNKNOWN")
    }

    @Test func whereSomethingIsDueAndWhenTheNextIs() throws {
        try queue(2)
        try queue1(due: "now() + interval '20 s'", priority: 9)
        let days = Work.decodeDays(try connection.query(Work.daysStatement))
        #expect(days.contains(day))
        let answer = Work.decodeDue(try connection.query(Work.dueStatement(apps: [app], days: days)))
        #expect(answer.due == [Work.Due(app: app, priority: 5, day: day)])
        #expect((15_000...20_000).contains(answer.nextInMilliseconds ?? 0))
        #expect((0...5_000).contains(answer.oldestDueMilliseconds[app] ?? -1))
        let urgent = Work.dueStatement(apps: [app], days: days, priorities: Work.urgentPriorities)
        #expect(Work.decodeDue(try connection.query(urgent)).due.isEmpty, "the urgent one is not due")
    }

    private func queue1(due: String, priority: Int) throws {
        try connection.script(
            """
            INSERT INTO todoke.messages (day, notification, app, due_at, priority)
            VALUES (\(day.sql), \(notification), \(app), \(due), \(priority))
            """)
    }

    @Test func whatHoldsADrain() throws {
        func isUnfinished() throws -> Bool? {
            try connection.query(Work.unfinishedStatement(apps: [app])).bool(0, 0)
        }
        try queue(1, "due_at", "now() + interval '1 hour'")
        #expect(try isUnfinished() == false, "scheduled first attempts do not")
        try queue2()
        let key = try #require(try claim().messages.first?.key)
        #expect(try isUnfinished() == true, "somebody is sending")
        try record([
            MessageResult(key: key, next: .pending(delayMilliseconds: 60_000, isAttemptSpent: true), outcome: "retry")
        ])
        #expect(try isUnfinished() == true, "waiting for a retry")
    }

    private func queue2() throws {
        try connection.script(
            """
            WITH m AS (INSERT INTO todoke.messages (day, notification, app) VALUES (\(day.sql), \(notification), \(app)) RETURNING id)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(day.sql), \(notification), 'topic', 'news', md5('x')::uuid, '{"topic":"news"}' FROM m
            """)
    }
}
