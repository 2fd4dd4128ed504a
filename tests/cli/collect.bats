#!/usr/bin/env bats
# netprof collect and netprof convert

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_nic tree cxi0 hni_sts_rx_ok_octets=1000 hni_sts_tx_ok_octets=18446744073709551615 hni_tx_paused_0=3
}

value_in() { # FILE COUNTER
    jq -r ".snapshots[0].devices[0].values.$2" "$1"
}

@test "the ending tells the format" {
    netprof collect --root tree -o a.netprof
    netprof collect --root tree -o a.json
    netprof collect --root tree -o - >stdout.json
    [ "$(jq -r .format a.json)" = netprof ]
    [ "$(value_in a.json hni_sts_rx_ok_octets)" = 1000 ]
    [ "$(value_in stdout.json hni_tx_paused_0)" = 3 ]
    netprof convert a.netprof b.json
    [ "$(jq .snapshots[0].devices[0].values a.json)" = "$(jq .snapshots[0].devices[0].values b.json)" ]
    grep -q 18446744073709551615 b.json
}

@test "include, exclude, set" {
    netprof collect --root tree -o a.json --include 'cxi0/hni_sts*' --exclude '*/*tx*'
    [ "$(jq -r '.snapshots[0].devices[0].values | keys[]' a.json)" = hni_sts_rx_ok_octets ]
    netprof collect --root tree -o b.json --set fast --fast-set '*/hni_tx_paused_0'
    [ "$(value_in b.json hni_tx_paused_0)" = 3 ]
    [ "$(value_in b.json hni_sts_rx_ok_octets)" = null ]
}

@test "several snapshots" {
    netprof collect --root tree -o a.netprof --count 3 --interval 10ms
    netprof convert a.netprof a.json
    [ "$(jq '.snapshots | length' a.json)" = 3 ]
    [ "$(jq -r .facts.interval_ns a.json)" = 10000000 ]
}

@test "an interrupt leaves a whole file" {
    netprof collect --root tree -o a.netprof --count 0 --interval 20ms &
    pid=$!
    wait_for_readings a.netprof 1
    kill -INT $pid || true # ignored where bats starts background jobs so
    kill -TERM $pid 2>/dev/null || true
    wait $pid
    netprof convert a.netprof a.json 2>err
    [ ! -s err ]
    [ "$(jq '.snapshots | length' a.json)" -ge 1 ]
    netprof collect --root tree -o b.netprof --count 100 --interval 1h 2>err &
    pid=$!
    temporary() { compgen -G 'b.netprof*' >/dev/null; } # a temporary name
    wait_until 60 temporary
    wait_for_readings b.netprof* 1
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 1 ]
    grep -q 'interrupted: 1 of 100 snapshots' err
    netprof convert b.netprof b.json
}

@test "names in the path, job facts in the file" {
    SLURM_JOB_ID=4711 SLURM_PROCID=3 SLURM_JOB_NAME=a/b netprof collect --root tree -o 'x-%j-%r-%%.json'
    [ "$(jq -r '.facts | "\(.job_id) \(.rank) \(.job_name)"' x-4711-3-%.json)" = '4711 3 a/b' ]
    SLURM_JOB_ID=../../etc netprof collect --root tree -o 'y-%j.json'
    [ -e y-.._.._etc.json ]
}

@test "counters that cannot be read are said, and no failure" {
    printf 'rubbish\n' >tree/sys/class/cxi/cxi0/device/telemetry/hni_tx_paused_0
    netprof collect --root tree -o a.json 2>err
    grep -q '1 without a value' err
    [ "$(value_in a.json hni_tx_paused_0)" = null ]
    [ "$(value_in a.json hni_sts_rx_ok_octets)" = 1000 ]
}

@test "a file that cannot be written: exit code 3, nothing left behind, the old one untouched" {
    [ "$(status_of netprof collect --root tree -o no/such/dir/a.netprof)" = 3 ]
    grep -q 'no/such/dir/a.netprof' err
    [ "$(status_of netprof collect --root tree -o no/such/dir/a.json)" = 3 ]
    mkdir place
    echo old >place/a.json
    mkdir place/b.json
    [ "$(status_of netprof collect --root tree -o place/b.json)" = 3 ]
    [ "$(cat place/a.json)" = old ]
    [ "$(ls place)" = "$(printf 'a.json\nb.json')" ]
}

@test "convert: there and back is the same" {
    netprof collect --root tree -o a.netprof
    netprof convert a.netprof a.json
    netprof convert a.json b.netprof
    netprof convert b.netprof b.json
    cmp a.json b.json
    netprof convert - --to csv - <a.netprof >a.csv
    grep -q 'cxi0,.*hni_sts_rx_ok_octets.*,1000' a.csv
    netprof convert --to net_prof a.netprof n.json
    jq '.counters |= map(.timestamp += 1)' n.json >later.json
    netprof diff n.json later.json --json | jq -e '.totals.counter_count == 3'
    [ "$(status_of netprof convert --from json a.netprof c.json)" = 3 ]
    [ ! -e c.json ]
}

@test "convert: a cut file gives what there is and exit code 1" {
    netprof collect --root tree -o a.netprof --count 4 --interval 1ms
    size=$(stat -c %s a.netprof)
    head -c $((size - 20)) a.netprof >cut.netprof
    [ "$(status_of netprof convert cut.netprof cut.json)" = 1 ]
    [ -s err ]
    [ "$(jq '.snapshots | length' cut.json)" -ge 1 ]
    [ "$(status_of netprof diff cut.netprof a.netprof)" = 1 ]
}

@test "collect: without an end, each snapshot is a line of JSON, at once, until the reader goes away" {
    netprof-sim create node --nics 1
    mkfifo pipe
    netprof collect --count 0 --interval 20ms --root node -o - >pipe &
    writer=$!
    exec 8<pipe
    read -r first <&8 # before the writer ends
    netprof-sim step node --seconds 1
    for i in $(seq 50); do
        read -r last <&8
        [ "$(jq '.snapshots[0].devices[] | select(.device == "cxi0") | .values.hni_sts_rx_ok_octets' <<<"$last")" = "$(netprof-sim get node hni_sts_rx_ok_octets --nic 0)" ] && break
    done
    exec 8<&-
    wait $writer || true # it noticed
    for line in "$first" "$last"; do jq -e '.format == "netprof" and (.snapshots | length) == 1' <<<"$line"; done
    # such lines are one run for every command
    printf '%s\n%s\n%s\n' "$first" "$first" "$last" >lines.json
    netprof convert lines.json one.json
    [ "$(jq '.snapshots | length' one.json)" = 3 ]
    moved=$(($(netprof-sim get node hni_sts_rx_ok_octets --nic 0) - $(jq '.snapshots[0].devices[] | select(.device == "cxi0") | .values.hni_sts_rx_ok_octets' <<<"$first")))
    [ "$moved" -gt 0 ]
    [ "$(netprof diff --json lines.json | jq '.devices[] | select(.device == "cxi0") | .traffic.rx_bytes')" = "$moved" ]
    printf '%s\n%s' "$first" "${last:0:500}" >cut.json # a line that is cut
    [ "$(status_of netprof convert cut.json rest.json)" = 1 ]
    grep -q 'cut.json: line 2: .*what comes before was used' err
    [ "$(jq '.snapshots | length' rest.json)" -ge 1 ]
    printf '%s\n{"format":"netprof",]\n%s\n' "$first" "$last" >bad.json # a line that is none
    [ "$(status_of netprof convert bad.json rest.json)" = 1 ]
    grep -q 'bad.json: line 2: ' err
    [ "$(jq '.snapshots | length' rest.json)" = 2 ]
}

@test "collect: a directory of the class cxi, or one NIC's telemetry, wherever it is" {
    mkdir -p copy/cxi3/device/telemetry
    cp tree/sys/class/cxi/cxi0/device/telemetry/* copy/cxi3/device/telemetry/
    netprof collect -o class.netprof copy
    netprof collect -o nic.netprof copy/cxi3/device/telemetry/
    netprof convert class.netprof class.json
    netprof convert nic.netprof nic.json
    [ "$(jq -r '.schemas[0].devices | map(.device) | join(" ")' class.json)" = cxi3 ]
    [ "$(value_in class.json hni_tx_paused_0)" = 3 ]
    for file in class nic; do
        # every file's number, as it stands there
        for counter in copy/cxi3/device/telemetry/*; do
            name=$(basename "$counter")
            [ "$name" != ALL_in_binary ] || continue
            echo "$file $name"
            grep -Eq "\"$name\": *$(sed 's/@.*//' "$counter")[^0-9]" $file.json
        done
    done
    [ "$(status_of netprof collect -o x.netprof /etc)" = 3 ]
    grep -q 'expected a directory of NICs' err
    [ "$(status_of netprof collect -o x.netprof missing)" = 3 ]
    [ "$(status_of netprof collect -o x.netprof copy copy)" = 2 ]
    [ ! -e x.netprof ]
    [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'netprof-collect.*')" ]
}
