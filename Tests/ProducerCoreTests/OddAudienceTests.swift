import Foundation
import Glibc
import Operations
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import ProducerCore

/// Audiences that are right in an unusual way, or wrong in one that must not pass unnoticed.
@Suite("Odd audiences", .scratchDatabase(prepare: migrate))
struct OddAudienceTests {
    private let database: ScratchDatabase
    private let folder: Folder
    private let template: String

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
        template = try folder.file("t.json", #"{"token":"{{token}}"}"#)
    }

    /// Runs with a pipe that brings this text.
    private func produce(_ id: String, _ option: String, pipe text: String, _ extra: [String]) throws -> Int32 {
        let path = folder.url.appending(path: id).path
        #expect(mkfifo(path, 0o600) == 0)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Opens when the run does.
            let descriptor = open(path, O_WRONLY)
            let bytes = Array(text.utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count <= 0 { break }
                sent += count
            }
            close(descriptor)
            done.signal()
        }
        defer { done.wait() }
        return ProducerCoreTests.produce(database, id, ["--template", template, option, path] + extra)
    }

    @Test("A pipe is read once, whatever it is called, and what is limited there is limited on the way")
    func pipes() throws {
        let csv = "token\n" + (1...20_000).map { "t\($0)\n" }.joined()
        #expect(try produce("pipe", "--audience", pipe: csv, ["--max-audience", "20000"]) == 0)
        #expect(try database.queued("pipe") == [20_000, 20_000])
        #expect(try produce("small", "--audience", pipe: csv, ["--max-audience", "3"]) == 65)
        #expect(try database.queued("small") == [3, 3])
        let query = "SELECT 'q' || n AS token FROM generate_series(1, 10) AS n"
        #expect(try produce("query", "--audience-sql", pipe: query, ["--max-audience", "9"]) == 65)
        #expect(try database.count("SELECT count(*) FROM todoke.notifications WHERE notification_id = 'query'") == 0)
        #expect(try produce("query10", "--audience-sql", pipe: query, ["--max-audience", "10"]) == 0)
        #expect(try database.queued("query10") == [10, 10])
    }

    @Test("A quote that nobody closes and that swallows lines ends the run; on the last line it is one refused row")
    func quote() throws {
        let lines = (1...50).map { "b\($0)\n" }.joined()
        let file = try folder.file("quote.csv", "token\na1\n\"a2\n" + lines)
        let failure = try outcome(database, "quote", "--template", template, "--audience", file)
        #expect(failure?.exit == .data && failure?.what.contains("line 3: a quoted field is not closed") == true)
        #expect(try database.queued("quote") == [1, 1])
        let last = try folder.file("last.csv", "token\na1\n\"a2\n")
        #expect(ProducerCoreTests.produce(database, "last", "--template", template, "--audience", last) == 65)
        #expect(
            try database.count("SELECT count(loaded_at) FROM todoke.notifications WHERE notification_id = 'last'") == 1)
    }

    @Test("A row of a query that is longer than a row may be is refused, and the others are not")
    func longRow() throws {
        let query = try folder.file(
            "long.sql", "SELECT 't' || n AS token, repeat('x', n * 700000) AS more FROM generate_series(1, 2) AS n")
        #expect(ProducerCoreTests.produce(database, "long", "--template", template, "--audience-sql", query) == 65)
        #expect(try database.queued("long") == [1, 1])
    }

    @Test("An object of NDJSON that is null has empty fields")
    func nullObject() throws {
        let template = try folder.file(
            "n.json",
            #"{"token":"{{token}}","data":{"n":"{{user.name|default:'nobody'}}","c":"{{user.home.city|omit}}"}}"#)
        let file = try folder.file(
            "n.ndjson", "{\"token\":\"a\",\"user\":null}\n{\"token\":\"b\",\"user\":{\"name\":\"B\",\"home\":null}}\n")
        #expect(ProducerCoreTests.produce(database, "null", "--template", template, "--audience", file) == 0)
        #expect(
            try database.count(
                """
                SELECT count(*) FROM todoke.payloads WHERE payload->'data'->>'n' = CASE target WHEN 'a' THEN 'nobody' ELSE 'B' END
                AND payload->'data'->'c' IS NULL
                """) == 2)
    }

    @Test("A date long past is a mistake, a few hours are not")
    func past() throws {
        let ago = { (seconds: Double) in ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(-seconds)) }
        let line = ["--target", "x", "--title", "x", "--at"]
        #expect(try outcome(database, "past", line + [ago(100_000)])?.line.contains("in the past") == true)
        #expect(try outcome(database, "past", line + [ago(10_000)]) == nil)
    }

    @Test(
        "An option whose variable is not set does not pass for one that is not given",
        arguments: [["--notification-id", ""], ["--dedupe-by", ""]])
    func unset(_ extra: [String]) {
        let code = Producer.run(
            arguments: ["todoke-producer", "--app", "recipes", "--target", "x", "--title", "x"] + extra,
            environment: [:])
        #expect(code == 64)
    }

    @Test("An error shows no whole device token")
    func tokens() {
        let token = String(repeating: "t0k3n-", count: 25)
        for line in [
            ["--target", "a", token], ["--target", "a", "--title", "x", "--at", token],
            ["--target", "a", "--data", token],
        ] {
            let failure = #expect(throws: Failure.self) {
                guard
                    case .run(let options) = try ProducerOptions.table.parse(
                        arguments: ["--app", "recipes"] + line, environment: [:])
                else { return }
                _ = try ProducerOptions(options)
            }
            #expect(failure?.line.contains(token) == false && failure?.line.contains(token.prefix(30)) == true)
        }
    }
}

extension OddAudienceTests {
    @Test("An application that queues the same targets at full speed meanwhile: each target once, and the run succeeds")
    func race() throws {
        let count = 20_000
        let file = try folder.file("race.csv", "token\n" + (1...count).map { "r\($0)\n" }.joined())
        let isOver = Atomic(false)
        let done = DispatchSemaphore(value: 0)
        let calls = Atomic(0)
        for _ in 0..<2 {
            Thread.detachNewThread { [database] in
                defer { done.signal() }
                guard let connection = try? database.connect() else { return }
                while !isOver.load(ordering: .relaxed) {
                    let call = "SELECT todoke.enqueue('recipes', 'race', $1, '{\"data\": {\"a\": \"b\"}}')"
                    guard (try? connection.query(call, [.text("r\(Int.random(in: 1...count))")])) != nil else { return }
                    calls.add(1, ordering: .relaxed)
                }
            }
        }
        while calls.load(ordering: .relaxed) < 100 { try database.connect().query("SELECT pg_sleep(0.01)") }
        let code = ProducerCoreTests.produce(database, "race", "--template", template, "--audience", file)
        isOver.store(true, ordering: .relaxed)
        for _ in 0..<2 { done.wait() }
        #expect(code == 0)
        #expect(try database.queued("race") == [count, count])
    }
}
