#!/usr/bin/env bats
# What a recording says against what was done: workloads that know what they used, by another way than ours, and the
# defects of other recorders as tests. P1, P2, ...: of perfmon (sums over keys, chains counted several times, an end at
# the first child that ends, values that go back, charts of nothing).

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    # The interpreter itself: a command of its name may be a script that starts others first.
    python=$(python3 -c 'import sys; print(sys.executable)')
    # What it used, by getrusage and by its own count, goes to files named *.used: "user system" in microseconds.
    cat >work.py <<'END'
import os, resource, sys, time

def use(user, system=0.0):
    """So much CPU time of each kind, by the kernel's own account."""
    sink = os.open("/dev/zero", os.O_RDONLY)
    while True:
        now = resource.getrusage(resource.RUSAGE_SELF)
        if now.ru_utime < user:
            sum(range(20000))
        elif now.ru_stime < system:
            os.read(sink, 1 << 20)
        else:
            break
    os.close(sink)

def tell():
    now = resource.getrusage(resource.RUSAGE_SELF)
    with open(f"{os.getpid()}.used", "w") as f:
        f.write(f"{now.ru_utime * 1e6:.0f} {now.ru_stime * 1e6:.0f}\n")

def touch(name):
    open(name, "w").close()

def wait_for_go():
    """Until there is a byte in the named pipe, which costs no CPU time however long it takes."""
    os.read(os.open("go", os.O_RDONLY), 1)
END
}

# Before programs that wait for it: the pipe that tells them to go on. Descriptor 5 holds it open, and keeps what is in it.
# Background processes close it, so that they go on when the test is over, however it ended.
make_go() {
    mkfifo go
    exec 5<>go
}

# go COUNT: so many go on.
go() {
    head -c "$1" /dev/zero >&5
}

# further_readings COUNT: until r.netprof has so many more than now.
further_readings() {
    wait_for_readings r.netprof $(($(readings r.netprof) + $1))
}

# of_job COUNTER: its difference over the recording r.netprof.
of_job() {
    jq -r --arg c "$1" '.devices[] | select(.source == "process") | .top[] | select(.counter == $c) | .delta' diff.json
}

# gauge COUNTER FILTER: of all its values in r.json, FILTER of jq (max, .[0], ...).
gauge() {
    jq -r --arg c "$1" "[.snapshots[].devices[] | select(.device == \"job\") | .values[\$c] | select(. != null)] | $2" r.json
}

read_back() {
    netprof diff --json --all r.netprof >diff.json
    netprof convert r.netprof r.json
}

# near VALUE EXPECTED TOLERANCE
near() {
    echo "got $1, expected $2 within $3"
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a != "" && a - b <= t && b - a <= t) }'
}

# as_the_kernel_says TOLERANCE: CPU time of the job, user and system together, against wait4() of the command and of all
# that it waited for.
as_the_kernel_says() {
    local user system kernel
    user=$(of_job cpu_user) system=$(of_job cpu_system) # nothing where it did not change
    kernel=$(jq '.facts | (.user_cpu_us | tonumber) + (.system_cpu_us | tonumber)' r.json)
    near "$((${user:-0} + ${system:-0}))" "$kernel" "$1"
}

used() {
    awk -v column="$1" '{ sum += $column } END { printf "%d\n", sum }' ./*.used
}

@test "CPU seconds of a process, user and system each" {
    netprof run -q -o r.netprof --interval 100ms -- "$python" -c 'from work import *; use(0.3, 0.2); tell(); os._exit(0)'
    read_back
    # What the kernel says at its end (wait4), in ticks of 10 ms of the process and of its children each, and what the program saw shortly before. The kernel's split
    # into user and system follows the ticks so far, and so moves while it runs; the sum does not.
    near "$(of_job cpu_user)" "$(jq -r .facts.user_cpu_us r.json)" 20000
    near "$(of_job cpu_system)" "$(jq -r .facts.system_cpu_us r.json)" 20000
    [ "$(of_job cpu_user)" -ge 200000 ]
    [ "$(of_job cpu_system)" -ge 100000 ]
    near $(($(of_job cpu_user) + $(of_job cpu_system))) $(($(used 1) + $(used 2))) 60000 # its own end costs some
}

@test "children that end, and their children: nothing is lost and nothing counted twice" {
    # Two rounds of three children, each with a child of its own that ends before it: 13 processes in all.
    netprof run -q -o r.netprof --interval 50ms -- "$python" -c '
from work import *
for round in range(2):
    for child in range(3):
        if os.fork() == 0:
            if os.fork() == 0:
                use(0.06); tell(); os._exit(0)
            os.wait()
            use(0.04); tell(); os._exit(0)
    for child in range(3):
        os.wait()
tell()
os._exit(0)'
    read_back
    [ "$(cat ./*.used | wc -l)" -eq 13 ]
    near "$(awk -v a="$(of_job cpu_user)" -v b="$(of_job cpu_system)" 'BEGIN { print a + b }')" \
        "$(awk -v a="$(used 1)" -v b="$(used 2)" 'BEGIN { print a + b }')" 260000 # 13 processes, two columns, 10 ms each
    as_the_kernel_says 60000 # of those that were waited for it adds up what is finer than its ticks
}

@test "P2: a chain of four processes counts each once" {
    make_go
    netprof run -q -o r.netprof --interval 50ms -- "$python" -c '
from work import *
depth = 1
while depth < 4 and os.fork() == 0:
    depth += 1
use(0.2)
tell()
wait_for_go()
if depth < 4:
    os.wait()
os._exit(0)' 5<&- &
    background=$!
    four_told() { [ "$(cat ./*.used 2>/dev/null | wc -l)" -eq 4 ]; }
    wait_until 60 four_told
    further_readings 2
    go 4
    wait "$background"
    read_back
    [ "$(cat ./*.used | wc -l)" -eq 4 ]
    gauge processes .
    [ "$(gauge processes max)" -eq 4 ]
    # 0.8 s and what starting and ending took; counted by depth it would be twice as much.
    near "$(of_job cpu_user)" "$(used 1)" 150000
    as_the_kernel_says 60000
}

@test "P3: a child that ends between readings does not end the recording" {
    make_go
    netprof run -q -o r.netprof --interval 50ms -- "$python" -c '
from work import *
for i in range(8):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
touch("waited")
wait_for_go()
begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
use(begin + 0.5)
os._exit(0)' 5<&- &
    background=$!
    wait_until 60 [ -e waited ]
    local behind=$(($(readings r.netprof) + 3))
    wait_for_readings r.netprof $((behind + 1))
    go 1
    wait "$background"
    read_back
    near "$(of_job cpu_user)" "$(jq -r .facts.user_cpu_us r.json)" 20000
    # It went on behind the last of them, and what was used then, 0.5 s, is in the readings behind that.
    [ "$(gauge cpu_user ".[-1] - .[$((behind - 1))]")" -ge 480000 ]
    [ "$(gauge cpu_user '. == sort')" = true ]
}

@test "a job that was there before: only what it does while it is recorded" {
    make_go
    "$python" -c '
from work import *
marks = []
def mark():
    marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime * 1e6)
use(0.4)
mark()
touch("ready")
wait_for_go()
mark()
use(0.7)
mark()
open("marks", "w").write("%d %d %d\n" % tuple(marks))
touch("worked")
wait_for_go()
os._exit(0)' 5<&- &
    background=$!
    wait_until 60 [ -e ready ]
    netprof record -q -o r.netprof --interval 50ms --job "$background" --duration 5m 5<&- &
    recorder=$!
    wait_for_readings r.netprof 1
    go 1
    wait_until 60 [ -e worked ]
    further_readings 2
    go 1
    wait "$background"
    wait "$recorder"
    read_back
    [ "$(jq -r .facts.ended_by r.json)" = job ]
    # The first reading was between the first two marks, the last one after the third; in ticks of 10 ms each.
    local ready began worked measured
    read -r ready began worked <marks
    measured=$(of_job cpu_user)
    echo "marks $ready $began $worked, measured $measured"
    [ $((worked - began)) -ge 200000 ]
    [ "$measured" -ge $((worked - began - 20000)) ]
    [ "$measured" -le $((worked - ready + 20000)) ]
}

@test "bytes written and read, calls, of a process and its children" {
    netprof run -q -o r.netprof --interval 50ms -- sh -c '
        dd if=/dev/zero of=one bs=65536 count=40 status=none
        dd if=one of=/dev/null bs=4096 status=none
        (dd if=/dev/zero of=two bs=1024 count=100 status=none)'
    read_back
    # Written: exactly what dd wrote, 40 x 64 KiB + as much again to /dev/null + 100 KiB; sh writes nothing.
    [ "$(of_job write_chars)" -eq $((40 * 65536 * 2 + 102400)) ]
    [ "$(of_job write_calls)" -eq $((40 + 640 + 100)) ]
    # Read: as much, and what starting programs reads of their libraries.
    read=$(of_job read_chars)
    [ "$read" -ge $((40 * 65536 * 2 + 102400)) ]
    [ "$read" -lt $((40 * 65536 * 2 + 102400 + 400000)) ]
}

@test "P1: each figure of the memory is its own, no sum over the others" {
    make_go
    netprof run -q -o r.netprof --interval 50ms --set all -- "$python" -c '
import mmap
from work import *
anonymous = bytearray(48 << 20)
for i in range(0, len(anonymous), 4096): anonymous[i] = 1
shared = mmap.mmap(-1, 24 << 20)
for i in range(0, len(shared), 4096): shared[i] = 1
text = open("/proc/self/status").read()
open("status", "w").write(text)
wait_for_go()' 5<&- &
    background=$!
    # The shares are read about once a second.
    whole() { netprof convert r.netprof r.json 2>/dev/null; [ "$(gauge memory_unique max)" -ge $((72 << 20)) ]; }
    wait_until 60 whole 2>/dev/null
    go 1
    wait "$background"
    read_back
    value() { awk -v k="$1:" '$1 == k { print $2 * 1024 }' status; }
    near "$(gauge resident max)" "$(value VmRSS)" 2000000
    near "$(gauge resident_shared max)" "$(awk '/^Rss(File|Shmem):/ { sum += $2 } END { print sum * 1024 }' status)" 2000000
    near "$(gauge virtual_size max)" "$(value VmSize)" 2000000
    # 48 MiB that only it has, and 24 MiB of shared memory that nobody else maps.
    unique=$(gauge memory_unique max)
    [ "$unique" -ge $((72 << 20)) ]
    [ "$unique" -le "$(gauge resident max)" ]
    [ "$(gauge memory_proportional max)" -ge "$unique" ]
}

@test "datagrams sent and received are those that were" {
    unshare --net true 2>/dev/null || skip 'needs root and network namespaces'
    unshare --net sh -c 'ip link set lo up && sleep 0.2 && netprof run -q -o r.netprof --interval 50ms --set all -- "$1" -c "
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind((\"127.0.0.1\", 0))
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(700):
    b.sendto(b\"x\" * 100, a.getsockname())
    if i % 7: a.recv(200)
"' sh "$python"
    netprof diff --json --all r.netprof >diff.json
    of() { jq -r --arg d "$1" --arg c "$2" '.devices[] | select(.device == $d) | .top[] | select(.counter == $c) | .delta' diff.json; }
    [ "$(of Udp OutDatagrams)" -eq 700 ]
    # InDatagrams counts at the socket's queue or at the reading, by kernel; both ends are known.
    received=$(of Udp InDatagrams)
    [ "$received" -ge 600 ]
    [ "$received" -le 700 ]
    # 700 packets of 8 + 20 + 100 bytes.
    [ "$(of lo tx_bytes)" -eq $((700 * 128)) ]
    [ "$(of lo tx_packets)" -eq 700 ]
}

@test "P9: a counter that goes back is a reset, never a negative rate nor its neighbour's" {
    make_nic tree cxi0 hni_sts_tx_ok_octets=1000000 hni_sts_rx_ok_octets=5000000
    netprof record -q -o r.netprof --root "$PWD/tree" --interval 100ms --duration 60s --job none --stop-file stop &
    background=$!
    wait_for_readings r.netprof 2
    set_counter tree cxi0 hni_sts_tx_ok_octets 400 1 # began anew
    set_counter tree cxi0 hni_sts_rx_ok_octets 5000900 1
    wait_for_readings r.netprof $(($(readings r.netprof) + 2))
    touch stop
    wait "$background"
    netprof diff --json --all r.netprof >diff.json
    row() { jq -c --arg c "$1" '.devices[].top[] | select(.counter == $c)' diff.json; }
    row hni_sts_tx_ok_octets
    [ "$(row hni_sts_tx_ok_octets | jq -r .flag)" = reset ]
    [ "$(row hni_sts_tx_ok_octets | jq -r .delta)" -eq 400 ] # what came since: at least so much
    [ "$(row hni_sts_rx_ok_octets | jq -r .delta)" -eq 900 ]
    [ "$(jq '[.. | .rate_per_s? | select(. != null and . < 0)] | length' diff.json)" -eq 0 ]
}

@test "P9: energy goes on over the end of its range" {
    zone=tree/sys/class/powercap/intel-rapl:0
    mkdir -p "$zone"
    echo package-0 >"$zone/name"
    echo 262143328850 >"$zone/max_energy_range_uj"
    echo 262143000000 >"$zone/energy_uj"
    netprof record -q -o r.netprof --root "$PWD/tree" --sources energy --interval 50ms --duration 60s --job none --stop-file stop &
    background=$!
    wait_for_readings r.netprof 2
    echo 171150 >"$zone/energy_uj"
    wait_for_readings r.netprof $(($(readings r.netprof) + 2))
    touch stop
    wait "$background"
    netprof diff --json --all r.netprof >diff.json
    [ "$(jq -r '.devices[].top[] | select(.counter == "energy").delta' diff.json)" -eq 500000 ] # 0.5 J
}

@test "P10: what may not be read is said, never shown as 0" {
    [ "$(id -u)" -eq 0 ] || skip 'needs root to become somebody else'
    command -v setpriv >/dev/null || skip 'needs setpriv'
    zone=tree/sys/class/powercap/intel-rapl:0
    mkdir -p "$zone"
    echo package-0 >"$zone/name"
    echo 5 >"$zone/energy_uj"
    chmod 0400 "$zone/energy_uj"
    chmod 0755 . "$BATS_TEST_TMPDIR"
    mkdir out
    chown 65534 out
    netprof=$(command -v netprof)
    # The way to the program may be closed to others.
    setpriv --reuid 65534 --regid 65534 --clear-groups "$netprof" --version >/dev/null 2>&1 || skip 'others may not run it'
    setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$PWD/tree" || skip 'others may not come here'
    setpriv --reuid 65534 --regid 65534 --clear-groups "$netprof" record -q -o out/r.netprof --root "$PWD/tree" \
        --sources energy --interval 50ms --duration 200ms --job none
    netprof convert out/r.netprof r.json
    [ "$(jq -c '[.snapshots[].devices[].values.energy] | unique' r.json)" = '[null]' ]
    jq -e '.snapshots[0].devices[0].not_ok.energy[0] == "denied"' r.json
}

@test "P15: what was not recorded has neither a row nor a 0, and axes are of time" {
    # Beside it a clock of ours, in milliseconds.
    clock() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
    local begun read_once told ended
    begun=$(clock)
    netprof record -q -o r.netprof --interval 50ms --duration 60s --job none --sources cpu --stop-file stop &
    background=$!
    wait_for_readings r.netprof 1
    read_once=$(clock)
    sleep 0.3
    told=$(clock)
    touch stop
    wait "$background"
    ended=$(clock)
    netprof diff --json --all r.netprof >diff.json
    # The recorder's own counters (source user) and the CPU's, nothing of memory, disks or the network.
    jq -e '[.devices[].source] | unique == ["cpu", "user"]' diff.json
    # Times are nanoseconds that rise as time did, by 50 ms or, where the machine was busy, more; not text.
    netprof convert r.netprof r.json
    jq -e '[.snapshots[].monotonic_begin_ns] | map(type) | unique == ["number"]' r.json
    jq -e --argjson least $((told - read_once - 20)) --argjson most $((ended - begun + 20)) '[.snapshots[].monotonic_begin_ns] |
        . == unique and length >= 3 and length <= $most / 50 + 2 and .[-1] - .[0] >= $least * 1e6 and .[-1] - .[0] <= $most * 1e6' r.json
}

# job_json FILE HOST RATE [gpu]: 60 snapshots by hand, a second apart but for the 21 s between the 30th and the next one;
# a port that sends RATE bytes/s, and a GPU that is busy 80 % at 300 W where asked for.
job_json() {
    python3 - "$@" <<'END'
import json, sys
path, host, rate, gpu = sys.argv[1], sys.argv[2], int(sys.argv[3]), len(sys.argv) > 4
SECOND = 10**9
devices = [("cxi", "cxi0", [("hni_sts_rx_ok_octets", "bytes", "counter"), ("hni_sts_tx_ok_octets", "bytes", "counter")])]
if gpu:
    devices.append(("gpu", "gpu0", [("busy", "percent", "gauge"), ("energy", "uJ", "counter")]))


def value(name, t):
    return {"hni_sts_rx_ok_octets": 1000 * t, "hni_sts_tx_ok_octets": rate * t, "busy": 80, "energy": 300 * 10**6 * t}[name]


def snapshot(t):
    ns = (t + 10000) * SECOND
    return {"schema": 0, "set": "all", "begin_ns": ns, "end_ns": ns + 1000, "wall_ns": (1700000000 + t) * SECOND, "stamp_error_ns": 0,
            "devices": [{"device": d, "source": s, "begin_ns": ns, "end_ns": ns + 1000, "values": {n: value(n, t) for n, _, _ in c}}
                        for s, d, c in devices]}


schema = {"facts": {"host": host, "boot_id": host}, "sources": [{"name": s, "status": "ok", "devices": 1} for s, _, _ in devices],
          "devices": [{"source": s, "name": d, "physical": True, "virtual": False, "facts": {"speed_mbps": "200000"},
                       "counters": [{"name": n, "unit": u, "kind": k, "width": 64, "scale": 1, "flags": ["fast"]} for n, u, k in c]}
                      for s, d, c in devices]}
times = [t if t < 30 else t + 20 for t in range(60)]
with open(path, "w") as to:
    json.dump({"format": "netprof", "version": 1, "facts": {}, "schemas": [schema], "snapshots": [snapshot(t) for t in times], "deltas": []}, to)
END
}

# What the pages show: perfmon's titles said "Max 0/Node", its axes were lists of words that stood as far apart as their
# number, pages of what was not measured were empty, and there were none of GPUs.
@test "P15: pages: figures in place of 0, an axis on which a second is a second, no empty page, GPUs" {
    command -v netprof-report >/dev/null || skip 'built without drawing'
    command -v pdftotext >/dev/null || skip 'no pdftotext'
    job_json a.json node1 2000000
    job_json b.json node2 6000000
    netprof-report -o plain.pdf a.json b.json
    # 20 of the 80 s of each, and of one alone.
    [ "$(netprof job a.json b.json --fail-on critical | grep -c '40 of 160 samples are missing (25 %), on 2 nodes$')" = 1 ]
    [ "$(netprof job a.json --fail-on critical | grep -c '20 of 80 samples are missing (25 %), all of node1$')" = 1 ]
    python3 - <<'END'
import re
import subprocess


def page(*options):
    done = subprocess.run(["pdftotext", *options, "plain.pdf", "-"], capture_output=True, text=True, check=True)
    return done.stdout.replace("\u202f", " ").replace("\u00a0", " ")


text = re.sub(r"[ \t]+", " ", page("-layout"))
assert not re.search(r"\bMax 0\b", text, re.I)
# The mean of 2 and 6 MB/s, the lowest and the highest node by name, and 79 s of both: what was made above.
assert re.search(r"Network sent 4(\.00)? MB/s 2(\.00)? MB/s node1 6(\.00)? MB/s node2", text), text
assert "632 MB" in text, text
# What was not measured has no part, and is named.
assert not re.search(r"^ ?(GPU|Memory|Energy)$", text, re.M), text
assert re.search(r"Not in this report:(.|\n)*GPU busy \(not recorded\)", text), text
pages = page("-layout").split("\f")[:-1]
assert len(pages) >= 3
for number, one in enumerate(pages):
    assert len(one.split()) > 40, (number + 1, one)
# The axis of time on page 1: labels stand at places in proportion to their numbers, over the gap, too.
found = re.findall(r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="[\d.]+">(\d+)<', page("-bbox", "-f", "1", "-l", "1"))
rows = {}
for left, top, right, number in found:
    rows.setdefault(round(float(top)), []).append(((float(left) + float(right)) / 2, int(number)))
ticks = max((sorted(r) for r in rows.values()), key=lambda r: len({v for _, v in r} & set(range(0, 80, 5))))
step = ticks[1][1]
# Of the whole 79 s and no more, in equal steps of a round number, of which some stand where no samples are (30 to 49 s).
assert [v for _, v in ticks] == list(range(0, 80, step)) and step in (5, 10, 20), rows
assert any(30 <= v < 50 for _, v in ticks), rows
# Where a second is: by the first and the last but one, for the last has its unit beside it.
(x0, _), (x1, v1) = ticks[0], ticks[-2]
assert x1 - x0 > 150, ticks
for x, v in ticks[:-1]:
    assert abs(x - (x0 + v * (x1 - x0) / v1)) < 1.5, ticks
END
    job_json a.json node1 2000000 gpu
    netprof-report -o gpu.pdf a.json b.json
    pdftotext -layout gpu.pdf - | sed 's/\xe2\x80\xaf/ /g' | tr -s ' ' >text
    grep -qE '^ ?GPU$' text
    grep -qE 'GPU busy 80(\.0)? %' text
    grep -qE 'GPU power 300 W' text
}

# All kinds, in a table: tests/e2e/job_truth.
@test "jobs of a Slurm step, orphans, writers and groups: what the kernel says, or marked" {
    "$NETPROF_TEST_TOP/tests/e2e/job_truth" --program "$NETPROF_TEST_BIN/netprof" --seconds 1 \
        --only step,orphans,many,not\ root,cgroup1,cgroup2
}
