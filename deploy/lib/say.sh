# shellcheck shell=bash
# shellcheck disable=SC2154 # $work is made by make_work_directory
# What a person sees: steps, results, one clear line when something is off. Plain text when not on a terminal.

if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' dim='' red='' green='' plain=''
fi

# Microseconds would be no use to anybody: seconds with one decimal since $1, a value of $EPOCHREALTIME.
seconds_since() {
    local now=${EPOCHREALTIME/[.,]/} then=${1/[.,]/} tenths
    tenths=$(((now - then) / 100000))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
note() { printf '  %s%s%s\n' "$dim" "$*" "$plain"; }
good() { printf '  %s✓%s %s\n' "$green" "$plain" "$*"; }
bad() { printf '  %s✗ %s%s\n' "$red" "$*" "$plain"; }

# The terminal (or whatever stderr is), also while a step's output goes to its log.
exec 3>&2
step_log=''

# die CODE "what happened; what to do"
die() {
    local code=$1
    shift
    show_log
    printf '%s%s: %s%s\n' "$red" "${0##*/}" "$*" "$plain" >&3
    exit "$code"
}

show_log() {
    [[ -z $step_log || ! -s $step_log ]] || tail -n "${log_lines:-40}" "$step_log" | sed 's/^/    /' >&3
    step_log=''
}

# step "Building" COMMAND…: runs it with its output in a log, says how long it took, shows the log's end when it fails.
step() {
    local title=$1 began=$EPOCHREALTIME code=0
    shift
    step_log=$work/log/$(tr -c 'a-zA-Z0-9\n' - <<<"$title").log
    # The line is finished in place on a terminal; a file gets only the finished one.
    [[ -z $bold ]] || printf '  %s… %s%s\r' "$dim" "$title" "$plain"
    "$@" >"$step_log" 2>&1 || code=$?
    if ((code == 0)); then
        good "$title $dim($(seconds_since "$began") s)$plain"
        step_log=''
    else
        bad "$title (exit code $code after $(seconds_since "$began") s):"
        show_log
    fi
    return "$code"
}
