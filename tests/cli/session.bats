#!/usr/bin/env bats
# netprof session: what it says of the files in a head's directory.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir head
}

# The file, with these nodes in it.
write_status() {
    printf '{"format":"netprof-live-status","version":1,"wall_ns":%s,"connected":true,"journal_bytes":1000,"turned_away":5,"malformed":1,"disk_error":null,"nodes":[%s]}' \
        "$(date +%s%N)" "$1" >head/status.json
}

@test "status: a node whose agent began another spool is one node, heard from where it was last, with all that it lost" {
    write_status '{"node":"n1","behind_ticks":90,"last_tick_ns":1700000000000000000,"silent_ns":900000000000,"missing_ticks":{"disk_full":3},"missing_since_ns":1600000000000000000},
        {"node":"n1","behind_ticks":0,"last_tick_ns":1700000900000000000,"silent_ns":1000000000,"missing_ticks":{"overwritten":4,"restarted":5},"missing_since_ns":1650000000000000000}'
    flock head/lock netprof session status --dir head >out # as a head that runs
    grep -q '^1 node, ' out
    grep -q '^5 messages were turned away since the head started: ' out
    grep -q '^1 message was refused since the head started: ' out
    [ "$(grep -c '^n1 ' out)" -eq 1 ]
    grep -qE '^n1 +ok +1 s ago +0 ticks +7 ticks +2020-09-13' out
}

@test "status: a node that was not heard from since the head started is not ok" {
    write_status '{"node":"n1","behind_ticks":0,"last_tick_ns":0,"silent_ns":null,"missing_ticks":{}}'
    run flock head/lock netprof session status --dir head
    [ "$status" -eq 1 ]
    grep -qE '^n1 +silent +not since the head started +0 ticks +0 ticks *$' <<<"$output"
}

@test "list: a session that cannot be read does not hide the others, and is no success" {
    mkdir head/sessions
    netprof session start good --dir head 2>/dev/null
    ln -s good.json head/sessions/link.json
    run netprof session list --dir head
    [ "$status" -eq 3 ]
    grep -q '^good ' <<<"$output"
}
