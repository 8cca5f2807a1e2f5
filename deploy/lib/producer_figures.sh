#!/usr/bin/env bash
# The producer's figures, on a throwaway Postgres of its own: how fast next to psql, how much memory, how soon the first
# message is posted; and that nothing is lost or doubled when it is killed, started twice, or loses its server.
#
#   TODOKE_BIN=.build/release deploy/lib/producer_figures.sh [--smoke] [--part NAME]… [OPTION VALUE]…
#
#   --part           ratio, memory, first, killed, pairs or restart, one or several times; all without it
#   --rows           rows of the CSV file for ratio and first (1000000)
#   --rounds         rounds of ratio and first (5); of ratio the median counts, of first the slowest
#   --memory-rows    rows for memory (10000000): about 1.5 kB of disk each, and three times as many pass
#   --memory-source  csv, ndjson or sql, one or several times; all without it
#   --fault-rows     rows for killed and restart (300000)
#   --kills          how often a run is killed (20)
#   --pair-rows      rows for pairs (3000)
#   --pairs          how often two are started together (100)
#   --smoke          small sizes, and no bounds on time: that everything here works
#
# Needs psql and the programs of a Postgres server, 15 or later. Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/measuring.sh"

parts=() sources=()
rows=1000000 rounds=5 memory_rows=10000000 fault_rows=300000 kills=20 pair_rows=3000 pairs=100
while (($#)); do
    case $1 in
        --smoke)
            smoke=yes rows=20000 rounds=1 memory_rows=20000 fault_rows=20000 kills=3 pairs=3
            shift
            continue
            ;;
        --part)
            [[ ${2:-} =~ ^(ratio|memory|first|killed|pairs|restart)$ ]] || usage
            parts+=("$2")
            ;;
        --memory-source)
            [[ ${2:-} =~ ^(csv|ndjson|sql)$ ]] || usage
            sources+=("$2")
            ;;
        --rows | --rounds | --memory-rows | --fault-rows | --kills | --pair-rows | --pairs)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            name=${1#--}
            printf -v "${name//-/_}" %s "$2"
            ;;
        *) usage ;;
    esac
    shift 2
done
((${#parts[@]})) || parts=(ratio memory first killed pairs restart)
((${#sources[@]})) || sources=(csv ndjson sql)
begin_measuring

# per_second ROWS MICROSECONDS
per_second() { echo $(($1 * 1000000 / $2)); }
seconds() { awk -v a="$1" 'BEGIN { printf "%.2f", a / 1000000 }'; }
pause() { sleep "$(seconds "$1")"; }

# ticks PID: the processor time of a process and its children that have ended.
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$1/stat"; }

# The processor time of Postgres, whoever in it has used it.
server_ticks() {
    local postmaster pid sum
    # A session that has just ended counts for neither before the postmaster has taken note of it.
    sleep 0.5
    read -r postmaster <"$postgres_directory/data/postmaster.pid"
    sum=$(ticks "$postmaster")
    for pid in $(ps --ppid "$postmaster" -o pid=); do
        sum=$((sum + $(ticks "$pid" 2>/dev/null || echo 0)))
    done
    echo "$sum"
}

# stopwatch, and then measure ROWS: sets $rate, rows in a second, and $cost, microseconds of processor time for each: the
# client's and the server's, which others on the machine touch less.
stopwatch() {
    server_before=$(server_ticks)
    own_before=$(ticks $$)
    time_before=$(microseconds)
}
measure() {
    local tick=$((1000000 / $(getconf CLK_TCK))) took
    took=$(($(microseconds) - time_before))
    rate=$(per_second "$1" "$took")
    cost=$(awk -v own=$((($(ticks $$) - own_before) * tick)) -v server=$((($(server_ticks) - server_before) * tick)) \
        -v rows="$1" 'BEGIN { printf "%.1f + %.1f", own / rows, server / rows }')
}

# A message of about 700 bytes, with the filters, picture and text of a usual one.
cat_template() {
    cat <<'END'
{
    "token": "{{token}}",
    "notification": { "title": "Tonight: {{dish}}", "body": "{{name|default:'Hello'}}, it takes you {{minutes}} minutes." },
    "data": { "link": "recipes://recipe/{{recipe_id}}" },
    "android": {
        "priority": "NORMAL",
        "notification": { "channel_id": "daily", "image": "https://img.example/recipes/{{recipe_id}}.jpg" }
    },
    "apns": { "payload": { "aps": { "sound": "default", "thread-id": "daily" } } }
}
END
}

# audience ROWS: a query, also for the files.
audience() {
    cat <<END
SELECT substr(md5(n::text), 1, 22) || ':APA91b' || md5('a' || n) || md5('b' || n) || md5('c' || n) AS token,
    n / 2 AS user_id, CASE n % 3 WHEN 0 THEN '' ELSE 'Zoë ' || n END AS name,
    (ARRAY['Miso soup with spring onions', 'Pierogi, the way of Łódź', 'Crème brûlée'])[1 + n % 3] AS dish,
    10 + n % 50 AS minutes, n % 1000 AS recipe_id
FROM generate_series(1, $1) AS n
END
}

make_csv() { psql -XAtq -v ON_ERROR_STOP=1 -c "COPY ($(audience "$1")) TO STDOUT (FORMAT csv, HEADER)" >"$2"; }
# No text here has what COPY's own format escapes.
make_ndjson() { psql -XAtq -v ON_ERROR_STOP=1 -c "COPY (SELECT row_to_json(a) FROM ($(audience "$1")) AS a) TO STDOUT" >"$2"; }

# Nothing queued, nothing left to write.
empty() {
    sql 'TRUNCATE todoke.messages, todoke.payloads, todoke.attempts, todoke.rejections, todoke.notifications'
    sql CHECKPOINT
}

# begin ID OPTION…: starts a producer; its process is in $started.
begin() {
    local id=$1
    shift
    start "$TODOKE_BIN/todoke-producer" --app recipes --notification-id "$id" --template "$work/template.json" --json "$@" \
        >"$work/out-$id" 2>"$work/error-$id"
}

# end ID PID: waits for it. Sets $code, $queued and $already; of a run that said nothing they are 0.
end() {
    code=0
    # The shell would tell of a process that was killed.
    { finish "$2" || code=$?; } 2>/dev/null
    queued=$(sed -n 's/.*"queued":\([0-9]*\).*/\1/p' "$work/out-$1")
    already=$(sed -n 's/.*"already_queued":\([0-9]*\).*/\1/p' "$work/out-$1")
    queued=${queued:-0} already=${already:-0}
}

# timed ID OPTION…: a run from start to end that has to succeed; sets $took, in microseconds.
timed() {
    local id=$1 since
    since=$(microseconds)
    begin "$@"
    end "$id" "$started"
    took=$(($(microseconds) - since))
    ((code == 0)) || {
        cat "$work/error-$id"
        echo "the producer ended with $code"
        exit 1
    }
}

# whole ID N: prints what is wrong with a notification that must have N messages, one for each target, and be let go of.
whole() {
    local found
    found=$(sql "
        SELECT (SELECT count(*) FROM todoke.messages AS m WHERE m.notification = n.id),
            (SELECT count(*) FROM todoke.payloads AS p WHERE p.notification = n.id),
            (SELECT count(DISTINCT p.target) FROM todoke.payloads AS p WHERE p.notification = n.id),
            (SELECT count(*) FROM todoke.messages AS m JOIN todoke.payloads AS p USING (id, day) WHERE m.notification = n.id),
            n.queued, n.run_id IS NULL AND n.loaded_at IS NOT NULL
        FROM todoke.notifications AS n WHERE n.notification_id = '$1'")
    [[ $found == "$2|$2|$2|$2|$2|t" ]] ||
        echo "$1: messages, payloads, targets, pairs, queued, let go of: $found instead of $2 of each"
}

part_ratio() {
    local payloads='id, day, notification, target_kind, target, user_id, dedupe_key, ttl_at, ttl_len, payload'
    local messages='id, day, notification, app, priority, due_at, expires_at'
    local round psql fresh again fresh_ratios=() again_ratios=() costs
    make_csv "$rows" "$work/audience.csv"
    empty
    # The finished rows for psql, and everything is warm.
    timed finished --audience "$work/audience.csv"
    psql -Xq -v ON_ERROR_STOP=1 \
        -c "\\copy (SELECT $payloads FROM todoke.payloads ORDER BY id) TO '$work/payloads' (FORMAT binary)" \
        -c "\\copy (SELECT $messages FROM todoke.messages ORDER BY id) TO '$work/messages' (FORMAT binary)"
    printf 'Ratio: %s rows from CSV, payloads of %s bytes, next to psql copying the same rows into the same tables\n' \
        "$(thousands "$rows")" "$(sql 'SELECT round(avg(octet_length(payload::text))) FROM todoke.payloads')"
    for ((round = 1; round <= rounds; round++)); do
        empty
        stopwatch
        psql -Xq -v ON_ERROR_STOP=1 -c "\\copy todoke.payloads ($payloads) FROM '$work/payloads' (FORMAT binary)" \
            -c "\\copy todoke.messages ($messages) FROM '$work/messages' (FORMAT binary)"
        measure "$rows"
        psql=$rate costs=("$cost")
        empty
        stopwatch
        timed ratio --audience "$work/audience.csv"
        measure "$rows"
        fresh=$rate costs+=("$cost")
        fresh_ratios+=("$(ratio "$fresh" "$psql")")
        ((queued == rows)) || verdict 0 "the fresh run queued $queued of $rows"
        sql CHECKPOINT
        stopwatch
        timed ratio --audience "$work/audience.csv"
        measure "$rows"
        again=$rate costs+=("$cost")
        again_ratios+=("$(ratio "$again" "$psql")")
        ((queued == 0 && already == rows)) || verdict 0 "the rerun queued $queued and found $already of $rows"
        printf '  round %d   psql %8s/s   producer %8s/s   again %8s/s   ratios %s and %s\n' "$round" \
            "$(thousands "$psql")" "$(thousands "$fresh")" "$(thousands "$again")" "${fresh_ratios[-1]}" "${again_ratios[-1]}"
        printf '            µs of CPU a row, client + server: psql %s, producer %s, again %s\n' "${costs[@]}"
    done
    rm -f "$work/payloads" "$work/messages"
    at_least "fresh, rows/s of the producer to psql's" "$(median "${fresh_ratios[@]}")" 0.6
    at_least "all there already, rows/s of the producer to psql's into empty tables" "$(median "${again_ratios[@]}")" 0.3
}

part_memory() {
    local kind available need=$((memory_rows * 1600)) options peak samples tenth pid since
    for kind in "${sources[@]}"; do
        empty
        available=$(df --output=avail --block-size=1 "$work" | tail -n 1)
        ((available > need)) ||
            die 69 "$work has $(thousands "$available") bytes left and needs $(thousands "$need"); name fewer --memory-rows"
        case $kind in
            csv)
                make_csv "$memory_rows" "$work/memory"
                options=(--audience "$work/memory")
                ;;
            ndjson)
                make_ndjson "$memory_rows" "$work/memory"
                options=(--audience "$work/memory")
                ;;
            sql)
                audience "$memory_rows" >"$work/memory"
                options=(--audience-sql "$work/memory")
                ;;
        esac
        samples=()
        since=$(microseconds)
        begin memory "${options[@]}"
        pid=$started
        # The peak so far; a process that has ended has none any more.
        while peak=$(awk '/^VmHWM:/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [[ -n $peak ]]; do
            samples+=("$peak")
            sleep 0.2
        done
        end memory "$pid"
        rm -f "$work/memory"
        peak=${samples[-1]} tenth=${samples[${#samples[@]} / 10]}
        printf 'Memory: %s rows from %s in %s s\n' "$(thousands "$memory_rows")" "$kind" \
            "$(seconds $(($(microseconds) - since)))"
        verdict "$((code == 0 && queued == memory_rows))" "$kind: all were queued: $(thousands "$queued"), exit code $code"
        at_most "$kind: peak in KiB" "$peak" 65536
        at_most "$kind: peak grown since a tenth of the run, in KiB" $((peak - tenth)) 4096
    done
    empty
}

part_first() {
    local round since tries size sender taken=()
    make_csv "$rows" "$work/audience.csv"
    mkdir -p "$work/emulator"
    start_emulator "$work/emulator" --quiet
    start "$TODOKE_BIN/todoke-sender" --app recipes --credentials "$work/emulator/service-account.json" \
        --endpoint "$endpoint" --ca-file "$work/emulator/ca.pem" >"$work/log/sender" 2>&1
    sender=$started
    printf 'First message: %s rows from CSV, one idle sender, the emulator in the place of FCM\n' "$(thousands "$rows")"
    for ((round = 1; round <= rounds; round++)); do
        empty
        # What the sender still has in its hands; then it is idle.
        size=-1
        while [[ $size != "$(stat --format %s "$work/emulator/accepted.ndjson")" ]]; do
            size=$(stat --format %s "$work/emulator/accepted.ndjson")
            sleep 2
        done
        since=$(microseconds)
        begin first --audience "$work/audience.csv"
        tries=0
        until (($(stat --format %s "$work/emulator/accepted.ndjson") > size)); do
            ((tries++ < 2000)) || break
            sleep 0.003
        done
        taken+=("$(seconds $(($(microseconds) - since)))")
        # Only its beginning was wanted.
        kill -KILL "$started" 2>/dev/null || true
        end first "$started"
    done
    stop_session "$sender"
    forget "$sender"
    kill "$emulator"
    wait "$emulator" || true
    emulator=''
    printf '  %s s\n' "${taken[*]}"
    at_most "from the producer's start to the first message posted, the slowest of $rounds, in s" \
        "$(printf '%s\n' "${taken[@]}" | sort -n | tail -n 1)" 1
    empty
}

# A number below $1, which is at most 2^30.
below() { echo $((SRANDOM % $1)); }

part_killed() {
    local kill pid length at before wrong done_already=0 faults=()
    make_csv "$fault_rows" "$work/audience.csv"
    empty
    timed whole --audience "$work/audience.csv"
    length=$took
    printf 'Killed: %s times in a run of %s rows, which takes %s s, and run again at once\n' "$kills" \
        "$(thousands "$fault_rows")" "$(seconds "$length")"
    for ((kill = 1; kill <= kills; kill++)); do
        empty
        at=$(below "$length")
        begin killed --audience "$work/audience.csv"
        pid=$started
        pause "$at"
        kill -KILL "$pid" 2>/dev/null || true
        end killed "$pid"
        if ((code != 137)); then
            # It was quicker than the one that was measured.
            ((done_already++ < 1000)) || die 70 "no run lives long enough to be killed"
            kill=$((kill - 1))
            continue
        fi
        begin killed --audience "$work/audience.csv"
        end killed "$started"
        before=$already
        wrong=$(whole killed "$fault_rows")
        ((code == 0)) || wrong+=" exit code $code: $(<"$work/error-killed")"
        ((queued + already == fault_rows)) || wrong+=" queued $queued, already $already"
        printf '  after %5s s: %8s were queued, %8s followed  %s\n' "$(seconds "$at")" "$(thousands "$before")" \
            "$(thousands "$queued")" "$wrong"
        [[ -z $wrong ]] || faults+=("$wrong")
    done
    verdict $((${#faults[@]} == 0)) \
        "all $kills runs were completed by the next, which waited for nothing; none lost, none twice"
    empty
}

part_pairs() {
    local pair first second one other wrong both=0 busy=0 faults=() deadlocks
    make_csv "$pair_rows" "$work/audience.csv"
    empty
    printf 'Pairs: two producers of the same %s rows started together, %s times\n' "$(thousands "$pair_rows")" "$pairs"
    for ((pair = 1; pair <= pairs; pair++)); do
        # The same id, and files of their own for what they say.
        begin "pair-$pair" --audience "$work/audience.csv"
        first=$started
        mv "$work/out-pair-$pair" "$work/out-first"
        mv "$work/error-pair-$pair" "$work/error-first"
        begin "pair-$pair" --audience "$work/audience.csv"
        second=$started
        end first "$first"
        one=$code wrong=''
        ((code == 0)) && wrong+=$( ((queued + already == pair_rows)) || echo "one says $queued and $already. ")
        end "pair-$pair" "$second"
        other=$code
        ((code == 0)) && wrong+=$( ((queued + already == pair_rows)) || echo "one says $queued and $already. ")
        case $one-$other in
            0-0) both=$((both + 1)) ;;
            0-75 | 75-0) busy=$((busy + 1)) ;;
            *) wrong+="exit codes $one and $other: $(<"$work/error-first") $(<"$work/error-pair-$pair"). " ;;
        esac
        wrong+=$(whole "pair-$pair" "$pair_rows")
        [[ -z $wrong ]] || faults+=("pair $pair: $wrong")
        rm -f "$work/out-pair-$pair" "$work/error-pair-$pair"
    done
    ((${#faults[@]} == 0)) || printf '  %s\n' "${faults[@]}"
    printf '  %d times the second found all there, %d times it was told to come back (75)\n' "$both" "$busy"
    verdict $((${#faults[@]} == 0)) "of $pairs pairs none queued a target twice, lost one, or failed otherwise"
    deadlocks=$(sql "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    verdict $((deadlocks == 0)) "deadlocks: $deadlocks"
    empty
}

restart_postgres() {
    as_postgres "$postgres_bin/pg_ctl" --pgdata="$postgres_directory/data" --log="$postgres_directory/postgres.log" \
        --silent --mode="$1" --wait --timeout=120 restart >>"$postgres_directory/pg_ctl.log" 2>&1
}

part_restart() {
    local mode kind options pid length at wrong tries waits
    make_csv "$fault_rows" "$work/audience.csv"
    audience "$fault_rows" >"$work/audience.sql"
    empty
    timed whole --audience "$work/audience.csv"
    length=$took
    printf 'Restart: Postgres in the middle of a run of %s rows, which takes %s s\n' \
        "$(thousands "$fault_rows")" "$(seconds "$length")"
    for mode in fast immediate; do
        for kind in csv sql; do
            empty
            options=(--audience "$work/audience.csv")
            [[ $kind == csv ]] || options=(--audience-sql "$work/audience.sql")
            tries=0 wrong=''
            while :; do
                at=$((length / 10 + $(below "$((length / 2))")))
                begin restart "${options[@]}"
                pid=$started
                pause "$at"
                # A run that is as short as with --smoke may have had a slow start.
                waits=0
                until (($(sql 'SELECT coalesce(sum(queued), 0) FROM todoke.notifications') > 0 || waits++ > 1000)); do :; done
                restart_postgres "$mode" || die 70 "Postgres did not come back"
                end restart "$pid"
                # It had ended before the server went.
                ((code == 0 && tries++ < 20)) || break
                empty
            done
            ((code == 75)) || wrong+="exit code $code. "
            (($(wc -l <"$work/error-restart") == 1)) || wrong+="not one line. "
            printf '  %s, %s: after %s s it said: %s\n' "$mode" "$kind" "$(seconds "$at")" "$(<"$work/error-restart")"
            begin restart "${options[@]}"
            end restart "$started"
            ((code == 0)) || wrong+="the next run: exit code $code: $(<"$work/error-restart") "
            ((already > 0)) || wrong+="the next run found nothing queued, so it was not in the middle. "
            wrong+=$(whole restart "$fault_rows")
            verdict "$([[ -z $wrong ]] && echo 1 || echo 0)" \
                "$mode, $kind: exit code 75, completed by the next run ($(thousands "$already") were there)  $wrong"
        done
    done
    empty
}

make_work_directory ""
start_postgres "$work/postgres"
cat_template >"$work/template.json"
sql 'CREATE DATABASE figures'
export PGDATABASE=figures
"$TODOKE_BIN/todoke" migrate --sql-dir "$root/sql" >"$work/log/migrate" 2>&1 ||
    die 70 "the migration failed: $(<"$work/log/migrate")"
sql "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project')"
for part in "${parts[@]}"; do "part_$part"; done
printf 'producer figures: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0)) || exit 1
