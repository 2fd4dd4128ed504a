# Loaded by the tests of the commands: where the programs are, and small trees to read.
# shellcheck shell=bash

NETPROF_TEST_TOP=${NETPROF_TEST_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
NETPROF_TEST_BUILD=${NETPROF_TEST_BUILD:-$NETPROF_TEST_TOP/build}
NETPROF_TEST_BIN=${NETPROF_TEST_BIN:-$NETPROF_TEST_BUILD/bin}
# The distribution's python3 has the packages that tools/bootstrap --tests installs.
PATH=$NETPROF_TEST_BIN:/usr/bin:$PATH
export LC_ALL=C.UTF-8
unset NO_COLOR NETPROF_ROOT NETPROF_SOURCES NETPROF_INCLUDE NETPROF_EXCLUDE
# What this machine's job environment says is no part of the tests.
for name in $(compgen -e); do
    case $name in SLURM_* | SLURMD_* | OAR_* | POD_* | KUBERNETES_* | PBS_* | LSB_* | PMI_* | PMIX_* | OMPI_* | PALS_*) unset "$name" ;; esac
done

# DuckDB's library, where tools/bootstrap could get it.
if [ -z "${NETPROF_DUCKDB-}" ] && [ -e "$NETPROF_TEST_TOP/build-duckdb/libduckdb.so" ]; then
    export NETPROF_DUCKDB=$NETPROF_TEST_TOP/build-duckdb/libduckdb.so
fi

need_duckdb() {
    [ -n "${NETPROF_DUCKDB-}" ] || skip "no DuckDB: tools/bootstrap --tests gets it where there is a network"
}

# Open MPI here: as root, more ranks than processors, a directory of its own (else one for all that run at once), and its
# plain way through shared memory.
set_up_open_mpi() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # as Open MPI 5 calls it
    export OMPI_MCA_orte_tmpdir_base=$BATS_TEST_TMPDIR
    export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
}

# status_of COMMAND…: its exit status as output, whatever it is; its output goes to files out and err.
status_of() {
    local status=0
    "$@" >out 2>err || status=$?
    echo "$status"
}

# refute COMMAND…: succeeds when the command fails. (A bare "! command" never fails a test.)
refute() {
    if "$@"; then
        echo "unexpected: $*"
        return 1
    fi
}

# wait_until SECONDS COMMAND…: until it succeeds, for at most so long.
wait_until() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        if [ $SECONDS -ge $end ]; then
            echo "not within $1 s: ${*:2}"
            return 1
        fi
        sleep 0.02
    done
}

# expected_status COMMAND: of a line that was run: 1 where netprof job found something as bad as --fail-on, which may be what
# this machine's load and network happen to be; 0 for all others.
expected_status() {
    local severity
    case $1 in
    'netprof job '*) severity=$(bash -c "$1 --json" 2>/dev/null | jq -r .verdict.severity) ;;
    *) severity=none ;;
    esac
    case $severity/$1 in
    high/*'--fail-on critical'*) echo 0 ;;
    critical/* | high/*) echo 1 ;;
    none/* | ok/* | info/* | watch/* | warn/*) echo 0 ;;
    *) echo "unknown: $severity" ;;
    esac
}
export -f expected_status

# make_nic ROOT NAME COUNTER=VALUE…: a Cassini NIC with so many telemetry files, stamped one second after the epoch.
make_nic() {
    local telemetry=$1/sys/class/cxi/$2/device/telemetry pair
    mkdir -p "$telemetry"
    for pair in "${@:3}"; do
        : >"$telemetry/${pair%=*}"
        set_counter "$1" "$2" "${pair%=*}" "${pair##*=}" 0
    done
}

# set_counter ROOT NAME COUNTER VALUE SECONDS: its value so many seconds later. In place, in one write and always of the
# same size: who looks meanwhile sees the old value or the new one, never an empty file or half a line. (Not 1<>: export -f
# of bash 5.2 leaves out that 1.)
set_counter() {
    printf '%-63s\n' "$4@$((1700000000 + $5)).000000001" 9<>"$1/sys/class/cxi/$2/device/telemetry/$3" >&9
}

# readings FILE: how many snapshots a recording holds by now, growing or ended; 0 where there is none yet.
readings() {
    netprof convert --to json "$1" - 2>/dev/null | jq -s '[.[].snapshots | length] | add // 0'
}

# wait_for_readings FILE COUNT: until a recording that another process makes holds so many, for at most a minute.
wait_for_readings() {
    local end=$((SECONDS + 60))
    until [ "$(readings "$1")" -ge "$2" ]; do
        if [ $SECONDS -ge $end ]; then
            echo "$1: $(readings "$1") readings, expected $2"
            return 1
        fi
        sleep 0.02
    done
}

# cut_last FROM TO: the file up to the middle of its last snapshot.
cut_last() {
    python3 - "$@" <<'END'
import struct, sys
data, at, last = open(sys.argv[1], "rb").read(), 16, None
while at < len(data):
    tag, length, _ = struct.unpack("<4sII", data[at:at + 12])
    if tag in (b"SNAP", b"STEP"):
        last = at + 12 + length // 2
    at += 12 + length
open(sys.argv[2], "wb").write(data[:last])
END
}

# The reference data of a real node; the test is skipped where a checkout has none.
need_aurora() {
    aurora=$NETPROF_TEST_TOP/../shared/data/aurora
    [ -e "$aurora/before.txt" ] || skip "no reference data ($aurora)"
}
