#!/usr/bin/env bash
# The sender's figures by todoke-bench: with --smoke that the tool works and its JSON has every field; without it what the
# sender has to reach on two cores that have nothing else to do, with Postgres and the sink on them too.
#
#   TODOKE_BIN=.build/release deploy/lib/figures.sh [--smoke] [--rounds N]
#
# Needs the PG* variables of a server where the user may create databases, todoke-bench's programs, nghttpd and python3.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

smoke=no rounds=5
while (($#)); do
    case $1 in
        --smoke) smoke=yes ;;
        --rounds)
            rounds=${2:-}
            [[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo 'figures.sh: --rounds needs a number' >&2 && exit 64; }
            shift
            ;;
        *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 64 ;;
    esac
    shift
done
: "${TODOKE_BIN:?must be the directory of the built programs}"

passed=0
failed=0
# verdict "what" EXPRESSION: an expression of python over the report r.
verdict() {
    local value
    if value=$(python3 -c 'import json, sys; r = json.loads(sys.argv[1]); b = json.loads(sys.argv[2]); v = eval(sys.argv[3]); print(v); sys.exit(not v)' \
        "$report" "${before:-null}" "$2" 2>&1); then
        passed=$((passed + 1))
        printf '  ok      %s\n' "$1"
    else
        failed=$((failed + 1))
        printf '  FAILED  %s: %s\n' "$1" "${value##*$'\n'}"
    fi
}

# bench "title" OPTION…: sets $report.
bench() {
    local title=$1 code=0
    shift
    printf '%s: todoke-bench %s\n' "$title" "$*"
    report=$("$TODOKE_BIN/todoke-bench" --json --bin "$TODOKE_BIN" --sql-dir sql "$@") || code=$?
    printf '  %s\n' "$report"
    ((code == 0)) || {
        failed=$((failed + 1))
        report='{}'
        printf '  FAILED  exit code %s\n' "$code"
    }
}


end() {
    printf 'figures: %d passed, %d failed\n' "$passed" "$failed"
    ((failed == 0)) || exit 1
    exit 0
}

if [[ $smoke == yes ]]; then
    bench 'Two senders, nghttpd' --rounds 1 --backlog 2000 --senders 2 --days 4
    verdict 'every part has its figures' 'min(r["bare"]["cpu_us"], r["bare"]["messages_per_second"], r["sender"]["messages_per_second"], r["sender"]["cpu_us"], r["sender"]["peak_kib"], r["sender"]["statements_per_message"], r["queue"]["claim_ms"]["p99"], r["ratios"]["throughput_to_bare"], r["ratios"]["cpu_to_bare"]) > 0'
    verdict 'all messages were sent' 'r["sender"]["messages"] == 2000 and r["sender"]["left_pending"] == 0'
    bench 'Emulator, late answers, idle' --rounds 1 --backlog 1000 --days 4 --sink emulator --latency 5 \
        --part sender --part idle --idle-messages 5 --idle-seconds 1
    verdict 'late answers and the idle part have their figures' 'r["sender"]["messages"] == 1000 and r["idle"]["messages"] == 5 and r["idle"]["enqueue_to_post_ms"]["p99"] > 0'
    end
fi

bench 'End to end, one sender' --rounds "$rounds" --part bare --part sender
verdict '25,000 messages/s' 'r["sender"]["messages_per_second"] >= 25000'
verdict '0.45 of the bare loop' 'r["ratios"]["throughput_to_bare"] >= 0.45'
verdict '1.35 of its CPU a message' 'r["ratios"]["cpu_to_bare"] <= 1.35'
verdict 'a statement for 100 messages' 'r["sender"]["statements_per_message"] <= 0.01'
bench 'End to end, two senders' --rounds "$rounds" --part sender --senders 2
verdict '35,000 messages/s' 'r["sender"]["messages_per_second"] >= 35000'
bench 'Emulator, at once' --rounds "$rounds" --part sender --sink emulator --connections 5
before=$report
bench 'Emulator, after 40 ms' --rounds "$rounds" --part sender --sink emulator --connections 5 --latency 40
verdict '10,000 messages/s' 'r["sender"]["messages_per_second"] >= 10000'
verdict 'half of that without latency' 'r["sender"]["messages_per_second"] >= 0.5 * b["sender"]["messages_per_second"]'
bench 'Claims, 50,000 pending' --rounds 5 --part queue --backlog 50000 --claims 60
before=$report
bench 'Claims, 5,000,000 pending' --rounds 5 --part queue --backlog 5000000 --claims 60
verdict 'p99 at most twice as long' 'r["queue"]["claim_ms"]["p99"] <= 2 * b["queue"]["claim_ms"]["p99"]'
bench 'Memory, 5,000,000 pending' --rounds 1 --part sender --backlog 5000000 --seconds 60
verdict 'at most 64 MiB' 'r["sender"]["peak_kib"] <= 65536'
verdict 'flat: grown by at most 4 MiB' 'r["sender"]["growth_kib"] <= 4096'
bench 'Idle' --part idle
verdict 'enqueued to posted, p50 at most 5 ms' 'r["idle"]["enqueue_to_post_ms"]["p50"] <= 5'
verdict 'p99 at most 25 ms' 'r["idle"]["enqueue_to_post_ms"]["p99"] <= 25'
verdict 'at most 0.5 % of a core' 'r["idle"]["cpu_percent"] <= 0.5'
end
