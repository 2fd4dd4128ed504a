#!/usr/bin/env bats
# netprof job: recordings of real workloads, told in a page.
load common

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# wait_for FILE: until it is there and holds something.
wait_for() {
    for _ in $(seq 600); do
        [ -s "$1" ] && return
        sleep 0.1
    done
    echo "no $1"
    return 1
}

# cpu_of PID: CPU seconds of it and of the children that it waited for, by the kernel's ticks.
cpu_of() {
    awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) / hz }' "/proc/$1/stat"
}

# near A B SLACK: do the numbers differ by no more?
near() {
    awk -v a="$1" -v b="$2" -v slack="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; if (d > slack) { print a, "is not", b; exit 1 } }'
}

@test "job: CPU seconds, memory and bytes of a real workload" {
    cat >burn.sh <<'END'
while [ ! -e go ]; do sleep 0.05; done
i=0
while [ $i -lt 300000 ]; do i=$((i + 1)); done
head -c 20000000 /dev/zero >written
echo done >finished
while [ ! -e stop ]; do sleep 0.2; done
END
    bash burn.sh &
    pid=$!
    netprof record -q -o n.netprof --interval 100ms --job "$pid" --duration 60s &
    recorder=$!
    wait_for n.netprof
    sleep 0.3
    before=$(cpu_of $pid)
    touch go
    wait_for finished
    after=$(cpu_of $pid)
    kill -TERM $recorder
    wait $recorder
    touch stop
    wait $pid
    run --separate-stderr netprof job n.netprof --json --fail-on critical
    [ "$status" -eq 0 ]
    near "$(jq .use.cpu.total <<<"$output")" "$(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }')" 0.15
    [ "$(jq -r .use.cpu.of <<<"$output")" = job ]
    [ "$(jq '.use.files_written.total >= 20000000 and .use.files_written.total < 21000000' <<<"$output")" = true ]
    [ "$(jq '.use.memory.peak > 1000000 and .use.memory.peak < 100000000' <<<"$output")" = true ]
    [ "$(jq '.samples <= .expected' <<<"$output")" = true ]
    [ "$(jq -r '.use.cpu.capacity' <<<"$output")" = "$(grep -c ^processor /proc/cpuinfo)" ]
}

@test "job: the text is short, fits 80 columns and names command and use" {
    netprof run -q --interval 100ms -o r.netprof -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; sleep 0.5'
    run --separate-stderr netprof job r.netprof --fail-on critical
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${#lines[@]}" -le 25 ]
    awk 'length > 80 { print; bad = 1 } END { exit bad }' <<<"$output"
    [[ $output == *"CPU busy"* ]]
    [[ $output == *"Host memory"* ]]
    [[ $output == *"exit status 0"* ]]
    [[ $output == *"one node: no clocks to compare"* ]]
}

@test "job: two nodes, phases of a directory, a node that is told apart by its name" {
    mkdir d
    SLURM_JOB_ID=17 SLURM_JOB_NAME=two SLURM_JOB_USER=anna SLURMD_NODENAME=n1 \
        netprof record -q -o d/1.netprof --interval 100ms --duration 1s --job none &
    SLURM_JOB_ID=17 SLURM_JOB_NAME=two SLURM_JOB_USER=anna SLURMD_NODENAME=n2 \
        netprof record -q -o d/2.netprof --interval 100ms --duration 1s --job none
    wait
    begin=$(netprof job d --json --fail-on critical | jq .begin_ns)
    printf '%s init\n%s train\n' "$((begin / 1000000000 - 1))" "$((begin / 1000000000)).$(printf %09d $((begin % 1000000000 / 2 + 500000000)))" >d/x.phases
    run netprof job d --json --fail-on critical
    [ "$status" -eq 0 ]
    [ "$(jq -r '[.nodes[].name] | join(",")' <<<"$output")" = n1,n2 ]
    [ "$(jq -r '.facts.job_id + " " + .facts.job_name + " " + .facts.job_user' <<<"$output")" = "17 two anna" ]
    [ "$(jq '.phases | length' <<<"$output")" -eq 2 ]
    # Phases follow one another: they share the whole time.
    near "$(jq '[.phases[].time_s] | add' <<<"$output")" "$(jq .elapsed_s <<<"$output")" 0.000001
    run netprof job d --all --fail-on critical
    [[ $output == *"job 17 two, anna, 2 nodes"* ]]
    [[ $output == *"node clocks agree to"* ]]
}

@test "job: regions that lie beside the recordings" {
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 4 .
    netprof run -q --interval 50ms -o r.netprof -- sleep 0.2
    run --separate-stderr netprof job . --json --fail-on critical
    [ "$status" -eq 0 ]
    # The same figures as of the regions alone.
    netprof regions netprof-*.netprof --json >regions.json
    [ "$(jq -c '[.regions[].path]' <<<"$output")" = "$(jq -c '[.regions[].path]' regions.json)" ]
    [ "$(jq '.regions[0].ranks' <<<"$output")" -eq 4 ]
    run netprof job . --fail-on critical
    [[ $output == *"main/step/compute"* ]]
}

@test "job: the same input gives the same output" {
    netprof run -q --interval 50ms -o r.netprof -- sleep 0.3
    netprof job r.netprof --json --fail-on critical >one
    netprof job r.netprof --json --fail-on critical >two
    cmp one two
}

@test "job: wrong usage, files that are none, one snapshot only" {
    run netprof job
    [ "$status" -eq 2 ]
    run netprof job nowhere.netprof
    [ "$status" -eq 3 ]
    [[ $output == *"nowhere.netprof"* ]]
    run netprof job x --fail-on maybe
    [ "$status" -eq 2 ]
    netprof collect -q -o one.netprof
    run netprof job one.netprof
    [ "$status" -eq 3 ]
    [[ $output == *"one snapshot"* ]]
    netprof run -q --interval 50ms -o r.netprof -- sleep 0.2
    run --separate-stderr netprof job . --json --fail-on critical
    [ "$status" -eq 0 ]
    [[ $stderr == *"one.netprof"*"one snapshot"* ]]
    [ "$(jq .damaged <<<"$output")" = true ]
}
