package import Queue
package import Testing

extension ScratchDatabase {
    /// `sql/` in this checkout.
    package static var sqlDirectory: String {
        // Tests/TestSupport/MigratedDatabase.swift stands three levels below the package.
        String(
            #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
                + "/sql")
    }

    /// The files of `sql/` in this checkout.
    package static func migrations() throws -> [MigrationFile] {
        try MigrationDirectory.files(named: sqlDirectory, program: "tests")
    }

    /// Brings the database to the schema of this checkout.
    package func migrate() throws {
        _ = try Migrator(files: Self.migrations()).migrate(connect())
    }
}

extension Trait where Self == ScratchDatabaseTrait {
    /// A database in `ScratchDatabase.current` with the schema of this checkout.
    package static var migratedDatabase: Self { scratchDatabase { try $0.migrate() } }
}
