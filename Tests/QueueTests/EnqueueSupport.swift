import Postgres
import TestSupport
import Testing

@testable import Queue

/// A connection that may do what applications may, and an app of the test's own.
struct EnqueueFixture {
    /// The owner's view.
    let admin: Connection
    let app: String

    init(environment: String = "production") throws {
        app = "app-\(UInt64.random(in: 0 ... .max))"
        admin = try ScratchDatabase.shared().connect()
        try admin.query(
            "INSERT INTO todoke.apps (name, project_id, environment) VALUES ($1, 'p', $2)",
            [.text(app), .text(environment)])
    }

    /// Another session with a role's rights.
    func session(_ role: String = "todoke_app") throws -> Connection {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION \(role)")
        return connection
    }

    static let hello = #"{"notification":{"title":"Hello"}}"#

    /// Calls it with `arguments` behind the app's name, as a piece of SQL.
    @discardableResult
    func enqueue(_ connection: Connection, _ arguments: String) throws(PostgresError) -> Enqueued {
        let row = try connection.query(
            "SELECT notification_id, message_id, is_new FROM todoke.enqueue($1, \(arguments))", [.text(app)])
        return Enqueued(notification: row.string(0, 0), message: row.int(0, 1) ?? 0, isNew: row.bool(0, 2) == true)
    }

    /// Why it is refused.
    func refusal(_ arguments: String) throws -> PostgresError {
        let session = try session()
        return try #require(throws: PostgresError.self) { try enqueue(session, arguments) }
    }

    /// One column of the app's message and its payload.
    func column(_ expression: String, of message: Int) throws -> String {
        try admin.query(
            """
            SELECT (\(expression))::text FROM todoke.messages AS m JOIN todoke.payloads AS p USING (id, day)
            JOIN todoke.notifications AS n ON n.id = m.notification WHERE m.id = $1::bigint
            """, [.int(message)]
        ).string(0, 0)
    }

    /// Messages of the app.
    func count() throws -> Int {
        try admin.query(
            """
            SELECT count(*) FROM todoke.messages AS m JOIN todoke.payloads AS p USING (id, day)
            JOIN todoke.apps AS a ON a.id = m.app WHERE a.name = $1
            """, [.text(app)]
        ).int(0, 0) ?? -1
    }
}

struct Enqueued: Equatable {
    let notification: String
    let message: Int
    let isNew: Bool
}
