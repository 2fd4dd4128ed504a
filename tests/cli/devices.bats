#!/usr/bin/env bats
# Devices that change between two readings, and readings that do not belong together.

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

# Four NICs, read before and, a second of traffic and what is done in between later, after.
before() {
    netprof-sim create tree --nics 4 >/dev/null
    netprof collect -q --root tree -o before.netprof
    netprof-sim step tree --seconds 1
}

after() {
    netprof collect -q --root tree -o after.netprof
}

@test "a NIC that is gone: critical, named by its address, and nothing else is said of it" {
    before
    netprof-sim remove tree --nic 2
    after
    [ "$(status_of netprof check before.netprof after.netprof)" = 1 ]
    grep -Eq '^Critical: cxi2: gone since the start \(PCI [0-9a-f:.]+\); 3 of 4 NICs are left' out
    refute grep -q 'No fault found' out
    refute grep -q 'hni_\|could not be made' out
    netprof check before.netprof after.netprof --fail-on critical --json >out.json || [ $? = 1 ]
    [ "$(jq -c '[.findings[] | select(.rule == "device-gone") | [.device, .severity]]' out.json)" = '[["cxi2","critical"]]' ]
    [ "$(jq -c '[.unknown[] | select(.device == "cxi2")]' out.json)" = '[]' ]
    # the other way round it is new: no fault
    netprof diff after.netprof before.netprof --force >out
    grep -Eq 'cxi2 +cxi +new' out
}

@test "diff tells devices that changed first, in text, JSON and CSV" {
    before
    netprof-sim remove tree --nic 2
    after
    netprof diff before.netprof after.netprof >out
    [ "$(grep -n '^Devices that changed' out | cut -d: -f1)" -lt "$(grep -n '^Devices$' out | cut -d: -f1)" ]
    grep -Eq '^cxi2 +cxi +gone +gone since the start' out
    netprof diff before.netprof after.netprof --json >out.json
    [ "$(jq -c '.changes[0] | [.device, .source, .change, .physical]' out.json)" = '["cxi2","cxi","gone",true]' ]
    jq -r '.changes[0].text' out.json | grep -q '3 of 4 NICs are left'
    [ "$(jq -r '.changes[0].mark' out.json | cut -c1-4)" = 'PCI ' ]
    netprof diff before.netprof after.netprof --csv >out.csv
    [ "$(sed -n 2p out.csv | cut -d, -f1-2)" = 'cxi2,cxi' ]
    sed -n 2p out.csv | grep -q ',gone,'
}

@test "two NICs swap their names: right small differences, and the rename is said" {
    before
    for links in tree/sys/class/cxi tree/run/cxi; do
        mv $links/cxi0 $links/x && mv $links/cxi1 $links/cxi0 && mv $links/x $links/cxi1
    done
    after
    netprof diff before.netprof after.netprof --json >out.json
    # a second at 200 Gb/s is 25 GB at most; a lifetime is far more
    [ "$(jq '[.devices[] | select(.source == "cxi") | .traffic.rx_bytes] | (length == 4 and max < 25e9 and min > 1e9)' out.json)" = true ]
    [ "$(jq -c '[.changes[] | select(.source == "cxi") | [.device, .change, .was]]' out.json)" = '[["cxi0","renamed","cxi1"],["cxi1","renamed","cxi0"]]' ]
    [ "$(jq '.totals.flags.reset' out.json)" = null ]
    netprof check before.netprof after.netprof >out
    grep -q 'was called cxi1 at the start: the same device by its PCI' out
    refute grep -q 'loaded' out
    refute grep -q 'Pb/s\|OF LINE' out
}

@test "another card under the name: no difference" {
    before
    netprof-sim remove tree --nic 2
    mv tree/sys/class/cxi/cxi3 tree/sys/class/cxi/cxi2
    after
    netprof diff before.netprof after.netprof --json >out.json
    [ "$(jq -c '[.changes[] | select(.source == "cxi") | [.device, .change]]' out.json)" = '[["cxi2","gone"],["cxi2","renamed"]]' ]
    netprof-sim create more --nics 6 >/dev/null
    mv more/sys/devices/pci* tree/sys/devices/ 2>/dev/null || true
    rm -rf tree/sys/class/cxi/cxi2
    ln -s "$(cd more/sys/class/cxi && readlink cxi5)" tree/sys/class/cxi/cxi2
    after
    netprof diff before.netprof after.netprof --json >out.json
    [ "$(jq -c '[.changes[] | select(.source == "cxi") | [.device, .change]] | sort' out.json)" = '[["cxi2","other"],["cxi3","gone"]]' ]
    [ "$(jq -c '[.devices[] | select(.device == "cxi2") | .traffic]' out.json)" = '[null,null]' ]
    [ "$(status_of netprof check before.netprof after.netprof)" = 1 ]
    grep -q 'another device has this name now: PCI' out
}

@test "links of a network namespace: swapped, deleted, made anew, replaced" {
    unshare --net true 2>/dev/null || skip 'needs root and network namespaces'
    unshare --net bash -ec 'ip link add v0 type veth peer name v1; ip link add b0 type bridge' >/dev/null 2>&1 ||
        skip 'no veth or bridge here'
    cat >inside <<'SH'
ip link set lo up
ip link add v0 type veth peer name v1
ip link add w0 type veth peer name w1
ip link add gone0 type veth peer name gone1
ip link set v0 up; ip link set v1 up; ip link set w0 up; ip link set w1 up
ip addr add 10.9.0.1/24 dev v0
ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0
ping -q -c 50 -i 0.002 -s 1400 -W 0.01 10.9.0.2 >/dev/null 2>&1 || true
netprof collect -q -o s1.netprof
ip link set v0 down; ip link set w0 down
ip link set v0 name x; ip link set w0 name v0; ip link set x name w0
ip link del gone0
netprof collect -q -o s2.netprof
ip link del v0
ip link add v0 type veth peer name w1
netprof collect -q -o s3.netprof
ip link del v0
ip link add v0 type bridge
netprof collect -q -o s4.netprof
SH
    unshare --net bash -e inside
    netprof diff s1.netprof s2.netprof --json >out.json
    [ "$(jq -c '[.changes[] | select(.source == "netdev") | [.device, .change]] | sort' out.json)" = \
        '[["gone0","gone"],["gone1","gone"],["v0","link-down"],["v0","renamed"],["v1","link-down"],["w0","link-down"],["w0","renamed"],["w1","link-down"]]' ]
    # 50 pings of 1400 bytes are 70 kB: none of them was in between
    [ "$(jq '[.devices[] | select(.device == "v0" or .device == "w0") | .traffic.tx_bytes // 0] | max < 10000' out.json)" = true ]
    [ "$(jq '.totals.flags.reset' out.json)" = null ]
    netprof check s1.netprof s2.netprof >out || true
    grep -q 'gone since the start (ifindex' out
    refute grep -q 'critical' out
    netprof diff s2.netprof s3.netprof --json >out.json
    [ "$(jq -c '[.changes[] | select(.source == "netdev") | [.device, .change]] | sort' out.json)" = '[["v0","recreated"],["w1","recreated"]]' ]
    netprof check s2.netprof s3.netprof >out
    grep -q 'was deleted and made again under its name (ifindex' out
    refute grep -q 'counter-reset' out
    netprof diff s3.netprof s4.netprof --json >out.json
    [ "$(jq -c '[.changes[] | select(.source == "netdev") | [.device, .change]] | sort' out.json)" = '[["v0","other"],["w1","gone"]]' ]
}

@test "one reading given twice, or two copies of it: wrong usage, never judged" {
    before
    cp before.netprof copy.netprof
    ln -s before.netprof link.netprof
    for command in 'check' 'diff' 'report -o r.pdf' 'check --force' 'check --json'; do
        [ "$(status_of netprof $command before.netprof before.netprof)" = 2 ]
        grep -q 'before.netprof was given twice' err out
        [ "$(status_of netprof $command before.netprof link.netprof)" = 2 ]
        grep -q 'link.netprof was given twice' err out
        [ "$(status_of netprof $command before.netprof copy.netprof)" = 2 ]
        grep -q 'before.netprof and copy.netprof: the same reading in both' err out
        refute grep -q 'No fault' out
    done
    # readings without any time prove nothing by being equal
    printf '{"counters":[{"id":1,"interface":1,"name":"hni_sts_rx_ok_octets","value":5}]}' >a.json
    cp a.json b.json
    netprof diff a.json b.json >out
}

@test "no negative times, and no bound that is 0" {
    before
    netprof-sim run tree --seconds 1 --scenario reset --nic 1 2>/dev/null || netprof-sim step tree --seconds 1 --scenario reset --nic 1
    after
    netprof diff before.netprof after.netprof >out
    grep -q 'reset' out
    refute grep -Eq '^ *(packets|events|[a-z_0-9]*) +[a-z_0-9]+ +≥ 0 ' out
    netprof diff before.netprof after.netprof --csv --all >out.csv
    [ "$(cut -d, -f10 out.csv | grep -c '^-')" = 0 ]
}

@test "readings with no device in common: refused, and forced nothing is found" {
    before
    printf '{"counters":[{"interface":9,"name":"hni_sts_rx_ok_octets","value":5,"timestamp":"1700000000.000000000"}]}' >nobody.json
    for command in 'check' 'diff' 'report -o r.pdf'; do
        [ "$(status_of netprof $command nobody.json before.netprof)" = 3 ]
        grep -q 'nobody.json and before.netprof: no device in common' err
        grep -q -- '--force' err
        [ "$(status_of netprof $command --force nobody.json before.netprof)" = 4 ]
        grep -q 'no device in common' err
        refute grep -q 'No fault' out
    done
    # all NICs of the same node gone is another matter
    mkdir -p tree/sys/class/net/eth0/statistics # what is left
    echo 2 >tree/sys/class/net/eth0/ifindex
    echo 7 >tree/sys/class/net/eth0/statistics/rx_bytes
    netprof collect -q --root tree -o before.netprof
    for nic in 0 1 2 3; do netprof-sim remove tree --nic $nic; done
    after
    [ "$(status_of netprof check before.netprof after.netprof)" = 1 ]
    grep -q 'none of 4 NICs is left' out
}

@test "what is wrong in a file is named by its line, once" {
    printf '{"format":"netprof",\n"version":1' >cut.json
    [ "$(status_of netprof diff cut.json cut.json)" = 3 ]
    grep -Eq '^netprof diff: cut.json: line 2: [^0-9]+$' err
    printf '[{"ifname":"lo",\n"mtu":1500}]\n' >ip.json
    [ "$(status_of netprof diff ip.json ip.json)" = 3 ]
    grep -q "ip.json: JSON, but neither netprof's nor net_prof's" err
    refute grep -q 'counter 1 of the list' err
    entry='"interface":1,"name":"hni_sts_rx_ok_octets","timestamp":170000000%s.5'
    # shellcheck disable=SC2059 # the entries are formats
    for n in 1 2; do
        printf "{\n\"counters\": [\n{$entry,\"value\":1},\n {\"interface\":1,\n\"name\":\"a[{,\\\\\"\",\"value\":2},\n\n {\"interface\":0,\"value\":3}]}\n" $n >$n.json
    done
    [ "$(status_of netprof diff 1.json 2.json)" = 1 ]
    grep -q '1.json: line 7: counter 3 of the list' err
    refute grep -q 'byte 0' err
}

@test "readings in the wrong order: of each kind of file" {
    before
    after
    netprof convert before.netprof before.json
    netprof convert after.netprof after.json
    for pair in 'after.netprof before.netprof' 'after.json before.json' 'after.json before.netprof'; do
        [ "$(status_of netprof check $pair)" = 3 ]
        grep -Eq "given in the wrong order: the second was read [0-9.]+ s before the first" err
    done
    for n in 1 2; do
        printf '%s@170000000%s.000000000\n' $((100 * n)) $n >$n.txt
        printf '{"counters":[{"interface":1,"name":"hni_sts_rx_ok_octets","value":%s,"timestamp":"170000000%s.000000000"}]}' $n $n >net$n.json
    done
    echo hni_sts_rx_ok_octets >names
    [ "$(status_of netprof diff --names names 2.txt 1.txt)" = 3 ]
    grep -q '2.txt and 1.txt: given in the wrong order: the second was read 1.000 s before the first' err
    [ "$(status_of netprof diff net2.json net1.json)" = 3 ]
    grep -q 'wrong order' err
}
