import Foundation
import Testing

/// The main port spoken to by HTTP/1.1.
@Suite struct EmulatorHTTP1Tests {
    private static let message = #"{"message":{"token":"t"}}"#

    @Test(arguments: ["--http1.1", "--no-alpn"])
    func tokensAndMessagesWorkOverHTTP1(_ version: String) throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let answer = try emulator.curl(version, emulator.sendURL, "-H", authorization, "--data", Self.message)
        #expect(answer.status == 200 && answer.httpVersion == "1.1")
        #expect((answer.json["name"] as? String)?.hasPrefix("projects/demo-project/messages/0:") == true)
        let token = try emulator.curl(version, "\(emulator.endpoint)/token", "--data", "grant_type=x")
        #expect(token.status == 400 && token.httpVersion == "1.1" && token.json["error"] != nil)
        #expect(try emulator.acceptedLines().count == 1)
        #expect(emulator.stop() == 0)
    }

    @Test func chunkedLongAndManyRequestsWorkOnOneConnection() throws {
        let emulator = try EmulatorProcess()
        let authorization = try emulator.authorization()
        let chunked = try emulator.curl(
            "--http1.1", emulator.sendURL, "-H", authorization, "-H", "Transfer-Encoding: chunked", "--data",
            Self.message)
        #expect(chunked.status == 200)
        let file = emulator.directory.appending(path: "long.json")
        try Data(repeating: UInt8(ascii: " "), count: 300_000).write(to: file)
        let long = try emulator.curl(
            "--http1.1", emulator.sendURL, "-H", authorization, "--data-binary", "@\(file.path)")
        #expect(long.status == 400 && long.message == "Request payload size exceeds the limit: 131072 bytes.")
        let before = try #require(try emulator.gauge("connections.total"))
        let run = try emulator.curlOutput([
            "--http1.1", "-H", authorization, "--data", Self.message, "--output", "/dev/null",
            emulator.sendURL + "?[1-100]",
        ])
        #expect(run.exitCode == 0)
        #expect(try emulator.gauge("accepted") == 101 && emulator.gauge("connections.total") == before + 1)
    }

    @Test func lateAnswersAndManyConnectionsWork() throws {
        let emulator = try EmulatorProcess("--latency", "200", "--no-accepted-log")
        let run = try emulator.curlOutput([
            "--http1.1", "--parallel", "--parallel-max", "50", "--parallel-immediate", "-H",
            try emulator.authorization(), "--data", Self.message, "--output", "/dev/null",
            emulator.sendURL + "?[1-100]",
        ])
        #expect(run.exitCode == 0)
        #expect(try emulator.gauge("accepted") == 100)
        #expect(try #require(try emulator.gauge("concurrency.peak")) > 1)
        #expect(try emulator.ask("/wait?connections.now<=0").status == 200)
    }

    @Test func faultsResetTheConnection() throws {
        let emulator = try EmulatorProcess("--reset-after-accept", "2", "--refuse-stream", "3")
        let authorization = try emulator.authorization()
        func send() throws -> Answer {
            try emulator.curl("--http1.1", emulator.sendURL, "-H", authorization, "--data", Self.message)
        }
        #expect(try send().status == 200)
        #expect(try [52, 55, 56].contains(send().exitCode))
        #expect(try [52, 55, 56].contains(send().exitCode))
        #expect(try send().status == 200)
        #expect(try emulator.gauge("accepted") == 3 && emulator.gauge("faults.reset_connection") == 1)
        #expect(try emulator.gauge("faults.refuse_stream") == 1)
    }

    @Test func connectionPerMessageIsSeen() throws {
        let emulator = try EmulatorProcess("--no-accepted-log")
        let authorization = try emulator.authorization()
        for _ in 0..<11 {
            _ = try emulator.curl("--http1.1", emulator.sendURL, "-H", authorization, "--data", Self.message)
        }
        #expect(try emulator.ask("/wait?violations.connection_per_message=2&timeout=20").status == 200)
    }
}
