#!/usr/bin/env bats
# netprof-report's HTML and the report over time.

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

# Chromium sees nothing that a reader would stumble over; skipped where there is none.
look() {
    local status=0
    timeout 600 "$NETPROF_TEST_TOP/tests/html/check_page" "$@" || status=$?
    [ "$status" -ne 77 ] || skip 'no Chromium'
    return "$status"
}

@test "HTML of a pair: one file, well-formed, no script, nothing from elsewhere, the same bytes twice" {
    "$series" a.json --nics 3 --snapshots 2
    netprof-report -o a.html a.json
    netprof-report -o b.html a.json
    cmp a.html b.html
    well_formed a.html
    refute grep -qi '<script' a.html
    refute grep -qE 'https?://' <(sed 's|http://www.w3.org/[a-z0-9/]*||g' a.html)
    refute grep -qE '( src=|@import|url\()' a.html
    grep -q "default-src 'none'; style-src 'unsafe-inline'" a.html
    grep -q 'prefers-color-scheme:dark' a.html
    grep -q '@media print' a.html
    grep -q '[.]r,td,[.]n tbody th{text-align:right}' a.html # numbers stand at the right: the rule for cells that are no text
    grep -qE '<td>[0-9.,]+' a.html
    [ "$(grep -c '<figure' a.html)" -ge 3 ]
}

@test "HTML in Chromium at 400, 900 and 1400 pixels, light, dark and on paper" {
    "$series" a.json --nics 8 --snapshots 30 --gap 10,14 --retries 20
    netprof-report -o a.html a.json
    look a.html >said || { cat said; return 1; }
    grep -q 'no faults' said
    nccl-generate logs --records 1500 --gpus 2 --seed 101 >/dev/null # its tables are drawn
    netprof-report -o n.html logs
    look --widths 1920 n.html >said || { cat said; return 1; }
}

@test "what is printed from HTML are the pages of the PDF: as many, each with the same sections" {
    need pdfinfo
    chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'no Chromium'
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 64 -s 17 -p 8 ranks
    netprof-report -o a.pdf ranks
    netprof-report -o a.html ranks
    timeout 200 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --no-pdf-header-footer \
        --print-to-pdf=b.pdf "file://$PWD/a.html" 2>/dev/null
    pages=$(pdfinfo a.pdf | awk '/^Pages:/ { print $2 }')
    [ "$pages" -ge 2 ]
    [ "$(pdfinfo b.pdf | awk '/^Pages:/ { print $2 }')" = "$pages" ]
    pdfinfo b.pdf | grep -q '^Page size:.*A4'
    for file in a b; do
        for ((i = 1; i <= pages; i++)); do
            echo "page $i"
            pdftotext -f $i -l $i $file.pdf - | grep -oE '^(Region table|One step|Time and traffic|Balance over ranks|wait: time per call|Bytes: program and NIC|Details|Findings by region)' | sort -u
        done >$file.txt
    done
    [ "$(wc -l <a.txt)" -ge 9 ]
    diff a.txt b.txt
}

@test "one file over time: its part of the report has the figures" {
    "$series" a.json --nics 3 --snapshots 21 --gap 5,9 --retries 15
    netprof-report -o a.html a.json
    well_formed a.html
    # 20 s: NIC 2 received 3000 bytes/s and sent 6000; the gap counts in volumes
    python3 - <<'END'
import re
text = re.sub(r"<[^>]+>", "\n", open("a.html", encoding="utf-8").read()).replace("\u202f", " ")
words = re.sub(r"\n+", "\n", text)
assert "cxi2\nreceived\n60.0 kB\n3.00 kB/s\n3.00 kB/s\n3.00 kB/s\n3.00 kB/s\n3.00 kB/s\n" in words, words[-3000:]
assert "cxi2\nsent\n120 kB\n6.00 kB/s\n" in words
assert "most on cxi2: 100" in words and "pct_retry_srb_requests" in words
assert "n1\na.json\n18\n1 s\n4 s\n1\n" in words  # snapshots, every, longest step, gaps
END
    netprof-report --check-layout a.json
}

@test "the edges: 64 NICs, one, none, the largest values, clocks that run backwards" {
    "$series" many.json --nics 64 --snapshots 4
    "$series" one.json --nics 1 --snapshots 400
    "$series" large.json --snapshots 6 --largest
    "$series" back.json --snapshots 12 --backwards 6
    [ "$(status_of netprof-report -o back.html back.json)" -eq 3 ]
    grep -q 'given in the wrong order' err
    for name in many one large back; do
        netprof-report --force --check-layout "$name.json"
        netprof-report --force -o "$name.html" "$name.json"
        well_formed "$name.html"
    done
    grep -q '18.4.EB' large.html
}

@test "without gnuplot everything else is there, and a line says what is left out" {
    "$series" a.json --snapshots 10
    NETPROF_GNUPLOT=/nonexistent/gnuplot netprof-report -o a.html a.json 2>err
    grep -q 'gnuplot not found; install' err
    grep -q 'gnuplot is missing' a.html
    grep -q 'Rates in numbers' a.html
    NETPROF_GNUPLOT=/nonexistent/gnuplot netprof-report -o a.pdf a.json 2>err
    [ -s a.pdf ]
}

# ---- names from outside ----

# What each would do if it were ever read as something else than a name.
hostile_names() {
    printf '%s\n' "a';system('touch pwned')#" 'b";system("touch pwned")#' 'c`touch pwned`$(touch pwned)' \
        '</text></svg><script>alert(1)</script>' '"><img src=x onerror=alert(1)>' ']]><!--' '{/Bold x}_a^b~c&amp;' \
        "uri='https://example.com' dest='x' page=1" '%s%n%999999d' '--output=pwned' '../../pwned' $'\033[31mred\033]0;x\007' \
        $'line\nbreak\rand\ttab' $'right\u202eleft\u2066' 'EOD'
}

@test "hostile names are shown, never carried out" {
    index=0
    while IFS= read -r -d '' name; do
        index=$((index + 1))
        "$series" "in$index.json" --host="$name" --device="$name" --counter="$name" --snapshots 6 --retries 3
        netprof-report -o "out$index.html" "in$index.json" 2>>err
        case $index in 1 | 4 | 8 | 12 | 14) ;; *) continue ;; esac
        netprof-report -o "out$index.pdf" "in$index.json" 2>>err
        netprof-report --brief -o "out$index.svg" "in$index.json" 2>>err
        netprof-report --check-layout "in$index.json" >>layout 2>>err || { echo "$name"; cat layout; return 1; }
    done < <(
        mapfile -t names < <(hostile_names | head -n 12)
        printf '%s\0' "${names[@]}" $'line\nbreak\rand\ttab' $'right\u202eleft\u2066' 'EOD'
    )
    [ "$index" -eq 15 ]
    [ -z "$(find . -name '*pwned*')" ]
    well_formed ./*.html ./*.svg
    refute grep -liE '<script|<img|<!\[CDATA|onerror=[^&]*>' ./*.html ./*.svg
    for file in ./*.html ./*.svg err layout; do
        refute env LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$file"
        refute grep -qP '[\x{202e}\x{2066}]' "$file"
    done
    grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;' out4.html
    grep -qF '\x1b[31m' out12.html
    grep -qF '\u{202e}' out14.html
    need pdfinfo
    for file in ./*.pdf; do pdfinfo "$file" >/dev/null; done
    if command -v qpdf >/dev/null; then
        for file in ./*.pdf; do qpdf --check "$file" >/dev/null; done
    fi
    refute grep -aq '/URI' ./*.pdf
}

@test "a hostile page in Chromium: no dialog, no request, no message" {
    names=$(hostile_names | tr '\n' ' ')
    "$series" a.json --host="$names" --device="$names" --counter="$names" --snapshots 6
    netprof-report -o a.html a.json 2>err
    look --widths 400,1400 a.html >said || { cat said; return 1; }
}

@test "hostile file names, and a place for files whose name is a command" {
    mkdir "t';system('touch pwned')#"
    export TMPDIR="$PWD/t';system('touch pwned')#"
    file=$'x\';system("touch pwned")#\033[31m.json'
    "$series" "$file" --snapshots 6
    netprof-report -o 'o$(touch pwned).html' "./$file" 2>err
    netprof-report -o 'o$(touch pwned).pdf' "./$file" 2>err
    [ -s 'o$(touch pwned).html' ]
    [ -s 'o$(touch pwned).pdf' ]
    [ -z "$(find . -name pwned)" ]
    well_formed 'o$(touch pwned).html'
    refute env LC_ALL=C grep -qP '\x1b' 'o$(touch pwned).html'
    [ -z "$(ls "$TMPDIR")" ]
}

@test "an interactive page: one script that its policy knows, nothing fetched, the same bytes twice, and the rest as without" {
    "$series" a.json --nics 3 --snapshots 30 --gap 10,14 --retries 20 --device "$(printf '</script><script>window.hacked=1</script>')"
    netprof-report --interactive -o a.html a.json
    netprof-report --interactive -o b.html a.json
    netprof-report -o plain.html a.json
    cmp a.html b.html
    well_formed a.html
    [ "$(grep -c '<script' a.html)" -eq 1 ]
    refute grep -qE '( src=|@import|url\(|fetch\(|XMLHttp|innerHTML|document\.write)' a.html
    # the hash, made by another program
    want=$(python3 -c '
import base64, hashlib, re
text = open("a.html", encoding="utf-8").read()
print(base64.b64encode(hashlib.sha256(re.search(r"<script>(.*)</script>", text, re.S).group(1).encode()).digest()).decode())')
    grep -qF "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-$want'" a.html
    words() { sed '/<script>/,$d; /<style>/,/<\/style>/d; s/<[^>]*>//g' "$1" | grep -v '^$'; }
    cmp <(words a.html) <(words plain.html)
    [ "$(status_of netprof-report --interactive -o a.pdf a.json)" = 2 ]
}

@test "an interactive page answers: values at the cross-hair, zoom, keys, touch, sorted and filtered tables" {
    local status=0
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 2 -t 600 job >/dev/null
    netprof-report --interactive -o job.html job
    timeout 300 "$NETPROF_TEST_TOP/tests/html/check_interactive" job.html >said || status=$?
    [ "$status" -ne 77 ] || skip 'no Chromium'
    cat said
    [ "$status" -eq 0 ]
}

@test "lines of the verdict lead to the chart of what they name" {
    mkdir job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 16 -t 3600 -i 10 -r 2 job >/dev/null
    netprof-report -o job.html job
    [ "$(stat -c %s job.html)" -le 1500000 ] # of a job of 16 nodes with regions
    grep -q 'transmit blocked by the network.*<a href="#time-paused">' job.html
    for to in $(grep -o 'href="#[^"]*"' job.html | cut -d'"' -f2 | sort -u); do
        grep -q "id=\"${to#\#}\"" job.html
    done
}
