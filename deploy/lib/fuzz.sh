#!/usr/bin/env bash
# Feeds everything that reads bytes from outside with made-up ones: builds the fuzz targets (Tests/Fuzz) with libFuzzer and the
# address sanitizer, runs each target's corpus, then variations of it.
#
#   deploy/lib/fuzz.sh                    every target, a fixed number of runs from a fixed seed: the same on every machine
#   deploy/lib/fuzz.sh --seconds 60       every target for a minute, from a seed of its own; what it learns stays in .build/fuzz
#   deploy/lib/fuzz.sh --minutes 60       the same for an hour in all, divided evenly among the targets
#   deploy/lib/fuzz.sh --target message   only this one; may be given more than once
#   deploy/lib/fuzz.sh --runs 100000      another number of runs; the default is 10000
#
# One process at a time. A finding keeps its input in .build/fuzz/findings and says how to run it again; exit code 1.

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/deploy/lib}
source "$here/say.sh"

seconds=0
minutes=0
runs=10000
wanted=()
while (($#)); do
    case $1 in
        --seconds | --minutes | --runs | --target)
            [[ -n ${2:-} ]] || die 64 "$1 needs a value; see --help"
            case $1 in
                --target) wanted+=("$2") ;;
                *)
                    [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || die 64 "$1 needs a whole number from 1, not $2"
                    declare "${1#--}=$2"
                    ;;
            esac
            shift
            ;;
        -h | --help)
            sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
            exit 0
            ;;
        *) die 64 "unknown option $1; see --help" ;;
    esac
    shift
done

cd "$root"
scratch=.build/fuzz
findings=$scratch/findings
# Swift's own reports of a trap take the signal away from libFuzzer, which has to keep the input.
export SWIFT_BACKTRACE=enable=no
mkdir -p "$findings"

# Optimised, with all checks of the standard library: what traps here would trap or be unsafe there. GNU's gold, the default
# linker, cannot link libFuzzer. The sanitizer's own flag is SwiftPM's, so that the C modules see it too.
build() {
    TODOKE_FUZZ=1 swift build --scratch-path "$scratch" --configuration release --product todoke-fuzz \
        --sanitize address -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld \
        -Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug
}

since=$EPOCHREALTIME
build >"$scratch/build.log" 2>&1 || {
    tail -n 40 "$scratch/build.log"
    die 1 "the fuzz targets do not build"
}
fuzzer=$root/$scratch/release/todoke-fuzz
good "built in $(seconds_since "$since") s"

mapfile -t targets < <("$fuzzer" --list)
names=("${targets[@]%% *}")
for name in "${wanted[@]}"; do
    [[ " ${names[*]} " == *" $name "* ]] || die 64 "there is no target $name; there are ${names[*]}"
done

# number NAME LOG: a figure of libFuzzer's final statistics.
number() { sed -n "s/^stat::$1: *//p" "$2" | tail -n 1; }

# fuzz NAME LONGEST: one line of the table; 1 when it found something.
fuzz() {
    local name=$1 longest=$2 code=0 log=$scratch/$1.log since=$EPOCHREALTIME learned seed limit
    local corpus=Tests/Fuzz/Corpus/$name dictionary=Tests/Fuzz/Dictionaries/$name.dict
    [[ -d $corpus ]] || die 70 "the target $name has no corpus; make $corpus"
    if ((seconds)); then
        learned=$scratch/corpus/$name seed=$RANDOM limit=-max_total_time=$seconds
    else
        learned=$scratch/new/$name seed=1 limit=-runs=$runs
        rm -rf "$learned"
    fi
    mkdir -p "$learned"
    local arguments=("--target=$name" "-artifact_prefix=$findings/$name-" -timeout=20 -rss_limit_mb=1024
        "-max_len=$longest" -print_funcs=0 -print_final_stats=1)
    [[ ! -e $dictionary ]] || arguments+=("-dict=$dictionary")
    # The corpus first, each file once, also those that libFuzzer would leave out because they add nothing.
    local files=("$corpus"/*)
    "$fuzzer" "${arguments[@]}" "${files[@]}" >"$log" 2>&1 || code=$?
    ((code)) || "$fuzzer" "${arguments[@]}" "-seed=$seed" "$limit" "$learned" "$corpus" >"$log" 2>&1 || code=$?
    local coverage kept executed elapsed=$((${EPOCHREALTIME/[.,]/} - ${since/[.,]/}))
    executed=$(number number_of_executed_units "$log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | sort -n | tail -n 1)
    kept=$(find "$learned" -type f | wc -l)
    printf '  %-18s %11s runs %8s/s %7s edges %6s inputs learned %7s s  %s\n' "$name" \
        "${executed:-0}" $((${executed:-0} * 1000000 / elapsed)) "${coverage:-0}" "$kept" \
        "$(seconds_since "$since")" "$( ((code == 0)) && echo ok || echo FOUND)"
    ((code != 0)) || return 0
    local artifact
    artifact=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    [[ -n $artifact ]] || artifact=$(sed -n 's/^Running: //p' "$log" | tail -n 1)
    # The reason, and where it came from as far as it is ours.
    grep -a -E 'BROKEN|Fatal error|ERROR: |/(Sources|Tests)/.*swift' "$log" | head -n 20 | cut -c 1-400 | sed 's/^ */    /'
    bad "$name: run it again with  $scratch/release/todoke-fuzz --target=$name $artifact"
    return 1
}

if ((minutes)); then
    count=${#wanted[@]}
    ((count)) || count=${#targets[@]}
    seconds=$((minutes * 60 / count))
    ((seconds)) || seconds=1
fi

found=0
for target in "${targets[@]}"; do
    name=${target%% *}
    ((${#wanted[@]} == 0)) || [[ " ${wanted[*]} " == *" $name "* ]] || continue
    fuzz "$name" "${target##* }" || found=$((found + 1))
done
((found == 0)) || die 1 "$found of the targets found something; the inputs are in $findings"
