import Postgres
import TestSupport
import Testing

@testable import Queue

/// An app of a test's own in its suite's database, and a notification of it that was made today.
struct QueueFixture {
    let connection: Connection
    let name = "app-\(UInt64.random(in: 0 ... .max))"
    let app: Int
    let notification: Int
    let day: Day

    init() throws {
        connection = try ScratchDatabase.shared().connect()
        let made = try connection.query(
            "INSERT INTO todoke.apps (name, project_id) VALUES ($1, 'p') RETURNING id", [.text(name)])
        app = try #require(made.int(0, 0))
        let row = try connection.query(
            "INSERT INTO todoke.notifications (app, notification_id) VALUES ($1::int, 'n') RETURNING id, day",
            [.int(app)])
        notification = try #require(row.int(0, 0))
        day = try #require(Day(row.string(0, 1)))
    }
}
