package import Operations
package import Postgres

/// Brings a database to the version of the files, and refuses one that they do not fit.
///
/// Each file runs in a transaction of its own, which first takes the same advisory lock as the files themselves do:
/// several at once, also psql, wait for each other, and a crash leaves whole versions only.
package struct Migrator {
    /// What was done.
    package struct Report: Equatable, Sendable {
        /// The version the schema is at now.
        package let version: Int
        /// Names of the files applied by this run, in order.
        package let applied: [String]

        package init(version: Int, applied: [String]) {
            self.version = version
            self.applied = applied
        }
    }

    private let files: [MigrationFile]

    /// - Parameter files: in order, without gaps, as ``MigrationDirectory`` gives them.
    package init(files: [MigrationFile]) {
        self.files = files
    }

    /// Applies what is missing; harmless when nothing is.
    package func migrate(_ connection: Connection) throws(Failure) -> Report {
        try verifyFiles(connection)
        var applied: [String] = []
        while let name = try applyNext(connection) { applied.append(name) }
        return Report(version: files.count, applied: applied)
    }

    /// Applies the first missing file in one transaction and gives back its name; nil when none is missing.
    private func applyNext(_ connection: Connection) throws(Failure) -> String? {
        do throws(PostgresError) { try connection.script("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") } catch {
            throw Failure(error, while: "starting a migration")
        }
        do throws(Failure) {
            let next = try missingFile(connection)
            if let next {
                try Self.attempt("the migration \(next.name)") { () throws(PostgresError) in
                    if let locks = Self.locksBefore[next.version] { try connection.script(locks) }
                    try connection.script(next.text)
                }
            }
            try Self.attempt("committing the migration") { () throws(PostgresError) in try connection.script("COMMIT") }
            return next?.name
        } catch {
            // The reason is in `error`; a connection that is gone has rolled back by itself.
            try? connection.script("ROLLBACK")
            throw error
        }
    }

    /// The first file that the database does not have, read under the lock.
    private func missingFile(_ connection: Connection) throws(Failure) -> MigrationFile? {
        let recorded = try Self.attempt(Self.readingVersion) { () throws(PostgresError) in
            try connection.query("SELECT pg_advisory_xact_lock(hashtextextended('todoke migrate', 0))")
            let table = try connection.query("SELECT to_regclass('todoke.migrations') IS NOT NULL")
            guard table.bool(0, 0) == true else { return [(version: Int, name: String, digest: String)]() }
            let rows = try connection.query("SELECT version, name, digest FROM todoke.migrations ORDER BY version")
            return (0..<rows.rowCount).map { (rows.int($0, 0) ?? 0, rows.string($0, 1), rows.string($0, 2)) }
        }
        if let newest = recorded.last, newest.version > files.count {
            throw Failure(
                .configuration,
                "the database is newer: its schema is at version \(newest.version), these files end at \(files.count)",
                remedy: "use the release that made it, or one after that")
        }
        for (file, row) in zip(files, recorded) where row != (file.version, file.name, file.digest) {
            throw Failure(
                .configuration,
                "the migration \(file.name) is not the one that was applied to this database, \(row.name)",
                remedy: "restore the file of the release; a change to the schema is a new migration")
        }
        return recorded.count < files.count ? files[recorded.count] : nil
    }

    /// Refuses files whose text does not have the digest in their last line; the server computes it.
    private func verifyFiles(_ connection: Connection) throws(Failure) {
        let digests = try Self.attempt("checking the migrations") { () throws(PostgresError) in
            try connection.query(
                """
                SELECT encode(sha256(convert_to(body, 'UTF8')), 'hex')
                FROM unnest($1::text[]) WITH ORDINALITY AS file (body, position) ORDER BY position
                """, [.array(files.map { Optional($0.body) })])
        }
        for (index, file) in files.enumerated() where digests.string(index, 0) != file.digest {
            throw Failure(
                .configuration, "the migration \(file.name) was changed: its text does not have the digest it records",
                remedy: "restore the file of the release; a change to the schema is a new migration")
        }
    }

    /// What files lock in another order than applications do, who would end in deadlocks with them, in theirs.
    private static let locksBefore = [
        12: """
        SET LOCAL ROLE todoke_owner; SET LOCAL lock_timeout = '5s'; LOCK TABLE todoke.messages, todoke.payloads IN SHARE MODE
        """
    ]

    private static let readingVersion = "reading the schema's version"

    private static func attempt<R>(_ doing: String, _ body: () throws(PostgresError) -> R) throws(Failure) -> R {
        do throws(PostgresError) { return try body() } catch {
            if error.sqlState == .insufficientPrivilege {
                throw Failure(
                    .configuration, "\(doing) failed: \(error.message)",
                    remedy: error.hint
                        ?? "migrate as a superuser, or as the database's owner and member of todoke_owner")
            }
            if error.sqlState == .undefinedColumn && doing == Self.readingVersion {
                throw Failure(
                    .configuration, "a schema named todoke exists already, and it is not ours",
                    remedy: "use another database, or rename or drop that schema")
            }
            if error.sqlState == .lockNotAvailable {
                throw Failure(.temporary, "\(doing) failed: \(error.message)", remedy: "run it again")
            }
            throw Failure(error, while: doing)
        }
    }
}
