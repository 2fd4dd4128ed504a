#!/usr/bin/env bats
# netprof list

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    netprof-sim create node --nics 2 --host nid001
}

@test "sources, devices and what is absent" {
    netprof list --root node >out
    grep -q '^Node nid001, read below node$' out
    grep -Eq '^cxi +ok +2 +[0-9]+' out
    grep -Eq '^rdma +absent +- +- .*No such file or directory' out
    grep -Eq '^cxi0 +cxi +physical +[0-9]+ +34 ' out
    grep -Eq '^cxi1 +cxi ' out
}

@test "JSON and CSV say the same as the text" {
    netprof list --root node --counters --json >all.json
    [ "$(jq -r '.format, .version' all.json | tr '\n' ' ')" = 'netprof-list 2 ' ]
    [ "$(jq -r .facts.host all.json)" = nid001 ]
    [ "$(jq '.sources[] | select(.source == "cxi") | .device_count' all.json)" = 2 ]
    [ "$(jq -r '.sources[] | select(.source == "rdma") | "\(.status) \(.errno)"' all.json)" = 'absent 2' ]
    [ "$(jq '[.devices[] | select(.source == "cxi") | .fast_count] | unique | .[]' all.json)" = 34 ]
    counters=$(find node/sys/class/cxi/cxi0/device/telemetry -type f ! -name ALL-in-binary ! -name reset_counters | wc -l)
    [ "$(jq '[.counters[] | select(.device == "cxi0" and (.counter | contains("/") or contains(":") | not))] | length' all.json)" = "$counters" ]
    value=$(netprof-sim get node hni_sts_rx_ok_octets --nic 0)
    [ "$(jq -r '.counters[] | select(.device == "cxi0" and .counter == "hni_sts_rx_ok_octets") | "\(.value) \(.unit) \(.kind) \(.width_bits) \(.fast)"' all.json)" = "$value bytes counter 56 true" ]
    netprof list --root node --counters --csv >counters.csv
    grep -q "^cxi0,hni_sts_rx_ok_octets,$value,ok,0,bytes,counter,56,1," counters.csv
    [ "$(wc -l <counters.csv)" -eq "$(($(jq '.counters | length' all.json) + 1))" ]
    netprof list --root node --csv | grep -q '^cxi,ok,0,'
    netprof list --root node --devices --csv | grep -q '^cxi1,cxi,physical,'
}

@test "patterns choose devices or counters" {
    netprof list --root node cxi1 >out
    grep -q '^cxi1 ' out
    refute grep -q '^cxi0 ' out
    grep -Eq ' pci +[0-9a-f:.]+$' out
    netprof list --root node 'cxi0/hni_sts_*_ok_octets' >out
    [ "$(grep -c '^cxi0 ' out)" = 2 ]
    grep -Eq '^cxi0 +hni_sts_rx_ok_octets +[0-9]+ +bytes +counter +56 +fast +[a-z]' out
    [ "$(status_of netprof list --root node nosuch)" = 4 ]
}

@test "what cannot be read is counted, with the reason" {
    netprof-sim fault node einval hni_tx_paused_0 hni_tx_paused_1 --nic 0 || netprof-sim faults
    netprof-sim fault node garbage hni_rx_paused_0 --nic 0
    netprof list --root node >out
    cat out
    grep -q '^Not readable$' out
    grep -Eq '^cxi0 .*hni_rx_paused_0$' out
    netprof list --root node --json | jq -e '.devices[] | select(.device == "cxi0") | .unreadable_count >= 1'
}

@test "nothing to read: the sources tell why, exit code 4" {
    mkdir empty
    [ "$(status_of netprof list --root empty)" = 4 ]
    grep -Eq '^cxi +absent' out
    [ "$(status_of netprof list --root empty --json)" = 4 ]
    jq -e '.devices == []' out
    [ "$(status_of netprof collect --root empty -o x.netprof)" = 4 ]
    grep -q '^netprof collect: nothing to read here$' err
    grep -q '^  cxi: absent, .*empty/sys/class/cxi: No such file or directory$' err
    [ ! -e x.netprof ]
    [ "$(status_of netprof list --root no/such/place)" = 3 ]
}

@test "this machine: the loopback is there, and virtual" {
    netprof list --json >out
    [ "$(jq -r '[.devices[] | select(.device == "lo" and .source == "netdev") | .physical] | .[]' out)" = false ]
}

@test "--every: what passed each interface, as sar has it: titles again each time, averages at the end, and in a pipe at once" {
    before=$(netprof-sim get node hni_sts_rx_ok_octets --nic 0)
    netprof list --every 100ms --csv --root node >every.csv &
    wait_until 60 grep -q '^2' every.csv
    netprof-sim step node --seconds 1
    # the interval in which it moved, then the averages by Ctrl-C
    moved=$(($(netprof-sim get node hni_sts_rx_ok_octets --nic 0) - before))
    wait_until 60 grep -q "cxi0,cxi,.*,$moved," every.csv
    kill -INT $!
    wait $!
    tr -d '\r' <every.csv | awk -F, -v moved="$moved" '
        NR > 1 && $1 != "average" && $3 == "cxi0" { sum += $7 }
        $1 == "average" && $3 == "cxi0" { average = $7 }
        END { print sum, average, moved; exit !(moved > 0 && sum == moved && average == moved) }'
    netprof list --every 100ms -n 3 lo >out
    [ "$(grep -c '^UTC  *DEVICE  *rxpck/s  *txpck/s  *rxkB/s  *txkB/s  *rxerr/s  *txerr/s  *rxdrop/s  *txdrop/s$' out)" = 3 ]
    [ "$(grep -c '^Average:  *lo ' out)" = 1 ]
    netprof list --every 100ms lo --json | head -2 | jq -s -e 'length == 2 and all(.format == "netprof-interval" and .devices[0].device == "lo")'
    [ "$(status_of netprof list --every 100ms -d)" = 2 ]
    [ "$(status_of netprof list -n 2)" = 2 ]
}
