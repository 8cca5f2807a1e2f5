-- 0013: the numbers of a large notification within a second while it is being sent, notifications by campaign and by day, and
-- no message for one that is closed however long the caller's transaction is open.
-- Locks: SHARE on todoke.notifications while two indexes are built, about a second for a million notifications, in which
-- applications and producers that queue wait; ACCESS EXCLUSIVE on the view notification_summary for a moment.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '13';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(13);
SET LOCAL lock_timeout = '5s';

CREATE INDEX notifications_campaign ON todoke.notifications (campaign, app) WHERE campaign IS NOT NULL;
COMMENT ON INDEX todoke.notifications_campaign IS 'The notifications of a campaign.';
CREATE INDEX notifications_day ON todoke.notifications (day);
COMMENT ON INDEX todoke.notifications_day IS 'The notifications of a day, also of one that was purged.';

-- summarize_notification and reach count every message, which is right for numbers that are kept. For numbers that change
-- while they are read, 20,000 messages tell the median as well: the place of each percentile in the whole is missed by less
-- than 0.8 % nineteen times in twenty. A dedupe key is a digest, so the first by it are drawn as by lot.
CREATE FUNCTION todoke.notification_progress(notification bigint, day date)
RETURNS TABLE (
    total bigint, pending bigint, sending bigint, sent bigint, failed bigint, expired bigint, cancelled bigint,
    first_sent_at timestamptz, last_sent_at timestamptz, p50_seconds float8, p95_seconds float8, top_errors json
)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
ROWS 1
COST 100000
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
DECLARE
    probed bigint;
    seconds float8[];
BEGIN
    EXECUTE format(
        'SELECT count(*) FROM (
            SELECT FROM todoke.payloads WHERE notification = %L AND day = %L ORDER BY dedupe_key LIMIT 20000) AS few',
        notification, day) INTO probed;
    IF probed < 20000 THEN
        RETURN QUERY SELECT * FROM todoke.summarize_notification(notification, day);
        RETURN;
    END IF;
    EXECUTE format(
        $query$
        SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM m.finished_at
                - CASE m.attempts WHEN 0 THEN greatest(p.queued_at, m.due_at) ELSE p.queued_at END)::float8)
            FILTER (WHERE m.state = 'sent')
        FROM (
            SELECT v.id, v.queued_at FROM todoke.payloads AS v
            WHERE v.notification = %1$L AND v.day = %2$L ORDER BY v.dedupe_key LIMIT 20000) AS p
        CROSS JOIN LATERAL (
            SELECT v.state, v.finished_at, v.due_at, v.attempts FROM todoke.messages AS v
            WHERE v.id = p.id AND v.day = %2$L OFFSET 0) AS m
        $query$,
        notification, day) INTO seconds;
    -- There is no index of a notification's messages: the day is read once.
    PERFORM set_config('enable_seqscan', 'on', true);
    PERFORM set_config('enable_sort', 'on', true);
    RETURN QUERY EXECUTE format(
        $query$
        WITH counted AS MATERIALIZED (
            SELECT m.state, m.error_code, count(*) AS messages,
                min(m.finished_at) AS first_at, max(m.finished_at) AS last_at
            FROM todoke.messages AS m WHERE m.day = %2$L AND m.notification = %1$L
            GROUP BY m.state, m.error_code
        ),
        by_state AS (
            SELECT coalesce(sum(c.messages), 0)::bigint AS total,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'pending'), 0)::bigint AS pending,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'sending'), 0)::bigint AS sending,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'sent'), 0)::bigint AS sent,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'failed'), 0)::bigint AS failed,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'expired'), 0)::bigint AS expired,
                coalesce(sum(c.messages) FILTER (WHERE c.state = 'cancelled'), 0)::bigint AS cancelled,
                min(c.first_at) FILTER (WHERE c.state = 'sent') AS first_sent_at,
                max(c.last_at) FILTER (WHERE c.state = 'sent') AS last_sent_at
            FROM counted AS c
        ),
        errors AS (
            SELECT c.error_code, sum(c.messages)::bigint AS messages FROM counted AS c WHERE c.error_code IS NOT NULL
            GROUP BY c.error_code ORDER BY messages DESC, c.error_code LIMIT 5
        )
        SELECT s.total, s.pending, s.sending, s.sent, s.failed, s.expired, s.cancelled, s.first_sent_at, s.last_sent_at,
            %3$L::float8, %4$L::float8,
            (SELECT json_agg(json_build_object('code', e.error_code, 'messages', e.messages)
                ORDER BY e.messages DESC, e.error_code) FROM errors AS e)
        FROM by_state AS s
        $query$,
        notification, day, seconds[1], seconds[2]);
END
$$;
COMMENT ON FUNCTION todoke.notification_progress(bigint, date) IS 'The numbers of one notification that is not settled: states and errors counted, p50_seconds and p95_seconds of 20000 of its messages when it has more; what notification_summary is made of.';
REVOKE EXECUTE ON FUNCTION todoke.notification_progress(bigint, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.notification_progress(bigint, date) TO todoke_reader;

CREATE FUNCTION todoke.estimated_reach(app int, notification bigint, day date, sent bigint) RETURNS bigint
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
COST 100000
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
DECLARE
    reached bigint;
BEGIN
    IF sent < 20000 THEN
        RETURN todoke.reach(app, notification, day);
    END IF;
    EXECUTE format(
        $query$
        SELECT round(%4$s * (1 - avg((d.allows_notifications IS false OR t.allows_notifications IS false)::int)))
        FROM (
            SELECT v.id, v.device, v.target_kind, v.target FROM todoke.payloads AS v
            WHERE v.notification = %1$L AND v.day = %2$L ORDER BY v.dedupe_key LIMIT 20000) AS p
        CROSS JOIN LATERAL (
            SELECT v.state FROM todoke.messages AS v WHERE v.id = p.id AND v.day = %2$L OFFSET 0) AS m
        LEFT JOIN LATERAL (
            SELECT v.allows_notifications FROM todoke.devices AS v WHERE v.id = p.device OFFSET 0) AS d ON true
        LEFT JOIN LATERAL (
            SELECT v.allows_notifications FROM todoke.devices AS v
            WHERE p.device IS NULL AND p.target_kind = 'token' AND v.app = %3$L AND v.token = p.target OFFSET 0) AS t ON true
        WHERE m.state = 'sent'
        $query$,
        notification, day, app, sent) INTO reached;
    RETURN coalesce(reached, sent);
END
$$;
COMMENT ON FUNCTION todoke.estimated_reach(int, bigint, date, bigint) IS 'Of so many messages that were sent, those to devices that allow notifications: counted below 20000, above that by the share among 20000 messages of the notification; what notification_summary.reach is made of until it is settled.';
REVOKE EXECUTE ON FUNCTION todoke.estimated_reach(int, bigint, date, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.estimated_reach(int, bigint, date, bigint) TO todoke_reader;

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
    CASE WHEN n.settled_at IS NULL THEN todoke.estimated_reach(n.app, n.id, n.day, s.sent) ELSE s.settled_reach END AS reach,
    n.settled_at,
    n.purged_at
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
CROSS JOIN LATERAL (
    SELECT c.total, c.pending, c.sending, c.sent, c.failed, c.expired, c.cancelled, c.first_sent_at, c.last_sent_at,
        c.p50_seconds, c.p95_seconds, c.top_errors, NULL::bigint AS settled_reach
    FROM todoke.notification_progress(n.id, n.day) AS c
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
COMMENT ON VIEW todoke.notification_summary IS 'One row per notification: its messages by state, when they were sent, how long they waited, opens, reach and errors. Until the notification is settled its messages are counted each time: name the notification, the campaign or the day. Of one with more than 20000 messages p50_seconds, p95_seconds and reach are estimates until then.';
COMMENT ON COLUMN todoke.notification_summary.p50_seconds IS 'Median of the seconds from queued (or due, when it was scheduled and sent at its first attempt) to sent; of 20000 messages while a larger notification is not settled.';
COMMENT ON COLUMN todoke.notification_summary.reach IS 'Of those sent: without the ones to devices that said that the user does not allow notifications; an estimate while a notification of more than 20000 messages is not settled, then as it was at that time. Counted only where it is asked for.';

-- What the transaction calls now is when it began. Settled numbers wait for who writes into the day, but a transaction that
-- began before closes_at and queues for the first time an hour later has not written yet.
DO $$
DECLARE
    enqueue text := pg_get_functiondef('todoke.enqueue(text, text, text, json, todoke.target_kind, int, timestamptz, interval,
        text, text, text, text, text, boolean)'::regprocedure);
    replaced text := replace(enqueue, 'said.closes_at <= now()', 'said.closes_at <= clock_timestamp()');
BEGIN
    IF replaced = enqueue THEN
        RAISE EXCEPTION 'todoke.enqueue is not the one of migration 6' USING ERRCODE = 'invalid_function_definition';
    END IF;
    EXECUTE replaced;
END
$$;

INSERT INTO todoke.migrations (version, name, digest) VALUES (13, '0013_notifications.sql', 'bef74732831db6b78d0bddfa8ae43ad82ba936c0aceee89be1c9c6d162651b0b');
