#!/usr/bin/env bash
# curl, nghttp, h2load and openssl from Debian against fcm-emulator: an access token, a message and an error, over both
# versions of HTTP. One line for each check, and last the line that deploy/test counts by.
#
#   TODOKE_BIN=.build/release Tests/Clients/command_line_test.sh

set -euo pipefail
: "${TODOKE_BIN:?must be the directory of the built programs}"
source "$(dirname -- "${BASH_SOURCE[0]}")/../../deploy/lib/emulator.sh"
directory=$(mktemp -d)
emulator=''
trap '[[ -z $emulator ]] || { kill "$emulator" 2>/dev/null; wait "$emulator"; } || true; rm -rf -- "$directory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

passed=0
failed=0
# expect "what" WANTED GOT: WANTED is an extended regular expression for the whole of GOT.
expect() {
    if [[ $3 =~ ^($2)$ ]]; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$1"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s: wanted %s, got %s\n' "$1" "$2" "$3"
    fi
}

start_emulator "$directory"

# ask VERSION URL ARGUMENT…: curl's answer in $directory/answer; prints the version of HTTP and the status.
ask() {
    local version=$1 url=$2
    shift 2
    : >"$directory/answer"
    curl --silent --show-error --max-time 20 --cacert "$directory/ca.pem" "--http$version" --output "$directory/answer" \
        --write-out '%{http_version} %{http_code}' "$url" "$@" 2>&1 || true
}

# token VERSION SECONDS
token() {
    local form
    token_form "$2"
    ask "$1" "$(account token_uri)" "${form[@]}"
}

message() { printf '{"message": {"token": "%s", "notification": {"title": "Hello"}}}' "$1"; }
answered() { tr -d '\n' <"$directory/answer"; }
name='.*"name": "projects/demo-project/messages/[^"]+".*'
message device-1 >"$directory/valid"
message unregistered-1 >"$directory/dead"

sent=0
for version in 1.1 2; do
    expect "curl, HTTP/$version: an access token" "$version 200" "$(token "$version" 3600)"
    access=$(access_token "$directory/answer")
    expect "curl, HTTP/$version: an assertion that is good for too long" "$version 400" "$(token "$version" 7300)"
    expect "curl, HTTP/$version: which error that is" '.*"error": *"invalid_grant".*' "$(answered)"

    json=(--header 'Content-Type: application/json' --header "Authorization: Bearer $access")
    expect "curl, HTTP/$version: a message" "$version 200" "$(ask "$version" "$send" "${json[@]}" --data "@$directory/valid")"
    expect "curl, HTTP/$version: its name" "$name" "$(answered)"
    sent=$((sent + 1))
    expect "curl, HTTP/$version: a dead token" "$version 404" "$(ask "$version" "$send" "${json[@]}" --data "@$directory/dead")"
    expect "curl, HTTP/$version: which error that is" '.*"errorCode": "UNREGISTERED".*' "$(answered)"
    expect "curl, HTTP/$version: no access token" "$version 401" "$(ask "$version" "$send" --data "@$directory/valid")"
    # Bodies of unknown length, and one that waits for 100 Continue.
    expect "curl, HTTP/$version: a body from a pipe" "$version 200" \
        "$(ask "$version" "$send" "${json[@]}" --header 'Transfer-Encoding: chunked' --data @- <"$directory/valid")"
    expect "curl, HTTP/$version: Expect: 100-continue" "$version 200" \
        "$(ask "$version" "$send" "${json[@]}" --header 'Expect: 100-continue' --data "@$directory/valid")"
    sent=$((sent + 2))
done
# Ten messages and their answers on one connection.
for version in 1.1 2; do
    expect "curl, HTTP/$version: ten messages on one connection" '10 1 200' "$(
        curl --silent --max-time 20 --cacert "$directory/ca.pem" "--http$version" "${json[@]}" --data "@$directory/valid" \
            --write-out '\n%{num_connects} %{http_code}\n' "$send"{,,,,,,,,,} |
            awk '/^[0-9]+ [0-9]+$/ { connects += $1; codes[$2]++; n++ }
                END { for (code in codes) list = list " " code; print n + 0, connects + 0 list }'
    )"
    sent=$((sent + 10))
done

by_nghttp() {
    timeout 20 nghttp --data="$directory/$1" --header="authorization: Bearer $access" \
        --header='content-type: application/json' --verbose "$send" 2>&1 |
        sed -n 's/.*recv (stream_id=[0-9]*) :status: \(.*\)/\1/p; /"errorCode"\|"name"/p' | tr -d '\n'
}
expect "nghttp: a message" "200$name" "$(by_nghttp valid)"
expect "nghttp: a dead token" '404.*"errorCode": "UNREGISTERED".*' "$(by_nghttp dead)"
sent=$((sent + 1))

# by_h2load FILE ARGUMENT…: the counts of 2xx, 4xx and what failed in other ways.
by_h2load() {
    local file=$1
    shift
    timeout 60 h2load "$@" --header="authorization: Bearer $access" --header='content-type: application/json' \
        --data="$directory/$file" "$send" 2>&1 | sed -n \
        's/^requests: .*done, \([0-9]* succeeded\), \([0-9]* failed\), \([0-9]* errored\), \([0-9]* timeout\).*/\1 \2 \3 \4/p
         s/^status codes: \([0-9]* 2xx\), .*, \([0-9]* 4xx\), .*/ \1 \2/p' | tr -d '\n'
}
expect "h2load: 2,000 messages on 4 connections of 100 streams" \
    '2000 succeeded 0 failed 0 errored 0 timeout 2000 2xx 0 4xx' "$(by_h2load valid -n 2000 -c 4 -m 100)"
expect "h2load: 200 dead tokens" \
    '0 succeeded 200 failed 0 errored 0 timeout 0 2xx 200 4xx' "$(by_h2load dead -n 200 -c 2 -m 10)"
expect "h2load: 200 messages over HTTP/1.1" \
    '200 succeeded 0 failed 0 errored 0 timeout 200 2xx 0 4xx' "$(by_h2load valid -n 200 -c 4 --h1)"
sent=$((sent + 2200))
expect "every message arrived once" "$sent" "$(wc -l <"$directory/accepted.ndjson")"

kill -TERM "$emulator"
code=0
wait "$emulator" || code=$?
expect "the emulator ends well" 0 "$code"

printf 'command line: %d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
