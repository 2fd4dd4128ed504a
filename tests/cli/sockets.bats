#!/usr/bin/env bats
# Which program stands behind the segments that were sent again: over a link that drops, between two network namespaces.
load common

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    [ "$(id -u)" = 0 ] || skip "needs root"
    left=np_l$$ right=np_r$$
    ip netns add $left 2>/dev/null && ip netns add $right || skip "needs network namespaces"
    ip netns exec $left true || skip "ip netns exec does not work here: is / no mount point (chroot)?"
    ip link add e0 netns $left type veth peer name e1 netns $right || skip "needs veth"
    ip -n $left address add 10.95.0.1/24 dev e0
    ip -n $right address add 10.95.0.2/24 dev e1
    ip -n $left link set e0 up
    ip -n $right link set e1 up
    ip netns exec $left tc qdisc add dev e0 root tbf rate 50mbit burst 4k limit 10k || skip "needs tc's tbf"
    cat >reads.py <<'END'
import socket
s = socket.create_server(("10.95.0.2", 5401))
open("ready", "w").write("yes\n")
while True:
    c = s.accept()[0]
    while c.recv(1 << 16):
        pass
    c.close()
END
    # Sends until enough of it was sent again and until it was looked at for a while, then waits to be ended.
    cat >sends.py <<'END'
import os, socket, struct, sys, time
c = socket.create_connection(("10.95.0.2", 5401))
again = lambda: struct.unpack_from("I", c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 100)[0]
end = time.monotonic() + 2.5
while again() < 20 or time.monotonic() < end:
    c.sendall(bytes(65536))
c.shutdown(socket.SHUT_WR)
while c.recv(1):
    pass
open("sent", "w").write(f"{os.getpid()} {again()} {c.getsockname()[1]}\n")
END
    ip netns exec $right python3 reads.py &
    reader=$!
    for _ in $(seq 600); do
        [ -s ready ] && return
        sleep 0.05
    done
    false
}

teardown() {
    [ -z "$reader" ] || kill "$reader" 2>/dev/null || true
    ip netns delete "$left" 2>/dev/null || true
    ip netns delete "$right" 2>/dev/null || true
}

@test "sockets: run tells which program and connection sent segments again" {
    timeout 100 ip netns exec $left netprof run -q -o r.netprof -- python3 sends.py
    read -r pid again port <sent
    netprof convert r.netprof r.json
    jq -e '.facts.tcp_sockets' r.json || skip "this kernel has no sock_diag"
    [ "$(jq -r .facts.tcp_socket_1 r.json | grep -o 'retransmitted=[0-9]*')" = "retransmitted=$again" ]
    netprof check --fail-on critical,judged r.netprof --all >text || true
    grep -q "; all $again segments sent again were of python3 (process $pid), 10.95.0.1:$port to 10.95.0.2:5401" text
    # Readers that know nothing of it pass over facts: so they do with others.
    netprof diff r.netprof >/dev/null
}

@test "sockets: record, at the end of each file, and two single readings" {
    ip netns exec $left netprof collect -q -o a.netprof
    ip netns exec $left netprof record -q --job none -t 200ms -d 60s -o n.netprof --stop-file stop &
    recorder=$!
    wait_for_readings n.netprof 2
    timeout 100 ip netns exec $left python3 sends.py
    read -r pid again port <sent
    touch stop
    wait $recorder
    netprof convert n.netprof n.json
    jq -e '.facts.tcp_sockets' n.json || skip "this kernel has no sock_diag"
    netprof check --fail-on critical,judged n.netprof --all >text || true
    grep -q "; all $again segments sent again were of python3 (process $pid), 10.95.0.1:$port to 10.95.0.2:5401" text
    # One reading tells of all since its connections began; ended ones are in none.
    ip netns exec $left netprof collect -q -o b.netprof
    netprof convert b.netprof b.json
    [ "$(jq -r .facts.tcp_sockets b.json | grep -o 'since=[a-z]* seen=[0-9]*')" = "since=connection seen=0" ]
}
