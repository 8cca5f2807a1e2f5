import Operations
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

/// The command lines of `retry`, `cancel`, `pause` and `resume`: what they take, and with which code they end.
@Suite(.migratedDatabase) struct BulkCommandTests {
    private static func run(_ arguments: String...) throws -> ExitCode? {
        let database = try ScratchDatabase.shared()
        try database.connect().query(
            "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'p') ON CONFLICT DO NOTHING")
        return ExitCode(
            rawValue: Operator.run(
                arguments: ["todoke"] + arguments + ["--database-url", database.connectionString], environment: [:]))
    }

    @Test func `nothing to do is no failure`() throws {
        #expect(try Self.run("retry", "--app", "recipes", "--all") == .ok)
        #expect(
            try Self.run("retry", "--app", "recipes", "--code", "A", "--since", "2026-01-01T00:00:00Z", "--json") == .ok
        )
        #expect(try Self.run("cancel", "--app", "recipes", "--campaign", "none") == .ok)
        #expect(try Self.run("pause", "--app", "recipes", "--reason", "why") == .ok)
        #expect(try Self.run("resume", "--app", "recipes", "--json") == .ok)
        #expect(try Self.run("resume", "--app", "recipes") == .ok)
    }

    @Test func `a retry says what it is about`() throws {
        #expect(try Self.run("retry", "--app", "recipes") == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--notification", "") == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--dry-run") == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--all", "--code", "A") == .usage)
        #expect(try Self.run("retry", "--all") == .usage)
    }

    @Test(arguments: ["yesterday", "2026-11-30", "2026-11-30T18:00:00", "2026-13-30T18:00:00Z", "12"])
    func `times have an offset`(_ time: String) throws {
        #expect(try Self.run("retry", "--app", "recipes", "--since", time) == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--until", time) == .usage)
    }

    @Test func `times in the wrong order, and numbers that are none`() throws {
        #expect(
            try Self.run(
                "retry", "--app", "recipes", "--since", "2026-11-30T18:00:00+09:00", "--until", "2026-11-30T09:00:00Z")
                == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--message", "x") == .usage)
        #expect(try Self.run("retry", "--app", "recipes", "--message", "0") == .usage)
    }

    @Test func `what is not there is wrong data`() throws {
        #expect(try Self.run("retry", "--app", "recipe", "--all") == .data)
        #expect(try Self.run("retry", "--app", "recipes", "--notification", "none") == .data)
        #expect(try Self.run("retry", "--app", "recipes", "--message", "9223372036854775807") == .data)
        #expect(try Self.run("cancel", "--app", "recipes", "none") == .data)
        #expect(try Self.run("cancel", "--app", "recipe", "--campaign", "c") == .data)
        #expect(try Self.run("pause", "--app", "recipe") == .data)
        #expect(try Self.run("resume", "--app", "recipe") == .data)
    }

    @Test func `a cancellation names notifications or a campaign`() throws {
        #expect(try Self.run("cancel", "--app", "recipes") == .usage)
        #expect(try Self.run("cancel", "--app", "recipes", "--campaign", "c", "n") == .usage)
        #expect(try Self.run("cancel", "n") == .usage)
    }

    /// One id that is wrong, and nothing is cancelled.
    @Test func `a slip cancels nothing`() throws {
        _ = try Self.run("resume", "--app", "recipes")
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            "INSERT INTO todoke.notifications (app, notification_id) SELECT id, 'right' FROM todoke.apps")
        #expect(try Self.run("cancel", "--app", "recipes", "right", "rigth") == .data)
        let cancelled = "SELECT count(*) FROM todoke.notifications WHERE cancelled_at IS NOT NULL"
        #expect(try connection.query(cancelled).int(0, 0) == 0)
        #expect(try Self.run("cancel", "--app", "recipes", "right", "right") == .ok)
        #expect(try connection.query(cancelled).int(0, 0) == 1)
    }

    @Test func `a database without the schema is told to migrate`() throws {
        try ScratchDatabase.with { database in
            let ended = Operator.run(
                arguments: ["todoke", "pause", "--app", "a", "--database-url", database.connectionString],
                environment: [:])
            #expect(ended == ExitCode.configuration.rawValue)
        }
    }
}
