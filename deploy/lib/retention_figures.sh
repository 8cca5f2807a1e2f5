#!/usr/bin/env bash
# The purge's figures, on a throwaway Postgres of its own: a day's share of 50 million messages a month, as one broadcast and
# as notifications of one message each, is settled and dropped while somebody claims from another day.
#
#   TODOKE_BIN=.build/release deploy/lib/retention_figures.sh [--smoke] [--part purge] [OPTION VALUE]…
#
#   --part      purge, the only one
#   --messages  messages of each of the two days (1670000): about 1 kB of disk each
#   --devices   devices in the registry, of which a third does not allow notifications (1000000)
#   --smoke     small sizes, and no bounds on time: that everything here works
#
# Needs psql, pgbench and the programs of a Postgres server, 15 or later. Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/measuring.sh"

messages=1670000 devices=1000000
while (($#)); do
    case $1 in
        --smoke)
            smoke=yes messages=30000 devices=10000
            shift
            continue
            ;;
        --part)
            [[ ${2:-} == purge ]] || usage
            ;;
        --messages | --devices)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            printf -v "${1#--}" %s "$2"
            ;;
        *) usage ;;
    esac
    shift 2
done
begin_measuring

seconds_since() { awk -v a="$1" -v b="$(microseconds)" 'BEGIN { printf "%.2f", (b - a) / 1000000 }'; }

# One day of 40 days ago with a broadcast, and one of 39 with as many notifications of one message each; and enough to claim.
fill() {
    sql "
        DO \$\$
        DECLARE
            parent text;
            day date;
        BEGIN
            FOREACH day IN ARRAY ARRAY[$broadcast_day, $single_day] LOOP
                FOREACH parent IN ARRAY ARRAY['messages', 'payloads', 'attempts', 'rejections'] LOOP
                    EXECUTE format('CREATE TABLE todoke.%I (LIKE todoke.%I INCLUDING ALL)', parent || to_char(day, '_YYYYMMDD'), parent);
                    EXECUTE format('ALTER TABLE todoke.%I OWNER TO todoke_owner', parent || to_char(day, '_YYYYMMDD'));
                    EXECUTE format('ALTER TABLE todoke.%I ATTACH PARTITION todoke.%I FOR VALUES FROM (%L) TO (%L)',
                        parent, parent || to_char(day, '_YYYYMMDD'), day, day + 1);
                END LOOP;
            END LOOP;
        END
        \$\$;
        INSERT INTO todoke.devices (app, token, allows_notifications)
        SELECT 1, 'token-' || i, (ARRAY[false, true, NULL])[1 + i % 3] FROM generate_series(1, $devices) AS i;
        INSERT INTO todoke.notifications (app, notification_id, day, created_at, closes_at)
        SELECT 1, 'broadcast', $broadcast_day, now() - interval '40 days', now() - interval '33 days'
        UNION ALL
        SELECT 1, 'single-' || i, $single_day, now() - interval '39 days', now() - interval '32 days'
        FROM generate_series(1, $messages) AS i;
        CREATE TEMPORARY TABLE made AS
        SELECT nextval('todoke.message_id_seq') AS id, n.id AS notification, n.day, n.created_at, i
        FROM todoke.notifications AS n, generate_series(1, $messages) AS i WHERE n.notification_id = 'broadcast'
        UNION ALL
        SELECT nextval('todoke.message_id_seq'), n.id, n.day, n.created_at, substr(n.notification_id, 8)::int
        FROM todoke.notifications AS n WHERE n.notification_id LIKE 'single-%';
        INSERT INTO todoke.payloads (id, notification, day, queued_at, dedupe_key, target_kind, target, device, payload)
        SELECT id, notification, day, created_at, md5(id::text)::uuid, 'token', 'token-' || i,
            CASE WHEN i % 5 > 0 AND i <= $devices THEN i END,
            ('{\"token\":\"token-' || i || '\",\"notification\":{\"title\":\"Tonight\",\"body\":\"' || repeat('x', 300) || '\"}}')::json
        FROM made;
        INSERT INTO todoke.messages (id, notification, app, day, due_at, state, finished_at, http_status, error_code)
        SELECT id, notification, 1, day, created_at,
            (CASE WHEN i % 50 = 0 THEN 'failed' WHEN i % 77 = 0 THEN 'expired' ELSE 'sent' END)::todoke.message_state,
            created_at + i * interval '17 us' + interval '3 s', 200, CASE WHEN i % 50 = 0 THEN 'CODE_' || i % 7 END
        FROM made;
        INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'today');
        INSERT INTO todoke.messages (notification, app, day)
        SELECT n.id, 1, n.day FROM todoke.notifications AS n, generate_series(1, 200000) WHERE n.notification_id = 'today';
    "
    sql 'VACUUM ANALYZE'
    sql CHECKPOINT
}

# claims SECONDS: what a sender asks, one claim of 100 after the other; sets $p99 in milliseconds.
claims() {
    (cd "$work" && rm -f claims.* && pgbench -n -f claim.sql -c 1 -T "$1" -l --log-prefix=claims >"$work/log/pgbench" 2>&1) ||
        die 70 "pgbench failed: $(<"$work/log/pgbench")"
    p99=$(awk '{ print $3 }' "$work"/claims.* | sort -n | awk '{ v[NR] = $1 } END { printf "%.2f", v[int(NR * 0.99) + (NR < 100)] / 1000 }')
}

# What notification_summary says of the broadcast and of some of the others, in all columns that are not about the purge; but
# for what is an estimate until a large notification is settled.
summary() {
    sql "SELECT to_jsonb(s) - 'settled_at' - 'purged_at'
            - CASE s.notification_id WHEN 'broadcast' THEN '{p50_seconds, p95_seconds, reach}'::text[] ELSE '{}' END
        FROM todoke.notification_summary AS s
        WHERE s.notification_id = 'broadcast' OR s.notification_id IN (
            SELECT 'single-' || 1 + i * 997 FROM generate_series(0, $messages / 997 / 20) AS i)
        ORDER BY s.notification_id"
}

estimates() {
    sql "SELECT unnest(ARRAY[p50_seconds, p95_seconds, reach]) FROM todoke.notification_summary
        WHERE notification_id = 'broadcast' AND app = 'recipes'"
}

make_work_directory ""
start_postgres "$work/postgres"
sql 'CREATE DATABASE figures'
export PGDATABASE=figures
"$TODOKE_BIN/todoke" migrate --sql-dir "$root/sql" >"$work/log/migrate" 2>&1 ||
    die 70 "the migration failed: $(<"$work/log/migrate")"
sql "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project')"
today=$(sql "SELECT to_char((now() AT TIME ZONE 'UTC')::date, 'YYYY-MM-DD')")
broadcast_day="DATE '$today' - 40" single_day="DATE '$today' - 39"
cat >"$work/claim.sql" <<END
BEGIN;
WITH picked AS MATERIALIZED (
    SELECT ctid AS place FROM todoke.messages
    WHERE day = DATE '$today' AND app = 1 AND priority = 5 AND state = 'pending' AND due_at <= now()
    ORDER BY due_at, id LIMIT 100 FOR UPDATE SKIP LOCKED
)
UPDATE todoke.messages AS m SET state = 'sending', lease_until = now() + interval '1 minute', claim_no = claim_no + 1, sender_id = 1
WHERE m.day = DATE '$today' AND m.ctid = ANY (ARRAY(SELECT place FROM picked)) RETURNING m.id;
ROLLBACK;
END
printf 'two days of %s messages each\n' "$(thousands "$messages")"
fill
summary >"$work/before"
estimates >"$work/estimated"
start=$(microseconds)
sql "SELECT reach FROM todoke.notification_summary WHERE notification_id = 'broadcast' AND app = 'recipes'" >"$work/log/reach"
printf '          the broadcast'\''s summary with reach: %s s\n' "$(seconds_since "$start")"

claims 10
alone=$p99
# Settling and dropping, with claims all the while.
start=$(microseconds)
("$TODOKE_BIN/todoke" purge --older-than 30d --json >"$work/log/purge" 2>&1; echo $? >"$work/log/purge.code"; seconds_since "$start" >"$work/log/purge.seconds") &
purge=$!
claims 10
wait "$purge"
[[ $(<"$work/log/purge.code") == 0 ]] || die 70 "the purge failed: $(<"$work/log/purge")"
printf '          settling, marking and dropping both days: %s s\n' "$(<"$work/log/purge.seconds")"
printf '          %s\n' "$(<"$work/log/purge")"
while read -r milliseconds; do
    at_most 'detaching and dropping a day, milliseconds' "$milliseconds" 1000
done < <(grep -oE '"milliseconds":[0-9]+' "$work/log/purge" | cut -d: -f2)
at_most "a claim's p99 meanwhile by that alone ($p99 ms, $alone ms)" "$(awk -v a="$p99" -v b="$alone" 'BEGIN { printf "%.2f", a / b }')" 3
summary >"$work/after"
verdict "$(cmp -s "$work/before" "$work/after" && echo 1 || echo 0)" \
    "notification_summary says the same before and after, $(wc -l <"$work/before") rows in all columns"
estimates >"$work/settled"
at_most 'what was estimated of the broadcast and what was settled, largest difference in %' "$(paste "$work/estimated" "$work/settled" |
    awk '{ d = ($1 - $2) / $2 * 100; if (d < 0) d = -d; if (d > most) most = d } END { printf "%.2f", most }')" 3
printf 'retention figures: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0)) || exit 1
