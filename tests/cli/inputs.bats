#!/usr/bin/env bats
# What programs read: pipes are read once, devices and files without end not at all, files that grow are not damaged
# (analysis/base/readable.h).
load common

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    netprof record -q --job none -d 100ms -t 20ms --sources cpu,memory -o a.netprof
}

# What each command says of a pipe and of the standard input is what it says of the file.
@test "inputs: a pipe is as good as a file" {
    mkfifo pipe
    for command in 'job --json FILE' 'check --json FILE' 'diff --json --all FILE' 'convert --to json FILE -' \
        'merge FILE -o - 2>/dev/null' 'export FILE --to csv --table counter_values -o -' \
        'report FILE --chart time-lines -o r.svg; cat r.svg; rm r.svg'; do
        bash -c "netprof ${command/FILE/a.netprof}" >file.out || true
        cat a.netprof >pipe & # one writer, once
        bash -c "netprof ${command/FILE/pipe}" >pipe.out || true
        wait
        cat a.netprof | bash -c "netprof ${command/FILE/-}" >standard.out || true
        for out in file pipe standard; do
            sed -i -E 's/"?(a\.netprof|pipe|-)"?/NAME/g' $out.out
        done
        echo "$command"
        [ -s file.out ]
        cmp file.out pipe.out
        cmp file.out standard.out
    done
    [ -p pipe ]
}

@test "inputs: devices are refused, /dev/null is empty" {
    for command in 'job FILE' 'check FILE' 'diff FILE' 'diff a.netprof FILE' 'convert FILE x.json' 'merge FILE -o m.netprof' \
        'regions FILE' 'nsys FILE' 'export FILE --to csv --table counter_values -o x.csv' 'report FILE -o r.pdf' \
        'check --expect FILE --now' 'job --phases FILE a.netprof' 'nccl --config FILE --jobid 12'; do
        echo "$command"
        run timeout 60 netprof ${command/FILE//dev/zero}
        echo "$output"
        [[ $output == *"/dev/zero: is a device; expected a file or a pipe"* ]]
        [ "$status" -ne 124 ]
    done
    run netprof diff /dev/null
    [ "$status" -eq 3 ]
    [[ $output == *"/dev/null: empty"* ]]
}

# limited BYTES COMMAND...: in so much memory, but for a sanitizer, which maps more.
limited() {
    if grep -q '^NETPROF_SANITIZE:[A-Z]*=.' "$NETPROF_TEST_BUILD/CMakeCache.txt"; then
        "${@:2}"
    else
        prlimit --as="$1" "${@:2}"
    fi
}

@test "inputs: a file that is too large, or of no use, is not read first" {
    truncate -s 3G zeros large.json
    printf '{"netprof-snapshot": 1, "x": "' | dd of=large.json conv=notrunc status=none
    for command in 'job FILE' 'check FILE' 'diff FILE' 'convert FILE x.json' 'report FILE -o r.pdf' \
        'export FILE --to csv --table counter_values -o x.csv'; do
        run limited 500000000 netprof ${command/FILE/zeros}
        echo "$command: $output"
        [ "$status" -eq 3 ]
        [[ $output == *"zeros: expected a .netprof file, JSON of netprof or net_prof"* ]]
        run limited 500000000 netprof ${command/FILE/large.json}
        echo "$output"
        [ "$status" -eq 3 ]
        [[ $output == *"large.json: larger than 1073741824 bytes"* ]]
    done
    run limited 500000000 netprof watch --plain zeros
    [ "$status" -eq 3 ]
    [[ $output == *"zeros: not a .netprof file"* ]]
    truncate -s 3G conf
    run limited 500000000 netprof nccl --config conf --jobid 12
    [ "$status" -eq 3 ]
    [[ $output == *"conf: larger than 1 MiB"* ]]
}

@test "inputs: who waits for a pipe's writer ends by a signal" {
    mkfifo pipe
    for command in 'diff pipe' 'job pipe' 'export pipe --to csv -o oc'; do
        timeout --preserve-status -k 20 1 netprof $command &
        status=0
        wait $! || status=$?
        echo "$command: $status"
        [ "$status" -eq 143 ] || [ "$status" -eq 3 ]
    done
}

@test "inputs: a file that grows is not damaged; what a kill left is" {
    netprof record -q --job none -t 20ms --sources cpu -o g.netprof &
    recorder=$!
    wait_for_readings g.netprof 5
    for command in 'diff FILE' 'convert FILE x.json' 'export FILE --to csv --table counter_values -o x.csv' \
        'merge FILE -o m.netprof'; do
        run netprof ${command/FILE/g.netprof}
        echo "$command: $output"
        [ "$status" -eq 0 ]
        [[ $output == *"g.netprof: "*"still being recorded: this is what it holds so far"* ]]
        [[ $output != *"did not end"* ]]
    done
    kill -9 $recorder
    wait $recorder || true
    run netprof diff g.netprof
    [ "$status" -eq 1 ]
    [[ $output == *"the writer did not end this file"* ]]
}

@test "record: readers that look at its file do not keep it from beginning" {
    while [ ! -e stop ]; do netprof diff a.netprof >/dev/null 2>&1 || true; done &
    looking=$!
    for i in 1 2 3 4 5; do
        netprof record -q --job none -d 40ms -t 20ms --sources cpu -o a.netprof
    done
    touch stop
    wait $looking
}

@test "inputs: what gzip and zstd packed is read as what it holds, whatever its name and by every command" {
    netprof run -q -o b.netprof --interval 50ms --sources netdev,cpu,process -- sleep 0.3
    mkdir packed
    gzip -k b.netprof
    python3 -c 'import gzip, sys; data = open(sys.argv[1], "rb").read(); open(sys.argv[2], "wb").write(gzip.compress(data[:999]) + gzip.compress(data[999:]))' \
        b.netprof b-members
    netprof diff b.netprof --csv >plain.csv
    netprof diff b.netprof.gz --csv >gz.csv
    cmp plain.csv gz.csv
    netprof diff b-members --csv >members.csv
    cmp plain.csv members.csv
    netprof diff - --csv <b.netprof.gz >piped.csv
    cmp plain.csv piped.csv
    if command -v zstd; then
        zstd -q -k b.netprof
        netprof diff b.netprof.zst --csv >zst.csv
        cmp plain.csv zst.csv
    fi
    # of a directory as well
    cp b.netprof.gz packed/
    netprof job --json --fail-on critical,judged packed | jq 'del(.warnings)' >packed.json
    netprof job --json --fail-on critical,judged b.netprof | jq 'del(.warnings)' >plain.json
    cmp packed.json plain.json
    netprof convert b.netprof b.json
    gzip -k b.json
    netprof convert b.json.gz again.json
    cmp b.json again.json
}

@test "inputs: packed data that are damaged, cut or a bomb" {
    netprof run -q -o b.netprof --interval 20ms --sources netdev,cpu -- sleep 0.5
    gzip -k b.netprof
    head -c 12 b.netprof.gz >head.gz
    printf '\377\377\377\377' >>head.gz
    run --separate-stderr netprof diff head.gz
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"its compressed data are damaged"* ]]
    # What comes before a cut is there, as it is of a file that is not packed.
    head -c $(($(stat -c %s b.netprof.gz) * 3 / 4)) b.netprof.gz >cut.netprof.gz
    run --separate-stderr netprof diff --json cut.netprof.gz
    [ "$status" -eq 1 ]
    # A gigabyte of zeros in a megabyte: refused for what it begins with, or for its size; no room is taken.
    head -c 1073741824 /dev/zero | gzip -1 >bomb.gz
    mkdir room
    for command in diff check job regions; do
        TMPDIR=$PWD/room run --separate-stderr limited 2000000000 netprof $command bomb.gz
        [ "$status" -eq 3 ]
        [[ "$stderr" == *"a hundred times its size"* ]]
    done
    [ -z "$(ls room)" ]
}
