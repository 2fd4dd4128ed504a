#!/usr/bin/env bats
# Who waited for whom under netprof run --mpi: ranks whose work is known (tests/mpi/waits.c), under MPICH and Open MPI.
# All kinds of calls: tests/mpi/long.

load common

programs=$NETPROF_TEST_BUILD/tests/mpi

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset NETPROF_FLUSH
    set_up_open_mpi
}

needs() {
    mpirun=$(sed -n "s/^$1 //p" "$programs/launchers")
    [ -n "$mpirun" ] || skip "$1 was not found when netprof was configured"
}

# job MPI RANKS KIND WHO STEPS MILLISECONDS: regions.json is what netprof says of it.
job() {
    needs "$1"
    rm -rf job
    netprof run -q --mpi -o job -- "$mpirun" -n "$2" "$programs/waits-$1" "${@:3}"
    netprof regions --json job/netprof-*.netprof >regions.json
    jq -r '.verdict.notes[] | "\(.severity) \(.text)"' regions.json
}

# The numbers of the ranks in lines of watch or worse.
accused() {
    jq -r '.ranks as $r | [.verdict.notes[] | select(.severity | IN("watch", "warn", "high")) | .rank_index
        | select(. != null) | $r[.].rank] | unique | join(" ")' regions.json
}

# The late rank is the first line, nobody else is accused, the gain is within the run and title and first line agree.
expect_late() {
    [ "$(accused)" = "$1" ]
    [ "$(jq '.ranks[.verdict.notes[0].rank_index].rank' regions.json)" = "$1" ]
    [[ $(jq -r .verdict.text regions.json) =~ ^(Rank|[0-9]+\ ranks\ on\ [0-9]+\ CPUs?\;\ rank)\ $1\ is\ late:\ the\ other ]]
    [ "$(jq '.work_and_waiting.gain_at_most_ns <= .work_and_waiting.longest_ns and .work_and_waiting.gain_at_most_ns > 0.3 * .work_and_waiting.longest_ns' regions.json)" = true ]
}

# idle JOB...: once more, up to five times, where the machine was so busy that every rank waited for a CPU for most of the run:
# then nobody can be told to be late, and it is said.
idle() {
    for _ in 1 2 3 4 5; do
        job "$@" >notes
        cat notes
        grep -qE '(each|; a) rank waited for a CPU for ([5-9][0-9]|100)' notes || return 0
    done
}

@test "MPICH: the straggler of four is late, in a barrier and in receives" {
    idle mpich 4 barrier late 5 100
    expect_late 1
    idle mpich 4 recv late 5 100
    expect_late 1
}

@test "Open MPI: the straggler of four is late, in a reduction and in Waitany" {
    idle openmpi 4 allreduce late 5 100
    expect_late 1
    idle openmpi 4 waitany late 5 100
    expect_late 1
}

@test "of two ranks the one that works longer is late, whichever waits" {
    idle mpich 2 waitall late 8 60
    expect_late 1
    idle openmpi 2 recv early 8 60
    expect_late 0
}

@test "who asks again and again whether something has come waits, whether or not it sleeps in between" {
    idle mpich 4 test late 5 100
    expect_late 1
    idle openmpi 2 testall late 5 100
    expect_late 1
    idle mpich 2 iprobe early 5 100
    expect_late 0
}

@test "who comes early is not accused: it waits for the others" {
    for mpi in mpich openmpi; do
        for kind in barrier waitany; do
            job $mpi 4 $kind early 5 100
            [ -z "$(accused)" ]
            [[ $(jq -r .verdict.text regions.json) != 'Rank '* ]]
        done
    done
}

@test "ranks on fewer CPUs than there are of them: said, and in the same breath as the blame" {
    command -v taskset >/dev/null || skip 'no taskset'
    needs mpich
    netprof run -q --mpi -o job -- taskset -c 0 "$mpirun" -n 3 "$programs/waits-mpich" barrier late 5 100
    netprof regions job/netprof-*.netprof >text
    grep -qE '^(warn|watch) +3 ranks shared 1 CPU(; even so|:) rank 1 is late' text
    # As a job it is not well either.
    netprof job --fail-on critical job >text || [ $? = 5 ]
    grep -qE '^(warn|watch) +3 ranks shared 1 CPU(; even so|:) rank 1 is late' text
    refute grep -q 'No fault found' text
}

@test "the run in figures comes first, in the summary and in netprof regions" {
    needs mpich
    netprof run --mpi -o job -- "$mpirun" -n 2 "$programs/waits-mpich" allreduce noise 2 50 2>err
    netprof regions job/netprof-*.netprof >text
    sed -n 3p text | grep -qE '^run [0-9.]+ ms, MPI [0-9.]+ % of it, waiting or moving data [0-9.]+ %; MPI_Init and MPI_Finalize .* beside it$'
    grep -qF "  $(sed -n 3p text)" err
    grep -qF "  $(sed -n 1p text)" err
    grep -q '^RANK .* WORK .*WAITING .*MPI' text
}

@test "a job that is killed keeps its regions, and who hung is told" {
    needs mpich
    # rank 1 never comes to its last barrier, and all are killed
    NETPROF_FLUSH=300ms netprof run --mpi -o job -- timeout -s KILL 8 "$mpirun" -n 3 "$programs/waits-mpich" barrier \
        late 2 50 hang 2>err || true
    [ "$(find job -name 'netprof-*.netprof' | wc -l)" = 3 ]
    netprof regions --json job/netprof-*.netprof >regions.json
    [ "$(accused)" = 1 ]
    jq -r '.verdict.notes[].text' regions.json | grep -q '^3 of 3 ranks did not end normally (they were killed, or '
    # killed long before the first flush: each rank wrote a first file when MPI_Init returned; no word of linking
    status=0
    netprof run --mpi -o none -- timeout -s KILL 8 "$mpirun" -n 2 "$programs/waits-mpich" barrier late 2 50 hang 2>err || status=$?
    [ "$status" -ne 0 ]
    [ "$(find none -name 'netprof-*.netprof' | wc -l)" = 2 ]
    refute grep -q 'linked dynamically' err
}

@test "NETPROF_FLUSH: 10 s, or the user's, with any unit" {
    [ "$(netprof run -q --mpi -- printenv NETPROF_FLUSH)" = 10 ]
    [ "$(NETPROF_FLUSH=500ms netprof run -q --mpi -- printenv NETPROF_FLUSH)" = 0.5 ]
    [ "$(NETPROF_FLUSH=0 netprof run -q --mpi -- printenv NETPROF_FLUSH)" = 0 ]
    [ "$(NETPROF_FLUSH=abc netprof run -q --mpi -- printenv NETPROF_FLUSH 2>err)" = 10 ]
    grep -q 'NETPROF_FLUSH: abc: expected a time like 10s' err
    [ "$(status_of netprof run -q -- printenv NETPROF_FLUSH)" = 1 ] # not set
}

@test "netprof check of the directory says what the regions say" {
    job mpich 2 barrier late 8 60
    [ "$(status_of netprof check --fail-on high job)" = 1 ]
    [ "$(head -n 1 out)" = "Regions of 2 processes: $(jq -r .verdict.text regions.json)" ]
    grep -q '^high  *Rank 1 is late' out
    netprof check --json job >check.json 2>err || true
    grep -qF "$(jq -r .verdict.text regions.json)" err
    jq -e .verdict check.json >/dev/null
}

@test "a second run in one directory is no second rank" {
    needs mpich
    for run in 1 2; do
        netprof run -q --mpi -o job$run -- "$mpirun" -n 2 "$programs/waits-mpich" barrier late 3 30
    done
    mkdir both
    cp job1/netprof-*.netprof job2/netprof-*.netprof both
    netprof regions both >text
    [ "$(grep -cE '^Run [12] of 2, which began ' text)" -eq 2 ]
    [ "$(grep -cE '^waits-mpich, 2 ranks on 1 host' text)" -eq 2 ]
    refute grep -qE '(3|4) (ranks|files)' text
    netprof regions --json both >both.json
    [ "$(jq -c '[.runs[] | .ranks | length]' both.json)" = '[2,2]' ]
}
