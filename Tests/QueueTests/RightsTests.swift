import Postgres
import TestSupport
import Testing

/// Who owns the schema's objects and what each role may do with them.
@Suite(.migratedDatabase) struct RightsTests {
    private static let payload = """
        INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
        VALUES (1, 1, (now() AT TIME ZONE 'UTC')::date, '00000000-0000-0000-0000-000000000001', 'token', 't', '{}')
        """
    private static let message = """
        INSERT INTO todoke.messages (notification, app, day) VALUES (1, 1, (now() AT TIME ZONE 'UTC')::date)
        """
    private static let claim = """
        SELECT id FROM todoke.messages WHERE state = 'pending' LIMIT 1 FOR UPDATE SKIP LOCKED
        """
    private static let result = """
        UPDATE todoke.messages SET state = 'sending', due_at = now(), claim_no = claim_no + 1, attempts = 1, sender_id = 1,
            lease_until = now(), finished_at = NULL, http_status = NULL, error_code = NULL, provider_message_id = NULL
        """
    private static let attempt = """
        INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome)
        VALUES (1, 1, (now() AT TIME ZONE 'UTC')::date, 1, 1, 1, 'retry')
        """
    private static let rejection = """
        INSERT INTO todoke.rejections (notification, day, line, reason)
        VALUES (1, (now() AT TIME ZONE 'UTC')::date, 1, 'r')
        """
    private static let notification = "INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'new')"
    private static let sender = "INSERT INTO todoke.senders (host, pid, version) VALUES ('h', 1, '1')"
    private static let senderAgain = """
        INSERT INTO todoke.senders (id, host, pid, version) OVERRIDING SYSTEM VALUE VALUES (7, 'h', 1, '1')
        ON CONFLICT (id) DO NOTHING
        """
    private static let dead = """
        SELECT todoke.record_dead_tokens(1, '2026-11-30', '{1}'::bigint[], '{1}'::int[], '{X}'::text[], ARRAY[now()])
        """
    private static let views = [
        "message_status", "notification_summary", "queue_depth", "failures", "dead_tokens", "stale_devices",
        "event_log",
    ]

    /// The error's state, or nil when the role may run the statement.
    private static func refusal(_ role: String, _ sql: String) throws -> SQLState? {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            BEGIN;
            INSERT INTO todoke.apps (name, project_id) VALUES ('rights', 'demo');
            SET LOCAL ROLE \(role);
            """)
        defer { try? connection.script("ROLLBACK") }
        do throws(PostgresError) {
            try connection.query(sql)
            return nil
        } catch {
            // Keys of rows that are not there are no matter of rights.
            return error.sqlState == .foreignKeyViolation ? nil : error.sqlState
        }
    }

    @Test(arguments: [
        ("todoke_producer", notification), ("todoke_producer", "UPDATE todoke.notifications SET run_id = NULL"),
        ("todoke_producer", message), ("todoke_producer", payload), ("todoke_producer", rejection),
        ("todoke_producer", "SELECT id FROM todoke.apps"), ("todoke_producer", "SELECT token FROM todoke.devices"),
        ("todoke_producer", "SELECT nextval('todoke.message_id_seq')"),
        ("todoke_producer", "SELECT todoke.ensure_partitions()"),
        ("todoke_sender", "SELECT id FROM todoke.apps"), ("todoke_sender", "SELECT delivery FROM todoke.notifications"),
        ("todoke_sender", claim), ("todoke_sender", result), ("todoke_sender", "SELECT payload FROM todoke.payloads"),
        ("todoke_sender", attempt), ("todoke_sender", sender), ("todoke_sender", senderAgain),
        ("todoke_sender", "UPDATE todoke.senders SET state = 's'"),
        ("todoke_sender", "SELECT * FROM todoke.message_days()"),
        ("todoke_sender", "SELECT todoke.ensure_partitions()"),
        ("todoke_sender", "SELECT max(version) FROM todoke.migrations"),
        ("todoke_sender", dead), ("todoke_reader", "SELECT todoke.day_of('rights', 'n')"),
        ("todoke_app", "SELECT * FROM todoke.record_events('rights', '[]')"),
    ])
    func whatARoleNeedsItMay(_ role: String, _ sql: String) throws {
        #expect(try Self.refusal(role, sql) == nil)
    }

    @Test(arguments: views) func aReaderReadsTheViews(_ view: String) throws {
        #expect(try Self.refusal("todoke_reader", "SELECT * FROM todoke.\(view)") == nil)
        #expect(try Self.refusal("todoke_app", "SELECT * FROM todoke.\(view)") == .insufficientPrivilege)
    }

    @Test(arguments: [
        ("todoke_producer", "UPDATE todoke.messages SET state = 'cancelled'"), ("todoke_producer", claim),
        ("todoke_producer", "DELETE FROM todoke.notifications"),
        ("todoke_producer", "UPDATE todoke.payloads SET target = 'x'"),
        ("todoke_producer", attempt),
        ("todoke_producer", "INSERT INTO todoke.apps (name, project_id) VALUES ('x', 'y')"),
        ("todoke_sender", message), ("todoke_sender", payload), ("todoke_sender", "DELETE FROM todoke.messages"),
        ("todoke_sender", "UPDATE todoke.messages SET notification = 2"),
        ("todoke_sender", "UPDATE todoke.messages SET expires_at = NULL"),
        ("todoke_sender", "UPDATE todoke.payloads SET payload = '{}'"), ("todoke_sender", notification),
        ("todoke_sender", "SELECT token FROM todoke.devices"), ("todoke_sender", "DROP TABLE todoke.senders"),
        ("todoke_reader", "SELECT * FROM todoke.messages"), ("todoke_reader", "SELECT * FROM todoke.payloads"),
        ("todoke_reader", "SELECT todoke.ensure_partitions()"), ("todoke_app", "SELECT todoke.ensure_partitions()"),
        ("todoke_reader", "SELECT todoke.record_event('rights', 'n', 'opened', 't')"),
        ("todoke_producer", "SELECT todoke.record_event('rights', 'n', 'opened', 't')"),
        ("todoke_sender", "SELECT * FROM todoke.record_events('rights', '[]')"),
        ("todoke_app", "SELECT * FROM todoke.events"), ("todoke_app", "SELECT todoke.reach(1, 1, CURRENT_DATE)"),
        ("todoke_app", "SELECT todoke.settle_day(CURRENT_DATE)"),
        ("todoke_sender", "SELECT todoke.settle_day(CURRENT_DATE)"),
        ("todoke_producer", "SELECT todoke.settle_events(CURRENT_DATE)"),
        ("todoke_app", "SELECT * FROM todoke.apps"), ("todoke_app", notification),
        ("todoke_sender", "UPDATE todoke.devices SET invalidated_at = now()"),
        ("todoke_sender", "UPDATE todoke.apps SET paused_at = now()"),
        ("todoke_sender", "SELECT todoke.end_dead_token_hold('rights')"), ("todoke_reader", dead), ("todoke_app", dead),
        ("todoke_producer", dead), ("todoke_producer", "SELECT * FROM todoke.sweep_dead_tokens('rights', false)"),
        ("todoke_app", "CREATE TABLE todoke.mine (a int)"),
    ])
    func moreItMayNot(_ role: String, _ sql: String) throws {
        #expect(try Self.refusal(role, sql) == .insufficientPrivilege)
    }

    @Test func theOwnerOwnsEverything() throws {
        let connection = try ScratchDatabase.shared().connect()
        let foreign = try connection.query(
            """
            SELECT oid::regclass::text FROM pg_class
            WHERE relnamespace = 'todoke'::regnamespace AND relowner <> 'todoke_owner'::regrole
            UNION ALL
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'todoke'::regnamespace AND proowner <> 'todoke_owner'::regrole
            UNION ALL
            SELECT oid::regtype::text FROM pg_type
            WHERE typnamespace = 'todoke'::regnamespace AND typowner <> 'todoke_owner'::regrole
            UNION ALL
            SELECT nspname FROM pg_namespace WHERE nspname = 'todoke' AND nspowner <> 'todoke_owner'::regrole
            """)
        #expect((0..<foreign.rowCount).map { foreign.string($0, 0) } == [])
    }

    @Test func functionsWithTheOwnersRightsAreClosed() throws {
        let connection = try ScratchDatabase.shared().connect()
        let open = try connection.query(
            """
            SELECT oid::regprocedure::text FROM pg_proc
            WHERE pronamespace = 'todoke'::regnamespace
                AND (has_function_privilege('public', oid, 'EXECUTE')
                    OR prosecdef AND NOT coalesce(proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp'])
            """)
        #expect((0..<open.rowCount).map { open.string($0, 0) } == [])
    }

    @Test(arguments: ["todoke_producer", "todoke_sender"]) func hotRolesDoNotCompilePlans(_ role: String) throws {
        let connection = try ScratchDatabase.shared().connect()
        let settings = try connection.query(
            "SELECT 'jit=off' = ANY (setconfig) FROM pg_db_role_setting WHERE setrole = $1::regrole", [.text(role)])
        #expect(settings.bool(0, 0) == true)
    }

    /// What cancels, settles and purges a notification is not the producer's, nor is a notification that was so from the start.
    @Test(arguments: [
        "UPDATE todoke.notifications SET cancelled_at = now()", "UPDATE todoke.notifications SET settled_at = now()",
        "UPDATE todoke.notifications SET settled_summary = '{}'",
        "UPDATE todoke.notifications SET settled_events = '{}'",
        "UPDATE todoke.notifications SET purged_at = now()", "UPDATE todoke.notifications SET closes_at = now()",
        "INSERT INTO todoke.notifications (app, notification_id, settled_at) VALUES (1, 'new', now())",
    ])
    func aProducerChangesOnlyWhatItWrites(_ sql: String) throws {
        #expect(try Self.refusal("todoke_producer", sql) == .insufficientPrivilege)
    }

    /// A function of the reader's that costs nothing is asked first, where nothing stops the planner.
    @Test(arguments: ["stale_devices", "dead_tokens"]) func aReadersFunctionSeesWhatItsViewShows(_ view: String) throws
    {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            BEGIN;
            INSERT INTO todoke.apps (name, project_id) VALUES ('leaks', 'demo');
            INSERT INTO todoke.devices (app, token) SELECT max(id), 'secret' FROM todoke.apps;
            INSERT INTO todoke.notifications (app, notification_id) SELECT max(id), 'n' FROM todoke.apps;
            INSERT INTO todoke.messages (notification, app, day) SELECT id, app, day FROM todoke.notifications;
            INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, payload)
            SELECT id, notification, day, md5(id::text)::uuid, 'token', 'secret', '{}' FROM todoke.messages;
            INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome)
            SELECT id, notification, day, app, 1, 1, 'retry' FROM todoke.messages;
            SET LOCAL ROLE todoke_reader;
            CREATE FUNCTION pg_temp.leak(app text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
                $$ BEGIN RAISE NOTICE 'asked'; RETURN true; END $$;
            """)
        defer { try? connection.script("ROLLBACK") }
        let target = view == "dead_tokens" ? "target" : "token"
        #expect(try connection.query("SELECT 1 FROM todoke.\(view) WHERE pg_temp.leak(\(target))").rowCount == 0)
        #expect(connection.takeNotices().isEmpty)
    }
}
