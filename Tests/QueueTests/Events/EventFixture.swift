import Postgres
import TestSupport
import Testing

/// An app of a test's own with a notification `n`, and a session that may do what applications may.
struct EventFixture {
    let admin: Connection
    let session: Connection
    let app: String
    let appID: Int

    init() throws {
        app = "app-\(UInt64.random(in: 0 ... .max))"
        admin = try ScratchDatabase.shared().connect()
        session = try Self.application()
        let row = try admin.query(
            "INSERT INTO todoke.apps (name, project_id) VALUES ($1, 'p') RETURNING id", [.text(app)])
        appID = try #require(row.int(0, 0))
        try admin.query(
            "INSERT INTO todoke.notifications (app, notification_id) VALUES ($1::int, 'n')", [.int(appID)])
    }

    static func application() throws -> Connection {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION todoke_app")
        return connection
    }

    /// Calls record_event with `arguments` behind the app's name, as a piece of SQL.
    @discardableResult
    func record(_ arguments: String, by connection: Connection? = nil) throws(PostgresError) -> Bool? {
        try (connection ?? session).query("SELECT todoke.record_event($1, \(arguments))", [.text(app)]).bool(0, 0)
    }

    /// Calls record_events; recorded, repeated, refused and the first refusal.
    func recordAll(_ events: String) throws -> [String?] {
        let row = try session.query("SELECT * FROM todoke.record_events($1, $2::json)", [.text(app), .text(events)])
        return (0..<4).map { row.optionalString(0, $0) }
    }

    /// One value of SQL, in which `$1` is the app's key.
    func value(_ sql: String) throws -> String? {
        try admin.query(sql, [.int(appID)]).optionalString(0, 0)
    }

    func subjects() throws -> String? {
        try value(
            "SELECT string_agg(kind || ' ' || subject, ', ' ORDER BY kind, subject) FROM todoke.events WHERE app = $1::int"
        )
    }
}
