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
