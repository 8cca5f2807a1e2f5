import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

/// One message without a template and an audience.
@Suite("Single messages", .scratchDatabase(prepare: migrate))
struct SingleMessageTests {
    private let database: ScratchDatabase

    init() throws { database = try ScratchDatabase.shared() }

    private func payload(_ id: String, _ path: String) throws -> String? {
        let row = try database.connect().query(
            """
            SELECT payload #>> $2::text[] FROM todoke.payloads AS p JOIN todoke.notifications AS n
            ON n.id = p.notification WHERE notification_id = $1
            """, [.text(id), .text(path)])
        #expect(row.rowCount == 1)
        return row.optionalString(0, 0)
    }

    @Test(
        "Each kind of target",
        arguments: [
            ("--target", "token", "tok\"en"), ("--topic", "topic", "news"), ("--fid", "fid", "cAAA"),
            ("--condition", "condition", "'a' in topics && 'b' in topics"),
        ])
    func kinds(_ option: String, _ kind: String, _ target: String) throws {
        let id = "single-\(kind)"
        let line = [
            option, target, "--title", "Say \"hi\"", "--body", "a\\b\n👩‍🍳", "--image", "https://e.org/i.png", "--data",
            "k=v=w", "--data", "l=",
        ]
        for _ in 0..<2 { #expect(produce(database, id, line) == 0) }
        #expect(try payload(id, "{\(kind)}") == target)
        #expect(try payload(id, "{notification,title}") == "Say \"hi\"")
        #expect(try payload(id, "{notification,body}") == "a\\b\n👩‍🍳")
        #expect(try payload(id, "{apns,fcm_options,image}") == "https://e.org/i.png")
        #expect(try payload(id, "{data,k}") == "v=w" && payload(id, "{data,l}") == "")
        #expect(try payload(id, "{data,notification_id}") == id)
        #expect(
            try database.count(
                """
                SELECT count(*) FROM todoke.payloads AS p JOIN todoke.notifications AS n ON n.id = p.notification
                WHERE notification_id = $1 AND target_kind = $2::todoke.target_kind
                """, [.text(id), .text(kind)]) == 1)
    }

    @Test("Without an id it gets a new one each time")
    func noID() throws {
        for _ in 0..<2 {
            let exit = Producer.run(
                arguments: [
                    "todoke-producer", "--app", "recipes", "--database-url", database.connectionString, "--target",
                    "noid",
                    "--title", "x",
                ], environment: [:])
            #expect(exit == 0)
        }
        // Its own alone: other tests make notifications at the same time.
        #expect(
            try database.count("SELECT count(DISTINCT notification) FROM todoke.payloads WHERE target = 'noid'") == 2)
        #expect(
            try database.count(
                "SELECT count(DISTINCT payload->'data'->>'notification_id') FROM todoke.payloads WHERE target = 'noid'")
                == 2)
    }

    @Test("Texts may hold placeholders, and go to an audience, too; a template may go to one target")
    func mixed() throws {
        let folder = try Folder()
        let audience = try folder.file("a.csv", "token,name\na,Ann\nb,Bob\n")
        #expect(
            produce(database, "mixed", "--audience", audience, "--title", "Hi {{name|upper}}", "--data", "n={{name}}")
                == 0)
        #expect(
            try database.count(
                "SELECT count(*) FROM todoke.payloads WHERE payload->'notification'->>'title' IN ('Hi ANN', 'Hi BOB')")
                == 2)
        let template = try folder.file("t.json", #"{"token":"{{token}}","data":{"a":"b"}}"#)
        #expect(produce(database, "mixed2", "--target", "c", "--template", template) == 0)
        #expect(try database.queued("mixed2") == [1, 1])
    }

    @Test(
        "What cannot be meant is refused, and named",
        arguments: [
            (["--target", "a"], 64, "nothing to send"),
            (["--target", "a", "--topic", "b", "--title", "x"], 64, "--target and --topic"),
            (["--title", "x"], 64, "no audience"),
            (["--target", "", "--title", "x"], 64, "no audience"),
            (["--target", "a", "--data", "novalue"], 64, "KEY=VALUE"),
            (["--target", "a", "--data", "=v"], 64, "KEY=VALUE"),
            (["--target", "a", "--title", "x", "--template", "t.json"], 64, "both given"),
            (["--target", "a", "--data", "k=1", "--data", "k=2"], 65, "twice"),
            (["--target", "a", "--data", "from=1"], 65, "reserved"),
            (["--target", "a", "--title", "{{x"], 65, "the message: a placeholder"),
            (["--target", "a", "--title", "{{name}}"], 65, "no column \"name\""),
            (["--target", "a", "--image", "https://e.org/i.png", "--data", "a=b"], 65, "shows no notification"),
            (["--all", "--delimiter", "ab", "--title", "x"], 64, "--delimiter"),
            (["--target", "a", "--platform", "ios", "--title", "x"], 64, "--platform is for"),
            (["--all", "--platform", "symbian", "--title", "x"], 64, "ios, android or web"),
            (["--all", "--locale", "?", "--title", "x"], 64, "language tag"),
        ] as [([String], Int32, String)])
    func refused(_ line: [String], _ exit: Int32, _ part: String) throws {
        let failure = try outcome(database, "no", line)
        #expect(failure?.exit.rawValue == exit)
        #expect(failure?.line.contains(part) == true, "\(failure?.line ?? "nothing")")
    }
}
