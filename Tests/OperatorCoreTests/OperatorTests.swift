import Operations
import Postgres
import TestSupport
import Testing

@testable import OperatorCore

@Suite struct OperatorTests {
    private static func run(_ arguments: [String], _ environment: [String: String] = [:]) -> Int32 {
        Operator.run(arguments: ["todoke"] + arguments, environment: environment)
    }

    @Test(arguments: [["--help"], ["-h"], ["--version"], ["help"], ["help", "migrate"], ["migrate", "--help"]])
    func whoAsksIsAnswered(_ arguments: [String]) {
        #expect(Self.run(arguments) == ExitCode.ok.rawValue)
    }

    @Test(arguments: [
        [], ["migrat"], ["--database-url"], ["help", "nothing"], ["migrate", "--databse-url", "x"],
        ["migrate", "operand"],
    ])
    func aWrongLineIsAUsageError(_ arguments: [String]) {
        #expect(Self.run(arguments) == ExitCode.usage.rawValue)
    }

    @Test func theNearestSubcommandIsSuggested() {
        #expect(Operator.unknown("migrat").what.contains("did you mean migrate?"))
        #expect(!Operator.unknown(#"{"client_secret": "hunter2"}"#).line.contains("hunter2"))
        #expect(!Operator.unknown("xyzzy-plugh").what.contains("did you mean"))
        for command in Operator.commands { #expect(Operator.help.contains(command.options.summary)) }
    }

    @Test func migrateWorksAndIsHarmlessAgain() throws {
        try ScratchDatabase.with { database in
            let arguments = [
                "migrate", "--database-url", database.connectionString, "--sql-dir", ScratchDatabase.sqlDirectory,
            ]
            #expect(Self.run(arguments) == ExitCode.ok.rawValue)
            #expect(Self.run(arguments + ["--json"]) == ExitCode.ok.rawValue)
            let version = try database.connect().query("SELECT max(version) FROM todoke.migrations").int(0, 0)
            #expect(version == (try ScratchDatabase.migrations().count))
        }
    }

    @Test(arguments: [
        ("dbname=todoke_nobody_made_this", ExitCode.configuration), ("host=127.0.0.1 port=1", .unavailable),
        ("no connection string", .configuration),
    ])
    func aDatabaseThatRefusesEndsIt(_ url: String, _ exit: ExitCode) {
        let arguments = ["migrate", "--sql-dir", ScratchDatabase.sqlDirectory]
        #expect(Self.run(arguments + ["--database-url", url]) == exit.rawValue)
        #expect(
            Self.run(arguments + ["--direct-database-url", url, "--database-url", "dbname=other"]) == exit.rawValue)
        #expect(Self.run(arguments, ["TODOKE_DATABASE_URL": url]) == exit.rawValue)
    }

    @Test func missingFilesEndIt() {
        #expect(Self.run(["migrate", "--sql-dir", "/nowhere"]) == ExitCode.configuration.rawValue)
    }
}
