# shellcheck shell=bash
# A throwaway Postgres: its own directory, its own port, its own processes. No cluster of the machine is ever touched.

# Postgres refuses to run as root, so root steps down to the packages' user (or to nobody).
postgres_user() {
    if ((EUID != 0)); then
        return
    elif getent passwd postgres >/dev/null; then
        echo postgres
    else
        echo nobody
    fi
}

as_postgres() {
    local user
    user=$(postgres_user)
    # The directory that the script was called from may be closed to that user.
    if [[ -n $user ]]; then
        (exec 3>&- && cd / && runuser -u "$user" -- env -u PGHOST -u PGPORT LC_ALL=C "$@")
    else
        (exec 3>&- && cd / && LC_ALL=C "$@")
    fi
}

# A port that nobody listens on now; whoever takes it between here and the start makes the start fail, and it is tried again.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        # A connection that is refused is what is wanted.
        (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# start_postgres DIRECTORY [fast]: makes a cluster in DIRECTORY and starts it. Sets and exports PGHOST (the directory of the
# socket), PGPORT, PGUSER and PGPASSWORD. "fast" gives up durability against power cuts, which tests do not need.
start_postgres() {
    local directory=$1 durability=${2:-durable} user
    postgres_bin=$(postgres_programs)
    [[ -n $postgres_bin ]] || die 69 "there is no PostgreSQL 15 or later; install Debian's package postgresql"
    postgres_directory=$directory
    mkdir -p "$directory"
    user=$(postgres_user)
    [[ -z $user ]] || chown "$user" "$directory"
    # Nobody but that user (and root) reaches the socket, so it needs no password.
    chmod 700 "$directory"

    # Not "todoke": a role's own schema comes first in its search_path, and todoke.devices is not the application's.
    PGUSER=demo
    PGPASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    local password_file=$directory/password
    (umask 077 && printf '%s\n' "$PGPASSWORD" >"$password_file")
    [[ -z $user ]] || chown "$user" "$password_file"
    as_postgres "$postgres_bin/initdb" --pgdata="$directory/data" --username="$PGUSER" --pwfile="$password_file" \
        --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256 --no-instructions \
        >"$directory/initdb.log" 2>&1 || {
        sed 's/^/    /' "$directory/initdb.log"
        die 69 "initdb failed (see above)"
    }
    rm -f "$password_file"

    # A quarter of the memory up to 1 GB for the cache; the queue's tables of a demonstration fit.
    local memory_mb shared_mb
    memory_mb=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
    shared_mb=$((memory_mb / 4 < 1024 ? memory_mb / 4 : 1024))
    ((shared_mb >= 32)) || shared_mb=32
    {
        echo "listen_addresses = '127.0.0.1'"
        echo "unix_socket_directories = '$directory'"
        echo "shared_buffers = ${shared_mb}MB"
        echo "max_wal_size = 2GB"
        echo "max_connections = 200"
        echo "log_min_messages = warning"
        if [[ $durability == fast ]]; then
            echo "fsync = off"
            echo "full_page_writes = off"
        fi
    } | as_postgres tee -a "$directory/data/postgresql.conf" >/dev/null

    local tries
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        PGPORT=$(free_port)
        if as_postgres "$postgres_bin/pg_ctl" --pgdata="$directory/data" --log="$directory/postgres.log" --silent \
            --wait --timeout=60 --options="-p $PGPORT" start >>"$directory/pg_ctl.log" 2>&1; then
            PGHOST=$directory PGDATABASE=postgres
            export PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE
            return
        fi
        grep -q 'Address already in use' "$directory/postgres.log" 2>/dev/null || break
        note "port $PGPORT was taken, trying another one (attempt $tries of 10)"
        : >"$directory/postgres.log"
    done
    tail -n 10 "$directory/postgres.log" 2>/dev/null | sed 's/^/    /'
    die 69 "the throwaway Postgres did not start (see above)"
}

stop_postgres() {
    [[ -n ${postgres_directory:-} && -e $postgres_directory/data/postmaster.pid ]] || return 0
    as_postgres "$postgres_bin/pg_ctl" --pgdata="$postgres_directory/data" --silent --mode=fast --wait --timeout=30 stop \
        >/dev/null 2>&1 ||
        as_postgres "$postgres_bin/pg_ctl" --pgdata="$postgres_directory/data" --silent --mode=immediate --wait stop \
            >/dev/null 2>&1 || true
}

# make_work_directory [DIRECTORY]: sets $work, a new directory that Postgres's user may pass through; in /tmp when $TMPDIR is
# too long for the path of a socket (107 bytes).
make_work_directory() {
    if [[ -n ${1:-} ]]; then
        [[ ! -e $1 ]] || die 73 "$1 is there already; stop what runs in it ($1/stop), or name another --directory"
        mkdir -p -- "$1" || die 73 "the directory $1 cannot be made; name another --directory"
        work=$(cd -- "$1" && pwd)
        ((${#work} <= 70)) || die 73 "$work is too long a path for a socket; name a shorter --directory"
    else
        local parent=${TMPDIR:-/tmp}
        ((${#parent} <= 60)) || parent=/tmp
        work=$(mktemp -d "$parent/todoke.XXXXXX")
    fi
    mkdir -p "$work/log" "$work/tmp"
    chmod 711 "$work" "$work/tmp"
    # Swift's build leaves temporary directories behind; here they go with the rest.
    export TMPDIR=$work/tmp
}

remove_work_directory() {
    [[ -z ${work:-} || ! -d $work ]] || rm -rf -- "$work"
    work=''
}
