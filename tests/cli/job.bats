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

# burn READINGS: a shell that burns CPU time, and netprof job of its recording of so many readings; `used` are its CPU
# seconds by the kernel's ticks.
burn() {
    rm -f go stop finished n.netprof
    mkfifo go stop # waiting for one costs no CPU time
    bash burn.sh &
    pid=$!
    netprof record -q -o n.netprof --interval 100ms --job "$pid" --duration 60s &
    recorder=$!
    wait_for_readings n.netprof 2 || { kill $pid $recorder; false; }
    before=$(cpu_of $pid)
    echo >go
    wait_for finished
    after=$(cpu_of $pid)
    high=$(awk '$1 == "VmHWM:" { print $2 * 1024 }' /proc/$pid/status) # of the shell alone
    wait_for_readings n.netprof "$1" # shares of memory are first read after a second: they are then known most of the time
    kill -TERM $recorder
    wait $recorder
    echo >stop
    wait $pid
    run --separate-stderr netprof job n.netprof --json --fail-on critical
    [ "$status" -eq 0 ]
    used=$(awk -v a="$after" -v b="$before" 'BEGIN { print a - b }')
}

@test "job: CPU seconds, memory and bytes of a real workload" {
    cat >burn.sh <<'END'
read -r _ <go
i=0
while [ $i -lt 300000 ]; do i=$((i + 1)); done
head -c 20000000 /dev/zero >written
echo done >finished
read -r _ <stop
END
    # Once more, and for longer, where a busy machine came between; what is wrong is wrong twice. Shares of memory are read
    # the more seldom the more that costs.
    for readings in 40 160; do
        burn $readings
        near "$(jq .use.cpu.total <<<"$output")" "$used" 0.15 && [ "$(jq -r .hosts[0].memory_by <<<"$output")" != resident ] && break
        jq -c '[.use.cpu, .hosts[0].cpu_by, .hosts[0].memory_by]' <<<"$output"
    done
    near "$(jq .use.cpu.total <<<"$output")" "$used" 0.15
    [ "$(jq -r .use.cpu.scope <<<"$output")" = job ]
    [ "$(jq '.use.files_written.total >= 20000000 and .use.files_written.total < 21000000' <<<"$output")" = true ]
    # Other shells of this machine share most of it.
    most=100000000 # its group's, with the 20 MB that it wrote, or
    [ "$(jq -r .hosts[0].memory_by <<<"$output")" = cgroup ] || most=$((3 * high))
    [ "$(jq --argjson most "$most" '.use.memory.peak > 50000 and .use.memory.peak < $most' <<<"$output")" = true ]
    jq -c '.hosts[0] | [.cpu_by, .memory_by]' <<<"$output" # shown where it fails
    [[ $(jq -r '.hosts[0] | .cpu_by + " " + .memory_by' <<<"$output") == processes\ proportional || $(jq -r .hosts[0].memory_by <<<"$output") == cgroup ]]
    [ "$(jq '.snapshot_count <= .expected_snapshot_count' <<<"$output")" = true ]
    [ "$(jq -r '.use.cpu.capacity' <<<"$output")" = "$(grep -c ^processor /proc/cpuinfo)" ]
}

@test "job: the text is short, fits 80 columns and names command and use" {
    netprof run -q --interval 100ms -o r.netprof -- \
        sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; until [ -e go ]; do sleep 0.1; done' &
    wait_for_readings r.netprof 5 || { touch go; false; }
    touch go
    wait $!
    run --separate-stderr netprof job r.netprof --fail-on critical
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    # Without what is said of this machine's load and of the recording: a severity each, and its further lines.
    notes=$(grep -cE '^((ok|info|watch|warn|high|critical) +| {10})[^ ]' <<<"$output" || true)
    [ $((${#lines[@]} - notes)) -le 22 ]
    [ "$notes" -ge "$(netprof job r.netprof --json --fail-on critical | jq '.verdict.notes | length')" ]
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
    [ "$(jq -r '[.hosts[].host] | join(",")' <<<"$output")" = n1,n2 ]
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
    [ "$(jq '.regions[0].rank_count' <<<"$output")" -eq 4 ]
    run netprof job . --fail-on critical
    [[ $output == *"main/step/compute"* ]]
}

# Pages that 9 processes share are not 9 times there: the sum of their resident sizes is at most what was used.
@test "job: memory that processes share is no fact, and what nobody waited for makes CPU time at least" {
    cat >fork.py <<'END'
import os, time
block = bytearray(64 << 20)
for i in range(0, len(block), 4096): block[i] = 1
for _ in range(8):
    if os.fork() == 0:
        time.sleep(1.5)
        os._exit(0)
# A child that leaves its own behind: nobody waits for these.
if os.fork() == 0:
    for _ in range(4):
        if os.fork() == 0:
            end = time.process_time() + 0.3
            while time.process_time() < end: pass
            os._exit(0)
    os._exit(0)
for _ in range(9): os.wait()
END
    netprof run -q --interval 100ms -o r.netprof -- python3 fork.py
    netprof job --json --fail-on critical r.netprof >r.json
    jq .efficiency r.json
    # where the kernel's clock of the job's tasks was read; no account of a process has what nobody waited for
    [ "$(jq '.hosts[0].cpu_by != "task_clock" or .efficiency.cpu.lower_bound == true' r.json)" = true ]
    limited=$(jq -r '.hosts[0].memory_by == "cgroup"' r.json) # a limit on this test's own group
    [ "$limited" = true ] || [ "$(jq -r '.efficiency.memory.by' r.json)" = resident ]
    [ "$limited" = true ] || [ "$(jq .efficiency.memory.upper_bound r.json)" = true ]
    [ "$limited" = true ] || [ "$(jq '.efficiency.memory.used_bytes > 8 * 64 * 1048576' r.json)" = true ]
    [ "$(jq '[.findings[] | select(.rule == "mem-peak")] | length' r.json)" = 0 ]
    run netprof job --fail-on critical r.netprof
    [ "$limited" = true ] || [[ $output == *"memory, at most, by its processes"* ]]
    awk 'length > 90 { print; bad = 1 } END { exit bad }' <<<"$output" # bytes: the signs for at most have three
}

# Slurm's environment, without a Slurm: what a node was given, and what of that was used.
@test "job: CPU time, memory and time against what the scheduler gave" {
    cat >work.py <<'END'
import resource, time
block = bytearray(40 << 20)
for i in range(0, len(block), 4096): block[i] = 1
end = time.process_time() + 0.4
while time.process_time() < end: pass
print("all of it", file=open("full", "w"))
open("go").read()
use = resource.getrusage(resource.RUSAGE_SELF)
print(use.ru_utime + use.ru_stime, use.ru_maxrss * 1024)
END
    mkfifo go
    begin=$(date +%s)
    env SLURM_JOB_ID=17 SLURMD_NODENAME=n07 SLURM_JOB_NODELIST='n[05-08]' SLURM_JOB_CPUS_PER_NODE='1(x2),2,1' SLURM_MEM_PER_CPU=64 \
        SLURM_JOB_START_TIME="$begin" SLURM_JOB_END_TIME=$((begin + 600)) \
        netprof run -q --interval 50ms -o r.netprof -- python3 work.py >said &
    wait_for full
    wait_for_readings r.netprof $(($(readings r.netprof) + 3))
    echo >go
    wait $!
    read -r cpu peak <said
    run --separate-stderr netprof job --json --fail-on critical r.netprof
    [ "$status" -eq 0 ]
    jq .efficiency <<<"$output"
    # By the program's own account; the interpreter's start and end are not in it.
    near "$(jq .efficiency.cpu.used_cpu_s <<<"$output")" "$cpu" 0.15
    jq -e '.efficiency.cpu | .of_cpu_s / .used_cpu_s * .share | . > 0.999 and . < 1.001' <<<"$output"
    # The third of four nodes has two CPUs, but no more than there are.
    [ "$(jq .hosts[0].cpus_allocated <<<"$output")" = "$(python3 -c 'import os; print(min(2, os.cpu_count()))')" ]
    [ "$(jq -r .efficiency.memory.against <<<"$output")" = request ]
    [ "$(jq .efficiency.memory.of_bytes <<<"$output")" = $((2 * 64 << 20)) ]
    near "$(jq .efficiency.memory.used_bytes <<<"$output")" "$peak" 5000000
    [ "$(jq .efficiency.time.of_s <<<"$output")" = 600 ]
    jq -e '.efficiency.time | .used_s + .left_s | . > 599.9 and . < 600.1' <<<"$output"
    run --separate-stderr netprof job --fail-on critical r.netprof
    [[ $output == *"Memory, peak"*"128 MiB"*"the memory requested"* ]]
    [[ $output == *"10 min"*"the time limit; 9 min "*" s were left"* ]]
}

@test "job: CPUs by where the program may run, when nothing else tells" {
    [ "$(nproc)" -gt 1 ] || skip 'one CPU only'
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    netprof run -q --interval 50ms -o r.netprof -- taskset -c "$cpu" sleep 0.3
    netprof job --json --fail-on critical r.netprof >report.json
    # A control group that is smaller than the node would be the job's allocation.
    [ "$(jq -r .hosts[0].cpus_allocated_by report.json)" = affinity ] || [ "$(jq -r .hosts[0].cpus_allocated_by report.json)" = cpuset ]
    [ "$(jq .hosts[0].cpus_allocated report.json)" = 1 ] || [ "$(jq -r .hosts[0].cpus_allocated_by report.json)" = cpuset ]
}

@test "job: scontrol that hangs costs a few seconds at the end, and no reading" {
    mkdir bin
    printf '#!/bin/sh\nexec sleep 120\n' >bin/scontrol
    chmod +x bin/scontrol
    SLURM_JOB_ID=17 PATH=$PWD/bin:$PATH timeout 100 \
        netprof record -q -o r.netprof --interval 50ms --duration 60s --stop-file stop --job slurm --sources cpu &
    wait_for_readings r.netprof 4 || { touch stop; false; }
    touch stop
    wait $!
    netprof convert r.netprof r.json
    [ "$(jq -r .facts.job_id r.json)" = 17 ]
    [ "$(jq -r .facts.job_state r.json)" = null ]
    [ "$(jq -r .facts.ended_by r.json)" = 'stop file' ]
}

# What a scan of all processes took by the clock is no measure of its cost where others have the CPU.
@test "job: steps of two seconds are found on a CPU that others have, too" {
    [ "$(nproc)" -gt 1 ] || skip "one CPU"
    cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    for _ in 1 2 3; do taskset -c "$cpu" timeout 60 sh -c 'while :; do :; done' & done
    SLURM_JOB_ID=17 taskset -c "$cpu" nice -n 5 \
        netprof record -q -o r.netprof --interval 100ms --duration 60s --stop-file stop --job slurm --sources process &
    recorder=$!
    wait_for_readings r.netprof 4 || { touch stop; false; }
    for _ in 1 2 3 4; do
        SLURM_JOB_ID=17 sh -c 'dd if=/dev/zero of=/dev/null bs=1M count=1 2>/dev/null; sleep 2'
    done
    touch stop
    wait $recorder
    # With sanitizers a scan is so dear that steps of two seconds may fall between two.
    ! grep -q '^NETPROF_SANITIZE:[A-Z]*=.' "$NETPROF_TEST_BUILD/CMakeCache.txt" || return 0
    netprof diff --json --all r.netprof | jq -e '[.devices[] | select(.source == "process") | .top[] |
        select(.counter == "write_chars") | .delta][0] | . >= 4194304 and . < 4300000'
}

@test "job: scontrol gets the job's number as one word, and is asked for a job only by a number" {
    mkdir bin
    printf '#!/bin/sh\n(IFS=/; printf "%%s\\n" "$*") >>%s/asked\n' "$PWD" >bin/scontrol
    chmod +x bin/scontrol
    for id in 17 '17; touch bad' '17 18'; do
        : >asked
        SLURM_JOB_ID=$id PATH=$PWD/bin:$PATH netprof record -q -o r.netprof --duration 100ms --job slurm --sources cpu
        cat asked
        [ "$id" = 17 ] || refute grep show asked
        [ "$id" != 17 ] || grep -qx -- '-d/show/job/17' asked
        refute grep -vx -e "listpids/$id" -e '-d/show/job/17' asked
    done
    [ ! -e bad ]
}

@test "job: files of several jobs, tasks and attempts are told apart" {
    mkdir files
    for t in 1 2 3; do
        SLURM_JOB_ID=$((3 + t)) SLURM_ARRAY_JOB_ID=4 SLURM_ARRAY_TASK_ID=$t netprof run -q --interval 50ms \
            -o files/t$t.netprof -- sh -c "sleep 0.2; exit $((t == 2))" || [ $t = 2 ]
    done
    SLURM_JOB_ID=9 netprof run -q --interval 50ms -o files/a.netprof -- sleep 0.2
    SLURM_JOB_ID=9 SLURM_RESTART_COUNT=1 netprof run -q --interval 50ms -o files/b.netprof -- sleep 0.2
    run --separate-stderr netprof job files --fail-on critical
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *"---- job 9, attempt 1"*"---- job 9, attempt 2"* ]]
    [ "$(grep -cE '^4_[123] ' <<<"$output")" = 3 ]
    grep -qE '^4_2 +warn +exit status 1 ' <<<"$output"
    # Each has its own figures: nothing was added up, nothing left out as an overlap.
    netprof job files --json --fail-on critical >jobs.json
    [ "$(jq -c '[.jobs[] | .facts.job_id]' jobs.json)" = '["4","5","6","9","9"]' ]
    jq -e '[.jobs[].elapsed_s] | min > 0.15 and max < 20' jobs.json
    [ "$(jq -r '.verdict.text' jobs.json | grep -cE '^findings on [0-5] of 5 jobs$')" = 1 ]
    run netprof job files --job 4_2 --fail-on critical
    [[ $output == *"state: the command ended with exit status 1"* ]]
    [ "$(netprof job files --job 9:2 --json --fail-on critical | jq -r .facts.job_restart)" = 1 ]
    [ "$(netprof job files --job 4 --json --fail-on critical | jq '.jobs | length')" = 3 ]
    run netprof job files --job 77
    [ "$status" -eq 3 ]
    [[ $output == *"no file is of this job; jobs: 4_1; 4_2; 4_3; 9, attempt 1; 9, attempt 2"* ]]
    # A recording that tells of no job belongs to the only one there is.
    mkdir one
    cp files/a.netprof one
    netprof run -q --interval 50ms -o one/x.netprof -- sleep 0.2
    [ "$(netprof job one --json --fail-on critical | jq -r '.facts.job_id')" = 9 ]
    command -v netprof-report || skip 'built without drawing'
    run netprof report -o x.pdf files
    [ "$status" -eq 3 ]
    [[ $output == *"files of 5 jobs"*"choose one with --job"* ]]
    netprof report -o x.pdf --job 4_2 files
    [ -s x.pdf ]
}

@test "job: a node of the job without a recording" {
    SLURM_JOB_ID=8 SLURM_JOB_NODELIST='n[1-3]' SLURMD_NODENAME=n1 netprof record -q --job none --interval 50ms -d 300ms -o 1.netprof
    SLURM_JOB_ID=8 SLURM_JOB_NODELIST='n[1-3]' SLURMD_NODENAME=n2 netprof record -q --job none --interval 50ms -d 300ms -o 2.netprof
    run netprof job --fail-on critical 1.netprof 2.netprof
    [ "$status" -eq 0 ]
    [[ $output == *"2 of 3 nodes"*"n3: no recording; 2 of 3 nodes were recorded"* ]]
    [[ $output == *"state: not known"*"duration"* ]]
    run netprof job --fail-on critical 1.netprof # one node alone: may be meant, but nothing is known of the others
    [[ $output == "n2, n3: no recording, 1 of 3 nodes"* ]]
    [[ $output == *"n2, n3: no recording; 1 of 3 nodes was recorded"* ]]
    [[ $output != *"No fault found"* ]]
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

# One thread is at its limit at half of the CPUs. What it had of a CPU is held against the kernel's account of it.
@test "job: the busiest thread, peaks, and what bounds the job" {
    netprof run -q -o r.netprof --interval 100ms -- bash -c 'i=0; while [ $i -lt 600000 ]; do i=$((i + 1)); done'
    netprof job --fail-on critical,judged --json r.netprof >job.json
    netprof job --fail-on critical,judged r.netprof >page
    cpu=$(jq .use.cpu.total job.json)
    thread=$(jq '.use.thread.mean * .elapsed_s' job.json)
    near "$thread" "$cpu" "$(awk -v c="$cpu" 'BEGIN { print 0.1 + 0.1 * c }')"
    jq -e '.bound_by.resources.thread.used_share > 0 and .bound_by.resources.thread.used_share <= 1 and (.bound_by.text | length > 0)' job.json
    grep -q '^bound by: ' page
    # the highest of the samples, of each meter
    grep -Eq '^PER NODE +MEAN +PEAK ' page
    jq -e '.use.cpu.peak >= .use.cpu.mean and .use.memory.peak >= .use.memory.mean' job.json
}

@test "one event is one line: retries that fell into a pause are told with it, and are a finding all the same" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -i 5 -g 0 -k 2 job
    netprof job job | sed '/^EFFICIENCY/,$d' | tr '\n' ' ' | tr -s ' ' >words
    grep -qE 'transmit blocked by the network [0-9.]+ % of the time, [0-9.]+ k retries' words
    refute grep -q 'sent again' words
    netprof job --json job | jq -e '[.findings[].rule] | index("nic-paused") and index("retries")'
}
