#!/usr/bin/env bats
# netprof run as users of perf stat know it: repeated, attached, delayed, timed, while it runs; and on a terminal.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# on_terminal KEY WHEN COMMAND…: as a job of a shell on a terminal of its own. Once file WHEN is there the key is pressed: c for
# Ctrl-C, z for Ctrl-Z; when the job has stopped, the shell puts down the file `stopped` and goes on with it. Prints what the
# terminal shows; the last line is how the command ended.
on_terminal() {
    cat >on_terminal.py <<'END'
import os, pty, signal, sys, threading, time
key, when, command = sys.argv[1], sys.argv[2], sys.argv[3:]
leader, fd = pty.fork()
if leader == 0: # what a shell does
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(command[0], command)
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(status): break
        open("stopped", "w").close()
        os.killpg(job, signal.SIGCONT)
    os.write(1, (f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}").encode() + b"\n")
    os._exit(0)
def press():
    while not os.path.exists(when): time.sleep(0.01)
    os.write(fd, b"\x03" if key == "c" else b"\x1a")
threading.Thread(target=press, daemon=True).start()
shown = b""
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data: break
    shown += data
os.waitpid(leader, 0)
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
END
    timeout 60 python3 on_terminal.py "$@"
}

# compare_figures DIRECTORY SUMMARY: what the summary says of the time and of what lo received is what the files of the runs
# say, by Python's own arithmetic.
compare_figures() {
    for file in "$1"/*.netprof; do netprof convert --to json "$file" - 2>/dev/null; done | jq -s . >runs.json
    python3 - "$2" <<'END'
import json, math, statistics, sys
runs, said = json.load(open("runs.json")), json.load(open(sys.argv[1]))["statistics"]
def lo(run, at):
    return next(d["values"]["rx_bytes"] for d in run["snapshots"][at]["devices"] if d["device"] == "lo" and d["source"] == "netdev")
own = {None: ("elapsed", [int(r["facts"]["elapsed_ns"]) / 1e9 for r in runs]), "lo": ("rx_bytes", [lo(r, -1) - lo(r, 0) for r in runs])}
for device, (counter, values) in own.items():
    row = next(r for r in said if r["counter"] == counter and r.get("device") == device)
    expected = {"run_count": len(values), "mean": statistics.mean(values), "standard_deviation": statistics.stdev(values),
                "standard_error": statistics.stdev(values) / math.sqrt(len(values)), "min": min(values),
                "median": statistics.median(values), "max": max(values)}
    for key, value in expected.items():
        print(device, counter, key, row[key], value)
        assert math.isclose(row[key], value, rel_tol=1e-8), key
END
}

@test "-r 10: mean, deviation, least, median and most are those of the runs' own files" {
    # A known workload: run N moves N blocks of 100 kB over the loopback.
    cat >work <<'END'
#!/usr/bin/env python3
import os, socket, threading
n = int(open("number").read()) if os.path.exists("number") else 1
open("number", "w").write(str(n + 1))
server = socket.create_server(("127.0.0.1", 0))
def take():
    peer = server.accept()[0]
    while peer.recv(65536): pass
reader = threading.Thread(target=take); reader.start()
with socket.create_connection(server.getsockname()) as s: s.sendall(bytes(100000 * n))
reader.join()
END
    chmod +x work
    netprof run -r 10 -o runs/ --json -s all.json -- ./work
    [ "$(ls runs | wc -l)" = 10 ]
    [ -e runs/run-01.netprof ]
    compare_figures runs all.json
    # 1 to 10 blocks: 5.5 in the mean, and what TCP adds is less than a tenth
    jq -e '.statistics[] | select(.device == "lo" and .counter == "rx_bytes") | .mean >= 550000' all.json
    jq -e '(.runs | length) == 10 and .failed_run_count == 0 and ([.runs[].exit_status] | unique) == [0]' all.json
}

@test "-r: a run that stands apart is named, fields and CSV say the same as JSON" {
    printf '#!/bin/sh\necho x >>count; [ "$(wc -l <count)" = 7 ] && sleep 2; exit 0\n' >work
    chmod +x work
    netprof run -r 8 --json -s all.json -- ./work
    jq -e '.statistics[] | select(.counter == "elapsed") | .outliers | index(7)' all.json
    # what moves a port, too: the command's own figures come first all the same
    netprof run -r 3 --csv -s all.csv -- bash -c 'echo x >/dev/udp/127.0.0.1/9'
    [ "$(head -1 all.csv | tr -d '\r')" = 'device,source,counter,unit,runs,mean,standard_deviation,standard_error,min,median,max,outliers' ]
    [ "$(sed -n 2p all.csv | cut -d, -f3-5)" = elapsed,s,3 ]
    grep -q ',netdev,rx_bytes,' all.csv
    netprof run -r 3 -x ';' -s all.fields -- bash -c 'echo x >/dev/udp/127.0.0.1/9; sleep 0.01'
    awk -F ';' 'NF != 8 || $4 !~ /^[0-9.]+%$/ || $6 != "100.00" { print "odd: " $0; exit 1 }' all.fields
    [ "$(cut -d ';' -f 2,3 all.fields | head -3 | tr '\n' ' ')" = 'ns;duration_time ns;user_time ns;system_time ' ]
    # the same event has the same place as in perf stat's lines
    if perf stat -e duration_time -x ';' -r 2 -o perf.fields true 2>/dev/null && grep -q duration_time perf.fields; then
        [ "$(grep duration_time perf.fields | cut -d ';' -f 2-3)" = "$(sed -n 1p all.fields | cut -d ';' -f 2-3)" ]
    fi
    netprof run -x, -- true 2>err # one run: no spread, as perf stat has it
    awk -F , 'NF != 7 { print "odd: " $0; exit 1 }' err
    netprof run -x 'lo,*' -- true 2>err # still --exclude
    grep -q '^netprof: true ended' err
}

@test "-r: the exit status is the last one's, but never 0 when a run failed; failed runs are named" {
    printf '#!/bin/sh\necho x >>count; exit "$(sed -n "$(wc -l <count)p" wanted)"\n' >work
    chmod +x work
    printf '0\n3\n0\n' >wanted
    [ "$(status_of netprof run -r 3 -- ./work)" = 3 ]
    grep -q '1 of 3 runs failed: run 2 ended with exit status 3$' err
    rm count
    printf '4\n0\n5\n' >wanted
    [ "$(status_of netprof run -r 3 -- ./work)" = 5 ]
    if command -v perf >/dev/null && perf stat true 2>/dev/null; then
        rm count # where the last one failed, perf stat says the same
        [ "$(status_of perf stat -r 3 ./work)" = 5 ]
    fi
    [ "$(status_of netprof run -r 2 -- no-such-command)" = 127 ]
}

@test "-r: files are numbered, or in a directory that holds no other series; compare takes them" {
    netprof run -q -r 10 -o good.netprof -- true
    ls good.*.netprof | diff - <(printf 'good.%02d.netprof\n' 1 2 3 4 5 6 7 8 9 10)
    netprof run -q -r 2 -o bad/ -- true
    [ "$(status_of netprof run -r 2 -o bad -- touch started)" = 3 ]
    grep -q 'bad: holds runs of an earlier series' err
    [ ! -e started ]
    netprof compare --json --fail-on critical good.0[12].netprof -- bad >c.json || [ $? = 5 ]
    jq -e '.format == "netprof-comparison"' c.json
}

@test "--pre and --post are around each run, are not measured, and end it where they fail" {
    netprof run -r 3 --pre 'echo pre >>log' --post 'echo post >>log; sleep 0.3' --json -s s.json -- sh -c 'echo run >>log'
    [ "$(tr '\n' ' ' <log)" = 'pre run post pre run post pre run post ' ]
    jq -e '[.statistics[] | select(.counter == "elapsed")][0].min < 0.3' s.json
    [ "$(status_of netprof run -r 3 --pre 'exit 9' -- touch started)" = 9 ]
    [ ! -e started ]
    grep -q -- '--pre: exit 9: ended with exit status 9' err
    [ "$(status_of netprof run --post 'exit 8' -- true)" = 8 ]
    [ "$(status_of netprof run --post 'exit 8' -- sh -c 'exit 5')" = 5 ]
}

@test "--timeout ends the command and what it started: SIGTERM, the exit status of timeout(1), and it is said" {
    cat >stubborn <<'END'
#!/bin/sh
sh -c 'trap "touch child-heard; exit" TERM; touch ready; while :; do sleep 0.02; done' &
wait
END
    chmod +x stubborn
    status=0
    netprof run --timeout 1s -o t.netprof -- ./stubborn 2>err || status=$?
    [ "$status" = 124 ]
    grep -q '^netprof: ./stubborn timed out and was ended by SIGTERM after ' err
    wait_until 60 [ -e child-heard ]
    netprof convert t.netprof t.json
    [ "$(jq -r '.facts | .exit_status, .timeout_ns' t.json | tr '\n' ' ')" = '124 1000000000 ' ]
    # what ignores SIGTERM gets SIGKILL
    [ "$(status_of netprof run --timeout 200ms -- sh -c 'trap "" TERM; while :; do sleep 0.02; done')" = 137 ]
    grep -q 'timed out and was ended by SIGKILL' err
    [ "$(status_of netprof run --timeout 1m -- sh -c 'exit 3')" = 3 ]
    # of several runs those that timed out are in no figure
    [ "$(status_of netprof run -r 2 --timeout 100ms -- sleep 60)" = 124 ]
    grep -q 'the runs that timed out are in no figure' err
    for option in --timeout -D -I; do # perf stat's 500 would be 500 s here
        [ "$(status_of netprof run $option 500 -- true)" = 2 ]
        grep -q 'expected a time with its unit' err
    done
}

@test "-D: what the command does before is in no figure" {
    cat >work <<'END'
#!/usr/bin/env python3
import os, socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
with socket.create_connection(server.getsockname()) as s:
    peer = server.accept()[0]
    s.sendall(bytes(200000)); n = 0
    while n < 200000: n += len(peer.recv(65536))
    open("moved", "w")
    while not os.path.exists("go"): time.sleep(0.01)
END
    chmod +x work
    unshare --user --map-root-user --net true 2>/dev/null || skip 'no network namespace of its own'
    cat >inside <<'END'
ip link set lo up
netprof run --json -s whole.json -- ./work &
until [ -e moved ]; do sleep 0.02; done; touch go; wait; rm moved go
netprof run -D 1s --json -s late.json -o late.netprof -- sh -c './work & until [ -e moved ]; do sleep 0.02; done; sleep 1.5; touch go; wait'
END
    unshare --user --map-root-user --net sh -e inside
    jq -e '[.devices[] | select(.device == "lo")][0].traffic.rx_bytes >= 200000' whole.json
    jq -e '([.devices[] | select(.device == "lo")][0].traffic.rx_bytes // 0) < 200000 and .delay_s == 1' late.json
    [ "$(status_of netprof run -D 1m -o none.netprof -- sh -c 'exit 4')" = 4 ]
    grep -q 'nothing was measured: it ended before the delay of 60 s was over' err
    [ ! -e none.netprof ]
}

@test "-p: until the processes end, --duration or a signal; who is not there is said" {
    sh -c 'until [ -e go ]; do sleep 0.02; done' &
    one=$!
    sh -c 'until [ -e go ]; do sleep 0.02; done' &
    two=$!
    [ "$(status_of netprof run -p "$one,$two" -d 200ms)" = 0 ]
    grep -q "^netprof: processes $one (sh), $two (sh) for " err
    netprof run -p "$one,$two" --json -s p.json -o p.netprof -t 50ms &
    watcher=$!
    wait_for_readings p.netprof 2
    touch go
    wait $watcher
    jq -e --argjson pids "[$one, $two]" '.pids == $pids and .ended_by == "ended" and .command == null' p.json
    netprof convert p.netprof p.all.json
    jq -e '[.snapshots[0].devices[].source] | index("process")' p.all.json
    wait $one $two
    [ "$(status_of netprof run -p "$one")" = 3 ] # it has ended and was waited for
    grep -q "^netprof run: -p: $one: No such process" err
    [ "$(status_of netprof run -p 1,x)" = 2 ]
    [ "$(status_of netprof run -p 1 -a)" = 2 ]
    # with a command as long as that runs
    sh -c 'until [ -e on ]; do sleep 0.02; done' &
    one=$!
    [ "$(status_of netprof run -p "$one" -- sh -c 'exit 6')" = 6 ]
    touch on
    wait $one
}

@test "-a: the node for a time, while a command runs, or until a signal by which it then ends" {
    [ "$(status_of netprof run -a -d 200ms -o node.netprof)" = 0 ]
    grep -Eq '^netprof: this node for [0-9.]+ m?s$' err
    [ ! -s out ]
    netprof diff node.netprof >/dev/null
    [ "$(status_of netprof run -a -- sh -c 'echo hello; exit 7')" = 7 ]
    [ "$(cat out)" = hello ]
    netprof run -a -t 50ms -o until.netprof 2>err &
    watcher=$!
    wait_for_readings until.netprof 2
    kill -TERM $watcher
    status=0
    wait $watcher || status=$?
    [ "$status" = 143 ]
    grep -q 'this node for .*; ended by a signal$' err
    netprof diff until.netprof >/dev/null
    [ "$(status_of netprof run)" = 2 ]
    [ "$(status_of netprof run -d 1s -- true)" = 2 ]
    [ "$(status_of netprof run -a -r 2)" = 2 ]
}

@test "-I: each interval while it runs, on the standard error; the command's output is its own" {
    netprof run -I 50ms -i lo --csv -s i.csv -- sh -c 'echo hello; until [ "$(grep -c . i.csv)" -ge 4 ]; do sleep 0.02; done' >out 2>err
    [ "$(cat out)" = hello ]
    [ ! -s err ]
    [ "$(head -1 i.csv | cut -d, -f1-4)" = time,interval_s,device,source ]
    awk -F, 'NR > 1 && ($1 + 0 <= last + 0 || $3 != "lo") { print "odd: " $0; exit 1 } NR > 1 { last = $1 }' i.csv
    netprof run -I 50ms -i lo -- sleep 0.3 >out 2>err
    [ ! -s out ]
    [ "$(grep -c '^TIME  *DEVICE  *rxpck/s' err)" -ge 3 ]
    grep -q '^netprof: sleep ended' err
    netprof run -I 50ms -i lo -x, -- sleep 0.2 2>err
    awk -F, 'NF != 8 || $4 !~ /^lo\/[rt]x_/ { print "odd: " $0; exit 1 }' err
}

@test "--append puts the summary behind the others; --csv has one line of titles" {
    netprof run -s all.txt -- true
    netprof run --append -s all.txt -- false || [ $? = 1 ]
    [ "$(grep -c '^netprof: ' all.txt)" = 2 ]
    netprof run --csv --append -s all.csv -- true
    netprof run --csv --append -s all.csv -- true
    [ "$(grep -c '^device,' all.csv)" = 1 ]
    [ "$(grep -c '^,,elapsed,' all.csv)" = 2 ]
    [ "$(status_of netprof run --append -- true)" = 2 ]
}

@test "on a terminal: Ctrl-C goes to the command, the report is written, and netprof ends by the signal" {
    on_terminal c ready netprof run -o c.netprof -- sh -c 'touch ready; exec sleep 60' >shown
    grep -q 'netprof: sh was killed by signal 2 (Interrupt) after ' shown
    [ "$(tail -1 shown)" = 'signal 2' ]
    netprof diff c.netprof >/dev/null
    rm ready # what catches it ends as it likes
    on_terminal c ready netprof run -- sh -c 'trap "exit 5" INT; touch ready; while :; do sleep 0.02; done' >shown
    [ "$(tail -1 shown)" = 'exit 5' ]
    rm ready
    # without a command it ends the measuring; a recording is there from the start
    on_terminal c ready netprof run -a -t 20ms -o ready >shown
    grep -q 'netprof: this node for .*; ended by a signal' shown
    [ "$(tail -1 shown)" = 'signal 2' ]
}

@test "on a terminal: Ctrl-C ends a series; whole runs are reported, the one that was broken off is in no figure and no file" {
    on_terminal c ready netprof run -r 5 -o runs/ -- sh -c 'echo x >>count; [ "$(wc -l <count)" -lt 3 ] || { touch ready; exec sleep 60; }' >shown
    grep -q 'netprof: 2 runs of sh' shown
    grep -q 'ended by the user in run 3 of 5, which is in no figure' shown
    [ "$(tail -1 shown)" = 'signal 2' ]
    [ "$(ls runs | wc -l)" = 2 ]
}

@test "on a terminal: Ctrl-Z stops command and netprof, and they go on together" {
    on_terminal z ready netprof run -- sh -c 'touch ready; until [ -e stopped ]; do sleep 0.02; done; exit 4' >shown
    [ "$(tail -1 shown)" = 'exit 4' ]
    grep -q 'netprof: sh ended with exit status 4' shown
}

@test "-r --report draws the run whose time is the median, from its file, or leaves nothing else behind" {
    command -v netprof-report >/dev/null || skip 'netprof-report was not built (no cairo)'
    cat >step <<'END'
n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n >count
sleep 0.$(echo 5 1 3 | cut -d' ' -f$n)
END
    netprof run -r 3 -o runs/ --report page.svg -- sh step 2>err
    for file in runs/*.netprof; do netprof convert --to json "$file" - 2>/dev/null; done | jq -s 'map(.facts.elapsed_ns | tonumber)' >times.json
    middle=$(python3 -c 'import json; t = json.load(open("times.json")); print(t.index(sorted(t)[1]) + 1)')
    grep -qx "netprof: page.svg is of run $middle, whose time is the median of 3 runs" err
    netprof report -o own.svg "runs/run-$middle.netprof"
    cmp own.svg page.svg
    mkdir tmp
    TMPDIR=$PWD/tmp netprof run -q -r 2 --report alone.svg -- sleep 0.3 2>err
    [ ! -s err ]
    grep -q '<svg' alone.svg
    [ -z "$(ls tmp)" ]
}
