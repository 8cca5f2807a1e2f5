import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

@Suite("Schedules", .scratchDatabase(prepare: migrate))
struct ScheduleTests {
    private let database: ScratchDatabase
    private let folder: Folder

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
    }

    private static let template = #"{"token":"{{token}}","notification":{"title":"x"},"android":{"ttl":"90000s"}}"#

    private func files(_ audience: String) throws -> [String] {
        [
            "--template", try folder.file("t.json", Self.template), "--audience",
            try folder.file("a.csv", audience),
        ]
    }

    private func run(_ id: String, _ audience: String, _ options: String...) throws -> Failure? {
        let given =
            ["--app", "recipes", "--notification-id", id, "--database-url", database.connectionString]
            + (try files(audience)) + options
        guard case .run(let parsed) = try ProducerOptions.table.parse(arguments: given, environment: [:]) else {
            return nil
        }
        do {
            var run = try ProducerRun(ProducerOptions(parsed))
            _ = try run.run()
            return nil
        } catch { return error }
    }

    /// By target: one value of its message.
    private func values(_ id: String, _ expression: String) throws -> [String: String] {
        let found = try database.connect().query(
            """
            SELECT p.target, (\(expression))::text FROM todoke.messages AS m JOIN todoke.payloads AS p USING (id, day)
            JOIN todoke.notifications AS n ON n.id = m.notification WHERE n.notification_id = $1
            """, [.text(id)])
        return Dictionary(
            uniqueKeysWithValues: (0..<found.rowCount).map { (found.string($0, 0), found.string($0, 1)) })
    }

    private func shiftedDay(_ days: Int, _ format: String = "YYYY-MM-DD") throws -> String {
        try database.connect().query(
            "SELECT to_char((now() AT TIME ZONE 'UTC')::date + $1::int, $2)", [.int(days), .text(format)]
        ).string(0, 0)
    }

    @Test("--at is when all are due, and what expires counts from there")
    func at() throws {
        let day = try shiftedDay(2)
        #expect(try run("at", "token\na\nb\n", "--at", "\(day)T18:00:00+09:00", "--expires-in", "1d") == nil)
        let due = "to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"
        #expect(try values("at", due) == ["a": "\(day) 09:00:00", "b": "\(day) 09:00:00"])
        #expect(try values("at", "m.expires_at - m.due_at = interval '1 day'") == ["a": "true", "b": "true"])
        let header = "(p.payload #>> '{apns,headers,apns-expiration}')::bigint = extract(epoch FROM m.expires_at)"
        #expect(try values("at", header) == ["a": "true", "b": "true"])
        #expect(try values("at", "p.payload #>> '{android,ttl}'")["a"] == "86400s")
        #expect(
            try values(
                "at", "substr(convert_from(convert_to(p.payload::text, 'UTF8'), 'UTF8'), p.ttl_at + 1, p.ttl_len)")[
                    "a"] == "86400")
        // The same again changes nothing; another time is another definition.
        #expect(try run("at", "token\na\nb\nc\n", "--at", "\(day)T18:00:00+09:00", "--expires-in", "86400") == nil)
        #expect(try values("at", due)["c"] == "\(day) 09:00:00")
        let other = try run("at", "token\nd\n", "--at", "\(day)T18:00:01+09:00", "--expires-in", "1d")
        #expect(other?.exit == .data && other?.remedy.contains("--append") == true)
    }

    @Test("--at-local is the next such time in each row's zone; a row without a zone is refused")
    func atLocal() throws {
        let day = try shiftedDay(2)
        let audience = "token,tz\ntokyo,Asia/Tokyo\nla,America/Los_Angeles\nmars,Mars/Base\nnone,\nutc,UTC\n"
        let failure = try run(
            "local", audience, "--at", "\(day)T10:00:00Z", "--at-local", "09:00", "--timezone-column", "tz")
        #expect(failure == nil)
        let next =
            "m.due_at AT TIME ZONE CASE p.target WHEN 'tokyo' THEN 'Asia/Tokyo' WHEN 'la' THEN 'America/Los_Angeles' ELSE 'UTC' END"
        #expect(
            try values("local", "to_char(\(next), 'HH24:MI')") == ["tokyo": "09:00", "la": "09:00", "utc": "09:00"])
        let soon = "m.due_at >= '\(day)T10:00:00Z' AND m.due_at < '\(day)T10:00:00Z'::timestamptz + interval '1 day'"
        #expect(try Set(values("local", soon).values) == ["true"])
        let reasons = try database.connect().query(
            """
            SELECT reason FROM todoke.rejections AS r JOIN todoke.notifications AS n ON n.id = r.notification
            WHERE n.notification_id = 'local' ORDER BY line
            """)
        #expect(reasons.string(0, 0) == "there is no time zone \"Mars/Base\"")
        #expect(reasons.string(1, 0) == "there is no time zone")
        let filled = try run(
            "filled", audience, "--at-local", "09:00", "--timezone-column", "tz", "--default-timezone", "Asia/Tokyo")
        #expect(filled == nil)
        #expect(try values("filled", "to_char(m.due_at AT TIME ZONE 'Asia/Tokyo', 'HH24:MI')")["mars"] == "09:00")
    }

    @Test("--spread gives each target its place in the time, the same in every run, evenly")
    func spread() throws {
        let audience = "token\n" + (0..<2_000).map { "s\($0)\n" }.joined()
        let day = try shiftedDay(1)
        #expect(try run("spread", audience, "--at", "\(day)T09:00:00Z", "--spread", "10m") == nil)
        let seconds = "extract(epoch FROM m.due_at - '\(day)T09:00:00Z'::timestamptz)"
        let found = try values("spread", seconds).compactMapValues(Double.init)
        #expect(found.count == 2_000 && found.values.allSatisfy { (0..<600).contains($0) })
        for minute in 0..<10 {
            let count = found.values.count { Int($0 / 60) == minute }
            #expect((140...260).contains(count), "minute \(minute): \(count)")
        }
        #expect(try run("again", audience, "--at", "\(day)T09:00:00Z", "--spread", "10m") == nil)
        #expect(try values("again", seconds).compactMapValues(Double.init) == found)
    }

    @Test("--dedupe-by is one message for each value, the first row's")
    func dedupeBy() throws {
        let audience = "token,user_id\nnew,u1\nold,u1\nother,u2\nnobody,\n"
        #expect(try run("by", audience, "--dedupe-by", "user_id") == nil)
        #expect(try values("by", "p.user_id") == ["new": "u1", "other": "u2"])
        #expect(try run("by", "token,user_id\nlater,u2\nthird,u3\n", "--dedupe-by", "user_id") == nil)
        #expect(try values("by", "p.user_id") == ["new": "u1", "other": "u2", "third": "u3"])
    }

    @Test(
        "What is no schedule is a usage error that says what would be",
        arguments: [
            ["--at", "tomorrow"], ["--at", "2026-12-24T18:00:00"], ["--at", "2026-12-24"], ["--at", "1796032800"],
            ["--at-local", "9:00", "--timezone-column", "tz"], ["--at-local", "09:00"], ["--timezone-column", "tz"],
            ["--default-timezone", "UTC"], ["--at-local", "09:00", "--default-timezone", "Mars"], ["--spread", "0"],
            ["--spread", "-1m"], ["--spread", "10 m"], ["--spread", "29d"], ["--expires-in", "99999999999999999999d"],
        ])
    func faults(_ options: [String]) throws {
        let given = ["--app", "a", "--notification-id", "n"] + (try files("token\na\n")) + options
        #expect {
            guard case .run(let parsed) = try ProducerOptions.table.parse(arguments: given, environment: [:]) else {
                return
            }
            _ = try ProducerOptions(parsed)
        } throws: { ($0 as? Failure)?.exit == .usage }
    }

    @Test("A moment too far ahead is refused before anything is queued, and a column that is not there too")
    func tooFar() throws {
        #expect(try run("far", "token\na\n", "--at", "\(shiftedDay(30))T09:00:00Z")?.exit == .usage)
        #expect(try values("far", "1").isEmpty)
        let missing = try run("missing", "token\na\n", "--at-local", "09:00", "--timezone-column", "tz")
        #expect(missing?.exit == .data && missing?.what.contains("--timezone-column") == true)
        #expect(try run("missing", "token\na\n", "--dedupe-by", "user")?.exit == .data)
    }
}
