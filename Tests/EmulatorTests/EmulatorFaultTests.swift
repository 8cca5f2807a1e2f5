import Foundation
import Testing

/// The four faults, as clients see them and as `accepted.ndjson` counts them.
@Suite struct EmulatorFaultTests {
    static let message = #"{"message":{"token":"t"}}"#

    @Test(arguments: [("fin", [18]), ("rst", [55, 56])] as [(String, [Int32])])
    func aResetBeforeAcceptanceLeavesNothingBehind(how: String, codes: [Int32]) throws {
        let emulator = try EmulatorProcess("--reset-before-accept=1", "--fault-limit=1", "--reset-by=\(how)")
        let authorization = try emulator.authorization()
        let answer = try emulator.send(Self.message, authorization)
        #expect(answer.status == 0 && codes.contains(answer.exitCode), "\(answer.exitCode) \(answer.errorText)")
        #expect(try emulator.acceptedLines().isEmpty)
        #expect(try emulator.send(Self.message, authorization).status == 200)
        #expect(try emulator.acceptedLines().count == 1)
    }

    @Test(arguments: [("fin", [18]), ("rst", [55, 56])] as [(String, [Int32])])
    func aResetAfterAcceptanceIsInTheLog(how: String, codes: [Int32]) throws {
        let emulator = try EmulatorProcess("--reset-after-accept=2", "--reset-by=\(how)")
        let authorization = try emulator.authorization()
        #expect(try emulator.send(Self.message, authorization).status == 200)
        let answer = try emulator.send(Self.message, authorization)
        #expect(answer.status == 0 && codes.contains(answer.exitCode), "\(answer.exitCode) \(answer.errorText)")
        #expect(try emulator.acceptedLines().count == 2)
        #expect(emulator.stop() == 0)
    }

    @Test func aRefusedStreamCanBeSentAgain() throws {
        let emulator = try EmulatorProcess("--refuse-stream=10")
        let outcome = try load(emulator, requests: 100, "-m", "10")
        #expect(outcome.contains("90 succeeded"), "\(outcome)")
        #expect(try emulator.acceptedLines().count == 90)
        // libcurl sends a refused stream again by itself.
        let single = try EmulatorProcess("--refuse-stream=2", "--fault-limit=1")
        let authorization = try single.authorization()
        #expect(try single.send(Self.message, authorization).status == 200)
        #expect(try single.send(Self.message, authorization).status == 200)
        #expect(try single.acceptedLines().count == 2)
    }

    @Test func goAwayLosesAndDoublesNothing() throws {
        let emulator = try EmulatorProcess("--goaway=25")
        let run = try emulator.curlOutput([
            "--parallel", "--parallel-max", "60", "-H", emulator.authorization(), "--data", Self.message,
            "--output", "/dev/null", "--write-out", "%{http_code}\\n", emulator.sendURL + "?[1-200]",
        ])
        // libcurl sends most of the streams above the last one again, and gives up on some.
        let answered = run.output.split(separator: "\n").filter { $0 == "200" }.count
        #expect(answered >= 25)
        #expect(try emulator.acceptedLines().count == answered)
        #expect(emulator.stop() == 0)
    }

    @Test func manyConnectionsAndStreamsAreServed() throws {
        let emulator = try EmulatorProcess("--max-streams=7")
        let outcome = try load(emulator, requests: 2000, "-m", "7", "-c", "20")
        #expect(outcome.contains("2000 succeeded") && outcome.contains("2000 2xx"), "\(outcome)")
        #expect(try emulator.acceptedLines().count == 2000)
    }

    private func load(_ emulator: EmulatorProcess, requests: Int, _ arguments: String...) throws -> String {
        let body = emulator.directory.appending(path: "body.json")
        try Data(Self.message.utf8).write(to: body)
        let connections = arguments.contains("-c") ? [] : ["-c", "1"]
        let run = try Command.run(
            "/usr/bin/h2load",
            ["-n", String(requests), "-d", body.path, "-H", try emulator.authorization()] + connections + arguments
                + [emulator.sendURL])
        return run.output
    }
}
