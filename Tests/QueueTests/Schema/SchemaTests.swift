import Postgres
import TestSupport
import Testing

/// What the tables accept, who may do what, and that everything says what it is for.
@Suite(.migratedDatabase) struct SchemaTests {
    /// Runs `body` in a transaction that is rolled back, with one app and one notification in place.
    private func attempt(_ body: (Connection) throws -> Void) throws {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            BEGIN;
            INSERT INTO todoke.apps (name, project_id) VALUES ('schema-tests', 'demo');
            INSERT INTO todoke.notifications (app, notification_id)
            SELECT id, 'n' FROM todoke.apps WHERE name = 'schema-tests';
            """)
        try body(connection)
        try connection.script("ROLLBACK")
    }

    private static let message = """
        INSERT INTO todoke.messages (day, notification, app, state, due_at, expires_at, lease_until, finished_at, sender_id,
            priority)
        SELECT n.day, n.id, n.app, v.state::todoke.message_state, now(), v.expires_at::timestamptz,
            v.lease_until::timestamptz, v.finished_at::timestamptz, v.sender_id::bigint, v.priority::smallint
        FROM todoke.notifications n, (VALUES
        """

    @Test(arguments: [
        "'pending', NULL, NULL, NULL, NULL, 5", "'pending', now() + interval '1 s', NULL, NULL, NULL, 0",
        "'pending', NULL, NULL, NULL, 3, 9", "'sending', NULL, now(), NULL, 3, 5", "'sent', NULL, NULL, now(), 3, 5",
        "'failed', NULL, NULL, now(), 3, 5", "'expired', now() + interval '1 s', NULL, now(), NULL, 5",
        "'cancelled', NULL, NULL, now(), NULL, 5",
    ])
    func everyLegalStateIsAccepted(_ values: String) throws {
        try attempt { (connection: Connection) throws in
            let sql = Self.message + "(\(values))) v (state, expires_at, lease_until, finished_at, sender_id, priority)"
            #expect(try connection.query(sql).affectedRows == 1)
        }
    }

    @Test(arguments: [
        ("'pending', NULL, NULL, now(), NULL, 5", "messages_finished_check"),
        ("'sending', NULL, now(), now(), 3, 5", "messages_finished_check"),
        ("'sent', NULL, NULL, NULL, 3, 5", "messages_finished_check"),
        ("'failed', NULL, NULL, NULL, 3, 5", "messages_finished_check"),
        ("'expired', NULL, NULL, NULL, 3, 5", "messages_finished_check"),
        ("'cancelled', NULL, NULL, NULL, 3, 5", "messages_finished_check"),
        ("'sending', NULL, NULL, NULL, 3, 5", "messages_lease_check"),
        ("'pending', NULL, now(), NULL, 3, 5", "messages_lease_check"),
        ("'sent', NULL, now(), now(), 3, 5", "messages_lease_check"),
        ("'sending', NULL, now(), NULL, NULL, 5", "messages_sender_check"),
        ("'pending', now(), NULL, NULL, NULL, 5", "messages_expiry_check"),
        ("'pending', NULL, NULL, NULL, NULL, 10", "messages_priority_check"),
        ("'pending', NULL, NULL, NULL, NULL, -1", "messages_priority_check"),
    ])
    func noOtherStateIs(_ values: String, _ constraint: String) throws {
        try attempt { (connection: Connection) throws in
            let sql = Self.message + "(\(values))) v (state, expires_at, lease_until, finished_at, sender_id, priority)"
            let error = #expect(throws: PostgresError.self) { try connection.query(sql) }
            #expect(error?.sqlState == .checkViolation)
            #expect(error?.message.contains(constraint) == true, "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [
        ("INSERT INTO todoke.apps (name, project_id) VALUES (repeat('x', 501), 'p')", "apps_name_check"),
        ("INSERT INTO todoke.apps (name, project_id, provider) VALUES ('x', 'p', 'smtp')", "apps_provider_check"),
        ("INSERT INTO todoke.apps (name, project_id, delivery) VALUES ('x', 'p', 'once')", "apps_delivery_check"),
        ("INSERT INTO todoke.apps (name, project_id, environment) VALUES ('x', 'p', 'test')", "apps_environment_check"),
        (
            "INSERT INTO todoke.apps (name, project_id, messages_per_second) VALUES ('x', 'p', 0)",
            "apps_messages_per_second_check"
        ),
        ("UPDATE todoke.notifications SET delivery = 'once'", "notifications_delivery_check"),
        ("UPDATE todoke.notifications SET closes_at = created_at", "notifications_closes_at_check"),
        ("UPDATE todoke.notifications SET run_until = now()", "notifications_run_check"),
        (
            "INSERT INTO todoke.devices (app, token, platform) SELECT id, 't', 'palm' FROM todoke.apps",
            "devices_platform_check"
        ),
        (
            "INSERT INTO todoke.events (app, notification_id, kind, subject) SELECT id, 'n', 'seen', 'd1' FROM todoke.apps",
            "events_kind_check"
        ),
        (
            """
            INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload, ttl_at)
            SELECT 1, id, day, '00000000-0000-0000-0000-000000000000', 'token', 't', '{}', 4 FROM todoke.notifications
            """, "payloads_ttl_check"
        ),
    ])
    func otherTablesRefuseNonsense(_ sql: String, _ constraint: String) throws {
        try attempt { (connection: Connection) throws in
            let error = #expect(throws: PostgresError.self) { try connection.query(sql) }
            #expect(error?.sqlState == .checkViolation)
            #expect(error?.message.contains(constraint) == true, "\(error?.message ?? "")")
        }
    }

    @Test func aTargetIsQueuedOnceInANotification() throws {
        try attempt { (connection: Connection) throws in
            let sql = """
                INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
                SELECT nextval('todoke.message_id_seq'), id, day, '00000000-0000-0000-0000-000000000001', 'token', 't', '{}'
                FROM todoke.notifications ON CONFLICT DO NOTHING
                """
            #expect(try connection.query(sql).affectedRows == 1)
            #expect(try connection.query(sql).affectedRows == 0)
        }
    }

    @Test func thePayloadIsKeptByteForByte() throws {
        try attempt { (connection: Connection) throws in
            let payload = #"{ "b" : 1.0,  "a":"\u00e9é\/", "a" : 2 }"#
            try connection.query(
                """
                INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
                SELECT 1, id, day, '00000000-0000-0000-0000-000000000001', 'token', 't', $1 FROM todoke.notifications
                """, [.text(payload)])
            #expect(try connection.query("SELECT payload FROM todoke.payloads WHERE id = 1").string(0, 0) == payload)
        }
    }

    @Test func everythingIsExplained() throws {
        let connection = try ScratchDatabase.shared().connect()
        let silent = try connection.query(
            """
            SELECT c.oid::regclass::text FROM pg_class c
            WHERE c.relnamespace = 'todoke'::regnamespace AND obj_description(c.oid, 'pg_class') IS NULL
                -- A partition made before an index or a column was added is explained by its parent.
                AND NOT (c.relkind = 'i' AND c.relispartition)
                -- Indexes of constraints and sequences of identity columns belong to something that is explained.
                AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid AND contype IN ('p', 'u'))
                AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'i'
                    AND c.relkind = 'S')
            UNION ALL
            SELECT c.oid::regclass || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'todoke'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0
                AND NOT a.attisdropped AND NOT c.relispartition AND col_description(c.oid, a.attnum) IS NULL
            UNION ALL
            SELECT p.oid::regprocedure::text FROM pg_proc p
            WHERE p.pronamespace = 'todoke'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL
            UNION ALL
            SELECT t.oid::regtype::text FROM pg_type t
            WHERE t.typnamespace = 'todoke'::regnamespace AND t.typtype = 'e' AND obj_description(t.oid, 'pg_type') IS NULL
            UNION ALL
            SELECT 'schema' WHERE obj_description('todoke'::regnamespace, 'pg_namespace') IS NULL
            UNION ALL
            SELECT rolname FROM pg_roles WHERE rolname IN
                ('todoke_owner', 'todoke_producer', 'todoke_sender', 'todoke_app', 'todoke_reader')
                AND shobj_description(oid, 'pg_authid') IS NULL
            """)
        #expect((0..<silent.rowCount).map { silent.string($0, 0) } == [])
        let tables = try connection.query(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'todoke'::regnamespace AND relkind IN ('r', 'p', 'v')")
        #expect((tables.int(0, 0) ?? 0) > 60)
    }

    /// What a function switches off looks expensive beyond measure, and the server would compile code for each call.
    @Test func whatSwitchesPlansOffIsNotCompiled() throws {
        let compiled = try ScratchDatabase.shared().connect().query(
            """
            SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc
            WHERE pronamespace = 'todoke'::regnamespace AND proconfig::text LIKE '%enable_%=off%'
                AND NOT proconfig @> '{jit=off}'
            """)
        #expect(compiled.optionalString(0, 0) == nil)
    }
}
