# netprof record and run --interval: recordings of the node and the job.
load common

bats_require_minimum_version 1.5.0

# ended_by FILE WORD: it is complete, and says so.
ended_by() {
    netprof convert "$1" ended.json 2>/dev/null && [ "$(jq -r .facts.ended_by ended.json)" = "$2" ]
}

@test "record: ends after its duration with the readings that fit into it" {
    run --separate-stderr netprof record -o "$BATS_TEST_TMPDIR/r.netprof" --interval 100ms --duration 1050ms --job none
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    run netprof convert "$BATS_TEST_TMPDIR/r.netprof" "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 0 ]
    # The first, ten ticks, the last; a busy machine may miss some, and then says how many.
    readings=$(jq '.snapshots | length' "$BATS_TEST_TMPDIR/r.json")
    [ "$readings" -le 12 ]
    [ "$readings" -ge 3 ]
    [ "$(jq -r '.facts.ended_by' "$BATS_TEST_TMPDIR/r.json")" = duration ]
}

@test "record: needs a file, and says so" {
    run netprof record --duration 1s
    [ "$status" -eq 2 ]
    [[ $output == *"-o FILE is needed"* ]]
}

@test "record: a wrong time, a wrong job, a process that is not there" {
    run netprof record -o x --interval soon
    [ "$status" -eq 2 ]
    [[ $output == *"--interval: soon"* ]]
    run netprof record -o x --job nonsense
    [ "$status" -eq 2 ]
    [[ $output == *"--job: nonsense"* ]]
    run netprof record -o x --job 999999999
    [ "$status" -eq 4 ]
    run env -u SLURM_JOB_ID netprof record -o x --job slurm
    [ "$status" -eq 4 ]
    [[ $output == *"SLURM_JOB_ID is not set"* ]]
    [ ! -e x ]
}

@test "record: ends with the process" {
    cd "$BATS_TEST_TMPDIR"
    sh -c 'while [ ! -e go ]; do sleep 0.02; done' &
    netprof record -q -o r.netprof --interval 50ms --duration 60s --job $! &
    recorder=$!
    wait_for_readings r.netprof 2
    touch go
    wait $recorder
    netprof convert r.netprof r.json
    [ "$(jq -r '.facts.ended_by' r.json)" = job ]
}

@test "record: --job PID ends with the last that descends from it" {
    cd "$BATS_TEST_TMPDIR"
    # The shell ends when it is told to; its child goes on until it is told to, and counts.
    sh -c '(touch born; while [ ! -e go ]; do sleep 0.02; done; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo >done) &
        while [ ! -e leave ]; do sleep 0.02; done' &
    shell=$!
    wait_until 60 [ -e born ]
    netprof record -q -o r.netprof --interval 50ms --duration 60s --job $shell &
    recorder=$!
    wait_for_readings r.netprof 2
    touch leave
    wait $shell
    wait_for_readings r.netprof $(($(readings r.netprof) + 4)) # it saw that
    touch go
    wait $recorder
    [ -e done ]
    netprof convert r.netprof r.json
    [ "$(jq -r '.facts.ended_by' r.json)" = job ]
}

@test "record: two do not write one file; of several at once one does" {
    cd "$BATS_TEST_TMPDIR"
    netprof record --background -o r.netprof --interval 50ms --duration 60s --job none --sources cpu --stop-file stop
    for command in 'record -o r.netprof --duration 1s --job none' 'run --interval 50ms -o r.netprof -- touch ran'; do
        # shellcheck disable=SC2086
        run netprof $command
        [ "$status" -eq 3 ]
        [[ $output == *"r.netprof: another recorder is writing it"* ]]
    done
    [ ! -e ran ]
    touch stop
    wait_until 60 ended_by r.netprof 'stop file'
    for i in 1 2 3 4; do
        (status=0; netprof record -q -o s.netprof --interval 50ms --duration 60s --job none --sources cpu --stop-file end || status=$?
            echo $status >$i.status) &
    done
    three_gave_up() { [ "$(ls ./?.status 2>/dev/null | wc -l)" -ge 3 ]; }
    wait_until 60 three_gave_up || true # the statuses tell
    touch end
    wait
    [ "$(cat ./?.status | sort | tr '\n' ' ')" = "0 3 3 3 " ]
    netprof convert s.netprof s.json
    [ "$(jq -r .facts.ended_by s.json)" = "stop file" ]
}

@test "record: a file that is cut while it grows is said, and ends it" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 50ms --duration 60s --checkpoint 100ms --job none --sources cpu 2>err &
    recorder=$!
    wait_for_readings r.netprof 8
    truncate -s 0 r.netprof
    status=0
    wait $recorder || status=$?
    cat err
    [ "$status" -eq 3 ]
    [[ $(cat err) == *"r.netprof: the file was cut while it grew: readings of it are lost" ]]
}

@test "record: a file that is removed or replaced while it grows is said, and what comes is kept" {
    cd "$BATS_TEST_TMPDIR"
    for harm in 'rm' 'cp /dev/null other; mv other'; do
        netprof record -q -o r.netprof --interval 50ms --duration 60s --checkpoint 100ms --job none --sources cpu 2>err &
        recorder=$!
        wait_for_readings r.netprof 8
        eval "$harm r.netprof"
        wait_for_readings r.netprof 8
        kill $recorder
        status=0
        wait $recorder || status=$?
        cat err
        [ "$status" -eq 3 ]
        [ "$(cat err)" = "netprof record: r.netprof: the file was removed while it grew: its readings are lost; going on in a new one" ]
        netprof diff r.netprof
        rm -f r.netprof
    done
}

@test "record: a file that logrotate renamed is written on until SIGHUP, then a new one" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 50ms --duration 60s --checkpoint 100ms --job none --sources cpu 2>err &
    recorder=$!
    wait_for_readings r.netprof 8
    mv r.netprof r.netprof.1
    before=$(stat -c %s r.netprof.1)
    grown() { [ "$(stat -c %s r.netprof.1)" -gt "$before" ]; }
    wait_until 20 grown
    [ ! -e r.netprof ]
    kill -HUP $recorder
    wait_for_readings r.netprof 8
    kill $recorder
    wait $recorder
    [ ! -s err ]
    netprof diff r.netprof # both are whole, with all facts
    netprof diff r.netprof.1
    netprof convert r.netprof new.json
    grep -q '"interval_ns": *"50000000"' new.json
}

# tests/faults/disk does the same with file systems that are really full and frozen.
@test "record: a write that stalls, a flush that stalls and an I/O error that passes cost no reading" {
    cd "$BATS_TEST_TMPDIR"
    ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-} STALLED_DISK=stalls LD_PRELOAD=$NETPROF_TEST_BUILD/tests/stalled_disk.so \
        netprof record -q -o r.netprof --sources cpu,self --job none -t 20ms --checkpoint 300ms -d 2500ms 2>err
    [ ! -s err ]
    netprof convert r.netprof r.json
    [ "$(jq '[.facts | keys[] | select(startswith("gap_"))] | length' r.json)" = 0 ]
    cat stalls
    [ "$(cut -d ' ' -f 1 stalls | tr '\n' ' ')" = 'write flush error ' ]
    # 25 to 35 ticks each; whoever waited for the disk would have read nothing meanwhile.
    while read -r what from to; do
        within=$(jq "[.snapshots[] | select(.monotonic_begin_ns > $from and .monotonic_begin_ns < $to)] | length" r.json)
        echo "$what: $within readings"
        [ "$within" -ge 3 ]
    done <stalls
    # Every tick is a reading, or counted as missed; the last reading is no tick.
    ticks=$(jq '(.snapshots[-2].monotonic_begin_ns - .snapshots[0].monotonic_begin_ns) / 2e7 | round + 1' r.json)
    readings=$(jq '.snapshots | length - 1' r.json)
    missed=$(netprof diff --json --all r.netprof | jq '[.devices[].top[] | select(.counter == "ticks_missed") | .delta // 0] | add')
    echo "$ticks ticks, $readings readings, $missed missed"
    [ $((readings + missed - ticks)) -ge -1 ] && [ $((readings + missed - ticks)) -le 1 ]
}

@test "record --rotate: by time and by size, every file whole; %t in the name" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 50ms --duration 3500ms --rotate 1s --job none --sources cpu
    [ "$(ls r*.netprof | tr '\n' ' ')" = "r.1.netprof r.2.netprof r.3.netprof r.netprof " ]
    for f in r*.netprof; do netprof diff "$f" >/dev/null; done
    netprof record -q -o s.netprof --interval 5ms --duration 1s --rotate 4kB --job none --sources cpu
    [ -e s.2.netprof ]
    [ "$(stat -c %s s.1.netprof)" -lt 8000 ]
    netprof record -q -o t-%t.netprof --interval 50ms --duration 100ms --job none --sources cpu
    [[ $(ls t-*) =~ ^t-20[0-9]{6}T[0-9]{6}Z\.netprof$ ]]
    run netprof record -q -o x.netprof --rotate 12parsecs
    [ "$status" -eq 2 ]
    [[ $output == *"--rotate: 12parsecs: expected a time like 1h or a size like 500MB"* ]]
}

@test "record: a recording that is there is never replaced, not even one that kill -9 left" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 20ms --duration 60s --job none --sources cpu &
    recorder=$!
    wait_for_readings r.netprof 8
    kill -9 $recorder
    wait $recorder || true
    size=$(stat -c %s r.netprof)
    cp r.netprof old.netprof
    run netprof record -o r.netprof --interval 20ms --duration 200ms --job none --sources cpu
    [ "$status" -eq 0 ]
    [[ $output == *"r.netprof: holds a recording already; this one is put behind it"* ]]
    cmp -n "$size" r.netprof old.netprof
    netprof export r.netprof --to csv --table counter_values -o new.csv || [ $? -eq 1 ]
    netprof export old.netprof --to csv --table counter_values -o old.csv || [ $? -eq 1 ]
    [ "$(wc -l <new.csv)" -gt "$(wc -l <old.csv)" ]
    # What is no recording is not touched.
    echo "my thesis" >thesis.netprof
    run netprof record -q -o thesis.netprof --duration 100ms --job none --sources cpu
    [ "$status" -eq 3 ]
    [[ $output == *"thesis.netprof: exists and is no recording: it is not replaced"* ]]
    [ "$(cat thesis.netprof)" = "my thesis" ]
    # JSON cannot be continued: the next name.
    for i in 1 2; do netprof record -q -o j.json --duration 50ms -t 20ms --job none --sources cpu; done
    [ -s j.json ]
    [ -s j.1.json ]
}

@test "record: %j names array tasks and attempts apart" {
    cd "$BATS_TEST_TMPDIR"
    SLURM_JOB_ID=12 SLURM_ARRAY_JOB_ID=10 SLURM_ARRAY_TASK_ID=0 netprof record -q -o %j.netprof -d 50ms --job none --sources cpu
    SLURM_JOB_ID=13 SLURM_RESTART_COUNT=2 netprof record -q -o %j.netprof -d 50ms --job none --sources cpu
    SLURM_JOB_ID=14 SLURM_RESTART_COUNT=0 netprof record -q -o %j.netprof -d 50ms --job none --sources cpu
    [ "$(ls *.netprof | tr '\n' ' ')" = "10_0.netprof 13-r2.netprof 14.netprof " ]
}

@test "record: ends when the stop file appears, and when it changes" {
    cd "$BATS_TEST_TMPDIR"
    for words in FINISHED "FINISHED again"; do
        rm -f r.netprof
        netprof record -q -o r.netprof --interval 50ms --duration 60s --stop-file stop &
        recorder=$!
        wait_for_readings r.netprof 2
        echo "$words" >stop
        wait $recorder
        netprof convert r.netprof r.json
        [ "$(jq -r '.facts.ended_by' r.json)" = "stop file" ]
    done
}

@test "record: a stop file from before it is none; one written while it was about to begin ends it" {
    cd "$BATS_TEST_TMPDIR"
    touch old
    # The shell becomes netprof: the process began before its program was there.
    cat >late <<'END'
sleep 0.2
touch young
exec netprof record -o r.netprof --interval 50ms --duration 60s --job none --sources cpu --stop-file young
END
    bash late
    netprof convert r.netprof r.json
    [ "$(jq -r .facts.ended_by r.json)" = "stop file" ]
    touch -d '1 second ago' old
    netprof record -o s.netprof --interval 50ms --duration 300ms --job none --sources cpu --stop-file old
    netprof convert s.netprof s.json
    [ "$(jq -r .facts.ended_by s.json)" = "duration" ]
}

@test "record: a signal ends it with a complete file" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 50ms --duration 60s --job none &
    recorder=$!
    wait_for_readings r.netprof 2
    kill -TERM $recorder
    wait $recorder
    netprof convert r.netprof r.json
    [ "$(jq -r '.facts.ended_by' r.json)" = signal ]
}

# At random instants, and by a witness that sees each reading: tests/e2e/test_record_kill.c.
@test "record: kill -9 leaves every reading that was there before" {
    cd "$BATS_TEST_TMPDIR"
    for pause in 0.003 0.011 0.017; do
        netprof record -q -o k.netprof --interval 20ms --duration 60s --job none --sources cpu,memory &
        recorder=$!
        wait_for_readings k.netprof 5
        before=$(readings k.netprof)
        sleep $pause
        kill -9 $recorder
        wait $recorder || true
        [ "$(readings k.netprof)" -ge "$before" ]
        rm k.netprof
    done
}

@test "record: the network's fast set at a rate of its own" {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q -o r.netprof --interval 500ms --fast-network 50ms --duration 60s --job none --stop-file stop &
    recorder=$!
    fast_are_more() { # by so many
        netprof convert --to json r.netprof - 2>/dev/null | jq -se --argjson by "$1" \
            '[.[].snapshots[].set] | (map(select(. == "fast")) | length) >= (map(select(. == "all")) | length) + $by' >is_so
    }
    wait_until 60 fast_are_more 5
    touch stop
    wait $recorder
    fast_are_more 3 # one more of each at the end, and the slow one that saw the stop file
    run netprof diff r.netprof
    [ "$status" -eq 0 ]
    [[ $output != *"gone"* ]]
}

@test "run --interval: CPU time of the command and of what it left behind" {
    cd "$BATS_TEST_TMPDIR"
    # What is left behind works for 0.2 s by its own account. Its parent has ended before it: the command's account (own)
    # has it only because run takes what was left behind.
    cat >left_behind <<'END'
echo $$ >left.pid
while times >used; read -r user system <used; case $user in 0m0.[01]*) true ;; *) false ;; esac; do
    i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
done
touch done
END
    netprof run -q -o r.netprof --interval 50ms -- sh -c \
        'work() { i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; }; work; (sh left_behind &); work
        while [ ! -e done ] || kill -0 "$(cat left.pid)" 2>/dev/null; do sleep 0.05; done' # until run has taken its account
    netprof diff --json --all r.netprof >d.json
    netprof convert r.netprof r.json
    own=$(jq -r '.facts | (.user_cpu_us | tonumber) + (.system_cpu_us | tonumber)' r.json)
    all=$(jq '[.devices[] | select(.source == "process").top[] | select(.counter == "cpu_user" or .counter == "cpu_system").delta] | add' d.json)
    left=$(awk 'NR == 1 { split($1, u, /[ms]/); split($2, s, /[ms]/)
        printf "%d", (u[1] * 60 + u[2] + s[1] * 60 + s[2]) * 1e6 }' used)
    echo "own $own left $left all $all"
    [ "$left" -ge 200000 ]
    [ "$own" -ge $((left + left / 2)) ] # the command itself worked as well
    # Once, and once only; four columns in ticks of 10 ms, and as many of those that it is compared with.
    [ "$all" -ge $((own - 80000)) ]
    [ "$all" -le $((own + 80000)) ]
}

@test "record --background: returns when the recording has begun, and it goes on in a session of its own" {
    cd "$BATS_TEST_TMPDIR"
    run --separate-stderr netprof record --background -o r.netprof --interval 50ms --duration 60s --job none \
        --sources cpu --stop-file stop
    [ "$status" -eq 0 ]
    [ -z "$stderr$output" ]
    [ -s r.netprof ] # its first reading is there
    touch stop
    wait_until 60 ended_by r.netprof 'stop file'
    # What is wrong is said by the one who waits.
    run netprof record --background -o missing/r.netprof --duration 1s --job none
    [ "$status" -eq 3 ]
    [[ $output == *missing* ]]
    run netprof record --background -o r.netprof --interval soon
    [ "$status" -eq 2 ]
}

# held PID: once it holds SIGTERM back, as it does while it records. First that it is netprof: the shell that becomes it
# holds signals back as well, while it forks.
held() {
    local end=$((SECONDS + 60)) name mask
    while [ $SECONDS -lt $end ] && grep -q '^State:.[^ZX]' "/proc/$1/status"; do
        name=$(cat "/proc/$1/comm")
        mask=$(sed -n 's/^SigBlk:\t//p' "/proc/$1/status")
        if [ "$name" = netprof ] && ((0x${mask:-0} & 0x4000)); then return; fi
        sleep 0.01
    done
    echo "process $1 is gone, or holds nothing back"
    return 1
}

@test "record: a named pipe: no reader, or one that does not read, is waited for until a signal comes" {
    cd "$BATS_TEST_TMPDIR" || return
    mkfifo pipe
    netprof record -o pipe --sources cpu --duration 1m 2>err &
    held $!
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" = 3 ]
    grep -q 'pipe: ended by a signal while nobody read this pipe' err
    exec 5<>pipe
    head -c 65536 /dev/zero >&5 # full
    netprof record -o pipe --sources cpu --duration 1m 2>err 5<&- &
    held $!
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" = 3 ]
    grep -q 'pipe: cannot write' err
    exec 5<&-
    [ -p pipe ]
}

@test "record: through a named pipe comes the recording" {
    cd "$BATS_TEST_TMPDIR" || return
    mkfifo pipe
    cat pipe >got.netprof &
    netprof record -o pipe --sources cpu --interval 20ms --duration 100ms
    wait
    [ -p pipe ]
    netprof diff got.netprof --json >out
    [ "$(jq '.before_file | length > 0' out)" = true ]
}

@test "record --cgroup: a group that is not there is an error" {
    cd "$BATS_TEST_TMPDIR"
    run netprof record -q -o r.netprof --cgroup /no-such-group --duration 100ms
    [ "$status" -eq 4 ]
    [[ $output == *"--cgroup: /no-such-group: no such control group"* ]]
    [ ! -e r.netprof ]
    grep -q ' - cgroup' /proc/self/mountinfo || skip "no control groups here"
    netprof record -q -o r.netprof --cgroup / --duration 100ms --sources cgroup,cpu
    [ -s r.netprof ]
}
