#!/usr/bin/env bats
# netprof merge: the files of a job's nodes in one, and how every command reads it.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# record_node NODE JOB [OPTION…]: a short recording of a virtual node.
record_node() {
    SLURM_JOB_ID=$2 SLURM_STEP_ID=0 SLURMD_NODENAME=$1 netprof record -q -o "$1-$2.netprof" --interval 50ms \
        --duration 160ms --job none --sources cpu,memory,netdev "${@:3}"
}

three_nodes() {
    for node in n10 n1 n2; do record_node "$node" 17 & done
    wait
}

@test "merge: any order of the files gives the same bytes, and nodes stand in order" {
    three_nodes
    run netprof merge n10-17.netprof n1-17.netprof n2-17.netprof -o a.netprof
    [ "$status" -eq 0 ]
    [[ $output == "a.netprof: 3 files of 3 nodes, "* ]]
    netprof merge -q n2-17.netprof n10-17.netprof n1-17.netprof -o b.netprof
    cmp a.netprof b.netprof
    cat n1-17.netprof n2-17.netprof n10-17.netprof | cmp - a.netprof
    # a directory that holds the output of an earlier call; and a merged file merged again with one of its parts
    mkdir d
    cp n*-17.netprof d
    netprof merge -q d -o d/job.netprof
    netprof merge -q d -o d/job.netprof
    cmp a.netprof d/job.netprof
    netprof merge -q a.netprof n2-17.netprof -o c.netprof
    cmp a.netprof c.netprof
    refute ls .*.netprof* ./*.tmp* 2>/dev/null
}

@test "merge: every command reads one run for each file, with its node and facts" {
    three_nodes
    netprof merge -q n1-17.netprof n2-17.netprof n10-17.netprof -o job.netprof
    mkdir d
    cp n*-17.netprof d
    for input in job.netprof d; do
        netprof check --json "$input" >check.json || [ $? -eq 1 ]
        [ "$(jq -r '[.hosts[].host] | sort | join(" ")' check.json)" = "n1 n10 n2" ]
        netprof diff --json "$input" >diff.json
        [ "$(jq -r .format diff.json)" = netprof-diffs ]
        [ "$(jq -r '[.hosts[].host] | sort | join(" ")' diff.json)" = "n1 n10 n2" ]
        [ "$(jq '[.hosts[].totals.counter_count] | min > 10' diff.json)" = true ]
        netprof diff --csv "$input" >diff.csv
        [ "$(head -n 1 diff.csv | cut -d, -f1,2)" = host,device ]
        [ "$(grep -c '^host,' diff.csv)" -eq 1 ]
        [ "$(sed 1d diff.csv | cut -d, -f1 | sort -u | tr '\n' ' ')" = "n1 n10 n2 " ]
        run netprof diff "$input"
        [ "$(grep -c '^---- n' <<<"$output")" -eq 3 ]
    done
    netprof convert job.netprof job.json
    # Each of them is what its own file is.
    for node in n1 n2 n10; do
        netprof diff --json "$node-17.netprof" | jq -S 'del(.before_file, .after_file, .format, .version, .warnings)' >alone.json
        jq -S --arg node "$node" '.hosts[] | select(.host == $node) | del(.before_file, .after_file, .files, .warnings)' diff.json >of.json
        cmp alone.json of.json
    done
}

@test "merge: the report of a merged file and of a directory" {
    [ -x "$NETPROF_TEST_BIN/netprof-report" ] || skip "built without drawing"
    three_nodes
    netprof merge -q n1-17.netprof n2-17.netprof n10-17.netprof -o job.netprof
    mkdir d
    cp n*-17.netprof d
    netprof report -o job.html job.netprof
    netprof report -o d.html d
    for file in job.html d.html; do
        for node in n1 n2 n10; do grep -q ">$node<" "$file"; done
        grep -q "of one boot of one host" "$file"
    done
}

@test "merge: the same file twice, and an earlier copy of it, are taken once" {
    record_node n1 17
    cp n1-17.netprof again.netprof
    head -c -20 n1-17.netprof >earlier.netprof
    run netprof merge n1-17.netprof again.netprof earlier.netprof -o job.netprof
    [ "$status" -eq 1 ] # the copy ends early, and that is said
    [[ $output == *"the same as"* ]]
    [[ $output == *"earlier.netprof: an earlier copy of the same as"* ]]
    cmp n1-17.netprof job.netprof
}

@test "merge: a cut file gives what it has, with a warning that has its name and the place" {
    record_node n1 17
    record_node n2 17
    size=$(stat -c %s n1-17.netprof)
    head -c $((size - 20)) n1-17.netprof >cut.netprof
    run netprof merge cut.netprof n2-17.netprof -o job.netprof
    [ "$status" -eq 1 ]
    [[ $output =~ cut.netprof:\ byte\ [0-9]+: ]]
    run netprof diff --json job.netprof
    [ "$status" -eq 1 ]
    [[ $output == *"job.netprof: byte "* ]]
    run bash -c 'netprof diff --json job.netprof 2>/dev/null | jq -r ".hosts[].host" | tr "\n" " "'
    [ "$output" = "n1 n2 " ]
}

@test "merge: files of different jobs are refused unless forced; nothing is left behind" {
    record_node n1 17
    record_node n2 18
    run netprof merge n1-17.netprof n2-18.netprof -o job.netprof
    [ "$status" -eq 3 ]
    [[ $output == *"n1-17.netprof is of job 17, n2-18.netprof of job 18"* ]]
    [ "$(echo *)" = "n1-17.netprof n2-18.netprof" ]
    run netprof merge --force n1-17.netprof n2-18.netprof -o job.netprof
    [ "$status" -eq 0 ]
    [[ $output == *"2 files of 2 nodes"* ]]
}

@test "merge: wrong input is named, and an output that was there stays" {
    record_node n1 17
    echo '{"format":"netprof"}' >x.json
    echo kept >job.netprof
    run netprof merge n1-17.netprof x.json -o job.netprof
    [ "$status" -eq 3 ]
    [[ $output == *"x.json: expected a .netprof file"* ]]
    run netprof merge n1-17.netprof missing.netprof -o job.netprof
    [ "$status" -eq 3 ]
    [[ $output == *missing.netprof* ]]
    mkdir empty
    run netprof merge empty -o job.netprof
    [ "$status" -eq 3 ]
    [[ $output == *"empty: no file *.netprof there"* ]]
    run netprof merge n1-17.netprof
    [ "$status" -eq 2 ]
    run netprof merge -o job.netprof
    [ "$status" -eq 2 ]
    [ "$(cat job.netprof)" = kept ]
}

@test "merge: regions and recordings together" {
    record_node n1 17
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 4 ranks
    netprof merge -q --force ranks n1-17.netprof -o job.netprof
    netprof regions --json ranks | jq -S 'del(.. | .file?, .path?)' >alone.json
    netprof regions --json job.netprof | jq -S 'del(.. | .file?, .path?)' >merged.json
    [ "$(jq '.ranks | length' merged.json)" -eq 4 ]
    cmp alone.json merged.json
    run netprof diff --json job.netprof
    [ "$status" -eq 0 ]
    [ "$(jq -r .host <<<"$output")" = n1 ]
    # a directory of both
    cp n1-17.netprof ranks
    netprof regions --json ranks | jq -S 'del(.. | .file?, .path?)' | jq -S 'del(.files_without)' >both.json
    [ "$(jq '.ranks | length' both.json)" -eq 4 ]
    run netprof diff --json ranks
    [ "$status" -eq 0 ]
    [ "$(jq -r .host <<<"$output")" = n1 ]
}

@test "merge: the clocks of hosts, in JSON" {
    three_nodes
    netprof merge --json n1-17.netprof n2-17.netprof n10-17.netprof -o job.netprof >m.json
    [ "$(jq -r .format m.json)" = netprof-merge ]
    [ "$(jq '.clocks.clock_uncertainty_ns' m.json)" = 0 ]
    [ "$(jq -r '[.files[].host] | join(" ")' m.json)" = "n1 n2 n10" ]
    [ "$(jq '[.files[].snapshot_count] | min >= 2' m.json)" = true ]
    [ "$(jq '[.files[].clock_uncertainty_ns] | max' m.json)" = 0 ]
    # The kernel's clock state is in the files, begin and end.
    netprof convert n1-17.netprof n1.json
    for when in clock clock_end; do
        [[ $(jq -r ".facts.${when}_synchronised" n1.json) =~ ^(yes|no)$ ]]
        [[ $(jq -r ".facts.${when}_max_error_us" n1.json) =~ ^[0-9]+$ ]]
    done
}

@test "merge: time between two recordings of a node is not missing from them; a recorder that was killed is missed" {
    netprof record -q -o first.netprof --interval 50ms --duration 300ms --job none --sources cpu
    sleep 1
    netprof record -q -o second.netprof --interval 50ms --duration 300ms --job none --sources cpu
    netprof merge -q first.netprof second.netprof -o both.netprof
    netprof job --json --fail-on critical,judged both.netprof >both.json
    jq -e '.hosts[0].gaps | map(select(.between_recordings)) | length == 1 and .[0].to_s - .[0].from_s > 0.9' both.json
    # As many as each alone: the second between them would be 20 more.
    for file in first second; do netprof job --json --fail-on critical,judged $file.netprof | jq .expected_snapshot_count; done >alone
    [ "$(jq .expected_snapshot_count both.json)" = "$(awk '{ sum += $1 } END { print sum }' alone)" ]
    netprof record -q -o killed.netprof --interval 50ms --duration 20s --job none --sources cpu &
    recorder=$!
    wait_for_readings killed.netprof 3
    kill -KILL $recorder
    wait $recorder || true
    sleep 0.5
    netprof record -q -o third.netprof --interval 50ms --duration 200ms --job none --sources cpu
    mkdir killed
    mv killed.netprof third.netprof killed
    netprof job --json --fail-on critical,judged killed >killed.json 2>/dev/null
    jq -e '.hosts[0].gaps | map(select(.between_recordings)) | length == 0' killed.json
    jq -e '.hosts[0].gaps | length >= 1' killed.json
    jq -e '.expected_snapshot_count > .snapshot_count' killed.json
}

@test "merge: netprof job reads every node of a merged file" {
    three_nodes
    netprof merge -q n1-17.netprof n2-17.netprof n10-17.netprof -o job.netprof
    mkdir d
    cp n*-17.netprof d
    netprof job --json --fail-on critical job.netprof >merged.json
    netprof job --json --fail-on critical d >apart.json
    for file in merged.json apart.json; do
        [ "$(jq -r '[.hosts[].host] | sort | join(" ")' "$file")" = "n1 n10 n2" ]
    done
    [ "$(jq -c '[.hosts[] | [.host, .snapshot_count]] | sort' merged.json)" = "$(jq -c '[.hosts[] | [.host, .snapshot_count]] | sort' apart.json)" ]
    [ "$(jq .begin_ns merged.json)" = "$(jq .begin_ns apart.json)" ]
    [ "$(jq .elapsed_s merged.json)" = "$(jq .elapsed_s apart.json)" ]
}
