#!/usr/bin/env bash
# Measures and compares with the targets.
#   scripts/bench.sh [--json FILE] [NAME...]    only these figures; without names, all
#   scripts/bench.sh --list                     the names there are
# Prints name, value, unit, target; FILE gets {NAME: {value, unit, target, ok}}. Run it on an idle
# machine. The exit code is 1 when a figure could not be measured, whether or not targets are met.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  sed -n '3,4s/^# */usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

json='' list=0 names=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --json) [[ $# -ge 2 ]] || usage; json=$(realpath -m "$OLDPWD/$2"); [[ $2 != /* ]] || json=$2; shift ;;
    --list) list=1 ;;
    -*) usage ;;
    *) names+=("$1") ;;
  esac
  shift
done

scripts/setup.sh bench
configure release -DGPROFML_BUILD_BENCHMARKS=ON
build release benchmarks
arguments=(--json "$json" --benches build/release/bin/bench)
[[ $list -eq 0 ]] || arguments+=(--list)
exec python3 scripts/bench_table.py "${arguments[@]}" -- "${names[@]}"
