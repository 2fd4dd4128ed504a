#!/usr/bin/env bats
# Two heads on one nats-server: when the one that collects is gone, the other takes over, and knows the sessions.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-head" ] || skip "no netprof-head"
    command -v nats-server >/dev/null || skip "no nats-server"
    cd "$BATS_TEST_TMPDIR" || return
    nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$PWD" >server.log 2>&1 3>&- &
    wait_until 60 compgen -G 'nats-server_*.ports' >/dev/null
    url=$(jq -r '.nats[0]' nats-server_*.ports)
}

teardown() {
    tail -n 20 one.log two.log agent.log || true
    # shellcheck disable=SC2046 # a list of numbers
    kill -9 $(jobs -p) 2>/dev/null || true
    wait
}

start_head() {
    netprof head --dir "$1" --nats "$url" --standby --no-findings >>"$1.log" 2>&1 3>&- &
    eval "$1=$!"
}

collects() {
    [ "$(grep 'this head' "$1.log" | tail -n 1)" = "netprof head: $1: this head collects" ]
}

stands_by() {
    grep 'this head' "$1.log" | tail -n 1 | grep -q "^netprof head: $1: this head stands by"
}

durable() {
    jq '[.nodes[].durable] | max // 0' "$1/status.json"
}

has_more_than() {
    [ "$(durable "$1")" -gt "$2" ]
}

@test "a head that is gone is replaced, comes back to stand by, and takes over again; sessions go along" {
    start_head one
    wait_until 60 collects one
    netprof agent --head "$url" --node n1 --spool spool --sources self --interval 50ms --send-every 200ms >agent.log 2>&1 3>&- &
    agent=$!
    start_head two
    wait_until 60 has_more_than one 0
    wait_until 60 stands_by two
    netprof session start s1 --dir one --since 1h
    wait_until 60 test -e two/sessions/s1.json
    kill -9 "$one"
    wait_until 60 collects two
    taken=$(durable two)
    wait_until 60 has_more_than two "$taken"
    netprof session stop s1 --dir two
    netprof session start s2 --dir two --since 1h
    start_head one
    wait_until 60 test -e one/sessions/s2.json
    wait_until 60 sh -c 'grep -q "stop_ns.*[1-9]" one/sessions/s1.json'
    stands_by one
    collects two
    kill -STOP "$two"
    wait_until 60 collects one
    kill -CONT "$two"
    wait_until 60 stands_by two
    netprof session delete s1 --dir one
    wait_until 60 test ! -e two/sessions/s1.json
    taken=$(durable one)
    wait_until 60 has_more_than one "$taken"
    kill "$agent"
    wait "$agent" || true
    # Both together have every reading that the agent took, once; what it had not sent yet the next start sends.
    netprof agent --head "$url" --node n1 --spool spool --sources self --interval 1h --send-every 200ms >>agent.log 2>&1 3>&- &
    wait_until 60 "$NETPROF_TEST_BUILD/tests/live_compare" n1 spool one two
    "$NETPROF_TEST_BUILD/tests/live_compare" n1 spool one two | tee compared
    grep -q ' 0 lost, 0 in gaps, .* 0 wrong, 0 not once' compared
    netprof session stats s2 --dir one,two | grep -E '^n1 +[0-9]+ .* 0$'
}

@test "standby needs a server that outlives the head" {
    run netprof head --dir one --standby
    [ "$status" -eq 2 ]
}

judge_of() {
    judge=$(grep -lx netprof-finding /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3 | while read -r pid; do
        [ "$(awk '{ print $4 }' "/proc/$pid/stat" 2>/dev/null)" != "$1" ] || echo "$pid"
    done)
    [ -n "$judge" ]
}

@test "a head that is told to end does not wait for a judge that has no time to" {
    netprof head --dir one --nats "$url" >>one.log 2>&1 3>&- &
    one=$!
    wait_until 60 judge_of "$one"
    kill -STOP "$judge"
    kill "$one"
    wait_until 60 test ! -e "/proc/$one/fd/0" # ended: nothing is open any more
    wait "$one"
    [ ! -e "/proc/$judge" ]
}
