#!/usr/bin/env bats
# The life of a regions' file: what is kept of a process, however it ends, and what is said when nothing can be kept.
load common

life=$NETPROF_TEST_BUILD/tests/region_life

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset NETPROF NETPROF_OUTPUT NETPROF_FLUSH NETPROF_QUIET NETPROF_RUN
}

# kept FILE NAME: how many calls of a region the file has.
kept() {
    "$life" read "$1" | sed -n "s/^$2 calls \([0-9]*\) .*/\1/p"
}

ended() {
    "$life" read "$1" | sed -n 's/^fact ended=//p'
}

# Rows: end; exit status; what the file says of the end; calls of the region "after", which came after a first file was
# written by itself; what is said on standard error.
@test "the kinds of ends: what is kept, and what is said" {
    local row kind status end after said count=0
    while IFS='|' read -r kind status end after said; do
        rm -rf place && mkdir place
        got=0
        # A sanitizer would take signals of faults for itself.
        (cd place && ulimit -c 0 && export ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0:handle_abort=0 && NETPROF_OUTPUT=r.netprof exec timeout 60 "$life" "$kind") >out 2>err || got=$?
        echo "$kind: $got, $(cat err)"
        "$life" read place/r.netprof >file
        cat file
        [ "$got" = "$status" ]
        [ "$(ended place/r.netprof)" = "$end" ]
        [ "$(kept place/r.netprof work)" -ge 1 ]
        [ "$(kept place/r.netprof after)" = "$after" ]
        [ "$(wc -l <err)" -eq "$([ -n "$said" ] && echo 1 || echo 0)" ]
        [ -z "$said" ] || grep -q "^netprof: the regions of process [0-9]* could not be written: $PWD/place/r.netprof: $said$" err
        [ -z "$(find place -name '*.tmp')" ]
        count=$((count + 1))
    done <<END
return|0|exit|2|
exit|0|exit|2|
quick_exit|0|quick_exit|2|
exit in a thread|0|exit|2|
pthread_exit|0|exit|2|
exit in a region|0|exit|2|
thread in a region|0|exit|2|
regions after exit|0|exit|2|
fork|0|exit|2|
fork and _exit|0|exit|2|
vfork|0|exit|2|
chdir|0|exit|2|
directory removed|0|exit|2|
signal handler|0|exit|2|
_exit|0|no||
abort|134|no||
SIGKILL|137|no||
SIGTERM|143|no||
SIGINT|130|no||
SIGSEGV|139|no||
SIGALRM|142|no||
SIGXCPU|152|no||
exec|0|no||
daemon|0|no||
END
    [ "$count" -eq 24 ]
}

@test "what came after the file was written at exit is in it, too" {
    NETPROF_OUTPUT=r.netprof "$life" 'regions after exit'
    [ "$(kept r.netprof late)" = 2 ]
}

@test "a child of fork, and a daemon, leave files of their own where the name does not tell them apart" {
    NETPROF_OUTPUT=r.netprof "$life" fork
    [ "$(ls | sed 's/[0-9][0-9]*/N/')" = 'r-N.netprof
r.netprof' ]
    [ "$(kept r-*.netprof child)" = 3 ]
    "$life" read r-*.netprof | grep -qx 'fact forked=1'
    [ "$("$life" read r-*.netprof | sed -n 's/^fact parent_pid=//p')" = "$("$life" read r.netprof | sed -n 's/^fact pid=//p')" ]
    [ "$("$life" read r-*.netprof | sed -n 's/^fact parent_start=//p')" = "$("$life" read r.netprof | sed -n 's/^fact process_start=//p')" ]
    rm r*
    NETPROF_OUTPUT=r.netprof "$life" daemon
    wait_until 20 sh -c 'grep -qa daemon r-*.netprof'
}

@test "a file that cannot be written is said once, with path and reason, and NETPROF_QUIET is silent" {
    touch r.netprof # else it waits for its first file
    NETPROF_OUTPUT=/nowhere/%p.netprof "$life" exit never 2>err & # it works until it is killed
    wait_until 20 grep -q '^netprof: the regions of .*: No such file or directory (this is tried again)$' err
    kill $!
    wait $! || true
    [ "$(wc -l <err)" = 1 ]
    export NETPROF_FLUSH=0
    run env NETPROF_OUTPUT=/nowhere/%p.netprof "$life" exit r.netprof
    [ "$status" -eq 0 ]
    [[ $output =~ ^netprof:\ the\ regions\ of\ process\ [0-9]+\ could\ not\ be\ written:\ /nowhere/[0-9]+.netprof:\ No\ such\ file\ or\ directory$ ]]
    run env NETPROF_OUTPUT=/nowhere/%p.netprof NETPROF_RANK=3 "$life" exit r.netprof
    [[ $output == "netprof: the regions of rank 3, process "* ]]
    run env NETPROF_OUTPUT=/nowhere/%p.netprof NETPROF_QUIET=1 "$life" exit r.netprof
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run env NETPROF_OUTPUT=/dev/full "$life" exit r.netprof
    [[ $output == *": /dev/full: No space left on device" ]]
    [ "$(id -u)" -eq 0 ] || return 0
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    mkdir shut
    chmod 755 . shut
    cp "$life" shut/copy
    cd shut
    "${nobody[@]}" test -r copy || skip "nobody cannot come here"
    NETPROF_OUTPUT=x.netprof run "${nobody[@]}" ./copy exit ../r.netprof
    echo "$output"
    [[ $output == *"/shut/x.netprof: Permission denied" ]]
}

@test "nothing is said into what has taken the place of standard error, nor to a reader that went away" {
    touch r.netprof
    # a data base, open for reading and writing under the number of standard error: the regions began with another one
    cat >program.c <<'END'
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
int main(void)
{
    int fd;
    NETPROF_BEGIN("a");
    NETPROF_END("a");
    fd = open("data", O_RDWR | O_CREAT, 0666);
    dup2(fd, 2);
    return 0;
}
END
    cc -std=c99 -I "$NETPROF_TEST_TOP" program.c -o program -pthread
    NETPROF_OUTPUT=/nowhere/x ./program
    [ ! -s data ]
    run bash -c "NETPROF_OUTPUT=/nowhere/x '$life' exit r.netprof 2> >(exec true); echo \$?"
    [ "$output" = 0 ]
}

@test "a directory takes the file, a name lacks what is not known, an unknown code is said" {
    touch r.netprof
    NETPROF_OUTPUT=new/ "$life" exit r.netprof
    [ "$(ls new | sed "s/$(uname -n)/HOST/; s/[0-9][0-9]*/N/")" = netprof-HOST-N.netprof ]
    NETPROF_OUTPUT=new NETPROF_RANK=5 SLURM_JOB_ID=77 "$life" exit r.netprof
    [ "$(ls new | grep -c '^netprof-77-5-')" = 1 ]
    NETPROF_OUTPUT=x-%r.netprof "$life" exit r.netprof
    [ -e x.netprof ]
    run env NETPROF_OUTPUT=y%q.netprof NETPROF_VERBOSE=1 "$life" exit r.netprof
    [ "$output" = 'netprof: NETPROF_OUTPUT: %q is none of %j, %r, %h, %p and %%: it stays as it is' ]
    [ -e y%q.netprof ]
    for rank in 0 1 2; do
        NETPROF_OUTPUT=same.netprof PMI_RANK=$rank PMI_SIZE=3 "$life" exit r.netprof
    done
    [ "$(echo same*)" = 'same-0.netprof same-1.netprof same-2.netprof' ]
}

@test "a shared object with regions may be closed and loaded again, with its threads alive, before the main program's own" {
    cat >plug.c <<'END'
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
__attribute__((visibility("default"))) void plug_work(void);
void plug_work(void)
{
    NETPROF_SCOPE("plugin");
    NETPROF_BYTES(77);
}
END
    cat >host.c <<'END'
#ifdef OWN
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#else
#define NETPROF_BEGIN(name)
#define NETPROF_END(name)
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static void (*plug_work)(void);
static pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER, used = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *none)
{
    plug_work();
    pthread_mutex_unlock(&used);
    pthread_mutex_lock(&go);
    return none;
}
int main(void)
{
    pthread_t thread;
    int i;
    for (i = 0; i < 3; i++) {
        void *plugin = dlopen("./plug.so", RTLD_NOW | RTLD_LOCAL);
        if (!plugin) return 1;
        plug_work = (void (*)(void))(uintptr_t)dlsym(plugin, "plug_work");
        plug_work();
        if (!i) {
            pthread_mutex_lock(&go);
            pthread_mutex_lock(&used);
            pthread_create(&thread, NULL, worker, NULL);
            pthread_mutex_lock(&used);
        }
        dlclose(plugin);
        if (dlerror()) return 1;
        NETPROF_BEGIN("main");
        NETPROF_END("main");
    }
    pthread_mutex_unlock(&go);
    pthread_join(thread, NULL);
    return 0;
}
END
    cc -std=gnu99 -Wall -Wextra -Wpedantic -Werror -I "$NETPROF_TEST_TOP" -shared -fPIC plug.c -o plug.so -pthread
    for own in '' -DOWN; do
        for mode in time fast sampler; do
            rm -f r.netprof
            # shellcheck disable=SC2086 # nothing, or one word
            cc -std=gnu99 $own -I "$NETPROF_TEST_TOP" host.c -o host -pthread -ldl
            NETPROF=$mode NETPROF_OUTPUT=r.netprof timeout 60 ./host
            "$life" read r.netprof >file
            [ "$(sed -n 's/^plugin calls \([0-9]*\) .*/\1/p' file | awk '{ n += $1 } END { print n }')" = 4 ]
            [ -z "$own" ] || [ "$(kept r.netprof main)" = 3 ]
        done
    done
}

@test "static and position-independent programs need no library for it" {
    cat >program.c <<'END'
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
int main(void)
{
    NETPROF_BEGIN("a");
    NETPROF_END("a");
    return 0;
}
END
    for flags in -static '-static-pie -fPIE' '-fPIC -no-pie' '-fPIE -pie' '-fPIC -pie'; do
        echo "$flags"
        # shellcheck disable=SC2086
        cc -std=c99 -Werror $flags -I "$NETPROF_TEST_TOP" program.c -o program -pthread 2>err || { cat err; false; }
        [ ! -s err ]
        NETPROF_OUTPUT=r.netprof ./program
        [ "$(kept r.netprof a)" = 1 ]
        rm r.netprof
    done
}

@test "netprof regions says how each process ended, and calls no killed one complete" {
    while IFS='|' read -r kind said severity; do
        rm -rf place && mkdir place
        # A sanitizer would take signals of faults for itself.
        (cd place && ulimit -c 0 && export ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0:handle_abort=0 && NETPROF_OUTPUT=%p.netprof exec timeout 60 "$life" "$kind" ../there) >/dev/null 2>&1 &
        if [ "$severity" = watch ]; then # it ends once a file is there
            wait_until 30 sh -c 'ls place | grep -q netprof$'
        fi
        touch there
        wait $! || true
        netprof regions place >text
        echo "$kind"
        cat text
        grep -q "^$severity  *$said" text
        [ "$severity" = ok ] || refute grep -q complete text
        rm there
    done <<END
return|The 1 rank file is complete|ok
quick_exit|The 1 rank file is complete|ok
exit in a region|The 1 rank file is complete|ok
SIGKILL|The process did not end normally (it was killed, or ended by _exit() or exec), or still runs|watch
_exit|The process did not end normally|watch
exec|The process did not end normally|watch
END
}

@test "what is open at the end counts, and what a thread's end closed is said" {
    touch there
    NETPROF_OUTPUT=r.netprof "$life" 'exit in a region' there
    "$life" read r.netprof | grep -qx 'open calls 1 measured 1 open 1 aborted 0 time yes'
    netprof regions r.netprof | grep -q '^info  *open was still open on 1 rank when the file was written: its time is that up to then$'
    NETPROF_OUTPUT=t.netprof "$life" 'thread in a region' there
    netprof regions t.netprof | grep -q '^info  *1 call was ended from outside, by the end of a thread or of a region around: first in left open$'
}

@test "two runs in one directory are two runs, the newest last; children of fork are no ranks" {
    touch there
    "$life" exit there
    "$life" exit there
    netprof regions netprof-*.netprof >text
    [ "$(grep -c '^Run [12] of 2, which began ' text)" = 2 ]
    [ "$(grep -c '^ok  *The 1 rank file is complete' text)" = 2 ]
    refute grep -q uneven text
    [ "$(netprof regions . --json | jq '.runs | length')" = 2 ]
    netprof regions . --csv >csv 2>err
    grep -q 'the files are of 2 runs: only the newest is shown' err
    # given the same name of a run, and at the same time as far as anybody knows, they would be ranks
    rm netprof-*
    NETPROF_RUN=a PMI_RANK=0 PMI_SIZE=2 "$life" exit there &
    NETPROF_RUN=b PMI_RANK=1 PMI_SIZE=2 "$life" exit there
    wait
    [ "$(netprof regions . --json | jq '.runs | length')" = 2 ]
    rm netprof-*
    "$life" fork there
    netprof regions . >text
    grep -q ', 1 process and 1 child on 1 host' text
    grep -q '^info  *1 of the 2 processes was started by another one: it is not compared as a rank$' text
}

@test "samples over time suffice where the process was killed before it wrote its file" {
    NETPROF_FLUSH=0 NETPROF_SERIES=0.002 NETPROF_OUTPUT=k.netprof "$life" SIGKILL there &
    wait_until 30 test -s k.series.netprof
    wait_until 30 sh -c "netprof regions k.series.netprof 2>/dev/null | grep -q work"
    touch there
    wait $! || true
    [ ! -e k.netprof ]
    netprof regions k.series.netprof >text
    cat text
    grep -q '^work  *[1-9]' text
    grep -q 'only the samples over time are there' text
    grep -q '^watch  *The process did not end normally' text
    refute grep -q complete text
    netprof regions . >again # a directory
    diff text again
    # beside the file of its process it adds nothing
    NETPROF_SERIES=0.002 NETPROF_OUTPUT=full.netprof "$life" exit there
    [ "$(netprof regions full.netprof full.series.netprof --json | jq '.ranks | length')" = 1 ]
}

@test "why begins were not counted is said" {
    cat >program.c <<'END'
#define NETPROF_MAX_DEPTH 4
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
int main(void)
{
    int i;
    netprof_region_id id = netprof_region("a");
    for (i = 0; i < 6; i++)
        netprof_begin(id);
    for (i = 0; i < 6; i++)
        netprof_end(id);
    netprof__this_thread->ready = 0; /* as if a signal handler had interrupted a call */
    netprof_begin(id);
    netprof__this_thread->ready = netprof__this_thread->epoch;
    netprof_begin(0);
    return 0;
}
END
    cc -std=c99 -I "$NETPROF_TEST_TOP" program.c -o program -pthread
    NETPROF_OUTPUT=r.netprof ./program
    netprof regions r.netprof >text
    cat text
    grep -q '^watch  *4 begins could not be counted: 1 in a signal handler that interrupted another call of netprof, 2 too deep in other regions, 1 for want of memory, or with too many names$' text
}
