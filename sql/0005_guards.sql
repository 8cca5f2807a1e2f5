-- 0005: allow-lists of sandbox apps, and notifications that the provider only checks.
-- Locks: ACCESS EXCLUSIVE on todoke.notifications for a moment; its rows are not rewritten.
-- Older binaries: survive it, but an older sender would post for real what is only to be checked: renew senders first.

SET LOCAL todoke.migrating = '5';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(5);

COMMENT ON COLUMN todoke.apps.environment IS 'production or sandbox. For a sandbox app nothing but the targets in allowed_targets is queued; with APNs, tokens of one do not work in the other.';
COMMENT ON COLUMN todoke.apps.paused_at IS 'Set while the app is paused: nothing is claimed. What expires in the meantime ends as expired.';

ALTER TABLE todoke.notifications ADD COLUMN validate_only boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN todoke.notifications.validate_only IS 'FCM checks its messages and delivers none: they end as sent without reaching a device.';

ALTER TABLE todoke.notifications ADD COLUMN skipped bigint NOT NULL DEFAULT 0
    CONSTRAINT notifications_skipped_check CHECK (skipped >= 0);
COMMENT ON COLUMN todoke.notifications.skipped IS 'Audience rows the latest run left out: not among the targets it was limited to, or users without a device.';

CREATE TABLE todoke.allowed_targets (
    app int NOT NULL CONSTRAINT allowed_targets_app_fkey REFERENCES todoke.apps (id),
    target_kind todoke.target_kind NOT NULL DEFAULT 'token',
    target text NOT NULL CONSTRAINT allowed_targets_target_check CHECK (target <> '' AND octet_length(target) <= 2000),
    note text,
    added_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT allowed_targets_pkey PRIMARY KEY (app, target_kind, target)
);
COMMENT ON TABLE todoke.allowed_targets IS 'Whom an app with environment sandbox may send to: everything else is refused when it is to be queued, so that a staging run reaches no customers.';
COMMENT ON COLUMN todoke.allowed_targets.app IS 'The app.';
COMMENT ON COLUMN todoke.allowed_targets.target_kind IS 'What target is.';
COMMENT ON COLUMN todoke.allowed_targets.target IS 'The token, installation id, topic or condition.';
COMMENT ON COLUMN todoke.allowed_targets.note IS 'Whose it is, for people.';
COMMENT ON COLUMN todoke.allowed_targets.added_at IS 'When it was added.';
COMMENT ON COLUMN todoke.notifications.rejected IS 'Audience rows the latest run refused, and with --append those of the runs before it; see rejections.';

GRANT SELECT ON todoke.allowed_targets TO todoke_producer;

INSERT INTO todoke.migrations (version, name, digest) VALUES (5, '0005_guards.sql', '2d509bd8c1a0e6b4318e2f215e81e41c07506ba883324d761a02187d26866beb');
