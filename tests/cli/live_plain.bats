#!/usr/bin/env bats
# The agent as it is where libnats is not there: by its own words of NATS, with a server and a head as they always are.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-head" ] || skip "no netprof-head"
    command -v nats-server >/dev/null || skip "no nats-server"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    kill $(jobs -p) 2>/dev/null || true
    wait
}

# start_head LISTEN: sets head (its process), url and NETPROF_TOKEN.
start_head() {
    : >head.out
    netprof head --dir head --listen "$1" >head.out 2>head.err 3>&- &
    head=$!
    wait_until 60 grep -q NETPROF_TOKEN= head.out
    url=$(grep -oE 'nats://[0-9.:]+' head.out)
    NETPROF_TOKEN=$(sed -n 's/^NETPROF_TOKEN=\([0-9a-f]*\) .*/\1/p' head.out)
    export NETPROF_TOKEN
}

# In a shell of its own, which it replaces: who ends that one ends it.
plain_agent() {
    exec "$NETPROF_TEST_BUILD/tests/plain_agent" --sources self --interval 50ms --send-every 100ms "$@"
}

# More readings than it had taken before its server went away, and none is missing.
is_whole() {
    netprof session stats --since 1h --dir head >stats
    [ "$(awk '$1 == "plain" && $2 ~ /^[0-9]+$/ { print ($2 > 100) " " $NF }' stats)" = '1 0' ]
}

@test "a head takes all that it reads, also what was read while there was no server" {
    start_head 127.0.0.1:0
    plain_agent --head "$url" --spool spool --node plain >agent.log 2>&1 3>&- &
    agent=$!
    wait_until 60 grep -q '"node":"plain"' head/status.json
    kill "$head"
    wait "$head" || true
    wait_until 60 grep -q 'no server there' agent.log # after 5 s
    start_head "${url#nats://}"
    wait_until 60 grep -q 'reached again' agent.log
    wait_until 60 is_whole
    kill "$agent"
    wait "$agent" || true
    kill "$head"
    wait "$head" || true
    is_whole
}

@test "a wrong token is said, and nothing is taken" {
    start_head 127.0.0.1:0
    NETPROF_TOKEN=0123456789abcdef plain_agent --head "$url" --spool spool --node plain >agent.log 2>&1 3>&- &
    wait_until 60 grep -q 'refuses the token.*Authorization Violation' agent.log
    wait_until 60 test -s head/status.json
    run grep '"node":"plain"' head/status.json
    [ "$status" -eq 1 ]
}

@test "what it does not know is refused, and what answers is named" {
    run plain_agent --head tls://127.0.0.1:4 --spool spool --duration 1s
    [ "$status" -eq 3 ]
    [[ $output == *'tls://127.0.0.1:4: this program was built without libnats, and knows no TLS'* ]]
    touch creds
    run plain_agent --head nats://127.0.0.1:4 --creds creds --spool spool --duration 1s
    [ "$status" -eq 3 ]
    [[ $output == *'knows no files of credentials'* ]]
    python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c = s.accept()[0]
    c.sendall(b"220 mail.example ESMTP\r\n")
    c.close()' >port 3>&- &
    wait_until 60 test -s port
    run plain_agent --head "nats://127.0.0.1:$(cat port)" --spool spool --duration 1s
    [[ $output == *'what answers there is no NATS server'* ]]
}
