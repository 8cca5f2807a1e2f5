# shellcheck shell=bash
# Every process that a script starts is the leader of a session of its own, so that all it starts can be found and ended,
# whatever ends the script. Nothing is ever ended by its name.

sessions=()

# start COMMAND…: in the background, in a session of its own. Its id is in $started.
start() {
    # The shell lets background commands ignore Ctrl-C, and bash can never trap what it was started to ignore.
    setsid env --default-signal=INT,QUIT "$@" </dev/null 3>&- &
    started=$!
    sessions+=("$started")
}

# run COMMAND…: like calling it, but a signal to the script is handled at once and not when the command ends.
run() {
    local code=0
    start "$@"
    local pid=$started
    wait "$pid" || code=$?
    forget "$pid"
    return "$code"
}

# finish PID…: waits for each of them; the result is the last exit code that was not 0.
finish() {
    local pid code=0
    for pid in "$@"; do
        wait "$pid" || code=$?
        forget "$pid"
    done
    return "$code"
}

forget() {
    local pid kept=()
    for pid in "${sessions[@]}"; do
        [[ $pid == "$1" ]] || kept+=("$pid")
    done
    sessions=("${kept[@]}")
}

# The processes of session $1 that have not ended.
session_members() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        # pid (name) state parent group session: the name may hold anything, so cut at the last parenthesis.
        { read -r line <"$stat"; } 2>/dev/null || continue
        local rest=${line##*) }
        # shellcheck disable=SC2086 # splitting is the point
        set -- "$1" $rest
        [[ $5 == "$1" && $2 != Z ]] && printf '%s\n' "${line%% *}"
    done
    return 0
}

# stop_session PID: asks politely, waits up to ten seconds, then insists.
stop_session() {
    local members tries=0
    mapfile -t members < <(session_members "$1")
    ((${#members[@]})) || return 0
    kill -TERM "${members[@]}" 2>/dev/null || true
    while ((tries++ < 100)); do
        mapfile -t members < <(session_members "$1")
        ((${#members[@]})) || break
        sleep 0.1
    done
    mapfile -t members < <(session_members "$1")
    ((${#members[@]} == 0)) || kill -KILL "${members[@]}" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

stop_sessions() {
    local pid
    # The newest first: senders before the emulator.
    for ((i = ${#sessions[@]} - 1; i >= 0; i--)); do
        pid=${sessions[i]}
        stop_session "$pid"
    done
    sessions=()
}

# on_exit FUNCTION: runs once, whatever ends the script; signals become exit codes that say so.
on_exit() {
    # shellcheck disable=SC2064 # the function's name is wanted now
    trap "$1" EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}
