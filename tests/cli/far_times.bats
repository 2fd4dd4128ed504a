#!/usr/bin/env bats
# Times that are farther apart than 64 bits say: every command ends as it should, and what is known stays known.

load common

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    cc -std=gnu11 -O0 -w -pthread -I "$NETPROF_TEST_TOP" "$NETPROF_TEST_TOP/tests/cli/far_times.c" -o far_times
    NETPROF=on NETPROF_OUTPUT=own ./far_times
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
}

# ends COMMAND...: it says what it can say, and is not killed; nothing that C leaves undefined happens.
ends() {
    local status=0
    "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || status=$?
    if [ "$status" -gt 5 ] || grep -E 'runtime error|Sanitizer' "$BATS_TEST_TMPDIR/err"; then
        echo "$status: $*"
        return 1
    fi
}

@test "tables and findings of times that are far apart" {
    for file in *.netprof; do
        ends netprof diff "$file"
        ends netprof diff --json "$file"
        ends netprof check "$file" stamps.netprof
        ends netprof merge -o "$BATS_TEST_TMPDIR/merged.netprof" "$file" late.netprof
        ends netprof convert --to net_prof "$file" -
    done
    for file in [!r]*.netprof; do
        ends netprof watch --once "$file"
    done
    ends netprof regions .
    ends netprof job .
}

@test "exports of times that are far apart" {
    [ -x "$NETPROF_TEST_BIN/netprof-export" ] || skip 'no exports'
    for file in *.netprof; do
        for format in csv sqlite perfetto openmetrics; do
            ends netprof export "$file" --to $format -o "$BATS_TEST_TMPDIR/table.$format"
            rm -rf "$BATS_TEST_TMPDIR/table.$format"
        done
    done
}

@test "reports of times that are far apart" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'no reports'
    for file in *.netprof; do
        ends netprof-report "$file" -o "$BATS_TEST_TMPDIR/report.html"
    done
    ends netprof-report . -o "$BATS_TEST_TMPDIR/report.html"
}

@test "a clock that was set back does not move what was read" {
    [ -x "$NETPROF_TEST_BIN/netprof-export" ] || skip 'no exports'
    netprof export stamps.netprof --to json --what snapshots -o - >stamps.json
    jq -e '[.tables.snapshots.rows[].time_ns / 1e9 - 1700000000 | round] == [0, 1, 2]' stamps.json
}
