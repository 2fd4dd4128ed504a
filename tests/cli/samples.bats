#!/usr/bin/env bats
# The samples do what their README says: its commands run as printed, and the bytes in the regions that they leave are
# those that the programs themselves say they moved.

load common

readme=$NETPROF_TEST_TOP/samples/README.md

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$NETPROF_TEST_BUILD" build
    ln -s "$NETPROF_TEST_TOP/samples" samples
    set_up_open_mpi
}

# Rows of the table as "file<tab>command".
rows() { sed -n 's/^| `\([^`]*\)` |.*| `\([^`]*\)` |$/\1\t\2/p' "$readme"; }

# run_sample FILE [N]: the N-th command of a file as printed; its output goes to files out and err.
run_sample() {
    local command word
    command=$(rows | awk -F'\t' -v file="$1" -v n="${2:-1}" '$1 == file && ++count == n { print $2 }')
    [ -n "$command" ]
    for word in $command; do
        case $word in
        build/bin/netprof | build/bin/loopback | build/bin/tcp_pingpong | build/bin/halo_exchange) ;; # always there
        build/bin/*) [ -e "$word" ] || skip "$word was not built: see what cmake says is left out" ;;
        mpirun.*) command -v "$word" >/dev/null || skip "$word is not installed" ;;
        esac
    done
    bash -c "$command" >out 2>err || { cat out err; false; }
}

regions() { "$NETPROF_TEST_BUILD/tests/mpi/regions_of" "$@"; }

# of REGION calls|bytes FILE…: one number of the files together.
of() {
    local column=2
    [ "$2" = calls ] || column=3
    regions "${@:3}" | awk -v name="$1" -v column="$column" '
        { value = $(NF + column - 3); sub(/ [0-9]+ [0-9]+$/, "") } $0 == name { print value; found = 1 }
        END { exit !found }'
}

# The number before a word in the program's output.
said() { sed -n "s/.*\(^\|[^0-9]\)\([0-9][0-9]*\) $1.*/\2/p" out; }

@test "every sample is in the README, and every file of the README is there" {
    diff <(rows | cut -f 1 | sort -u) \
        <(cd "$NETPROF_TEST_TOP/samples" && ls -d ./*.c ./*.cpp fortran/*_*.f90 python/*.py paper/ | sed 's|^\./||' |
            grep -vxE 'regions_library.c|python/setup.py' | sort)
    [ "$(rows | wc -l)" -eq "$(grep '^| `' "$readme" | grep -vc '^| `live/`')" ] # its files say themselves how they are used
    [ -d "$NETPROF_TEST_TOP/samples/live" ]
}

@test "message_sizes.c: a row for each size, with the bytes that the loopback counted" {
    run_sample message_sizes.c
    cat out
    [ "$(awk '$1 ~ /^[0-9]+$/' out | wc -l)" -eq 21 ] # 1 to 1048576
    # There and back, each sent and received on the same device: at least twice the size, with headers and answers.
    build/bin/netprof list --devices 2>/dev/null | grep -q '^ *lo\b' || skip 'no loopback is read here'
    awk 'function bytes(value, unit) { return value * (unit == "MB" ? 1e6 : unit == "kB" ? 1e3 : 1) }
        $1 ~ /^[0-9]+$/ { n = bytes($(NF - 3), $(NF - 2)); if (n < 1.99 * $1) { print; bad = 1 } seen++ }
        END { exit bad || !seen }' out
}

@test "NETPROF_PRINT=1: regions and traffic as tables at exit" {
    NETPROF_PRINT=1 NETPROF_OUTPUT=%p.netprof build/bin/halo_exchange >/dev/null 2>err
    cat err
    grep -qE '^netprof: .* on ' err
    grep -qE '^regions: .* threads?, mode time$' err
    [ "$(awk '$1 == "step" { print $2 }' err)" = "$(regions ./*.netprof | awk '$1 == "step" { n += $2 } END { print n }')" ]
    NETPROF_PRINT=0 NETPROF_OUTPUT=%p.netprof build/bin/halo_exchange >/dev/null 2>err
    [ ! -s err ]
}

@test "loopback.c" {
    run_sample loopback.c
    # 1000 there and 1000 back, unless the machine is too busy for that within the limit of a phase.
    limit=$(build/bin/loopback -h | sed -n 's/.*-t SECONDS.*(\([0-9]*\))$/\1/p')
    awk -v limit="$limit" '/TCP ping-pong/ { print; good = $5 == 64 * $3 && ($3 == 2000 || ($3 > 0 && limit && $7 >= limit)) }
        END { exit !good }' out
    grep -q '^netprof: build/bin/loopback ended' err
}

@test "tcp_pingpong.c" {
    run_sample tcp_pingpong.c
    bytes=$(said 'bytes there and back')
    [ "$bytes" -eq $((2 * 200 * (8 + 512 + 32768 + 262144))) ]
    [ "$(regions netprof-*.netprof | awk '{ sum += $NF } END { print sum }')" -eq "$bytes" ]
    [ "$(of 'ping-pong 512 B' calls netprof-*.netprof)" -eq 200 ]
    [ "$(of 'ping-pong 512 B' bytes netprof-*.netprof)" -eq $((2 * 512 * 200)) ]
}

@test "halo_exchange.c" {
    run_sample halo_exchange.c
    grep -q 'heat 1.000000$' out
    [ "$(said 'bytes of halo sent')" -eq $((4 * 100 * 2 * 64 * 8)) ]
    [ "$(of 'halo exchange' bytes netprof-*.netprof)" -eq "$(said 'bytes of halo sent')" ]
    [ "$(of step calls netprof-*.netprof)" -eq 400 ]
}

@test "tcp_stream.cpp" {
    run_sample tcp_stream.cpp
    [ "$(said 'bytes sent')" -eq 20000000 ]
    [ "$(of send bytes netprof-*.netprof)" -eq 20000000 ]
    [ "$(of receive bytes netprof-*.netprof)" -eq "$(said 'bytes received')" ]
    [ "$(of send calls netprof-*.netprof)" -eq 200 ]
}

@test "google_benchmark.cpp: bytes, packets and stalls in its table" {
    run_sample google_benchmark.cpp
    number='[0-9.]+[numkMG]?'
    row="^send_message/.* lo_bytes=$number lo_packets=$number stalled_us=$number tcp_bytes=$number"
    [ "$(grep -cE "$row" out)" -eq 4 ]
    build/bin/google_benchmark --benchmark_min_time=0.02 --benchmark_format=json >table.json 2>/dev/null
    # What TCP acknowledged is the message, to the byte; the device carried that and headers, or more.
    [ "$(jq '[.benchmarks[] | (.name | capture("bytes:(?<n>[0-9]+)").n | tonumber) as $n |
        .tcp_bytes == $n and .lo_bytes > $n and .lo_packets > 0 and .stalled_us >= 0] | all' table.json)" = true ]
    [ "$(jq '.benchmarks | length' table.json)" -eq 4 ]
}

@test "openmp_gather.c" {
    run_sample openmp_gather.c
    [ "$(said 'bytes')" -eq $((64 * 1024 * 8)) ]
    [ "$(of send bytes netprof-*.netprof)" -eq "$(said 'bytes')" ]
    [ "$(of compute calls netprof-*.netprof)" -eq 64 ]
}

# Four ranks with a file each: 20 steps, two sides, 512 cells of 8 bytes.
expect_mpi_halo() {
    [ "$(said 'bytes of halo sent')" -eq $((4 * 20 * 2 * 512 * 8)) ]
    [ "$(of 'halo exchange' bytes "$@")" -eq "$(said 'bytes of halo sent')" ]
    [ "$(of 'largest change' calls "$@")" -eq 80 ]
}

@test "mpi_halo.c with MPICH" {
    run_sample mpi_halo.c 1
    expect_mpi_halo netprof-[0-3]-*.netprof
}

@test "mpi_halo.c with Open MPI" {
    run_sample mpi_halo.c 2
    expect_mpi_halo netprof-[0-3]-*.netprof
}

@test "mpi_halo.c with every MPI call: what the wrapper counts is what the program sent" {
    run_sample mpi_halo.c 3
    grep -q '^  regions of 4 processes:$' err
    grep -qE '^ +MPI_Isend +160 .* 655 kB$' err
    netprof run --mpi -o regions -- mpirun.mpich -n 4 build/bin/mpi_halo-mpich >out
    expect_mpi_halo regions/netprof-[0-3]-*.netprof
    [ "$(of MPI_Isend bytes regions/netprof-*.netprof)" -eq "$(said 'bytes of halo sent')" ]
    [ "$(of MPI_Allreduce bytes regions/netprof-*.netprof)" -eq $((4 * 20 * 8)) ]
    [ "$(of MPI_Waitall calls regions/netprof-*.netprof)" -eq 80 ]
}

@test "fortran/fortran_halo.f90" {
    run_sample fortran/fortran_halo.f90
    grep -q 'heat 1.000000$' out
    [ "$(said 'bytes of halo copied')" -eq $((200 * 4 * 2 * 8)) ]
    [ "$(of 'halo exchange' bytes netprof-*.netprof)" -eq "$(said 'bytes of halo copied')" ]
    [ "$(of compute calls netprof-*.netprof)" -eq 800 ]
}

need_python() {
    [ -e build/python/netprof/__init__.py ] ||
        skip "the Python package was not built: a sanitizer, or no python3-dev and python3-setuptools"
}

@test "python/allreduce.py" {
    need_python
    run_sample python/allreduce.py
    [ "$(said 'bytes sent' | wc -l)" -eq 4 ]
    for rank in 0 1 2 3; do
        bytes=$(sed -n "s/^rank $rank: \([0-9]*\) bytes sent$/\1/p" out)
        [ "$bytes" -eq $((3 * 2 * 3 * 6000 / 4 * 8)) ] # rounds, halves, steps, numbers of a chunk, size
        [ "$(regions netprof-$rank-*.netprof | awk '{ sum += $NF } END { print sum }')" -eq "$bytes" ]
        [ "$(of all-reduce calls netprof-$rank-*.netprof)" -eq 3 ]
    done
}

@test "python/torch_allreduce.py" {
    need_python
    python3 -c 'import torch.distributed as d; assert d.is_available() and d.is_gloo_available()' 2>/dev/null ||
        skip 'no torch with gloo'
    run_sample python/torch_allreduce.py
    for rank in 0 1; do
        [ "$(of all_reduce calls netprof-$rank-*.netprof)" -eq 5 ]
        [ "$(of all_reduce bytes netprof-$rank-*.netprof)" -eq $((5 * 4 * 1000000)) ]
    done
}

@test "the Python package: spans, decorators, threads, errors" {
    need_python
    cat >program.py <<'END'
import resource, threading
import netprof
a, b = netprof.span("a"), netprof.span("b")
a.end()
threading.Thread(target=b.end).start()
@netprof.region("outer", nbytes=5)
def outer():
    try:
        with netprof.region("inner \u00e4"):
            netprof.add_bytes(2 ** 40)
            raise ValueError
    except ValueError:
        pass
threads = [threading.Thread(target=lambda: [outer() for _ in range(10)]) for _ in range(3)]
[t.start() for t in threads]; [t.join() for t in threads]
a.end()
print(netprof.version())
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
try:
    netprof.flush()
except netprof.Error as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    print(error)
END
    PYTHONPATH=build/python python3 program.py >out
    [[ $(head -n 1 out) =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
    grep -q '/netprof-.*: File too large$' out
    regions netprof-*.netprof | sort >got
    diff got - <<END
a 1 0
b 1 0
inner ä 30 $((30 * 2 ** 40))
outer 30 150
END
}
