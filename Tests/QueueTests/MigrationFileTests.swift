import Operations
import Testing

@testable import Queue

@Suite struct MigrationFileTests {
    private static let digest = String(repeating: "a", count: 64)

    private static func text(version: Int, name: String, digest: String = digest) -> String {
        "SELECT 1;\nINSERT INTO todoke.migrations (version, name, digest) VALUES (\(version), '\(name)', '\(digest)');\n"
    }

    @Test func readsVersionBodyAndDigest() throws {
        let file = try MigrationFile(name: "0002_tables.sql", text: Self.text(version: 2, name: "0002_tables.sql"))
        #expect(file.version == 2)
        #expect(file.body == "SELECT 1;\n")
        #expect(file.digest == Self.digest)
    }

    @Test(arguments: ["2_tables.sql", "0002tables.sql", "0002_.sql", "0002_Tables.sql", "0002_a b.sql", "000a_x.sql"])
    func refusesOtherNames(_ name: String) {
        #expect(throws: Failure.self) { try MigrationFile(name: name, text: Self.text(version: 2, name: name)) }
    }

    @Test(arguments: [
        "", "\n", "SELECT 1;\n", text(version: 3, name: "0002_tables.sql"), text(version: 2, name: "0002_other.sql"),
        text(version: 2, name: "0002_tables.sql", digest: "abc"),
        text(version: 2, name: "0002_tables.sql", digest: String(repeating: "g", count: 64)),
        text(version: 2, name: "0002_tables.sql", digest: String(repeating: "a", count: 61) + "\u{FFFD}"),
        text(version: 2, name: "0002_tables.sql") + "SELECT 2;\n",
        String(text(version: 2, name: "0002_tables.sql").dropLast()),
    ])
    func refusesAFileThatDoesNotRecordItself(_ text: String) {
        #expect(throws: Failure.self) { try MigrationFile(name: "0002_tables.sql", text: text) }
    }

    @Test func versionsHaveNoGapsAndNoTwins() throws {
        func file(_ name: String, _ version: Int) throws -> MigrationFile {
            try MigrationFile(name: name, text: Self.text(version: version, name: name))
        }
        let one = try file("0001_a.sql", 1)
        let two = try file("0002_b.sql", 2)
        let twin = try file("0002_c.sql", 2)
        let three = try file("0003_d.sql", 3)
        #expect(try MigrationDirectory.inOrder([one, two, three]).map(\.version) == [1, 2, 3])
        #expect(throws: Failure.self) { try MigrationDirectory.inOrder([one, three]) }
        #expect(throws: Failure.self) { try MigrationDirectory.inOrder([one, two, twin]) }
        #expect(throws: Failure.self) { try MigrationDirectory.inOrder([two]) }
    }

    @Test func aMissingDirectoryIsNamed() {
        let failure = #expect(throws: Failure.self) {
            try MigrationDirectory.files(named: "/nowhere/at/all", program: "todoke")
        }
        #expect(failure?.exit == .configuration)
        #expect(failure?.what.contains("/nowhere/at/all") == true)
    }
}
