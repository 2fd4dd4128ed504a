#!/usr/bin/env bats
# As on Linux 3.10: tests/cli/old_kernel answers ENOSYS to every system call that came later, and netlink checks nothing
# strictly. What an old kernel's netlink lacks besides (RTM_GETSTATS) is answered in unit.netlink.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    old=$NETPROF_TEST_BUILD/tests/old_kernel
    "$old" true 2>/dev/null || skip "this machine takes no system call filter"
}

@test "the filter is there, and only in what is started through it" {
    local asked='import os, sys
try: os.memfd_create("x")
except OSError as e: sys.exit(e.errno)'
    [ "$(status_of "$old" python3 -c "$asked")" = 38 ]
    [ "$(status_of python3 -c "$asked")" = 0 ]
}

@test "run, and the program's regions: the command's own status, traffic and times" {
    [ "$(status_of "$old" netprof run -q -o run.netprof -- loopback -m 20 -n 20 -b 1 -t 2)" = 0 ]
    [ "$(status_of "$old" netprof run -q -o three.netprof -- sh -c 'exit 3')" = 3 ]
    # 1 MiB by TCP and 1 MiB by UDP
    netprof diff --json run.netprof >diff.json
    [ "$(jq '[.devices[] | select(.device == "lo").traffic.rx_bytes] | add >= 2097152' diff.json)" = true ]
    netprof regions --json netprof-*.netprof >regions.json
    [ "$(jq '.regions | length > 0 and all(.calls > 0)' regions.json)" = true ]
}

@test "the same devices and counters as without the filter" {
    netprof list --json >new.json
    "$old" netprof list --json >old.json
    diff <(jq -c '[.devices[] | [.source, .device]]' new.json) <(jq -c '[.devices[] | [.source, .device]]' old.json)
    [ "$(jq '.devices | length' old.json)" -gt 0 ]
}

@test "a report is the same bytes, the font that netprof-report carries included" {
    # no Inter on this machine
    local dejavu
    dejavu=$(dirname "$(fc-match -f '%{file}' 'DejaVu Sans')")
    printf '<fontconfig><dir>%s</dir><cachedir>%s/cache</cachedir></fontconfig>\n' "$dejavu" "$PWD" >fonts.conf
    export FONTCONFIG_FILE=$PWD/fonts.conf TMPDIR=$PWD/here SOURCE_DATE_EPOCH=1
    mkdir here
    netprof run -q -o run.netprof -- loopback -m 20 -n 20 -b 1 -t 1 >/dev/null
    netprof report -o new.pdf run.netprof
    "$old" netprof report -o old.pdf run.netprof
    cmp new.pdf old.pdf
    pdffonts old.pdf | grep -q netprofSans
    [ -z "$(ls here)" ]
}
