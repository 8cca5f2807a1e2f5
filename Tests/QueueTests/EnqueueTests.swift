import Foundation
import Postgres
import TestSupport
import Testing

@testable import Queue

/// What an application gets from `todoke.enqueue`, called with an application's rights.
@Suite(.migratedDatabase) struct EnqueueTests {
    private static let hello = EnqueueFixture.hello

    @Test func `a message is queued, and a second call finds it`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        let first = try fixture.enqueue(session, "'order-1', 'token-1', '\(Self.hello)'")
        #expect(first.notification == "order-1" && first.isNew)
        let again = try fixture.enqueue(
            session, "'order-1', 'token-1', '{\"data\":{\"other\":\"text\"}}', priority => 9")
        #expect(again == Enqueued(notification: "order-1", message: first.message, isNew: false))
        let other = try fixture.enqueue(session, "'order-1', 'token-2', '\(Self.hello)'")
        #expect(other.isNew && other.message != first.message)
        #expect(try fixture.count() == 2)
        #expect(try fixture.column("p.payload->>'token'", of: first.message) == "token-1")
        #expect(try fixture.column("m.state", of: first.message) == "pending")
        #expect(try fixture.column("m.due_at <= now() AND m.expires_at IS NULL", of: first.message) == "true")
        #expect(try fixture.column("m.priority", of: first.message) == "5")
    }

    @Test func `no id makes a new one for each call`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        let made = try (0..<2).map { _ in try fixture.enqueue(session, "NULL, 'token', '\(Self.hello)'") }
        #expect(made[0].notification != made[1].notification)
        #expect(made.allSatisfy { $0.isNew && $0.notification.count == 36 })
        #expect(
            try fixture.column("p.payload#>>'{data,notification_id}'", of: made[0].message) == made[0].notification)
    }

    @Test func `everything that can be said beside the message is kept`() throws {
        let fixture = try EnqueueFixture()
        let due = Int(Date.now.timeIntervalSince1970) + 200_000
        let message = try fixture.enqueue(
            fixture.session(),
            """
            'late', 'news', '\(Self.hello)', target_kind => 'topic', priority => 9, due_at => to_timestamp(\(due)),
            expires_in => '1 day 90 seconds', user_id => 'u', dedupe_by => 'd', campaign => 'c',
            delivery => 'at_most_once', validate_only => true, image => 'https://e.org/i.png'
            """)
        #expect(
            try fixture.column(
                """
                concat_ws(' ', p.target_kind, p.target, m.priority, extract(epoch FROM m.due_at)::int,
                    extract(epoch FROM m.expires_at - m.due_at)::int, p.user_id, n.campaign, n.delivery, n.validate_only,
                    p.payload#>>'{notification,image}', p.payload#>>'{android,ttl}', p.payload#>>'{apns,headers,apns-expiration}')
                """, of: message.message)
                == "topic news 9 \(due) 86490 u c at_most_once t https://e.org/i.png 86490s \(due + 86_490)")
    }

    @Test func `the producer's role may call it too, and who has no role may not`() throws {
        let fixture = try EnqueueFixture()
        #expect(try fixture.enqueue(fixture.session("todoke_producer"), "'n', 't', '\(Self.hello)'").isNew)
        for role in ["todoke_sender", "todoke_reader"] {
            let session = try fixture.session(role)
            let error = #expect(throws: PostgresError.self) {
                try fixture.enqueue(session, "'n', 't', '\(Self.hello)'")
            }
            #expect(error?.sqlState == .insufficientPrivilege)
        }
    }

    @Test func `an application may call these and nothing else`() throws {
        let open = try ScratchDatabase.shared().connect().query(
            """
            SELECT proname FROM pg_proc
            WHERE pronamespace = 'todoke'::regnamespace AND has_function_privilege('todoke_app', oid, 'EXECUTE') ORDER BY 1
            """)
        #expect(
            (0..<open.rowCount).map { open.string($0, 0) } == [
                "bind_user", "enqueue", "record_event", "record_events", "register_device", "subscribe",
                "subscribe_user",
                "unbind_user", "unregister_device", "unsubscribe", "unsubscribe_user",
            ])
    }

    @Test func `idle senders are woken once by a commit that queued something`() throws {
        let fixture = try EnqueueFixture()
        let listener = try ScratchDatabase.shared().connect()
        try listener.script("LISTEN todoke_due")
        let session = try fixture.session()
        try session.script("BEGIN")
        for token in ["a", "b"] { try fixture.enqueue(session, "'n', '\(token)', '\(Self.hello)'") }
        try session.script("COMMIT")
        try fixture.enqueue(session, "'n', 'a', '\(Self.hello)'")
        // Other tests of the suite are heard too; after this there is nothing more of this one.
        let end = "end of \(fixture.app)"
        try session.query("SELECT pg_notify('todoke_due', $1)", [.text(end)])
        var heard: [String] = []
        while !heard.contains(end) { heard += try listener.notifications(waitMilliseconds: 1_000).map(\.payload) }
        #expect(heard.count { $0 == fixture.app } == 1)
    }

    @Test func `text that breaks naive code stays text`() throws {
        let fixture = try EnqueueFixture()
        let session = try fixture.session()
        let hostile = [
            "'; DROP TABLE todoke.apps; --", #"" } \ $1 %s %I"#, "漢字 👩‍🍳 e\u{301}", "\u{2028}\u{7F}\t\n", "$$ \\' ${x}",
        ]
        for text in hostile {
            let row = try session.query(
                """
                SELECT message_id FROM todoke.enqueue($1, $2, $2, json_build_object('data', json_build_object($2::text, $2::text)),
                    user_id => $2, dedupe_by => $2, campaign => $2, expires_in => '1 hour')
                """, [.text(fixture.app), .text(text)])
            let same = try fixture.admin.query(
                """
                SELECT p.target = $2 AND p.user_id = $2 AND n.campaign = $2 AND n.notification_id = $2
                    AND p.payload->>'token' = $2 AND p.payload->'data'->>$2 = $2 AND p.payload->'data'->>'notification_id' = $2
                    AND substring(convert_to(p.payload::text, 'UTF8') FROM p.ttl_at + 1 FOR p.ttl_len) = '3600'
                FROM todoke.payloads AS p JOIN todoke.notifications AS n ON n.id = p.notification WHERE p.id = $1::bigint
                """, [.int(row.int(0, 0) ?? 0), .text(text)])
            #expect(same.bool(0, 0) == true, "\(text)")
        }
    }

    @Test func `a day without partitions gets them`() throws {
        try ScratchDatabase.with { database in
            try database.migrate()
            let connection = try database.connect()
            try connection.script(
                """
                INSERT INTO todoke.apps (name, project_id) VALUES ('a', 'p');
                DO $$ DECLARE part regclass; BEGIN
                    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('todoke.messages'::regclass,
                        'todoke.payloads'::regclass) LOOP
                        EXECUTE format('DROP TABLE %s', part);
                    END LOOP;
                END $$;
                SET SESSION AUTHORIZATION todoke_app
                """)
            let row = try connection.query("SELECT is_new FROM todoke.enqueue('a', 'n', 't', '\(Self.hello)')")
            #expect(row.bool(0, 0) == true)
        }
    }
}
