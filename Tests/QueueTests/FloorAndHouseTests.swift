import Postgres
import TestSupport
import Testing

@testable import Queue

/// Claims that go on from where the last one got to, what any sender does for all, and who counts as alive.
@Suite(.migratedDatabase) struct FloorAndHouseTests {
    private let connection: Connection
    private let day: Day
    private let app: Int
    private let name: String
    private let notification: Int

    /// Every test has an app of its own in the suite's database.
    init() throws {
        let fixture = try QueueFixture()
        connection = fixture.connection
        name = fixture.name
        app = fixture.app
        notification = fixture.notification
        day = fixture.day
    }

    /// Rows whose due times are given by an expression over `g` from 1.
    private func queue(_ count: Int, due: String, expires: String = "NULL") throws {
        try connection.script(
            """
            WITH m AS (INSERT INTO todoke.messages (day, notification, app, due_at, expires_at)
                SELECT \(day.sql), \(notification), \(app), \(due), \(expires) FROM generate_series(1, \(count)) AS g
                RETURNING id)
            INSERT INTO todoke.payloads (id, day, notification, target_kind, target, dedupe_key, payload)
            SELECT id, \(day.sql), \(notification), 'token', 't' || id, md5(id::text)::uuid, '{}' FROM m
            """)
    }

    private func claim(_ limit: Int, after floor: Claim.Floor? = nil) throws -> Claim.Answer {
        let claim = Claim(app: app, priority: 5, day: day, limit: limit, floor: floor)
        return claim.decode(
            try connection.query(claim.statement(sender: 1, leaseSeconds: 60), format: Claim.format))
    }

    private func count(_ condition: String) throws -> Int? {
        try connection.query("SELECT count(*) FROM todoke.messages WHERE app = \(app) AND \(condition)").int(0, 0)
    }

    /// Microseconds apart, and equal, and days apart: nothing is skipped, nothing comes twice.
    @Test(arguments: [
        "now() - interval '1 day' + g * interval '1 us'", "now() - interval '1 hour'",
        "TIMESTAMPTZ '1999-12-31 23:59:59.999990+00' + g * interval '1 us'", "now() - g * interval '7 hours'",
    ])
    func aFloorIsExact(due: String) throws {
        try queue(100, due: due)
        var seen: [Int] = []
        var floor: Claim.Floor?
        for _ in 0..<5 {
            let answer = try claim(20, after: floor)
            seen += answer.messages.map(\.key.id)
            floor = answer.floor
            #expect(floor != nil)
        }
        #expect(Set(seen).count == 100 && seen.count == 100)
        #expect(try claim(20, after: floor).taken == 0)
    }

    @Test func whatCameBackBehindTheFloorIsFoundWithoutIt() throws {
        try queue(20, due: "now() - g * interval '1 s'")
        let first = try claim(10)
        let floor = try #require(first.floor)
        let given = first.messages.map {
            MessageResult(key: $0.key, next: .pending(delayMilliseconds: nil, isAttemptSpent: false))
        }
        for record in Record.batches(of: given) {
            try connection.query(record.statement(sender: 1), record.parameters)
        }
        #expect(try claim(20, after: floor).taken == 10)
        #expect(try claim(20).taken == 10)
    }

    @Test func ageCountsFromTheFirstDueTimeAndAfterwardsFromTheFirstFailure() throws {
        try queue(1, due: "now() - interval '90 s'")
        let first = try #require(try claim(1).messages.first)
        #expect((90_000..<120_000).contains(first.ageInMilliseconds))
        let retry = MessageResult(
            key: first.key, next: .pending(delayMilliseconds: 0, isAttemptSpent: true), httpStatus: 503,
            errorCode: "UNAVAILABLE", outcome: "retry")
        let record = try #require(Record.batches(of: [retry]).first)
        try connection.query(record.statement(sender: 1), record.parameters)
        try connection.script("UPDATE todoke.attempts SET at = at - interval '600 s' WHERE app = \(app)")
        let second = try #require(try claim(1).messages.first)
        #expect((600_000..<630_000).contains(second.ageInMilliseconds))
    }

    @Test func whatIsSimplySentIsOneLeanStatementAndTheRestAreOthers() throws {
        try queue(4, due: "now()")
        let keys = try claim(4).messages.map(\.key).sorted { $0.id > $1.id }
        let results = [
            MessageResult(key: keys[0], next: .sent, httpStatus: 200, providerMessageID: "a\"\\,{NULL}é"),
            MessageResult(key: keys[1], next: .sent, httpStatus: 200),
            MessageResult(key: keys[2], next: .sent, httpStatus: 202),
            MessageResult(
                key: keys[3], next: .failed, httpStatus: 404, errorCode: "UNREGISTERED", outcome: "token_invalid"),
        ]
        let batches = Record.batches(of: results)
        #expect(batches.map(\.results.count) == [2, 2])
        #expect(batches[0].results.map(\.key.id) == [keys[1].id, keys[0].id], "locks are taken in id order")
        for batch in batches {
            #expect(try connection.query(batch.statement(sender: 1), batch.parameters).int(0, 0) == 2)
            #expect(try connection.query(batch.verification(sender: 1), batch.parameters).int(0, 0) == 2)
            #expect(try connection.query(batch.verification(sender: 2), batch.parameters).int(0, 0) == 0)
        }
        #expect(try count("state = 'sent' AND http_status = 200 AND attempts = 0") == 2)
        #expect(try count("provider_message_id = 'a\"\\,{NULL}é'") == 1)
        #expect(try count("state = 'sent' AND http_status = 202") == 1)
        #expect(try count("state = 'failed'") == 1)
    }

    /// What is given back at once, and what is rescued, wakes those that listen; a retry for later does not.
    @Test func whatIsDueAgainWakesTheListeners() throws {
        let listener = try ScratchDatabase.shared().connect()
        try listener.script("LISTEN \(Wake.channel)")
        func heard() throws -> Int {
            // Whatever was sent before this one has arrived with it.
            try connection.query("SELECT pg_notify('\(Wake.channel)', 'end')")
            var names: [String] = []
            while names.last != "end" {
                names += try listener.notifications(waitMilliseconds: 10_000).map(\.payload)
            }
            return names.count { $0 == name }
        }
        func record(_ delay: Int?) throws {
            let results = try claim(2).messages.map {
                MessageResult(key: $0.key, next: .pending(delayMilliseconds: delay, isAttemptSpent: false))
            }
            let batch = try #require(Record.batches(of: results).first)
            #expect(try connection.query(batch.statement(sender: 1), batch.parameters).int(0, 0) == 2)
        }
        try queue(2, due: "now()")
        try record(nil)
        #expect(try heard() == 1)
        #expect(try claim(2).taken == 2)
        try connection.script("UPDATE todoke.messages SET lease_until = now() - interval '1 s' WHERE app = \(app)")
        #expect(try connection.query(Rescue.statement(apps: [app])).int(0, 0) == 2)
        #expect(try heard() == 1)
        try record(60_000)
        #expect(try heard() == 0)
    }

    /// 1,500 due rows of which every third expired, and some that are not due: two steps reach the end.
    @Test func whatExpiredWhileNobodyClaimsEnds() throws {
        try queue(
            1_500, due: "now() - interval '2 hours' + g * interval '1 s'",
            expires: "CASE WHEN g % 3 = 0 THEN now() - interval '1 s' END")
        try queue(10, due: "now() + interval '1 hour'")
        let place = Work.Due(app: app, priority: 5, day: day)
        func step(_ floor: Claim.Floor?) throws -> Housekeeping.Step {
            Housekeeping.decode(
                try connection.query(Housekeeping.statement(place, after: floor), format: Housekeeping.format))
        }
        let other = try ScratchDatabase.shared().connect()
        try other.script("BEGIN")
        try other.query(
            "SELECT FROM todoke.messages WHERE app = \(app) AND expires_at < now() ORDER BY due_at LIMIT 1 FOR UPDATE")
        let first = try step(nil)
        #expect(first.expired == 332, "one of the 333 in the first thousand is locked")
        #expect(first.next != nil)
        let second = try step(first.next)
        #expect(second == Housekeeping.Step(expired: 167, next: nil))
        try other.script("ROLLBACK")
        #expect(try step(nil).expired == 1)
        #expect(try count("state = 'expired' AND finished_at IS NOT NULL") == 500)
        #expect(try count("state = 'pending'") == 1_010)
    }

    @Test func theWalkGoesOnBehindTheLastPlaceAndComesRound() throws {
        let places = [(9, 1), (5, 1), (5, 2), (1, 1)].map { Work.Due(app: $0.1, priority: $0.0, day: day) }
        #expect(Housekeeping.order(places, after: nil) == places)
        #expect(Housekeeping.order(places, after: places[1]) == [places[2], places[3], places[0], places[1]])
        #expect(Housekeeping.order(places, after: places[3]) == places)
        let gone = Work.Due(app: 1, priority: 6, day: day)
        #expect(Housekeeping.order(places, after: gone) == [places[1], places[2], places[3], places[0]])
        #expect(Housekeeping.order([], after: gone) == [])
    }

    @Test func theStepsOfHousekeepingAreLookups() throws {
        try queue(20_000, due: "now() - interval '2 hours' + g * interval '1 ms'", expires: "now() - interval '1 s'")
        let plan = try QueryPlan(
            Housekeeping.statement(Work.Due(app: app, priority: 5, day: day), after: nil), on: connection)
        #expect(plan.nodes.allSatisfy { $0.type != "Seq Scan" && $0.rowsRead <= Housekeeping.limit }, "\(plan.nodes)")
        #expect(plan.cost < 20_000)
    }

    @Test func sendersCountWhileTheyLive() throws {
        func register(heartbeat: String, stopped: String = "NULL") throws -> Int {
            let made = try connection.query(
                """
                INSERT INTO todoke.senders (host, pid, version, apps, heartbeat_at, stopped_at)
                VALUES ('h', 1, '0', ARRAY['other', $1], \(heartbeat), \(stopped)) RETURNING id
                """, [.text(name)])
            return try #require(made.int(0, 0))
        }
        func live(askedBy sender: Int?) throws -> Int? {
            let result = try connection.query(
                Work.appsStatement, [.array([Optional(name)]), .optional(sender)])
            return Work.decodeApps(result).first?.liveSenders
        }
        let late = try register(heartbeat: "now() - interval '1 hour'")
        #expect(try live(askedBy: late) == 1, "whoever asks is alive")
        let other = try register(heartbeat: "now() - interval '10 s'")
        #expect(try live(askedBy: late) == 2)
        #expect(try live(askedBy: other) == 1, "the late one does not count for others")
        _ = try register(heartbeat: "now()", stopped: "now()")
        #expect(try live(askedBy: other) == 1)
        let gone = try register(heartbeat: "now() - interval '31 days'")
        try connection.script(Housekeeping.sendersStatement)
        let left = try connection.query("SELECT count(*) FROM todoke.senders WHERE id IN (\(gone), \(late))")
        #expect(left.int(0, 0) == 1)
    }

    @Test func anAppSaysHowItDelivers() throws {
        func app() throws -> Work.App? {
            Work.decodeApps(try connection.query(Work.appsStatement, [.array([Optional(name)]), .null])).first
        }
        #expect(try app()?.isAtMostOnce == false)
        try connection.script("UPDATE todoke.apps SET delivery = 'at_most_once' WHERE name = '\(name)'")
        #expect(try app()?.isAtMostOnce == true)
    }
}
