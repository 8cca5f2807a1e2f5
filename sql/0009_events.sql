-- 0009: todoke.record_event and record_events, by which applications tell what devices report, and the numbers made of it.
-- Locks: ACCESS EXCLUSIVE on todoke.events while its rows get their subjects and an index is made: nothing writes there yet;
-- and on todoke.notifications for a moment, whose rows are not rewritten.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '9';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(9);
SET LOCAL lock_timeout = '5s';

-- Who reports: with it, the same report a second time is the same row.
ALTER TABLE todoke.events ADD COLUMN subject text;
UPDATE todoke.events SET subject = CASE
    WHEN device IS NOT NULL THEN 'd' || device
    WHEN user_id <> '' AND octet_length(user_id) <= 500 THEN 'u' || user_id
    ELSE 'e' || id END;
DELETE FROM todoke.events AS e
USING todoke.events AS first
WHERE first.app = e.app AND first.notification_id = e.notification_id AND first.kind = e.kind AND first.subject = e.subject
    AND first.id < e.id;
ALTER TABLE todoke.events ALTER COLUMN subject SET NOT NULL;
ALTER TABLE todoke.events
    ADD CONSTRAINT events_subject_key UNIQUE (app, notification_id, kind, subject),
    DROP CONSTRAINT events_kind_check,
    ADD CONSTRAINT events_kind_check CHECK (kind IN ('opened', 'received', 'dismissed')),
    ALTER COLUMN at SET NOT NULL;
DROP INDEX todoke.events_notification;
COMMENT ON TABLE todoke.events IS 'What devices report back: a notification was received, opened or dismissed. One row per notification, kind and subject; record_event writes it.';
COMMENT ON INDEX todoke.events_subject_key IS 'The same report twice is one row; counts a notification''s events of a kind without reading them.';
COMMENT ON COLUMN todoke.events.kind IS 'opened, received or dismissed.';
COMMENT ON COLUMN todoke.events.subject IS 'Who reported: d and the device''s id; t and the first 16 bytes of the token''s SHA-256, for a token that is not registered; u and the user''s id; e and this row''s id for older ones that name neither.';
COMMENT ON COLUMN todoke.events.at IS 'When it happened, as the device said, but neither ahead of its report nor before the notification was made.';
COMMENT ON COLUMN todoke.events.properties IS 'What else the application wants to keep; at most 8192 bytes.';

ALTER TABLE todoke.notifications ADD COLUMN settled_events json;
COMMENT ON COLUMN todoke.notifications.settled_events IS 'How many events of each kind it had when they were deleted for their age; from then on no more are taken. NULL: they are in events.';

CREATE FUNCTION todoke.parsed_time(given text) RETURNS timestamptz
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN given::timestamptz;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END
$$;
COMMENT ON FUNCTION todoke.parsed_time(text) IS 'A time as a device wrote it; NULL for what is none.';

-- What it is given must be right: record_event and record_events have looked.
CREATE FUNCTION todoke.insert_event(
    app int, notification_id text, made_at timestamptz, kind text, token text, user_id text, at timestamptz, properties json
) RETURNS boolean
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
COMMENT ON FUNCTION todoke.insert_event(int, text, timestamptz, text, text, text, timestamptz, json) IS 'Writes one event that has been looked at; false when it is there already.';

CREATE FUNCTION todoke.event_fault(kind text, token text, user_id text, properties json) RETURNS text
LANGUAGE sql
IMMUTABLE
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
COMMENT ON FUNCTION todoke.event_fault(text, text, text, json) IS 'What is wrong with an event; NULL when nothing is.';

CREATE FUNCTION todoke.record_event(
    app text,
    notification_id text,
    kind text,
    token text DEFAULT NULL,
    user_id text DEFAULT NULL,
    at timestamptz DEFAULT NULL,
    properties json DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION todoke.record_event(text, text, text, text, text, timestamptz, json) IS 'Records what a device reports of a notification: opened, received or dismissed. True when it is new; the same again, and late, changes nothing.';

CREATE FUNCTION todoke.record_events(
    app text, events json, OUT recorded bigint, OUT repeated bigint, OUT refused bigint, OUT first_refusal text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
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
        ORDER BY e.value ->> 'notification_id' COLLATE "C", e.value ->> 'kind' COLLATE "C", e.value ->> 'token' COLLATE "C",
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
COMMENT ON FUNCTION todoke.record_events(text, json) IS 'record_event for many: [{"notification_id", "kind", "token", "user_id", "at", "properties"}, …], at most 10000. Elements that cannot be are counted in refused, with the first reason, and do not hold up the others; a time that is none counts as now.';

-- Only these two are for others.
REVOKE EXECUTE ON FUNCTION
    todoke.parsed_time(text),
    todoke.insert_event(int, text, timestamptz, text, text, text, timestamptz, json),
    todoke.event_fault(text, text, text, json),
    todoke.record_event(text, text, text, text, text, timestamptz, json),
    todoke.record_events(text, json)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    todoke.record_event(text, text, text, text, text, timestamptz, json), todoke.record_events(text, json)
TO todoke_app;

CREATE FUNCTION todoke.reach(app int, notification bigint, day date) RETURNS bigint
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
COST 100000
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET jit = off
SET work_mem = '64MB'
SET enable_nestloop = on
SET enable_seqscan = on
SET enable_hashjoin = on
SET enable_mergejoin = off
AS $$
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
$$;
COMMENT ON FUNCTION todoke.reach(int, bigint, date) IS 'Messages of a notification that were sent, without those to devices that do not allow notifications; what notification_summary.reach is made of.';
REVOKE EXECUTE ON FUNCTION todoke.reach(int, bigint, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.reach(int, bigint, date) TO todoke_reader;

CREATE FUNCTION todoke.count_events(app int, notification_id text, kind text, settled json) RETURNS bigint
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*) + coalesce((settled ->> count_events.kind)::bigint, 0) FROM todoke.events AS v
    WHERE v.app = count_events.app AND v.notification_id = count_events.notification_id AND v.kind = count_events.kind
$$;
COMMENT ON FUNCTION todoke.count_events(int, text, text, json) IS 'Events of one kind of one notification: one per subject, since more than that are not kept; settled has those that were deleted for their age.';
REVOKE EXECUTE ON FUNCTION todoke.count_events(int, text, text, json) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.count_events(int, text, text, json) TO todoke_reader;

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
    todoke.reach(n.app, n.id, n.day) AS reach
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
CROSS JOIN LATERAL todoke.summarize_notification(n.id, n.day) AS s;
COMMENT ON VIEW todoke.notification_summary IS 'One row per notification: its messages by state, when they were sent, how long they waited, opens, reach and errors. Counts the messages each time: name the notification, the campaign or the day.';
COMMENT ON COLUMN todoke.notification_summary.opens IS 'Devices that reported it opened, or users where the application names no device; each counts once.';
COMMENT ON COLUMN todoke.notification_summary.open_rate IS 'Opens per message sent; NULL when none was sent.';
COMMENT ON COLUMN todoke.notification_summary.received IS 'Devices that reported it received: Android apps and service extensions that do; a lower bound.';
COMMENT ON COLUMN todoke.notification_summary.reach IS 'Of those sent: without the ones to devices that said that the user does not allow notifications. Counted only where it is asked for.';

INSERT INTO todoke.migrations (version, name, digest) VALUES (9, '0009_events.sql', 'c24b16426f5e76b416a4e0e9cac888d62a39fa8b24cd0bde4a0ce6ec4dce1c94');
