# shellcheck shell=bash
# shellcheck disable=SC2154 # $root is set by the scripts that read this file
# A Python environment of the tests' own in the build directory, with the packages of Tests/Clients/requirements.txt.
# No Python of the machine is changed.

# The first python3 that is new enough and can make environments; fails when there is none.
find_python() {
    local candidate
    for candidate in "$(command -v python3)" /usr/bin/python3; do
        [[ -x $candidate ]] || continue
        "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
        echo "$candidate"
        return
    done
    return 1
}

# prepare_python: makes the environment unless it is there, which takes half a minute and PyPI. Exports TODOKE_PYTHON (its
# interpreter) and TODOKE_DISCOVERY (the path of Google's fcm.v1.json).
prepare_python() {
    local requirements=$root/Tests/Clients/requirements.txt home=$root/.build/python python key document code=0
    python=$(find_python) || {
        echo "there is no python3 of version 3.10 or later with its module venv; install Debian's package python3-venv"
        return 69
    }
    key=$({ cat "$requirements" && "$python" -c 'import sys; print(sys.version, sys.base_prefix)'; } | sha256sum)
    key=${key:0:16}
    mkdir -p "$home"
    # Another run may be making it just now.
    exec {python_lock}>"$home/lock"
    flock "$python_lock"
    [[ -e $home/$key/complete ]] || make_environment "$home/$key" || code=$?
    exec {python_lock}>&-
    ((code == 0)) || return "$code"
    document=$(echo "$home/$key"/lib/python3*/site-packages/googleapiclient/discovery_cache/documents/fcm.v1.json)
    [[ -s $document ]] || {
        echo "google-api-python-client has no fcm.v1.json where it used to be: $document"
        return 1
    }
    export TODOKE_PYTHON=$home/$key/bin/python TODOKE_DISCOVERY=$document
}

# make_environment DIRECTORY: with the python and the requirements of prepare_python.
make_environment() {
    # Environments of earlier lists, and one that was interrupted.
    find "$home" -mindepth 1 -maxdepth 1 -type d -exec rm -rf -- {} +
    "$python" -m venv "$1" || {
        echo "$python could not make an environment in $1"
        return 1
    }
    PIP_USER=0 run "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --only-binary :all: \
        --retries 3 --timeout 30 --requirement "$requirements" || {
        echo "pip could not install what $requirements lists (see above). It needs https://pypi.org, or a mirror of it:" \
            "set PIP_INDEX_URL or PIP_FIND_LINKS, behind a proxy HTTPS_PROXY, and run this again"
        return 69
    }
    touch "$1/complete"
}
