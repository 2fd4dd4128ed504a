#!/usr/bin/env bats
# Which job, node and pod a recording is of: PBS, OAR and Kubernetes by their environment and files.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    host=$(uname -n)
    short=${host%%.*}
}

record() {
    rm -f r.netprof # a recording that is there is kept: this one would be put behind it, and its facts with it
    netprof record -q -o r.netprof --interval 50ms --duration 120ms --sources cpu,process "$@"
    netprof convert r.netprof r.json
}

fact() {
    jq -r ".facts.$1" r.json
}

@test "job: PBS: nodes of the node file once each, whatever the slots; long and short names are one" {
    printf '%s\n' "$short.cluster.example" "$short.cluster.example" node2 node2 node2.cluster.example node3 >nodes
    PBS_JOBID=123.server PBS_NODEFILE=$PWD/nodes record
    [ "$(fact scheduler)" = pbs ]
    [ "$(fact job_id)" = 123.server ]
    [ "$(fact job_nodes)" = "$short.cluster.example,node2.cluster.example,node3" ]
    [ "$(fact job_node_count)" = 3 ]
    [ "$(fact node)" = "$short.cluster.example" ]
    [ "$(fact job_nodes_unknown)" = null ]
}

@test "job: PBS: a node file that is missing, empty or not readable costs only the list of nodes" {
    PBS_JOBID=123.server PBS_NODEFILE=$PWD/missing record
    [ "$(fact job_id)" = 123.server ]
    [ "$(fact job_nodes)" = null ]
    [[ $(fact job_nodes_unknown) == "PBS_NODEFILE: $PWD/missing: "* ]]
    : >empty
    PBS_JOBID=123.server PBS_NODEFILE=$PWD/empty record
    [ "$(fact job_nodes)" = null ]
    [[ $(fact job_nodes_unknown) == *"empty: names no node" ]]
    mkdir directory
    PBS_JOBID=123.server PBS_NODEFILE=$PWD/directory record
    [ "$(fact job_nodes)" = null ]
    # Nodes where it could be read and those where it could not are one job.
    echo "$short" >nodes
    SLURMD_NODENAME=b PBS_JOBID=123.server PBS_NODEFILE=$PWD/nodes netprof record -q -o b.netprof --duration 100ms --sources cpu
    run netprof merge r.netprof b.netprof -o job.netprof
    [ "$status" -eq 0 ]
}

@test "job: OAR: job, nodes, and the job's processes by their environment" {
    printf '%s\n' "$short" "$short" other >nodes
    # A number that no other test has; a process has its environment when it runs its program.
    OAR_JOB_ID=$$ sh -c 'touch ready; exec sleep 60' &
    work=$!
    sleep 60 &
    other=$!
    wait_until 60 [ -e ready ]
    OAR_JOB_ID=$$ OAR_NODEFILE=$PWD/nodes record
    kill $work $other
    [ "$(fact scheduler)" = oar ]
    [ "$(fact job_id)" = $$ ]
    [ "$(fact job_nodes)" = "$short,other" ]
    [ "$(fact node)" = "$short" ]
    # the sleep with the number, and not the other; the shell of this test has none
    [ "$(jq '[.snapshots[-1].devices[] | select(.source == "process").values.processes] | first' r.json)" = 1 ]
}

@test "job: the job's processes by its control group, where one can be made" {
    group=
    for mount in /sys/fs/cgroup/cpuset /sys/fs/cgroup; do
        mkdir -p "$mount/oar/netproftest_$$" 2>/dev/null || continue
        [ ! -e "$mount/oar/netproftest_$$/cgroup.procs" ] || { group=$mount/oar/netproftest_$$ && break; }
        rmdir "$mount/oar/netproftest_$$" "$mount/oar" || true # a directory in whose place nothing is mounted
    done
    [ -n "$group" ] || skip "no control group can be made here"
    for file in cpuset.cpus cpuset.mems; do # of version 1: empty at first
        [ ! -e "$group/$file" ] || { cat "${group%/oar/*}/$file" >"${group%/*}/$file"; cat "${group%/*}/$file" >"$group/$file"; }
    done
    sleep 20 &
    work=$!
    if echo $work >"$group/cgroup.procs"; then
        OAR_JOB_ID=$$ record
        kill $work
        wait $work || true
        rmdir "$group" "${group%/*}" || true
        [ "$(jq '[.snapshots[-1].devices[] | select(.source == "process").values.processes] | first' r.json)" = 1 ]
    else
        kill $work
        rmdir "$group" "${group%/*}" || true
        skip "no process can be put into a control group here"
    fi
}

@test "job: Kubernetes: the pod, its node and its start are the recording's name" {
    begin=$(($(date +%s) - 2))
    POD_NAME=trainer-0 POD_NAMESPACE=ml POD_UID=u-1 NODE_NAME=worker7 record --job none
    [ "$(fact pod)" = trainer-0 ]
    [ "$(fact pod_namespace)" = ml ]
    [ "$(fact pod_uid)" = u-1 ]
    [ "$(fact node)" = worker7 ]
    start=$(fact pod_start_s)
    [ "$start" -gt 1500000000 ]
    [ "$start" -le $((begin + 3)) ]
    netprof job --fail-on critical,judged r.netprof >page
    grep -q "^pod trainer-0 in namespace ml on node worker7, started $(date -u -d "@$start" '+%Y-%m-%d %H:%M:%S')" <(tr '\n' ' ' <page | sed 's/ pod /\npod /')
    [ "$(netprof job --fail-on critical,judged --json r.netprof | jq .pod_begin_ns/1000000000)" = "$start" ]
    netprof diff --json r.netprof >d.json
    [ "$(jq -r .host d.json)" = trainer-0 ]
    # Without a downward API the host name is the pod's.
    KUBERNETES_SERVICE_HOST=10.0.0.1 record --job none
    [ "$(fact pod)" = "$host" ]
    # and outside of Kubernetes there is none
    record --job none
    [ "$(fact pod)" = null ]
    [ "$(fact pod_start_s)" = null ]
}
