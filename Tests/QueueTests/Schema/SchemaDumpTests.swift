import Foundation
import TestSupport
import Testing

@testable import Queue

/// What the migrations add up to, as one file that shows a change of the schema in a diff.
@Suite(.migratedDatabase) struct SchemaDumpTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "schema.sql")

    /// Without the partitions, whose names have today's date, and without what pg_dump says about itself.
    private func dump() throws -> String {
        let database = try ScratchDatabase.shared()
        let partitions = ["messages", "payloads", "attempts", "rejections"].flatMap { ["-T", "todoke.\($0)_2*"] }
        let run = try CommandLineTool(
            ["pg_dump", "--schema-only", "--schema=todoke", "-d", database.name] + partitions)
        try #require(run.status == 0, "\(run.error)")
        let noise = ["--", "SET ", "SELECT pg_catalog.set_config", "\\"]
        let lines = run.output.split(separator: "\n").filter { line in !noise.contains { line.hasPrefix($0) } }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `TODOKE_RENEW_SCHEMA=1 deploy/test --filter SchemaDumpTests` writes the file anew.
    @Test func theMigrationsAddUpToTheSchemaThatIsCheckedIn() throws {
        let made = try dump()
        if ProcessInfo.processInfo.environment["TODOKE_RENEW_SCHEMA"] == "1" {
            try made.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n")
        let lines = made.split(separator: "\n")
        let added = lines.filter { !kept.contains($0) }.prefix(10)
        let gone = kept.filter { !lines.contains($0) }.prefix(10)
        #expect(
            lines == kept,
            "Tests/QueueTests/Schema/schema.sql is not what sql/ makes; added: \(added), gone: \(gone)")
    }
}
