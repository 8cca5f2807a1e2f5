import Dispatch
import Foundation
import Operations
import Postgres
import Queue
import Synchronization
import TestSupport
import Testing

@Suite struct MigratorTests {
    /// The files that there are, in the order of their names.
    private static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: ScratchDatabase.sqlDirectory))
        .map { $0.sorted() } ?? []

    private static func version(_ connection: Connection) throws -> Int? {
        try connection.query("SELECT max(version) FROM todoke.migrations").int(0, 0)
    }

    /// `file` with `text` put in front of its body, and a digest that fits.
    private static func edited(_ file: MigrationFile, _ text: String, _ connection: Connection) throws -> MigrationFile
    {
        let body = text + file.body
        let digest = try connection.query(
            "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')", [.text(body)]
        ).string(0, 0)
        let record = file.text.dropFirst(file.body.count)
        return try MigrationFile(
            name: file.name, text: body + record.replacing(file.digest, with: digest))
    }

    /// One more file after `files`.
    private static func following(_ files: [MigrationFile], _ sql: String, _ connection: Connection) throws
        -> MigrationFile
    {
        let version = files.count + 1
        let name = String("000\(version)".suffix(4)) + "_more.sql"
        let zeros = String(repeating: "0", count: 64)
        let record =
            "INSERT INTO todoke.migrations (version, name, digest) VALUES (\(version), '\(name)', '\(zeros)');\n"
        return try edited(MigrationFile(name: name, text: record), sql, connection)
    }

    @Test func aFreshDatabaseGetsEverythingAndTheSecondRunNothing() throws {
        try ScratchDatabase.with { database in
            let connection = try database.connect()
            let migrator = Migrator(files: try ScratchDatabase.migrations())
            let first = try migrator.migrate(connection)
            #expect(first == Migrator.Report(version: Self.names.count, applied: Self.names))
            let second = try migrator.migrate(connection)
            #expect(second == Migrator.Report(version: Self.names.count, applied: []))
            #expect(!connection.isInTransaction)
            #expect(try connection.query("SELECT current_user = session_user").bool(0, 0) == true)
        }
    }

    @Test func severalAtOnceApplyEachFileOnce() throws {
        try ScratchDatabase.with { database in
            let files = try ScratchDatabase.migrations()
            let outcomes = Mutex<[Result<[String], any Error>]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let outcome = Result { try Migrator(files: files).migrate(database.connect()).applied }
                outcomes.withLock { $0.append(outcome) }
            }
            let applied = try outcomes.withLock { try $0.flatMap { try $0.get() } }
            #expect(applied.sorted() == Self.names)
        }
    }

    @Test func aNewerDatabaseIsRefused() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            let files = try ScratchDatabase.migrations()
            let failure = #expect(throws: Failure.self) {
                try Migrator(files: files.dropLast()).migrate(connection)
            }
            #expect(failure?.exit == .configuration)
            #expect(failure?.what.contains("newer") == true)
            #expect(!connection.isInTransaction)
        }
    }

    @Test func somebodyElsesSchemaIsCalledThat() throws {
        for table in ["apps", "migrations"] {
            try ScratchDatabase.with { database in
                let connection = try database.connect()
                try connection.script("CREATE SCHEMA todoke; CREATE TABLE todoke.\(table) (x int)")
                let failure = #expect(throws: Failure.self) {
                    try Migrator(files: ScratchDatabase.migrations()).migrate(connection)
                }
                #expect(failure?.exit == .configuration)
                #expect(failure?.what.contains("not ours") == true)
            }
        }
    }

    @Test func aChangedFileIsRefused() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            var files = try ScratchDatabase.migrations()
            let original = files[1]

            // Its text no longer has the digest it records.
            files[1] = try MigrationFile(name: original.name, text: "-- changed\n" + original.text)
            let stale = #expect(throws: Failure.self) { try Migrator(files: files).migrate(connection) }
            #expect(stale?.exit == .configuration)
            #expect(stale?.what.contains(original.name) == true)

            // It has, but it is not the one that was applied.
            files[1] = try Self.edited(original, "-- changed\n", connection)
            let sealed = #expect(throws: Failure.self) { try Migrator(files: files).migrate(connection) }
            #expect(sealed?.exit == .configuration)
            #expect(sealed?.what.contains(original.name) == true)
            #expect(try Self.version(connection) == Self.names.count)
        }
    }

    @Test func aLaterFileIsAppliedAndAFailingOneLeavesNothing() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            let files = try ScratchDatabase.migrations()
            let bad = try Self.following(files, "CREATE TABLE todoke.half (a int);\nSELECT 1 / 0;\n", connection)
            let failure = #expect(throws: Failure.self) { try Migrator(files: files + [bad]).migrate(connection) }
            #expect(failure?.what.contains(bad.name) == true)
            #expect(try connection.query("SELECT to_regclass('todoke.half') IS NULL").bool(0, 0) == true)
            #expect(try Self.version(connection) == files.count)

            let good = try Self.following(files, "CREATE TABLE todoke.whole (a int);\n", connection)
            #expect(try Migrator(files: files + [good]).migrate(connection).applied == [good.name])
            #expect(try connection.query("SELECT to_regclass('todoke.whole') IS NOT NULL").bool(0, 0) == true)
        }
    }

    @Test func whoMayNotMigrateIsToldWho() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            try connection.script("SET SESSION AUTHORIZATION todoke_app")
            let files = try ScratchDatabase.migrations()
            let failure = #expect(throws: Failure.self) { try Migrator(files: files).migrate(connection) }
            #expect(failure?.exit == .configuration)
            #expect(failure?.remedy.contains("todoke_owner") == true)
        }
    }

    @Test func psqlDoesTheSame() throws {
        try ScratchDatabase.with { (byTool: ScratchDatabase) in
            try ScratchDatabase.with { (byHand: ScratchDatabase) in
                try byTool.migrate()
                let directory = ScratchDatabase.sqlDirectory
                func psql(_ name: String) throws -> CommandLineTool {
                    try CommandLineTool([
                        "psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", byHand.name, "-f",
                        "\(directory)/\(name)",
                    ])
                }
                for name in Self.names {
                    let run = try psql(name)
                    #expect(run.status == 0, "\(name): \(run.error)")
                }
                for name in Self.names {
                    let again = try psql(name)
                    #expect(again.status != 0)
                    #expect(again.error.contains("already applied"), "\(name): \(again.error)")
                }
                #expect(try Self.dump(byTool) == Self.dump(byHand))
                #expect(try Self.record(byTool) == Self.record(byHand))
            }
        }
    }

    @Test func psqlWithoutATransactionIsRefused() throws {
        try ScratchDatabase.with { database in
            let file = "\(ScratchDatabase.sqlDirectory)/\(Self.names[0])"
            let run = try CommandLineTool([
                "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.name, "-f", file,
            ])
            #expect(run.status != 0)
            #expect(run.error.contains("must run in one transaction"))
            let connection = try database.connect()
            #expect(try connection.query("SELECT to_regnamespace('todoke') IS NULL").bool(0, 0) == true)
        }
    }

    private static func dump(_ database: ScratchDatabase) throws -> [Substring] {
        let run = try CommandLineTool(["pg_dump", "--schema-only", "-d", database.name])
        try #require(run.status == 0, "\(run.error)")
        // Newer releases put a random word into \restrict.
        let lines = run.output.split(separator: "\n").filter { !$0.contains("restrict ") }
        try #require(lines.count > 500)
        return lines
    }

    private static func record(_ database: ScratchDatabase) throws -> [String] {
        let rows = try database.connect().query(
            "SELECT concat_ws(' ', version, name, digest) FROM todoke.migrations ORDER BY version")
        return (0..<rows.rowCount).map { rows.string($0, 0) }
    }

    /// Who queues locks messages, then payloads; a file that takes them the other way round ends one of both in a deadlock.
    @Test func whoQueuesMeanwhileWaitsAndIsNotRefused() throws {
        try ScratchDatabase.with { database in
            let files = try ScratchDatabase.migrations()
            _ = try Migrator(files: Array(files[..<11])).migrate(database.connect())
            let application = try database.connect()
            try application.script("BEGIN; LOCK TABLE todoke.messages IN ROW EXCLUSIVE MODE")
            let outcome = Mutex<Result<[String], any Error>?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                let applied = Result { try Migrator(files: Array(files[..<12])).migrate(database.connect()).applied }
                outcome.withLock { $0 = applied }
                isDone.signal()
            }
            let watch = try database.connect()
            while try watch.query(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'todoke.messages'::regclass AND NOT granted)"
            ).bool(0, 0) != true {
                if outcome.withLock({ $0 != nil }) { break }
                try watch.query("SELECT pg_sleep(0.01)")
            }
            try application.script("LOCK TABLE todoke.payloads IN ROW EXCLUSIVE MODE; COMMIT")
            isDone.wait()
            #expect(try outcome.withLock { try $0?.get() } == [files[11].name])
        }
    }
}
