import Foundation
import Postgres
import TestSupport
import Testing

/// The page about questions: every query of it runs with a reader's rights, and gives what the page shows.
@Suite(.migratedDatabase) struct AskingSQLTests {
    private struct Block {
        let sql: String
        /// The lines of the table under it.
        let output: [Substring]
    }

    private static func blocks() throws -> [Block] {
        let page = try String(
            contentsOf: URL(filePath: ScratchDatabase.sqlDirectory).deletingLastPathComponent()
                .appending(path: "Sources/OperatorCore/Documentation.docc/AskingSQL.md"), encoding: .utf8)
        return page.split(separator: "```sql\n").dropFirst().compactMap { part in
            let pieces = part.split(separator: "```", omittingEmptySubsequences: false)
            // The one for the owner is psql's.
            guard let sql = pieces.first, !sql.contains("\\gexec") else { return nil }
            let output = pieces.count > 2 && pieces[2].hasPrefix("text\n") ? pieces[2].dropFirst(5) : ""
            return Block(sql: String(sql), output: output.split(separator: "\n"))
        }
    }

    /// Times and measured numbers differ from run to run.
    private static func steady(_ cells: some Sequence<Substring>) -> [String] {
        cells.map { cell in
            cell.trimmingCharacters(in: .whitespaces)
                .replacing(/\d{4}-\d{2}-\d{2} [0-9:.]+\+00/, with: "time").replacing(/\d+\.\d+$/, with: "number")
        }
    }

    @Test func `every query gives what the page shows`() throws {
        let blocks = try Self.blocks()
        #expect(blocks.count == 13)
        for block in blocks {
            try #require(block.output.count > 1, "\(block.sql)")
            let result = try QuestionStory.ask { try $0.query(block.sql) }
            let columns = (0..<result.columnCount).map { result.columnName($0) ?? "" }
            #expect(columns == Self.steady(block.output[0].split(separator: "|")), "\(block.sql)")
            let rows = (0..<result.rowCount).map { row in
                Self.steady((0..<result.columnCount).map { Substring(result.optionalString(row, $0) ?? "") })
            }
            let shown = block.output.dropFirst(2).map {
                Self.steady($0.split(separator: "|", omittingEmptySubsequences: false))
            }
            #expect(rows == shown, "\(block.sql)")
        }
    }

    @Test func `the table on top leads to every answer of the page`() throws {
        let sql = try Self.blocks().map(\.sql).joined()
        for name in [
            "message_story", "user_messages", "token_messages", "notification_summary", "failures", "queue_depth",
            "oldest_due",
            "throughput", "live_senders", "upcoming", "rejected_rows", "message_payloads",
        ] {
            #expect(sql.contains("todoke.\(name)"), "\(name)")
        }
    }
}
