import Delivery
import Foundation
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

/// Both ways into the queue: what the producer makes of a message, and what `todoke.enqueue` does.
@Suite("The producer and todoke.enqueue", .scratchDatabase(prepare: migrate))
struct EnqueueComparisonTests {
    private let database: ScratchDatabase
    private let folder: Folder

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
    }

    @Test("They make the same of a message", arguments: EnqueueCase.all)
    func messages(_ given: EnqueueCase) throws {
        let due = Int(Date.now.timeIntervalSince1970) + 86_400
        let template = try Template(
            Array(given.message.utf8),
            TemplateAdditions(
                notificationID: "n-1", collapseID: "n-1", image: given.image, expiresIn: given.expiresIn))
        var expected: [UInt8] = []
        var desk = RenderingDesk(TimeZones { _, _ in nil })
        #expect(template.render(TemplateRow(), &desk, into: &expected) == nil)
        _ = desk.expire(at: due + (given.expiresIn ?? 0), &expected)
        let report = MessageRules.check(expected.span)
        #expect(report.isValid, "\(report.errors)")
        let digits =
            given.expiresIn == nil ? nil : report.androidTTL.map { expected[$0.start..<($0.start + $0.length)] }

        let connection = try database.connect()
        try connection.script("BEGIN")
        let queued = try connection.query(
            """
            SELECT message_id FROM todoke.enqueue('recipes', 'n-1', NULL, $1, due_at => to_timestamp($2::int),
                expires_in => make_interval(secs => $3::int), image => $4)
            """,
            [
                .text(given.message), .int(due), given.expiresIn.map { .int($0) } ?? .null,
                given.image.map { .text($0) } ?? .null,
            ])
        let row = try connection.query(
            """
            SELECT payload::jsonb = $2::jsonb, payload,
                convert_from(substring(convert_to(payload::text, 'UTF8') FROM ttl_at + 1 FOR ttl_len), 'UTF8'), target_kind, target
            FROM todoke.payloads WHERE id = $1::bigint
            """, [.int(queued.int(0, 0) ?? 0), .utf8(expected)])
        #expect(row.bool(0, 0) == true, "\(row.string(0, 1)) is not \(String(decoding: expected, as: UTF8.self))")
        #expect(row.optionalString(0, 2) == digits.map { String(decoding: $0, as: UTF8.self) })
        #expect(row.string(0, 3) == report.target?.kind.rawValue && row.string(0, 4) == report.target?.value)
        try connection.script("ROLLBACK")
    }

    @Test(
        "They queue the same, whatever the notification's id",
        arguments: [
            String(repeating: "x", count: 64), String(repeating: "x", count: 65), String(repeating: "é", count: 33),
            " begins", "ends ", "tab\tinside", "\u{7F}", "\u{A0}wide", #"quote"\back"#,
            "n'; DROP TABLE todoke.apps; --",
        ])
    func identities(_ id: String) throws {
        let connection = try database.connect()
        try connection.script(
            "INSERT INTO todoke.apps (name, project_id) VALUES ('twin', 'p') ON CONFLICT (name) DO NOTHING")
        let due = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 86_400).rounded()).formatted(.iso8601)
        let message = #"{"token":"t-1","notification":{"title":"a"}}"#
        #expect(
            produce(
                database, id, "--template", try folder.file("t.json", message), "--audience",
                try folder.file("a.csv", "user_id\nuser 7\n"), "--at", due, "--expires-in", "60", "--priority", "9")
                == 0)
        let queued = try connection.query(
            """
            SELECT is_new, notification_id = $1 FROM todoke.enqueue('twin', $1, NULL, $2, due_at => $3::timestamptz,
                expires_in => '1 minute', user_id => 'user 7', priority => 9)
            """, [.text(id), .text(message), .text(due)])
        #expect(queued.bool(0, 0) == true && queued.bool(0, 1) == true)
        let rows = try connection.query(
            """
            SELECT count(*), p.payload::jsonb, p.target_kind, p.target, p.dedupe_key, p.user_id, p.ttl_len, m.due_at,
                m.expires_at, m.priority, m.state
            FROM todoke.payloads AS p JOIN todoke.messages AS m USING (id, day)
            JOIN todoke.notifications AS n ON n.id = p.notification
            WHERE n.notification_id = $1 GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
            """, [.text(id)])
        #expect(rows.int(0, 0) == 2, "\((0..<rows.rowCount).map { rows.string($0, 1) })")
    }

    @Test("Whichever comes first, a target is queued once", arguments: [true, false])
    func once(_ producerFirst: Bool) throws {
        let id = "once-\(producerFirst)"
        let template = try folder.file("t.json", #"{"token":"{{token}}","notification":{"title":"a"}}"#)
        let audience = try folder.file("a.csv", "token\nt-1\nt-2\n")
        func run() { #expect(produce(database, id, "--template", template, "--audience", audience) == 0) }
        if producerFirst { run() }
        let connection = try database.connect()
        let queued = try connection.query(
            "SELECT is_new FROM todoke.enqueue('recipes', $1, 't-1', '{\"notification\":{\"title\":\"b\"}}')",
            [.text(id)])
        #expect(queued.bool(0, 0) == !producerFirst)
        run()
        #expect(try database.queued(id) == [2, 2])
    }

    @Test("What a producer's run and an application are about by name is queued once", arguments: [true, false])
    func onceByName(_ producerFirst: Bool) throws {
        let id = "by-\(producerFirst)"
        let template = try folder.file("t.json", #"{"token":"{{token}}","notification":{"title":"a"}}"#)
        let audience = try folder.file("a.csv", "token,order\nt-1,7\nt-2,8\n")
        func run() {
            #expect(
                produce(database, id, "--template", template, "--audience", audience, "--dedupe-by", "order") == 0)
        }
        if producerFirst { run() }
        let connection = try database.connect()
        let queued = try connection.query(
            "SELECT is_new FROM todoke.enqueue('recipes', $1, 't-9', '{\"data\":{}}', dedupe_by => '7')", [.text(id)])
        #expect(queued.bool(0, 0) == !producerFirst)
        run()
        #expect(try database.queued(id) == [2, 2])
    }
}
