# shellcheck shell=bash
# What the scripts that measure have in common: the libraries, the end, bounds, and small sums. Source it first; call
# begin_measuring when the options are read.
#
# With $smoke (yes or no) bounds are only told: then everything is small, and nothing is a measurement.

: "${here:?must be the directory of this file}"
# shellcheck disable=SC2034 # for those who source it
root=${here%/*/*}
source "$here/say.sh"
source "$here/processes.sh"
source "$here/packages.sh"
source "$here/postgres.sh"
source "$here/emulator.sh"
source "$here/verdict.sh"

smoke=no work='' emulator=''

# The comment at the head of the script.
usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 64
}

begin_measuring() {
    : "${TODOKE_BIN:?must be the directory of the built programs}"
    TODOKE_BIN=$(cd -- "$TODOKE_BIN" && pwd)
    on_exit clean_up
}

clean_up() {
    local code=$?
    trap '' HUP INT TERM
    stop_sessions
    [[ -z $emulator ]] || kill "$emulator" 2>/dev/null || true
    stop_postgres
    remove_work_directory
    exit "$code"
}

# at_least "what" VALUE BOUND, and at_most.
at_least() { bounded "$1" "$2" "at least $3" "$(awk -v a="$2" -v b="$3" 'BEGIN { print (a >= b) }')"; }
at_most() { bounded "$1" "$2" "at most $3" "$(awk -v a="$2" -v b="$3" 'BEGIN { print (a <= b) }')"; }
bounded() {
    if [[ $smoke == yes ]]; then
        verdict 1 "$1: $2 ($3, had this been a measurement)"
    else
        verdict "$4" "$1: $2 ($3)"
    fi
}

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
microseconds() { echo "${EPOCHREALTIME/[.,]/}"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / (b == 0 ? 1 : b) }'; }
sql() { psql -XAtq -v ON_ERROR_STOP=1 -c "$1"; }
