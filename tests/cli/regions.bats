#!/usr/bin/env bats
# netprof regions: files of real programs, and of a job that a generator made up with one slow rank.

load common

make_regions=$NETPROF_TEST_BUILD/tests/make_regions

# The programs, each of netprof.h and a few lines; the header is compiled once for both.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    # A rank: RANK_CALLS exchanges of 1000 bytes each, in main, and one at the end of a thread of its own.
    cat >rank.c <<'END'
#include "netprof.h"
#include <pthread.h>
#include <stdlib.h>
static void *helper(void *name)
{
    netprof_region_id id = netprof_region((const char *)name);
    netprof_begin(id);
    netprof_bytes(7);
    netprof_end(id);
    return NULL;
}
int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t thread;
    NETPROF_BEGIN("main");
    for (int i = 0; i < calls; i++) {
        NETPROF_BEGIN("exchange");
        NETPROF_BYTES(1000);
        NETPROF_END("exchange");
    }
    if (pthread_create(&thread, NULL, helper, argc > 2 ? argv[2] : "helper")) return 1;
    pthread_join(thread, NULL);
    if (argc > 3) _Exit(netprof_flush(NULL) ? 1 : 0); /* as if killed: main is open */
    NETPROF_END("main");
    return 0;
}
END
    cat >nic.c <<'END'
#include "netprof.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void move(const char *path, int to)
{
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "%d@1700000000.000000001\n", to) < 0 || fclose(f)) exit(1);
}
int main(int argc, char **argv)
{
    NETPROF_BEGIN("quiet");
    usleep(300000);
    NETPROF_END("quiet");
    NETPROF_BEGIN("send");
    NETPROF_BYTES(5000);
    move(argv[argc - 1], 1000 + 5432);
    usleep(300000);
    NETPROF_END("send");
    NETPROF_BEGIN("pack");
    NETPROF_END("pack");
    return 0;
}
END
    printf '#define NETPROF_IMPLEMENTATION\n#include "netprof.h"\n' >implementation.c
    cc -std=gnu11 -O0 -pthread -I "$NETPROF_TEST_TOP" -c implementation.c
    for program in rank nic; do
        cc -std=gnu11 -O1 -pthread -I "$NETPROF_TEST_TOP" "$program.c" implementation.o -o "$program"
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset NETPROF NETPROF_OUTPUT NETPROF_RANK NETPROF_EVERY NETPROF_FLUSH
}

# json FILTER: of regions.json.
json() {
    jq -r "$1" regions.json
}

@test "ranks of a launcher become one tree" {
    cp "$BATS_FILE_TMPDIR/rank" .
    for rank in 0 1 2 3; do
        OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 SLURM_JOB_ID=99 ./rank $((rank + 1))
    done
    files=(netprof-99-*.netprof)
    [ ${#files[@]} -eq 4 ]
    netprof regions . --json >regions.json
    [ "$(json '.format, .version, .job, .command, .expected_rank_count' | xargs)" = 'netprof-regions 2 99 rank 4' ]
    [ "$(json '[.ranks[].rank] | join(" ")')" = '0 1 2 3' ]
    [ "$(json '[.regions[].path] | join(" ")')" = 'main main/exchange helper' ]
    [ "$(json '.regions[1] | .calls, .measured_calls, .declared_bytes, .rank_count' | xargs)" = '10 10 10000 4' ]
    [ "$(json '.regions[1].by_rank.calls | join(" ")')" = '1 2 3 4' ]
    [ "$(json '.regions[2] | .calls, .declared_bytes' | xargs)" = '4 28' ]
    [ "$(json '.regions[0] | .declared_bytes, .declared_bytes_with_parts' | xargs)" = '0 10000' ]
    [ "$(json '.missing_ranks | length, .hosts[0].rank_count' | head -1)" = 0 ]
    # own time and parts are the whole, each rounded in each rank; and the histogram has every call
    [ "$(json '.regions[0].inclusive_ns - .regions[0].exclusive_ns - .regions[1].inclusive_ns | fabs <= 4')" = true ]
    [ "$(json '[.regions[1].histogram[].calls] | add')" = 10 ]
    netprof regions netprof-99-*.netprof >text
    grep -q '^job 99, rank, 4 ranks on 1 host' text
    grep -q '^ok  *All 4 rank files are complete; 18 calls, none unmatched' text
}

@test "a rank that left no file is missed" {
    cp "$BATS_FILE_TMPDIR/rank" .
    for rank in 0 2; do PMI_RANK=$rank PMI_SIZE=3 ./rank; done
    netprof regions . --json >regions.json
    [ "$(json '.expected_rank_count, .missing_ranks[0]' | xargs)" = '3 1' ]
    netprof regions . | grep -q '1 of 3 ranks left no file: 1'
}

@test "processes without a launcher, one after the other, are runs of their own" {
    cp "$BATS_FILE_TMPDIR/rank" .
    ./rank
    ./rank
    netprof regions . --json >regions.json
    [ "$(json '[.runs[].ranks | length] | join(" ")')" = '1 1' ]
    [ "$(json '.runs[0].ranks[0].rank')" = null ]
    [ "$(json '.runs[1].ranks[0].label')" = "pid $(json '.runs[1].ranks[0].pid')" ]
    [ "$(json '[.runs[].regions[0].calls] | join(" ")')" = '1 1' ]
}

@test "a program that was killed amid main" {
    cp "$BATS_FILE_TMPDIR/rank" .
    ./rank 5 helper killed
    netprof regions . --json >regions.json
    [ "$(json '.regions[0] | .calls, .measured_calls, .open_calls' | xargs)" = '1 1 1' ]
    [ "$(json '.regions[0].inclusive_ns > .regions[1].inclusive_ns')" = true ]
    netprof regions . | grep -q 'main was still open on 1 rank when the file was written: its time is that up to then'
    netprof regions . | grep -q '^watch  *The process did not end normally'
}

@test "NETPROF_PRINT: regions as a table at the end; what is neither 0 nor 1 is said" {
    cp "$BATS_FILE_TMPDIR/rank" .
    NETPROF_PRINT=1 NETPROF_OUTPUT=r.netprof ./rank 5 2>err
    cat err
    [ "$(awk '$1 == "main" { print $2 } $1 == "exchange" { print $2, $(NF - 1), $NF } $1 == "helper" { print $2, $(NF - 1), $NF }' err | xargs)" = \
        '1 5 5.00 kB 1 7 B' ]
    NETPROF_PRINT=0 NETPROF_OUTPUT=r.netprof ./rank 5 2>err
    [ ! -s err ]
    NETPROF_PRINT=maybe NETPROF_VERBOSE=1 NETPROF_OUTPUT=r.netprof ./rank 5 2>err
    [ "$(cat err)" = 'netprof: NETPROF_PRINT=maybe is neither 0 nor 1' ]
}

@test "NIC bytes of a region: what the counter grew by" {
    cp "$BATS_FILE_TMPDIR/nic" .
    make_nic tree cxi0 hni_sts_tx_ok_octets=1000 hni_sts_rx_ok_octets=5 zz_counter_of_no_set=7
    make_nic tree cxi1 zz_counter_of_no_set=7
    counter=$PWD/tree/sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets
    # On a machine that stands still for long, a reading may take long, and no rate be told of a third of a second.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -f ./*.netprof
        set_counter tree cxi0 hni_sts_tx_ok_octets 1000 0
        NETPROF=fast NETPROF_ROOT=$PWD/tree NETPROF_SOURCES=cxi ./nic "$counter"
        netprof regions . --json >regions.json
        [ "$(json '[.regions[].nics.state] | join(",")')" != 'known,known,uncertain' ] || break
    done
    [ "$(json '[.regions[].region] | join(" ")')" = 'quiet send pack' ]
    [ "$(json '.regions[0].nics | .state, .tx_bytes, .rx_bytes' | xargs)" = 'known 0 0' ]
    [ "$(json '.regions[1].nics | .state, .tx_bytes, .sent_over_declared' | xargs)" = 'known 5432 1.0864' ]
    [ "$(json '.regions[2].nics | .state, .tx_bytes' | xargs)" = 'uncertain 0' ]
    [ "$(json '.regions[2].nics | .uncertain_share > 0.5, .tx_bytes_per_s_and_host' | xargs)" = 'true null' ]
    [ "$(json '.reading_count, (.reading_ns > 0)' | xargs)" = '6 true' ]
    netprof regions . | grep -qE '^netprof +6 '
    # the file has the counters of the regions and no others, nor devices without any
    refute grep -q zz_counter_of_no_set ./*.netprof
    [ "$(json '.hosts[0].devices | join(" ")')" = cxi0 ]
    netprof regions . --region send | grep -q '^cxi0  *hni_sts_tx_ok_octets  *5432 '
}

@test "the planted rank is found among 64" {
    "$make_regions" -q job
    netprof regions job --json >regions.json
    [ "$(json '.ranks | length')" = 64 ]
    [ "$(json '.hosts | length')" = 8 ]
    wait='.regions[] | select(.path == "main/step/halo_exchange/wait")'
    [ "$(json "$wait | .balance.odd | .rank, .notable" | xargs)" = '17 true' ]
    [ "$(json "$wait | .balance.odd.over_median > 1.24 and .balance.odd.over_median < 1.26")" = true ]
    # 25 % of 13.37 s, whatever the median of the others is to a hundredth
    [ "$(json "$wait | .balance.odd.less_median_ns | . > 3.2e9 and . < 3.5e9")" = true ]
    [ "$(json '.regions[] | select(.region == "allreduce_residual") | .balance.odd | .rank, .less_median_ns < -3e9' | xargs)" = '17 true' ]
    [ "$(json '[.regions[] | select(.balance.odd.notable) | .region] | join(" ")')" = 'halo_exchange wait allreduce_residual' ]
    # long in a wait: a victim, and named as one; what its NIC met meanwhile stands beside it
    [[ $(json .verdict.text) == 'Rank 17 (h3) is held in wait; trouble on cxi0' ]]
    [ "$(json '.verdict.notes[0] | .severity, .rank_index' | xargs)" = 'high 17' ]
    json '.verdict.notes[0].text' | grep -q 'the last in allreduce_residual, where the others wait for it; in [a-z_]* meanwhile, on its host cxi0: transmit blocked'
    [ "$(json '[.ranks[17] | .work_and_waiting | .work_ns + .waiting_ns - .elapsed_s * 1e9 | fabs < 100] | .[0]')" = true ]
    [ "$(json '.work_and_waiting | .late | length')" = 0 ]
    [ "$(json '.regions[] | select(.region == "pack") | .nics | .state, (.tx_bytes > 0), .share_of_line_rate' | xargs)" = 'uncertain true null' ]
    # the NIC of its host, 23 % of the time, in wait and not in the rest of main
    [ "$(json '[.findings[] | select(.rule == "egress-paused" and .worse_within == null)] | map(.path, .host, .device, .severity) | join(" ")')" = \
        'main/step/halo_exchange h3 cxi0 high main/step/halo_exchange/isend_irecv h3 cxi0 high main/step/halo_exchange/wait h3 cxi0 high' ]
    [ "$(json '.findings[] | select(.rule == "egress-paused" and .path == "main/step/halo_exchange/wait") | .value * 100 | round')" = 23 ]
    # each host's NICs once: 4 NICs at 7.8 GB/s during the longest rank's time, on 8 hosts
    [ "$(json '.regions[] | select(.region == "isend_irecv") | .nics | .host_count, (.tx_bytes_per_s_and_host / 1e8 | round)' | xargs)" = '8 312' ]
    # parts and own time are the whole, everywhere
    # shellcheck disable=SC2016 # jq's variables
    [ "$(json '.regions as $all | [$all[] | . as $n |
        ([$all[] | select(.depth == $n.depth + 1 and (.path | startswith($n.path + "/"))) | .inclusive_ns] | add // 0)
        + $n.exclusive_ns - $n.inclusive_ns] | unique | join(" ")')" = 0 ]
    netprof regions job >text
    grep -q '^    halo_exchange .* 17 x1.17 ' text
    [ "$(sed -n 3p text)" = 'run 61.1 s, waiting 28.3 %' ]
}

@test "another planted rank, and none" {
    "$make_regions" -q -s 40 -d 0 other
    netprof regions other >text
    head -1 text | grep -q '^Rank 40 (h6) is held in wait: the others wait 3\.[0-9]* s of 61\.1 s$'
    grep -q '^watch .*it does not work longer' text
    refute grep -qE '^(warn|high)' text
    refute grep -q 'NICS SENT' text
    "$make_regions" -q -s -1 -d 1 even
    netprof regions even --json >regions.json
    [ "$(json '[.regions[].balance.odd | select(.) | .notable] | unique | map(tostring) | join(" ")')" = 'false' ]
    # what the NICs sent for allreduce is the one thing to be said there
    [ "$(json '.verdict.notes[0].text' | cut -d: -f1) $(json .verdict.text | cut -d: -f1)" = 'allreduce_residual allreduce_residual' ]
    "$make_regions" -q -s -1 -d 0 plain
    netprof regions plain --json >regions.json
    json .verdict.text | grep -qE '^No rank stands out: most time in compute \(5[12](\.[0-9])? %\)$'
}

@test "list, order, least share, one rank" {
    "$make_regions" -q -n 16 -s 3 job
    netprof regions job --flat >text
    [ "$(sed -n '/^REGION/,/^Calls/p' text | sed '1d;$d' | awk '{print $1}' | head -3 | xargs)" = 'compute wait checkpoint_write' ]
    netprof regions job --sort name | sed -n '/^REGION/,/^Calls/p' | awk '/^  [a-z]/ {print $1}' >names
    [ "$(xargs <names)" = 'checkpoint_write init step' ]
    netprof regions job --min-share 10 >text
    refute grep -q '^  init' text
    grep -q '^\.\.\. and 5 regions below 10 % of the time' text
    netprof regions job --rank 3 >text
    grep -q '^Rank 3 on h1, ' text
    grep -q '^      wait .* x1.25 .* 1 of 16$' text
    [ "$(status_of netprof regions job --rank 16)" = 2 ]
    grep -q 'no file is of this rank' err
    [ "$(status_of netprof regions job --region main/stop)" = 2 ]
    grep -q 'main/stop: no such region' err
    netprof regions job --region wait >text
    [ "$(head -1 text)" = main/step/halo_exchange/wait ]
    grep -q '^3  *h1  *2000 .*x1.25' text
}

@test "CSV: a line for each region, or for each region and rank" {
    command -v python3 >/dev/null || skip 'no python3'
    "$make_regions" -q -n 8 -s 5 job
    netprof regions job --csv -o regions.csv
    netprof regions job --csv --rank all -o ranks.csv
    netprof regions job --csv --rank 5 >rank.csv
    python3 - <<'END'
import csv
regions, ranks, one = (list(csv.DictReader(open(name, newline=""))) for name in ("regions.csv", "ranks.csv", "rank.csv"))
assert len(regions) == 10 and len(ranks) == 80 and len(one) == 10, (len(regions), len(ranks), len(one))
for region in regions:
    parts = [int(r["inclusive_ns"]) for r in ranks if r["region"] == region["region"]]
    assert sum(parts) == int(region["inclusive_ns"]) and max(parts) == int(region["slowest_ns"]), region
    assert abs(sum(parts) / 8 - float(region["rank_mean_ns"])) < 1e-8 * sum(parts), region
assert {r["rank"] for r in one} == {"5"}
pack = next(r for r in regions if r["region"].endswith("/pack"))
assert pack["counters"] == "uncertain" and int(pack["tx_bytes"]) > 0 and pack["share_of_line_rate"] == "", pack
assert abs(float(pack["nic_uncertain_share"]) - 12400 / (float(pack["mean_ns"]) + 12400)) < 0.02, pack # a reading: 6.2 us
END
}

@test "threads of a rank add up" {
    "$make_regions" -q -n 4 -t 3 -d 0 job
    netprof regions job --json >regions.json
    [ "$(json '.regions[] | select(.region == "worker") | .threads, .calls' | xargs)" = '8 16000' ]
    [ "$(json '[.regions[] | select(.depth == 0) | .inclusive_ns] | add')" = "$(json .regions_ns)" ]
    netprof regions job | grep -q 'THREADS'
}

@test "damaged files: told with their places, the others used, exit code 1" {
    "$make_regions" -q -n 4 -s -1 -d 1 job
    file=job/netprof-48213-2-h1-4002.netprof
    truncate -s 300 "$file"
    [ "$(status_of netprof regions job --json)" = 1 ]
    mv out regions.json
    grep -q "^netprof regions: $file: byte [0-9]*: " err
    [ "$(json '.ranks | length')" = 3 ]
    [ "$(json '.missing_ranks | join(" ")')" = 2 ]
    [ "$(json '.warnings[0].file')" = "$file" ]
    echo nonsense >job/nonsense.netprof
    [ "$(status_of netprof regions job job/missing.netprof)" = 1 ]
    grep -q '^netprof regions: job/nonsense.netprof: ' err
    grep -q '^netprof regions: job/missing.netprof: No such file or directory$' err
    # nothing usable at all
    [ "$(status_of netprof regions job/nonsense.netprof)" = 3 ]
    [ ! -s out ]
    mkdir empty
    [ "$(status_of netprof regions empty)" = 3 ]
    netprof collect -q -o snapshot.netprof
    [ "$(status_of netprof regions snapshot.netprof)" = 3 ]
    [ "$(cat err)" = 'netprof regions: snapshot.netprof: holds no regions' ]
    # beside regions, in a directory, it is no fault
    mkdir fine
    "$make_regions" -q -n 1 fine
    cp snapshot.netprof fine
    netprof regions fine >out 2>err
    [ ! -s err ]
}

@test "every order and any number of files gives the same bytes" {
    "$make_regions" -q -n 12 -p 4 job
    netprof regions job --json >one
    files=(job/*)
    netprof regions "${files[@]:6}" "${files[@]::6}" --json >two
    cmp one two
    netprof regions job job --json >three
    cmp one three
}

@test "a file appears whole or not at all" {
    "$make_regions" -q -n 2 job
    netprof regions job --json -o out.json
    netprof regions job --json >plain.json
    cmp out.json plain.json
    [ "$(status_of netprof regions job -o no/such/file)" = 3 ]
    [ -e /dev/full ] || skip 'no /dev/full'
    for how in '' --json --csv '--region main'; do
        # shellcheck disable=SC2086
        netprof regions job $how >/dev/full 2>err && false
        grep -q 'No space left on device' err
    done
    [ "$(status_of netprof regions job -o /dev/full)" = 3 ]
}

@test "names from outside are harmless" {
    cp "$BATS_FILE_TMPDIR/rank" .
    name=$'\033[31mred\033[0m\nnew, "line"\xff/x'
    OMPI_COMM_WORLD_RANK=0 SLURM_JOB_ID=$'a\033[2Jb' ./rank 1 "$name"
    netprof regions . >text 2>err
    netprof regions . --flat --csv >list.csv
    netprof regions . --json >regions.json
    netprof regions . --rank 0 >>text
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' text
    iconv -f UTF-8 -t UTF-8 text list.csv regions.json >/dev/null
    grep -qF '\x1b[31mred\x1b[0m\x0anew, "line"\xff/x' text
    [ "$(json '.regions[2].region' | head -1)" = $'\033[31mred\033[0m' ]
    path=$(netprof regions . --csv | python3 -c 'import csv, sys; print(list(csv.reader(sys.stdin))[3][0], end="")' || true)
    [[ $path == *'\/x' ]]
}
