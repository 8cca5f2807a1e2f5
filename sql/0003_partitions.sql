-- 0003: the partitions, one a day.
-- Locks: SHARE UPDATE EXCLUSIVE on the four parents for a moment, which neither readers nor writers notice.
-- Older binaries: survive it.

SET LOCAL todoke.migrating = '3';
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE todoke_owner;
SELECT todoke.begin_migration(3);

CREATE FUNCTION todoke.ensure_partitions(days_ahead int DEFAULT 7) RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET lock_timeout = '2s'
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
COMMENT ON FUNCTION todoke.ensure_partitions(int) IS 'Makes the missing partitions from yesterday to days_ahead days ahead and returns how many it made. Safe to call at any time, by many at once; gives up after 2 s of waiting for a lock.';
REVOKE EXECUTE ON FUNCTION todoke.ensure_partitions(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.ensure_partitions(int) TO todoke_producer, todoke_sender;

CREATE FUNCTION todoke.message_days() RETURNS SETOF date
LANGUAGE sql
STABLE
SECURITY DEFINER
ROWS 31
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD')
    FROM pg_inherits AS i
    JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'todoke.messages'::regclass AND NOT i.inhdetachpending
    ORDER BY 1
$$;
COMMENT ON FUNCTION todoke.message_days() IS 'The days that have partitions, oldest first.';
REVOKE EXECUTE ON FUNCTION todoke.message_days() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION todoke.message_days() TO todoke_producer, todoke_sender, todoke_reader;

SELECT todoke.ensure_partitions(14);

INSERT INTO todoke.migrations (version, name, digest) VALUES (3, '0003_partitions.sql', '77133bb0c16282281be0e9d1af6c0a7d405d3c6d315adc6db931148a9a762307');
