import Foundation
import Postgres
import TestSupport
import Testing

extension EndToEnd {
    /// What a program that calls ours can rely on.
    @Suite("Output for programs")
    struct OutputTests {
        private func run(_ line: String, database: String = "") throws -> EndedProgram {
            let shell = try RunningProgram(
                path: "/bin/bash", "bash", ["-c", line], input: nil,
                ["PATH": "\(Programs.directory):/usr/bin:/bin", "PGDATABASE": database])
            return try shell.end()
        }

        @Test(
            "With --json a failure is an object too",
            arguments: [
                ("todoke migrate --json --sql-dir /nowhere", 78),
                ("todoke migrate --json --database-url postgres://localhost:1/queue", 69),
                ("todoke retry --json --app", 64),
                (
                    "todoke-producer --json --app recipes --notification-id n --template /nowhere.json --audience /nowhere.csv",
                    65
                ),
            ])
        func failure(_ line: String, _ code: Int32) throws {
            let ended = try run(line)
            #expect(ended.exitCode == code, "\(ended.story)")
            let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: [String: Any]]
            let error = try #require(object?["error"])
            #expect(error["exit_code"] as? Int == Int(code))
            let what = try #require(error["what"] as? String)
            let remedy = try #require(error["remedy"] as? String)
            #expect(!what.isEmpty && !remedy.isEmpty)
            #expect(ended.errors.contains(what) && ended.errors.contains(remedy))
        }

        #if os(Linux)
            @Test("A result that could not be written is no success", arguments: ["", "--json "])
            func fullDisk(_ option: String) throws {
                let database = try ScratchDatabase()
                defer { try? database.drop() }
                let ended = try run(
                    "todoke migrate \(option)--sql-dir '\(ScratchDatabase.sqlDirectory)' >/dev/full",
                    database: database.name)
                #expect(ended.exitCode == 78, "\(ended.story)")
                #expect(ended.errors.contains("is done, but its result could not be written: No space left on device"))
                #expect(
                    try database.connect().query("SELECT count(*) > 5 FROM todoke.migrations").bool(0, 0) == true)
            }
        #endif
    }
}
