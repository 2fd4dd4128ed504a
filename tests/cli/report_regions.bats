# netprof report of region files.
load common

setup_file() {
    mkdir "$BATS_FILE_TMPDIR/ranks"
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 32 -s 17 "$BATS_FILE_TMPDIR/ranks"
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip "built without cairo"
}

@test "the planted rank and the region are in the title, the tree in its order" {
    netprof report -o a.pdf ranks
    pdftotext -layout a.pdf a.txt
    head -n 8 a.txt | tr '\n' ' ' | grep -q 'Rank 17 .*is held in wait'
    grep -q 'Region table' a.txt
    grep -q ' sent ±[0-9.]*.%: no rate' a.txt
    # A parent stands before its children.
    [ "$(grep -n '^ *main ' a.txt | head -n 1 | cut -d: -f1)" -lt "$(grep -n 'pack ' a.txt | tail -n 1 | cut -d: -f1)" ]
}

@test "what happened meanwhile is a line of its own, what it is not stays, and the balance is on the first page" {
    mkdir -p held
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 64 -s 17 -p 8 held
    netprof report -o held.pdf held
    pdftotext -layout -l 1 held.pdf - | tr -s ' ' >held.txt
    grep -qE '^ ?HIGH Who is held\? Rank 17 \(h[0-9]+\) is held in wait, ' held.txt
    grep -qE '^ ?INFO Beside it In halo_exchange meanwhile, on its host cxi0: transmit blocked by the network' held.txt
    grep -qE '^ ?OK What it is not Not its work: rank 17 works ' held.txt
    [ "$(grep -cE '^ ?(HIGH|WARN|WATCH|INFO|OK|UNKNOWN) (Who|Beside it|Also|What|Look|Not|Complete)' held.txt)" -le 6 ]
    grep -q '^ *Balance over ranks' held.txt
    grep -q '^64 rank files, complete' held.txt
}

@test "nothing lies over another text or outside, on both papers, few ranks and many" {
    mkdir -p two many
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 2 two
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 300 many
    for files in two ranks many; do
        for paper in a4 letter; do
            run netprof report --check-layout --paper $paper $files
            echo "$files $paper: $output"
            [ "$status" -eq 0 ]
        done
    done
}

@test "the same bytes twice, sound files, every format" {
    netprof report -o a.pdf ranks && netprof report -o b.pdf ranks
    cmp a.pdf b.pdf
    qpdf --check a.pdf >/dev/null
    netprof report --brief -o a.svg ranks
    xmllint --noout a*.svg
    netprof report -o a.html ranks
    grep -q 'Balance over ranks' a.html
}

@test "a damaged file: the others are reported, and the exit code says so" {
    mkdir -p cut
    cp ranks/* cut
    file=$(find cut -name '*.netprof' | sort | head -n 1)
    truncate -s $(($(stat -c %s "$file") / 2)) "$file"
    run netprof report -o c.pdf cut
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"$file"* ]]
    [ "$(head -c 5 c.pdf)" = %PDF- ]
}

@test "netprof run --mpi --report ends in a report of the regions" {
    program=$(find "$NETPROF_TEST_BIN" -name 'mpi_halo-mpich')
    if [ -z "$program" ] || ! command -v mpirun.mpich >/dev/null; then skip 'no MPI program'; fi
    netprof run -q --mpi --report mpi.pdf -- mpirun.mpich -n 4 "$program" >out 2>err || { cat err; false; }
    pdftotext -layout mpi.pdf mpi.txt
    grep -q 'MPI_Waitall' mpi.txt
    grep -q '4 ranks on 1 host' mpi.txt
    # A command without ranks leaves nothing to report about.
    netprof run -q --mpi --report none.pdf -- true 2>err
    grep -q 'no regions to report about' err
    [ ! -e none.pdf ]
}

@test "who, what it costs, what it is not; one step; the icicle names its boxes; hosts on the ranks' axis; each finding once" {
    netprof report -o why.pdf ranks
    pdftotext -layout why.pdf - | sed 's/\xc2\xa0\|\xe2\x80\xaf/ /g' >why.txt
    grep -qE 'Who is held\? +Rank 17 ' why.txt
    grep -qE 'What it costs +At most ' why.txt
    grep -qE 'What it is not +Not its work: rank 17 works [0-9.]+ s, the ranks [0-9.]+ s in the median' why.txt
    sed -n '/^One step/,/^Time and traffic/p' why.txt >step.txt
    grep -q 'median rank' step.txt
    grep -qE '[0-9.]+ ms longer' step.txt
    sed -n '/^Time and traffic/,/^Balance/p' why.txt >icicle.txt
    for name in main init step halo_exchange pack isend_irecv wait compute allreduce_residual checkpoint_write; do
        grep -q "$name .*%" icicle.txt
    done
    sed -n '/^Balance over ranks/,/time per call/p' why.txt >balance.txt
    grep -qE 'h1 +h2 +h3 +h4' balance.txt
    grep -qE 'rank 17 ×1\.[0-9]+' balance.txt
    grep -q 'a NIC of it held' balance.txt
    grep -q 'wait: time per call' why.txt
    grep -qE '4 ms +8 ms +16 ms' why.txt
    [ "$(grep -c 'egress-paused: ' why.txt)" = 1 ]
    # The verdict on paper is that of the command.
    [ "$(netprof regions --json ranks | jq -r '.verdict.notes[0].text' | cut -c 1-40)" = \
      "$(grep -oE 'Rank 17 \(h3\) is held in wait, .*' why.txt | head -n 1 | cut -c 1-40)" ]
}
