import Foundation
import Glibc
import Postgres
import TestSupport

/// Everything a run needs: a scratch database with the migrations, an app, an emulator, a directory for files.
///
/// Removed with the last reference.
final class Pipeline {
    let directory: URL
    private(set) var database: Connection
    let emulator: RunningProgram
    let endpoint: String
    let emulatorAPI: EmulatorControl
    let app = "recipes"
    private let scratch: ScratchDatabase

    /// - Parameters:
    ///   - faults: flags for the emulator.
    ///   - scenario: what it does wrong, as JSON; it may be changed later by ``emulatorAPI``.
    ///   - server: a server that the test stops and starts, instead of the one that all tests share.
    init(faults: [String] = [], scenario: String? = nil, server: OwnPostgres? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("todoke-e2e-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        scratch = try server.map { try ScratchDatabase(on: $0.place) } ?? ScratchDatabase()
        database = try scratch.connect()

        let migrated = try RunningProgram(
            "todoke", ["migrate", "--database-url", scratch.connectionString, "--sql-dir", Programs.checkout + "/sql"]
        ).end()
        guard migrated.exitCode == 0 else { throw Late(description: migrated.story) }
        try database.query("INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project')")

        let arguments = ["--listen", "127.0.0.1:0", "--directory", directory.path] + faults
        emulator = try RunningProgram("fcm-emulator", arguments)
        endpoint = try Self.text("endpoint", of: emulator, in: directory)
        emulatorAPI = EmulatorControl(url: try Self.text("control", of: emulator, in: directory))
        if let scenario { try emulatorAPI.change("/scenario", to: scenario) }
    }

    deinit {
        emulator.send(SIGKILL)
        // A sender that a failed test left behind holds connections.
        try? scratch.drop()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func text(_ name: String, of emulator: RunningProgram, in directory: URL) throws -> String {
        let file = directory.appendingPathComponent(name)
        // Said after the file was written.
        _ = try emulator.outputLine(with: "serving")
        return try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A new connection in place of one whose server went away.
    func reconnect() throws { database = try scratch.connect() }

    /// From now on looks at the same database on another server, which had its content from the first.
    func look(at server: OwnPostgres) throws {
        database = try Connection(Conninfo("\(server.place) dbname=\(scratch.name)", applicationName: "todoke tests"))
    }

    /// The database by the names of both servers.
    func databaseURL(_ server: OwnPostgres, or other: OwnPostgres) -> String {
        "\(server.place(or: other)) dbname=\(scratch.name)"
    }

    // MARK: Files

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = directory.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    // MARK: Programs

    var databaseURL: String { scratch.connectionString }

    func producer(
        _ notification: String, template: String = Pipeline.template, audience: [String], input: String? = nil
    ) throws -> EndedProgram {
        let file = try write("template.json", template)
        return try RunningProgram(
            "todoke-producer",
            [
                "--app", app, "--notification-id", notification, "--template", file, "--database-url", databaseURL,
            ] + audience, input: input
        ).end()
    }

    /// Queues `count` messages for the tokens `device-1`…`device-count` with the real producer.
    func queue(_ count: Int, _ notification: String) throws {
        let query = try write(
            "audience.sql",
            """
            SELECT 'device-' || n AS token, 'Reader ' || n AS name, 'https://images.example.com/' || n || '.jpg' AS image
            FROM generate_series(1, \(count)) AS n
            """)
        let ended = try producer(notification, audience: ["--audience-sql", query])
        guard ended.exitCode == 0 else { throw Late(description: ended.story) }
    }

    func sender(_ arguments: [String] = ["--drain"], environment: [String: String] = [:]) throws -> RunningProgram {
        var options = [
            "--app": app, "--credentials": credentials, "--endpoint": endpoint, "--ca-file": certificate,
            "--database-url": databaseURL, "--ramp": "0",
            "--connections": "2",
        ]
        // What the test gives replaces what would be given.
        for argument in arguments { options[argument] = nil }
        return try RunningProgram(
            "todoke-sender", options.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] } + arguments,
            environment: environment)
    }

    var credentials: String { directory.appendingPathComponent("service-account.json").path }
    var certificate: String { directory.appendingPathComponent("ca.pem").path }

    // MARK: What happened

    func number(_ sql: String) throws -> Int {
        let result = try database.query(sql)
        guard result.rowCount == 1, let number = result.int(0, 0) else {
            throw Late(description: "no number from: \(sql)")
        }
        return number
    }

    /// Waits until no message is in another state than sent.
    ///
    /// - Parameter seconds: after which that fails.
    func waitUntilAllIsSent(within seconds: TimeInterval) throws {
        try wait(for: "everything is sent", within: seconds) {
            try number("SELECT count(*) FROM (SELECT FROM todoke.messages WHERE state <> 'sent' LIMIT 1) AS rest") == 0
        }
    }

    /// How many messages are in each state; states without messages are left out.
    func states() throws -> [String: Int] {
        let result = try database.query("SELECT state, count(*) FROM todoke.messages GROUP BY state")
        return Dictionary(
            uniqueKeysWithValues: (0..<result.rowCount).map { (result.string($0, 0), result.int($0, 1) ?? -1) })
    }

    /// All that the emulator took in, in order: each arrival of a message is one element.
    func arrivals() throws -> [[String: Any]] {
        let data = try Data(contentsOf: directory.appendingPathComponent("accepted.ndjson"))
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            guard let entry = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
                let message = entry["message"] as? [String: Any]
            else { throw Late(description: "accepted.ndjson has a line without a message") }
            return message
        }
    }

    /// How often each token arrived.
    func arrivalsByToken() throws -> [String: Int] {
        try arrivals().reduce(into: [:]) { $0[$1["token"] as? String ?? "", default: 0] += 1 }
    }

    static let template = """
        {
            "token": "{{token}}",
            "notification": { "title": "For {{name}}", "body": "Today's recipe", "image": "{{image}}" },
            "data": { "link": "recipes://today" }
        }
        """
}
