#!/usr/bin/env bash
# What only a real GPU can show, in at most six minutes: recordings by the real driver and CUPTI against
# what the programs know of themselves, four questions about CUPTI, and what recording costs. Prints a
# table; figures go to $OUT/gpu_check.json (build/gpu_check unless set). Needs python3, nothing else:
# it runs from an unpacked package of scripts/package.sh, or from a clone, where it builds what is
# missing. Without a GPU it says so and exits 77.
#   scripts/gpu_check.sh [--simulated] [--quick]
#     --simulated   the same steps on the simulated GPU: shows that they work, measures nothing
#     --quick       little measuring
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
simulated=0
for option in "$@"; do
  case "$option" in
    --simulated) simulated=1 ;;
    --quick) ;;
    *) echo "usage: gpu_check.sh [--simulated] [--quick]" >&2; exit 2 ;;
  esac
done
if [[ $simulated -eq 0 && ! -e /dev/nvidia0 && ! -e /dev/dxg ]]; then
  echo 'gpu_check: no GPU here; --simulated runs the same steps on the simulated one' >&2
  exit 77
fi
command -v python3 >/dev/null || { echo 'gpu_check: needs python3, of which there is none' >&2; exit 77; }

if [[ -x $here/bin/gprof-ml ]]; then  # an unpacked package
  exec python3 -B "$here/gpu_check/check.py" "$here" "${OUT:-$PWD/gpu_check_out}" "$@"
fi
source "$here/common.sh"
root="${GPROFML_BUILD_DIR:-}"
if [[ -z $root ]]; then
  scripts/setup.sh build
  configure release
  build release gprof-ml gprofml_injection simgpu gpu_check_programs
  root=build/release
fi
exec python3 -B test/gpu/check.py "$root" "${OUT:-$PWD/build/gpu_check}" "$@"
