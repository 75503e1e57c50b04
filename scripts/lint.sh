#!/usr/bin/env bash
# clang-tidy with the settings in .clang-tidy over the whole tree, or the given sources.
#   scripts/lint.sh [REGEX...]     sources whose path matches, e.g. libprofile/store
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh tests
scripts/setup.sh lint
# A folder of its own: clang-tidy cannot read the precompiled headers of another compiler.
quiet configure-lint.log "configure lint" cmake --preset debug -B build/lint \
  -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
patterns=("$@")
[[ ${#patterns[@]} -gt 0 ]] || patterns=("$PWD/(lib|apps|test|bench)")
run-clang-tidy-14 -quiet -j "$kJobs" -p build/lint "${patterns[@]}"
