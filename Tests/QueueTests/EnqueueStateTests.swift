import Dispatch
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Queue

/// `todoke.enqueue` for notifications that exist already, in transactions, and by several at once.
@Suite(.migratedDatabase) struct EnqueueStateTests {
    private static let hello = EnqueueFixture.hello

    @Test(arguments: [
        ("cancelled_at = now()", "is cancelled"),
        ("created_at = now() - interval '8 days', closes_at = now()", "is closed"),
        ("purged_at = now()", "is closed"), ("day = '2020-01-01'", "2020-01-01, is gone"),
    ])
    func `what is over takes nothing more`(_ change: String, _ text: String) throws {
        let fixture = try EnqueueFixture()
        try fixture.enqueue(fixture.session(), "'n', 't', '\(Self.hello)'")
        try fixture.admin.query(
            """
            UPDATE todoke.notifications SET \(change) WHERE app = (SELECT id FROM todoke.apps WHERE name = $1)
            """, [.text(fixture.app)])
        for target in ["t", "u"] {
            let error = try fixture.refusal("'n', '\(target)', '\(Self.hello)'")
            #expect(error.message.contains("'n'") && error.message.contains(text), "\(error.message)")
            #expect(error.hint?.contains("Choose a new notification_id") == true)
        }
        #expect(try fixture.count() == 1)
    }

    @Test func `a transaction that began before it closed adds nothing either`() throws {
        let fixture = try EnqueueFixture()
        try fixture.enqueue(fixture.session(), "'n', 't', '\(Self.hello)'")
        let session = try fixture.session()
        try session.script("BEGIN")
        try session.query("SELECT now()")
        try fixture.admin.query(
            """
            UPDATE todoke.notifications SET closes_at = clock_timestamp()
            WHERE app = (SELECT id FROM todoke.apps WHERE name = $1)
            """, [.text(fixture.app)])
        let error = #expect(throws: PostgresError.self) {
            try fixture.enqueue(session, "'n', 'u', '\(Self.hello)'")
        }
        #expect(error?.message.contains("'n' is closed") == true)
        try session.script("ROLLBACK")
        #expect(try fixture.count() == 1)
    }

    @Test func `validate_only and delivery hold for the whole notification, and the first campaign stays`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        try fixture.enqueue(session, "'n', 'a', '\(Self.hello)', validate_only => true, campaign => 'c'")
        let real = try fixture.refusal("'n', 'b', '\(Self.hello)'")
        #expect(real.message.contains("only checks") && real.hint?.contains("validate_only => t") == true)
        let queued = try fixture.enqueue(session, "'n', 'b', '\(Self.hello)', validate_only => true, campaign => 'd'")
        #expect(try fixture.column("n.campaign", of: queued.message) == "c")

        try fixture.enqueue(session, "'m', 'a', '\(Self.hello)'")
        #expect(try fixture.refusal("'m', 'b', '\(Self.hello)', validate_only => true").message.contains("for real"))
        let most = try fixture.refusal("'m', 'b', '\(Self.hello)', delivery => 'at_most_once'")
        #expect(most.message.contains("at_least_once") && most.hint?.isEmpty == false)
        // What the app says anyway is no contradiction.
        #expect(try fixture.enqueue(session, "'m', 'b', '\(Self.hello)', delivery => 'at_least_once'").isNew)
        try fixture.enqueue(session, "'o', 'a', '\(Self.hello)', delivery => 'at_most_once'")
        #expect(try fixture.enqueue(session, "'o', 'b', '\(Self.hello)'").isNew)
    }

    @Test func `an aborted transaction leaves nothing`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        try session.script("BEGIN")
        try fixture.enqueue(session, "'n', 't', '\(Self.hello)'")
        try session.script("ROLLBACK")
        #expect(try fixture.count() == 0)
        let kept = try fixture.admin.query(
            "SELECT 1 FROM todoke.notifications AS n JOIN todoke.apps AS a ON a.id = n.app WHERE a.name = $1",
            [.text(fixture.app)])
        #expect(kept.rowCount == 0)
        #expect(try fixture.enqueue(session, "'n', 't', '\(Self.hello)'").isNew)
    }

    /// Runs `body` on several sessions at once and gives back what each returned.
    private func together<R: Sendable>(
        _ fixture: EnqueueFixture, _ count: Int, _ body: @Sendable (Int, Connection, String) throws -> R
    ) throws -> [R] {
        let database = try ScratchDatabase.shared()
        let app = fixture.app
        let outcomes = Mutex<[Result<R, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: count) { index in
            let outcome = Result {
                let connection = try database.connect()
                try connection.script("SET SESSION AUTHORIZATION todoke_app")
                return try body(index, connection, app)
            }
            outcomes.withLock { $0.append(outcome) }
        }
        return try outcomes.withLock { try $0.map { try $0.get() } }
    }

    @Test func `one target queued by many at once is one message for all of them`() throws {
        let fixture = try EnqueueFixture()
        for id in ["a", "b", "c"] {
            let answers = try together(fixture, 4) { _, connection, app in
                let row = try connection.query(
                    "SELECT message_id, is_new FROM todoke.enqueue($1, $2, 't', '\(Self.hello)')",
                    [.text(app), .text(id)])
                return (id: row.int(0, 0), isNew: row.bool(0, 1) == true)
            }
            #expect(answers.count { $0.isNew } == 1)
            #expect(Set(answers.map(\.id)).count == 1)
        }
        #expect(try fixture.count() == 3)
    }

    @Test func `who comes second waits for the first, and takes its place where that rolls back`() throws {
        let fixture = try EnqueueFixture()
        let first = try fixture.session()
        try first.script("BEGIN")
        try fixture.enqueue(first, "'n', 't', '\(Self.hello)'")
        let second = try ScratchDatabase.shared().connect()
        let process = second.backendProcessID
        let answer = Mutex<Enqueued?>(nil)
        let group = DispatchGroup()
        let app = fixture.app
        let shared = Handoff(second)
        DispatchQueue.global().async(group: group) {
            let row = try? shared.connection.query(
                "SELECT notification_id, message_id, is_new FROM todoke.enqueue($1, 'n', 't', '\(Self.hello)')",
                [.text(app)])
            answer.withLock {
                $0 = row.map {
                    Enqueued(notification: $0.string(0, 0), message: $0.int(0, 1) ?? 0, isNew: $0.bool(0, 2) == true)
                }
            }
        }
        func isWaiting() throws -> Bool {
            try fixture.admin.query(
                "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $1::int", [.int(process)]
            ).bool(0, 0) == true
        }
        while try !isWaiting() { try #require(answer.withLock { $0 } == nil, "it did not wait") }
        try first.script("ROLLBACK")
        group.wait()
        #expect(answer.withLock { $0?.isNew } == true)
        #expect(try fixture.count() == 1)
    }

    @Test func `transactions that queue many messages in one notification do not meet each other`() throws {
        let fixture = try EnqueueFixture()
        try fixture.enqueue(fixture.session(), "'shared', 'first', '\(Self.hello)'")
        _ = try together(fixture, 4) { index, connection, app in
            for round in 0..<5 {
                try connection.script("BEGIN")
                // Each in another order, in one notification and in new ones.
                for step in 0..<8 {
                    let target = "\(index)-\(round)-\((step * 3 + index) % 8)"
                    try connection.query(
                        "SELECT todoke.enqueue($1, 'shared', $2, '\(Self.hello)')", [.text(app), .text(target)])
                    try connection.query(
                        "SELECT todoke.enqueue($1, NULL, $2, '\(Self.hello)')", [.text(app), .text(target)])
                }
                try connection.script("COMMIT")
            }
        }
        #expect(try fixture.count() == 1 + 4 * 5 * 8 * 2)
    }
}

/// A connection that one thread gives to another and does not touch until that is done.
private final class Handoff: @unchecked Sendable {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
