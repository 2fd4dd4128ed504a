#!/usr/bin/env bats
# The report of recordings: a job on one time axis.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'no netprof-report here'
    command -v python3 >/dev/null || skip 'no python3'
    cd "$BATS_TEST_TMPDIR" || return
    series=$NETPROF_TEST_TOP/tests/cli/series_json
}

well_formed() {
    if command -v xmllint >/dev/null; then xmllint --noout "$@"; fi
}

need() {
    command -v "$1" >/dev/null || skip "no $1"
}

text_of() {
    pdftotext -layout "$1" - | tr -s ' \n\f\342\200\257' ' '
}

check_layout() {
    local paper
    for paper in a4 letter; do
        netprof-report --check-layout --paper "$paper" "$@" >layout || { cat layout; return 1; }
    done
}

@test "network files of several hosts are a job on one time axis" {
    for i in 1 2 3; do
        "$series" "n$i.json" --host "node$i" --nics 2 --snapshots 10 --start $((1700000000 + 5 * i))
    done
    netprof-report -o hosts.html n1.json n2.json n3.json
    well_formed hosts.html
    grep -q '3 nodes' hosts.html
    grep -q 'node3 NIC 2 (cxi1)' hosts.html
    grep -q '2023-11-14 22:13:25' hosts.html # 1700000005, the first of all
    # Each node sends 2000 and 4000 bytes/s, receives half of that.
    python3 - <<'END'
import re
text = re.sub(r"<[^>]+>", "\n", open("hosts.html", encoding="utf-8").read()).replace("\u202f", " ")
words = re.sub(r"\n+", "\n", text)
assert "Network sent\n6.00 kB/s\n" in words, words[:4000]
assert "Network received\n3.00 kB/s\n" in words
assert "162 kB" in words # 3 nodes x 9 s x 6000 bytes/s
END
    check_layout n1.json n2.json n3.json
    netprof-report --brief -o page.svg n1.json n2.json n3.json
    well_formed page.svg
    netprof-report --chart time-lines -o lines.svg n1.json n2.json n3.json
    well_formed lines.svg
}

@test "a file with a single snapshot among others is said and left out" {
    "$series" a.json --snapshots 5
    "$series" b.json --host n2 --snapshots 1
    [ "$(status_of netprof-report -o x.pdf a.json a.json b.json)" -eq 1 ]
    grep -q 'b.json' err
    [ -s x.pdf ]
    [ "$(status_of netprof-report -o y.pdf b.json b.json b.json)" -eq 3 ]
    grep -q 'b.json' err
    [ ! -e y.pdf ]
}

@test "a recording of this node: every format, sound, laid out, the same bytes twice" {
    netprof record -o r.netprof --interval 50ms --duration 1s --job none
    netprof-report -o a.pdf r.netprof
    netprof-report -o b.pdf r.netprof
    cmp a.pdf b.pdf
    netprof-report -o a.html r.netprof
    netprof-report -o b.html r.netprof
    cmp a.html b.html
    well_formed a.html
    refute grep -qi '<script' a.html
    netprof-report --brief -o a.svg r.netprof
    netprof-report --brief --theme dark -o a.png r.netprof
    well_formed a.svg
    [ "$(head -c 8 a.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
    check_layout r.netprof
    netprof-report --list-charts r.netprof >charts
    grep -q '^use' charts
    grep -q '^cpu-lines' charts
    need pdfinfo
    pdfinfo a.pdf | grep -q '^Title:'
    if command -v qpdf >/dev/null; then qpdf --check a.pdf >/dev/null; fi
}

@test "a run with an interval is a job, too: its command, its CPU time, its memory" {
    need pdftotext
    mkfifo full go
    netprof run -q --interval 20ms -o r.netprof -- python3 -c '
block = bytearray(200 << 20)
for i in range(0, len(block), 4096): block[i] = 1
open("full", "w").close()
open("go").read()' &
    timeout 60 cat full
    wait_for_readings r.netprof $(($(readings r.netprof) + 20))
    echo >go
    wait $!
    netprof-report -o r.pdf r.netprof
    text=$(text_of r.pdf)
    [[ $text == *'What the system did'* ]]
    [[ $text == *'Memory, most at once'* ]]
    [[ $text == *'python3 '*'node '* ]]
    check_layout r.netprof
    # The memory's peak is what was touched, and little more: 200 MiB + Python.
    netprof-report --chart nodes -o nodes.pdf r.netprof
    peak=$(pdftotext -layout nodes.pdf - | tr '\342\200\257' ' ' | grep -oE '[0-9.]+ +MiB' | tail -n 1 | tr -dc '0-9.')
    python3 -c "assert 200 <= float('$peak') < 260, '$peak'"
}

@test "one second with two samples has a report" {
    netprof record -o r.netprof --interval 1s --duration 1s --job none
    netprof-report -o r.pdf r.netprof
    check_layout r.netprof
}

@test "phases are drawn and counted" {
    need pdftotext
    "$series" a.json --host node1 --nics 1 --snapshots 21
    "$series" b.json --host node2 --nics 1 --snapshots 21
    printf '1700000000 load\n1700000005.5 solve\n1700000015 -\n' >phases.txt
    netprof-report -o p.pdf --phases phases.txt a.json b.json a.json
    pdftotext -layout p.pdf - | tr '\342\200\257' ' ' | tr -s ' ' >text
    grep -qE '^ ?load 5.50 s 2.00 kB/s' text
    grep -qE '^ ?solve 9.50 s 2.00 kB/s' text
    [ "$(status_of netprof-report -o x.pdf --phases none.txt a.json b.json a.json)" -ne 0 ]
    grep -q 'none.txt' err
}

@test "a directory of recordings is one job; a cut file is said" {
    mkdir job
    netprof record -o job/a.netprof --interval 50ms --duration 500ms --job none
    netprof-report -o a.pdf job
    head -c $(($(stat -c %s job/a.netprof) * 2 / 3)) job/a.netprof >job/b.netprof
    [ "$(status_of netprof-report -o b.pdf job)" -eq 1 ]
    grep -q 'b.netprof' err
    [ -s b.pdf ]
    rm job/a.netprof
    [ "$(status_of netprof-report -o c.pdf job)" -eq 3 ]
    [ ! -e c.pdf ]
}

@test "a job in Chromium at 400, 900 and 1400 pixels, light, dark and on paper" {
    for i in 1 2 3; do
        "$series" "n$i.json" --host "node$i" --nics 2 --snapshots 30 --gap 10,14 --retries 20
    done
    netprof-report -o a.html n1.json n2.json n3.json
    status=0
    timeout 600 "$NETPROF_TEST_TOP/tests/html/check_page" a.html >said || status=$?
    [ "$status" -ne 77 ] || skip 'no Chromium'
    [ "$status" -eq 0 ] || { cat said; return 1; }
}

@test "report of a job: of a node without a figure no value is called known" {
    netprof record -q -o a.netprof --interval 50ms --duration 300ms --job none --sources cpu,memory
    SLURMD_NODENAME=n2 netprof record -q -o b.netprof --interval 50ms --duration 300ms --job none --sources cpu
    netprof report -o x.svg --chart memory-nodes a.netprof b.netprof
    grep -q '>n2<' x.svg
    refute grep -q '>known<' x.svg
}

@test "the scale of pauses is the same for all jobs: one in a thousand is pale, not solid" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 1 -t 2 -i 1 job # 0.1 % paused
    netprof-report --chart time-paused -o paused.svg job
    grep -q '>50.\?.\?.\?%</text>' paused.svg
}

@test "a PDF has a language, and lines of its verdict lead to their charts" {
    command -v qpdf >/dev/null || skip "no qpdf"
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 16 -t 3600 -i 10 job >/dev/null
    netprof report -o a.pdf job
    qpdf --check a.pdf >/dev/null
    qpdf --qdf --object-streams=disable a.pdf plain.pdf
    grep -aq '/Lang (en)' plain.pdf
    grep -aq '/DisplayDocTitle true' plain.pdf
    [ "$(grep -ac '/Subtype /Link' plain.pdf)" -ge 2 ]
    # every one of them leads to a page that there is
    pages=$(qpdf --show-pages a.pdf | sed -n 's/^page [0-9]*: \([0-9]*\) 0 R$/\1/p')
    for to in $(grep -ao '/Dest \[[0-9]*' a.pdf | grep -o '[0-9]*'); do
        grep -qx "$to" <<<"$pages"
    done
    # each is in the tree of tags, under the verdict, and says where it leads
    [ "$(grep -ac '/S /Link' plain.pdf)" = "$(grep -ac '/Subtype /Link' plain.pdf)" ]
    [ "$(grep -ac '/StructParent ' plain.pdf)" = "$(grep -ac '/Subtype /Link' plain.pdf)" ]
    pdfinfo -struct a.pdf | grep -q '^ *Link'
    refute grep -aq '/Contents ()' plain.pdf
    # what is a picture has a text in its place, with the rows of its table
    qpdf --json --json-key=qpdf a.pdf >a.json 2>/dev/null || qpdf --json a.pdf >a.json
    jq -r '.. | objects | select(."/S"? == "/Figure") | ."/Alt" // "none"' a.json | sed 's/^u://' >alts
    [ "$(wc -l <alts)" -ge 3 ]
    refute grep -qx none alts
    grep -q 'n11' alts
    netprof report -o b.pdf job
    cmp a.pdf b.pdf
}

@test "rows that are alike are a sentence, and of others the table has those that differ" {
    need pdftotext
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 5 -i 5 -g 0 -k 2 job
    netprof-report -o all.pdf job
    pdftotext -layout all.pdf - | sed 's/\xe2\x80\xaf/ /g; s/\xc2\xa0/ /g' | tr -s ' ' >text
    # make_job: the memory of n04 grows, n01's second NIC is paused; processors, files and energy are the same everywhere.
    grep -q 'all 5 nodes are alike; no mean is more than 5 % from the median' text
    grep -A 2 'Node by node 1 node unlike the median by more than 5 %; the 4 others are alike' text >rows
    grep -qE '^ ?n04 ' rows
    grep -qE '^ ?n01 ' rows
    refute grep -qE '^ ?n0[235] ' rows
}

@test "the NICs of the nodes beside each other: the one that was held is named, the others are alike" {
    mkdir rails_job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 4 rails_job >/dev/null
    netprof report -o rails.pdf rails_job
    pdftotext -layout rails.pdf - | sed 's/\xc2\xa0\|\xe2\x80\xaf/ /g' | sed -n '/^Use of the NICs/,/^Findings/p' >rails.txt
    held=$(netprof job --json rails_job | jq -r '[.findings[] | select(.rule == "nic-paused")][0].host')
    [ "$(grep -cE '^ *(sent|received), rail [1-4] ' rails.txt)" = 8 ]
    [ "$(grep -cE "rail [1-4] .* $held: [0-9.]+ %" rails.txt)" = 1 ]
    grep -qE "^ *sent, rail [1-4] .* $held: [0-9.]+ %" rails.txt
    [ "$(grep -c ' alike' rails.txt)" = 7 ]
}
