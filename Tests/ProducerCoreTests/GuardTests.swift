import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

/// What keeps a mistake from reaching everyone.
@Suite("Guards", .scratchDatabase(prepare: migrate))
struct GuardTests {
    private let database: ScratchDatabase
    private let folder: Folder
    private let template: String
    private let audience: String

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
        template = try folder.file("t.json", simpleTemplate)
        audience = try folder.file("a.csv", "token,title,image\n" + (0..<1_500).map { "token\($0),hello,\n" }.joined())
    }

    private var line: [String] { ["--template", template, "--audience", audience] }

    @Test("--max-audience queues nothing when there are more", arguments: ["csv", "sql"])
    func maxAudience(_ kind: String) throws {
        var line = line
        if kind == "sql" {
            let query = try folder.file(
                "q.sql", "SELECT 'token' || n AS token, '' AS title, '' AS image FROM generate_series(1, 1500) AS n")
            line = ["--template", template, "--audience-sql", query]
        }
        let id = "max-\(kind)"
        let failure = try outcome(database, id, line + ["--max-audience", "1499"])
        #expect(failure?.exit == .data && failure?.line.contains("nothing was queued") == true)
        #expect(
            try database.count("SELECT count(*) FROM todoke.notifications WHERE notification_id = $1", [.text(id)]) == 0
        )
        #expect(produce(database, id, line + ["--max-audience", "1499", "--limit", "20"]) == 0)
        #expect(try database.queued(id) == [20, 20])
        #expect(produce(database, id, line + ["--max-audience", "1500"]) == 0)
        #expect(try database.queued(id) == [1_500, 1_500])
    }

    @Test("--limit takes the first rows, is not called loaded, and a run without it takes the others")
    func limit() throws {
        #expect(produce(database, "limit", line + ["--limit", "7"]) == 0)
        #expect(try database.queued("limit") == [7, 7])
        let loaded =
            "SELECT count(loaded_at) FROM todoke.notifications WHERE notification_id = 'limit' AND run_id IS NULL"
        #expect(try database.count(loaded) == 0)
        #expect(produce(database, "limit", line) == 0)
        #expect(try database.queued("limit") == [1_500, 1_500])
        #expect(try database.count(loaded) == 1)
    }

    @Test("--only-targets leaves all others out, counts them, and --limit counts what is kept")
    func onlyTargets() throws {
        let list = try folder.file("list.txt", "token5\n\n  token1499 \r\ntoken7\nabsent\n")
        #expect(produce(database, "only", line + ["--only-targets", list, "--limit", "2"]) == 0)
        #expect(try database.queued("only") == [2, 2])
        #expect(produce(database, "only", line + ["--only-targets", list]) == 0)
        #expect(try database.queued("only") == [3, 3])
        #expect(try database.count("SELECT skipped FROM todoke.notifications WHERE notification_id = 'only'") == 1_497)
        let empty = try folder.file("empty.txt", "")
        #expect(produce(database, "nobody", line + ["--only-targets", empty]) == 0)
        #expect(try database.queued("nobody") == [0, 0])
        #expect(try outcome(database, "nobody", line + ["--only-targets", ""])?.exit == .usage)
    }

    @Test("A sandbox app refuses whom it is not allowed, also with another key and in a rehearsal")
    func sandbox() throws {
        try ScratchDatabase.with { database in
            try migrate(database)
            try database.connect().script("UPDATE todoke.apps SET environment = 'sandbox'")
            #expect(produce(database, "none", line + ["--limit", "3"]) == 65)
            #expect(try database.queued("none") == [0, 0])
            try database.connect().script(
                """
                INSERT INTO todoke.allowed_targets (app, target_kind, target) VALUES
                    (1, 'token', 'token3'), (1, 'token', 'token900'), (1, 'fid', 'token4'), (1, 'topic', 'news')
                """)
            #expect(produce(database, "dry", line + ["--dry-run"]) == 65)
            for extra in [[], ["--dedupe-by", "token"]] {
                let id = "sandbox\(extra.count)"
                #expect(produce(database, id, line + extra) == 65)
                #expect(try database.queued(id) == [2, 2])
            }
            #expect(
                try database.count(
                    "SELECT count(*) FROM todoke.rejections WHERE reason LIKE '%allowed_targets%' AND input LIKE '%token4\"%'"
                )
                    == 2)
            #expect(produce(database, "topic", ["--topic", "news", "--title", "x"]) == 0)
            #expect(produce(database, "topic2", ["--topic", "other", "--title", "x"]) == 65)
        }
    }

    @Test("--validate-only marks the notification, and holds for all of it")
    func validateOnly() throws {
        #expect(produce(database, "check", line + ["--limit", "1", "--validate-only"]) == 0)
        #expect(
            try database.count(
                "SELECT count(*) FROM todoke.notifications WHERE notification_id = 'check' AND validate_only") == 1)
        for extra in [[], ["--append"]] {
            let failure = try outcome(database, "check", line + extra)
            #expect(failure?.exit == .data && failure?.what.contains("--validate-only") == true)
        }
        // Also where nothing was queued the first time: an application may be queueing for it just now.
        let empty = try folder.file("none.csv", "token,title,image\n")
        let none = ["--template", template, "--audience", empty]
        #expect(produce(database, "later", none + ["--validate-only", "--delivery", "at-most-once"]) == 0)
        #expect(produce(database, "later", none + ["--campaign", "c"]) == 65)
        #expect(produce(database, "later", none + ["--validate-only", "--campaign", "c"]) == 0)
        #expect(produce(database, "later", none + ["--validate-only", "--delivery", "at-least-once"]) == 65)
        let row = try database.connect().query(
            "SELECT validate_only, delivery, campaign FROM todoke.notifications WHERE notification_id = 'later'")
        #expect(row.bool(0, 0) == true && row.string(0, 1) == "at_most_once" && row.string(0, 2) == "c")
    }

    @Test(
        "--max-rejections as a share: not before there are enough rows to tell, and at the end",
        arguments: [
            (.percent(10), 100, 999, false, false), (.percent(10), 100, 999, true, true),
            (.percent(10), 101, 1_000, false, true),
            (.percent(10), 100, 1_000, false, false), (.percent(0), 1, 5, true, true), (.percent(0), 0, 0, true, false),
            (.rows(3), 3, 3, true, false), (.rows(3), 4, 4, false, true),
        ] as [(RejectionLimit, Int, Int, Bool, Bool)])
    func share(_ limit: RejectionLimit, _ rejected: Int, _ rows: Int, _ atEnd: Bool, _ expected: Bool) {
        #expect(limit.isPassed(rejected: rejected, of: rows, atEnd: atEnd) == expected)
    }

    @Test("--max-rejections reads numbers and shares, and nothing else")
    func shareText() throws {
        #expect(try RejectionLimit("0") == .rows(0))
        #expect(try RejectionLimit("2.5%") == .percent(2.5))
        for text in ["-1", "101%", "%", "x", "nan%", "1 %x", "inf%"] {
            #expect(throws: Failure.self) { try RejectionLimit(text) }
        }
    }

    @Test("A share of refused rows stops a run in its middle, and at its end")
    func shareRun() throws {
        let bad = try folder.file(
            "bad.csv", "token,title,image\n" + (0..<3_000).map { $0 % 4 == 0 ? ",x,\n" : "b\($0),x,\n" }.joined())
        let failure = try outcome(
            database, "share", ["--template", template, "--audience", bad, "--max-rejections", "20%"])
        #expect(failure?.exit == .data && failure?.what.contains("more than 20 % of the rows") == true)
        #expect(try database.queued("share") == [750, 750])
        let small = try folder.file("small.csv", "token,title,image\n,x,\nok,x,\n")
        #expect(
            try outcome(database, "small", ["--template", template, "--audience", small, "--max-rejections", "20%"])?
                .exit
                == .data)
        #expect(try database.queued("small") == [1, 1])
        #expect(
            produce(database, "small", ["--template", template, "--audience", small, "--max-rejections", "50%"]) == 65)
    }
}
