import FoundationEssentials
package import Operations

/// Finds and reads the files of `sql/`.
package enum MigrationDirectory {
    /// The files in order of their versions, which count from 1 without a gap.
    ///
    /// - Parameters:
    ///   - named: what `--sql-dir` says; nil looks beside the program, then in the working directory.
    ///   - program: the program's path as it was called, for systems without `/proc`.
    package static func files(named: String?, program: String) throws(Failure) -> [MigrationFile] {
        let candidates = named.map { [$0] } ?? defaults(program: program)
        for directory in candidates {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else { continue }
            let migrations = names.filter { $0.hasSuffix(".sql") }.sorted()
            if migrations.isEmpty { continue }
            return try inOrder(read(migrations, in: directory))
        }
        throw Failure(
            .configuration, "no migrations in \(candidates.joined(separator: " or "))",
            remedy: "name the directory that holds them, sql in the sources, with --sql-dir")
    }

    /// `share/todoke/sql` beside the program's `bin`, then `sql` here.
    static func defaults(program: String) -> [String] {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? program
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        if parts.isEmpty { return ["sql"] }
        parts.removeLast()
        return [(parts + ["share", "todoke", "sql"]).joined(separator: "/"), "sql"]
    }

    private static func read(_ names: [String], in directory: String) throws(Failure) -> [MigrationFile] {
        var files: [MigrationFile] = []
        for name in names {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)"),
                let text = String(validating: Array(bytes), as: UTF8.self)
            else {
                throw Failure(
                    .configuration, "the migration \(directory)/\(name) cannot be read as UTF-8 text",
                    remedy: "check the file and its permissions")
            }
            files.append(try MigrationFile(name: name, text: text))
        }
        return files
    }

    /// Throws where a version is missing or there twice.
    static func inOrder(_ files: [MigrationFile]) throws(Failure) -> [MigrationFile] {
        for (index, file) in files.enumerated() where file.version != index + 1 {
            throw Failure(
                .configuration, "the migrations have no single file for version \(index + 1), but \(file.name)",
                remedy: "use the complete sql directory of one release")
        }
        return files
    }
}
