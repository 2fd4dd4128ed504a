#!/usr/bin/env bats
# tests/traps.csv says which test shows that a known trap of Linux counters is no trap here: each has to be there.

load common

@test "every trap in the table has its test, and the test is run" {
    cd "$NETPROF_TEST_TOP"
    rows=0
    while IFS= read -r line; do
        where=${line##*,}
        rest=${line%,*}
        name=${rest##*,}
        [ -s "$where" ]
        case $where in
        *.c) grep -q "static void $name(" "$where" && [ "$(grep -cE "\b$name\b" "$where")" -ge 2 ] ;;
        *.bats) grep -qF "$name" "$where" && grep -E '^@test' "$where" | grep -qF "$name" ;;
        esac || { echo "no test $name in $where"; return 1; }
        rows=$((rows + 1))
    done < <(tail -n +2 tests/traps.csv)
    [ "$rows" -ge 30 ]
}
