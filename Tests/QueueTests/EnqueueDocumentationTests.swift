import Foundation
import Postgres
import TestSupport
import Testing

@testable import Queue

/// The page about `todoke.enqueue`: its SQL works as it stands there, and its table is complete.
@Suite(.migratedDatabase) struct EnqueueDocumentationTests {
    private static func page() throws -> String {
        try String(
            contentsOf: URL(filePath: ScratchDatabase.sqlDirectory).deletingLastPathComponent()
                .appending(path: "Sources/OperatorCore/Documentation.docc/QueueingFromApplications.md"), encoding: .utf8
        )
    }

    @Test func `the examples run with an application's rights`() throws {
        let admin = try ScratchDatabase.shared().connect()
        try admin.script(
            """
            INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p');
            CREATE TABLE orders (id int, ready_at timestamptz);
            CREATE TABLE user_devices (user_id int, user_name text, token text);
            INSERT INTO orders VALUES (42);
            INSERT INTO user_devices VALUES (7, 'Aiko', 'a'), (7, 'Aiko', 'b'), (8, 'Bo', 'c');
            GRANT ALL ON orders, user_devices TO todoke_app;
            """)
        let session = try ScratchDatabase.shared().connect()
        try session.script("SET SESSION AUTHORIZATION todoke_app")
        let blocks = try Self.page().split(separator: "```sql\n").dropFirst()
        #expect(blocks.count == 2)
        for block in blocks {
            try session.script(String(try #require(block.split(separator: "```").first)))
        }
        let queued = try admin.query(
            """
            SELECT string_agg(n.notification_id || ' ' || p.target, ', ' ORDER BY p.id) FROM todoke.payloads AS p
            JOIN todoke.notifications AS n ON n.id = p.notification
            """)
        #expect(queued.string(0, 0) == "order-42-ready device-one, order-43-ready a, order-43-ready b")
    }

    @Test func `every parameter is in the table, in order`() throws {
        let rows = try ScratchDatabase.shared().connect().query(
            """
            SELECT name FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode)
            WHERE oid = (SELECT oid FROM pg_proc WHERE pronamespace = 'todoke'::regnamespace AND proname = 'enqueue')
                AND mode IN ('i', 'b')
            """)
        let names = (0..<rows.rowCount).map { rows.string($0, 0) }
        #expect(names.count > 10)
        let section = try #require(
            try Self.page().split(separator: "## Parameters").last?.split(separator: "## ").first)
        let documented = section.split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.split(separator: "`").dropFirst().first.map(String.init) : nil
        }
        #expect(documented == names)
    }
}
