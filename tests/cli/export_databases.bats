#!/usr/bin/env bats
# netprof export to databases of time series: InfluxDB's line protocol and OpenMetrics. Both are read by strict parsers of our
# own, written from the specifications (tests/export/check_lines, check_openmetrics), and compared with the tables; and by
# Prometheus' Python client, promtool and InfluxDB itself where they are installed.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-export" ] || skip 'no netprof-export'
    cd "$BATS_TEST_TMPDIR" || return
    tools=$NETPROF_TEST_TOP/tests/export
}

teardown() {
    if [ -n "${server-}" ]; then kill "$server" 2>/dev/null || true; fi
}

# both ARGUMENT…: lines, text and tables of the same files agree. CHOICE=all: of every counter.
both() {
    local choice=()
    [ -z "${CHOICE-}" ] || choice=(--include '*')
    rm -rf tables
    netprof export "$@" --to csv --plain -o tables
    netprof export "$@" "${choice[@]}" --to influx -o lines
    netprof export "$@" "${choice[@]}" --to openmetrics -o text
    # shellcheck disable=SC2086
    "$tools/check_lines" lines tables ${CHOICE-} >lines.json
    # shellcheck disable=SC2086
    "$tools/check_openmetrics" text tables ${CHOICE-} >text.json
}

make_a_job() {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 2 -t 30 -g 1 -k 2 job
}

@test "a job: lines are the known rates and gauges of the tables, samples the last values" {
    make_a_job
    both job
    [ "$(jq '.lines > 1000 and .findings > 0' lines.json)" = true ]
    jq -e '.names | contains(["ic_read_bw", "ic_write_bw", "net_bw", "cxi_hni_sts_tx_ok_octets_per_s"])' lines.json
    [ "$(jq '.values > 50' text.json)" = true ]
    CHOICE=all both job
    # the same bytes each time, and to the standard output
    netprof export job --include '*' --to influx -o - | cmp - lines
    netprof export job --include '*' --to openmetrics -o - | cmp - text
}

@test "a recording of this node, all that it has" {
    netprof record -q --interval 50ms -d 500ms --job none -o node.netprof
    both node.netprof
    [ "$(jq '.lines > 50' lines.json)" = true ]
    CHOICE=all both node.netprof
    [ "$(jq '.values > 50' text.json)" = true ]
}

@test "what a line and a sample look like, to the letter" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=9007199254740993
    mkdir -p tree/proc/sys/kernel && echo n1 >tree/proc/sys/kernel/hostname
    netprof collect -q --root tree --sources cxi -o a.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 5000 2
    netprof collect -q --root tree --sources cxi -o b.netprof
    netprof export a.netprof b.netprof --to influx --tag cluster=alex --tag 'my tag=a,b=c' -o lines
    time=$(netprof export b.netprof --to csv --table snapshots -o - | tail -n 1 | cut -d , -f 4)
    grep -qxF "cxi_hni_sts_rx_ok_octets_per_s,hostname=n1,stype=cxi,stype-id=cxi0,type=node,cluster=alex,my\\ tag=a\\,b\\=c,unit=bytes/s value=2000 $time" lines
    grep -qE "^ic_read_bw,hostname=n1,stype=network,stype-id=cxi0,type=node,cluster=alex,.* value=2000 $time\$" lines
    # nothing was sent, and nothing is known of that rate: no time passed by its own stamps
    refute grep -q '^ic_write_bw' lines
    # so the sum of both is not known either
    refute grep -q '^net_bw' lines
    netprof export b.netprof --to openmetrics --tag cluster=alex -o text
    grep -qxF '# TYPE netprof_cxi_hni_sts_tx_ok_octets_bytes counter' text
    grep -qxF '# UNIT netprof_cxi_hni_sts_tx_ok_octets_bytes bytes' text
    # beyond 2^53, exact here
    grep -qxF "netprof_cxi_hni_sts_tx_ok_octets_bytes_total{cluster=\"alex\",host=\"n1\",device=\"cxi0\"} 9007199254740993" text
    grep -qE '^netprof_source_up\{cluster="alex",.*source="cxi",status="ok"\} 1$' text
    grep -qE '^netprof_sweep_seconds\{.*\} [0-9.e-]+$' text
    [ "$(tail -n 1 text)" = '# EOF' ]
    refute grep -qE '^netprof.*\} [^ ]+ [^ ]+$' text # no time stamps
}

@test "what could not be read has no line and no sample, and a reset is no rate" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=2000
    netprof collect -q --root tree --sources cxi -o a.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 7 2
    printf '%-63s\n' 'no number' 9<>tree/sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets >&9
    netprof collect -q --root tree --sources cxi -o b.netprof
    both a.netprof b.netprof
    refute grep -q 'octets_per_s' lines
    refute grep -q 'tx_ok_octets' text
    grep -q 'rx_ok_octets_bytes_total.* 7$' text
}

@test "hostile names: every reader gets one line a value, and the names back" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1
    netprof collect -q --root tree --sources cxi -o plain.json
    python3 - <<'END'
import json
document = json.load(open("plain.json"))
device = document["schemas"][0]["devices"][0]
names = ["a,b", "c d", "e=f", 'q"u', "back\\", "two\nlines", "#no comment", "caf\u00e9", "\u202edlrow", "x_total", "x", "y_info", "z.a", "z/a", "=1+1", "{", "}"]
device["counters"] = [{"counter": n, "unit": u, "kind": k, "width_bits": 64, "scale": 1, "flags": ["fast"]}
                      for n, u, k in zip(names, ["bytes", "", "a b", "=", ",", "us"] * 3, ["counter", "gauge"] * 9)]
device["device"] = 'd,e v="i\\'
for facts in (document.get("facts", {}), document["schemas"][0]["facts"]):
    facts["host"] = 'n 1,\\"\n'
s = document["snapshots"][0]
document["snapshots"] = [dict(s, monotonic_begin_ns=t, monotonic_end_ns=t + 5, time_ns=1700000000000000000 + t, devices=[{"device": device["device"],
    "source": "cxi", "monotonic_begin_ns": t, "monotonic_end_ns": t + 5, "values": {n: i + t // 1000 for i, n in enumerate(names)}}]) for t in (1000, 1000001000)]
json.dump(document, open("x.json", "w"))
END
    both x.json
    [ "$(jq .lines lines.json)" -ge 17 ]
    [ "$(jq .values text.json)" -eq 17 ]
}

@test "InfluxDB takes every line, Prometheus' promtool every sample" {
    make_a_job
    both job
    if command -v promtool >/dev/null; then
        # 1: it does not parse; 3: it would like other names, for the older format that it knows
        status=0
        promtool check metrics <text >out 2>&1 || status=$?
        [ "$status" -ne 1 ]
    fi
    command -v influxd >/dev/null || skip 'no InfluxDB: lines were read by our own parser only'
    port=$((20000 + $$ % 20000))
    printf '%s\n' 'reporting-disabled = true' "bind-address = \"127.0.0.1:$((port + 1))\"" '[meta]' "dir = \"$PWD/db/meta\"" '[data]' \
        "dir = \"$PWD/db/data\"" "wal-dir = \"$PWD/db/wal\"" '[http]' "bind-address = \"127.0.0.1:$port\"" >influx.conf
    influxd -config influx.conf >influxd.log 2>&1 3>&- &
    server=$!
    wait_until 60 curl -sf "127.0.0.1:$port/ping"
    curl -s -XPOST "127.0.0.1:$port/query" --data-urlencode 'q=CREATE DATABASE netprof'
    [ "$(curl -s -o answer -w '%{http_code}' -XPOST "127.0.0.1:$port/write?db=netprof" --data-binary @lines)" = 204 ]
    stored=$(curl -s -G "127.0.0.1:$port/query?db=netprof" --data-urlencode 'q=SELECT count(value) FROM /.*/' |
        jq '[.results[0].series[].values[0][1]] | add')
    [ "$stored" -eq "$(sort -u lines | wc -l)" ]
}

@test "wrong usage" {
    while read -r arguments; do
        # shellcheck disable=SC2086
        [ "$(status_of netprof export $arguments)" = 2 ]
        [ -s err ]
    done <<'END'
x --to influx -o out.x --wide
x --to openmetrics -o out.x --table counter_rates
x --to influx -o out.x --tag cluster
x --to influx -o out.x --tag =alex
x --to csv -o out.x --tag cluster=alex
END
}
