import Operations
import Postgres
import TestSupport
import Testing

@testable import Queue

/// What a purge settles and drops, what it leaves, and that it may die at any moment.
@Suite struct PurgeTests {
    private struct Stopped: Error {}

    private func withOldDay(_ body: (ScratchDatabase, OldDay) throws -> Void) throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let day = try OldDay(database.connect(), ago: 40)
            try body(database, day)
        }
    }

    @Test func `the numbers stay when the messages go`() throws {
        try withOldDay { database, day in
            try day.fill("broadcast", messages: 300)
            for single in 1...7 { try day.fill("single-\(single)", messages: single % 3) }
            let before = try day.summary()
            let report = try OldDay.purge(database)
            #expect(report.settled == 8 && report.dropped.map(\.day) == [day.day] && report.kept.isEmpty)
            #expect(try day.tables() == [])
            #expect(try day.summary() == before)
            let marks = try day.connection.query(
                "SELECT bool_and(settled_at IS NOT NULL AND purged_at >= settled_at), count(*) FROM todoke.notification_summary"
            )
            #expect(marks.bool(0, 0) == true && marks.int(0, 1) == 8)
            #expect(try OldDay.purge(database) == PurgeReport())
        }
    }

    @Test func `one that is settled in small steps counts the same`() throws {
        try withOldDay { _, day in
            for (index, messages) in [3, 1, 0, 50, 1, 2, 0, 1].enumerated() {
                try day.fill("n\(index)", messages: messages)
            }
            let before = try day.summary()
            var after = 0
            var calls = 0
            while true {
                let step = try day.connection.query(
                    "SELECT next, settled FROM todoke.settle_day(\(day.day.sql), $1::bigint, 4)", [.int(after)])
                calls += 1
                guard let next = step.int(0, 0) else { break }
                after = next
            }
            #expect(calls > 3)
            #expect(
                try day.connection.query("SELECT count(*) FROM todoke.notifications WHERE settled_at IS NULL").int(0, 0)
                    == 0)
            #expect(try day.summary() == before)
        }
    }

    /// Each change of a purge in turn is the one before which it is killed; the next run completes what is left.
    @Test func `killed before any step, the next run completes it`() throws {
        var steps: [String] = []
        try withOldDay { database, day in
            try day.fill("n", messages: 20)
            _ = try OldDay.purge(database) { steps.append($0) }
        }
        #expect(steps.count >= 12, "\(steps)")
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            for stop in steps.indices {
                let day = try OldDay(connection, ago: 40 + stop)
                try day.fill("n\(stop)", messages: 20)
                let before = try day.summary()
                var done = 0
                #expect(throws: Stopped.self) {
                    _ = try OldDay.purge(database) { _ in
                        if done == stop { throw Stopped() }
                        done += 1
                    }
                }
                let report = try OldDay.purge(database)
                #expect(report.kept.isEmpty && report.blocked == nil, "before \(steps[stop]): \(report)")
                #expect(try day.tables() == [], "before \(steps[stop])")
                #expect(try day.summary() == before, "before \(steps[stop])")
            }
        }
    }

    @Test(arguments: ["pending", "sending"]) func `a message that is not at its end keeps its day`(_ state: String)
        throws
    {
        try withOldDay { database, day in
            try day.fill("over", messages: 5)
            try day.fill("going", messages: 3, state: state)
            for rehearsal in [true, false] {
                let report = try OldDay.purge(database, rehearsal: rehearsal)
                #expect(report.dropped.isEmpty && report.settled == (rehearsal ? 0 : 1))
                #expect(report.kept.map(\.why) == ["3 messages are not at their end, of 1 notification"])
                #expect(
                    report.kept.first?.notifications
                        == [Held(app: "recipes", notificationID: "going", messages: 3, opensUntil: nil)])
                #expect(try day.tables() == RetentionDay.parents)
            }
            try day.connection.script(
                "UPDATE todoke.messages SET state = 'sent', finished_at = now(), lease_until = NULL WHERE state < 'sent'"
            )
            #expect(try OldDay.purge(database).dropped.count == 1)
        }
    }

    @Test func `an open notification, a run under way and a message without notification keep it`() throws {
        try withOldDay { database, day in
            try day.fill("n", messages: 1)
            try day.connection.script("UPDATE todoke.notifications SET closes_at = now() + interval '1 day'")
            let open = try OldDay.purge(database)
            #expect(open.kept.first?.why == "1 notification is not settled")
            #expect(open.kept.first?.notifications.first?.opensUntil != nil)
            try day.connection.script(
                """
                UPDATE todoke.notifications SET closes_at = now() - interval '2 hours', run_id = gen_random_uuid(),
                    run_until = now() + interval '1 minute'
                """)
            #expect(try OldDay.purge(database).kept.count == 1)
            try day.connection.script("UPDATE todoke.notifications SET run_until = now() - interval '1 s'")
            let session = try database.connect()
            try session.script("BEGIN; UPDATE todoke.notifications SET queued = queued + 1")
            #expect(try OldDay.purge(database).kept.count == 1)
            try session.script("COMMIT")
            try day.connection.script(
                "INSERT INTO todoke.messages (notification, app, day) VALUES (99, 1, \(day.day.sql))")
            #expect(try OldDay.purge(database).kept.first?.notifications.first?.notificationID == nil)
            try day.connection.script(
                "UPDATE todoke.messages SET state = 'cancelled', finished_at = now() WHERE notification = 99")
            #expect(try OldDay.purge(database).dropped.count == 1)
        }
    }

    @Test func `nothing is queued for a purged notification, and nothing of it is sent again`() throws {
        try withOldDay { database, day in
            try day.fill("n", messages: 4)
            _ = try OldDay.purge(database)
            let session = try database.connect()
            try session.script("SET SESSION AUTHORIZATION todoke_app")
            let error = #expect(throws: PostgresError.self) {
                try session.query(
                    "SELECT todoke.enqueue('recipes', 'n', 'token-1', '{\"notification\":{\"title\":\"x\"}}')")
            }
            #expect(error?.message == "notification 'n' is closed")
            #expect(error?.hint?.contains("Choose a new notification_id") == true)
            // The numbers of events stay open, since the notification's row stays.
            #expect(
                try session.query("SELECT todoke.record_event('recipes', 'n', 'opened', 'token-1')").bool(0, 0) == true)
            #expect(try day.connection.query("SELECT opens FROM todoke.notification_summary").int(0, 0) == 1)
            #expect(try day.connection.query("SELECT count(*) FROM todoke.messages").int(0, 0) == 0)
            let request = LoadRequest(
                app: "recipes", notificationID: "n", templateDigest: "a", definitionDigest: "b")
            let refused = #expect(throws: LoadError.self) {
                _ = try LoadLease.acquire(request, day.connection)
            }
            #expect("\(String(describing: refused))".contains("closed"))
        }
    }

    @Test func `two at once: one says that the other is at work`() throws {
        try withOldDay { database, day in
            let other = try database.connect()
            try other.query("SELECT pg_advisory_lock(hashtextextended('todoke purge', 0))")
            let failure = #expect(throws: Failure.self) { try OldDay.purge(database) }
            #expect(failure?.exit == .temporary && failure?.what.contains("pid \(other.backendProcessID)") == true)
            #expect(try day.tables() == RetentionDay.parents)
        }
    }

    @Test func `an empty database has nothing to purge, and a day without messages goes`() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            #expect(try OldDay.purge(database, events: 400 * 86_400) == PurgeReport())
            let day = try OldDay(database.connect(), ago: 31)
            let young = try OldDay(database.connect(), ago: 30)
            #expect(try OldDay.purge(database).dropped.map(\.day) == [day.day])
            #expect(try young.tables() == RetentionDay.parents)
        }
    }

    @Test func `what somebody built on a day keeps that day only, and is named`() throws {
        try withOldDay { database, day in
            try day.fill("broadcast", messages: 30)
            let other = try OldDay(database.connect(), ago: 41)
            try other.fill("older", messages: 30)
            try day.connection.script(
                "CREATE VIEW public.report AS SELECT * FROM \(day.table("messages")) WHERE state = 'sent'")
            let report = try OldDay.purge(database)
            #expect(report.dropped.map(\.day) == [other.day])
            #expect(report.kept.map(\.day) == [day.day])
            #expect(report.kept.first?.why.contains("view report depends on") == true, "\(report.kept)")
            #expect(try day.tables() == RetentionDay.parents)
            try day.connection.script("DROP VIEW public.report")
            #expect(try OldDay.purge(database).dropped.map(\.day) == [day.day])
        }
    }

    @Test func `a foreign key and a default partition keep a day, and are named`() throws {
        try withOldDay { database, day in
            try day.fill("broadcast", messages: 30)
            try day.connection.script(
                "CREATE TABLE public.notes (id bigint, day date, FOREIGN KEY (id, day) REFERENCES todoke.messages)")
            let kept = try OldDay.purge(database).kept
            #expect(kept.first?.why.contains("foreign key of notes") == true, "\(kept)")
            try day.connection.script(
                "DROP TABLE public.notes; CREATE TABLE public.rest PARTITION OF todoke.attempts DEFAULT")
            let report = try OldDay.purge(database)
            #expect(report.kept.first?.why.contains("default partition, rest") == true, "\(report.kept)")
            #expect(report.blocked == nil)
        }
    }
}
