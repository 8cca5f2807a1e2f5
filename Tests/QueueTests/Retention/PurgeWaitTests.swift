import Postgres
import TestSupport
import Testing

@testable import Queue

/// A purge among others: readers that take long, senders that claim, tables that somebody has moved.
@Suite struct PurgeWaitTests {
    private func withOldDay(_ body: (ScratchDatabase, OldDay) throws -> Void) throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let day = try OldDay(database.connect(), ago: 40)
            try day.fill("n", messages: 20)
            try body(database, day)
        }
    }

    @Test func `a reader in an open transaction is named, and the next run goes on from there`() throws {
        try withOldDay { database, day in
            let before = try day.summary()
            let reader = try database.connect()
            try reader.script("SET application_name = 'report'; BEGIN; SELECT count(*) FROM todoke.messages")
            let report = try OldDay.purge(database)
            let blocked = try #require(report.blocked)
            #expect(blocked.contains("detach messages \(day.day)"), "\(blocked)")
            #expect(blocked.contains("pid \(reader.backendProcessID) (report, user"), "\(blocked)")
            #expect(report.dropped.isEmpty)
            // Whoever comes now sees the numbers, and the days that are left; new days can be made all the same.
            #expect(try day.summary() == before)
            #expect(try !day.connection.query("SELECT todoke.message_days()::text").string(0, 0).isEmpty)
            try day.connection.query("SELECT todoke.ensure_partitions(20)")
            try reader.script("COMMIT")
            #expect(try OldDay.purge(database).dropped.map(\.day) == [day.day])
            #expect(try day.summary() == before)
        }
    }

    @Test func `senders claim all the while, from other days and from the one that goes`() throws {
        try withOldDay { database, day in
            let sender = try database.connect()
            try sender.script("SET ROLE todoke_sender")
            let owner = try database.connect()
            let today = try #require(
                Day(owner.query("SELECT to_char((now() AT TIME ZONE 'UTC')::date, 'YYYY-MM-DD')").string(0, 0)))
            try owner.script(
                """
                INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'today');
                INSERT INTO todoke.messages (notification, app, day)
                SELECT id, 1, day FROM todoke.notifications, generate_series(1, 100) WHERE notification_id = 'today';
                """)
            var claimed = 0
            let report = try OldDay.purge(database) { _ in
                for which in [today, day.day] {
                    let claim = Claim(app: 1, priority: 5, day: which, limit: 2)
                    claimed += try sender.query(claim.statement(sender: 1, leaseSeconds: 60), format: Claim.format)
                        .rowCount
                }
                try sender.query(Rescue.statement(apps: [1]))
                try sender.query(Work.daysStatement)
            }
            #expect(report.dropped.count == 1 && claimed >= 20)
        }
    }

    @Test func `what somebody else detached is not dropped, and not settled as if it were empty`() throws {
        try withOldDay { database, day in
            try day.connection.script("ALTER TABLE todoke.messages DETACH PARTITION \(day.table("messages"))")
            let report = try OldDay.purge(database)
            #expect(report.dropped.isEmpty && report.settled == 0)
            #expect(report.kept.first?.why.contains("no partition any more") == true, "\(report)")
            #expect(try day.tables().contains("messages -"))
            try day.connection.script(
                "ALTER TABLE todoke.messages ATTACH PARTITION \(day.table("messages")) FOR VALUES FROM (\(day.day.sql)) TO (\(day.day.sql) + 1)"
            )
            #expect(try OldDay.purge(database).dropped.count == 1)
        }
    }

    @Test func `a table of another shape is left alone`() throws {
        try withOldDay { database, day in
            try day.connection.script(
                "DROP TABLE \(day.table("rejections")); CREATE TABLE \(day.table("rejections")) (a int)")
            let report = try OldDay.purge(database)
            #expect(report.dropped.isEmpty && report.kept.first?.why.contains("is not what todoke made") == true)
        }
    }

    @Test func `a message that slips in while its day is detached brings the day back`() throws {
        try withOldDay { database, day in
            let owner = try database.connect()
            let report = try OldDay.purge(database) { what in
                if what.hasPrefix("detach messages") {
                    try owner.script(
                        """
                        INSERT INTO todoke.messages (notification, app, day)
                        SELECT id, 1, day FROM todoke.notifications WHERE notification_id = 'n'
                        """)
                }
            }
            #expect(report.dropped.isEmpty && report.kept.first?.notifications.first?.messages == 1, "\(report)")
            #expect(try day.tables() == RetentionDay.parents)
            #expect(try owner.query("SELECT pending FROM todoke.notification_summary").int(0, 0) == 0)
            try owner.script("UPDATE todoke.messages SET state = 'sent', finished_at = now() WHERE state = 'pending'")
            #expect(try OldDay.purge(database).dropped.count == 1)
        }
    }

    @Test func `a transaction that writes into the day is waited for`() throws {
        try withOldDay { database, day in
            let writer = try database.connect()
            try writer.script(
                "BEGIN; INSERT INTO todoke.messages (notification, app, day) VALUES (1, 1, \(day.day.sql))")
            let report = try OldDay.purge(database)
            #expect(report.settled == 0)
            #expect(report.kept.first?.why.contains("does not end") == true, "\(report)")
            try writer.script("ROLLBACK")
            #expect(try OldDay.purge(database).dropped.count == 1)
        }
    }

    @Test func `the server's time zone and date style do not matter`() throws {
        try withOldDay { database, day in
            try day.connection.script(
                """
                ALTER DATABASE \(database.name) SET timezone = 'Asia/Tokyo';
                ALTER DATABASE \(database.name) SET datestyle = 'German, DMY';
                """)
            let before = try OldDay.summary(database)
            #expect(try OldDay.purge(database).dropped.map(\.day) == [day.day])
            #expect(try OldDay.summary(database) == before)
        }
    }

    @Test func `old events go and their numbers stay`() throws {
        try withOldDay { database, day in
            try day.connection.script(
                """
                UPDATE todoke.notifications SET notification_id = 'old', day = day - 400, created_at = created_at - interval '400 days';
                INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'new');
                SELECT todoke.record_event('recipes', id, kind, 't' || i) FROM (VALUES ('old'), ('new')) AS n (id),
                    (VALUES ('opened'), ('received')) AS k (kind), generate_series(1, 10) AS i;
                """)
            let report = try OldDay.purge(database, events: 400 * 86_400)
            #expect(report.events == 20)
            let rows = try day.connection.query("SELECT opens, received FROM todoke.notification_summary")
            #expect((0..<2).allSatisfy { rows.int($0, 0) == 10 && rows.int($0, 1) == 10 })
            // A report that comes after that is taken and changes nothing.
            let late = try day.connection.query("SELECT todoke.record_event('recipes', 'old', 'opened', 'late')")
            #expect(late.bool(0, 0) == false)
            #expect(try OldDay.purge(database, events: 400 * 86_400).events == 0)
        }
    }

    /// Such as a retry that looks at them.
    @Test func `who holds its notifications is named, and nothing of the day is gone`() throws {
        try withOldDay { database, day in
            let other = try database.connect()
            var isHeld = false
            let report = try OldDay.purge(database) { step in
                guard step.hasPrefix("mark"), !isHeld else { return }
                isHeld = true
                try other.script("SET application_name = 'retry'; BEGIN; SELECT FROM todoke.notifications FOR SHARE")
            }
            let blocked = try #require(report.blocked)
            #expect(blocked.contains("mark \(day.day): held up by pid \(other.backendProcessID) (retry"), "\(blocked)")
            #expect(try day.tables() == RetentionDay.parents)
            try other.script("COMMIT")
            #expect(try OldDay.purge(database).dropped.map(\.day) == [day.day])
        }
    }
}
