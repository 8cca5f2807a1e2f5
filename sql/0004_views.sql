-- 0004: what people ask: the views, the functions behind them, and the texts that explain error codes.
-- Locks: none that anybody else could wait for; every object is new.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '4';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(4);

CREATE TABLE todoke.error_hints (
    code text PRIMARY KEY,
    hint text NOT NULL
);
COMMENT ON TABLE todoke.error_hints IS 'What an error code means and what to do about it, for people.';
COMMENT ON COLUMN todoke.error_hints.code IS 'The code as it stands in messages.error_code and attempts.error_code.';
COMMENT ON COLUMN todoke.error_hints.hint IS 'One or two sentences.';
-- The same texts as the sender's, which a test compares.
INSERT INTO todoke.error_hints (code, hint) VALUES
    ('UNREGISTERED', 'The app was uninstalled or the token expired. Delete the token.'),
    ('INVALID_ARGUMENT', 'FCM refused the message without naming a field. Check its size, keys and values.'),
    ('SENDER_ID_MISMATCH', 'The token belongs to another Firebase project. Check which project the app registers with.'),
    ('QUOTA_EXCEEDED', 'A rate limit of the project, the device or the topic was reached. Sending slows down.'),
    ('RATE_LIMIT_EXCEEDED', 'The project''s messages per minute are used up. Sending slows down; ask Google for more.'),
    ('RESOURCE_EXHAUSTED', 'A quota of the project is used up. Sending slows down.'),
    ('UNAVAILABLE', 'FCM is overloaded. The message is tried again.'),
    ('INTERNAL', 'A fault inside FCM. The message is tried again.'),
    ('THIRD_PARTY_AUTH_ERROR', 'The APNs key or the web push key in the Firebase console is missing or wrong. Upload it there.'),
    ('APNS_AUTH_ERROR', 'The APNs key in the Firebase console is missing or wrong. Upload it there.'),
    ('UNAUTHENTICATED', 'FCM did not accept the access token. Check the service account file and the clock.'),
    ('ACCESS_TOKEN_EXPIRED', 'The access token ran out. Check the clock if this repeats.'),
    ('CREDENTIALS_MISSING', 'The request carried no access token. Check the service account file.'),
    ('PERMISSION_DENIED', 'The service account may not send for this project. Grant it the role Firebase Cloud Messaging API Admin.'),
    ('IAM_PERMISSION_DENIED', 'The service account may not send for this project. Grant it the role Firebase Cloud Messaging API Admin.'),
    ('SERVICE_DISABLED', 'The Firebase Cloud Messaging API is not enabled in this project. Enable it in the console.'),
    ('NOT_FOUND', 'FCM does not know the project in the address. Check the project id of the application.'),
    ('Unregistered', 'The app was uninstalled. Delete the token.'),
    ('ExpiredToken', 'The token expired. Delete it.'),
    ('BadDeviceToken', 'The token is not one of this environment. Check sandbox against production before deleting many.'),
    ('DeviceTokenNotForTopic', 'The token belongs to another app. Check the bundle id of the application.'),
    ('BadTopic', 'The topic is wrong. Check the bundle id of the application.'),
    ('MissingTopic', 'The topic is missing. Set the bundle id of the application.'),
    ('TopicDisallowed', 'The key may not push to this bundle id. Check the key and the bundle id.'),
    ('ExpiredProviderToken', 'The provider token is older than an hour. Check the clock if this repeats.'),
    ('InvalidProviderToken', 'Apple does not accept the provider token. Check key, key id and team id.'),
    ('MissingProviderToken', 'The request carried no provider token. Check the key file.'),
    ('UnrelatedKeyIdInToken', 'The key belongs to another team than this connection. Open a new connection.'),
    ('TooManyProviderTokenUpdates', 'Provider tokens are made too often. Use one for at least 20 minutes.'),
    ('TooManyRequests', 'Too many pushes to this device. The message is tried again later.'),
    ('PayloadTooLarge', 'The payload is larger than 4096 bytes. Shorten it.'),
    ('ChannelNotRegistered', 'The broadcast channel does not exist any more.'),
    ('CannotCreateChannelConfig', 'The limit of 10,000 broadcast channels is reached.'),
    ('IdleTimeout', 'The connection was idle too long. The message is tried again on a new one.'),
    ('HTTP_401', 'The provider did not accept our credentials. Check the key file and the clock.'),
    ('HTTP_403', 'The provider refuses us. Check the service account''s roles and the project id.'),
    ('HTTP_404', 'There is nothing at this address. Check the endpoint and the project id.'),
    ('HTTP_413', 'The message is too large. Shorten it.'),
    ('HTTP_429', 'The provider asked to slow down. The message is tried again.'),
    ('CURL_6', 'The provider''s host name could not be resolved. Check the endpoint and DNS.'),
    ('CURL_7', 'No connection to the provider. Check the network and the firewall.'),
    ('CURL_28', 'The provider did not answer in time.'),
    ('CURL_35', 'The TLS handshake failed. Check the endpoint and what stands between.'),
    ('CURL_60', 'The provider''s certificate is not trusted. Check the CA file and the host name.'),
    ('CURL_77', 'The CA file could not be read. Check its path and rights.'),
    ('OUTCOME_UNKNOWN', 'The answer was lost, so it may have arrived. It is sent again, or fails where at_most_once is asked for.'),
    ('PAYLOAD_MISSING', 'The message has no row in todoke.payloads, so there is nothing to send. Queue it again, both rows in one transaction.'),
    ('LEASE_EXPIRED', 'The sender that held the message recorded no result in time. Whether it arrived is not known.');

CREATE FUNCTION todoke.error_hint(code text) RETURNS text
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN known.hint IS NOT NULL THEN known.hint
        WHEN error_hint.code ~ '^HTTP_5\d\d$' THEN 'The provider, or something before it, had a fault. The message is tried again.'
        WHEN error_hint.code ~ '^HTTP_4\d\d$' THEN 'The provider refused the request. attempts.detail has what it said.'
        WHEN error_hint.code ~ '^CURL_\d+$' THEN 'The connection to the provider failed. attempts.detail has what libcurl said.'
    END
    FROM (SELECT) AS always
    LEFT JOIN todoke.error_hints AS known ON known.code = error_hint.code
$$;
COMMENT ON FUNCTION todoke.error_hint(text) IS 'What an error code means and what to do about it; NULL for a code nobody has explained.';
REVOKE EXECUTE ON FUNCTION todoke.error_hint(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.error_hint(text) TO todoke_reader;
GRANT SELECT ON todoke.error_hints TO todoke_reader;

CREATE FUNCTION todoke.day_of(app text, notification_id text) RETURNS date
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT n.day
    FROM todoke.notifications AS n
    JOIN todoke.apps AS a ON a.id = n.app
    WHERE a.name = day_of.app AND n.notification_id = day_of.notification_id
$$;
COMMENT ON FUNCTION todoke.day_of(text, text) IS 'The day a notification''s messages are kept under: day = todoke.day_of(app, id) makes a query on message_status read that day only.';
REVOKE EXECUTE ON FUNCTION todoke.day_of(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.day_of(text, text) TO todoke_producer, todoke_sender, todoke_reader;

CREATE VIEW todoke.message_status AS
SELECT
    a.name AS app,
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
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
JOIN todoke.payloads AS p ON p.notification = n.id AND p.day = n.day
JOIN todoke.messages AS m ON m.id = p.id AND m.day = n.day
LEFT JOIN todoke.error_hints AS h ON h.code = m.error_code
LEFT JOIN todoke.senders AS s ON s.id = m.sender_id;
COMMENT ON VIEW todoke.message_status IS 'One row per message: where it is, to whom, what became of it and why. Name the day, or the notification, to read one day only.';

CREATE FUNCTION todoke.summarize_notification(notification bigint, day date)
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
SET jit = off
SET work_mem = '64MB'
SET enable_nestloop = on
SET enable_seqscan = on
SET enable_hashjoin = on
SET enable_mergejoin = off
AS $$
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
$$;
COMMENT ON FUNCTION todoke.summarize_notification(bigint, date) IS 'Counts the messages of one notification; what notification_summary is made of.';
REVOKE EXECUTE ON FUNCTION todoke.summarize_notification(bigint, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.summarize_notification(bigint, date) TO todoke_reader;

CREATE VIEW todoke.notification_summary AS
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
    e.opens,
    round(e.openers::numeric / nullif(s.sent, 0), 4) AS open_rate,
    s.top_errors
FROM todoke.notifications AS n
JOIN todoke.apps AS a ON a.id = n.app
CROSS JOIN LATERAL todoke.summarize_notification(n.id, n.day) AS s
CROSS JOIN LATERAL (
    SELECT count(*) AS opens,
        -- Once per device or user; events that name neither count one each.
        count(DISTINCT coalesce('d' || v.device, 'u' || v.user_id, 'e' || v.id)) AS openers
    FROM todoke.events AS v
    WHERE v.app = n.app AND v.notification_id = n.notification_id AND v.kind = 'opened'
) AS e;
COMMENT ON VIEW todoke.notification_summary IS 'One row per notification: its messages by state, when they were sent, how long they waited, opens and errors. Counts the messages each time: name the notification, the campaign or the day.';

CREATE VIEW todoke.queue_depth AS
WITH waiting AS (
    SELECT m.app, m.priority,
        count(*) FILTER (WHERE m.due_at <= now()) AS due,
        count(*) FILTER (WHERE m.due_at > now()) AS scheduled,
        0 AS sending,
        min(m.due_at) FILTER (WHERE m.due_at <= now()) AS oldest
    FROM todoke.messages AS m
    WHERE m.state = 'pending'
    GROUP BY m.app, m.priority
    UNION ALL
    SELECT m.app, m.priority, 0, 0, count(*), NULL
    FROM todoke.messages AS m
    WHERE m.state = 'sending'
    GROUP BY m.app, m.priority
)
SELECT
    a.name AS app,
    coalesce(w.priority, 5)::smallint AS priority,
    coalesce(sum(w.due), 0)::bigint AS due,
    coalesce(sum(w.scheduled), 0)::bigint AS scheduled,
    coalesce(sum(w.sending), 0)::bigint AS sending,
    extract(epoch FROM now() - min(w.oldest))::float8 AS oldest_due_seconds,
    a.paused_at
FROM todoke.apps AS a
LEFT JOIN waiting AS w ON w.app = a.id
GROUP BY a.id, w.priority;
COMMENT ON VIEW todoke.queue_depth IS 'What waits, per app and priority: due now, due later, being sent, and how long the oldest due message has waited. An app with nothing has one row of zeros.';

CREATE VIEW todoke.failures AS
SELECT
    a.name AS app,
    n.notification_id,
    t.day,
    t.error_code,
    t.outcome,
    count(*) AS attempts,
    count(DISTINCT t.message_id) AS messages,
    count(*) FILTER (WHERE t.retry_at IS NULL) AS final,
    min(t.at) AS first_at,
    max(t.at) AS last_at,
    todoke.error_hint(t.error_code) AS hint
FROM todoke.attempts AS t
JOIN todoke.notifications AS n ON n.id = t.notification AND n.day = t.day
JOIN todoke.apps AS a ON a.id = n.app
GROUP BY a.name, n.notification_id, t.day, t.error_code, t.outcome;
COMMENT ON VIEW todoke.failures IS 'What went wrong, by notification and code, with a hint; retries that succeeded later are in it too, final counts those that were given up.';

GRANT SELECT ON todoke.message_status, todoke.notification_summary, todoke.queue_depth, todoke.failures TO todoke_reader;

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
COMMENT ON COLUMN todoke.notification_summary.p50_seconds IS 'Median of the seconds from queued (or due, when it was scheduled and sent at its first attempt) to sent.';
COMMENT ON COLUMN todoke.notification_summary.p95_seconds IS 'The same, 95th percentile.';
COMMENT ON COLUMN todoke.notification_summary.opens IS 'Opened events.';
COMMENT ON COLUMN todoke.notification_summary.open_rate IS 'Devices or users that opened it, per message sent; NULL when none was sent.';
COMMENT ON COLUMN todoke.notification_summary.top_errors IS 'The five most frequent codes of its messages, as [{"code", "messages"}].';

COMMENT ON COLUMN todoke.queue_depth.app IS 'The app''s name.';
COMMENT ON COLUMN todoke.queue_depth.priority IS '0 to 9, higher goes first.';
COMMENT ON COLUMN todoke.queue_depth.due IS 'Pending messages that may be sent now.';
COMMENT ON COLUMN todoke.queue_depth.scheduled IS 'Pending messages due later, retries included.';
COMMENT ON COLUMN todoke.queue_depth.sending IS 'Claimed by a sender and not yet recorded.';
COMMENT ON COLUMN todoke.queue_depth.oldest_due_seconds IS 'How long the oldest due message has been due; NULL when none is.';
COMMENT ON COLUMN todoke.queue_depth.paused_at IS 'Set while the app is paused.';

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

INSERT INTO todoke.migrations (version, name, digest) VALUES (4, '0004_views.sql', 'aef05a6554d6c5adbe3e7b49b68169ced59bcf39bc07e75613b7d9e97e91a061');
