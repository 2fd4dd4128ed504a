#!/usr/bin/env bats
# The recipes in samples/live: sessions of Slurm jobs, agents of Kubernetes.

load common

samples=$NETPROF_TEST_TOP/samples/live

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p bin head/sessions
    export NETPROF_HEAD=$PWD/head
    # The names of a list, as Slurm's own command prints them.
    printf '#!/bin/sh\n[ "$2" = hostnames ] && [ "$3" = "n[1-2]" ] && printf "n1\\nn2\\n"\n' >bin/scontrol
    chmod +x bin/scontrol
    PATH=$PWD/bin:$PATH
}

nodes_of() {
    jq -r .nodes "head/sessions/$1.json"
}

goes_on() {
    [ "$(jq .stop_ns "head/sessions/$1.json")" = 0 ]
}

@test "slurm: a job's session begins and ends with it, and that of its second start is another" {
    export SLURM_JOB_ID=17 SLURM_JOB_NODELIST='n[1-2]'
    "$samples/slurm_prolog"
    [ "$(nodes_of job-17)" = 'n1,n1.*,n2,n2.*' ]
    goes_on job-17
    SLURM_JOB_ID=171 "$samples/slurm_prolog"
    "$samples/slurm_epilog"
    refute goes_on job-17
    goes_on job-171
    first=$(cat head/sessions/job-17.json)
    "$samples/slurm_prolog"
    goes_on job-17.1
    "$samples/slurm_epilog"
    refute goes_on job-17.1
    [ "$(cat head/sessions/job-17.json)" = "$first" ]
    goes_on job-171
    touch -d '9 days ago' head/sessions/job-17.json
    NETPROF_KEEP_DAYS=7 "$samples/slurm_epilog"
    [ ! -e head/sessions/job-17.json ]
    [ -e head/sessions/job-17.1.json ]
}

@test "slurm: without a head, or without Slurm's command, the job starts and ends all the same" {
    export SLURM_JOB_ID=17 SLURM_JOB_NODELIST='n[1-2]'
    NETPROF_HEAD=$PWD/nothing "$samples/slurm_prolog" 2>err
    grep -q 'no session for job 17' err
    NETPROF_HEAD=$PWD/nothing "$samples/slurm_epilog"
    printf '#!/bin/sh\nexit 1\n' >bin/scontrol
    "$samples/slurm_prolog"
    [ ! -e head/sessions/job-17.json ]
}

@test "slurm: shellcheck has nothing to say" {
    command -v shellcheck >/dev/null || skip "no shellcheck"
    shellcheck "$samples"/slurm_*
}

# A field that Kubernetes does not know is gone when its own program has read the file.
@test "kubernetes: every field is one that Kubernetes has, and what the pod runs is a shell's" {
    command -v kubectl >/dev/null || skip "no kubectl"
    python3 -c 'import yaml' || skip "no yaml for python3"
    for file in "$samples"/kubernetes_*.yaml; do
        kubectl annotate --local -f "$file" --dry-run=client x=y -o json >read.json
        python3 - "$file" read.json <<'END'
import json
import sys
import yaml
def lost(a, b, path):
    if isinstance(a, dict):
        return sum((lost(v, b.get(k), f"{path}.{k}") if k in b else [f"{path}.{k}"] for k, v in a.items()), [])
    if isinstance(a, list):
        return sum((lost(v, w, path) for v, w in zip(a, b)), []) + ([path] if len(a) != len(b) else [])
    return [] if str(a) == str(b) else [path]
sys.exit(lost(yaml.safe_load(open(sys.argv[1])), json.load(open(sys.argv[2])), "") or None)
END
    done
    command -v shellcheck >/dev/null || return 0
    jq -r '.spec.containers[0].args[0]' read.json | shellcheck -s sh -
}

@test "kubernetes: the agent takes the options of the file" {
    [ -x "$NETPROF_TEST_BIN/netprof-agent" ] || skip "no netprof-agent"
    python3 -c 'import yaml' || skip "no yaml for python3"
    python3 -c '
import sys, yaml
for word in yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]["args"]:
    print(word.split("=")[0])' "$samples/kubernetes_agent.yaml" >options
    netprof agent --help >help
    while read -r option; do
        grep -q -- " $option=" help
    done <options
    [ "$(wc -l <options)" -ge 5 ]
}
