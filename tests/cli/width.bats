#!/usr/bin/env bats
# Texts fit the terminal: every command about data of every kind, at 40, 80 and 200 columns. Only a word or a number that has no
# blank may be longer, on a line of its own.

load common

in_terminal=$BATS_TEST_DIRNAME/in_terminal

setup_file() {
    "$BATS_TEST_DIRNAME/../json/make_outputs" "${NETPROF_TEST_BUILD:-$BATS_TEST_DIRNAME/../../build}" "$BATS_FILE_TMPDIR/made"
}

setup() {
    export NO_COLOR=1
    cd "$BATS_FILE_TMPDIR/made" || return
}

# Every command line that printed JSON, but for those that write files, without --json.
lines() {
    grep -hvE ' (convert|collect|export) |cat |-r all|nosuch|nowhere|passwd|/dev/fd|before\.netprof,|cut\.netprof' outputs/*.line | sed -E 's/ --json//' | sort -u
    cat <<'END'
netprof list
netprof list -c --sources all -d
netprof list --sources all
netprof diff before.netprof after.netprof --all
netprof check before.netprof after.netprof --all
netprof check --now -t 20ms --all
netprof compare run1.netprof run2.netprof -- ticks.netprof --all
netprof job job --all
netprof job ranked --all
netprof nccl nccl --all
netprof nsys r0.sqlite r1.sqlite --all
netprof nsys 2023.sqlite --all
netprof run -- sleep 0.02
netprof run -r 3 -- sleep 0.02
netprof run -I 20ms -- sleep 0.1
netprof run -a -d 50ms
END
}

# fits COLUMNS: every line of the outputs that does not, below its command. Messages about files are no part of a text; run
# has its own on the standard error.
fits() {
    local line script bad=0
    while read -r line; do
        # a script of sh -c lost its quotes
        case $line in *' sh -c '*) line="${line%% -- sh -c *} -- sleep 0.02" ;; esac
        case $line in 'netprof run '*) script=$line ;; *) script="$line 2>/dev/null" ;; esac
        "$in_terminal" "$1" bash -c "$script" </dev/null >text || true
        [ -s text ] || { echo "nothing: $line"; bad=1; }
        "$in_terminal" --wider "$1" text >wide || { echo "== $line"; cat wide; bad=1; }
    done < <(lines)
    return $bad
}

@test "every command's text fits 40 columns" {
    fits 40
}

@test "every command's text fits 80 columns" {
    fits 80
}

@test "every command's text fits 200 columns" {
    fits 200
}

@test "a narrow terminal costs no cell and no digit; a pipe gets the lines whole" {
    # the words of a table, in any order, are the same at any width
    words() { tr -s ' ' '\n' <"$1" | sort; }
    for line in 'netprof diff before.netprof after.netprof --all' 'netprof job job --all' 'netprof regions mpi'; do
        "$in_terminal" 5000 bash -c "$line 2>/dev/null" >wide
        "$in_terminal" 40 bash -c "$line 2>/dev/null" >narrow
        diff <(words wide) <(words narrow)
        [ "$(wc -l <narrow)" -gt "$(wc -l <wide)" ]
    done
    "$in_terminal" 5000 netprof diff before.netprof after.netprof --all >wide
    netprof diff before.netprof after.netprof --all | diff - wide
    # what programs read is never folded
    "$in_terminal" 40 netprof diff before.netprof after.netprof --csv >narrow
    netprof diff before.netprof after.netprof --csv | tr -d '\r' | diff - <(tr -d '\r' <narrow)
    "$in_terminal" 40 netprof diff before.netprof after.netprof --json | jq -e .format >/dev/null
}
