-- 0015: a pause by hand outlives the end of the brake on dead tokens; indexes that are missing are attached without a queue
-- behind them, and not built twice.
-- Locks: ACCESS EXCLUSIVE on the view missing_indexes for a moment.
-- Gives up after waiting 5 s for a lock: run it again.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '15';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(15);
SET LOCAL lock_timeout = '5s';

CREATE OR REPLACE FUNCTION todoke.pause_app(
    app text,
    reason text DEFAULT NULL,
    OUT paused_at timestamptz,
    OUT pause_reason text,
    OUT was_paused boolean
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '5s'
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
COMMENT ON FUNCTION todoke.pause_app(text, text) IS 'Pauses an app: nothing more of it is claimed, what is being posted ends as it does. Paused again, it stays paused since the first time, and a new reason replaces the old one; one that the brake on dead tokens paused stays paused when that ends.';

CREATE OR REPLACE VIEW todoke.missing_indexes AS
SELECT part.name AS partition, parent.relname AS index, part.bytes, step.command
FROM pg_catalog.pg_class AS parent
JOIN pg_catalog.pg_index AS i ON i.indexrelid = parent.oid AND parent.relkind = 'I'
CROSS JOIN LATERAL (
    SELECT c.oid, c.relname AS name, pg_relation_size(c.oid) AS bytes, parent.relname || '_' || right(c.relname, 8) AS child
    FROM pg_catalog.pg_inherits AS h
    JOIN pg_catalog.pg_class AS c ON c.oid = h.inhrelid
    WHERE h.inhparent = i.indrelid AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_inherits AS attached
        JOIN pg_catalog.pg_index AS own ON own.indexrelid = attached.inhrelid
        WHERE attached.inhparent = parent.oid AND own.indrelid = c.oid)
) AS part
LEFT JOIN pg_catalog.pg_index AS built
    ON built.indexrelid = to_regclass(format('todoke.%I', part.child)) AND built.indrelid = part.oid
CROSS JOIN LATERAL (VALUES
    -- What a build that was broken off has left.
    (1, CASE WHEN to_regclass(format('todoke.%I', part.child)) IS NOT NULL AND built.indisvalid IS NOT TRUE
        THEN format('DROP INDEX CONCURRENTLY todoke.%I', part.child) END),
    (2, CASE WHEN built.indisvalid IS NOT TRUE
        THEN regexp_replace(pg_get_indexdef(parent.oid), '^CREATE INDEX .* USING ',
            format('CREATE INDEX CONCURRENTLY %I ON todoke.%I USING ', part.child, part.name)) END),
    -- Whoever reads the day is waited for, and others wait behind: two seconds at most, and then again another time.
    (3, format('SET LOCAL lock_timeout = ''2s''; ALTER INDEX todoke.%I ATTACH PARTITION todoke.%I', parent.relname, part.child)),
    (4, format('COMMENT ON INDEX todoke.%I IS %L', part.child, obj_description(parent.oid, 'pg_class')))
) AS step (place, command)
WHERE parent.relnamespace = 'todoke'::regnamespace AND step.command IS NOT NULL
ORDER BY part.name DESC, parent.relname, step.place;
COMMENT ON VIEW todoke.missing_indexes IS 'Partitions that are without an index because they were too large when it was introduced, each with the statements that build it while everybody reads and writes, in order: run them one by one, as psql''s \gexec does. Attaching waits two seconds at most for those who read the day: run it again until it is empty.';
COMMENT ON COLUMN todoke.missing_indexes.command IS 'To be run outside of a transaction.';

INSERT INTO todoke.migrations (version, name, digest) VALUES (15, '0015_operations.sql', '99b800d4330ae6602c474dcec6aaeecd9015368c5c5a34f7b2816ef85a125fb8');
