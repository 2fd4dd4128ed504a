#!/usr/bin/env bats
# What the README prints works as printed: its commands with a stand-in for the user's program, its C program compiled.

load common

setup() {
    cd "$BATS_TEST_TMPDIR"
    printf '#!/bin/sh\nexec "%s/loopback" -m 20 -n 20 -b 1 -t 5\n' "$NETPROF_TEST_BIN" >my_program
    printf '#!/bin/sh\nexec "$@"\n' >srun
    chmod +x my_program srun
    PATH=$PWD:$PATH
}

# block LANGUAGE N: the N-th fenced block of a language.
block() {
    awk -v language="$1" -v wanted="$2" '
        /^```/ { if (inside) { inside = 0 } else { inside = ($0 == "```" language); n += inside }; next }
        inside && n == wanted { print }' "$NETPROF_TEST_TOP/README.md"
}

@test "the first command is what bootstrap builds and what runs here" {
    [ "$(block sh 1)" = 'tools/bootstrap && build/bin/netprof run -- build/bin/loopback' ]
    [ -x "$NETPROF_TEST_TOP/tools/bootstrap" ]
    netprof run -- loopback -m 20 -n 20 -b 1 -t 5 >out 2>err
    grep -q 'TCP stream' out
    grep -qE '^ *(lo|[a-z0-9]+) .*[0-9] [kMG]?B' err
}

@test "the second command exists and says what it does" {
    [ "$(block sh 2)" = 'tests/run' ]
    "$NETPROF_TEST_TOP/tests/run" --help | grep -q sanitizer
}

@test "recipe: before and after" {
    block sh 3 >recipe
    [ "$(grep -c . recipe)" -eq 4 ]
    bash -euo pipefail recipe >out
    grep -q '^Devices' out
}

@test "recipe: second by second" {
    block sh 4 >recipe
    grep -q -- '--interval' recipe
    bash -euo pipefail recipe >out 2>err
    grep -q 'TCP ping-pong' out
    grep -q '^lo ' out
}

@test "recipe: in a program" {
    block c 1 >program.c
    printf 'void exchange(void) {}\n' >exchange.c
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -I"$NETPROF_TEST_TOP" program.c exchange.c -pthread -o program
    ./program
    netprof diff exchange.netprof >out
    grep -q '^Devices' out
}
