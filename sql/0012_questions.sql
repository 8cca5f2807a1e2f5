-- 0012: one question, one query: indexes for what people ask, functions and views that answer it.
-- Locks: SHARE on todoke.messages, todoke.payloads and those of their partitions that get their indexes here, until the
-- commit: writers wait, readers do not. At most 256 MB of partitions are indexed here, the newest first, in a second or two.
-- Larger days go without, and `SELECT command FROM todoke.missing_indexes` has the statements that build theirs while
-- everything runs; new days have them from the start. Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '12';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(12);
SET LOCAL lock_timeout = '5s';

CREATE INDEX payloads_user ON ONLY todoke.payloads (user_id) WHERE user_id IS NOT NULL;
COMMENT ON INDEX todoke.payloads_user IS 'Finds a user''s messages.';
-- Tokens are long: of those, this keeps four bytes.
CREATE INDEX payloads_target ON ONLY todoke.payloads USING hash (target);
COMMENT ON INDEX todoke.payloads_target IS 'Finds the messages to one target.';
-- Messages end about in the order in which they were queued, so the span of times of each stretch of pages is enough.
CREATE INDEX messages_finished ON ONLY todoke.messages USING brin (finished_at) WHERE finished_at IS NOT NULL;
COMMENT ON INDEX todoke.messages_finished IS 'Finds the pages with messages that ended in a span of time.';

CREATE VIEW todoke.missing_indexes AS
SELECT part.name AS partition, parent.relname AS index, part.bytes, step.command
FROM pg_catalog.pg_class AS parent
JOIN pg_catalog.pg_index AS i ON i.indexrelid = parent.oid AND parent.relkind = 'I'
CROSS JOIN LATERAL (
    SELECT c.oid, c.relname AS name, pg_relation_size(c.oid) AS bytes, parent.relname || '_' || right(c.relname, 8) AS child
    FROM pg_catalog.pg_inherits AS h
    JOIN pg_catalog.pg_class AS c ON c.oid = h.inhrelid
    WHERE h.inhparent = i.indrelid AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_inherits AS attached
        JOIN pg_catalog.pg_index AS own ON own.indexrelid = attached.inhrelid
        WHERE attached.inhparent = parent.oid AND own.indrelid = c.oid)
) AS part
CROSS JOIN LATERAL (VALUES
    -- What a build that was broken off has left.
    (1, CASE WHEN to_regclass(format('todoke.%I', part.child)) IS NOT NULL
        THEN format('DROP INDEX CONCURRENTLY todoke.%I', part.child) END),
    (2, regexp_replace(pg_get_indexdef(parent.oid), '^CREATE INDEX .* USING ',
        format('CREATE INDEX CONCURRENTLY %I ON todoke.%I USING ', part.child, part.name))),
    (3, format('ALTER INDEX todoke.%I ATTACH PARTITION todoke.%I', parent.relname, part.child)),
    (4, format('COMMENT ON INDEX todoke.%I IS %L', part.child, obj_description(parent.oid, 'pg_class')))
) AS step (place, command)
WHERE parent.relnamespace = 'todoke'::regnamespace AND step.command IS NOT NULL
ORDER BY part.name DESC, parent.relname, step.place;
COMMENT ON VIEW todoke.missing_indexes IS 'Partitions that are without an index because they were too large when it was introduced, each with the statements that build it while everybody reads and writes, in order, but for a moment at the end, where attaching waits for open transactions and others for it: run them one by one, as psql''s \gexec does. Empty when nothing is missing.';
COMMENT ON COLUMN todoke.missing_indexes.partition IS 'The partition that is without it.';
COMMENT ON COLUMN todoke.missing_indexes.index IS 'The index of the partitioned table.';
COMMENT ON COLUMN todoke.missing_indexes.bytes IS 'Size of the partition, which a build reads twice.';
COMMENT ON COLUMN todoke.missing_indexes.command IS 'A statement of its own, outside of a transaction.';

DO $$
DECLARE
    missing record;
    room bigint := 256 * 1024 * 1024;
    left_out int := 0;
BEGIN
    FOR missing IN
        SELECT m.partition, m.bytes,
            array_agg(replace(m.command, ' CONCURRENTLY ', ' ')
                ORDER BY m.index, m.command LIKE 'COMMENT %', m.command LIKE 'ALTER %') AS commands
        FROM todoke.missing_indexes AS m
        GROUP BY m.partition, m.bytes
        ORDER BY right(m.partition, 8) DESC, m.partition
    LOOP
        IF missing.bytes > room THEN
            left_out := left_out + 1;
            CONTINUE;
        END IF;
        room := room - missing.bytes;
        FOR step IN 1 .. cardinality(missing.commands) LOOP
            EXECUTE missing.commands[step];
        END LOOP;
    END LOOP;
    IF left_out > 0 THEN
        RAISE WARNING '% large partitions were left without their new indexes, so that nobody has to wait', left_out
            USING HINT = 'Build them while everything runs, with psql: SELECT command FROM todoke.missing_indexes \gexec';
    END IF;
END
$$;

CREATE FUNCTION todoke.message_story(message_id bigint)
RETURNS TABLE (
    at timestamptz, step text, http_status smallint, error_code text, hint text, detail text, next_at timestamptz,
    sender_id bigint, sender_host text
)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
ROWS 5
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET jit = off
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
    day date;
    is_here boolean;
BEGIN
    -- A day named in the text is planned alone; with all of them in one plan most of the time would go into planning.
    FOR day IN
        SELECT d.day FROM todoke.message_days() AS d (day)
        WHERE d.day <= (now() AT TIME ZONE 'UTC')::date + 1 ORDER BY d.day DESC
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM todoke.messages WHERE id = %L AND day = %L)', message_id, day)
            INTO is_here;
        CONTINUE WHEN NOT is_here;
        RETURN QUERY EXECUTE format(
            $query$
            WITH message AS MATERIALIZED (
                SELECT m.*, n.notification_id, n.cancelled_at, a.paused_at, p.queued_at, p.target_kind, p.target, p.user_id
                FROM todoke.messages AS m
                LEFT JOIN todoke.payloads AS p ON p.id = m.id AND p.day = %2$L
                LEFT JOIN todoke.notifications AS n ON n.id = m.notification
                LEFT JOIN todoke.apps AS a ON a.id = m.app
                WHERE m.id = %1$L AND m.day = %2$L
            ),
            told (place, at, step, http_status, error_code, detail, next_at, sender_id) AS (
                SELECT 1, m.queued_at, 'queued', NULL::smallint, NULL,
                    concat_ws(', ', m.notification_id, m.target_kind || ' ' || m.target, 'user ' || m.user_id),
                    NULL::timestamptz, NULL::bigint
                FROM message AS m
                WHERE m.queued_at IS NOT NULL
                UNION ALL
                SELECT 2, t.at, 'attempt', t.http_status, t.error_code, concat_ws(': ', t.outcome, t.detail), t.retry_at,
                    t.sender_id
                FROM todoke.attempts AS t
                WHERE t.message_id = %1$L AND t.day = %2$L
                UNION ALL
                SELECT 3, m.finished_at, m.state::text, m.http_status, m.error_code,
                    CASE
                        WHEN m.state = 'pending' AND m.cancelled_at IS NOT NULL THEN 'the notification is cancelled'
                        WHEN m.state = 'pending' AND m.paused_at IS NOT NULL THEN 'the app is paused'
                        WHEN m.state = 'sent' THEN m.provider_message_id
                    END,
                    CASE m.state WHEN 'pending' THEN m.due_at WHEN 'sending' THEN m.lease_until END,
                    CASE WHEN m.state <> 'pending' THEN m.sender_id END
                FROM message AS m
            )
            SELECT t.at, t.step, t.http_status, t.error_code, todoke.error_hint(t.error_code), t.detail, t.next_at,
                t.sender_id, s.host
            FROM told AS t
            LEFT JOIN todoke.senders AS s ON s.id = t.sender_id
            ORDER BY t.at NULLS LAST, t.place
            $query$,
            message_id, day);
        RETURN;
    END LOOP;
END
$$;
COMMENT ON FUNCTION todoke.message_story(bigint) IS 'All that happened to one message, in order: queued, each attempt that failed, and where it is now or how it ended. next_at is when it is tried again, or until when its sender holds it. Nothing for an id that is not there, or not any more.';

CREATE FUNCTION todoke.found_messages(condition text, app text, most int)
RETURNS TABLE (
    id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind,
    target text, user_id text, queued_at timestamptz, due_at timestamptz, finished_at timestamptz, attempts smallint,
    http_status smallint, error_code text, hint text, provider_message_id text
)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET jit = off
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
    last_day date := (now() AT TIME ZONE 'UTC')::date + 1;
    app_id int;
BEGIN
    IF app IS NOT NULL THEN
        SELECT a.id INTO app_id FROM todoke.apps AS a WHERE a.name = found_messages.app;
        IF app_id IS NULL THEN
            RAISE EXCEPTION 'there is no app %', quote_literal(app)
                USING ERRCODE = 'invalid_parameter_value', HINT = 'NULL asks for the messages of all apps.';
        END IF;
    END IF;
    IF most IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'most must be between 1 and 10000, not %', coalesce(most::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- Days ahead of today have no messages; named in the text, they are not even planned.
    RETURN QUERY EXECUTE format(
        $query$
        SELECT f.id, f.day, f.app, f.notification_id, m.state, f.target_kind, f.target, f.user_id, f.queued_at, m.due_at,
            m.finished_at, m.attempts, m.http_status, m.error_code, todoke.error_hint(m.error_code), m.provider_message_id
        FROM (
            SELECT p.id, p.day, a.name AS app, n.notification_id, p.target_kind, p.target, p.user_id, p.queued_at
            -- Each OFFSET 0 keeps the planner from looking the other way round: from all notifications to their messages.
            FROM (SELECT * FROM todoke.payloads AS p WHERE %1$s AND p.day <= %2$L OFFSET 0) AS p
            CROSS JOIN LATERAL (SELECT * FROM todoke.notifications AS n WHERE n.id = p.notification OFFSET 0) AS n
            JOIN todoke.apps AS a ON a.id = n.app
            WHERE n.app = coalesce(%3$L, n.app)
            ORDER BY p.id DESC
            LIMIT %4$s
        ) AS f
        CROSS JOIN LATERAL (
            SELECT * FROM todoke.messages AS m WHERE m.id = f.id AND m.day = f.day AND m.day <= %2$L OFFSET 0
        ) AS m
        ORDER BY f.id DESC
        $query$,
        condition, last_day, app_id, most);
END
$$;
COMMENT ON FUNCTION todoke.found_messages(text, text, int) IS 'What user_messages and token_messages have in common; the condition is SQL, so nobody else may call it.';

CREATE FUNCTION todoke.user_messages(app text, user_id text, most int DEFAULT 10)
RETURNS TABLE (
    id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind,
    target text, queued_at timestamptz, due_at timestamptz, finished_at timestamptz, attempts smallint,
    http_status smallint, error_code text, hint text, provider_message_id text
)
LANGUAGE sql
STABLE
SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.id, f.day, f.app_name, f.notification_id, f.state, f.target_kind, f.target, f.queued_at, f.due_at,
        f.finished_at, f.attempts, f.http_status, f.error_code, f.hint, f.provider_message_id
    FROM todoke.found_messages(format('p.user_id = %L', user_messages.user_id), user_messages.app, most) AS f
$$;
COMMENT ON FUNCTION todoke.user_messages(text, text, int) IS 'The latest messages to one user of an app (NULL: of any app), the newest first: where each is, what became of it and why.';

CREATE FUNCTION todoke.token_messages(app text, token text, most int DEFAULT 10)
RETURNS TABLE (
    id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind,
    user_id text, queued_at timestamptz, due_at timestamptz, finished_at timestamptz, attempts smallint,
    http_status smallint, error_code text, hint text, provider_message_id text
)
LANGUAGE sql
STABLE
SECURITY DEFINER
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.id, f.day, f.app_name, f.notification_id, f.state, f.target_kind, f.user_id, f.queued_at, f.due_at,
        f.finished_at, f.attempts, f.http_status, f.error_code, f.hint, f.provider_message_id
    FROM todoke.found_messages(format('p.target = %L', token_messages.token), token_messages.app, most) AS f
$$;
COMMENT ON FUNCTION todoke.token_messages(text, text, int) IS 'The latest messages to one token, installation id, topic or condition of an app (NULL: of any app), the newest first.';

CREATE FUNCTION todoke.throughput(back interval DEFAULT '1 hour')
RETURNS TABLE (app text, minute timestamptz, sent bigint, failed bigint, expired bigint, cancelled bigint)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
    SELECT a.name, e.minute,
        coalesce(sum(e.messages) FILTER (WHERE e.state = 'sent'), 0)::bigint,
        coalesce(sum(e.messages) FILTER (WHERE e.state = 'failed'), 0)::bigint,
        coalesce(sum(e.messages) FILTER (WHERE e.state = 'expired'), 0)::bigint,
        coalesce(sum(e.messages) FILTER (WHERE e.state = 'cancelled'), 0)::bigint
    FROM (
        SELECT m.app, m.state, date_trunc('minute', m.finished_at) AS minute, count(*) AS messages
        FROM todoke.messages AS m
        WHERE m.finished_at >= now() - back
        GROUP BY 1, 2, 3
    ) AS e
    JOIN todoke.apps AS a ON a.id = e.app
    GROUP BY a.name, e.minute
    ORDER BY e.minute, a.name
$$;
COMMENT ON FUNCTION todoke.throughput(interval) IS 'How many messages came to their end in each minute since so long ago, by app; minutes without any are left out.';

CREATE FUNCTION todoke.upcoming(ahead interval DEFAULT '1 hour')
RETURNS TABLE (app text, notification_id text, minute timestamptz, messages bigint, retries bigint, paused_at timestamptz)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
    SELECT a.name, n.notification_id, d.minute, d.messages, d.retries, a.paused_at
    FROM (
        SELECT m.notification, date_trunc('minute', greatest(m.due_at, now())) AS minute, count(*) AS messages,
            count(*) FILTER (WHERE m.claim_no > 0) AS retries
        FROM todoke.messages AS m
        -- With all apps and priorities named, the index of claims is entered once for each, and what is due later is not
        -- walked over.
        WHERE m.state = 'pending' AND m.app = ANY (ARRAY(SELECT id FROM todoke.apps))
            AND m.priority = ANY ('{0,1,2,3,4,5,6,7,8,9}') AND m.due_at < now() + ahead
            AND (m.expires_at IS NULL OR m.expires_at > now())
        GROUP BY 1, 2
    ) AS d
    JOIN todoke.notifications AS n ON n.id = d.notification
    JOIN todoke.apps AS a ON a.id = n.app
    WHERE n.cancelled_at IS NULL
    ORDER BY d.minute, a.name, n.notification_id
$$;
COMMENT ON FUNCTION todoke.upcoming(interval) IS 'What is to be sent until so long from now, by notification and minute: what is due already counts for the present minute, what is cancelled or has expired does not count. With paused_at its app is paused, and it waits.';

CREATE VIEW todoke.oldest_due AS
SELECT a.name AS app, o.priority, o.id, o.day, o.due_at, extract(epoch FROM now() - o.due_at)::float8 AS due_seconds,
    a.paused_at
FROM todoke.apps AS a
CROSS JOIN generate_series(0, 9) AS p (priority)
CROSS JOIN LATERAL (
    SELECT m.id, m.day, m.due_at, m.priority
    FROM todoke.messages AS m
    WHERE m.app = a.id AND m.priority = p.priority::smallint AND m.state = 'pending' AND m.due_at <= now()
    ORDER BY m.due_at, m.id
    LIMIT 1
) AS o;
COMMENT ON VIEW todoke.oldest_due IS 'The message that has been due for the longest time, for each app and priority that has one.';

CREATE VIEW todoke.live_senders AS
SELECT s.id, s.host, s.pid, s.version, s.apps, s.state, s.in_flight, s.rate, s.duplicate_risk, s.started_at, s.heartbeat_at
FROM todoke.senders AS s
WHERE s.stopped_at IS NULL AND s.heartbeat_at > now() - interval '15 s';
COMMENT ON VIEW todoke.live_senders IS 'The senders that gave a sign of life within 15 s, which is three heartbeats.';

CREATE VIEW todoke.rejected_rows AS
SELECT a.name AS app, n.notification_id, n.day, r.line, r.reason, r.input, r.at, r.run_id
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
JOIN todoke.rejections AS r ON r.notification = n.id AND r.day = n.day;
COMMENT ON VIEW todoke.rejected_rows IS 'Audience rows that were refused, with the reason. Name the notification, to read one day only.';

CREATE VIEW todoke.message_payloads AS
SELECT a.name AS app, n.notification_id, n.day, p.id, p.target_kind, p.target, p.user_id, p.queued_at, p.payload
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
JOIN todoke.payloads AS p ON p.notification = n.id AND p.day = n.day;
COMMENT ON VIEW todoke.message_payloads IS 'What each message says, byte for byte as it is posted, but for the digits of android.ttl when it expires. Name the notification, to read one day only.';

-- The columns are the same. Counted by keys before names are looked up, once for each group.
CREATE OR REPLACE VIEW todoke.failures AS
SELECT
    a.name AS app,
    n.notification_id,
    f.day,
    f.error_code,
    f.outcome,
    f.attempts,
    f.messages,
    f.final,
    f.first_at,
    f.last_at,
    todoke.error_hint(f.error_code) AS hint
FROM (
    SELECT t.notification, t.day, t.error_code, t.outcome,
        count(*) AS attempts,
        count(DISTINCT t.message_id) AS messages,
        count(*) FILTER (WHERE t.retry_at IS NULL) AS final,
        min(t.at) AS first_at,
        max(t.at) AS last_at
    FROM todoke.attempts AS t
    GROUP BY t.notification, t.day, t.error_code, t.outcome
) AS f
JOIN todoke.notifications AS n ON n.id = f.notification AND n.day = f.day
JOIN todoke.apps AS a ON a.id = n.app;
COMMENT ON VIEW todoke.failures IS 'What went wrong, by notification and code, with a hint; retries that succeeded later are in it too, final counts those that were given up. Counts the attempts each time: name the day, to count those of one day only.';

REVOKE EXECUTE ON FUNCTION todoke.message_story(bigint), todoke.found_messages(text, text, int),
    todoke.user_messages(text, text, int), todoke.token_messages(text, text, int), todoke.throughput(interval),
    todoke.upcoming(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.message_story(bigint), todoke.user_messages(text, text, int),
    todoke.token_messages(text, text, int), todoke.throughput(interval), todoke.upcoming(interval) TO todoke_reader;
GRANT SELECT ON todoke.oldest_due, todoke.live_senders, todoke.rejected_rows, todoke.message_payloads TO todoke_reader;

COMMENT ON COLUMN todoke.oldest_due.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.oldest_due.priority IS '0 to 9, higher goes first.';
COMMENT ON COLUMN todoke.oldest_due.id IS 'The message.';
COMMENT ON COLUMN todoke.oldest_due.day IS 'The day it is kept under.';
COMMENT ON COLUMN todoke.oldest_due.due_at IS 'Since when it is due.';
COMMENT ON COLUMN todoke.oldest_due.due_seconds IS 'How many seconds that is ago.';
COMMENT ON COLUMN todoke.oldest_due.paused_at IS 'Set while the app is paused, which explains much.';

COMMENT ON COLUMN todoke.live_senders.id IS 'Identity of the process; message_status.sender_id names it.';
COMMENT ON COLUMN todoke.live_senders.host IS 'Where it runs.';
COMMENT ON COLUMN todoke.live_senders.pid IS 'Its process id there.';
COMMENT ON COLUMN todoke.live_senders.version IS 'Version of its binary.';
COMMENT ON COLUMN todoke.live_senders.apps IS 'The apps it sends for.';
COMMENT ON COLUMN todoke.live_senders.state IS 'What it is doing, or why it is not ready.';
COMMENT ON COLUMN todoke.live_senders.in_flight IS 'Messages it has claimed and not finished, at its latest heartbeat.';
COMMENT ON COLUMN todoke.live_senders.rate IS 'Messages per second it posted, at its latest heartbeat.';
COMMENT ON COLUMN todoke.live_senders.duplicate_risk IS 'Second issues of a request and unknown outcomes that were sent again.';
COMMENT ON COLUMN todoke.live_senders.started_at IS 'When it started.';
COMMENT ON COLUMN todoke.live_senders.heartbeat_at IS 'Its latest sign of life.';

COMMENT ON COLUMN todoke.rejected_rows.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.rejected_rows.notification_id IS 'The notification it was meant for.';
COMMENT ON COLUMN todoke.rejected_rows.day IS 'The notification''s day.';
COMMENT ON COLUMN todoke.rejected_rows.line IS 'Line of the input, from 1; row number for a SQL audience.';
COMMENT ON COLUMN todoke.rejected_rows.reason IS 'Which field, and what is wrong with it.';
COMMENT ON COLUMN todoke.rejected_rows.input IS 'The row as it was read, as far as it can be stored as text.';
COMMENT ON COLUMN todoke.rejected_rows.at IS 'When it was refused.';
COMMENT ON COLUMN todoke.rejected_rows.run_id IS 'The producer run that refused it.';

COMMENT ON COLUMN todoke.message_payloads.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.message_payloads.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.message_payloads.day IS 'The notification''s day.';
COMMENT ON COLUMN todoke.message_payloads.id IS 'The message.';
COMMENT ON COLUMN todoke.message_payloads.target_kind IS 'token, fid, topic or condition.';
COMMENT ON COLUMN todoke.message_payloads.target IS 'The whole target.';
COMMENT ON COLUMN todoke.message_payloads.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.message_payloads.queued_at IS 'When it was queued.';
COMMENT ON COLUMN todoke.message_payloads.payload IS 'The FCM message object, exactly as it is posted.';

INSERT INTO todoke.migrations (version, name, digest) VALUES (12, '0012_questions.sql', '1efb02894c498ebe076320adb0d87478fd9c894e7946242924d5ef237a5362b5');
