import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// The page about bulk operations, typed.
    @Suite("Documented bulk operations")
    struct BulkPageTests {
        /// What the page takes to be there.
        private static let queue = """
            INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project');
            INSERT INTO todoke.notifications (app, notification_id)
            SELECT id, unnest(ARRAY['daily-30', 'evening-30', 'morning-31']) FROM todoke.apps;
            WITH m AS (
                INSERT INTO todoke.messages (
                    notification, app, day, state, claim_no, attempts, sender_id, finished_at, error_code, due_at, expires_at
                )
                SELECT n.id, n.app, n.day, k.state::todoke.message_state, (k.state <> 'pending')::int, 0, 1,
                    CASE WHEN k.state <> 'pending' THEN now() END, k.code, now() - interval '1 h',
                    CASE WHEN k.is_late THEN now() END
                FROM (VALUES
                    ('daily-30', 'failed', 'UNAVAILABLE', 119, false), ('daily-30', 'failed', 'UNAVAILABLE', 1, true),
                    ('daily-30', 'failed', 'UNREGISTERED', 4, false), ('daily-30', 'failed', 'OUTCOME_UNKNOWN', 2, false),
                    ('daily-30', 'sent', NULL, 800, false), ('evening-30', 'sent', NULL, 20, false),
                    ('evening-30', 'pending', NULL, 500, false), ('morning-31', 'pending', NULL, 3, false)
                ) AS k (name, state, code, count, is_late)
                JOIN todoke.notifications AS n ON n.notification_id = k.name
                CROSS JOIN LATERAL generate_series(1, k.count)
                RETURNING *
            ), t AS (
                INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome, error_code)
                SELECT id, notification, day, app, 1, 1,
                    CASE error_code WHEN 'UNREGISTERED' THEN 'token_invalid' ELSE 'permanent' END, error_code
                FROM m WHERE state = 'failed'
            )
            INSERT INTO todoke.payloads (id, notification, dedupe_key, day, target_kind, target, payload)
            SELECT id, notification, gen_random_uuid(), day, 'token', 'device-' || id, '{}' FROM m;
            """

        @Test("Every command of the page does what the page says")
        func page() throws {
            let database = try ScratchDatabase()
            defer { try? database.drop() }
            try database.migrate()
            let connection = try database.connect()
            try connection.script(Self.queue)
            let file = "\(Programs.checkout)/Sources/OperatorCore/Documentation.docc/BulkOperations.md"
            let (blocks, files) = DocumentedCommandTests.blocks(try String(contentsOfFile: file, encoding: .utf8))
            #expect(blocks.count == 4 && files.count == 1)
            for block in blocks {
                let ended = try RunningProgram(
                    path: "/bin/bash", "bash", ["-c", "set -eo pipefail\n\(block.command)"], input: nil,
                    ["PATH": "\(Programs.directory):/usr/bin:/bin", "PGDATABASE": database.name]
                ).end()
                #expect(ended.exitCode == 0 && ended.errors.isEmpty, "line \(block.line): \(ended.story)")
                #expect(Self.lines(ended.output) == Self.lines(block.output ?? ""), "line \(block.line)")
            }
            // The grants are of functions that there are; a role is the whole server's, so it is not kept.
            for (_, sql) in files {
                try connection.script("BEGIN; \(sql.replacing("support", with: "support_\(database.name)")); ROLLBACK")
            }
        }

        /// With every duration the same, and without empty lines.
        private static func lines(_ text: String) -> [String] {
            text.replacing(/\ in \d+\.\d s/, with: " in 0.0 s").replacing(/\ for \d+ s/, with: " for 0 s")
                .split(separator: "\n").map(String.init)
        }
    }
}
