-- 0007: the device registry's functions, by which applications register tokens, bind users and subscribe to channels.
-- Locks: ACCESS EXCLUSIVE on todoke.devices while its rows are read once (a second for some millions of them).
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '7';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(7);
SET LOCAL lock_timeout = '5s';

ALTER TABLE todoke.devices
    ADD COLUMN installation_id text CONSTRAINT devices_installation_id_check CHECK (installation_id <> ''),
    ADD COLUMN allows_notifications boolean;
-- A registration writes no column that is indexed: with room on the page it does not touch the indexes.
ALTER TABLE todoke.devices SET (fillfactor = 80);
CREATE UNIQUE INDEX devices_installation ON todoke.devices (app, installation_id)
    WHERE invalidated_at IS NULL AND installation_id IS NOT NULL;
COMMENT ON INDEX todoke.devices_installation IS 'The token in use of an installation: there is one at most.';
COMMENT ON COLUMN todoke.devices.user_id IS 'The application''s user who is signed in there; NULL when nobody is.';
COMMENT ON COLUMN todoke.devices.channels IS 'What the device is subscribed to; that stays with it when another user signs in.';
COMMENT ON COLUMN todoke.devices.installation_id IS 'The application''s own id of the installation: a new token for it retires the old one.';
COMMENT ON COLUMN todoke.devices.allows_notifications IS 'Whether the user lets the app show notifications, as the app reported it; NULL is not known.';
COMMENT ON COLUMN todoke.devices.registered_at IS 'When the app registered this token last; proof of its death must be newer.';
COMMENT ON COLUMN todoke.devices.invalidated_at IS 'When the token was found dead, replaced or unregistered; NULL while it is in use.';
COMMENT ON COLUMN todoke.devices.invalid_reason IS 'Why: the provider''s code, REPLACED (by a new token of the same installation) or UNREGISTERED_BY_APP.';
COMMENT ON COLUMN todoke.devices.invalid_evidence IS 'The message whose answer proved it, where the provider did.';

CREATE FUNCTION todoke.is_time_zone(name text) RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- The server also takes abbreviations and rules such as JST-9, which mean nothing to anybody else; and the view of
    -- its zones reads hundreds of files.
    IF octet_length(name) > 64 OR name !~ '^([A-Z][A-Za-z_-]*(/[A-Z][A-Za-z_-]*){1,2}|Etc/GMT(0|[+]([0-9]|1[0-2])|-([0-9]|1[0-4]))'
        '|GMT([+-]?0)?|UTC|UCT|Universal|Zulu|Greenwich|EST|MST|HST|EST5EDT|CST6CDT|MST7MDT|PST8PDT|WET|CET|MET|EET'
        '|Cuba|Egypt|Eire|GB|GB-Eire|Hongkong|Iceland|Iran|Israel|Jamaica|Japan|Kwajalein|Libya|NZ|NZ-CHAT|Navajo'
        '|PRC|Poland|Portugal|ROC|ROK|Singapore|Turkey|W-SU)$'
    THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE name;
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION todoke.is_time_zone(text) IS 'Whether it is the IANA name of a zone that this server knows.';

CREATE FUNCTION todoke.device_fault(
    token text, user_id text, platform text, locale text, channels text[], installation_id text, app_version text
) RETURNS text[]
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE
        WHEN coalesce(token, '') = '' OR octet_length(token) > 2000 THEN ARRAY[
            'token is empty or longer than 2000 bytes', 'Give the token as the device reported it.']
        WHEN token !~ '^[!-~]+$' THEN ARRAY[
            'token has white space or other characters that no token has', 'Give the token as the device reported it.']
        WHEN octet_length(user_id) > 500 THEN ARRAY[
            'user_id is longer than 500 bytes', 'Give the key by which the application knows the user.']
        WHEN platform NOT IN ('ios', 'android', 'web', '') THEN ARRAY[
            'platform is not ios, android or web', 'Give one of them, or NULL to keep what is known.']
        WHEN octet_length(locale) > 100 OR locale !~ '^([A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*([.@][^[:cntrl:]]*)?)?$'
            THEN ARRAY['locale is no language tag', 'Give one like ja or pt-BR.']
        WHEN octet_length(installation_id) > 500 THEN ARRAY[
            'installation_id is longer than 500 bytes',
            'Give an id that the app makes at its first start, such as a UUID, or FCM''s installation id.']
        WHEN octet_length(app_version) > 100 THEN ARRAY['app_version is longer than 100 bytes', 'Give one like 4.2.1.']
        WHEN channels IS NULL OR channels = '{}' THEN NULL
        WHEN array_ndims(channels) > 1 THEN ARRAY['channels is a list of lists', 'Give a list of names.']
        WHEN cardinality(channels) > 1000 THEN ARRAY[
            'channels has more than 1000 names', 'A channel is for many devices: keep what is one user''s elsewhere.']
        -- No query for a few short names, as there usually are.
        WHEN array_position(channels, NULL) IS NOT NULL OR '' = ANY (channels)
            OR array_to_string(channels, '') ~ '[[:cntrl:]]'
            OR octet_length(array_to_string(channels, '')) > 200
            AND EXISTS (SELECT FROM unnest(channels) AS c (name) WHERE octet_length(name) > 200)
            THEN ARRAY[
                'channels has a name that is NULL, empty, longer than 200 bytes or has control characters',
                'Give each channel a short name.']
    END;
END
$$;
COMMENT ON FUNCTION todoke.device_fault(text, text, text, text, text[], text, text) IS 'What is wrong with a device that is to be registered, and what to do about it; NULL when nothing is.';

-- A session keeps its plans, and one that was made while the table was small may read all of an app's rows for one of them.
-- So what is looked for is put in order: only one index has it so, whatever the planner believes about the table.
CREATE FUNCTION todoke.device_of(app int, token text) RETURNS bigint
LANGUAGE plpgsql
STABLE
AS $$
#variable_conflict use_column
DECLARE
    found bigint;
BEGIN
    SELECT d.id INTO found FROM todoke.devices AS d
    WHERE d.app = device_of.app AND d.token >= device_of.token AND d.token <= device_of.token
    ORDER BY d.token LIMIT 1;
    RETURN found;
END
$$;
COMMENT ON FUNCTION todoke.device_of(int, text) IS 'The key of a token''s row; NULL when there is none.';

CREATE FUNCTION todoke.registry_app(name text) RETURNS int
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    found int;
BEGIN
    SELECT a.id INTO found FROM todoke.apps AS a WHERE a.name = registry_app.name;
    IF found IS NULL THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(registry_app.name), 'NULL')
            USING ERRCODE = 'no_data_found',
                HINT = 'INSERT INTO todoke.apps (name, project_id) VALUES (''NAME'', ''FIREBASE-PROJECT'')';
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION todoke.registry_app(text) IS 'The key of an app; refuses a name that no app has.';

CREATE FUNCTION todoke.register_device(
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

        -- Rows are locked in the order of their ids, and given back before this tries again.
        BEGIN
            own := NULL;
            old := NULL;
            IF is_locked AND old_id IS NOT NULL THEN
                SELECT d.id INTO old_id FROM todoke.devices AS d WHERE d.id = old_id FOR UPDATE SKIP LOCKED;
                IF old_id IS NULL THEN
                    -- Whoever has it decides about the installation; this token will say again where it is.
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
            IF own.id IS DISTINCT FROM own_id
                OR register_device.installation_id IS NULL AND own.installation_id IS DISTINCT FROM own_installation
            THEN
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
COMMENT ON FUNCTION todoke.register_device(text, text, text, text, text, text, text[], text, text, text, boolean) IS 'Registers a device''s token, or says what is new about it: NULL keeps what is there, an empty text or list takes it away. The token is in use from then on, by this user and this installation alone; gives back the device''s key and whether the token was new.';

CREATE FUNCTION todoke.unregister_device(app text, token text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(unregister_device.app);
BEGIN
    UPDATE todoke.devices AS d SET invalidated_at = clock_timestamp(), invalid_reason = 'UNREGISTERED_BY_APP'
    WHERE d.id = todoke.device_of(owner, unregister_device.token) AND d.invalidated_at IS NULL;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION todoke.unregister_device(text, text) IS 'Nothing is sent to this token any more, until it is registered again; whether it was in use.';

CREATE FUNCTION todoke.bind_user(app text, token text, user_id text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(bind_user.app);
BEGIN
    IF coalesce(bind_user.user_id, '') = '' OR octet_length(bind_user.user_id) > 500 THEN
        RAISE EXCEPTION 'user_id is empty or longer than 500 bytes'
            USING ERRCODE = 'invalid_parameter_value',
                HINT = 'Give the key by which the application knows the user, or call unbind_user at log-out.';
    END IF;
    UPDATE todoke.devices AS d SET user_id = bind_user.user_id
    WHERE d.id = todoke.device_of(owner, bind_user.token) AND d.user_id IS DISTINCT FROM bind_user.user_id;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION todoke.bind_user(text, text, text) IS 'At log-in: the device belongs to this user, and to nobody else any more; whether that is new. false also for a token that is not registered.';

CREATE FUNCTION todoke.unbind_user(app text, token text, user_id text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(unbind_user.app);
BEGIN
    UPDATE todoke.devices AS d SET user_id = NULL
    WHERE d.id = todoke.device_of(owner, unbind_user.token) AND d.user_id = coalesce(unbind_user.user_id, d.user_id);
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION todoke.unbind_user(text, text, text) IS 'At log-out: nobody is signed in there; with a user, only if it was that one. Whether somebody was.';

CREATE FUNCTION todoke.checked_channel(channel text) RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF coalesce(channel, '') = '' OR octet_length(channel) > 200 OR channel ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'channel is empty, longer than 200 bytes or has control characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the channel a short name.';
    END IF;
    RETURN channel;
END
$$;
COMMENT ON FUNCTION todoke.checked_channel(text) IS 'The channel''s name as it is; refused where it cannot be one.';

CREATE FUNCTION todoke.subscribe(app text, token text, channel text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(subscribe.app);
    name text := todoke.checked_channel(subscribe.channel);
    has int;
BEGIN
    UPDATE todoke.devices AS d SET channels = d.channels || name
    WHERE d.id = todoke.device_of(owner, subscribe.token) AND name <> ALL (d.channels)
    RETURNING cardinality(d.channels) INTO has;
    IF has > 1000 THEN
        RAISE EXCEPTION 'this device has 1000 channels'
            USING ERRCODE = 'invalid_parameter_value',
                HINT = 'Take some away: a channel is for many devices, keep what is one user''s elsewhere.';
    END IF;
    RETURN has IS NOT NULL;
END
$$;
COMMENT ON FUNCTION todoke.subscribe(text, text, text) IS 'Adds a channel to a device; whether that is new. false also for a token that is not registered.';

CREATE FUNCTION todoke.unsubscribe(app text, token text, channel text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(unsubscribe.app);
BEGIN
    UPDATE todoke.devices AS d SET channels = array_remove(d.channels, unsubscribe.channel)
    WHERE d.id = todoke.device_of(owner, unsubscribe.token) AND unsubscribe.channel = ANY (d.channels);
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION todoke.unsubscribe(text, text, text) IS 'Takes a channel from a device; whether it had it.';

CREATE FUNCTION todoke.subscribe_user(app text, user_id text, channel text) RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(subscribe_user.app);
    name text := todoke.checked_channel(subscribe_user.channel);
    changed int;
    most int;
BEGIN
    -- Locked in the order of their ids, as everywhere.
    WITH mine AS MATERIALIZED (
        SELECT d.id FROM todoke.devices AS d
        WHERE d.app = owner AND d.user_id >= subscribe_user.user_id AND d.user_id <= subscribe_user.user_id
            AND name <> ALL (d.channels)
        ORDER BY d.user_id, d.id FOR UPDATE
    ), updated AS (
        UPDATE todoke.devices AS d SET channels = d.channels || name
        WHERE d.id = ANY (ARRAY(SELECT m.id FROM mine AS m))
        RETURNING cardinality(d.channels) AS has
    )
    SELECT count(*), max(u.has) INTO changed, most FROM updated AS u;
    IF most > 1000 THEN
        RAISE EXCEPTION 'a device of this user has 1000 channels'
            USING ERRCODE = 'invalid_parameter_value',
                HINT = 'Take some away: a channel is for many devices, keep what is one user''s elsewhere.';
    END IF;
    RETURN changed;
END
$$;
COMMENT ON FUNCTION todoke.subscribe_user(text, text, text) IS 'Adds a channel to all devices on which the user is signed in; on how many that is new.';

CREATE FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    owner int := todoke.registry_app(unsubscribe_user.app);
    changed int;
BEGIN
    WITH mine AS MATERIALIZED (
        SELECT d.id FROM todoke.devices AS d
        WHERE d.app = owner AND d.user_id >= unsubscribe_user.user_id AND d.user_id <= unsubscribe_user.user_id
            AND unsubscribe_user.channel = ANY (d.channels)
        ORDER BY d.user_id, d.id FOR UPDATE
    )
    UPDATE todoke.devices AS d SET channels = array_remove(d.channels, unsubscribe_user.channel)
    WHERE d.id = ANY (ARRAY(SELECT m.id FROM mine AS m));
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;
COMMENT ON FUNCTION todoke.unsubscribe_user(text, text, text) IS 'Takes a channel from all devices on which the user is signed in; how many had it.';

-- What checks is only for these functions.
REVOKE EXECUTE ON FUNCTION
    todoke.is_time_zone(text),
    todoke.device_fault(text, text, text, text, text[], text, text),
    todoke.device_of(int, text),
    todoke.registry_app(text),
    todoke.checked_channel(text),
    todoke.register_device(text, text, text, text, text, text, text[], text, text, text, boolean),
    todoke.unregister_device(text, text),
    todoke.bind_user(text, text, text),
    todoke.unbind_user(text, text, text),
    todoke.subscribe(text, text, text),
    todoke.unsubscribe(text, text, text),
    todoke.subscribe_user(text, text, text),
    todoke.unsubscribe_user(text, text, text)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    todoke.register_device(text, text, text, text, text, text, text[], text, text, text, boolean),
    todoke.unregister_device(text, text),
    todoke.bind_user(text, text, text),
    todoke.unbind_user(text, text, text),
    todoke.subscribe(text, text, text),
    todoke.unsubscribe(text, text, text),
    todoke.subscribe_user(text, text, text),
    todoke.unsubscribe_user(text, text, text)
TO todoke_app;
INSERT INTO todoke.migrations (version, name, digest) VALUES (7, '0007_devices.sql', '07e716fbdd47cfb2178ccc60f5a963c0536c109bca2b8171e6df164f467a3ea2');
