#!/usr/bin/env bats
# netprof export to what shows events over time: Chrome's trace JSON, as Perfetto opens it. What is expected comes from the
# tables of the same files (tests/export/check_trace), and from the test itself.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-export" ] || skip 'no netprof-export'
    cd "$BATS_TEST_TMPDIR" || return
    tools=$NETPROF_TEST_TOP/tests/export
}

# trace ARGUMENT…: as a trace and as tables, which agree; counts has how many points, gaps and processes there are.
trace() {
    netprof export "$@" --to perfetto -o trace.json
    netprof export "$@" --to csv -o tables
    "$tools/check_trace" trace.json tables >counts
}

# made FILE HOST WALL VALUES…: a recording of one counter of one NIC each second, at CLOCK_MONOTONIC 1000 s and later, WALL
# seconds after an instant; a value that is - could not be read.
made() {
    [ -e plain.json ] || { make_nic tree cxi0 hni_sts_rx_ok_octets=1 && netprof collect -q --root tree --sources cxi -o plain.json; }
    python3 - "$@" <<'END'
import json, sys
path, host, wall, *values = sys.argv[1:]
document = json.load(open("plain.json"))
for facts in (document["facts"] if "facts" in document else {}, document["schemas"][0]["facts"]):
    facts["host"], facts["boot_id"] = host, "11111111-2222-3333-4444-555555555555"
device = document["schemas"][0]["devices"][0]
device["counters"] = [{"counter": "hni_sts_rx_ok_octets", "unit": "bytes", "kind": "counter", "width_bits": 64, "scale": 1, "flags": ["fast"]}]
document["snapshots"] = [dict(document["snapshots"][0], monotonic_begin_ns=(1000 + i) * 10**9, monotonic_end_ns=(1000 + i) * 10**9,
    time_ns=1700000000 * 10**9 + int(float(wall) * 10**9) + i * 10**9, devices=[dict(device=device["device"], source="cxi",
    monotonic_begin_ns=(1000 + i) * 10**9, monotonic_end_ns=(1000 + i) * 10**9, values={"hni_sts_rx_ok_octets": None if v == "-" else int(v)},
    **({"not_ok": {"hni_sts_rx_ok_octets": ["denied", 13]}} if v == "-" else {}))]) for i, v in enumerate(values)]
json.dump(document, open(path, "w"))
END
}

@test "perfetto: the points of several nodes are the known rates and gauges of the tables, a process each" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -t 20 -g 1 -k 2 job
    trace job
    [ "$(jq -c .processes counts)" = '["n01","n02","n03"]' ]
    [ "$(jq '.points > 1000' counts)" = true ]
    # each file from its first to its last snapshot, and the findings of the tables
    [ "$(jq -c '[.traceEvents[] | select(.name | test("netprof$")) | [.name, (.dur | floor)]]' trace.json)" = \
        '[["job/n01.netprof",20000000],["job/n02.netprof",20000000],["job/n03.netprof",20000000]]' ]
    python3 - <<'END'
import csv, json
claims = sorted((r["claim"], r["rule"], r["severity"]) for r in csv.DictReader(open("tables/findings.csv", newline="")))
events = json.load(open("trace.json"))["traceEvents"]
assert claims == sorted((e["name"], e["args"]["rule"], e["args"]["severity"]) for e in events if "rule" in e.get("args", {})) != []
END
    # the same bytes each time, also to the standard output and packed
    netprof export job --to perfetto -o - | cmp - trace.json
    netprof export job --to perfetto -o trace.json.gz
    gzip -dc trace.json.gz | cmp - trace.json
    netprof export job --to perfetto --include 'cxi1/*octets' -o one.json
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C") | .name] | unique' one.json)" = \
        '["cxi/cxi1/hni_sts_rx_ok_octets","cxi/cxi1/hni_sts_tx_ok_octets"]' ]
}

@test "perfetto: what netprof job finds to have lasted a while is there from when to when" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -t 300 -g 1 -k 2 job
    netprof job --json --fail-on critical job >job.json
    netprof export job --what findings --to perfetto -o trace.json
    jq -c '[.findings[] | select(.incident) | [.rule, .claim, .host, .device, .from_s, .to_s - .from_s]]' job.json >expected
    jq -c '([.traceEvents[] | select(.name == "process_name" and .args.name == "job") | .pid][0]) as $job
        | ([.traceEvents[] | select(.name | test("netprof$")) | .ts] | min) as $begin
        | [.traceEvents[] | select(.ph == "X" and .pid == $job) |
           [.args.rule, .name, .args.node, .args.device, (.ts - $begin) / 1000000, .dur / 1000000]]' trace.json >found
    [ "$(jq length expected)" -ge 1 ]
    diff <(jq -S 'map(map(. // null))' expected) <(jq -S 'map(map(. // null))' found)
}

@test "perfetto: what could not be read is a gap with its reason, never a zero" {
    made node.json n1 0 1000 3000 - - 9000 9500
    trace node.json
    [ "$(jq -c '[.points, .processes]' counts)" = '[2,["n1"]]' ]
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C") | .args["bytes/s"]]' trace.json)" = '[2000,500]' ]
    [ "$(jq '[.traceEvents[] | select(.ph == "i")] | length' trace.json)" = 1 ]
    # the last point before the gap, and the first after it, with nothing between
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C") | .ts] | (.[1] - .[0]) / 1000000' trace.json)" = 4 ]
}

@test "perfetto: a counter that began anew has a gap there, since its rate is only a lower bound" {
    made node.json n1 0 1000 3000 500 900
    trace node.json
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C") | .args["bytes/s"]]' trace.json)" = '[2000,400]' ]
    [ "$(jq -c '[.traceEvents[] | select(.ph == "i") | .name]' trace.json)" = '["cxi/cxi0/hni_sts_rx_ok_octets: reset"]' ]
}

@test "perfetto: nodes are on one clock: of one boot the monotonic one, whatever their wall clocks say" {
    made a.json n1 0 0 1000 2000
    made b.json n2 7.25 0 5000 6000
    netprof export a.json b.json --to perfetto -o trace.json
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C")] | group_by(.ts | floor) | map([.[].args["bytes/s"]] | sort)' trace.json)" = '[[1000,5000],[1000,1000]]' ]
    jq -e '.otherData.clocks | length > 0' trace.json
}

@test "perfetto: two recordings of one node at the same time are not mixed" {
    made a.json n1 0 0 1000 2000
    made b.json n1 0 0 5000 10000
    netprof export a.json b.json --to perfetto -o trace.json
    [ "$(jq -c '[.traceEvents[] | select(.name == "process_name") | .args.name]' trace.json)" = '["n1","n1 (b.json)"]' ]
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C")] | group_by(.pid) | map([.[].args["bytes/s"]])' trace.json)" = '[[1000,1000],[5000,5000]]' ]
}

@test "perfetto: hostile names come back as they are" {
    made plain2.json 'n"1\</script>' 0 0 1
    python3 - <<'END'
import json
document = json.load(open("plain2.json"))
device = document["schemas"][0]["devices"][0]
name = 'a"b\\c\n\u202e<x>\u65e5'
device["device"] = 'dev",{'
device["counters"][0].update(counter=name, unit='u"}')
for s in document["snapshots"]:
    d = s["devices"][0]
    d["device"], d["values"] = device["device"], {name: d["values"]["hni_sts_rx_ok_octets"]}
json.dump(document, open("hostile.json", "w"))
END
    netprof export hostile.json --to csv --plain -o tables
    netprof export hostile.json --to perfetto -o trace.json
    "$tools/check_trace" trace.json tables >counts
    [ "$(jq -c '[.points, .processes]' counts)" = '[1,["n\"1\\</script>"]]' ]
    [ "$(jq -r '.traceEvents[] | select(.ph == "C") | .name' trace.json)" = $'cxi/dev",{/a"b\\c\n\u202e<x>\u65e5' ]
}

@test "perfetto: a recording of this node, and what a cut one still holds" {
    rm -f go
    netprof run -q --sources netdev,ip --interval 0.05 -o run.netprof -- sh -c 'until [ -e go ]; do sleep 0.02; done' &
    wait_for_readings run.netprof 5 || { touch go; false; }
    touch go
    wait $!
    trace run.netprof
    whole=$(jq .points counts)
    [ "$whole" -gt 20 ]
    cut_last run.netprof cut.netprof
    [ "$(status_of netprof export cut.netprof --to perfetto -o trace.json)" = 1 ]
    rm -rf tables
    [ "$(status_of netprof export cut.netprof --to csv -o tables)" = 1 ]
    "$tools/check_trace" trace.json tables >counts
    [ "$(jq ".points > 0 and .points < $whole" counts)" = true ]
}

@test "perfetto: regions over time are a process each; sums have no place in time, and it is said" {
    NETPROF_OUTPUT="$PWD/%r-%p.netprof" NETPROF_SERIES=0.02 "$NETPROF_TEST_BUILD/tests/region_phases" 1 100
    trace ./*.series.netprof
    [[ "$(jq -r '.processes[]' counts)" == *': process '* ]]
    jq -e '[.traceEvents[] | select(.ph == "C" and (.name | test("^region/.*/own_time$")))] | length > 1' trace.json
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 2 ranks
    netprof export ranks --to perfetto -o ranks.json 2>err
    grep -q '^netprof export: ranks: the regions are sums, which have no place in time' err
    netprof export ranks --to json --what regions -o tables.json
    [ "$(jq -c '[.traceEvents[] | select(.ph == "X") | .dur * 1000]' ranks.json)" = "$(jq -c '[.tables.ranks.rows[].elapsed_ns]' tables.json)" ]
}

@test "perfetto: how busy the GPUs of an Nsight Systems export were" {
    "$NETPROF_TEST_TOP/tests/nsys/make_export" 2025 r0.sqlite rank=0 host=node0
    netprof export r0.sqlite --to perfetto -o trace.json
    netprof export r0.sqlite --to json -o tables.json
    [ "$(jq -c '[.traceEvents[] | select(.ph == "C" and (.name | test(": kernels$"))) | .args["share of time"]]' trace.json)" = \
        "$(jq -c '[.tables.nsys_busy.rows[].kernels | values]' tables.json)" ]
    jq -e '.traceEvents | length > 50' trace.json
    # every kernel with a plausible time, as SQLite reads them: in the lane of its GPU and stream, to the ns
    python3 - <<'END'
import json, sqlite3
from decimal import Decimal
kernels = sqlite3.connect("r0.sqlite").execute("""
    SELECT printf('GPU %d of process %d stream %d', deviceId, (globalPid >> 24) & 16777215, streamId), coalesce(nullif(value, ''), 'kernel'),
        start, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL LEFT JOIN StringIds ON id = demangledName
        WHERE typeof(start) = 'integer' AND typeof(end) = 'integer' AND start >= 0 AND end >= start""").fetchall()
trace = json.load(open("trace.json"), parse_float=Decimal)
events, zero = trace["traceEvents"], int(trace["otherData"]["zero_ns"])
begin = json.load(open("tables.json"))["tables"]["nsys_files"]["rows"][0]["begin_ns"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
found = sorted((lanes[e["tid"]], e["name"], zero + int(Decimal(e["ts"]) * 1000) - begin, int(Decimal(e["dur"]) * 1000), "nccl" in e["name"])
               for e in events if e.get("cat") in ("kernel", "NCCL kernel"))
wanted = sorted((*k, "nccl" in k[1]) for k in kernels)
assert len(wanted) > 50 and found == wanted, [p for p in zip(found, wanted) if p[0] != p[1]][:3]
assert all((e["cat"] == "NCCL kernel") == e["name"].startswith("nccl") for e in events if "cat" in e)
END
}

# calls TRACE: every call of NCCL as [node, lane, name, begin in ns since 1970, length in ns or null, sequence number].
calls() {
    python3 - "$1" <<'END'
import json, sys
from decimal import Decimal
trace = json.load(open(sys.argv[1]), parse_float=Decimal)
events, zero = trace["traceEvents"], int(trace["otherData"]["zero_ns"])
nodes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
busy = {}
for e in events:
    if not e.get("cat", "").startswith("NCCL "): continue
    begin = zero + int(Decimal(e["ts"]) * 1000)
    length = int(Decimal(e["dur"]) * 1000) if e["ph"] == "X" else None
    assert busy.get(e["tid"], 0) <= begin, "two at once on one thread"
    busy[e["tid"]] = begin + (length or 0)
    print(json.dumps([nodes[e["pid"]], lanes[e["tid"]], e["name"], begin, length, e["args"]["sequence_number"]]))
END
}

@test "perfetto: NCCL's calls from the profiler plugin run where their network operations did" {
    # Played again where the threads of the script lost their processors for so long that its calls are not as written.
    for try in 1 2 3; do
        rm -rf plugin && mkdir plugin
        NETPROF_NCCL_DIR=$PWD/plugin NETPROF_NCCL=step "$NETPROF_TEST_BUILD/tests/make_nccl_cluster" 0 1 1
        netprof export plugin --to perfetto -o trace.json
        calls trace.json >found
        # the script: 40 calls of 64 ranks, 10 ms apart; operations from 1 us after a call's begin to 2 ms after it
        python3 - <<'END' && break
import json
found = sorted(tuple(json.loads(line)) for line in open("found"))
wanted = sorted(("node%02d" % (r // 4), "NCCL world rank %d" % r, "AllReduce 4 MiB", 1700000000 * 10**9 + i * 10**7 + 1000, 1999000, i)
                for r in range(64) for i in range(40))
different = sorted(set(found) ^ set(wanted))
assert found == wanted, (len(found), len(wanted), different[:6])
END
        [ "$try" -lt 3 ]
    done
    # the time until the first data are those of netprof nccl, which counts from there
    netprof nccl -q plugin -o tables >/dev/null
    python3 - <<'END'
import csv, json
events = json.load(open("trace.json"))["traceEvents"]
times = {}
for e in events:
    if e["ph"] == "X": times.setdefault(e["args"]["sequence_number"], []).append(round(e["dur"] - e["args"]["first_data_us"]))
found = sorted((sn, min(t), max(t), len(t)) for sn, t in times.items())
wanted = sorted((int(r["coll_sn"]), int(r["min_us"]), int(r["max_us"]), 64) for r in csv.DictReader(open("tables/instances.csv", newline="")))
assert found == wanted and len(found) == 40, [p for p in zip(found, wanted) if p[0] != p[1]][:3]
END
}

@test "perfetto: kernels of NCCL are by the GPU's clock, none before its call was enqueued; what has no time is an instant" {
    mkdir plugin
    NETPROF_NCCL_DIR=$PWD/plugin NETPROF_NCCL=all "$NETPROF_TEST_BUILD/tests/make_nccl_cluster" kernels
    netprof export plugin --to perfetto -o trace.json
    calls trace.json >found
    python3 - <<'END'
import json
lane = "NCCL node rank 1: kernels (by the GPU's clock, as early as they fit)"
t = 1700000000 * 10**9
assert [json.loads(line) for line in open("found")] == [["node0", lane, "AllReduce 4 KiB", t + i * 10**7 + later * 10**6, 500000, i]
                                                        for i, later in enumerate((2, 0, 1))], open("found").read()
END
    rm plugin/*
    NETPROF_NCCL_DIR=$PWD/plugin NETPROF_NCCL=coll "$NETPROF_TEST_BUILD/tests/make_nccl_cluster" kernels
    netprof export plugin --to perfetto -o trace.json
    calls trace.json >found
    python3 - <<'END'
import json
lane = "NCCL node rank 1: enqueued (when it ran is not known)"
assert [json.loads(line) for line in open("found")] == [["node0", lane, "AllReduce 4 KiB", 1700000000 * 10**9 + i * 10**7, None, i] for i in range(3)]
END
    [ "$(status_of netprof export plugin --to csv -o tables 2>err)" = 3 ]
    grep -q "holds NCCL's calls: --to perfetto shows them, and netprof nccl -o DIR writes their tables" err
    # Beside counters they are left out, and that is said.
    netprof collect -q --sources netdev -o node.netprof
    netprof export node.netprof plugin --to csv -o both 2>err
    grep -q "^netprof.*plugin/.*: holds NCCL's calls: --to perfetto shows them" err
    netprof export node.netprof plugin --to csv --what snapshots -o counters 2>err
    refute grep -q "NCCL's calls" err
    netprof export node.netprof plugin --to perfetto -o trace.json 2>err
    refute grep -q "NCCL's calls" err
}

@test "perfetto: NCCL's calls from the Inspector are on the job's clock where verbose logs tell when they ran" {
    made a.json n1 0 0 1000 2000
    made b.json n2 7.25 0 5000 6000
    mkdir logs
    python3 - <<'END'
import json
def line(rank, host, dump_us, sn, size, **more):
    return json.dumps({"header": {"id": "0xabc", "comm_name": "dp", "rank": rank, "n_ranks": 2, "nnodes": 2},
        "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "1", "rec_mechanism": "nccl_profiler_interface",
                     "dump_timestamp_us": dump_us, "hostname": host, "pid": 10 + rank},
        "coll_perf": {"coll": "AllGather", "coll_sn": sn, "coll_msg_size_bytes": size, "coll_exec_time_us": 40,
                      "coll_timing_source": "kernel_cpu", "coll_algobw_gbs": 1.0, "coll_busbw_gbs": 1.0, **more}}) + "\n"
t = 1700000000 * 10**6
with open("logs/n1-pid10.log", "w") as f: # calls that overlap, and kernels that ran within a call
    f.write(line(0, "n1", t + 900, 0, 1024, event_trace_ts={"coll_start_ts": t + 100, "coll_stop_ts": t + 200}))
    f.write(line(0, "n1", t + 900, 1, 1024, event_trace_ts={"coll_start_ts": t + 150, "coll_stop_ts": t + 400, "kernel_events": [
        {"channel_id": 0, "kernel_start_ts": t + 170, "kernel_stop_ts": t + 250}, {"channel_id": 1, "kernel_start_ts": t + 160, "kernel_stop_ts": t + 240}]}))
with open("logs/n2-pid11.log", "w") as f: # by a clock that is 7.25 s ahead
    f.write(line(1, "n2", t + 7250900, 0, 1024, event_trace_ts={"coll_start_ts": t + 7250110, "coll_stop_ts": t + 7250200}))
    f.write(line(1, "n2", t + 7250950, 1, 1024))
END
    netprof export a.json b.json logs --to perfetto -o trace.json
    calls trace.json >found
    python3 - <<'END'
import json
t = 1700000000 * 10**9
found = sorted(json.loads(line) for line in open("found"))
for x in found: x[3] = round(x[3], -3)  # clocks are moved by doubles
assert found == [
    ["n1", "NCCL dp rank 0", "AllGather 1 KiB", t + 100000, 100000, 0],
    ["n1", "NCCL dp rank 0", "AllGather 1 KiB", t + 160000, 90000, 1],
    ["n2", "NCCL dp rank 1", "AllGather 1 KiB", t + 110000, 90000, 0],
    ["n2", "NCCL dp rank 1: written (when it ran was not logged)", "AllGather 1 KiB", t + 950000, None, 1]], open("found").read()
END
    [ "$(status_of netprof export logs --to parquet -o tables 2>err)" = 3 ]
}
