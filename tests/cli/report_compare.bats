# netprof report HEALTHY... -- FAULTY...
load common

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    netprof-sim create node --nics 4 --seed 3
    for side in good other bad; do
        netprof collect -q --root node -o $side.0.netprof
        netprof-sim step node --seconds 30 --scenario "$([ $side = bad ] && echo congestion || echo healthy)"
        netprof collect -q --root node -o $side.1.netprof
    done
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    runs='good.0.netprof good.1.netprof other.0.netprof other.1.netprof -- bad.0.netprof bad.1.netprof'
    command -v netprof-report >/dev/null || skip "built without cairo"
}

@test "the page says what the comparison says" {
    # shellcheck disable=SC2086
    title=$(netprof compare --json $runs | jq -r .verdict.text)
    # shellcheck disable=SC2086
    netprof report -o a.pdf $runs
    pdftotext -layout a.pdf a.txt
    # The title may be broken over lines.
    tr -s ' \n\302\240' ' ' <a.txt >flat.txt
    grep -qF "${title:0:24}" flat.txt
    grep -q 'What changed ' a.txt
    grep -q 'Everything that differs' a.txt
    netprof check --json bad.0.netprof bad.1.netprof >check.json || [ $? -eq 1 ]
    worst=$(jq -r .verdict.severity check.json)
    grep -qw "${worst^^}" a.txt
    refute grep -qw BAD a.txt
}

@test "checks that turned, with both marks and the threshold; small values have digits; rows have names of their own" {
    # shellcheck disable=SC2086
    netprof report -o a.pdf $runs
    pdftotext -layout a.pdf - | sed 's/\xc2\xa0\|\xe2\x80\xaf/ /g' >a.txt
    grep -qE 'OK *→ *HIGH' a.txt
    grep -q 'The work and its time' a.txt
    grep -qE 'throughput +[0-9.]+.*B/s' a.txt
    sed -n '/Checks that found something/,/All that changed/p' a.txt | grep -qE 'egress-paused +cxi[0-9] +OK → HIGH .*% .*% +(>|≥) *[0-9]+ *% +1 of 1 +0 of 2'
    refute grep -qF '<.1' a.txt
    # shellcheck disable=SC2086
    netprof report --chart by-device -o a.svg $runs
    [ -z "$(grep -oE '>[a-z][^<]{12,}<' a.svg | grep -vE '^>(only|cxi[0-9]:)' | sort | uniq -d)" ]
}

@test "what was well on every device is a sentence; few bits of many are told in a unit that people read" {
    # shellcheck disable=SC2086
    netprof report -o a.html $runs
    # shellcheck disable=SC2086
    netprof report --chart health --data health.csv -o health.svg $runs
    sed 's/<[^>]*>//g' a.html | tr -s ' \n' ' ' >words
    said=$(grep -o 'Judged alike on all 4 devices, healthy and faulty: OK [^.]*' words | head -1)
    # what congestion turned has a row, what it left alone has none
    grep -q 'Held by the network' health.csv
    refute grep -q 'Held by the network' <<<"$said"
    grep -q 'Link went down' <<<"$said"
    refute grep -q 'Link went down' health.csv
    refute grep -qE '[0-9]e-[0-9]' health.csv
}

@test "nothing lies over another text or outside, on both papers" {
    for paper in a4 letter; do
        # shellcheck disable=SC2086
        run netprof report --check-layout --paper $paper $runs
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "the same bytes twice, and sound files" {
    # shellcheck disable=SC2086
    netprof report -o a.pdf $runs && netprof report -o b.pdf $runs && netprof report -o a.html $runs
    cmp a.pdf b.pdf
    qpdf --check a.pdf >/dev/null
    [ -z "$(pdffonts a.pdf | awk 'NR > 2 && !/yes yes/ { print }' | grep -v ' yes ' || true)" ]
    xmllint --noout --html a.html 2>/dev/null || true
    grep -q 'What changed' a.html
}

@test "a run against one that counted the same: no difference, and a page that says so" {
    for end in 0 1; do # a second later: a run of its own
        netprof convert good.$end.netprof same.$end.json
        jq '.snapshots[].time_ns += 1000000000' same.$end.json >later.$end.json
    done
    netprof report -o same.pdf same.0.json same.1.json -- later.0.json later.1.json
    pdftotext same.pdf - | tr '\n' ' ' | grep -q 'No counter differs'
}

@test "a side without files is refused" {
    run netprof report -o x.pdf good.0.netprof good.1.netprof --
    [ "$status" -eq 2 ]
    run netprof report -o x.pdf -- good.0.netprof good.1.netprof
    [ "$status" -eq 2 ]
    [ ! -e x.pdf ]
}

@test "the dark theme: another ground, in every format; HTML keeps to one" {
    # shellcheck disable=SC2086
    for theme in light dark; do
        netprof report --theme $theme -o $theme.html $runs
        netprof report --theme $theme --chart changes -o $theme.svg $runs
        netprof report --theme $theme --chart changes -o $theme.png $runs
        netprof report --theme $theme --brief -o $theme.pdf $runs
        pdftoppm -r 20 -f 1 -l 1 -singlefile $theme.pdf $theme
        pdfinfo -struct $theme.pdf >$theme.tags
        netprof report --theme $theme -o $theme.all.pdf $runs
        pdfinfo -struct $theme.all.pdf >$theme.all.tags
    done
    grep -q '^Document' dark.tags
    cmp light.tags dark.tags
    grep -q '^Document' dark.all.tags
    cmp light.all.tags dark.all.tags
    refute_same() { ! cmp -s "$1" "$2"; }
    for format in html svg png ppm; do refute_same light.$format dark.$format; done
    # A point of the upper margin, as red green blue.
    [ "$(tail -c +1201 light.ppm | head -c 3 | od -An -tu1 | tr -s ' ')" = ' 255 255 255' ]
    [ "$(tail -c +1201 dark.ppm | head -c 3 | od -An -tu1 | awk '{ print ($1 < 80 && $2 < 80 && $3 < 80) }')" = 1 ]
    refute grep -q prefers-color-scheme light.html
    refute grep -q prefers-color-scheme dark.html
    # shellcheck disable=SC2086
    run netprof report --theme pink -o x.pdf $runs
    [ "$status" -eq 2 ]
}

@test "one event is one line: what the first finding explains, and how sure the runs make it" {
    netprof-sim create host --nics 8 --seed 1 >/dev/null
    for side in fine more slow; do
        netprof collect -q --root host -o $side.a.netprof
        netprof-sim step host --seconds 30 --scenario "$([ $side = slow ] && echo write-pressure || echo healthy)"
        netprof collect -q --root host -o $side.b.netprof
    done
    netprof report -o one.pdf fine.a.netprof fine.b.netprof more.a.netprof more.b.netprof -- slow.a.netprof slow.b.netprof
    pdftotext -layout -l 1 one.pdf one.txt
    sed -n '/VERDICT/,/^Along the path/p' one.txt >box
    [ "$(grep -c ' HIGH ' box)" = 2 ]
    tr -s ' \n\302\240' ' ' <box >flat
    grep -q 'Explained by it .*the receive buffer was full .*; .*receive blocked: this host drains slowly' flat
    [ "$(grep -o 'by chance' flat | wc -l)" = 1 ]
    refute grep -q 'hni_pause_sent\|ixe_dmawr_stall' flat # on NICs of which a check spoke
    refute grep -q '…' box
}

@test "a slower run: same work, what differs, what it is not, where it backs up, what to look at" {
    netprof-sim create pair --nics 4 --seed 1 >/dev/null
    for side in fine slow; do
        netprof collect -q --root pair -o $side.c.netprof
        netprof-sim step pair --seconds 30 --scenario "$([ $side = slow ] && echo write-pressure || echo healthy)" --nic 2
        [ $side = fine ] || netprof-sim step pair --seconds 40 --scenario idle
        netprof collect -q --root pair -o $side.d.netprof
    done
    netprof report -o slower.pdf fine.c.netprof fine.d.netprof -- slow.c.netprof slow.d.netprof
    pdftotext -layout -l 1 slower.pdf - | sed 's/\xc2\xa0\|\xe2\x80\xaf/ /g' >slower.txt
    grep -qE 'Same work\? +Yes: [0-9.]+ TB moved' slower.txt
    grep -qE 'Slower\? +Yes: 2.33 times slower, 70.0 s instead of 30.0 s; one run on each side' slower.txt
    grep -qE 'What differs\? +cxi2: PCIe writes were blocked' slower.txt
    grep -qE 'What it is not +Not the cable: 0 damaged beyond repair' slower.txt
    grep -qE 'Look next +' slower.txt
    sed -n '/Along the path/,/Work over time/p' slower.txt | grep -q 'it backs up this way'
    grep -q '40.0 s later' slower.txt
    # One event, one row: pauses sent, buffers, PCIe cycles are counted behind it.
    sed -n '/^What changed/,/^Checks/p' slower.txt >changed.txt
    grep -qE 'PCIe writes blocked +\+[1-9].* cxi2 .*HIGH' changed.txt
    refute grep -q 'hni_rx_paused\|hni_pause' changed.txt
}

@test "a cable that got worse is not called not the cable" {
    netprof-sim create wire --nics 2 --seed 2 >/dev/null
    for side in well ill; do
        netprof collect -q --root wire -o $side.a.netprof
        netprof-sim step wire --seconds 30 --scenario "$([ $side = ill ] && echo link-uncorrected || echo healthy)" --nic 1
        netprof collect -q --root wire -o $side.b.netprof
    done
    netprof report -o wire.pdf well.a.netprof well.b.netprof -- ill.a.netprof ill.b.netprof
    pdftotext -layout -l 1 wire.pdf wire.txt
    grep -q 'What differs?' wire.txt
    refute grep -q 'Not the cable' wire.txt
}

@test "runs of several nodes are not said to be of one of them" {
    for node in a b c; do
        netprof-sim create $node --nics 1 --seed 1 >/dev/null
        mkdir -p $node/proc/sys/kernel
        echo "node-$node" >$node/proc/sys/kernel/hostname
        netprof collect -q --root $node -o $node.0.netprof
        netprof-sim step $node --seconds 10 --scenario healthy >/dev/null
        netprof collect -q --root $node -o $node.1.netprof
    done
    netprof report --brief -o nodes.html {a,b}.{0,1}.netprof -- c.{0,1}.netprof
    grep -q 'healthy: 2 runs' nodes.html
    refute grep -q '2 runs.*node node-a' nodes.html
    grep -q 'faulty: 1 run.*node node-c' nodes.html
}

# A NIC that receives 3 GB/s and sends 6: for 30 s; and for 10 s, then half as fast for 40 s: the same bytes.
samples() {
    "$NETPROF_TEST_TOP/tests/cli/series_json" even.json --nics 1 --snapshots 31
    "$NETPROF_TEST_TOP/tests/cli/series_json" halved.json --nics 1 --snapshots 51 --start 1700001000
    python3 - <<'PYTHON'
import json
for name in ("even", "halved"):
    with open(name + ".json", encoding="utf-8") as f:
        d = json.load(f)
    for t, snapshot in enumerate(d["snapshots"]):
        done = t if name == "even" or t <= 10 else 10 + (t - 10) / 2
        values = snapshot["devices"][0]["values"]
        values["hni_sts_rx_ok_octets"], values["hni_sts_tx_ok_octets"] = int(done * 3e9), int(done * 6e9)
    with open(name + ".json", "w", encoding="utf-8") as f:
        json.dump(d, f)
PYTHON
}

@test "runs with samples: how far each was at what time, and how fast it moved for how long" {
    samples
    netprof report -o w.svg --chart work-over-time --data w.csv even.json -- halved.json
    # 90 GB at 10 s, as fast as the other; 180 GB at 30 s, where the other had all 270.
    awk -F, '{ at[$1 "," $2] = $3 } END { exit !(at["faulty,10"] == 9e10 && at["faulty,30"] == 1.8e11 &&
        at["healthy,30"] == 2.7e11 && at["faulty,50"] == 2.7e11) }' w.csv
    netprof report -o s.svg --chart spread --data s.csv even.json -- halved.json
    # from, to, seconds of the faulty run, of the healthy one
    awk -F, 'NR > 1 { slow += $1 < 6e9 ? $3 : 0; fast += $1 >= 6e9 ? $3 : 0; other += $1 >= 6e9 ? $4 : 0; all += $4 }
        END { exit !(slow > 39.9 && slow < 40.1 && fast > 9.9 && fast < 10.1 && other > 29.9 && all < 30.1) }' s.csv
    netprof report -o a.pdf even.json -- halved.json
    pdftotext -layout -l 1 a.pdf a.txt
    grep -q 'Work over time .*by samples' a.txt
    grep -q 'Throughput' a.txt
    netprof report --check-layout even.json -- halved.json
}

@test "runs with regions: how long the steps of the program took, on both sides" {
    for side in fine slow; do
        mkdir -p steps/$side
        cp good.0.netprof good.1.netprof steps/$side
    done
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 4 steps/fine
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 8 -s 1 steps/slow
    rm steps/slow/good.*
    cp bad.0.netprof bad.1.netprof steps/slow
    netprof report -o t.svg --chart spread --data t.csv steps/fine -- steps/slow
    # Of both sides every call is in some bin: 4 and 8 ranks with 2000 steps each.
    awk -F, 'NR > 1 { f += $3; h += $4 } END { exit !(f == 16000 && h == 8000) }' t.csv
    head -n 1 t.csv | grep -qE 'faulty [0-9.]+[^0-9]*(ms|s): steps'
    netprof report -o p.pdf steps/fine -- steps/slow
    pdftotext -layout -l 1 p.pdf - | grep -q "Time per step *each side's calls of step; means"
    netprof report --check-layout steps/fine -- steps/slow
}
