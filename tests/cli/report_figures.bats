#!/usr/bin/env bats
# netprof report --chart as a figure of a paper or a slide.

load common

setup() {
    command -v netprof-report >/dev/null || skip "built without cairo"
    cd "$BATS_TEST_TMPDIR" || return
}

job() {
    mkdir -p job
    "$NETPROF_TEST_BUILD/tests/make_job" -n 3 -t 600 job >/dev/null
}

@test "a figure is as wide as was asked for, in every format, with its fonts and without a word of status" {
    command -v pdfinfo >/dev/null || skip "no poppler-utils"
    job
    for format in pdf svg eps tikz png; do
        netprof report --chart time-lines --metric sent --width 84mm --titles off --data "$format.csv" -o "f.$format" job 2>err
        [ ! -s err ]
        cmp pdf.csv "$format.csv"
    done
    pdfinfo f.pdf | grep -q '^Page size: *238.1'
    [ "$(pdffonts f.pdf | awk 'NR > 2 && $(NF - 4) != "yes"' | wc -l)" = 0 ]
    pdftotext f.pdf - | grep -q 'Time since start (min)'
    refute grep -qE '>(OK|WATCH|HIGH|WARN)<' f.svg
    xmllint --noout f.svg
    [ "$(head -1 pdf.csv | cut -d, -f1,2)" = 'seconds,Network sent (B/s)' ]
    netprof report --chart time-lines --metric sent --width 84mm --titles off -o again.pdf job
    cmp f.pdf again.pdf
}

@test "every chart of a job is a figure, and has a title and a line that no other chart has" {
    command -v pdfinfo >/dev/null || skip "no poppler-utils"
    job
    netprof report --list-charts job >charts
    [ -z "$(cut -f2 charts | sort | uniq -d)" ]
    [ -z "$(awk -F'\t' '$1 == "" || $2 == "" || $3 == ""' charts)" ]
    cut -f1 charts | while read -r name; do
        netprof report --chart "$name" --width 7in --style grey -o f.pdf job 2>/dev/null
        pdfinfo f.pdf | grep -q '^Page size: *504 x'
    done
}

@test "what a figure cannot be is said" {
    job
    for wrong in '--width 3' '--chart use --width 3parsecs' '--chart use --width 1pt' '--chart use --titles maybe' \
        '--chart use --style pink' '--chart use --metric x' '--chart time-lines --metric nothing' '-o x.eps' \
        '--chart time-lines --device a --node b' '--data x.csv' '--chart time-lines --data x.pdf -o x.pdf'; do
        # shellcheck disable=SC2086 # words
        [ "$(status_of netprof report $wrong job)" = 2 ]
        [ -s err ]
    done
    [ "$(status_of netprof report --chart time-lines --metric nothing -o x.pdf job)" = 2 ]
    grep -q 'Network sent' err
    [ ! -e x.pdf ]
}

@test "three figures stand in two columns of a paper" {
    command -v pdflatex >/dev/null && kpsewhich tikz.sty >/dev/null || skip "no LaTeX with TikZ"
    job
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 8 -s 5 -p 8 ranks
    nccl-generate logs --records 3000 --gpus 2 --seed 101 >/dev/null
    cp "$NETPROF_TEST_TOP"/samples/paper/* .
    ./make_figures job ranks logs
    pdflatex -interaction=batchmode -halt-on-error paper >/dev/null
    refute grep -q Overfull paper.log
    [ "$(pdfinfo paper.pdf | awk '/^Pages/ { print $2 }')" = 1 ]
    pdftotext paper.pdf text
    for words in 'Network sent per node (GB/s)' 'Share of calls (%)' 'Sequence number' 'Figure 3'; do
        grep -qF "$words" text
    done
}
