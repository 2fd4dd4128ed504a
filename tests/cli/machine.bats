#!/usr/bin/env bats
# What netprof says of this very machine: nobody is accused who did nothing

load common

# Findings of these rules are of the host, not of a network.
host='^(cpu|mem|memory|swap|major-faults|io-wait|runqueue|cgroup|oom|numa|softirq|edac|gpu|perf|fd-limit|power-cap|disk|host-load|energy|clock)'

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    for job in $(jobs -p); do
        kill "$job" 2>/dev/null || true
    done
}

# alone COMMAND…: in a network of its own with a loopback, so that what other programs here send is not judged; as it is where that is not allowed.
alone() {
    if [ "$(unshare -n true 2>&1 && echo yes)" = yes ]; then
        unshare -n bash -c 'ip link set lo up 2>/dev/null; "$@"' - "$@"
    else
        "$@"
    fi
}

# network_accused FILE: the rules of a network that found something (watch or worse), a line each.
network_accused() {
    jq -r --arg host "$host" '.findings[] | select(.severity | IN("watch", "warn", "high", "critical")) | select(.rule | test($host) | not) |
        "\(.severity) \(.rule) \(.device): \(.claim)"' "$1"
}

@test "idle: no network is accused in five checks" {
    for i in 1 2 3 4 5; do
        alone netprof check --now --interval 1s --fail-on critical --json >"$i.json" || [ $? = 1 ] || [ $? = 5 ]
        network_accused "$i.json" >accused
        cat accused
        [ ! -s accused ]
    done
}

@test "the processors are busy: it is said, before all others, and no network is accused" {
    for _ in $(seq $((4 * $(nproc)))); do
        while :; do :; done &
    done
    alone netprof check --now --interval 3s --fail-on critical --json >busy.json || [ $? = 1 ]
    network_accused busy.json >accused
    cat accused
    [ ! -s accused ]
    if [ -r /proc/pressure/cpu ]; then
        jq -e '.findings[0] | .rule | test("^(cpu|runqueue)")' busy.json
        jq -e '.verdict.text | test("CPU")' busy.json
    fi
}

# Traffic between two programs over the loopback, for so many seconds: bulk, and in parallel small requests.
traffic() {
    python3 - "$1" <<'END'
import socket, sys, threading, time

end = time.monotonic() + float(sys.argv[1])


def pair():
    listener = socket.create_server(("127.0.0.1", 0))
    a = socket.create_connection(listener.getsockname())
    return a, listener.accept()[0]


def send(s):
    data = bytes(1 << 17)
    while time.monotonic() < end:
        s.sendall(data)
    s.shutdown(socket.SHUT_WR)


def receive(s):
    while s.recv(1 << 16):
        pass


def ask(s):
    while time.monotonic() < end:
        s.sendall(b"x" * 64)
        s.recv(64)
    s.shutdown(socket.SHUT_WR)


def answer(s):
    while True:
        data = s.recv(64)
        if not data:
            break
        s.sendall(data)


threads = []
for work, other in ((send, receive), (ask, answer)):
    a, b = pair()
    threads += [threading.Thread(target=work, args=(a,)), threading.Thread(target=other, args=(b,))]
for t in threads:
    t.start()
for t in threads:
    t.join()
END
}
export -f traffic

@test "traffic over the loopback, nine times: no network is accused" {
    for i in 1 2 3 4 5 6 7 8 9; do
        # 98: nothing moved, so nothing was tested.
        alone bash -c 'moved() { awk "/^ *lo:/ { print \$2 }" /proc/net/dev; }
            traffic 1.8 & before=$(moved); sleep 0.3
            netprof check --now --interval 1s --fail-on critical --json >traffic.json; code=$?
            after=$(moved); wait; [ $((after - before)) -gt 1000000 ] || exit 98; exit $code' || [[ $? == [15] ]]
        network_accused traffic.json >accused
        cat accused
        [ ! -s accused ]
    done
}

@test "real data of an Aurora node: nothing above info" {
    need_aurora
    netprof check --json "$aurora/before.txt" "$aurora/after.txt" >aurora.json
    jq -e '.verdict.severity | IN("ok", "info")' aurora.json
    jq -e '[.findings[].severity] - ["info"] == []' aurora.json
}

# compare --help: counters without a rule are findings at most once in 100 comparisons of runs that differ in nothing.
@test "real runs that differ in nothing, split at random: compare fires at most as often as it says" {
    for i in 0 1 2 3 4 5 6 7 8 9; do
        alone netprof run -q -o "r$i.netprof" -- bash -c 'traffic 0.5'
    done
    for seed in $(seq 20); do
        mapfile -t runs < <(python3 -c 'import random, sys
runs = ["r%d.netprof" % i for i in range(10)]
random.Random(int(sys.argv[1])).shuffle(runs)
print("\n".join(runs))' "$seed")
        netprof compare --fail-on watch --json "${runs[@]:0:5}" -- "${runs[@]:5}" >split.json || [ $? = 1 ]
        jq -r '.verdict | "\(.severity) \(.text)"' split.json
    done >said
    cat said
    # More than two of 20, where one of 100 is expected, would be a chance of 1 in 1000 if the splits were independent.
    [ "$(grep -cE '^(watch|warn|high|critical)' said)" -le 2 ]
}
