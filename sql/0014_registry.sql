-- 0014: the registry beside many at once. Two tokens that change installations with each other do not deadlock; what is
-- proved dead is looked up by token whatever the planner believes; an open that was reported before its token was registered
-- counts once; a producer changes the columns that it writes, and no others; what devices reported is a view of its own.
-- Locks: ACCESS EXCLUSIVE on the views dead_tokens and stale_devices for a moment.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '14';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(14);
SET LOCAL lock_timeout = '5s';

-- A few words of a long function, replaced where they are: what changes is what is written here.
CREATE FUNCTION todoke.edit(edited regprocedure, words text, with_words text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    body text := pg_get_functiondef(edited);
BEGIN
    IF cardinality(string_to_array(body, words)) <> 2 THEN
        RAISE EXCEPTION '% is not the function of the migrations before', edited USING ERRCODE = 'invalid_function_definition';
    END IF;
    EXECUTE replace(body, words, with_words);
END
$$;

-- The function of 0007 with locks of the installations, where one changes.
CREATE OR REPLACE FUNCTION todoke.register_device(
    app text,
    token text,
    user_id text DEFAULT NULL,
    platform text DEFAULT NULL,
    locale text DEFAULT NULL,
    time_zone text DEFAULT NULL,
    channels text[] DEFAULT NULL,
    environment text DEFAULT NULL,
    installation_id text DEFAULT NULL,
    app_version text DEFAULT NULL,
    allows_notifications boolean DEFAULT NULL,
    OUT device_id bigint,
    OUT is_new boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner record;
    fault text[];
    -- What is stored was looked at when it was.
    is_zone_checked boolean := coalesce(register_device.time_zone, '') = '';
    installation text;
    own_id bigint;
    own_installation text;
    old_id bigint;
    is_in_place boolean;
    is_locked boolean := false;
    locks bigint[];
    lock bigint;
    own todoke.devices;
    old todoke.devices;
    row todoke.devices;
BEGIN
    SELECT a.id, a.name, a.environment INTO owner FROM todoke.apps AS a WHERE a.name = register_device.app;
    IF NOT FOUND THEN
        PERFORM todoke.registry_app(register_device.app);
    END IF;
    fault := todoke.device_fault(
        register_device.token, register_device.user_id, register_device.platform, register_device.locale,
        register_device.channels, register_device.installation_id, register_device.app_version);
    IF register_device.environment <> owner.environment AND fault IS NULL THEN
        fault := ARRAY[
            format('environment is %L, and app %L is %s', left(register_device.environment, 40), owner.name, owner.environment),
            'Register the token with the app of its own environment: tokens of one do not work in the other.'];
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION '%', fault[1] USING ERRCODE = 'invalid_parameter_value', HINT = fault[2];
    END IF;
    IF cardinality(register_device.channels) > 1 THEN
        register_device.channels := ARRAY(SELECT DISTINCT c.name FROM unnest(register_device.channels) AS c (name) ORDER BY 1);
    END IF;

    FOR attempt IN 1..50 LOOP
        own_id := NULL;
        own_installation := NULL;
        is_in_place := false;
        SELECT d.id, d.installation_id, d.invalidated_at IS NULL AND (
                coalesce(register_device.installation_id, '') = '' OR d.installation_id = register_device.installation_id)
        INTO own_id, own_installation, is_in_place
        FROM todoke.devices AS d
        WHERE d.app = owner.id AND d.token >= register_device.token AND d.token <= register_device.token
        ORDER BY d.token LIMIT 1;
        IF is_in_place THEN
            -- A token that is known, as it nearly always is: one row, and no index.
            UPDATE todoke.devices AS d SET
                user_id = nullif(coalesce(register_device.user_id, d.user_id), ''),
                platform = nullif(coalesce(register_device.platform, d.platform), ''),
                locale = nullif(coalesce(register_device.locale, d.locale), ''),
                time_zone = nullif(coalesce(register_device.time_zone, d.time_zone), ''),
                channels = coalesce(register_device.channels, d.channels),
                installation_id = nullif(coalesce(register_device.installation_id, d.installation_id), ''),
                app_version = nullif(coalesce(register_device.app_version, d.app_version), ''),
                allows_notifications = coalesce(register_device.allows_notifications, d.allows_notifications),
                registered_at = clock_timestamp(),
                last_seen_at = clock_timestamp()
            WHERE d.id = own_id AND d.invalidated_at IS NULL
                AND (coalesce(register_device.installation_id, '') = '' OR d.installation_id = register_device.installation_id)
                AND (is_zone_checked OR d.time_zone = register_device.time_zone)
            RETURNING d.id INTO device_id;
            IF FOUND THEN
                is_new := false;
                RETURN;
            END IF;
            -- Where somebody changed the row in between it is locked now, and nothing may be waited for that has another.
            is_locked := true;
        END IF;
        IF NOT is_zone_checked THEN
            IF NOT todoke.is_time_zone(register_device.time_zone) THEN
                RAISE EXCEPTION 'time_zone is no zone that is known here'
                    USING ERRCODE = 'invalid_parameter_value', HINT = 'Give an IANA name like Asia/Tokyo.';
            END IF;
            is_zone_checked := true;
            CONTINUE;
        END IF;
        CONTINUE WHEN is_in_place;

        installation := nullif(coalesce(register_device.installation_id, own_installation), '');
        old_id := NULL;
        SELECT d.id INTO old_id FROM todoke.devices AS d
        WHERE d.app = owner.id AND d.installation_id >= installation AND d.installation_id <= installation
            AND d.invalidated_at IS NULL
        ORDER BY d.installation_id LIMIT 1;
        IF own_id IS NULL AND old_id IS NULL THEN
            -- Nothing is locked while this waits for somebody who registers the same.
            INSERT INTO todoke.devices AS d (
                app, token, user_id, platform, locale, time_zone, channels, installation_id, app_version,
                allows_notifications, registered_at, last_seen_at
            ) VALUES (
                owner.id, register_device.token, nullif(register_device.user_id, ''), nullif(register_device.platform, ''),
                nullif(register_device.locale, ''), nullif(register_device.time_zone, ''),
                coalesce(register_device.channels, '{}'), installation, nullif(register_device.app_version, ''),
                register_device.allows_notifications, clock_timestamp(), clock_timestamp()
            ) ON CONFLICT DO NOTHING
            RETURNING d.id INTO device_id;
            IF FOUND THEN
                is_new := true;
                RETURN;
            END IF;
            CONTINUE;
        END IF;

        -- Two tokens may change installations with each other: who does so waits here, before any row is locked. Rows are locked
        -- in the order of their ids, and all of it is given back before this tries again.
        BEGIN
            locks := ARRAY(
                SELECT DISTINCT hashtextextended('todoke installation ' || owner.id || ' ' || i.name, 0)
                FROM unnest(ARRAY[installation, own_installation]) AS i (name) WHERE i.name IS NOT NULL ORDER BY 1);
            FOREACH lock IN ARRAY locks LOOP
                IF NOT is_locked THEN
                    PERFORM pg_advisory_xact_lock(lock);
                ELSIF NOT pg_try_advisory_xact_lock(lock) THEN
                    -- Whoever has it decides about the installation; this token will say again where it is.
                    installation := NULL;
                    old_id := NULL;
                END IF;
            END LOOP;
            own := NULL;
            old := NULL;
            IF is_locked AND old_id IS NOT NULL THEN
                SELECT d.id INTO old_id FROM todoke.devices AS d WHERE d.id = old_id FOR UPDATE SKIP LOCKED;
                IF old_id IS NULL THEN
                    installation := NULL;
                END IF;
            END IF;
            FOR row IN
                SELECT d.* FROM todoke.devices AS d WHERE d.id IN (own_id, old_id) ORDER BY d.id FOR UPDATE
            LOOP
                IF row.id = own_id THEN
                    own := row;
                ELSIF row.installation_id = installation AND row.invalidated_at IS NULL THEN
                    old := row;
                END IF;
            END LOOP;
            -- Of an installation that it has only now, no lock was taken above.
            IF own.id IS DISTINCT FROM own_id OR own.installation_id IS DISTINCT FROM own_installation THEN
                RAISE unique_violation;
            END IF;
            IF old.id IS NOT NULL THEN
                UPDATE todoke.devices AS d SET invalidated_at = clock_timestamp(), invalid_reason = 'REPLACED'
                WHERE d.id = old.id;
            END IF;
            -- A new token of an installation goes on with what the old one had.
            is_new := own.id IS NULL;
            IF is_new THEN
                own := old;
            END IF;
            own.user_id := nullif(coalesce(register_device.user_id, own.user_id), '');
            own.platform := nullif(coalesce(register_device.platform, own.platform), '');
            own.locale := nullif(coalesce(register_device.locale, own.locale), '');
            own.time_zone := nullif(coalesce(register_device.time_zone, own.time_zone), '');
            own.channels := coalesce(register_device.channels, own.channels, '{}');
            own.app_version := nullif(coalesce(register_device.app_version, own.app_version), '');
            own.allows_notifications := coalesce(register_device.allows_notifications, own.allows_notifications);
            IF is_new THEN
                INSERT INTO todoke.devices AS d (
                    app, token, user_id, platform, locale, time_zone, channels, installation_id, app_version,
                    allows_notifications, registered_at, last_seen_at
                ) VALUES (
                    owner.id, register_device.token, own.user_id, own.platform, own.locale, own.time_zone, own.channels,
                    installation, own.app_version, own.allows_notifications, clock_timestamp(), clock_timestamp()
                ) RETURNING d.id INTO device_id;
            ELSE
                UPDATE todoke.devices AS d SET
                    user_id = own.user_id, platform = own.platform, locale = own.locale, time_zone = own.time_zone,
                    channels = own.channels, installation_id = installation, app_version = own.app_version,
                    allows_notifications = own.allows_notifications, registered_at = clock_timestamp(),
                    last_seen_at = clock_timestamp(), invalidated_at = NULL, invalid_reason = NULL, invalid_evidence = NULL
                WHERE d.id = own.id
                RETURNING d.id INTO device_id;
            END IF;
            RETURN;
        EXCEPTION WHEN unique_violation THEN
            -- Somebody else registered this token, or another one of this installation, in between.
            NULL;
        END;
    END LOOP;
    RAISE EXCEPTION 'this device is being registered by others all the time'
        USING ERRCODE = 'serialization_failure', HINT = 'Try again, in a new transaction.';
END
$$;

-- Where one row is expected, sorting it seems as cheap as an index that has the order; and a session keeps such a plan.
ALTER FUNCTION todoke.device_of(int, text) SET enable_sort = off;
ALTER FUNCTION todoke.device_of(int, text) SET enable_seqscan = off;
ALTER FUNCTION todoke.device_of(int, text) SET enable_bitmapscan = off;
ALTER FUNCTION todoke.register_device(text, text, text, text, text, text, text[], text, text, text, boolean)
    SET enable_sort = off;
ALTER FUNCTION todoke.register_device(text, text, text, text, text, text, text[], text, text, text, boolean)
    SET enable_bitmapscan = off;

-- The order of an index is asked for, see todoke.device_of: with a table that nobody has analyzed yet each proof read all of
-- the app's devices.
SELECT todoke.edit(
    'todoke.record_dead_tokens(bigint, date, bigint[], int[], text[], timestamptz[])',
    $words$                SELECT d.id, proof.message_id, proof.code
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
$words$,
    $words$                SELECT d.id, seen.message_id, seen.code
                FROM (
                    SELECT todoke.device_of($5, said.target) AS id, proof.message_id, proof.code, proof.dead_at
                    FROM unnest($1, $2, $3, $4) AS proof (message_id, app, code, dead_at)
                    CROSS JOIN LATERAL (
                        SELECT p.target FROM todoke.payloads AS p
                        WHERE p.id = proof.message_id AND p.day = %L AND p.target_kind IN ('token', 'fid') OFFSET 0
                    ) AS said
                    WHERE proof.app = $5
                    ORDER BY 1 OFFSET 0
                ) AS seen
                CROSS JOIN LATERAL (
                    SELECT d.id FROM todoke.devices AS d
                    WHERE d.id = seen.id AND d.invalidated_at IS NULL AND d.registered_at <= seen.dead_at
                    FOR UPDATE SKIP LOCKED
                ) AS d
$words$);
ALTER FUNCTION todoke.record_dead_tokens(bigint, date, bigint[], int[], text[], timestamptz[]) SET enable_seqscan = off;
ALTER FUNCTION todoke.count_devices(int) SET enable_seqscan = off;
ALTER FUNCTION todoke.count_devices(int) SET enable_bitmapscan = off;

SELECT todoke.edit(
    'todoke.sweep_dead_tokens(text, boolean, timestamptz, bigint)',
    $words$    WITH found AS MATERIALIZED (
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
$words$,
    $words$    WITH seen AS MATERIALIZED (
        SELECT todoke.device_of(owner.id, said.target) AS id, proof.message_id, proof.code, proof.dead_at
        FROM unnest(proofs.message_ids, proofs.days, proofs.codes, proofs.dead_at) AS proof (message_id, day, code, dead_at)
        CROSS JOIN LATERAL (
            SELECT p.target FROM todoke.payloads AS p
            WHERE p.id = proof.message_id AND p.day = proof.day AND p.target_kind IN ('token', 'fid') OFFSET 0
        ) AS said
        ORDER BY 1
    ), counted AS MATERIALIZED (
        -- A rehearsal locks nothing.
        SELECT s.id FROM seen AS s CROSS JOIN LATERAL (
            SELECT FROM todoke.devices AS d
            WHERE d.id = s.id AND d.invalidated_at IS NULL AND d.registered_at <= s.dead_at AND is_rehearsal OFFSET 0) AS d
    ), found AS MATERIALIZED (
        SELECT s.id, s.message_id, s.code FROM seen AS s CROSS JOIN LATERAL (
            SELECT FROM todoke.devices AS d
            WHERE d.id = s.id AND d.invalidated_at IS NULL AND d.registered_at <= s.dead_at AND NOT is_rehearsal
            FOR UPDATE SKIP LOCKED) AS d
    ), changed AS (
        UPDATE todoke.devices AS d
        SET invalidated_at = now(), invalid_reason = f.code, invalid_evidence = f.message_id
        FROM found AS f
        WHERE d.id = f.id
    )
    SELECT count(DISTINCT every.id) INTO marked FROM (SELECT id FROM counted UNION ALL SELECT id FROM found) AS every;
$words$);
ALTER FUNCTION todoke.sweep_dead_tokens(text, boolean, timestamptz, bigint) SET enable_seqscan = off;

-- The same lookup; and an installation's id is a target as a token is.
SELECT todoke.edit(
    'todoke.retry_failed(text, text, text[], timestamptz, timestamptz, bigint, boolean, int, date, bigint)',
    $words$AND p.target_kind = 'token' OFFSET 0$words$, $words$AND p.target_kind IN ('token', 'fid') OFFSET 0$words$);
SELECT todoke.edit(
    'todoke.retry_failed(text, text, text[], timestamptz, timestamptz, bigint, boolean, int, date, bigint)',
    $words$WHERE d.app = %3$s AND d.token = p.target OFFSET 0$words$,
    $words$WHERE d.id = todoke.device_of(%3$s, p.target) OFFSET 0$words$);

-- Reported by the token first, and again when the token was registered: the same report.
SELECT todoke.edit(
    'todoke.insert_event(int, text, timestamptz, text, text, text, timestamptz, json)',
    $words$    INSERT INTO todoke.events (app,$words$,
    $words$    IF known IS NOT NULL AND EXISTS (
        SELECT FROM todoke.events AS v
        WHERE v.app = insert_event.app AND v.notification_id = insert_event.notification_id AND v.kind = insert_event.kind
            AND v.subject = 't' || left(encode(sha256(convert_to(insert_event.token, 'UTF8')), 'hex'), 32))
    THEN
        RETURN false;
    END IF;
    INSERT INTO todoke.events (app,$words$);
-- An empty token is none, here as there.
SELECT todoke.edit(
    'todoke.record_events(text, json)',
    $words$e.value ->> 'token' COLLATE "C",
            e.value$words$,
    $words$nullif(e.value ->> 'token', '') COLLATE "C",
            e.value$words$);

CREATE VIEW todoke.event_log AS
SELECT
    a.name AS app,
    v.notification_id,
    v.kind,
    v.at,
    v.user_id,
    v.device,
    d.platform,
    v.properties
FROM todoke.events AS v
JOIN todoke.apps AS a ON a.id = v.app
LEFT JOIN todoke.devices AS d ON d.id = v.device;
COMMENT ON VIEW todoke.event_log IS 'What devices and applications reported, one row for each notification, kind and device or user. Name the app and the notification.';
COMMENT ON COLUMN todoke.event_log.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.event_log.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.event_log.kind IS 'opened, received or dismissed.';
COMMENT ON COLUMN todoke.event_log.at IS 'When it happened, as the device said, but neither ahead of its report nor before the notification was made.';
COMMENT ON COLUMN todoke.event_log.user_id IS 'The application''s user, when the report named one.';
COMMENT ON COLUMN todoke.event_log.device IS 'The device, when its token is registered.';
COMMENT ON COLUMN todoke.event_log.platform IS 'ios, android or web, when the device said so.';
COMMENT ON COLUMN todoke.event_log.properties IS 'What else the application kept.';
GRANT SELECT ON todoke.event_log TO todoke_reader;

-- Without it a cheap function in a reader's WHERE is asked about the rows that these leave out.
ALTER VIEW todoke.dead_tokens SET (security_barrier);
ALTER VIEW todoke.stale_devices SET (security_barrier);
COMMENT ON VIEW todoke.stale_devices IS 'Devices that no app reported for 30 days or longer and whose token nobody proved dead. Reads all devices of the app.';

-- Not what cancels, settles and purges.
REVOKE INSERT, UPDATE ON todoke.notifications FROM todoke_producer;
GRANT INSERT (app, notification_id, campaign, template_digest, definition_digest, delivery, validate_only)
ON todoke.notifications TO todoke_producer;
GRANT UPDATE (
    campaign, template_digest, definition_digest, run_id, run_until, queued, already_queued, rejected, skipped, loaded_at)
ON todoke.notifications TO todoke_producer;
-- What is switched off looks like a query that takes hours, and for such a one the server would compile code, a tenth of a
-- second each time.
DO $$
DECLARE
    slowed regprocedure;
BEGIN
    FOR slowed IN
        SELECT p.oid FROM pg_proc AS p
        WHERE p.pronamespace = 'todoke'::regnamespace AND p.proconfig::text LIKE '%enable_%=off%'
            AND NOT p.proconfig @> '{jit=off}'
        ORDER BY p.oid::regprocedure::text
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET jit = off', slowed);
    END LOOP;
END
$$;

DROP FUNCTION todoke.edit(regprocedure, text, text);

INSERT INTO todoke.migrations (version, name, digest) VALUES (14, '0014_registry.sql', '1c6e724b930d1e341f67fae9cbc7682ebf3ccd75b570974341012effb28e5498');
