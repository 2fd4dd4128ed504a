#!/usr/bin/env bats
# netprof nsys: files of the schemas that Nsight Systems exported over the years. A small one with known numbers is made
# here; larger ones come from tests/nsys/make_export, and tests/nsys/check_tables works their tables out anew.

load common

setup() {
    command -v sqlite3 >/dev/null || skip 'no sqlite3'
    cd "$BATS_TEST_TMPDIR" || return
}

# profile FILE: two GPUs, a second long, of the present schema. Values are those of the SQL below.
profile() {
    sqlite3 "$1" <<'END'
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'cudaMemcpyAsync_v3020'),(3,'void gemm<float, 128>(T1 *)'),(4,'gemm'),
  (5,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)'),(6,'forward'),(7,'sem_wait');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER NOT NULL, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000123456789,'2023-11-14 22:13:20','2023-11-14 23:13:20');
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT NOT NULL, nameEnum INTEGER, value TEXT NOT NULL);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1,'','Hostname',0,'gpu-node-7');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,10,0,1,1,1,0,NULL),(20,50,0,1,2,1,0,NULL),(60,160,0,1,3,2,0,NULL),
  (200,100,0,1,4,2,0,NULL); -- ends before it begins
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1000000000,1100000000,0,1,7,1,1,3,4),(1050000000,1200000000,0,1,8,2,1,3,4), -- they overlap by half: 200 ms
  (1400000000,1500000000,0,1,7,3,1,5,5),                                       -- 100 ms of NCCL
  (1750000000,2000000000,1,1,7,4,1,3,4);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1500000000,1500001000,0,1,7,5,1,1000000,1),(1500002000,1500005000,0,1,7,6,1,3000000,1),
  (1600000000,1600000500,0,1,7,7,1,9223372036854775807,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, bytes INTEGER NOT NULL,
  value INTEGER, memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1700000000,1700000100,0,4096,0,2);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, textId INTEGER, globalTid INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0,100,59,NULL,6,1),(200,500,60,'step',NULL,1),(300,NULL,34,'mark',NULL,1);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL);
INSERT INTO OSRT_API VALUES (0,2971823,1,7),(0,333015608,1,7);
END
}

# rows TABLE FIELD…: of each row, separated by commas.
rows() {
    local table=$1
    shift
    jq -r --arg t "$table" --args '.files[0].tables[$t].rows[] | [.[$ARGS.positional[]]] | map(if type == "number" then . + 0 else . end | tostring) | join(",")' "$@" <out.json
}

@test "the tables, with known counts, sums, means, medians, extremes and deviations" {
    profile p.sqlite
    netprof nsys p.sqlite --json >out.json
    [ "$(rows cuda_api_sum name count total_ns mean_ns median_ns min_ns max_ns)" = "$(printf '%s\n' cudaMemcpyAsync,1,100,100,100,100,100 cudaLaunchKernel,2,40,20,20,10,30)" ]
    [ "$(jq '.files[0].tables.cuda_api_sum.rows_left_out' out.json)" = 1 ]
    # of 10 and 30: 14.142...; of one: 0
    [ "$(jq '[.files[0].tables.cuda_api_sum.rows[].deviation_ns] | .[0] == 0 and (.[1] - 14.142135623730951 | fabs < 1e-9)' out.json)" = true ]
    [ "$(rows cuda_gpu_kern_sum name count total_ns median_ns nccl)" = "$(printf '%s\n' 'void gemm<float, 128>(T1 *),3,500000000,150000000,false' \
        'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>),1,100000000,100000000,true')" ]
    [ "$(jq '[.files[0].tables.cuda_gpu_kern_sum.rows[].share * 600] | map(round) == [500, 100]' out.json)" = true ]
    [ "$(rows cuda_gpu_mem_time_sum name count total_ns mean_ns)" = "$(printf '%s\n' '[CUDA memcpy Host-to-Device],2,4000,2000' \
        '[CUDA memcpy Device-to-Host],1,500,500' '[CUDA memset],1,100,100')" ]
    grep -q '"total_bytes": *9223372036854775807' out.json
    [ "$(jq -c '.files[0].tables.cuda_gpu_mem_size_sum.rows[1:] | map([.name, .count, .total_bytes + 0, .mean_bytes + 0])' out.json)" = \
        '[["[CUDA memcpy Host-to-Device]",2,4000000,2000000],["[CUDA memset]",1,4096,4096]]' ]
    [ "$(rows nvtx_sum name count total_ns)" = "$(printf '%s\n' :step,1,300 :forward,1,100)" ] # a mark is no range
    # what nsys itself printed for two calls of these lengths: 167,993,715.5 and 233,376,198.5
    [ "$(jq -c '.files[0].tables.osrt_sum.rows[0] | [.mean_ns, (.deviation_ns * 10 | round)]' out.json)" = '[167993715.5,2333761985]' ]
}

@test "how busy each GPU was, on the clock on the wall" {
    profile p.sqlite
    netprof nsys p.sqlite --json --bins 10 >out.json
    [ "$(jq -c '.files[0] | [.host, .busy.clock, (.busy.gpus | length)]' out.json)" = '["gpu-node-7","ns since 1970-01-01 UTC",2]' ]
    # 1 s in ten bins from the first kernel on
    grep -q '1700000001123456789' out.json
    grep -q '1700000002123456789' out.json
    shares() { jq -c "[.files[0].busy.gpus[$1].$2.shares[] * 1000 | round]" out.json; }
    [ "$(shares 0 kernels)" = '[1000,1000,0,0,1000,0,0,0,0,0]' ]
    [ "$(shares 0 nccl_kernels)" = '[0,0,0,0,1000,0,0,0,0,0]' ]
    [ "$(shares 1 kernels)" = '[0,0,0,0,0,0,0,500,1000,1000]' ]
    [ "$(jq -c '[.files[0].busy.gpus[] | .kernels.busy_ns, .nccl_kernels.busy_ns, .memory_operations.busy_ns]' out.json)" = \
        '[300000000,100000000,4600,250000000,0,0]' ]
}

@test "text as nsys stats prints it, and CSV" {
    profile p.sqlite
    netprof nsys p.sqlite >out
    grep -q '^CUDA kernels (cuda_gpu_kern_sum)$' out
    grep -Eq '^ *Time \(%\) +Total Time \(ns\) +Instances +Avg \(ns\) +Med \(ns\) +Min \(ns\) +Max \(ns\) +StdDev \(ns\)' out
    grep -Eq '^ *83\.3 +500000000 +3 +166666666\.7 +150000000\.0 +100000000 +250000000 +76376261\.6 +void gemm' out
    grep -Eq '^ *16\.7 +100000000 +1 .* NCCL +ncclDevKernel_AllReduce' out
    grep -Eq 'Total \(MB\) +Count +Avg \(MB\)' out
    grep -Eq '4\.000 +2 +2\.000 +2\.000 +1\.000 +3\.000 +1\.414 +\[CUDA memcpy Host-to-Device\]' out
    grep -q '1 events without a plausible time were left out' out
    grep -q 'from 2023-11-14 22:13:21 UTC on' out
    grep -Eq '^ +0 +30 % +10 % ' out
    netprof nsys p.sqlite --top 1 | grep -q 'and 1 more (--all)'
    netprof nsys p.sqlite --csv >out.csv
    python3 - <<'END'
import csv
rows = list(csv.DictReader(open("out.csv", newline="")))
assert len(rows) == 2 + 2 + 3 + 3 + 2 + 1, len(rows)
row = next(r for r in rows if r["nccl"] == "1")
assert row["table"] == "cuda_gpu_kern_sum" and row["total"] == "100000000" and row["host"] == "gpu-node-7"
assert next(r for r in rows if r["unit"] == "bytes")["max"] == "9223372036854775807"
END
}

@test "files of other versions: names in the row itself, no session, no tables" {
    sqlite3 old.sqlite <<'END'
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, shortName TEXT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,15,0,'axpy'),('x',9,0,'axpy'),(NULL,9,0,'axpy');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcTime TEXT);
END
    netprof nsys old.sqlite --json >out.json
    [ "$(rows cuda_gpu_kern_sum name count total_ns)" = axpy,1,10 ]
    [ "$(jq -c '.files[0] | [.tables.cuda_gpu_kern_sum.rows_left_out, .begin_ns, .host, .busy.clock]' out.json)" = '[2,null,null,"ns since the profile began"]' ]
    netprof nsys old.sqlite >out
    grep -q '^CUDA API (cuda_api_sum)$' out
    grep -q 'the file has no such events' out
    sqlite3 ids.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, nameId INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,77)"
    netprof nsys ids.sqlite --json >out.json
    [ "$(rows cuda_api_sum name)" = '(name 77)' ]
    sqlite3 empty.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)"
    netprof nsys empty.sqlite >/dev/null
}

@test "a report of it: the tables and the busy GPUs" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'built without cairo'
    profile p.sqlite
    netprof report -o gpu.pdf p.sqlite
    if command -v pdftotext >/dev/null; then
        pdftotext -layout gpu.pdf gpu.txt
        # of two GPUs, one second: 300 + 250 ms of 2000, and 100 of NCCL
        tr -s '\n ' '  ' <gpu.txt | tr -d '\342\200\257' | grep -q 'ran kernels 27.5 *% of the time, those of NCCL 5 *%'
        grep -q 'cudaLaunchKernel' gpu.txt
        grep -q 'gpu-node-7' gpu.txt
        grep -q '2023-11-14 22:13:21' gpu.txt
    fi
    # The profile began at 22:13:20.123, its first kernel a second later; the wall clock stands below that second's tenths.
    netprof report --chart gpu-busy-lines -o lines.svg p.sqlite
    grep -q '>22:13:21\.1 UTC<' lines.svg
    grep -q '>22:13:21\.5<' lines.svg
    ! grep -q '>22:13:21<' lines.svg
    netprof report --list-charts p.sqlite | cut -f1 | tr '\n' ' ' | grep -q '^gpu-busy gpu-busy-lines cuda-api kernels '
    for paper in a4 letter; do [ "$(netprof report --check-layout --paper $paper p.sqlite)" = '0 faults' ]; done
    sqlite3 empty.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)"
    netprof report -o empty.html empty.sqlite
    grep -q 'tells of no work of a GPU' empty.html
    sqlite3 other.sqlite 'CREATE TABLE t (a)'
    [ "$(status_of netprof report -o x.pdf other.sqlite)" = 3 ]
    [ ! -e x.pdf ]
}

@test "what is no such file is said; the file is never changed" {
    profile p.sqlite
    [ "$(status_of netprof nsys missing.sqlite)" = 3 ]
    grep -q '^netprof nsys: missing.sqlite: No such file or directory' err
    ln p.sqlite again.sqlite
    [ "$(status_of netprof nsys p.sqlite again.sqlite)" = 2 ]
    grep -q 'again.sqlite: is the same file as another one' err
    rm again.sqlite
    echo 'no database, but long enough to look at ........................................................................' >text
    [ "$(status_of netprof nsys text)" = 3 ]
    grep -q 'text: expected an SQLite file' err
    : >empty
    [ "$(status_of netprof nsys empty)" = 3 ]
    grep -q 'empty: is empty' err
    [ "$(status_of netprof nsys .)" = 3 ]
    grep -q 'Is a directory' err
    sqlite3 other.sqlite 'CREATE TABLE t (a)'
    [ "$(status_of netprof nsys other.sqlite)" = 3 ]
    grep -q 'holds no table of Nsight Systems' err
    sqlite3 columns.sqlite 'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INT)'
    [ "$(status_of netprof nsys columns.sqlite)" = 3 ]
    grep -q 'CUPTI_ACTIVITY_KIND_KERNEL has other columns' err
    # a view of that name could run for ever
    sqlite3 view.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE VIEW OSRT_API AS
        WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL SELECT start FROM c) SELECT start, start AS end, 1 AS nameId FROM c"
    netprof nsys view.sqlite >out
    refute grep -q 'OS runtime' out
    # neither are columns that are computed
    sqlite3 computed.sqlite "CREATE TABLE OSRT_API (start INT, end INT GENERATED ALWAYS AS (start + 1), nameId INT)"
    [ "$(status_of netprof nsys computed.sqlite)" = 3 ]
    cp p.sqlite "a?b%41 #.sqlite"
    chmod 444 "a?b%41 #.sqlite"
    before=$(cksum <p.sqlite)
    netprof nsys "a?b%41 #.sqlite" >/dev/null
    [ "$(cksum <"a?b%41 #.sqlite")" = "$before" ]
    [ -z "$(ls ./*-wal ./*-shm ./*-journal 2>/dev/null)" ]
    [ "$(status_of netprof nsys)" = 2 ]
    [ "$(status_of netprof nsys --json --csv p.sqlite)" = 2 ]
    [ "$(status_of netprof nsys --top 0 p.sqlite)" = 2 ]
    [ "$(status_of netprof nsys --report cuda_api_sum,nvtx_sums p.sqlite)" = 2 ]
    grep -q "nvtx_sums: no such table; did you mean 'nvtx_sum'?" err
    [ "$(status_of netprof nsys --bins 1000000 p.sqlite)" = 2 ]
}

# make_export GENERATION FILE [NAME=VALUE…]
make_export() {
    "$NETPROF_TEST_TOP/tests/nsys/make_export" "$@"
}

all_tables=cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum,cuda_graph_sum,nvtx_sum,mpi_event_sum
all_tables+=,mpi_msg_size_sum,osrt_sum,cuda_gpu_sum,nvtx_pushpop_sum,nvtx_startend_sum

@test "exports of 2019 to 2025: every row of every table as Python's statistics have it, of each file and together" {
    local year files=()
    for year in 2019 2021 2023 2025; do
        make_export "$year" "$year.sqlite" seed="$year"
        files+=("$year.sqlite")
        netprof nsys "$year.sqlite" --json --report "$all_tables" >out.json
        [ "$("$NETPROF_TEST_TOP/tests/nsys/check_tables" out.json "$year.sqlite")" -gt 100 ]
    done
    netprof nsys "${files[@]}" --json --report "$all_tables" >out.json
    [ "$("$NETPROF_TEST_TOP/tests/nsys/check_tables" out.json "${files[@]}")" -gt 600 ]
    [ "$(jq -c '[.files[].nsys_version]' out.json)" = '[null,"2021.1.1","2023.1.1","2025.1.1"]' ]
    [ "$(jq -c '[.files[].tables.nvtx_sum.unended]' out.json)" = '[1,1,1,1]' ]
    jq -e '[.together.nvtx_sum.rows[].name] | any(. == "NCCL:ncclAllReduce") and any(startswith("my, domain:"))' out.json
    # which GPU was which is told by the latest one alone: what the program calls 0 and 1 is 3 and 2
    [ "$(jq -c '[.files[].busy.gpus | map(.gpu)]' out.json)" = '[[0,1],[0,1],[0,1],[2,3]]' ]
    [ "$(jq -r '.files[3].busy.gpus[0].name' out.json)" = 'NVIDIA H100 #2' ]
    [ "$(jq -c '.files[3].tables_not_read' out.json)" = '["NET_NIC_METRIC"]' ]
    netprof nsys "${files[@]}" --csv --report "$all_tables" >out.csv
    python3 - out.csv out.json <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
said = json.load(open(sys.argv[2]))
want = [(f["file"], t, r) for f in said["files"] for t, x in f["tables"].items() for r in x["rows"]]
want += [("", t, r) for t, x in said["together"].items() for r in x["rows"]]
assert len(rows) == len(want) > 700, (len(rows), len(want))
def cell(text): # as cells guard texts that a spreadsheet would take for formulas
    return "'" + text if text and text[0] in "=+-@\t\r" else text
for row, (path, table, r) in zip(rows, want):
    found = row["file"], row["table"], row["name"], row["of"]
    assert found == (path, table, cell(r["name"]), r.get("of", "")), (row, r)
    assert int(row["total"]) == r["total_" + row["unit"]] and int(row["count"]) == r["count"]
    assert abs(float(row["median"]) - r["median_" + row["unit"]]) <= 1e-9 * float(row["median"])
END
}

@test "one file for each rank: processes side by side, and clocks compared by their collectives" {
    local rank
    # node1 is 3 ms ahead; rank 3 takes twice as long for everything
    for rank in 0 1 2 3; do
        make_export 2025 "r$rank.sqlite" rank="$rank" host="node$((rank / 2))" clock="$((rank / 2 * 3000000))" \
            pid="$((100 + rank))" slow="$((rank == 3 ? 2 : 1))" devices=1
    done
    netprof nsys r3.sqlite r1.sqlite r0.sqlite r2.sqlite --json >out.json
    [ "$(jq -c '[.processes[] | .rank, .pid, .file]' out.json)" = \
        '[0,100,"r0.sqlite",1,101,"r1.sqlite",2,102,"r2.sqlite",3,103,"r3.sqlite"]' ]
    for rank in 0 3; do
        # MPI calls are counted once, however many requests they waited for
        [ "$(jq ".processes[$rank].mpi_ns" out.json)" = "$(sqlite3 "r$rank.sqlite" "SELECT sum(end - start) FROM (
            SELECT * FROM (SELECT DISTINCT start, end, textId FROM MPI_START_WAIT_EVENTS) UNION ALL SELECT start, end, textId
            FROM MPI_P2P_EVENTS UNION ALL SELECT start, end, textId FROM MPI_COLLECTIVES_EVENTS UNION ALL SELECT start, end, textId
            FROM MPI_OTHER_EVENTS)")" ]
        [ "$(jq ".processes[$rank].kernels_ns" out.json)" = "$(sqlite3 "r$rank.sqlite" "SELECT (SELECT sum(end - start) FROM
            CUPTI_ACTIVITY_KIND_KERNEL) + (SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)")" ]
    done
    jq -e '.balance.mpi_ns as $b | [.processes[].mpi_ns] | $b.max_ns == max and $b.min_ns == min and
        ($b.mean_ns - add / 4 | fabs) < 1 and ($b.max_over_mean - max / (add / 4) | fabs) < 1e-9' out.json
    # of 3 ms the collectives leave less than 5 us uncertain; the first host stays, which is the one ahead
    jq -e '.clocks | .collective_count == 40 and .clock_uncertainty_ns < 5000 and ([.files[] | .clock_offset_ns -
        (if .file == "r0.sqlite" or .file == "r1.sqlite" then 3000000 else 0 end) | fabs] | max) <= .clock_uncertainty_ns' out.json
    netprof nsys r0.sqlite r1.sqlite r2.sqlite r3.sqlite >out
    grep -q '^All 4 files$' out
    refute grep -q '^r0.sqlite of node0$' out
    grep -Eq '^ +r3.sqlite +node1 +3 +103 ' out
    grep -Eq '^ +largest / mean ' out
    grep -q '^Clocks: 2 hosts, placed by when each profile began (UTC) and by 40 collectives of MPI' out
    netprof nsys --each r0.sqlite r1.sqlite | grep -q '^r0.sqlite of node0$'
    netprof nsys r0.sqlite r1.sqlite | grep -q '^Clocks: All files are of one host'
    # ranks that were not in the same collectives tell nothing of clocks
    make_export 2025 other.sqlite rank=4 host=node9 barriers=39
    netprof nsys r0.sqlite other.sqlite | grep -q 'how far these are apart is not known'
    # neither do barriers of a node alone; which these are is told by the list of communicators, or by MPICH's numbers
    for rank in 0 3; do
        make_export 2025 "n$rank.sqlite" rank="$rank" host="node$rank" node_barriers=5
        make_export 2025 "l$rank.sqlite" rank="$rank" host="node$rank" node_barriers=5 ranks=4 clock="$((rank * 1000000))"
        make_export 2023 "m$rank.sqlite" rank="$rank" host="node$rank" node_barriers=5 clock="$((rank * 1000000))"
    done
    netprof nsys n0.sqlite n3.sqlite | grep -q 'how far these are apart is not known'
    for rank in l m; do
        netprof nsys "${rank}0.sqlite" "${rank}3.sqlite" --json >out.json
        jq -e '.clocks | .collective_count == 40 and .clock_uncertainty_ns < 5000 and (.files[1].clock_offset_ns + 3000000 | fabs) <= .clock_uncertainty_ns' out.json
    done
    make_export 2025 l4.sqlite rank=4 host=node4 node_barriers=5 ranks=4 # there is no rank 4 of 4
    netprof nsys l0.sqlite l4.sqlite | grep -q 'how far these are apart is not known'
    # of one rank twice
    cp r2.sqlite copy.sqlite
    netprof nsys r?.sqlite copy.sqlite >out
    grep -q 'rank 2 is in several files: what these have in common counts twice' out
    netprof nsys r?.sqlite >out
    refute grep -q 'in several files' out
    make_export 2019 undated.sqlite
    netprof nsys r0.sqlite undated.sqlite | grep -q '1 of 2 files do not tell when their profile began'
}

@test "the rank whose own kernels take longest is the report's title; what others wait in NCCL is no fault of theirs" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'built without cairo'
    # rank FILE RANK KERNELS LENGTH NCCL: so many kernels of so many ns, and one of NCCL, one after the other from 0 on
    rank() {
        sqlite3 "$1" "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1,'gemm'),
              (2,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)');
            CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
            CREATE TABLE MPI_RANKS (globalTid INT, rank INT); INSERT INTO MPI_RANKS VALUES ((100 + $2) << 24, $2);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, globalPid INT, demangledName INT);
            WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < $3 - 1)
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * $4, (i + 1) * $4, 0, (100 + $2) << 24, 1 FROM c;
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ($3 * $4, $3 * $4 + $5, 0, (100 + $2) << 24, 2)"
    }
    # four ranks for a second; rank 2 needs 90 ms for a kernel instead of 40: 2.25 times
    for n in 0 1 2 3; do rank "r$n.sqlite" "$n" 10 $((n == 2 ? 90000000 : 40000000)) $((n == 2 ? 100000000 : 600000000)); done
    netprof report -o slow.html r?.sqlite
    grep -q '<h1[^>]*>Rank 2 is slowest: its kernels take 2.25' slow.html
    tr -d '\342\200\257' <slow.html | grep -q 'Rank 2 spent 900 *ms in its own kernels (NCCL&#39;s left out), 2.25 times the others&#39; median: 1.00 times as many kernels, 2.25 times as long each'
    # as long for each, but twice as many: it has more to do, and nothing is slow
    rank more.sqlite 4 20 40000000 200000000
    netprof report -o more.html r[013].sqlite more.sqlite
    grep -q '<h1[^>]*>Rank 4 ran 2.00.*as many kernels' more.html
    refute grep -q slowest more.html
    # who waits in NCCL is not slow
    rank waits.sqlite 5 10 40000000 2000000000
    netprof report -o waits.html r[013].sqlite waits.sqlite
    refute grep -Eq '<h1[^>]*>(Rank 5|.*slowest)' waits.html
    # a process that ended, or whose profile did, missed nothing: nothing is hatched, no sample is missing
    refute grep -q 'no samples' waits.html
    grep -q 'nothing to measure' waits.html
    for paper in a4 letter; do [ "$(netprof report --check-layout --paper $paper r?.sqlite)" = '0 faults' ]; done
}

@test "what a process calls GPU 0 may be another one than that of the next" {
    sqlite3 two.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1,'k');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, globalPid INT, demangledName INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0,100,0,10 << 24,1), (50,100,0,11 << 24,1)"
    netprof nsys two.sqlite --json >out.json
    [ "$(jq -c '[.files[0].busy.gpus[] | .gpu, .pid, .kernels.busy_ns]' out.json)" = '[0,10,100,0,11,50]' ]
    # where the file tells that both had the same one, the time counts once
    sqlite3 two.sqlite "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);
        INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (5,0,10), (5,0,11)"
    netprof nsys two.sqlite --json >out.json
    [ "$(jq -c '[.files[0].busy.gpus[] | .gpu, .pid, .kernels.busy_ns]' out.json)" = '[5,null,100]' ]
}

@test "types that changed, rows in any order, ids that are missing" {
    sqlite3 odd.sqlite "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1,'k');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, demangledName, shortName);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('100','150',0,NULL,1), (20.0,30.0,0,1,1), (0,10,0,77,1), (25,60,0,1,1), (1.5,3,0,1,1),
          (x'00',3,0,1,1), ('12x',13,0,1,1), (5,6,0,NULL,NULL), (-5,6,0,1,1), (1,9223372036854775807,0,1,1)"
    netprof nsys odd.sqlite --json >out.json
    [ "$(rows cuda_gpu_kern_sum name count total_ns)" = "$(printf '%s\n' k,3,95 '(name 77),1,10' '(no name),1,1')" ]
    [ "$(jq '.files[0].tables.cuda_gpu_kern_sum.rows_left_out' out.json)" = 5 ]
    # 100..150, 20..60, 0..10
    [ "$(jq '.files[0].busy.gpus[0].kernels.busy_ns' out.json)" = 100 ]
}

@test "an export that is still being written, and a report that is to be exported first" {
    profile p.sqlite
    cp p.sqlite w.sqlite
    python3 - <<'END'
import shutil, sqlite3
db = sqlite3.connect("w.sqlite")
db.execute("PRAGMA journal_mode=WAL")
db.execute("INSERT INTO OSRT_API VALUES (0, 1, 1, 7)")
db.commit()
shutil.copy("w.sqlite-wal", "copy.sqlite-wal")
shutil.copy("w.sqlite", "copy.sqlite")
db.close()
END
    [ "$(status_of netprof nsys copy.sqlite)" = 3 ]
    grep -q 'copy.sqlite: is not complete: what was written last is in the file beside it that ends in -wal' err
    netprof nsys w.sqlite >/dev/null
    cp p.sqlite j.sqlite
    echo journal >j.sqlite-journal
    [ "$(status_of netprof nsys j.sqlite)" = 3 ]
    grep -q 'j.sqlite: is still being written' err
    # the first bytes are right and the rest is noise: encrypted, or damaged
    { head -c 100 p.sqlite; head -c "$(($(wc -c <p.sqlite) - 100))" /dev/zero | tr '\0' 'x'; } >noise.sqlite
    [ "$(status_of netprof nsys noise.sqlite)" = 3 ]
    grep -q '^netprof nsys: noise.sqlite: ' err
    echo x >my.nsys-rep
    for command in nsys report; do
        [ "$(status_of netprof "$command" my.nsys-rep)" = 3 ]
        grep -q 'my.nsys-rep: is a report of Nsight Systems itself; make its SQLite export: nsys export --type sqlite REPORT' err
    done
    [ "$(status_of netprof nsys missing.nsys-rep)" = 3 ]
    grep -q 'No such file' err
    # read where nothing can be written
    mkdir closed
    cp p.sqlite closed/p.sqlite
    chmod 555 closed
    netprof nsys closed/p.sqlite >/dev/null
}

@test "reports: ranks on one axis, and beside the recording of their job on its axis" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'built without cairo'
    local begin rank
    netprof record -q --sources cpu --interval 100ms --duration 400ms --job none -o node.netprof
    begin=$(netprof job --json node.netprof | jq -r '[.. | .begin_ns? // empty][0]')
    for rank in 0 1; do
        make_export 2025 "r$rank.sqlite" rank="$rank" host="$(uname -n)" pid="$((100 + rank))" session="$((begin + 100000000))" \
            gpu="$((3 + 4 * rank))"
    done
    netprof report -o ranks.html r1.sqlite r0.sqlite
    python3 - ranks.html <<'END'
import re, sys
text = re.sub(r"<[^>]*>", "|", open(sys.argv[1], encoding="utf-8").read())
assert "The 4 GPUs ran kernels" in text and "2 files" in text
assert text.index("rank 0, GPU 2") < text.index("rank 0, GPU 3") < text.index("rank 1, GPU 6")
assert "Processes side by side" in text and "mpi_event_sum" in text and "All files are of one host" in text
END
    [ "$(netprof report --check-layout r0.sqlite r1.sqlite)" = '0 faults' ]
    # ranks that share two GPUs
    make_export 2025 shared.sqlite rank=2 host="$(uname -n)" pid=102
    netprof report -o shared.html r0.sqlite shared.sqlite
    grep -q 'Processes that share GPUs each ran kernels' shared.html
    grep -q '2 GPUs' shared.html
    netprof report -o job.html r0.sqlite node.netprof r1.sqlite
    grep -q 'GPU programs' job.html
    refute grep -q "outside the job" job.html
    [ "$(netprof report --check-layout node.netprof r0.sqlite r1.sqlite)" = '0 faults' ]
    # a profile of the day before says so
    make_export 2025 old.sqlite host=elsewhere session="$((begin - 86400000000000))"
    netprof report -o job.html node.netprof old.sqlite
    grep -q "1 of 1 lie outside the job.*s time; 1 of 1 are of hosts without a recording" job.html
    # a node whose clock is known to be 7 s ahead takes its profile with it: else it would begin 4 s behind the job's end
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 2 -t 5 -g 1 -k 1 -w 7 job
    make_export 2025 ahead.sqlite host=n02.cluster session=1763643729000000000
    netprof report -o job.html job ahead.sqlite
    grep -q '1 of 1 are moved with their node' job.html
    refute grep -q 'lie outside the job' job.html
    # an export that is missing among recordings is said, as a recording is
    [ "$(status_of netprof report -o x.html node.netprof missing.sqlite)" = 1 ]
    grep -q 'missing.sqlite: No such file' err
}

@test "damaged files end with an error or a result, never a crash" {
    profile p.sqlite
    size=$(wc -c <p.sqlite)
    failed=0
    for at in 100 4096 5000 8192 12288 20000 30000 $((size - 100)); do
        cp p.sqlite hurt.sqlite
        head -c 600 /dev/zero | tr '\0' '\377' | dd of=hurt.sqlite bs=1 seek="$at" conv=notrunc status=none
        status=$(status_of netprof nsys hurt.sqlite --json)
        [ "$status" = 0 ] || [ "$status" = 3 ]
        [ "$status" = 0 ] || failed=$((failed + 1))
        head -c "$at" p.sqlite >cut.sqlite
        [ "$(status_of netprof nsys cut.sqlite --json)" = 3 ]
        grep -q "cut.sqlite: is cut: it has $at bytes of $size" err
    done
    [ "$failed" -ge 2 ]
}

@test "hostile names are harmless" {
    profile p.sqlite
    sqlite3 p.sqlite "UPDATE StringIds SET value = char(27) || '[31mred' || char(10) || '<b>' WHERE id = 3;
        UPDATE TARGET_INFO_SYSTEM_ENV SET value = char(7) || 'h'"
    netprof nsys p.sqlite >out
    refute grep -q $'\033\|\007' out
    netprof nsys p.sqlite --json | jq -e '.files[0].tables.cuda_gpu_kern_sum.rows[0].name == "\u001b[31mred\n<b>"' >/dev/null
}

@test "on a terminal a message takes the place of the line of progress" {
    command -v script >/dev/null || skip 'no script(1)'
    profile p.sqlite
    head -c 600 p.sqlite >bad.sqlite
    [ "$(status_of script -qec 'netprof nsys p.sqlite bad.sqlite' /dev/null)" = 3 ]
    grep -q $'file 2 of 2\r\033\\[Knetprof nsys: bad.sqlite: ' out
    cp p.sqlite q.sqlite
    [ "$(status_of script -qec 'netprof nsys p.sqlite q.sqlite' /dev/null)" = 0 ]
    grep -q $'file 2 of 2\r\033\\[K' out
    refute grep -q $'file [0-9] of 2.*GPU' out
}
