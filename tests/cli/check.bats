#!/usr/bin/env bats
# netprof check

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# Two snapshots of two NICs, ten seconds apart by their own stamps; the arguments change cxi1: COUNTER VALUE ...
two_snapshots() {
    make_nic tree cxi0 hni_tx_paused_1=0 hni_pcs_good_cw=0 pct_trs_rsp_nack_drops=0 hni_pcs_uncorrected_cw=0
    make_nic tree cxi1 hni_tx_paused_1=0 hni_pcs_good_cw=0 pct_trs_rsp_nack_drops=0 hni_pcs_uncorrected_cw=0
    netprof collect --root tree -o before.netprof
    for nic in cxi0 cxi1; do
        set_counter tree $nic hni_tx_paused_1 0 10
        set_counter tree $nic hni_pcs_good_cw 390625000 10
        set_counter tree $nic pct_trs_rsp_nack_drops 0 10
        set_counter tree $nic hni_pcs_uncorrected_cw 0 10
    done
    while [ $# -gt 0 ]; do
        set_counter tree cxi1 "$1" "$2" 10
        shift 2
    done
    netprof collect --root tree -o after.netprof
}

@test "nothing wrong: 0" {
    two_snapshots
    [ "$(status_of netprof check before.netprof after.netprof)" = 0 ]
    # 390625000 codewords of 5440 bits in ten seconds are the line; there are no bytes, so nothing is said of the load
    grep -qE '^No fault found on cxi0, cxi1 by [0-9]+ checks' out
}

@test "a fault: the finding, its evidence, threshold and advice; 1" {
    two_snapshots hni_tx_paused_1 3000000000
    [ "$(status_of netprof check before.netprof after.netprof)" = 1 ]
    grep -q '^Serious: cxi1: transmit blocked by the network 30 % of the time' out
    grep -q '^high      egress-paused: cxi1$' out
    grep -q 'hni_tx_paused_1 3000000000 cycles' out
    grep -q 'threshold: >= 10 % of the time (own)' out
    grep -q 'do: ' out
}

@test "JSON" {
    two_snapshots hni_tx_paused_1 3000000000 pct_trs_rsp_nack_drops 20
    [ "$(status_of netprof check before.netprof after.netprof --json)" = 1 ]
    [ "$(jq -r '.format, .version, .verdict.severity' out | tr '\n' ' ')" = 'netprof-findings 2 high ' ]
    [ "$(jq -c '[.findings[] | [.rule, .severity, .device]]' out)" = '[["egress-paused","high","cxi1"],["nack-drops","warn","cxi1"]]' ]
    [ "$(jq -c '.findings[0].evidence[0] | [.counter, .value, .unit]' out)" = '["hni_tx_paused_1",3000000000,"cycles"]' ]
    [ "$(jq -c '.findings[0].threshold' out)" = '{"value":0.1,"origin":"own"}' ]
}

@test "--fail-on" {
    two_snapshots pct_trs_rsp_nack_drops 20 # a warning
    [ "$(status_of netprof check before.netprof after.netprof)" = 0 ]
    [ "$(status_of netprof check before.netprof after.netprof --fail-on warn)" = 1 ]
    [ "$(status_of netprof check before.netprof after.netprof --fail-on watch)" = 1 ]
    [ "$(status_of netprof check before.netprof after.netprof --fail-on critical)" = 0 ]
    [ "$(status_of netprof check before.netprof after.netprof --fail-on ever)" = 2 ]
    grep -q 'expected watch, warn, high or critical' err
}

@test "what could not be read is said" {
    two_snapshots
    printf 'garbage\n' >tree/sys/class/cxi/cxi1/device/telemetry/hni_pcs_uncorrected_cw
    netprof collect --root tree -o after.netprof
    file=tree/sys/class/cxi/cxi1/device/telemetry/hni_pcs_uncorrected_cw
    [ "$(status_of netprof check before.netprof after.netprof --json)" = 5 ]
    [ "$(jq -c .verdict.severity out)" = '"unknown"' ]
    [ "$(jq -c '.unknown[] | select(.rule == "uncorrected-codewords") | [.source, .device, .counter, .source_path, .errno, .reason, .hides, .matters]' out)" = "[\"cxi\",\"cxi1\",\"hni_pcs_uncorrected_cw\",\"$file\",74,\"unreadable\",\"critical\",true]" ] # EBADMSG
    [ "$(status_of netprof check before.netprof after.netprof)" = 5 ]
    grep -q "^Could not be judged: cxi1: hni_pcs_uncorrected_cw: not a number ($file); this" out
    grep -q "^  cxi1: hni_pcs_uncorrected_cw: not a number ($file): hides 1 check, uncorrected-codewords (at worst critical)$" out
}

@test "what could not be judged: --fail-on decides what it means; a fault that was found comes first" {
    two_snapshots pct_trs_rsp_nack_drops 50000 # a warning
    printf 'garbage\n' >tree/sys/class/cxi/cxi0/device/telemetry/hni_pcs_uncorrected_cw
    netprof collect --root tree -o after.netprof
    check=(netprof check before.netprof after.netprof)
    [ "$(status_of "${check[@]}")" = 5 ]
    grep -q '^Warning: cxi1: .*; .* could not be made.* (cxi0)$' out
    [ "$(status_of "${check[@]}" --fail-on warn)" = 1 ]
    [ "$(status_of "${check[@]}" --fail-on high,unknown)" = 1 ]
    [ "$(status_of "${check[@]}" --fail-on unknown)" = 1 ]
    [ "$(status_of "${check[@]}" --fail-on judged)" = 0 ]
    [ "$(status_of "${check[@]}" --fail-on judged,warn)" = 1 ]
    for wrong in high,warn judged,unknown info unknown, '' ; do
        [ "$(status_of "${check[@]}" --fail-on "$wrong")" = 2 ]
    done
}

# as_nobody COMMAND…: as a user without rights, of whom permissions hold.
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

@test "a source that may not be read is no good news: 5, and it is named" {
    [ "$(id -u)" = 0 ] || skip "needs root to become nobody"
    make_eth tree
    mkdir -p tree/sys/class/infiniband/mlx5_0
    chmod 000 tree/sys/class/infiniband
    chmod o+x "$BATS_RUN_TMPDIR"
    cp "$(command -v netprof)" . # where nobody may run it
    PATH=$PWD:$PATH
    as_nobody test -r tree/sys/class/net/eth0/ifindex || skip "nobody may not look in here"
    [ "$(status_of as_nobody netprof check --now --root tree --interval 500ms)" = 5 ]
    grep -q '^Could not be judged: source rdma: tree/sys/class/infiniband: Permission denied; this hides [0-9]* checks; the one that was made, on eth0, found no fault$' out
    [ "$(status_of as_nobody netprof check --now --root tree --interval 500ms --json)" = 5 ]
    [ "$(jq -c '.unknown[0] | [.source, .rule, .source_path, .errno, .reason, .matters]' out)" = '["rdma",null,"tree/sys/class/infiniband",13,"denied",true]' ]
    # nothing else is there
    rm -r tree/sys/class/net
    [ "$(status_of as_nobody netprof check --now --root tree --interval 500ms)" = 5 ]
    chmod 755 tree/sys/class/infiniband
}

# make_eth ROOT: an Ethernet port that counts.
make_eth() {
    local dir=$1/sys/class/net/eth0
    mkdir -p $dir/statistics $dir/device "$1/proc/sys/kernel"
    echo 2 >$dir/ifindex
    echo 1 >$dir/type
    echo 1 >$dir/carrier
    echo 3 >$dir/carrier_down_count
    for counter in rx_bytes tx_bytes rx_packets tx_packets rx_crc_errors rx_dropped; do echo 7 >$dir/statistics/$counter; done
}

@test "without /sys nobody knows what hardware there is: 5" {
    unshare --mount true 2>/dev/null || skip "needs a mount namespace"
    [ "$(status_of unshare --mount bash -c 'mount -t tmpfs none /sys && exec netprof check --now --interval 10ms --json')" = 5 ]
    [ "$(jq -c '[.unknown[] | select(.errno == 2 and .source_path == "/sys/class") | .source] | any(. == "cxi") and any(. == "rdma")' out)" = true ]
    # A busy machine has findings of its own, which come first: the sentence is that of these two sources alone.
    [ "$(status_of unshare --mount bash -c 'mount -t tmpfs none /sys && exec netprof check --now --interval 10ms --sources cxi,rdma')" = 5 ]
    grep -qE '^Could not be judged: source (rdma|cxi): /sys/class: No such file or directory; this and 1 other cause hide [0-9]+ checks; looked only at what --sources cxi,rdma leaves$' out
}

@test "few file descriptors: 5, and the sources that suffered are named" {
    [ "$(status_of bash -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 5; exec netprof check --now --interval 10ms --json')" = 5 ]
    [ "$(jq -c '[.unknown[] | select(.rule == null) | [.source, .errno]] | any(.[1] == 24)' out)" = true ] # EMFILE
}

@test "rules of one's own: bad lines are refused by number, the others hold" {
    two_snapshots pct_trs_rsp_nack_drops 2
    printf '%s\n' 'name,source,value,critical,claim' 'site-nacks,cxi,pct_trs_rsp_nack_drops,> 1,{value|i} nacks' \
        'broken,cxi,pct_trs_rsp_nack_drops +,> 1,' >site.csv
    [ "$(status_of netprof check before.netprof after.netprof --rules site.csv)" = 1 ]
    grep -q '^critical  site-nacks: cxi1$' out
    grep -q '^netprof check: site.csv: line 3: value: character' err
    printf 'nonsense\n' >site.csv
    [ "$(status_of netprof check before.netprof after.netprof --rules site.csv)" = 3 ]
    [ "$(status_of netprof check before.netprof after.netprof --rules missing.csv)" = 3 ]
}

# node_run FILE HOST PAUSED_CYCLES: a run of a node of that name.
node_run() {
    make_nic tree cxi0 hni_tx_paused_1=0 hni_pcs_good_cw=0
    mkdir -p tree/proc/sys/kernel
    echo "$2" >tree/proc/sys/kernel/hostname
    export -f set_counter
    netprof run -q --root tree -o "$1" -- bash -c "set_counter tree cxi0 hni_tx_paused_1 $3 10; set_counter tree cxi0 hni_pcs_good_cw 390625000 10"
}

@test "several nodes: each judged by itself, the worst first" {
    node_run a.netprof node1 0
    node_run b.netprof node2 3000000000
    node_run c.netprof node3 200000000
    [ "$(status_of netprof check a.netprof b.netprof c.netprof)" = 1 ]
    grep -q '^high on 1 of 3 nodes, first node2: Serious: cxi0: transmit blocked by the network 30 % of the time' out
    [ "$(sed -n '/VERDICT/,/^$/p' out | awk 'NR > 1 { print $1, $2, $3 }' | head -n 3 | tr '\n' ' ')" = 'high node2 1 warn node3 1 ok node1 0 ' ]
    grep -q '^---- node2 (b.netprof)$' out
    refute grep -q '^---- node1' out
    [ "$(status_of netprof check a.netprof b.netprof c.netprof --json)" = 1 ]
    [ "$(jq -c '[.verdict.severity, [.findings[] | [.host, .rule, .severity]], [.hosts[] | [.host, .verdict.severity]]]' out)" = '["high",[["node2","egress-paused","high"],["node3","egress-paused","warn"]],[["node2","high"],["node3","warn"],["node1","ok"]]]' ]
    [ "$(status_of netprof check a.netprof c.netprof)" = 0 ] # two runs of different nodes
    grep -q '^warn on 1 of 2 nodes, first' out
    [ "$(status_of netprof check a.netprof c.netprof --fail-on warn)" = 1 ]
    [ "$(status_of netprof check a.netprof b.netprof missing.netprof)" = 3 ]
}

@test "several nodes as pairs of snapshots" {
    for node in node1 node2; do
        make_nic tree cxi0 hni_tx_paused_1=0 hni_pcs_good_cw=0
        mkdir -p tree/proc/sys/kernel
        echo $node >tree/proc/sys/kernel/hostname
        netprof collect -q --root tree -o $node.before
        set_counter tree cxi0 hni_tx_paused_1 3000000000 10
        set_counter tree cxi0 hni_pcs_good_cw 390625000 10
        netprof collect -q --root tree -o $node.after
    done
    [ "$(status_of netprof check node1.before node2.before node1.after node2.after --json)" = 1 ]
    [ "$(jq -c '[.hosts[] | .files]' out)" = '["node1.before, node1.after","node2.before, node2.after"]' ]
    [ "$(status_of netprof check node1.before node2.before node1.after)" = 3 ]
    grep -q '^netprof check: node2.before: holds one snapshot of node2; expected a second one of the same host behind it$' err
}

@test "--now" {
    two_snapshots
    # Nobody counts in this tree, and its NICs' own clocks stand still.
    [ "$(status_of netprof check --now --root tree --interval 10ms)" = 5 ]
    grep -q '^Could not be judged: cxi0, cxi1: no time is known; this hides' out
    make_eth eth
    [ "$(status_of netprof check --now --root eth --interval 10ms)" = 0 ]
    [ "$(status_of netprof check --now before.netprof)" = 2 ]
    mkdir empty
    [ "$(status_of netprof check --now --root empty --interval 10ms)" = 4 ]
}

# while_counting FUNCTION COMMAND…: the status of a command during which FUNCTION is called again and again.
while_counting() {
    local count=$1 loop
    (while sleep 0.02; do "$count"; done) 3>&- &
    loop=$!
    status_of "${@:2}"
    kill "$loop"
    wait "$loop" 2>/dev/null || true
}

# In place, for a reader may hold the file open, and not cut to nothing first: who reads meanwhile has the old number or the
# new one, which is never shorter.
memory_errors() { echo "$((++errors))" 1<>tree/sys/devices/system/edac/mc/mc0/ue_count; }
# Several threads, all the time, however seldom this gets a processor: by the microseconds of the clock.
waiting() {
    echo "some avg10=0.00 avg60=0.00 avg300=0.00 total=$((2 * ${EPOCHREALTIME/[.,]/}))" 1<>tree/proc/pressure/cpu
}

@test "--now looks at the host as well: its memory's errors, threads that wait for a CPU" {
    make_eth tree
    mkdir -p tree/sys/devices/system/edac/mc/mc0 tree/proc/pressure
    echo 0 >tree/sys/devices/system/edac/mc/mc0/ce_count
    errors=0
    memory_errors
    [ "$(while_counting memory_errors netprof check --now --root tree --interval 500ms)" = 1 ]
    grep -q '^Critical: mc0: ' out
    rm -r tree/sys/devices
    waiting
    [ "$(while_counting waiting netprof check --now --root tree --interval 1100ms --fail-on warn)" = 1 ]
    grep -q '^Warning: pressure: threads waited for a CPU' out
    [ "$(while_counting waiting netprof check --now --root tree --interval 1100ms --fail-on warn --sources netdev)" = 0 ]
}

@test "--sources all: in every command that reads" {
    make_eth tree
    mkdir -p tree/proc/pressure
    waiting
    for command in list 'collect -o x.json' 'run -q -o y.json -- true'; do
        # shellcheck disable=SC2086 # words
        netprof ${command%% *} --root tree --sources all ${command#"${command%% *}"} >out
        [ "$command" != list ] || cp out list
    done
    grep -q '^pressure  *ok' list
    grep -q '^netdev  *ok' list
    [ "$(jq -c '[.schemas[0].sources[].source] | [index("netdev"), index("pressure")] | map(. != null)' x.json)" = '[true,true]' ]
    [ "$(jq -c '[.schemas[0].sources[].source] | [index("netdev"), index("pressure")] | map(. != null)' y.json)" = '[true,true]' ]
    netprof help check | grep -q 'all'
}

@test "--expect: ports that must be here, by name and as they were" {
    make_eth tree
    echo 100000 >tree/sys/class/net/eth0/speed
    check=(netprof check --now --root tree --interval 10ms)
    [ "$(status_of "${check[@]}" --expect eth0@100G)" = 0 ]
    [ "$(status_of "${check[@]}" --expect eth0-1)" = 1 ]
    grep -q '^Critical: eth1: is expected on this node and was not found' out
    netprof collect -q --root tree -o well.netprof
    [ "$(status_of "${check[@]}" --expect well.netprof)" = 0 ]
    echo 25000 >tree/sys/class/net/eth0/speed
    [ "$(status_of "${check[@]}" --expect well.netprof)" = 1 ]
    grep -q '^Serious: eth0: its link runs at 25 Gb/s, expected is 100 Gb/s' out
    echo 0 >tree/sys/class/net/eth0/carrier
    [ "$(status_of "${check[@]}" --expect eth0 --json)" = 1 ]
    [ "$(jq -c '.findings[0] | [.rule, .severity, .device]' out)" = '["expected-down","high","eth0"]' ]
    [ "$(status_of "${check[@]}" --expect well.netprof,)" = 2 ]
    [ "$(status_of "${check[@]}" --expect nosuch.netprof)" = 3 ]
    [ "$(status_of netprof check --pair --expect eth0 well.netprof well.netprof)" = 2 ]
}

@test "--expect, --rules: a mistake in them is told before anything is measured" {
    make_eth tree
    printf 'name,value\n' >bad.csv
    hour=(timeout 60 netprof check --now --root tree --interval 1h)
    [ "$(status_of "${hour[@]}" --expect eth0@fast)" = 2 ]
    [ "$(status_of "${hour[@]}" --expect nosuch.netprof)" = 3 ]
    [ "$(status_of "${hour[@]}" --rules nosuch.csv)" = 3 ]
    [ "$(status_of "${hour[@]}" --rules bad.csv)" = 3 ]
}

@test "--expect: a port whose source was left out is not missing, and not well" {
    make_eth tree
    [ "$(status_of netprof check --now --root tree --interval 10ms --sources netdev --expect eth0,cxi0-3)" = 5 ]
    grep -q '^Could not be judged: cxi0-cxi3: its source was not read' out
    refute grep -q expected-missing out
}

@test "regions among the files: judged by --rules, and no silence where they cannot be read" {
    make_eth tree
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 1 -d 1 job
    for i in 1 2; do netprof collect -q --root tree -o "job/r$i.netprof"; done
    printf 'name,class,source,value,critical,claim\nsite-octets,congestion,cxi,hni_sts_tx_ok_octets,> 0 [site],too much was sent\n' >site.csv
    [ "$(status_of netprof check job)" = 0 ]
    [ "$(status_of netprof check --rules site.csv job)" = 1 ]
    grep -q '^Regions of 1 process: .* too much was sent' out
    # the file of the regions is cut where they begin
    file=$(echo job/netprof-*.netprof)
    truncate -s $(($(grep -abo REGN "$file" | head -n 1 | cut -d: -f1) + 100)) "$file"
    [ "$(status_of netprof check job)" = 5 ]
    grep -q 'job/netprof-.*: its regions could not be judged: ' err
    [ "$(status_of netprof check --fail-on judged job)" = 0 ]
}

@test "the command of a run that failed" {
    make_eth tree
    failing_run() { netprof run -q --root tree -o "$1" -- sh -c "$2" || true; }
    failing_run good.netprof 'exit 0'
    failing_run bad.netprof 'exit 3'
    failing_run dead.netprof 'kill -SEGV $$'
    refute grep -q job-failed <(netprof check good.netprof --json --fail-on judged)
    [ "$(status_of netprof check bad.netprof --fail-on warn)" = 1 ]
    grep -q '^Warning: node: the command failed with exit status 3' out
    [ "$(status_of netprof check dead.netprof --fail-on warn)" = 1 ]
    grep -q '^Warning: node: the command was ended by signal 11 (segmentation fault)' out
    failing_run both.netprof 'echo 5 >tree/sys/class/net/eth0/carrier_down_count; exit 3' # and the link went down
    [ "$(status_of netprof check both.netprof)" = 1 ]
    grep -q '^Serious: eth0: the link went down 2 times' out
    [[ $(sed -n 2p out) == sh\ -c\ *' ended with exit status 3' ]]
    for file in bad dead; do # and netprof job says the same
        [ "$(netprof check $file.netprof --json --fail-on judged,critical | jq -c '.findings[0] | [.rule, .severity]')" = \
            "$(netprof job $file.netprof --json --fail-on critical | jq -c '.findings[0] | [.rule, .severity]')" ]
    done
}

@test "files that cannot be used: 3; wrong usage: 2" {
    two_snapshots
    [ "$(status_of netprof check before.netprof)" = 3 ]
    grep -q 'holds one snapshot' err
    [ "$(status_of netprof check missing.netprof after.netprof)" = 3 ]
    [ "$(status_of netprof check)" = 2 ]
    [ "$(status_of netprof check --intervall 3 --now)" = 2 ]
}

@test "nothing that a rule could judge: 5" {
    make_nic tree cxi0 some_counter=0
    netprof collect --root tree --include 'cxi0/some_counter' -o before.netprof
    set_counter tree cxi0 some_counter 7 1
    netprof collect --root tree --include 'cxi0/some_counter' -o after.netprof
    [ "$(status_of netprof check before.netprof after.netprof)" = 5 ]
    grep -q '^Could not be judged: no rule found its counters$' out
}

@test "names from outside are harmless" {
    name=$'ci\033[31m"<x>'
    mkdir -p "tree/sys/class/cxi/$name/device/telemetry"
    make_nic tree "$name" hni_tx_paused_1=0
    netprof collect --root tree -o before.netprof
    set_counter tree "$name" hni_tx_paused_1 9000000000 10
    netprof collect --root tree -o after.netprof
    if [ "$(status_of netprof check before.netprof after.netprof)" = 1 ]; then
        refute grep -q $'\033' out
    fi
    netprof check before.netprof after.netprof --json >out || true
    jq -e . out >/dev/null
}

@test "the real node: nearly idle, no fault" {
    need_aurora
    netprof check "$aurora/before.txt" "$aurora/after.txt" >out
    grep -q '^Nearly idle: .* too little traffic to judge performance; no fault found' out
    grep -q '^info      host-write-back-pressure: cxi2 0.00858 %, cxi3 0.00807 %$' out
    grep -q '(3.79 ms of 44.1 s), 5.67 blocked cycles per PCIe write' out
    grep -q 'alike on all 4 NICs' out # what all have is said without --all
    refute grep -qE '^(watch|warn|high|critical)' out
}

# ports_of FILE HOST TX1 RX1: a run of a node whose one port sent and received so many packets.
ports_of() {
    local dir=tree/sys/class/net/eth0
    mkdir -p $dir/statistics $dir/device tree/proc/sys/kernel
    echo "$2" >tree/proc/sys/kernel/hostname
    echo 2 >$dir/ifindex
    echo 1 >$dir/type
    echo 0 | tee $dir/statistics/{tx_packets,tx_dropped} >$dir/statistics/rx_packets
    netprof run -q --root tree --sources netdev -o "$1" -- \
        bash -c "echo $3 >$dir/statistics/tx_packets; echo $4 >$dir/statistics/rx_packets"
}

@test "--pair: what one node sent and the other did not receive" {
    ports_of a.netprof node1 2000000 40000
    ports_of b.netprof node2 40000 1999000
    [ "$(status_of netprof check a.netprof b.netprof --fail-on warn)" = 0 ] # nobody said that it was a closed pair
    refute grep -q x-pair out
    [ "$(status_of netprof check --pair a.netprof b.netprof --fail-on warn)" = 1 ]
    grep -q '^  node1 eth0 sent 2000000 packets; node2 eth0 received 1999000: 1000 did not arrive$' out
    grep -q '^  node2 eth0 sent 40000 packets; node1 eth0 received 40000: all$' out
    grep -q '^warn      x-pair: eth0$' out
    grep -q '1000 of 2000000 packets that the other end sent did not arrive' out
    [ "$(status_of netprof check --pair b.netprof a.netprof --json --fail-on warn)" = 1 ]
    [ "$(jq -c '[.findings[] | select(.rule == "x-pair") | [.host, .severity, .value]]' out)" = '[["node2","warn",0.0005]]' ]
    [ "$(jq -c '[.pair[] | [.from_host, .to_host, .tx_packets - .rx_packets]]' out)" = '[["node2","node1",0],["node1","node2",1000]]' ]
}

@test "--pair: no closed pair, and what is no pair at all" {
    ports_of a.netprof node1 2000000 40000
    ports_of b.netprof node2 40000 2000007
    ports_of c.netprof node3 500 300000
    [ "$(status_of netprof check --pair a.netprof b.netprof --fail-on watch)" = 0 ]
    grep -q 'received 2000007: 7 more, so it was not only this pair that sent$' out
    [ "$(status_of netprof check --pair a.netprof c.netprof --fail-on watch)" = 0 ]
    grep -q 'this was no closed pair' out
    [ "$(status_of netprof check --pair a.netprof)" = 2 ]
    grep -q '^netprof check: --pair: expected the runs of two nodes, not 1 run$' err
    cp a.netprof d.netprof
    [ "$(status_of netprof check --pair a.netprof d.netprof)" = 2 ]
    [ "$(status_of netprof check --pair a.netprof b.netprof c.netprof)" = 2 ]
    [ "$(status_of netprof check --pair --now)" = 2 ]
}

@test "what all NICs of several nodes have is no single node's: host and device are null" {
    python3 -B - "$NETPROF_TEST_TOP/tests/labelled" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import runs
job = runs.Job("all", 1, nodes=3)
job.faults.append(lambda x, node, nic, part: x.update(paused=0.3) if 0.4 <= part < 0.65 else None)
job.write(".")
END
    netprof check --json all-n0*.json >check.json || true
    [ "$(jq -c '.findings[0] | [.rule, .host, .device, .host_count, .device_count]' check.json)" = '["nic-paused",null,null,3,12]' ]
    [[ $(jq -r .verdict.text check.json) == 'high across 3 nodes: Serious: network: '* ]]
    netprof job --json all-n0*.json >job.json || true
    [ "$(jq -c '.findings[0] | [.rule, has("host"), .host, has("device"), .device, .host_count, .device_count]' job.json)" = \
        '["nic-paused",true,null,true,null,3,12]' ]
}
