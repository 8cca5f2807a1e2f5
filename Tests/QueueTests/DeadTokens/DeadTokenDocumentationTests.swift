import Foundation
import Postgres
import TestSupport
import Testing

@testable import Queue

/// The SQL of the page about dead tokens works as it stands there.
@Suite(.migratedDatabase) struct DeadTokenDocumentationTests {
    @Test func `the queries give the columns that the page shows`() throws {
        let fixture = try DeadTokenFixture()
        let connection = fixture.queue.connection
        try connection.query(
            "UPDATE todoke.apps SET name = 'recipes' WHERE id = $1::int", [.int(fixture.queue.app)])
        try fixture.record(try fixture.claimed(devices: 1, targets: 1...1))
        try connection.query(
            """
            INSERT INTO todoke.devices (app, token, user_id, last_seen_at)
            VALUES ($1::int, 'token-of-7', '7', now() - interval '51 days')
            """, [.int(fixture.queue.app)])
        let page = try String(
            contentsOf: URL(filePath: ScratchDatabase.sqlDirectory).deletingLastPathComponent()
                .appending(path: "Sources/OperatorCore/Documentation.docc/DeadTokens.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```sql\n").dropFirst()
        #expect(blocks.count == 3)
        for (index, block) in blocks.enumerated() {
            let parts = block.components(separatedBy: "```")
            if index < 2 { try connection.script("SET ROLE todoke_reader") }
            let result = try connection.query(String(parts[0].split(separator: ";")[0]))
            try connection.script("RESET ROLE")
            guard index < 2 else { continue }
            #expect(result.rowCount == 1)
            let header = parts[2].split(separator: "\n")[1].split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            #expect((0..<result.columnCount).map { result.columnName($0) } == header)
        }
        #expect(try fixture.value("SELECT dead_token_limit FROM todoke.apps WHERE id = $1::int") == "0.5")
    }
}
