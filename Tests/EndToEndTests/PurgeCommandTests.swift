import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// `todoke purge` as an operator calls it.
    @Suite("The purge's command line")
    struct PurgeCommandTests {
        /// A day of 40 days ago with one notification that is over, and the day after it, as asked.
        private static let old = """
            INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p');
            DO $do$
            DECLARE
                parent text;
                day date;
            BEGIN
                FOREACH day IN ARRAY ARRAY[(now() AT TIME ZONE 'UTC')::date - 40, (now() AT TIME ZONE 'UTC')::date - 39] LOOP
                    FOREACH parent IN ARRAY ARRAY['messages', 'payloads', 'attempts', 'rejections'] LOOP
                        EXECUTE format('CREATE TABLE todoke.%I (LIKE todoke.%I INCLUDING ALL)',
                            parent || to_char(day, '_YYYYMMDD'), parent);
                        EXECUTE format('ALTER TABLE todoke.%I OWNER TO todoke_owner', parent || to_char(day, '_YYYYMMDD'));
                        EXECUTE format('ALTER TABLE todoke.%I ATTACH PARTITION todoke.%I FOR VALUES FROM (%L) TO (%L)',
                            parent, parent || to_char(day, '_YYYYMMDD'), day, day + 1);
                    END LOOP;
                END LOOP;
            END
            $do$;
            INSERT INTO todoke.notifications (app, notification_id, day, created_at, closes_at)
            SELECT 1, id, (now() AT TIME ZONE 'UTC')::date - ago, now() - ago * interval '1 day', now() - (ago - 7) * interval '1 day'
            FROM (VALUES ('daily', 40), ('waiting', 39)) AS n (id, ago);
            INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
            SELECT i, n.id, n.day, md5(i::text)::uuid, 'token', 't' || i, '{}'
            FROM todoke.notifications AS n, generate_series(n.id * 10, n.id * 10 + 2) AS i;
            INSERT INTO todoke.messages (id, notification, app, day, state, finished_at)
            SELECT p.id, p.notification, 1, p.day, (CASE n.notification_id WHEN 'daily' THEN 'sent' ELSE 'pending' END)::todoke.message_state,
                CASE n.notification_id WHEN 'daily' THEN n.created_at END
            FROM todoke.payloads AS p JOIN todoke.notifications AS n ON n.id = p.notification;
            """

        private static func todoke(
            _ arguments: [String], _ database: ScratchDatabase, _ variables: [String: String] = [:]
        ) throws -> EndedProgram {
            let program = try RunningProgram(
                path: Programs.path("todoke"), "todoke", arguments, input: nil,
                ["PGDATABASE": database.name].merging(variables) { $1 })
            return try program.end()
        }

        @Test("Somebody in the way: --json prints one object all the same, and the exit code says so")
        func blocked() throws {
            try ScratchDatabase.with { database in
                try database.migrate()
                try database.connect().script(Self.old)
                let reader = try database.connect()
                try reader.script("BEGIN; SELECT count(*) FROM todoke.messages")
                let ended = try Self.todoke(["purge", "--older-than", "30d", "--wait", "0", "--json"], database)
                try reader.script("COMMIT")
                #expect(ended.exitCode == 75, "\(ended.story)")
                #expect(ended.output.split(separator: "\n").count == 1, "\(ended.story)")
                let report = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
                #expect((report?["blocked"] as? String)?.contains("held up by") == true, "\(ended.story)")
            }
        }

        @Test("It rehearses, settles, drops, keeps what is not over, and says so")
        func purge() throws {
            try ScratchDatabase.with { database in
                try database.migrate()
                let connection = try database.connect()
                try connection.script(Self.old)
                let days = try connection.query(
                    """
                    SELECT to_char((now() AT TIME ZONE 'UTC')::date - 40, 'YYYY-MM-DD'),
                        to_char((now() AT TIME ZONE 'UTC')::date - 39, 'YYYY-MM-DD')
                    """)
                let (gone, kept) = (days.string(0, 0), days.string(0, 1))
                let why = """
                    3 messages are not at their end, of 1 notification ("recipes" "waiting": 3 messages)
                    """
                let rehearsal = try Self.todoke(["purge", "--older-than", "30d", "--dry-run"], database)
                #expect(rehearsal.exitCode == 0, "\(rehearsal.story)")
                #expect(rehearsal.output == "would drop \(gone), 1 MB\n")
                #expect(rehearsal.errors == "todoke purge: would keep \(kept): \(why)\n")
                let first = try Self.todoke(["purge", "--older-than", "30d"], database)
                #expect(first.exitCode == 0, "\(first.story)")
                #expect(first.output == "settled 1 notification\ndropped \(gone), 1 MB\n")
                #expect(first.errors == "todoke purge: kept \(kept): \(why)\n")
                // The page shows just this, with days of its own.
                let page = try String(
                    contentsOfFile: "\(Programs.checkout)/Sources/OperatorCore/Documentation.docc/Retention.md",
                    encoding: .utf8)
                #expect(
                    page.contains("```sh\ntodoke purge --older-than 30d --dry-run\ntodoke purge --older-than 30d\n```"))
                #expect(page.contains("```text\n" + first.output.replacing(gone, with: "2026-10-21") + "```"))
                #expect(page.contains("```text\n" + first.errors.replacing(kept, with: "2026-10-22") + "```"))
                let second = try Self.todoke(["purge", "--older-than", "30d", "--json"], database)
                #expect(
                    second.output.hasPrefix(#"{"dry_run":false,"settled":0,"dropped":[],"kept":[{"day":"\#(kept)","#))
                try connection.script("DELETE FROM todoke.messages; DELETE FROM todoke.payloads")
                #expect(try Self.todoke(["purge", "--older-than", "30d"], database).output.contains("dropped \(kept)"))
                #expect(try Self.todoke(["purge", "--older-than", "30d"], database).output == "nothing to do\n")
            }
        }

        @Test(
            "What cannot be is refused",
            arguments: [
                ([], 64, "--older-than is missing"), (["--older-than", "7d"], 64, "from 8d to 3650d"),
                (["--older-than", "soon"], 64, "must be"),
                (["--older-than", "30d", "--events-older-than", "1d"], 64, "events-older-than"),
            ])
        func refused(_ arguments: [String], _ exit: Int32, _ text: String) throws {
            let database = try ScratchDatabase()
            defer { try? database.drop() }
            let ended = try Self.todoke(["purge"] + arguments, database)
            #expect(ended.exitCode == exit && ended.errors.contains(text), "\(ended.story)")
        }

        @Test("A user who is no owner, a database without the schema, and a reader in the way")
        func failures() throws {
            try ScratchDatabase.with { database in
                let bare = try Self.todoke(["purge", "--older-than", "30d"], database)
                #expect(bare.exitCode == 78 && bare.errors.contains("todoke migrate"), "\(bare.story)")
                try database.migrate()
                let connection = try database.connect()
                try connection.script(Self.old)
                try connection.script("CREATE ROLE todoke_test_stranger LOGIN PASSWORD 'p'")
                defer { try? connection.script("DROP ROLE todoke_test_stranger") }
                let stranger = try Self.todoke(
                    ["purge", "--older-than", "30d"], database, ["PGUSER": "todoke_test_stranger", "PGPASSWORD": "p"])
                #expect(stranger.exitCode == 78 && stranger.errors.contains("todoke_owner"), "\(stranger.story)")
                try connection.script("BEGIN; SELECT count(*) FROM todoke.messages")
                let blocked = try Self.todoke(["purge", "--older-than", "30d", "--wait", "0"], database)
                #expect(blocked.exitCode == 75, "\(blocked.story)")
                #expect(blocked.errors.contains("held up by pid \(connection.backendProcessID)"), "\(blocked.story)")
                try connection.script("COMMIT")
                #expect(try Self.todoke(["purge", "--older-than", "30d"], database).output.contains("dropped"))
            }
        }
    }
}
