#!/usr/bin/env bats
# netprof report of NCCL Inspector logs, and of what netprof nccl saved of them.

load common

setup() {
    command -v netprof-report >/dev/null || skip "built without cairo"
    cd "$BATS_TEST_TMPDIR" || return
}

# logs DIR [awk assignments]: 60 AllReduce calls of three sizes over `ranks` ranks, two on a host, one call a second from
# 1700000000 on. Rank `late` has 100 us, 1000 us and 10 ms, each other rank 5 ms more. name: of the communicator.
logs() {
    local dir=$1 assignments=()
    shift
    mkdir -p "$dir"
    for a in "$@"; do assignments+=(-v "$a"); done
    awk -v dir="$dir" -v ranks=8 -v late=5 -v name=dp0 -v host=h -v slow=1 "${assignments[@]}" '
        BEGIN {
            for (rank = 0; rank < ranks; rank++) for (sn = 0; sn < 60; sn++) {
                size = 65536 * 16 ^ (sn % 3)
                us = int(100 * 10 ^ (sn % 3) * slow) + (rank == late ? 0 : 5000 + rank)
                alg = size / 1000 / us
                printf "{\"header\":{\"id\":\"0xab\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},", name, rank, ranks, (ranks + 1) / 2 > file(rank)
                printf "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%d000000,\"hostname\":\"%s%d\",\"pid\":%d},", 1700000000 + sn, host, rank / 2, 100 + rank > file(rank)
                printf "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%d,\"coll_exec_time_us\":%d,", sn, size, us > file(rank)
                printf "\"coll_algobw_gbs\":%.6f,\"coll_busbw_gbs\":%.6f}}\n", alg, alg * 2 * (ranks - 1) / ranks > file(rank)
            }
        }
        function file(rank) { return dir "/r-pid" (100 + rank) ".log" }'
}

# The text of a PDF, blanks folded.
text_of() {
    pdftotext -layout "$1" - | tr '\n' ' ' | sed 's/\xe2\x80\xaf/ /g; s/\xc2\xa0/ /g' | tr -s ' '
}

no_faults() {
    run netprof report --check-layout "$@"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the first page has the late rank, the bandwidth, and what it is of the peak" {
    logs job
    netprof report job --peak 400 -o a.pdf
    text_of a.pdf >text
    grep -q 'Rank 5 of dp0, on h2, was late' text
    # 16 MiB in 10 ms over 8 ranks: 16777216 / 10 ms * 2 * 7 / 8 = 2.936 GB/s, 0.73 % of 400
    grep -q 'dp0 AllReduce 16 MiB 20 ' text
    grep -qE '2\.94' text
    grep -q '480 of 480' text
    grep -q 'Last alone: rank 5 (h2) in 60 of 60 calls' text
    for title in Collectives 'Bandwidth by size' Completeness 'Who is late?' 'Wire time and skew over the run' Percentiles Communicators Ranks; do
        grep -qF "$title" text || { echo "no $title"; false; }
    done
    grep -q '100 % of calls' text
    refute grep -qE ' 1 of calls|0\.[0-9]+ of calls' text
    netprof nccl job --details 2>/dev/null >words || netprof nccl job >words
    refute grep -qE ' 1 of calls|0\.[0-9]+ of calls' words
    qpdf --check a.pdf >/dev/null
}

@test "the map marks whom a finding accuses, also where that is little behind" {
    nccl-generate logs --records 6000 --gpus 2 --late-rank 5 --seed 101 >/dev/null
    netprof report logs --chart late -o late.svg
    sed 's/\xe2\x80\xaf/ /g; s/\xc2\xa0/ /g' late.svg >text
    grep -qE '>[0-9.]+ (µs|ms)</text>' text
    # Local rank 0 tells rows apart as local rank 1 does; what is counted and is 0 is grey.
    netprof report logs --chart ranks -o ranks.svg
    one=$(grep -oE '<text x="[0-9.]+" y="[0-9.]+" class="[^"]*">1</text>' ranks.svg | head -n 1)
    x=$(sed 's/.*x="\([^"]*\)" y.*/\1/' <<<"$one") class=$(sed 's/.*class="\([^"]*\)".*/\1/' <<<"$one")
    [ -n "$x" ]
    grep -oE "<text x=\"$x\" y=\"[0-9.]+\" class=\"[^\"]*\">0</text>" ranks.svg >zeros
    [ "$(wc -l <zeros)" = 4 ]
    [ "$(grep -c "class=\"$class\"" zeros)" = 4 ]
    grep -E '>0</text>' ranks.svg | grep -vq "class=\"$class\">0"
}

@test "logs, and the saved result of them: the same bytes, in every format" {
    logs job
    netprof nccl job --peak 400 -o saved >/dev/null
    for ending in pdf html svg png; do
        netprof report job --peak 400 --brief -o "logs.$ending"
        netprof report saved/nccl.json --brief -o "saved.$ending"
        netprof report saved/nccl.json --brief -o "again.$ending"
        cmp "logs.$ending" "saved.$ending"
        cmp "again.$ending" "saved.$ending"
    done
    netprof nccl job --peak 400 --report made.pdf >/dev/null
    netprof report saved/nccl.json -o whole.pdf
    cmp made.pdf whole.pdf
    if command -v xmllint >/dev/null; then xmllint --noout saved.svg saved.html; fi
}

@test "nothing over another text or outside: small, one rank, many hosts, damaged, packed" {
    logs job
    no_faults job
    no_faults --paper letter job
    logs one ranks=1
    no_faults one
    logs many ranks=140
    no_faults many
    logs damaged
    sed -i '5s/.*/{"header":/' damaged/r-pid100.log
    truncate -s -200 damaged/r-pid103.log
    gzip damaged/r-pid104.log && truncate -s -30 damaged/r-pid104.log.gz
    rm damaged/r-pid106.log
    no_faults damaged
    netprof report damaged -o d.pdf 2>err
    text_of d.pdf >text
    grep -q 'Lines and files that could not be used' text
    grep -q 'r-pid104.log.gz' text
    grep -q 'of ranks without any log' text
}

@test "over 64 hosts the map has the latest, and says how many it leaves out" {
    logs many ranks=140 late=77
    netprof report many --brief -o a.pdf
    text_of a.pdf >text
    grep -q 'Rank 77 of dp0, on h38, was late' text
    grep -qE '[0-9]+ of 70 hosts, all less late than these, are left out' text
}

@test "one rank: no map, no skew, nothing that could be missing" {
    logs one ranks=1 late=9
    netprof report one -o a.pdf
    text_of a.pdf >text
    grep -q '60 collectives of single ranks' text
    refute grep -q 'Who is late' text
    refute grep -q 'skew: ' text
    grep -q '60 seen' text
}

@test "--charts: the files that the exporter draws, and no other names for hostile collectives" {
    logs job
    netprof report job --charts c
    for f in c/summary/scatter_plot_mixed_AllReduce.png c/summary/combined_scatter_plot_mixed_AllReduce.png \
        c/summary/msg_size_65536_65.54KB/histograms/histogram_mixed_AllReduce_65536.png \
        c/summary/msg_size_65536_65.54KB/boxplots/boxplot_mixed_AllReduce_65536.png \
        c/summary/msg_size_16777216_16.78MB/boxplots/boxplot_mixed_AllReduce_16777216.png \
        c/charts/bandwidth.png c/charts/late.png; do
        [ "$(head -c 4 "$f" | tail -c 3)" = PNG ] || { echo "$f"; false; }
    done
    [ ! -e report.pdf ]
    netprof report job --charts d --format svg
    [ "$(cd d && find . -type f | sed 's/svg$/png/' | sort)" = "$(cd c && find . -type f | sort)" ]
    sed -i 's|"coll":"AllReduce"|"coll":"../../x;`id`\\n"|' job/*.log
    netprof report job --charts hostile -o hostile.pdf
    [ -z "$(find . -name 'x*' -o -name '*;*')" ]
    find hostile -name 'combined_scatter_plot_mixed_*.png' | grep -q .
    no_faults job
}

@test "names from outside stay text" {
    logs job 'name=</text><script>alert(1)</script>\\u001b[31m%s' 'host=<i>&'
    netprof report job -o a.html
    netprof report job -o a.svg
    refute grep -qi '<script' a.html a-1.svg
    refute grep -q '<i>' a.html
    grep -q '&lt;script&gt;' a.html
    refute grep -q $'\033' a.html
    if command -v xmllint >/dev/null; then xmllint --noout a.html a-1.svg; fi
    no_faults job
}

@test "two jobs: --compare and --" {
    logs before late=99
    logs after late=99 slow=3
    netprof report after --compare before -o a.pdf
    netprof report -o b.pdf before -- after
    cmp a.pdf b.pdf
    text_of a.pdf >text
    # The shortest of all ranks: 5.1 and 5.3 ms (alike), 6 and 8 ms, 15 and 35 ms
    grep -q 'Two jobs: median wire time' text
    grep -q 'AllReduce 16 MiB' text
    grep -qE '15(\.0)? ms' text
    grep -qE '35(\.0)? ms' text
    grep -qE '×2\.33' text
    grep -q '2 kinds slower, 0 faster, 1 alike' text
    no_faults after --compare before
    [ "$(status_of netprof report after --compare before -- after)" = 2 ]
}

@test "recordings of the same hosts on the time axis of the logs" {
    logs job
    "$NETPROF_TEST_TOP/tests/cli/series_json" h2.json --host h2 --nics 2 --snapshots 60 --retries 30
    "$NETPROF_TEST_TOP/tests/cli/series_json" other.json --host elsewhere --snapshots 20
    netprof report job h2.json -o a.pdf
    text_of a.pdf >text
    grep -q 'NCCL and NIC counters' text
    # 59 s at 1000 + 2000 bytes/s
    grep -qE 'h2 59(\.0)? s 177 kB 354 kB' text
    no_faults job h2.json
    netprof nccl job --counters h2.json -o saved >/dev/null
    netprof report saved/nccl.json -o b.pdf
    cmp a.pdf b.pdf
    netprof report job other.json -o c.pdf
    text_of c.pdf | grep -q 'of other hosts than the logs, or of another time'
}

@test "Prometheus files alone: a table of the samples, and that they hold no calls" {
    mkdir job
    printf 'nccl_bus_bandwidth_gbs{version="v5.1",node="h1",collective="AllReduce",message_size="4-5GB"} 123.5\n' >job/nccl_inspector_metrics_a.prom
    netprof report job -o a.pdf
    text_of a.pdf >text
    grep -q 'no single calls, only averages' text
    grep -q '123.5\|124' text
    no_faults job
}

@test "what is no saved result, and what cannot be given with one" {
    logs job
    netprof nccl job -o saved >/dev/null
    head -c 5000 saved/nccl.json >cut.json
    [ "$(status_of netprof report cut.json)" = 3 ]
    grep -q 'cut.json: byte' err
    jq -c 'del(.view)' saved/nccl.json >old.json
    [ "$(status_of netprof report old.json)" = 3 ]
    grep -q 'holds no "view"' err
    jq -c '.version = 99' saved/nccl.json >later.json
    [ "$(status_of netprof report later.json)" = 3 ]
    grep -q 'later netprof' err
    [ "$(status_of netprof report saved/nccl.json --peak 4)" = 2 ]
    [ "$(status_of netprof report job --peak x)" = 2 ]
    [ "$(status_of netprof report job --charts c --format html)" = 2 ]
    [ ! -e report.pdf ]
}

@test "--jobid finds the logs; --brief is one page" {
    logs logs/nccl-inspector-77
    netprof report --jobid 77 logs -o a.pdf --brief
    [ "$(pdfinfo a.pdf | awk '/^Pages/ { print $2 }')" = 1 ]
    [ "$(status_of netprof report --jobid 78 logs)" = 4 ]
    grep -q NCCL_INSPECTOR_ENABLE err
    [ "$(status_of netprof report --charts c logs/nothing)" = 2 ]
}

@test "what two communicators with like names waited for is told apart" {
    local name at=0
    mkdir like
    for name in tensor_group_0_replica_of_node tensor_group_1_replica_of_node; do
        at=$((at + 1))
        printf '{"header":{"id":"0x%d","comm_name":"%s","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.4","dump_timestamp_us":1000000,"hostname":"h","pid":7},%s}\n' \
            $at $name '"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":4096,"coll_exec_time_us":9,"coll_algobw_gbs":1.0,"coll_busbw_gbs":1.0}' \
            $at $name '"proxy_trace":{"record_type":"proxy_op","parent_type":"coll","parent_sn":0,"peer":1,"direction":"send","trans_size_bytes":100,"steps":[{"gpu_produce_us":1,"peer_credit_us":2,"wire_us":3}]}' >>like/h-pid7.log
    done
    netprof report --chart waits -o c.svg --data c.csv like
    [ "$(grep -o '^"*AllReduce .*sends, [^",]*' c.csv | sort -u | wc -l)" = 2 ] || { cat c.csv; false; }
}
