import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// `todoke devices import` and `export`: the built program, files and pipes.
    @Suite("Files of devices")
    struct DeviceFileTests {
        private let database: ScratchDatabase
        private let connection: Connection

        init() throws {
            database = try ScratchDatabase()
            try database.migrate()
            connection = try database.connect()
            try connection.script(
                """
                INSERT INTO todoke.apps (name, project_id, environment)
                VALUES ('recipes', 'p', 'production'), ('test', 'p', 'sandbox')
                """)
        }

        private func devices(_ arguments: [String], input: String? = nil, exit: Int32 = 0) throws -> EndedProgram {
            let ended = try RunningProgram(
                "todoke", ["devices"] + arguments + ["--database-url", database.connectionString], input: input
            ).end()
            #expect(ended.exitCode == exit, "\(ended.story)")
            return ended
        }

        private func rows(_ columns: String, _ order: String = "token") throws -> [String] {
            let found = try connection.query(
                """
                SELECT array_to_string(ARRAY[\(columns.split(separator: ",").map { "(\($0))::text" }.joined(separator: ","))],
                    ' ', '∅') FROM todoke.devices ORDER BY \(order)
                """)
            return (0..<found.rowCount).map { found.string($0, 0) }
        }

        private static let everything = """
            app, token, user_id, platform, locale, time_zone, channels, app_version, installation_id, allows_notifications,
            registered_at, last_seen_at, invalidated_at, invalid_reason
            """

        @Test("What is exported and imported into an empty registry is the same", arguments: ["csv", "ndjson"])
        func roundTrip(_ format: String) throws {
            defer { try? database.drop() }
            try connection.script(
                #"""
                INSERT INTO todoke.devices (app, token, user_id, platform, locale, time_zone, channels, app_version,
                    installation_id, allows_notifications, registered_at, last_seen_at, invalidated_at, invalid_reason)
                VALUES (1, 'a', E'u"1,\n;é\\', 'ios', 'ja-JP', 'Asia/Tokyo', E'{news,"a;b","c\\"d\\\\","\u00e9, x"}', '1.0', 'i1',
                        true, '2026-01-02 03:04:05.123456+00', '2026-11-02 03:04:05.000001+00', NULL, NULL),
                    (1, 'b', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, '2026-01-02', '2026-01-03', NULL, NULL),
                    (1, 'c', 'u2', 'web', 'pt', 'UTC', '{x}', '2', 'i1', false, '2026-01-02', '2026-02-03', '2026-03-01', 'REPLACED'),
                    (2, 'a', 'u3', 'android', NULL, NULL, '{}', NULL, 'i1', NULL, '2026-01-02', '2026-01-03',
                        '2026-01-04 01:02:03.4+00', 'UNREGISTERED')
                """#)
            let before = try rows(Self.everything, "app, token")
            let file = try devices(["export", "--format", format, "--include-invalid"]).output
            try connection.script("TRUNCATE todoke.devices")
            let said = try devices(["import", "-"], input: file)
            #expect(said.output.hasPrefix("4 new, 0 updated, 0 unchanged, 0 refused in "))
            #expect(try rows(Self.everything, "app, token") == before)
            // Twice is the same as once.
            let again = try devices(["import", "--json", "-"], input: file)
            #expect(again.output.hasPrefix(#"{"new":0,"updated":0,"unchanged":4,"refused":0,"seconds":"#))
            #expect(try rows(Self.everything, "app, token") == before)
            // In use only, of one app.
            let live = try devices(["export", "--app", "recipes", "--format", format]).output
            #expect(live.contains("\"") && !live.contains("REPLACED") && !live.contains("invalid"))
            try connection.script("TRUNCATE todoke.devices")
            #expect(try devices(["import", "-"], input: live).output.hasPrefix("2 new, 0 updated, "))
        }

        @Test("Refused rows are told with their lines, and the others are in")
        func refused() throws {
            defer { try? database.drop() }
            let said = try devices(
                ["import", "--app", "recipes", "--delimiter", ";", "-"],
                input: """
                    token;platform;last_seen_at;channels;environment;allows_notifications;time_zone;app
                    good;ios;2026-01-01;"b; a;b";production;yes;;
                    bad platform;ios;;;;;;
                    p;windows;;;;;;
                    t;;yesterday;;;;;
                    e;;;;sandbox;;;
                    n;;;;;perhaps;;
                    z;;;;;;Moon/Base;
                    o;;;;;;;test
                    f;;2999-01-01;;;;;
                    ;ios;;;;;;
                    few
                    last;web;;;;;;
                    """, exit: 65)
            let expected = [
                "line 3 refused: token has white space", "line 4 refused: platform is not",
                "line 5 refused: last_seen_at is no",
                "line 6 refused: environment is 'sandbox'", "line 7 refused: allows_notifications is neither",
                "line 8 refused: time_zone is no zone", "line 9 refused: its app is another",
                "line 10 refused: a time is in the future", "line 11 refused: token is empty",
                "line 12 refused: 1 fields where the header has 8",
            ]
            let lines = said.errors.split(separator: "\n")
            #expect(lines.count == expected.count)
            for (line, part) in zip(lines, expected) { #expect(line.contains(part), "\(line)") }
            #expect(said.output.hasPrefix("2 new, 0 updated, 0 unchanged, 10 refused in "))
            #expect(try rows("token, channels, allows_notifications") == ["good {b,a} true", "last {} ∅"])
        }

        @Test("Newer data counts, whichever way it came")
        func newer() throws {
            defer { try? database.drop() }
            try connection.script(
                """
                INSERT INTO todoke.devices (app, token, user_id, locale, channels, last_seen_at, invalidated_at, invalid_reason)
                VALUES (1, 'older', 'kept', 'ja', '{k}', '2026-06-01', NULL, NULL), (1, 'newer', 'old', 'ja', '{k}', '2026-06-01', NULL, NULL),
                    (1, 'dead', 'u', NULL, '{}', '2026-06-01', '2026-07-01', 'UNREGISTERED'),
                    (1, 'back', 'u', NULL, '{}', '2026-06-01', '2026-07-01', 'UNREGISTERED'),
                    (1, 'unknown', 'kept', NULL, '{}', '2026-06-01', NULL, NULL);
                """)
            let said = try devices(
                ["import", "--app", "recipes", "-"],
                input: """
                    {"token":"older","user_id":"other","last_seen_at":"2026-05-01T00:00:00Z"}
                    {"token":"newer","user_id":"new","last_seen_at":1782000000,"channels":null}
                    {"token":"newer","user_id":"mid","last_seen_at":"2026-06-02","channels":["z"]}
                    {"token":"dead","user_id":"u","last_seen_at":"2026-06-15"}
                    {"token":"back","user_id":"u","last_seen_at":"2026-08-01"}
                    {"token":"unknown","user_id":"other"}
                    """)
            #expect(said.output.hasPrefix("0 new, 2 updated, 4 unchanged, 0 refused in "), "\(said.story)")
            #expect(
                try rows("token, user_id, locale, channels, invalid_reason") == [
                    "back u ∅ {} ∅", "dead u ∅ {} UNREGISTERED", "newer new ja {k} ∅", "older kept ja {k} ∅",
                    "unknown kept ∅ {} ∅",
                ])
        }

        @Test("One token in use for an installation")
        func installations() throws {
            defer { try? database.drop() }
            try connection.script(
                """
                INSERT INTO todoke.devices (app, token, installation_id, last_seen_at) VALUES (1, 'a', 'i1', '2026-06-01'),
                    (1, 'b', 'i2', '2026-06-01'), (1, 'm', 'i3', '2026-06-01')
                """)
            _ = try devices(
                ["import", "--app", "recipes", "-"],
                input: """
                    token,installation_id,last_seen_at
                    a2,i1,2026-07-01
                    b2,i2,2026-05-01
                    c1,i4,2026-05-01
                    c2,i4,2026-05-02
                    m,i5,2026-07-01
                    m2,i3,2026-07-02
                    """)
            #expect(
                try rows("token, installation_id, invalid_reason") == [
                    "a i1 REPLACED", "a2 i1 ∅", "b i2 ∅", "b2 i2 REPLACED", "c1 i4 REPLACED", "c2 i4 ∅", "m i5 ∅",
                    "m2 i3 ∅",
                ])
        }

        @Test(
            "Files and lines that cannot be used",
            arguments: [
                (["import"], "", 64, "no file"), (["import", "a", "b"], "", 64, "more than one"),
                (["import", "-"], "token\na\n", 64, "--app"),
                (["import", "--app", "recipes", "-"], "", 65, "is empty"),
                (["import", "--app", "recipes", "-"], "tokken\na\n", 65, "tokken"),
                (["import", "--app", "recipes", "-"], "user_id\na\n", 65, "no column"),
                (["import", "--app", "nowhere", "-"], "token\na\n", 78, "nowhere"),
                (["import", "--format", "xml", "-"], "token\na\n", 64, "--format"),
                (["import", "--app", "recipes", "/nowhere"], "", 65, "/nowhere"),
                (["export", "--app", "nowhere"], "", 78, "nowhere"), (["export", "file"], "", 64, "file"),
            ])
        func wrong(_ arguments: [String], _ input: String, _ exit: Int32, _ part: String) throws {
            defer { try? database.drop() }
            let ended = try devices(arguments, input: input, exit: exit)
            #expect(ended.errors.contains(part), "\(ended.story)")
            #expect(ended.output.isEmpty)
        }

        @Test("Several chunks, and a reader that goes away")
        func many() throws {
            defer { try? database.drop() }
            let file = "token,user_id\n" + (1...25_000).map { "token-\($0),user-\($0)\n" }.joined()
            #expect(
                try devices(["import", "--app", "recipes", "-"], input: file).output.hasPrefix("25000 new, 0 updated, ")
            )
            // The planner knows of them, before autovacuum comes by.
            let known = try database.connect().query("SELECT reltuples = 25000 FROM pg_class WHERE relname = 'devices'")
            #expect(known.bool(0, 0) == true)
            let piped = try RunningProgram(
                path: "/bin/bash", "bash",
                [
                    "-c",
                    "set -o pipefail; todoke devices export --database-url '\(database.connectionString)' | head -2",
                ],
                input: nil, ["PATH": "\(Programs.directory):/usr/bin:/bin"]
            ).end()
            #expect(piped.output.split(separator: "\n").count == 2)
        }
    }
}
