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

@test "start --in: a session is planned, has no readings before it begins, and stop cancels it; stop --all leaves it" {
    play_job
    netprof session start night --dir head --in 8h 2>/dev/null
    netprof session start now --dir head 2>/dev/null
    netprof session list --dir head | grep -qE '^night +planned '
    netprof session list --dir head --json | jq -e '.sessions[0] | .state == "planned" and .end_ns == null and (.begin_ns / 1e9 - now - 28800 | fabs) < 60'
    netprof session stop --all --dir head
    [ "$(netprof session list --dir head --json | jq -c '[.sessions[].state]')" = '["planned","ended"]' ]
    [ "$(status_of netprof session report night --dir head -o night.pdf)" = 4 ]
    netprof session stop night --dir head
    [ ! -e head/sessions/night.json ]
    [ "$(status_of netprof session start x --dir head --in 1h --since 1h)" = 2 ]
    [ "$(status_of netprof session start x --dir head --in soon)" = 2 ]
    [ "$(status_of netprof session stop now --dir head --in 1h)" = 2 ]
}

@test "list: a session that cannot be read does not hide the others, and is no success" {
    mkdir head/sessions
    netprof session start good --dir head 2>/dev/null
    ln -s good.json head/sessions/link.json
    run netprof session list --dir head
    [ "$status" -eq 3 ]
    grep -q '^good ' <<<"$output"
}

# A job in which n03 is held and n04 runs out of memory.
make_job() {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 4 -t 40 -k 2 job
}

# A head's directory with these four nodes: its last reading is just now.
play_job() {
    [ -d job ] || make_job
    "$NETPROF_TEST_BUILD/tests/live_play" head job/n0*.netprof
}

# Of a document: verdict, and severity, host, device, rule and claim of the findings of watch and worse.
said() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["verdict"]["severity"], d["verdict"]["text"])
for f in d["findings"]:
    if f["severity"] in ("watch", "warn", "high", "critical"):
        print(f["severity"], f.get("host"), f.get("device"), f["rule"], f["claim"])' "$1"
}

@test "findings: of a session's nodes, the same as netprof check says of the same window" {
    play_job
    netprof session start run7 --dir head --nodes 'n*' --since 20s 2>/dev/null
    netprof findings --dir head --once --lag 1ms
    netprof session findings --dir head --json >live.json
    python3 -c 'import json
d = json.load(open("live.json"))
json.dump({"format": "netprof-session", "version": 1, "start_ns": d["begin_ns"], "stop_ns": d["end_ns"]},
          open("head/sessions/window.json", "w"))
assert [f["session"] for f in d["findings"]] == ["run7"] * len(d["findings"])
assert all(f["begin_ns"] == d["end_ns"] == f["last_seen_ns"] and f["end_ns"] is None for f in d["findings"])'
    netprof session export window --dir head -o window 2>/dev/null
    (cd window && netprof check --json ./*.netprof) >check.json || [ $? -le 1 ]
    diff <(said live.json) <(said check.json)
    [ "$(said live.json | wc -l)" -ge 3 ]
    said live.json | grep -q '^warn n03 cxi1 egress-paused transmit blocked by the network'
    [ ! -e head/findings.work/n01.netprof ]
}

@test "findings: of a session with too many nodes for that, they are compared by the fast set, and each is judged by all of it" {
    make_job
    netprof convert job/n02.netprof n02.json
    sed -i -E 's/("speed_mbps": *")200000"/\1100000"/g' n02.json
    netprof convert n02.json job/n02.netprof # its links run at half the others' speed, which alone is no fault
    play_job
    netprof session start run7 --dir head --nodes 'n*' --since 20s 2>/dev/null
    netprof findings --dir head --once --lag 1ms --whole 3
    netprof session findings --dir head --json >live.json
    python3 -c 'import json
d = json.load(open("live.json"))
json.dump({"format": "netprof-session", "version": 1, "start_ns": d["begin_ns"], "stop_ns": d["end_ns"]},
          open("window.json", "w"))
json.dump({"format": "netprof-session", "version": 1, "start_ns": d["begin_ns"], "stop_ns": d["end_ns"],
           "interval_ns": 5000000000, "fast": True}, open("few.json", "w"))'
    mv window.json few.json head/sessions
    for name in window few; do netprof session export $name --dir head -o $name 2>/dev/null; done
    (cd window && netprof check --apart --json ./*.netprof) >apart.json || [ $? -le 1 ]
    (cd few && netprof check --json ./*.netprof) >together.json || [ $? -le 1 ]
    # all that either says, once; what both say is the worse of the two
    python3 - <<'PYTHON'
import json
key = lambda f: (None if (f.get("host_count") or 1) > 1 else f.get("host"), f.get("device"), f["rule"])
def found(name):
    d = json.load(open(name))
    return {key(f): f["severity"] for f in d["findings"] if f["severity"] in ("watch", "warn", "high", "critical")}
rank = ["watch", "warn", "high", "critical"].index
apart, together, live = found("apart.json"), found("together.json"), found("live.json")
expected = {k: max((x[k] for x in (apart, together) if k in x), key=rank) for k in apart.keys() | together.keys()}
assert not any(k[2] == "samples-missing" for k in live), "fewer readings were meant"
assert ("n02", "node-settings") in {(k[0], k[2]) for k in together.keys() - apart.keys()}, "a comparison alone gives it"
assert live == expected, (live, expected)
PYTHON
    [ "$(ls head/findings.work)" = "" ]
    [ "$(status_of netprof findings --dir head --once --whole 0)" = 2 ]
}

@test "findings: nodes of no session are judged each by itself, as netprof check --apart does" {
    play_job
    netprof findings --dir head --once --lag 1ms
    netprof session findings --dir head --json >live.json
    python3 -c 'import json
d = json.load(open("live.json"))
json.dump({"format": "netprof-session", "version": 1, "start_ns": d["begin_ns"], "stop_ns": d["end_ns"]},
          open("head/window.json", "w"))
assert [f["session"] for f in d["findings"]] == [None] * len(d["findings"])'
    mkdir -p head/sessions
    mv head/window.json head/sessions
    netprof session export window --dir head -o window 2>/dev/null
    (cd window && netprof check --apart --json ./*.netprof) >check.json || [ $? -le 1 ]
    diff <(said live.json) <(said check.json)
    for i in 1 2 3 4; do # as each file alone
        (cd window && netprof check --json n0$i.netprof) >one.json || [ $? -le 1 ]
        python3 -c 'import json, sys
one, all = json.load(open("one.json")), json.load(open("check.json"))
mine = [h for h in all["hosts"] if h["files"].endswith(sys.argv[1] + ".netprof")][0]
for f in mine["findings"]:
    assert f.pop("host") == sys.argv[1]
assert mine["verdict"] == one["verdict"] and mine["findings"] == one["findings"]' n0$i
    done
}

@test "findings: a node that fell silent is not judged, and nothing is good when nobody judges any more" {
    play_job
    sed -i 's/"node":"n02","silent_ns":0/"node":"n02","silent_ns":31000000000/' head/status.json
    netprof findings --dir head --once --lag 1ms
    run netprof session findings --dir head --fail-on critical
    [ "$status" -eq 5 ]
    grep -q '1 other node could not be judged, first n02: not heard from for 31' <<<"$output"
    grep -q '^n02  *not heard from for 31' <<<"$output"
    [ "$(status_of netprof session findings --dir head --fail-on warn)" = 1 ]
    [ "$(status_of netprof session findings --dir head --fail-on critical,judged)" = 0 ]
    sed -i 's/"wall_ns":[0-9]*/"wall_ns":1700000000000000000/' head/findings.json
    run netprof session findings --dir head
    [ "$status" -eq 5 ]
    grep -q '^Could not be judged: nothing was judged since 2023-11-14 22:13:20 UTC, ' <<<"$output"
    [ "$(status_of netprof session findings --dir job)" = 3 ]
}

@test "stats --json: as the text has it, and what the recording itself says" {
    play_job
    netprof session start run7 --dir head --nodes 'n0[12]' --since 1m 2>/dev/null
    netprof session stats run7 --dir head --json >stats.json
    netprof session export run7 --dir head -o kept 2>/dev/null
    python3 - <<'PYTHON'
import json, subprocess
d = json.load(open("stats.json"))
assert d["session"] == "run7" and d["end_ns"] is None and [h["host"] for h in d["hosts"]] == ["n01", "n02"]
for h in d["hosts"]:
    assert h["snapshot_count"] == 41 and h["missing_ticks"] == {} and h["end_ns"] - h["begin_ns"] == 40 * 10**9
    told = json.loads(subprocess.run(["netprof", "diff", "--json", "kept/%s.netprof" % h["host"]], capture_output=True).stdout)
    sent = [x for x in told["devices"] if x["device"] == "cxi0"][0]["traffic"]["tx_bytes"]
    row = [r for r in d["statistics"] if (r["host"], r["device"], r["counter"]) == (h["host"], "cxi0", "hni_sts_tx_ok_octets")][0]
    assert row["unit"] == "bytes/s" and abs(row["mean"] * 40 - sent) < 1e-8 * sent
    assert row["min"] <= row["p50"] <= row["p95"] <= row["p99"] <= row["max"]
PYTHON
    netprof session list --dir head --json | python3 -c 'import json, sys
s, = json.load(sys.stdin)["sessions"]
assert (s["session"], s["state"], s["host_globs"], s["interval_s"]) == ("run7", "goes on", "n0[12]", None)'
    [ "$(status_of netprof session export run7 --dir head -o x --json)" = 2 ]
}
