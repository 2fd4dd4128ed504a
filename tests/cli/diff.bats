#!/usr/bin/env bats
# netprof diff

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# Two snapshots of a NIC, two seconds apart by its own stamps: before.netprof, after.netprof.
two_snapshots() {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=72057594037927930 hni_pkts_sent_by_tc_0=500 \
        lpe_sts_pe_le_alloc_num_allocated_0=9 cq_cq_oxe_num_idles=5 pct_spt_timeouts=0 lpe_net_match_priority_0=0
    netprof collect --root tree -o before.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 5000001000 2 # 5 GB received
    set_counter tree cxi0 hni_sts_tx_ok_octets 6 2          # 2^56 - 6 -> 6: passed 2^56
    set_counter tree cxi0 hni_pkts_sent_by_tc_0 100 2       # below: started again
    set_counter tree cxi0 lpe_sts_pe_le_alloc_num_allocated_0 4 2
    set_counter tree cxi0 cq_cq_oxe_num_idles 2000000005 2
    set_counter tree cxi0 pct_spt_timeouts 3 2
    netprof collect --root tree -o after.netprof
}

of() { # COUNTER FILTER, of all.json
    jq -r ".devices[0].top[] | select(.counter == \"$1\") | $2" all.json
}

@test "values, rates, flags" {
    two_snapshots
    netprof diff before.netprof after.netprof --all --json >all.json
    [ "$(jq -r '.format, .version' all.json | tr '\n' ' ')" = 'netprof-diff 2 ' ]
    [ "$(jq -c '[.totals.counter_count, .totals.changed_count]' all.json)" = '[7,6]' ]
    [ "$(jq -c '[.devices[0].device, .devices[0].counter_count, .devices[0].changed_count]' all.json)" = '["cxi0",7,6]' ]
    [ "$(of hni_sts_rx_ok_octets '"\(.delta) \(.unit) \(.kind) \(.flag) \(.rate_per_s + 0)"')" = '5000000000 bytes counter ok 2500000000' ]
    [ "$(of hni_sts_tx_ok_octets '"\(.delta) \(.flag)"')" = '12 wrapped' ]
    [ "$(of hni_pkts_sent_by_tc_0 '"\(.delta) \(.flag)"')" = '100 reset' ]
    [ "$(of lpe_sts_pe_le_alloc_num_allocated_0 '"\(.delta) \(.flag) \(.rate_per_s) \(.before) \(.after)"')" = '-5 gauge null 9 4' ]
    [ "$(jq -c '[.troubles[] | [.device, .counter, .delta]]' all.json)" = '[["cxi0","pct_spt_timeouts",3]]' ]
    [ "$(jq -c '.devices[0].traffic | [.rx_bytes, .rx_bytes_per_s, .tx_bytes] | map(. + 0)' all.json)" = '[5000000000,2500000000,12]' ]
    [ "$(jq -c '[.flagged[] | [.counter, .flag]] | sort' all.json)" = '[["hni_pkts_sent_by_tc_0","reset"],["hni_sts_tx_ok_octets","wrapped"]]' ]
}

@test "the text leads with traffic and troubles, and sets time apart" {
    two_snapshots
    netprof diff before.netprof after.netprof >out
    cat out
    grep -q '^6 of 7 counters of 1 device changed' out
    grep -Eq '^cxi0 +cxi +5\.00 GB +2\.50 GB/s +12 B ' out
    grep -Eq 'pct_spt_timeouts +3 +1\.50/s' out
    [ "$(grep -c cq_cq_oxe_num_idles out)" = 1 ]
    sed -n '/^Time, not traffic/,/^$/p' out | grep -q cq_cq_oxe_num_idles
    grep -Eq '^cxi0 +hni_sts_tx_ok_octets +wrapped ' out
    [ "$(wc -l <out)" -lt 60 ]
}

@test "summarize is another name; one file with two snapshots does" {
    two_snapshots
    netprof diff before.netprof after.netprof >one
    netprof summarize before.netprof after.netprof >two
    cmp one two
    netprof run -q -o run.netprof -- true
    netprof diff run.netprof >out
    grep -q '^command: true$' out
    netprof collect -q -o single.netprof
    [ "$(status_of netprof diff single.netprof)" = 3 ]
}

@test "top, groups, CSV" {
    two_snapshots
    netprof diff before.netprof after.netprof --top 1 --json | jq -e '[.devices[0].top[] | .unit] | length == (unique | length)'
    netprof diff before.netprof after.netprof --group cxierrstats >out
    grep -q '^CxiErrStats: ' out
    grep -Eq '^pct_spt_timeouts +3 +' out
    refute grep -q hni_sts_rx_ok_octets out
    netprof diff --group list | grep -Eq '^CxiLinkReliability +cxi '
    netprof diff before.netprof after.netprof --csv >out.csv
    [ "$(wc -l <out.csv)" -eq 7 ]
    grep -q '^cxi0,cxi,hni_sts_rx_ok_octets,bytes,counter,ok,1000,5000001000,5000000000,2.000000000,2.5e+09,ok,ok' out.csv ||
        grep -q '^cxi0,cxi,hni_sts_rx_ok_octets,bytes,counter,ok,1000,5000001000,5000000000,2.000000000,2500000000,ok,ok' out.csv
    [ "$(netprof diff before.netprof after.netprof --csv --all | wc -l)" -eq 8 ]
}

@test "what only one side has, or cannot be read, is said" {
    two_snapshots
    rm tree/sys/class/cxi/cxi0/device/telemetry/pct_spt_timeouts
    printf '7@1700000009.000000000\n' >tree/sys/class/cxi/cxi0/device/telemetry/hni_rx_paused_0
    printf 'rubbish\n' >tree/sys/class/cxi/cxi0/device/telemetry/lpe_net_match_priority_0
    netprof collect -q --root tree -o third.netprof
    netprof diff after.netprof third.netprof --json >all.json
    [ "$(jq -c '[.flagged[] | [.counter, .flag]] | sort' all.json)" = '[["hni_rx_paused_0","new"],["lpe_net_match_priority_0","unknown"],["pct_spt_timeouts","gone"]]' ]
    [ "$(jq '.flagged[] | select(.flag == "unknown") | .errno' all.json)" = 74 ]
    netprof diff after.netprof third.netprof >out
    grep -Eq 'lpe_net_match_priority_0 +unreadable +0 +- +Bad message' out
    grep -Eq 'pct_spt_timeouts +gone ' out
}

@test "files in the wrong order are refused, unless forced" {
    two_snapshots
    for command in diff check; do
        [ "$(status_of netprof $command after.netprof before.netprof)" = 3 ]
        cat err
        grep -Eq "^netprof $command: after.netprof and before.netprof: given in the wrong order: the second was read [0-9.]+ s before the first; --force" err
        [ ! -s out ]
    done
    [ "$(status_of netprof diff --force after.netprof before.netprof --json)" = 0 ]
    [ "$(jq '.elapsed_s < 0' out)" = true ]
    # a clock that was set back between the two is no wrong order: netprof's own JSON, edited
    netprof convert after.netprof after.json
    jq '.snapshots[0].time_ns -= 3600000000000 | .snapshots[0].devices[0].stamps_ns |= map(. - 3600000000000)' after.json >back.json
    netprof diff before.netprof back.json --all --json >all.json
    [ "$(jq '.elapsed_s > 0' all.json)" = true ]
    # two seconds by the stamps, less the step of an hour (which is known to some microseconds)
    [ "$(of hni_sts_rx_ok_octets '.rate_per_s | . > 2.49e9 and . < 2.51e9')" = true ]
}

@test "the fast set on one side: unknown, neither new nor gone, and no list of what nobody asked for" {
    two_snapshots
    netprof collect -q --root tree --set fast -o fast.netprof
    netprof diff before.netprof fast.netprof --json >all.json 2>err
    grep -q 'fast.netprof: its last snapshot holds the fast set only' err
    [ "$(jq -c '[.totals.flags.new, .totals.flags.gone]' all.json)" = '[null,null]' ]
    [ "$(jq '.totals.compared_count + .totals.not_asked_for_count == .totals.counter_count' all.json)" = true ]
    [ "$(jq '.totals.not_asked_for_count' all.json)" = 2 ] # the gauge and the idle clock
    netprof diff before.netprof fast.netprof >out 2>/dev/null
    cat out
    grep -q '^4 of 7 counters of 1 device changed, 2 could not be compared' out
    refute grep -q '^cxi0 .* skipped ' out
    grep -q '^2 counters were read once only: one of the snapshots is of the fast set$' out
}

@test "a run that was killed: what it kept is compared, and what is missing is said" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 cq_cq_oxe_num_idles=5
    rm -f done
    netprof run -q --root tree -o killed.netprof --interval 10ms -- \
        sh -c 'for i in $(seq 300); do [ -e done ] || sleep 0.1; done' 2>/dev/null &
    recorder=$!
    wait_for_readings killed.netprof 3
    kill -KILL $recorder
    touch done
    status=0
    wait $recorder || status=$?
    [ "$status" = 137 ]
    [ "$(status_of netprof diff killed.netprof)" = 1 ] # parts are missing
    cat err
    grep -q 'killed.netprof: the last full snapshot is missing: netprof run did not end; only the fast set is compared' err
    grep -Eq '^[0-9]+ of [0-9]+ counters of [0-9]+ devices? changed, [0-9]+ could not be compared' out
    netprof diff killed.netprof --json >all.json 2>/dev/null || [ $? = 1 ]
    [ "$(jq -c '.devices[] | select(.device == "cxi0") | [.counter_count, .compared_count, .not_asked_for_count]' all.json)" = '[2,1,1]' ]
}

# Two NICs; of the second one counter began again, and one of the sizes that make its packets is unreadable.
@test "figures that are lower bounds are marked, in the text and in JSON" {
    sized_nic
    cp -r tree/sys/class/cxi/cxi0 tree/sys/class/cxi/cxi1
    netprof collect --root tree -o before.netprof
    for nic in cxi0 cxi1; do set_counter tree $nic hni_sts_tx_ok_octets 512000 4; done
    for nic in cxi0 cxi1; do set_counter tree $nic hni_rx_ok_64 4103 4; done
    set_counter tree cxi1 hni_sts_rx_ok_octets 500 4
    printf 'rubbish\n' >tree/sys/class/cxi/cxi1/device/telemetry/hni_rx_ok_27
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic | [.lower_bound, .lower_bounds]' all.json)" = '[false,[]]' ]
    [ "$(jq -c '.devices[1].traffic | [.rx_bytes, .rx_packets, .rx_bytes_per_packet, .tx_bytes, .lower_bound]' all.json)" = '[500,3999,null,200000,true]' ]
    [ "$(jq -c '.devices[1].traffic.lower_bounds' all.json)" = '["rx_bytes","rx_bytes_per_s","rx_packets","rx_packets_per_s","share_of_line_rate"]' ]
    [ "$(jq -c '[.devices[1].top[] | select(.counter == "hni_sts_rx_ok_octets") | .delta, .flag, .lower_bound]' all.json)" = '[500,"reset",true]' ]
    [ "$(jq -c '[.sums[] | select(.counter == "hni_sts_tx_ok_octets", .counter == "hni_sts_rx_ok_octets") | [.counter, .delta, .lower_bound]]' all.json)" = \
        '[["hni_sts_tx_ok_octets",400000,false],["hni_sts_rx_ok_octets",500,true]]' ]
    [ "$(jq -c '[.balances[] | [.role, .lower_bound, .max_over_mean]]' all.json)" = '[["tx_bytes",false,1],["rx_bytes",true,null]]' ]
    netprof diff before.netprof after.netprof >out
    cat out
    grep -Eq '^cxi0 +cxi +0 B +3999 +200 kB ' out # its stamp is the old one: no time for a rate
    grep -Eq '^cxi1 +cxi +≥ 500 B +≥ 250 B/s +≥ 3999 +200 kB ' out
    grep -Eq ' hni_sts_rx_ok_octets +≥ 500 B +≥ 250 B/s ' out
    grep -Eq '^cxi +received +2 +≥ 500 B +≥ 250 B/s +≥ 500 B +cxi1 +≥ 0 B +cxi0$' out # and no share of what is not known
    LC_ALL=C netprof diff before.netprof after.netprof >out
    grep -Eq '^cxi1 +cxi +>= 500 B +>= 250 B/s +>= 3999 +200 kB ' out
}

@test "a virtual device has no line rate, whatever it says of its speed" {
    mkdir -p tree/sys/class/net/veth0/statistics tree/sys/devices/virtual/net
    mv tree/sys/class/net/veth0 tree/sys/devices/virtual/net/veth0
    ln -s ../../devices/virtual/net/veth0 tree/sys/class/net/veth0
    link=tree/sys/class/net/veth0
    echo 7 >$link/ifindex
    echo 10000 >$link/speed
    for counter in rx_bytes tx_bytes; do echo 1000 >$link/statistics/$counter; done
    netprof collect -q --root tree -o before.netprof
    for counter in rx_bytes tx_bytes; do echo 90000000001000 >$link/statistics/$counter; done
    netprof collect -q --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    jq -c '.devices[0]' all.json
    [ "$(jq -c '.devices[] | select(.device == "veth0") | [.physical, .traffic.rx_bytes, .traffic.line_rate_bytes_per_s, .traffic.share_of_line_rate]' all.json)" = '[false,90000000000000,null,null]' ]
    netprof diff before.netprof after.netprof >out
    refute grep -q 'OF LINE RATE' out
}

@test "different hosts are refused, unless forced" {
    netprof-sim create one --nics 1 --host nid001
    netprof-sim create two --nics 1 --host nid002
    netprof collect --root one -o one.netprof
    netprof collect --root two -o two.netprof
    [ "$(status_of netprof diff one.netprof two.netprof)" = 3 ]
    grep -q -- '--force' err
    netprof diff --force one.netprof two.netprof >out
}

@test "Aurora: what changed, as net_prof counts it" {
    need_aurora
    netprof diff --json --names "$aurora/names.txt" "$aurora/before.txt" "$aurora/after.txt" >all.json
    [ "$(jq -c '[.devices[].changed_count]' all.json)" = '[280,143,188,187]' ]
    [ "$(jq .totals.changed_count all.json)" = 798 ]
    netprof diff "$aurora/before.txt" "$aurora/after.txt" | grep -q '^798 of 7560 counters of 4 devices changed'
}

@test "Aurora: --rank raw --top 20 equals net_prof line for line" {
    need_aurora
    netprof diff --rank raw --top 20 --json "$aurora/before.txt" "$aurora/after.txt" >all.json
    jq -c '.devices | to_entries[] | .key as $i | .value.top[] | [$i, .counter, .delta]' all.json >ours
    jq -c '.top20_per_iface | to_entries[] | .key as $i | .value[] | [($i | tonumber) - 1, .metric_name, .diff]' \
        "$aurora/net_prof_reference.json" >theirs
    [ "$(wc -l <ours)" -eq 80 ]
    diff theirs ours
}

@test "Aurora: every negative difference is a gauge's" {
    need_aurora
    netprof diff --all --json "$aurora/before.txt" "$aurora/after.txt" >all.json
    jq -e '[.devices[].top[] | select(.delta < 0)] | length > 0 and all(.[]; .flag == "gauge")' all.json
}

@test "Aurora: the 16 important counters" {
    need_aurora
    netprof diff --json "$aurora/before.txt" "$aurora/after.txt" >all.json
    [ "$(jq '.important | length' all.json)" = 16 ]
    [ "$(jq '.important[] | select(.counter == "parbs_tarb_pi_posted_blocked_cnt") | .deltas | [.cxi0, .cxi1, .cxi2, .cxi3] | add' all.json)" = 7353286 ]
}

# 25 GB received and 10 GB sent in 2 s on a port of 400 Gb/s: 12.5 of 50 GB/s is 25 %; neither 200 % (bits taken for
# bytes), nor 35 % (both directions against one), nor anything of 32 bits.
@test "trap: bits vs bytes of speed; utilisation above 10 GbE, each direction apart" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=0 hni_sts_tx_ok_octets=0
    mkdir -p tree/sys/class/cxi/cxi0/device/properties
    echo 400000 >tree/sys/class/cxi/cxi0/device/properties/speed
    netprof collect --root tree -o before.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 25000000000 2
    set_counter tree cxi0 hni_sts_tx_ok_octets 10000000000 2
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic | [.line_rate_bytes_per_s, .share_of_line_rate] | map(. + 0)' all.json)" = '[50000000000,0.25]' ]
    netprof diff before.netprof after.netprof >out
    grep -Eq '^cxi0 .* 25(\.0)? %' out
    echo -1 >tree/sys/class/cxi/cxi0/device/properties/speed # unknown: no share at all
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic.share_of_line_rate' all.json)" = null ]
}

# Frames of the 12 sizes: before 100 each, afterwards 100 + 1, 100 + 2, ... 100 + 12 received: 78, and twice as many
# sent: 156. In 2 s: 39/s and 78/s. 78000 bytes received and 312000 sent: 1000 and 2000 a packet.
sizes=(27 35 36_to_63 64 65_to_127 128_to_255 256_to_511 512_to_1023 1024_to_2047 2048_to_4095 4096_to_8191 8192_to_max)
sized_nic() {
    local size counters=()
    for size in "${sizes[@]}"; do counters+=("hni_rx_ok_$size=100" "hni_tx_ok_$size=100"); done
    make_nic tree cxi0 hni_sts_rx_ok_octets=0 hni_sts_tx_ok_octets=0 hni_rx_ok_multicast=0 "${counters[@]}"
    netprof collect --root tree -o before.netprof
    set_counter tree cxi0 hni_sts_rx_ok_octets 78000 2
    set_counter tree cxi0 hni_sts_tx_ok_octets 312000 2
    set_counter tree cxi0 hni_rx_ok_multicast 999 2 # frames that have a size as well
    for ((i = 0; i < 12; i++)); do
        set_counter tree cxi0 "hni_rx_ok_${sizes[i]}" $((101 + i)) 2
        set_counter tree cxi0 "hni_tx_ok_${sizes[i]}" $((102 + 2 * i)) 2
    done
}

@test "packets of a Cassini NIC are the sum of its frames of all sizes" {
    sized_nic
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic | [.rx_packets, .rx_packets_per_s, .rx_bytes_per_packet]' all.json)" = '[78,39,1000]' ]
    [ "$(jq -c '.devices[0].traffic | [.tx_packets, .tx_packets_per_s, .tx_bytes_per_packet]' all.json)" = '[156,78,2000]' ]
    netprof diff before.netprof after.netprof >out
    grep -Eq '^cxi0 +cxi +78\.0 kB +39\.0 kB/s +78 +312 kB +156 kB/s +156 ' out
}

@test "a size that is missing makes the packets unknown, not fewer" {
    sized_nic
    rm tree/sys/class/cxi/cxi0/device/telemetry/hni_rx_ok_64
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic | [.rx_packets, .rx_packets_per_s, .rx_bytes_per_packet, .tx_packets]' all.json)" = '[null,null,null,156]' ]
}

@test "of two counters of an interface or port that count alike one is taken, never the sum" {
    port=tree/sys/class/infiniband/mlx5_0/ports/1
    mkdir -p $port/counters
    printf '4: ACTIVE\n' >$port/state
    for counter in port_rcv_packets port_rcv_packets_64; do echo 10 >$port/counters/$counter; done
    netprof collect --root tree -o before.netprof
    for counter in port_rcv_packets port_rcv_packets_64; do echo 15 >$port/counters/$counter; done
    netprof collect --root tree -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    [ "$(jq -c '.devices[0].traffic | [.rx_packets, .rx_bytes]' all.json)" = '[5,null]' ]
}

@test "events that two counters count are one trouble, the retry handler's where it says so" {
    netprof-sim create node --nics 1
    netprof collect --root node -o before.netprof
    netprof-sim step node --seconds 1 --scenario timeouts
    netprof collect --root node -o after.netprof
    netprof diff before.netprof after.netprof --all --json >all.json
    [ "$(jq '[.troubles[] | select(.counter | test("^rh:s[pc]t_timeouts$"))] | length' all.json)" = 2 ]
    [ "$(jq '[.troubles[] | select(.counter | test("^pct_s[pc]t_timeouts$"))] | length' all.json)" = 0 ]
    # both are still among the device's counters, with the same number
    [ "$(jq '[.devices[0].top[] | select(.counter | test("^(pct_|rh:)spt_timeouts$")) | .delta] | length == 2 and .[0] == .[1]' all.json)" = true ]
    troubles=$(jq '[.troubles[] | select(.device == "cxi0")] | length' all.json)
    netprof diff before.netprof after.netprof >out
    cat out
    grep -Eq "^cxi0 .* $troubles +[0-9]+ of [0-9]+\$" out
    netprof-sim create bare --nics 1 --no-retry-handler
    netprof collect --root bare -o before.netprof
    netprof-sim step bare --seconds 1 --scenario timeouts
    netprof collect --root bare -o after.netprof
    netprof diff before.netprof after.netprof --json >all.json
    jq -e 'any(.troubles[]; .counter == "pct_spt_timeouts")' all.json
}

@test "diff: a run whose command failed says how it ended; one that succeeded says nothing" {
    cd "$BATS_TEST_TMPDIR"
    netprof run -q -o good.netprof -- true
    [ "$(status_of netprof run -q -o exit.netprof -- sh -c 'exit 3')" = 3 ]
    [ "$(status_of netprof run -q -o killed.netprof -- sh -c 'kill -SEGV $$')" = 139 ]
    netprof diff exit.netprof | grep -qx 'it ended with exit status 3'
    netprof diff killed.netprof | grep -qx 'it ended by signal 11'
    refute grep -q 'it ended' <(netprof diff good.netprof)
}
