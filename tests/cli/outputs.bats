#!/usr/bin/env bats
# What programs write: nothing is destroyed, nothing hangs, nothing is killed (analysis/base/output_file.h).
load common

setup() {
    cd "$BATS_TEST_TMPDIR"
    netprof collect -q -o a.netprof --sources cpu,memory
    netprof collect -q -o b.netprof --sources cpu,memory
}

@test "outputs: an input is never overwritten" {
    cp a.netprof copy
    ln -s a.netprof link.json
    for command in 'export a.netprof --to json -o a.netprof' 'export a.netprof --to json -o ./a.netprof' \
        'export a.netprof --to json -o link.json' 'convert a.netprof a.netprof' 'convert --to json a.netprof link.json' \
        'compare a.netprof -- b.netprof -o a.netprof'; do
        echo "$command"
        run netprof $command
        [ "$status" -eq 2 ]
        [[ $output == *": is also an input; choose another name"* ]]
        cmp a.netprof copy
    done
}

@test "merge: an output that is named as an input is joined first" {
    netprof record -q --job none -d 100ms -t 20ms --sources cpu -o n1.netprof
    netprof record -q --job none -d 100ms -t 20ms --sources cpu -o n2.netprof
    size=$(($(stat -c %s n1.netprof) + $(stat -c %s n2.netprof)))
    cp n1.netprof one
    netprof merge n1.netprof n2.netprof -o n1.netprof
    [ "$(stat -c %s n1.netprof)" -eq "$size" ]
    # In a directory too, where it is a node's own file.
    mkdir d
    mv n2.netprof d && mv one d/n1.netprof
    netprof merge d -o d/n1.netprof
    [ "$(stat -c %s d/n1.netprof)" -eq "$size" ]
    # Again, from what it made before: nothing is twice, nothing is gone, nothing is said.
    run netprof merge -q d -o d/n1.netprof
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(stat -c %s d/n1.netprof)" -eq "$size" ]
    # A node's own file with two recordings is no earlier output either.
    netprof record -q --job none -d 100ms -t 20ms --sources cpu -o d/n2.netprof
    netprof record -q --job none -d 100ms -t 20ms --sources cpu -o e.netprof
    netprof record -q --job none -d 100ms -t 20ms --sources cpu -o e.netprof
    mkdir e && mv e.netprof e && cp d/n2.netprof e/n2.netprof
    size=$(($(stat -c %s e/e.netprof) + $(stat -c %s e/n2.netprof)))
    netprof merge e -o e/e.netprof
    [ "$(stat -c %s e/e.netprof)" -eq "$size" ]
}

@test "export: a device, a pipe and a link stay what they are" {
    [ "$(id -u)" -eq 0 ] || skip "needs to make a device"
    mknod null c 1 3
    netprof export a.netprof --to json -o null
    [ -c null ]
    netprof export a.netprof --to csv --table counter_values -o null
    [ -c null ]
    netprof export a.netprof --to csv --table counter_values -o want.csv
    netprof export a.netprof --to csv --table counter_values -o >(cat >got.csv)
    for i in $(seq 50); do cmp -s want.csv got.csv && break; sleep 0.1; done
    cmp want.csv got.csv
    mkfifo pipe
    cat pipe >got.csv &
    netprof export a.netprof --to csv --table counter_values -o pipe
    wait
    [ -p pipe ]
    cmp want.csv got.csv
    echo old >target.json
    ln -s target.json link.json
    netprof convert a.netprof link.json
    [ -L link.json ]
    [ "$(head -c 1 target.json)" = "{" ]
    ln -s later.json early.json # its target does not exist yet
    netprof export a.netprof --to json -o early.json
    [ -L early.json ]
    [ -s later.json ]
}

@test "outputs: the mode and the owner of a file that is replaced stay" {
    for command in 'convert a.netprof m.json' 'export a.netprof --to json -o m.json' 'report a.netprof b.netprof -o m.html'; do
        m=${command##* }
        echo old >"$m"
        chmod 640 "$m"
        [ "$(id -u)" -ne 0 ] || chown 65534:65534 "$m"
        owner=$(stat -c %u:%g "$m")
        netprof $command || [[ $? == [15] ]]
        [ "$(stat -c '%a %u:%g' "$m")" = "640 $owner" ]
        [ "$(cat "$m")" != old ]
    done
    netprof collect -q -o c.netprof --sources cpu
    chmod 600 c.netprof
    netprof collect -q -o c.netprof --sources cpu
    [ "$(stat -c %a c.netprof)" = 600 ]
}

@test "outputs: a file has its name when its bytes are on the disk, and then the name is" {
    for command in 'convert a.netprof o.json' 'export a.netprof --to json -o o.json' 'merge -q a.netprof b.netprof -o o.json'; do
        rm -f order
        ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-} SYNC_ORDER=$PWD/order \
            LD_PRELOAD=$NETPROF_TEST_BUILD/tests/sync_order.so netprof $command
        echo "$command"
        cat order
        printf '%s\n' "flush $PWD/o.json.TEMPORARY" "rename o.json.TEMPORARY o.json" "flush $PWD" |
            diff - <(sed 's/o\.json\.[A-Za-z0-9]\{6\}/o.json.TEMPORARY/' order)
    done
}

@test "outputs: the superuser uses no link and no pipe of another user" {
    [ "$(id -u)" -eq 0 ] || skip "for root"
    chmod 755 . && mkdir -m 777 shared
    echo secret >root_file
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    as_nobody ln -s "$PWD/root_file" shared/x.netprof || skip "nobody cannot come here"
    as_nobody mkfifo shared/p.json
    for command in 'collect -q -o shared/x.netprof' 'record -q --job none -d 100ms -o shared/x.netprof' \
        'run -q -o shared/x.netprof -- true' 'convert a.netprof shared/x.netprof' \
        'export a.netprof --to json -o shared/x.netprof' 'merge a.netprof b.netprof -o shared/x.netprof'; do
        echo "$command"
        run netprof $command
        echo "$output"
        [ "$status" -ne 0 ]
        [[ $output == *"shared/x.netprof: a symbolic link of user 65534: the superuser does not write there"* ]]
        [ "$(cat root_file)" = secret ]
    done
    run timeout 10 netprof convert a.netprof shared/p.json
    [ "$status" -eq 3 ]
    [[ $output == *"a named pipe of user 65534"* ]]
}

@test "outputs: a limit on file sizes is an error, and nothing is left behind" {
    for command in 'collect -q -o c.netprof' 'export a.netprof --to json -o c.json' 'convert a.netprof c.json'; do
        echo "$command"
        run bash -c "ulimit -f 1; exec netprof $command"
        echo "$output"
        [ "$status" -eq 3 ]
        [[ $output == *"File too large"* ]]
        [ -z "$(ls c.*)" ]
    done
    # The command that is run gets its own way with the signal.
    run bash -c 'ulimit -f 1; netprof run -q -- dd if=/dev/zero of=big bs=4096 count=9'
    [ "$status" -eq 153 ]
}

@test "directories: a pipe called x.netprof hangs nobody" {
    mkdir d
    cp a.netprof b.netprof d
    mkfifo d/q.netprof
    for command in 'job d' 'check d' 'diff d' 'export d --to csv -o oc' 'report d -o r.pdf' 'merge d -o m.netprof' 'regions d'; do
        echo "$command"
        run timeout 20 netprof $command
        [ "$status" -le 5 ]
    done
}

@test "export: ends at once when interrupted, even while it waits for a pipe" {
    mkfifo f
    run timeout -k 2 1 netprof export f --to csv -o oc
    [ "$status" -eq 124 ]
    [[ $output == *"interrupted; nothing was written"* ]]
    [ -z "$(ls -d oc*)" ]
}
