#!/usr/bin/env bats
# The house keeps its law, and check_house sees it broken: each way of breaking it is tried on a small tree.

setup() {
    check=$NETPROF_TEST_TOP/tests/house/check_house
    top=$BATS_TEST_TMPDIR/tree
    mkdir -p "$top"/report/analysis/{base,data,job,regions} "$top"/tools/{cli,commands} "$top/build"
    printf '#ifndef N\n#define N\n#endif\n' >"$top/netprof.h"
    source_file report/analysis/base/text '' 'int text_length(void)' 'return 1;'
    source_file report/analysis/data/series '#include "analysis/base/text.h"' 'int series_length(void)' 'return text_length();'
    source_file report/analysis/job/job '#include "analysis/data/series.h"' 'int job_length(void)' 'return series_length();'
    source_file tools/commands/cmd_job '#include "analysis/job/job.h"' 'int cmd_job(void)' 'return job_length();'
}

# source_file PATH INCLUDE DECLARATION BODY: writes PATH.h and PATH.c
source_file() {
    printf '%s;\n' "$3" >"$top/$1.h"
    printf '#include "%s.h"\n%s\n\n%s\n{\n    %s\n}\n' "${1##*/}" "$2" "$3" "$4" >"$top/$1.c"
}

# Compiles the tree as CMake does, with its list of commands.
build() {
    local c separator='['
    for c in $(cd "$top" && find report tools -name '*.c'); do
        cc -I"$BATS_TEST_TMPDIR/library" -I"$top" -I"$top/report" -I"$top/tools" -c "$top/$c" -o "$top/build/${c//\//_}.o"
        printf '%s{"directory":"%s","command":"cc -c %s -o %s.o","file":"%s"}\n' "$separator" "$top/build" "$c" \
            "${c//\//_}" "$top/$c"
        separator=,
    done >"$top/build/compile_commands.json"
    printf ']\n' >>"$top/build/compile_commands.json"
}

broken() {
    build
    run "$check" "$top" "$top/build"
    printf '%s\n' "$output"
    [ "$status" -eq 1 ]
}

@test "this house: no arrow up, no circle, nothing too long, no name twice" {
    run "$check" "$NETPROF_TEST_TOP" "$NETPROF_TEST_BUILD"
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} =~ ^[0-9]+\ files,\ [0-9]+\ objects:\ 0\ arrows\ up,\ 0\ circles,\ 0\ other\ faults$ ]]
}

@test "a tree that keeps the law" {
    build
    run "$check" "$top" "$top/build"
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
}

@test "an include that goes up is named" {
    sed -i '1i #include "analysis/job/job.h"' "$top/report/analysis/base/text.c"
    broken
    [[ $output == *'report/analysis/base/text.c: includes report/analysis/job/job.h: report/analysis/base must not use report/analysis/job'* ]]
}

@test "a call that goes up without an include is named, with its symbol" {
    sed -i 's/return 1;/extern int cmd_job(void); return cmd_job();/' "$top/report/analysis/base/text.c"
    broken
    [[ $output == *'report/analysis/base/text.c: calls tools/commands/cmd_job.c (cmd_job): report/analysis/base must not use tools/commands'* ]]
}

@test "a circle inside a room is named, with its arrows" {
    source_file report/analysis/job/job_part '#include "analysis/job/job.h"' 'int job_part(void)' 'return job_length();'
    sed -i 's/return series_length();/extern int job_part(void); return job_part() + series_length();/' "$top/report/analysis/job/job.c"
    broken
    [[ $output == *'circle by symbols: report/analysis/job/job, report/analysis/job/job_part'* ]]
    [[ $output == *'job -> job_part'* && $output == *'job_part -> job'* ]]
}

@test "a circle of includes is named" {
    printf '#include "job_other.h"\n' >>"$top/report/analysis/job/job.h"
    printf '#ifndef O\n#define O\n#include "job.h"\n#endif\n' >"$top/report/analysis/job/job_other.h"
    sed -i '1i #ifndef J\n#define J' "$top/report/analysis/job/job.h"
    printf '#endif\n' >>"$top/report/analysis/job/job.h"
    broken
    [[ $output == *'circle by include: report/analysis/job/job, report/analysis/job/job_other'* ]]
}

@test "a library in the wrong room, a file without a room" {
    mkdir -p "$top/report/attic"
    printf 'int attic;\n' >"$top/report/attic/attic.c"
    sed -i '1i #include <cairo.h>' "$top/tools/commands/cmd_job.h"
    mkdir "$BATS_TEST_TMPDIR/library"
    printf '#define CAIRO\n' >"$BATS_TEST_TMPDIR/library/cairo.h"
    broken
    [[ $output == *'tools/commands/cmd_job.h: includes <cairo.h>, which only report/render may'* ]]
    [[ $output == *'report/attic/attic.c: belongs to no room'* ]]
}

@test "a long file, a full folder, a long function, a name twice" {
    local i
    for i in {1..801}; do printf '// %d\n' "$i"; done >>"$top/report/analysis/data/series.c"
    for i in {1..21}; do printf 'int cli_%d;\n' "$i" >"$top/tools/cli/cli_$i.c"; done
    { printf '\nint series_long(void)\n{\n    int n = 0;\n'; for i in {1..60}; do printf '    n++;\n'; done; printf '    return n;\n}\n'; } \
        >>"$top/report/analysis/job/job.c"
    printf '\nstatic int same(void)\n{\n    return 1;\n}\nint a_%s = sizeof same;\n' job >>"$top/report/analysis/job/job.c"
    printf '\nstatic int same(void)\n{\n    return 1;\n}\nint a_%s = sizeof same;\n' text >>"$top/report/analysis/base/text.c"
    sed -i 's/sizeof same/sizeof(same())/' "$top/report/analysis/job/job.c" "$top/report/analysis/base/text.c"
    broken
    [[ $output == *'report/analysis/data/series.c: 808 lines, more than 800'* ]]
    [[ $output == *'tools/cli/: 21 .c files, more than 20'* ]]
    [[ $output == *'series_long() has 65 lines, more than 60'* ]]
    [[ $output == *'same() is defined in 2 files: report/analysis/base/text.c:'*'report/analysis/job/job.c:'* ]]
}

@test "without a build nothing is said to be well" {
    run "$check" "$top" "$top/build"
    [ "$status" -eq 2 ]
    printf '[]\n' >"$top/build/compile_commands.json"
    run "$check" "$top" "$top/build"
    [ "$status" -eq 2 ]
    [[ $output == *'nothing was checked'* ]]
}

@test "a pointer into what a function returned, kept longer than the statement, is named" {
    cat >>"$top/report/analysis/job/job.c" <<'END'
typedef struct words_text {
    char text[80];
} words_text;
words_text words_share(int x), words_count(int x), words_name(int x), words_time(int x);
int text_use(const char *one, const char *other);

const char *job_text(int x)
{
    const char *kept = x ? words_share(x).text : "-";
    const char *cells[] = {words_count(x).text, "x = words_time(x).text;"}; // y = words_time(x).text;
    const words_text good = words_time(x);
    if (text_use(words_time(x).text, kept) && words_time(x).text[0]) return words_name(x).text;
    return text_use(good.text, cells[0]) ? kept : (const char *)0;
}
END
    broken
    [[ $output == *'report/analysis/job/job.c:16: keeps a pointer into what words_share() returned'* ]]
    [[ $output == *'job.c:17: keeps a pointer into what words_count()'* ]]
    [[ $output == *'job.c:19: keeps a pointer into what words_name()'* ]]
    [[ $output != *'words_time()'* ]]
}

@test "every test that starts threads runs under the thread sanitizer" {
    local threaded source name
    command -v jq >/dev/null || skip 'no jq'
    threaded=$(cd "$NETPROF_TEST_BUILD" && ctest --show-only=json-v1 |
        jq -r '.tests[] | select(.properties[]? | select(.name == "LABELS") | .value | index("threads")) | .name')
    [ -n "$threaded" ]
    for source in $(grep -lE 'pthread_create|thrd_create' "$NETPROF_TEST_TOP"/tests/unit/*/test_*.c "$NETPROF_TEST_TOP"/tests/e2e/test_*.c); do
        name=${source##*/test_}
        printf '%s\n' "$name"
        grep -qE "^(unit|e2e)\.${name%.c}$" <<<"$threaded"
    done
}

@test "the picture in CONTRIBUTING is drawn from the rooms, and shows each of them" {
    "$check" --picture >"$BATS_TEST_TMPDIR/house.svg"
    cmp "$BATS_TEST_TMPDIR/house.svg" "$NETPROF_TEST_TOP/.github/house.svg"
    local room
    for room in $(cd "$NETPROF_TEST_TOP" && ls -d report/analysis/*/ report/render/*/ tools/*/); do
        [ -n "$(find "$NETPROF_TEST_TOP/$room" -name '*.c' -print -quit)" ] || continue
        room=${room%/}
        grep -q ">${room#report/analysis/}<\|>$room<\|>${room#report/}<" "$NETPROF_TEST_TOP/.github/house.svg"
    done
}

@test "what CONTRIBUTING names is there" {
    local path found=0
    while read -r path; do
        [[ $path == *[XN*]* || $path == *SOURCE* || $path == *...* ]] && continue # stands for a name of yours
        found=$((found + 1))
        printf '%s\n' "$path"
        [ -e "$NETPROF_TEST_TOP/$path" ]
    done < <(grep -ohE '`(report|tools|tests|samples|\.github)/[^` ]*' "$NETPROF_TEST_TOP"/.github/*.md | tr -d '`' | sort -u)
    [ "$found" -gt 15 ]
    for path in $(grep -ohE '\]\([^)]*\)' "$NETPROF_TEST_TOP"/.github/*.md | tr -d '()]'); do
        [ -e "$NETPROF_TEST_TOP/.github/$path" ]
    done
}
