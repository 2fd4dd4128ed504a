#!/usr/bin/env bats
# netprof inside a real Slurm: four virtual nodes on this machine, made and ended by tests/slurm/with_slurm. The jobs of
# tests/slurm/jobs run once for all tests here.

load common

setup_file() {
    local code=0
    # The processes of jobs are other users' to Slurm's eye: all paths must be readable.
    timeout 600 "$NETPROF_TEST_TOP/tests/slurm/with_slurm" "$BATS_FILE_TMPDIR" \
        "$NETPROF_TEST_TOP/tests/slurm/jobs" "$BATS_FILE_TMPDIR" >"$BATS_FILE_TMPDIR/said" 2>&1 </dev/null || code=$?
    echo "$code" >"$BATS_FILE_TMPDIR/code"
}

setup() {
    [ "$(cat "$BATS_FILE_TMPDIR/code")" != 97 ] || skip "$(tail -n 1 "$BATS_FILE_TMPDIR/said")"
    cd "$BATS_FILE_TMPDIR/out" || return
    # The first job is 1, or 2: the three come one after the other.
    first=$(cat ../id.beside) third=$(cat ../id.cancelled)
    second=$((first + 1))
}

# fact FILE KEY
fact() {
    netprof convert "$1" - --to json 2>/dev/null | jq -r ".facts.$2"
}

# written FILE NODE: characters that the job's processes wrote on the node.
written() {
    netprof diff --json --all "$1" 2>/dev/null |
        jq --arg node "$2" '(.hosts // [.])[] | select(.host == $node) | .devices[] | select(.source == "process") |
            .top[] | select(.counter == "write_chars") | .delta'
}

@test "slurm: comes up, and every job ends as it should" {
    cat "$BATS_FILE_TMPDIR/said" "$BATS_FILE_TMPDIR/steps"
    [ "$(cat "$BATS_FILE_TMPDIR/code")" = 0 ]
    [ "$(cat "$BATS_FILE_TMPDIR/steps")" = "beside 0
hooks 0
stopped 0
recording 0
cancelled 0
listed 0
merge 0" ]
}

@test "slurm: a recorder on each node beside the work, merged" {
    [ "$(cd beside && echo ./*)" = "./$first-n1.netprof ./$first-n2.netprof" ]
    for node in n1 n2; do
        [ "$(fact "beside/$first-$node.netprof" node)" = "$node" ]
        [ "$(fact "beside/$first-$node.netprof" scheduler)" = slurm ]
        [ "$(fact "beside/$first-$node.netprof" job_id)" = "$first" ]
        [ "$(fact "beside/$first-$node.netprof" job_nodes)" = "n[1-2]" ]
        [ "$(fact "beside/$first-$node.netprof" ended_by)" = "stop file" ]
    done
    netprof check --json job.netprof >check.json || [ $? -eq 1 ]
    [ "$(jq -r '[.hosts[].host] | sort | join(" ")' check.json)" = "n1 n2" ]
    # 4 times 4 and 12 blocks of 256,000 bytes: each node has its own processes, though both are on this host.
    n1=$(written job.netprof n1) n2=$(written job.netprof n2)
    echo "n1 $n1 n2 $n2"
    # With sanitizers the recorder is so slow that it reads processes in turn: bytes are a lower bound then.
    ! grep -q '^NETPROF_SANITIZE:[A-Z]*=.' "$NETPROF_TEST_BUILD/CMakeCache.txt" || return 0
    [ "$n1" -ge 4096000 ]
    [ "$n1" -lt 5000000 ]
    [ "$n2" -ge 12288000 ]
    [ "$n2" -lt 13200000 ]
}

@test "slurm: what the job was given and how it ended, as Slurm itself says" {
    said() { grep -oE "(^| )$1=[^ ]+" beside/../show | head -n 1 | sed 's/.*=//'; }
    n1=beside/$first-n1.netprof n2=beside/$first-n2.netprof
    # CPUs of each node: the first line of its kind in scontrol's list, and the rest of all.
    [ "$(fact $n1 job_cpus)" = "$(said NumCPUs)" ]
    [ $(($(fact $n1 job_cpus_on_node) + $(fact $n2 job_cpus_on_node))) -eq "$(said NumCPUs)" ]
    [ "$(said NumCPUs)" -ge 3 ]
    [ "$(fact $n1 job_start_s)" = "$(said StartTime)" ]
    [ "$(fact $n1 job_end_s)" = "$(said EndTime)" ]
    [ "$(fact $n1 job_time_limit_s)" = 420 ]
    [ "$(fact $n1 job_partition)" = all ]
    [ "$(fact $n1 job_name)" = "my job TimeLimit=1" ]
    [ "$(fact $n1 job_memory_on_node)" = $((200 << 20)) ]
    [ "$(fact $n2 job_memory_on_node)" = $((200 << 20)) ]
    # One question for all nodes: the first node's recorder puts it; newer Slurms tell the start in the environment, too. While
    # it is recorded the job runs on.
    told=$(fact $n2 job_start_s)
    [ "$told" = null ] || [ "$told" = "$(said StartTime)" ]
    [ "$(fact $n1 job_state)" = null ]
    # A recorder of prologue and epilogue sees the end.
    for node in n2 n3; do
        state=$(fact "hooks/$second-$node.netprof" job_state)
        # Newer Slurms tell a prologue the job's nodes: then one of them asks for all.
        [ $node = n2 ] || [ "$state" != null ] || continue
        [[ $state == COMPLET* ]]
        [ "$(fact "hooks/$second-$node.netprof" job_exit_code)" = 0:0 ]
    done
    [[ $(fact "cancelled/$third-n3.netprof" job_state) == @(null|CANCELLED|COMPLETING) ]]
    netprof job --json --fail-on critical beside >report.json
    [ "$(jq -r .efficiency.cpu.against report.json)" = scheduler ]
    [ "$(jq .efficiency.time.of_s report.json)" = 420 ]
    [ "$(jq .efficiency.memory.of_bytes report.json)" = $((200 << 20)) ]
    # Seconds of both nodes, by Slurm's CPUs and the recordings' lengths.
    jq -e '(.hosts | map(.cpus_allocated * (.end_s - .begin_s)) | add) as $of | .efficiency.cpu.of_cpu_s | . > $of * 0.999 and . < $of * 1.001' report.json
    jq -e ".hosts | map(.cpus_allocated) | add == $(said NumCPUs)" report.json
}

@test "slurm: the report of a merged job names its nodes" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip "built without drawing"
    netprof report -o job.html job.netprof
    grep -q ">n1<" job.html
    grep -q ">n2<" job.html
    netprof report -o beside.pdf beside
    [ -s beside.pdf ]
}

@test "slurm: a pair of prologue and epilogue records a job that knows nothing of it" {
    [ "$(cd hooks && echo ./*.netprof)" = "./$second-n2.netprof ./$second-n3.netprof" ]
    for node in n2 n3; do
        netprof convert "hooks/$second-$node.netprof" /dev/null --to json # complete: exit code 0
        [ "$(fact "hooks/$second-$node.netprof" node)" = "$node" ]
        [ "$(fact "hooks/$second-$node.netprof" ended_by)" = "stop file" ]
        bytes=$(written "hooks/$second-$node.netprof" "$node")
        echo "$node $bytes"
        [ "$bytes" -ge 12288000 ]
        [ "$bytes" -lt 13200000 ]
    done
}

@test "slurm: scancel leaves complete files" {
    [ "$(cd cancelled && echo ./*.netprof)" = "./$third-n3.netprof ./$third-n4.netprof" ]
    for node in n3 n4; do
        netprof convert "cancelled/$third-$node.netprof" /dev/null --to json
        [ "$(fact "cancelled/$third-$node.netprof" ended_by)" = signal ]
    done
}

@test "slurm: processes without the job's environment are found by scontrol listpids" {
    [ "$(netprof diff --json --all listed/n4.netprof | jq '[.devices[] | select(.source == "process")] | length')" = 1 ]
    netprof convert listed/n4.netprof listed.json
    [ "$(jq '[.snapshots[-1].devices[] | select(.source == "process").values.processes] | first >= 1' listed.json)" = true ]
}

@test "slurm: nothing of it is left" {
    refute grep -lzF "SLURM_CONF=$BATS_FILE_TMPDIR/slurm.conf" /proc/[0-9]*/environ 2>/dev/null
    refute grep -lzF "$BATS_FILE_TMPDIR/munge" /proc/[0-9]*/cmdline 2>/dev/null
}
