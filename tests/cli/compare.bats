#!/usr/bin/env bats
# netprof compare

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# Without regard to what is found: its exit code has tests of its own.
compare() {
    netprof compare --fail-on critical "$@"
}

# What the two NICs count in ten seconds by their own stamps; the arguments change cxi1.
ten_seconds() {
    local nic
    for nic in cxi0 cxi1; do
        set_counter tree $nic hni_tx_paused_1 0 10
        set_counter tree $nic pct_retry_srb_requests 10 10
        set_counter tree $nic hni_pcs_uncorrected_cw 0 10
        set_counter tree $nic hni_sts_rx_ok_octets 5000000000 10
        set_counter tree $nic lpe_net_match_priority_0 4000 10
    done
    while [ $# -gt 0 ]; do
        set_counter tree cxi1 "$1" "$2" 10
        shift 2
    done
}

new_tree() {
    rm -rf tree
    for nic in cxi0 cxi1; do
        make_nic tree $nic hni_tx_paused_1=0 pct_retry_srb_requests=0 hni_pcs_uncorrected_cw=0 hni_sts_rx_ok_octets=0 \
            lpe_net_match_priority_0=0
    done
}

# run_of FILE [COUNTER VALUE]...: a run of them.
run_of() {
    new_tree
    export -f ten_seconds set_counter
    netprof run -q --root tree -o "$1" -- bash -c 'ten_seconds "$@"' - "${@:2}"
}

# ends_of FILE [COUNTER VALUE]...: the same as two files, FILE.0 and FILE.1.
ends_of() {
    new_tree
    netprof collect -q --root tree -o "$1.0"
    ten_seconds "${@:2}"
    netprof collect -q --root tree -o "$1.1"
}

@test "what turned, what changed most, where; the numbers" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000 pct_retry_srb_requests 20480
    compare good.json -- bad.json >out
    head -n 2 out | tr '\n' ' ' | grep -q '^cxi1: transmit blocked by the network 31 % of the time (.* s of .* s, priority 1)'
    grep -q '^  high     cxi1: transmit blocked by the network 31 % of the time' out
    grep -qE '^    pct_retry_srb_requests +1 +2048 +2048 +2048 +only cxi1$' out
    grep -qE '^    hni_tx_paused_1 +0 +310 M +new +only cxi1$' out
    grep -qE '^  egress-paused +ok 0 % +high 31 % +cxi1$' out
    grep -qE '^  cxi0 +cxi +500 MB/s -> 500 MB/s +1 ' out
}

@test "a value near the healthy one, on the other side of a threshold, is not listed as found" {
    command -v netprof-report >/dev/null || skip "built without cairo"
    # 1.2 % of the time beside 0.9 %, and half of it beside that; the threshold is 1 %
    run_of good.json hni_tx_paused_1 90000000
    run_of near.json hni_tx_paused_1 120000000
    run_of bad.json hni_tx_paused_1 5000000000
    for run in near bad; do
        netprof report -o $run.html good.json -- $run.json
    done
    for run in near bad; do # the rows of that table
        sed -n '/<figure[^>]*id="turned"/,/<\/figure>/p' $run.html >$run.rows
    done
    grep -q egress-paused bad.rows
    grep -q retries near.rows # a warning on both sides
    refute grep -q egress-paused near.rows
    netprof compare good.json -- near.json | grep -q '^  info     cxi1: transmit blocked by the network 1.20 % .*' # it is said
}

@test "no counter on both sides: not judged, and nothing is called alike" {
    local run counter
    for run in good bad; do
        counter=pct_no_t$([ $run = good ] && echo c || echo r)t_nacks
        rm -rf tree
        make_nic tree cxi0 $counter=0
        netprof run -q --root tree -o $run.json -- true
    done
    [ "$(status_of netprof compare good.json -- bad.json -o text)" = 4 ]
    grep -q '^  unknown  Nothing to compare: no counter has values on both sides$' text
    refute grep -q 'differs beyond chance' text
    [ "$(netprof compare --json good.json -- bad.json | jq -r '.findings[0] | .severity, .rule' | tr '\n' ' ')" = 'unknown not-judged ' ]
}

@test "two files need no --; the order of the sides matters" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000
    compare good.json -- bad.json >one
    compare good.json bad.json >two
    cmp one two
    compare bad.json -- good.json >three
    grep -q '^Nothing went worse' three
    grep -q 'Only on the healthy side: cxi1: transmit blocked by the network' three
}

@test "files with one snapshot are paired; one that is left is refused" {
    ends_of good
    ends_of bad hni_tx_paused_1 3100000000
    run_of bad.json hni_tx_paused_1 3100000000
    compare good.0 good.1 -- bad.0 bad.1 --json >out
    [ "$(jq -c '[.runs[].files]' out)" = '["good.0, good.1","bad.0, bad.1"]' ]
    [ "$(jq -r '.checks[0].rule' out)" = egress-paused ]
    [ "$(status_of netprof compare good.0 -- bad.json)" = 3 ]
    grep -qE '^netprof compare: good.0: holds one snapshot; expected a second one of the same host behind it$' err
    [ "$(status_of netprof compare good.1 good.0 -- bad.json)" = 3 ]
    grep -q '^netprof compare: good.0: is earlier than good.1; expected the earlier one first$' err
}

@test "several runs: a range, the median and the worst" {
    run_of good1.json pct_retry_srb_requests 10
    run_of good2.json pct_retry_srb_requests 40
    run_of bad1.json pct_retry_srb_requests 4000
    run_of bad2.json pct_retry_srb_requests 20480
    compare good1.json good2.json -- bad1.json bad2.json >out
    # 1 to 4 a second; the worst 2048, the median of the two 1224; over the median 2.5: 490
    grep -qE '^    pct_retry_srb_requests +1..4 +1224 +2048 +490 +490 +only cxi1$' out
    compare good1.json good2.json -- bad1.json bad2.json --json >out
    [ "$(jq -c '.differences[0] | [.counter, .devices[1].worst_run, .devices[1].faulty_run_outside_count]' out)" = '["pct_retry_srb_requests","bad2.json",2]' ]
}

@test "JSON" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000
    compare good.json -- bad.json --json >out
    [ "$(jq -r '.format, .version, .verdict.severity' out | tr '\n' ' ')" = 'netprof-comparison 3 high ' ]
    [ "$(jq -c '.differences[0] | [.counter, .class, .state, .device, .where]' out)" = '["hni_tx_paused_1","stalls","new","cxi1","only cxi1"]' ]
    [ "$(jq -c '.differences[0].devices[1] | [.healthy.delta, .faulty.delta, .ratio_per_s]' out)" = '[0,3100000000,null]' ]
    [ "$(jq -c '.checks[0] | [.rule, .flipped, .devices[1].faulty.severity, .devices[1].healthy.value]' out)" = '["egress-paused",true,"high",0]' ]
}

@test "--top, --all, --per" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000 hni_sts_rx_ok_octets 50000000000
    [ "$(compare good.json bad.json --json | jq '.differences | length')" = 2 ]
    [ "$(compare good.json bad.json --json --top 1 | jq '.differences | length')" = 1 ]
    [ "$(compare good.json bad.json --json --all | jq '.differences | length')" = 4 ]
    compare good.json bad.json | grep -q '^What changed most'
    refute grep -q '^Within chance' <(netprof compare good.json bad.json)
    compare good.json bad.json --all | grep -q '^Within chance'
    # ten times the bytes with as many messages: a difference per byte only
    [ "$(compare good.json bad.json --per byte --json | jq -c '[.differences[] | .counter] | index("lpe_net_match_priority_0") != null')" = true ]
    [ "$(compare good.json bad.json --per second --json | jq -c '[.differences[] | .counter] | index("lpe_net_match_priority_0") != null')" = false ]
}

@test "--fail-on" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000
    [ "$(status_of netprof compare good.json bad.json)" = 1 ] # high is what counts when nothing is said
    [ "$(status_of netprof compare good.json bad.json --fail-on high)" = 1 ]
    [ "$(status_of netprof compare good.json bad.json --fail-on critical)" = 0 ]
    [ "$(status_of netprof compare bad.json good.json --fail-on watch)" = 0 ]
}

@test "a command that failed, one that a signal ended, and both: first line, exit code" {
    new_tree # whose counters other programs leave alone
    netprof run -q --root tree -o good -- true
    netprof run -q --root tree -o bad -- false || [ $? -eq 1 ]
    netprof run -q --root tree -o killed -- sh -c 'kill -SEGV $$' || [ $? -eq 139 ]
    [ "$(status_of netprof compare good -- bad)" = 1 ]
    head -n 1 out | grep -q '^The faulty run failed (exit status 1), the healthy one did not'
    grep -q '^  high     The faulty run failed (exit status 1)' out
    [ "$(status_of netprof compare good -- killed)" = 1 ]
    head -n 1 out | grep -q '^The faulty run failed (signal 11, segmentation fault)'
    [ "$(status_of netprof compare bad -- killed --json)" = 5 ]
    [ "$(jq -c '[.verdict.severity, .findings[0].rule, .runs[0].exit_status, .runs[1].signal]' out)" = '["unknown","exit-status",1,11]' ]
    [ "$(status_of netprof compare bad -- killed --fail-on high,unknown)" = 1 ]
    [ "$(status_of netprof compare bad -- killed --fail-on judged)" = 0 ]
    [ "$(status_of netprof compare good -- bad --fail-on critical)" = 0 ]
}

@test "the same command, many times slower; another program" {
    new_tree
    netprof run -q --root tree -o fast -- sh -c '[ -e slow ] && sleep 2; :'
    touch slow
    netprof run -q --root tree -o slow.netprof -- sh -c '[ -e slow ] && sleep 2; :'
    netprof run -q --root tree -o other -- sleep 0.01
    # How long the first one took depends on the machine; that it took less than a tenth of two seconds does not quite.
    netprof compare fast -- slow.netprof --json --fail-on critical,judged >out
    [ "$(jq -c '[.work.amount, .work.slower_by]' out)" = '["same","duration"]' ]
    [ "$(jq '.work.times_slower > 1' out)" = true ]
    [ "$(jq -r '.findings[0].rule' out)" = duration ]
    jq -r .verdict.text out | grep -qE '^[0-9.k ]+ times slower for the same work'
    netprof compare fast -- other --json --fail-on critical,judged >out
    [ "$(jq -r .work.amount out)" = other ]
    jq -e '[.sentences[].text] | any(startswith("Not the same work: another program"))' out >/dev/null
}

@test "CPUs that the command may use" {
    [ "$(nproc)" -gt 1 ] || skip "one CPU"
    new_tree
    netprof run -q --root tree -o all -- true
    taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" netprof run -q --root tree -o one -- true
    compare all -- one --json >out
    [ "$(jq -r '.changed_facts[] | select(.fact == "cpus_allowed") | .faulty' out)" = 1 ]
    jq -e --arg n "$(nproc)" '[.findings[].claim] | any(. == "CPUs that the command may use 1 instead of \($n)")' out >/dev/null
}

@test "a NIC that is missing is a finding" {
    netprof-sim create node --nics 4 --seed 2
    for side in good bad; do
        netprof collect -q --root node --sources cxi -o $side.0
        netprof-sim step node --seconds 10
        netprof collect -q --root node --sources cxi -o $side.1
        [ $side = bad ] || netprof-sim remove node --nic 2
    done
    [ "$(status_of netprof compare good.0 good.1 -- bad.0 bad.1 --fail-on warn)" = 1 ]
    grep -q '^  warn     Port missing on the faulty side: cxi2 (cxi); 3 instead of 4' out
    [ "$(netprof compare good.0 good.1 -- bad.0 bad.1 --json --fail-on critical | jq -r '[.findings[] | select(.rule == "device-missing")][0].severity')" = warn ]
    # Nothing that went with it is taken for a difference of a counter; --all and JSON name it.
    netprof compare good.0 good.1 -- bad.0 bad.1 --fail-on critical >out
    refute grep -q '^Could not be compared' out
    netprof compare good.0 good.1 -- bad.0 bad.1 --all --fail-on critical >out
    sed -n '/^Could not be compared/,/^Counters/p' out | grep -qE '^  cxi2 +hni_sts_tx_ok_octets +ok +absent'
    [ "$(netprof compare good.0 good.1 -- bad.0 bad.1 --json --fail-on critical | jq '[.not_compared[] | select(.device == "cxi2")] | length > 1000')" = true ]
}

@test "text, JSON and report tell the same in the same order" {
    command -v netprof-report >/dev/null || skip "built without cairo"
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000 pct_retry_srb_requests 20480
    compare good.json -- bad.json --json >out.json
    compare good.json -- bad.json >out
    [ "$(grep -cE '^  (high|warn|watch|info|ok|unknown) ' out)" = "$(jq '.sentences | length' out.json)" ]
    [ "$(sed -nE '/^Verdict/,/^$/s/^  ([a-z]+) +.*/\1/p' out | tr '\n' ' ')" = "$(jq -r '.sentences[].severity' out.json | tr '\n' ' ')" ]
    [ "$(jq -c '[.sentences[0:(.findings | length)][].text]' out.json)" = "$(jq -c '[.findings[].claim]' out.json)" ]
    netprof report -o out.html good.json -- bad.json
    sed 's/<[^>]*>//g; s/&#39;/'"'"'/g' out.html >page
    jq -e '.findings | length > 0' out.json
    jq -r '.findings[].claim' out.json | while read -r text; do
        grep -qF "$text" page
    done
    # The sentence on the work is two answers there.
    jq -e '.sentences[] | select(.text == "Same work in the same time: 10.0 GB moved on both sides in 10 s")' out.json
    grep -q 'Same work?.*Yes: 10.0 GB moved on both sides' page
    grep -q 'Slower?.*No: 10 s on both sides' page
}

@test "-o: whole or not at all" {
    run_of good.json
    run_of bad.json hni_tx_paused_1 3100000000
    compare good.json bad.json >expected
    [ -z "$(compare good.json bad.json -o comparison.txt)" ]
    cmp expected comparison.txt
    [ "$(status_of netprof compare good.json bad.json -o no/such/directory.txt)" = 3 ]
    grep -q 'no/such/directory.txt' err
}

@test "nothing in common: 3, forced 4; what cannot be used: 3" {
    make_nic tree cxi0 hni_tx_paused_1=0
    netprof collect -q --root tree -o a.0
    set_counter tree cxi0 hni_tx_paused_1 5 10
    netprof collect -q --root tree -o a.1
    make_nic other cxi7 hni_rx_paused_1=0
    netprof collect -q --root other -o b.0
    set_counter other cxi7 hni_rx_paused_1 5 10
    netprof collect -q --root other -o b.1
    [ "$(status_of netprof compare a.0 a.1 -- b.0 b.1)" = 3 ]
    grep -q 'a.0, a.1 and b.0, b.1: no device in common' err
    [ "$(status_of netprof compare --force a.0 a.1 -- b.0 b.1)" = 4 ]
    grep -q '^Nothing to compare' out
    grep -q 'note: device only on the healthy side, not compared: cxi0 (cxi)' out
    [ "$(status_of netprof compare a.0 a.1 -- missing)" = 3 ]
    [ "$(status_of netprof compare a.0 a.1 --json -- missing)" = 3 ]
    [ "$(jq -r .format out)" = netprof-error ]
    [ "$(status_of netprof compare a.0 a.1)" = 3 ]
    [ "$(status_of netprof compare a.0 a.1 b.0)" = 2 ]
}

@test "a file that is cut: what is there is compared, and said" {
    run_of good.json
    netprof run -q --root tree -o cut.netprof -t 20ms -- sleep 0.3
    size=$(stat -c %s cut.netprof)
    head -c $((size - 20)) cut.netprof >bad.netprof
    [ "$(status_of netprof compare good.json -- bad.netprof)" = 1 ]
    grep -q 'note: parts of the faulty run bad.netprof are missing' out
    grep -q '^netprof compare: bad.netprof: byte' err
}

@test "names from outside are harmless" {
    name=$'ci\033[31m"<x>'
    for side in good bad; do
        rm -rf tree
        mkdir -p "tree/sys/class/cxi/$name/device/telemetry"
        make_nic tree "$name" hni_tx_paused_1=0
        netprof collect -q --root tree -o $side.0
        set_counter tree "$name" hni_tx_paused_1 "$([ $side = good ] && echo 0 || echo 9000000000)" 10
        netprof collect -q --root tree -o $side.1
    done
    compare good.0 good.1 -- bad.0 bad.1 >out
    refute grep -q $'\033' out
    grep -q '^ci\\x1b' out
    compare good.0 good.1 -- bad.0 bad.1 --json | jq -e '.checks[0].devices[0].device | startswith("ci")' >/dev/null
}

@test "the text fits 80 columns but for long names" {
    netprof-sim create node --nics 2 --seed 9
    for file in good.0 good.1 bad.0 bad.1; do
        netprof-sim step node --seconds 10 --scenario "$([ $file = bad.1 ] && echo congestion || echo healthy)"
        netprof collect -q --root node --sources cxi -o $file
    done
    compare good.0 good.1 -- bad.0 bad.1 >out
    awk 'length > 88 { print; bad = 1 } END { exit bad }' out
    [ "$(sed '/^What changed most/,/^Checks/d' out | awk 'length > 80' | wc -l)" = 0 ]
}

@test "a run on both sides, linked, copied or converted: wrong usage, not compared" {
    ends_of a
    ends_of b
    run_of good.netprof
    run_of bad.netprof hni_tx_paused_1 3100000000
    ln -s good.netprof link.netprof
    cp good.netprof copy.netprof
    netprof convert good.netprof good.json
    for other in good link copy; do
        for options in '' '--force' '--json'; do
            # shellcheck disable=SC2086
            [ "$(status_of netprof compare $options good.netprof -- bad.netprof $other.netprof)" = 2 ]
            grep -qE "(^|[^a-z])$other.netprof(: the same run on both sides| was given on both sides)" err out
            refute grep -q 'No difference' out
        done
    done
    [ "$(status_of netprof compare good.netprof good.json)" = 2 ]
    grep -q 'good.netprof and good.json: the same run on both sides' err
    [ "$(status_of netprof compare a.0 a.1 -- a.0 a.1)" = 2 ]
    grep -q 'a.0, a.1 were given on both sides' err
    # text without any time: a copy is known by its bytes
    for end in 5 6; do
        printf '{"counters":[{"id":1,"interface":1,"name":"hni_sts_rx_ok_octets","value":%s}]}' $end >$end.json
        cp $end.json copy$end.json
    done
    [ "$(status_of netprof compare 5.json 6.json -- copy5.json copy6.json)" = 2 ]
    # the end of the one may be the start of the other
    [ "$(status_of netprof compare a.0 a.1 -- a.1 b.1)" != 2 ]
    if command -v netprof-report >/dev/null; then
        [ "$(status_of netprof report -o r.pdf good.netprof -- copy.netprof)" = 2 ]
        grep -q 'good.netprof and copy.netprof: the same run on both sides' err
        [ ! -e r.pdf ]
    fi
}

@test "sides without a device in common, of hosts that are not the same: refused, and forced nothing is found" {
    for end in 5 6; do
        printf '{"counters":[{"id":1,"interface":1,"name":"hni_sts_rx_ok_octets","value":%s}]}' $end >a$end.json
        printf '{"counters":[{"id":1,"interface":2,"name":"hni_sts_rx_ok_octets","value":%s}]}' $end >b$end.json
    done
    [ "$(status_of netprof compare a5.json a6.json -- b5.json b6.json)" = 3 ]
    cat err
    grep -q 'a5.json, a6.json and b5.json, b6.json: no device in common' err
    grep -q -- '--force' err
    [ ! -s out ]
    [ "$(status_of netprof compare --force a5.json a6.json -- b5.json b6.json)" = 4 ]
    grep -q '^Nothing to compare' out
    if command -v netprof-report >/dev/null; then
        [ "$(status_of netprof report -o r.pdf a5.json a6.json -- b5.json b6.json)" = 3 ]
        [ "$(status_of netprof report --force -o r.pdf a5.json a6.json -- b5.json b6.json)" = 4 ]
        [ ! -e r.pdf ]
    fi
}

@test "a real node against itself: no difference" {
    need_aurora
    # The same, an hour and a bit later: a run of its own.
    for file in before after; do
        sed -E 's/@17462/@17466/' "$aurora/$file.txt" >later.$file.txt
    done
    compare "$aurora/before.txt" "$aurora/after.txt" -- later.before.txt later.after.txt >out
    grep -q '^No difference beyond chance' out
    refute grep -q '^What changed most' out
}
