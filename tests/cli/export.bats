#!/usr/bin/env bats
# netprof export: what it writes, read back by the programs of the formats: Python's csv and json, sqlite3, h5dump,
# DuckDB. Expected values come from an independent reader of .netprof, or from the test itself.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-export" ] || skip 'no netprof-export'
    cd "$BATS_TEST_TMPDIR" || return
    tools=$NETPROF_TEST_TOP/tests/export
}

# The formats that can be written and read back here.
setup_file() {
    all_formats=$(netprof --list-options export | sed -n 's/^--to\t//p' | tr '|' ' ')
    formats='csv json'
    if command -v sqlite3 >/dev/null && ! netprof export x --to sqlite -o x 2>&1 | grep -q 'built without'; then
        formats+=' sqlite'
    fi
    if command -v h5dump >/dev/null && ! netprof export x --to hdf5 -o x 2>&1 | grep -q 'built without'; then
        formats+=' hdf5'
    fi
    [ -z "${NETPROF_DUCKDB-}" ] || formats+=' parquet'
    export formats all_formats
}

# same_in_all ARGUMENT…: exports to every format; what is read back is the same in all, and is in tables.json.
same_in_all() {
    local format exports=()
    rm -rf out.*
    for format in $formats; do
        netprof export "$@" --to "$format" -o "out.$format"
        exports+=("$format" "out.$format")
    done
    [ "${#exports[@]}" -ge 4 ]
    "$tools/read_tables" "${exports[@]}" >tables.json
}

# cell TABLE COLUMN ROW: of tables.json.
cell() {
    jq -r --arg t "$1" --arg c "$2" --argjson r "$3" '.[$t][$c][$r]' tables.json
}

# A recording of this node: all counters at its ends, the fast set between them, six readings or more.
record() {
    local status=0
    rm -f go run.netprof
    netprof run -q --sources netdev,ip --interval 0.05 -o run.netprof -- sh -c 'until [ -e go ]; do sleep 0.02; done' &
    wait_for_readings run.netprof 5 || status=1
    touch go
    wait $! && return $status
}

@test "every format is in the manual, and can be written and read back here" {
    local format missing=
    [[ $all_formats == 'csv json '* ]]
    for format in $all_formats; do
        grep -q "^\.B $format\$" "$NETPROF_TEST_TOP/tools/man/netprof-export.1"
        # those have tests of their own: here, in export_events.bats and in export_databases.bats
        [[ " $formats " == *" $format "* || $format =~ ^(arrows|perfetto|influx|openmetrics)$ ]] && continue
        missing+=" $format"
        [[ $format =~ ^(sqlite|hdf5|parquet)$ ]] # these need what may be missing here; others are left out by mistake
    done
    [ -z "$missing" ] || skip "not in the tests of all formats:$missing"
}

@test "a recording: every format holds every value, difference and rate" {
    record
    same_in_all run.netprof
    "$tools/check_values" tables.json run.netprof >counts
    [ "$(jq '.values > 200 and .differences > 50 and .rates > 50' counts)" = true ]
    [ "$(cell runs complete 0)" = 1 ]
    [ "$(jq '.runs.snapshots[0] | tonumber' tables.json)" -eq "$(jq '.snapshots.run | length' tables.json)" ]
    # what the fast set leaves out is differenced between the two full snapshots
    jq -e '[.counter_rates | [.from_ns, .to_ns] | transpose[]] | unique | length > 2' tables.json
}

@test "a simulated node: the tree's own files, and what netprof check finds" {
    netprof-sim create node --nics 1 --seed 3 >/dev/null
    netprof collect -q --root node -o before.netprof
    netprof-sim step node --seconds 1 --scenario congestion
    netprof collect -q --root node -o after.netprof
    same_in_all before.netprof after.netprof
    python3 - node tables.json <<'END'
import json, os, sys
table = json.load(open(sys.argv[2]))["counter_values"]
files, checked = os.path.join(sys.argv[1], "sys/class/cxi/cxi0/device/telemetry"), 0
for run, source, name, value, time in zip(*(table[c] for c in ("run", "source", "counter", "value", "time_ns"))):
    path = os.path.join(files, name)
    if run != "2" or source != "cxi" or not os.path.exists(path):
        continue
    want, stamp = open(path).read().split()[0].split("@")
    seconds, nanoseconds = stamp.split(".")
    assert value == want and int(time) == int(seconds) * 10**9 + int(nanoseconds), (name, value, want)
    checked += 1
assert checked > 1500, checked
END
    netprof check --json before.netprof after.netprof >check.json || true
    [ "$(jq -c '[.findings[].rule]' check.json)" = "$(jq -c .findings.rule tables.json)" ]
    [ "$(jq -c '[.findings[].claim]' check.json)" = "$(jq -c .findings.claim tables.json)" ]
    [ "$(jq '.findings.rule | length > 0' tables.json)" = true ]
    # the difference of the pair is the later file's
    jq -e '.counter_rates.run | unique == ["2"]' tables.json
}

# extremes FILE: a data set with the ends of uint64 and int64, values that are missing, and hostile names.
extremes() {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1
    netprof collect -q --root tree --sources cxi -o plain.json
    python3 - plain.json "$1" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
device = document["schemas"][0]["devices"][0]
names = ["zero", "low", "high", "most", "minus", "denied", "=cmd|'/C calc'!A0", "a\"b,c", "two\nlines", "'; DROP TABLE x; --",
         "Zero", "\u65e5\u672c", "@sum", "-1+1", "\u202edlrow", ".", "a/b", "\\", "[x] {y}"]
device["counters"] = [{"counter": n, "unit": "bytes", "kind": "gauge" if n == "minus" else "counter", "width_bits": 64, "scale": 1,
                       "flags": ["signed"] if n == "minus" else []} for n in names]
device["device"] = "+dev\"i,ce"
values = [0, 2**63 - 1, 2**63, 2**64 - 1, -2**63, None] + list(range(100, 113))
first, second = ({"device": device["device"], "source": "cxi", "monotonic_begin_ns": t, "monotonic_end_ns": t + 5,
                  "values": dict(zip(names, values)), "not_ok": {"denied": ["denied", 13]}} for t in (1000, 2000001000))
s = document["snapshots"][0]
document["snapshots"] = [dict(s, monotonic_begin_ns=t, monotonic_end_ns=t + 5, time_ns=1700000000000000000 + t, devices=[d])
                         for t, d in ((1000, first), (2000001000, second))]
json.dump(document, open(sys.argv[2], "w"))
END
}

@test "the ends of uint64, missing values and hostile names, the same in all formats" {
    extremes x.json
    netprof convert x.json x.netprof
    same_in_all x.netprof --plain
    [ "$(jq -c '.counter_values.value[0:6]' tables.json)" = '["0","9223372036854775807","9223372036854775808","18446744073709551615",null,null]' ]
    [ "$(cell counter_values signed_value 4)" = -9223372036854775808 ]
    [ "$(cell counter_values status 5)" = denied ]
    [ "$(cell counter_values errno 5)" = 13 ]
    [ "$(cell counter_values counter 8)" = $'two\nlines' ]
    [ "$(cell counter_values device 0)" = '+dev"i,ce' ]
    [ "$(cell counter_rates difference 2)" = 0 ]
    [ "$(jq -c '.counter_rates | [.counter, .difference, .rate_per_s, .status] | transpose | map(select(.[0] == "denied"))' tables.json)" = \
        '[["denied",null,null,"unknown"]]' ]
    same_in_all x.netprof --wide --plain
    [ "$(cell counter_values_wide "cxi/+dev\"i,ce/most [bytes]" 0)" = 18446744073709551615 ]
    [ "$(cell counter_values_wide "cxi/+dev\"i,ce/denied [bytes]" 0)" = null ]
    [ "$(cell counter_values_wide "cxi/+dev\"i,ce/zero [bytes]" 0)" = 0 ]
    [ "$(cell counter_values_wide "cxi/+dev\"i,ce/Zero [bytes] #2" 0)" = 104 ]
    [ "$(jq -c '.counter_missing | [.column, .status, .errno] | transpose | unique' tables.json)" = \
        '[["cxi/+dev\"i,ce/denied [bytes]","denied","13"]]' ]
}

@test "CSV: no cell is a formula, unless --plain" {
    extremes x.json
    netprof export x.json --to csv -o tables
    python3 - <<'END'
import csv, os, re
texts = 0
for name in os.listdir("tables"):
    data = open("tables/" + name, newline="", encoding="utf-8").read()
    assert data.endswith("\r\n")
    for row in csv.reader(data.splitlines(keepends=True), strict=True):
        for cell in row:
            assert not re.match(r"[=+@\t\r-]", cell) or re.fullmatch(r"[-+]?\d+(\.\d+)?", cell), cell
            texts += cell.startswith("'")
assert texts > 4
END
    netprof export x.json --to csv --table counters --plain -o - | grep -q '^1,,cxi,"+dev""i,ce",=cmd|'
}

@test "JSON and CSV of one table on the standard output" {
    record
    netprof export run.netprof --to csv --table runs -o - >out
    [ "$(head -n 1 out)" = $'run,path,format,host,snapshots,begin_ns,end_ns,complete,node\r' ]
    [ "$(wc -l <out)" -eq 2 ]
    netprof export run.netprof --to json --table runs -o - >out
    [ "$(jq -c '.tables | keys' out)" = '["runs"]' ]
    [ "$(jq -r '.tables.runs.columns[5] | .name, .type, .unit' out | tr '\n' ' ')" = 'begin_ns int64 ns ' ]
    netprof export - --to json --table runs -o - <run.netprof >out
    [ "$(jq -r '.tables.runs.rows[0].path' out)" = - ]
    [ "$(jq '.tables.runs.rows[0].snapshots' out)" -gt 3 ]
}

@test "SQLite: views of rates, totals and the worst counters; exact large numbers" {
    [[ $formats == *sqlite* ]] || skip 'no SQLite'
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=2000 hni_llr_rx_replay_event=3 big=18446744073709551614
    make_nic tree cxi1 hni_sts_rx_ok_octets=5 hni_sts_tx_ok_octets=6
    netprof collect -q --root tree --sources cxi -o a.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 5000 2
    set_counter tree cxi0 hni_sts_tx_ok_octets 4000 2
    set_counter tree cxi0 hni_llr_rx_replay_event 13 2
    set_counter tree cxi1 hni_sts_rx_ok_octets 6 2
    set_counter tree cxi1 hni_sts_tx_ok_octets 7 2
    netprof collect -q --root tree --sources cxi -o b.netprof
    netprof export a.netprof b.netprof --to sqlite -o job.db
    query() { sqlite3 job.db "$1"; }
    # over the counters' own stamps, 2 s apart: 4000 and 2000 bytes; both NICs are the host's ports
    [ "$(query "SELECT device, received_bytes_per_s, sent_bytes_per_s FROM device_rates WHERE device = 'cxi0'")" = 'cxi0|2000.0|1000.0' ]
    [ "$(query 'SELECT bytes_received, bytes_sent, lower_bound FROM host_totals')" = '4001|2001|0' ]
    [ "$(query "SELECT counter, total, largest_rate_per_s FROM worst_counters")" = 'hni_llr_rx_replay_event|10|5.0' ]
    [ "$(query "SELECT value IS NULL, value_text FROM counter_values_exact WHERE counter = 'big' AND run = 1")" = '1|18446744073709551614' ]
    [ "$(query "SELECT value_text FROM counter_values_exact WHERE counter = 'hni_sts_rx_ok_octets' AND device = 'cxi0' AND run = 1")" = 1000 ]
    [ "$(query "SELECT count(*) FROM beyond_int64")" -ge 2 ]
    [ "$(query 'PRAGMA integrity_check')" = ok ]
    # too many columns for SQLite is said, with the way out
    jq -c '.schemas[0].devices[0] |= (.counters = [range(2100) as $i | .counters[0] | .counter = "c\($i)"]) | .schemas[0].devices |= .[0:1] |
        .snapshots[0].devices = [.snapshots[0].devices[0] | .values = ([range(2100) | {"c\(.)": .}] | add) | del(.stamps_ns)]' \
        <(netprof convert a.netprof - --to json) >many.json
    [ "$(status_of netprof export many.json --wide --to sqlite -o wide.db)" = 3 ]
    grep -q 'columns, and SQLite can have 2000: choose counters with --include' err
    [ ! -e wide.db ]
    netprof export many.json --wide --include 'cxi0/c7?' --to sqlite -o wide.db
    [ "$(sqlite3 wide.db "SELECT count(*) FROM pragma_table_info('counter_values_wide')")" = 14 ]
}

@test "SQLite: at most 20 bytes a value, rates among them, on idle counters and on busy ones" {
    [[ $formats == *sqlite* ]] || skip 'no SQLite'
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 1 -t 40 -a job # a whole Cassini node's counters, each with its own stamp
    netprof export job --to sqlite -o job.db
    values=$(sqlite3 job.db 'SELECT count(*) FROM counter_values')
    [ "$values" -gt 200000 ]
    [ "$(sqlite3 job.db 'SELECT count(*) FROM counter_rates')" -gt $((values / 2)) ]
    [ "$(stat -c %s job.db)" -le $((values * 20)) ]
    # one counter's rates are found by its name, not by looking at all readings
    sqlite3 job.db "EXPLAIN QUERY PLAN SELECT * FROM counter_rates WHERE counter = 'hni_sts_tx_ok_octets'" >plan
    grep -q 'series_by_counter' plan
    refute grep -q 'SCAN r' plan
}

@test "SQLite: rates that do not follow from two readings are as in CSV, of counters that began anew or come and go" {
    [[ $formats == *sqlite* ]] || skip 'no SQLite'
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=2000
    for i in 1 2 3 4 5 6; do
        case $i in
        3) set_counter tree cxi0 hni_sts_rx_ok_octets 7 $((2 * i)) ;; # began anew
        4) printf '%-63s\n' 'no number' 9<>tree/sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets >&9 ;;
        5) make_nic tree cxi1 hni_sts_rx_ok_octets=3 hni_sts_tx_ok_octets=4 ;;
        *) set_counter tree cxi0 hni_sts_rx_ok_octets ${i}000 $((2 * i)) ;;
        esac
        netprof collect -q --root tree --sources cxi -o "$i.netprof"
    done
    cat ?.netprof >all.netprof
    for files in '1.netprof 2.netprof 3.netprof 4.netprof' '5.netprof 6.netprof all.netprof'; do
        rm -rf csv x.db
        # shellcheck disable=SC2086
        netprof export $files --to csv -o csv
        # shellcheck disable=SC2086
        netprof export $files --to sqlite -o x.db
        "$tools/read_tables" csv csv sqlite x.db >tables.json
        jq -e '.counter_rates.run | length > 1' tables.json
    done
    # rates without values, values without rates
    netprof export 1.netprof 2.netprof --to csv --what series -o csv
    netprof export 1.netprof 2.netprof --to sqlite --what series -o x.db
    "$tools/read_tables" csv csv sqlite x.db >tables.json
    jq -e '(.counter_rates.rate_per_s | length > 1) and (has("counter_values") | not)' tables.json
}

@test "CSV: --iso tells each moment as text, too" {
    extremes x.json
    netprof export x.json --to csv --iso -o tables
    netprof export x.json --to csv -o plain
    python3 - <<'PYTHON'
import csv, datetime, os
found = 0
for name in os.listdir("plain"):
    iso, plain = (list(csv.DictReader(open(d + "/" + name, newline="", encoding="utf-8"))) for d in ("tables", "plain"))
    assert len(iso) == len(plain)
    for row, other in zip(iso, plain):
        assert {c: v for c, v in row.items() if not c.endswith("_utc")} == other
        for column in [c for c in row if c.endswith("_utc")]:
            ns = row[column[:-4] + "_ns"]
            if not ns: assert row[column] == ""; continue
            whole, part = row[column].rstrip("Z").split(".")
            seconds = int(datetime.datetime.fromisoformat(whole + "+00:00").timestamp())
            assert len(part) == 9 and seconds * 10**9 + int(part) == int(ns), (row[column], ns)
            found += 1
assert found > 30, found
PYTHON
    head -n 1 tables/counter_values.csv | grep -q '^run,host,snapshot,time_ns,time_utc,source,'
    head -n 1 tables/snapshots.csv | grep -q ',time_ns,time_utc,begin_ns,end_ns,set,' # those two are of no calendar
    [ "$(status_of netprof export x.json --to json --iso -o out.json)" = 2 ]
}

@test "Arrow: what DuckDB needs for it is said before anything is written" {
    need_duckdb
    # DuckDB throws and catches inside itself; the address sanitizer of a program in C knows no exceptions.
    ! nm "$NETPROF_TEST_BIN/netprof-export" | grep -q __asan_init || skip 'a sanitizer, which ends at an exception of C++'
    record
    code=$(status_of netprof export run.netprof --to arrows --table runs -o runs.arrows)
    if [ "$code" = 0 ]; then # the extension is installed here
        [ "$(head -c 4 runs.arrows | od -An -tx1 | tr -d ' ')" = ffffffff ]
    else
        [ "$code" = 3 ]
        grep -q 'extension nanoarrow is needed and not installed: INSTALL nanoarrow FROM community' err
        [ -z "$(ls -d runs.arrows* 2>/dev/null)" ]
    fi
}

@test "HDF5: native types, chunks and deflate, units" {
    [[ $formats == *hdf5* ]] || skip 'no HDF5'
    extremes x.json
    netprof export x.json --to hdf5 -o x.h5
    h5dump -p -H -d /counter_values/value x.h5 >out
    grep -q H5T_STD_U64LE out
    grep -q 'COMPRESSION DEFLATE { LEVEL 4 }' out
    grep -q CHUNKED out
    h5dump -a /counter_rates/rate_per_s/unit x.h5 | grep -q '"1/s"'
    h5dump -y -d /counter_values/value x.h5 | tr -d ' \n' | grep -q 'DATA{0,9223372036854775807,9223372036854775808,18446744073709551615,18446744073709551615,18446744073709551615,100,'
    h5dump -y -d /counter_values/value.valid x.h5 | tr -d ' \n' | grep -q 'DATA{1,1,1,1,0,0,1,'
}

@test "regions: what netprof regions tells, in every format" {
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 2 ranks
    same_in_all ranks
    netprof regions ranks --csv --min-share 0 >regions.csv
    netprof regions ranks --csv --rank all --min-share 0 >ranks.csv
    netprof regions ranks --json --min-share 0 >regions.json
    python3 - tables.json regions.csv ranks.csv regions.json <<'END'
import csv, json, sys
tables = json.load(open(sys.argv[1]))
rows = lambda path: list(csv.DictReader(open(path, newline="")))
table = lambda name: [dict(zip(tables[name], row)) for row in zip(*tables[name].values())]
def same(found, wanted, columns):
    assert len(found) == len(wanted) > 0
    for got, want in zip(found, wanted):
        for column in columns:
            assert (got[column] or "") == want[column], (column, got, want)
counts = ["region", "calls", "measured_calls", "open_calls", "inclusive_ns", "exclusive_ns", "min_ns", "max_ns"]
same(table("regions"), rows(sys.argv[2]), ["region", "depth", "calls", "inclusive_ns", "exclusive_ns"])
same(table("region_ranks"), rows(sys.argv[3]), counts + ["rank", "host", "threads", "longest_thread_ns", "declared_bytes"])
document = json.load(open(sys.argv[4]))
found = {}
for row in table("region_histograms"):
    if row["rank"] is None:
        found.setdefault(row["region"], []).append((int(row["from_ns"]), int(row["calls"])))
measured = {row["region"]: int(row["measured_calls"]) for row in table("regions")}
for region, buckets in found.items():
    assert sum(calls for _, calls in buckets) == measured[region], region
assert len(found) == sum(m > 0 for m in measured.values())
assert len(table("region_findings")) == len(document["findings"]) if "findings" in document else True
assert len(table("ranks")) == len(document["ranks"]) == 2
END
    record
    netprof export ranks run.netprof --to json -o both.json
    [ "$(jq '.tables | has("regions") and has("counter_values")' both.json)" = true ]
    netprof export ranks run.netprof --what regions --to json -o one.json
    [ "$(jq '.tables | has("regions") and (has("counter_values") | not)' one.json)" = true ]
}

@test "a job's directory: every node's recording and the regions, in every format; a file that is none is said" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -t 20 -g 1 -k 2 job
    same_in_all job
    "$tools/check_values" tables.json job/n01.netprof job/n02.netprof job/n03.netprof >counts
    [ "$(jq '.values > 500 and .differences > 300' counts)" = true ]
    [ "$(jq -c '.runs | [.run, .path, .host, .node] | transpose' tables.json)" = \
        '[["1","job/n01.netprof","n01","n01"],["2","job/n02.netprof","n02","n02"],["3","job/n03.netprof","n03","n03"]]' ]
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 2 job
    netprof export job --to json -o both.json
    [ "$(jq -c '.tables | (.runs.rows | length), (.ranks.rows | length)' both.json | tr '\n' ' ')" = '3 2 ' ]
    [ "$(jq -c '[.tables.counter_values.rows[] | .value] | length' both.json)" = "$(jq '.counter_values.value | length' tables.json)" ]
    echo junk >job/bad.netprof
    [ "$(status_of netprof export job --to json -o left.json)" = 1 ]
    grep -q '^netprof export: job/bad.netprof: ' err
    [ "$(jq '.tables.runs.rows | length' left.json)" = 3 ]
    [ "$(status_of netprof export job --to json -o -)" = 1 ] # what is left out is no error of the whole: one document
    [ "$(jq -s -r '.[].format' out)" = netprof-export ]
    [ "$(status_of netprof export job nowhere --to json -o -)" = 3 ]
    [ "$(jq -s -r '.[] | .format, .file' out | xargs)" = 'netprof-error nowhere' ]
    mkdir empty
    [ "$(status_of netprof export empty --to json -o none.json)" = 3 ]
    grep -q 'empty: no file \*.netprof there' err
    [ ! -e none.json ]
}

@test "SQLite: each view is what the plain tables make, and each run counts for itself" {
    [[ $formats == *sqlite* ]] || skip 'no SQLite'
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 2 -t 40 -g 1 -k 2 job
    # two recorders of one host, at the same time
    cp job/n02.netprof job/n02-again.netprof
    netprof export job --to sqlite -o job.db
    python3 - <<'END'
import collections, sqlite3
db = sqlite3.connect("job.db")
db.row_factory = sqlite3.Row
key = lambda r: (r["run"], r["source"], r["device"], r["counter"])
counters = {key(r): r for r in db.execute("SELECT * FROM counters")}
ports = {(r["run"], r["source"], r["device"]) for r in db.execute("SELECT * FROM devices WHERE physical AND NOT repeats")}
totals, worst, rates = collections.Counter(), collections.Counter(), {}
for r in db.execute("SELECT * FROM counter_rates"):
    c = counters[key(r)]
    if c["role"] and key(r)[:3] in ports: totals[r["run"], c["role"]] += r["difference"] or 0
    if c["trouble"]: worst[key(r)] += r["difference"] or 0
    if c["role"]: rates.setdefault((key(r)[:3], r["from_ns"], r["to_ns"]), {})[c["role"]] = r["rate_per_s"]
found = [dict(r) for r in db.execute("SELECT * FROM host_totals ORDER BY run")]
assert [r["host"] for r in found] == ["n01", "n02", "n02"], found
for r in found:
    assert (r["bytes_received"], r["bytes_sent"]) == (totals[r["run"], "bytes received"], totals[r["run"], "bytes sent"])
    assert r["bytes_received"] > 10 ** 9
assert {key(r): r["total"] for r in db.execute("SELECT * FROM worst_counters")} == {k: n for k, n in worst.items() if n} != {}
view = {((r["run"], r["source"], r["device"]), r["from_ns"], r["to_ns"]): {"bytes received": r["received_bytes_per_s"],
        "bytes sent": r["sent_bytes_per_s"]} for r in db.execute("SELECT * FROM device_rates")}
assert view == rates and len(view) > 200
exact = {r["value_text"]: r for r in db.execute("SELECT * FROM counter_values_exact")}
assert all(str(r["value"]) == text for text, r in exact.items() if r["value"] is not None) and len(exact) > 100
END
}

@test "Nsight Systems exports: the tables of netprof nsys, in every format" {
    local make=$NETPROF_TEST_TOP/tests/nsys/make_export
    "$make" 2025 r0.sqlite rank=0 host=node0
    "$make" 2023 r1.sqlite rank=1 host=node1 clock=3000000
    "$make" 2019 old.sqlite
    same_in_all r0.sqlite r1.sqlite --plain
    netprof nsys r0.sqlite r1.sqlite --json >nsys.json
    python3 - tables.json nsys.json <<'END'
import json, sys
tables, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
table = lambda name: [dict(zip(tables[name], row)) for row in zip(*tables[name].values())]
want = [(str(i + 1), t, r) for i, f in enumerate(said["files"]) for t, x in f["tables"].items() for r in x["rows"]]
want += [(None, t, r) for t, x in said["together"].items() for r in x["rows"]]
rows = table("nsys_tables")
assert len(rows) == len(want) > 300
for row, (file, name, r) in zip(rows, want):
    unit = row["unit"]
    assert (row["file"], row["table_name"], row["name"], row["of"]) == (file, name, r["name"] or None, r.get("of")), (row, r)
    assert (int(row["count"]), int(row["total"]), int(row["max"])) == (r["count"], r["total_" + unit], r["max_" + unit])
    assert all(float(row[k]) == r[k + "_" + unit] for k in ("mean", "median", "deviation")), (row, r)
processes = table("nsys_processes")
assert [(p["rank"], p["host"], p["mpi_ns"]) for p in processes] == [(str(p["rank"]), p["host"], str(p["mpi_ns"])) for p in said["processes"]]
assert [int(f["begin_ns"]) for f in table("nsys_files")] == [f["begin_ns"] for f in said["clocks"]["files"]]
busy = table("nsys_busy")
for i, file in enumerate(said["files"]):
    for gpu in file["busy"]["gpus"]:
        mine = [b for b in busy if b["file"] == str(i + 1) and b["gpu"] == str(gpu["gpu"])]
        assert [float(b["kernels"]) for b in mine] == gpu["kernels"]["shares"] and len(mine) == 120
        assert abs(sum(float(b["kernels"]) * int(b["length_ns"]) for b in mine) - gpu["kernels"]["busy_ns"]) < 200
END
    # what the file does not tell is missing
    same_in_all old.sqlite --what programs --plain
    [ "$(jq -c '[.nsys_files | .host, .begin_ns, .session_ns][] | unique' tables.json | tr '\n' ' ')" = '[null] [null] [null] ' ]
    [ "$(jq -c '.nsys_processes | [.rank, .mpi_ns, .pid]' tables.json)" = '[[null],[null],["4711"]]' ]
    [ "$(jq -c '.nsys_busy.from_ns | unique' tables.json)" = '[null]' ]
    [ "$(status_of netprof export old.sqlite --what series --to json -o x.json)" = 3 ]
    # whatever such files in a directory are called
    mkdir named
    for i in 1 2 3; do cp old.sqlite "named/$i.netprof"; done
    netprof export named --to json --table nsys_files -o named.json
    [ "$(jq '.tables.nsys_files.rows | length' named.json)" = 3 ]
    record
    netprof export run.netprof old.sqlite --to json -o both.json
    [ "$(jq '.tables | has("counter_values") and has("nsys_tables")' both.json)" = true ]
    echo x >p.nsys-rep
    [ "$(status_of netprof export p.nsys-rep --to json -o x.json)" = 3 ]
    grep -q 'make its SQLite export' err
    [ ! -e x.json ]
}

@test "an export appears whole or not at all, and replaces an older one only" {
    record
    netprof export run.netprof --to csv -o tables
    netprof export run.netprof --to csv --what findings -o tables # an older export of ours
    [ "$(ls tables | tr '\n' ' ')" = 'facts.csv finding_evidence.csv findings.csv runs.csv verdicts.csv ' ]
    echo mine >tables/notes.txt
    [ "$(status_of netprof export run.netprof --to csv -o tables)" = 3 ]
    grep -q 'tables: holds notes.txt, which is no exported table' err
    [ "$(cat tables/notes.txt)" = mine ]
    [ "$(status_of netprof export missing.netprof --to json -o new.json)" = 3 ]
    [ "$(status_of netprof export run.netprof missing.netprof --to csv -o new)" = 3 ]
    [ "$(status_of netprof export run.netprof --to json -o /nonexistent/new.json)" = 3 ]
    echo nothing >text
    [ "$(status_of netprof export text --to json -o new.json)" = 3 ]
    grep -q '^netprof export: text: ' err
    [ -z "$(ls -d new* ./*.?????? 2>/dev/null | grep -v netprof)" ]
    [ "$(status_of netprof export run.netprof --to json -o tables)" = 3 ] # a directory
    [ "$(NETPROF_DUCKDB=/nonexistent/lib.so status_of netprof export run.netprof --to parquet -o pq)" = 3 ]
    grep -q "DuckDB's library is needed for Parquet" err
    [ ! -e pq ]
    [ -z "$(find . -name '*.??????' ! -name '*.json' | grep -v netprof)" ]
}

@test "files that were put together: each part is a run" {
    record
    cp run.netprof one.netprof
    record
    cat one.netprof run.netprof >both.netprof
    same_in_all both.netprof
    cp tables.json both.json
    same_in_all one.netprof run.netprof
    [ "$(jq -c .runs.run both.json)" = '["1","2"]' ]
    same='{counter_values, counter_rates, snapshots, devices, findings, verdicts, facts}'
    diff <(jq -S "$same" both.json) <(jq -S "$same" tables.json)
    [ "$(jq '.facts.run | length > 0' both.json)" = true ]
    netprof export - --to json --table snapshots -o - <both.netprof >out
    [ "$(jq -c '[.tables.snapshots.rows[].run] | unique' out)" = '[1,2]' ]
}

@test "an interrupt leaves nothing behind" {
    mkfifo pipe
    sleep 60 >pipe & # nothing comes, and no end
    holder=$!
    netprof export - --to csv -o tables <pipe 2>err &
    reader=$!
    for _ in $(seq 1200); do ls -d tables.?????? >/dev/null 2>&1 && break || sleep 0.05; done
    # Again for one that came just before it began to read.
    while kill -TERM "$reader" 2>/dev/null; do sleep 0.1; done
    status=0
    wait "$reader" || status=$?
    kill "$holder"
    [ "$status" -eq 3 ]
    cat err
    grep -q 'interrupted; nothing was written' err
    [ "$(wc -l <err)" -eq 1 ] # not that the file held nothing
    [ -z "$(ls -d tables* 2>/dev/null)" ]
}

@test "a damaged file gives what can be read, and exit code 1" {
    record
    cut_last run.netprof cut.netprof
    [ "$(status_of netprof export cut.netprof --to json -o cut.json)" = 1 ]
    [ -s err ]
    [ "$(jq '.tables.runs.rows[0].complete' cut.json)" = 0 ]
    netprof export run.netprof --to json -o run.json
    [ "$(jq '.tables.snapshots.rows | length' cut.json)" -eq $(($(jq '.tables.snapshots.rows | length' run.json) - 1)) ]
    diff <(jq -c '.tables.counter_values.rows[0:50][] | del(.run)' cut.json) <(jq -c '.tables.counter_values.rows[0:50][] | del(.run)' run.json)
}

@test "a full disk is an error for every format" {
    [ -e /dev/full ] || skip 'no /dev/full'
    record
    for format in csv json; do
        status=0
        netprof export run.netprof --to $format --table counter_values -o - >/dev/full 2>err || status=$?
        [ "$status" -eq 3 ]
        grep -q 'No space left on device' err
    done
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || skip 'may not mount a small file system'
    for format in $formats; do
        status=0
        # HDF5's library itself leaks what it could not write
        ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 netprof export run.netprof --to "$format" -o small/out 2>err || status=$?
        echo "$format: $status $(cat err)"
        [ "$status" -eq 3 ] || break
        [ -z "$(ls small)" ] || break
        status=done
    done
    umount small
    [ "$status" = done ]
}

@test "wrong usage" {
    while read -r arguments; do
        echo "netprof export $arguments"
        # shellcheck disable=SC2086
        [ "$(status_of netprof export $arguments)" = 2 ]
        [ ! -s out ]
        [ -s err ]
    done <<'END'
x
x --to csv
x --to xlsx -o out.x
x -o out.x
--to csv -o out.x
x --to csv -o out.x --what some
x --to csv -o out.x --table nothing
x --to csv -o out.x --table counter_values_wide
x --to csv -o out.x --table counter_values --wide
x --to csv -o out.x --table regions --what findings
x --to csv -o -
x --to sqlite -o -
x --to parquet -o - --table runs
x --to csv -o out.x --nonsense
x --to perfetto -o out.x --wide
x --to perfetto -o out.x --table counter_rates
END
}

# A recording of a node whose wall clock is set 1 h ahead after two readings, and 90 min back after four.
clock_was_set() {
    netprof record -q --job none -t 100ms -d 600ms --sources netdev,cpu -o plain.netprof
    netprof convert plain.netprof plain.json
    jq '.snapshots |= [to_entries[] | .value + {time_ns: (.value.time_ns +
        (if .key < 2 then 0 elif .key < 4 then 3600e9 else -1800e9 end))}]' plain.json >set.json
    netprof convert set.json set.netprof
}

@test "the clock was set while it was recorded: times and rates are in order, and it is said" {
    clock_was_set
    for file in set.json set.netprof; do
        rm -rf out
        netprof export "$file" --to csv -o out
        python3 - <<'PY'
import csv
times = [int(r["time_ns"]) for r in csv.DictReader(open("out/snapshots.csv"))]
mono = [int(r["begin_ns"]) for r in csv.DictReader(open("out/snapshots.csv"))]
assert len(times) > 4 and times == sorted(times), times
for a, b, c, d in zip(times, times[1:], mono, mono[1:]):
    assert abs((b - a) - (d - c)) < 10e6, (times, mono)
values = {int(r["time_ns"]) for r in csv.DictReader(open("out/counter_values.csv"))}
assert values == set(times)
rates = list(csv.DictReader(open("out/counter_rates.csv")))
assert rates and all(abs(int(r["to_ns"]) - int(r["from_ns"]) - int(r["interval_ns"] or 0)) < 20e6
                     for r in rates if r["interval_ns"])
run = next(csv.DictReader(open("out/runs.csv")))
assert (int(run["begin_ns"]), int(run["end_ns"])) == (times[0], times[-1])
told = [r for r in csv.DictReader(open("out/findings.csv")) if r["rule"] == "clock-set"]
assert len(told) == 1 and abs(float(told[0]["value"]) - 1800) < 0.1, told
assert abs(int(told[0]["to_ns"]) - times[-1]) < 10e6
PY
    done
    rm -rf out
    status_of netprof check set.netprof
    grep -q "the wall clock was set 30 min 00 s back between the two readings" out
    netprof diff set.netprof | grep -q '^The wall clock was set 30 min 00 s back between the two readings'
    refute grep -q 'wall clock' <(netprof diff plain.netprof)
    [ "$(netprof diff --json set.netprof | jq '.clock_set_ns / 1e9 | round')" = -1800 ]
    netprof diff --json plain.netprof | jq -e '.clock_set_ns == 0'
    netprof check --json set.netprof >check.json || true
    jq -e '.findings[] | select(.rule == "clock-set") | .severity == "info"' check.json
    netprof job set.netprof >job.txt || true
    tr -s ' \n' ' ' <job.txt | grep -q "the wall clock was set 2 times, 30 min 00 s back in all while it was recorded"
    netprof job --json set.netprof >job.json || true
    jq -e '.elapsed_s < 10 and ([.verdict.notes[] | select(.text | contains("the wall clock was set 2 times"))] | length == 1)' job.json
    netprof report set.netprof -o set.html
    grep -q "the wall clock was set 2 times" set.html
    # Nothing of that where it was not.
    netprof check --json plain.netprof >plain.check.json || true
    jq -e '[.findings[] | select(.rule == "clock-set")] == []' plain.check.json
}
