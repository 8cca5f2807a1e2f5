-- 0011: operations on many messages: retry what failed, cancel notifications, pause and resume apps.
-- Locks: none that anybody else could wait for; every object is new.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it. Senders older than this one may claim for some seconds after a pause, and count the age of a
-- message that was retried from its first attempt.

SET LOCAL todoke.migrating = '11';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(11);
SET LOCAL lock_timeout = '5s';

CREATE FUNCTION todoke.bulk_app(app text) RETURNS int
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found int;
BEGIN
    SELECT a.id INTO found FROM todoke.apps AS a WHERE a.name = bulk_app.app;
    IF found IS NULL THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(left(bulk_app.app, 100)), 'NULL')
            USING ERRCODE = 'no_data_found', HINT = coalesce(
                'There are ' || (
                    SELECT string_agg(quote_literal(left(few.name, 100)), ', ' ORDER BY few.name)
                    FROM (SELECT a.name FROM todoke.apps AS a ORDER BY a.name LIMIT 10) AS few),
                'There are no apps yet.');
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION todoke.bulk_app(text) IS 'The key of an app; where there is none of that name, an error that says which there are.';

CREATE FUNCTION todoke.bulk_notification(app text, notification_id text) RETURNS bigint
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    app_id int := todoke.bulk_app(app);
    found bigint;
    near text;
BEGIN
    SELECT n.id INTO found FROM todoke.notifications AS n
    WHERE n.app = app_id AND n.notification_id = bulk_notification.notification_id;
    IF found IS NULL THEN
        -- Its neighbours in the index: a slip is mostly near the end.
        SELECT string_agg(quote_literal(left(n.id, 100)), ' and ' ORDER BY n.id) INTO near
        FROM (
            (SELECT n.notification_id AS id FROM todoke.notifications AS n
            WHERE n.app = app_id AND n.notification_id < bulk_notification.notification_id
            ORDER BY n.notification_id DESC LIMIT 1)
            UNION ALL
            (SELECT n.notification_id FROM todoke.notifications AS n
            WHERE n.app = app_id AND n.notification_id > bulk_notification.notification_id
            ORDER BY n.notification_id LIMIT 1)
        ) AS n;
        RAISE EXCEPTION 'app % has no notification %', quote_literal(bulk_notification.app),
                coalesce(quote_literal(left(bulk_notification.notification_id, 100)), 'NULL')
            USING ERRCODE = 'no_data_found', HINT = coalesce('The nearest by name: ' || near, 'It has none yet.');
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION todoke.bulk_notification(text, text) IS 'The key of a notification; where there is none of that id, an error that names its neighbours.';

CREATE FUNCTION todoke.retry_failed(
    app text,
    notification_id text DEFAULT NULL,
    codes text[] DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    message_id bigint DEFAULT NULL,
    dry_run boolean DEFAULT false,
    batch int DEFAULT 1000,
    INOUT day date DEFAULT NULL,
    INOUT after_id bigint DEFAULT NULL,
    OUT retried bigint,
    OUT closed bigint,
    OUT cancelled bigint,
    OUT dead_token bigint,
    OUT expired bigint,
    OUT unknown bigint,
    OUT busy bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET lock_timeout = '2s'
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
    tries boolean := coalesce(dry_run, false);
    said bigint;
    ids bigint[];
    owners bigint[];
    looked bigint;
    wanted text;
BEGIN
    retried := 0;
    closed := 0;
    cancelled := 0;
    dead_token := 0;
    expired := 0;
    unknown := 0;
    busy := 0;
    retry_failed.after_id := coalesce(retry_failed.after_id, 0);
    IF retry_failed.batch IS NULL OR retry_failed.batch NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'batch must be between 1 and 10000, not %', coalesce(retry_failed.batch::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF retry_failed.notification_id IS NOT NULL THEN
        said := todoke.bulk_notification(retry_failed.app, retry_failed.notification_id);
        SELECT n.day INTO retry_failed.day FROM todoke.notifications AS n WHERE n.id = said;
    END IF;

    IF retry_failed.message_id IS NOT NULL THEN
        SELECT m.day INTO retry_failed.day FROM todoke.messages AS m
        WHERE m.id = retry_failed.message_id AND m.app = app_id;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'app % has no message %', quote_literal(retry_failed.app), retry_failed.message_id
                USING ERRCODE = 'no_data_found', HINT = 'The view message_status has the ids of messages.';
        END IF;
        ids := ARRAY[retry_failed.message_id];
        looked := 0;
    ELSIF said IS NOT NULL AND retry_failed.after_id = 0 THEN
        -- A notification of few messages is looked up by these, whatever else failed on its day.
        EXECUTE format(
            'SELECT array_agg(id), count(*) FROM (SELECT id FROM todoke.payloads '
            'WHERE notification = %s AND day = %L LIMIT %s) AS few',
            said, retry_failed.day, retry_failed.batch) INTO ids, looked;
        looked := CASE WHEN looked < retry_failed.batch THEN 0 END;
    ELSIF retry_failed.day IS NULL THEN
        SELECT min(d.day) INTO retry_failed.day FROM todoke.message_days() AS d (day);
    END IF;
    -- No index holds failed messages, so that a message's end costs nothing more; but each has a row among the attempts.
    WHILE looked IS NULL AND retry_failed.day IS NOT NULL LOOP
        EXECUTE format(
            'SELECT array_agg(DISTINCT message_id) FILTER (WHERE app = %s%s), count(*), max(message_id) FROM ('
            'SELECT message_id, app, notification FROM todoke.attempts WHERE day = %L AND message_id > %s '
            'ORDER BY message_id LIMIT %s) AS few',
            app_id, ' AND notification = ' || said, retry_failed.day, retry_failed.after_id, retry_failed.batch)
        INTO ids, looked, retry_failed.after_id;
        IF looked = 0 THEN
            looked := NULL;
            retry_failed.after_id := 0;
            SELECT min(d.day) INTO retry_failed.day FROM todoke.message_days() AS d (day)
            WHERE d.day > retry_failed.day AND said IS NULL
                AND (retry_failed.until IS NULL OR d.day <= (retry_failed.until AT TIME ZONE 'UTC')::date);
        END IF;
    END LOOP;

    IF ids IS NOT NULL THEN
        wanted := format('day = %L AND app = %s AND state = ''failed''', retry_failed.day, app_id)
            || coalesce(' AND notification = ' || said, '')
            || coalesce(' AND error_code = ANY (' || quote_literal(nullif(retry_failed.codes, '{}')) || '::text[])', '')
            || coalesce(' AND finished_at >= ' || quote_literal(retry_failed.since) || '::timestamptz', '')
            || coalesce(' AND finished_at < ' || quote_literal(retry_failed.until) || '::timestamptz', '');
        IF NOT tries THEN
            -- Whoever cancels or settles one of them comes before this batch or after it, never in between.
            EXECUTE 'SELECT array_agg(DISTINCT notification) FROM todoke.messages WHERE id = ANY ((SELECT $1)::bigint[]) AND '
                || wanted INTO owners USING ids;
            PERFORM FROM todoke.notifications AS n WHERE n.id = ANY (owners) ORDER BY n.id FOR SHARE;
        END IF;
        EXECUTE format(
            $query$
            WITH found AS MATERIALIZED (
                SELECT id, notification, expires_at, claim_no, error_code FROM todoke.messages
                WHERE id = ANY ((SELECT $1)::bigint[]) AND %1$s
            ), judged AS MATERIALIZED (
                SELECT f.id, CASE
                    WHEN n.cancelled_at IS NOT NULL THEN 'cancelled'
                    WHEN n.id IS NULL OR n.closes_at <= now() OR n.purged_at IS NOT NULL OR n.settled_at IS NOT NULL
                        THEN 'closed'
                    -- It may have arrived: only who names the code wants it again.
                    WHEN f.error_code = 'OUTCOME_UNKNOWN' AND coalesce(f.error_code <> ALL ($2), true) THEN 'unknown'
                    WHEN CASE WHEN d.id IS NULL THEN proof.at IS NOT NULL
                        ELSE d.invalidated_at IS NOT NULL OR coalesce(d.registered_at <= proof.at, false) END
                        THEN 'dead_token'
                    WHEN f.expires_at <= now() THEN 'expired'
                    ELSE 'retried' END AS verdict
                FROM found AS f
                LEFT JOIN LATERAL (
                    SELECT n.id, n.cancelled_at, n.closes_at, n.purged_at, n.settled_at
                    FROM todoke.notifications AS n WHERE n.id = f.notification OFFSET 0
                ) AS n ON true
                LEFT JOIN LATERAL (
                    SELECT p.target FROM todoke.payloads AS p
                    WHERE p.day = %2$L AND p.id = f.id AND p.target_kind = 'token' OFFSET 0
                ) AS p ON true
                LEFT JOIN LATERAL (
                    -- Proofs that somebody found wrong do not count, see todoke devices sweep --revive.
                    SELECT max(coalesce(t.token_dead_at, t.at)) AS at FROM todoke.attempts AS t
                    WHERE t.day = %2$L AND t.message_id = f.id AND t.claim_no = f.claim_no AND t.outcome = 'token_invalid'
                        AND t.at > coalesce(
                            (SELECT a.dead_tokens_since FROM todoke.apps AS a WHERE a.id = %3$s), '-infinity')
                ) AS proof ON true
                LEFT JOIN LATERAL (
                    SELECT d.id, d.invalidated_at, d.registered_at FROM todoke.devices AS d
                    WHERE d.app = %3$s AND d.token = p.target OFFSET 0
                ) AS d ON true
            ), locked AS MATERIALIZED (
                SELECT ctid AS place FROM todoke.messages
                WHERE id = ANY (ARRAY(SELECT id FROM judged WHERE verdict = 'retried' AND NOT %4$L)) AND %1$s
                ORDER BY id FOR UPDATE SKIP LOCKED
            ), changed AS (
                -- claim_no stays: it fences what an earlier claim may still want to record. So does error_code, as the reason
                -- why the message waits.
                UPDATE todoke.messages AS m SET state = 'pending', attempts = 0, due_at = now(), finished_at = NULL,
                    provider_message_id = NULL
                WHERE m.day = %2$L AND m.ctid = ANY (ARRAY(SELECT place FROM locked))
                RETURNING 1
            ), told AS (
                SELECT count(*) AS retried FROM changed
            )
            SELECT CASE WHEN %4$L THEN count(*) FILTER (WHERE verdict = 'retried') ELSE (SELECT retried FROM told) END,
                count(*) FILTER (WHERE verdict = 'closed'), count(*) FILTER (WHERE verdict = 'cancelled'),
                count(*) FILTER (WHERE verdict = 'dead_token'), count(*) FILTER (WHERE verdict = 'expired'),
                count(*) FILTER (WHERE verdict = 'unknown'),
                CASE WHEN %4$L THEN 0
                    ELSE count(*) FILTER (WHERE verdict = 'retried') - (SELECT retried FROM told) END
            FROM judged
            $query$,
            wanted, retry_failed.day, app_id, tries)
        INTO retried, closed, cancelled, dead_token, expired, unknown, busy USING ids, retry_failed.codes;
        IF retried > 0 AND NOT tries THEN
            PERFORM pg_notify('todoke_due', retry_failed.app);
        END IF;
    END IF;
    IF looked = 0 OR retry_failed.day IS NULL THEN
        retry_failed.day := NULL;
        retry_failed.after_id := NULL;
    END IF;
END
$$;
COMMENT ON FUNCTION todoke.retry_failed(text, text, text[], timestamptz, timestamptz, bigint, boolean, int, date, bigint) IS 'Makes failed messages pending again, with their attempts unspent: one batch a call, so give it back day and after_id until day is NULL. Counts what it retried, and by reason what it left. It waits for no message that somebody else has locked.';

CREATE FUNCTION todoke.cancel_notification(
    app text,
    notification_id text,
    OUT cancelled_at timestamptz,
    OUT was_cancelled boolean,
    OUT is_loading boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
#variable_conflict use_column
DECLARE
    said bigint := todoke.bulk_notification(app, notification_id);
BEGIN
    -- Waits for the chunk that a producer is writing: all of it is there afterwards, and nothing follows.
    UPDATE todoke.notifications AS n SET cancelled_at = now() WHERE n.id = said AND n.cancelled_at IS NULL;
    was_cancelled := NOT FOUND;
    SELECT n.cancelled_at, coalesce(n.run_until > now(), false) INTO cancelled_at, is_loading
    FROM todoke.notifications AS n WHERE n.id = said;
END
$$;
COMMENT ON FUNCTION todoke.cancel_notification(text, text) IS 'Cancels a notification: nothing is queued for it any more, and senders end what waits when they come to it. Says since when, whether it was so before, and whether a producer is loading it. cancel_pending ends at once what waits.';

CREATE FUNCTION todoke.cancel_pending(
    app text,
    notification_id text,
    batch int DEFAULT 1000,
    INOUT after_key uuid DEFAULT NULL,
    OUT cancelled bigint,
    OUT busy bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET lock_timeout = '2s'
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    said bigint := todoke.bulk_notification(app, notification_id);
    kept_under date;
    is_cancelled boolean;
    looked bigint;
BEGIN
    IF cancel_pending.batch IS NULL OR cancel_pending.batch NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'batch must be between 1 and 10000, not %', coalesce(cancel_pending.batch::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT n.day, n.cancelled_at IS NOT NULL INTO kept_under, is_cancelled FROM todoke.notifications AS n WHERE n.id = said;
    IF NOT is_cancelled THEN
        RAISE EXCEPTION 'notification % is not cancelled', quote_literal(cancel_pending.notification_id)
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Call todoke.cancel_notification first, and commit.';
    END IF;
    EXECUTE format(
        $query$
        WITH looked AS MATERIALIZED (
            SELECT id, dedupe_key FROM todoke.payloads WHERE notification = %1$s AND day = %2$L%3$s
            ORDER BY dedupe_key LIMIT %4$s
        ), waiting AS MATERIALIZED (
            SELECT id FROM todoke.messages
            WHERE day = %2$L AND id = ANY (ARRAY(SELECT id FROM looked)) AND state < 'sending'
        ), locked AS MATERIALIZED (
            -- As a range: the index of what waits is longer than these few.
            SELECT ctid AS place FROM todoke.messages
            WHERE day = %2$L AND id = ANY (ARRAY(SELECT id FROM waiting)) AND state < 'sending'
            ORDER BY id FOR UPDATE SKIP LOCKED
        ), changed AS (
            UPDATE todoke.messages AS m SET state = 'cancelled', finished_at = now()
            WHERE m.day = %2$L AND m.ctid = ANY (ARRAY(SELECT place FROM locked))
            RETURNING 1
        ), told AS (
            SELECT count(*) AS cancelled FROM changed
        )
        SELECT (SELECT cancelled FROM told), (SELECT count(*) FROM waiting) - (SELECT cancelled FROM told), count(*),
            (SELECT dedupe_key FROM looked ORDER BY dedupe_key DESC LIMIT 1)
        FROM looked
        $query$,
        said, kept_under, coalesce(' AND dedupe_key > ' || quote_literal(cancel_pending.after_key), ''), cancel_pending.batch)
    INTO cancelled, busy, looked, cancel_pending.after_key;
    IF looked < cancel_pending.batch THEN
        cancel_pending.after_key := NULL;
    END IF;
END
$$;
COMMENT ON FUNCTION todoke.cancel_pending(text, text, int, uuid) IS 'Ends waiting messages of a cancelled notification: one batch a call, so give it back after_key until that is NULL. busy counts those that somebody else had locked: a sender claims them and ends them itself, or another pass does.';

CREATE FUNCTION todoke.notification_counts(
    app text,
    notification_id text,
    OUT pending bigint,
    OUT sending bigint,
    OUT sent bigint,
    OUT failed bigint,
    OUT expired bigint,
    OUT cancelled bigint
)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    said bigint := todoke.bulk_notification(app, notification_id);
    kept record;
BEGIN
    SELECT n.day, n.purged_at, n.settled_summary INTO kept FROM todoke.notifications AS n WHERE n.id = said;
    IF kept.purged_at IS NULL THEN
        SELECT s.pending, s.sending, s.sent, s.failed, s.expired, s.cancelled
        INTO pending, sending, sent, failed, expired, cancelled
        FROM todoke.summarize_notification(said, kept.day) AS s;
    ELSE
        SELECT 0, 0, coalesce((kept.settled_summary ->> 'sent')::bigint, 0),
            coalesce((kept.settled_summary ->> 'failed')::bigint, 0),
            coalesce((kept.settled_summary ->> 'expired')::bigint, 0),
            coalesce((kept.settled_summary ->> 'cancelled')::bigint, 0)
        INTO pending, sending, sent, failed, expired, cancelled;
    END IF;
END
$$;
COMMENT ON FUNCTION todoke.notification_counts(text, text) IS 'A notification''s messages by state, counted now.';

CREATE FUNCTION todoke.campaign_notifications(app text, campaign text) RETURNS SETOF text
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
BEGIN
    RETURN QUERY SELECT n.notification_id FROM todoke.notifications AS n
    WHERE n.app = app_id AND n.campaign = campaign_notifications.campaign AND n.purged_at IS NULL
    ORDER BY n.id;
END
$$;
COMMENT ON FUNCTION todoke.campaign_notifications(text, text) IS 'The ids of a campaign''s notifications whose messages are still there, oldest first.';

CREATE FUNCTION todoke.pause_app(
    app text,
    reason text DEFAULT NULL,
    OUT paused_at timestamptz,
    OUT pause_reason text,
    OUT was_paused boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
BEGIN
    SELECT a.paused_at IS NOT NULL INTO was_paused FROM todoke.apps AS a WHERE a.id = app_id FOR NO KEY UPDATE;
    UPDATE todoke.apps AS a SET
        paused_at = coalesce(a.paused_at, now()),
        pause_reason = coalesce(nullif(pause_app.reason, ''), a.pause_reason)
    WHERE a.id = app_id
    RETURNING a.paused_at, a.pause_reason INTO paused_at, pause_reason;
    -- Senders look at once, and give back what they have not posted.
    PERFORM pg_notify('todoke_due', pause_app.app);
END
$$;
COMMENT ON FUNCTION todoke.pause_app(text, text) IS 'Pauses an app: nothing more of it is claimed, what is being posted ends as it does. Paused again, it stays paused since the first time, and a new reason replaces the old one.';

CREATE FUNCTION todoke.resume_app(
    app text,
    OUT paused_at timestamptz,
    OUT pause_reason text,
    OUT dead_tokens_held_at timestamptz
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
BEGIN
    SELECT a.paused_at, a.pause_reason, a.dead_tokens_held_at INTO paused_at, pause_reason, dead_tokens_held_at
    FROM todoke.apps AS a WHERE a.id = app_id FOR NO KEY UPDATE;
    UPDATE todoke.apps AS a SET paused_at = NULL, pause_reason = NULL WHERE a.id = app_id AND a.paused_at IS NOT NULL;
    PERFORM pg_notify('todoke_due', resume_app.app);
END
$$;
COMMENT ON FUNCTION todoke.resume_app(text) IS 'Ends an app''s pause and wakes its senders. Says since when and why it was paused (NULL: it was not), and since when the marking of dead tokens is on hold.';

CREATE FUNCTION todoke.app_backlog(
    app text,
    OUT due bigint,
    OUT scheduled bigint,
    OUT sending bigint,
    OUT oldest_due_seconds float8
)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
BEGIN
    EXECUTE format(
        $query$
        SELECT count(*) FILTER (WHERE due_at <= now()), count(*) FILTER (WHERE due_at > now()),
            extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now()))::float8
        FROM todoke.messages WHERE app = %s AND state = 'pending'
        $query$,
        app_id) INTO due, scheduled, oldest_due_seconds;
    EXECUTE format('SELECT count(*) FROM todoke.messages WHERE app = %s AND state = ''sending''', app_id) INTO sending;
END
$$;
COMMENT ON FUNCTION todoke.app_backlog(text) IS 'What waits for one app: due, due later, being sent, and for how long the oldest due message has been due.';

-- For the owner, and for whom it grants them to.
REVOKE EXECUTE ON FUNCTION
    todoke.bulk_app(text),
    todoke.bulk_notification(text, text),
    todoke.retry_failed(text, text, text[], timestamptz, timestamptz, bigint, boolean, int, date, bigint),
    todoke.cancel_notification(text, text),
    todoke.cancel_pending(text, text, int, uuid),
    todoke.notification_counts(text, text),
    todoke.campaign_notifications(text, text),
    todoke.pause_app(text, text),
    todoke.resume_app(text),
    todoke.app_backlog(text)
FROM PUBLIC;

INSERT INTO todoke.migrations (version, name, digest) VALUES (11, '0011_bulk.sql', '921fcfab45a5712f899b7a5777268838530d6d82eb8b34323c33e41ef45fc5e2');
