import Postgres
import TestSupport
import Testing

/// A connection that may do what applications may, and an app of the test's own.
struct DeviceFixture {
    /// The owner's view.
    let admin: Connection
    let session: Connection
    let app: String

    init(environment: String = "production") throws {
        app = "app-\(UInt64.random(in: 0 ... .max))"
        admin = try ScratchDatabase.shared().connect()
        try admin.query(
            "INSERT INTO todoke.apps (name, project_id, environment) VALUES ($1, 'p', $2)",
            [.text(app), .text(environment)])
        session = try Self.session()
    }

    static func session() throws -> Connection {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script("SET SESSION AUTHORIZATION todoke_app")
        return connection
    }

    /// Calls it with `arguments` behind the app's name, as a piece of SQL.
    @discardableResult
    func register(_ arguments: String) throws(PostgresError) -> (id: Int, isNew: Bool) {
        let row = try session.query(
            "SELECT device_id, is_new FROM todoke.register_device($1, \(arguments))", [.text(app)])
        return (row.int(0, 0) ?? 0, row.bool(0, 1) == true)
    }

    /// What another function gives back.
    @discardableResult
    func call(_ function: String, _ arguments: String) throws(PostgresError) -> String {
        try session.query("SELECT todoke.\(function)($1, \(arguments))", [.text(app)]).string(0, 0)
    }

    /// Why a call is refused.
    func refusal(_ function: String, _ arguments: String) throws -> PostgresError {
        try #require(throws: PostgresError.self) { try call(function, arguments) }
    }

    /// Some columns of the app's devices, in the order of their ids; NULL is `∅`.
    func devices(_ columns: String, where condition: String = "true") throws -> [String] {
        let rows = try admin.query(
            """
            SELECT array_to_string(ARRAY[\(columns.split(separator: ",").map { "(\($0))::text" }.joined(separator: ","))],
                ' ', '∅')
            FROM todoke.devices AS d JOIN todoke.apps AS a ON a.id = d.app
            WHERE a.name = $1 AND \(condition) ORDER BY d.id
            """, [.text(app)])
        return (0..<rows.rowCount).map { rows.string($0, 0) }
    }
}
