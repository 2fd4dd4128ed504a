#!/usr/bin/env bats
# Help, errors of usage, exit codes, shell completion, manuals.

load common

# From the program's own table, so that a new command is tested as well: all but second names, "help", and programs that
# are not built here.
commands=
programs= # of their own; their examples read what those of others write
second_names=" help $(netprof --help | sed -n 's/.*(also: \(.*\))$/\1/p' | tr '\n' ' ')"
for name in $(netprof --list-options); do
    [[ $second_names == *" $name "* ]] && continue
    case $name in
    report | watch | export | agent | head | session | forward | web) [ ! -x "$NETPROF_TEST_BIN/netprof-$name" ] || programs+=" $name" ;;
    *) commands+=" $name" ;;
    esac
done
commands+=$programs

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# on_node NAME COMMAND...: on a host of that name, where we may have one
on_node() {
    if unshare --uts true 2>/dev/null; then
        unshare --uts bash -c 'hostname "$0" && "$@"' "$@"
    else
        "${@:2}"
    fi
}

@test "help is the same text by all three ways, on the standard output" {
    for command in $commands; do
        netprof "$command" --help >one 2>err
        netprof "$command" -h >two
        netprof help "$command" >three
        cmp one two
        cmp one three
        [ ! -s err ]
        grep -q "^usage: netprof $command " one
        [ "$(grep -c "^  netprof $command" one)" -ge 2 ]
    done
    netprof --help >one
    netprof help >two
    cmp one two
    for command in $commands; do grep -q "^  $command  *[a-z]" one; done
}

@test "every example of every help text works" {
    netprof collect -q -o before.netprof
    netprof collect -q -o after.netprof
    netprof run -q -o run.netprof -- true
    for i in '' 1 2; do netprof run -q -o "good$i.netprof" -- true; done
    netprof run -q -o bad.netprof -- true
    for i in node1 node2 node3; do on_node "$i" netprof run -q -o "$i.netprof" -- true; done
    netprof collect -q -o before.json
    netprof collect -q -o after.json
    for job in 52309 52310; do # a call of one rank
        mkdir "nccl-inspector-$job"
        printf '{"header":{"id":"0x1","rank":0,"n_ranks":1,"nnodes":1},"metadata":{"dump_timestamp_us":1,"hostname":"h","pid":1},"coll_perf":{"coll":"AllReduce","coll_sn":0,"coll_msg_size_bytes":8192,"coll_exec_time_us":9,"coll_busbw_gbs":0.0}}\n' \
            >"nccl-inspector-$job/h-pid1.log"
    done
    mkdir kept # an example may write before.netprof anew: then it is the later one
    cp before.netprof after.netprof before.json after.json kept
    printf '%s train\n' "$(date +%s)" >job.phases
    printf '#!/bin/sh\nexit 0\n' >mpirun
    chmod +x mpirun
    PATH=$PWD:$PATH
    # net_prof's JSON holds Cassini devices only
    make_nic tree cxi0 hni_sts_rx_ok_octets=1
    netprof collect -q --root tree -o cassini.netprof
    # some of its examples look at a job
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 8 .
    mkdir ranks
    "$NETPROF_TEST_BUILD/tests/make_regions" -q -n 8 ranks
    # exports of Nsight Systems
    "$NETPROF_TEST_TOP/tests/nsys/make_export" 2023 profile.sqlite
    for i in 0 1; do "$NETPROF_TEST_TOP/tests/nsys/make_export" 2025 "rank$i.sqlite" rank="$i" pid="$((40 + i))"; done
    # rules of this site
    printf '%s\n' 'name,class,source,per,value,unit,critical,claim,advice' \
        'site-processes,host-loss,cpu,node,after(processes),processes,>= 1e9,{value|#process},Ask who started them' >site-rules.csv
    count=0
    while read -r line; do
        case $line in *'--to net_prof'*) line=${line/run.netprof/cassini.netprof} ;; esac
        case $line in 'netprof job . '*) mkdir -p recorded && cp node.netprof recorded && line=${line/job ./job recorded} ;; esac
        # what is asked of a head's directory, where no head can be built
        case $line in *'--dir head'*) [ -x "$NETPROF_TEST_BIN/netprof-head" ] || continue ;; esac
        case $line in 'netprof head '*) line=${line/:4222/:0} ;; esac # a server of this machine may be there
        line=${line/--interval 10s/--interval 500ms} line=${line/sleep 1/sleep 0.2} # as well, and sooner
        echo "$line"
        cp kept/* .
        status=0
        bash -c "$line" >out 2>err || status=$?
        echo "exit $status"; cat err
        case $line in
        # What it judges is this machine, as it happens to be.
        'netprof check --pair '*) [[ $status == [015] ]] || refute unshare --uts true 2>/dev/null ;;
        'netprof check '*)
            [[ $status == [015] ]]
            [ -s out ]
            ;;
        *) [ "$status" = "$(expected_status "$line")" ] ;;
        esac
        case $line in
        'netprof check '*--json*) jq -e '.format == "netprof-findings" and .verdict.text != null' out ;;
        'netprof job '*--json*) jq -e '.format == "netprof-job" and .snapshot_count > 1' out ;;
        'netprof job '*) cat out; grep -qE '^[0-9]+ of [0-9]+ samples' out ;; # its last but for findings on the recording itself
        esac
        count=$((count + 1))
    done < <(for command in '' $commands; do netprof help $command; done | sed -n '/^Examples:/,/^$/s/^  \(netprof\)/\1/p')
    [ "$count" -ge 12 ]
}

@test "the lines of help and manuals fit a terminal of 120 columns" {
    for command in '' $commands; do
        # shellcheck disable=SC2086
        netprof help $command | awk 'length > 120 { print; bad = 1 } END { exit bad }'
    done
}

@test "--version" {
    run netprof --version
    [ "$status" -eq 0 ]
    [[ $output =~ ^netprof\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "wrong usage: exit code 2, a message on the standard error, nothing on the standard output" {
    while read -r arguments; do
        echo "netprof $arguments"
        # shellcheck disable=SC2086
        [ "$(status_of netprof $arguments)" = 2 ]
        [ ! -s out ] || [[ $arguments == *--json* ]]
        [ -s err ]
    done <<'END'

nonsense
--nonsense
help nonsense
list --nonsense
list --json --csv
list --hold maybe
list --threads -1
list --threads many
collect
collect -o a.netprof extra more
collect -o a.netprof --interval 0
collect -o a.netprof --interval soon
collect -o a.netprof --set some
collect -o a.netprof --count -2
diff
diff a b c
diff --top -3 a b
diff --rank best a b
diff --group NoSuchGroup a b
compare
compare a b c
compare a b --
compare -- a b
compare a -- b --per day
compare a -- b --top -2
compare a -- b --fail-on info
regions
regions --flat --tree x
regions --json --csv x
regions --sort best x
regions --min-share much x
regions --min-share 101 x
regions --rank first x
regions --rank all x
regions --region main --csv x
run
run --
run -o - -- true
run --interval x -- true
convert a
convert a b.unknown
convert --to nothing a b
convert --from nothing a b.json
nccl
nccl --peak much a
nccl --parquet a
nccl --fail-on ever a
nsys
nsys --json --csv a
export a --to csv
export a --to xls -o b
report --nonsense
watch --nonsense
watch --interval soon
watch --window 0
watch --count -1
watch --set some
agent
agent --head nats://127.0.0.1:1 --interval soon
agent --head nats://127.0.0.1:1 --cluster a.b
agent --head nats://127.0.0.1:1 --spool-size 1
agent --head nats://127.0.0.1:1 --batch 0
head
head --dir head --listen nowhere
head --dir head --nats nats://127.0.0.1:1 --listen 127.0.0.1:0
head --dir head --journal-size much
session
session list
session begin --dir .
session start ../x --dir .
session start a b --dir .
END
    [ ! -e a.netprof ]
}

@test "the version and the JSON are found where others have them" {
    [ "$(netprof version)" = "$(netprof --version)" ]
    netprof help json | grep -q 'man netprof-json'
}

@test "a near miss is suggested" {
    run netprof colect -o x
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'collect'?"* ]]
    run netprof sumarize
    [[ $output == *"did you mean 'summarize'?"* ]]
    run netprof frobnicate
    [[ $output != *"did you mean"* ]]
    run netprof frob # in four letters two edits are half of another word
    [ "$status" -eq 2 ]
    [[ $output != *"did you mean"* ]]
    run netprof diff --gruop X
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean '--group'?"* ]]
    run netprof d # no prefixes: scripts must not depend on what else is there
    [ "$status" -eq 2 ]
}

@test "netprof NAME starts netprof-NAME, with its arguments and exit status" {
    mkdir bin
    printf '#!/bin/sh\necho "helper:$#:$1:$2"\nexit 7\n' >bin/netprof-helper
    chmod +x bin/netprof-helper
    PATH=$PWD/bin:$PATH run netprof helper 'a b' --json
    [ "$status" -eq 7 ]
    [ "$output" = 'helper:2:a b:--json' ]
    PATH=$PWD/bin:$PATH run netprof help helper
    [ "$output" = 'helper:1:--help:' ]
    run netprof ../bin/helper
    [ "$status" -eq 2 ]
}

@test "a message is one line: netprof COMMAND: FILE: what" {
    run netprof diff missing.netprof other.netprof
    [ "$status" -eq 3 ]
    [ "$output" = 'netprof diff: missing.netprof: No such file or directory' ]
    echo 'not json' >a.json
    run netprof diff a.json a.json
    [ "$status" -eq 3 ]
    [[ $output == 'netprof diff: a.json: '* ]]
}

@test "with --json a failure is a JSON object, too" {
    [ "$(status_of netprof diff --json missing.netprof other.netprof)" = 3 ]
    [ "$(jq -r '.format, .subcommand, .exit_code' out | tr '\n' ' ')" = 'netprof-error diff 3 ' ]
    [[ $(jq -r .text out) == 'missing.netprof: No such file or directory' ]]
    [ -s err ]
}

@test "a standard output that is full or closed is an error" {
    [ -e /dev/full ] || skip 'no /dev/full'
    netprof collect -q -o a.netprof
    netprof collect -q -o b.netprof
    netprof collect -q -o c.netprof
    for command in list 'list --json' 'list --csv' 'list --counters' 'diff a.netprof b.netprof' \
        'diff --json a.netprof b.netprof' 'diff --csv a.netprof b.netprof' 'collect -q -o -' \
        'compare a.netprof b.netprof -- b.netprof c.netprof' 'convert a.netprof - --to json' 'convert a.netprof - --to csv' 'help diff' '--version'; do
        echo "$command"
        status=0
        # shellcheck disable=SC2086
        netprof $command >/dev/full 2>err || status=$?
        [ "$status" -eq 3 ]
        grep -q 'No space left on device' err
        status=0
        # shellcheck disable=SC2086
        netprof $command >&- 2>err || status=$?
        [ "$status" -eq 3 ]
        [ "$(wc -l <err)" -eq 1 ]
    done
}

# A limit of the file size stands for it: 4 KiB are written, then no more.
@test "a file that cannot be written to its end: said once, what was there stays, nothing is left" {
    netprof collect -q -o a.netprof
    netprof collect -q -o b.netprof
    netprof collect -q -o c.netprof
    netprof record -q -o r.netprof --interval 20ms --duration 300ms --job none --sources cpu,memory,netdev
    mkdir full
    for command in 'convert r.netprof full/out.json' 'convert r.netprof full/out.csv' 'merge a.netprof r.netprof -o full/out.netprof' \
        'compare --all --json a.netprof b.netprof -- b.netprof c.netprof -o full/out.json'; do
        echo "$command"
        echo before >"full/${command##*/}"
        status=0
        # shellcheck disable=SC2086
        (ulimit -f 4; trap '' XFSZ; netprof $command 2>err) || status=$?
        echo "exit $status"; cat err
        [ "$status" -eq 3 ]
        [ "$(wc -l <err)" -eq 1 ]
        [[ $(cat err) == *"full/${command##*/}"*"File too large"* ]]
        [ "$(cat "full/${command##*/}")" = before ]
        [ "$(ls full)" = "${command##*/}" ]
        rm "full/${command##*/}"
    done
}

@test "a reader that goes away is no error message" {
    netprof list --counters 2>err | head -n 1 >/dev/null
    [ ! -s err ]
}

@test "manuals: complete, without warnings" {
    man=$NETPROF_TEST_TOP/tools/man
    # Every variable of the header is in the manual of the header.
    for variable in $(sed -n '/All environment variables/,/^ *>>3/p' "$NETPROF_TEST_TOP/netprof.h" | grep -oE 'NETPROF(_[A-Z]+)?\b' | sort -u); do
        grep -qF "$variable" "$man/netprof.3" || { echo "netprof.3: $variable"; false; }
    done
    if command -v man >/dev/null; then
        [ "$(MANWIDTH=100 status_of man --warnings -E UTF-8 -l -Tutf8 -Z "$man/netprof.3")" = 0 ]
        refute grep -i 'warning\|error:' err
    fi
    for command in '' $commands; do
        page=$man/netprof${command:+-$command}.1
        [ -e "$page" ]
        if command -v man >/dev/null; then
            [ "$(MANWIDTH=100 status_of man --warnings -E UTF-8 -l -Tutf8 -Z "$page")" = 0 ]
            refute grep -i 'warning\|error:' err
        fi
        [ -z "$command" ] && continue
        # netprof(1) describes it in a line, and names it at its end
        [ "$(grep -c "^\.BR netprof.-$command (1)" "$man/netprof.1")" -eq 2 ] || { echo "netprof.1: $command"; false; }
        while IFS=$'\t' read -r option takes; do
            case $option in --*) ;; *) continue ;; esac
            grep -qF -- "${option//-/\\-}" "$page" || { echo "$page: $option is missing"; false; }
        done < <(netprof --list-options "$command")
        grep -q '^\.SH "\?EXIT STATUS' "$page"
        grep -q '^\.SH EXAMPLES' "$page"
    done
}

# complete_words WORD…: what bash offers for the last word.
complete_words() {
    # shellcheck source=/dev/null
    source "$NETPROF_TEST_TOP/tools/completion/netprof.bash"
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _netprof
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

@test "completion: commands, options, values, files" {
    [ "$(complete_words netprof co)" = 'collect compare convert ' ]
    [ "$(complete_words netprof help di)" = 'diff ' ]
    for command in $commands; do
        offered=$(complete_words netprof "$command" -)
        expected=$({ netprof --list-options "$command" | cut -f1; printf '%s\n' -h --help; } | sort | tr '\n' ' ')
        [ "$offered" = "$expected" ]
        # and every option that is listed is one that the parser knows
        netprof --list-options "$command" | awk -F '\t' '$1 ~ /^--/ { print $1; if ($2 != "") print 1 }' >arguments
        netprof --list-options "$command" | awk -F '\t' '$1 !~ /^--/ { print $1; if ($2 != "") print 1 }' >short_arguments
        mapfile -t arguments <arguments
        [ "$(status_of netprof "$command" "${arguments[@]}" --help)" = 0 ]
        grep -q '^usage: ' out
        mapfile -t arguments <short_arguments
        [ "$(status_of netprof "$command" "${arguments[@]}" --help)" = 0 ]
        [ "$(status_of netprof "$command" "${arguments[@]}" --nonsense --help)" = 2 ]
        grep -q -- '--nonsense: unknown option' err
    done
    [ "$(complete_words netprof collect --set '')" = 'all fast ' ]
    [ "$(complete_words netprof collect --set = f)" = 'fast ' ]
    [ "$(complete_words netprof diff --group CxiLin)" = 'CxiLinkReliability ' ]
    for command in list collect check record run; do
        [ "$(complete_words netprof "$command" --sources me)" = 'memory ' ]
        [ "$(complete_words netprof "$command" --sources = cpu,net)" = 'cpu,netdev ' ]
    done
    [ "$(complete_words netprof record --sources cpu,c)" = 'cpu,cgroup cpu,cxi ' ]
    mkdir directory
    touch file1.netprof
    [ "$(complete_words netprof diff --json fi)" = 'file1.netprof ' ]
    [ "$(complete_words netprof list --root d)" = 'directory ' ]
    [[ $(complete_words netprof run --interval 1s -- netprof-s) == *'netprof-sim '* ]]
    [ "$(complete_words netprof run true f)" = 'file1.netprof ' ]
}

@test "completion: every source, and no other" {
    offered=$(netprof --list-options record | sed -n 's/^--sources\t//p')
    [[ $offered == cxi,netdev,* ]]
    for name in ${offered//,/ }; do
        [[ $(status_of netprof list --sources "$name" --json) == [04] ]] # 4: nothing of it here, but known
    done
    for name in $(netprof list --json | jq -r '.sources[].source'); do
        [[ ,$offered, == *,$name,* ]]
    done
    [ "$(status_of netprof list --sources nonsense)" = 2 ]
}

# zsh_words WORD…: what _netprof hands to zsh's own functions for the last word, one a line.
zsh_words() {
    zsh -f -c 'compadd() { shift; print -rl -- "$@" }; _arguments() { print -rl -- "$@"; print -r -- "words: $words[*] $CURRENT" }
        _call_program() { shift; "$@" }; words=("${@:2}"); CURRENT=$#words; source "$1"' \
        zsh "$NETPROF_TEST_TOP/tools/completion/_netprof" "$@"
}

@test "completion for zsh" {
    command -v zsh >/dev/null || skip 'no zsh'
    zsh -n "$NETPROF_TEST_TOP/tools/completion/_netprof"
    zsh_words netprof '' >out
    { netprof --list-options; printf "%s\n" --help --version; } | sort >expected
    sort out | diff expected -
    [ "$(zsh_words netprof help di | tr '\n' ' ')" = "$(netprof --list-options | tr '\n' ' ')" ]
    zsh_words netprof collect --set '' >out
    grep -qxF -- '*--set=:value:(all fast)' out
    grep -qxF -- '*-o+:file:_files' out
    grep -qxF -- '*--root=:directory:_files -/' out
    grep -qxF -- '*:file:_files' out
    grep -qxF -- 'words: netprof --set  3' out
    zsh_words netprof diff --group Cxi >out
    grep -q '^\*--group=:group:(list .*CxiLinkReliability' out
    grep -qxF -- '*--json' out
    zsh_words netprof run -- e >out
    grep -qxF -- '*::arguments:_normal' out
    # every option of every command, once
    for command in $commands; do
        zsh_words netprof "$command" - | sed -n 's/^\*\(-[-a-z0-9]*\).*/\1/p' | sort >out
        netprof --list-options "$command" | cut -f1 | sort | diff - out
    done
}

@test "completion for fish" {
    command -v fish >/dev/null || skip 'no fish'
    fish --no-execute "$NETPROF_TEST_TOP/tools/completion/netprof.fish"
    export HOME=$PWD # fish keeps things there
    mkdir directory
    touch file1.netprof
    while IFS='|' read -r line expected; do
        offered=$(fish -N -c "source '$NETPROF_TEST_TOP/tools/completion/netprof.fish'; complete -C '$line'" | cut -f1 | sort | tr '\n' ' ')
        echo "$line: $offered"
        [ "$offered" = "$expected" ]
    done <<'END'
netprof col|collect 
netprof help di|diff 
netprof collect --set |all fast 
netprof collect --set=f|--set=fast 
netprof diff --group CxiLin|CxiLinkReliability 
netprof diff --json fi|file1.netprof 
netprof list --root dir|directory/ 
netprof run --interval 1s env fi|file1.netprof 
netprof run --summary fi|file1.netprof 
END
    for command in $commands; do
        fish -N -c "source '$NETPROF_TEST_TOP/tools/completion/netprof.fish'; complete -C 'netprof $command -'" | cut -f1 | sort >out
        { netprof --list-options "$command" | cut -f1; printf '%s\n' -h --help; } | sort | diff - out
    done
    fish -N -c "source '$NETPROF_TEST_TOP/tools/completion/netprof.fish'; complete -C 'netprof run -- ech'" | grep -q '^echo'
}
