#!/usr/bin/env bats
# The header within somebody else's program: it is never ended, never hung, and never made a tool against its user.
load common

setup() {
    cd "$BATS_TEST_TMPDIR"
    ends=$NETPROF_TEST_BUILD/tests/region_ends
}

@test "a limit on file sizes does not end the program, with NETPROF=off neither" {
    for limit in 0 1; do
        for mode in off time; do
            run bash -c "ulimit -f $limit; NETPROF=$mode NETPROF_OUTPUT=r.netprof NETPROF_VERBOSE=1 exec '$ends' 300"
            echo "$limit $mode: $status: $output"
            [ "$status" -eq 0 ]
            [[ $output == *"result 42"* ]]
            [ -z "$(ls)" ]
        done
    done
}

@test "a reader that goes away, or never comes, does not end or hang the program" {
    # It begins when the reader is gone: then nothing can be written any more.
    run bash -c "{ trap '' PIPE; while printf x; do :; done 2>/dev/null; trap - PIPE; NETPROF_OUTPUT=/dev/stdout '$ends' 300; } | true
        echo \${PIPESTATUS[0]}"
    [ "$(sed 's/process [0-9]*/process N/' <<<"$output")" = "result 42
netprof: the regions of process N could not be written: /dev/stdout: Broken pipe
0" ]
    mkfifo pipe
    run timeout 20 env NETPROF_OUTPUT=pipe "$ends" 10
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "result 42" ]
    [[ ${lines[1]} == *": $PWD/pipe: No such device or address" ]]
}

@test "a set-uid program takes nothing from its caller's environment" {
    [ "$(id -u)" -eq 0 ] || skip "for root"
    chmod 755 .
    cp "$ends" su
    mkdir -m 700 rootonly
    mkdir -m 777 open
    echo secret >rootonly/existing
    chmod 4755 su
    cd open
    setpriv --reuid=65534 --regid=65534 --clear-groups env NETPROF_OUTPUT="$BATS_TEST_TMPDIR/rootonly/existing" JOB_ID=$'\n* * * * * root id\n' ../su || skip "nobody cannot come here"
    [ "$(cat ../rootonly/existing)" = secret ]
    [ -z "$(ls ../rootonly | grep -v existing)" ]
    [ -z "$(ls)" ] # regions are off: not even a file of the usual name
    # The same program without the bit does as it is told.
    chmod 755 ../su
    setpriv --reuid=65534 --regid=65534 --clear-groups env NETPROF_OUTPUT=mine.netprof ../su
    [ -s mine.netprof ]
}

@test "the superuser's regions follow no link of another user" {
    [ "$(id -u)" -eq 0 ] || skip "for root"
    chmod 755 . && mkdir -m 777 shared
    echo secret >root_file
    setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$PWD/root_file" shared/x.netprof || skip "nobody cannot come here"
    NETPROF_OUTPUT=shared/x.netprof "$ends" 10
    [ "$(cat root_file)" = secret ]
}
