package import Postgres
package import Testing

/// A database of its own for a test or a suite, on the server that the `PG*` variables name.
///
/// A server that cannot be reached fails the test: there is no other way to know that the SQL is right.
package final class ScratchDatabase: Sendable {
    package let name: String
    /// How the tests connect to it.
    package let conninfo: Conninfo
    private let server: Conninfo
    private let place: String

    /// The one of the suite that has the `.scratchDatabase` trait.
    @TaskLocal package static var current: ScratchDatabase?

    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String
    }

    /// Creates an empty database.
    ///
    /// - Parameter place: which server instead of the one of the variables, as `key=value` text without a database.
    package init(on place: String = "") throws {
        self.place = place.isEmpty ? "" : place + " "
        server = try Conninfo("\(place) dbname=postgres", applicationName: "todoke tests")
        let unique = String(UInt64.random(in: .min ... .max), radix: 36)
        name = "todoke_test_\(unique)"
        conninfo = server.with(database: name)
        do {
            try Connection(server).script("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8'")
        } catch {
            throw Unavailable(
                description: "tests need a Postgres server where PGUSER may create databases; deploy/test starts one "
                    + "and sets PGHOST, PGPORT and PGUSER (\(error))")
        }
    }

    /// A connection text for programs under test, which inherit the `PG*` variables.
    package var connectionString: String { "\(place)dbname=\(name)" }

    package func connect() throws -> Connection { try Connection(conninfo) }

    /// Ends every connection to the database, and removes it.
    package func drop() throws {
        try Connection(server).script("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Runs `body` with a new database and drops it, whatever happens.
    package static func with<R>(_ body: (ScratchDatabase) throws -> R) throws -> R {
        let database = try ScratchDatabase()
        let outcome = Result { try body(database) }
        try database.drop()
        return try outcome.get()
    }

    /// Runs `body` with a new database and drops it, whatever happens.
    package static func with<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: (ScratchDatabase) async throws -> R
    ) async throws -> R {
        let database = try ScratchDatabase()
        do {
            let value = try await body(database)
            try database.drop()
            return value
        } catch {
            try? database.drop()
            throw error
        }
    }

    /// The suite's database; fails the test where the trait is missing.
    package static func shared() throws -> ScratchDatabase {
        try #require(current, "the suite needs the .scratchDatabase trait")
    }
}

/// Gives a suite one database, made before its first test and dropped after its last.
package struct ScratchDatabaseTrait: SuiteTrait, TestTrait, TestScoping {
    let prepare: @Sendable (ScratchDatabase) throws -> Void

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try prepare(database)
            try await ScratchDatabase.$current.withValue(database) { try await function() }
        }
    }
}

extension Trait where Self == ScratchDatabaseTrait {
    /// An empty database in `ScratchDatabase.current`.
    package static var scratchDatabase: Self { Self(prepare: { _ in }) }

    /// A database in `ScratchDatabase.current` on which `prepare` has run, for example the migrations.
    package static func scratchDatabase(prepare: @escaping @Sendable (ScratchDatabase) throws -> Void) -> Self {
        Self(prepare: prepare)
    }
}
