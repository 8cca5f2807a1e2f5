-- 0008: tokens that the provider proved dead: devices are marked as the proof is recorded, with a brake.
-- Locks: SHARE on todoke.attempts and todoke.devices while an index of each is made, until the commit: recording failures and
-- registering devices waits for it, about a second for a million rows; sending does not. Then ACCESS EXCLUSIVE on
-- todoke.attempts and todoke.apps for a moment. Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it; older senders mark nothing.

SET LOCAL todoke.migrating = '8';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(8);
SET LOCAL lock_timeout = '5s';

CREATE INDEX attempts_dead_tokens ON todoke.attempts (app, at, message_id) WHERE outcome = 'token_invalid';
COMMENT ON INDEX todoke.attempts_dead_tokens IS 'Finds what proved tokens dead, in the order of time; holds nothing else.';

CREATE INDEX devices_invalidated ON todoke.devices (app, invalidated_at) WHERE invalidated_at IS NOT NULL;
COMMENT ON INDEX todoke.devices_invalidated IS 'Finds the devices that were marked within a time.';

ALTER TABLE todoke.attempts ADD COLUMN token_dead_at timestamptz;
COMMENT ON COLUMN todoke.attempts.token_dead_at IS 'With outcome token_invalid: a token registered later than this is another one, or alive again. What the provider said, else when the message was claimed.';
-- One row for each sender, so that no sender waits for another one's commit.
CREATE TABLE todoke.dead_token_counts (
    app int NOT NULL CONSTRAINT dead_token_counts_app_fkey REFERENCES todoke.apps (id) ON DELETE CASCADE,
    hour timestamptz NOT NULL,
    sender_id bigint NOT NULL,
    marked bigint NOT NULL,
    devices bigint NOT NULL,
    CONSTRAINT dead_token_counts_pkey PRIMARY KEY (app, hour, sender_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE todoke.dead_token_counts IS 'Devices marked dead by each sender and hour; the brake on mass invalidation counts with it.';
COMMENT ON COLUMN todoke.dead_token_counts.app IS 'The app.';
COMMENT ON COLUMN todoke.dead_token_counts.hour IS 'The hour''s start.';
COMMENT ON COLUMN todoke.dead_token_counts.sender_id IS 'The sender.';
COMMENT ON COLUMN todoke.dead_token_counts.marked IS 'Devices it marked in that hour.';
COMMENT ON COLUMN todoke.dead_token_counts.devices IS 'Devices of the app when the row was made, with those marked in the window before it; an estimate above 50,000.';

CREATE FUNCTION todoke.count_devices(app int) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    exact bigint;
    plan json;
BEGIN
    SELECT count(*) INTO exact FROM (
        SELECT FROM todoke.devices AS d WHERE d.app = count_devices.app AND d.invalidated_at IS NULL LIMIT 50000
    ) AS first;
    IF exact < 50000 THEN
        RETURN exact;
    END IF;
    -- Counting millions would take longer than a result may wait; what the planner knows is near enough for a share.
    EXECUTE format(
        'EXPLAIN (FORMAT JSON) SELECT FROM todoke.devices WHERE app = %s AND invalidated_at IS NULL', app) INTO plan;
    RETURN greatest(exact, (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8::bigint);
END
$$;
COMMENT ON FUNCTION todoke.count_devices(int) IS 'How many devices of an app are not marked; exact up to 50,000, the planner''s estimate above.';

-- Called within the statement that records the results, so that proof and mark are committed together. It never waits for
-- a row that somebody holds, and no fault of it keeps a result from being recorded.
CREATE FUNCTION todoke.record_dead_tokens(
    sender_id bigint, day date, message_ids bigint[], apps int[], codes text[], dead_at timestamptz[]
) RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
AS $$
#variable_conflict use_column
DECLARE
    owner record;
    dead record;
    this_hour timestamptz := date_trunc('hour', now(), 'UTC');
    marked_before bigint;
    known bigint;
    note text;
BEGIN
    FOR owner IN
        SELECT a.id, a.name, a.dead_token_limit FROM todoke.apps AS a
        WHERE a.id = ANY (apps) AND a.dead_tokens_held_at IS NULL
        ORDER BY a.id
    LOOP
        -- OFFSET 0: one look into each index a message, whatever the planner believes about a day that is still growing.
        EXECUTE format(
            $query$
            SELECT array_agg(locked.id) AS devices, array_agg(locked.message_id) AS message_ids,
                array_agg(locked.code) AS codes, count(DISTINCT locked.id) AS number
            FROM (
                SELECT d.id, proof.message_id, proof.code
                FROM unnest($1, $2, $3, $4) AS proof (message_id, app, code, dead_at)
                CROSS JOIN LATERAL (
                    SELECT p.target FROM todoke.payloads AS p
                    WHERE p.id = proof.message_id AND p.day = %L AND p.target_kind IN ('token', 'fid') OFFSET 0
                ) AS said
                CROSS JOIN LATERAL (
                    SELECT d.id FROM todoke.devices AS d WHERE d.app = $5 AND d.token = said.target OFFSET 0
                ) AS seen
                JOIN todoke.devices AS d ON d.id = seen.id
                WHERE proof.app = $5 AND d.invalidated_at IS NULL AND d.registered_at <= proof.dead_at
                ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
            ) AS locked
            $query$, day) INTO dead USING message_ids, apps, codes, dead_at, owner.id;
        CONTINUE WHEN dead.number = 0;

        SELECT coalesce(sum(c.marked), 0),
            max(c.devices) FILTER (WHERE c.hour = this_hour AND c.sender_id = record_dead_tokens.sender_id)
        INTO marked_before, known
        FROM todoke.dead_token_counts AS c
        WHERE c.app = owner.id AND c.hour >= this_hour - interval '1 hour';
        -- Anew each hour: a registry grows and shrinks.
        known := coalesce(known, todoke.count_devices(owner.id) + marked_before);
        IF owner.dead_token_limit < 1 AND marked_before + dead.number > greatest(100, owner.dead_token_limit * known) THEN
            -- Somebody may be changing the app at this very moment: then the next proof brakes. Who only queues for it has a
            -- share of its key, which is not in the way.
            PERFORM FROM todoke.apps AS a
            WHERE a.id = owner.id AND a.dead_tokens_held_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            UPDATE todoke.apps AS a
            SET dead_tokens_held_at = now(), paused_at = coalesce(a.paused_at, now()),
                pause_reason = CASE WHEN a.paused_at IS NULL THEN todoke.dead_token_pause() ELSE a.pause_reason END
            WHERE a.id = owner.id;
            -- All its senders look at once.
            PERFORM pg_notify('todoke_due', owner.name);
            note := concat_ws('; ', note, format(
                'app %s: %s of %s devices found dead within two hours, more than %s %%',
                owner.name, marked_before + dead.number, known, round((owner.dead_token_limit * 100)::numeric, 1)));
            CONTINUE;
        END IF;

        UPDATE todoke.devices AS d
        SET invalidated_at = now(), invalid_reason = proof.code, invalid_evidence = proof.message_id
        FROM unnest(dead.devices, dead.message_ids, dead.codes) AS proof (device, message_id, code)
        WHERE d.id = proof.device;
        INSERT INTO todoke.dead_token_counts AS c (app, hour, sender_id, marked, devices)
        VALUES (owner.id, this_hour, record_dead_tokens.sender_id, dead.number, known)
        ON CONFLICT (app, hour, sender_id) DO UPDATE SET marked = c.marked + excluded.marked;
        IF marked_before = 0 THEN
            DELETE FROM todoke.dead_token_counts AS c USING (
                SELECT o.app, o.hour, o.sender_id FROM todoke.dead_token_counts AS o
                WHERE o.hour < this_hour - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE c.app = old.app AND c.hour = old.hour AND c.sender_id = old.sender_id;
        END IF;
    END LOOP;
    RETURN note;
EXCEPTION WHEN OTHERS THEN
    RETURN format('todoke.devices could not be marked: %s (%s)', sqlerrm, sqlstate);
END
$$;
COMMENT ON FUNCTION todoke.record_dead_tokens(bigint, date, bigint[], int[], text[], timestamptz[]) IS 'Marks the devices whose tokens these messages proved dead, unless registered after that; holds and pauses an app with too many. Gives back what somebody must know, else NULL.';

CREATE FUNCTION todoke.dead_token_pause() RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN 'too many tokens were found dead at once: see todoke devices sweep';
COMMENT ON FUNCTION todoke.dead_token_pause() IS 'The pause_reason of an app that the brake on mass invalidation paused.';

CREATE VIEW todoke.dead_tokens AS
SELECT
    a.name AS app,
    p.target_kind,
    p.target,
    p.user_id,
    t.error_code,
    t.at AS proven_at,
    coalesce(t.token_dead_at, t.at - interval '5 minutes') AS dead_at,
    n.notification_id,
    t.message_id,
    t.day
FROM todoke.attempts AS t
JOIN todoke.apps AS a ON a.id = t.app
JOIN todoke.payloads AS p ON p.id = t.message_id AND p.day = t.day
LEFT JOIN todoke.notifications AS n ON n.id = t.notification
WHERE t.outcome = 'token_invalid';
COMMENT ON VIEW todoke.dead_tokens IS 'What the provider proved dead, for systems with their own tables of tokens: one row for each proof. Name the app and a time of proven_at.';
COMMENT ON COLUMN todoke.dead_tokens.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.dead_tokens.target_kind IS 'token or fid.';
COMMENT ON COLUMN todoke.dead_tokens.target IS 'The token to delete.';
COMMENT ON COLUMN todoke.dead_tokens.user_id IS 'The application''s user, when the audience named one.';
COMMENT ON COLUMN todoke.dead_tokens.error_code IS 'The code that proved it.';
COMMENT ON COLUMN todoke.dead_tokens.proven_at IS 'When the statement that recorded the proof began: ask for some minutes more than since the last time.';
COMMENT ON COLUMN todoke.dead_tokens.dead_at IS 'A token registered later than this is alive: do not delete it.';
COMMENT ON COLUMN todoke.dead_tokens.notification_id IS 'The notification whose message proved it.';
COMMENT ON COLUMN todoke.dead_tokens.message_id IS 'That message.';
COMMENT ON COLUMN todoke.dead_tokens.day IS 'The day that message is kept under.';

CREATE VIEW todoke.stale_devices AS
SELECT
    a.name AS app,
    d.id AS device,
    d.token,
    d.user_id,
    d.platform,
    d.last_seen_at,
    extract(day FROM now() - d.last_seen_at)::int AS days_unseen,
    d.last_seen_at < now() - interval '270 days' AS is_expired
FROM todoke.devices AS d
JOIN todoke.apps AS a ON a.id = d.app
WHERE d.invalidated_at IS NULL AND d.last_seen_at < now() - interval '30 days';
COMMENT ON VIEW todoke.stale_devices IS 'Devices that no app reported for 30 days or longer and whose token nobody proved dead.';
COMMENT ON COLUMN todoke.stale_devices.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.stale_devices.device IS 'The device in devices.';
COMMENT ON COLUMN todoke.stale_devices.token IS 'Its token.';
COMMENT ON COLUMN todoke.stale_devices.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.stale_devices.platform IS 'ios, android or web.';
COMMENT ON COLUMN todoke.stale_devices.last_seen_at IS 'When the app reported itself last.';
COMMENT ON COLUMN todoke.stale_devices.days_unseen IS 'Whole days since then.';
COMMENT ON COLUMN todoke.stale_devices.is_expired IS 'Unseen for 270 days: FCM drops such tokens, and the registry''s audience leaves them out.';

CREATE FUNCTION todoke.sweep_dead_tokens(
    app text, is_rehearsal boolean DEFAULT true, after timestamptz DEFAULT '-infinity', after_id bigint DEFAULT 0,
    OUT looked int, OUT marked int, OUT next timestamptz, OUT next_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    owner record;
    proofs record;
BEGIN
    SELECT a.id, coalesce(a.dead_tokens_since, '-infinity') AS since INTO owner FROM todoke.apps AS a
    WHERE a.name = sweep_dead_tokens.app;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(sweep_dead_tokens.app), 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'SELECT name FROM todoke.apps';
    END IF;
    SELECT array_agg(t.message_id) AS message_ids, array_agg(t.day) AS days, array_agg(t.error_code) AS codes,
        array_agg(coalesce(t.token_dead_at, t.at - interval '5 minutes')) AS dead_at,
        array_agg(t.at) AS ats, count(*)::int AS number
    INTO proofs
    FROM (
        SELECT * FROM todoke.attempts AS t
        WHERE t.app = owner.id AND t.outcome = 'token_invalid' AND t.at > owner.since
            AND (t.at, t.message_id) > (sweep_dead_tokens.after, sweep_dead_tokens.after_id)
        ORDER BY t.at, t.message_id LIMIT 1000
    ) AS t;
    looked := proofs.number;
    next := proofs.ats[looked];
    next_id := proofs.message_ids[looked];
    WITH found AS MATERIALIZED (
        SELECT d.id, proof.message_id, proof.code
        FROM unnest(proofs.message_ids, proofs.days, proofs.codes, proofs.dead_at) AS proof (message_id, day, code, dead_at)
        CROSS JOIN LATERAL (
            SELECT p.target FROM todoke.payloads AS p
            WHERE p.id = proof.message_id AND p.day = proof.day AND p.target_kind IN ('token', 'fid') OFFSET 0
        ) AS said
        CROSS JOIN LATERAL (
            SELECT d.id FROM todoke.devices AS d WHERE d.app = owner.id AND d.token = said.target OFFSET 0
        ) AS seen
        JOIN todoke.devices AS d ON d.id = seen.id
        WHERE d.invalidated_at IS NULL AND d.registered_at <= proof.dead_at
        ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
    ), changed AS (
        UPDATE todoke.devices AS d
        SET invalidated_at = now(), invalid_reason = f.code, invalid_evidence = f.message_id
        FROM found AS f
        WHERE d.id = f.id AND NOT is_rehearsal
    )
    SELECT count(DISTINCT f.id) INTO marked FROM found AS f;
END
$$;
COMMENT ON FUNCTION todoke.sweep_dead_tokens(text, boolean, timestamptz, bigint) IS 'Goes over the next 1,000 proofs of an app and marks the devices whose tokens they prove dead; a rehearsal counts only. Called again with next and next_id until nothing was looked at.';

CREATE FUNCTION todoke.revive_devices(app text, since timestamptz, batch int DEFAULT 1000, OUT looked int, OUT revived int)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner int := (SELECT a.id FROM todoke.apps AS a WHERE a.name = revive_devices.app);
BEGIN
    FOR attempt IN 1..10 LOOP
        BEGIN
            -- The newest first: an installation has one token in use, and others of it were replaced.
            WITH found AS MATERIALIZED (
                SELECT d.id, d.installation_id FROM todoke.devices AS d
                WHERE d.app = owner AND d.invalidated_at >= since AND d.invalid_evidence IS NOT NULL
                ORDER BY d.id DESC LIMIT batch FOR UPDATE SKIP LOCKED
            ), judged AS (
                SELECT f.id, f.installation_id IS NOT NULL AND (
                    row_number() OVER (PARTITION BY f.installation_id ORDER BY f.id DESC) > 1
                    OR EXISTS (
                        SELECT FROM todoke.devices AS o
                        WHERE o.app = owner AND o.installation_id = f.installation_id AND o.invalidated_at IS NULL)
                ) AS is_replaced
                FROM found AS f
            ), changed AS (
                UPDATE todoke.devices AS d SET
                    invalidated_at = CASE WHEN j.is_replaced THEN d.invalidated_at END,
                    invalid_reason = CASE WHEN j.is_replaced THEN 'REPLACED' END,
                    invalid_evidence = NULL
                FROM judged AS j
                WHERE d.id = j.id
                RETURNING j.is_replaced
            )
            SELECT count(*), count(*) FILTER (WHERE NOT c.is_replaced) INTO looked, revived FROM changed AS c;
            RETURN;
        EXCEPTION WHEN unique_violation THEN
            NULL;  -- one of these installations registered a token at this very moment
        END;
    END LOOP;
    RAISE EXCEPTION 'devices of app % are being registered all the time', quote_literal(app)
        USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
END
$$;
COMMENT ON FUNCTION todoke.revive_devices(text, timestamptz, int) IS 'Takes back the marks that answers of the provider made since then, at most batch of them; where the installation has another token by now, the old one counts as replaced. Says how many it looked at, 0 at the end, and how many are in use again.';

CREATE FUNCTION todoke.end_dead_token_hold(app text, proofs_were_wrong boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner int;
BEGIN
    UPDATE todoke.apps AS a
    SET dead_tokens_held_at = NULL,
        dead_tokens_since = CASE WHEN proofs_were_wrong THEN now() ELSE a.dead_tokens_since END,
        paused_at = CASE WHEN a.pause_reason = todoke.dead_token_pause() THEN NULL ELSE a.paused_at END,
        pause_reason = CASE WHEN a.pause_reason = todoke.dead_token_pause() THEN NULL ELSE a.pause_reason END
    WHERE a.name = end_dead_token_hold.app AND (a.dead_tokens_held_at IS NOT NULL OR proofs_were_wrong)
    RETURNING a.id INTO owner;
    -- What was counted is settled: the next window begins now.
    DELETE FROM todoke.dead_token_counts AS c WHERE c.app = owner;
    IF owner IS NOT NULL THEN
        PERFORM pg_notify('todoke_due', app);
    END IF;
    RETURN owner IS NOT NULL;
END
$$;
COMMENT ON FUNCTION todoke.end_dead_token_hold(text, boolean) IS 'Devices of the app are marked again, and it is resumed if it was paused for that; false when nothing was held. With proofs_were_wrong what was recorded before counts no more.';

-- Last, so that claims and applications wait for a moment only.
ALTER TABLE todoke.apps
    ADD COLUMN dead_token_limit real NOT NULL DEFAULT 0.2
        CONSTRAINT apps_dead_token_limit_check CHECK (dead_token_limit > 0 AND dead_token_limit <= 1),
    ADD COLUMN dead_tokens_held_at timestamptz,
    ADD COLUMN dead_tokens_since timestamptz;
COMMENT ON COLUMN todoke.apps.dead_token_limit IS 'The share of the app''s devices that may be marked dead within one to two hours; more, and above 100 devices, is held and pauses the app. 1 marks always.';
COMMENT ON COLUMN todoke.apps.dead_tokens_held_at IS 'Since when no device of the app is marked, because too many were found dead at once; todoke devices sweep ends it.';
COMMENT ON COLUMN todoke.apps.dead_tokens_since IS 'Proofs recorded before this do not count: somebody found that they were wrong. NULL counts all.';

REVOKE EXECUTE ON FUNCTION
    todoke.count_devices(int),
    todoke.record_dead_tokens(bigint, date, bigint[], int[], text[], timestamptz[]),
    todoke.dead_token_pause(),
    todoke.sweep_dead_tokens(text, boolean, timestamptz, bigint),
    todoke.revive_devices(text, timestamptz, int),
    todoke.end_dead_token_hold(text, boolean)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.record_dead_tokens(bigint, date, bigint[], int[], text[], timestamptz[]) TO todoke_sender;
GRANT SELECT ON todoke.dead_tokens, todoke.stale_devices TO todoke_reader;
INSERT INTO todoke.migrations (version, name, digest) VALUES (8, '0008_dead_tokens.sql', '9430285e9b694c6403177875cd305a73777c7c4ff65eb7f4d9ff74f69ee00fbd');
