-- 0006: todoke.enqueue, by which applications queue a message in their own transaction.
-- Locks: none that anybody else could wait for; every object is new.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '6';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(6);

-- A message is taken apart as jsonb, where looking and adding are cheap. The functions below enqueue have no search_path
-- of their own: only enqueue calls them, with its own, and setting it once more would cost more than what they do.

CREATE FUNCTION todoke.repeated_key(value json, path text DEFAULT 'message') RETURNS text
LANGUAGE plpgsql
IMMUTABLE
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
COMMENT ON FUNCTION todoke.repeated_key(json, text) IS 'The path of a key that an object has twice; NULL when none has.';

CREATE FUNCTION todoke.parsed_message(message json) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
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
COMMENT ON FUNCTION todoke.parsed_message(json) IS 'The message for looking into; refuses what is no object, keys that are there twice, NUL and half surrogate pairs.';

CREATE FUNCTION todoke.data_fault(data jsonb) RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
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
$$;
COMMENT ON FUNCTION todoke.data_fault(jsonb) IS 'The first key of a data map that FCM would not take, and why; NULL when there is none.';

CREATE FUNCTION todoke.header_fault(headers jsonb) RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
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
$$;
COMMENT ON FUNCTION todoke.header_fault(jsonb) IS 'The first header that APNs would not take, and why; NULL when there is none.';

CREATE FUNCTION todoke.unknown_field(object jsonb, known text[], path text) RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT path || k.name || ' is unknown' FROM jsonb_object_keys(object - known) AS k (name) LIMIT 1
$$;
COMMENT ON FUNCTION todoke.unknown_field(jsonb, text[], text) IS 'Names a field that FCM does not know; NULL when there is none.';

-- FCM's fields in both spellings, which a test compares with the rules of the other programs.
CREATE FUNCTION todoke.checked_message(message jsonb, android_key text) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
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
$$;
COMMENT ON FUNCTION todoke.checked_message(jsonb, text) IS 'The message as it is; refused where FCM would not take it, as far as SQL can tell.';

CREATE FUNCTION todoke.with_image(object jsonb, image text) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
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
COMMENT ON FUNCTION todoke.with_image(jsonb, text) IS 'The object with its own image, else this one; without one where it is empty.';

-- Its counterpart in the producer adds the same, which a test compares.
CREATE FUNCTION todoke.completed_message(
    message jsonb, android_key text, notification_id text, image text, life int, expires_at timestamptz
) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
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
$$;
COMMENT ON FUNCTION todoke.completed_message(jsonb, text, text, text, int, timestamptz) IS 'The message with what every message gets: data.notification_id, the collapse keys, its end of life, and its image at every place.';

CREATE FUNCTION todoke.compact_size(value jsonb) RETURNS int
LANGUAGE sql
IMMUTABLE
AS $$
    -- Outside its strings, what is white space.
    SELECT octet_length(value::text)
        - length(regexp_replace(regexp_replace(value::text, '"(?:[^"\\]|\\.)*"', '', 'g'), '[^ ]', '', 'g'))
$$;
COMMENT ON FUNCTION todoke.compact_size(jsonb) IS 'Bytes of a value as JSON without white space.';

CREATE FUNCTION todoke.size_fault(message jsonb, android_key text, for_topic boolean) RETURNS text
LANGUAGE plpgsql
IMMUTABLE
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
COMMENT ON FUNCTION todoke.size_fault(jsonb, text, boolean) IS 'Which part of a message is larger than FCM takes; NULL when none is.';

CREATE FUNCTION todoke.enqueue(
    app text,
    INOUT notification_id text,
    target text,
    message json,
    target_kind todoke.target_kind DEFAULT 'token',
    priority int DEFAULT 5,
    due_at timestamptz DEFAULT now(),
    expires_in interval DEFAULT NULL,
    image text DEFAULT NULL,
    user_id text DEFAULT NULL,
    dedupe_by text DEFAULT NULL,
    campaign text DEFAULT NULL,
    delivery text DEFAULT NULL,
    validate_only boolean DEFAULT false,
    OUT message_id bigint,
    OUT is_new boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
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
        WHEN said.closes_at <= now() OR said.purged_at IS NOT NULL THEN
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
$$;
COMMENT ON FUNCTION todoke.enqueue(text, text, text, json, todoke.target_kind, int, timestamptz, interval, text, text, text, text, text, boolean) IS 'Queues one message in the caller''s transaction; gives back the notification''s id, the message''s, and whether it is new. The same notification_id and target again queue nothing.';

-- Only enqueue is for others.
REVOKE EXECUTE ON FUNCTION
    todoke.repeated_key(json, text),
    todoke.parsed_message(json),
    todoke.data_fault(jsonb),
    todoke.header_fault(jsonb),
    todoke.unknown_field(jsonb, text[], text),
    todoke.checked_message(jsonb, text),
    todoke.with_image(jsonb, text),
    todoke.completed_message(jsonb, text, text, text, int, timestamptz),
    todoke.compact_size(jsonb),
    todoke.size_fault(jsonb, text, boolean),
    todoke.enqueue(
        text, text, text, json, todoke.target_kind, int, timestamptz, interval, text, text, text, text, text, boolean)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    todoke.enqueue(
        text, text, text, json, todoke.target_kind, int, timestamptz, interval, text, text, text, text, text, boolean)
TO todoke_app, todoke_producer;
INSERT INTO todoke.migrations (version, name, digest) VALUES (6, '0006_enqueue.sql', 'de3933cad4698acd794c63556bc896f70c7dafcc77b9f8a9dfe1f82ea5858509');
