import Foundation
import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

@Suite("Producer runs of careless and unlucky people", .scratchDatabase(prepare: migrate))
struct CarelessRunTests {
    private let database: ScratchDatabase
    private let folder: Folder
    private static let secret = String(repeating: "SECRETTOKEN", count: 14)

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
    }

    @Test(
        "A header that is no header is not printed: it is a row, with a device token",
        arguments: [
            "\(secret),A,\n", "token,title,\(secret),\(secret)\n", "token,title\r\(secret),A\r", "[\"\(secret)\"]",
        ])
    func secrets(_ text: String) throws {
        let failure = try outcome(
            database, "secret", "--template", try folder.file("t.json", simpleTemplate), "--audience",
            try folder.file("a.csv", text))
        #expect(failure?.exit == .data)
        #expect(failure?.line.contains(Self.secret.prefix(40)) == false)
    }

    @Test("Neither are the names of a query's columns")
    func secretColumns() throws {
        let name = Self.secret.prefix(60)
        for query in ["SELECT 1 AS \"\(name)\"", "SELECT 1 AS \"\(name)\", 2 AS \"\(name)\""] {
            let failure = try outcome(
                database, "secret", "--template", try folder.file("t.json", simpleTemplate), "--audience-sql",
                try folder.file("q.sql", query))
            #expect(failure?.exit == .data)
            #expect(failure?.line.contains(name.prefix(40)) == false)
        }
    }

    @Test("Where an audience breaks off, what was read of it is queued, and the lease is gone")
    func brokenOff() throws {
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let long = "token\na\nb\n\"" + String(repeating: "x", count: 2 << 20)
        let file = try outcome(
            database, "off1", "--template", template, "--audience", try folder.file("a.csv", long))
        #expect(file?.what.hasSuffix("(queued 2 before that)") == true)
        #expect(try database.queued("off1") == [2, 2])
        let query = "SELECT 't' || i || (1 / (301 - i)) AS token FROM generate_series(1, 400) AS i"
        let sql = try outcome(
            database, "off2", "--template", template, "--audience-sql", try folder.file("q.sql", query))
        #expect(sql?.exit == .data)
        #expect(try database.queued("off2") == [300, 300])
        #expect(
            try database.count(
                "SELECT count(*) FROM todoke.notifications WHERE notification_id IN ('off1', 'off2') AND run_id IS NULL"
            ) == 2)
    }

    @Test("A run that queued nothing does not hold its template or query against the next one")
    func secondTry() throws {
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let other = try folder.file("o.json", #"{"token":"{{token}}","data":{"a":"b"}}"#)
        let query = try folder.file("q.sql", "SELECT (1 / (i - 1))::text AS token FROM generate_series(1, 2) AS i")
        #expect(try outcome(database, "try", "--template", template, "--audience-sql", query)?.exit == .data)
        let audience = try folder.file("a.csv", "token\na\n")
        #expect(produce(database, "try", "--template", other, "--audience", audience) == 0)
        let again = try outcome(database, "try", "--template", template, "--audience", audience)
        #expect(again?.what.contains("another template") == true)
        #expect(produce(database, "try", "--template", other, "--audience", audience) == 0)
    }

    @Test(
        "An id that no header can hold stays as it is in the data, and collapses under its digest",
        arguments: ["new\nline", " spaces ", "\u{1}", "tab\t", "del\u{7F}"])
    func oddIDs(_ id: String) throws {
        let template = try folder.file("t.json", #"{"token":"a","notification":{"title":"x"}}"#)
        #expect(produce(database, id, "--template", template, "--audience", try folder.file("a.csv", "x\ny\n")) == 0)
        let row = try database.connect().query(
            """
            SELECT payload #>> '{data,notification_id}', payload #>> '{apns,headers,apns-collapse-id}'
            FROM todoke.payloads WHERE notification = (SELECT id FROM todoke.notifications WHERE notification_id = $1)
            """, [.text(id)])
        #expect(row.string(0, 0) == id)
        #expect(row.string(0, 1).wholeMatch(of: /[0-9a-f]{64}/) != nil)
    }

    @Test("An id in a broken encoding is refused: repaired, it could be another one's")
    func brokenID() throws {
        let failure = try outcome(
            database, "caf\u{FFFD}", "--template", try folder.file("t.json", simpleTemplate), "--audience",
            try folder.file("a.csv", "token,title,image\n"))
        #expect(failure?.exit == .usage)
    }

    @Test("A refused row without any field is recorded as an empty object")
    func emptyRow() throws {
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let audience = try folder.file("a.ndjson", "{\"token\":\"a\"}\n{}\n")
        #expect(produce(database, "empty", "--template", template, "--audience", audience) == 65)
        let row = try database.connect().query(
            "SELECT input FROM todoke.rejections WHERE line = 2 AND notification = (SELECT id FROM todoke.notifications WHERE notification_id = 'empty')"
        )
        #expect(row.string(0, 0) == "{}")
    }

    @Test("A database whose transactions are serializable by default does not make runs fail one another")
    func isolation() throws {
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let audience = try folder.file("a.csv", "token\na\n")
        try ScratchDatabase.with { database in
            try migrate(database)
            try database.connect().script(
                """
                ALTER DATABASE \(database.name) SET default_transaction_isolation = 'serializable';
                CREATE FUNCTION check_isolation() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    ASSERT current_setting('transaction_isolation') = 'read committed';
                    RETURN new;
                END $$;
                CREATE TRIGGER check_isolation BEFORE INSERT OR UPDATE ON todoke.notifications
                    FOR EACH ROW EXECUTE FUNCTION check_isolation();
                """)
            #expect(produce(database, "iso", "--template", template, "--audience", audience) == 0)
        }
    }

    @Test(
        "A database that takes no writes, or not in time, is called that",
        arguments: [
            ("default_transaction_read_only=on", "takes no writes"), ("statement_timeout=1", "statement_timeout"),
        ])
    func unwilling(_ setting: String, _ part: String) throws {
        let template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let csv = "token\n" + (0..<30_000).map { "t\($0)\n" }.joined()
        let audience = try folder.file("a.csv", csv)
        try ScratchDatabase.with { database in
            try migrate(database)
            try database.connect().script("ALTER DATABASE \(database.name) SET \(setting)")
            let failure = try outcome(database, "un", "--template", template, "--audience", audience)
            #expect(failure?.exit == .temporary)
            #expect(failure?.line.contains(part) == true)
        }
    }
}
