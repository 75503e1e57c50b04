#!/usr/bin/env bash
# The long run: every seed of the statistical tests, under GCC, under AddressSanitizer and
# UndefinedBehaviorSanitizer and under ThreadSanitizer, a soak of 30 million records ("recording:
# size, Soak"), the recorder in an older system's root, then the fuzz targets for a while each. Needs
# root for that root, and the mirror that apt uses.
#   scripts/validate.sh [SECONDS]     SECONDS for each fuzz target, 600 unless told
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/ctest.sh

seconds="${1:-600}"
[[ $seconds =~ ^[0-9]+$ ]] || { echo "usage: scripts/validate.sh [SECONDS]" >&2; exit 2; }

scripts/setup.sh tests
export GPROFML_VALIDATE=1
failed=()
for preset in release asan tsan; do
  configure "$preset"
  build "$preset"
  if [[ $preset == release ]] && can_record release; then
    build release simgpu_thread simgpu_address gprofml_injection_thread gprofml_injection_address
    scripts/check_old_system.sh release || failed+=("check_old_system")
  fi
  run_ctest "$preset" || failed+=("$preset")
done

# Each folder of inputs has its target, fuzz_<folder> or fuzz_<folder>_<more>. What a run finds goes to
# build/, so that the corpus in the tree grows only on purpose.
shopt -s nullglob
for corpus in test/fuzz/corpus/*/; do
  name=$(basename "$corpus")
  targets=(build/asan/bin/fuzz_"$name" build/asan/bin/fuzz_"$name"_*)
  target="${targets[-1]}"
  mkdir -p "build/fuzz/$name"
  quiet "fuzz-$name.log" "fuzz $name for $seconds s" "$target" -max_total_time="$seconds" \
    -rss_limit_mb=2048 -timeout=20 -artifact_prefix="build/fuzz/$name-" "build/fuzz/$name" "$corpus" ||
    failed+=("fuzz $name")
done

printf '\ntotal %d min %02d s\n' $((SECONDS / 60)) $((SECONDS % 60))
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'FAILED: %s\n' "${failed[*]}"
  exit 1
fi
