#!/usr/bin/env bats
# Names from outside: escape sequences, quotes, commas, newlines, bytes that are no UTF-8.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    esc=$'\033[31mred\033[0m'
    device=$'cxi0\033]0;title\007'
    make_nic tree "$device" "plain=1" "$esc=2" $'new\nline=3' 'qu"ote,comma=4' $'bad\xff\xfeutf8=5' $'right\u202eleft=6' \
        'back\slash=7' '<b>&amp;=8'
    printf '%s' $'nid\033[2J' >host
    mkdir -p tree/proc/sys/kernel
    cp host tree/proc/sys/kernel/hostname
}

# No control character but the line's end, no invalid UTF-8, no character that reorders.
clean() {
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$1"
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null
    refute grep -qP '\x{202e}' "$1"
}

@test "text never sends control characters" {
    netprof collect --root tree -o a.netprof 2>err
    netprof list --root tree --counters >list
    netprof list --root tree --devices >devices
    netprof collect -q --root tree -o b.netprof
    netprof diff a.netprof b.netprof >diff
    sed -i 's/^1@1700000000/9@1700000001/' "tree/sys/class/cxi/$device/device/telemetry/plain"
    printf '9@1700000001.000000000\n' >"tree/sys/class/cxi/$device/device/telemetry/$esc"
    netprof collect --root tree -o b.netprof
    netprof diff a.netprof b.netprof --all >all
    netprof run --root tree -- true 2>summary
    for file in err list devices diff all summary; do clean "$file"; done
    grep -qF '\x1b[31mred\x1b[0m' list
    grep -qF 'new\x0aline' list
    grep -qF 'bad\xff\xfeutf8' list
    grep -qF 'right\u{202e}left' list
    grep -qF '\x1b[31mred' all
}

@test "messages never send control characters" {
    netprof diff $'no\033[31msuch\nfile' x 2>err || [ $? -eq 3 ]
    netprof $'comm\033and' 2>>err || [ $? -eq 2 ]
    netprof list $'--opt\033ion' 2>>err || [ $? -eq 2 ]
    netprof run -- $'no\033such' 2>>err || [ $? -eq 127 ]
    netprof run -- sh -c 'exit 0' $'a\033b' 2>>err
    clean err
}

@test "JSON stays JSON" {
    netprof list --root tree --counters --json >list.json
    netprof collect --root tree -o a.json
    netprof collect -q --root tree -o b.json
    netprof diff --json a.json b.json --all >diff.json
    for file in list.json a.json diff.json; do
        jq empty "$file"
        iconv -f UTF-8 -t UTF-8 "$file" >/dev/null
    done
    [ "$(jq -r '.counters[] | select(.value == 2) | .counter' list.json)" = "$esc" ]
    [ "$(jq -r '.counters[] | select(.value == 3) | .counter' list.json)" = $'new\nline' ]
    [ "$(jq -r '.counters[] | select(.value == 4) | .counter' list.json)" = 'qu"ote,comma' ]
}

@test "CSV stays CSV" {
    command -v python3 >/dev/null || skip 'no python3'
    netprof list --root tree --counters --csv >list.csv
    netprof collect --root tree -o a.netprof
    netprof convert a.netprof a.csv
    netprof collect -q --root tree -o b.netprof
    netprof diff --csv --all a.netprof b.netprof >diff.csv
    python3 - <<'END'
import csv
for name in ("list.csv", "a.csv", "diff.csv"):
    rows = list(csv.reader(open(name, newline="", encoding="utf-8", errors="surrogateescape")))
    assert len({len(row) for row in rows}) == 1, name
    text = [cell for row in rows for cell in row]
    assert 'qu"ote,comma' in text and "new\nline" in text, name
END
}

@test "without UTF-8 nothing beyond ASCII is sent" {
    make_nic tree cxi1 $'caf\u00e9=1'
    LC_ALL=C netprof list --root tree --counters >out
    refute env LC_ALL=C grep -qP '[\x80-\xff]' out
    grep -qF 'caf\u{e9}' out
    netprof list --root tree --counters >out
    grep -q 'café' out
}

@test "colour only on a terminal, and not with NO_COLOR" {
    command -v script >/dev/null || skip 'no script(1)'
    make_nic fine cxi0 plain=1
    netprof list --root fine >out
    refute grep -q $'\033' out
    TERM=xterm script -qec 'netprof list --root fine' /dev/null >out </dev/null
    grep -q $'\033\[' out
    NO_COLOR=1 TERM=xterm script -qec 'netprof list --root fine' /dev/null >out </dev/null
    refute grep -q $'\033\[' out
    TERM=dumb script -qec 'netprof list --root fine' /dev/null >out </dev/null
    refute grep -q $'\033\[' out
}

@test "CSV: no command writes a cell that a spreadsheet would run" {
    # a name each for what begins a formula, and what needs quotes
    make_nic sheet cxi0 =1+1=5 +1+1=5 -x=5 @x=5 $'\tx=5' 'a"b,c=5' $'end\nof line=5'
    netprof collect -q --root sheet -o x.netprof
    netprof list --root sheet --counters --csv >list.csv
    netprof collect -q --root sheet -o y.netprof
    netprof diff x.netprof y.netprof --all --csv >diff.csv
    netprof convert x.netprof convert.csv
    netprof export x.netprof --to csv --table counter_values -o export.csv
    cat >regions.c <<'END'
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
int main(void)
{
    NETPROF_BEGIN("=1+1");
    NETPROF_END("=1+1");
    NETPROF_BEGIN("+1+1");
    NETPROF_END("+1+1");
    NETPROF_BEGIN("-x");
    NETPROF_END("-x");
    NETPROF_BEGIN("@x");
    NETPROF_END("@x");
    NETPROF_BEGIN("\tx");
    NETPROF_END("\tx");
    NETPROF_BEGIN("a\"b,c");
    NETPROF_END("a\"b,c");
    NETPROF_BEGIN("end\nof line");
    NETPROF_END("end\nof line");
    return 0;
}
END
    cc -std=gnu11 -O0 -pthread -I "$NETPROF_TEST_TOP" regions.c -o regions
    NETPROF_OUTPUT=ranks ./regions
    netprof regions ranks --csv --min-share 0 >regions.csv
    mkdir logs
    local id=0
    for name in '=1+1' '+1+1' '-x' '@x' '\tx' 'a\"b,c' 'end\nof line'; do
        id=$((id + 1))
        for sn in 0 1 2 3; do
            printf '{"header":{"id":"0x%d","comm_name":"%s","rank":0,"n_ranks":1,"nnodes":1},' "$id" "$name"
            printf '"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":174949000000000%d,' "$sn"
            printf '"hostname":"h1","pid":%d},"coll_perf":{"coll":"AllReduce","coll_sn":%d,' "$id" "$sn"
            printf '"coll_msg_size_bytes":1000,"coll_exec_time_us":100,"coll_timing_source":"kernel_gpu",'
            printf '"coll_algobw_gbs":0.01,"coll_busbw_gbs":0.01}}\n'
        done >>"logs/h1-pid$id.log"
    done
    netprof nccl logs -o nccl >/dev/null
    cat nccl/*.csv >nccl.csv
    python3 - <<'END'
import csv, re
for name in "list diff convert export regions nccl".split():
    rows = list(csv.reader(open(name + ".csv", newline="", encoding="utf-8"), strict=True))
    cells = {cell for row in rows for cell in row}
    for cell in cells:
        assert not re.match(r"[=+@\t\r-]", cell) or re.fullmatch(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", cell), (name, cell)
    for text in "=1+1", "+1+1", "-x", "@x":
        assert any(cell.startswith("'" + text) for cell in cells), (name, text)
    assert any('a"b,c' in cell for cell in cells), name
END
}
