#!/usr/bin/env bats
# netprof report: PDF, SVG, PNG, HTML; layout, determinism, hostile input.

load common

setup() {
    command -v netprof-report >/dev/null || skip 'netprof-report was not built (no cairo)'
    cd "$BATS_TEST_TMPDIR" || return
}

# Two snapshots of a simulated node of four NICs, ten seconds of congestion apart, for all tests.
setup_file() {
    command -v netprof-report >/dev/null || return 0
    local node
    [ -w /dev/shm ] && node=$(mktemp -d /dev/shm/netprof-XXXXXX) || node=$(mktemp -d)
    cd "$BATS_FILE_TMPDIR" || return
    netprof-sim create "$node/node" --nics 4 --seed 1 >/dev/null
    netprof collect -q --root "$node/node" --sources cxi -o before.netprof
    netprof-sim step "$node/node" --seconds 10 --scenario congestion >/dev/null
    netprof collect -q --root "$node/node" --sources cxi -o after.netprof
    rm -r "$node"
}

# The two snapshots, here.
simulated() {
    cp "$BATS_FILE_TMPDIR"/*.netprof .
}

# The layout check finds nothing to complain about, on both papers.
check_layout() {
    local paper
    for paper in a4 letter; do
        netprof report --check-layout --paper "$paper" "$@" >layout || { cat layout; return 1; }
    done
}

text_of() {
    pdftotext -layout "$1" - | tr -s ' \n\f\342\200\257' ' '
}

@test "PDF: pages, verdict, fonts embedded, well-formed, outline" {
    simulated
    netprof report -o a.pdf before.netprof after.netprof
    [ "$(pdfinfo a.pdf | awk '/^Pages:/ { print $2 }')" -ge 5 ]
    [[ $(pdfinfo a.pdf | grep '^Page size:') == *A4* ]]
    verdict=$(netprof check before.netprof after.netprof | head -n 1)
    grep -q '^Serious: all 4 NICs: transmit blocked by the network' <<<"$verdict"
    text_of a.pdf | grep -q 'all 4 NICs: transmit blocked by the network'
    # The title is one line of at most 60 characters, and says nothing of its ellipsis.
    title=$(pdfinfo a.pdf | sed -n 's/^Title: *//p')
    [ "${#title}" -le 60 ]
    [[ $title != *…* ]]
    # One word for it everywhere: in JSON, text and, in capitals, on pages.
    netprof check --json before.netprof after.netprof >check.json || [ $? -eq 1 ]
    worst=$(jq -r .verdict.severity check.json)
    netprof check before.netprof after.netprof | grep -qE "^$worst +[a-z-]+:"
    text_of a.pdf | grep -qw "${worst^^}"
    refute grep -qw BAD <(text_of a.pdf)
    pdfinfo a.pdf | grep -q '^Title: *all 4 NICs: transmit blocked'
    [ "$(pdffonts a.pdf | awk 'NR > 2' | wc -l)" -ge 2 ]
    [ "$(pdffonts a.pdf | awk 'NR > 2 { print $(NF - 4) }' | sort -u)" = yes ]
    qpdf --check a.pdf
    [ "$(pdfimages -list a.pdf | wc -l)" -eq 2 ] # the heads only: all vectors
    pdftotext -bbox a.pdf bbox.html
    awk -F'"' '/<page / { w = $2; h = $4 } /<word / && ($2 < 20 || $4 < 10 || $6 > w - 20 || $8 > h - 10) { print; bad = 1 }
        END { exit bad }' bbox.html
    netprof report -o b.pdf --paper letter before.netprof after.netprof
    [[ $(pdfinfo b.pdf | grep '^Page size:') == *letter* ]]
    qpdf --check b.pdf
}

@test "the same input gives the same bytes, in every format" {
    simulated
    for format in pdf html svg; do
        mkdir one two
        netprof report -o one/a.$format before.netprof after.netprof
        sleep 1 # another time of the clock
        netprof report -o two/a.$format before.netprof after.netprof
        diff -r one two
        rm -r one two
    done
    # The date is that of the data, or SOURCE_DATE_EPOCH.
    SOURCE_DATE_EPOCH=86400 netprof report --brief -o a.pdf before.netprof after.netprof
    TZ=UTC pdfinfo -isodates a.pdf | grep -q '^CreationDate: *1970-01-02T00:00:00'
}

@test "SVG and PNG: well-formed, rendered, real text; a chart alone" {
    simulated
    netprof report -o a.svg before.netprof after.netprof
    netprof report -o a.pdf before.netprof after.netprof
    [ "$(ls a-*.svg | wc -l)" -eq "$(pdfinfo a.pdf | awk '/^Pages:/ { print $2 }')" ]
    for page in a-*.svg; do xmllint --noout "$page"; done
    rsvg-convert a-1.svg -o out.png
    rsvg-convert a-3.svg -o out.png
    grep -q '>VERDICT</text>' a-1.svg
    grep -q 'role="img"' a-1.svg
    netprof report --brief -o a.png before.netprof after.netprof
    [ "$(head -c 8 a.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]
    netprof report --list-charts before.netprof after.netprof >charts
    grep -q '^traffic	' charts
    [ -z "$(cut -f1 charts | sort | uniq -d)" ]
    for chart in traffic health activity findings method; do
        grep -q "^$chart	" charts
        netprof report --chart "$chart" -o chart.svg before.netprof after.netprof
        xmllint --noout chart.svg
    done
    netprof report --chart traffic -o chart.svg before.netprof after.netprof
    grep -q '>received</text>' chart.svg
    refute grep -q VERDICT chart.svg
    [ "$(status_of netprof report --chart nonsense -o chart.svg before.netprof after.netprof)" = 2 ]
    grep -q 'no such chart' err
}

@test "HTML: one file without script or anything from outside" {
    simulated
    netprof report -o a.html before.netprof after.netprof
    refute grep -qi '<script\|src=\|http-equiv="refresh"\|javascript:' a.html
    grep -q "default-src 'none'" a.html
    grep -q 'transmit blocked by the network' a.html
}

@test "nothing changed, counters that cannot be read, a counter that was reset" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=5 hni_sts_tx_ok_octets=5 hni_pcs_uncorrected_cw=0
    netprof collect -q --root tree -o before.netprof
    netprof collect -q --root tree -o same.netprof
    check_layout before.netprof same.netprof
    netprof report -o a.pdf before.netprof same.netprof
    text_of a.pdf | grep -q '0 of 3 counters changed'
    set_counter tree cxi0 hni_sts_rx_ok_octets 2 10 # smaller: it was reset
    echo nonsense >tree/sys/class/cxi/cxi0/device/telemetry/hni_pcs_uncorrected_cw
    netprof collect -q --root tree -o after.netprof
    check_layout before.netprof after.netprof
    netprof report -o a.pdf before.netprof after.netprof
    text_of a.pdf | grep -q 'Flag: reset'
    text_of a.pdf | grep -q 'could not be made'
    text_of a.pdf | grep -q 'not read'
}

@test "NICs that came and went: the others are judged, and what could not be is said" {
    netprof-sim create node --nics 3 --seed 2
    netprof-sim remove node --nic 2
    netprof collect -q --root node --sources cxi -o before.netprof
    netprof-sim restore node --nic 2
    netprof-sim step node --seconds 10 --scenario healthy
    netprof-sim remove node --nic 0
    netprof collect -q --root node --sources cxi -o after.netprof
    check_layout before.netprof after.netprof
    netprof report -o a.pdf before.netprof after.netprof
    text_of a.pdf >a.txt
    grep -q 'cxi0: gone since the start (PCI' a.txt
    grep -q 'new: not there at the start' a.txt
}

@test "before and after swapped are said" {
    make_nic tree cxi0 hni_sts_rx_ok_octets=5
    netprof collect -q --root tree -o before.netprof
    sleep 0.1
    set_counter tree cxi0 hni_sts_rx_ok_octets 50 10
    netprof collect -q --root tree -o after.netprof
    [ "$(status_of netprof report -o a.pdf after.netprof before.netprof)" = 3 ]
    grep -q 'given in the wrong order' err
    [ ! -e a.pdf ]
    netprof report --force -o a.pdf after.netprof before.netprof
    text_of a.pdf | grep -q 'older than the first'
}

@test "hostile names: long, right-to-left, markup" {
    long=$(printf 'x%.0s' {1..200})
    for nic in "$long" 'a<b>&"c'; do
        make_nic tree "$nic" hni_sts_rx_ok_octets=1 hni_sts_tx_ok_octets=1 hni_pcs_uncorrected_cw=0 2>/dev/null || true
    done
    netprof collect -q --root tree -o before.netprof
    for nic in tree/sys/class/cxi/*; do
        set_counter tree "${nic##*/}" hni_sts_rx_ok_octets 18446744073709551615 10
        set_counter tree "${nic##*/}" hni_pcs_uncorrected_cw 3 10
    done
    netprof collect -q --root tree -o after.netprof
    check_layout before.netprof after.netprof
    netprof report -o a.svg before.netprof after.netprof
    for page in a-*.svg; do xmllint --noout "$page"; done
    netprof report -o a.pdf before.netprof after.netprof
    qpdf --check a.pdf
    netprof report -o a.html before.netprof after.netprof
    grep -q 'a&lt;b&gt;&amp;&quot;c' a.html
    refute grep -q 'a<b>' a.html
}

@test "without gnuplot everything else is made, and it is said" {
    simulated
    NETPROF_GNUPLOT=/nonexistent/gnuplot netprof report -o a.pdf before.netprof after.netprof 2>err
    grep -q gnuplot err
    text_of a.pdf | grep -q 'gnuplot is missing'
    qpdf --check a.pdf
    netprof report --no-gnuplot -o b.pdf before.netprof after.netprof 2>err
    cat err
    refute grep -q 'netprof report:' err # asked for: nothing to say
}

@test "errors: exit codes, messages, nothing half-written" {
    [ "$(status_of netprof report)" = 2 ]
    [ "$(status_of netprof report -o a.xyz a b)" = 2 ]
    grep -q 'ends in .pdf' err
    [ "$(status_of netprof report --paper a5 a b)" = 2 ]
    [ "$(status_of netprof report --scale 0 a b)" = 2 ]
    [ "$(status_of netprof report --papr a4 a b)" = 2 ]
    grep -q "did you mean '--paper'" err
    [ "$(status_of netprof report missing.netprof other.netprof)" = 3 ]
    [ "$(cat err)" = 'netprof report: missing.netprof: No such file or directory' ]
    make_nic tree cxi0 hni_sts_rx_ok_octets=5
    netprof collect -q --root tree -o before.netprof
    netprof collect -q --root tree -o same.netprof
    [ "$(status_of netprof report before.netprof)" = 3 ]
    grep -q 'a second one is needed' err
    [ "$(status_of netprof report -o no/such/a.pdf before.netprof same.netprof)" = 3 ]
    grep -q '^netprof report: no/such/a.pdf: ' err
    [ -z "$(ls -- *.pdf* 2>/dev/null)" ]
    if [ -e /dev/full ]; then
        [ "$(status_of netprof report -o /dev/full --format pdf before.netprof same.netprof)" = 3 ]
    fi
    netprof report -o - before.netprof same.netprof | head -c 5 | grep -q '%PDF-'
}

@test "a report of a run; its snapshots go where they are asked for, or nowhere" {
    mkdir temporary
    TMPDIR=$PWD/temporary netprof run -q --report a.pdf -- true
    pdfinfo a.pdf | grep -q '^Title:'
    [ -z "$(ls temporary)" ]
    netprof run -q -o run.netprof --report a.html -- true
    [ -e run.netprof ]
    grep -q '<html' a.html
    [ "$(status_of netprof run -q --report no/such/a.pdf -- sh -c 'exit 5')" = 5 ]
    grep -q 'was not written' err
}

# two_snapshots FILE ETH0_BYTES LO_BYTES: ten seconds, a physical port and a virtual device.
two_snapshots() {
    jq -n --argjson eth "$2" --argjson lo "$3" '
        def device($n; $physical): {source: "netdev", name: $n, physical: $physical, virtual: ($physical | not),
            counters: [("rx_bytes", "tx_bytes", "carrier_changes") | {name: ., unit: (if . == "carrier_changes" then "events" else "bytes" end), kind: "counter",
                width: 64, scale: 1}]};
        def snap($t; $e; $l): {schema: 0, set: "all", begin_ns: ($t * 1e9), end_ns: ($t * 1e9), wall_ns: ((1700000000 + $t) * 1000000000),
            stamp_error_ns: 0, devices: [["eth0", $e], ["lo", $l] | {device: .[0], source: "netdev", begin_ns: ($t * 1e9),
            end_ns: ($t * 1e9), values: {rx_bytes: .[1], tx_bytes: .[1], carrier_changes: 0}}]};
        {format: "netprof", version: 1, facts: {}, deltas: [],
         schemas: [{facts: {host: "n1", boot_id: "b"}, sources: [{name: "netdev", status: "ok", devices: 2}],
                    devices: [device("eth0"; true), device("lo"; false)]}],
         snapshots: [snap(100; 0; 0), snap(110; $eth; $lo)]}' >"$1"
}

@test "traffic of virtual devices is shown where physical ports moved nothing, and is called virtual" {
    command -v jq >/dev/null || skip 'no jq'
    two_snapshots lo.json 0 5000000000
    netprof report --brief -o lo.pdf lo.json
    text=$(text_of lo.pdf)
    [[ $text == *'all traffic stayed on the host, through lo'* ]]
    [[ $text == *'Nothing through the physical port; through virtual ones: lo 4.00 Gb/s in, 4.00 Gb/s out.'* ]]
    [[ $text == *'Traffic by virtual interface'*'lo (virtual)'*'500 MB/s'* ]]
    [[ $text != *'0 b/s in'* ]]
    check_layout lo.json
    # One byte through the port, and it is the port's report.
    two_snapshots eth.json 10 5000000000
    netprof report --brief -o eth.pdf eth.json
    text=$(text_of eth.pdf)
    [[ $text == *'Traffic by interface'*'eth0'* ]]
    [[ $text != *'(virtual)'* ]]
}

@test "the reference data: verdict and figures" {
    need_aurora
    # Nothing in it is worth watching: three pages, and all of them when asked for.
    netprof report -o few.pdf "$aurora/before.txt" "$aurora/after.txt"
    [ "$(pdfinfo few.pdf | awk '/^Pages:/ { print $2 }')" -le 3 ]
    text_of few.pdf | grep -q -- '--all-nics draws it'
    netprof report --all-nics -o a.pdf "$aurora/before.txt" "$aurora/after.txt"
    text_of a.pdf >text
    for words in 'too little to judge speed' 'No pause, retry, time-out, NACK or link replay on any NIC' \
        '212.5 Gb/s on the wire' 'cxi2: PCIe writes were blocked 0.00858 %' '5.67 blocked cycles per PCIe write' 'also cxi3 (0.00807 %)' \
        'cxi3: 210 codewords were corrected' '0.99996 to 0.99996 GHz' '212.50 to 212.50 Gb/s' '798 of'; do
        grep -qF -- "$words" text || { echo "missing: $words"; false; }
    done
    check_layout "$aurora/before.txt" "$aurora/after.txt"
}

# explained ROW NAME PART ARGUMENT...: the row that --explain names for the arguments makes this report (with this part, ""
# for none), and so says the report itself when it is drawn.
explained() {
    local row=$1 name=$2 part=$3
    netprof report --explain "${@:4}" >explanation || { cat explanation; return 1; }
    grep -q "^Row $row: " explanation || { echo "not row $row:" && cat explanation; return 1; }
    grep -qxF "  report: $name${part:+ + $part}" explanation || { cat explanation; return 1; }
    # The chosen row is that of the table.
    grep -qE "^ +$row .* $name${part:+ \+ $part}$" table || { cat table; return 1; }
    [ "$name" != none ] || return 0
    netprof report -o drawn.html "${@:4}"
    grep -qF "$name" drawn.html
    [ -z "$part" ] || grep -qE "<h2[^>]*>$part</h2>" drawn.html
    for other in 'NCCL collectives' 'Comparison of runs' 'GPU program tables' 'Job time series' 'In-code regions' 'Node counter report'; do
        [ "$other" = "$name" ] || refute grep -qF "$other" drawn.html
    done
    # Each chart that is drawn is one of those that the table has for this report.
    check_layout "${@:4}"
}

@test "--explain: one table says which input makes which report, and each input is drawn as it says" {
    command -v jq >/dev/null || skip 'no jq'
    netprof report --explain >table
    [ "$(grep -cE '^ +[0-9]+  ' table)" = 13 ]
    for name in 'NCCL collectives' 'Over time' 'GPU programs'; do grep -q "^  $name  .*[a-z]" table; done
    simulated
    two_snapshots n1.json 1000 0
    sed 's/"n1"/"n2"/' n1.json >n2.json
    jq '.snapshots += [.snapshots[1] | .wall_ns += 10e9 | .begin_ns += 10e9 | .end_ns += 10e9 | .devices |= map(.begin_ns += 10e9 | .end_ns += 10e9)]' n1.json >three.json
    printf '{"header":{"id":"0x1","rank":0,"n_ranks":1,"nnodes":1},"metadata":{"dump_timestamp_us":1,"hostname":"h","pid":1},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":8192,"coll_exec_time_us":9,"coll_busbw_gbs":0.0}}\n' >h.log
    "$NETPROF_TEST_TOP/tests/nsys/make_export" 2025 rank0.sqlite
    : >raw.nsys-rep
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 2 ranks
    netprof run -q --interval 100ms -o run.netprof -- sleep 0.5

    explained 1 'NCCL collectives' '' h.log
    netprof report --explain n1.json -- h.log | grep -q '^Row 1: '
    explained 2 none '' --peak 400 before.netprof after.netprof
    explained 3 'Comparison of runs' '' n1.json -- three.json
    explained 5 none '' before.netprof raw.nsys-rep
    explained 6 'GPU program tables' '' rank0.sqlite
    explained 7 'Job time series' 'GPU programs' rank0.sqlite run.netprof
    explained 8 'Job time series' '' run.netprof
    explained 9 'In-code regions' '' ranks
    explained 10 'Job time series' '' n1.json n2.json three.json
    explained 11 'Job time series' '' n1.json n2.json
    explained 12 'Node counter report' 'Over time' three.json
    explained 13 'Node counter report' '' before.netprof after.netprof
    explained 13 'Node counter report' '' n1.json
    # What was found in each argument is said.
    grep -qE '^  n1.json +2 snapshots of n1$' explanation
    # Files that cannot be read have no report; nothing is drawn.
    rm -f report.pdf
    [ "$(status_of netprof report --explain before.netprof missing.netprof)" = 3 ]
    [ ! -e report.pdf ]
}

@test "--chart that this report does not have: which report it is, what it has, who has that chart" {
    simulated
    [ "$(status_of netprof report --chart time-rates -o chart.svg before.netprof after.netprof)" = 2 ]
    grep -q 'no such chart here; the report is "Node counter report" and has traffic, health, ' err
    grep -q 'that chart is in "Over time"' err
    [ "$(status_of netprof report --chart nonsense -o chart.svg before.netprof after.netprof)" = 2 ]
    refute grep -q 'that chart is in' err
    # One that this report has for other input.
    [ "$(status_of netprof report --chart translation -o chart.svg before.netprof after.netprof)" = 2 ]
    grep -q 'for other input it may also have that one' err
    [ ! -e chart.svg ]
}

@test "what could not be judged is no good news: title, grey box, and what was judged" {
    netprof-sim create node --nics 4 --seed 2
    netprof collect -q --root node --sources cxi -o before.netprof
    netprof-sim step node --seconds 10 --scenario healthy
    netprof-sim fault node garbage 'hni_pcs_*' --nic 1
    netprof collect -q --root node --sources cxi -o after.netprof
    netprof report -o a.html before.netprof after.netprof
    # how many checks this hides on cxi1, as check counts them
    netprof check --json before.netprof after.netprof >check.json || [ $? -eq 5 ]
    hidden=$(jq '[.. | objects | .unknown? // empty | .[] | select(.device == "cxi1")] | [.[].check_count // 1] | add' check.json)
    grep -q "<h1[^>]*>Could not be judged: cxi1: $hidden checks not made, not a number</h1>" a.html
    refute grep -q 'No fault seen' a.html
    netprof report -o a.pdf before.netprof after.netprof
    text_of a.pdf >a.txt
    grep -q '3 of 4 links were up all the time' a.txt
    grep -q 'cxi1 was not read' a.txt
    [ "$(grep -o 'OK, 1 not read' a.txt | wc -l)" = 3 ] # the strip's rows of codewords
}

@test "without any font text is drawn by the one that is carried along" {
    command -v pdftotext >/dev/null || skip "no poppler-utils"
    simulated
    echo '<?xml version="1.0"?><fontconfig><dir>/nonexistent</dir></fontconfig>' >empty.conf
    export FONTCONFIG_FILE=$PWD/empty.conf
    netprof report -o bare.pdf before.netprof after.netprof
    [ "$(pdffonts bare.pdf | awk 'NR > 2 { sub(/.*[+]/, "", $1); sub(/-.*/, "", $1); print $1 }' | sort -u)" = netprofSans ]
    pdftotext bare.pdf - | grep -q 'VERDICT'
    unset FONTCONFIG_FILE
    netprof report -o full.pdf before.netprof after.netprof
    # all words are there that there are with fonts
    words() { pdftotext "$1" - | tr -s ' \n\f' '\n' | sort -u; }
    [ -z "$(comm -13 <(words bare.pdf) <(words full.pdf))" ]
}

@test "letters that no font here has are named" {
    echo '<?xml version="1.0"?><fontconfig><dir>/nonexistent</dir></fontconfig>' >empty.conf
    "$NETPROF_TEST_TOP/tests/cli/series_json" cjk.json --snapshots 2 --device '网络'
    FONTCONFIG_FILE=$PWD/empty.conf netprof report -o a.pdf cjk.json 2>err
    grep -q 'Chinese, Japanese or Korean' err
    [ "$(grep -c 'no font' err)" = 1 ]
    FONTCONFIG_FILE=$PWD/empty.conf netprof report -o a.svg --brief cjk.json 2>err # its reader may have one
    refute grep -q 'no font' err
}

@test "a PDF is tagged, and has no picture of one pixel's height" {
    command -v pdfimages >/dev/null || skip "no poppler-utils"
    "$NETPROF_TEST_TOP/tests/cli/series_json" map.json --nics 4 --snapshots 40
    netprof report -o a.pdf map.json
    pdfinfo a.pdf | grep -q '^Tagged: *yes'
    pdfinfo -struct a.pdf | grep -q H1
    [ -z "$(pdfimages -list a.pdf | awk 'NR > 2 && $5 < 2')" ]
}

@test "HTML on paper is laid out for paper, not for a telephone" {
    simulated
    netprof report --brief -o a.html before.netprof after.netprof
    refute grep -qE '@media \(max-width' a.html # a sheet is narrower than a telephone's limit in CSS pixels
    grep -q '@media screen and (max-width:680px)' a.html
    grep -q 'li,.verdict,.beside{break-inside:avoid}' a.html
}

@test "a NIC that was reset: no good news counts it, and its zeros are not known" {
    netprof-sim create node --nics 4 --seed 5 >/dev/null
    netprof collect -q --root node -o a.netprof
    netprof-sim step node --seconds 10 --scenario reset --nic 1
    netprof collect -q --root node -o b.netprof
    netprof report -o r.pdf a.netprof b.netprof
    pdftotext -layout -l 1 r.pdf r.txt
    sed -n '/VERDICT/,/^Traffic/p' r.txt | tr -s ' \n\302\240' ' ' >verdict
    grep -q 'counters started again from zero' verdict
    refute grep -q 'All links were up' verdict
    refute grep -q 'on any NIC in the interval' verdict
    grep -q '3 of 4 links were up all the time' verdict
    grep -q 'cxi1 was not read' verdict
    grep -q '^Uncorrected codewords per s  *OK, 1 not read' r.txt
}

@test "what could not be judged: what was read, which questions are open, what helps; nothing of it is green" {
    netprof-sim create shut --nics 4 --seed 1 >/dev/null
    for nic in 0 1 2 3; do netprof-sim fault shut garbage '*' --nic $nic >/dev/null; done
    netprof collect -q --root shut -o shut.a.netprof
    netprof-sim step shut --seconds 10 >/dev/null
    sleep 3 # its own clocks are garbage, too: an interval that readings are short beside
    netprof collect -q --root shut -o shut.b.netprof
    netprof report -o shut.pdf shut.a.netprof shut.b.netprof
    pdftotext -layout -l 1 shut.pdf - | sed 's/\xc2\xa0\|\xe2\x80\xaf/ /g' >shut.txt
    grep -q 'Could not be judged: cxi0-cxi3' shut.txt
    grep -q 'COULD NOT BE JUDGED' shut.txt
    netprof check --json shut.a.netprof shut.b.netprof >shut.json || true
    grep -qE "OK +([0-9]+ of t|T)he $(jq '[.. | objects | .judged // empty][0]' shut.json) checks that could be made found nothing" shut.txt
    sed -n '/^What was read/,/^Checks/p' shut.txt >read.txt
    grep -qE 'NIC hardware counters +cxi +([0-9]+ of 1 [0-9]{3} +){4}not a number' read.txt
    # A question without an answer says what its value would have shown.
    grep -qE 'Damaged beyond repair\? +a broken cable or plug +UNKNOWN +cxi' shut.txt
    grep -qE 'Held by the network\? +congestion in the network +UNKNOWN' shut.txt
    refute grep -qE 'Damaged beyond repair\?.*OK' shut.txt
    # As many checks as the command counts.
    run netprof check --json shut.a.netprof shut.b.netprof
    [ "$status" -eq 5 ]
    grep -q 'ends with exit status 5' shut.txt
    sed -n '/^What to do/,$p' shut.txt | grep -qE '[0-9]+ checks +cxi0-cxi3 '
    sed -n '/^What to do/,$p' shut.txt | grep -q 'head -c'
    pdfinfo shut.pdf | grep -q '^Title: *Could not be judged: cxi0-cxi3 gave no numbers$'
}

@test "NICs whose distributions are alike are drawn once, by their sums; one that is unlike stands apart" {
    netprof-sim create eight --nics 8 --seed 1 >/dev/null
    netprof collect -q --root eight -o a.netprof
    netprof-sim step eight --seconds 10 --scenario healthy >/dev/null
    netprof collect -q --root eight -o b.netprof
    netprof diff --all --csv a.netprof b.netprof >diff.csv
    sums() { # DEVICES: of each bin, over these
        awk -F, -v which="$1" '$1 ~ which && $3 ~ /^pct_req_rsp_latency_[0-9]+$/ { sub(/.*_/, "", $3); n[$3] += $9 }
            END { for (i = 0; i < 32; i++) printf "%s%.0f", i ? "," : "", n[i] }' diff.csv
    }
    netprof report --chart latency --data all.csv -o all.svg a.netprof b.netprof
    [ "$(tail -n +2 all.csv)" = "\"cxi0-cxi7, alike\",requests,$(sums '^cxi')" ]
    netprof report --all-nics --chart latency --data each.csv -o each.svg a.netprof b.netprof
    [ "$(sed -n 's/^cxi5,requests,//p' each.csv)" = "$(sums '^cxi5$')" ]
    netprof report -o eight.pdf a.netprof b.netprof
    [ "$(pdfinfo eight.pdf | awk '/^Pages:/ { print $2 }')" -le 3 ]
    # One of them answered most of its requests in one bin.
    netprof-sim set eight pct_req_rsp_latency_3 999999999999 --nic 5
    netprof collect -q --root eight -o b.netprof
    netprof diff --all --csv a.netprof b.netprof >diff.csv
    netprof report --chart latency --data but5.csv -o but5.svg a.netprof b.netprof
    grep -qxF "\"cxi0-cxi4, cxi6, cxi7, alike\",requests,$(sums '^cxi[0-46-7]$')" but5.csv
    grep -qxF "cxi5,requests,$(sums '^cxi5$')" but5.csv
}

@test "sixteen NICs and more: each rate as ratio to the median, which is named, with who is unlike" {
    for n in 15 16; do
        "$NETPROF_TEST_TOP/tests/cli/series_json" $n.json --nics $n --snapshots 3
        netprof report --brief -o $n.pdf $n.json
        pdftotext -layout $n.pdf - | sed 's/\xe2\x80\xaf/ /g; s/\xc2\xa0/ /g' | tr -s ' ' >$n
    done
    # NIC i receives (i + 1) kB/s: 8.5 in the middle of 16, and cxi0 1/8.5 of it
    grep -qE '^ ?Bytes received × median 8\.50 kB/s; cxi0 ×0\.118' 16
    grep -qE '^ ?Bytes sent × median 17\.0 kB/s; cxi0 ×0\.118' 16
    refute grep -q '× median' 15
    netprof report --check-layout 16.json
    # One that receives nothing is the one most unlike the others.
    jq '.snapshots[].devices[5].values.hni_sts_rx_ok_octets = 0' 16.json >none.json
    netprof report --brief -o none.pdf none.json
    pdftotext -layout none.pdf - | sed 's/\xe2\x80\xaf/ /g; s/\xc2\xa0/ /g' | tr -s ' ' | grep -E '^ ?Bytes received × median 8\.50 kB/s; cxi5 ×0$|cxi5 ×0 '
}
