CREATE SCHEMA todoke;
ALTER SCHEMA todoke OWNER TO todoke_owner;
COMMENT ON SCHEMA todoke IS 'Todoke: push notifications from this database to devices. Start with the views message_status, notification_summary and queue_depth.';
CREATE TYPE todoke.message_state AS ENUM (
    'pending',
    'sending',
    'sent',
    'failed',
    'expired',
    'cancelled'
);
ALTER TYPE todoke.message_state OWNER TO todoke_owner;
COMMENT ON TYPE todoke.message_state IS 'Where a message is: pending (also scheduled, or waiting for a retry), sending (claimed by a sender), or at its end: sent, failed, expired, cancelled.';
CREATE TYPE todoke.target_kind AS ENUM (
    'token',
    'fid',
    'topic',
    'condition'
);
ALTER TYPE todoke.target_kind OWNER TO todoke_owner;
COMMENT ON TYPE todoke.target_kind IS 'What a message is addressed to: a registration token, a Firebase installation id, a topic, or a condition over topics.';
CREATE FUNCTION todoke.app_backlog(app text, OUT due bigint, OUT scheduled bigint, OUT sending bigint, OUT oldest_due_seconds double precision) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.app_backlog(app text, OUT due bigint, OUT scheduled bigint, OUT sending bigint, OUT oldest_due_seconds double precision) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.app_backlog(app text, OUT due bigint, OUT scheduled bigint, OUT sending bigint, OUT oldest_due_seconds double precision) IS 'What waits for one app: due, due later, being sent, and for how long the oldest due message has been due.';
CREATE FUNCTION todoke.begin_migration(wanted integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    applied int;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('todoke migrate', 0));
    SELECT coalesce(max(version), 0) INTO applied FROM todoke.migrations;
    IF current_setting('todoke.migrating', true) IS DISTINCT FROM wanted::text THEN
        RAISE EXCEPTION 'this migration must run in one transaction'
            USING HINT = 'Use `todoke migrate`, or psql with -1 (--single-transaction).';
    ELSIF applied >= wanted THEN
        RAISE EXCEPTION 'migration % is already applied, the schema is at version %', wanted, applied
            USING HINT = 'Nothing to do. `SELECT * FROM todoke.migrations` shows what is applied.';
    ELSIF applied < wanted - 1 THEN
        RAISE EXCEPTION 'migration % needs % first, the schema is at version %', wanted, wanted - 1, applied
            USING HINT = 'Apply the files of sql/ in order, or use `todoke migrate`.';
    END IF;
END
$$;
ALTER FUNCTION todoke.begin_migration(wanted integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.begin_migration(wanted integer) IS 'Called first by each migration: waits for its turn, and refuses one that is applied, out of order or outside a transaction.';
CREATE FUNCTION todoke.bind_user(app text, token text, user_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.bind_user(app text, token text, user_id text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.bind_user(app text, token text, user_id text) IS 'At log-in: the device belongs to this user, and to nobody else any more; whether that is new. false also for a token that is not registered.';
CREATE FUNCTION todoke.bulk_app(app text) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.bulk_app(app text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.bulk_app(app text) IS 'The key of an app; where there is none of that name, an error that says which there are.';
CREATE FUNCTION todoke.bulk_notification(app text, notification_id text) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.bulk_notification(app text, notification_id text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.bulk_notification(app text, notification_id text) IS 'The key of a notification; where there is none of that id, an error that names its neighbours.';
CREATE FUNCTION todoke.campaign_notifications(app text, campaign text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.campaign_notifications(app text, campaign text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.campaign_notifications(app text, campaign text) IS 'The ids of a campaign''s notifications whose messages are still there, oldest first.';
CREATE FUNCTION todoke.cancel_notification(app text, notification_id text, OUT cancelled_at timestamp with time zone, OUT was_cancelled boolean, OUT is_loading boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
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
ALTER FUNCTION todoke.cancel_notification(app text, notification_id text, OUT cancelled_at timestamp with time zone, OUT was_cancelled boolean, OUT is_loading boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.cancel_notification(app text, notification_id text, OUT cancelled_at timestamp with time zone, OUT was_cancelled boolean, OUT is_loading boolean) IS 'Cancels a notification: nothing is queued for it any more, and senders end what waits when they come to it. Says since when, whether it was so before, and whether a producer is loading it. cancel_pending ends at once what waits.';
CREATE FUNCTION todoke.cancel_pending(app text, notification_id text, batch integer DEFAULT 1000, INOUT after_key uuid DEFAULT NULL::uuid, OUT cancelled bigint, OUT busy bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '2s'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.cancel_pending(app text, notification_id text, batch integer, INOUT after_key uuid, OUT cancelled bigint, OUT busy bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.cancel_pending(app text, notification_id text, batch integer, INOUT after_key uuid, OUT cancelled bigint, OUT busy bigint) IS 'Ends waiting messages of a cancelled notification: one batch a call, so give it back after_key until that is NULL. busy counts those that somebody else had locked: a sender claims them and ends them itself, or another pass does.';
CREATE FUNCTION todoke.checked_channel(channel text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    IF coalesce(channel, '') = '' OR octet_length(channel) > 200 OR channel ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'channel is empty, longer than 200 bytes or has control characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the channel a short name.';
    END IF;
    RETURN channel;
END
$$;
ALTER FUNCTION todoke.checked_channel(channel text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.checked_channel(channel text) IS 'The channel''s name as it is; refused where it cannot be one.';
CREATE FUNCTION todoke.checked_message(message jsonb, android_key text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
DECLARE
    known CONSTANT text[] := '{
        token,fid,topic,condition,name,notification,data,android,android_v2,androidV2,apns,webpush,
        fcm_options,fcmOptions}'::text[];
    known_in_notification CONSTANT text[] := '{title,body,image}'::text[];
    known_in_android CONSTANT text[] := '{
        ttl,data,priority,notification,collapse_key,collapseKey,restricted_package_name,
        restrictedPackageName,fcm_options,fcmOptions,direct_boot_ok,directBootOk,
        bandwidth_constrained_ok,bandwidthConstrainedOk,restricted_satellite_ok,restrictedSatelliteOk,
        background_sync,backgroundSync,remote_notification,remoteNotification}'::text[];
    known_in_android_notification CONSTANT text[] := '{
        title,body,image,icon,color,sound,tag,click_action,clickAction,body_loc_key,bodyLocKey,
        body_loc_args,bodyLocArgs,title_loc_key,titleLocKey,title_loc_args,titleLocArgs,channel_id,
        channelId,ticker,sticky,event_time,eventTime,local_only,localOnly,notification_priority,
        notificationPriority,default_sound,defaultSound,default_vibrate_timings,defaultVibrateTimings,
        default_light_settings,defaultLightSettings,vibrate_timings,vibrateTimings,visibility,
        light_settings,lightSettings,notification_count,notificationCount,proxy,
        bypass_proxy_notification,bypassProxyNotification,id}'::text[];
    known_in_apns CONSTANT text[] := '{
        headers,payload,fcm_options,fcmOptions,live_activity_token,liveActivityToken}'::text[];
    known_in_webpush CONSTANT text[] := '{headers,data,notification,fcm_options,fcmOptions}'::text[];
    notification jsonb := nullif(message -> 'notification', 'null');
    data jsonb := nullif(message -> 'data', 'null');
    android jsonb := nullif(message -> android_key, 'null');
    remote jsonb := nullif(coalesce(android -> 'remote_notification', android -> 'remoteNotification'), 'null');
    shown jsonb := nullif(CASE android_key WHEN 'android' THEN android ELSE remote END -> 'notification', 'null');
    shown_path text := android_key || CASE android_key WHEN 'android' THEN '' ELSE '.remote_notification' END
        || '.notification';
    apns jsonb := nullif(message -> 'apns', 'null');
    aps jsonb := nullif(apns #> '{payload,aps}', 'null');
    webpush jsonb := nullif(message -> 'webpush', 'null');
    fault text;
BEGIN
    -- Objects first: what follows looks into them.
    fault := CASE
        WHEN jsonb_typeof(notification) <> 'object' THEN 'notification'
        WHEN jsonb_typeof(data) <> 'object' THEN 'data'
        WHEN jsonb_typeof(coalesce(message -> 'fcm_options', message -> 'fcmOptions')) NOT IN ('object', 'null')
            THEN 'fcm_options'
        WHEN jsonb_typeof(android) <> 'object' THEN android_key
        WHEN jsonb_typeof(android -> 'data') NOT IN ('object', 'null') THEN android_key || '.data'
        WHEN jsonb_typeof(remote) <> 'object' THEN android_key || '.remote_notification'
        WHEN jsonb_typeof(coalesce(android -> 'background_sync', android -> 'backgroundSync')) NOT IN ('object', 'null')
            THEN android_key || '.background_sync'
        WHEN jsonb_typeof(shown) <> 'object' THEN shown_path
        WHEN jsonb_typeof(apns) <> 'object' THEN 'apns'
        WHEN jsonb_typeof(apns -> 'headers') NOT IN ('object', 'null') THEN 'apns.headers'
        WHEN jsonb_typeof(apns -> 'payload') NOT IN ('object', 'null') THEN 'apns.payload'
        WHEN jsonb_typeof(aps) <> 'object' THEN 'apns.payload.aps'
        WHEN jsonb_typeof(coalesce(apns -> 'fcm_options', apns -> 'fcmOptions')) NOT IN ('object', 'null')
            THEN 'apns.fcm_options'
        WHEN jsonb_typeof(webpush) <> 'object' THEN 'webpush'
        WHEN jsonb_typeof(webpush -> 'data') NOT IN ('object', 'null') THEN 'webpush.data'
        WHEN jsonb_typeof(webpush -> 'headers') NOT IN ('object', 'null') THEN 'webpush.headers'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'message.% is no object', fault
            USING ERRCODE = 'invalid_parameter_value', HINT = 'FCM takes a JSON object there.';
    END IF;
    fault := CASE
        WHEN message ? 'message' THEN 'message is unknown: give the object under "message" alone'
        WHEN message - known <> '{}' THEN todoke.unknown_field(message, known, '')
        WHEN notification - known_in_notification <> '{}'
            THEN todoke.unknown_field(notification, known_in_notification, 'notification.')
        WHEN jsonb_path_exists(notification, 'strict $.* ? (@.type() != "string" && @.type() != "null")')
            THEN 'notification has a value that is no string'
        WHEN android_key <> 'android' AND message -> 'android' <> 'null' THEN 'android is there beside android_v2'
        WHEN data IS NOT NULL THEN 'data.' || todoke.data_fault(data)
    END;
    IF fault IS NULL AND android IS NOT NULL THEN
        fault := CASE
            WHEN android - known_in_android <> '{}' THEN todoke.unknown_field(android, known_in_android, android_key || '.')
            WHEN shown - known_in_android_notification <> '{}'
                THEN todoke.unknown_field(shown, known_in_android_notification, shown_path || '.')
            WHEN jsonb_typeof(android -> 'ttl') NOT IN ('string', 'null')
                    OR android ->> 'ttl' !~ '^[0-9]{1,9}(\.[0-9]{1,9})?s$'
                    OR rtrim(android ->> 'ttl', 's')::numeric > 2419200
                THEN android_key || '.ttl is not like 3600s, from 0s to 2419200s'
            WHEN android ->> 'priority' NOT IN ('NORMAL', 'HIGH', 'normal', 'high')
                THEN android_key || '.priority is not NORMAL or HIGH'
            WHEN shown ->> 'color' !~ '^#[0-9a-fA-F]{6}$' THEN shown_path || '.color is not like #rrggbb'
            WHEN android -> 'data' <> 'null' THEN android_key || '.data.' || todoke.data_fault(android -> 'data')
        END;
    END IF;
    IF fault IS NULL AND apns IS NOT NULL THEN
        fault := CASE
            WHEN apns - known_in_apns <> '{}' THEN todoke.unknown_field(apns, known_in_apns, 'apns.')
            WHEN jsonb_typeof(aps -> 'alert') NOT IN ('string', 'object', 'null')
                THEN 'apns.payload.aps.alert is neither a text nor an object'
            WHEN jsonb_typeof(aps -> 'badge') NOT IN ('number', 'null') THEN 'apns.payload.aps.badge is no number'
            WHEN apns -> 'headers' <> 'null' THEN 'apns.headers.' || todoke.header_fault(apns -> 'headers')
        END;
    END IF;
    IF fault IS NULL AND webpush IS NOT NULL THEN
        fault := CASE
            WHEN webpush - known_in_webpush <> '{}' THEN todoke.unknown_field(webpush, known_in_webpush, 'webpush.')
            WHEN coalesce(webpush -> 'fcm_options', webpush -> 'fcmOptions') ->> 'link' !~ '^https://.'
                THEN 'webpush.fcm_options.link is no https URL'
            WHEN webpush -> 'data' <> 'null' THEN 'webpush.data.' || todoke.data_fault(webpush -> 'data')
        END;
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'message.%', fault
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the message: FCM would refuse it.';
    END IF;
    RETURN message;
END
$_$;
ALTER FUNCTION todoke.checked_message(message jsonb, android_key text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.checked_message(message jsonb, android_key text) IS 'The message as it is; refused where FCM would not take it, as far as SQL can tell.';
CREATE FUNCTION todoke.compact_size(value jsonb) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    -- Outside its strings, what is white space.
    SELECT octet_length(value::text)
        - length(regexp_replace(regexp_replace(value::text, '"(?:[^"\\]|\\.)*"', '', 'g'), '[^ ]', '', 'g'))
$$;
ALTER FUNCTION todoke.compact_size(value jsonb) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.compact_size(value jsonb) IS 'Bytes of a value as JSON without white space.';
CREATE FUNCTION todoke.completed_message(message jsonb, android_key text, notification_id text, image text, life integer, expires_at timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
DECLARE
    id jsonb := jsonb_build_object('notification_id', notification_id);
    -- A header's value: no control characters, no spaces at its ends, 64 bytes.
    collapse_id text := CASE
        WHEN octet_length(notification_id) <= 64 AND notification_id !~ '[\x01-\x1f\x7f]|^ | $' THEN notification_id
        ELSE encode(sha256(convert_to(notification_id, 'UTF8')), 'hex') END;
    notification jsonb := nullif(message -> 'notification', 'null');
    data jsonb := coalesce(nullif(message -> 'data', 'null'), '{}');
    android jsonb := nullif(message -> android_key, 'null');
    is_v2 boolean := android_key <> 'android';
    remote_key text := CASE WHEN android ? 'remoteNotification' THEN 'remoteNotification' ELSE 'remote_notification' END;
    shown jsonb := nullif(CASE WHEN is_v2 THEN android -> remote_key ELSE android END -> 'notification', 'null');
    -- android_v2 is either a notification or a background sync.
    takes_notification boolean := NOT is_v2
        OR coalesce(coalesce(android -> 'background_sync', android -> 'backgroundSync') = 'null', true);
    apns jsonb := nullif(message -> 'apns', 'null');
    reaches_apple boolean := notification IS NOT NULL OR apns IS NOT NULL;
    options_key text := CASE WHEN apns ? 'fcmOptions' THEN 'fcmOptions' ELSE 'fcm_options' END;
    options jsonb := nullif(apns -> options_key, 'null');
    headers jsonb := nullif(apns -> 'headers', 'null');
    web_data jsonb := nullif(message #> '{webpush,data}', 'null');
    -- Names of headers have no case.
    has_collapse_id boolean := false;
    own_expiration text;
    own_ttl text := android ->> 'ttl';
    own_image text;
    content jsonb;
    header record;
    fault text;
    hint text := 'Leave it out: it is always set.';
BEGIN
    -- A platform's data replaces the message's, so the id has to be in each.
    fault := CASE
        WHEN data ->> 'notification_id' <> notification_id THEN 'data'
        WHEN android #>> '{data,notification_id}' <> notification_id THEN android_key || '.data'
        WHEN web_data ->> 'notification_id' <> notification_id THEN 'webpush.data'
    END || '.notification_id is another than notification_id';
    message := message || jsonb_build_object('data', data || id);
    IF web_data IS NOT NULL THEN
        message := jsonb_set(message, '{webpush,data}', web_data || id);
    END IF;
    IF android -> 'data' <> 'null' THEN
        android := jsonb_set(android, '{data}', android -> 'data' || id);
    END IF;
    IF takes_notification AND (notification IS NOT NULL OR shown IS NOT NULL)
        AND coalesce(shown -> 'tag' = 'null', true)
    THEN
        shown := coalesce(shown, '{}') || jsonb_build_object('tag', collapse_id);
    END IF;
    IF headers IS NOT NULL THEN
        FOR header IN SELECT lower(h.key) AS name, h.value #>> '{}' AS value FROM jsonb_each(headers) AS h (key, value) LOOP
            has_collapse_id := has_collapse_id OR header.name = 'apns-collapse-id';
            IF header.name = 'apns-expiration' THEN
                own_expiration := header.value;
            END IF;
        END LOOP;
    END IF;
    IF reaches_apple AND NOT has_collapse_id
        AND coalesce(coalesce(apns -> 'live_activity_token', apns -> 'liveActivityToken') = 'null', true)
    THEN
        headers := coalesce(headers, '{}') || jsonb_build_object('apns-collapse-id', collapse_id);
    END IF;
    IF life IS NOT NULL THEN
        -- The longest life FCM gives a message: four weeks.
        life := least(life, 2419200);
        IF own_ttl IS NULL OR substring(own_ttl FROM '^[0-9]+')::int > life THEN
            android := coalesce(android, '{}') || jsonb_build_object('ttl', life || 's');
        END IF;
        IF reaches_apple AND own_expiration IS NULL THEN
            headers := coalesce(headers, '{}')
                || jsonb_build_object('apns-expiration', floor(extract(epoch FROM expires_at))::bigint::text);
        ELSIF own_expiration <> '0' AND fault IS NULL THEN
            fault := 'apns.headers.apns-expiration is there and expires_in is given';
            hint := 'Leave one of them out.';
        END IF;
    END IF;
    -- Each platform looks for the picture elsewhere. An empty one is left out.
    own_image := coalesce(
        notification ->> 'image', CASE WHEN takes_notification THEN shown ->> 'image' END, options ->> 'image');
    IF image <> '' AND fault IS NULL THEN
        IF own_image IS NOT NULL THEN
            fault := 'image is there and image is given';
            hint := 'Leave one of them out.';
        ELSIF notification IS NULL AND (shown IS NULL OR NOT takes_notification)
            AND coalesce(apns #> '{payload,aps,alert}' = 'null', true)
        THEN
            fault := 'notification is missing and image is given';
            hint := 'Give the message a notification with title and body.';
        END IF;
        own_image := image;
    END IF;
    IF own_image IS NOT NULL THEN
        notification := todoke.with_image(notification, own_image);
        IF takes_notification THEN
            shown := todoke.with_image(shown, own_image);
        END IF;
        options := todoke.with_image(options, own_image);
        IF own_image <> '' THEN
            -- The iOS client's service extension runs only with mutable-content.
            content := nullif(apns #> '{payload,aps,mutable-content}', 'null');
            IF content IS NULL THEN
                apns := coalesce(apns, '{}') || jsonb_build_object(
                    'payload', coalesce(nullif(apns -> 'payload', 'null'), '{}') || jsonb_build_object(
                        'aps', coalesce(nullif(apns #> '{payload,aps}', 'null'), '{}') || '{"mutable-content": 1}'));
            ELSIF content NOT IN ('1', 'true') AND fault IS NULL THEN
                fault := 'apns.payload.aps.mutable-content is not 1 and there is an image';
                hint := 'Leave it out: it is set to 1 with every image.';
            END IF;
        END IF;
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'message.%', fault USING ERRCODE = 'invalid_parameter_value', HINT = hint;
    END IF;
    IF notification IS NOT NULL THEN
        message := message || jsonb_build_object('notification', notification);
    END IF;
    IF shown IS NOT NULL AND NOT is_v2 THEN
        android := coalesce(android, '{}') || jsonb_build_object('notification', shown);
    ELSIF shown IS NOT NULL THEN
        android := android || jsonb_build_object(
            remote_key, coalesce(nullif(android -> remote_key, 'null'), '{}') || jsonb_build_object('notification', shown));
    END IF;
    IF android IS NOT NULL THEN
        message := message || jsonb_build_object(android_key, android);
    END IF;
    IF headers IS NOT NULL THEN
        apns := coalesce(apns, '{}') || jsonb_build_object('headers', headers);
    END IF;
    IF options IS NOT NULL THEN
        apns := coalesce(apns, '{}') || jsonb_build_object(options_key, options);
    END IF;
    IF apns IS NOT NULL THEN
        message := message || jsonb_build_object('apns', apns);
    END IF;
    RETURN message;
END
$_$;
ALTER FUNCTION todoke.completed_message(message jsonb, android_key text, notification_id text, image text, life integer, expires_at timestamp with time zone) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.completed_message(message jsonb, android_key text, notification_id text, image text, life integer, expires_at timestamp with time zone) IS 'The message with what every message gets: data.notification_id, the collapse keys, its end of life, and its image at every place.';
CREATE FUNCTION todoke.count_devices(app integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.count_devices(app integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.count_devices(app integer) IS 'How many devices of an app are not marked; exact up to 50,000, the planner''s estimate above.';
CREATE FUNCTION todoke.count_events(app integer, notification_id text, kind text, settled json) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT count(*) + coalesce((settled ->> count_events.kind)::bigint, 0) FROM todoke.events AS v
    WHERE v.app = count_events.app AND v.notification_id = count_events.notification_id AND v.kind = count_events.kind
$$;
ALTER FUNCTION todoke.count_events(app integer, notification_id text, kind text, settled json) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.count_events(app integer, notification_id text, kind text, settled json) IS 'Events of one kind of one notification: one per subject, since more than that are not kept; settled has those that were deleted for their age.';
CREATE FUNCTION todoke.data_fault(data jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
BEGIN
    IF NOT jsonb_path_exists(data, 'strict $.* ? (@.type() != "string")')
        AND NOT data ?| '{from,gcm,message_type}' AND data::text !~ '"(google|gcm)\.'
    THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT d.key || CASE jsonb_typeof(d.value) WHEN 'string' THEN ' is a key that FCM keeps for itself' ELSE ' is no string' END
        FROM jsonb_each(data) AS d (key, value)
        WHERE jsonb_typeof(d.value) <> 'string' OR d.key IN ('from', 'gcm', 'message_type') OR d.key ~ '^(google|gcm)\.'
        LIMIT 1);
END
$_$;
ALTER FUNCTION todoke.data_fault(data jsonb) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.data_fault(data jsonb) IS 'The first key of a data map that FCM would not take, and why; NULL when there is none.';
CREATE FUNCTION todoke.day_of(app text, notification_id text) RETURNS date
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT n.day
    FROM todoke.notifications AS n
    JOIN todoke.apps AS a ON a.id = n.app
    WHERE a.name = day_of.app AND n.notification_id = day_of.notification_id
$$;
ALTER FUNCTION todoke.day_of(app text, notification_id text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.day_of(app text, notification_id text) IS 'The day a notification''s messages are kept under: day = todoke.day_of(app, id) makes a query on message_status read that day only.';
CREATE FUNCTION todoke.dead_token_pause() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'too many tokens were found dead at once: see todoke devices sweep'::text;
ALTER FUNCTION todoke.dead_token_pause() OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.dead_token_pause() IS 'The pause_reason of an app that the brake on mass invalidation paused.';
CREATE FUNCTION todoke.device_fault(token text, user_id text, platform text, locale text, channels text[], installation_id text, app_version text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
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
$_$;
ALTER FUNCTION todoke.device_fault(token text, user_id text, platform text, locale text, channels text[], installation_id text, app_version text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.device_fault(token text, user_id text, platform text, locale text, channels text[], installation_id text, app_version text) IS 'What is wrong with a device that is to be registered, and what to do about it; NULL when nothing is.';
CREATE FUNCTION todoke.device_of(app integer, token text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET enable_sort TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.device_of(app integer, token text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.device_of(app integer, token text) IS 'The key of a token''s row; NULL when there is none.';
CREATE FUNCTION todoke.end_dead_token_hold(app text, proofs_were_wrong boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.end_dead_token_hold(app text, proofs_were_wrong boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.end_dead_token_hold(app text, proofs_were_wrong boolean) IS 'Devices of the app are marked again, and it is resumed if it was paused for that; false when nothing was held. With proofs_were_wrong what was recorded before counts no more.';
CREATE FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind DEFAULT 'token'::todoke.target_kind, priority integer DEFAULT 5, due_at timestamp with time zone DEFAULT now(), expires_in interval DEFAULT NULL::interval, image text DEFAULT NULL::text, user_id text DEFAULT NULL::text, dedupe_by text DEFAULT NULL::text, campaign text DEFAULT NULL::text, delivery text DEFAULT NULL::text, validate_only boolean DEFAULT false, OUT message_id bigint, OUT is_new boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
    owner record;
    said record;
    content jsonb := todoke.parsed_message(message);
    android_key text := CASE
        WHEN content -> 'android_v2' <> 'null' THEN 'android_v2'
        WHEN content -> 'androidV2' <> 'null' THEN 'androidV2'
        ELSE 'android' END;
    targets int := num_nonnulls(
        enqueue.target, nullif(content -> 'token', 'null'), nullif(content -> 'fid', 'null'),
        nullif(content -> 'topic', 'null'), nullif(content -> 'condition', 'null'));
    life int;
    expires timestamptz;
    payload text;
    ttl text;
    ttl_byte int;
    dedupe uuid;
    fault text;
    hint text;
    due_soon boolean;
BEGIN
    SELECT a.id, a.name, a.environment, a.delivery INTO owner FROM todoke.apps AS a WHERE a.name = enqueue.app;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(enqueue.app), 'NULL')
            USING ERRCODE = 'no_data_found',
                HINT = 'INSERT INTO todoke.apps (name, project_id) VALUES (''NAME'', ''FIREBASE-PROJECT'')';
    END IF;
    enqueue.notification_id := coalesce(enqueue.notification_id, gen_random_uuid()::text);
    enqueue.priority := coalesce(enqueue.priority, 5);
    enqueue.due_at := coalesce(enqueue.due_at, now());
    enqueue.validate_only := coalesce(enqueue.validate_only, false);
    due_soon := enqueue.due_at BETWEEN now() - interval '366 days' AND now() + interval '28 days';
    IF enqueue.expires_in > interval '366 days' THEN
        life := 0;
    ELSIF enqueue.expires_in IS NOT NULL AND due_soon THEN
        expires := enqueue.due_at + enqueue.expires_in;
        life := floor(greatest(extract(epoch FROM expires - enqueue.due_at), 0));
    END IF;
    IF enqueue.target IS NOT NULL THEN
        enqueue.target_kind := coalesce(enqueue.target_kind, 'token');
        content := content || jsonb_build_object(enqueue.target_kind, enqueue.target);
    ELSE
        enqueue.target_kind := CASE
            WHEN content -> 'token' <> 'null' THEN 'token'
            WHEN content -> 'fid' <> 'null' THEN 'fid'
            WHEN content -> 'topic' <> 'null' THEN 'topic'
            ELSE 'condition' END;
        IF jsonb_typeof(content -> enqueue.target_kind::text) = 'string' THEN
            enqueue.target := content ->> enqueue.target_kind::text;
        END IF;
    END IF;
    CASE
        WHEN enqueue.notification_id = '' OR octet_length(enqueue.notification_id) > 500 THEN
            fault := 'notification_id is empty or longer than 500 bytes';
            hint := 'Choose a short one, or NULL for a new UUID: devices get it too.';
        WHEN enqueue.priority NOT BETWEEN 0 AND 9 THEN
            fault := 'priority is not between 0 and 9';
            hint := '5 is normal, 9 is for what a user waits for.';
        WHEN NOT due_soon THEN
            fault := 'due_at is more than 28 days ahead, or more than a year ago';
            hint := 'Queue it later: a queue is no calendar, and days are dropped from it.';
        WHEN life NOT BETWEEN 1 AND 31622400 THEN
            fault := 'expires_in is not between one second and a year';
            hint := 'Give how long the message may wait after due_at.';
        WHEN enqueue.dedupe_by = '' THEN
            fault := 'dedupe_by is empty';
            hint := 'Give what there is to be one message for, or NULL: then that is the target.';
        WHEN enqueue.delivery NOT IN ('at_least_once', 'at_most_once') THEN
            fault := 'delivery is neither at_least_once nor at_most_once';
            hint := 'Leave it out: then it is what the app says.';
        WHEN targets <> 1 THEN
            fault := CASE targets WHEN 0 THEN 'the message has no target' ELSE 'the message has more than one target' END;
            hint := 'Give target, or else one of token, fid, topic and condition in the message.';
        WHEN coalesce(enqueue.target, '') = '' THEN
            fault := format('the message''s %s is empty or no string', enqueue.target_kind);
            hint := 'Give the target as the device reported it.';
        WHEN enqueue.target_kind = 'topic' AND (length(enqueue.target) > 900 OR enqueue.target !~ '^[a-zA-Z0-9_.~%-]+$') THEN
            fault := 'the topic is longer than 900 characters or has others than a-z, A-Z, 0-9 and -_.~%';
            hint := 'Give its name alone, without /topics/.';
        ELSE
    END CASE;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION '%', fault USING ERRCODE = 'invalid_parameter_value', HINT = hint;
    END IF;
    content := todoke.completed_message(
        todoke.checked_message(content, android_key), android_key, enqueue.notification_id, enqueue.image, life, expires);
    IF life IS NULL THEN
        payload := content;
    ELSE
        -- The ttl comes last: its digits are where the sender writes the seconds left.
        ttl := content -> android_key ->> 'ttl';
        payload := left((content - android_key)::text, -1) || ', "' || android_key || '": '
            || coalesce(left(nullif((content -> android_key) - 'ttl', '{}')::text, -1) || ', ', '{') || '"ttl": "';
        ttl_byte := octet_length(payload);
        payload := payload || ttl || '"}}';
        ttl := substring(ttl FROM '^[0-9]+');
    END IF;
    -- A shorter text has no room for as much as FCM takes.
    IF octet_length(payload) > 1400 THEN
        fault := todoke.size_fault(content, android_key, enqueue.target_kind IN ('topic', 'condition'));
        IF fault IS NOT NULL THEN
            RAISE EXCEPTION 'message.%', fault
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Shorten it, or let the app fetch the rest.';
        END IF;
    END IF;
    IF owner.environment = 'sandbox' AND NOT EXISTS (
        SELECT FROM todoke.allowed_targets AS t
        WHERE t.app = owner.id AND t.target_kind = enqueue.target_kind AND t.target = enqueue.target)
    THEN
        RAISE EXCEPTION 'app % is a sandbox, and this % is not among its allowed targets',
                quote_literal(owner.name), enqueue.target_kind
            USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = format(
                    'INSERT INTO todoke.allowed_targets (app, target_kind, target) SELECT id, %L, ''TARGET'' '
                    'FROM todoke.apps WHERE name = %L', enqueue.target_kind, owner.name);
    END IF;
    LOOP
        SELECT n.id, n.day, n.delivery, n.validate_only, n.cancelled_at, n.closes_at, n.purged_at INTO said
        FROM todoke.notifications AS n WHERE n.app = owner.id AND n.notification_id = enqueue.notification_id;
        EXIT WHEN FOUND;
        INSERT INTO todoke.notifications AS n (app, notification_id, campaign, delivery, validate_only)
        VALUES (owner.id, enqueue.notification_id, enqueue.campaign, enqueue.delivery, enqueue.validate_only)
        ON CONFLICT (app, notification_id) DO NOTHING
        RETURNING n.id, n.day, n.delivery, n.validate_only, n.cancelled_at, n.closes_at, n.purged_at INTO said;
        EXIT WHEN FOUND;
    END LOOP;
    CASE
        WHEN said.cancelled_at IS NOT NULL THEN
            fault := 'is cancelled';
            hint := 'Choose a new notification_id: what is cancelled is never sent.';
        WHEN said.closes_at <= clock_timestamp() OR said.purged_at IS NOT NULL THEN
            fault := 'is closed';
            hint := 'Choose a new notification_id: a closed one is never sent again.';
        WHEN said.validate_only <> enqueue.validate_only THEN
            fault := CASE WHEN said.validate_only THEN 'is one that FCM only checks' ELSE 'is one that is sent for real' END;
            hint := format('Give validate_only => %s, or choose a new notification_id.', said.validate_only);
        WHEN coalesce(said.delivery, owner.delivery) <> enqueue.delivery THEN
            fault := 'is sent ' || coalesce(said.delivery, owner.delivery);
            hint := 'Leave delivery out, or choose a new notification_id.';
        ELSE
    END CASE;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'notification % %', quote_literal(enqueue.notification_id), fault
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = hint;
    END IF;
    -- The producer and the senders make days ahead; where neither has run for a week, this does.
    IF to_regclass('todoke.messages_' || to_char(said.day, 'YYYYMMDD')) IS NULL THEN
        PERFORM todoke.ensure_partitions(7);
        IF to_regclass('todoke.messages_' || to_char(said.day, 'YYYYMMDD')) IS NULL THEN
            RAISE EXCEPTION 'the day of notification %, %, is gone', quote_literal(enqueue.notification_id),
                    to_char(said.day, 'YYYY-MM-DD')
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose a new notification_id.';
        END IF;
    END IF;
    -- The producer's too: whatever queues it, there is one message each in a notification.
    dedupe := left(encode(sha256(convert_to(
        coalesce('by:' || enqueue.dedupe_by, enqueue.target_kind || ':' || enqueue.target), 'UTF8')), 'hex'), 32);
    message_id := nextval('todoke.message_id_seq');
    WITH new_payload AS (
        INSERT INTO todoke.payloads (
            id, notification, dedupe_key, day, target_kind, ttl_at, ttl_len, user_id, target, payload
        ) VALUES (
            message_id, said.id, dedupe, said.day, enqueue.target_kind, ttl_byte, length(ttl), nullif(enqueue.user_id, ''),
            enqueue.target, payload::json
        ) ON CONFLICT (notification, dedupe_key, day) DO NOTHING
        RETURNING id
    )
    INSERT INTO todoke.messages (id, notification, due_at, day, app, priority, expires_at)
    SELECT n.id, said.id, enqueue.due_at, said.day, owner.id, enqueue.priority, expires FROM new_payload AS n;
    is_new := FOUND;
    IF is_new THEN
        PERFORM pg_notify('todoke_due', owner.name);
    ELSE
        SELECT p.id INTO message_id FROM todoke.payloads AS p
        WHERE p.notification = said.id AND p.dedupe_key = dedupe AND p.day = said.day;
    END IF;
END
$_$;
ALTER FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind, priority integer, due_at timestamp with time zone, expires_in interval, image text, user_id text, dedupe_by text, campaign text, delivery text, validate_only boolean, OUT message_id bigint, OUT is_new boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind, priority integer, due_at timestamp with time zone, expires_in interval, image text, user_id text, dedupe_by text, campaign text, delivery text, validate_only boolean, OUT message_id bigint, OUT is_new boolean) IS 'Queues one message in the caller''s transaction; gives back the notification''s id, the message''s, and whether it is new. The same notification_id and target again queue nothing.';
CREATE FUNCTION todoke.ensure_partitions(days_ahead integer DEFAULT 7) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    made int := 0;
    part record;
BEGIN
    IF days_ahead IS NULL OR days_ahead NOT BETWEEN 0 AND 366 THEN
        RAISE EXCEPTION 'days_ahead must be between 0 and 366, not %', coalesce(days_ahead::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('todoke partitions', 0));
    FOR part IN
        SELECT parent.name AS parent, parent.options, parent.note, dates.day::date AS day,
            parent.name || '_' || to_char(dates.day, 'YYYYMMDD') AS name
        FROM (VALUES
            -- Each row is written three times. Room on its page spares a fifth of the WAL and leaves a smaller table.
            -- VACUUM must not wait for a fifth of a day, nor lock the table to shorten it.
            ('messages',
                'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0, '
                    'vacuum_truncate = off',
                'The queue''s messages of'),
            ('payloads', NULL, 'Payloads of the messages of'),
            ('attempts', NULL, 'Failed attempts for the messages of'),
            ('rejections', NULL, 'Refused audience rows of')
        ) AS parent (name, options, note)
        -- Yesterday too: a transaction that began before midnight may still queue for it.
        CROSS JOIN generate_series((today - 1)::timestamp, (today + days_ahead)::timestamp, interval '1 day') AS dates (day)
        ORDER BY dates.day, parent.name
    LOOP
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_inherits
            WHERE inhrelid = to_regclass(format('todoke.%I', part.name))
                AND inhparent = format('todoke.%I', part.parent)::regclass);
        IF to_regclass(format('todoke.%I', part.name)) IS NOT NULL THEN
            RAISE EXCEPTION 'todoke.% exists, but is no partition of todoke.%', part.name, part.parent
                USING ERRCODE = 'duplicate_table', HINT = 'Drop it, or attach it as the partition of its day.';
        END IF;
        -- CREATE … PARTITION OF would lock out everybody until the commit; LIKE and ATTACH do not. The new table is
        -- empty, so ATTACH has nothing to scan and needs no CHECK to save it from that.
        EXECUTE format('CREATE TABLE todoke.%I (LIKE todoke.%I INCLUDING ALL)', part.name, part.parent);
        IF part.options IS NOT NULL THEN
            EXECUTE format('ALTER TABLE todoke.%I SET (%s)', part.name, part.options);
        END IF;
        EXECUTE format('COMMENT ON TABLE todoke.%I IS %L', part.name, format('%s %s (UTC).', part.note, part.day));
        EXECUTE format(
            'ALTER TABLE todoke.%I ATTACH PARTITION todoke.%I FOR VALUES FROM (%L) TO (%L)',
            part.parent, part.name, part.day, part.day + 1);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
ALTER FUNCTION todoke.ensure_partitions(days_ahead integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.ensure_partitions(days_ahead integer) IS 'Makes the missing partitions from yesterday to days_ahead days ahead and returns how many it made. Safe to call at any time, by many at once; gives up after 2 s of waiting for a lock.';
CREATE FUNCTION todoke.error_hint(code text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    SELECT CASE
        WHEN known.hint IS NOT NULL THEN known.hint
        WHEN error_hint.code ~ '^HTTP_5\d\d$' THEN 'The provider, or something before it, had a fault. The message is tried again.'
        WHEN error_hint.code ~ '^HTTP_4\d\d$' THEN 'The provider refused the request. attempts.detail has what it said.'
        WHEN error_hint.code ~ '^CURL_\d+$' THEN 'The connection to the provider failed. attempts.detail has what libcurl said.'
    END
    FROM (SELECT) AS always
    LEFT JOIN todoke.error_hints AS known ON known.code = error_hint.code
$_$;
ALTER FUNCTION todoke.error_hint(code text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.error_hint(code text) IS 'What an error code means and what to do about it; NULL for a code nobody has explained.';
CREATE FUNCTION todoke.estimated_reach(app integer, notification bigint, day date, sent bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER COST 100000
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.estimated_reach(app integer, notification bigint, day date, sent bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.estimated_reach(app integer, notification bigint, day date, sent bigint) IS 'Of so many messages that were sent, those to devices that allow notifications: counted below 20000, above that by the share among 20000 messages of the notification; what notification_summary.reach is made of until it is settled.';
CREATE FUNCTION todoke.event_fault(kind text, token text, user_id text, properties json) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE
        WHEN coalesce(kind NOT IN ('opened', 'received', 'dismissed'), true) THEN 'kind is not opened, received or dismissed'
        WHEN coalesce(token, '') = '' AND coalesce(user_id, '') = '' THEN 'neither token nor user_id is given'
        WHEN octet_length(token) > 4096 THEN 'token is longer than 4096 bytes'
        WHEN octet_length(user_id) > 500 THEN 'user_id is longer than 500 bytes'
        WHEN octet_length(properties::text) > 8192
            THEN format('properties take %s bytes, more than 8192', octet_length(properties::text))
        WHEN replace(properties::text, '\\', '') LIKE '%\\u0000%' THEN 'properties have \u0000 in them'
    END
$$;
ALTER FUNCTION todoke.event_fault(kind text, token text, user_id text, properties json) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.event_fault(kind text, token text, user_id text, properties json) IS 'What is wrong with an event; NULL when nothing is.';
CREATE FUNCTION todoke.found_messages(condition text, app text, most integer) RETURNS TABLE(id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind, target text, user_id text, queued_at timestamp with time zone, due_at timestamp with time zone, finished_at timestamp with time zone, attempts smallint, http_status smallint, error_code text, hint text, provider_message_id text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.found_messages(condition text, app text, most integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.found_messages(condition text, app text, most integer) IS 'What user_messages and token_messages have in common; the condition is SQL, so nobody else may call it.';
CREATE FUNCTION todoke.header_fault(headers jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$
    SELECT h.key || h.fault
    FROM (
        SELECT e.key, CASE
            WHEN jsonb_typeof(e.value) <> 'string' THEN ' is no string'
            WHEN count(*) OVER (PARTITION BY lower(e.key)) > 1 THEN ' is there twice: the names of headers have no case'
            WHEN lower(e.key) = 'apns-collapse-id' AND octet_length(e.value #>> '{}') > 64 THEN ' is longer than 64 bytes'
            WHEN lower(e.key) = 'apns-priority' AND e.value #>> '{}' NOT IN ('1', '5', '10') THEN ' is not 10, 5 or 1'
            WHEN lower(e.key) = 'apns-expiration' AND e.value #>> '{}' !~ '^[0-9]{1,18}$'
                THEN ' is no time in seconds since 1970'
        END AS fault
        FROM jsonb_each(headers) AS e (key, value)
    ) AS h
    WHERE h.fault IS NOT NULL LIMIT 1
$_$;
ALTER FUNCTION todoke.header_fault(headers jsonb) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.header_fault(headers jsonb) IS 'The first header that APNs would not take, and why; NULL when there is none.';
CREATE FUNCTION todoke.insert_event(app integer, notification_id text, made_at timestamp with time zone, kind text, token text, user_id text, at timestamp with time zone, properties json) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    known bigint;
    happened timestamptz := greatest(least(coalesce(insert_event.at, now()), now()), insert_event.made_at);
    is_new boolean;
BEGIN
    IF insert_event.token <> '' THEN
        SELECT d.id INTO known FROM todoke.devices AS d WHERE d.app = insert_event.app AND d.token = insert_event.token;
    END IF;
    IF known IS NOT NULL AND EXISTS (
        SELECT FROM todoke.events AS v
        WHERE v.app = insert_event.app AND v.notification_id = insert_event.notification_id AND v.kind = insert_event.kind
            AND v.subject = 't' || left(encode(sha256(convert_to(insert_event.token, 'UTF8')), 'hex'), 32))
    THEN
        RETURN false;
    END IF;
    INSERT INTO todoke.events (app, notification_id, kind, user_id, device, at, properties, subject)
    VALUES (
        insert_event.app, insert_event.notification_id, insert_event.kind, nullif(insert_event.user_id, ''), known, happened,
        insert_event.properties,
        CASE WHEN known IS NOT NULL THEN 'd' || known
            WHEN insert_event.token <> ''
                THEN 't' || left(encode(sha256(convert_to(insert_event.token, 'UTF8')), 'hex'), 32)
            ELSE 'u' || insert_event.user_id END)
    ON CONFLICT (app, notification_id, kind, subject) DO NOTHING;
    is_new := FOUND;
    IF is_new AND known IS NOT NULL THEN
        -- What reports is alive. Once a day is enough, and nobody waits for a row that somebody else has locked.
        UPDATE todoke.devices AS d SET last_seen_at = happened
        WHERE d.id = (
            SELECT v.id FROM todoke.devices AS v
            WHERE v.id = known AND v.last_seen_at < happened - interval '1 day'
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN is_new;
END
$$;
ALTER FUNCTION todoke.insert_event(app integer, notification_id text, made_at timestamp with time zone, kind text, token text, user_id text, at timestamp with time zone, properties json) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.insert_event(app integer, notification_id text, made_at timestamp with time zone, kind text, token text, user_id text, at timestamp with time zone, properties json) IS 'Writes one event that has been looked at; false when it is there already.';
CREATE FUNCTION todoke.is_time_zone(name text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $_$
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
$_$;
ALTER FUNCTION todoke.is_time_zone(name text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.is_time_zone(name text) IS 'Whether it is the IANA name of a zone that this server knows.';
CREATE FUNCTION todoke.message_days() RETURNS SETOF date
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 31
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD')
    FROM pg_inherits AS i
    JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'todoke.messages'::regclass AND NOT i.inhdetachpending
    ORDER BY 1
$$;
ALTER FUNCTION todoke.message_days() OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.message_days() IS 'The days that have partitions, oldest first.';
CREATE FUNCTION todoke.message_story(message_id bigint) RETURNS TABLE(at timestamp with time zone, step text, http_status smallint, error_code text, hint text, detail text, next_at timestamp with time zone, sender_id bigint, sender_host text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 5
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.message_story(message_id bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.message_story(message_id bigint) IS 'All that happened to one message, in order: queued, each attempt that failed, and where it is now or how it ended. next_at is when it is tried again, or until when its sender holds it. Nothing for an id that is not there, or not any more.';
CREATE FUNCTION todoke.notification_counts(app text, notification_id text, OUT pending bigint, OUT sending bigint, OUT sent bigint, OUT failed bigint, OUT expired bigint, OUT cancelled bigint) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.notification_counts(app text, notification_id text, OUT pending bigint, OUT sending bigint, OUT sent bigint, OUT failed bigint, OUT expired bigint, OUT cancelled bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.notification_counts(app text, notification_id text, OUT pending bigint, OUT sending bigint, OUT sent bigint, OUT failed bigint, OUT expired bigint, OUT cancelled bigint) IS 'A notification''s messages by state, counted now.';
CREATE FUNCTION todoke.notification_progress(notification bigint, day date) RETURNS TABLE(total bigint, pending bigint, sending bigint, sent bigint, failed bigint, expired bigint, cancelled bigint, first_sent_at timestamp with time zone, last_sent_at timestamp with time zone, p50_seconds double precision, p95_seconds double precision, top_errors json)
    LANGUAGE plpgsql STABLE SECURITY DEFINER COST 100000 ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.notification_progress(notification bigint, day date) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.notification_progress(notification bigint, day date) IS 'The numbers of one notification that is not settled: states and errors counted, p50_seconds and p95_seconds of 20000 of its messages when it has more; what notification_summary is made of.';
CREATE FUNCTION todoke.parsed_message(message json) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    given text := message::text;
    parsed jsonb;
    kept text;
    fault text;
BEGIN
    IF octet_length(given) > 1048576 THEN
        RAISE EXCEPTION 'message is longer than 1 MiB'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'FCM takes about 4096 bytes: see PayloadRules.';
    END IF;
    BEGIN
        parsed := message;
    EXCEPTION
        WHEN untranslatable_character OR invalid_text_representation THEN
            -- The server's own error would quote the message up to there, and with it the token.
            RAISE EXCEPTION 'message has \u0000 or half a surrogate pair in it'
                USING ERRCODE = 'untranslatable_character',
                    HINT = 'Leave the character out: neither FCM nor Postgres takes it.';
        WHEN numeric_value_out_of_range THEN
            RAISE EXCEPTION 'message has a number in it that is too large'
                USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Give it as a string.';
    END;
    IF parsed IS NULL OR jsonb_typeof(parsed) <> 'object' THEN
        RAISE EXCEPTION 'message is no JSON object'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give FCM''s message object, with its target or without.';
    END IF;
    -- jsonb keeps one of two equal keys, so there are fewer strings in it, and fewer quotes around strings.
    given := replace(replace(given, '\\', ''), '\"', '');
    kept := replace(replace(parsed::text, '\\', ''), '\"', '');
    IF octet_length(given) - octet_length(replace(given, '"', ''))
        <> octet_length(kept) - octet_length(replace(kept, '"', ''))
    THEN
        fault := todoke.repeated_key(message) || ' is there twice';
    ELSE
        fault := CASE
            WHEN parsed ?& '{android_v2,androidV2}' THEN 'message.android_v2 is there in two spellings'
            WHEN parsed ?& '{fcm_options,fcmOptions}' THEN 'message.fcm_options is there in two spellings'
            WHEN parsed -> 'apns' ?& '{fcm_options,fcmOptions}' THEN 'message.apns.fcm_options is there in two spellings'
            WHEN parsed -> 'apns' ?& '{live_activity_token,liveActivityToken}'
                THEN 'message.apns.live_activity_token is there in two spellings'
            WHEN coalesce(parsed -> 'android_v2', parsed -> 'androidV2') ?& '{background_sync,backgroundSync}'
                THEN 'message.android_v2.background_sync is there in two spellings'
            WHEN coalesce(parsed -> 'android_v2', parsed -> 'androidV2') ?& '{remote_notification,remoteNotification}'
                THEN 'message.android_v2.remote_notification is there in two spellings'
        END;
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION '%', fault USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave one of them out.';
    END IF;
    RETURN parsed;
END
$$;
ALTER FUNCTION todoke.parsed_message(message json) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.parsed_message(message json) IS 'The message for looking into; refuses what is no object, keys that are there twice, NUL and half surrogate pairs.';
CREATE FUNCTION todoke.parsed_time(given text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN given::timestamptz;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END
$$;
ALTER FUNCTION todoke.parsed_time(given text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.parsed_time(given text) IS 'A time as a device wrote it; NULL for what is none.';
CREATE FUNCTION todoke.pause_app(app text, reason text DEFAULT NULL::text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT was_paused boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
#variable_conflict use_column
DECLARE
    app_id int := todoke.bulk_app(app);
BEGIN
    SELECT a.paused_at IS NOT NULL INTO was_paused FROM todoke.apps AS a WHERE a.id = app_id FOR NO KEY UPDATE;
    -- With the brake's own reason it would end with the brake.
    UPDATE todoke.apps AS a SET
        paused_at = coalesce(a.paused_at, now()),
        pause_reason = coalesce(nullif(pause_app.reason, ''), nullif(a.pause_reason, todoke.dead_token_pause()))
    WHERE a.id = app_id
    RETURNING a.paused_at, a.pause_reason INTO paused_at, pause_reason;
    -- Senders look at once, and give back what they have not posted.
    PERFORM pg_notify('todoke_due', pause_app.app);
END
$$;
ALTER FUNCTION todoke.pause_app(app text, reason text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT was_paused boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.pause_app(app text, reason text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT was_paused boolean) IS 'Pauses an app: nothing more of it is claimed, what is being posted ends as it does. Paused again, it stays paused since the first time, and a new reason replaces the old one; one that the brake on dead tokens paused stays paused when that ends.';
CREATE FUNCTION todoke.reach(app integer, notification bigint, day date) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER COST 100000
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET jit TO 'off'
    SET work_mem TO '64MB'
    SET enable_nestloop TO 'on'
    SET enable_seqscan TO 'on'
    SET enable_hashjoin TO 'on'
    SET enable_mergejoin TO 'off'
    AS $_$
DECLARE
    probed bigint;
    reached bigint;
BEGIN
    -- As in summarize_notification: a few through the indexes, many by reading the day once.
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM todoke.payloads WHERE notification = %L AND day = %L LIMIT 20000) AS few',
        notification, day) INTO probed;
    IF probed < 20000 THEN
        PERFORM set_config('enable_hashjoin', 'off', true);
        PERFORM set_config('enable_seqscan', 'off', true);
    ELSE
        PERFORM set_config('enable_nestloop', 'off', true);
    END IF;
    EXECUTE format(
        CASE WHEN probed < 20000 THEN $query$
            WITH mine AS MATERIALIZED (
                SELECT p.device, CASE WHEN p.device IS NULL AND p.target_kind = 'token' THEN p.target END AS token
                FROM todoke.payloads AS p
                JOIN todoke.messages AS m ON m.id = p.id AND m.day = %2$L
                WHERE p.day = %2$L AND p.notification = %1$L AND m.state = 'sent'
            )
            SELECT (SELECT count(*) FROM mine)
                - (SELECT count(*) FROM mine JOIN todoke.devices AS d ON d.id = mine.device
                    WHERE d.allows_notifications = false)
                - (SELECT count(*) FROM mine JOIN todoke.devices AS d ON d.app = %3$L AND d.token = mine.token
                    WHERE d.allows_notifications = false)
            $query$ ELSE $query$
            -- Most devices allow it: joining those that do not is less work than joining all messages.
            WITH silenced AS MATERIALIZED (
                SELECT p.id FROM todoke.payloads AS p JOIN todoke.devices AS d ON d.id = p.device
                WHERE p.day = %2$L AND p.notification = %1$L AND d.allows_notifications = false
                UNION ALL
                SELECT p.id FROM todoke.payloads AS p JOIN todoke.devices AS d ON d.app = %3$L AND d.token = p.target
                WHERE p.day = %2$L AND p.notification = %1$L AND p.device IS NULL AND p.target_kind = 'token'
                    AND d.allows_notifications = false
            )
            SELECT (SELECT count(*) FROM todoke.messages AS m
                    WHERE m.day = %2$L AND m.notification = %1$L AND m.state = 'sent')
                - (SELECT count(*) FROM silenced AS s JOIN todoke.messages AS m ON m.id = s.id AND m.day = %2$L
                    WHERE m.state = 'sent')
            $query$ END,
        notification, day, app) INTO reached;
    RETURN reached;
END
$_$;
ALTER FUNCTION todoke.reach(app integer, notification bigint, day date) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.reach(app integer, notification bigint, day date) IS 'Messages of a notification that were sent, without those to devices that do not allow notifications; what notification_summary.reach is made of.';
CREATE FUNCTION todoke.record_dead_tokens(sender_id bigint, day date, message_ids bigint[], apps integer[], codes text[], dead_at timestamp with time zone[]) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $_$
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
                SELECT d.id, seen.message_id, seen.code
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
$_$;
ALTER FUNCTION todoke.record_dead_tokens(sender_id bigint, day date, message_ids bigint[], apps integer[], codes text[], dead_at timestamp with time zone[]) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.record_dead_tokens(sender_id bigint, day date, message_ids bigint[], apps integer[], codes text[], dead_at timestamp with time zone[]) IS 'Marks the devices whose tokens these messages proved dead, unless registered after that; holds and pauses an app with too many. Gives back what somebody must know, else NULL.';
CREATE FUNCTION todoke.record_event(app text, notification_id text, kind text, token text DEFAULT NULL::text, user_id text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, properties json DEFAULT NULL::json) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    owner int;
    said record;
    fault text := todoke.event_fault(record_event.kind, record_event.token, record_event.user_id, record_event.properties);
BEGIN
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION '%', fault
            USING ERRCODE = 'invalid_parameter_value',
                HINT = 'SELECT todoke.record_event(''APP'', ''NOTIFICATION-ID'', ''opened'', token => ''TOKEN'')';
    END IF;
    SELECT a.id INTO owner FROM todoke.apps AS a WHERE a.name = record_event.app;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(left(record_event.app, 100)), 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'Give the name that messages are queued with.';
    END IF;
    SELECT n.notification_id, n.created_at, n.settled_events INTO said FROM todoke.notifications AS n
    WHERE n.app = owner AND n.notification_id = record_event.notification_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'app % has no notification %',
                quote_literal(record_event.app), coalesce(quote_literal(left(record_event.notification_id, 100)), 'NULL')
            USING ERRCODE = 'no_data_found',
                HINT = 'Give what the device got as data.notification_id: it is known for good, also when its messages are gone.';
    END IF;
    IF said.settled_events IS NOT NULL THEN
        RETURN false;
    END IF;
    RETURN todoke.insert_event(
        owner, said.notification_id, said.created_at, record_event.kind, record_event.token, record_event.user_id,
        record_event.at, record_event.properties);
END
$$;
ALTER FUNCTION todoke.record_event(app text, notification_id text, kind text, token text, user_id text, at timestamp with time zone, properties json) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.record_event(app text, notification_id text, kind text, token text, user_id text, at timestamp with time zone, properties json) IS 'Records what a device reports of a notification: opened, received or dismissed. True when it is new; the same again, and late, changes nothing.';
CREATE FUNCTION todoke.record_events(app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET "TimeZone" TO 'UTC'
    AS $$
#variable_conflict use_column
DECLARE
    owner int;
    said_id text;
    made_at timestamptz;
    is_over boolean;
    event record;
    fault text;
BEGIN
    recorded := 0;
    repeated := 0;
    refused := 0;
    SELECT a.id INTO owner FROM todoke.apps AS a WHERE a.name = record_events.app;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no app %', coalesce(quote_literal(left(record_events.app, 100)), 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'Give the name that messages are queued with.';
    END IF;
    IF json_typeof(record_events.events) IS DISTINCT FROM 'array' THEN
        fault := 'events is no JSON array';
    ELSIF json_array_length(record_events.events) > 10000 THEN
        fault := 'events has more than 10000 elements';
    ELSIF record_events.events::text ~ '\\u(0000|[dD][89a-fA-F])' THEN
        BEGIN
            PERFORM record_events.events::jsonb;
        EXCEPTION
            WHEN untranslatable_character OR invalid_text_representation THEN
                -- The server's own error would quote what is before it.
                fault := 'events has \u0000 or half a surrogate pair in it';
        END;
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION '%', fault
            USING ERRCODE = 'invalid_parameter_value',
                HINT = 'Give [{"notification_id": …, "kind": "opened", "token": …}, …], at most 10000 at once.';
    END IF;
    -- In the order of the key: those who report the same things at once wait for each other, and never in a circle.
    FOR event IN
        SELECT g.place - 1 AS place, e.value ->> 'notification_id' AS notification_id, e.value ->> 'kind' AS kind,
            e.value ->> 'token' AS token, e.value ->> 'user_id' AS user_id, e.value ->> 'at' AS at,
            CASE json_typeof(e.value -> 'properties') WHEN 'null' THEN NULL ELSE e.value -> 'properties' END AS properties
        FROM json_array_elements(record_events.events) WITH ORDINALITY AS g (value, place)
        CROSS JOIN LATERAL (
            SELECT CASE json_typeof(g.value) WHEN 'object' THEN g.value ELSE '{}' END AS value) AS e
        ORDER BY e.value ->> 'notification_id' COLLATE "C", e.value ->> 'kind' COLLATE "C", nullif(e.value ->> 'token', '') COLLATE "C",
            e.value ->> 'user_id' COLLATE "C", g.place
    LOOP
        fault := todoke.event_fault(event.kind, event.token, event.user_id, event.properties);
        IF fault IS NULL THEN
            IF said_id IS DISTINCT FROM event.notification_id THEN
                SELECT n.notification_id, n.created_at, n.settled_events IS NOT NULL INTO said_id, made_at, is_over
                FROM todoke.notifications AS n
                WHERE n.app = owner AND n.notification_id = event.notification_id;
            END IF;
            IF said_id IS NULL THEN
                fault := format(
                    'there is no notification %s', coalesce(quote_literal(left(event.notification_id, 100)), 'NULL'));
            END IF;
        END IF;
        IF fault IS NOT NULL THEN
            refused := refused + 1;
            first_refusal := coalesce(first_refusal, format('events[%s]: %s', event.place, fault));
        ELSIF is_over THEN
            repeated := repeated + 1;
        ELSIF todoke.insert_event(
            owner, said_id, made_at, event.kind, event.token, event.user_id, todoke.parsed_time(event.at), event.properties)
        THEN
            recorded := recorded + 1;
        ELSE
            repeated := repeated + 1;
        END IF;
    END LOOP;
END
$$;
ALTER FUNCTION todoke.record_events(app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.record_events(app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text) IS 'record_event for many: [{"notification_id", "kind", "token", "user_id", "at", "properties"}, …], at most 10000. Elements that cannot be are counted in refused, with the first reason, and do not hold up the others; a time that is none counts as now.';
CREATE FUNCTION todoke.register_device(app text, token text, user_id text DEFAULT NULL::text, platform text DEFAULT NULL::text, locale text DEFAULT NULL::text, time_zone text DEFAULT NULL::text, channels text[] DEFAULT NULL::text[], environment text DEFAULT NULL::text, installation_id text DEFAULT NULL::text, app_version text DEFAULT NULL::text, allows_notifications boolean DEFAULT NULL::boolean, OUT device_id bigint, OUT is_new boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.register_device(app text, token text, user_id text, platform text, locale text, time_zone text, channels text[], environment text, installation_id text, app_version text, allows_notifications boolean, OUT device_id bigint, OUT is_new boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.register_device(app text, token text, user_id text, platform text, locale text, time_zone text, channels text[], environment text, installation_id text, app_version text, allows_notifications boolean, OUT device_id bigint, OUT is_new boolean) IS 'Registers a device''s token, or says what is new about it: NULL keeps what is there, an empty text or list takes it away. The token is in use from then on, by this user and this installation alone; gives back the device''s key and whether the token was new.';
CREATE FUNCTION todoke.registry_app(name text) RETURNS integer
    LANGUAGE plpgsql STABLE
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
ALTER FUNCTION todoke.registry_app(name text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.registry_app(name text) IS 'The key of an app; refuses a name that no app has.';
CREATE FUNCTION todoke.repeated_key(value json, path text DEFAULT 'message'::text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    found text;
    part record;
BEGIN
    IF json_typeof(value) = 'object' THEN
        SELECT path || '.' || e.key INTO found
        FROM json_each(value) AS e (key, value) GROUP BY e.key HAVING count(*) > 1 LIMIT 1;
        IF found IS NOT NULL THEN
            RETURN found;
        END IF;
        FOR part IN SELECT path || '.' || e.key AS path, e.value FROM json_each(value) AS e (key, value) LOOP
            found := todoke.repeated_key(part.value, part.path);
            EXIT WHEN found IS NOT NULL;
        END LOOP;
    ELSIF json_typeof(value) = 'array' THEN
        FOR part IN
            SELECT format('%s[%s]', path, e.place - 1) AS path, e.value
            FROM json_array_elements(value) WITH ORDINALITY AS e (value, place)
        LOOP
            found := todoke.repeated_key(part.value, part.path);
            EXIT WHEN found IS NOT NULL;
        END LOOP;
    END IF;
    RETURN found;
END
$$;
ALTER FUNCTION todoke.repeated_key(value json, path text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.repeated_key(value json, path text) IS 'The path of a key that an object has twice; NULL when none has.';
CREATE FUNCTION todoke.resume_app(app text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT dead_tokens_held_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '5s'
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
ALTER FUNCTION todoke.resume_app(app text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT dead_tokens_held_at timestamp with time zone) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.resume_app(app text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT dead_tokens_held_at timestamp with time zone) IS 'Ends an app''s pause and wakes its senders. Says since when and why it was paused (NULL: it was not), and since when the marking of dead tokens is on hold.';
CREATE FUNCTION todoke.retry_failed(app text, notification_id text DEFAULT NULL::text, codes text[] DEFAULT NULL::text[], since timestamp with time zone DEFAULT NULL::timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone, message_id bigint DEFAULT NULL::bigint, dry_run boolean DEFAULT false, batch integer DEFAULT 1000, INOUT day date DEFAULT NULL::date, INOUT after_id bigint DEFAULT NULL::bigint, OUT retried bigint, OUT closed bigint, OUT cancelled bigint, OUT dead_token bigint, OUT expired bigint, OUT unknown bigint, OUT busy bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET lock_timeout TO '2s'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $_$
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
                    WHERE p.day = %2$L AND p.id = f.id AND p.target_kind IN ('token', 'fid') OFFSET 0
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
                    WHERE d.id = todoke.device_of(%3$s, p.target) OFFSET 0
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
$_$;
ALTER FUNCTION todoke.retry_failed(app text, notification_id text, codes text[], since timestamp with time zone, until timestamp with time zone, message_id bigint, dry_run boolean, batch integer, INOUT day date, INOUT after_id bigint, OUT retried bigint, OUT closed bigint, OUT cancelled bigint, OUT dead_token bigint, OUT expired bigint, OUT unknown bigint, OUT busy bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.retry_failed(app text, notification_id text, codes text[], since timestamp with time zone, until timestamp with time zone, message_id bigint, dry_run boolean, batch integer, INOUT day date, INOUT after_id bigint, OUT retried bigint, OUT closed bigint, OUT cancelled bigint, OUT dead_token bigint, OUT expired bigint, OUT unknown bigint, OUT busy bigint) IS 'Makes failed messages pending again, with their attempts unspent: one batch a call, so give it back day and after_id until day is NULL. Counts what it retried, and by reason what it left. It waits for no message that somebody else has locked.';
CREATE FUNCTION todoke.revive_devices(app text, since timestamp with time zone, batch integer DEFAULT 1000, OUT looked integer, OUT revived integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.revive_devices(app text, since timestamp with time zone, batch integer, OUT looked integer, OUT revived integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.revive_devices(app text, since timestamp with time zone, batch integer, OUT looked integer, OUT revived integer) IS 'Takes back the marks that answers of the provider made since then, at most batch of them; where the installation has another token by now, the old one counts as replaced. Says how many it looked at, 0 at the end, and how many are in use again.';
CREATE FUNCTION todoke.settle_day(day date, after bigint DEFAULT 0, at_most integer DEFAULT 50000, OUT settled bigint, OUT next bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    SET "TimeZone" TO 'UTC'
    SET jit TO 'off'
    SET work_mem TO '64MB'
    SET enable_seqscan TO 'off'
    AS $_$
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
$_$;
ALTER FUNCTION todoke.settle_day(day date, after bigint, at_most integer, OUT settled bigint, OUT next bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.settle_day(day date, after bigint, at_most integer, OUT settled bigint, OUT next bigint) IS 'Writes the final numbers of the notifications of a day whose closes_at is an hour ago and whose messages are all at their end, behind the key given and for about so many messages; next is where to go on, NULL at the end of the day. `todoke purge` calls it.';
CREATE FUNCTION todoke.settle_events(made_before date, after bigint DEFAULT 0, at_most integer DEFAULT 10000, OUT deleted bigint, OUT next bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
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
ALTER FUNCTION todoke.settle_events(made_before date, after bigint, at_most integer, OUT deleted bigint, OUT next bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.settle_events(made_before date, after bigint, at_most integer, OUT deleted bigint, OUT next bigint) IS 'Deletes the events of settled notifications made before a day and keeps their numbers in settled_events; looks at so many events behind the key given, next is where to go on, NULL when there are no more old ones. `todoke purge --events-older-than` calls it.';
CREATE FUNCTION todoke.size_fault(message jsonb, android_key text, for_topic boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    most int := CASE WHEN for_topic THEN 2048 ELSE 4096 END;
    android jsonb := nullif(message -> android_key, 'null');
    shown jsonb := nullif(CASE android_key WHEN 'android' THEN android
        ELSE coalesce(android -> 'remote_notification', android -> 'remoteNotification') END -> 'notification', 'null');
    data int := 0;
    notification int := 0;
    kept int := 0;
    android_data int;
    android_notification int := 0;
    web_data int;
    web_notification int;
    apns_payload int;
BEGIN
    SELECT sum(octet_length(d.key) + octet_length(d.value)) INTO data
    FROM jsonb_each_text(message -> 'data') AS d (key, value);
    -- FCM puts gcm.notification. before each key.
    SELECT coalesce(sum(17 + octet_length(n.key) + octet_length(n.value)), 0),
        coalesce(sum(17 + octet_length(n.key) + octet_length(n.value)) FILTER (WHERE coalesce(shown ->> n.key, '') = ''), 0)
    INTO notification, kept
    FROM jsonb_each_text(coalesce(nullif(message -> 'notification', 'null'), '{}')) AS n (key, value) WHERE n.value <> '';
    IF android -> 'data' <> 'null' THEN
        SELECT sum(octet_length(d.key) + octet_length(d.value)) INTO android_data
        FROM jsonb_each_text(android -> 'data') AS d (key, value);
    END IF;
    SELECT coalesce(sum(
        17 + octet_length(regexp_replace(n.key, '([A-Z])', '_\1', 'g')) + CASE jsonb_typeof(n.value)
            WHEN 'string' THEN octet_length(n.value #>> '{}') ELSE todoke.compact_size(n.value) END), 0)
    INTO android_notification
    FROM jsonb_each(coalesce(shown, '{}')) AS n (key, value) WHERE n.value NOT IN ('null', '""', '[]');
    IF message #> '{webpush,data}' <> 'null' THEN
        SELECT sum(octet_length(d.key) + octet_length(d.value)) INTO web_data
        FROM jsonb_each_text(message #> '{webpush,data}') AS d (key, value);
    END IF;
    IF android IS NOT NULL THEN
        android_notification := coalesce(android_data, data) + android_notification + kept;
    END IF;
    web_notification := todoke.compact_size(message #> '{webpush,notification}');
    apns_payload := todoke.compact_size(message #> '{apns,payload}');
    RETURN CASE
        WHEN data + notification > most
            THEN format('data and notification take %s bytes, more than %s', data + notification, most)
        WHEN android_notification > most
            THEN format('%s: data and notification take %s bytes, more than %s', android_key, android_notification, most)
        WHEN web_data > most THEN format('webpush.data takes %s bytes, more than %s', web_data, most)
        WHEN web_notification > 4096 THEN format('webpush.notification takes %s bytes, more than 4096', web_notification)
        WHEN apns_payload > 4096 THEN format('apns.payload takes %s bytes, more than 4096', apns_payload)
    END;
END
$$;
ALTER FUNCTION todoke.size_fault(message jsonb, android_key text, for_topic boolean) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.size_fault(message jsonb, android_key text, for_topic boolean) IS 'Which part of a message is larger than FCM takes; NULL when none is.';
CREATE FUNCTION todoke.subscribe(app text, token text, channel text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.subscribe(app text, token text, channel text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.subscribe(app text, token text, channel text) IS 'Adds a channel to a device; whether that is new. false also for a token that is not registered.';
CREATE FUNCTION todoke.subscribe_user(app text, user_id text, channel text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.subscribe_user(app text, user_id text, channel text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.subscribe_user(app text, user_id text, channel text) IS 'Adds a channel to all devices on which the user is signed in; on how many that is new.';
CREATE FUNCTION todoke.summarize_notification(notification bigint, day date) RETURNS TABLE(total bigint, pending bigint, sending bigint, sent bigint, failed bigint, expired bigint, cancelled bigint, first_sent_at timestamp with time zone, last_sent_at timestamp with time zone, p50_seconds double precision, p95_seconds double precision, top_errors json)
    LANGUAGE plpgsql STABLE SECURITY DEFINER COST 100000 ROWS 1
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET work_mem TO '64MB'
    SET enable_nestloop TO 'on'
    SET enable_seqscan TO 'on'
    SET enable_hashjoin TO 'on'
    SET enable_mergejoin TO 'off'
    AS $_$
DECLARE
    probed bigint;
BEGIN
    -- Statistics cannot tell an id per event from a broadcast, and a day may have none yet; the wrong join takes ten
    -- times as long. So look: a few messages are read through the index, many by reading the day once.
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM todoke.payloads WHERE notification = %L AND day = %L LIMIT 20000) AS few',
        notification, day) INTO probed;
    IF probed = 20000 THEN
        PERFORM set_config('enable_nestloop', 'off', true);
    ELSE
        PERFORM set_config('enable_hashjoin', 'off', true);
        PERFORM set_config('enable_seqscan', 'off', true);
    END IF;
    RETURN QUERY EXECUTE format(
        $query$
        WITH mine AS MATERIALIZED (
            SELECT m.state, m.finished_at, m.error_code,
                CASE WHEN m.state = 'sent' THEN
                    extract(epoch FROM m.finished_at
                        - CASE m.attempts WHEN 0 THEN greatest(p.queued_at, m.due_at) ELSE p.queued_at END)::float8
                END AS seconds
            FROM todoke.payloads AS p
            JOIN todoke.messages AS m ON m.id = p.id AND m.day = %2$L
            WHERE p.day = %2$L AND p.notification = %1$L
        ),
        by_state AS (
            SELECT count(*) AS total,
                count(*) FILTER (WHERE state = 'pending') AS pending,
                count(*) FILTER (WHERE state = 'sending') AS sending,
                count(*) FILTER (WHERE state = 'sent') AS sent,
                count(*) FILTER (WHERE state = 'failed') AS failed,
                count(*) FILTER (WHERE state = 'expired') AS expired,
                count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
                min(finished_at) FILTER (WHERE state = 'sent') AS first_sent_at,
                max(finished_at) FILTER (WHERE state = 'sent') AS last_sent_at,
                percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY seconds) AS seconds
            FROM mine
        ),
        errors AS (
            SELECT error_code, count(*) AS messages
            FROM mine
            WHERE error_code IS NOT NULL
            GROUP BY error_code
            ORDER BY messages DESC, error_code
            LIMIT 5
        )
        SELECT total, pending, sending, sent, failed, expired, cancelled, first_sent_at, last_sent_at,
            seconds[1], seconds[2],
            (SELECT json_agg(json_build_object('code', error_code, 'messages', messages)
                ORDER BY messages DESC, error_code) FROM errors)
        FROM by_state
        $query$,
        notification, day);
END
$_$;
ALTER FUNCTION todoke.summarize_notification(notification bigint, day date) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.summarize_notification(notification bigint, day date) IS 'Counts the messages of one notification; what notification_summary is made of.';
CREATE FUNCTION todoke.sweep_dead_tokens(app text, is_rehearsal boolean DEFAULT true, after timestamp with time zone DEFAULT '-infinity'::timestamp with time zone, after_id bigint DEFAULT 0, OUT looked integer, OUT marked integer, OUT next timestamp with time zone, OUT next_id bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
    WITH seen AS MATERIALIZED (
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
END
$$;
ALTER FUNCTION todoke.sweep_dead_tokens(app text, is_rehearsal boolean, after timestamp with time zone, after_id bigint, OUT looked integer, OUT marked integer, OUT next timestamp with time zone, OUT next_id bigint) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.sweep_dead_tokens(app text, is_rehearsal boolean, after timestamp with time zone, after_id bigint, OUT looked integer, OUT marked integer, OUT next timestamp with time zone, OUT next_id bigint) IS 'Goes over the next 1,000 proofs of an app and marks the devices whose tokens they prove dead; a rehearsal counts only. Called again with next and next_id until nothing was looked at.';
CREATE FUNCTION todoke.throughput(back interval DEFAULT '01:00:00'::interval) RETURNS TABLE(app text, minute timestamp with time zone, sent bigint, failed bigint, expired bigint, cancelled bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
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
ALTER FUNCTION todoke.throughput(back interval) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.throughput(back interval) IS 'How many messages came to their end in each minute since so long ago, by app; minutes without any are left out.';
CREATE FUNCTION todoke.token_messages(app text, token text, most integer DEFAULT 10) RETURNS TABLE(id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind, user_id text, queued_at timestamp with time zone, due_at timestamp with time zone, finished_at timestamp with time zone, attempts smallint, http_status smallint, error_code text, hint text, provider_message_id text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.id, f.day, f.app_name, f.notification_id, f.state, f.target_kind, f.user_id, f.queued_at, f.due_at,
        f.finished_at, f.attempts, f.http_status, f.error_code, f.hint, f.provider_message_id
    FROM todoke.found_messages(format('p.target = %L', token_messages.token), token_messages.app, most) AS f
$$;
ALTER FUNCTION todoke.token_messages(app text, token text, most integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.token_messages(app text, token text, most integer) IS 'The latest messages to one token, installation id, topic or condition of an app (NULL: of any app), the newest first.';
CREATE FUNCTION todoke.unbind_user(app text, token text, user_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.unbind_user(app text, token text, user_id text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.unbind_user(app text, token text, user_id text) IS 'At log-out: nobody is signed in there; with a user, only if it was that one. Whether somebody was.';
CREATE FUNCTION todoke.unknown_field(object jsonb, known text[], path text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT path || k.name || ' is unknown' FROM jsonb_object_keys(object - known) AS k (name) LIMIT 1
$$;
ALTER FUNCTION todoke.unknown_field(object jsonb, known text[], path text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.unknown_field(object jsonb, known text[], path text) IS 'Names a field that FCM does not know; NULL when there is none.';
CREATE FUNCTION todoke.unregister_device(app text, token text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.unregister_device(app text, token text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.unregister_device(app text, token text) IS 'Nothing is sent to this token any more, until it is registered again; whether it was in use.';
CREATE FUNCTION todoke.unsubscribe(app text, token text, channel text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.unsubscribe(app text, token text, channel text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.unsubscribe(app text, token text, channel text) IS 'Takes a channel from a device; whether it had it.';
CREATE FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
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
ALTER FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) IS 'Takes a channel from all devices on which the user is signed in; how many had it.';
CREATE FUNCTION todoke.upcoming(ahead interval DEFAULT '01:00:00'::interval) RETURNS TABLE(app text, notification_id text, minute timestamp with time zone, messages bigint, retries bigint, paused_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
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
ALTER FUNCTION todoke.upcoming(ahead interval) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.upcoming(ahead interval) IS 'What is to be sent until so long from now, by notification and minute: what is due already counts for the present minute, what is cancelled or has expired does not count. With paused_at its app is paused, and it waits.';
CREATE FUNCTION todoke.user_messages(app text, user_id text, most integer DEFAULT 10) RETURNS TABLE(id bigint, day date, app_name text, notification_id text, state todoke.message_state, target_kind todoke.target_kind, target text, queued_at timestamp with time zone, due_at timestamp with time zone, finished_at timestamp with time zone, attempts smallint, http_status smallint, error_code text, hint text, provider_message_id text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT f.id, f.day, f.app_name, f.notification_id, f.state, f.target_kind, f.target, f.queued_at, f.due_at,
        f.finished_at, f.attempts, f.http_status, f.error_code, f.hint, f.provider_message_id
    FROM todoke.found_messages(format('p.user_id = %L', user_messages.user_id), user_messages.app, most) AS f
$$;
ALTER FUNCTION todoke.user_messages(app text, user_id text, most integer) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.user_messages(app text, user_id text, most integer) IS 'The latest messages to one user of an app (NULL: of any app), the newest first: where each is, what became of it and why.';
CREATE FUNCTION todoke.with_image(object jsonb, image text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    image := coalesce(object ->> 'image', image);
    IF image = '' THEN
        RETURN object - 'image';
    ELSIF image !~* '^https?://[^/?#[:space:]]' OR jsonb_typeof(object -> 'image') NOT IN ('string', 'null') THEN
        RAISE EXCEPTION 'an image is no http or https URL'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the whole URL of the picture: devices load it.';
    END IF;
    RETURN coalesce(object, '{}') || jsonb_build_object('image', image);
END
$$;
ALTER FUNCTION todoke.with_image(object jsonb, image text) OWNER TO todoke_owner;
COMMENT ON FUNCTION todoke.with_image(object jsonb, image text) IS 'The object with its own image, else this one; without one where it is empty.';
CREATE TABLE todoke.allowed_targets (
    app integer NOT NULL,
    target_kind todoke.target_kind DEFAULT 'token'::todoke.target_kind NOT NULL,
    target text NOT NULL,
    note text,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT allowed_targets_target_check CHECK (((target <> ''::text) AND (octet_length(target) <= 2000)))
);
ALTER TABLE todoke.allowed_targets OWNER TO todoke_owner;
COMMENT ON TABLE todoke.allowed_targets IS 'Whom an app with environment sandbox may send to: everything else is refused when it is to be queued, so that a staging run reaches no customers.';
COMMENT ON COLUMN todoke.allowed_targets.app IS 'The app.';
COMMENT ON COLUMN todoke.allowed_targets.target_kind IS 'What target is.';
COMMENT ON COLUMN todoke.allowed_targets.target IS 'The token, installation id, topic or condition.';
COMMENT ON COLUMN todoke.allowed_targets.note IS 'Whose it is, for people.';
COMMENT ON COLUMN todoke.allowed_targets.added_at IS 'When it was added.';
CREATE TABLE todoke.apps (
    id integer NOT NULL,
    name text NOT NULL,
    provider text DEFAULT 'fcm'::text NOT NULL,
    project_id text NOT NULL,
    environment text DEFAULT 'production'::text NOT NULL,
    messages_per_second integer DEFAULT 10000 NOT NULL,
    delivery text DEFAULT 'at_least_once'::text NOT NULL,
    paused_at timestamp with time zone,
    pause_reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    dead_token_limit real DEFAULT 0.2 NOT NULL,
    dead_tokens_held_at timestamp with time zone,
    dead_tokens_since timestamp with time zone,
    CONSTRAINT apps_dead_token_limit_check CHECK (((dead_token_limit > (0)::double precision) AND (dead_token_limit <= (1)::double precision))),
    CONSTRAINT apps_delivery_check CHECK ((delivery = ANY (ARRAY['at_least_once'::text, 'at_most_once'::text]))),
    CONSTRAINT apps_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
    CONSTRAINT apps_messages_per_second_check CHECK ((messages_per_second > 0)),
    CONSTRAINT apps_name_check CHECK (((name <> ''::text) AND (octet_length(name) <= 500))),
    CONSTRAINT apps_pause_check CHECK (((pause_reason IS NULL) OR (paused_at IS NOT NULL))),
    CONSTRAINT apps_project_id_check CHECK ((project_id <> ''::text)),
    CONSTRAINT apps_provider_check CHECK ((provider = ANY (ARRAY['fcm'::text, 'apns'::text])))
);
ALTER TABLE todoke.apps OWNER TO todoke_owner;
COMMENT ON TABLE todoke.apps IS 'The apps messages are sent for: one row per FCM project or APNs topic. Credentials live with the sender, not here.';
COMMENT ON COLUMN todoke.apps.id IS 'Key used by the other tables.';
COMMENT ON COLUMN todoke.apps.name IS 'What --app names; at most 500 bytes, since wake-ups carry it.';
COMMENT ON COLUMN todoke.apps.provider IS 'fcm or apns.';
COMMENT ON COLUMN todoke.apps.project_id IS 'The FCM project''s id or number, or the APNs bundle id.';
COMMENT ON COLUMN todoke.apps.environment IS 'production or sandbox. For a sandbox app nothing but the targets in allowed_targets is queued; with APNs, tokens of one do not work in the other.';
COMMENT ON COLUMN todoke.apps.messages_per_second IS 'Most messages per second by all live senders together; FCM''s default quota is 600,000 a minute.';
COMMENT ON COLUMN todoke.apps.delivery IS 'What becomes of a message whose outcome is unknown: at_least_once sends it again, at_most_once fails it with OUTCOME_UNKNOWN.';
COMMENT ON COLUMN todoke.apps.paused_at IS 'Set while the app is paused: nothing is claimed. What expires in the meantime ends as expired.';
COMMENT ON COLUMN todoke.apps.pause_reason IS 'Why it is paused, for people.';
COMMENT ON COLUMN todoke.apps.created_at IS 'When the row was made.';
COMMENT ON COLUMN todoke.apps.dead_token_limit IS 'The share of the app''s devices that may be marked dead within one to two hours; more, and above 100 devices, is held and pauses the app. 1 marks always.';
COMMENT ON COLUMN todoke.apps.dead_tokens_held_at IS 'Since when no device of the app is marked, because too many were found dead at once; todoke devices sweep ends it.';
COMMENT ON COLUMN todoke.apps.dead_tokens_since IS 'Proofs recorded before this do not count: somebody found that they were wrong. NULL counts all.';
ALTER TABLE todoke.apps ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME todoke.apps_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE todoke.attempts (
    message_id bigint NOT NULL,
    notification bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    day date NOT NULL,
    app integer NOT NULL,
    claim_no integer NOT NULL,
    attempt_no smallint NOT NULL,
    http_status smallint,
    sender_id bigint,
    retry_at timestamp with time zone,
    outcome text NOT NULL,
    error_code text,
    detail text,
    token_dead_at timestamp with time zone
)
PARTITION BY RANGE (day);
ALTER TABLE todoke.attempts OWNER TO todoke_owner;
COMMENT ON TABLE todoke.attempts IS 'One row per attempt that did not end in sent, partitioned by day like messages.';
COMMENT ON COLUMN todoke.attempts.message_id IS 'The message.';
COMMENT ON COLUMN todoke.attempts.notification IS 'The notification it belongs to.';
COMMENT ON COLUMN todoke.attempts.at IS 'When its outcome was recorded.';
COMMENT ON COLUMN todoke.attempts.day IS 'The notification''s day, which chooses the partition.';
COMMENT ON COLUMN todoke.attempts.app IS 'The app.';
COMMENT ON COLUMN todoke.attempts.claim_no IS 'The claim under which it was made.';
COMMENT ON COLUMN todoke.attempts.attempt_no IS 'Which attempt of the message it was, from 1.';
COMMENT ON COLUMN todoke.attempts.http_status IS 'Status of the provider''s answer, when there was one.';
COMMENT ON COLUMN todoke.attempts.sender_id IS 'The sender that made it.';
COMMENT ON COLUMN todoke.attempts.retry_at IS 'When the next one is due; NULL when there is none.';
COMMENT ON COLUMN todoke.attempts.outcome IS 'The verdict''s kind: retry, retry_after, token_invalid, payload, permanent, auth_config or unknown.';
COMMENT ON COLUMN todoke.attempts.error_code IS 'The provider''s code, or ours for transport errors; error_hints explains it.';
COMMENT ON COLUMN todoke.attempts.detail IS 'What the provider said, shortened; no tokens and no secrets.';
COMMENT ON COLUMN todoke.attempts.token_dead_at IS 'With outcome token_invalid: a token registered later than this is another one, or alive again. What the provider said, else when the message was claimed.';
CREATE TABLE todoke.dead_token_counts (
    app integer NOT NULL,
    hour timestamp with time zone NOT NULL,
    sender_id bigint NOT NULL,
    marked bigint NOT NULL,
    devices bigint NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE todoke.dead_token_counts OWNER TO todoke_owner;
COMMENT ON TABLE todoke.dead_token_counts IS 'Devices marked dead by each sender and hour; the brake on mass invalidation counts with it.';
COMMENT ON COLUMN todoke.dead_token_counts.app IS 'The app.';
COMMENT ON COLUMN todoke.dead_token_counts.hour IS 'The hour''s start.';
COMMENT ON COLUMN todoke.dead_token_counts.sender_id IS 'The sender.';
COMMENT ON COLUMN todoke.dead_token_counts.marked IS 'Devices it marked in that hour.';
COMMENT ON COLUMN todoke.dead_token_counts.devices IS 'Devices of the app when the row was made, with those marked in the window before it; an estimate above 50,000.';
CREATE TABLE todoke.notifications (
    id bigint NOT NULL,
    app integer NOT NULL,
    notification_id text NOT NULL,
    day date DEFAULT ((now() AT TIME ZONE 'UTC'::text))::date NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    closes_at timestamp with time zone DEFAULT (now() + '7 days'::interval) NOT NULL,
    cancelled_at timestamp with time zone,
    delivery text,
    campaign text,
    template_digest text,
    definition_digest text,
    run_id uuid,
    run_until timestamp with time zone,
    queued bigint DEFAULT 0 NOT NULL,
    already_queued bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    loaded_at timestamp with time zone,
    purged_at timestamp with time zone,
    settled_summary json,
    validate_only boolean DEFAULT false NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    settled_events json,
    settled_at timestamp with time zone,
    CONSTRAINT notifications_already_queued_check CHECK ((already_queued >= 0)),
    CONSTRAINT notifications_closes_at_check CHECK ((closes_at > created_at)),
    CONSTRAINT notifications_delivery_check CHECK ((delivery = ANY (ARRAY['at_least_once'::text, 'at_most_once'::text]))),
    CONSTRAINT notifications_notification_id_check CHECK ((notification_id <> ''::text)),
    CONSTRAINT notifications_queued_check CHECK ((queued >= 0)),
    CONSTRAINT notifications_rejected_check CHECK ((rejected >= 0)),
    CONSTRAINT notifications_run_check CHECK (((run_id IS NULL) = (run_until IS NULL))),
    CONSTRAINT notifications_skipped_check CHECK ((skipped >= 0))
);
ALTER TABLE todoke.notifications OWNER TO todoke_owner;
COMMENT ON TABLE todoke.notifications IS 'One row per thing said to an audience, or to one user. It outlives its messages, so that an id is never sent a second time.';
COMMENT ON COLUMN todoke.notifications.id IS 'Key used by the messages.';
COMMENT ON COLUMN todoke.notifications.app IS 'The app it belongs to.';
COMMENT ON COLUMN todoke.notifications.notification_id IS 'The id given by the caller, unique for the app; devices get it as data.notification_id.';
COMMENT ON COLUMN todoke.notifications.day IS 'The UTC day it was made, written once: all its messages are in the partitions of this day.';
COMMENT ON COLUMN todoke.notifications.created_at IS 'When it was made.';
COMMENT ON COLUMN todoke.notifications.closes_at IS 'From then on nothing is queued for it any more.';
COMMENT ON COLUMN todoke.notifications.cancelled_at IS 'When it was cancelled: what is still pending is not sent, but ends as cancelled when a sender comes to it.';
COMMENT ON COLUMN todoke.notifications.delivery IS 'at_least_once or at_most_once; NULL is what the app says.';
COMMENT ON COLUMN todoke.notifications.campaign IS 'Groups notifications, for people.';
COMMENT ON COLUMN todoke.notifications.template_digest IS 'Digest of the template it was rendered from; a rerun with another one is refused.';
COMMENT ON COLUMN todoke.notifications.definition_digest IS 'Digest of the audience''s definition and of the options that change payloads.';
COMMENT ON COLUMN todoke.notifications.run_id IS 'The producer run that is loading it now.';
COMMENT ON COLUMN todoke.notifications.run_until IS 'Until when that run holds it; renewed with each chunk.';
COMMENT ON COLUMN todoke.notifications.queued IS 'Messages queued for it by all runs.';
COMMENT ON COLUMN todoke.notifications.already_queued IS 'Audience rows that were queued before, found by the latest run.';
COMMENT ON COLUMN todoke.notifications.rejected IS 'Audience rows the latest run refused, and with --append those of the runs before it; see rejections.';
COMMENT ON COLUMN todoke.notifications.loaded_at IS 'When the latest run came to the end of its audience.';
COMMENT ON COLUMN todoke.notifications.purged_at IS 'When its messages were given up to be dropped with their day.';
COMMENT ON COLUMN todoke.notifications.settled_summary IS 'Its final numbers as notification_summary has them, without those that are 0 or NULL; last_sent_at, p95_seconds and reach only where they differ from first_sent_at, p50_seconds and sent.';
COMMENT ON COLUMN todoke.notifications.validate_only IS 'FCM checks its messages and delivers none: they end as sent without reaching a device.';
COMMENT ON COLUMN todoke.notifications.skipped IS 'Audience rows the latest run left out: not among the targets it was limited to, or users without a device.';
COMMENT ON COLUMN todoke.notifications.settled_events IS 'How many events of each kind it had when they were deleted for their age; from then on no more are taken. NULL: they are in events.';
COMMENT ON COLUMN todoke.notifications.settled_at IS 'When its numbers became final: it was closed, and every message at its end. From then on nothing about them changes.';
CREATE TABLE todoke.payloads (
    id bigint NOT NULL,
    notification bigint NOT NULL,
    queued_at timestamp with time zone DEFAULT now() NOT NULL,
    dedupe_key uuid NOT NULL,
    day date NOT NULL,
    target_kind todoke.target_kind NOT NULL,
    ttl_at integer,
    ttl_len smallint,
    device bigint,
    user_id text,
    target text NOT NULL,
    payload json NOT NULL,
    CONSTRAINT payloads_target_check CHECK ((target <> ''::text)),
    CONSTRAINT payloads_ttl_check CHECK ((((ttl_at IS NULL) = (ttl_len IS NULL)) AND (ttl_at >= 0) AND (ttl_len > 0)))
)
PARTITION BY RANGE (day);
ALTER TABLE todoke.payloads OWNER TO todoke_owner;
COMMENT ON TABLE todoke.payloads IS 'What each message says and to whom; written once and never changed, partitioned by day like messages.';
COMMENT ON COLUMN todoke.payloads.id IS 'The message''s id.';
COMMENT ON COLUMN todoke.payloads.notification IS 'The notification it belongs to.';
COMMENT ON COLUMN todoke.payloads.queued_at IS 'When it was queued: the start of the transaction that did.';
COMMENT ON COLUMN todoke.payloads.dedupe_key IS 'First 16 bytes of SHA-256 of kind:target, or of what --dedupe-by names: one message each in a notification.';
COMMENT ON COLUMN todoke.payloads.day IS 'The notification''s day, which chooses the partition.';
COMMENT ON COLUMN todoke.payloads.target_kind IS 'What target is.';
COMMENT ON COLUMN todoke.payloads.ttl_at IS 'Byte where the digits of android.ttl begin in payload, when the sender must write the seconds left there.';
COMMENT ON COLUMN todoke.payloads.ttl_len IS 'How many digits those are.';
COMMENT ON COLUMN todoke.payloads.device IS 'The device in devices, when it came from there.';
COMMENT ON COLUMN todoke.payloads.user_id IS 'The application''s user, when the audience names one.';
COMMENT ON COLUMN todoke.payloads.target IS 'The token, installation id, topic or condition.';
COMMENT ON COLUMN todoke.payloads.payload IS 'The FCM message object, exactly as it is posted.';
CREATE VIEW todoke.dead_tokens WITH (security_barrier='true') AS
 SELECT a.name AS app,
    p.target_kind,
    p.target,
    p.user_id,
    t.error_code,
    t.at AS proven_at,
    COALESCE(t.token_dead_at, (t.at - '00:05:00'::interval)) AS dead_at,
    n.notification_id,
    t.message_id,
    t.day
   FROM (((todoke.attempts t
     JOIN todoke.apps a ON ((a.id = t.app)))
     JOIN todoke.payloads p ON (((p.id = t.message_id) AND (p.day = t.day))))
     LEFT JOIN todoke.notifications n ON ((n.id = t.notification)))
  WHERE (t.outcome = 'token_invalid'::text);
ALTER TABLE todoke.dead_tokens OWNER TO todoke_owner;
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
CREATE TABLE todoke.devices (
    id bigint NOT NULL,
    app integer NOT NULL,
    token text NOT NULL,
    user_id text,
    platform text,
    locale text,
    time_zone text,
    channels text[] DEFAULT '{}'::text[] NOT NULL,
    app_version text,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    invalidated_at timestamp with time zone,
    invalid_reason text,
    invalid_evidence bigint,
    installation_id text,
    allows_notifications boolean,
    CONSTRAINT devices_installation_id_check CHECK ((installation_id <> ''::text)),
    CONSTRAINT devices_invalid_check CHECK (((invalid_reason IS NULL) OR (invalidated_at IS NOT NULL))),
    CONSTRAINT devices_platform_check CHECK ((platform = ANY (ARRAY['ios'::text, 'android'::text, 'web'::text]))),
    CONSTRAINT devices_token_check CHECK ((token <> ''::text))
)
WITH (fillfactor='80');
ALTER TABLE todoke.devices OWNER TO todoke_owner;
COMMENT ON TABLE todoke.devices IS 'The device registry: one row per token of an app.';
COMMENT ON COLUMN todoke.devices.id IS 'Key used by payloads and events.';
COMMENT ON COLUMN todoke.devices.app IS 'The app that is installed there.';
COMMENT ON COLUMN todoke.devices.token IS 'The registration token; unique for the app.';
COMMENT ON COLUMN todoke.devices.user_id IS 'The application''s user who is signed in there; NULL when nobody is.';
COMMENT ON COLUMN todoke.devices.platform IS 'ios, android or web.';
COMMENT ON COLUMN todoke.devices.locale IS 'Language and region, like ja-JP.';
COMMENT ON COLUMN todoke.devices.time_zone IS 'IANA name, like Asia/Tokyo.';
COMMENT ON COLUMN todoke.devices.channels IS 'What the device is subscribed to; that stays with it when another user signs in.';
COMMENT ON COLUMN todoke.devices.app_version IS 'Version of the app there.';
COMMENT ON COLUMN todoke.devices.registered_at IS 'When the app registered this token last; proof of its death must be newer.';
COMMENT ON COLUMN todoke.devices.last_seen_at IS 'When the app reported itself last.';
COMMENT ON COLUMN todoke.devices.invalidated_at IS 'When the token was found dead, replaced or unregistered; NULL while it is in use.';
COMMENT ON COLUMN todoke.devices.invalid_reason IS 'Why: the provider''s code, REPLACED (by a new token of the same installation) or UNREGISTERED_BY_APP.';
COMMENT ON COLUMN todoke.devices.invalid_evidence IS 'The message whose answer proved it, where the provider did.';
COMMENT ON COLUMN todoke.devices.installation_id IS 'The application''s own id of the installation: a new token for it retires the old one.';
COMMENT ON COLUMN todoke.devices.allows_notifications IS 'Whether the user lets the app show notifications, as the app reported it; NULL is not known.';
ALTER TABLE todoke.devices ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME todoke.devices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE todoke.error_hints (
    code text NOT NULL,
    hint text NOT NULL
);
ALTER TABLE todoke.error_hints OWNER TO todoke_owner;
COMMENT ON TABLE todoke.error_hints IS 'What an error code means and what to do about it, for people.';
COMMENT ON COLUMN todoke.error_hints.code IS 'The code as it stands in messages.error_code and attempts.error_code.';
COMMENT ON COLUMN todoke.error_hints.hint IS 'One or two sentences.';
CREATE TABLE todoke.events (
    id bigint NOT NULL,
    app integer NOT NULL,
    notification_id text NOT NULL,
    kind text NOT NULL,
    user_id text,
    device bigint,
    at timestamp with time zone DEFAULT now() NOT NULL,
    properties json,
    subject text NOT NULL,
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['opened'::text, 'received'::text, 'dismissed'::text])))
);
ALTER TABLE todoke.events OWNER TO todoke_owner;
COMMENT ON TABLE todoke.events IS 'What devices report back: a notification was received, opened or dismissed. One row per notification, kind and subject; record_event writes it.';
COMMENT ON COLUMN todoke.events.id IS 'Key.';
COMMENT ON COLUMN todoke.events.app IS 'The app.';
COMMENT ON COLUMN todoke.events.notification_id IS 'The id the device got as data.notification_id.';
COMMENT ON COLUMN todoke.events.kind IS 'opened, received or dismissed.';
COMMENT ON COLUMN todoke.events.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.events.device IS 'The device in devices.';
COMMENT ON COLUMN todoke.events.at IS 'When it happened, as the device said, but neither ahead of its report nor before the notification was made.';
COMMENT ON COLUMN todoke.events.properties IS 'What else the application wants to keep; at most 8192 bytes.';
COMMENT ON COLUMN todoke.events.subject IS 'Who reported: d and the device''s id; t and the first 16 bytes of the token''s SHA-256, for a token that is not registered; u and the user''s id; e and this row''s id for older ones that name neither.';
CREATE VIEW todoke.event_log AS
 SELECT a.name AS app,
    v.notification_id,
    v.kind,
    v.at,
    v.user_id,
    v.device,
    d.platform,
    v.properties
   FROM ((todoke.events v
     JOIN todoke.apps a ON ((a.id = v.app)))
     LEFT JOIN todoke.devices d ON ((d.id = v.device)));
ALTER TABLE todoke.event_log OWNER TO todoke_owner;
COMMENT ON VIEW todoke.event_log IS 'What devices and applications reported, one row for each notification, kind and device or user. Name the app and the notification.';
COMMENT ON COLUMN todoke.event_log.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.event_log.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.event_log.kind IS 'opened, received or dismissed.';
COMMENT ON COLUMN todoke.event_log.at IS 'When it happened, as the device said, but neither ahead of its report nor before the notification was made.';
COMMENT ON COLUMN todoke.event_log.user_id IS 'The application''s user, when the report named one.';
COMMENT ON COLUMN todoke.event_log.device IS 'The device, when its token is registered.';
COMMENT ON COLUMN todoke.event_log.platform IS 'ios, android or web, when the device said so.';
COMMENT ON COLUMN todoke.event_log.properties IS 'What else the application kept.';
ALTER TABLE todoke.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME todoke.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW todoke.failures AS
 SELECT a.name AS app,
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
   FROM ((( SELECT t.notification,
            t.day,
            t.error_code,
            t.outcome,
            count(*) AS attempts,
            count(DISTINCT t.message_id) AS messages,
            count(*) FILTER (WHERE (t.retry_at IS NULL)) AS final,
            min(t.at) AS first_at,
            max(t.at) AS last_at
           FROM todoke.attempts t
          GROUP BY t.notification, t.day, t.error_code, t.outcome) f
     JOIN todoke.notifications n ON (((n.id = f.notification) AND (n.day = f.day))))
     JOIN todoke.apps a ON ((a.id = n.app)));
ALTER TABLE todoke.failures OWNER TO todoke_owner;
COMMENT ON VIEW todoke.failures IS 'What went wrong, by notification and code, with a hint; retries that succeeded later are in it too, final counts those that were given up. Counts the attempts each time: name the day, to count those of one day only.';
COMMENT ON COLUMN todoke.failures.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.failures.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.failures.day IS 'The notification''s day.';
COMMENT ON COLUMN todoke.failures.error_code IS 'The provider''s code, or ours for transport errors.';
COMMENT ON COLUMN todoke.failures.outcome IS 'The verdict''s kind.';
COMMENT ON COLUMN todoke.failures.attempts IS 'Attempts that ended so.';
COMMENT ON COLUMN todoke.failures.messages IS 'Different messages among them.';
COMMENT ON COLUMN todoke.failures.final IS 'Attempts after which the message was given up.';
COMMENT ON COLUMN todoke.failures.first_at IS 'The first of them.';
COMMENT ON COLUMN todoke.failures.last_at IS 'The latest of them.';
COMMENT ON COLUMN todoke.failures.hint IS 'What the code means and what to do.';
CREATE TABLE todoke.senders (
    id bigint NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT now() NOT NULL,
    apps text[] DEFAULT '{}'::text[] NOT NULL,
    in_flight integer DEFAULT 0 NOT NULL,
    rate real DEFAULT 0 NOT NULL,
    duplicate_risk bigint DEFAULT 0 NOT NULL,
    state text DEFAULT 'starting'::text NOT NULL,
    stopped_at timestamp with time zone
)
WITH (fillfactor='50');
ALTER TABLE todoke.senders OWNER TO todoke_owner;
COMMENT ON TABLE todoke.senders IS 'One row per sender process, by heartbeat; live ones share their app''s rate.';
COMMENT ON COLUMN todoke.senders.id IS 'Identity of the process; never used again.';
COMMENT ON COLUMN todoke.senders.host IS 'Where it runs.';
COMMENT ON COLUMN todoke.senders.pid IS 'Its process id there.';
COMMENT ON COLUMN todoke.senders.version IS 'Version of its binary.';
COMMENT ON COLUMN todoke.senders.started_at IS 'When it started.';
COMMENT ON COLUMN todoke.senders.heartbeat_at IS 'Its latest sign of life.';
COMMENT ON COLUMN todoke.senders.apps IS 'The apps it sends for.';
COMMENT ON COLUMN todoke.senders.in_flight IS 'Messages it has claimed and not finished, at its latest heartbeat.';
COMMENT ON COLUMN todoke.senders.rate IS 'Messages per second it posted, at its latest heartbeat.';
COMMENT ON COLUMN todoke.senders.duplicate_risk IS 'Second issues of a request and unknown outcomes that were sent again.';
COMMENT ON COLUMN todoke.senders.state IS 'What it is doing, or why it is not ready.';
COMMENT ON COLUMN todoke.senders.stopped_at IS 'When it ended in order.';
CREATE VIEW todoke.live_senders AS
 SELECT s.id,
    s.host,
    s.pid,
    s.version,
    s.apps,
    s.state,
    s.in_flight,
    s.rate,
    s.duplicate_risk,
    s.started_at,
    s.heartbeat_at
   FROM todoke.senders s
  WHERE ((s.stopped_at IS NULL) AND (s.heartbeat_at > (now() - '00:00:15'::interval)));
ALTER TABLE todoke.live_senders OWNER TO todoke_owner;
COMMENT ON VIEW todoke.live_senders IS 'The senders that gave a sign of life within 15 s, which is three heartbeats.';
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
CREATE SEQUENCE todoke.message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE todoke.message_id_seq OWNER TO todoke_owner;
COMMENT ON SEQUENCE todoke.message_id_seq IS 'Ids of messages, shared by all days.';
CREATE VIEW todoke.message_payloads AS
 SELECT a.name AS app,
    n.notification_id,
    n.day,
    p.id,
    p.target_kind,
    p.target,
    p.user_id,
    p.queued_at,
    p.payload
   FROM ((todoke.notifications n
     JOIN todoke.apps a ON ((a.id = n.app)))
     JOIN todoke.payloads p ON (((p.notification = n.id) AND (p.day = n.day))));
ALTER TABLE todoke.message_payloads OWNER TO todoke_owner;
COMMENT ON VIEW todoke.message_payloads IS 'What each message says, byte for byte as it is posted, but for the digits of android.ttl when it expires. Name the notification, to read one day only.';
COMMENT ON COLUMN todoke.message_payloads.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.message_payloads.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.message_payloads.day IS 'The notification''s day.';
COMMENT ON COLUMN todoke.message_payloads.id IS 'The message.';
COMMENT ON COLUMN todoke.message_payloads.target_kind IS 'token, fid, topic or condition.';
COMMENT ON COLUMN todoke.message_payloads.target IS 'The whole target.';
COMMENT ON COLUMN todoke.message_payloads.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.message_payloads.queued_at IS 'When it was queued.';
COMMENT ON COLUMN todoke.message_payloads.payload IS 'The FCM message object, exactly as it is posted.';
CREATE TABLE todoke.messages (
    id bigint DEFAULT nextval('todoke.message_id_seq'::regclass) NOT NULL,
    notification bigint NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    day date NOT NULL,
    app integer NOT NULL,
    state todoke.message_state DEFAULT 'pending'::todoke.message_state NOT NULL,
    claim_no integer DEFAULT 0 NOT NULL,
    priority smallint DEFAULT 5 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    http_status smallint,
    sender_id bigint,
    expires_at timestamp with time zone,
    lease_until timestamp with time zone,
    finished_at timestamp with time zone,
    error_code text,
    provider_message_id text,
    CONSTRAINT messages_attempts_check CHECK (((attempts >= 0) AND (claim_no >= 0))),
    CONSTRAINT messages_expiry_check CHECK ((expires_at > due_at)),
    CONSTRAINT messages_finished_check CHECK (((finished_at IS NOT NULL) = (state = ANY (ARRAY['sent'::todoke.message_state, 'failed'::todoke.message_state, 'expired'::todoke.message_state, 'cancelled'::todoke.message_state])))),
    CONSTRAINT messages_lease_check CHECK (((lease_until IS NOT NULL) = (state = 'sending'::todoke.message_state))),
    CONSTRAINT messages_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT messages_sender_check CHECK (((state <> 'sending'::todoke.message_state) OR (sender_id IS NOT NULL)))
)
PARTITION BY RANGE (day);
ALTER TABLE todoke.messages OWNER TO todoke_owner;
COMMENT ON TABLE todoke.messages IS 'The queue: one row per message with its state, partitioned by day. What it says is in payloads under the same (id, day).';
COMMENT ON COLUMN todoke.messages.id IS 'Key, together with day.';
COMMENT ON COLUMN todoke.messages.notification IS 'The notification it belongs to.';
COMMENT ON COLUMN todoke.messages.due_at IS 'Not before this; a retry moves it ahead.';
COMMENT ON COLUMN todoke.messages.day IS 'The notification''s day, which chooses the partition.';
COMMENT ON COLUMN todoke.messages.app IS 'The app it is sent for.';
COMMENT ON COLUMN todoke.messages.state IS 'Where it is; see the type.';
COMMENT ON COLUMN todoke.messages.claim_no IS 'Grows with every claim and never shrinks: a result is recorded only for the claim it belongs to.';
COMMENT ON COLUMN todoke.messages.priority IS '0 to 9, higher goes first; 5 is normal, 9 is for what a user waits for.';
COMMENT ON COLUMN todoke.messages.attempts IS 'Posts that failed with a known outcome; decides the next backoff.';
COMMENT ON COLUMN todoke.messages.http_status IS 'Status of the provider''s latest answer.';
COMMENT ON COLUMN todoke.messages.sender_id IS 'The sender that has it, or had it last.';
COMMENT ON COLUMN todoke.messages.expires_at IS 'Not after this; NULL never expires.';
COMMENT ON COLUMN todoke.messages.lease_until IS 'While sending: from then on any sender may take it back.';
COMMENT ON COLUMN todoke.messages.finished_at IS 'When it came to its end; NULL before.';
COMMENT ON COLUMN todoke.messages.error_code IS 'Why it failed, or waits for a retry; error_hints explains the codes.';
COMMENT ON COLUMN todoke.messages.provider_message_id IS 'The provider''s id for it, without the path before it.';
CREATE VIEW todoke.message_status AS
 SELECT a.name AS app,
    n.notification_id,
    m.id,
    m.day,
    m.state,
    p.target_kind,
    p.target,
    p.user_id,
    p.device,
    m.priority,
    p.queued_at,
    m.due_at,
    m.expires_at,
    m.finished_at,
    m.attempts,
    m.http_status,
    m.error_code,
    h.hint,
    m.provider_message_id,
    m.sender_id,
    s.host AS sender_host
   FROM (((((todoke.notifications n
     JOIN todoke.apps a ON ((a.id = n.app)))
     JOIN todoke.payloads p ON (((p.notification = n.id) AND (p.day = n.day))))
     JOIN todoke.messages m ON (((m.id = p.id) AND (m.day = n.day))))
     LEFT JOIN todoke.error_hints h ON ((h.code = m.error_code)))
     LEFT JOIN todoke.senders s ON ((s.id = m.sender_id)));
ALTER TABLE todoke.message_status OWNER TO todoke_owner;
COMMENT ON VIEW todoke.message_status IS 'One row per message: where it is, to whom, what became of it and why. Name the day, or the notification, to read one day only.';
COMMENT ON COLUMN todoke.message_status.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.message_status.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.message_status.id IS 'Key of the message, together with day.';
COMMENT ON COLUMN todoke.message_status.day IS 'The notification''s day; naming it reads that day only.';
COMMENT ON COLUMN todoke.message_status.state IS 'pending, sending, sent, failed, expired or cancelled.';
COMMENT ON COLUMN todoke.message_status.target_kind IS 'token, fid, topic or condition.';
COMMENT ON COLUMN todoke.message_status.target IS 'The whole target.';
COMMENT ON COLUMN todoke.message_status.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.message_status.device IS 'The device in devices, when it came from there.';
COMMENT ON COLUMN todoke.message_status.priority IS '0 to 9, higher goes first.';
COMMENT ON COLUMN todoke.message_status.queued_at IS 'When it was queued.';
COMMENT ON COLUMN todoke.message_status.due_at IS 'Not before this; a retry moves it ahead.';
COMMENT ON COLUMN todoke.message_status.expires_at IS 'Not after this; NULL never expires.';
COMMENT ON COLUMN todoke.message_status.finished_at IS 'When it came to its end.';
COMMENT ON COLUMN todoke.message_status.attempts IS 'Posts that failed with a known outcome.';
COMMENT ON COLUMN todoke.message_status.http_status IS 'Status of the provider''s latest answer.';
COMMENT ON COLUMN todoke.message_status.error_code IS 'Why it failed, or waits for a retry.';
COMMENT ON COLUMN todoke.message_status.hint IS 'What the code means and what to do.';
COMMENT ON COLUMN todoke.message_status.provider_message_id IS 'The provider''s id for it.';
COMMENT ON COLUMN todoke.message_status.sender_id IS 'The sender that has it, or had it last.';
COMMENT ON COLUMN todoke.message_status.sender_host IS 'Where that sender runs.';
CREATE TABLE todoke.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT migrations_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT migrations_version_check CHECK ((version > 0))
);
ALTER TABLE todoke.migrations OWNER TO todoke_owner;
COMMENT ON TABLE todoke.migrations IS 'The migrations applied to this database, one row a file of sql/.';
COMMENT ON COLUMN todoke.migrations.version IS 'The number in front of the file''s name; no gaps.';
COMMENT ON COLUMN todoke.migrations.name IS 'The file''s name.';
COMMENT ON COLUMN todoke.migrations.digest IS 'SHA-256 of the file without its last line, in hex: a file that changed afterwards is refused.';
COMMENT ON COLUMN todoke.migrations.applied_at IS 'When it was applied.';
CREATE VIEW todoke.missing_indexes AS
 SELECT part.name AS partition,
    parent.relname AS index,
    part.bytes,
    step.command
   FROM ((((pg_class parent
     JOIN pg_index i ON (((i.indexrelid = parent.oid) AND (parent.relkind = 'I'::"char"))))
     CROSS JOIN LATERAL ( SELECT c.oid,
            c.relname AS name,
            pg_relation_size((c.oid)::regclass) AS bytes,
            (((parent.relname)::text || '_'::text) || "right"((c.relname)::text, 8)) AS child
           FROM (pg_inherits h
             JOIN pg_class c ON ((c.oid = h.inhrelid)))
          WHERE ((h.inhparent = i.indrelid) AND (NOT (EXISTS ( SELECT
                   FROM (pg_inherits attached
                     JOIN pg_index own ON ((own.indexrelid = attached.inhrelid)))
                  WHERE ((attached.inhparent = parent.oid) AND (own.indrelid = c.oid))))))) part)
     LEFT JOIN pg_index built ON (((built.indexrelid = (to_regclass(format('todoke.%I'::text, part.child)))::oid) AND (built.indrelid = part.oid))))
     CROSS JOIN LATERAL ( VALUES (1,
                CASE
                    WHEN ((to_regclass(format('todoke.%I'::text, part.child)) IS NOT NULL) AND (built.indisvalid IS NOT TRUE)) THEN format('DROP INDEX CONCURRENTLY todoke.%I'::text, part.child)
                    ELSE NULL::text
                END), (2,
                CASE
                    WHEN (built.indisvalid IS NOT TRUE) THEN regexp_replace(pg_get_indexdef(parent.oid), '^CREATE INDEX .* USING '::text, format('CREATE INDEX CONCURRENTLY %I ON todoke.%I USING '::text, part.child, part.name))
                    ELSE NULL::text
                END), (3,format('SET LOCAL lock_timeout = ''2s''; ALTER INDEX todoke.%I ATTACH PARTITION todoke.%I'::text, parent.relname, part.child)), (4,format('COMMENT ON INDEX todoke.%I IS %L'::text, part.child, obj_description(parent.oid, 'pg_class'::name)))) step(place, command))
  WHERE ((parent.relnamespace = ('todoke'::regnamespace)::oid) AND (step.command IS NOT NULL))
  ORDER BY part.name DESC, parent.relname, step.place;
ALTER TABLE todoke.missing_indexes OWNER TO todoke_owner;
COMMENT ON VIEW todoke.missing_indexes IS 'Partitions that are without an index because they were too large when it was introduced, each with the statements that build it while everybody reads and writes, in order: run them one by one, as psql''s \gexec does. Attaching waits two seconds at most for those who read the day: run it again until it is empty.';
COMMENT ON COLUMN todoke.missing_indexes.partition IS 'The partition that is without it.';
COMMENT ON COLUMN todoke.missing_indexes.index IS 'The index of the partitioned table.';
COMMENT ON COLUMN todoke.missing_indexes.bytes IS 'Size of the partition, which a build reads twice.';
COMMENT ON COLUMN todoke.missing_indexes.command IS 'To be run outside of a transaction.';
CREATE VIEW todoke.notification_summary AS
 SELECT a.name AS app,
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
    todoke.count_events(n.app, n.notification_id, 'opened'::text, n.settled_events) AS opens,
    round(((todoke.count_events(n.app, n.notification_id, 'opened'::text, n.settled_events))::numeric / (NULLIF(s.sent, 0))::numeric), 4) AS open_rate,
    s.top_errors,
    todoke.count_events(n.app, n.notification_id, 'received'::text, n.settled_events) AS received,
        CASE
            WHEN (n.settled_at IS NULL) THEN todoke.estimated_reach(n.app, n.id, n.day, s.sent)
            ELSE s.settled_reach
        END AS reach,
    n.settled_at,
    n.purged_at
   FROM ((todoke.notifications n
     JOIN todoke.apps a ON ((a.id = n.app)))
     CROSS JOIN LATERAL ( SELECT c.total,
            c.pending,
            c.sending,
            c.sent,
            c.failed,
            c.expired,
            c.cancelled,
            c.first_sent_at,
            c.last_sent_at,
            c.p50_seconds,
            c.p95_seconds,
            c.top_errors,
            NULL::bigint AS settled_reach
           FROM todoke.notification_progress(n.id, n.day) c(total, pending, sending, sent, failed, expired, cancelled, first_sent_at, last_sent_at, p50_seconds, p95_seconds, top_errors)
          WHERE (n.settled_at IS NULL)
        UNION ALL
         SELECT (((COALESCE(c.sent, (0)::bigint) + COALESCE(c.failed, (0)::bigint)) + COALESCE(c.expired, (0)::bigint)) + COALESCE(c.cancelled, (0)::bigint)),
            0,
            0,
            COALESCE(c.sent, (0)::bigint) AS "coalesce",
            COALESCE(c.failed, (0)::bigint) AS "coalesce",
            COALESCE(c.expired, (0)::bigint) AS "coalesce",
            COALESCE(c.cancelled, (0)::bigint) AS "coalesce",
            c.first_sent_at,
            COALESCE(c.last_sent_at, c.first_sent_at) AS "coalesce",
            c.p50_seconds,
            COALESCE(c.p95_seconds, c.p50_seconds) AS "coalesce",
            c.top_errors,
            COALESCE(c.reach, c.sent, (0)::bigint) AS "coalesce"
           FROM json_to_record(n.settled_summary) c(sent bigint, failed bigint, expired bigint, cancelled bigint, reach bigint, first_sent_at timestamp with time zone, last_sent_at timestamp with time zone, p50_seconds double precision, p95_seconds double precision, top_errors json)
          WHERE (n.settled_at IS NOT NULL)) s);
ALTER TABLE todoke.notification_summary OWNER TO todoke_owner;
COMMENT ON VIEW todoke.notification_summary IS 'One row per notification: its messages by state, when they were sent, how long they waited, opens, reach and errors. Until the notification is settled its messages are counted each time: name the notification, the campaign or the day. Of one with more than 20000 messages p50_seconds, p95_seconds and reach are estimates until then.';
COMMENT ON COLUMN todoke.notification_summary.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.notification_summary.notification_id IS 'The notification''s id.';
COMMENT ON COLUMN todoke.notification_summary.campaign IS 'Groups notifications.';
COMMENT ON COLUMN todoke.notification_summary.day IS 'The UTC day it was made.';
COMMENT ON COLUMN todoke.notification_summary.created_at IS 'When it was made.';
COMMENT ON COLUMN todoke.notification_summary.loaded_at IS 'When the producer came to the audience''s end.';
COMMENT ON COLUMN todoke.notification_summary.cancelled_at IS 'When it was cancelled.';
COMMENT ON COLUMN todoke.notification_summary.total IS 'Messages queued for it.';
COMMENT ON COLUMN todoke.notification_summary.pending IS 'Of those: waiting, scheduled, or waiting for a retry.';
COMMENT ON COLUMN todoke.notification_summary.sending IS 'Of those: claimed by a sender.';
COMMENT ON COLUMN todoke.notification_summary.sent IS 'Of those: accepted by the provider.';
COMMENT ON COLUMN todoke.notification_summary.failed IS 'Of those: given up.';
COMMENT ON COLUMN todoke.notification_summary.expired IS 'Of those: not sent in time.';
COMMENT ON COLUMN todoke.notification_summary.cancelled IS 'Of those: cancelled.';
COMMENT ON COLUMN todoke.notification_summary.rejected IS 'Audience rows that the producer refused; they are not in total.';
COMMENT ON COLUMN todoke.notification_summary.first_sent_at IS 'When the first was accepted.';
COMMENT ON COLUMN todoke.notification_summary.last_sent_at IS 'When the latest was accepted.';
COMMENT ON COLUMN todoke.notification_summary.p50_seconds IS 'Median of the seconds from queued (or due, when it was scheduled and sent at its first attempt) to sent; of 20000 messages while a larger notification is not settled.';
COMMENT ON COLUMN todoke.notification_summary.p95_seconds IS 'The same, 95th percentile.';
COMMENT ON COLUMN todoke.notification_summary.opens IS 'Devices that reported it opened, or users where the application names no device; each counts once.';
COMMENT ON COLUMN todoke.notification_summary.open_rate IS 'Opens per message sent; NULL when none was sent.';
COMMENT ON COLUMN todoke.notification_summary.top_errors IS 'The five most frequent codes of its messages, as [{"code", "messages"}].';
COMMENT ON COLUMN todoke.notification_summary.received IS 'Devices that reported it received: Android apps and service extensions that do; a lower bound.';
COMMENT ON COLUMN todoke.notification_summary.reach IS 'Of those sent: without the ones to devices that said that the user does not allow notifications; an estimate while a notification of more than 20000 messages is not settled, then as it was at that time. Counted only where it is asked for.';
COMMENT ON COLUMN todoke.notification_summary.settled_at IS 'When its numbers became final, but for opens and received; NULL while they are counted each time.';
COMMENT ON COLUMN todoke.notification_summary.purged_at IS 'When its messages were dropped for their age; this row stays.';
ALTER TABLE todoke.notifications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME todoke.notifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW todoke.oldest_due AS
 SELECT a.name AS app,
    o.priority,
    o.id,
    o.day,
    o.due_at,
    (EXTRACT(epoch FROM (now() - o.due_at)))::double precision AS due_seconds,
    a.paused_at
   FROM ((todoke.apps a
     CROSS JOIN generate_series(0, 9) p(priority))
     CROSS JOIN LATERAL ( SELECT m.id,
            m.day,
            m.due_at,
            m.priority
           FROM todoke.messages m
          WHERE ((m.app = a.id) AND (m.priority = (p.priority)::smallint) AND (m.state = 'pending'::todoke.message_state) AND (m.due_at <= now()))
          ORDER BY m.due_at, m.id
         LIMIT 1) o);
ALTER TABLE todoke.oldest_due OWNER TO todoke_owner;
COMMENT ON VIEW todoke.oldest_due IS 'The message that has been due for the longest time, for each app and priority that has one.';
COMMENT ON COLUMN todoke.oldest_due.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.oldest_due.priority IS '0 to 9, higher goes first.';
COMMENT ON COLUMN todoke.oldest_due.id IS 'The message.';
COMMENT ON COLUMN todoke.oldest_due.day IS 'The day it is kept under.';
COMMENT ON COLUMN todoke.oldest_due.due_at IS 'Since when it is due.';
COMMENT ON COLUMN todoke.oldest_due.due_seconds IS 'How many seconds that is ago.';
COMMENT ON COLUMN todoke.oldest_due.paused_at IS 'Set while the app is paused, which explains much.';
CREATE VIEW todoke.queue_depth AS
SELECT
    NULL::text AS app,
    NULL::smallint AS priority,
    NULL::bigint AS due,
    NULL::bigint AS scheduled,
    NULL::bigint AS sending,
    NULL::double precision AS oldest_due_seconds,
    NULL::timestamp with time zone AS paused_at;
ALTER TABLE todoke.queue_depth OWNER TO todoke_owner;
COMMENT ON VIEW todoke.queue_depth IS 'What waits, per app and priority: due now, due later, being sent, and how long the oldest due message has waited. An app with nothing has one row of zeros.';
COMMENT ON COLUMN todoke.queue_depth.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.queue_depth.priority IS '0 to 9, higher goes first.';
COMMENT ON COLUMN todoke.queue_depth.due IS 'Pending messages that may be sent now.';
COMMENT ON COLUMN todoke.queue_depth.scheduled IS 'Pending messages due later, retries included.';
COMMENT ON COLUMN todoke.queue_depth.sending IS 'Claimed by a sender and not yet recorded.';
COMMENT ON COLUMN todoke.queue_depth.oldest_due_seconds IS 'How long the oldest due message has been due; NULL when none is.';
COMMENT ON COLUMN todoke.queue_depth.paused_at IS 'Set while the app is paused.';
CREATE TABLE todoke.rejections (
    notification bigint NOT NULL,
    line bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    run_id uuid,
    day date NOT NULL,
    reason text NOT NULL,
    input text
)
PARTITION BY RANGE (day);
ALTER TABLE todoke.rejections OWNER TO todoke_owner;
COMMENT ON TABLE todoke.rejections IS 'Audience rows that the producer refused, partitioned by day like messages.';
COMMENT ON COLUMN todoke.rejections.notification IS 'The notification it was meant for.';
COMMENT ON COLUMN todoke.rejections.line IS 'Line of the input, from 1; row number for a SQL audience.';
COMMENT ON COLUMN todoke.rejections.at IS 'When it was refused.';
COMMENT ON COLUMN todoke.rejections.run_id IS 'The producer run that refused it.';
COMMENT ON COLUMN todoke.rejections.day IS 'The notification''s day, which chooses the partition.';
COMMENT ON COLUMN todoke.rejections.reason IS 'Which field, and what is wrong with it.';
COMMENT ON COLUMN todoke.rejections.input IS 'The row as it was read, as far as it can be stored as text.';
CREATE VIEW todoke.rejected_rows AS
 SELECT a.name AS app,
    n.notification_id,
    n.day,
    r.line,
    r.reason,
    r.input,
    r.at,
    r.run_id
   FROM ((todoke.notifications n
     JOIN todoke.apps a ON ((a.id = n.app)))
     JOIN todoke.rejections r ON (((r.notification = n.id) AND (r.day = n.day))));
ALTER TABLE todoke.rejected_rows OWNER TO todoke_owner;
COMMENT ON VIEW todoke.rejected_rows IS 'Audience rows that were refused, with the reason. Name the notification, to read one day only.';
COMMENT ON COLUMN todoke.rejected_rows.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.rejected_rows.notification_id IS 'The notification it was meant for.';
COMMENT ON COLUMN todoke.rejected_rows.day IS 'The notification''s day.';
COMMENT ON COLUMN todoke.rejected_rows.line IS 'Line of the input, from 1; row number for a SQL audience.';
COMMENT ON COLUMN todoke.rejected_rows.reason IS 'Which field, and what is wrong with it.';
COMMENT ON COLUMN todoke.rejected_rows.input IS 'The row as it was read, as far as it can be stored as text.';
COMMENT ON COLUMN todoke.rejected_rows.at IS 'When it was refused.';
COMMENT ON COLUMN todoke.rejected_rows.run_id IS 'The producer run that refused it.';
ALTER TABLE todoke.senders ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME todoke.senders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW todoke.stale_devices WITH (security_barrier='true') AS
 SELECT a.name AS app,
    d.id AS device,
    d.token,
    d.user_id,
    d.platform,
    d.last_seen_at,
    (EXTRACT(day FROM (now() - d.last_seen_at)))::integer AS days_unseen,
    (d.last_seen_at < (now() - '270 days'::interval)) AS is_expired
   FROM (todoke.devices d
     JOIN todoke.apps a ON ((a.id = d.app)))
  WHERE ((d.invalidated_at IS NULL) AND (d.last_seen_at < (now() - '30 days'::interval)));
ALTER TABLE todoke.stale_devices OWNER TO todoke_owner;
COMMENT ON VIEW todoke.stale_devices IS 'Devices that no app reported for 30 days or longer and whose token nobody proved dead. Reads all devices of the app.';
COMMENT ON COLUMN todoke.stale_devices.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.stale_devices.device IS 'The device in devices.';
COMMENT ON COLUMN todoke.stale_devices.token IS 'Its token.';
COMMENT ON COLUMN todoke.stale_devices.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.stale_devices.platform IS 'ios, android or web.';
COMMENT ON COLUMN todoke.stale_devices.last_seen_at IS 'When the app reported itself last.';
COMMENT ON COLUMN todoke.stale_devices.days_unseen IS 'Whole days since then.';
COMMENT ON COLUMN todoke.stale_devices.is_expired IS 'Unseen for 270 days: FCM drops such tokens, and the registry''s audience leaves them out.';
ALTER TABLE ONLY todoke.allowed_targets
    ADD CONSTRAINT allowed_targets_pkey PRIMARY KEY (app, target_kind, target);
ALTER TABLE ONLY todoke.apps
    ADD CONSTRAINT apps_name_key UNIQUE (name);
ALTER TABLE ONLY todoke.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (id);
ALTER TABLE ONLY todoke.dead_token_counts
    ADD CONSTRAINT dead_token_counts_pkey PRIMARY KEY (app, hour, sender_id);
ALTER TABLE ONLY todoke.devices
    ADD CONSTRAINT devices_app_token_key UNIQUE (app, token);
ALTER TABLE ONLY todoke.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY todoke.error_hints
    ADD CONSTRAINT error_hints_pkey PRIMARY KEY (code);
ALTER TABLE ONLY todoke.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY todoke.events
    ADD CONSTRAINT events_subject_key UNIQUE (app, notification_id, kind, subject);
ALTER TABLE ONLY todoke.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id, day);
ALTER TABLE ONLY todoke.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY todoke.notifications
    ADD CONSTRAINT notifications_app_notification_id_key UNIQUE (app, notification_id);
ALTER TABLE ONLY todoke.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);
ALTER TABLE todoke.notifications
    ADD CONSTRAINT notifications_settled_check CHECK (((settled_at IS NULL) = (settled_summary IS NULL))) NOT VALID;
ALTER TABLE ONLY todoke.payloads
    ADD CONSTRAINT payloads_notification_dedupe_key_day_key UNIQUE (notification, dedupe_key, day);
ALTER TABLE ONLY todoke.payloads
    ADD CONSTRAINT payloads_pkey PRIMARY KEY (id, day);
ALTER TABLE ONLY todoke.senders
    ADD CONSTRAINT senders_pkey PRIMARY KEY (id);
CREATE INDEX attempts_dead_tokens ON ONLY todoke.attempts USING btree (app, at, message_id) WHERE (outcome = 'token_invalid'::text);
COMMENT ON INDEX todoke.attempts_dead_tokens IS 'Finds what proved tokens dead, in the order of time; holds nothing else.';
CREATE INDEX attempts_message ON ONLY todoke.attempts USING btree (message_id);
COMMENT ON INDEX todoke.attempts_message IS 'Finds the attempts of one message.';
CREATE UNIQUE INDEX devices_installation ON todoke.devices USING btree (app, installation_id) WHERE ((invalidated_at IS NULL) AND (installation_id IS NOT NULL));
COMMENT ON INDEX todoke.devices_installation IS 'The token in use of an installation: there is one at most.';
CREATE INDEX devices_invalidated ON todoke.devices USING btree (app, invalidated_at) WHERE (invalidated_at IS NOT NULL);
COMMENT ON INDEX todoke.devices_invalidated IS 'Finds the devices that were marked within a time.';
CREATE INDEX devices_user ON todoke.devices USING btree (app, user_id);
COMMENT ON INDEX todoke.devices_user IS 'Finds a user''s devices.';
COMMENT ON INDEX todoke.events_subject_key IS 'The same report twice is one row; counts a notification''s events of a kind without reading them.';
CREATE INDEX messages_claim ON ONLY todoke.messages USING btree (app, priority, due_at, id) WHERE (state = 'pending'::todoke.message_state);
COMMENT ON INDEX todoke.messages_claim IS 'What is claimable, in the order of claims; holds pending messages only.';
CREATE INDEX messages_finished ON ONLY todoke.messages USING brin (finished_at) WHERE (finished_at IS NOT NULL);
COMMENT ON INDEX todoke.messages_finished IS 'Finds the pages with messages that ended in a span of time.';
CREATE INDEX messages_returned ON ONLY todoke.messages USING btree (app) WHERE ((state = 'pending'::todoke.message_state) AND (claim_no > 0));
COMMENT ON INDEX todoke.messages_returned IS 'What waits again after a claim, which a drain must wait for; holds nothing while all goes well.';
CREATE INDEX messages_sending ON ONLY todoke.messages USING btree (app, id) WHERE (state = 'sending'::todoke.message_state);
COMMENT ON INDEX todoke.messages_sending IS 'What is in flight, for the rescue of leases that ran out; holds sending messages only.';
CREATE INDEX notifications_campaign ON todoke.notifications USING btree (campaign, app) WHERE (campaign IS NOT NULL);
COMMENT ON INDEX todoke.notifications_campaign IS 'The notifications of a campaign.';
CREATE INDEX notifications_day ON todoke.notifications USING btree (day);
COMMENT ON INDEX todoke.notifications_day IS 'The notifications of a day, also of one that was purged.';
CREATE INDEX notifications_kept ON todoke.notifications USING btree (day, ((settled_at IS NULL)), id) WHERE (purged_at IS NULL);
COMMENT ON INDEX todoke.notifications_kept IS 'What is to be settled and purged, by day; holds notifications only until they are purged.';
CREATE INDEX payloads_target ON ONLY todoke.payloads USING hash (target);
COMMENT ON INDEX todoke.payloads_target IS 'Finds the messages to one target.';
CREATE INDEX payloads_user ON ONLY todoke.payloads USING btree (user_id) WHERE (user_id IS NOT NULL);
COMMENT ON INDEX todoke.payloads_user IS 'Finds a user''s messages.';
CREATE INDEX rejections_notification ON ONLY todoke.rejections USING btree (notification, line);
COMMENT ON INDEX todoke.rejections_notification IS 'Finds the refused rows of one notification, in the order of the input.';
CREATE OR REPLACE VIEW todoke.queue_depth AS
 WITH waiting AS (
         SELECT m.app,
            m.priority,
            count(*) FILTER (WHERE (m.due_at <= now())) AS due,
            count(*) FILTER (WHERE (m.due_at > now())) AS scheduled,
            0 AS sending,
            min(m.due_at) FILTER (WHERE (m.due_at <= now())) AS oldest
           FROM todoke.messages m
          WHERE (m.state = 'pending'::todoke.message_state)
          GROUP BY m.app, m.priority
        UNION ALL
         SELECT m.app,
            m.priority,
            0,
            0,
            count(*) AS count,
            NULL::timestamp with time zone
           FROM todoke.messages m
          WHERE (m.state = 'sending'::todoke.message_state)
          GROUP BY m.app, m.priority
        )
 SELECT a.name AS app,
    (COALESCE((w.priority)::integer, 5))::smallint AS priority,
    (COALESCE(sum(w.due), (0)::numeric))::bigint AS due,
    (COALESCE(sum(w.scheduled), (0)::numeric))::bigint AS scheduled,
    (COALESCE(sum(w.sending), (0)::numeric))::bigint AS sending,
    (EXTRACT(epoch FROM (now() - min(w.oldest))))::double precision AS oldest_due_seconds,
    a.paused_at
   FROM (todoke.apps a
     LEFT JOIN waiting w ON ((w.app = a.id)))
  GROUP BY a.id, w.priority;
ALTER TABLE ONLY todoke.allowed_targets
    ADD CONSTRAINT allowed_targets_app_fkey FOREIGN KEY (app) REFERENCES todoke.apps(id);
ALTER TABLE ONLY todoke.dead_token_counts
    ADD CONSTRAINT dead_token_counts_app_fkey FOREIGN KEY (app) REFERENCES todoke.apps(id) ON DELETE CASCADE;
ALTER TABLE ONLY todoke.devices
    ADD CONSTRAINT devices_app_fkey FOREIGN KEY (app) REFERENCES todoke.apps(id);
ALTER TABLE ONLY todoke.events
    ADD CONSTRAINT events_app_fkey FOREIGN KEY (app) REFERENCES todoke.apps(id);
ALTER TABLE ONLY todoke.notifications
    ADD CONSTRAINT notifications_app_fkey FOREIGN KEY (app) REFERENCES todoke.apps(id);
GRANT USAGE ON SCHEMA todoke TO todoke_producer;
GRANT USAGE ON SCHEMA todoke TO todoke_sender;
GRANT USAGE ON SCHEMA todoke TO todoke_app;
GRANT USAGE ON SCHEMA todoke TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.app_backlog(app text, OUT due bigint, OUT scheduled bigint, OUT sending bigint, OUT oldest_due_seconds double precision) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.begin_migration(wanted integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.bind_user(app text, token text, user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.bind_user(app text, token text, user_id text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.bulk_app(app text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.bulk_notification(app text, notification_id text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.campaign_notifications(app text, campaign text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.cancel_notification(app text, notification_id text, OUT cancelled_at timestamp with time zone, OUT was_cancelled boolean, OUT is_loading boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.cancel_pending(app text, notification_id text, batch integer, INOUT after_key uuid, OUT cancelled bigint, OUT busy bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.checked_channel(channel text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.checked_message(message jsonb, android_key text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.compact_size(value jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.completed_message(message jsonb, android_key text, notification_id text, image text, life integer, expires_at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.count_devices(app integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.count_events(app integer, notification_id text, kind text, settled json) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.count_events(app integer, notification_id text, kind text, settled json) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.data_fault(data jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.day_of(app text, notification_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.day_of(app text, notification_id text) TO todoke_producer;
GRANT ALL ON FUNCTION todoke.day_of(app text, notification_id text) TO todoke_sender;
GRANT ALL ON FUNCTION todoke.day_of(app text, notification_id text) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.dead_token_pause() FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.device_fault(token text, user_id text, platform text, locale text, channels text[], installation_id text, app_version text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.device_of(app integer, token text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.end_dead_token_hold(app text, proofs_were_wrong boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind, priority integer, due_at timestamp with time zone, expires_in interval, image text, user_id text, dedupe_by text, campaign text, delivery text, validate_only boolean, OUT message_id bigint, OUT is_new boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind, priority integer, due_at timestamp with time zone, expires_in interval, image text, user_id text, dedupe_by text, campaign text, delivery text, validate_only boolean, OUT message_id bigint, OUT is_new boolean) TO todoke_app;
GRANT ALL ON FUNCTION todoke.enqueue(app text, INOUT notification_id text, target text, message json, target_kind todoke.target_kind, priority integer, due_at timestamp with time zone, expires_in interval, image text, user_id text, dedupe_by text, campaign text, delivery text, validate_only boolean, OUT message_id bigint, OUT is_new boolean) TO todoke_producer;
REVOKE ALL ON FUNCTION todoke.ensure_partitions(days_ahead integer) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.ensure_partitions(days_ahead integer) TO todoke_producer;
GRANT ALL ON FUNCTION todoke.ensure_partitions(days_ahead integer) TO todoke_sender;
REVOKE ALL ON FUNCTION todoke.error_hint(code text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.error_hint(code text) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.estimated_reach(app integer, notification bigint, day date, sent bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.estimated_reach(app integer, notification bigint, day date, sent bigint) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.event_fault(kind text, token text, user_id text, properties json) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.found_messages(condition text, app text, most integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.header_fault(headers jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.insert_event(app integer, notification_id text, made_at timestamp with time zone, kind text, token text, user_id text, at timestamp with time zone, properties json) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.is_time_zone(name text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.message_days() FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.message_days() TO todoke_producer;
GRANT ALL ON FUNCTION todoke.message_days() TO todoke_sender;
GRANT ALL ON FUNCTION todoke.message_days() TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.message_story(message_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.message_story(message_id bigint) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.notification_counts(app text, notification_id text, OUT pending bigint, OUT sending bigint, OUT sent bigint, OUT failed bigint, OUT expired bigint, OUT cancelled bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.notification_progress(notification bigint, day date) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.notification_progress(notification bigint, day date) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.parsed_message(message json) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.parsed_time(given text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.pause_app(app text, reason text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT was_paused boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.reach(app integer, notification bigint, day date) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.reach(app integer, notification bigint, day date) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.record_dead_tokens(sender_id bigint, day date, message_ids bigint[], apps integer[], codes text[], dead_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.record_dead_tokens(sender_id bigint, day date, message_ids bigint[], apps integer[], codes text[], dead_at timestamp with time zone[]) TO todoke_sender;
REVOKE ALL ON FUNCTION todoke.record_event(app text, notification_id text, kind text, token text, user_id text, at timestamp with time zone, properties json) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.record_event(app text, notification_id text, kind text, token text, user_id text, at timestamp with time zone, properties json) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.record_events(app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.record_events(app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.register_device(app text, token text, user_id text, platform text, locale text, time_zone text, channels text[], environment text, installation_id text, app_version text, allows_notifications boolean, OUT device_id bigint, OUT is_new boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.register_device(app text, token text, user_id text, platform text, locale text, time_zone text, channels text[], environment text, installation_id text, app_version text, allows_notifications boolean, OUT device_id bigint, OUT is_new boolean) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.registry_app(name text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.repeated_key(value json, path text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.resume_app(app text, OUT paused_at timestamp with time zone, OUT pause_reason text, OUT dead_tokens_held_at timestamp with time zone) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.retry_failed(app text, notification_id text, codes text[], since timestamp with time zone, until timestamp with time zone, message_id bigint, dry_run boolean, batch integer, INOUT day date, INOUT after_id bigint, OUT retried bigint, OUT closed bigint, OUT cancelled bigint, OUT dead_token bigint, OUT expired bigint, OUT unknown bigint, OUT busy bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.revive_devices(app text, since timestamp with time zone, batch integer, OUT looked integer, OUT revived integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.settle_day(day date, after bigint, at_most integer, OUT settled bigint, OUT next bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.settle_events(made_before date, after bigint, at_most integer, OUT deleted bigint, OUT next bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.size_fault(message jsonb, android_key text, for_topic boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.subscribe(app text, token text, channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.subscribe(app text, token text, channel text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.subscribe_user(app text, user_id text, channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.subscribe_user(app text, user_id text, channel text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.summarize_notification(notification bigint, day date) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.summarize_notification(notification bigint, day date) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.sweep_dead_tokens(app text, is_rehearsal boolean, after timestamp with time zone, after_id bigint, OUT looked integer, OUT marked integer, OUT next timestamp with time zone, OUT next_id bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.throughput(back interval) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.throughput(back interval) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.token_messages(app text, token text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.token_messages(app text, token text, most integer) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.unbind_user(app text, token text, user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.unbind_user(app text, token text, user_id text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.unknown_field(object jsonb, known text[], path text) FROM PUBLIC;
REVOKE ALL ON FUNCTION todoke.unregister_device(app text, token text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.unregister_device(app text, token text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.unsubscribe(app text, token text, channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.unsubscribe(app text, token text, channel text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.unsubscribe_user(app text, user_id text, channel text) TO todoke_app;
REVOKE ALL ON FUNCTION todoke.upcoming(ahead interval) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.upcoming(ahead interval) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.user_messages(app text, user_id text, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION todoke.user_messages(app text, user_id text, most integer) TO todoke_reader;
REVOKE ALL ON FUNCTION todoke.with_image(object jsonb, image text) FROM PUBLIC;
GRANT SELECT ON TABLE todoke.allowed_targets TO todoke_producer;
GRANT SELECT ON TABLE todoke.apps TO todoke_producer;
GRANT SELECT ON TABLE todoke.apps TO todoke_sender;
GRANT SELECT,INSERT ON TABLE todoke.attempts TO todoke_sender;
GRANT SELECT ON TABLE todoke.notifications TO todoke_producer;
GRANT SELECT ON TABLE todoke.notifications TO todoke_sender;
GRANT INSERT(app) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(notification_id) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(delivery) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(campaign),UPDATE(campaign) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(template_digest),UPDATE(template_digest) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(definition_digest),UPDATE(definition_digest) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(run_id) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(run_until) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(queued) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(already_queued) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(rejected) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(loaded_at) ON TABLE todoke.notifications TO todoke_producer;
GRANT INSERT(validate_only) ON TABLE todoke.notifications TO todoke_producer;
GRANT UPDATE(skipped) ON TABLE todoke.notifications TO todoke_producer;
GRANT SELECT,INSERT ON TABLE todoke.payloads TO todoke_producer;
GRANT SELECT ON TABLE todoke.payloads TO todoke_sender;
GRANT SELECT ON TABLE todoke.dead_tokens TO todoke_reader;
GRANT SELECT ON TABLE todoke.devices TO todoke_producer;
GRANT SELECT ON TABLE todoke.error_hints TO todoke_reader;
GRANT SELECT ON TABLE todoke.event_log TO todoke_reader;
GRANT SELECT ON TABLE todoke.failures TO todoke_reader;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE todoke.senders TO todoke_sender;
GRANT SELECT ON TABLE todoke.live_senders TO todoke_reader;
GRANT USAGE ON SEQUENCE todoke.message_id_seq TO todoke_producer;
GRANT SELECT ON TABLE todoke.message_payloads TO todoke_reader;
GRANT SELECT,INSERT ON TABLE todoke.messages TO todoke_producer;
GRANT SELECT ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(due_at) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(state) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(claim_no) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(attempts) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(http_status) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(sender_id) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(lease_until) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(finished_at) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(error_code) ON TABLE todoke.messages TO todoke_sender;
GRANT UPDATE(provider_message_id) ON TABLE todoke.messages TO todoke_sender;
GRANT SELECT ON TABLE todoke.message_status TO todoke_reader;
GRANT SELECT ON TABLE todoke.migrations TO todoke_producer;
GRANT SELECT ON TABLE todoke.migrations TO todoke_sender;
GRANT SELECT ON TABLE todoke.migrations TO todoke_reader;
GRANT SELECT ON TABLE todoke.notification_summary TO todoke_reader;
GRANT SELECT ON TABLE todoke.oldest_due TO todoke_reader;
GRANT SELECT ON TABLE todoke.queue_depth TO todoke_reader;
GRANT SELECT,INSERT,DELETE ON TABLE todoke.rejections TO todoke_producer;
GRANT SELECT ON TABLE todoke.rejected_rows TO todoke_reader;
GRANT SELECT ON TABLE todoke.stale_devices TO todoke_reader;
