#!/usr/bin/env bats
# netprof nccl: logs of the NCCL Inspector.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# lines of version 4.0: AllReduce of 1,000,000 bytes over four ranks on two hosts
line='function line(host, rank, sn, us) {
    return sprintf("{\"header\":{\"id\":\"0xab\",\"comm_name\":\"dp0\",\"rank\":%d,\"n_ranks\":4,\"nnodes\":2},", rank) \
        sprintf("\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":17494900000%05d,", sn) \
        sprintf("\"hostname\":\"%s\",\"pid\":%d},\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%d,", host, 100 + rank, sn) \
        sprintf("\"coll_msg_size_bytes\":1000000,\"coll_exec_time_us\":%d,\"coll_timing_source\":\"kernel_gpu\",", us) \
        sprintf("\"coll_algobw_gbs\":%.6f,\"coll_busbw_gbs\":%.6f}}", 1000 / us, 1500 / us)
}'

# logs DIR: 20 calls; rank 2 on h2 is 50 us late in all but one, in which rank 1 is.
logs() {
    mkdir -p "$1"
    awk -v dir="$1" "$line"'
        BEGIN {
            for (rank = 0; rank < 4; rank++) for (sn = 0; sn < 20; sn++) {
                host = "h" (1 + int(rank / 2))
                late = sn == 7 ? 1 : 2
                print line(host, rank, sn, rank == late ? 100 : 150 + rank) > (dir "/" host "-pid" (100 + rank) ".log")
            }
        }'
}

@test "the late rank, its share and what it cost, in words and as JSON" {
    logs job
    netprof nccl job >out
    grep -qF 'rank 2 on host h2 was last in 95 % of AllReduce of communicator dp0 and cost 950 µs, 31.0 % of the time' out # 19 x 50 us of 19 x 153 + 150
    netprof nccl job --json >out
    [ "$(jq -r .format out)" = netprof-nccl ]
    [ "$(jq -r '.findings[0] | .rule, .severity, .device' out | tr '\n' ' ')" = 'nccl-late-rank high h2 ' ]
    [ "$(jq -c '.findings[0] | [.value, .cost_s]' out)" = '[0.95,0.00095]' ]
    [ "$(jq -c '.communicators[0] | [.label, .calls, .complete_calls, .missing]' out)" = '["dp0",20,20,0]' ]
    [ "$(jq -c '.communicators[0].series[0] | [.wire_us.p50, .skew_us.p50, .busbw_gbs.p50]' out)" = '[100,53,15]' ]
    [ "$(jq -c '.ranks[2] | [.last_alone, .cost_us]' out)" = '[19,950]' ]
    # Call sn was written at 1749490000 s and sn us, 2025-06-09 17:26:40 UTC: below the sequence numbers.
    command -v netprof-report >/dev/null || return 0
    netprof report --chart run -o run.svg job
    grep -q '>17:26:40\.000000 UTC<' run.svg
    grep -q '>17:26:40\.0000\(05\|10\)<' run.svg
}

@test "--fail-on: how bad, and what could not be judged" {
    logs job # the only communicator has no equals: nobody can tell whether its wire is slow
    [ "$(status_of netprof nccl job)" = 0 ]
    [ "$(status_of netprof nccl job --fail-on high)" = 1 ]
    [ "$(status_of netprof nccl job --fail-on judged)" = 1 ]
    [ "$(status_of netprof nccl job --fail-on critical)" = 5 ]
    [ "$(status_of netprof nccl job --fail-on critical,unknown)" = 1 ]
    [ "$(status_of netprof nccl job --fail-on critical,judged)" = 0 ]
    [ "$(status_of netprof nccl job --fail-on ever)" = 2 ]
    [ "$(status_of netprof nccl job --fail-on high,warn)" = 2 ]
}

@test "what could not be judged is no good news: in words, as JSON, in the exit code, in the report" {
    mkdir job
    awk "$line"'BEGIN { for (rank = 0; rank < 4; rank++) for (sn = 0; sn < 7; sn++) print line("h" (1 + int(rank / 2)), rank, sn, 100 + (rank + sn) % 4) }' >job/a.log
    netprof nccl job >out
    head -1 out | grep -qx 'Nothing could be judged: too few complete calls, and no communicator has two equals with enough calls'
    grep -qF 'too few calls to judge whether 4 of 4 ranks are late: 7 complete calls each, 10 are needed' out
    netprof nccl job --json >out
    [ "$(jq -r .verdict.severity out)" = unknown ]
    [ "$(jq -c '.judged_of | [.rank_count, .late_rank_count, .communicator_count, .wire_communicator_count]' out)" = '[4,0,1,0]' ]
    [ "$(status_of netprof nccl job --fail-on high)" = 5 ]
    # three times as many calls: late ranks can be judged, the wire cannot
    awk "$line"'BEGIN { for (rank = 0; rank < 4; rank++) for (sn = 0; sn < 21; sn++) print line("h" (1 + int(rank / 2)), rank, sn, 100 + (rank + sn) % 4) }' >job/a.log
    netprof nccl job >out
    head -1 out | grep -qF 'No late rank among 4 ranks in 21 collectives (one 3'
    head -1 out | grep -qF '; the wire could not be judged: no communicator has two equals'
    [ "$(netprof nccl job --json | jq -r .verdict.severity)" = unknown ]
    # with a peak it can, for messages above 1 MiB
    big=${line//1000/4000}
    awk "${big//1500/6000}"'BEGIN { for (rank = 0; rank < 4; rank++) for (sn = 0; sn < 21; sn++) print line("h" (1 + int(rank / 2)), rank, sn, 400 + (rank + sn) % 4) }' >job/a.log
    netprof nccl job --peak 16 >out
    head -1 out | grep -qE ' and no slow wire in 1 communicator$'
    [ "$(netprof nccl job --peak 16 --json | jq -r .verdict.severity)" = ok ]
    [ "$(status_of netprof nccl job --peak 16 --fail-on watch,unknown)" = 0 ]
}

@test "late in all its calls, in none of its collectives often enough to tell: found over all of them" {
    mkdir job
    # AllReduce, AllGather and Broadcast, 8 calls each
    awk "$line"'BEGIN { for (rank = 0; rank < 4; rank++) for (sn = 0; sn < 8; sn++) print line("h" (1 + int(rank / 2)), rank, sn, rank == 2 ? 100 : 150 + rank) }' >line
    sed 's/AllReduce/AllGather/' line >more
    sed 's/AllReduce/Broadcast/' line | cat line more - >job/a.log
    netprof nccl job --json >out
    [ "$(jq -c '[.communicators[0].series[].calls]' out)" = '[8,8,8]' ]
    [ "$(jq -c '.findings[0] | [.rule, .severity, .device, .value, .cost_s]' out)" = '["nccl-late-rank","high","h2",1,0.0012]' ]
    netprof nccl job | head -1 | grep -qF 'Rank 2 of dp0, on host h2, was last in 100 % of the 24 complete calls of all its collectives together and cost 1.20 ms, 32.7 % of their time'
}

@test "a node at two thirds of the others' bandwidth among four: in words, as JSON, as the report's title" {
    nccl-generate job --records 6000 --gpus 2 --seed 101 --slow-node 1 --slow-factor 1.5 >/dev/null
    netprof nccl job >out
    head -1 out | grep -qE '^Communicators between nodes with host sim-002 are slow on the wire \([1-9][0-9]* of [1-9][0-9]* judged; without it 0 of [1-9][0-9]*\): .* takes 1\.(4[7-9]|5[0-3]?) times as long'
    netprof nccl job --json >out
    [ "$(jq -r '.verdict.severity, (.findings[0] | .rule, .severity, .device)' out | tr '\n' ' ')" = 'high nccl-slow-host high sim-002 ' ]
    # What is said to be slow and not slow is what was judged.
    [ "$(jq -r '.findings[0].claim | capture("\\((?<with>[0-9]+ of [0-9]+) judged; without it 0 of (?<without>[0-9]+)\\)") | .with, .without' out)" = \
        "$(jq -r '[.findings[0].evidence[] | select(.counter // .name | startswith("communicators with")) | .value] | "\(.[0]) of \(.[0])", .[1]' out)" ]
    jq -e '.findings[0] | .cost_s > 0 and .cost_share > 0.1 and .cost_share < 0.34' out
    [ "$(jq '[.findings[] | select(.severity != "info")] | length' out)" = 1 ]
    command -v netprof-report >/dev/null || return 0
    netprof nccl job -o saved >/dev/null
    [ "$(jq -r .view.verdict saved/nccl.json | cut -d: -f1)" = 'Host sim-002 is slow on the wire' ]
    [ "$(jq -r '.view.sentences[0].text' saved/nccl.json)" = "$(jq -r .verdict.text saved/nccl.json)." ]
}

@test "what transfers waited for: the slow sender, the shares of its time, the matrices" {
    nccl-generate job --records 4000 --gpus 2 --minor 4 --proxy 1 --slow-sender 2 >/dev/null
    netprof nccl job -o results >out
    head -1 out | grep -qF 'Rank 2 of world, on host sim-002, sends slowly: whoever receives, its data are on the wire 1'
    grep -q '^What did transfers wait for?' out
    netprof nccl job --json >out
    [ "$(jq -r '.findings[0] | .rule, .severity, .device' out | tr '\n' ' ')" = 'nccl-slow-sender warn sim-002 ' ]
    # row sender, column receiver: of the rows of wire times those of rank 2 are three times the others
    jq -e '[.peers[] | .wire_us as $m | .communicator as $c | range(.rank_count) as $i | range(.rank_count) as $k | select($m[$i][$k]) | $m[$i][$k]] | (map(select(. > 100)) | length) == 2 and (map(select(. < 60)) | length) > 6 and length == (map(select(. > 100 or . < 60)) | length)' out
    jq -e '.peers[0] | .bytes | length == 8 and (.[0] | length == 8)' out
    [ "$(jq '[.proxies[].tx_bytes] | add' out)" = "$(jq '[.proxies[].rx_bytes] | add' out)" ]
    [ "$(jq '[.proxies[].tx_bytes] | add' out)" = "$(jq '[.peers[].bytes[][] | values] | add' out)" ]
    [ "$(jq '[.proxies[].tx_bytes] | add' out)" = "$(python3 -c 'import csv; print(sum(int(r["bytes"]) for r in csv.DictReader(open("results/peers.csv"))))')" ]
}

@test "tables and the exporter's tree" {
    logs job
    netprof nccl job -o results >/dev/null
    for name in lines instances communicators types ranks; do [ -s "results/$name.csv" ]; done
    [ "$(wc -l <results/instances.csv)" -eq 21 ]
    [ "$(sed -n 2p results/instances.csv | cut -d, -f1-6,8,9,15-17)" = 'mixed,AllReduce,1000000,0xab,0,4,100,153,2,h2,102' ]
    [ "$(sed -n 2p results/ranks.csv | cut -d, -f1-4)" = 'h2,102,20,19' ]
    file=results/summary/msg_size_1000000_1.00MB/summary_mixed_AllReduce_1000000.csv
    [ "$(wc -l <"$file")" -eq 21 ]
    [ "$(sed -n 2p "$file" | cut -d, -f1-3,5-10)" = '0xab,0,1000000,4,[4],[2],1749490000000000,1749490000000000,0' ]
    [ -z "$(find results -type f ! -name '*.csv' ! -name '*.ndjson' ! -name '*.json')" ] # nothing unfinished
    [ "$(wc -l <results/instances.ndjson)" -eq 20 ]
    jq -es 'all(.[]; .wire_us == 100 and (.ranks | length) == 4)' results/instances.ndjson >/dev/null
    [ "$(jq -r .format results/nccl.json)" = netprof-nccl ]
    # Bulk: an action before every document; ids are unique
    [ "$(jq -r 'select(.index) | .index._id' results/bulk.ndjson | sort -u | wc -l)" -eq 21 ] # 20 calls, 1 summary
    [ "$(jq -c 'select(.d_op_count) | [.d_op_count, .s_comm_type, .s_tag]' results/bulk.ndjson)" = '[20,"mixed","1.00MB_r_4"]' ]
    # Reading again what was written below the logs finds no logs in it
    netprof nccl job -o job/results >/dev/null
    netprof nccl job --json >one
    [ "$(jq .logs.file_count one)" = 4 ]
}

@test "packed, nested, mixed files give the same results" {
    logs job
    logs other
    gzip other/h1-pid100.log
    mkdir -p other/deep/er
    mv other/h1-pid101.log other/deep/er/x.jsonl
    mv other/h2-pid102.log other/deep
    echo 'nothing of ours' >other/deep/notes.txt
    netprof nccl job -o a >/dev/null
    netprof nccl other -o b >/dev/null
    for name in instances communicators types ranks; do cmp "a/$name.csv" "b/$name.csv"; done
    netprof nccl job/*.log -o c >/dev/null
    cmp a/instances.csv c/instances.csv
}

@test "one bad line costs one line; a cut file what is cut off" {
    logs job
    sed -i '5s/.*/{"header":{"id":/' job/h1-pid100.log
    printf '\377\n123\n' >>job/h1-pid100.log
    gzip job/h1-pid101.log
    truncate -s -20 job/h1-pid101.log.gz
    netprof nccl job -o results >out 2>err
    grep -q 'h1-pid101.log.gz: the compressed data are cut; what came before is used' err
    [ "$(sed -n 2p results/lines.csv | cut -d, -f1-12)" = 'h1-pid100.log,0,22,0,2,1,0,0,0,0,0,19' ]
    [ "$(sed -n 3p results/lines.csv | cut -d, -f1-2)" = 'h1-pid101.log.gz,1' ]
    grep -q nccl-logs-damaged out
}

@test "two jobs" {
    logs before
    logs after
    sed -i 's/"coll_exec_time_us":1/"coll_exec_time_us":2/' after/*.log
    netprof nccl after --compare before >out
    grep -q 'nccl-slower: mixed' out
    grep -q '0.100     0.200  2.000 ' out
    [ "$(netprof nccl after --compare before --json | jq -c '.comparison | [.threshold_ratio, .slower, .rows[0].change, .rows[0].wire_ratio]')" = '[0.1,1,"slower",2]' ]
    [ "$(netprof nccl before --compare before --json | jq -c '.comparison | [.slower, .faster, .alike]')" = '[0,0,1]' ]
}

@test "--peak" {
    logs job
    [ "$(netprof nccl job --peak 30 --json | jq .communicators[0].series[0].peak_share)" = 0.5 ]
    [ "$(netprof nccl job --peak 'dp1=1,mixed=60,*=1' --json | jq .types[0].peak_share)" = 0.25 ]
    [ "$(netprof nccl job --json | jq .types[0].peak_share)" = null ]
    for peak in '' x 0 -1 1x =5 a= 1e30 nan; do [ "$(status_of netprof nccl job --peak "$peak")" = 2 ]; done
}

@test "a job's logs by its id" {
    logs nccl-inspector-17
    logs logs/18/deep
    printf '# the exporter'"'"'s\n[paths]\ndefault_log_root = %s/logs/{jobid}/deep\n[kibana]\nkibana_project_detailed = mine\n' "$PWD" >config.ini
    netprof nccl --jobid 17 | grep -q '^  4 files'
    netprof nccl --jobid 18 --config config.ini -o results | grep -q '^  4 files'
    grep -q '"_index":"mine"' results/bulk.ndjson
    [ "$(jq -r 'select(.s_jobid) | .s_jobid' results/bulk.ndjson | sort -u)" = 18 ]
    netprof nccl --jobid 18 logs | grep -q '^  4 files'
    [ "$(status_of netprof nccl --jobid 19 --config config.ini)" = 4 ]
    grep -q "looked for $PWD/logs/19/deep" err
    grep -q NCCL_INSPECTOR_ENABLE err
    [ "$(status_of netprof nccl --jobid '1; rm x')" = 2 ]
    # Slurm knows where a job ran
    mkdir bin elsewhere
    mv nccl-inspector-17 elsewhere
    printf '#!/bin/sh\nprintf "JobId=%%s\\n   WorkDir=%s\\n" "$3"\n' "$PWD/elsewhere" >bin/scontrol
    chmod +x bin/scontrol
    PATH=$PWD/bin:$PATH netprof nccl --jobid 17 | grep -q '^  4 files'
    echo broken >bad.ini
    [ "$(status_of netprof nccl --jobid 17 --config bad.ini)" = 3 ]
    grep -q 'bad.ini: line 1: expected' err
}

@test "no logs: 4, what was looked for and what commonly leaves none; wrong paths: 3" {
    mkdir empty
    [ "$(status_of netprof nccl empty)" = 4 ]
    grep -q '^netprof nccl: empty: no Inspector log found' err
    grep -q 'end in .log, .jsonl' err
    for word in NCCL_PROFILER_PLUGIN NCCL_INSPECTOR_ENABLE NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS NCCL_INSPECTOR_DUMP_DIR \
        NCCL_INSPECTOR_PROM_DUMP NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES; do grep -q "$word" err; done
    echo 'just text' >empty/a.log
    [ "$(status_of netprof nccl empty)" = 4 ]
    grep -q 'no record of the Inspector in 1 file' err
    [ "$(status_of netprof nccl missing)" = 3 ]
    [ "$(status_of netprof nccl)" = 2 ]
    [ "$(status_of netprof nccl empty --threads -1)" = 2 ]
    [ "$(status_of netprof nccl empty --json)" = 4 ]
    jq -e '.format == "netprof-error"' out
}

@test "--counters: a recording of another time is said to be one; a missing one is 3" {
    logs job
    netprof record -q -o node.netprof --interval 50ms --duration 200ms --job none
    netprof nccl job --counters node.netprof >out
    grep -q 'the recordings are of other hosts, or of another time' out
    [ "$(netprof nccl job --counters node.netprof --json | jq -c .counters)" = '[]' ]
    [ "$(status_of netprof nccl job --counters missing.netprof)" = 3 ]
}

@test "--counters: the same host and time" {
    awk -v host="$(uname -n)" "$line"'BEGIN { print line(host, 0, 0, 10) }' >line
    mkdir -p job
    from=$(date +%s%6N)
    netprof record -q -o node.netprof --interval 50ms --duration 600ms --job none
    sed "s/\"dump_timestamp_us\":[0-9]*/\"dump_timestamp_us\":$from/" line >job/a.log
    sed "s/\"dump_timestamp_us\":[0-9]*/\"dump_timestamp_us\":$(date +%s%6N)/; s/\"coll_sn\":0/\"coll_sn\":1/" line >>job/a.log
    netprof nccl job --counters node.netprof --json >out
    [ "$(jq -r '.counters[0].host' out)" = "$(uname -n)" ]
    jq -e '.counters[0].elapsed_s > 0.3' out
}

@test "an output directory that cannot be written: 3" {
    logs job
    echo x >file
    [ "$(status_of netprof nccl job -o file)" = 3 ]
    [ "$(status_of netprof nccl job -o no/such/place)" = 3 ]
}

@test "names from outside are harmless" {
    logs job
    sed -i 's/"h2"/"h\\u001b[31m,\\"<x>"/; s/"dp0"/"d\\tp\\u202e"/; s/AllReduce/..\/..\/Odd/' job/*.log
    netprof nccl job -o results >out
    refute grep -q $'\033' out
    refute grep -q $'\u202e' out
    netprof nccl job --json | jq -e '.hosts[0].host == "h\u001b[31m,\"<x>"' >/dev/null
    jq -es . results/instances.ndjson results/bulk.ndjson >/dev/null
    [ -z "$(find results -path '*Odd*')" ]
    python3 -c 'import csv, sys
rows = list(csv.reader(open("results/ranks.csv", newline="")))
sys.exit(rows[1][0] != "h\x1b[31m,\"<x>")'
}

@test "the same logs give the same bytes, with any number of threads" {
    logs job
    netprof nccl job -o a >one
    netprof nccl job -o b --threads 7 >two
    cmp one two
    diff -r a b
}

@test "--parquet without DuckDB says what is missing; with it the tables are there" {
    logs job
    [ "$(status_of netprof nccl job --parquet)" = 2 ]
    [ "$(NETPROF_DUCKDB=/nonexistent/lib.so status_of netprof nccl job -o results --parquet)" = 3 ]
    grep -q "DuckDB's library is needed for Parquet" err
    [ "$(NETPROF_DUCKDB=libz.so.1 status_of netprof nccl job -o results --parquet)" = 3 ]
    grep -q "not DuckDB's" err
}

@test "Parquet holds what CSV holds, read by DuckDB" {
    need_duckdb
    logs job
    netprof nccl job -o "it's" --parquet >/dev/null
    for name in lines instances communicators types ranks; do [ "$(head -c 4 "it's/$name.parquet")" = PAR1 ]; done
    python3 - "$NETPROF_TEST_TOP" <<'END'
import csv, json, os, subprocess, sys
tool = sys.argv[1] + "/tests/export/duckdb_query"
cells = 0
for name in sorted(os.listdir("it's")):
    if not name.endswith(".parquet"):
        continue
    path = "it's/" + name
    rows = json.loads(subprocess.run([tool, "SELECT * FROM read_parquet('it''s/%s')" % name], check=True,
                                     stdout=subprocess.PIPE).stdout)
    with open(path[:-len("parquet")] + "csv", newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert len(rows) == len(lines) - 1, name
    for row, line in zip(rows, lines[1:]):
        for got, want in zip(row, line):
            number = lambda t: float(t) if t not in (None, "") else None
            try:
                same = number(got) == number(want) and (not want.lstrip("-").isdigit() or int(float(got)) == int(want) or got == want)
            except ValueError:
                same = (got or "") == want or got == want.lower()
            assert same, (name, got, want)
            cells += 1
assert cells > 100, cells
END
}
