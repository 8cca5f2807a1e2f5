-- 0002: the types and tables of the queue, with their rights.
-- Locks: none that anybody else could wait for; every object is new.
-- Older binaries: there are none.

SET LOCAL todoke.migrating = '2';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(2);

CREATE TYPE todoke.message_state AS ENUM ('pending', 'sending', 'sent', 'failed', 'expired', 'cancelled');
COMMENT ON TYPE todoke.message_state IS 'Where a message is: pending (also scheduled, or waiting for a retry), sending (claimed by a sender), or at its end: sent, failed, expired, cancelled.';

CREATE TYPE todoke.target_kind AS ENUM ('token', 'fid', 'topic', 'condition');
COMMENT ON TYPE todoke.target_kind IS 'What a message is addressed to: a registration token, a Firebase installation id, a topic, or a condition over topics.';

-- One per FCM project or APNs topic. Secrets are not kept in the database.
CREATE TABLE todoke.apps (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CONSTRAINT apps_name_key UNIQUE CONSTRAINT apps_name_check CHECK (name <> '' AND octet_length(name) <= 500),
    provider text NOT NULL DEFAULT 'fcm' CONSTRAINT apps_provider_check CHECK (provider IN ('fcm', 'apns')),
    project_id text NOT NULL CONSTRAINT apps_project_id_check CHECK (project_id <> ''),
    environment text NOT NULL DEFAULT 'production'
        CONSTRAINT apps_environment_check CHECK (environment IN ('production', 'sandbox')),
    messages_per_second int NOT NULL DEFAULT 10000
        CONSTRAINT apps_messages_per_second_check CHECK (messages_per_second > 0),
    delivery text NOT NULL DEFAULT 'at_least_once'
        CONSTRAINT apps_delivery_check CHECK (delivery IN ('at_least_once', 'at_most_once')),
    paused_at timestamptz,
    pause_reason text,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT apps_pause_check CHECK (pause_reason IS NULL OR paused_at IS NOT NULL)
);
COMMENT ON TABLE todoke.apps IS 'The apps messages are sent for: one row per FCM project or APNs topic. Credentials live with the sender, not here.';
COMMENT ON COLUMN todoke.apps.id IS 'Key used by the other tables.';
COMMENT ON COLUMN todoke.apps.name IS 'What --app names; at most 500 bytes, since wake-ups carry it.';
COMMENT ON COLUMN todoke.apps.provider IS 'fcm or apns.';
COMMENT ON COLUMN todoke.apps.project_id IS 'The FCM project''s id or number, or the APNs bundle id.';
COMMENT ON COLUMN todoke.apps.environment IS 'production or sandbox (APNs); tokens of one do not work in the other.';
COMMENT ON COLUMN todoke.apps.messages_per_second IS 'Most messages per second by all live senders together; FCM''s default quota is 600,000 a minute.';
COMMENT ON COLUMN todoke.apps.delivery IS 'What becomes of a message whose outcome is unknown: at_least_once sends it again, at_most_once fails it with OUTCOME_UNKNOWN.';
COMMENT ON COLUMN todoke.apps.paused_at IS 'Set while the app is paused: nothing is claimed. What expires in the meantime ends when it is resumed.';
COMMENT ON COLUMN todoke.apps.pause_reason IS 'Why it is paused, for people.';
COMMENT ON COLUMN todoke.apps.created_at IS 'When the row was made.';

-- One per thing said. Its messages all live in the partition of its day, so (notification, dedupe key) is unique for good.
CREATE TABLE todoke.notifications (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app int NOT NULL CONSTRAINT notifications_app_fkey REFERENCES todoke.apps (id),
    notification_id text NOT NULL CONSTRAINT notifications_notification_id_check CHECK (notification_id <> ''),
    day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    created_at timestamptz NOT NULL DEFAULT now(),
    closes_at timestamptz NOT NULL DEFAULT now() + interval '7 days',
    cancelled_at timestamptz,
    delivery text CONSTRAINT notifications_delivery_check CHECK (delivery IN ('at_least_once', 'at_most_once')),
    campaign text,
    template_digest text,
    definition_digest text,
    run_id uuid,
    run_until timestamptz,
    queued bigint NOT NULL DEFAULT 0 CONSTRAINT notifications_queued_check CHECK (queued >= 0),
    already_queued bigint NOT NULL DEFAULT 0
        CONSTRAINT notifications_already_queued_check CHECK (already_queued >= 0),
    rejected bigint NOT NULL DEFAULT 0 CONSTRAINT notifications_rejected_check CHECK (rejected >= 0),
    loaded_at timestamptz,
    purged_at timestamptz,
    purged_summary json,
    CONSTRAINT notifications_app_notification_id_key UNIQUE (app, notification_id),
    CONSTRAINT notifications_closes_at_check CHECK (closes_at > created_at),
    CONSTRAINT notifications_run_check CHECK ((run_id IS NULL) = (run_until IS NULL))
);
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
COMMENT ON COLUMN todoke.notifications.rejected IS 'Audience rows the latest run refused; see rejections.';
COMMENT ON COLUMN todoke.notifications.loaded_at IS 'When the latest run came to the end of its audience.';
COMMENT ON COLUMN todoke.notifications.purged_at IS 'When its messages were dropped with their day.';
COMMENT ON COLUMN todoke.notifications.purged_summary IS 'What notification_summary said before that.';

CREATE SEQUENCE todoke.message_id_seq;
COMMENT ON SEQUENCE todoke.message_id_seq IS 'Ids of messages, shared by all days.';

-- The queue: narrow, since every change of state writes the row anew. No foreign keys: the checks would cost a lock a row.
CREATE TABLE todoke.messages (
    id bigint NOT NULL DEFAULT nextval('todoke.message_id_seq'),
    notification bigint NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now(),
    day date NOT NULL,
    app int NOT NULL,
    state todoke.message_state NOT NULL DEFAULT 'pending',
    claim_no int NOT NULL DEFAULT 0,
    priority smallint NOT NULL DEFAULT 5,
    attempts smallint NOT NULL DEFAULT 0,
    http_status smallint,
    sender_id bigint,
    expires_at timestamptz,
    lease_until timestamptz,
    finished_at timestamptz,
    error_code text,
    provider_message_id text,
    CONSTRAINT messages_pkey PRIMARY KEY (id, day),
    CONSTRAINT messages_priority_check CHECK (priority BETWEEN 0 AND 9),
    CONSTRAINT messages_attempts_check CHECK (attempts >= 0 AND claim_no >= 0),
    CONSTRAINT messages_finished_check
        CHECK ((finished_at IS NOT NULL) = (state IN ('sent', 'failed', 'expired', 'cancelled'))),
    CONSTRAINT messages_lease_check CHECK ((lease_until IS NOT NULL) = (state = 'sending')),
    CONSTRAINT messages_sender_check CHECK (state <> 'sending' OR sender_id IS NOT NULL),
    CONSTRAINT messages_expiry_check CHECK (expires_at > due_at)
) PARTITION BY RANGE (day);
CREATE INDEX messages_claim ON todoke.messages (app, priority, due_at, id) WHERE state = 'pending';
CREATE INDEX messages_sending ON todoke.messages (app, id) WHERE state = 'sending';
CREATE INDEX messages_returned ON todoke.messages (app) WHERE state = 'pending' AND claim_no > 0;
COMMENT ON TABLE todoke.messages IS 'The queue: one row per message with its state, partitioned by day. What it says is in payloads under the same (id, day).';
COMMENT ON INDEX todoke.messages_claim IS 'What is claimable, in the order of claims; holds pending messages only.';
COMMENT ON INDEX todoke.messages_returned IS 'What waits again after a claim, which a drain must wait for; holds nothing while all goes well.';
COMMENT ON INDEX todoke.messages_sending IS 'What is in flight, for the rescue of leases that ran out; holds sending messages only.';
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

-- Immutable: written once, read once. json, not jsonb: what is posted is byte for byte what was queued.
CREATE TABLE todoke.payloads (
    id bigint NOT NULL,
    notification bigint NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now(),
    dedupe_key uuid NOT NULL,
    day date NOT NULL,
    target_kind todoke.target_kind NOT NULL,
    ttl_at int,
    ttl_len smallint,
    device bigint,
    user_id text,
    target text NOT NULL,
    payload json NOT NULL,
    CONSTRAINT payloads_pkey PRIMARY KEY (id, day),
    CONSTRAINT payloads_notification_dedupe_key_day_key UNIQUE (notification, dedupe_key, day),
    CONSTRAINT payloads_target_check CHECK (target <> ''),
    CONSTRAINT payloads_ttl_check CHECK ((ttl_at IS NULL) = (ttl_len IS NULL) AND ttl_at >= 0 AND ttl_len > 0)
) PARTITION BY RANGE (day);
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

CREATE TABLE todoke.attempts (
    message_id bigint NOT NULL,
    notification bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    day date NOT NULL,
    app int NOT NULL,
    claim_no int NOT NULL,
    attempt_no smallint NOT NULL,
    http_status smallint,
    sender_id bigint,
    retry_at timestamptz,
    outcome text NOT NULL,
    error_code text,
    detail text
) PARTITION BY RANGE (day);
CREATE INDEX attempts_message ON todoke.attempts (message_id);
COMMENT ON TABLE todoke.attempts IS 'One row per attempt that did not end in sent, partitioned by day like messages.';
COMMENT ON INDEX todoke.attempts_message IS 'Finds the attempts of one message.';
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

CREATE TABLE todoke.rejections (
    notification bigint NOT NULL,
    line bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    run_id uuid,
    day date NOT NULL,
    reason text NOT NULL,
    input text
) PARTITION BY RANGE (day);
CREATE INDEX rejections_notification ON todoke.rejections (notification, line);
COMMENT ON TABLE todoke.rejections IS 'Audience rows that the producer refused, partitioned by day like messages.';
COMMENT ON INDEX todoke.rejections_notification IS 'Finds the refused rows of one notification, in the order of the input.';
COMMENT ON COLUMN todoke.rejections.notification IS 'The notification it was meant for.';
COMMENT ON COLUMN todoke.rejections.line IS 'Line of the input, from 1; row number for a SQL audience.';
COMMENT ON COLUMN todoke.rejections.at IS 'When it was refused.';
COMMENT ON COLUMN todoke.rejections.run_id IS 'The producer run that refused it.';
COMMENT ON COLUMN todoke.rejections.day IS 'The notification''s day, which chooses the partition.';
COMMENT ON COLUMN todoke.rejections.reason IS 'Which field, and what is wrong with it.';
COMMENT ON COLUMN todoke.rejections.input IS 'The row as it was read, as far as it can be stored as text.';

CREATE TABLE todoke.devices (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app int NOT NULL CONSTRAINT devices_app_fkey REFERENCES todoke.apps (id),
    token text NOT NULL CONSTRAINT devices_token_check CHECK (token <> ''),
    user_id text,
    platform text CONSTRAINT devices_platform_check CHECK (platform IN ('ios', 'android', 'web')),
    locale text,
    time_zone text,
    channels text[] NOT NULL DEFAULT '{}',
    app_version text,
    registered_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    invalidated_at timestamptz,
    invalid_reason text,
    invalid_evidence bigint,
    CONSTRAINT devices_app_token_key UNIQUE (app, token),
    CONSTRAINT devices_invalid_check CHECK (invalid_reason IS NULL OR invalidated_at IS NOT NULL)
);
CREATE INDEX devices_user ON todoke.devices (app, user_id);
COMMENT ON TABLE todoke.devices IS 'The device registry: one row per token of an app.';
COMMENT ON INDEX todoke.devices_user IS 'Finds a user''s devices.';
COMMENT ON COLUMN todoke.devices.id IS 'Key used by payloads and events.';
COMMENT ON COLUMN todoke.devices.app IS 'The app that is installed there.';
COMMENT ON COLUMN todoke.devices.token IS 'The registration token; unique for the app.';
COMMENT ON COLUMN todoke.devices.user_id IS 'The application''s user who is signed in there.';
COMMENT ON COLUMN todoke.devices.platform IS 'ios, android or web.';
COMMENT ON COLUMN todoke.devices.locale IS 'Language and region, like ja-JP.';
COMMENT ON COLUMN todoke.devices.time_zone IS 'IANA name, like Asia/Tokyo.';
COMMENT ON COLUMN todoke.devices.channels IS 'What the device is subscribed to.';
COMMENT ON COLUMN todoke.devices.app_version IS 'Version of the app there.';
COMMENT ON COLUMN todoke.devices.registered_at IS 'When this token was registered last; proof of death must be newer.';
COMMENT ON COLUMN todoke.devices.last_seen_at IS 'When the app reported itself last.';
COMMENT ON COLUMN todoke.devices.invalidated_at IS 'When the provider proved the token dead.';
COMMENT ON COLUMN todoke.devices.invalid_reason IS 'The code that proved it.';
COMMENT ON COLUMN todoke.devices.invalid_evidence IS 'The message whose answer proved it.';

CREATE TABLE todoke.events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app int NOT NULL CONSTRAINT events_app_fkey REFERENCES todoke.apps (id),
    notification_id text NOT NULL,
    kind text NOT NULL CONSTRAINT events_kind_check CHECK (kind IN ('opened', 'received')),
    user_id text,
    device bigint,
    at timestamptz NOT NULL DEFAULT now(),
    properties json
);
CREATE INDEX events_notification ON todoke.events (app, notification_id);
COMMENT ON TABLE todoke.events IS 'What devices report back: a notification was received, or opened.';
COMMENT ON INDEX todoke.events_notification IS 'Finds the events of one notification.';
COMMENT ON COLUMN todoke.events.id IS 'Key.';
COMMENT ON COLUMN todoke.events.app IS 'The app.';
COMMENT ON COLUMN todoke.events.notification_id IS 'The id the device got as data.notification_id.';
COMMENT ON COLUMN todoke.events.kind IS 'opened or received.';
COMMENT ON COLUMN todoke.events.user_id IS 'The application''s user.';
COMMENT ON COLUMN todoke.events.device IS 'The device in devices.';
COMMENT ON COLUMN todoke.events.at IS 'When it happened.';
COMMENT ON COLUMN todoke.events.properties IS 'What else the application wants to keep.';

CREATE TABLE todoke.senders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text NOT NULL,
    pid int NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    apps text[] NOT NULL DEFAULT '{}',
    in_flight int NOT NULL DEFAULT 0,
    rate real NOT NULL DEFAULT 0,
    duplicate_risk bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'starting',
    stopped_at timestamptz
) WITH (fillfactor = 50);
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

-- Rights: what each program does, and nothing more.
GRANT SELECT ON todoke.apps, todoke.notifications TO todoke_producer, todoke_sender;
GRANT INSERT, UPDATE ON todoke.notifications TO todoke_producer;
GRANT SELECT, INSERT ON todoke.messages, todoke.payloads, todoke.rejections TO todoke_producer;
-- A run that reads an audience again replaces what it refused the last time.
GRANT DELETE ON todoke.rejections TO todoke_producer;
GRANT USAGE ON SEQUENCE todoke.message_id_seq TO todoke_producer;
GRANT SELECT ON todoke.devices TO todoke_producer;

GRANT SELECT ON todoke.messages, todoke.payloads TO todoke_sender;
GRANT UPDATE (
    due_at, state, claim_no, attempts, http_status, sender_id, lease_until, finished_at, error_code, provider_message_id
) ON todoke.messages TO todoke_sender;
GRANT SELECT, INSERT ON todoke.attempts TO todoke_sender;
GRANT SELECT, INSERT, UPDATE, DELETE ON todoke.senders TO todoke_sender;

INSERT INTO todoke.migrations (version, name, digest) VALUES (2, '0002_tables.sql', '77d94a09dbccfdabc4a64cb67383d0ea09bca7b375453cc53c079c439de802aa');
