#!/usr/bin/env bats
# netprof forward: what a head collects, for other programs; against servers of this test's own.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -t 40 -k 2 job
    # Its last intervals are over, however long this test takes.
    PLAY_AGO_S=15 "$NETPROF_TEST_BUILD/tests/live_play" head job/n0*.netprof
}

teardown() {
    if [ -s server.pid ]; then kill "$(cat server.pid)" || true; fi
}

# forward OPTION...: all 40 s of it, however late this is called
forward() {
    netprof forward --dir head --lag 1ms --since 10m --interval 5s --once "$@"
}

# A server that answers the requests with these statuses in turn, the last of them for good, and keeps what it took.
start_server() {
    cat >server.py <<'PYTHON'
import http.server, json, os, sys
class Server(http.server.BaseHTTPRequestHandler):
    answers = sys.argv[1:]
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = int(self.answers[0])
        if len(self.answers) > 1: self.answers.pop(0)
        with open("requests", "a") as f:
            f.write("%d %s %s %s\n" % (status, self.path, self.headers["Content-Type"], self.headers.get("Authorization")))
        answer = b"because\nsecond line"
        if status < 300:
            with open("taken", "ab") as f: f.write(body)
            answer = b""
        if self.path == "/_bulk":
            items = [{"index": {"status": 201}} for line in body.splitlines()[::2]]
            items[0]["index"] = {"status": 400, "error": {"reason": "no such\x1b[31m field"}}
            answer = json.dumps({"errors": True, "items": items}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *arguments): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Server)
open("port.new", "w").write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
PYTHON
    python3 server.py "$@" 3>&- &
    echo $! >server.pid
    until [ -s port ]; do read -rt 0.02 <> <(:) || true; done
    url=http://127.0.0.1:$(cat port)
}

@test "lines: each reading once, over many calls, with rates that the counters have, in seconds" {
    forward --lines lines --cluster 'a b' --tag site=x
    [ "$(wc -l <lines)" -gt 500 ]
    cp lines first
    forward --lines lines
    cmp lines first # nothing twice
    python3 - <<'PYTHON'
import collections, json, re, subprocess
lines = [l.rstrip("\n") for l in open("lines")]
assert len(lines) == len(set(l.rsplit(" ", 2)[0] + l.rsplit(" ", 1)[1] for l in lines)) # a series, a time, one value
rates = collections.defaultdict(list)
for l in lines:
    m = re.fullmatch(r"(\w+),hostname=(n0\d),stype=(\w+)(?:,stype-id=((?:[^,\\ ]|\\.)+))?,type=node,cluster=a\\ b,site=x,unit=\S+ value=(\S+) (1\d{9})", l)
    assert m, l
    assert (m[4] is None) == (m[1] == "net_bw"), l
    if m[1] == "ic_write_bw": rates[m[2], m[4]].append((int(m[6]), float(m[5])))
assert len(rates) == 6
# They are about what the counter says over all, by the recording itself.
for (host, device), values in rates.items():
    told = json.loads(subprocess.run(["netprof", "diff", "--json", "job/%s.netprof" % host], capture_output=True).stdout)
    mean = [d for d in told["devices"] if d["device"] == device][0]["traffic"]["tx_bytes"] / told["elapsed_s"]
    times = [t for t, v in values]
    assert times == sorted(set(times)) and all(t % 5 == 0 or t == times[0] for t in times)
    assert all(0.5 * mean < v < 1.5 * mean for t, v in values[2:]), (mean, values) # the job begins slowly
PYTHON
    # the same with all digits
    forward --lines ns --precision ns
    [ "$(grep -cE ' 1[0-9]{18}$' ns)" = "$(wc -l <lines)" ]
}

@test "one call sends all there is, however many intervals; a node that was away for long is not waited for" {
    all() { netprof forward --dir head --lag 1ms --interval 500ms --once --precision ns --lines all "$@"; }
    of() { grep -c "hostname=$1," "$2"; }
    all --since 10m # 1200 intervals
    stamps=$(sed -E 's/.* //' all | sort -n | sed -n '1p;$p')
    [ $((${stamps#*$'\n'} - ${stamps%$'\n'*})) -gt 35000000000 ] # all of the job's 40 s
    cp all first
    all
    cmp all first
    [ "$(of n01 first)" -gt 50 ]
    # It was heard from six minutes ago, and before all that is kept: its lines come again, at once.
    sed -i -E "s/(\"n01\": ?)[0-9]+/\1$((2 * ($(date +%s) - 360)))/" head/forward.*/state.json
    all
    [ "$(of n01 all)" = "$((2 * $(of n01 first)))" ]
    sed -i -E 's/("n01": ?)[0-9]+/\11000/' head/forward.*/state.json
    all --keep 5m
    [ "$(of n01 all)" = "$((3 * $(of n01 first)))" ]
    [ "$(of n00 all)" = "$(of n00 first)" ]
}

@test "a server that is busy or away is tried again and gets everything; what it refuses is counted and said" {
    start_server 503 401 204
    printf 'Token secret\n' >token
    run forward --lines "$url/write?bucket=hidden" --authorization-file token
    [ "$status" -eq 3 ]
    grep -q "$url/write: HTTP 503: because; it is tried again" <<<"$output"
    [[ $output != *hidden* && $output != *secret* ]]
    [ ! -e taken ]
    [ "$(status_of forward --lines "$url/write?bucket=hidden" --authorization-file token)" = 3 ]
    forward --lines "$url/write?bucket=hidden" --authorization-file token
    forward --lines lines
    cmp <(sort lines) <(sort taken)
    [ "$(grep -c '/write?bucket=hidden text/plain; charset=utf-8 Token secret$' requests)" -ge 3 ]
    kill "$(cat server.pid)"
    rm -f taken port
    start_server 400
    run forward --lines "$url"
    [ "$status" -eq 0 ]
    grep -q 'HTTP 400: because: such lines are left out' <<<"$output"
    grep -q "0 lines sent, $(wc -l <lines) refused" <<<"$output"
}

@test "a node whose lines cannot be made is said and left out; the others go on" {
    forward --lines all
    forward --lines lines --since 1ms
    for d in head/forward.*; do mkdir "$d/n01.netprof"; done
    rm head/forward.*/state.json
    run forward --lines lines
    [ "$status" -eq 3 ]
    [ "$(grep -c '^netprof forward: n01: .*: it is left out' <<<"$output")" -eq 1 ]
    cmp <(grep -v hostname=n01 all | sort) <(sort lines)
    for d in head/forward.*; do rmdir "$d/n01.netprof"; done
    forward --lines lines
    cmp <(sort all) <(sort lines)
    # The same where it is netprof export that fails, on all of them together.
    mkdir bin
    cp "$NETPROF_TEST_BIN/netprof-forward" bin
    printf '#!/bin/sh\ncase "$*" in *n01*) exit 3 ;; esac\nexec "%s/netprof-export" "$@"\n' "$NETPROF_TEST_BIN" >bin/netprof-export
    chmod +x bin/netprof-export
    run bin/netprof-forward --dir head --lag 1ms --since 10m --interval 5s --once --lines others
    [ "$status" -eq 3 ]
    grep -q '^netprof forward: n01: netprof export made no lines of it (exit code 3; .*: it is left out' <<<"$output"
    cmp <(grep -v hostname=n01 all | sort) <(sort others)
}

@test "what is not taken for too long is dropped, counted and said" {
    run forward --lines /dev/full
    [ "$status" -eq 3 ]
    grep -q 'No space left on device; it is tried again' <<<"$output"
    forward --lines x
    sed -i -E 's/("n01": ?)[0-9]+/\11000/' head/forward.*/state.json # n01 was away for long
    run forward --lines x --keep 5s
    [ "$status" -eq 0 ]
    dropped=$(sed -nE 's/.* ([0-9]+) intervals of a node dropped$/\1/p' <<<"$output")
    [ "$dropped" -gt 100000000 ] # since then, in intervals of 5 s
}

@test "the superuser appends to no link of another user" {
    [ "$(id -u)" -eq 0 ] || skip "for root"
    echo secret >root_file
    ln -s "$PWD/root_file" lines
    chown -h 65534:65534 lines || skip "no such user here"
    run forward --lines lines
    echo "$output"
    [ "$status" -eq 3 ]
    [[ $output == *"lines: a symbolic link of user 65534: the superuser does not write there"* ]]
    [ "$(cat root_file)" = secret ]
    chown -h 0:0 lines
    forward --lines lines
    [ "$(wc -l <root_file)" -gt 1 ]
}

@test "findings: Elasticsearch's _bulk, one document each, again when it changed; what the server refuses is said, safely" {
    sed -i "s/\"wall_ns\":[0-9]*/\"wall_ns\":$(date +%s%N)/" head/status.json # all are heard from
    netprof findings --dir head --once --lag 15s
    start_server 503 200
    [ "$(status_of netprof forward --dir head --findings "$url/_bulk" --once)" = 3 ]
    run netprof forward --dir head --findings "$url/_bulk" --once --cluster c
    [ "$status" -eq 0 ]
    grep -qF 'no such\x1b[31m field: such findings are left out' <<<"$output"
    python3 - <<'PYTHON'
import json
lines = [json.loads(l) for l in open("taken")]
found = json.load(open("head/findings.json"))["findings"]
assert len(lines) == 2 * len(found) > 0
ids = [h["index"]["_id"] for h in lines[::2]]
assert len(set(ids)) == len(ids) and all(h["index"]["_index"] == "netprof-findings" for h in lines[::2])
for document, finding in zip(lines[1::2], found):
    assert document.pop("cluster") == "c" and document.pop("@timestamp").endswith("Z") and "T" in document.pop("begin")
    assert document == finding
PYTHON
    grep -q ' /_bulk application/x-ndjson None$' requests
}

@test "lines to a subject of a real nats-server" {
    command -v nats-server >/dev/null || skip 'no nats-server'
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    nats-server -a 127.0.0.1 -p "$port" --user u --pass p >server.log 2>&1 3>&- &
    echo $! >server.pid
    until grep -q 'Server is ready' server.log; do read -rt 0.02 <> <(:) || true; done
    cat >subscriber.py <<'PYTHON'
import os, socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
f = s.makefile("rwb")
f.readline()
f.write(b'CONNECT {"verbose":false,"user":"u","pass":"p"}\r\nSUB cc.lines 1\r\nPING\r\n')
f.flush()
while f.readline().strip() != b"PONG": pass
os.rename(sys.argv[2] + ".new", sys.argv[2]) # subscribed
out, want = open("heard", "wb"), int(sys.argv[3])
while want > 0:
    words = f.readline().split()
    if words[:1] == [b"MSG"]:
        body = f.read(int(words[-1]))
        f.readline()
        out.write(body)
        want -= body.count(b"\n")
    elif words[:1] == [b"PING"]:
        f.write(b"PONG\r\n")
        f.flush()
PYTHON
    forward --lines lines
    touch ready.new
    timeout 60 python3 subscriber.py "$port" ready "$(wc -l <lines)" 3>&- &
    subscriber=$!
    until [ -e ready ]; do read -rt 0.02 <> <(:) || true; done
    printf 'u:p\n' >login
    forward --lines "nats://127.0.0.1:$port/cc.lines" --authorization-file login
    wait "$subscriber"
    cmp <(sort lines) <(sort heard)
    [ "$(status_of forward --lines "nats://127.0.0.1:$port/cc.*")" = 3 ]
}

@test "usage: a target, times and tags that are none are refused; two for one target are not one too many lines" {
    [ "$(status_of netprof forward --dir head)" = 2 ]
    [ "$(status_of netprof forward --dir head --lines x --interval no)" = 2 ]
    [ "$(status_of netprof forward --dir head --lines x --tag no)" = 2 ]
    [ "$(status_of netprof forward --dir nowhere --lines x --once)" = 3 ]
    forward --lines x
    [ "$(status_of flock head/forward.* "$NETPROF_TEST_BIN/netprof-forward" --dir head --lines x --once)" = 3 ]
    grep -q 'another one forwards to this already' err
}
