#!/usr/bin/env bats
# An installed netprof is found by find_package and by pkg-config, wherever its prefix was moved to.

setup_file() {
    export NETPROF_TEST_TOP=${NETPROF_TEST_TOP:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
    export NETPROF_TEST_BUILD=${NETPROF_TEST_BUILD:-$NETPROF_TEST_TOP/build}
    export NETPROF_TEST_BIN=${NETPROF_TEST_BIN:-$NETPROF_TEST_BUILD/bin}
    CMAKE_GENERATOR=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$NETPROF_TEST_BUILD/CMakeCache.txt")
    export CMAKE_GENERATOR # the consumers are built with what built netprof
    export prefix="$BATS_FILE_TMPDIR/moved here"
    cmake --install "$NETPROF_TEST_BUILD" --prefix "$BATS_FILE_TMPDIR/first" >/dev/null
    mv "$BATS_FILE_TMPDIR/first" "$prefix"
    version=$(sed -n 's/^# *define *NETPROF_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\).*/\2/p' "$NETPROF_TEST_TOP/netprof.h")
    export version=${version//$'\n'/.}
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >consumer.c <<'END'
#define NETPROF_IMPLEMENTATION
#include <netprof.h>

int main(void)
{
    return netprof_version() ? 0 : 1;
}
END
}

@test "the header is installed as it is" {
    cmp "$NETPROF_TEST_TOP/netprof.h" "$prefix/include/netprof.h"
}

@test "the Python package is installed as source, which finds the header" {
    source="$prefix/share/netprof/python"
    diff -r -x catalog_cxi.csv -x __pycache__ -x build -x '*.egg-info' "$NETPROF_TEST_TOP/samples/python" "$source"
    cmp "$NETPROF_TEST_TOP/report/analysis/catalog/catalog_cxi.csv" "$source/catalog_cxi.csv"
    python3 -c 'import setuptools' || skip 'no python3-setuptools'
    cp -r "$prefix/share" "$prefix/include" .
    [ "$(cd share/netprof/python && python3 -W ignore setup.py --version)" = "$version" ]
}

@test "find_package(netprof) builds a C program" {
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(netprof REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE netprof::netprof)
message(STATUS "version ${netprof_VERSION}")
END
    run cmake -S . -B build "-DCMAKE_PREFIX_PATH=$prefix"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"version $version"* ]]
    cmake --build build
    build/consumer
}

@test "find_package(netprof) refuses another major version" {
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(netprof 99 REQUIRED)
END
    run cmake -S . -B build "-DCMAKE_PREFIX_PATH=$prefix"
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *'compatible with requested version "99"'* ]]
}

@test "pkg-config netprof builds a C program" {
    export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
    case $(pkg-config --version) in # that of freedesktop.org cuts paths at blanks
    0.*) ln -s "$prefix" plain && PKG_CONFIG_PATH=$PWD/plain/share/pkgconfig ;;
    esac
    [ "$(pkg-config --modversion netprof)" = "$version" ]
    eval "cc consumer.c -o consumer $(pkg-config --cflags --libs netprof)"
    ./consumer
}

@test "an installed program starts" {
    [ -x "$NETPROF_TEST_BIN/netprof" ] || skip "built without tools"
    "$prefix/bin/netprof" --version
}
