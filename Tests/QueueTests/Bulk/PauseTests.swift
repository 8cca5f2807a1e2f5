import Postgres
import TestSupport
import Testing

@testable import Queue

/// `todoke.pause_app` and `todoke.resume_app`, and what a claim makes of them.
@Suite(.migratedDatabase) struct PauseTests {
    private static func pause(_ fixture: BulkFixture, _ reason: String? = nil) throws -> AppPause.Before {
        AppPause.decode(
            try fixture.connection.query(AppPause.pauseStatement, [.text(fixture.app), .optional(reason)]))
    }

    private static func resume(_ fixture: BulkFixture) throws -> AppPause.Before {
        AppPause.decode(try fixture.connection.query(AppPause.resumeStatement, [.text(fixture.app)]))
    }

    private static func since(_ fixture: BulkFixture) throws -> String {
        try fixture.connection.query(
            "SELECT coalesce(paused_at::text, '-') FROM todoke.apps WHERE name = $1", [.text(fixture.app)]
        ).string(0, 0)
    }

    @Test func `pausing again keeps the time, and a new reason replaces the old one`() throws {
        let fixture = try BulkFixture()
        #expect(try Self.pause(fixture).wasPaused == false)
        let since = try Self.since(fixture)
        #expect(
            try Self.pause(fixture, "link")
                == .init(wasPaused: true, reason: "link", seconds: 0, holdsDeadTokens: false))
        #expect(try Self.pause(fixture).reason == "link")
        #expect(try Self.pause(fixture, "text").reason == "text")
        #expect(try Self.since(fixture) == since)
        let before = try Self.resume(fixture)
        #expect(before.wasPaused && before.reason == "text")
        #expect(try Self.since(fixture) == "-")
        #expect(try !Self.resume(fixture).wasPaused)
    }

    @Test func `both wake the senders, and name what holds the marking of dead tokens`() throws {
        let fixture = try BulkFixture()
        let listener = try ScratchDatabase.shared().connect()
        try listener.script("LISTEN \(Wake.channel)")
        _ = try Self.pause(fixture)
        #expect(try fixture.wakeUps(listener) == 1)
        try fixture.connection.query(
            "UPDATE todoke.apps SET dead_tokens_held_at = now() WHERE name = $1", [.text(fixture.app)])
        #expect(try Self.resume(fixture).holdsDeadTokens)
        #expect(try fixture.wakeUps(listener) == 1)
    }

    @Test func `a paused app has nothing to claim, whatever the sender last heard`() throws {
        let fixture = try BulkFixture()
        try fixture.put("n", .pending, 5)
        let app = try #require(
            try fixture.connection.query("SELECT id FROM todoke.apps WHERE name = $1", [.text(fixture.app)]).int(0, 0))
        let claim = Claim(app: app, priority: 5, day: fixture.day, limit: 20)
        func claimed() throws -> Int {
            claim.decode(
                try fixture.connection.query(claim.statement(sender: 1, leaseSeconds: 60), format: Claim.format)
            ).taken
        }
        _ = try Self.pause(fixture)
        #expect(try claimed() == 0)
        #expect(try fixture.counts("n").pending == 5)
        _ = try Self.resume(fixture)
        #expect(try claimed() == 5)
    }

    @Test func `what waits is counted`() throws {
        let fixture = try BulkFixture()
        func backlog() throws -> AppPause.Backlog {
            AppPause.decodeBacklog(try fixture.connection.query(AppPause.backlogStatement, [.text(fixture.app)]))
        }
        #expect(try backlog() == .init(due: 0, scheduled: 0, sending: 0, oldestSeconds: nil))
        try fixture.put("n", .pending, 2)
        try fixture.put("n", .sending, 3)
        let later = try fixture.put("n", .pending, 1)
        try fixture.connection.query(
            "UPDATE todoke.messages SET due_at = now() + interval '1 h' WHERE id = $1::bigint", [.int(later)])
        let found = try backlog()
        #expect(found.due == 2 && found.scheduled == 1 && found.sending == 3)
        #expect((7_200...7_260).contains(found.oldestSeconds ?? 0))
    }

    @Test func `an app that is not there is named, with those that are`() throws {
        let fixture = try BulkFixture()
        for call in ["pause_app($1 || 'x')", "resume_app($1 || 'x')", "app_backlog($1 || 'x')"] {
            let error = try fixture.refusal(call)
            #expect(error.sqlState?.rawValue == "P0002" && error.hint?.hasPrefix("There are ") == true, "\(call)")
        }
    }

    /// The age of a message decides whether a retry still makes sense.
    @Test func `a retried message is as old as its retry`() throws {
        let fixture = try BulkFixture()
        let id = try fixture.put("n", .failed, code: "A")
        try fixture.connection.query(
            "UPDATE todoke.attempts SET at = now() - interval '3 days' WHERE message_id = $1::bigint", [.int(id)])
        #expect(try fixture.retry() == .init(retried: 1))
        let app = try #require(
            try fixture.connection.query("SELECT id FROM todoke.apps WHERE name = $1", [.text(fixture.app)]).int(0, 0))
        let claim = Claim(app: app, priority: 5, day: fixture.day, limit: 1)
        func age() throws -> Int? {
            claim.decode(
                try fixture.connection.query(claim.statement(sender: 1, leaseSeconds: 60), format: Claim.format)
            ).messages.first?.ageInMilliseconds
        }
        #expect(try #require(try age()) < 60_000)
        // From its first attempt after that on, as always.
        try fixture.connection.query(
            """
            WITH back AS (UPDATE todoke.messages SET state = 'pending', lease_until = NULL WHERE id = $1::bigint RETURNING *)
            INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome, at, retry_at)
            SELECT id, notification, day, app, claim_no, 1, 'retry', now() - interval '10 min', now() FROM back
            """, [.int(id)])
        #expect((600_000..<660_000).contains(try #require(try age())))
    }

    @Test func `a pause by hand outlives the brake on dead tokens`() throws {
        let fixture = try BulkFixture()
        try fixture.connection.query(
            """
            UPDATE todoke.apps SET dead_tokens_held_at = now(), paused_at = now(), pause_reason = todoke.dead_token_pause()
            WHERE name = $1
            """, [.text(fixture.app)])
        #expect(try Self.pause(fixture).reason == nil)
        try fixture.connection.query("SELECT todoke.end_dead_token_hold($1)", [.text(fixture.app)])
        #expect(try Self.since(fixture) != "-")
    }
}
