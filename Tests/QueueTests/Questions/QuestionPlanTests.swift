import Postgres
import TestSupport
import Testing

/// A million finished messages of today and the four days before, and 60,000 that wait.
private enum LoadedHistory {
    static let days = 4
    static let perDay = 210_000
    static let waiting = 60_000

    static let sql = """
        SET synchronous_commit = off;
        INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo'), ('idle', 'demo');
        INSERT INTO todoke.notifications (app, notification_id, day)
        SELECT 1, 'daily-' || d, (now() AT TIME ZONE 'UTC')::date - d FROM generate_series(0, \(days)) AS d;
        DO $do$
        DECLARE
            n record;
            d int;
            part text;
            suffix text;
        BEGIN
            FOR d IN 0 .. \(days) LOOP
                SELECT * INTO n FROM todoke.notifications WHERE notification_id = 'daily-' || d;
                suffix := to_char(n.day, '_YYYYMMDD');
                FOREACH part IN ARRAY '{messages, payloads, attempts, rejections}'::text[] LOOP
                    EXECUTE format('DROP TABLE IF EXISTS todoke.%I', part || suffix);
                    -- Filled before it gets its indexes and is attached; nobody needs it after a crash, and autovacuum would
                    -- decide what the planner knows.
                    EXECUTE format('CREATE UNLOGGED TABLE todoke.%I (LIKE todoke.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
                        WITH (autovacuum_enabled = off)', part || suffix, part);
                END LOOP;
                EXECUTE format($sql$
                    INSERT INTO todoke.messages%1$s (id, notification, app, day, due_at, state, finished_at, attempts, http_status,
                        error_code)
                    SELECT (\(days) - %2$L) * \(perDay) + i, %3$L, 1, %4$L, %4$L::timestamptz,
                        (CASE i %% 100 WHEN 0 THEN 'failed' ELSE 'sent' END)::todoke.message_state,
                        now() - %2$L * interval '1 day' - interval '2 h' - (\(perDay) - i) * interval '10 ms', (i %% 100 = 0)::int,
                        CASE i %% 100 WHEN 0 THEN 404 ELSE 200 END, CASE i %% 100 WHEN 0 THEN 'UNREGISTERED' END
                    FROM generate_series(0, \(perDay - 1)) AS i;
                    INSERT INTO todoke.payloads%1$s (id, notification, day, dedupe_key, target_kind, target, user_id, payload)
                    SELECT id, notification, day, lpad(to_hex(id), 32, '0')::uuid, 'token',
                        'token-' || lpad((id %% \(perDay))::text, 7, '0'), lpad((id %% \(perDay))::text, 7, '0'), '{}'
                    FROM todoke.messages%1$s;
                    INSERT INTO todoke.attempts%1$s (message_id, notification, day, app, claim_no, attempt_no, outcome, error_code)
                    SELECT id, notification, day, app, 1, 1, 'token_invalid', 'UNREGISTERED'
                    FROM todoke.messages%1$s WHERE state = 'failed';
                    $sql$, suffix, d, n.id, n.day);
                FOREACH part IN ARRAY '{messages, payloads, attempts, rejections}'::text[] LOOP
                    EXECUTE format('ALTER TABLE todoke.%I ATTACH PARTITION todoke.%I FOR VALUES FROM (%L) TO (%L)',
                        part, part || suffix, n.day, n.day + 1);
                END LOOP;
            END LOOP;
        END
        $do$;
        INSERT INTO todoke.messages (id, notification, app, day, due_at, priority)
        SELECT \((days + 1) * perDay) + i, n.id, 1, n.day, now() + (i - 1000) * interval '1 s', CASE i % 10 WHEN 0 THEN 9 ELSE 5 END
        FROM generate_series(0, \(waiting - 1)) AS i JOIN todoke.notifications AS n ON n.notification_id = 'daily-0';
        INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, target, user_id, payload)
        SELECT id, notification, day, lpad(to_hex(id), 32, '0')::uuid, 'token', 'token-' || lpad((id % \(perDay))::text, 7, '0'),
            lpad((id % \(perDay))::text, 7, '0'), '{}'
        FROM todoke.messages WHERE state = 'pending';
        """
}

/// Over a million messages no question reads a day whole.
///
/// What functions do inside does not show in a plan, so the server's own count of scans in the transaction is what is looked
/// at: nobody may have read a partition of the queue from one end to the other, unless it is empty, and only so many rows may have been fetched.
@Suite(
    .serialized,
    .scratchDatabase { database in
        try database.migrate()
        try database.connect().script(LoadedHistory.sql)
    }
) struct QuestionPlanTests {
    struct Question: CustomTestStringConvertible {
        let sql: String
        /// Rows it gives, at least.
        let rows: Int
        /// Rows of the queue it may look at.
        let fetched: Int
        /// Pages it may look at.
        let pages: Int

        var testDescription: String { sql }
    }

    private static let questions = [
        Question(sql: "SELECT * FROM todoke.message_story(600)", rows: 3, fetched: 10, pages: 1_000),
        Question(sql: "SELECT * FROM todoke.message_story(1109999)", rows: 2, fetched: 10, pages: 1_000),
        Question(sql: "SELECT * FROM todoke.message_story(77777777)", rows: 0, fetched: 10, pages: 1_000),
        Question(sql: "SELECT * FROM todoke.user_messages('recipes', '0004242')", rows: 5, fetched: 20, pages: 1_500),
        Question(
            sql: "SELECT * FROM todoke.token_messages('recipes', 'token-0004242')", rows: 5, fetched: 20, pages: 1_500),
        Question(sql: "SELECT * FROM todoke.oldest_due", rows: 2, fetched: 20, pages: 2_000),
        // What is due within the hour, and no more of what waits.
        Question(sql: "SELECT * FROM todoke.upcoming('1 hour')", rows: 60, fetched: 5_000, pages: 8_000),
        // Pages of today of which nobody has noted yet what they hold; everything ended two hours ago.
        Question(sql: "SELECT * FROM todoke.throughput('1 hour')", rows: 0, fetched: 60_000, pages: 5_000),
        Question(sql: "SELECT * FROM todoke.live_senders", rows: 0, fetched: 0, pages: 10),
        Question(
            sql: "SELECT * FROM todoke.rejected_rows WHERE app = 'recipes' AND notification_id = 'daily-2'", rows: 0,
            fetched: 0,
            pages: 100),
        Question(
            sql: "SELECT payload FROM todoke.message_payloads WHERE id = 604242", rows: 1, fetched: 5, pages: 500),
        Question(sql: "SELECT * FROM todoke.queue_depth", rows: 3, fetched: 130_000, pages: 130_000),
    ]

    enum Knowledge: CaseIterable { case never, analysed }

    @Test(arguments: Knowledge.allCases) func `no question reads a day whole`(_ knowledge: Knowledge) throws {
        let connection = try ScratchDatabase.shared().connect()
        if knowledge == .analysed {
            // As after autovacuum: it analyses partitions, and never what they are partitions of.
            for table in ["messages", "payloads", "attempts"] {
                let parts = try connection.query(
                    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'todoke.\(table)'::regclass")
                for row in 0..<parts.rowCount { try connection.script("VACUUM ANALYZE \(parts.string(row, 0))") }
            }
        }
        for question in Self.questions {
            try connection.script("BEGIN; SET LOCAL ROLE todoke_reader")
            // Then the catalogs have been read, which count as pages too.
            try connection.query(question.sql)
            let before = try Self.read(connection)
            let plan = try QueryPlan(question.sql, on: connection)
            let given = try connection.query(question.sql).rowCount
            let after = try Self.read(connection)
            try connection.script("ROLLBACK")
            #expect(given >= question.rows, "\(question.sql) gives \(given) rows")
            #expect(after.whole == before.whole, "\(question.sql) reads a partition whole, \(knowledge)")
            // Of both runs.
            #expect(after.fetched - before.fetched <= 2 * question.fetched, "\(question.sql), \(knowledge)")
            #expect(plan.buffers <= question.pages, "\(question.sql), \(knowledge)")
            for node in plan.nodes where node.relation?.hasPrefix("messages_") == true {
                #expect(node.type != "Seq Scan" || node.rowsRead == 0, "\(question.sql), \(knowledge): \(node)")
            }
        }
    }

    /// Rows of the queue that this session has read so far: in partitions from end to end, and by index.
    private static func read(_ connection: Connection) throws -> (whole: Int, fetched: Int) {
        let counts = try connection.query(
            """
            SELECT coalesce(sum(seq_tup_read) FILTER (WHERE relname ~ '^(messages|payloads)_'), 0)::bigint,
                coalesce(sum(idx_tup_fetch), 0)::bigint
            FROM pg_stat_xact_all_tables WHERE relname ~ '^(messages|payloads|attempts|rejections)_'
            """)
        return (counts.int(0, 0) ?? .max, counts.int(0, 1) ?? .max)
    }

    /// Of the pages of a day only those are read that hold messages of the time asked for.
    @Test func `throughput reads the pages of its hour`() throws {
        let connection = try ScratchDatabase.shared().connect()
        try connection.script(
            """
            VACUUM todoke.messages_\(Self.suffix(0, connection));
            """)
        let back = try connection.query(
            """
            SELECT (now() - max(finished_at) + interval '5 min')::text FROM todoke.messages WHERE day = (now() AT TIME ZONE 'UTC')::date
            """
        ).string(0, 0)
        // Then the catalogs have been read, which count as pages too.
        try connection.query("SELECT * FROM todoke.throughput('\(back)')")
        let plan = try QueryPlan("SELECT * FROM todoke.throughput('\(back)')", on: connection)
        let pages = try connection.query(
            "SELECT pg_relation_size('todoke.messages_\(Self.suffix(0, connection))') / 8192"
        ).int(0, 0)
        #expect(plan.buffers < (try #require(pages)) / 3, "\(plan.buffers) of \(pages ?? 0)")
        let counted = try connection.query("SELECT sum(sent + failed) FROM todoke.throughput('\(back)')").int(0, 0)
        #expect((29_000...32_000).contains(counted ?? 0), "\(counted ?? 0)")
    }

    private static func suffix(_ daysAgo: Int, _ connection: Connection) throws -> String {
        try connection.query("SELECT to_char((now() AT TIME ZONE 'UTC')::date - \(daysAgo), 'YYYYMMDD')").string(0, 0)
    }

    @Test func `failures over many attempts are counted by keys`() throws {
        let connection = try ScratchDatabase.shared().connect()
        let plan = try QueryPlan("SELECT * FROM todoke.failures", on: connection)
        #expect(plan.nodes.contains { $0.type == "Aggregate" })
        let rows = try connection.query("SELECT sum(messages)::bigint, count(*) FROM todoke.failures")
        #expect(rows.int(0, 0) == (LoadedHistory.days + 1) * LoadedHistory.perDay / 100)
        #expect(rows.int(0, 1) == LoadedHistory.days + 1)
    }
}
