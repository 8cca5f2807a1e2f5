-- 0010: settled summaries, by which notification_summary stays right when the messages are gone, and what `todoke purge` needs.
-- Locks: ACCESS EXCLUSIVE on todoke.notifications while the index of what is not purged is made; applications and producers
-- that queue wait for it, about a second for a million notifications.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '10';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(10);
SET LOCAL lock_timeout = '5s';

ALTER TABLE todoke.notifications RENAME COLUMN purged_summary TO settled_summary;
ALTER TABLE todoke.notifications
    ADD COLUMN settled_at timestamptz,
    ADD CONSTRAINT notifications_settled_check CHECK ((settled_at IS NULL) = (settled_summary IS NULL)) NOT VALID;
COMMENT ON COLUMN todoke.notifications.settled_at IS 'When its numbers became final: it was closed, and every message at its end. From then on nothing about them changes.';
COMMENT ON COLUMN todoke.notifications.settled_summary IS 'Its final numbers as notification_summary has them, without those that are 0 or NULL; last_sent_at, p95_seconds and reach only where they differ from first_sent_at, p50_seconds and sent.';
COMMENT ON COLUMN todoke.notifications.purged_at IS 'When its messages were given up to be dropped with their day.';

-- The second column keeps what is not settled together, and is written anew once, when it is settled.
CREATE INDEX notifications_kept ON todoke.notifications (day, (settled_at IS NULL), id) WHERE purged_at IS NULL;
COMMENT ON INDEX todoke.notifications_kept IS 'What is to be settled and purged, by day; holds notifications only until they are purged.';

CREATE FUNCTION todoke.settle_day(
    day date, after bigint DEFAULT 0, at_most int DEFAULT 50000, OUT settled bigint, OUT next bigint
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET jit = off
SET work_mem = '64MB'
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    first bigint;
    upper bigint;
    walked bigint;
    writers text[];
    waited int := 0;
BEGIN
    settled := 0;
    settle_day.at_most := greatest(settle_day.at_most, 1);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'settle_day needs READ COMMITTED' USING ERRCODE = 'invalid_transaction_state',
            HINT = 'It must see what those have committed whom it waited for.';
    END IF;
    IF EXISTS (
        SELECT FROM pg_class AS c
        WHERE c.oid IN (
                to_regclass('todoke.messages_' || to_char(settle_day.day, 'YYYYMMDD')),
                to_regclass('todoke.payloads_' || to_char(settle_day.day, 'YYYYMMDD')))
            AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid AND NOT i.inhdetachpending))
    THEN
        RAISE EXCEPTION 'a table of % is no partition any more, so its messages cannot be counted',
                to_char(settle_day.day, 'YYYY-MM-DD')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = 'Attach it again as the partition of its day, or give it another name.';
    END IF;
    -- An hour later than closed: whoever began to queue before it has committed by then, or is seen below.
    EXECUTE format(
        $query$
        SELECT n.id FROM todoke.notifications AS n
        WHERE n.day = %L AND (n.settled_at IS NULL) AND n.purged_at IS NULL AND n.id > %L
            AND n.closes_at <= now() - interval '1 hour' AND coalesce(n.run_until < now(), true)
        ORDER BY n.id LIMIT 1
        $query$, settle_day.day, settle_day.after) INTO first;
    IF first IS NULL THEN
        RETURN;
    END IF;

    -- What somebody has written into the day and not committed yet would be missed: wait for those who are at it now.
    SELECT array_agg(l.virtualtransaction) INTO writers FROM pg_locks AS l
    WHERE l.relation IN (
            to_regclass('todoke.messages_' || to_char(settle_day.day, 'YYYYMMDD')),
            to_regclass('todoke.payloads_' || to_char(settle_day.day, 'YYYYMMDD')))
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND l.mode = 'RowExclusiveLock' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid();
    WHILE writers IS NOT NULL LOOP
        IF waited >= 200 THEN
            RAISE EXCEPTION 'a transaction that writes into %, a day that is to be settled, does not end',
                    to_char(settle_day.day, 'YYYY-MM-DD')
                USING ERRCODE = 'lock_not_available', HINT = 'See pg_stat_activity for what is idle in transaction.';
        END IF;
        PERFORM pg_sleep(0.01);
        waited := waited + 1;
        SELECT array_agg(l.virtualtransaction) INTO writers FROM pg_locks AS l
        WHERE l.virtualtransaction = ANY (writers) AND l.mode = 'RowExclusiveLock' AND l.granted
            AND l.relation IN (
                to_regclass('todoke.messages_' || to_char(settle_day.day, 'YYYYMMDD')),
                to_regclass('todoke.payloads_' || to_char(settle_day.day, 'YYYYMMDD')));
    END LOOP;

    -- Whole notifications with at_most messages together, or one that has more; and no more notifications than that.
    EXECUTE format(
        $query$
        SELECT max(few.notification), count(*) FROM (
            SELECT p.notification FROM todoke.payloads AS p
            WHERE p.day = %L AND p.notification >= %L ORDER BY p.notification LIMIT %L) AS few
        $query$, settle_day.day, first, settle_day.at_most) INTO upper, walked;
    IF walked < settle_day.at_most THEN
        upper := 9223372036854775807;
    ELSIF upper > first THEN
        upper := upper - 1;
    END IF;
    IF upper > first THEN
        EXECUTE format(
            $query$
            SELECT coalesce(min(few.id), %4$L) FROM (
                SELECT n.id FROM todoke.notifications AS n
                WHERE n.day = %1$L AND (n.settled_at IS NULL) AND n.purged_at IS NULL AND n.id >= %2$L AND n.id <= %4$L
                ORDER BY n.id OFFSET %3$L - 1 LIMIT 1) AS few
            $query$, settle_day.day, first, settle_day.at_most, upper) INTO upper;
    END IF;

    -- Both ways count as notification_summary does.
    EXECUTE format(
        $query$
        WITH wanted AS MATERIALIZED (
            SELECT n.id, n.app FROM todoke.notifications AS n
            WHERE n.day = %1$L AND (n.settled_at IS NULL) AND n.purged_at IS NULL AND n.id >= %2$L AND n.id <= %3$L
                AND n.closes_at <= now() - interval '1 hour' AND coalesce(n.run_until < now(), true)
            ORDER BY n.id FOR NO KEY UPDATE SKIP LOCKED
        ), $query$ ||
        CASE WHEN upper = first THEN $query$
        counted AS MATERIALIZED (
            SELECT w.id AS notification, s.pending + s.sending AS unfinished, s.sent, s.failed, s.expired, s.cancelled,
                todoke.reach(w.app, w.id, %1$L) AS reach, s.first_sent_at, s.last_sent_at, s.p50_seconds, s.p95_seconds,
                s.top_errors
            FROM wanted AS w CROSS JOIN LATERAL todoke.summarize_notification(w.id, %1$L) AS s
        )
        $query$ ELSE $query$
        mine AS MATERIALIZED (
            SELECT p.notification, m.state, m.finished_at, m.error_code,
                m.state = 'sent' AND coalesce(d.allows_notifications, t.allows_notifications, true) AS is_reached,
                CASE WHEN m.state = 'sent' THEN
                    extract(epoch FROM m.finished_at
                        - CASE m.attempts WHEN 0 THEN greatest(p.queued_at, m.due_at) ELSE p.queued_at END)::float8
                END AS seconds
            FROM todoke.payloads AS p
            CROSS JOIN LATERAL (
                SELECT v.app, v.state, v.finished_at, v.due_at, v.attempts, v.error_code FROM todoke.messages AS v
                WHERE v.id = p.id AND v.day = %1$L OFFSET 0) AS m
            LEFT JOIN LATERAL (
                SELECT v.allows_notifications FROM todoke.devices AS v WHERE v.id = p.device OFFSET 0) AS d ON true
            LEFT JOIN LATERAL (
                SELECT v.allows_notifications FROM todoke.devices AS v
                WHERE p.device IS NULL AND p.target_kind = 'token' AND v.app = m.app AND v.token = p.target OFFSET 0) AS t
                ON true
            WHERE p.day = %1$L AND p.notification >= %2$L AND p.notification <= %3$L
        ),
        by_code AS (
            SELECT g.notification,
                json_agg(json_build_object('code', g.error_code, 'messages', g.messages)
                    ORDER BY g.messages DESC, g.error_code) AS top_errors
            FROM (
                SELECT v.notification, v.error_code, count(*) AS messages,
                    row_number() OVER (PARTITION BY v.notification ORDER BY count(*) DESC, v.error_code) AS place
                FROM mine AS v WHERE v.error_code IS NOT NULL GROUP BY v.notification, v.error_code
            ) AS g
            WHERE g.place <= 5 GROUP BY g.notification
        ),
        by_state AS (
            SELECT v.notification, count(*) FILTER (WHERE v.state < 'sent') AS unfinished,
                count(*) FILTER (WHERE v.state = 'sent') AS sent,
                count(*) FILTER (WHERE v.state = 'failed') AS failed,
                count(*) FILTER (WHERE v.state = 'expired') AS expired,
                count(*) FILTER (WHERE v.state = 'cancelled') AS cancelled,
                count(*) FILTER (WHERE v.is_reached) AS reach,
                min(v.finished_at) FILTER (WHERE v.state = 'sent') AS first_sent_at,
                max(v.finished_at) FILTER (WHERE v.state = 'sent') AS last_sent_at,
                percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY v.seconds) AS seconds
            FROM mine AS v GROUP BY v.notification
        ),
        counted AS MATERIALIZED (
            SELECT s.notification, s.unfinished, s.sent, s.failed, s.expired, s.cancelled, s.reach, s.first_sent_at,
                s.last_sent_at, s.seconds[1] AS p50_seconds, s.seconds[2] AS p95_seconds, c.top_errors
            FROM by_state AS s LEFT JOIN by_code AS c ON c.notification = s.notification
        )
        $query$ END || $query$,
        done AS (
            UPDATE todoke.notifications AS n SET
                settled_at = now(), run_id = NULL, run_until = NULL,
                settled_summary = ('{' || concat_ws(', ',
                    '"sent": ' || nullif(c.sent, 0), '"failed": ' || nullif(c.failed, 0),
                    '"expired": ' || nullif(c.expired, 0), '"cancelled": ' || nullif(c.cancelled, 0),
                    '"reach": ' || nullif(c.reach, c.sent), '"first_sent_at": ' || to_json(c.first_sent_at),
                    '"last_sent_at": ' || to_json(nullif(c.last_sent_at, c.first_sent_at)),
                    '"p50_seconds": ' || c.p50_seconds, '"p95_seconds": ' || nullif(c.p95_seconds, c.p50_seconds),
                    '"top_errors": ' || c.top_errors) || '}')::json
            FROM wanted AS w LEFT JOIN counted AS c ON c.notification = w.id
            WHERE n.id = w.id AND n.day = %1$L AND n.purged_at IS NULL AND (n.settled_at IS NULL)
                AND n.id >= %2$L AND n.id <= %3$L AND coalesce(c.unfinished, 0) = 0
            RETURNING 1
        )
        SELECT count(*) FROM done
        $query$,
        settle_day.day, first, upper) INTO settled;
    next := upper;
END
$$;
COMMENT ON FUNCTION todoke.settle_day(date, bigint, int) IS 'Writes the final numbers of the notifications of a day whose closes_at is an hour ago and whose messages are all at their end, behind the key given and for about so many messages; next is where to go on, NULL at the end of the day. `todoke purge` calls it.';
REVOKE EXECUTE ON FUNCTION todoke.settle_day(date, bigint, int) FROM PUBLIC;

CREATE FUNCTION todoke.settle_events(
    made_before date, after bigint DEFAULT 0, at_most int DEFAULT 10000, OUT deleted bigint, OUT next bigint
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    looked bigint;
    said record;
    gone bigint;
BEGIN
    deleted := 0;
    SELECT max(few.id), count(*) INTO next, looked FROM (
        SELECT v.id FROM todoke.events AS v WHERE v.id > settle_events.after ORDER BY v.id LIMIT settle_events.at_most) AS few;
    -- In the order of events the old ones come first.
    FOR said IN
        SELECT n.id, n.app, n.notification_id FROM todoke.notifications AS n
        WHERE n.day < settle_events.made_before AND n.settled_at IS NOT NULL AND (n.app, n.notification_id) IN (
            SELECT v.app, v.notification_id FROM todoke.events AS v WHERE v.id > settle_events.after AND v.id <= next)
        ORDER BY n.id FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        WITH dropped AS (
            DELETE FROM todoke.events AS v WHERE v.app = said.app AND v.notification_id = said.notification_id
            RETURNING v.kind
        ), counted AS (
            SELECT d.kind, count(*) AS events FROM dropped AS d GROUP BY d.kind
        )
        UPDATE todoke.notifications AS n SET settled_events = (
            SELECT json_object_agg(k.kind, k.events) FROM (
                SELECT every.kind, sum(every.events) AS events FROM (
                    SELECT c.kind, c.events FROM counted AS c
                    UNION ALL SELECT e.key, e.value::bigint FROM json_each_text(n.settled_events) AS e) AS every
                GROUP BY every.kind) AS k)
        WHERE n.id = said.id
        RETURNING (SELECT coalesce(sum(c.events), 0) FROM counted AS c) INTO gone;
        deleted := deleted + gone;
    END LOOP;
    -- Without any old ones what follows is younger; old ones that are not settled do not end the walk.
    IF looked < settle_events.at_most OR deleted = 0 AND NOT EXISTS (
        SELECT FROM todoke.notifications AS n
        WHERE n.day < settle_events.made_before AND (n.app, n.notification_id) IN (
            SELECT v.app, v.notification_id FROM todoke.events AS v WHERE v.id > settle_events.after AND v.id <= next))
    THEN
        next := NULL;
    END IF;
END
$$;
COMMENT ON FUNCTION todoke.settle_events(date, bigint, int) IS 'Deletes the events of settled notifications made before a day and keeps their numbers in settled_events; looks at so many events behind the key given, next is where to go on, NULL when there are no more old ones. `todoke purge --events-older-than` calls it.';
REVOKE EXECUTE ON FUNCTION todoke.settle_events(date, bigint, int) FROM PUBLIC;

CREATE OR REPLACE VIEW todoke.notification_summary AS
SELECT
    a.name AS app,
    n.notification_id,
    n.campaign,
    n.day,
    n.created_at,
    n.loaded_at,
    n.cancelled_at,
    s.total,
    s.pending,
    s.sending,
    s.sent,
    s.failed,
    s.expired,
    s.cancelled,
    n.rejected,
    s.first_sent_at,
    s.last_sent_at,
    s.p50_seconds,
    s.p95_seconds,
    todoke.count_events(n.app, n.notification_id, 'opened', n.settled_events) AS opens,
    round(
        todoke.count_events(n.app, n.notification_id, 'opened', n.settled_events)::numeric / nullif(s.sent, 0), 4) AS open_rate,
    s.top_errors,
    todoke.count_events(n.app, n.notification_id, 'received', n.settled_events) AS received,
    CASE WHEN n.settled_at IS NULL THEN todoke.reach(n.app, n.id, n.day) ELSE s.settled_reach END AS reach,
    n.settled_at,
    n.purged_at
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
CROSS JOIN LATERAL (
    SELECT c.total, c.pending, c.sending, c.sent, c.failed, c.expired, c.cancelled, c.first_sent_at, c.last_sent_at,
        c.p50_seconds, c.p95_seconds, c.top_errors, NULL::bigint AS settled_reach
    FROM todoke.summarize_notification(n.id, n.day) AS c
    WHERE n.settled_at IS NULL
    UNION ALL
    SELECT coalesce(c.sent, 0) + coalesce(c.failed, 0) + coalesce(c.expired, 0) + coalesce(c.cancelled, 0), 0, 0,
        coalesce(c.sent, 0), coalesce(c.failed, 0), coalesce(c.expired, 0), coalesce(c.cancelled, 0), c.first_sent_at,
        coalesce(c.last_sent_at, c.first_sent_at), c.p50_seconds, coalesce(c.p95_seconds, c.p50_seconds), c.top_errors,
        coalesce(c.reach, c.sent, 0)
    FROM json_to_record(n.settled_summary) AS c (
        sent bigint, failed bigint, expired bigint, cancelled bigint, reach bigint, first_sent_at timestamptz,
        last_sent_at timestamptz, p50_seconds float8, p95_seconds float8, top_errors json)
    WHERE n.settled_at IS NOT NULL
) AS s;
COMMENT ON VIEW todoke.notification_summary IS 'One row per notification: its messages by state, when they were sent, how long they waited, opens, reach and errors. Counts the messages each time until the notification is settled: name the notification, the campaign or the day.';
COMMENT ON COLUMN todoke.notification_summary.reach IS 'Of those sent: without the ones to devices that said that the user does not allow notifications; as it was when the notification was settled. Counted only where it is asked for.';
COMMENT ON COLUMN todoke.notification_summary.settled_at IS 'When its numbers became final, but for opens and received; NULL while they are counted each time.';
COMMENT ON COLUMN todoke.notification_summary.purged_at IS 'When its messages were dropped for their age; this row stays.';

INSERT INTO todoke.migrations (version, name, digest) VALUES (10, '0010_retention.sql', '1c2a8de26c757ddc14363b18e723d1380c159f155dc65227f145c02d87ce05d9');
