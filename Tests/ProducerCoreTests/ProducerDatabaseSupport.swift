import Foundation
import Operations
import Postgres
import TestSupport

@testable import ProducerCore

/// The schema, and the app `recipes` in it.
@Sendable func migrate(_ database: ScratchDatabase) throws {
    try database.migrate()
    try database.connect().script("INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project')")
}

/// A directory for a test's files, removed with the object.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "todoke-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file and gives back its path.
    func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }

    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = url.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path
    }
}

let simpleTemplate = #"{"token":"{{token}}","notification":{"title":"{{title}}","image":"{{image}}"}}"#

/// Runs the producer as its executable does, for the app `recipes`.
func produce(_ database: ScratchDatabase, _ id: String, _ arguments: String...) -> Int32 {
    produce(database, id, arguments)
}

func produce(_ database: ScratchDatabase, _ id: String, _ arguments: [String]) -> Int32 {
    Producer.run(
        arguments: [
            "todoke-producer", "--app", "recipes", "--notification-id", id, "--database-url", database.connectionString,
        ] + arguments, environment: [:])
}

/// Asserts nothing: the run as a failure or an exit code.
func outcome(_ database: ScratchDatabase, _ id: String, _ arguments: String...) throws -> Failure? {
    try outcome(database, id, arguments)
}

func outcome(_ database: ScratchDatabase, _ id: String, _ arguments: [String]) throws -> Failure? {
    let given =
        ["--app", "recipes", "--notification-id", id, "--database-url", database.connectionString] + arguments
    guard case .run(let options) = try ProducerOptions.table.parse(arguments: given, environment: [:]) else {
        return nil
    }
    do {
        var run = try ProducerRun(ProducerOptions(options))
        _ = try run.run()
        return nil
    } catch { return error }
}

extension ScratchDatabase {
    /// One number.
    func count(_ sql: String, _ parameters: [Value] = []) throws -> Int {
        try connect().query(sql, parameters).int(0, 0) ?? -1
    }

    /// Messages and different targets of a notification.
    func queued(_ id: String) throws -> [Int] {
        let row = try connect().query(
            """
            SELECT count(*), count(DISTINCT p.target) FROM todoke.messages AS m
            JOIN todoke.payloads AS p USING (id, day) JOIN todoke.notifications AS n ON n.id = m.notification
            WHERE n.notification_id = $1 AND m.state = 'pending'
            """, [.text(id)])
        return [row.int(0, 0) ?? -1, row.int(0, 1) ?? -1]
    }
}
