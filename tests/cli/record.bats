# netprof record and run --interval: recordings of the node and the job.
load common

bats_require_minimum_version 1.5.0

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
    sh -c '(while [ ! -e go ]; do sleep 0.02; done; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo >done) &
        while [ ! -e leave ]; do sleep 0.02; done' &
    shell=$!
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
    for _ in $(seq 200); do netprof convert r.netprof r.json && [ "$(jq -r .facts.ended_by r.json)" = "stop file" ] && break; sleep 0.05; done
    [ "$(jq -r .facts.ended_by r.json)" = "stop file" ]
    for i in 1 2 3 4; do
        (status=0; netprof record -q -o s.netprof --interval 50ms --duration 60s --job none --sources cpu --stop-file end || status=$?
            echo $status >$i.status) &
    done
    for _ in $(seq 1000); do [ "$(ls ./?.status 2>/dev/null | wc -l)" -ge 3 ] && break; sleep 0.02; done
    touch end
    wait
    [ "$(cat ./?.status | sort | tr '\n' ' ')" = "0 3 3 3 " ]
    netprof convert s.netprof s.json
    [ "$(jq -r .facts.ended_by s.json)" = "stop file" ]
}

@test "record: a file that is removed, replaced or cut while it grows is said" {
    cd "$BATS_TEST_TMPDIR"
    for harm in 'rm' 'cp /dev/null other; mv other' 'truncate -s 0'; do
        netprof record -q -o r.netprof --interval 50ms --duration 60s --checkpoint 100ms --job none --sources cpu 2>err &
        recorder=$!
        for _ in $(seq 200); do [ "$(stat -c %s r.netprof 2>/dev/null || echo 0)" -gt 1500 ] && break; sleep 0.05; done
        eval "$harm r.netprof"
        status=0
        wait $recorder || status=$?
        cat err
        [ "$status" -eq 3 ]
        [[ $(cat err) == *"r.netprof: the file was "*" while it grew: "*"lost" ]]
        rm -f r.netprof
    done
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
exec netprof record -o r.netprof --interval 50ms --duration 20s --job none --sources cpu --stop-file young
END
    timeout 10 bash late
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
    netprof record -o "$BATS_TEST_TMPDIR/r.netprof" --interval 500ms --fast-network 50ms --duration 1100ms --job none
    netprof convert "$BATS_TEST_TMPDIR/r.netprof" "$BATS_TEST_TMPDIR/r.json"
    [ "$(jq '[.snapshots[].set] | map(select(. == "fast")) | length' "$BATS_TEST_TMPDIR/r.json")" -gt \
        "$(jq '[.snapshots[].set] | map(select(. == "all")) | length' "$BATS_TEST_TMPDIR/r.json")" ]
    run netprof diff "$BATS_TEST_TMPDIR/r.netprof"
    [ "$status" -eq 0 ]
    [[ $output != *"gone"* ]]
}

@test "run --interval: CPU time of the command and of what it left behind" {
    netprof run -q -o "$BATS_TEST_TMPDIR/r.netprof" --interval 50ms -- sh -c \
        'work() { i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; }; cd "$1"; work; (sh -c "i=0; while [ \$i -lt 200000 ]; do i=\$((i+1)); done; touch done" &); work
        while [ ! -e done ]; do sleep 0.05; done; sleep 0.2' sh "$BATS_TEST_TMPDIR"
    netprof diff --json --all "$BATS_TEST_TMPDIR/r.netprof" >"$BATS_TEST_TMPDIR/d.json"
    netprof convert "$BATS_TEST_TMPDIR/r.netprof" "$BATS_TEST_TMPDIR/r.json"
    own=$(jq -r '.facts | (.user_cpu_us | tonumber) + (.system_cpu_us | tonumber)' "$BATS_TEST_TMPDIR/r.json")
    all=$(jq '[.devices[] | select(.source == "process").top[] | select(.counter == "cpu_user" or .counter == "cpu_system").delta] | add' "$BATS_TEST_TMPDIR/d.json")
    echo "own $own all $all"
    # Three equal pieces of work, one of them not among the command's own children.
    [ "$all" -gt $((own * 12 / 10)) ]
    [ "$all" -lt $((own * 2)) ]
}

@test "record --background: returns when the recording has begun, and it goes on in a session of its own" {
    cd "$BATS_TEST_TMPDIR"
    run --separate-stderr netprof record --background -o r.netprof --interval 50ms --duration 20s --job none \
        --sources cpu --stop-file stop
    [ "$status" -eq 0 ]
    [ -z "$stderr$output" ]
    [ -s r.netprof ] # its first reading is there
    touch stop
    for i in $(seq 100); do
        netprof convert r.netprof r.json 2>/dev/null && break
        sleep 0.1
    done
    [ "$(jq -r .facts.ended_by r.json)" = "stop file" ]
    # What is wrong is said by the one who waits.
    run netprof record --background -o missing/r.netprof --duration 1s --job none
    [ "$status" -eq 3 ]
    [[ $output == *missing* ]]
    run netprof record --background -o r.netprof --interval soon
    [ "$status" -eq 2 ]
}

# held PID: once it holds SIGTERM back, as it does while it records.
held() {
    local mask=
    until ((0x${mask:-0} & 0x4000)); do
        mask=$(sed -n 's/^SigBlk:\t//p' "/proc/$1/status")
        sleep 0.01
    done
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
    [ "$(jq '.before | length > 0' out)" = true ]
}
