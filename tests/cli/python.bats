#!/usr/bin/env bats
# The Python package: installed by pip from the tree, without a network, into a directory of the test; then its own tests
# (tests/python) with Debian's Python, or with whatever python3 is.

load common

# lacks PYTHON: what pip needs to build the package and PYTHON has not; nothing if it has all.
lacks() {
    "$1" -c 'import os, sysconfig
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null || { echo "no Python.h (python3-dev)"; return; }
    "$1" -m pip --version >/dev/null 2>&1 || { echo "no python3-pip"; return; }
    "$1" -c 'import setuptools
if int(setuptools.__version__.split(".")[0]) < 71: import wheel' 2>/dev/null || echo "no python3-setuptools and python3-wheel"
}

setup_file() {
    export NETPROF_TEST_TOP=${NETPROF_TEST_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
    export NETPROF_TEST_BUILD=${NETPROF_TEST_BUILD:-$NETPROF_TEST_TOP/build}
    export NETPROF_TEST_BIN=${NETPROF_TEST_BIN:-$NETPROF_TEST_BUILD/bin}
    export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore
    export tree=$BATS_FILE_TMPDIR/tree site=$BATS_FILE_TMPDIR/site
    local candidate
    for candidate in /usr/bin/python3 python3; do # pandas is with the former
        export python=$candidate missing
        missing=$(lacks "$candidate")
        [ -n "$missing" ] || break
    done
    [ -z "$missing" ] || return 0
    mkdir -p "$tree/samples" "$tree/report/analysis/catalog"
    cp "$NETPROF_TEST_TOP/netprof.h" "$tree"
    cp "$NETPROF_TEST_TOP/report/analysis/catalog/catalog_cxi.csv" "$tree/report/analysis/catalog"
    cp -r "$NETPROF_TEST_TOP/samples/python" "$tree/samples" # pip builds in the tree
    cd "$tree" || return # as the README says; before 21.3 pip needs that
    CFLAGS='-O1 -Wall -Wextra -Wno-missing-field-initializers -Werror' "$python" -m pip install -q --no-build-isolation \
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
    "$python" "$NETPROF_TEST_TOP/tests/python/test_$1.py" >out 2>err || { cat out err; return 1; }
    sed -n 's/^\.*\(# .*\)/\1/p' out >&3
    cat err
}

@test "pip installs the package, its version and its catalog" {
    version=$(sed -n 's/^#define NETPROF_VERSION_STRING "\(.*\)"/\1/p' "$NETPROF_TEST_TOP/netprof.h")
    [ "$("$python" -c 'import netprof; print(netprof.__version__)')" = "$version" ]
    [ "$("$python" -m pip list --path "$site" --format freeze)" = "netprof==$version" ]
    [ -e "$site/netprof/catalog_cxi.csv" ]
    [ -z "$(nm -D --defined-only "$site"/netprof/_netprof*.so | grep -v PyInit__netprof)" ]
}

@test "regions: with blocks, decorators, coroutines, threads, statistics" { run_tests regions; }

@test "workers: fork, spawn, forkserver, Pool, ProcessPoolExecutor, loaders, os._exit, SIGTERM" { run_tests ends; }

@test "counters: snapshots, deltas with flags, totals, files" { run_tests counters; }

@test "net_prof's functions" { run_tests net_prof; }

@test "the recipe of samples/RECIPES.md" {
    { echo 'exchange = lambda: None'; sed -n '/^```python/,/^```/{/^```/!p}' "$NETPROF_TEST_TOP/samples/RECIPES.md"; } >recipe.py
    "$python" recipe.py >out
    [ "$(wc -w <out)" -eq 2 ]
    [ "$(netprof regions netprof-*.netprof --json | jq -r '.regions[].region')" = exchange ]
}
