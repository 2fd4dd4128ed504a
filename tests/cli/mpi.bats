#!/usr/bin/env bats
# netprof run --mpi: MPI calls of programs that know nothing of netprof, of MPICH and of Open MPI, from C and Fortran.

load common

programs=$NETPROF_TEST_BUILD/tests/mpi

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    # Containers: as root, with fewer cores than ranks.
    set_up_open_mpi
}

# needs MPI PROGRAM…: skips the test unless they are there; sets $mpirun.
needs() {
    local mpi=$1 program
    mpirun=$(sed -n "s/^$mpi //p" "$programs/launchers")
    [ -n "$mpirun" ] || skip "$mpi was not found when netprof was configured"
    for program in "${@:2}"; do
        [ -x "$programs/$program" ] || skip "$program was not built: $mpi has no compiler for it"
    done
}

# The regions of each rank are what its program counted: names, calls, bytes.
expect_regions() {
    local ranks=$1 rank
    [ "$(ls regions/netprof-*.netprof | wc -l)" -eq "$ranks" ]
    for ((rank = 0; rank < ranks; rank++)); do
        sort "expected/expected.$rank" >wanted
        "$programs/regions_of" regions/netprof-"$rank"-*.netprof | sort >got
        [ "$(wc -l <wanted)" -ge "$2" ]
        diff wanted got
    done
}

# calls MPI PROGRAM REGIONS: three ranks; so many different calls at least.
calls() {
    needs "$1" "$2"
    mkdir expected
    netprof run --mpi -o regions -- "$mpirun" -n 3 "$programs/$2" expected 2>err || { cat err; false; }
    grep -q "^  regions of 3 processes; 'netprof regions $PWD/regions' tells more:$" err
    expect_regions 3 "$3"
    netprof diff regions/run.netprof >/dev/null
}

@test "what is said of MPICH fits its mpi.h" {
    needs mpich check-mpich
    [ "$("$programs/check-mpich")" = MPICH ]
}

@test "what is said of Open MPI fits its mpi.h" {
    needs openmpi check-openmpi
    [ "$("$programs/check-openmpi")" = 'Open MPI' ]
}

@test "MPICH: calls and bytes are what the program counted" { calls mpich calls-mpich 60; }
@test "Open MPI: calls and bytes are what the program counted" { calls openmpi calls-openmpi 60; }
# peers MPI: what each of five ranks sent to whom is what its program counted.
peers() {
    local rank
    needs "$1" "peers-$1"
    mkdir expected
    netprof run -q --mpi -o regions -- "$mpirun" -n 5 "$programs/peers-$1" expected
    for ((rank = 0; rank < 5; rank++)); do
        [ "$(wc -l <expected/peers.$rank)" -eq 2 ]
        "$programs/regions_of" --peers regions/netprof-"$rank"-*.netprof | diff "expected/peers.$rank" -
    done
}

@test "MPICH: who sent how much to whom is what the program counted" { peers mpich; }
@test "Open MPI: who sent how much to whom is what the program counted" { peers openmpi; }

# lasts MPI: for whom each of four ranks waited, in waits of sixteen kinds.
lasts() {
    local rank first
    needs "$1" "lasts-$1"
    for first in 0 4 8 12; do
        mkdir expected$first
        netprof run -q --mpi -o regions$first -- "$mpirun" -n 4 "$programs/lasts-$1" expected$first $first
        for rank in 0 1 2 3; do
            "$programs/regions_of" --lasts regions$first/netprof-$rank-*.netprof | diff expected$first/lasts.$rank -
        done
    done
    # With the switch nobody is asked, and none of these has a peer; MPI_Sendrecv of little asks nobody.
    NETPROF_MPI_WAITS=0 netprof run -q --mpi -o blind -- "$mpirun" -n 4 "$programs/lasts-$1" expected4 4
    [ "$("$programs/regions_of" --lasts blind/netprof-[0-9]*.netprof)" = '3 receives' ]
}

@test "MPICH: for whom waits last is what the program arranged" { lasts mpich; }
@test "Open MPI: for whom waits last is what the program arranged" { lasts openmpi; }

# errors MPI: what a program that handles errors itself meets is what it would meet without us.
errors() {
    needs "$1" "errors-$1"
    netprof run -q --mpi -o regions -- "$mpirun" -n 3 "$programs/errors-$1"
    [ "$(ls regions/netprof-*.netprof | wc -l)" -eq 3 ]
}

@test "MPICH: errors of an exchange come as the program asked for" { errors mpich; }
@test "Open MPI: errors of an exchange come as the program asked for" { errors openmpi; }

@test "MPICH, Fortran with the module mpi" { calls mpich calls_f90-mpich 20; }
@test "MPICH, Fortran with the module mpi_f08" { calls mpich calls_f08-mpich 20; }
@test "Open MPI, Fortran with the module mpi" { calls openmpi calls_f90-openmpi 20; }
@test "Open MPI, Fortran with the module mpi_f08" { calls openmpi calls_f08-openmpi 20; }

@test "Open MPI: a program that starts a child, which is a process with regions of its own" {
    needs openmpi calls-openmpi
    mkdir expected
    netprof run --mpi -o regions -- "$mpirun" -n 2 "$programs/calls-openmpi" expected spawn 2>err || { cat err; false; }
    grep -q '^  regions of 3 processes' err
    local parents=0 children=0 file
    for file in regions/netprof-[0-9]*.netprof; do
        "$programs/regions_of" "$file" | sort >got
        if grep -q '^MPI_Comm_spawn 1 0$' got; then
            rank=${file#regions/netprof-}
            sort "expected/expected.${rank%%-*}" | diff - got
            parents=$((parents + 1))
        else
            printf '%s\n' 'MPI_Comm_disconnect 1 0' 'MPI_Finalize 1 0' 'MPI_Init 1 0' | diff - got
            children=$((children + 1))
        fi
    done
    [ "$parents $children" = '2 1' ]
}

@test "one process without a launcher, its MPI bound at load" {
    needs mpich calls_f90-mpich
    mkdir expected
    LD_BIND_NOW=1 netprof run --mpi -o regions -- "$programs/calls_f90-mpich" expected
    expect_regions 1 19
}

# plugin MPI BYTES CODE: a process that loads its MPI with RTLD_LOCAL, and so out of the sight of dlsym().
plugin() {
    needs "$1" "plugin-$1.so"
    status=0
    netprof run --mpi -o regions -- "$mpirun" -n 1 python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1]).run(int(sys.argv[2]), int(sys.argv[3]))' "$programs/plugin-$1.so" "$2" "$3" >out 2>&1 || status=$?
    "$programs/regions_of" regions/netprof-0-*.netprof | sort >got
}

@test "MPICH within a plugin" {
    plugin mpich 77 0
    [ "$status" -eq 0 ]
    printf '%s\n' 'MPI_Finalize 1 0' 'MPI_Init 1 0' 'MPI_Sendrecv 1 77' | diff - got
}

@test "Open MPI within a plugin" {
    plugin openmpi 77 0
    [ "$status" -eq 0 ]
    printf '%s\n' 'MPI_Finalize 1 0' 'MPI_Init 1 0' 'MPI_Sendrecv 1 77' | diff - got
}

@test "MPI_Abort: what came before is kept" {
    for mpi in mpich openmpi; do
        rm -rf regions
        plugin $mpi 55 3
        [ "$status" -eq 3 ]
        printf '%s\n' 'MPI_Abort 1 0' 'MPI_Init 1 0' 'MPI_Sendrecv 1 55' | diff - got
    done
}

@test "without -o nothing is left, and the exit status is the command's" {
    needs mpich calls_f90-mpich
    mkdir expected temporary
    program="'$programs/calls_f90-mpich' expected"
    [ "$(TMPDIR=$PWD/temporary status_of netprof run --mpi -- sh -c "$program; exit 7")" = 7 ]
    grep -q '^  regions of 1 process:$' err
    grep -qE '^ +MPI_Send +1 .* 80 B$' err
    [ -z "$(ls -A temporary)" ]
    [ "$(TMPDIR=$PWD/temporary status_of netprof run --mpi -- no-such-command)" = 127 ]
    [ -z "$(ls -A temporary)" ]
}

@test "the library in programs without MPI does nothing, and the summary says so" {
    # not into a pipe that closes early: a command that is killed by it may have been about to call MPI
    LD_BIND_NOW=1 netprof run --mpi -o regions -- sh -c 'echo $0; exec ls /' >out 2>err
    [ "$(head -n 1 out)" = sh ]
    grep -q '^  no regions: no process left a file in ' err
    grep -q '^  Either none called MPI, or none had libnetprof-mpi.so preloaded' err
    [ "$(ls regions)" = run.netprof ]
}

@test "--json tells where the regions are, and what they are" {
    netprof run --mpi --json -s summary -o regions -- true
    [ "$(jq -c .mpi summary)" = "{\"directory\":\"$PWD/regions\",\"file_count\":0,\"missing_rank_count\":0,\"regions\":[]}" ]
    netprof run --json -s summary -- true
    [ "$(jq 'has("mpi")' summary)" = false ]
    needs openmpi calls-openmpi
    mkdir expected
    netprof run --mpi --json -s summary -- "$mpirun" -n 3 "$programs/calls-openmpi" expected
    [ "$(jq -c '.mpi | .directory, .file_count, .missing_rank_count' summary | tr '\n' ' ')" = 'null 3 0 ' ]
    jq -r '.mpi.regions[] | "\(.region) \(.calls) \(.declared_bytes)"' summary | sort >got
    awk '{ calls[$1] += $2; bytes[$1] += $3 } END { for (n in calls) print n, calls[n], bytes[n] }' expected/expected.* |
        sort | diff - got
    [ "$(jq '.mpi.regions | map(select(.region == "MPI_Init_thread"))[0] | .rank_count' summary)" = 3 ]
}

@test "a rank that is killed: what all did until then is kept, and no linking is accused" {
    needs openmpi calls-openmpi
    # it dies within MPI: after MPI_Init(), before its end
    cat >dies.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) raise(atoi(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
    compiler=$(command -v mpicc.openmpi || command -v mpicc) || skip "no compiler of Open MPI"
    "$compiler" dies.c -o dies || skip "no compiler of Open MPI"
    for number in 6 9 11 15; do
        rm -rf regions
        [ "$(ulimit -c 0; status_of netprof run --mpi -o regions -- "$mpirun" -n 2 ./dies $number)" != 0 ]
        cat err
        grep -q '^  regions of 2 processes' err
        refute grep -q linked err
        netprof regions regions >text
        cat text
        grep -q 'did not end normally (' text
        refute grep -q 'complete' text
    done
}

@test "two runs of mpirun in one directory are two runs" {
    for mpi in mpich openmpi; do
        needs $mpi calls-$mpi
        rm -rf expected two && mkdir expected two
        for run in 1 2; do
            netprof run -q --mpi -o run$run.$mpi -- "$mpirun" -n 2 "$programs/calls-$mpi" expected
            cp run$run.$mpi/netprof-*.netprof two
        done
        netprof regions two --json >two.json
        [ "$(jq -c '[.runs[] | [.run_count, (.ranks | length), .verdict.severity]] | map(.[0:2])' two.json)" = '[[1,2],[1,2]]' ]
        [ "$(jq '.runs | .[0].begin_ns < .[1].begin_ns' two.json)" = true ]
        [ "$(netprof regions two | grep -c '^Run [12] of 2, ')" = 2 ]
    done
}

@test "two runs of MPICH at the same time in one directory are two runs" {
    needs mpich
    local life=$NETPROF_TEST_BUILD/tests/region_life
    unset NETPROF_RUN
    mkdir both && cd both || return
    NETPROF_FLUSH=0.01 "$mpirun" -n 2 sh -c "'$life' exit ../gate; true" & # a shell between the launcher and the rank
    wait_until 60 sh -c '[ "$(ls netprof-*.netprof | wc -l)" = 2 ]'
    touch ../open
    "$mpirun" -n 2 "$life" exit ../open
    touch ../gate
    wait
    netprof regions . --json >../runs.json
    [ "$(jq -c '[.runs[] | .ranks | length]' ../runs.json)" = '[2,2]' ]
}

@test "a rank without a file is missed" {
    needs mpich calls_f90-mpich
    mkdir expected
    netprof run --mpi -- "$mpirun" -n 2 sh -c "[ \$PMI_RANK = 0 ] || export NETPROF_OUTPUT=/nowhere/file
        exec '$programs/calls_f90-mpich' expected" 2>err
    grep -q '^netprof: the regions of rank 1, process [0-9]* could not be written: /nowhere/file-1: No such file' err
    grep -q '^  1 of 2 ranks have left no file: not in these figures$' err
}

@test "a preloaded library of the user's stays" {
    [ "$(LD_PRELOAD=libm.so.6 netprof run -q --mpi -- printenv LD_PRELOAD)" = \
        "libm.so.6:$(realpath "$NETPROF_TEST_BIN/libnetprof-mpi.so")" ]
}

@test "a percent sign in the directory is one in its name" {
    [ "$(netprof run -q --mpi -o '100%p' -- printenv NETPROF_OUTPUT)" = "$PWD/100%%p/netprof-%j-%r-%h-%p.netprof" ]
    [ -e '100%p/run.netprof' ]
}

@test "the directory must be new, or hold no regions" {
    mkdir used
    netprof run -q --mpi -o used -- true
    touch used/netprof-0-1-host-2.netprof
    [ "$(status_of netprof run --mpi -o used -- echo no)" = 3 ]
    [ ! -s out ]
    [ "$(cat err)" = 'netprof run: used: holds the regions of another run; name a new directory' ]
    touch file
    [ "$(status_of netprof run --mpi -o file -- echo no)" = 3 ]
    [ "$(status_of netprof run --mpi -o none/none -- echo no)" = 3 ]
    grep -q '^netprof run: none/none: No such file or directory$' err
}

@test "a copy of netprof without the library says where it looked" {
    mkdir elsewhere
    cp "$NETPROF_TEST_BIN/netprof" elsewhere
    [ "$(status_of elsewhere/netprof run --mpi -o regions -- echo no)" = 3 ]
    [ ! -s out ]
    grep -q "libnetprof-mpi.so is neither in $PWD/elsewhere nor in " err
    [ ! -e regions ]
    cp "$NETPROF_TEST_BIN/libnetprof-mpi.so" elsewhere
    [ "$(status_of elsewhere/netprof run --mpi -o regions -- echo yes)" = 0 ]
    mkdir 'with blank'
    mv elsewhere/* 'with blank'
    [ "$(status_of 'with blank/netprof' run --mpi -- echo no)" = 3 ]
    grep -q 'cannot be preloaded' err
}

@test "-r: each run's regions are kept in a directory of its own" {
    needs mpich calls_f90-mpich
    mkdir expected
    netprof run --mpi -r 2 -o runs -- "$programs/calls_f90-mpich" expected 2>err || { cat err; false; }
    for i in 1 2; do
        [ "$(find "runs/run-$i" -name 'netprof-*.netprof' | wc -l)" = 1 ]
        netprof diff "runs/run-$i/run.netprof" >/dev/null
        netprof regions "runs/run-$i" --json >regions.json
        grep -q MPI_Init regions.json
    done
    grep -q '^netprof: 2 runs of ' err
    [ "$(status_of netprof run --mpi -r 2 -- true)" = 2 ]
    grep -q 'with --mpi expected -o DIR' err
}

# ---- two nodes: network namespaces with a cable between them, and a UTS namespace for each one's name ----

nodes_up() {
    local i=0 node
    for node in a b; do
        ip netns add "$name-$node" 2>/dev/null || skip "no network namespace can be made here"
        ip netns exec "$name-$node" true || skip "ip netns exec does not work here: is / no mount point (chroot)?"
    done
    ip link add port0 netns "$name-a" type veth peer name port0 netns "$name-b" || skip "no veth can be made here"
    for node in a b; do
        i=$((i + 1))
        ip -n "$name-$node" address add "10.77.0.$i/24" dev port0
        ip -n "$name-$node" link set port0 up
        ip -n "$name-$node" link set lo up
    done
    for node in a b; do # the kernel says a little later that the cable is there, and UCX looks once
        wait_until 60 sh -c "[ \"\$(ip netns exec $name-$node cat /sys/class/net/port0/operstate)\" = up ]"
    done
}

nodes_down() {
    ip netns del "$name-a" 2>/dev/null || true
    ip netns del "$name-b" 2>/dev/null || true
}

# shellcheck disable=SC2086 # several
stop_recorders() {
    [ -z "${recorders:-}" ] || kill $recorders 2>/dev/null || true
    recorders=
}

teardown() {
    stop_recorders
    [ -z "${name:-}" ] || nodes_down
}

# A program that runs a command on a node: on NODE COMMAND…
write_on() {
    cat <<'END'
#!/bin/sh
node=$1
shift
exec unshare -u sh -c 'hostname "$0"; exec ip netns exec "$0" "$@"' "$node" "$@"
END
}

# Records both nodes while four ranks send each other messages; how they ended is in $ended.
exchange_between_nodes() {
    local node
    rm -rf expected job mpi
    mkdir expected job
    ended=0
    recorders=
    for node in a b; do
        ./on "$name-$node" netprof record -q -o "job/$node.netprof" --interval 100ms --sources netdev,cpu --job none 3>&- &
        recorders+=" $!"
    done
    wait_until 60 test -s job/a.netprof
    wait_until 60 test -s job/b.netprof
    UCX_TLS=tcp,self UCX_NET_DEVICES=port0 MPIR_CVAR_NUM_CLIQUES=2 \
        netprof run -q --mpi --timeout 40s -o mpi -- "$mpirun" -n 4 ./rank "$programs/peers-mpich" expected 12 1024 || ended=$?
    stop_recorders
    wait
}

@test "MPICH between two network namespaces: bytes explained are the payload, and the NICs' bytes contain them" {
    needs mpich peers-mpich
    [ "$(id -u)" = 0 ] || skip "needs root"
    command -v ip >/dev/null && command -v unshare >/dev/null || skip "needs ip and unshare"
    mpichversion 2>/dev/null | grep -q ch4:ucx || skip "this MPICH has other switches for TCP alone"
    name=netprof$$
    nodes_up
    write_on >on
    # Ranks 0 and 1 on a, 2 and 3 on b; each sends 12 times 1 MiB to the rank of its number on the other one.
    printf '#!/bin/sh\nexec "%s/on" %s-$([ $PMI_RANK -lt 2 ] && echo a || echo b) "$@"\n' "$PWD" "$name" >rank
    chmod +x on rank
    # UCX at times never comes back from MPI_Finalize, whoever looks on: then all of it once more.
    for _ in 1 2 3; do
        exchange_between_nodes
        [ "$ended" = 124 ] || break
    done
    [ "$ended" != 124 ] || skip "MPI_Finalize did not return, three times"
    [ "$ended" = 0 ]
    # By the program's own count, which knows nothing of netprof:
    local payload
    payload=$(awk '{ sum += $4 } END { print sum }' expected/peers.*)
    [ "$payload" = $((4 * 12 << 20)) ]
    netprof job --fail-on critical,judged --json job mpi/netprof-[0-9]* >job.json
    [ "$(jq '.bytes_explained.layers[0].tx_bytes' job.json)" = "$payload" ]
    [ "$(jq '.bytes_explained.within_hosts_bytes' job.json)" = 0 ]
    # Every byte passed the cable, with at least 66 bytes of headers for each full frame of 64 KiB (GRO), and less than a fifth more.
    [ "$(jq --argjson p "$payload" '.bytes_explained | .tx_bytes > $p * (1 + 66 / 65536) and .tx_bytes < 1.2 * $p' job.json)" = true ]
    [ "$(jq '.bytes_explained.hosts | length' job.json)" = 2 ]
    netprof job --fail-on critical,judged job mpi/netprof-[0-9]* >page
    tr '\n' ' ' <page | grep -q "Bytes explained: the NICs of 2 nodes sent [0-9.]* MB; the messages of MPI to other nodes are 50.3 MB (9[0-9.]* %)"
    grep -q "^rank 0 .* rank 2 .* 12.6 MB  *12" page
}
