#!/usr/bin/env bats
# check, compare, job, nccl and the report say the same of the same files: severity, first finding, order, first line and title

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    command -v netprof-report >/dev/null || skip 'built without drawing'
}

agreement() {
    python3 "$NETPROF_TEST_TOP/tests/labelled/agreement" "$NETPROF_TEST_BIN" "$@"
}

@test "no two commands, and no command and its report, disagree: jobs, NCCL logs, comparisons, nodes" {
    [ -d "$NETPROF_TEST_TOP/../shared/data" ] || echo "# no ../shared/data: without the reference data" >&3
    # With sanitizers a few cases show what can be wrong in memory; the others are asked of the released programs.
    every=16
    ! grep -q '^NETPROF_SANITIZE:[A-Z]*=.' "$NETPROF_TEST_BUILD/CMakeCache.txt" || every=96
    run agreement --every "$every"
    echo "$output"
    [ "$status" = 0 ]
}
