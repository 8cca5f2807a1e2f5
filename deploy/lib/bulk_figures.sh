#!/usr/bin/env bash
# The figures of bulk operations, on a throwaway Postgres of its own: how long their batches take, what a claim notices of
# them, that none reads the queue whole, and what holds when they race producers and senders.
#
#   TODOKE_BIN=.build/release deploy/lib/bulk_figures.sh [--smoke] [--part NAME]… [OPTION VALUE]…
#
#   --part     cancel, retry or races, one or several times; all without it
#   --rows     messages to cancel or to retry (1000000)
#   --seconds  how long claims are timed, before and meanwhile (20)
#   --rounds   how often a producer, a sender, two cancels and a retry race (100)
#   --smoke    small sizes, and no bounds on time: that everything here works
#
# Needs psql, pgbench and the programs of a Postgres server, 15 or later. Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/measuring.sh"

parts=() rows=1000000 seconds=20 rounds=100
while (($#)); do
    case $1 in
        --smoke)
            smoke=yes rows=20000 seconds=2 rounds=3
            shift
            continue
            ;;
        --part)
            [[ ${2:-} =~ ^(cancel|retry|races)$ ]] || usage
            parts+=("$2")
            ;;
        --rows | --seconds | --rounds)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            printf -v "${1#--}" %s "$2"
            ;;
        *) usage ;;
    esac
    shift 2
done
((${#parts[@]})) || parts=(cancel retry races)
begin_measuring

# fill STATE: two notifications of today, "bulk" with $rows messages in that state, and "busy" with what is claimed meanwhile.
fill() {
    sql 'TRUNCATE todoke.messages, todoke.payloads, todoke.attempts, todoke.notifications'
    sql "
        INSERT INTO todoke.notifications (app, notification_id)
        SELECT id, unnest(ARRAY['bulk', 'busy']) FROM todoke.apps;
        INSERT INTO todoke.messages (notification, app, day, state, claim_no, sender_id, finished_at, error_code, priority)
        SELECT n.id, n.app, n.day, k.state::todoke.message_state, (k.state <> 'pending')::int, 1,
            CASE WHEN k.state <> 'pending' THEN now() END, CASE WHEN k.state <> 'pending' THEN 'UNAVAILABLE' END, k.priority
        FROM (VALUES ('bulk', '$1', $rows, 5), ('busy', 'pending', $((seconds * 2 * 20 * 250 + 5000)), 6))
            AS k (name, state, count, priority)
        JOIN todoke.notifications AS n ON n.notification_id = k.name CROSS JOIN LATERAL generate_series(1, k.count)"
    sql "
        INSERT INTO todoke.attempts (message_id, notification, day, app, claim_no, attempt_no, outcome, error_code)
        SELECT id, notification, day, app, 1, 10, 'retry', error_code FROM todoke.messages WHERE state = 'failed'"
    sql "
        INSERT INTO todoke.payloads (id, notification, dedupe_key, day, target_kind, target, payload)
        SELECT id, notification, md5(id::text)::uuid, day, 'token', 'token-' || id,
            json_build_object('token', 'token-' || id, 'data', repeat('x', 500)) FROM todoke.messages"
    sql 'VACUUM (ANALYZE) todoke.messages, todoke.payloads, todoke.attempts'
    sql CHECKPOINT
    # What a sender does for its next 250, and that they were sent.
    cat >"$work/claim.sql" <<END
WITH picked AS MATERIALIZED (
    SELECT ctid AS place FROM todoke.messages
    WHERE day = '$(sql "SELECT min(day) FROM todoke.notifications")' AND app = $app AND priority = 6 AND state = 'pending'
        AND due_at <= now()
    ORDER BY due_at, id LIMIT 250 FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE todoke.messages AS m SET state = 'sending', lease_until = now() + interval '60 s', claim_no = claim_no + 1,
        sender_id = 1
    WHERE m.day = '$(sql "SELECT min(day) FROM todoke.notifications")' AND m.ctid = ANY (ARRAY(SELECT place FROM picked))
    RETURNING m.id, m.day
)
SELECT count(p.payload) FROM claimed AS c JOIN LATERAL (
    SELECT payload FROM todoke.payloads WHERE id = c.id AND day = c.day OFFSET 0) AS p ON true;
END
}

# claims FILE: times twenty claims a second; the latencies, in microseconds, sorted.
claims() {
    (cd "$work" && "$postgres_bin/pgbench" -n -f claim.sql -T "$seconds" --rate 20 --log --log-prefix "$work/$1" >/dev/null 2>&1)
    awk '{ print $3 - $7 }' "$work/$1".* | sort -n >"$work/$1"
    rm -f "$work/$1".*
}
# percentile FILE PART: in milliseconds.
percentile() {
    awk -v part="$2" '{ v[NR] = $1 } END { i = int(NR * part) + 1; if (i > NR) i = NR; printf "%.1f", v[i] / 1000 }' "$work/$1"
}

# measured "what" COMMAND…: claims before it and meanwhile, and how long it took.
measured() {
    local what=$1 took pid
    shift
    claims before
    start "$@" --json >"$work/said"
    pid=$started
    claims meanwhile
    finish "$pid"
    took=$(sed 's/.*"seconds":\([0-9.]*\).*/\1/' "$work/said")
    printf '  claims of 250: p50 %s, p99 %s ms; meanwhile %s and %s ms\n' "$(percentile before 0.5)" \
        "$(percentile before 0.99)" "$(percentile meanwhile 0.5)" "$(percentile meanwhile 0.99)"
    printf '  %s in %s s, %s ms a batch of 1,000\n' "$what" "$took" \
        "$(awk -v s="$took" -v rows="$rows" 'BEGIN { printf "%.1f", s * 1000000 / rows }')"
    at_most 'claim p99 meanwhile to before' \
        "$(awk -v a="$(percentile meanwhile 0.99)" -v b="$(percentile before 0.99)" 'BEGIN { printf "%.2f", a / b }')" 3
}

# scans: full reads of the queue so far.
scans() {
    sql "SELECT coalesce(sum(seq_scan), 0) FROM pg_stat_user_tables
        WHERE schemaname = 'todoke' AND relname ~ '^(messages|payloads|attempts)_'"
}

part_cancel() {
    local scanned
    printf 'Cancel: %s messages that wait\n' "$(thousands "$rows")"
    fill pending
    sql "SELECT todoke.cancel_notification('recipes', 'bulk')" >/dev/null
    scanned=$(scans)
    sql "SELECT todoke.cancel_pending('recipes', 'bulk')" >/dev/null
    sleep 1
    verdict $(($(scans) == scanned)) 'a batch reads nothing whole'
    measured cancelled "$TODOKE_BIN/todoke" cancel --app recipes bulk
    verdict $(($(sql "SELECT pending + sending FROM todoke.notification_counts('recipes', 'bulk')") == 0)) 'nothing waits any more'
}

part_retry() {
    local scanned
    printf 'Retry: %s messages that failed\n' "$(thousands "$rows")"
    fill failed
    scanned=$(scans)
    sql "SELECT todoke.retry_failed('recipes', codes => ARRAY['UNAVAILABLE'])" >/dev/null
    sleep 1
    verdict $(($(scans) == scanned)) 'a batch reads nothing whole'
    measured retried "$TODOKE_BIN/todoke" retry --app recipes --code UNAVAILABLE
    verdict $(($(sql "SELECT pending FROM todoke.notification_counts('recipes', 'bulk')") == rows)) 'all wait again'
}

# A notification is loaded, sent, retried and twice cancelled at the same time.
part_races() {
    local round sender since wrong faults=0 producer first second retry code counts final
    printf 'Races: %s rounds of a producer, a sender, two cancels and a retry\n' "$rounds"
    sql 'TRUNCATE todoke.messages, todoke.payloads, todoke.attempts, todoke.notifications'
    seq -f 'device-%g' 1 4000 | sed '1i token' >"$work/audience.csv"
    mkdir -p "$work/emulator"
    start_emulator "$work/emulator" --quiet
    # Some answers fail for good and some for now: there is something to retry, and something that comes back.
    curl -fsS --noproxy '*' -X PUT "$(<"$work/emulator/control")/rules" --data \
        '[{"match": {"probability": 0.1}, "effect": {"error": "INVALID_ARGUMENT"}},
          {"match": {"probability": 0.1}, "effect": {"error": "UNAVAILABLE"}}]' >/dev/null
    start "$TODOKE_BIN/todoke-sender" --app recipes --credentials "$work/emulator/service-account.json" --ramp 0 \
        --endpoint "$endpoint" --ca-file "$work/emulator/ca.pem" >"$work/log/sender" 2>&1
    sender=$started
    for ((round = 1; round <= rounds; round++)); do
        wrong=''
        start "$TODOKE_BIN/todoke-producer" --app recipes --notification-id "race-$round" --audience "$work/audience.csv" \
            --title Hello >"$work/log/producer" 2>&1
        producer=$started
        until [[ $(sql "SELECT count(*) FROM todoke.notifications WHERE notification_id = 'race-$round' AND queued > 0") == 1 ]]; do :; done
        sleep "$(awk -v n=$((SRANDOM % 300)) 'BEGIN { print n / 1000 }')"
        start "$TODOKE_BIN/todoke" retry --app recipes --notification "race-$round" >"$work/log/retry" 2>&1
        retry=$started
        start "$TODOKE_BIN/todoke" cancel --app recipes "race-$round" --json >"$work/first" 2>"$work/log/first"
        first=$started
        start "$TODOKE_BIN/todoke" cancel --app recipes "race-$round" --json >"$work/second" 2>"$work/log/second"
        second=$started
        finish "$first" "$second" || wrong+="a cancel ended with $?: $(cat "$work/log/first" "$work/log/second") "
        counts=$(sql "SELECT sent || ' ' || sending || ' ' || pending FROM todoke.notification_counts('recipes', 'race-$round')")
        finish "$retry" || wrong+="the retry ended with $?: $(<"$work/log/retry") "
        code=0
        finish "$producer" || code=$?
        ((code == 0 || code == 65)) || wrong+="the producer ended with $code: $(<"$work/log/producer") "
        since=$SECONDS
        while final=$(sql "SELECT sent || ' ' || sending || ' ' || pending FROM todoke.notification_counts('recipes', 'race-$round')") \
            && [[ $final != *' 0 '* ]] && ((SECONDS - since < 30)); do :; done
        read -r sent sending pending <<<"$counts"
        read -r sent_at_last still_sending still_pending <<<"$final"
        ((pending == 0)) || wrong+="$pending waited after the cancel. "
        ((still_pending == 0 && still_sending == 0)) || wrong+="at last $still_pending wait and $still_sending are being sent. "
        ((sent_at_last <= sent + sending)) || wrong+="$sent_at_last were sent, and $sent + $sending when the cancel returned. "
        if [[ -n $wrong ]]; then
            faults=$((faults + 1))
            printf '  round %d: %s\n' "$round" "$wrong"
        fi
    done
    stop_session "$sender"
    forget "$sender"
    kill "$emulator"
    wait "$emulator" || true
    emulator=''
    printf '  sent %s, cancelled %s\n' "$(sql "SELECT count(*) FROM todoke.messages WHERE state = 'sent'")" \
        "$(sql "SELECT count(*) FROM todoke.messages WHERE state = 'cancelled'")"
    verdict $((faults == 0)) "in $((rounds - faults)) of $rounds rounds nothing waited, and nothing was sent that was not being sent"
}

make_work_directory ""
start_postgres "$work/postgres"
sql 'CREATE DATABASE figures'
export PGDATABASE=figures
"$TODOKE_BIN/todoke" migrate --sql-dir "$root/sql" >"$work/log/migrate" 2>&1 ||
    die 70 "the migration failed: $(<"$work/log/migrate")"
app=$(sql "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project') RETURNING id")
for part in "${parts[@]}"; do "part_$part"; done
printf 'bulk figures: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0)) || exit 1
