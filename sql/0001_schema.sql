-- 0001: roles, the schema, and the record of migrations.
-- Locks: none that anybody else could wait for; every object is new.
-- Older binaries: there are none.
--
-- Run by `todoke migrate`, or in order by: psql -1 -v ON_ERROR_STOP=1 -f 0001_schema.sql
-- The last line records the file with its digest: head -n -1 FILE | sha256sum

SET LOCAL todoke.migrating = '1';
SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
BEGIN
    IF current_setting('todoke.migrating', true) IS DISTINCT FROM '1' THEN
        RAISE EXCEPTION 'this migration must run in one transaction'
            USING HINT = 'Use `todoke migrate`, or psql with -1 (--single-transaction).';
    END IF;
    IF current_setting('server_version_num')::int < 150000 THEN
        RAISE EXCEPTION 'Todoke needs PostgreSQL 15 or newer, this is %', current_setting('server_version')
            USING HINT = 'Upgrade the server, or choose another one.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'Todoke needs a database with encoding UTF8, this one has %', current_setting('server_encoding')
            USING HINT = 'CREATE DATABASE … ENCODING ''UTF8'' TEMPLATE template0';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('todoke migrate', 0));
    IF to_regclass('todoke.migrations') IS NOT NULL THEN
        RAISE EXCEPTION 'migration 0001_schema.sql is already applied'
            USING HINT = 'Nothing to do. `SELECT * FROM todoke.migrations` shows what is applied.';
    END IF;
    IF to_regnamespace('todoke') IS NOT NULL THEN
        RAISE EXCEPTION 'a schema named todoke exists already, and it is not ours'
            USING HINT = 'Use another database, or rename or drop that schema.';
    END IF;
END
$$;

-- Roles belong to the whole cluster: another database of it may be making them at this very moment.
DO $$
DECLARE
    role record;
BEGIN
    FOR role IN
        SELECT *
        FROM (VALUES
            ('todoke_owner', 'Owns the schema todoke and everything in it; migrates and purges.', false),
            ('todoke_producer', 'What todoke-producer may do: queue messages. Grant it to the login that runs it.', true),
            ('todoke_sender', 'What todoke-sender may do: claim and record. Grant it to the login that runs it.', true),
            ('todoke_app', 'What applications may do: call the functions of the schema todoke, nothing else.', false),
            ('todoke_reader', 'What analysts and support may do: read the views of the schema todoke.', false)
        ) AS wanted (name, note, hot)
    LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role.name);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role.name);
            EXECUTE format('COMMENT ON ROLE %I IS %L', role.name, role.note);
            IF role.hot THEN
                -- JIT compiles a plan over many partitions for longer than a claim may take.
                EXECUTE format('ALTER ROLE %I SET jit = off', role.name);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;  -- made from another database between the look and the CREATE
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'the role % is missing, and % may not create roles', role.name, current_user
                    USING ERRCODE = 'insufficient_privilege',
                        HINT = format(
                            'Have a superuser run: CREATE ROLE todoke_owner NOLOGIN; CREATE ROLE todoke_producer NOLOGIN; '
                            'CREATE ROLE todoke_sender NOLOGIN; CREATE ROLE todoke_app NOLOGIN; '
                            'CREATE ROLE todoke_reader NOLOGIN; ALTER ROLE todoke_producer SET jit = off; '
                            'ALTER ROLE todoke_sender SET jit = off; GRANT todoke_owner TO %I;', current_user);
        END;
    END LOOP;
END
$$;

-- Whoever migrates must be able to act as the owner.
DO $$
BEGIN
    BEGIN
        SET LOCAL ROLE todoke_owner;
        RESET ROLE;
    EXCEPTION WHEN insufficient_privilege THEN
        BEGIN
            EXECUTE format('GRANT todoke_owner TO %I', current_user);
        EXCEPTION
            WHEN unique_violation THEN
                NULL;  -- granted from another database at the same moment
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION '% is no member of todoke_owner', current_user
                    USING ERRCODE = 'insufficient_privilege',
                        HINT = format('Have a superuser run: GRANT todoke_owner TO %I;', current_user);
        END;
    END;
END
$$;

CREATE SCHEMA todoke AUTHORIZATION todoke_owner;
SET LOCAL ROLE todoke_owner;

COMMENT ON SCHEMA todoke IS 'Todoke: push notifications from this database to devices. Start with the views message_status, notification_summary and queue_depth.';

GRANT USAGE ON SCHEMA todoke TO todoke_producer, todoke_sender, todoke_app, todoke_reader;

CREATE TABLE todoke.migrations (
    version int PRIMARY KEY,
    name text NOT NULL,
    digest text NOT NULL CONSTRAINT migrations_digest_check CHECK (digest ~ '^[0-9a-f]{64}$'),
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT migrations_version_check CHECK (version > 0)
);
COMMENT ON TABLE todoke.migrations IS 'The migrations applied to this database, one row a file of sql/.';
COMMENT ON COLUMN todoke.migrations.version IS 'The number in front of the file''s name; no gaps.';
COMMENT ON COLUMN todoke.migrations.name IS 'The file''s name.';
COMMENT ON COLUMN todoke.migrations.digest IS 'SHA-256 of the file without its last line, in hex: a file that changed afterwards is refused.';
COMMENT ON COLUMN todoke.migrations.applied_at IS 'When it was applied.';
GRANT SELECT ON todoke.migrations TO todoke_producer, todoke_sender, todoke_reader;

CREATE FUNCTION todoke.begin_migration(wanted int) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION todoke.begin_migration(int) IS 'Called first by each migration: waits for its turn, and refuses one that is applied, out of order or outside a transaction.';
REVOKE EXECUTE ON FUNCTION todoke.begin_migration(int) FROM PUBLIC;

INSERT INTO todoke.migrations (version, name, digest) VALUES (1, '0001_schema.sql', '45e49182dce40eba655d1a0ad55877e000fb93cfcf37b819ab0bea81d5453d03');
