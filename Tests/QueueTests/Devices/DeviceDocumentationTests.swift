import Foundation
import Postgres
import TestSupport
import Testing

/// The page about devices: its SQL gives what stands below it, and its table is complete.
@Suite(.migratedDatabase) struct DeviceDocumentationTests {
    private static func page() throws -> String {
        try String(
            contentsOf: URL(filePath: ScratchDatabase.sqlDirectory).deletingLastPathComponent()
                .appending(path: "Sources/OperatorCore/Documentation.docc/Devices.md"), encoding: .utf8)
    }

    @Test func `each statement with an application's rights`() throws {
        let admin = try ScratchDatabase.shared().connect()
        try admin.script("INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p')")
        let session = try DeviceFixture.session()
        let blocks = try Self.page().components(separatedBy: "```sql\n").dropFirst()
        #expect(blocks.count == 8)
        for block in blocks {
            let parts = block.components(separatedBy: "```")
            let result = try session.query(parts[0])
            var lines = try #require(parts[2].split(separator: "text\n").first).split(separator: "\n").map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            lines.remove(at: 1)
            let columns = (0..<result.columnCount).map { result.columnName($0) ?? "" }
            let rows = (0..<result.rowCount).map { row in columns.indices.map { result.string(row, $0) } }
            #expect([columns] + rows == lines, "\(parts[0])")
        }
    }

    @Test func `every parameter is in the table, in order`() throws {
        let rows = try ScratchDatabase.shared().connect().query(
            """
            SELECT name FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode)
            WHERE pronamespace = 'todoke'::regnamespace AND proname = 'register_device' AND mode = 'i'
            """)
        let names = (0..<rows.rowCount).map { rows.string($0, 0) }
        let documented = try Self.page().split(separator: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.split(separator: "`").dropFirst().first.map(String.init) : nil
        }
        #expect(documented == names)
    }
}
