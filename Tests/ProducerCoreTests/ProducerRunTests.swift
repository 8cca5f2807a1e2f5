import Delivery
import Foundation
import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

@Suite("Producer runs", .scratchDatabase(prepare: migrate))
struct ProducerRunTests {
    private let database: ScratchDatabase
    private let folder: Folder

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
    }

    private static let hostile = [
        "👩‍🍳👨‍👩‍👧‍👦", "e\u{301}\u{323}\u{302}", "שלום \u{202E}abc", "\"quoted\" ,comma,", "back\\slash\\n",
        "line\nbreak\r\nand\rmore",
        "\u{2028}\u{2029}", "𠮷𝄞", "\u{7F}\u{1}tab\t", "{{title}}", "\\N", "\\.",
    ]

    private func titles(_ id: String) throws -> [[UInt8]] {
        let found = try database.connect().query(
            """
            SELECT payload->'notification'->>'title' FROM todoke.payloads AS p
            JOIN todoke.notifications AS n ON n.id = p.notification WHERE notification_id = $1 ORDER BY p.id
            """, [.text(id)])
        return (0..<found.rowCount).map { found.bytes($0, 0) }
    }

    @Test("Text that breaks naive code arrives intact from CSV, NDJSON and SQL", arguments: ["csv", "ndjson", "sql"])
    func text(_ kind: String) throws {
        let template = try folder.file("t.json", simpleTemplate)
        let rows = Self.hostile.enumerated().map { (token: "t\($0.offset)", title: $0.element) }
        let audience: [String]
        switch kind {
        case "csv":
            let lines = rows.map { row in
                let title = row.title.replacing("\"", with: "\"\"")
                return "\(row.token),\"\(title)\",https://e.org/i.png"
            }
            let file = try folder.file("a.csv", "\u{FEFF}" + (["token,title,image"] + lines).joined(separator: "\r\n"))
            audience = ["--audience", file]
        case "ndjson":
            let lines = try rows.map { row in
                let object = ["token": row.token, "title": row.title, "image": "https://e.org/i.png"]
                return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
            }
            audience = ["--audience", try folder.file("a.ndjson", lines.joined(separator: "\n"))]
        default:
            let connection = try database.connect()
            try connection.script("CREATE TABLE hostile (n int, title text)")
            for row in rows {
                try connection.query(
                    "INSERT INTO hostile VALUES ($1::int, $2)",
                    [.text(String(row.token.dropFirst())), .text(row.title)])
            }
            let query =
                "SELECT 't' || n AS token, title, 'https://e.org/i.png' AS image FROM hostile ORDER BY n; -- end"
            audience = ["--audience-sql", try folder.file("q.sql", query)]
        }
        let id = "text-\(kind)"
        #expect(produce(database, id, "--template", template, audience[0], audience[1]) == 0)
        #expect(try titles(id) == Self.hostile.map { Array($0.utf8) })
        #expect(
            try database.count(
                """
                SELECT count(*) FROM todoke.payloads WHERE payload->'data'->>'notification_id' = $1
                AND payload->'notification'->>'image' = 'https://e.org/i.png'
                AND payload->'android'->'notification'->>'image' = 'https://e.org/i.png'
                AND payload->'apns'->'fcm_options'->>'image' = 'https://e.org/i.png'
                AND payload->'apns'->'payload'->'aps'->>'mutable-content' = '1'
                """, [.text(id)]) == Self.hostile.count)
    }

    @Test("The same line again queues nothing, and a longer audience only what is new")
    func again() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let lines = (0..<1_500).map { "token\($0),hello,\n" }
        let audience = try folder.file("a.csv", "token,title,image\n" + lines[..<1_000].joined())
        for _ in 0..<2 { #expect(produce(database, "again", "--template", template, "--audience", audience) == 0) }
        #expect(try database.queued("again") == [1_000, 1_000])
        _ = try folder.file("a.csv", "token,title,image\n" + lines[500...].joined())
        #expect(produce(database, "again", "--template", template, "--audience", audience) == 0)
        #expect(try database.queued("again") == [1_500, 1_500])
        let row = try database.connect().query(
            """
            SELECT queued, already_queued, rejected, run_id IS NULL, loaded_at IS NOT NULL
            FROM todoke.notifications WHERE notification_id = 'again'
            """)
        #expect((0..<3).map { row.int(0, $0) } == [1_500, 500, 0])
        #expect(row.bool(0, 3) == true && row.bool(0, 4) == true)
    }

    @Test("A target that is in the audience twice is queued once, near by and far apart")
    func duplicates() throws {
        let template = try folder.file("t.json", simpleTemplate)
        var lines = (0..<1_500).map { "token\($0),hello,\n" }
        lines.insert("token0,again,\n", at: 1)
        lines.append("token5,again,\n")
        lines.append("token1499,again,\n")
        let audience = try folder.file("a.csv", "token,title,image\n" + lines.joined())
        #expect(produce(database, "twice", "--template", template, "--audience", audience) == 0)
        #expect(try database.queued("twice") == [1_500, 1_500])
        #expect(
            try database.count("SELECT already_queued FROM todoke.notifications WHERE notification_id = 'twice'") == 3)
    }

    @Test("Refused rows are recorded with line, reason and input, good ones queued, and a rerun does not double them")
    func rejections() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let text: [UInt8] =
            Array("token,title,image\na,\"x\ny\",\n,empty,\nb,".utf8) + [0xFF]
            + Array(",\nc,n\0l,\nd\ne,ok,nope\nf,ok,\n".utf8)
        let audience = try folder.file("a.csv", text)
        for _ in 0..<2 { #expect(produce(database, "bad", "--template", template, "--audience", audience) == 65) }
        #expect(try database.queued("bad") == [2, 2])
        let found = try database.connect().query(
            """
            SELECT line, reason, input FROM todoke.rejections AS r JOIN todoke.notifications AS n ON n.id = r.notification
            WHERE notification_id = 'bad' ORDER BY line
            """)
        #expect((0..<found.rowCount).map { found.int($0, 0) } == [4, 5, 6, 7, 8])
        let reasons = (0..<found.rowCount).map { found.string($0, 1) }
        for (reason, part) in zip(reasons, ["message.token", "UTF-8", "NUL", "1 fields", "image"]) {
            #expect(reason.contains(part))
        }
        #expect(found.string(2, 2) == "c,n\u{2400}l,")
        #expect(try database.count("SELECT rejected FROM todoke.notifications WHERE notification_id = 'bad'") == 5)
    }

    @Test("--max-rejections stops, and says so")
    func mostRejections() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let audience = try folder.file("a.csv", "token,title,image\na,b,\n,b,\n,b,\nc,d,\n")
        let failure = try outcome(
            database, "most", "--template", template, "--audience", audience, "--max-rejections", "1")
        #expect(failure?.exit == .data)
        #expect(failure?.what.contains("line 4") == true)
        #expect(try database.queued("most") == [1, 1])
        #expect(
            try database.count(
                "SELECT count(*) FROM todoke.notifications WHERE notification_id = 'most' AND run_id IS NULL AND loaded_at IS NULL"
            ) == 1)
    }

    @Test("Expiry is in the row, in the payload, and the ttl's digits are where the row says")
    func expiry() throws {
        let template = try folder.file(
            "t.json", #"{"token":"{{token}}","notification":{"title":"é{{title}}"},"android":{"ttl":"{{ttl}}s"}}"#)
        let audience = try folder.file("a.csv", "token,title,ttl\na,👩‍🍳,86400\nb,x,60\n")
        let arguments = ["--template", template, "--audience", audience, "--expires-in", "3600", "--priority", "9"]
        #expect(
            produce(
                database, "expiry", arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5],
                arguments[6], arguments[7]) == 0)
        let found = try database.connect().query(
            """
            SELECT convert_from(substring(convert_to(payload::text, 'UTF8') FROM ttl_at + 1 FOR ttl_len), 'UTF8'),
                payload->'android'->>'ttl', extract(epoch FROM expires_at - due_at)::int,
                payload->'apns'->'headers'->>'apns-expiration' = floor(extract(epoch FROM expires_at))::bigint::text,
                priority
            FROM todoke.messages AS m JOIN todoke.payloads AS p USING (id, day)
            JOIN todoke.notifications AS n ON n.id = m.notification WHERE notification_id = 'expiry' ORDER BY m.id
            """)
        #expect((0..<2).map { found.string($0, 0) } == ["3600", "60"])
        #expect((0..<2).map { found.string($0, 1) } == ["3600s", "60s"])
        #expect((0..<2).map { found.int($0, 2) } == [3_600, 3_600])
        #expect((0..<2).map { found.bool($0, 3) } == [true, true])
        #expect(found.int(0, 4) == 9)
    }

    @Test("Under the same id another template, audience or image is refused, and --append takes it")
    func definition() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let other = try folder.file("o.json", simpleTemplate.replacing("token", with: "fid", maxReplacements: 1))
        let audience = try folder.file("a.csv", "token,title,image\na,b,\n")
        let another = try folder.file("b.csv", "token,title,image\nc,d,\n")
        #expect(produce(database, "def", "--template", template, "--audience", audience) == 0)
        let refused = [
            try outcome(database, "def", "--template", other, "--audience", audience),
            try outcome(database, "def", "--template", template, "--audience", another),
            try outcome(database, "def", "--template", template, "--audience", audience, "--expires-in", "60"),
        ]
        for failure in refused {
            #expect(failure?.exit == .data)
            #expect(failure?.remedy.contains("--append") == true)
        }
        #expect(try database.queued("def") == [1, 1])
        #expect(produce(database, "def", "--template", other, "--audience", another, "--append") == 0)
        #expect(try database.queued("def") == [2, 2])
    }

    @Test(
        "A closed or cancelled notification takes nothing more",
        arguments: ["closes_at = now()", "cancelled_at = now()"])
    func closed(_ change: String) throws {
        let template = try folder.file("t.json", simpleTemplate)
        let audience = try folder.file("a.csv", "token,title,image\na,b,\n")
        let id = "closed \(change)"
        #expect(produce(database, id, "--template", template, "--audience", audience) == 0)
        try database.connect().query(
            "UPDATE todoke.notifications SET created_at = now() - interval '1 day', \(change) WHERE notification_id = $1",
            [.text(id)])
        _ = try folder.file("a.csv", "token,title,image\na,b,\nc,d,\n")
        let failure = try outcome(database, id, "--template", template, "--audience", audience)
        #expect(failure?.exit == .data)
        #expect(failure?.remedy.contains("new --notification-id") == true)
        #expect(try database.queued(id) == [1, 1])
    }

    @Test("--dry-run and --preview write nothing")
    func nothing() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let audience = try folder.file("a.csv", "token,title,image\na,b,\n,d,\n")
        #expect(produce(database, "dry", "--template", template, "--audience", audience, "--dry-run") == 65)
        #expect(produce(database, "dry", "--template", template, "--audience", audience, "--preview", "1") == 0)
        #expect(try database.count("SELECT count(*) FROM todoke.notifications WHERE notification_id = 'dry'") == 0)
    }
}
