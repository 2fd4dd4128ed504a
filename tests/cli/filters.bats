#!/usr/bin/env bats
# --include, --exclude and --sources on files, after the fact: what is left out is in no figure, and no verdict is about it.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# Two NICs, of which the second loses its link and counts errors.
make_runs() {
    netprof-sim create node --nics 2 --seed 7
    netprof collect -q --root node -o before.netprof
    netprof-sim step node --seconds 1
    netprof collect -q --root node -o well.netprof
    echo "$(($(netprof-sim get node hni_pcs_uncorrected_cw --nic 1) + 500000))" >wanted
    set_counter node cxi1 hni_pcs_uncorrected_cw "$(cat wanted)" 100
    netprof collect -q --root node -o after.netprof
}

@test "check: a fault of what is left out is not told, and the verdict says what it is about" {
    make_runs
    netprof check before.netprof after.netprof --json --fail-on critical >all.json || [ $? -le 5 ]
    jq -e '[.findings[] | select(.device == "cxi1")] | length > 0' all.json
    jq -e 'has("filter") | not' all.json
    for options in '-i cxi0' '-x cxi1' '-x cxi1,ip/*'; do
        # shellcheck disable=SC2086
        netprof check before.netprof after.netprof --json --fail-on critical $options >some.json || [ $? -le 5 ]
        jq -e '[.. | strings | select(test("cxi1")) | select(test("exclude") | not)] == []' some.json
        jq -e '.verdict.text | test("; looked only at what --(in|ex)clude .* leaves$")' some.json
        jq -e '.filter | test("^what --")' some.json
    done
    netprof check before.netprof after.netprof -i 'cxi1/*' --fail-on critical >out || [ $? -le 5 ]
    grep -q 'cxi1' out
    # a counter that is left out is no good news of it
    netprof check before.netprof after.netprof -x '*/hni_pcs_*' --json --fail-on critical >some.json || [ $? -le 5 ]
    jq -e '[.findings[].evidence[]?.counter | select(startswith("hni_pcs_"))] == []' some.json
    jq -e '.verdict.text | test("looked only at what --exclude")' some.json
    [ "$(status_of netprof check before.netprof after.netprof -i 'nosuch*')" = 4 ]
    grep -q 'there is nothing that --include nosuch\* leaves' err
    [ "$(status_of netprof check before.netprof after.netprof -s rdma)" = 4 ]
    netprof check --now -t 100ms -i lo --json --fail-on critical >now.json || [ $? -le 5 ]
    jq -e '.filter == "what --include lo leaves"' now.json
}

@test "diff: what is left has the same figures as in the whole, and nothing else is there" {
    make_runs
    netprof diff before.netprof well.netprof --csv --all | tr -d '\r' | sort >all.csv
    netprof diff before.netprof well.netprof --csv --all -i 'cxi0/hni_sts_*' -x '*/*tx*' | tr -d '\r' | sort >some.csv
    [ "$(wc -l <some.csv)" -gt 2 ]
    [ -z "$(comm -13 all.csv some.csv)" ]
    grep -v '^device,' some.csv | awk -F, '$1 != "cxi0" || $0 !~ /hni_sts_/ || $0 ~ /tx/ { print "odd: " $0; exit 1 }'
    # the same as if nothing else had been read
    rx=$(netprof diff before.netprof well.netprof --json | jq '.devices[] | select(.device == "cxi1").traffic.rx_bytes')
    [ "$(netprof diff before.netprof well.netprof --json -i cxi1 | jq '.devices[] | select(.device == "cxi1").traffic.rx_bytes')" = "$rx" ]
    netprof diff before.netprof well.netprof -s cxi >out
    grep -q '^Looked only at what --sources cxi leaves\.$' out
    refute grep -q '^Looked only' <(netprof diff before.netprof well.netprof)
    [ "$(status_of netprof diff before.netprof well.netprof -x '*')" = 4 ]
}

@test "compare: the first line says what was compared" {
    for i in 1 2 3 4; do netprof run -q -o "$i.netprof" -- true; done
    netprof compare --json --fail-on critical -i lo 1.netprof 2.netprof -- 3.netprof 4.netprof >some.json || [ $? -le 5 ]
    jq -e '.verdict.text | endswith("; looked only at what --include lo leaves")' some.json
    jq -e '.filter == "what --include lo leaves"' some.json
    netprof compare --json --fail-on critical 1.netprof 2.netprof -- 3.netprof 4.netprof >all.json || [ $? -le 5 ]
    jq -e '.verdict.text | test("looked only") | not' all.json
    [ "$(status_of netprof compare -i nosuch 1.netprof 2.netprof)" = 4 ]
}

@test "diff --since-last: what happened since the same user asked, in a file that only it may replace" {
    netprof-sim create node --nics 1
    export XDG_STATE_HOME=$PWD/state
    [ "$(status_of netprof diff --since-last --root node)" = 2 ] # of which node?
    [ "$(status_of netprof diff --since-last --root node --state kept)" = 4 ]
    grep -q 'nobody asked before: this reading is kept in kept' err
    for round in 1 2; do
        before=$(netprof-sim get node hni_sts_rx_ok_octets --nic 0)
        netprof-sim step node --seconds 1
        netprof diff --since-last --root node --state kept --json >since.json
        moved=$(($(netprof-sim get node hni_sts_rx_ok_octets --nic 0) - before))
        [ "$moved" -gt 0 ]
        [ "$(jq '.devices[] | select(.device == "cxi0").traffic.rx_bytes' since.json)" = "$moved" ]
    done
    # looking at a part keeps all
    netprof-sim step node --seconds 1
    netprof diff --since-last --root node --state kept -i 'cxi0/hni_sts_*' >/dev/null
    netprof diff --since-last --root node --state kept --json | jq -e '.devices[] | select(.device == "cxi0").counter_count > 1000'
    # of another command, a link, another boot
    netprof collect -q --root node -o run.netprof
    cp run.netprof copy
    [ "$(status_of netprof diff --since-last --root node --state run.netprof)" = 3 ]
    cmp run.netprof copy
    ln -s kept link
    [ "$(status_of netprof diff --since-last --root node --state link)" = 3 ]
    # this node, in the user's own place
    [ "$(status_of netprof diff --since-last)" = 4 ]
    [ "$(stat -c %a state/netprof)" = 700 ]
    [ "$(status_of netprof diff --since-last -s netdev)" = 0 ]
    [ "$(status_of netprof diff --since-last x.netprof)" = 2 ]
    [ "$(status_of netprof diff --state x run.netprof run.netprof)" = 2 ]
}
