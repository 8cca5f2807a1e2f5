#!/usr/bin/env bash
# The device registry's figures, on a throwaway Postgres of its own: registrations in a second next to a plain UPDATE of the
# same row, and devices imported in a second next to psql's COPY.
#
#   TODOKE_BIN=.build/release deploy/lib/devices_figures.sh [--smoke] [--part NAME]… [OPTION VALUE]…
#
#   --part     register, import or audience, one or several times; all without it
#   --devices  devices that are known (1000000)
#   --clients  clients of pgbench (8)
#   --seconds  how long each run of pgbench takes (20)
#   --rounds   rounds of register, UPDATE and register in turn; the median counts (3)
#   --smoke    small sizes, and no bounds on time: that everything here works
#
# Needs psql, pgbench and the programs of a Postgres server, 15 or later. Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/measuring.sh"

parts=()
devices=1000000 clients=8 seconds=20 rounds=3
while (($#)); do
    case $1 in
        --smoke)
            smoke=yes devices=20000 seconds=2 rounds=1
            shift
            continue
            ;;
        --part)
            [[ ${2:-} =~ ^(register|import|audience)$ ]] || usage
            parts+=("$2")
            ;;
        --devices | --clients | --seconds | --rounds)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
            printf -v "${1#--}" %s "$2"
            ;;
        *) usage ;;
    esac
    shift 2
done
((${#parts[@]})) || parts=(register import audience)
begin_measuring

# A device of the usual size, as columns of $1, which counts from 1: tokens of 150 characters, two devices a user, who are in no order.
device_columns() {
    cat <<END
'fcm-' || $1 || '-' || repeat(md5(($1)::text), 4) AS token, 'user-' || ($1)::bigint * 7919 % ($devices / 2) AS user_id,
(ARRAY['ios', 'android'])[1 + ($1) % 2] AS platform, 'ja-JP' AS locale, 'Asia/Tokyo' AS time_zone,
ARRAY['news', 'desserts'] AS channels, '4.2.' || ($1) % 10 AS app_version, 'installation-' || $1 AS installation_id,
true AS allows_notifications
END
}

fill() {
    sql "TRUNCATE todoke.devices RESTART IDENTITY"
    sql "INSERT INTO todoke.devices (app, token, user_id, platform, locale, time_zone, channels, app_version, installation_id,
            allows_notifications, registered_at, last_seen_at)
        SELECT 1, $(device_columns n), now() - n % 200 * interval '1 day', now() - n % 200 * interval '1 day'
        FROM generate_series(1, $devices) AS n"
    sql 'VACUUM ANALYZE todoke.devices'
    sql 'CHECKPOINT'
}

# bench NAME: runs pgbench on $work/NAME.sql; sets $rate, transactions in a second, and $failures.
bench() {
    pgbench -n -M prepared -c "$clients" -j 2 -T "$seconds" -f "$work/$1.sql" >"$work/log/$1" 2>&1 || {
        sed 's/^/    /' "$work/log/$1"
        die 70 "pgbench failed"
    }
    rate=$(sed -n 's/^tps = \([0-9]*\).*/\1/p' "$work/log/$1")
    failures=$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$work/log/$1")
}

# Of a hundred calls: 95 of a known device that comes back, two new devices, one token that moves to another installation,
# one new token of a known installation, one device with another user.
cat_register() {
    cat <<END
\\set n random(1, $devices)
\\set kind random(1, 100)
\\if :kind <= 95
SELECT todoke.register_device('recipes', 'fcm-' || :n::int || '-' || repeat(md5(:n::int::text), 4), 'user-' || :n::bigint * 7919 % ($devices / 2),
    NULL, 'ja-JP', 'Asia/Tokyo', NULL, 'production', 'installation-' || :n::int, '4.3', true);
\\elif :kind <= 97
SELECT todoke.register_device('recipes', md5(random()::text) || repeat(md5(random()::text), 4), 'user-' || :n::int,
    'ios', 'ja-JP', 'Asia/Tokyo', '{news}', 'production', md5(random()::text), '4.3', true);
\\elif :kind = 98
SELECT todoke.register_device('recipes', 'fcm-' || :n::int || '-' || repeat(md5(:n::int::text), 4), 'user-' || :n::bigint * 7919 % ($devices / 2),
    installation_id => 'installation-' || (:n::int * 7 % $devices + 1));
\\elif :kind = 99
SELECT todoke.register_device('recipes', md5(random()::text) || repeat(md5(random()::text), 4),
    installation_id => 'installation-' || :n::int);
\\else
SELECT todoke.register_device('recipes', 'fcm-' || :n::int || '-' || repeat(md5(:n::int::text), 4), 'user-' || :n::int / 3);
\\endif
END
}

cat_known() {
    cat <<END
\\set n random(1, $devices)
SELECT todoke.register_device('recipes', 'fcm-' || :n::int || '-' || repeat(md5(:n::int::text), 4), 'user-' || :n::bigint * 7919 % ($devices / 2),
    NULL, 'ja-JP', 'Asia/Tokyo', NULL, 'production', 'installation-' || :n::int, '4.3', true);
END
}

cat_update() {
    cat <<END
\\set n random(1, $devices)
UPDATE todoke.devices SET app_version = '4.3', registered_at = clock_timestamp(), last_seen_at = clock_timestamp()
WHERE app = 1 AND token = 'fcm-' || :n::int || '-' || repeat(md5(:n::int::text), 4);
END
}

part_register() {
    local round mixed=() known=() update=() deadlocks faults hot
    printf 'Register: %d clients on %s devices, %d s a run, %d rounds\n' \
        "$clients" "$(thousands "$devices")" "$seconds" "$rounds"
    fill
    cat_register >"$work/register.sql"
    cat_known >"$work/known.sql"
    cat_update >"$work/update.sql"
    # Reads the table into memory, and makes room on the pages.
    bench update
    for ((round = 1; round <= rounds; round++)); do
        bench update
        update+=("$rate")
        bench known
        known+=("$rate")
        bench register
        mixed+=("$rate")
        ((failures == 0)) || die 70 "$failures calls failed"
        printf '  round %d: UPDATE %s/s, a known device %s/s, mixed %s/s\n' "$round" "$(thousands "${update[-1]}")" \
            "$(thousands "${known[-1]}")" "$(thousands "${mixed[-1]}")"
    done
    at_least 'registrations in a second, mixed' "$(median "${mixed[@]}")" 5000
    at_least 'a known device, to the plain UPDATE of its row' "$(ratio "$(median "${known[@]}")" "$(median "${update[@]}")")" 0.35
    deadlocks=$(sql "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    verdict $((deadlocks == 0)) "deadlocks: $deadlocks"
    faults=$(sql "SELECT count(*) - count(DISTINCT token) + count(installation_id) FILTER (WHERE invalidated_at IS NULL)
        - count(DISTINCT installation_id) FILTER (WHERE invalidated_at IS NULL) FROM todoke.devices")
    verdict $((faults == 0)) "tokens or installations that are there twice: $faults"
    # Statistics come in with the end of the sessions.
    hot=$(sql "SELECT round(100.0 * n_tup_hot_upd / n_tup_upd) FROM pg_stat_user_tables WHERE relname = 'devices'")
    printf '  %s %% of the updates touched no index\n' "$hot"
}

part_import() {
    local began copied imported again kib
    printf 'Import: %s devices\n' "$(thousands "$devices")"
    sql "COPY (SELECT $(device_columns n | sed "s/^ARRAY\[.*\] AS channels/'news;desserts' AS channels/"),
            now() - n % 200 * interval '1 day' AS last_seen_at
        FROM generate_series(1, $devices) AS n) TO STDOUT (FORMAT csv, HEADER)" >"$work/devices.csv"
    sql 'TRUNCATE todoke.devices RESTART IDENTITY'
    sql 'CHECKPOINT'
    # The same into the same table: its indexes are what a row costs.
    sed -E '1!s/news;desserts/"{news,desserts}"/' "$work/devices.csv" >"$work/copy.csv"
    sql 'ALTER TABLE todoke.devices ALTER app SET DEFAULT 1'
    began=$(microseconds)
    sql "\\copy todoke.devices (token, user_id, platform, locale, time_zone, channels, app_version, installation_id, allows_notifications, last_seen_at) FROM '$work/copy.csv' (FORMAT csv, HEADER)"
    copied=$((devices * 1000000 / ($(microseconds) - began)))
    sql 'ALTER TABLE todoke.devices ALTER app DROP DEFAULT'
    sql 'TRUNCATE todoke.devices RESTART IDENTITY'
    sql 'CHECKPOINT'
    began=$(microseconds)
    peak "$TODOKE_BIN/todoke" devices import --app recipes "$work/devices.csv"
    imported=$((devices * 1000000 / ($(microseconds) - began)))
    verdict "$(($(sql 'SELECT count(*) FROM todoke.devices') == devices))" "all are there: $(<"$work/log/import")"
    kib=$peak_kib
    began=$(microseconds)
    peak "$TODOKE_BIN/todoke" devices import --app recipes "$work/devices.csv"
    again=$((devices * 1000000 / ($(microseconds) - began)))
    printf '  COPY %s/s, imported %s/s, the same file again %s/s\n' "$(thousands "$copied")" "$(thousands "$imported")" \
        "$(thousands "$again")"
    at_least "to COPY" "$(ratio "$imported" "$copied")" 0.25
    at_most "peak memory, KiB" "$kib" 65536
    began=$(microseconds)
    peak "$TODOKE_BIN/todoke" devices export --app recipes
    verdict "$(($(wc -l <"$work/log/import") == devices + 1))" \
        "exported $(thousands $((devices * 1000000 / ($(microseconds) - began))))/s"
    at_most "peak memory of the export, KiB" "$peak_kib" 65536
}

# peak COMMAND…: runs it with its output in a file; sets $peak_kib, the most memory that it had.
peak() {
    local pid now
    peak_kib=0
    "$@" >"$work/log/import" &
    pid=$!
    while now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null) && [[ -n $now ]]; do
        ((now <= peak_kib)) || peak_kib=$now
        sleep 0.05
    done
    wait "$pid" || die 70 "$2 $3 failed: $(tail -c 500 "$work/log/import")"
}

part_audience() {
    local began first
    printf 'Audience: one message for each user of %s devices, which are in no order\n' "$(thousands "$devices")"
    fill
    began=$(microseconds)
    "$TODOKE_BIN/todoke-producer" --app recipes --notification-id first --all --dedupe-by user_id --preview 1 \
        --title Hello >"$work/log/preview"
    first=$((($(microseconds) - began) / 1000))
    at_most 'to the first message, ms' "$first" 300
}

make_work_directory ""
start_postgres "$work/postgres"
sql 'CREATE DATABASE figures'
export PGDATABASE=figures PATH=$postgres_bin:$PATH
"$TODOKE_BIN/todoke" migrate --sql-dir "$root/sql" >"$work/log/migrate" 2>&1 ||
    die 70 "the migration failed: $(<"$work/log/migrate")"
sql "INSERT INTO todoke.apps (name, project_id) VALUES ('recipes', 'demo-project')"
for part in "${parts[@]}"; do "part_$part"; done
printf 'devices figures: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0)) || exit 1
