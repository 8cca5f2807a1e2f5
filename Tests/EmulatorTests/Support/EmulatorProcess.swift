import Foundation
import Signing
import Testing

/// The built emulator, running with a directory of its own until it is stopped or let go.
final class EmulatorProcess {
    let directory: URL
    let endpoint: String
    /// The control API's URL.
    let control: String
    private let process = Process()

    /// Starts it and waits for the line that says it is ready.
    convenience init(_ flags: String...) throws { try self.init(scenario: nil, flags) }

    /// The same with a scenario, as JSON.
    init(scenario: String?, _ flags: [String] = []) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "todoke-emulator-\(UUID().uuidString)")
        let output = Pipe()
        process.executableURL = Self.executable
        process.arguments = ["--directory", directory.path] + flags
        if let scenario {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let file = directory.appending(path: "scenario.json")
            try Data(scenario.utf8).write(to: file)
            process.arguments?.append("--scenario=\(file.path)")
        }
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        #expect(line.contains("serving"), "the emulator did not start: \(line)")
        endpoint = try String(contentsOf: directory.appending(path: "endpoint"), encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        control = try String(contentsOf: directory.appending(path: "control"), encoding: .utf8)
            .trimmingCharacters(in: .newlines)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: directory)
    }

    /// The binary that was built beside the tests.
    static var executable: URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "fcm-emulator")
    }

    var sendURL: String { "\(endpoint)/v1/projects/demo-project/messages:send" }

    /// Asks the control API.
    func ask(_ path: String, _ arguments: String...) throws -> Answer {
        Answer(
            try Command.run(
                "/usr/bin/curl",
                [
                    "--silent", "--show-error", "--noproxy", "*", "--max-time", "60", "--write-out",
                    "\n%{http_version} %{http_code}", control + path,
                ] + arguments))
    }

    /// A number of `/stats` by its dotted path.
    func gauge(_ path: String) throws -> Int? {
        var value: Any? = try ask("/stats").json
        for name in path.split(separator: ".") { value = (value as? [String: Any])?[String(name)] }
        return value as? Int
    }

    /// Ends it with SIGTERM; gives back its exit code.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The lines of `accepted.ndjson`, raw.
    func acceptedLines() throws -> [String] {
        try String(contentsOf: directory.appending(path: "accepted.ndjson"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// The key file's fields.
    func serviceAccount() throws -> [String: String] {
        let data = try Data(contentsOf: directory.appending(path: "service-account.json"))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: String])
    }

    /// A bearer header with a token fetched by the JWT grant.
    func authorization() throws -> String {
        let account = try serviceAccount()
        let key = try PrivateKey(pem: [UInt8](try #require(account["private_key"]).utf8))
        let now = Int(Date().timeIntervalSince1970)
        let assertion = try JSONWebToken.sign(
            header: ["kid": .string(try #require(account["private_key_id"]))],
            claims: [
                "iss": .string(try #require(account["client_email"])),
                "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "aud": .string(try #require(account["token_uri"])), "iat": .int(now), "exp": .int(now + 3600),
            ], with: key)
        let answer = try curl(
            "\(endpoint)/token", "--data-urlencode", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer",
            "--data-urlencode", "assertion=\(assertion)")
        #expect(answer.status == 200)
        return "authorization: Bearer \(try #require(answer.json["access_token"] as? String))"
    }

    /// Posts a body to `messages:send` as the demo project.
    func send(_ body: String, _ authorization: String) throws -> Answer {
        try curl(sendURL, "-H", authorization, "--data-binary", body)
    }

    /// Runs Debian's curl over HTTP/2 with the emulator's authority.
    func curl(_ arguments: String...) throws -> Answer { Answer(try curlOutput(arguments)) }

    /// The same with what curl printed as it is, for several requests.
    func curlOutput(_ arguments: [String]) throws -> Command.Outcome {
        try Command.run(
            "/usr/bin/curl",
            [
                "--silent", "--show-error", "--http2", "--noproxy", "*", "--cacert",
                directory.appending(path: "ca.pem").path, "--write-out", "\n%{http_version} %{http_code}",
            ] + arguments)
    }
}

/// What curl made of one request.
struct Answer {
    let exitCode: Int32
    let errorText: String
    /// 0 when there was no answer.
    let status: Int
    let httpVersion: String
    let body: String

    init(_ run: Command.Outcome) {
        exitCode = run.exitCode
        errorText = run.errors
        let end = run.output.lastIndex(of: "\n") ?? run.output.startIndex
        body = String(run.output[..<end])
        let words = run.output[end...].split(separator: " ")
        httpVersion = words.first.map { $0.trimmingCharacters(in: .newlines) } ?? ""
        status = words.last.flatMap { Int($0) } ?? 0
    }

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
    }

    /// The members of `error` in a google.rpc answer.
    var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }
    var message: String? { error["message"] as? String }
    var rpcStatus: String? { error["status"] as? String }

    /// The FcmError's code.
    var fcmCode: String? {
        (error["details"] as? [[String: Any]])?.compactMap { $0["errorCode"] as? String }.first
    }

    /// The fields that the BadRequest names.
    var violations: [String] {
        (error["details"] as? [[String: Any]] ?? []).flatMap { $0["fieldViolations"] as? [[String: String]] ?? [] }
            .compactMap { $0["field"] }
    }
}
