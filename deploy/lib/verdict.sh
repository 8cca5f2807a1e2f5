# shellcheck shell=bash
# shellcheck disable=SC2034 # who reads this file counts by these
# What measurements say at their end: a line for each bound, and how many held.

passed=0
failed=0
# verdict WHETHER "what": WHETHER is 1 when it holds.
verdict() {
    if (($1)); then
        passed=$((passed + 1))
        printf '  ok      %s\n' "$2"
    else
        failed=$((failed + 1))
        printf '  FAILED  %s\n' "$2"
    fi
}

# 1234567 as 1,234,567; printf needs a locale for that.
thousands() { sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"; }
