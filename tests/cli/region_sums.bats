#!/usr/bin/env bats
# Known times and bytes of spans, threads, OpenMP and MPI are what the table, the headline, JSON, CSV and the page say.

load common

source=$NETPROF_TEST_TOP/tests/cli/region_sums.c

# program NAME COMPILER...: built once for all tests.
program() {
    [ -x "$BATS_FILE_TMPDIR/$1" ] ||
        "${@:2}" -std=gnu11 -O0 -w -pthread -I "$NETPROF_TEST_TOP" "$source" -o "$BATS_FILE_TMPDIR/$1"
    program=$BATS_FILE_TMPDIR/$1
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset NETPROF NETPROF_RANK NETPROF_EVERY NETPROF_FLUSH NETPROF_SERIES
    # Containers: as root, with fewer cores than ranks.
    set_up_open_mpi
}

# json FILTER: of regions.json, on one line.
json() {
    jq -c "$1" regions.json
}

@test "NCCL's calls beside regions are on the axis of their run" {
    program plain cc
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'no reports'
    mkdir both
    NETPROF_OUTPUT=both/o.netprof "$program" overlap # a tenth of a second from this moment on
    local sn=0 at
    for at in 0 50000; do # calls of 25 ms
        printf '{"header":{"id":"0x1","comm_name":"dp","rank":3,"n_ranks":8,"nnodes":8},"metadata":{"inspector_output_format_version":"v4.2","dump_timestamp_us":1800000009000000,"hostname":"h","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":%d,"coll_msg_size_bytes":1000,"coll_exec_time_us":9,"coll_algobw_gbs":1.0,"coll_busbw_gbs":1.0,"event_trace_ts":{"coll_start_ts":%d,"coll_stop_ts":%d}}}\n' \
            $((sn++)) $((1800000000000000 + at)) $((1800000000000000 + at + 25000)) >>both/nccl.log
    done
    netprof report --as regions --chart nccl-over-time -o c.svg --data c.csv both
    # The table has 60 columns: calls in the first and the third quarter of them, and nothing else.
    awk -F, '$1 == "rank 3 of dp" { for (i = 2; i <= NF; i++) line = line ($i ~ /^100.*%$/ ? "x" : $i ~ /^0.*%$/ ? "." : "?") } END { print line }' c.csv >line
    [ "$(cat line)" = xxxxxxxxxxxxxxx...............xxxxxxxxxxxxxxx............... ]
    # Also where the files are named one by one.
    netprof report --as regions --chart nccl-over-time -o d.svg --data d.csv both/o.netprof both/nccl.log
    cmp c.csv d.csv
    run netprof report --as job -o e.pdf both # nothing of a job is there
    [ "$status" -ne 0 ]
    [ ! -e e.pdf ]
    run netprof report --as nothing -o e.pdf both
    [ "$status" -eq 2 ]
}

@test "overlapping spans: their own table, no share, and never the headline" {
    program plain cc
    NETPROF_OUTPUT=o.netprof "$program" overlap
    netprof regions o.netprof | tee text
    [ "$(head -1 text)" = 'Most time in compute (80 %)' ]
    grep -qx 'info      isend: 80 % of the time of its 20 spans overlapped with other work, 20 % was waited for (40 ms)' text
    grep -qE '^step +10 +100 ms +0 s +100 % +10 ms +10 ms +20\.0 MB$' text
    grep -qE '^  compute +10 +80 ms +80 ms +80 % +8 ms ' text
    grep -qE '^  wait +10 +20 ms +20 ms +20 % +2 ms ' text
    refute grep -qE '^ *isend ' text
    grep -qE '^step/isend +20 +10 ms +10 ms +80 % +40 ms +20\.0 MB +100 MB/s$' text
    grep -qE '^step +iteration +10 +4\.5 +0 +9 +45 ' text
    grep -qE '^step +size +10 +1000000 +1000000 +1000000 +10000000 ' text
    netprof regions o.netprof --json >regions.json
    [ "$(json '[.regions[] | select(.kind == "span") | .path, .span_count, .inclusive_ns, .waited_ns, .declared_bytes, .share]')" = \
        '["step/isend",20,200000000,40000000,20000000,null]' ]
    [ "$(json .regions_ns)" = 100000000 ]
    [ "$(json '.regions[0].values[] | select(.name == "iteration") | [.count, .total, .min, .max, (.histogram | map(.count) | add)]')" = \
        '[10,45,0,9,10]' ]
    [ "$(json '[.regions[0].values[] | select(.name == "size") | .histogram[] | .from, .below, .count, .inside_ns]')" = \
        '[524288,1048576,10,100000000]' ]
    netprof regions o.netprof --csv --values | tr -d '\r' >values.csv
    grep -qx 'step,size,524288,1048576,10,100000000' values.csv
    netprof regions o.netprof --region step | grep -qE '^1000000 +1000000 +10 +100 ms +10 ms$'
    netprof regions o.netprof --flat | grep -qE '^isend +20 +10 ms +10 ms +80 % +40 ms +20\.0 MB +100 MB/s$'
    netprof report o.netprof -o page.html
    LC_ALL=C sed 's/<[^>]*>/ /g; s/\xe2\x80[\x89\xaf]/ /g; s/\xc2\xa0/ /g' page.html | tr -s ' \n' ' ' >page.txt
    grep -q 'step/isend 20 10 ms 80 % 40 ms 20.0 MB 100 MB/s' page.txt
    grep -q 'step size 10 1000000 1000000 1000000' page.txt
}

@test "eight threads that work for a region of the first one are below it" {
    program plain cc
    NETPROF_OUTPUT=t.netprof "$program" threads
    netprof regions t.netprof | tee text
    # 8 times 50 ms of work, and 50 ms in which the first thread waited
    [ "$(head -1 text)" = 'Most time in iteration (88.9 %)' ]
    grep -qE '^parallel +1 +450 ms +50 ms +100 % .* 9 +80\.0 kB$' text
    grep -qE '^  iteration +80 +400 ms +400 ms +88\.9 % +5 ms +5 ms +8 +80\.0 kB$' text
    [ "$(grep -c iteration text)" -eq 2 ] # once in the headline, once in the table
}

@test "threads that do not say for whom they work are told how to" {
    program plain cc
    NETPROF_OUTPUT=s.netprof "$program" strays
    netprof regions s.netprof | grep -q '^info      iteration is within parallel in one thread and at the top level in others: NETPROF_ADOPT '
    NETPROF_OUTPUT=t.netprof "$program" threads
    refute grep -q NETPROF_ADOPT <(netprof regions t.netprof)
}

@test "OpenMP: all threads of a parallel region are in it" {
    printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' >omp.c
    cc -fopenmp omp.c -o omp 2>/dev/null && ./omp || skip "no OpenMP here"
    program openmp cc -fopenmp
    NETPROF_OUTPUT=p.netprof "$program" openmp
    netprof regions p.netprof | tee text
    [ "$(head -1 text)" = 'Most time in iteration (100 %)' ]
    grep -qE '^parallel +1 +200 ms +0 s +100 % .* 4 +40\.0 kB$' text
    grep -qE '^  iteration +40 +200 ms +200 ms +100 % ' text
    [ "$(grep -c iteration text)" -eq 2 ]
}

# mpi MPI: four ranks, of which one works longer.
mpi() {
    command -v "mpicc.$1" >/dev/null && command -v "mpirun.$1" >/dev/null || skip "no $1 here"
    program "$1" "mpicc.$1" -DWITH_MPI
    mkdir files
    NETPROF_OUTPUT=files/%r.netprof "mpirun.$1" -n 4 "$program" mpi
    netprof regions files | tee text
    [[ $(head -1 text) == 'Rank 2 is late: the others wait 20'*' ms of 310 ms' ]]
    grep -q 'Rank 2 is late: it works 300 ms, most of that in compute; the others work 100 ms' text
    grep -qE '^compute +10 +150 ms +150 ms ' text
    grep -qE '^allreduce +10 +160 ms +160 ms ' text
    # ten messages of half a megabyte on each rank, all of 31 ms; 21 ms of them waited for on three ranks, 1 ms on one
    grep -qE '^isend +10 +31 ms +31 ms +48\.4 % +160 ms +20\.0 MB +16\.1 MB/s$' text
}

@test "MPICH: the late rank is blamed, the messages on their way are not" { mpi mpich; }
@test "Open MPI: the late rank is blamed, the messages on their way are not" { mpi openmpi; }
