# shellcheck shell=bash
# Debian packages: what is missing is installed, what is there is left alone.

# shellcheck disable=SC2034 # the scripts use both lists
# To build and to run: the C libraries' headers, pkg-config, and Postgres's programs.
quickstart_packages=(
    libpq-dev libcurl4-openssl-dev libssl-dev libnghttp2-dev libmicrohttpd-dev
    pkg-config=pkg-config psql=postgresql-client
)
# shellcheck disable=SC2034
# Besides for the tests: third-party clients and servers, and the checker of these scripts. Where no python3 can make
# environments, deploy/test adds python3-venv.
test_packages=(
    h2load=nghttp2-client nghttpd=nghttp2-server curl=curl openssl=openssl shellcheck=shellcheck pgbouncer=pgbouncer
)

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die 77 "packages are missing and this user is neither root nor has sudo; run as root: apt-get install ${missing[*]}"
    fi
}

# The directory with initdb and pg_ctl of the newest Postgres that is 15 or later; empty when there is none.
postgres_programs() {
    local directory version newest=0
    if command -v pg_config >/dev/null && [[ -x $(pg_config --bindir)/initdb ]]; then
        version=$(pg_config --version | tr -dc '0-9.')
        ((${version%%.*} < 15)) || { pg_config --bindir && return; }
    fi
    for directory in /usr/lib/postgresql/*/bin; do
        version=${directory%/bin} version=${version##*/}
        [[ -x $directory/initdb && $version =~ ^[0-9]+$ ]] || continue
        ((version < 15 || version <= newest)) || newest=$version
    done
    ((newest == 0)) || printf '/usr/lib/postgresql/%s/bin\n' "$newest"
}

is_installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_missing PACKAGE… or PROGRAM=PACKAGE…: a package counts as there when its program is.
install_missing() {
    command -v dpkg-query >/dev/null ||
        die 69 "this script installs what it needs on Debian and Ubuntu only; elsewhere install: $(printf '%s ' "${@#*=}")and PostgreSQL 15 or later"
    local wanted
    missing=()
    for wanted in "$@"; do
        case $wanted in
            *=*) command -v "${wanted%%=*}" >/dev/null || missing+=("${wanted#*=}") ;;
            *) is_installed "$wanted" || missing+=("$wanted") ;;
        esac
    done
    local server=no
    if [[ -z $(postgres_programs) ]]; then
        missing+=(postgresql)
        server=yes
    fi
    if ((${#missing[@]} == 0)); then
        note "all Debian packages are there"
        return
    fi
    note "installing ${missing[*]}"
    [[ $server == no ]] || guard_clusters
    local code=0
    install_packages "${missing[@]}" || code=$?
    [[ $server == no ]] || unguard_clusters
    ((code == 0)) ||
        die 69 "apt-get could not install ${missing[*]} (exit code $code, see above); repair apt, or install them by hand and run this again"
}

install_packages() {
    local log
    log=$(mktemp)
    if as_root apt-get -q update >"$log" 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" </dev/null >>"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 20 "$log" | sed 's/^/    /'
    rm -f "$log"
    return 1
}

# Debian's postgresql makes a cluster and starts it (with systemd: every cluster there is) when it is installed.
# Todoke wants only the programs, so both are held back while apt runs.
guard_create=/etc/postgresql-common/createcluster.d/todoke.conf
guard_start=/usr/sbin/policy-rc.d
guarded=()

guard_clusters() {
    as_root mkdir -p "${guard_create%/*}"
    echo 'create_main_cluster = false' | as_root tee "$guard_create" >/dev/null
    guarded+=("$guard_create")
    if [[ ! -e $guard_start ]]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$guard_start" >/dev/null
        as_root chmod 755 "$guard_start"
        guarded+=("$guard_start")
    fi
}

unguard_clusters() {
    ((${#guarded[@]} == 0)) || as_root rm -f "${guarded[@]}"
    as_root rmdir --ignore-fail-on-non-empty "${guard_create%/*}" 2>/dev/null || true
    guarded=()
}

# The toolchain is the one thing that is not installed here.
need_swift() {
    command -v swift >/dev/null ||
        die 69 "there is no swift on the PATH; install the Swift 6.2 toolchain or a later one from https://www.swift.org/install and run this again"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
    local major=${version%%.*} minor=${version#*.}
    ((${major:-0} > 6 || ${major:-0} == 6 && ${minor:-0} >= 2)) ||
        die 69 "swift is version ${version:-unknown} and Todoke needs 6.2 or later; install it from https://www.swift.org/install"
}

# need_libraries: pkg-config must find each of them; SwiftPM would only warn.
need_libraries() {
    local library
    for library in libpq libcurl libcrypto libssl libnghttp2 libmicrohttpd; do
        pkg-config --exists "$library" ||
            die 69 "pkg-config does not find $library; set PKG_CONFIG_PATH to the directory of $library.pc or reinstall its -dev package"
    done
}
