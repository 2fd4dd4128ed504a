#!/usr/bin/env bats
# Regions over time: a program under netprof run --interval, or with NETPROF_SERIES, and what job reports make of it.

load common

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    phases=$NETPROF_TEST_BUILD/tests/region_phases
    unset NETPROF_SERIES NETPROF_OUTPUT NETPROF_FLUSH
    mkdir job
    export NETPROF_OUTPUT="$PWD/job/%r-%p.netprof"
}

# recorded STEP COMMAND…: below netprof run, all files in job/.
recorded() {
    netprof run -q -o job/node.netprof --interval "$1" -- "${@:2}"
}

# job_json FILTER: of the job's report.
job_json() {
    netprof job --json --fail-on critical job >job.json 2>err || { cat err; return 1; }
    jq -e -c "$@" job.json
}

# Of each region: what the series tells of it in the end, and what its process's own file does. Equal but for what the
# clock was corrected meanwhile.
totals_agree() {
    netprof regions --json --flat job/[0-9]*.netprof >regions.json
    jq -e -n --slurpfile job job.json --slurpfile regions regions.json '
        [$regions[0].regions[] | {name: .region, calls, own: (.exclusive_ns / 1e9), bytes: .declared_bytes}] as $totals
        | [$job[0].regions_over_time.regions[] | {name: .region, calls, own: .own_s, bytes: .declared_bytes}] as $sampled
        | ($totals | length) == ($sampled | length) and
          all($totals[]; . as $t | any($sampled[]; .name == $t.name and .calls == $t.calls and .bytes == $t.bytes and
                                                   ((.own - $t.own) | fabs) < 0.0001 * $t.own + 0.0001))'
}

@test "run --interval: a program with regions samples itself, and its sums are its totals" {
    recorded 20ms "$phases" 2 300
    [ "$(ls job | wc -l)" -eq 3 ]
    job_json '.regions_over_time.process_count == 1'
    job_json '[.regions_over_time.regions[].region] | sort == ["main", "solve", "wait <&>/all"]'
    totals_agree
}

# What the samples tell by themselves, and where: of each phase there are so many in a row that columns of it are known.
@test "over time: one region, then the other, and shares that add up" {
    recorded 20ms "$phases" 2 300 12
    job_json '.regions_over_time.process_count == 1'
    netprof convert job/*.series.netprof series.json
    "$BATS_TEST_DIRNAME/series_check" sums series.json
    "$BATS_TEST_DIRNAME/series_check" columns series.json job.json
    # In time: nothing of wait yet while solve's first phase lasts.
    jq -e '[.snapshots[].devices | map({(.device): .values.own_time}) | add] |
        (map(select((."main/wait <&>\\/all" // 0) == 0) | (."main/solve" // 0)) | max) as $first
        | $first > 150000000 and $first < (last | ."main/solve") - 200000000' series.json
    totals_agree
}

@test "the text tells shares in parts of the job: first of solve, then of wait, and never more than all" {
    recorded 20ms "$phases" 1 300 8
    netprof convert job/*.series.netprof series.json
    job_json '.regions_over_time.process_count == 1'
    for all in '' --all; do
        # shellcheck disable=SC2086 # no word at all
        run -0 netprof job $all --fail-on critical job
        [[ $output == *"Share of the time of the threads of 1 process"* ]]
        sed -n '/^OWN TIME OF   FROM /,/^Share of/p' <<<"$output" >shares
        "$BATS_TEST_DIRNAME/series_check" parts series.json job.json <shares
    done
}

@test "NETPROF_SERIES of the user counts: 0 is none" {
    NETPROF_SERIES=0 recorded 50ms "$phases" 1 100
    [ "$(ls job | wc -l)" -eq 2 ]
    job_json '.regions_over_time == null'
}

@test "without --interval nobody samples" {
    netprof run -q -o job/node.netprof -- "$phases" 1 50
    [ "$(ls job | wc -l)" -eq 2 ]
}

@test "kill -9: what was sampled is there, and in the job's report" {
    run -137 recorded 20ms "$phases" 2 300 2 kill
    [ "$(ls job | wc -l)" -eq 2 ] # no file of regions: the program did not end
    job_json '.regions_over_time.regions[] | select(.region == "wait <&>/all") | .calls == 2 and .own_s > 0.3'
    job_json '.warnings[] | select(.text | test("did not end this file"))'
}

@test "netprof regions takes a series that stands among the files for what it is" {
    NETPROF_SERIES=0.02 "$phases" 1 60
    run -0 --separate-stderr netprof regions job/*.netprof
    [ -z "$stderr" ]
    [[ $output == *"1 rank on 1 host"* ]]
    run -0 netprof regions job
}

@test "check, diff and compare: a series is no reading of a node" {
    mkdir nodes both
    netprof run -q -o nodes/node.netprof --interval 20ms -- true
    cp nodes/node.netprof both
    netprof run -q -o other.netprof --interval 20ms -- true
    NETPROF_OUTPUT=both/x.netprof NETPROF_SERIES=0.01 "$phases" 1 50
    [ -e both/x.series.netprof ]
    # 1 is a finding on this machine.
    for command in check diff; do
        run --separate-stderr netprof "$command" --json nodes/node.netprof
        [ "$status" -le 1 ]
        [ -n "$output" ]
        alone=$output code=$status
        run --separate-stderr netprof "$command" --json both
        [ "$status" -eq "$code" ]
        [ "${output//both\/}" = "${alone//nodes\/}" ]
    done
    run --separate-stderr netprof compare other.netprof -- both
    [ "$status" -le 1 ]
    [ -n "$output" ]
    [[ $output != *region* ]]
}

@test "export: each sample of each region" {
    NETPROF_SERIES=0.02 "$phases" 1 100 2
    netprof export job/*.series.netprof --to csv -o out
    netprof regions --json job/[0-9]*.netprof >regions.json
    python3 - <<'END'
import csv, json
rows = [r for r in csv.DictReader(open('out/counter_values.csv')) if r['source'] == 'region']
assert {r['device'] for r in rows} == {'main', 'main/solve', 'main/wait <&>\\/all'}, rows
totals = {r['region']: r for r in json.load(open('regions.json'))['regions']}
assert len(totals) == 3, totals
of = {'calls': 'calls', 'time': 'inclusive_ns', 'own_time': 'exclusive_ns', 'bytes': 'declared_bytes'}
for device in {r['device'] for r in rows}:
    total = totals[device.replace('main/', '').replace('\\', '')]
    for counter in of:
        values = [int(r['value']) for r in rows if (r['device'], r['counter']) == (device, counter)]
        assert len(values) > 2 and values == sorted(values), (device, counter, values)
        # Equal but for what the clock was corrected meanwhile.
        want = total[of[counter]]
        assert abs(values[-1] - want) <= (want // 10000 + 100000 if 'time' in counter else 0), (device, counter, values, want)
END
}

@test "the report draws it, with hostile names, on paper and as a page" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip 'no netprof-report here'
    recorded 50ms "$phases" 1 200 3
    netprof-report -o job.html job
    netprof-report --list-charts job | grep -q "^region-times"
    grep -q 'wait &lt;&amp;&gt;/all' job.html
    refute grep -q 'wait <&>' job.html
    for paper in a4 letter; do
        netprof-report --check-layout --paper "$paper" job >layout || { cat layout; false; }
    done
}

# ranks MPI: three ranks on this node are added up.
ranks() {
    set_up_open_mpi
    mpirun=$(sed -n "s/^$1 //p" "$NETPROF_TEST_BUILD/tests/mpi/launchers")
    [ -n "$mpirun" ] || skip "$1 was not found when netprof was configured"
    recorded 50ms "$mpirun" -n 3 "$phases" 1 200 4
    job_json '.regions_over_time.process_count == 3'
    totals_agree
    job_json '[.regions_over_time.regions[] | select(.region == "solve") | .share[] | values] | max > 0.6'
}

@test "MPICH: ranks of a node are summed" { ranks mpich; }
@test "Open MPI: ranks of a node are summed" { ranks openmpi; }
