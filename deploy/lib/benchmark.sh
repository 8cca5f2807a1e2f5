#!/usr/bin/env bash
# What fcm-emulator holds out: messages in a second and the processor time of each, next to nghttpd answering as many bytes
# on the same machine in the same minutes; and its memory over millions of messages. Checks on, accepted.ndjson off, one
# process each.
#
#   TODOKE_BIN=.build/release deploy/lib/benchmark.sh [--messages N] [--rounds N] [--memory N] [--devices N]
#       [--least-ratio R] [--growth MB]
#
#   --messages     messages a round (500000)
#   --rounds       rounds of each, in turn; the medians count (3)
#   --memory       messages for the memory's test; sampled after a tenth, half and all of them (10000000); 0 leaves it out
#   --devices      as many messages again, each to a device of its own (3000000); 0 leaves it out
#   --least-ratio  fails below this many of nghttpd's (0.4): the machine does not matter, the emulator does
#   --growth       fails when the resident memory grew by more, in MB (4): from the first sample to the last over one device,
#                  from the second one over many, because a million targets are remembered
#
# Nothing else should run meanwhile.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source "$here/emulator.sh"
source "$here/verdict.sh"

messages=500000 rounds=3 memory=10000000 devices=3000000 least_ratio=0.4 growth=4
while (($#)); do
    [[ $# -ge 2 && ($2 =~ ^[0-9]+$ || $1 == --least-ratio && $2 =~ ^[0-9]+\.[0-9]+$) ]] || {
        sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 64
    }
    case $1 in
        --messages) messages=$2 ;;
        --rounds) rounds=$2 ;;
        --memory) memory=$2 ;;
        --devices) devices=$2 ;;
        --least-ratio) least_ratio=$2 ;;
        --growth) growth=$2 ;;
        *) echo "benchmark.sh: unknown option $1" >&2 && exit 64 ;;
    esac
    shift 2
done
: "${TODOKE_BIN:?must be the directory of the built programs}"
for program in h2load nghttpd curl openssl python3; do
    command -v "$program" >/dev/null || {
        echo "benchmark.sh: there is no $program; install Debian's nghttp2-client, nghttp2-server, curl, openssl and python3" >&2
        exit 69
    }
done

work=$(mktemp -d)
emulator='' nghttpd=''
clean_up() {
    local pid
    for pid in $emulator $nghttpd; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf -- "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir "$work/emulator" "$work/nghttpd"
start_emulator "$work/emulator" --quiet --no-accepted-log
token_form 3600
curl --silent --show-error --cacert "$work/emulator/ca.pem" "$(account token_uri)" "${form[@]}" >"$work/token"
access=$(access_token "$work/token")
cat >"$work/message" <<'END'
{"message":{"token":"cRxP-2m8T0a3kVbT9c4wZq:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx","notification":{"title":"Portugal vs. Denmark","body":"great match!"},"data":{"Nick":"Mario","Room":"PortugalVSDenmark"},"android":{"priority":"high","ttl":"86400s"}}}
END

# The same bytes from nghttpd: a file at the same path, as long as the emulator's answer.
path=/v1/projects/demo-project/messages:send
curl --silent --show-error --cacert "$work/emulator/ca.pem" --header "authorization: Bearer $access" \
    --header 'content-type: application/json' --data "@$work/message" "$send" >"$work/answer"
mkdir -p "$work/nghttpd${path%/*}"
cp "$work/answer" "$work/nghttpd$path"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
start_nghttpd() {
    local tries=0
    while ((tries++ < 200)); do
        # One that ended found its port taken, or never was.
        if [[ -z $nghttpd ]] || ! kill -0 "$nghttpd" 2>/dev/null; then
            port=$((20000 + RANDOM % 12000))
            nghttpd --address=127.0.0.1 --htdocs="$work/nghttpd" "$port" "$work/key.pem" "$work/cert.pem" \
                >"$work/nghttpd.log" 2>&1 &
            nghttpd=$!
        fi
        sleep 0.1
        [[ $(curl --silent --insecure --data x "https://127.0.0.1:$port$path" | wc -c) -ne $(wc -c <"$work/answer") ]] || return 0
    done
    cat "$work/nghttpd.log"
    return 1
}
start_nghttpd

# The ticks of processor time that a process has had.
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

# load URL N [PID]: sets $rate, messages in a second, and $cost, nanoseconds of PID's processor time for each, which others on the
# machine touch less. Everything must have been answered with 2xx.
load() {
    local before=0
    [[ -z ${3:-} ]] || before=$(ticks "$3")
    h2load -n "$2" -c 4 -m 100 --header="authorization: Bearer $access" --header='content-type: application/json' \
        --data="$work/message" "$1" >"$work/h2load" 2>&1
    rate=$(sed -n 's/^finished in .*, \([0-9]*\)[.0-9]* req\/s,.*/\1/p' "$work/h2load")
    grep -q "^status codes: $2 2xx," "$work/h2load" || {
        tail -n 12 "$work/h2load"
        echo "h2load: not every request to $1 was answered with 2xx"
        exit 1
    }
    [[ -z ${3:-} ]] || cost=$((($(ticks "$3") - before) * (1000000000 / $(getconf CLK_TCK)) / $2))
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

printf 'Throughput: h2load -n %s -c 4 -m 100; request %d bytes, answer %d bytes\n' \
    "$messages" "$(wc -c <"$work/message")" "$(wc -c <"$work/answer")"
# Both warm up.
load "$send" 20000
load "https://127.0.0.1:$port$path" 20000
ours=() theirs=() our_costs=() their_costs=()
# row "what" OURS OUR-COST THEIRS THEIR-COST
row() {
    printf '  %-9s fcm-emulator %9s/s %6s ns   nghttpd %9s/s %6s ns   ratio %s\n' \
        "$1" "$(thousands "$2")" "$(thousands "$3")" "$(thousands "$4")" "$(thousands "$5")" \
        "$(awk -v a="$2" -v b="$4" 'BEGIN { printf "%.2f", a / b }')"
}
for ((round = 1; round <= rounds; round++)); do
    load "$send" "$messages" "$emulator"
    ours+=("$rate") our_costs+=("$cost")
    load "https://127.0.0.1:$port$path" "$messages" "$nghttpd"
    theirs+=("$rate") their_costs+=("$cost")
    row "round $round" "${ours[-1]}" "${our_costs[-1]}" "${theirs[-1]}" "${their_costs[-1]}"
done
our=$(median "${ours[@]}") their=$(median "${theirs[@]}")
row median "$our" "$(median "${our_costs[@]}")" "$their" "$(median "${their_costs[@]}")"
ratio=$(awk -v a="$our" -v b="$their" 'BEGIN { printf "%.2f", a / b }')
verdict "$(awk -v a="$ratio" -v b="$least_ratio" 'BEGIN { print (a >= b) }')" "the ratio is at least $least_ratio"

resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$emulator/status"; }

# one_device FIRST N, and many_devices FIRST N: the messages from FIRST on.
one_device() { load "$send" "$2"; }
many_devices() {
    local since=$EPOCHREALTIME
    python3 "$here/distinct_targets.py" "$send" "$work/emulator/ca.pem" "$access" "$1" "$2"
    rate=$(awk -v n="$2" -v a="$since" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", n / (b - a) }')
}

# memory_over N SENDER "to whom" FIRST: three samples while SENDER sends; from sample FIRST (0 or 1) on it must be flat.
memory_over() {
    local target sent=0 grown samples=()
    printf 'Memory over %s messages %s\n' "$(thousands "$1")" "$3"
    for target in $(($1 / 10)) $(($1 / 2)) "$1"; do
        "$2" "$sent" $((target - sent))
        sent=$target
        samples+=("$(resident)")
        printf '  after %11s   %s kB resident   %s/s\n' "$(thousands "$sent")" "$(thousands "${samples[-1]}")" "$(thousands "$rate")"
    done
    grown=$((samples[-1] - samples[$4]))
    verdict "$((grown <= growth * 1024))" "it grew by $(thousands "$grown") kB to the last sample; $growth MB is allowed"
}

((memory == 0)) || memory_over "$memory" one_device "to one device" 0
((devices == 0)) || memory_over "$devices" many_devices "to a device each" 1

printf 'benchmark: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
