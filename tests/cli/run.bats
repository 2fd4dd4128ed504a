#!/usr/bin/env bats
# netprof run: the command must not notice.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

@test "the exit status is the command's" {
    for wanted in 0 1 2 3 42 255; do
        [ "$(status_of netprof run -- sh -c "exit $wanted")" = "$wanted" ]
    done
    grep -q '^netprof: sh ended with exit status 255 after ' err
}

@test "killed by a signal: 128 + its number" {
    [ "$(status_of netprof run -- sh -c 'kill -9 $$')" = 137 ]
    grep -q 'was killed by signal 9' err
    [ "$(status_of netprof run -- sh -c 'kill -TERM $$')" = 143 ]
}

@test "the file names the signal, whatever its number is on this machine" {
    status_of netprof run -o bus.netprof -- sh -c 'ulimit -c 0; kill -BUS $$'
    netprof job bus.netprof >text
    grep -q 'the command was ended by signal 7 (bus error)' text
    grep -aq SIGBUS bus.netprof
}

@test "not found: 127; not executable: 126; and no file is left" {
    [ "$(status_of netprof run -o x.netprof -- no-such-command)" = 127 ]
    [ "$(cat err)" = 'netprof run: no-such-command: command not found' ]
    [ "$(status_of netprof run -- ./no/such/file)" = 127 ]
    echo text >file
    [ "$(status_of netprof run -o x.netprof -- ./file)" = 126 ]
    [ "$(status_of netprof run -- .)" = 126 ]
    [ "$(status_of netprof run -o x.netprof --interval 1s -- no-such-command)" = 127 ]
    [ ! -e x.netprof ]
}

@test "standard input, output and error pass through bytewise" {
    head -c 300000 /dev/urandom >bytes
    netprof run -q -- sh -c 'tee /dev/stderr' <bytes >out 2>err
    cmp bytes out
    cmp bytes err
    # a closed stream stays closed
    netprof run -q -- sh -c 'if [ -e /proc/self/fd/0 ]; then echo open; else echo closed; fi' <&- >out 2>/dev/null
    [ "$(cat out)" = closed ]
}

@test "the summary goes to the standard error, and --quiet says nothing" {
    netprof run -- echo hello >out 2>err
    [ "$(cat out)" = hello ]
    grep -q '^netprof: echo ended after ' err
    netprof run -q -- echo hello 2>err
    [ ! -s err ]
    netprof run --summary file -- echo hello 2>err
    [ ! -s err ]
    grep -q '^netprof: echo ended' file
}

@test "options behind the command are the command's" {
    [ "$(netprof run -q echo --json -o x --interval)" = '--json -o x --interval' ]
    [ "$(netprof run -q -- echo -- --json)" = '-- --json' ]
}

@test "environment, directory, descriptors and signal mask are the command's own" {
    export SECRET_OF_THE_TEST=17
    [ "$(netprof run -q -- sh -c 'echo $SECRET_OF_THE_TEST; pwd')" = "$(printf '17\n%s' "$PWD")" ]
    sh -c 'ls -l /proc/self/fd | awk "NF > 8 { print \$9 }"' >bare
    netprof run -q -- sh -c 'ls -l /proc/self/fd | awk "NF > 8 { print \$9 }"' >under
    cmp bare under
    grep '^Sig\(Blk\|Ign\|Cgt\)' /proc/self/status >bare
    netprof run -q --interval 10ms -o x.netprof -- grep '^Sig\(Blk\|Ign\|Cgt\)' /proc/self/status >under
    diff bare under
}

@test "SIGTERM, SIGHUP and SIGUSR1 are passed on; the file is whole" {
    for signal in TERM HUP USR1; do
        rm -f ready
        netprof run -o "$signal.netprof" -- sh -c "trap 'exit 33' $signal; touch ready; while :; do sleep 0.05; done" 2>err &
        pid=$!
        wait_until 60 [ -e ready ]
        kill -s "$signal" $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq 33 ]
        netprof diff "$signal.netprof" >/dev/null 2>err
        [ ! -s err ]
    done
}

@test "SIGINT is left to the command" {
    # A job of its own, so that it may be interrupted as from a terminal: the whole group.
    cat >job.py <<'END'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
child = subprocess.Popen(["netprof", "run", "-o", "int.netprof", "--", "sh", "-c",
                          "trap 'echo caught; exit 5' INT; touch ready; while :; do sleep 0.05; done"],
                         start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
while not os.path.exists("ready") and child.poll() is None:
    time.sleep(0.01)
os.killpg(child.pid, signal.SIGINT)
out = child.communicate()[0].decode().strip()
sys.exit(0 if (child.returncode, out) == (5, "caught") else print(child.returncode, out) or 1)
END
    command -v python3 >/dev/null || skip 'no python3'
    python3 job.py
    netprof diff int.netprof >/dev/null
}

@test "facts of the run are in the file" {
    SLURM_JOB_ID=99 netprof run -q -o a.netprof -- sh -c 'exit 3' x 'it'\''s' || [ $? -eq 3 ]
    netprof convert a.netprof a.json
    [ "$(jq -r .facts.command a.json)" = "sh -c 'exit 3' x 'it'\\''s'" ]
    [ "$(jq -r .facts.exit_status a.json)" = 3 ]
    [ "$(jq -r .facts.job_id a.json)" = 99 ]
    jq -e '.facts.end_ns > .facts.start_ns and (.facts.elapsed_ns | tonumber) > 0' a.json
    [ "$(jq '.snapshots | length' a.json)" = 2 ]
    netprof run -q -o b.json -- true
    [ "$(jq -r .facts.command b.json)" = true ]
}

@test "with an interval there are snapshots between, of the fast set" {
    netprof run -q -o a.netprof --interval 20ms -- sh -c 'until [ -e go ]; do sleep 0.02; done' &
    pid=$!
    wait_for_readings a.netprof 3
    touch go
    wait $pid
    netprof convert a.netprof a.json
    [ "$(jq -r '[.snapshots[].set] | unique | join(" ")' a.json)" = 'all fast' ]
    [ "$(jq -r '.snapshots | .[0].set, .[-1].set' a.json | sort -u)" = all ]
    jq -e '.facts | has("missed_ticks")' a.json
}

@test "a file that is being written is readable after SIGKILL" {
    netprof run -o a.netprof --interval 10ms -- sh -c 'for i in $(seq 300); do [ -e done ] || sleep 0.1; done' &
    pid=$!
    wait_for_readings a.netprof 5
    before=$(readings a.netprof)
    kill -KILL $pid
    touch done
    wait $pid || true
    netprof convert a.netprof a.json || [ $? -eq 1 ]
    [ "$(jq '.snapshots | length' a.json)" -ge "$before" ]
    [ "$(jq -r .facts.interval_ns a.json)" = 10000000 ]
}

@test "the interval that was asked for is the recording's, whatever its first readings were" {
    netprof run -q -o a.netprof --interval 250ms -- sleep 1.1 # the last reading comes when the command ends
    netprof job --json --fail-on critical a.netprof >job.json
    [ "$(jq .interval_s job.json)" = 0.25 ]
}

@test "a file that cannot be written is said before the command starts" {
    [ "$(status_of netprof run -o no/such/dir/x.netprof -- touch started)" = 3 ]
    [ ! -e started ]
}

@test "a summary that cannot be written costs nothing of the exit status" {
    [ "$(status_of netprof run --summary /dev/full -- sh -c 'exit 4')" = 4 ]
    (netprof run -- sh -c 'exit 6' 2>&-) || [ $? -eq 6 ]
}

@test "nothing to read: the command runs all the same" {
    mkdir empty
    [ "$(status_of netprof run --root empty -- sh -c 'echo ran; exit 9')" = 9 ]
    [ "$(cat out)" = ran ]
    grep -q 'nothing to read' err
}

@test "the sample's traffic is in the summary" {
    netprof run --json --summary all.json -- loopback -n 500 -b 8 >out
    [ "$(jq -r '.format, .exit_status' all.json | tr '\n' ' ')" = 'netprof-run 0 ' ]
    # 2 x 8 MiB of bulk data at least
    jq -e '.devices[] | select(.device == "lo" and .source == "netdev") | .traffic | .rx_bytes > 16777216 and .rx_bytes == .tx_bytes' all.json
    # In words: of lo alone, for ports of the node that moved something meanwhile would stand in its place.
    netprof run --include lo -- loopback -n 500 -b 8 >out 2>err
    grep -Eq '^  lo +[0-9.]+ [MG]B +[0-9.]+ [kMG]B/s +[0-9]+ ' err
}

@test "a simulated node: traffic of its ports, one line each, and their sum" {
    netprof-sim create node --nics 2
    netprof run --root node --summary out -- netprof-sim step node --seconds 1 --scenario healthy
    cat out
    grep -Eq '^  cxi0 +[0-9.]+ GB +[0-9.]+ GB/s' out
    grep -Eq '^  cxi1 ' out
    grep -Eq '^  together ' out
    netprof run --root node --summary out -- netprof-sim step node --seconds 1 --scenario timeouts
    cat out
    grep -q 'errors, drops, repetition or stalls' out
    grep -q 'rh:spt_timeouts' out
    refute grep -q 'pct_spt_timeouts' out # the same events
    netprof run --root node --json --summary all.json -- netprof-sim step node --seconds 1
    jq -e '.devices[] | select(.device == "cxi0") | .traffic | .rx_packets > 0 and .tx_packets > 0' all.json
}

# Sent to the group, a signal reaches the command by itself; sent to netprof alone, netprof passes it on. Either way the
# command counts one. What counts is a process without a sleeping child of its own, which would delay its traps.
@test "a signal to the process group is delivered once, one to netprof alone as well" {
    command -v python3 >/dev/null || skip 'no python3'
    # Children of a netprof that are no command; none where the kernel lists no children.
    own_children() {
        for pid in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
            [ "$(cat "/proc/$pid/comm")" != netprof ] || echo "$pid"
        done
    }
    cat >counter.py <<'END'
import os, signal, sys, time
seen = []
signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
signal.signal(signal.SIGUSR1, lambda *_: seen.append(2))
with open("pid", "w") as f: f.write(str(os.getppid()))
os.rename("pid", "ready")
end = time.monotonic() + 60
while not seen and time.monotonic() < end: time.sleep(0.005)
time.sleep(0.3)  # for a second one
print(len(seen))
END
    for target in group process; do
        for signal in TERM USR1; do
            rm -f ready
            setsid netprof run -q -- python3 counter.py >count &
            wait_until 60 [ -e ready ]
            run_pid=$(cat ready)
            helpers=$(own_children "$run_pid")
            # Once without a processor for netprof's own helper: it is stopped for longer than netprof waits unasked.
            [ "$target $signal" = 'group USR1' ] || helpers=
            # shellcheck disable=SC2086
            [ -z "$helpers" ] || kill -STOP $helpers
            if [ "$target" = group ]; then kill -s "$signal" -- "-$run_pid"; else kill -s "$signal" "$run_pid"; fi
            # shellcheck disable=SC2086
            [ -z "$helpers" ] || { sleep 0.2 && kill -CONT $helpers; }
            wait $!
            echo "$target $signal: $(cat count)"
            [ "$(cat count)" = 1 ]
        done
    done
}

# The children of netprof run, as the command sees them, one a line: the command, and what netprof needs itself.
children_of_run() {
    setsid netprof run -q -- sh -c 'tr " " "\n" </proc/$PPID/task/$PPID/children | grep -vx $$ >children; echo $PPID >parent
        touch ready; '"$1" &
}

# They are gone, or another program's.
are_gone() {
    for pid in $(cat children); do
        if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = netprof ] && ! grep -q '^State:.Z' "/proc/$pid/status"; then return 1; fi
    done
}

@test "nothing of netprof is left when the command ended, or netprof was killed" {
    [ -e /proc/self/task/self/children ] || [ -e "/proc/$$/task/$$/children" ] || skip "the kernel lists no children"
    rm -f ready
    children_of_run true
    wait $!
    [ -s children ]
    for pid in $(cat children); do [ ! -e "/proc/$pid" ]; done
    rm -f ready
    children_of_run 'for i in $(seq 240); do [ -e done ] || sleep 0.25; done'
    wait_until 60 [ -e ready ]
    kill -KILL "$(cat parent)"
    wait_until 60 are_gone
    touch done
}

@test "run: a named pipe stays, and when its reader goes away the command keeps its exit status" {
    mkfifo pipe
    cat pipe >got.netprof &
    [ "$(status_of netprof run --sources cpu --interval 20ms -o pipe -- no-such-command)" = 127 ]
    wait
    [ -p pipe ]
    (head -c 100 pipe >/dev/null; touch gone) &
    [ "$(status_of netprof run --sources cpu --interval 20ms -o pipe -- sh -c 'until [ -e gone ]; do sleep 0.02; done; exit 7')" = 7 ]
    grep -q 'pipe: cannot write: Broken pipe' err
}

# A port that moved one packet does not hide what the loopback moved.
@test "run: the summary hides what is small, not what is virtual" {
    cat >send.py <<'END'
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
for _ in range(200):
    client.sendall(b"x" * 65536)
    left = 65536
    while left: left -= len(peer.recv(left))
END
    netprof run -- python3 send.py 2>err
    cat err
    grep -Eq '^  lo +[0-9.]+ [MG]B ' err
}

# orphans.py STAY: four processes whose parent does not wait for them use 0.2 s of CPU time each; the command ends when they
# have ended, or with STAY leaves one more behind. Each writes what it used to its own file.
orphans() {
    cat >orphans.py <<'END'
import os, sys, time
def use(n):
    while time.process_time() < 0.2: pass
    with open(f"used.{n}", "w") as f: f.write(str(time.process_time()))
    os._exit(0)
started, tell = os.pipe()
if os.fork() == 0:
    for n in range(4):
        pid = os.fork()
        if pid == 0: use(n)
        os.write(tell, b"%d\n" % pid)
    if len(sys.argv) > 1:
        pid = os.fork()
        if pid == 0:
            os.close(1); os.close(2); os.close(tell)
            time.sleep(60)
            os._exit(0)
        with open("stays", "w") as f: f.write(str(pid))
    os._exit(0)
os.wait()
os.close(tell)
def ended(pid):
    try: return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError: return True
for pid in open(started).read().split():
    while not ended(pid): time.sleep(0.01)
END
}

@test "processes that outlive their parents are in the command's CPU time; where some go on, it is at least that" {
    orphans
    for how in "" "--interval 100ms -o r.netprof"; do
        rm -f used.*
        # shellcheck disable=SC2086
        netprof run --json --summary run.json $how -- python3 orphans.py
        # In ticks of the kernel, and what a process uses after it looked.
        jq -e --argjson used "$(cat used.* | sed 's/$/ /' | awk '{ for (i = 1; i <= NF; i++) s += $i } END { print s }')" \
            '.user_cpu_s + .system_cpu_s >= $used - 0.05 and (.cpu_lower_bound | not)' run.json
    done
    [ "$(ls used.* | wc -l)" = 4 ]
    rm -f r.netprof
    netprof run --json --summary run.json -o r.netprof -- python3 orphans.py stay
    kill "$(cat stays)"
    jq -e '.user_cpu_s + .system_cpu_s >= 0.75 and .cpu_lower_bound' run.json
    netprof convert r.netprof r.json
    jq -e '.facts.cpu_lower_bound == "yes"' r.json
    netprof run --summary run.txt -- python3 orphans.py stay
    kill "$(cat stays)"
    grep -q 'CPU time ≥ ' run.txt
    netprof run --summary run.txt -- true
    refute grep -q '≥' run.txt
}

@test "--report without -o samples by itself: over time, with the program's regions, and leaves nothing behind" {
    command -v netprof-report >/dev/null || skip 'netprof-report was not built (no cairo)'
    mkdir tmp
    TMPDIR=$PWD/tmp netprof run -q --report page.pdf -- "$NETPROF_TEST_BIN/loopback" -t 0.5 >out
    pdftotext -layout page.pdf - | tr -s ' \302\240\342\200\257' ' ' >page.txt
    grep -q 'Over time' page.txt
    grep -q 'each sample' page.txt
    [ "$(pdfinfo page.pdf | sed -n 's/^Pages: *//p')" = 1 ]
    grep -q 'sent = received' page.txt
    grep -q 'its own code *in the kernel for it *whole machine' page.txt
    # calls, time, share, bytes and bandwidth of a region, the middle and the 99th percentile of its calls
    LC_ALL=C grep -aqE 'TCP ping-pong .*[0-9] m?s [0-9.]+ % [0-9.]+ [kMG]?B .*[0-9.]+ [kMG]?B/s .*[0-9.]+ .{0,2}s [0-9.]+ .{0,2}s' page.txt
    grep -qE 'UDP stream moved [0-9.]+ [kMG]B/s' page.txt
    grep -q 'Context switches' page.txt
    grep -q 'Not judged' page.txt
    grep -q 'netprof run --report' page.txt
    grep -qE '[0-9]{2}:[0-9]{2}:[0-9]{2} UTC' page.txt # the wall clock below the axis
    [ -z "$(ls -A tmp)" ]
    [ -z "$(ls ./*.netprof 2>/dev/null)" ]
}
