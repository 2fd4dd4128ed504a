# shellcheck shell=bash
# At the end of a copy of tests/cli/common.bash: each case of a script notes the faults that it meets in a file of its own.
if [ -n "${NETPROF_MUTANTS_CASES-}" ]; then
    NETPROF_MUTANTS_MET=$NETPROF_MUTANTS_CASES/$(basename "$BATS_TEST_FILENAME" .bats).${BATS_TEST_NUMBER:-0}
    [ -e "$NETPROF_MUTANTS_MET" ] || head -c 4096 /dev/zero >"$NETPROF_MUTANTS_MET"
    export NETPROF_MUTANTS_MET
fi
