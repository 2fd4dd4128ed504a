#!/usr/bin/env bats
# netprof run --nccl: the profiler plugin in a program that loads it as NCCL does.

load common

player=$NETPROF_TEST_BUILD/tests/load_nccl_plugin

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset NCCL_PROFILER_PLUGIN NETPROF_NCCL NETPROF_NCCL_NEXT
}

@test "calls are kept, and read by netprof nccl" {
    local version
    for version in 4 5 6 7; do
        netprof run --nccl -o "kept$version" -- "$player" "$version" >out 2>err
        [ "$(cat out)" = played ]
        grep -q "NCCL: files of 1 process; 'netprof nccl $PWD/kept$version' tells" err
        [ -s "kept$version/run.netprof" ]
        netprof nccl "kept$version" >said
        head -1 said | grep -q '^Nothing could be judged: 20 calls were recorded without the time they took$'
        grep -q 'NETPROF_NCCL=step' said
    done
    netprof diff kept5/netprof-nccl-*.netprof >said # the network devices are in it, too
}

@test "a program that ends without finalizing its communicators leaves a whole file" {
    NETPROF_NCCL=all netprof run -q --nccl -o kept -- "$player" 5 leave >out
    [ "$(cat out)" = left ]
    netprof nccl kept >said
    grep -q '20 calls were recorded' said
    ! grep -q 'cut' said
}

@test "the summary as JSON" {
    netprof run --nccl -o kept --json --summary said.json -- "$player"
    python3 - <<'END'
import json
said = json.load(open("said.json"))
assert said["nccl_run"]["file_count"] == 1 and said["nccl_run"]["directory"].endswith("/kept"), said
END
}

@test "another plugin that was chosen is chained" {
    NCCL_PROFILER_PLUGIN=inspector netprof run -q --nccl -o kept -- sh -c 'echo "$NETPROF_NCCL_NEXT $NCCL_PROFILER_PLUGIN"' >out
    grep -q '^libnccl-profiler-inspector.so /.*/libnccl-profiler-netprof.so$' out
    NCCL_PROFILER_PLUGIN=/a/b.so netprof run -q --nccl -o kept2 -- sh -c 'echo "$NETPROF_NCCL_NEXT"' >out
    [ "$(cat out)" = /a/b.so ]
}

@test "where no process used NCCL, that is said" {
    netprof run --nccl -o kept -- true 2>err
    grep -q 'NCCL: no process left a file in' err
}

@test "without a directory it is wrong usage" {
    local code=0
    netprof run --nccl -- true 2>err || code=$?
    [ "$code" -eq 2 ]
    grep -q '^netprof run: --nccl: expected -o DIR' err
}

@test "job: what NCCL sent to other nodes explains their NICs' bytes" {
    [ "$(id -u)" = 0 ] || skip "needs root, to name a host"
    local node sent
    mkdir plugin
    NETPROF_NCCL_DIR=$PWD/plugin NETPROF_NCCL=step "$NETPROF_TEST_BUILD/tests/make_nccl_cluster" 0 1 1
    for node in node00 node01; do # two of its 16 hosts have recordings
        unshare -u sh -c 'hostname "$0" && exec netprof record -q -o "$0.netprof" --interval 50ms --duration 200ms --sources netdev,cpu --job none' $node ||
            skip "no host can be named here"
    done
    netprof job --fail-on critical,judged --json node00.netprof node01.netprof plugin >job.json
    netprof nccl --json plugin >nccl.json || true
    # Ranks 0 to 3 are on the first host: all that they sent to others.
    sent=$(jq '[.peers[0].bytes[0:4][] | .[4:][] | numbers] | add' nccl.json)
    [ "$sent" -gt 0 ]
    [ "$(jq -r '.bytes_explained.layers[].layer' job.json)" = NCCL ]
    [ "$(jq '.bytes_explained.hosts[] | select(.host == "node00").layers[0].tx_bytes' job.json)" = "$sent" ]
    # The recorder's own machine sent nothing of that: never a share above 100 %.
    jq -r .bytes_explained.text job.json | grep -q 'more than the NICs: '
    jq -e '.bytes_explained.text | test("[0-9] %") | not' job.json
    [ "$(jq '.bytes_explained.hosts_left_out' job.json)" = true ]
}

@test "the plugin's own readings of a device are joined to the calls that ran meanwhile" {
    local dir=tree/sys/class/net/eth0
    mkdir -p $dir/statistics
    echo 7 >$dir/ifindex
    echo 1 >$dir/carrier
    for counter in rx_bytes rx_packets tx_packets; do echo 0 >$dir/statistics/$counter; done
    # 1 MB while an AllReduce is alone, then 600 kB while an AllGather and a ReduceScatter are there; NCCL says 250 kB of each.
    # A rate is of the time between two readings of the device, not of the two sweeps: what is moved is right to a little.
    # Where the machine stood still between two of these, the share of a call is of a longer time: then once more.
    for _ in 1 2 3 4 5; do
        rm -rf kept
        echo 000000000 >$dir/statistics/tx_bytes
        NETPROF_ROOT=$PWD/tree NETPROF_SOURCES=netdev NETPROF_INTERVAL=10ms NETPROF_NCCL=step netprof run -q --nccl -o kept -- \
            "$player" share $dir/statistics/tx_bytes >out
        [ "$(cat out)" = played ]
        netprof nccl --json kept >said.json || true
        ! python3 - <<'END' || break
import json
rows = {x["coll"]: x for x in json.load(open("said.json"))["calls_and_counters"]}
shared = [rows["AllGather"], rows["ReduceScatter"]]
assert abs(rows["AllReduce"]["tx_bytes"] - 1000000) < 50000 and rows["AllReduce"]["calls_alone"] == 1, rows
assert abs(sum(x["tx_bytes"] for x in shared) - 600000) < 30000 and not any(x["calls_alone"] for x in shared), rows
open("right", "w")
END
    done
    [ -e right ]
    netprof nccl kept >said || true
    grep -qE '^ +[^ ]+ +world +AllReduce +4 KiB +1 +[0-9.]+ [kM]?B +250 kB +0 B +0 B +alone$' said
    [ "$(grep -cE '^ +[^ ]+ +world +(AllGather|ReduceScatter) +4 KiB +1 +[0-9.]+ [kM]?B +250 kB +0 B +0 B +shared with 1 other: [0-9.]+ %$' said)" = 2 ]
    # A report draws them, also from the saved result.
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || return 0
    netprof report kept -o a.pdf
    pdftotext -layout a.pdf text
    grep -qE '^ *AllReduce 4 ?KiB on [^ ]+ +NCCL 250 ?kB +more 7[0-9]{2} ?kB +(1\.0[0-9] ?MB|9[0-9]{2} ?kB), alone$' text
    grep -qE '^ *[^ ]+ +world +ReduceScatter +4 ?KiB +1 +[0-9.]+ ?[kM]B +250 ?kB +0 ?B +0 ?B +shared with 1 other: [0-9.]+ %$' text
    netprof nccl kept -o saved >/dev/null || true
    netprof report saved/nccl.json -o b.pdf
    cmp a.pdf b.pdf
}

@test "calls that the plugin kept are on the time axis of the run that it was in" {
    local dir=tree/sys/class/net/eth0
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'no reports'
    mkdir -p $dir/statistics
    echo 7 >$dir/ifindex
    for counter in rx_bytes rx_packets tx_packets; do echo 0 >$dir/statistics/$counter; done
    echo 000000000 >$dir/statistics/tx_bytes
    netprof run -q --nccl -o kept --interval 20ms -- env NETPROF_ROOT="$PWD/tree" NETPROF_SOURCES=netdev \
        NETPROF_INTERVAL=10ms NETPROF_NCCL=step "$player" share $dir/statistics/tx_bytes >out
    netprof report --as job -o r.pdf kept
    pdftotext -layout r.pdf - | grep -q 'Drawn: all 3 calls of NCCL that were recorded'
    netprof report --as job --chart nccl-over-time -o c.svg --data c.csv kept
    grep -q '^rank 1 of world,.*[1-9]' c.csv
    [ "$(grep -c '^rank' c.csv)" = 1 ]
}

@test "what the plugin keeps of two ranks is what they sent, and what their interface did (on_gpu, without a GPU)" {
    local plugin=$NETPROF_TEST_TOP/tests/nccl-plugin
    ON_GPU_COST=0 PYTHONPATH=$plugin/fake PYTHONDONTWRITEBYTECODE=1 "$plugin/on_gpu" "$NETPROF_TEST_BUILD" 10 "$PWD/kept" >out 2>err || {
        cat out err
        return 1
    }
    ! grep -q FAILED out
    [ "$(grep -c '^ok ' out)" -ge 6 ]
    grep -q 'bytes of the steps, .* arithmetic 125829120$' out # 30 calls of 4 MiB
    grep -qE 'joined: .* AllReduce [0-9]+ calls, ' out
}
