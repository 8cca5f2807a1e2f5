import Foundation
import Postgres
import TestSupport
import Testing

/// The page about opens: its SQL gives what it says there.
@Suite(.migratedDatabase) struct OpensDocumentationTests {
    @Test func `every query gives the output on the page`() throws {
        let page = try String(
            contentsOf: URL(filePath: ScratchDatabase.sqlDirectory).deletingLastPathComponent()
                .appending(path: "Sources/OperatorCore/Documentation.docc/Opens.md"), encoding: .utf8)
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p');
            INSERT INTO todoke.devices (app, token, allows_notifications) VALUES (1, 'device-1', true), (1, 'device-4', false);
            SELECT todoke.enqueue('recipes', 'daily', 'device-' || i, '{"notification":{"title":"x"}}')
            FROM generate_series(1, 4) AS i;
            UPDATE todoke.messages SET state = 'sent', finished_at = now();
            """)
        let blocks = page.split(separator: "```sql\n").dropFirst().map { $0.split(separator: "\n```") }
        #expect(blocks.count == 3)
        for block in blocks {
            let printed = try connection.query(String(try #require(block.first)))
            let table = try #require(block.dropFirst().first { $0.contains("text\n") })
            let expected = table.split(separator: "\n").filter { $0.hasPrefix(" ") }.map { line in
                line.split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
            let columns = 0..<printed.columnCount
            let found =
                [columns.map { printed.columnName($0) ?? "" }]
                + (0..<printed.rowCount).map { row in columns.map { printed.string(row, $0) } }
            #expect(found == expected)
        }
    }
}
