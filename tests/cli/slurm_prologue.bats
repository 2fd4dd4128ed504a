#!/usr/bin/env bats
# netprof check --now as the prologue of a real Slurm: it drains the nodes that are not fit, and passes the one that is

load common

setup_file() {
    local code=0
    [ -x "$NETPROF_TEST_BIN/netprof-sim" ] || code=97
    chmod o+x "$BATS_RUN_TMPDIR"
    [ $code -ne 0 ] || timeout 300 "$NETPROF_TEST_TOP/tests/slurm/with_slurm" "$BATS_FILE_TMPDIR" \
        "$NETPROF_TEST_TOP/tests/slurm/prologue" "$BATS_FILE_TMPDIR" >"$BATS_FILE_TMPDIR/said" 2>&1 </dev/null || code=$?
    echo "$code" >"$BATS_FILE_TMPDIR/code"
}

setup() {
    [ "$(cat "$BATS_FILE_TMPDIR/code")" != 97 ] || skip "$(tail -n 1 "$BATS_FILE_TMPDIR/said")"
    cd "$BATS_FILE_TMPDIR/out" || return
}

@test "slurm: a healthy node takes its job, three that are not fit are drained" {
    cat "$BATS_FILE_TMPDIR/said" "$BATS_FILE_TMPDIR/states" said-*
    [ "$(cat "$BATS_FILE_TMPDIR/code")" = 0 ]
    [ -e ran-n1 ]
    for node in n2 n3 n4; do
        grep -q "^$node drain" "$BATS_FILE_TMPDIR/states"
        [ ! -e "ran-$node" ]
    done
    refute grep -q '^n1 drain' "$BATS_FILE_TMPDIR/states"
    [ "$(cat code-n1)" = 0 ]
}

@test "slurm: what the prologue says of a NIC that is missing, of a source that is denied, of a NIC that goes away" {
    [ "$(cat code-n2)" = 1 ]
    grep -q '^Critical: cxi[01]: is expected on this node and was not found' said-n2
    [ "$(cat code-n3)" = 5 ]
    grep -q '^Could not be judged: source rdma: .*/trees/n3/sys/class/infiniband: Permission denied; this hides' said-n3
    [ "$(cat code-n4)" = 1 ]
    grep -qE '^critical  (device-gone|expected-missing): cxi[01]' said-n4
    grep -q '^No fault found on cxi0, cxi1' said-n1
}
