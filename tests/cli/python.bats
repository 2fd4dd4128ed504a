#!/usr/bin/env bats
# The Python package: installed by pip from the tree, without a network, into a directory of the test; then its own tests
# (tests/python) with Debian's Python, or with whatever python3 is.

load common

setup_file() {
    export NETPROF_TEST_TOP=${NETPROF_TEST_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
    export NETPROF_TEST_BUILD=${NETPROF_TEST_BUILD:-$NETPROF_TEST_TOP/build}
    export NETPROF_TEST_BIN=${NETPROF_TEST_BIN:-$NETPROF_TEST_BUILD/bin}
    export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore
    export tree=$BATS_FILE_TMPDIR/tree site=$BATS_FILE_TMPDIR/site
    missing=
    python3 -c 'import os, sysconfig
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null || missing="no Python.h (python3-dev)"
    python3 -c 'import setuptools' 2>/dev/null || missing="no python3-setuptools"
    python3 -m pip --version >/dev/null 2>&1 || missing="no python3-pip"
    export missing
    [ -z "$missing" ] || return 0
    mkdir -p "$tree/samples" "$tree/report/analysis/catalog"
    cp "$NETPROF_TEST_TOP/netprof.h" "$tree"
    cp "$NETPROF_TEST_TOP/report/analysis/catalog/catalog_cxi.csv" "$tree/report/analysis/catalog"
    cp -r "$NETPROF_TEST_TOP/samples/python" "$tree/samples" # pip builds in the tree
    CFLAGS='-O1 -Wall -Wextra -Wno-missing-field-initializers -Werror' python3 -m pip install -q --no-build-isolation \
        --no-deps --target "$site" "$tree/samples/python" >"$BATS_FILE_TMPDIR/pip.log" 2>&1 || {
        cat "$BATS_FILE_TMPDIR/pip.log"
        return 1
    }
}

setup() {
    [ -z "$missing" ] || skip "$missing"
    cd "$BATS_TEST_TMPDIR" || return
    export PYTHONPATH=$site
}

# run_tests NAME: tests/python/test_NAME.py; what it prints behind # is shown.
run_tests() {
    python3 "$NETPROF_TEST_TOP/tests/python/test_$1.py" >out 2>err || { cat out err; return 1; }
    sed -n 's/^\.*\(# .*\)/\1/p' out >&3
    cat err
}

@test "pip installs the package, its version and its catalog" {
    version=$(sed -n 's/^#define NETPROF_VERSION_STRING "\(.*\)"/\1/p' "$NETPROF_TEST_TOP/netprof.h")
    [ "$(python3 -c 'import netprof; print(netprof.__version__)')" = "$version" ]
    [ "$(python3 -m pip list --path "$site" --format freeze)" = "netprof==$version" ]
    [ -e "$site/netprof/catalog_cxi.csv" ]
    [ -z "$(nm -D --defined-only "$site"/netprof/_netprof*.so | grep -v PyInit__netprof)" ]
}

@test "regions: with blocks, decorators, coroutines, threads, statistics" { run_tests regions; }

@test "workers: fork, spawn, forkserver, Pool, ProcessPoolExecutor, loaders, os._exit, SIGTERM" { run_tests ends; }

@test "counters: snapshots, deltas with flags, totals, files" { run_tests counters; }

@test "net_prof's functions" { run_tests net_prof; }

@test "an installation has the package's source, and pip builds it" {
    cmake --install "$NETPROF_TEST_BUILD" --prefix "$PWD/prefix" >/dev/null
    source=prefix/share/netprof/python
    diff -r -x '*.csv' -x __pycache__ -x build -x '*.egg-info' "$NETPROF_TEST_TOP/samples/python" "$source"
    cd "$source"
    [ "$(python3 setup.py --version)" = "$(python3 -c 'import netprof; print(netprof.version())')" ]
}
