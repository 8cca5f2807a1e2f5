import Foundation
import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

/// Audiences from the device registry.
@Suite("Registry audiences", .scratchDatabase(prepare: migrate))
struct RegistryTests {
    private let database: ScratchDatabase
    private let folder: Folder
    private let template: String

    /// Each test has an app of its own with these devices.
    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
        template = try folder.file(
            "t.json", #"{"token":"{{token}}","data":{"u":"{{user_id}}","l":"{{locale}}","p":"{{platform}}"}}"#)
    }

    private func app(_ name: String) throws {
        let connection = try database.connect()
        try connection.query("INSERT INTO todoke.apps (name, project_id) VALUES ($1, 'demo')", [.text(name)])
        try connection.query(
            """
            INSERT INTO todoke.devices (app, token, user_id, platform, locale, time_zone, channels, last_seen_at, invalidated_at)
            SELECT a.id, d.token, d.user_id, d.platform, d.locale, 'Asia/Tokyo', d.channels::text[], now() - d.age * interval '1 day',
                CASE WHEN d.dead THEN now() END
            FROM todoke.apps AS a, (VALUES
                ('t1', 'u1', 'ios', 'ja-JP', '{news,cats}', 3, false),
                ('t2', 'u1', 'android', 'ja', '{news}', 1, false),
                ('t3', 'u2', 'web', 'pt_BR.UTF-8', '{"a,b"}', 1, false),
                ('t4', 'u2', 'ios', 'pt-PT', '{cats}', 2, false),
                ('t5', 'u3', 'ios', 'ja', '{news}', 1, true),
                ('t6', NULL, NULL, NULL, '{news}', 1, false),
                ('t7', 'u7', 'ios', 'ja', '{news}', 271, false),
                ('t8', 'u8', 'ios', 'fr', '{old}', 269, false)
            ) AS d (token, user_id, platform, locale, channels, age, dead) WHERE a.name = $1
            """, [.text(name)])
    }

    private func run(_ app: String, _ line: [String], exit: Int32 = 0) throws -> String {
        let code = Producer.run(
            arguments: [
                "todoke-producer", "--app", app, "--notification-id", "n", "--database-url", database.connectionString,
                "--template", template,
            ] + line, environment: [:])
        #expect(code == exit)
        let found = try database.connect().query(
            """
            SELECT coalesce(string_agg(p.target, ' ' ORDER BY p.target), '') FROM todoke.payloads AS p
            JOIN todoke.notifications AS n ON n.id = p.notification JOIN todoke.apps AS a ON a.id = n.app WHERE a.name = $1
            """, [.text(app)])
        return found.string(0, 0)
    }

    @Test(
        "Devices that can receive, by channel, platform and locale",
        arguments: [
            (["--all"], "t1 t2 t3 t4 t6 t8"),
            (["--all", "--seen-within", "2"], "t2 t3 t6"),
            (["--channel", "old"], "t8"),
            (["--channel", "news"], "t1 t2 t6"),
            (["--channel", "news", "--channel", "cats"], "t1 t2 t4 t6"),
            (["--channel", "a,b"], "t3"),
            (["--channel", "'; DROP TABLE x; --"], ""),
            (["--all", "--platform", "ios"], "t1 t4 t8"),
            (["--all", "--platform", "ios", "--platform", "web"], "t1 t3 t4 t8"),
            (["--all", "--locale", "ja"], "t1 t2"),
            (["--all", "--locale", "pt-BR"], "t3"),
            (["--all", "--locale", "pt", "--locale", "ja-JP"], "t1 t3 t4"),
            (["--channel", "cats", "--platform", "ios", "--locale", "pt"], "t4"),
            (["--all", "--dedupe-by", "user_id"], "t2 t3 t8"),
        ])
    func selection(_ line: [String], _ expected: String) throws {
        let name = "app " + line.joined(separator: " ")
        try app(name)
        #expect(try run(name, line) == expected)
        // A rerun after which another device is the newest: nobody gets a second one.
        if line.contains("--dedupe-by") {
            try database.connect().query(
                "UPDATE todoke.devices SET last_seen_at = now() WHERE token = 't1'")
            #expect(try run(name, line) == expected)
        }
    }

    @Test("A message knows its device and user, and what the registry knows is there for the template")
    func device() throws {
        try app("device")
        #expect(try run("device", ["--channel", "cats", "--locale", "ja"]) == "t1")
        let row = try database.connect().query(
            """
            SELECT p.user_id, p.target = d.token, p.payload->'data'->>'l', p.payload->'data'->>'p'
            FROM todoke.payloads AS p JOIN todoke.devices AS d ON d.id = p.device
            JOIN todoke.apps AS a ON a.id = d.app WHERE a.name = 'device'
            """)
        #expect(row.rowCount == 1 && row.string(0, 0) == "u1" && row.bool(0, 1) == true)
        #expect(row.string(0, 2) == "ja-JP" && row.string(0, 3) == "ios")
    }

    @Test("The devices of a file's users, with the file's own values", arguments: ["csv", "ndjson"])
    func users(_ kind: String) throws {
        let name = "users-\(kind)"
        try app(name)
        let template = try folder.file("u.json", #"{"token":"{{token}}","notification":{"title":"{{name}}"}}"#)
        let text =
            kind == "csv"
            ? "user_id,name\nu2,Zoë\n,Nobody\nu9,Gone\nu3,Dead\nu1,Ann\n"
            : #"""
            {"user_id":"u2","name":"Zoë"}
            {"name":"Nobody"}
            {"user_id":"u9","name":"Gone"}
            {"user_id":"u3","name":"Dead"}
            {"user_id":"u1","name":"Ann"}

            """#
        let file = try folder.file("users", text)
        let line = ["--template", template, "--users", file]
        let code = Producer.run(
            arguments: [
                "todoke-producer", "--app", name, "--notification-id", "n", "--database-url", database.connectionString,
            ] + line, environment: [:])
        #expect(code == 65)
        let found = try database.connect().query(
            """
            SELECT string_agg(p.target || ' ' || (p.payload->'notification'->>'title'), ', ' ORDER BY p.target),
                min(n.skipped), min(n.rejected)
            FROM todoke.payloads AS p JOIN todoke.notifications AS n ON n.id = p.notification
            JOIN todoke.apps AS a ON a.id = n.app WHERE a.name = $1
            """, [.text(name)])
        #expect(found.string(0, 0) == "t1 Ann, t2 Ann, t3 Zoë, t4 Zoë")
        #expect(found.int(0, 1) == 2 && found.int(0, 2) == 1)
    }

    @Test("More users than are asked for at once, and one message for each on the device seen last")
    func manyUsers() throws {
        try app("many")
        try database.connect().script(
            """
            INSERT INTO todoke.devices (app, token, user_id, last_seen_at)
            SELECT (SELECT id FROM todoke.apps WHERE name = 'many'), 'm' || n || '-' || k, 'm' || n, now() - k * interval '1 h'
            FROM generate_series(1, 1234) AS n, generate_series(1, 3) AS k
            """)
        let file = try folder.file("many.csv", "user_id\n" + (1...1_300).map { "m\($0)\n" }.joined())
        let tokens = try run("many", ["--users", file, "--dedupe-by", "user_id"]).split(separator: " ")
        #expect(tokens.count == 1_234 && tokens.allSatisfy { $0.hasSuffix("-1") })
    }

    @Test("--max-audience counts devices, not users without one")
    func limit() throws {
        try app("limited")
        let file = try folder.file("limit.csv", "user_id\nu1\nnobody\n")
        #expect(try run("limited", ["--users", file, "--max-audience", "1"], exit: 65) == "")
        #expect(try run("limited", ["--users", file, "--max-audience", "2"]) == "t1 t2")
    }

    @Test("A users' file that is none, and an app that is not there")
    func refused() throws {
        let plain = try folder.file("plain.txt", "u1\nu2\n")
        let both = try folder.file("both.csv", "user_id,token\nu1,a\n")
        let device = try folder.file("device.csv", "user_id,device_id\nu1,9\n")
        let failures = [
            (try outcome(database, "no", ["--template", template, "--users", device]), 65, "device_id"),
            (try outcome(database, "no", ["--template", template, "--users", plain]), 65, "user_id"),
            (try outcome(database, "no", ["--template", template, "--users", both]), 65, "token"),
        ]
        for (failure, exit, part) in failures {
            #expect(failure?.exit.rawValue == Int32(exit) && failure?.line.contains(part) == true)
        }
        #expect(try run("nowhere", ["--all", "--preview", "1"], exit: 78) == "")
    }
}
