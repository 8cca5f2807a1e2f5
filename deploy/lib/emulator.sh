# shellcheck shell=bash
# A running fcm-emulator for a script, and the access token that its service account gets.

# start_emulator DIRECTORY OPTION…: waits until it serves. Sets $emulator (its process), $endpoint and $send, the URL for messages.
start_emulator() {
    local directory=$1 tries=0
    shift
    "$TODOKE_BIN/fcm-emulator" --directory "$directory" --listen 127.0.0.1:0 "$@" >"$directory/log" 2>&1 &
    emulator=$!
    emulator_directory=$directory
    until [[ -e $directory/endpoint ]]; do
        if ((tries++ > 300)) || ! kill -0 "$emulator" 2>/dev/null; then
            cat "$directory/log"
            echo "fcm-emulator did not start"
            return 1
        fi
        sleep 0.1
    done
    endpoint=$(<"$directory/endpoint")
    # shellcheck disable=SC2034 # the scripts use it
    send=$endpoint/v1/projects/demo-project/messages:send
}

# account NAME: a field of service-account.json.
account() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" "$emulator_directory/service-account.json"; }

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# assertion SECONDS: the signed assertion that Google's token endpoint wants, good for so long.
assertion() {
    local now header claims signature key=$emulator_directory/key.pem
    now=$(date +%s)
    header=$(printf '{"alg":"RS256","typ":"JWT","kid":"%s"}' "$(account private_key_id)" | base64url)
    claims=$(printf '{"iss":"%s","aud":"%s","scope":"%s","iat":%d,"exp":%d}' "$(account client_email)" \
        "$(account token_uri)" https://www.googleapis.com/auth/firebase.messaging "$now" $((now + $1)) | base64url)
    (umask 077 && printf '%b' "$(account private_key)" >"$key")
    signature=$(printf '%s.%s' "$header" "$claims" | openssl dgst -sha256 -sign "$key" | base64url)
    printf '%s.%s.%s' "$header" "$claims" "$signature"
}

# token_form SECONDS: sets $form, curl's arguments that ask for an access token.
token_form() {
    # shellcheck disable=SC2034 # the scripts use it
    form=(--data "assertion=$(assertion "$1")"
        --data-urlencode grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer)
}

# access_token FILE: what the token endpoint's answer in FILE holds.
access_token() { sed -n 's/.*"access_token": *"\([^"]*\)".*/\1/p' "$1"; }
