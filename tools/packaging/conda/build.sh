#!/usr/bin/env bash
set -euo pipefail
# shellcheck disable=SC2086 # conda's own words
cmake -S . -B build -G Ninja ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib
cmake --build build
cmake --install build
