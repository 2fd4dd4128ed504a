# GPUs by a made library of NVIDIA, and performance events.
load common

setup() {
    cd "$BATS_TEST_TMPDIR"
}

with_gpu() {
    mkdir -p library
    ln -sf "$NETPROF_TEST_BUILD/tests/libfake-nvml.so" library/libnvidia-ml.so.1
    [ -e library/libnvidia-ml.so.1 ] || skip "no made library (tests/libfake-nvml.so)"
    LD_LIBRARY_PATH=$PWD/library "$@"
}

counter() { # FILE DEVICE COUNTER: the value of its last snapshot, "null" where there is none
    jq -r --arg d "$2" --arg c "$3" '[.counters[] | select(.device == $d and .counter == $c)][0].value' "$1"
}

@test "list: a GPU with its values, facts and what it cannot tell" {
    with_gpu netprof list --sources gpu --counters --json >all.json
    [ "$(jq -r '.sources[] | select(.source == "gpu") | .status' all.json)" = ok ]
    [ "$(counter all.json gpu0 busy)" = 42 ]
    [ "$(counter all.json gpu0 memory_used)" = 250000 ]
    [ "$(counter all.json gpu0 energy)" = 7000 ] # of 7 mJ
    [ "$(counter all.json gpu0 temperature)" = 61000 ]
    [ "$(jq -r '.devices[0].facts | "\(.vendor) \(.pci) \(.driver)"' all.json)" = "NVIDIA 0000:41:00.0 550.54.15" ]
    # Every counter is explained.
    [ "$(jq '[.counters[] | select(.description == "")] | length' all.json)" = 0 ]
}

@test "list: no GPU is said so" {
    [ "$(status_of env LD_LIBRARY_PATH="$PWD" netprof list --sources gpu --root "$PWD" --json)" = 4 ]
    [ "$(jq -r '.sources[] | select(.source == "gpu") | .status' out)" = absent ]
}

@test "record: GPUs beside the rest, and the findings on them" {
    export CUDA_VISIBLE_DEVICES=0
    with_gpu netprof run -t 50ms --sources gpu,self -o g.netprof -- sh -c 'until [ -e go ]; do sleep 0.02; done' &
    wait_for_readings g.netprof 6 || { touch go; false; }
    touch go
    wait $!
    readings=$(readings g.netprof)
    netprof diff g.netprof --json >d.json
    seen=$(jq '[.. | objects | select(.counter? == "seen_time")][0].delta' d.json)
    busy=$(jq '[.. | objects | select(.counter? == "busy_time")][0].delta' d.json)
    [ "$seen" -ge 200000 ]
    # 42 % of it, each reading cut down to a microsecond
    [ "$busy" -le $((seen * 42 / 100 + 1)) ]
    [ "$busy" -ge $((seen * 42 / 100 - readings)) ]
}

@test "perf: a wrong event is named, exit code 2" {
    [ "$(status_of netprof list --perf cycles,cykles)" = 2 ]
    grep -q 'cykles: no such event or group' err
    [ "$(status_of netprof record -o x.netprof --perf 'cpu/')" = 2 ]
    [ ! -e x.netprof ]
}

@test "perf: another root holds no events" {
    [ "$(status_of netprof list --sources perf --root "$PWD" --json)" = 4 ]
    [ "$(jq -r '.sources[] | select(.source == "perf") | "\(.status): \(.source_path)"' out)" = "absent: another root holds no events" ]
}

@test "perf: what is not there or not allowed has no number" {
    netprof list --sources perf --counters --json >all.json || true
    [ "$(jq '[.counters[] | select(.status != "ok" and .value != null)] | length' all.json)" = 0 ]
    [ "$(jq '[.counters[] | select(.description == "")] | length' all.json)" = 0 ]
}

# Clock ticks that went to interrupts and to the host of a virtual machine (proc(5)): what the kernel leaves out of its
# account of a process, and the clock of events does not.
taken() {
    awk '/^cpu / { print $7 + $8 + $9 }' /proc/stat
}

@test "perf: the CPU time of a command from its first instruction" {
    host_took=$(taken)
    netprof run --sources process --perf task_clock,minor_faults -t 20ms -o t.netprof -- \
        sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; sh -c :' 2>err
    netprof convert t.netprof t.json
    netprof diff t.netprof --json >d.json
    clock=$(jq '[.. | objects | select(.counter? == "task_clock")][0].delta' d.json)
    [ "$clock" != null ] || skip "no events here"
    used_us=$(jq '.facts | (.user_cpu_us | tonumber) + (.system_cpu_us | tonumber)' t.json)
    # The kernel's account begins at fork() and goes on to the last moment.
    taken_us=$((($(taken) - host_took + 1) * 1000000 / $(getconf CLK_TCK))) # of the ticks one may be open
    echo "clock $((clock / 1000)) us, used $used_us us, taken $taken_us us"
    [ $((clock / 1000)) -le $((used_us + 1000 + taken_us)) ]
    [ $((clock / 1000)) -ge $((used_us - used_us / 4 - 5000)) ]
}

@test "perf: a control group is counted whole, where it is allowed" {
    mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    [ -n "$mount" ] || skip "no control groups of version 2 here"
    group=$mount/netprof-test-$$
    mkdir "$group" 2>/dev/null || skip "no control group can be made in $mount"
    record_group() { netprof record -q --cgroup "/${group##*/}" --sources perf --perf task_clock -t 20ms "$@"; }
    if [ "$(status_of record_group -o probe.netprof --duration 20ms)" = 4 ]; then
        rmdir "$group"
        skip "$(cat err)"
    fi
    mkfifo go # waiting for it costs no CPU time
    sh -c 'read -r _ <go; i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; times >times' &
    worker=$!
    if ! echo $worker >"$group/cgroup.procs"; then
        echo >go
        wait $worker
        rmdir "$group"
        skip "no process can be moved into a control group of $mount"
    fi
    record_group -o g.netprof --duration 60s --stop-file stop &
    recorder=$!
    begun=
    wait_for_readings g.netprof 1 || begun=no
    host_took=$(taken)
    echo >go
    wait $worker
    taken_ns=$((($(taken) - host_took + 1) * 1000000000 / $(getconf CLK_TCK)))
    touch stop
    wait $recorder || begun=no
    rmdir "$group"
    [ -z "$begun" ]
    netprof convert g.netprof g.json
    grep -q '"counted_by":"by control group /netprof-test-' g.json || skip "not allowed here"
    netprof diff g.netprof --json >d.json
    clock=$(jq '[.. | objects | select(.counter? == "task_clock")][0].delta' d.json)
    # What the shell itself says of its time, in "0m0.420s 0m0.010s".
    used=$(head -1 times | tr 'ms' '  ' | awk '{ printf "%d", ($1 * 60 + $2 + $3 * 60 + $4) * 1e9 }')
    [ "$clock" -ge $((used / 2)) ]
    [ "$clock" -le $((used + used / 4 + 100000000 + taken_ns)) ]
}
