import Postgres
import TestSupport
import Testing

@testable import Queue

/// How the server likes to write dates is no matter to a sender.
@Suite(.migratedDatabase) struct DateStyleTests {
    @Test(arguments: ["SQL, DMY", "German", "Postgres, MDY", "ISO"]) func daysAreRead(style: String) throws {
        let connection = try ScratchDatabase.shared().connect()
        let name = "app-\(UInt64.random(in: 0 ... .max))"
        try connection.script(
            "SET DateStyle = '\(style)'; INSERT INTO todoke.apps (name, project_id) VALUES ('\(name)', 'p')")
        let made = try connection.query(
            """
            WITH n AS (INSERT INTO todoke.notifications (app, notification_id)
                SELECT id, 'n' FROM todoke.apps WHERE name = $1 RETURNING id, app, day)
            INSERT INTO todoke.messages (notification, app, day) SELECT id, app, day FROM n
            RETURNING app, to_char(day, 'YYYY-MM-DD')
            """, [.text(name)])
        let app = try #require(made.int(0, 0))
        let day = try #require(Day(made.string(0, 1)))
        let days = Work.decodeDays(try connection.query(Work.daysStatement))
        #expect(days.contains(day) && days == days.sorted())
        let answer = Work.decodeDue(try connection.query(Work.dueStatement(apps: [app], days: days)))
        #expect(answer.due == [Work.Due(app: app, priority: 5, day: day)])
    }
}
