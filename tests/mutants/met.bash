# shellcheck shell=bash
# At the end of a copy of tests/cli/common.bash: each case of a script notes the faults that it meets in a file of its own.
if [ -n "${MUTANTS_CASES-}" ]; then
    MUTANTS_MET=$MUTANTS_CASES/$(basename "$BATS_TEST_FILENAME" .bats).${BATS_TEST_NUMBER:-0}
    [ -e "$MUTANTS_MET" ] || head -c 4096 /dev/zero >"$MUTANTS_MET"
    export MUTANTS_MET
fi
