#!/usr/bin/env bash
# What a month of messages costs, on a throwaway Postgres of its own: how long each question of "Asking SQL" takes over it
# and whether it slows down claims; and how much larger than need be the queue is after millions went through it.
#
#   TODOKE_BIN=.build/release deploy/lib/history_figures.sh [--smoke] [--part NAME]… [OPTION VALUE]…
#
#   --part           history or bloat, one or both; both without it
#   --messages       messages of history, over 30 days (50000000): about 300 bytes of disk each and those of the payload
#   --payload        bytes of each payload of history (300)
#   --waiting        messages of history that wait today (1000000)
#   --through        messages of bloat (5000000)
#   --rounds         rounds of claims with and without the history; of their ratios the median counts (5)
#   --seconds        seconds a round (10)
#   --smoke          small sizes, and no bounds on time: that everything here works
#
# Needs psql, pgbench and the programs of a Postgres server, 15 or later. Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/measuring.sh"

parts=()
messages=50000000 payload=300 waiting=1000000 through=5000000 rounds=5 seconds=10
while (($#)); do
    case $1 in
        --smoke)
            smoke=yes messages=60000 waiting=5000 through=30000 rounds=1 seconds=1
            shift
            continue
            ;;
        --part)
            [[ ${2:-} =~ ^(history|bloat)$ ]] || usage
            parts+=("$2")
            ;;
        --messages | --payload | --waiting | --through | --rounds | --seconds)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            name=${1#--}
            printf -v "${name//-/_}" %s "$2"
            ;;
        *) usage ;;
    esac
    shift 2
done
((${#parts[@]})) || parts=(history bloat)
begin_measuring

restart_postgres() {
    as_postgres "$postgres_bin/pg_ctl" --pgdata="$postgres_directory/data" --log="$postgres_directory/postgres.log" \
        --silent --mode=fast --wait --timeout=120 restart >>"$postgres_directory/pg_ctl.log" 2>&1 ||
        die 70 'Postgres did not come back'
}

# new_database NAME: migrated, with partitions for the last 30 days, and one notification each.
new_database() {
    sql "CREATE DATABASE $1"
    export PGDATABASE=$1
    "$TODOKE_BIN/todoke" migrate --sql-dir "$root/sql" >"$work/log/migrate" 2>&1 ||
        die 70 "the migration failed: $(<"$work/log/migrate")"
    psql -Xq -v ON_ERROR_STOP=1 <<'SQL'
INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project');
INSERT INTO todoke.senders (host, pid, version, apps) SELECT 'here', n, '0', '{recipes}' FROM generate_series(1, 4) AS n;
INSERT INTO todoke.notifications (app, notification_id, day, created_at, closes_at)
SELECT 1, 'daily-' || d, d, d + interval '6 hours', now() + interval '1 day'
FROM generate_series(1, 29) AS n, LATERAL (SELECT (now() AT TIME ZONE 'UTC')::date - n AS d) AS day;
INSERT INTO todoke.notifications (app, notification_id) VALUES (1, 'today');
-- Yesterday is there, and empty.
SELECT format('DROP TABLE todoke.%I', relname) FROM pg_class
WHERE relispartition AND relkind = 'r' AND relname ~ to_char((now() AT TIME ZONE 'UTC')::date - 1, '_YYYYMMDD$') \gexec
-- Days as todoke.ensure_partitions makes them, with their rows put in before the indexes are built and before the day is
-- attached: the same result in a third of the time.
CREATE PROCEDURE fill(which date, messages int, payload int) LANGUAGE plpgsql AS $$
DECLARE
    suffix text := to_char(which, '_YYYYMMDD');
    said record;
    parent text;
    command text;
BEGIN
    SELECT * INTO said FROM todoke.notifications WHERE day = which;
    FOREACH parent IN ARRAY '{messages, payloads, attempts, rejections}'::text[] LOOP
        CONTINUE WHEN to_regclass('todoke.' || parent || suffix) IS NOT NULL;
        EXECUTE format('CREATE TABLE todoke.%1$I (LIKE todoke.%2$I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
            parent || suffix, parent);
        EXECUTE format('ALTER TABLE todoke.%I OWNER TO todoke_owner', parent || suffix);
        IF parent = 'messages' THEN
            EXECUTE format('ALTER TABLE todoke.%I SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, '
                'autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off)', parent || suffix);
            EXECUTE format($q$
                INSERT INTO todoke.%I (id, notification, app, day, due_at, state, claim_no, sender_id, http_status,
                    finished_at, attempts, error_code, provider_message_id)
                SELECT nextval('todoke.message_id_seq'), %L, 1, %L, %4$L::timestamptz,
                    (CASE n %% 100 WHEN 0 THEN 'failed' ELSE 'sent' END)::todoke.message_state, 1, 1,
                    CASE n %% 100 WHEN 0 THEN 404 ELSE 200 END, %4$L::timestamptz + n * interval '500 us',
                    CASE n %% 100 WHEN 0 THEN 1 ELSE 0 END, CASE n %% 100 WHEN 0 THEN 'UNREGISTERED' END,
                    CASE WHEN n %% 100 <> 0 THEN '0:1700000000000000%%31bd1c96' || n END
                FROM generate_series(1, %L) AS n $q$, parent || suffix, said.id, which, said.created_at, messages);
        ELSIF parent = 'payloads' THEN
            -- As many users as messages a day, in no order.
            EXECUTE format($q$
                INSERT INTO todoke.%I (id, notification, queued_at, dedupe_key, day, target_kind, user_id, target, payload)
                SELECT m.id, m.notification, m.due_at, md5(m.id::text)::uuid, m.day, 'token', u.id::text,
                    t.token, ('{"token":"' || t.token || '","notification":{"body":"' || repeat('x', greatest(0, %s - 200)) || '"}}')::json
                FROM todoke.%I AS m,
                    LATERAL (SELECT (m.id * 2654435761) %% %s AS id OFFSET 0) AS u,
                    LATERAL (SELECT md5(u.id::text) || ':APA91b' || repeat(md5('a' || u.id), 3) AS token OFFSET 0) AS t
                $q$, parent || suffix, payload, 'messages' || suffix, messages);
        ELSIF parent = 'attempts' THEN
            EXECUTE format($q$
                INSERT INTO todoke.%I (message_id, notification, at, day, app, claim_no, attempt_no, http_status, sender_id,
                    outcome, error_code, detail)
                SELECT id, notification, finished_at, day, app, 1, 1, 404, 1, 'token_invalid', 'UNREGISTERED',
                    'Requested entity was not found.'
                FROM todoke.%I WHERE state = 'failed' $q$, parent || suffix, 'messages' || suffix);
        END IF;
        FOR command IN
            SELECT CASE WHEN c.conname IS NULL
                THEN regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE INDEX .* USING ',
                    format('CREATE INDEX ON todoke.%I USING ', parent || suffix))
                ELSE format('ALTER TABLE todoke.%I ADD %s', parent || suffix, pg_get_constraintdef(c.oid)) END
            FROM pg_index AS i LEFT JOIN pg_constraint AS c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
            WHERE i.indrelid = ('todoke.' || parent)::regclass
        LOOP
            EXECUTE command;
        END LOOP;
        EXECUTE format('ALTER TABLE todoke.%I ATTACH PARTITION todoke.%I FOR VALUES FROM (%L) TO (%L)',
            parent, parent || suffix, which, which + 1);
    END LOOP;
END
$$;
SQL
}

# fill_days MESSAGES: so many in all, two days at a time.
fill_days() {
    local days
    sql "SELECT day FROM todoke.notifications WHERE notification_id <> 'today' ORDER BY day" >"$work/days"
    xargs -P 2 -I '{}' psql -XAtq -v ON_ERROR_STOP=1 -c "SET maintenance_work_mem = '256MB'" \
        -c "CALL fill('{}', $(($1 / 29)), $payload)" <"$work/days" || die 70 'the days could not be filled'
    days=$(sql 'SELECT count(*) FROM todoke.message_days()')
    ((days > 29)) || die 70 "there are $days days"
}

# queue COUNT [SHARE]: pending messages for today, in the order of their ids; of them SHARE is due, the rest 50 a second.
queue() {
    local due="($1 * ${2:-0.6})"
    sql "
        WITH queued AS (
            INSERT INTO todoke.messages (notification, app, day, due_at)
            SELECT n.id, 1, n.day, now() + least(i - $due, 0) * interval '1 ms' + greatest(i - $due, 0) * interval '20 ms'
            FROM todoke.notifications AS n, generate_series(1, $1) AS i WHERE n.notification_id = 'today'
            RETURNING id, day, notification
        )
        INSERT INTO todoke.payloads (id, notification, day, dedupe_key, target_kind, user_id, target, payload)
        SELECT id, notification, day, md5(id::text)::uuid, 'token', (id % 1000000)::text,
            md5(id::text) || ':APA91b' || md5('a' || id), '{\"notification\":{\"body\":\"Hello\"}}'
        FROM queued"
}

# What a sender does, as far as the database sees it: it claims 500 with a floor that it drops every now and then, and
# records them. Queue's Claim and Record have the statements in full.
write_scripts() {
    local day
    day=$(sql "SELECT to_char(day, 'YYYY-MM-DD') FROM todoke.notifications WHERE notification_id = 'today'")
    cat >"$work/claim" <<SQL
\\set sender :client_id + 1
\\set forget random(1, 30)
\\if :forget = 1
\\set floor_us 0
\\set floor_id 0
\\endif
WITH picked AS MATERIALIZED (
    SELECT ctid AS place, notification FROM todoke.messages
    WHERE day = '$day' AND app = 1 AND priority = 5 AND state = 'pending' AND due_at <= now()
        AND (due_at, id) > (TIMESTAMPTZ '2000-01-01 UTC' + :floor_us * INTERVAL '1 us', :floor_id)
    ORDER BY due_at, id LIMIT 500 FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE todoke.messages AS m SET state = 'sending', lease_until = now() + interval '60 s', claim_no = m.claim_no + 1,
        sender_id = :sender
    WHERE m.day = '$day' AND m.ctid = ANY (ARRAY(SELECT place FROM picked))
    RETURNING m.id, m.due_at
)
SELECT CASE WHEN count(*) < 500 THEN 0 ELSE (extract(epoch FROM max(c.due_at) - TIMESTAMPTZ '2000-01-01 UTC') * 1000000)::bigint
    END AS floor_us, CASE WHEN count(*) < 500 THEN 0 ELSE max(c.id) END AS floor_id, count(p.payload) AS taken
FROM claimed AS c
LEFT JOIN LATERAL (SELECT payload FROM todoke.payloads WHERE id = c.id AND day = '$day' OFFSET 0) AS p ON true \\gset
SQL
    cat >"$work/record" <<END
\\set sender :client_id + 1
UPDATE todoke.messages AS m SET state = 'sent', finished_at = now(), lease_until = NULL, http_status = 200,
    provider_message_id = '0:1700000000000000%31bd1c96' || m.id
WHERE m.day = '$day' AND m.app = 1 AND m.state = 'sending' AND m.sender_id = :sender;
END
}

# drain CLIENTS LOG OPTION…: claims and records in turn until they are told to stop; a transaction of the log is either.
drain() {
    local clients=$1 log=$2
    shift 2
    cat "$work/claim" "$work/record" >"$work/both"
    (cd "$work/log" && pgbench -n -c "$clients" -j "$clients" -D floor_us=0 -D floor_id=0 -l --log-prefix="$log" \
        -f "$work/claim@1" -f "$work/record@1" "$@" "$PGDATABASE" >"$work/log/pgbench" 2>&1) ||
        die 70 "pgbench failed: $(tail -n 3 "$work/log/pgbench")"
}

# percentile FRACTION FROM TO LOG…: of the claims between two parts of the log's length, in ms.
percentile() {
    local fraction=$1 from=$2 to=$3
    shift 3
    cat "$@" | awk '$4 == 0 { print $5 "." $6, $3 / 1000 }' | sort -n |
        awk -v from="$from" -v to="$to" '{ v[NR] = $2 } END { for (i = int(NR * from) + 1; i <= int(NR * to); i++) print v[i] }' |
        sort -n | awk -v f="$fraction" '{ v[NR] = $1 } END { i = int(NR * f + 0.999); print NR ? v[i < 1 ? 1 : i] : 0 }'
}

# question BOUND "what" SQL: in ms, planning and all: the first time after a restart of the server, the first in a new
# session, the median of nine more there, and the processor time of these, which others on the machine touch less; and what it
# did inside.
question() {
    local bound=$1 what=$2 query=$3 cold times cpu plan
    restart_postgres
    cold=$(printf '%s;\n' "$query" | PGOPTIONS='-c role=todoke_reader' psql -XAtq -o /dev/null -c '\timing on' -f - |
        awk '/^Time:/ { print $2 }')
    {
        # shellcheck disable=SC2016 # psql's shell is to see it
        printf '%s\n' 'SELECT pg_backend_pid() AS pid \gset' '\setenv PID :pid' '\timing on' "$query;" \
            '\! echo "CPU: $(cut -d " " -f 1 /proc/$PID/schedstat)"'
        for ((i = 0; i < 9; i++)); do printf '%s;\n' "$query"; done
        # shellcheck disable=SC2016
        printf '%s\n' '\! echo "CPU: $(cut -d " " -f 1 /proc/$PID/schedstat)"'
    } | PGOPTIONS='-c role=todoke_reader' psql -XAtq -o /dev/null -f - >"$work/times"
    mapfile -t times < <(awk '/^Time:/ { print $2 }' "$work/times")
    cpu=$(awk '/^CPU:/ { at[++n] = $2 } END { printf "%.3f", (at[2] - at[1]) / 9e6 }' "$work/times")
    # Functions say nothing in a plan: the server is asked for those of the statements within.
    plan=$(psql -Xq -o /dev/null 2>&1 <<END | grep -oE '(Seq Scan|Index Only Scan|Index Scan|Bitmap Index Scan) (Backward )?(using|on) [a-z_0-9]+.*' |
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_analyze = on;
SET client_min_messages = log;
$query;
END
        grep -v 'never executed' | grep -oE '^[A-Za-z ]+ (using|on) [a-z_]+_[0-9]{8}[a-z_]*' | sed -E 's/_[0-9]{8}/_*/' |
        sort | uniq -c | sort -rn | awk '{ n = $1; $1 = ""; printf "%s%s ×%d", (NR > 1 ? "," : ""), $0, n }' || true)
    printf '  %-22s %9s %9s %9s %9s  %s\n' "$what" "$cold" "${times[0]}" "$(median "${times[@]:1}")" "$cpu" "$plan"
    at_most "$what: ms, the median of a session" "$(median "${times[@]:1}")" "$bound"
    # What counts all that waits may do so where everything waits.
    if ((bound < 1000)) && grep -qE 'Seq Scan on (messages|payloads)' <<<"$plan"; then verdict 0 "$what reads a day whole"; fi
}

part_history() {
    local since=$EPOCHREALTIME available need=$((messages * (450 + payload) + waiting * 800)) round database tries middle user token yesterday
    available=$(df --output=avail --block-size=1 "$work" | tail -n 1)
    ((available > need)) ||
        die 69 "$work has $(thousands "$available") bytes left and needs $(thousands "$need"); name fewer --messages"
    new_database empty
    new_database history
    fill_days "$messages"
    queue "$waiting"
    # The registry that reach asks: a device for each user of a day, at most a million; one in ten allows no notifications.
    sql "INSERT INTO todoke.devices (app, token, user_id, allows_notifications)
        SELECT 1, md5(u::text) || ':APA91b' || repeat(md5('a' || u), 3), u, u % 10 <> 0
        FROM generate_series(0, least(1000000, $((messages / 29))) - 1) AS u"
    printf 'History: %s messages over 30 days with payloads of about %s bytes, %s waiting today; made in %s s, %s\n' \
        "$(thousands "$messages")" "$payload" "$(thousands "$waiting")" "$(seconds_since "$since")" \
        "$(sql 'SELECT pg_size_pretty(pg_database_size(current_database()))')"
    # Nobody analyses anything by hand; autovacuum comes by every minute.
    for ((tries = 0; tries < 30; tries++)); do
        (($(sql "SELECT count(*) FROM pg_stat_user_tables WHERE relname ~ '^(messages|payloads)_' AND n_live_tup > 0
            AND last_autoanalyze IS NULL") > 0)) || break
        [[ $smoke == no ]] || break
        sleep 10
    done
    printf 'Autovacuum had analysed %s of the days after %s s\n' \
        "$(sql "SELECT count(*) FROM pg_stat_user_tables WHERE relname ~ '^messages_' AND last_autoanalyze IS NOT NULL")" \
        "$(seconds_since "$since")"
    middle=$(sql "SELECT id FROM todoke.messages WHERE day = (now() AT TIME ZONE 'UTC')::date - 15 AND state = 'failed' LIMIT 1")
    user=$(sql "SELECT user_id FROM todoke.payloads WHERE id = $middle")
    token=$(sql "SELECT target FROM todoke.payloads WHERE id = $middle")
    yesterday=daily-$(sql "SELECT (now() AT TIME ZONE 'UTC')::date - 1")
    printf '  %-22s %9s %9s %9s %9s  %s\n' ms 'restarted' 'first' 'then' 'CPU then' 'scans of days, executed'
    question 20 'a message' "SELECT * FROM todoke.message_story($middle)"
    question 20 'a user'"'"'s last ten' "SELECT * FROM todoke.user_messages('recipes', '$user')"
    question 20 'a token' "SELECT * FROM todoke.token_messages('recipes', '$token')"
    question 20 'the oldest due' 'SELECT * FROM todoke.oldest_due'
    question 20 'who is sending' 'SELECT * FROM todoke.live_senders'
    question 20 'rejected rows' "SELECT * FROM todoke.rejected_rows WHERE app = 'recipes' AND notification_id = '$yesterday'"
    question 20 'what was sent' "SELECT payload FROM todoke.message_payloads WHERE id = $middle"
    question 1000 'failures of a day' "SELECT * FROM todoke.failures WHERE day = (now() AT TIME ZONE 'UTC')::date - 1"
    question 1000 'failures of the month' 'SELECT * FROM todoke.failures'
    question 1000 'the queue' 'SELECT * FROM todoke.queue_depth'
    question 1000 'throughput, an hour' 'SELECT * FROM todoke.throughput()'
    question 1000 'the next hour' 'SELECT * FROM todoke.upcoming()'
    question 1000 'a notification, reach' "SELECT * FROM todoke.notification_summary WHERE app = 'recipes' AND notification_id = '$yesterday'"
    question 1000 'a notification' "SELECT app, notification_id, total, pending, sending, sent, failed, expired, cancelled,
        p50_seconds, p95_seconds, opens, top_errors
        FROM todoke.notification_summary WHERE app = 'recipes' AND notification_id = '$yesterday'"
    question 1000 'a campaign' "SELECT * FROM todoke.notification_summary WHERE campaign = 'none'"

    write_scripts
    PGDATABASE=empty queue "$waiting"
    local ratios=() with without
    for ((round = 1; round <= rounds; round++)); do
        for database in empty history; do
            export PGDATABASE=$database
            (($(sql "SELECT count(*) FROM (SELECT FROM todoke.messages WHERE state = 'pending' AND due_at <= now() LIMIT 400000) AS d") == 400000)) ||
                queue "$waiting"
            drain 2 "$database-$round" -T "$seconds"
        done
        without=$(percentile 0.99 0 1 "$work/log/empty-$round".*)
        with=$(percentile 0.99 0 1 "$work/log/history-$round".*)
        ratios+=("$(ratio "$with" "$without")")
        printf '  round %d   claim p99 %s ms without the history, %s ms with it\n' "$round" "$without" "$with"
    done
    at_most 'claim p99 with the history to without' "$(median "${ratios[@]}")" 1.3
    export PGDATABASE=postgres
    sql 'DROP DATABASE empty'
    sql 'DROP DATABASE history'
}

# sizes: name and bytes of today's messages and of each of its indexes.
sizes() {
    sql "
        SELECT c.relname, pg_relation_size(c.oid) FROM pg_class AS c
        WHERE c.oid = '$1'::regclass OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = '$1'::regclass)
        ORDER BY c.relkind DESC, substring(pg_get_indexdef(c.oid) FROM ' USING .*')"
}

part_bloat() {
    local since=$EPOCHREALTIME partition batch start end done_so_far name bytes ideal steps=10
    new_database bloat
    partition=todoke.messages_$(sql "SELECT to_char(day, 'YYYYMMDD') FROM todoke.notifications WHERE notification_id = 'today'")
    write_scripts
    printf 'Bloat: %s messages through the queue, queued by tenths, with autovacuum\n' "$(thousands "$through")"
    for ((batch = 1; batch <= steps; batch++)); do
        queue $((through / steps)) 1
        while (($(sql "SELECT count(*) FROM (SELECT FROM todoke.messages WHERE state = 'pending' AND app = 1 LIMIT 500) AS p") > 0)); do
            drain 2 "bloat-$(printf %02d "$batch")" -t 200
            sql "UPDATE todoke.messages SET state = 'sent', finished_at = now(), lease_until = NULL WHERE state = 'sending'"
        done
        done_so_far=$(percentile 0.99 0 1 "$work/log/bloat-$(printf %02d "$batch")".*)
        printf '  tenth %2d   claim p99 %s ms, table %s\n' "$batch" "$done_so_far" \
            "$(sql "SELECT pg_size_pretty(pg_relation_size('$partition'))")"
        ((batch > 1)) || start=$done_so_far
        end=$done_so_far
    done
    printf '  %s s; vacuumed %s times by autovacuum\n' "$(seconds_since "$since")" \
        "$(sql "SELECT autovacuum_count FROM pg_stat_user_tables WHERE relid = '$partition'::regclass")"
    sql "CREATE TABLE ideal (LIKE $partition INCLUDING ALL) WITH (fillfactor = 50)"
    sql "INSERT INTO ideal SELECT * FROM $partition ORDER BY id"
    sql 'REINDEX TABLE ideal'
    sizes "$partition" >"$work/sizes"
    sizes ideal >"$work/ideal"
    printf '  %-52s %12s %12s %7s\n' 'bytes' 'now' 'ideal' 'ratio'
    paste -d '|' "$work/sizes" "$work/ideal" | while IFS='|' read -r name bytes _ ideal; do
        printf '  %-52s %12s %12s %7s\n' "$name" "$(thousands "$bytes")" "$(thousands "$ideal")" "$(ratio "$bytes" "$ideal")"
    done
    at_most 'claim p99 at the end to the start' "$(ratio "$end" "$start")" 1.5
    export PGDATABASE=postgres
    sql 'DROP DATABASE bloat'
}

make_work_directory ""
start_postgres "$work/postgres"
# What is loaded into a new table need not be logged; and the sizes of a small server in production.
sql "ALTER SYSTEM SET wal_level = minimal"
sql "ALTER SYSTEM SET max_wal_senders = 0"
sql "ALTER SYSTEM SET shared_buffers = '1GB'"
restart_postgres
for part in "${parts[@]}"; do "part_$part"; done
printf 'history figures: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0)) || exit 1
