#!/usr/bin/env bash
# Converts the documentation with the toolchain's docc, and fails on any warning: a link that leads nowhere, a picture
# that is not there. What docc takes without a word is checked here: a page that the first one does not list, a link to a file.
#
#   deploy/lib/documentation.sh               into a temporary directory that is removed again
#   deploy/lib/documentation.sh DIRECTORY     into DIRECTORY, to be served as a web site

set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
catalog=$root/Sources/OperatorCore/Documentation.docc

swift=$(command -v swift) || {
    echo 'documentation.sh: there is no swift on the PATH; install the toolchain from https://www.swift.org/install' >&2
    exit 69
}
# The command on the PATH may be a link into the toolchain.
docc=$(dirname -- "$(readlink -f -- "$swift")")/docc
[[ -x $docc ]] || docc=$(dirname -- "$swift")/docc
[[ -x $docc ]] || {
    echo "documentation.sh: there is no docc beside $swift; install a complete toolchain" >&2
    exit 69
}

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

failed=0
for page in "$catalog"/*.md; do
    name=$(basename -- "$page" .md)
    [[ $name == Documentation ]] || grep -q "^- <doc:$name>\$" "$catalog/Documentation.md" || {
        echo "documentation.sh: Documentation.md does not list <doc:$name>" >&2
        failed=1
    }
done
# A link to a file is taken without a word too, and leads nowhere on a site.
links=$(grep -HnoE '\]\([^)]*\)' "$catalog"/*.md | grep -vE ':\]\((doc:|https?://|#)' || true)
[[ -z $links ]] || {
    printf '%s\n' "$links" 'documentation.sh: link to pages by <doc:Name>, not by file name' >&2
    failed=1
}
((failed == 0)) || exit 1

"$docc" convert "$catalog" --output-path "${1:-$work/archive}" --warnings-as-errors \
    --fallback-display-name Todoke --fallback-bundle-identifier todoke
