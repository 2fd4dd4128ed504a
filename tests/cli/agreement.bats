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
    run agreement --every 16
    echo "$output"
    [ "$status" = 0 ]
}
