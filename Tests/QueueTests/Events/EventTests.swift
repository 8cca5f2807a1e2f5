import Dispatch
import Postgres
import Synchronization
import TestSupport
import Testing

/// `todoke.record_event` and `record_events`: one row per notification, kind and subject, whatever comes how often.
@Suite(.migratedDatabase) struct EventTests {
    @Test func `the same report again changes nothing`() throws {
        let fixture = try EventFixture()
        let device = try #require(
            try fixture.value("INSERT INTO todoke.devices (app, token) VALUES ($1::int, 'known') RETURNING id"))
        for token in ["'known'", "'other'"] {
            #expect(try fixture.record("'n', 'opened', \(token)") == true)
            #expect(try fixture.record("'n', 'opened', \(token), 'somebody', now() - interval '1 day'") == false)
        }
        #expect(try fixture.record("'n', 'opened', user_id => 'u'") == true)
        #expect(try fixture.record("'n', 'opened', '', 'u'") == false)
        #expect(try fixture.record("'n', 'received', 'known'") == true)
        #expect(try fixture.record("'n', 'dismissed', 'known'") == true)
        #expect(
            try fixture.subjects()
                == "dismissed d\(device), opened d\(device), opened td9298a10d1b0735837dc4bd85dac641b, opened uu, "
                + "received d\(device)")
    }

    @Test func `two at once, the same subject: one is new`() throws {
        let fixture = try EventFixture()
        let sessions = try (0..<4).map { _ in try EventFixture.application() }
        let outcomes = Mutex<[Result<Bool?, any Error>]>([])
        let app = fixture.app
        for round in 0..<5 {
            nonisolated(unsafe) let sessions = sessions
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                let outcome = Result {
                    try sessions[index].query(
                        "SELECT todoke.record_event($1, 'n', 'opened', $2)", [.text(app), .text("t\(round)")]
                    ).bool(0, 0)
                }
                outcomes.withLock { $0.append(outcome) }
            }
        }
        let new = try outcomes.withLock { try $0.map { try $0.get() } }.count { $0 == true }
        #expect(new == 5)
    }

    @Test func `the second of two open transactions waits, and counts when the first rolls back`() throws {
        let fixture = try EventFixture()
        try fixture.session.script("BEGIN")
        #expect(try fixture.record("'n', 'opened', 't'") == true)
        let other = try EventFixture.application()
        try other.script("SET lock_timeout = '50ms'")
        let error = #expect(throws: PostgresError.self) { try fixture.record("'n', 'opened', 't'", by: other) }
        #expect(error?.sqlState == .lockNotAvailable)
        try fixture.session.script("ROLLBACK")
        #expect(try fixture.record("'n', 'opened', 't'", by: other) == true)
    }

    @Test(arguments: [
        ("'infinity'::timestamptz", "at = now() OR at > now() - interval '1 minute'"),
        ("now() + interval '3 years'", "at <= now()"), ("NULL", "at <= now() AND at > now() - interval '1 minute'"),
        ("'-infinity'::timestamptz", "at = (SELECT created_at FROM todoke.notifications WHERE app = $1::int)"),
        ("'1970-01-01'::timestamptz", "at = (SELECT created_at FROM todoke.notifications WHERE app = $1::int)"),
    ])
    func `a device's clock may lie`(_ at: String, _ expected: String) throws {
        let fixture = try EventFixture()
        try fixture.record("'n', 'opened', 't', at => \(at)")
        #expect(try fixture.value("SELECT \(expected) FROM todoke.events WHERE app = $1::int") == "t")
    }

    @Test(arguments: [
        ("'n', 'opened'", "22023", "neither token nor user_id"), ("'n', 'opened', '', ''", "22023", "neither token"),
        ("'n', 'seen', 't'", "22023", "kind is not"), ("'n', NULL, 't'", "22023", "kind is not"),
        ("'x', 'opened', 't'", "P0002", "has no notification 'x'"),
        ("NULL, 'opened', 't'", "P0002", "notification NULL"),
        ("'n', 'opened', repeat('t', 4097)", "22023", "token is longer"),
        ("'n', 'opened', user_id => repeat('u', 501)", "22023", "user_id is longer"),
        ("'n', 'opened', 't', properties => to_json(repeat('p', 8191))", "22023", "properties take 8193 bytes"),
        (#"'n', 'opened', 't', properties => '{"a": "\u0000"}'"#, "22023", "properties have"),
    ])
    func `what cannot be is refused`(_ arguments: String, _ state: String, _ text: String) throws {
        let fixture = try EventFixture()
        let error = #expect(throws: PostgresError.self) { try fixture.record(arguments) }
        #expect(error?.sqlState?.rawValue == state)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        #expect(error?.hint?.isEmpty == false)
        #expect(try fixture.subjects() == nil)
    }

    @Test func `a device that reports is alive, and nobody waits for its row`() throws {
        let fixture = try EventFixture()
        try fixture.admin.query(
            """
            INSERT INTO todoke.devices (app, token, last_seen_at)
            SELECT $1::int, 't' || days, now() - days * interval '1 day' FROM generate_series(0, 3) AS days
            """, [.int(fixture.appID)])
        try fixture.admin.script("BEGIN; SELECT FROM todoke.devices WHERE token = 't3' FOR UPDATE")
        try fixture.session.script("SET lock_timeout = '50ms'")
        for days in 0...3 { #expect(try fixture.record("'n', 'opened', 't\(days)'") == true) }
        try fixture.admin.script("COMMIT")
        let seen = try fixture.value(
            """
            SELECT string_agg((now() - last_seen_at > interval '1 day')::text, ' ' ORDER BY token)
            FROM todoke.devices WHERE app = $1::int
            """)
        #expect(seen == "false false false true")
    }

    @Test func `a batch takes what is right and counts the rest`() throws {
        let fixture = try EventFixture()
        let counts = try fixture.recordAll(
            """
            [{"notification_id": "n", "kind": "opened", "token": "a", "at": "2026-13-45", "properties": null},
             {"notification_id": "n", "kind": "opened", "token": "a"}, 3, null, [], {},
             {"notification_id": "n", "kind": "received", "user_id": 7, "properties": {"b": 1}},
             {"notification_id": "zz", "kind": "opened", "token": "a"}]
            """)
        #expect(counts[..<3] == ["2", "1", "5"])
        #expect(counts[3]?.hasPrefix("events[") == true)
        #expect(try fixture.subjects()?.contains("received u7") == true)
        #expect(try fixture.recordAll("[]") == ["0", "0", "0", nil])
        for wrong in ["{}", "null", #"["\ud800"]"#, #"[{"kind": "\u0000"}]"#] {
            let error = #expect(throws: PostgresError.self) { try fixture.recordAll(wrong) }
            #expect(error?.sqlState?.rawValue == "22023" && error?.hint?.isEmpty == false, "\(wrong)")
        }
    }

    @Test func `opens are counted in the index`() throws {
        let fixture = try EventFixture()
        try fixture.admin.script(
            """
            INSERT INTO todoke.events (app, notification_id, kind, subject)
            SELECT \(fixture.appID), n, CASE i % 2 WHEN 0 THEN 'opened' ELSE 'received' END, 'u' || i
            FROM generate_series(1, 2000) AS i, unnest('{n,o,p,q,r,s,t,u,v,w}'::text[]) AS n;
            """)
        try fixture.admin.query("VACUUM ANALYZE todoke.events")
        let plan = try QueryPlan(
            """
            SELECT count(*) FROM todoke.events WHERE app = \(fixture.appID) AND notification_id = 'n' AND kind = 'opened'
            """, on: fixture.admin)
        #expect(plan.nodes.contains { $0.type == "Index Only Scan" && $0.index == "events_subject_key" })
        let row = try fixture.admin.query(
            "SELECT opens, received, reach FROM todoke.notification_summary WHERE app = $1", [.text(fixture.app)])
        #expect(row.int(0, 0) == 1_000 && row.int(0, 1) == 1_000 && row.int(0, 2) == 0)
    }

    @Test func whatWasReportedBeforeItsTokenWasRegisteredCountsOnce() throws {
        let fixture = try EventFixture()
        #expect(try fixture.record("'n', 'opened', 'late'") == true)
        try fixture.admin.query(
            "INSERT INTO todoke.devices (app, token) VALUES ($1::int, 'late')", [.int(fixture.appID)])
        #expect(try fixture.record("'n', 'opened', 'late'") == false)
        #expect(try fixture.record("'n', 'received', 'late'") == true)
        #expect(try fixture.value("SELECT count(*) FROM todoke.events WHERE app = $1::int AND kind = 'opened'") == "1")
    }

    /// Two callers that name no token in two ways must not wait for each other in a circle.
    @Test(arguments: [#", "token": """#, ", \"token\": null", ""]) func anEmptyTokenComesWhereNoneDoes(_ token: String)
        throws
    {
        let fixture = try EventFixture()
        let user = #"{"notification_id": "n", "kind": "opened", "user_id": "u"\#(token)}"#
        let device = #"{"notification_id": "n", "kind": "opened", "token": "t"}"#
        #expect(try fixture.recordAll("[\(user), \(device)]")[0] == "2")
        #expect(
            try fixture.value(
                "SELECT string_agg(left(subject, 1), '' ORDER BY id) FROM todoke.events WHERE app = $1::int")
                == "tu")
    }

    @Test func readersSeeWhatWasReported() throws {
        let fixture = try EventFixture()
        try fixture.admin.query(
            "INSERT INTO todoke.devices (app, token, platform) VALUES ($1::int, 'a', 'ios')", [.int(fixture.appID)])
        try fixture.record("'n', 'opened', 'a', 'u1', properties => '{\"tab\": 1}'")
        try fixture.record("'n', 'received', user_id => 'u2'")
        let reader = try ScratchDatabase.shared().connect()
        try reader.script("SET SESSION AUTHORIZATION todoke_reader")
        let rows = try reader.query(
            """
            SELECT notification_id, kind, user_id, platform, properties ->> 'tab', device IS NOT NULL, at <= now()
            FROM todoke.event_log WHERE app = $1 ORDER BY kind
            """, [.text(fixture.app)])
        let lines = (0..<rows.rowCount).map { row in
            (0..<7).map { rows.optionalString(row, $0) ?? "-" }.joined(separator: " ")
        }
        #expect(lines == ["n opened u1 ios 1 t t", "n received u2 - - f t"])
    }
}
