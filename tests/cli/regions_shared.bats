#!/usr/bin/env bats
# Several copies of the header in one process keep one set of regions, or refuse.
bats_require_minimum_version 1.5.0

setup() {
    NETPROF_TEST_TOP=${NETPROF_TEST_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
    cd "$BATS_TEST_TMPDIR" || return
    export NETPROF_OUTPUT="$PWD/%p.netprof"
    cflags=(-std=c99 -O0 -Wall -Wextra -Werror -pthread -I "$NETPROF_TEST_TOP")
    # A unit of the name NAME with a function NAME_step(): region "outer" around what it is given, and "NAME".
    cat >unit.c <<'END'
#ifndef BORROWED
#define NETPROF_IMPLEMENTATION
#endif
#include "netprof.h"
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)
__attribute__((visibility("default"))) void JOIN(NAME, _step)(void (*inner)(void));
void JOIN(NAME, _step)(void (*inner)(void))
{
    NETPROF_BEGIN("shared name");
    NETPROF_BEGIN(TEXT(NAME));
    if (inner)
        inner();
    NETPROF_BYTES(1);
    NETPROF_END(TEXT(NAME));
    NETPROF_END("shared name");
}
END
    # Calls both, one within the other and alone, and prints what its own copy knows: region, calls, depth.
    cat >main.c <<'END'
#ifndef BORROWED
#define NETPROF_IMPLEMENTATION
#endif
#include "netprof.h"
#include <dlfcn.h>
#include <stdio.h>
typedef void step(void (*inner)(void));
#ifndef LOADED
step one_step, two_step;
#else
static step *one_step, *two_step;
static step *load(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    return (step *)(uintptr_t)dlsym(library, name);
}
#endif
static void nothing(void) {}
static void call_two(void) { two_step(nothing); }
static int depth(const netprof_regions *r, const netprof_stat *s)
{
    size_t i;
    if (s->parent == UINT32_MAX)
        return 0;
    for (i = 0; i < r->count; i++)
        if (r->stats[i].node == s->parent)
            return 1 + depth(r, &r->stats[i]);
    return -1;
}
int main(void)
{
    netprof_regions r;
    size_t i;
#ifdef LOADED
    one_step = load("./libone.so", "one_step");
    two_step = load("./libtwo.so", "two_step");
#endif
    NETPROF_BEGIN("main");
    one_step(call_two);
    two_step(nothing);
    NETPROF_END("main");
    if (netprof_regions_take(&r, NULL) != NETPROF_OK)
        return 1;
    for (i = 0; i < r.count; i++)
        printf("%d %s %d %d\n", depth(&r, &r.stats[i]), r.stats[i].region, (int)r.stats[i].calls,
               (int)r.stats[i].bytes);
    netprof_regions_free(&r);
    return 0;
}
END
    one_tree='0 main 1 0
1 shared name 2 0
2 one 1 1
2 two 1 1
3 shared name 1 0
4 two 1 1'
}

# compiled SOURCE OBJECT FLAGS…: each combination once, for all tests.
compiled() {
    local kept="$BATS_FILE_TMPDIR/${compiler-cc} $*"
    [ -e "$kept" ] || "${compiler-cc}" "${cflags[@]}" "${@:3}" -c "$1" -o "$kept"
    cp "$kept" "$2"
}

# Unit $1 into an object, with the flags that follow.
unit() { compiled unit.c "$1.o" "-DNAME=$1" "${@:2}"; }

library() {
    unit "$@" -fPIC
    cc -shared -pthread "$1.o" -o "lib$1.so"
}

# program [-DMACRO…] OBJECTS AND LIBRARIES…
program() {
    local macros=()
    while [[ $1 == -D* ]]; do
        macros+=("$1")
        shift
        (($#)) || break
    done
    compiled main.c main.o "${macros[@]}" -fPIE # clang 11 does not by itself
    cc -pthread main.o "$@" -Wl,-rpath,"$PWD" -L. -ldl -o program
}

# One process, one tree, one file.
expect_one_set() {
    run --separate-stderr ./program
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = "$one_tree" ]
    [ "$(ls ./*.netprof | wc -l)" -eq 1 ]
}

@test "two shared objects and a program that each hold the implementation" {
    library one
    library two
    program -lone -ltwo
    expect_one_set
}

@test "the same with clang's objects" {
    command -v clang >/dev/null || skip "clang is not installed"
    compiler=clang
    library one
    library two
    program -lone -ltwo
    expect_one_set
}

@test "two shared objects that a program without the implementation uses" {
    library one
    library two
    program -DBORROWED -lone -ltwo
    expect_one_set
}

@test "hidden symbols: a copy in each of the three" {
    library one -fvisibility=hidden
    library two -fvisibility=hidden
    program -lone -ltwo
    [ "$(nm -D --defined-only libone.so | grep -c ' netprof')" -eq 0 ]
    expect_one_set
}

@test "loaded with RTLD_LOCAL" {
    library one
    library two
    program -DLOADED
    expect_one_set
}

@test "loaded with RTLD_LOCAL, hidden symbols" {
    library one -fvisibility=hidden
    library two -fvisibility=hidden
    program -DLOADED
    expect_one_set
}

@test "NETPROF_STATIC in three units" {
    unit one -DNETPROF_STATIC
    unit two -DNETPROF_STATIC
    program -DNETPROF_STATIC one.o two.o
    expect_one_set
}

@test "a static library with its own copy, and a shared object with another" {
    unit one -DNETPROF_STATIC
    ar rcs libone.a one.o
    library two
    program -lone -ltwo
    expect_one_set
}

@test "a static library's copy used by the program" {
    unit one
    unit two -DBORROWED
    ar rcs libsteps.a one.o two.o
    program -DBORROWED -lsteps
    expect_one_set
}

@test "all at once: two units, two shared objects and a static library, each with the header" {
    library one -fvisibility=hidden
    library two
    sed 's/NAME/three/g' unit.c >three.c
    sed 's/NAME/four/g' unit.c >four.c
    cc "${cflags[@]}" -DNETPROF_STATIC -c three.c -o three.o
    ar rcs libthree.a three.o
    cc "${cflags[@]}" -DNETPROF_STATIC -c four.c -o four.o
    sed -e 's/^int main(void)/void three_step(void (*inner)(void));\nvoid four_step(void (*inner)(void));\n&/' \
        -e 's/^    two_step(nothing);/&\n    three_step(call_two);\n    four_step(nothing);/' main.c >all.c
    cc "${cflags[@]}" all.c four.o -L. -lthree -Wl,-rpath,"$PWD" -lone -ltwo -ldl -o program
    run --separate-stderr ./program
    [ "$status" -eq 0 ]
    [ "$(sort <<<"$output")" = '0 main 1 0
1 shared name 4 0
2 four 1 1
2 one 1 1
2 three 1 1
2 two 1 1
3 shared name 1 0
3 shared name 1 0
4 two 1 1
4 two 1 1' ]
    [ "$(ls ./*.netprof | wc -l)" -eq 1 ]
}

@test "two units that both define the implementation do not link" {
    unit one
    unit two
    run ! program -DBORROWED one.o two.o
    [[ $output == *'multiple definition'* ]]
}

@test "a copy of another version is off, and says so when asked" {
    library one -fvisibility=hidden
    mkdir other
    sed 's/define NETPROF_VERSION_STRING .*/define NETPROF_VERSION_STRING "9.9.9"/' "$NETPROF_TEST_TOP/netprof.h" \
        >other/netprof.h
    cc -std=c99 -O0 -pthread -fPIC -I other -DNAME=two -fvisibility=hidden -c unit.c -o two.o
    cc -shared -pthread two.o -o libtwo.so
    program -lone -ltwo
    NETPROF_VERBOSE=1 run --separate-stderr ./program
    [ "$status" -eq 0 ]
    [ "$stderr" = 'netprof: netprof 0.1.0 in the same process has the regions: none here' ]
    [ "$(sort <<<"$output")" = '0 main 1 0
1 shared name 1 0
2 one 1 1' ]
    [ "$(ls ./*.netprof | wc -l)" -eq 1 ]
}

@test "a child of a process with several copies has one set, too" {
    library one -fvisibility=hidden
    library two -fvisibility=hidden
    cat >child.c <<'END'
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <sys/wait.h>
typedef void step(void (*inner)(void));
step one_step, two_step;
int main(void)
{
    int status = 1;
    one_step(NULL);
    two_step(NULL);
    if (fork() == 0) {
        two_step(NULL);
        exit(0);
    }
    wait(&status);
    return status;
}
END
    cc "${cflags[@]}" child.c -Wl,-rpath,"$PWD" -L. -lone -ltwo -o child
    run ./child
    [ "$status" -eq 0 ]
    [ "$(ls ./*.netprof | wc -l)" -eq 2 ]
}
