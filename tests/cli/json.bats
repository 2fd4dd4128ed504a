#!/usr/bin/env bats
# JSON of every command about every kind of data, held against the schemas that are installed.

load common

schemas=$NETPROF_TEST_TOP/tools/schema
check=$NETPROF_TEST_TOP/tests/json/check_outputs

setup_file() {
    python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema'
    "$BATS_TEST_DIRNAME/../json/make_outputs" "${NETPROF_TEST_BUILD:-$BATS_TEST_DIRNAME/../../build}" "$BATS_FILE_TMPDIR/made"
}

@test "one name for one thing: each key of each schema is the name's own definition, its type what the name's unit says" {
    run python3 "$check" "$schemas" laws
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "every command's output on every input is valid" {
    run python3 "$check" "$schemas" valid "$BATS_FILE_TMPDIR"/made/outputs/*.json
    echo "$output"
    [ "$status" -eq 0 ]
    # each format was there
    for schema in "$schemas"/netprof*.json; do
        name=$(basename "$schema" .json)
        [ "$name" = netprof-names ] || grep -qE "^ *[0-9]+ $name$" <<<"$output"
    done
}

@test "a key that is missing, one that nobody knows and a value of another type are noticed, wherever they are" {
    # Before it knew draft 2020-12, it took no notice of what stands beside a reference.
    /usr/bin/python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || skip 'this jsonschema is too old'
    run python3 "$check" "$schemas" bites "$BATS_FILE_TMPDIR"/made/outputs/*.json
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(sed -nE 's/^([0-9]+) mutations.*/\1/p' <<<"$output")" -gt 1000 ]
}

@test "an error is JSON in every command, with the file and the place" {
    cd "$BATS_FILE_TMPDIR/made"
    for command in diff check job regions nccl nsys export; do
        [ "$(jq -r '.format, .subcommand, .file, .exit_code' "outputs/error-$command-file.json" | xargs)" = \
            "netprof-error $command nowhere.netprof 3" ]
    done
    for command in list diff check compare job regions nccl nsys merge run export; do
        [ "$(jq -r '.subcommand, .text, .exit_code' "outputs/error-$command-option.json" | xargs)" = "$command --nosuch: unknown option 2" ]
    done
    [ "$(status_of netprof frobnicate --json)" = 2 ]
    [ "$(jq -r '.format, .subcommand, .text, .exit_code' out | xargs)" = 'netprof-error frobnicate frobnicate: no such command 2' ]
    python3 "$check" "$schemas" valid out
    [ "$(status_of netprof frobnicate)" = 2 ]
    [ ! -s out ]
    [ "$(jq -r '.file, .exit_code' outputs/error-run.json | xargs)" = './nosuch 127' ]
    printf '[collector]\nno equals sign\n' >bad.ini
    [ "$(status_of netprof nccl --json --config bad.ini nccl)" = 3 ]
    [ "$(jq -c '[.file, .line]' out)" = '["bad.ini",2]' ]
}

@test "the manual netprof-json(5) is that of the schemas" {
    "$schemas/manual" | diff - "$NETPROF_TEST_TOP/tools/man/netprof-json.5"
}

@test "the old names of renamed keys are in no schema" {
    # a word that was a key and is none any more
    for name in max_rss_kib wall_begin_ns low_node given_nodes n_ranks clock_shift_s found_in speed_bits_per_s; do
        refute grep -q "\"$name\"" "$schemas"/*.json
    done
}

@test "--csv: findings under the names of the JSON, a line each; formulas are text" {
    cd "$BATS_FILE_TMPDIR/made"
    for command in 'check before.netprof after.netprof' 'check job/n01.netprof job/n02.netprof job/n03.netprof' \
        'job job' 'nccl nccl' 'compare --all job/n01.netprof job/n02.netprof -- job/n03.netprof'; do
        netprof $command --json >document.json || true
        netprof $command --csv >table.csv || true
        python3 - "$command" <<'PYTHON'
import csv, json, sys
findings = json.load(open("document.json"))["findings"]
rows = list(csv.DictReader(open("table.csv", newline="")))
assert len(rows) == len(findings), (sys.argv, len(rows), len(findings))
for row, f in zip(rows, findings):
    for key in ("host", "device", "rule", "severity", "claim"):
        assert row[key] == (f.get(key) or ""), (key, row, f)
    assert not row["value"] or float(row["value"]) == f["value"]
PYTHON
        [ "$(status_of netprof ${command%% *} --csv --json x)" = 2 ]
    done
    netprof merge -o joined.netprof job/n01.netprof job/n02.netprof --csv >table.csv
    [ "$(head -n 1 table.csv | cut -d, -f1-4)" = file,byte,bytes,host ]
    [ "$(wc -l <table.csv)" = 3 ]
}

@test "memory: a JSON file of many readings is read one by one, in a few times the size of one" {
    cd "$BATS_TEST_TMPDIR"
    netprof-sim create root --nics 8
    netprof collect -q --root root -n 1 -o one.json 2>/dev/null
    netprof collect -q --root root -n 10 -t 10ms -o ten.json 2>/dev/null
    # most KIB COMMAND…: its largest resident memory
    most() { python3 -c 'import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }
    one=$(most netprof export --to csv -o one.csv one.json)
    ten=$(most netprof export --to csv -o ten.csv ten.json)
    size=$(($(stat -c %s ten.json) / 1024))
    echo "$size KiB of JSON: $one and $ten KiB of memory"
    ((size > 6000))
    ((ten < one + 5 * size)) # it was fifteen times the file's size
    most netprof convert ten.json ten.netprof
    [ "$(netprof diff --json ten.json | jq -S .deltas)" = "$(netprof diff --json ten.netprof | jq -S .deltas)" ]
}
