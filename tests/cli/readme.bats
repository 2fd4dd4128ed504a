#!/usr/bin/env bats
# What the README and samples/RECIPES.md print works as printed: its commands with a stand-in for the user's program, its C program compiled.

load common

setup() {
    cd "$BATS_TEST_TMPDIR"
    printf '#!/bin/sh\nexec "%s/loopback" -m 20 -n 20 -b 1 -t 5\n' "$NETPROF_TEST_BIN" >my_program
    printf '#!/bin/sh\nwhile :; do case $1 in -*) shift ;; *) exec "$@" ;; esac; done\n' >srun
    chmod +x my_program srun
    PATH=$PWD:$PATH
}

# block LANGUAGE N: the N-th fenced block of a language in the README. recipe_block: in the other recipes.
fenced_block() {
    awk -v language="$2" -v wanted="$3" '
        /^```/ { if (inside) { inside = 0 } else { inside = ($0 == "```" language); n += inside }; next }
        inside && n == wanted { print }' "$NETPROF_TEST_TOP/$1"
}
block() { fenced_block README.md "$@"; }
recipe_block() { fenced_block samples/RECIPES.md "$@"; }

# run_block N: commands as printed; the exit status of netprof job may tell what this machine happens to be at.
run_block() {
    block sh "$1" >recipe
    # A job's number for the recipe alone: the recorder is in none.
    { echo 'SLURM_JOB_ID=7'; sed 's/^netprof job .*/& || [ $? = "$(expected_status "&")" ]/' recipe; } >script
    timeout 600 bash -euo pipefail script >out 2>err || { cat err; false; }
}

@test "every block is one of a test here, and every link leads somewhere" {
    for file in README.md samples/RECIPES.md; do
        grep '^```.' "$NETPROF_TEST_TOP/$file" | sort | uniq -c | awk '{ print $2, $1 }' >"blocks.$(basename $file)"
    done
    [ "$(tr '\n' ' ' <blocks.README.md)" = '```sh 6 ' ] # of these the last installs: install.bats
    [ "$(tr '\n' ' ' <blocks.RECIPES.md)" = '```bash 1 ```c 2 ```python 1 ```sh 7 ' ]
    [ "$(block sh 6)" = 'cmake --install build --prefix "$HOME/.local"' ]
    python3 - "$NETPROF_TEST_TOP" <<'END'
import os, re, sys
top = sys.argv[1]
anchor = lambda title: re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")
for name in ("README.md", "samples/RECIPES.md", "samples/README.md"):
    for target in re.findall(r"\]\(([^)]+)\)", open(os.path.join(top, name), encoding="utf-8").read()):
        if "://" in target: continue
        path, _, part = target.partition("#")
        path = os.path.join(top, os.path.dirname(name), path) if path else os.path.join(top, name)
        assert os.path.exists(path), (name, target)
        if part: assert part in [anchor(line.lstrip("# ")) for line in open(path, encoding="utf-8").read().splitlines() if line.startswith("#")], (name, target)
END
}

@test "the first command is what bootstrap builds and what runs here" {
    [ "$(block sh 1)" = 'tools/bootstrap && build/bin/netprof run --report report.pdf -- build/bin/loopback' ]
    [ -x "$NETPROF_TEST_TOP/tools/bootstrap" ]
    netprof run --report report.pdf -- loopback -m 20 -n 20 -b 1 -t 5 >out 2>err
    [ "$(head -c 5 report.pdf)" = %PDF- ]
    grep -q 'TCP stream' out
    grep -qE '^ *(lo|[a-z0-9]+) .*[0-9] [kMG]?B' err
}

@test "the second command exists and says what it does" {
    [ "$(block sh 2)" = 'tests/run' ]
    "$NETPROF_TEST_TOP/tests/run" --help | grep -q sanitizer
}

@test "recipe: before and after" {
    recipe_block sh 1 >recipe
    [ "$(grep -c . recipe)" -eq 4 ]
    bash -euo pipefail recipe >out
    grep -q '^Devices' out
}

@test "recipe: as perf stat, sar and nstat" {
    recipe_block sh 2 >recipe
    [ "$(grep -c . recipe)" -eq 5 ]
    export XDG_STATE_HOME=$PWD
    cp "$(command -v sleep)" my_daemon
    sed "s/10s/300ms/; s/--every 1s 'eth\*'/--every 200ms -n 2 lo/" recipe >lines
    while read -r line; do
        status=0
        case $line in *my_daemon*) ./my_daemon 5 3>&- & until pidof -s my_daemon || ! kill -0 $!; do sleep 0.02; done ;; esac
        timeout 60 bash -uo pipefail -c "$line" >out 2>err || status=$?
        echo "$line: $status"
        cat err
        # The first call has nothing to compare with.
        case $line in *since-last) [ "$status" = 4 ] ;; *) [ "$status" = 0 ] ;; esac
    done <lines
    wait
    [ "$(ls runs/run-*.netprof | wc -l)" -eq 10 ]
}

@test "recipe: second by second" {
    run_block 3
    grep -q -- '--interval' recipe
    grep -q 'TCP ping-pong' out
    grep -q '^CPU busy ' out
    grep -qi '<!doctype html>' job.html
    [ "$(ls tables/*.csv | wc -l)" -ge 5 ]
}

@test "recipe: a job on many nodes" {
    unset SLURM_JOB_ID PBS_JOBID OAR_JOB_ID
    run_block 4
    [ "$(grep -c . recipe)" -eq 6 ]
    [ "$(ls 7/*.netprof | wc -l)" -eq 1 ]
    grep -q '^CPU busy ' out
    [ "$(head -c 5 job.pdf)" = %PDF- ]
}

@test "recipe: is something wrong" {
    netprof run -q -o job.netprof -- ./my_program >out
    netprof run -q -o good.netprof -- ./my_program >out
    block sh 5 >recipe
    [ "$(grep -c . recipe)" -eq 4 ]
    # What this machine's network and load happen to be is no matter here: 1 says "found something".
    while read -r line; do
        status=0
        bash -uo pipefail -c "${line/10s/200ms}" >out 2>err || status=$?
        echo "$line: $status"
        cat err
        [ "$status" -le 1 ]
    done <recipe
    [ "$(head -c 5 why.pdf)" = %PDF- ]
}

@test "recipe: a prologue" {
    recipe_block sh 3 >recipe
    [ "$(head -n 1 recipe)" = '#!/bin/sh' ]
    [[ $(sed -n 2p recipe) == *"# made once: netprof collect -o /etc/netprof/well.netprof"* ]]
    netprof collect -q -o well.netprof
    sed "s:/etc/netprof/:$PWD/:; s/ --now/ --now -t 200ms --fail-on critical,judged/" recipe >prologue
    # The exit code is that of this machine's state, which is not for this test.
    status=0
    sh prologue >out 2>err || status=$?
    cat out err
    [ "$status" -le 1 ]
    refute grep -q 'missing' out
}

@test "recipe: an MPI program" {
    command -v mpirun >/dev/null || skip "no mpirun"
    program=$(find "$NETPROF_TEST_BIN" -name 'mpi_halo*' | head -n 1)
    [ -n "$program" ] || skip "built without MPI"
    cp "$program" my_mpi_program
    # The launcher of the family that the program was built with.
    launcher=$(command -v "mpirun.${program##*-}" || command -v mpirun)
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$launcher" >mpirun
    chmod +x mpirun
    set_up_open_mpi
    recipe_block sh 4 >recipe
    bash -euo pipefail recipe >out 2>err
    grep -q 'MPI_' out
}

@test "recipe: NCCL's logs" {
    mkdir inspector_logs
    for rank in 0 1; do
        printf '{"header":{"id":"0xab","rank":%d,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":1749490000000000,"hostname":"h1","pid":%d},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":1000000,"coll_exec_time_us":%d,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":10,"coll_busbw_gbs":10}}\n' \
            $rank $rank $((100 + rank)) >inspector_logs/h1-$rank.log
    done
    recipe_block sh 5 >recipe
    bash -euo pipefail recipe >out
    [ -s results/instances.csv ]
    [ "$(gzip -dc nccl.json.gz | jq '[.traceEvents[] | select(.cat == "NCCL collective")] | length')" = 2 ]
    [ "$(head -c 5 nccl.pdf)" = %PDF- ]
}

@test "recipe: Nsight Systems" {
    for rank in 0 1; do
        "$NETPROF_TEST_TOP/tests/nsys/make_export" 2025 "rank$rank.sqlite" rank="$rank" pid="$((40 + rank))"
    done
    netprof run -q --interval 100ms -o node0.netprof -- ./my_program >out
    recipe_block sh 6 >recipe
    [ "$(grep -c . recipe)" -eq 3 ]
    [ -n "${NETPROF_DUCKDB-}" ] || sed -i 's/parquet/csv/' recipe
    bash -euo pipefail recipe >out
    grep -qi 'cuda' out
    [ "$(head -c 5 job.pdf)" = %PDF- ]
    ls tables/nsys_*
}

@test "recipe: regions of a program" {
    recipe_block c 1 >program.c
    printf 'void exchange(void) {}\nvoid step(void);\nint main(void)\n{\n    step();\n    return 0;\n}\n' >main.c
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -I"$NETPROF_TEST_TOP" program.c main.c -pthread -o my_program
    recipe_block sh 7 >recipe
    [ "$(grep -c . recipe)" -eq 2 ]
    bash -euo pipefail recipe >out 2>err
    cat err
    grep -qE '^regions: .* mode time$' err
    grep -qE '^ +exchange +1 ' err
    grep -qE '^ *exchange +1 ' out
}

@test "recipe: in a program" {
    recipe_block c 2 >program.c
    printf 'void exchange(void) {}\n' >exchange.c
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -I"$NETPROF_TEST_TOP" program.c exchange.c -pthread -o program
    ./program >out
    grep -q '^netprof: .* on ' out
    netprof diff exchange.netprof >out
    grep -q '^Devices' out
}

@test "the manual's example for C compiles" {
    sed -n '/^One number:/,/^\.SH/p' "$NETPROF_TEST_TOP/tools/man/netprof.3" | sed '/^\.\|^One/d; s/\\en/\\n/' >body
    grep -q netprof_meter_start body
    { printf '#define NETPROF_IMPLEMENTATION\n#include "netprof.h"\n#define exchange() (void)0\nint main(void)\n{\n'
        cat body
        printf 'return 0;\n}\n'; } >program.c
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -I"$NETPROF_TEST_TOP" program.c -pthread -o program
    ./program >out
    grep -qE '^[0-9]+ B/s$' out
}

@test "recipe: many nodes, live" {
    [ -x "$NETPROF_TEST_BIN/netprof-head" ] && command -v nats-server >/dev/null || skip 'no netprof-head, or no nats-server'
    recipe_block bash 1 >recipe
    [ "$(grep -c . recipe)" -eq 4 ]
    # The port and the token are those that the head prints; the nodes are two agents here.
    sed -n 1p recipe | sed 's/0.0.0.0:4222 &/127.0.0.1:0 >join 3>\&- \&\necho $! >head.pid/' >start
    bash -euo pipefail start
    for ((i = 0; i < 300 && $(wc -l <join) == 0; i++)); do sleep 0.1; done
    join=$(cat join)
    [[ $join =~ ^NETPROF_TOKEN=[0-9a-f]{32}' netprof agent --head nats://127.0.0.1:'[0-9]+$ ]]
    [[ $(sed -n 2p recipe) == 'NETPROF_TOKEN=... netprof agent --head nats://headnode:4222 '* ]]
    for node in n1 n2; do
        bash -c "$join --node $node --spool spool-$node -q -t 50ms --send-every 100ms --sources netdev,cpu --duration 2s" 3>&- &
        agents+=" $!"
    done
    bash -c "$(sed -n 3p recipe | sed 's/#.*//')"
    wait $agents
    netprof session stop run7 --dir head
    bash -c "$(sed -n 4p recipe)"
    kill "$(cat head.pid)"
    [ "$(head -c 5 run7.pdf)" = %PDF- ]
    netprof session export run7 --dir head -o out
    [ "$(ls out)" = $'n1.netprof\nn2.netprof' ]
    netprof session stats run7 --dir head | grep -q '^n1 .*cpu/user'
    netprof session list --dir head | grep -q '^run7  *ended'
}
