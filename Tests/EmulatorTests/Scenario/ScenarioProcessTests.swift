import Foundation
import Testing

/// Effects as a client sees them that nobody here wrote.
@Suite struct ScenarioProcessTests {
    static let message = #"{"message":{"token":"t"}}"#

    private func emulator(_ scenario: String, _ flags: String...) throws -> (EmulatorProcess, String) {
        let emulator = try EmulatorProcess(scenario: scenario, flags)
        return (emulator, try emulator.authorization())
    }

    @Test func aNamedErrorComesWithItsHeader() throws {
        let (emulator, authorization) = try emulator(
            #"{"rules": [{"limit": 1, "effect": {"error": "UNAVAILABLE", "retry_after": 30}}]}"#)
        let answer = try emulator.curl(
            emulator.sendURL, "-i", "-H", authorization, "--data", Self.message)
        #expect(answer.status == 503 && answer.body.contains("retry-after: 30"))
        #expect(answer.body.contains("\"errorCode\": \"UNAVAILABLE\""))
        #expect(try emulator.send(Self.message, authorization).status == 200)
        #expect(try emulator.acceptedLines().count == 1)
    }

    @Test func anyAnswerAndAnySkewOfTheDate() throws {
        let (emulator, authorization) = try emulator(
            #"""
            {"rules": [{"effect": {"status": 502, "headers": {"Content-Type": "text/html", "x-why": "test"},
              "body": "<html>", "when": "after_accept"}}], "server": {"date_skew": -31536000}}
            """#)
        let answer = try emulator.curl(emulator.sendURL, "-i", "-H", authorization, "--data", Self.message)
        #expect(answer.status == 502 && answer.body.hasSuffix("<html>"))
        #expect(answer.body.contains("content-type: text/html\r\n") && answer.body.contains("x-why: test"))
        let year = Calendar(identifier: .gregorian).component(.year, from: Date().addingTimeInterval(-31_536_000))
        #expect(answer.body.contains(" \(year) "))
        // The answer is an error, and the message was accepted all the same.
        #expect(try emulator.acceptedLines().count == 1)
    }

    @Test func latencyAndDripTakeTheirTime() throws {
        let (emulator, authorization) = try emulator(
            #"""
            {"rules": [{"effect": {"latency": {"fixed": 150}}},
              {"match": {"target": "t"}, "effect": {"drip": {"bytes": 20, "every": 50}}}]}
            """#)
        let start = ContinuousClock.now
        let answer = try emulator.send(Self.message, authorization)
        let duration = ContinuousClock.now - start
        #expect(answer.status == 200 && answer.json["name"] != nil)
        let chunks = (answer.body.utf8.count - 1) / 20
        #expect(duration >= .milliseconds(150 + 50 * chunks), "\(duration) for \(chunks) chunks")
    }

    @Test(arguments: [("before_accept", 0), ("after_accept", 1)])
    func aStalledRequestIsNeverAnswered(when: String, accepted: Int) throws {
        let (emulator, authorization) = try emulator(
            #"{"rules": [{"limit": 1, "effect": {"stall": true, "when": "\#(when)"}}]}"#)
        let answer = try emulator.curl(
            emulator.sendURL, "-m", "0.5", "-H", authorization, "--data", Self.message)
        #expect(answer.exitCode == 28 && answer.status == 0)
        #expect(try emulator.acceptedLines().count == accepted)
    }

    @Test(
        arguments: [
            (#"{"reset": "stream"}"#, [92], 0), (#"{"reset": "stream", "when": "after_accept"}"#, [92], 1),
            (#"{"reset": "connection", "by": "fin"}"#, [18], 0),
            (#"{"reset": "connection", "by": "rst"}"#, [55, 56], 0),
            (#"{"reset": "connection", "by": "fin", "when": "after_accept"}"#, [18], 1),
            (#"{"reset": "connection", "by": "rst", "when": "after_accept"}"#, [55, 56], 1),
            (#"{"reset": "connection", "by": "silent"}"#, [28], 0),
        ] as [(String, [Int32], Int)])
    func aResetIsSeenAndTheLogKnowsWhen(effect: String, codes: [Int32], accepted: Int) throws {
        let (emulator, authorization) = try emulator(#"{"rules": [{"limit": 1, "effect": \#(effect)}]}"#)
        let answer = try emulator.curl(
            emulator.sendURL, "-m", "1", "-H", authorization, "--data", Self.message)
        #expect(answer.status == 0 && codes.contains(answer.exitCode), "\(answer.exitCode) \(answer.errorText)")
        #expect(try emulator.acceptedLines().count == accepted)
        // Whatever happened to the connection, the next one works.
        #expect(try emulator.send(Self.message, authorization).status == 200)
    }

    @Test(arguments: [("this", true), ("previous", false), ("zero", false)])
    func goAwayNamesItsLastStreamAndItsReason(last: String, isAnswered: Bool) throws {
        let (emulator, authorization) = try emulator(
            #"{"rules": [{"effect": {"goaway": {"last_stream": "\#(last)", "debug": {"reason": "Shutdown"}}}}]}"#)
        let body = emulator.directory.appending(path: "body")
        try Data(Self.message.utf8).write(to: body)
        let run = try Command.run(
            "/usr/bin/nghttp", ["-v", "-t", "2", "-d", body.path, "-H", authorization, emulator.sendURL])
        #expect(run.output.contains("recv GOAWAY frame"), "\(run.output)")
        #expect(run.output.contains(#"{"reason":"Shutdown"}"#))
        let id = run.output.firstMatch(of: /last_stream_id=(\d+), error_code=NO_ERROR/).flatMap { Int($0.1) }
        let sent = run.output.firstMatch(of: /send HEADERS frame <.*stream_id=(\d+)>/).flatMap { Int($0.1) } ?? 0
        #expect(sent > 0)
        #expect(id == (last == "this" ? sent : last == "previous" ? sent - 2 : 0))
        #expect(try emulator.acceptedLines().count == (isAnswered ? 1 : 0))
    }

    @Test func settingsWithFewerStreamsComeAndGo() throws {
        let (emulator, authorization) = try emulator(
            #"""
            {"rules": [{"limit": 1, "effect": {"settings": {"max_streams": 3, "for": 100}}},
              {"effect": {"latency": {"fixed": 300}}}]}
            """#)
        let body = emulator.directory.appending(path: "body")
        try Data(Self.message.utf8).write(to: body)
        let run = try Command.run("/usr/bin/nghttp", ["-v", "-d", body.path, "-H", authorization, emulator.sendURL])
        let limits = run.output.matches(of: /SETTINGS_MAX_CONCURRENT_STREAMS\(0x03\):(\d+)/).map { String($0.1) }
        #expect(limits.filter { $0 == "3" }.count == 1, "\(run.output)")
        #expect(limits.last == "100")
    }

    @Test func aQuotaRefusesWhatIsAboveIt() throws {
        let (emulator, authorization) = try emulator(
            #"{"quota": {"messages_per_minute": 1, "burst": 2, "retry_after": 5, "shape": "error_info"}}"#)
        let answers = try (0..<3).map { _ in
            try emulator.curl(emulator.sendURL, "-i", "-H", authorization, "--data", Self.message)
        }
        #expect(answers.map(\.status) == [200, 200, 429])
        #expect(answers[2].body.contains("RATE_LIMIT_EXCEEDED") && !answers[2].body.contains("errorCode"))
        #expect(answers[2].body.contains("retry-after: 5"))
    }

    @Test func projectsAreToldApart() throws {
        let (emulator, authorization) = try emulator(
            #"{"rules": [{"match": {"project": "two"}, "effect": {"error": "SENDER_ID_MISMATCH"}}]}"#,
            "--project=one,two")
        let statuses = try ["one", "two", "three"].map {
            try emulator.curl(
                "\(emulator.endpoint)/v1/projects/\($0)/messages:send", "-H", authorization, "--data", Self.message
            ).status
        }
        #expect(statuses == [200, 403, 403])
        #expect(try emulator.acceptedLines().first?.contains(#""project":"one""#) == true)
    }

    @Test func tokensFailAndDie() throws {
        let (emulator, authorization) = try emulator(#"{"token": {"uses": 1, "expires_in": 1000}}"#)
        #expect(try emulator.send(Self.message, authorization).status == 200)
        #expect(try emulator.send(Self.message, authorization).status == 401)
        let broken = try EmulatorProcess(scenario: #"{"token": {"error": "temporarily_unavailable"}}"#)
        let answer = try broken.curl("\(broken.endpoint)/token", "--data", "x=y")
        #expect(answer.status == 503 && answer.json["error"] as? String == "temporarily_unavailable")
    }

    @Test(
        arguments: [("a/b.json", 78, "cannot read"), ("bad.json", 65, "rules[0].effect.oops")]
            as [(String, Int32, String)])
    func aScenarioThatCannotBeUsedEndsTheProgram(name: String, code: Int32, text: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "todoke-scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(#"{"rules": [{"effect": {"oops": 1, "stall": true}}]}"#.utf8)
            .write(to: directory.appending(path: "bad.json"))
        let run = try Command.run(
            EmulatorProcess.executable.path,
            ["--directory", directory.path, "--scenario", directory.appending(path: name).path])
        #expect(run.exitCode == code && run.errors.contains(text), "\(run.errors)")
    }
}
