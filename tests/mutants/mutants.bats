#!/usr/bin/env bats
# tests/mutate tells what is killed from what survives, on a tree of three functions: one that is tested, one that is only
# called, one that is not.

bats_require_minimum_version 1.5.0

setup() {
    # Faults run shielded, which root does by a mount namespace.
    [ "$(id -u)" != 0 ] || unshare --mount true || skip "unshare --mount does not work here: is / no mount point (chroot)?"
    tree=$BATS_TEST_TMPDIR/tree
    mkdir "$tree"
    write_function called 'a > b'
    write_function never 'a > b'
    # One line has one fault of a seed at most.
    cat >"$tree/tested.c" <<'EOF'
int tested(int a, int b);
int tested(int a, int b)
{
    int larger = a > b;
    return larger != 0;
}
EOF
    cat >"$tree/main.c" <<'EOF'
int tested(int a, int b);
int called(int a, int b);

int main(void)
{
    called(1, 1);
    return tested(1, 1) || !tested(2, 1) || tested(1, 2);
}
EOF
    cd "$BATS_TEST_TMPDIR" || exit
}

write_function() {
    printf 'int %s(int a, int b);\nint %s(int a, int b)\n{\n    return %s;\n}\n' "$1" "$1" "$2" >"$tree/$1.c"
}

# shellcheck disable=SC2016 # the build's shell is to see $MUTANT_OBJECT
mutate() {
    "$NETPROF_TEST_TOP/tests/mutate" --top "$tree" --build 'cc -o t ./*.c "$MUTANT_OBJECT"' --test 'all=./t' --slack 5 "$@"
}

@test "what is tested is killed; what is only called, or never, survives, with its place and change" {
    find tree -type f -exec cksum {} + | sort >before
    run mutate --of tested.c:2 --of called.c:1 --of never.c:1
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'tested.c                       2 of   2 killed  100 %'* ]]
    [[ $output == *'called.c                       0 of   1 killed  0 %'* ]]
    [[ $output == *'together                       2 of   4 killed  50 %'* ]]
    [[ $output == *'2 survived:'* ]]
    [[ $output == *'called.c:4  [comparison]  met by 1 test'* ]]
    [[ $output == *'never.c:4  [comparison]  met by no test'* ]]
    grep -Fx '          return a > b;' <<<"$output"
    grep -E '^        > return a (<|>=) b;$' <<<"$output"
    # The tree itself is as it was.
    find tree -type f -exec cksum {} + | sort | cmp - before
}

@test "what no compiler should let through is no fault: pointers of another type" {
    cat >"$tree/called.c" <<'EOF'
struct a;
struct b;
int other(struct a *a, struct b *b);
int called(int a, int b);
int called(int a, int b)
{
    return other((struct a *)0, (struct b *)0) + a;
}
EOF
    run mutate --of called.c:9 --list
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'called.c:7'* ]]
    [[ $output != *'other((struct b *)0, (struct a *)0)'* ]]
}

@test "of a cmocka program those cases run that meet a fault; one that fails alone is no proof" {
    cat >"$tree/main.c" <<'EOF'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
int tested(int a, int b);
int called(int a, int b);
int never(int a, int b);
static int ready;

static void note(const char *name)
{
    FILE *f = fopen(getenv("CASES_RUN"), "a");
    const char *alive = getenv("MUTANT_ALIVE");
    fprintf(f, "%s %s\n", alive ? alive : "none", name);
    fclose(f);
}
static void test_tested(void **state)
{
    (void)state;
    note("test_tested");
    ready = 1;
    assert_int_equal(tested(2, 1), 1);
    assert_int_equal(tested(1, 1), 0);
    assert_int_equal(tested(1, 2), 0);
}
static void test_called(void **state)
{
    (void)state;
    note("test_called");
    called(1, 1);
}
static void test_after(void **state)
{
    (void)state;
    note("test_after");
    assert_true(ready);
    never(1, 1);
}
int main(void)
{
    const struct CMUnitTest first[] = {cmocka_unit_test(test_tested), cmocka_unit_test(test_called)};
    const struct CMUnitTest second[] = {cmocka_unit_test(test_after)};
    return cmocka_run_group_tests(first, NULL, NULL) + cmocka_run_group_tests(second, NULL, NULL);
}
EOF
    export CASES_RUN=$BATS_TEST_TMPDIR/ran
    # shellcheck disable=SC2016 # the build's shell is to see $MUTANT_OBJECT
    run "$NETPROF_TEST_TOP/tests/mutate" --top "$tree" --build 'cc -o t ./*.c "$MUTANT_OBJECT" -lcmocka' --test 'all=./t' \
        --of tested.c:1 --of called.c:1 --of never.c:1 --jobs 1
    printf '%s\n' "$output"
    cat "$CASES_RUN"
    [ "$status" -eq 0 ]
    [[ $output == *'trying 3 with 3 cases'* ]]
    [[ $output == *'   0 killed   all: test_tested  tested.c:'* ]]
    [[ $output == *'called.c:4  [comparison]  met by 1 test'$'\n'* ]]
    [[ $output == *'never.c:4  [comparison]  met by 1 test, 1 of which fail alone'* ]]
    # All once; then each fault its own, twice where it failed, with one run without a fault to see whether that is the cause.
    printf '%s\n' 'none test_tested' 'none test_called' 'none test_after' '0 test_tested' 'none test_tested' '0 test_tested' \
        '1 test_called' '2 test_after' 'none test_after' | diff - "$CASES_RUN"
}

@test "a fault that lasts for ever is killed" {
    cat >"$tree/tested.c" <<'EOF'
int tested(int a, int b);
int tested(int a, int b)
{
    volatile unsigned long i = 1000;
    while (i)
        i -= 1;
    return a > b;
}
EOF
    # Without its only statement the loop does not end.
    run mutate --of tested.c:30 --work work
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'all (hangs)'* ]]
}

@test "a seed gives the same faults again, another one others; survivors can be tried alone" {
    for i in 1 2 3 4 5 6; do write_function "f$i" "a + $i > b * 3 && a != $i"; done
    mutate --seed 5 --of 'f*.c:6' --list >one
    mutate --seed 5 --of 'f*.c:6' --list >two
    mutate --seed 6 --of 'f*.c:6' --list >three
    [ "$(grep -c 'seed 5' one)" -eq 6 ]
    cmp one two
    refute_same one three
    mutate --of tested.c:2 --of called.c:1 --work work >first
    mutate --of tested.c:2 --of called.c:1 --work work --survivors >second
    grep -E '^trying 3 ' first
    grep -E '^trying 1 ' second
    diff <(sed -n '/^seed/,/survived/p' first) <(sed -n '/^seed/,/survived/p' second)
}

@test "what has not changed keeps its date, and is not built again" {
    mutate --of tested.c:2 --of called.c:1 --work work >first
    (cd work/tree && find . -name '*.c' -printf '%p %T@\n' | sort) >before
    grep -q NETPROF_MUTANT work/tree/tested.c
    mutate --of tested.c:2 --of called.c:1 --work work --survivors >second
    (cd work/tree && find . -name '*.c' -printf '%p %T@\n' | sort) >after
    diff before after
    echo '// another line' >>"$tree/tested.c"
    mutate --of tested.c:2 --of called.c:1 --work work --survivors >third
    (cd work/tree && find . -name '*.c' -printf '%p %T@\n' | sort) >changed
    run diff after changed
    [ "${#lines[@]}" -eq 4 ]
    [[ $output == *tested.c* && $output != *called.c* ]]
}

# The build of netprof makes tables for #include, and the libraries before them come first.
@test "faults are built in where the build has made something of the sources without them, the second time as well" {
    mkdir made
    cp tree/tested.c tree/main.c made
    cat >made/table.c <<'EOF'
int called(int a, int b);
int called(int a, int b)
{
    static const int table[] = {
#include "table.inc"
    };
    return table[0] + a + b;
}
EOF
    echo '1,' >made/table.csv
    cat >made/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(made C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
add_library(tested STATIC tested.c)
add_custom_command(OUTPUT table.inc DEPENDS ${CMAKE_SOURCE_DIR}/table.csv
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/table.csv table.inc)
add_library(table STATIC table.c ${CMAKE_BINARY_DIR}/table.inc)
target_include_directories(table PRIVATE ${CMAKE_BINARY_DIR})
target_link_libraries(table tested)
add_executable(t main.c)
target_link_libraries(t table)
add_test(NAME unit.all COMMAND t)
EOF
    faults=(--top made --work work --commands --of tested.c:2 --slack 5)
    "$NETPROF_TEST_TOP/tests/mutate" "${faults[@]}" --list >list
    [ ! -e work/build/libtested.a ]
    for i in first second; do
        run "$NETPROF_TEST_TOP/tests/mutate" "${faults[@]}"
        printf '%s\n' "$output"
        [ "$status" -eq 0 ]
        [[ $output == *'2 of   2 killed  100 %'* ]]
    done
}

refute_same() {
    if cmp -s "$1" "$2"; then return 1; fi
}

@test "what changes nothing that could be seen is listed by hand, with the reason, and counts neither way" {
    mkdir -p tree/tests/mutants
    for new in '<' '>='; do
        printf 'called.c\treturn a > b;\treturn a %s b;\tnobody looks\n' "$new" >>tree/tests/mutants/equivalent.tsv
    done
    run mutate --of tested.c:2 --of called.c:1
    printf '%s\n' "$output"
    [[ $output == *'called.c                       0 of   0 killed  none tried  (1 equivalent)'* ]]
    [[ $output == *'together                       2 of   2 killed  100 %'* ]]
    [[ $output == *'0 survived'* ]]
}

@test "a test that fails without any fault kills none; wrong usage is said" {
    printf 'int main(void) { return 1; }\n' >tree/main.c
    run mutate --of tested.c:1
    printf '%s\n' "$output"
    [ "$status" -eq 1 ]
    [[ $output == *'FAILS WITHOUT A FAULT, and is left out: all'* ]]
    [[ $output == *'0 of   1 killed'* ]]
    run mutate --of tested.c
    [ "$status" -eq 2 ]
}

@test "lines that equivalent.tsv names are in the tree" {
    while IFS=$'\t' read -r file before after reason; do
        [[ $file != \#* && $file ]] || continue
        [ -n "$after" ] && [ -n "$reason" ]
        grep -qF -- "$before" "$NETPROF_TEST_TOP/$file" || echo "$file: not there any more: $before"
    done <"$NETPROF_TEST_TOP/tests/mutants/equivalent.tsv" >gone
    cat gone
    [ ! -s gone ]
}

@test "what nobody could see is no fault: the smaller of equals, leaving what ends anyway" {
    cat >c.c <<'EOF'
void f(int a, int b)
{
    a = a < b ? a : b;
    if (a > b) a = b;
    a = a < b ? b : 3;
    if (a >= b) a = b + 1;
    for (;;) {
        if (a <= b && b < a ? b : a) a = 7;
        switch (a) {
        case 1: b = 1; break;
        default: b = 2; break;
        }
        if (b) {
            b = 3;
            continue;
        }
        continue;
    }
    if (a) {
        b = 4;
        return;
    }
    return;
}
EOF
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$NETPROF_TEST_TOP/tests/mutants run python3 -c '
import sites
for s in sites.sites_of("c.c", open("c.c").read()):
    print(s.line, s.kind, s.after)'
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ $output != *'a <= b ? a : b'* && $output == *'3 comparison a = a > b ? a : b;'* ]]
    [[ $output != *'if (a >= b) a = b;'* && $output == *'4 comparison if (a < b) a = b;'* ]]
    [[ $output == *'5 comparison a = a <= b ? b : 3;'* ]]
    [[ $output == *'6 comparison if (a > b) a = b + 1;'* ]]
    [[ $output == *'8 comparison if (a <= b && b <= a ? b : a) a = 7;'* ]]
    [[ $output == *'10 statement case 1: b = 1;'$'\n'* && $output != *'11 statement default: b = 2;'$'\n'* ]]
    [[ $output == *'15 statement (removed)'* && $output != *'17 statement'* ]]
    [[ $output == *'21 statement (removed)'* && $output != *'23 statement'* ]]
}

@test "what nobody could see is no fault: exchanged arguments of an equality, more memory than is needed" {
    cat >c.c <<'EOF'
int f(const char *a, const char *b)
{
    char *p = calloc(a, b);
    if (strcmp(a, b) == 0) return fmin(p, a);
    return strcmp(a, b) < 0;
}
EOF
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$NETPROF_TEST_TOP/tests/mutants run python3 -c '
import sites
for s in sites.sites_of("c.c", open("c.c").read()):
    print(s.line, s.kind, s.after)'
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'5 argument return strcmp(b, a) < 0;'* ]]
    [[ $output != *'calloc(b, a)'* ]] # the product is the same
    [[ $output != *'calloc(a + 1'* && $output != *'calloc(a, b + 1'* ]]
    [[ $output != *'strcmp(b, a) =='* && $output != *'fmin(a, p)'* ]]
    [[ $output == *'4 argument if (strcmp(a + 1, b) == 0) return fmin(p, a);'* ]]
}
