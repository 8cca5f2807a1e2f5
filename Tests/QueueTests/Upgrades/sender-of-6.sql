-- What the sender of schema version 6 says to the database, with app 1111, sender 2222, day 2001-01-01, limit 500.

-- register
INSERT INTO todoke.senders (host, pid, version, apps, state) VALUES ($1, $2::int, $3, $4::text[], 'running')
RETURNING id

-- read only
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean

-- apps
SELECT a.id, a.name, a.project_id, a.paused_at IS NOT NULL, a.messages_per_second,
    (SELECT count(*) FROM todoke.senders s WHERE s.id = $2::bigint OR s.stopped_at IS NULL
        AND a.name = ANY (s.apps) AND s.heartbeat_at > now() - interval '15 s'),
    a.delivery = 'at_most_once'
FROM todoke.apps a WHERE a.name = ANY ($1::text[]) AND a.provider = 'fcm' ORDER BY a.id

-- days
SELECT to_char(d.day, 'YYYY-MM-DD') FROM todoke.message_days() AS d(day)
WHERE d.day <= (now() AT TIME ZONE 'UTC')::date + 1 ORDER BY 1

-- due
WITH candidates(app, priority) AS MATERIALIZED (VALUES (1111, 0), (1111, 1), (1111, 2), (1111, 3), (1111, 4), (1111, 5), (1111, 6), (1111, 7), (1111, 8), (1111, 9)), found AS (
SELECT c.app, c.priority, DATE '2001-01-01' AS day, hit.due_at FROM candidates c CROSS JOIN LATERAL (
    SELECT m.due_at FROM todoke.messages m WHERE m.day = DATE '2001-01-01' AND m.app = c.app
        AND m.priority = c.priority AND m.state = 'pending' ORDER BY m.due_at LIMIT 1) AS hit
)
SELECT app, priority, to_char(day, 'YYYY-MM-DD'), due_at <= now(), ceil(extract(epoch FROM
    least(greatest(due_at, now() - interval '1 day'), now() + interval '1 day') - now()) * 1000)::bigint
FROM found ORDER BY priority DESC, day, app

-- claim
WITH picked AS MATERIALIZED (
    SELECT ctid AS place, notification FROM todoke.messages
    WHERE day = DATE '2001-01-01' AND app = 1111 AND priority = 5 AND state = 'pending'
        AND due_at <= now()
    ORDER BY due_at, id LIMIT 500 FOR UPDATE SKIP LOCKED
), special AS MATERIALIZED (
    SELECT id, is_cancelled, is_at_most_once, validate_only FROM (
        SELECT p.id, n.cancelled_at IS NOT NULL AS is_cancelled, n.validate_only,
            coalesce(n.delivery, (SELECT delivery FROM todoke.apps WHERE id = 1111)) = 'at_most_once'
                AS is_at_most_once
        FROM unnest(ARRAY(SELECT DISTINCT notification FROM picked)) AS p(id)
            LEFT JOIN todoke.notifications n ON n.id = p.id
        OFFSET 0
    ) said WHERE is_cancelled OR is_at_most_once OR validate_only
), claimed AS (
    UPDATE todoke.messages m SET
        state = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) THEN 'cancelled'
            WHEN m.expires_at <= now() THEN 'expired' ELSE 'sending' END::todoke.message_state,
        finished_at = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) OR m.expires_at <= now() THEN now() END,
        lease_until = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) OR m.expires_at <= now() THEN NULL
            ELSE now() + interval '60 s' END,
        claim_no = m.claim_no + 1, sender_id = 2222
    WHERE m.day = DATE '2001-01-01' AND m.ctid = ANY (ARRAY(SELECT place FROM picked))
    RETURNING m.id, m.claim_no, m.attempts, m.state, m.due_at, m.expires_at, m.notification,
        CASE WHEN m.claim_no > 1 THEN (SELECT min(a.at) FROM todoke.attempts a
            WHERE a.day = DATE '2001-01-01' AND a.message_id = m.id) END AS tried_at
)
SELECT c.id, c.claim_no, c.attempts,
    CASE c.state WHEN 'sending' THEN true WHEN 'expired' THEN false END, c.due_at, c.expires_at, c.tried_at, now(),
    c.notification = ANY (ARRAY(SELECT id FROM special WHERE is_at_most_once)),
    c.notification = ANY (ARRAY(SELECT id FROM special WHERE validate_only)),
    p.ttl_at, p.ttl_len, p.payload
FROM claimed c
LEFT JOIN LATERAL (
    SELECT ttl_at, ttl_len, payload FROM todoke.payloads WHERE id = c.id AND day = DATE '2001-01-01' OFFSET 0
) p ON true

-- claim with a floor
WITH picked AS MATERIALIZED (
    SELECT ctid AS place, notification FROM todoke.messages
    WHERE day = DATE '2001-01-01' AND app = 1111 AND priority = 5 AND state = 'pending'
        AND due_at <= now() AND (due_at, id) > (TIMESTAMPTZ '2000-01-01 00:00:00+00' + INTERVAL '1 us', 1)
    ORDER BY due_at, id LIMIT 500 FOR UPDATE SKIP LOCKED
), special AS MATERIALIZED (
    SELECT id, is_cancelled, is_at_most_once, validate_only FROM (
        SELECT p.id, n.cancelled_at IS NOT NULL AS is_cancelled, n.validate_only,
            coalesce(n.delivery, (SELECT delivery FROM todoke.apps WHERE id = 1111)) = 'at_most_once'
                AS is_at_most_once
        FROM unnest(ARRAY(SELECT DISTINCT notification FROM picked)) AS p(id)
            LEFT JOIN todoke.notifications n ON n.id = p.id
        OFFSET 0
    ) said WHERE is_cancelled OR is_at_most_once OR validate_only
), claimed AS (
    UPDATE todoke.messages m SET
        state = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) THEN 'cancelled'
            WHEN m.expires_at <= now() THEN 'expired' ELSE 'sending' END::todoke.message_state,
        finished_at = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) OR m.expires_at <= now() THEN now() END,
        lease_until = CASE WHEN m.notification = ANY (ARRAY(SELECT id FROM special WHERE is_cancelled)) OR m.expires_at <= now() THEN NULL
            ELSE now() + interval '60 s' END,
        claim_no = m.claim_no + 1, sender_id = 2222
    WHERE m.day = DATE '2001-01-01' AND m.ctid = ANY (ARRAY(SELECT place FROM picked))
    RETURNING m.id, m.claim_no, m.attempts, m.state, m.due_at, m.expires_at, m.notification,
        CASE WHEN m.claim_no > 1 THEN (SELECT min(a.at) FROM todoke.attempts a
            WHERE a.day = DATE '2001-01-01' AND a.message_id = m.id) END AS tried_at
)
SELECT c.id, c.claim_no, c.attempts,
    CASE c.state WHEN 'sending' THEN true WHEN 'expired' THEN false END, c.due_at, c.expires_at, c.tried_at, now(),
    c.notification = ANY (ARRAY(SELECT id FROM special WHERE is_at_most_once)),
    c.notification = ANY (ARRAY(SELECT id FROM special WHERE validate_only)),
    p.ttl_at, p.ttl_len, p.payload
FROM claimed c
LEFT JOIN LATERAL (
    SELECT ttl_at, ttl_len, payload FROM todoke.payloads WHERE id = c.id AND day = DATE '2001-01-01' OFFSET 0
) p ON true

-- record sent
WITH updated AS (
    UPDATE todoke.messages m SET state = 'sent', finished_at = now(), lease_until = NULL, http_status = 200,
        error_code = NULL, provider_message_id = g.provider_message_id
    FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]))
        AS g(id, claim_no, provider_message_id)
    WHERE m.day = DATE '2001-01-01' AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = 2222
        AND m.state > 'pending' AND m.state < 'sent'
    RETURNING 1
), counted AS (
    UPDATE todoke.senders SET duplicate_risk = 1
    WHERE id = 2222 AND duplicate_risk < 1
) SELECT count(*) FROM updated

-- verify sent
WITH given AS (
    SELECT id, claim_no, 'sent' AS state
    FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[])) AS g(id, claim_no, id_text)
)
SELECT count(*) FROM given g JOIN todoke.messages m ON m.day = DATE '2001-01-01' AND m.id = g.id
WHERE m.claim_no = g.claim_no AND m.sender_id = 2222 AND NOT (m.state > 'pending' AND m.state < 'sent')
    AND (m.state::text = g.state OR (g.state = 'pending' AND m.state IN ('expired', 'cancelled')))

-- record failed
WITH given AS (
    SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
        (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
        (SELECT $9::bigint[]), (SELECT $10::smallint[]))
        AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent)
), updated AS (
    UPDATE todoke.messages m SET state = g.state::todoke.message_state, finished_at = now(), lease_until = NULL,
        attempts = m.attempts + g.spent, http_status = g.http_status,
        error_code = CASE WHEN g.state <> 'sent' THEN g.error_code END,
        provider_message_id = g.provider_message_id
    FROM given g
    WHERE m.day = DATE '2001-01-01' AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = 2222
        AND m.state > 'pending' AND m.state < 'sent'
    RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome,
        CASE WHEN m.state <> 'sent' THEN m.http_status END AS http_status, g.error_code, g.detail,
        CASE WHEN m.state = 'sent' THEN now() END AS retry_at
), counted AS (
    UPDATE todoke.senders SET duplicate_risk = 1
    WHERE id = 2222 AND duplicate_risk < 1
), logged AS (
    INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
        http_status, error_code, detail, retry_at)
    SELECT id, day, notification, app, attempts, claim_no, sender_id, outcome, http_status, error_code, detail,
        retry_at
    FROM updated WHERE outcome IS NOT NULL
) SELECT count(*) FROM updated

-- verify failed
WITH given AS (
    SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
        (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
        (SELECT $9::bigint[]), (SELECT $10::smallint[]))
        AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent)
)
SELECT count(*) FROM given g JOIN todoke.messages m ON m.day = DATE '2001-01-01' AND m.id = g.id
WHERE m.claim_no = g.claim_no AND m.sender_id = 2222 AND NOT (m.state > 'pending' AND m.state < 'sent')
    AND (m.state::text = g.state OR (g.state = 'pending' AND m.state IN ('expired', 'cancelled')))

-- record returned
WITH given AS (
    SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
        (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
        (SELECT $9::bigint[]), (SELECT $10::smallint[]))
        AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent)
), placed AS (
    SELECT g.*, n.cancelled_at IS NOT NULL AS is_cancelled,
        CASE WHEN g.delay_ms IS NULL THEN m.due_at ELSE now() + g.delay_ms * interval '1 ms' END AS next_due
    FROM given g JOIN todoke.messages m ON m.day = DATE '2001-01-01' AND m.id = g.id
        LEFT JOIN todoke.notifications n ON n.id = m.notification
), updated AS (
    UPDATE todoke.messages m SET
        state = CASE WHEN g.is_cancelled THEN 'cancelled' WHEN m.expires_at <= g.next_due
            THEN 'expired' ELSE 'pending' END::todoke.message_state,
        finished_at = CASE WHEN g.is_cancelled OR m.expires_at <= g.next_due THEN now() END,
        due_at = CASE WHEN g.is_cancelled OR m.expires_at <= g.next_due THEN m.due_at ELSE g.next_due END,
        lease_until = NULL, attempts = m.attempts + g.spent, http_status = g.http_status,
        error_code = g.error_code
    FROM placed g
    WHERE m.day = DATE '2001-01-01' AND m.id = g.id AND m.claim_no = g.claim_no AND m.sender_id = 2222
        AND m.state > 'pending' AND m.state < 'sent'
    RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id, g.outcome, m.http_status,
        m.error_code, g.detail, CASE WHEN m.state = 'pending' THEN m.due_at END AS retry_at,
        m.state = 'pending' AND g.delay_ms IS NULL AS is_due
), counted AS (
    UPDATE todoke.senders SET duplicate_risk = 1
    WHERE id = 2222 AND duplicate_risk < 1
), logged AS (
    INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
        http_status, error_code, detail, retry_at)
    SELECT id, day, notification, app, attempts, claim_no, sender_id, outcome, http_status, error_code, detail,
        retry_at
    FROM updated WHERE outcome IS NOT NULL
) SELECT count(*), (SELECT count(pg_notify('todoke_due', a.name)) FROM todoke.apps a
WHERE a.id = ANY (ARRAY(SELECT DISTINCT app FROM updated WHERE is_due))) FROM updated

-- verify returned
WITH given AS (
    SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::smallint[]),
        (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::text[]),
        (SELECT $9::bigint[]), (SELECT $10::smallint[]))
        AS g(id, claim_no, state, http_status, error_code, provider_message_id, outcome, detail, delay_ms, spent)
)
SELECT count(*) FROM given g JOIN todoke.messages m ON m.day = DATE '2001-01-01' AND m.id = g.id
WHERE m.claim_no = g.claim_no AND m.sender_id = 2222 AND NOT (m.state > 'pending' AND m.state < 'sent')
    AND (m.state::text = g.state OR (g.state = 'pending' AND m.state IN ('expired', 'cancelled')))

-- unfinished
SELECT EXISTS (SELECT FROM todoke.messages WHERE app IN (1111) AND state = 'sending' LIMIT 1)
    OR EXISTS (SELECT FROM todoke.messages WHERE app IN (1111) AND state = 'pending' AND claim_no > 0 LIMIT 1)

-- rescue
WITH lost AS MATERIALIZED (
    SELECT id, day, app, notification FROM todoke.messages
    WHERE app IN (1111) AND state = 'sending' AND lease_until < now()
    ORDER BY app, id LIMIT 1000 FOR UPDATE SKIP LOCKED
), told AS MATERIALIZED (
    SELECT l.id, l.day, coalesce(n.delivery, a.delivery) = 'at_most_once' AS is_at_most_once,
        n.cancelled_at IS NOT NULL AS is_cancelled
    FROM lost l JOIN todoke.apps a ON a.id = l.app LEFT JOIN (
        SELECT id, delivery, cancelled_at FROM todoke.notifications
        WHERE id = ANY (ARRAY(SELECT DISTINCT notification FROM lost))) n ON n.id = l.notification
), updated AS (
    UPDATE todoke.messages m SET
        state = CASE WHEN t.is_at_most_once THEN 'failed' WHEN t.is_cancelled THEN 'cancelled'
            ELSE 'pending' END::todoke.message_state,
        finished_at = CASE WHEN t.is_at_most_once OR t.is_cancelled THEN now() END,
        lease_until = NULL,
        error_code = CASE WHEN t.is_at_most_once THEN 'OUTCOME_UNKNOWN' ELSE m.error_code END
    FROM told t
    WHERE m.id = ANY (ARRAY(SELECT id FROM lost)) AND m.day = ANY (ARRAY(SELECT DISTINCT day FROM lost))
        AND m.state > 'pending' AND m.state < 'sent' AND t.id = m.id AND t.day = m.day
    RETURNING m.id, m.day, m.notification, m.app, m.attempts, m.claim_no, m.sender_id,
        CASE WHEN m.state = 'pending' THEN m.due_at END AS retry_at, m.state = 'pending' AS is_due
), logged AS (
    INSERT INTO todoke.attempts (message_id, day, notification, app, attempt_no, claim_no, sender_id, outcome,
        error_code, detail, retry_at)
    SELECT id, day, notification, app, attempts, claim_no, sender_id, 'unknown', 'LEASE_EXPIRED',
        'The sender that held the message did not record a result before its lease ran out.', retry_at
    FROM updated
)
SELECT count(*), (SELECT count(pg_notify('todoke_due', a.name)) FROM todoke.apps a
WHERE a.id = ANY (ARRAY(SELECT DISTINCT app FROM updated WHERE is_due))) FROM updated

-- house
WITH looked AS MATERIALIZED (
    SELECT id, due_at, expires_at FROM todoke.messages
    WHERE day = DATE '2001-01-01' AND app = 1111 AND priority = 5 AND state = 'pending'
        AND due_at <= now()
    ORDER BY due_at, id LIMIT 1000
), locked AS MATERIALIZED (
    SELECT ctid AS place FROM todoke.messages
    WHERE day = DATE '2001-01-01' AND id = ANY (ARRAY(SELECT id FROM looked WHERE expires_at <= now()))
        AND state < 'sending'
    ORDER BY id FOR UPDATE SKIP LOCKED
), expired AS (
    UPDATE todoke.messages m SET state = 'expired', finished_at = now()
    WHERE m.day = DATE '2001-01-01' AND m.ctid = ANY (ARRAY(SELECT place FROM locked))
    RETURNING 1
)
SELECT (SELECT count(*) FROM expired), count(*) OVER (), due_at, id
FROM looked ORDER BY due_at DESC, id DESC LIMIT 1

-- partitions
SELECT todoke.ensure_partitions()

-- old senders
DELETE FROM todoke.senders WHERE heartbeat_at < now() - interval '30 days'

-- heartbeat
UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
    rate = $5::real
WHERE id = $1::bigint RETURNING id

-- farewell
UPDATE todoke.senders SET heartbeat_at = now(), in_flight = $2::int, duplicate_risk = $3::bigint, state = $4,
    rate = $5::real, stopped_at = now()
WHERE id = $1::bigint

