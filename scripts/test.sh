#!/usr/bin/env bash
# All tests through CTest: first as users run the tool (GCC, optimised), then everything below apps/
# under AddressSanitizer and UndefinedBehaviorSanitizer, with a short run of each fuzz target. Where
# there is a CUDA toolkit, programs are recorded on the simulated GPU, also with recorder and
# simulator under ThreadSanitizer and AddressSanitizer.
# Statistical tests run 5 % of their seeds here; scripts/validate.sh runs them all.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source scripts/ctest.sh

scripts/setup.sh tests
failed=()
for preset in release asan; do
  configure "$preset"
  build "$preset"
  # The recorder and the simulated GPU once more, instrumented: tests run programs on them.
  if [[ $preset == release ]] && can_record release; then
    build release simgpu_thread simgpu_address gprofml_injection_thread gprofml_injection_address
  fi
  run_ctest "$preset" || failed+=("$preset")
done

echo
for preset in release asan; do
  printf '%-8s %s\n' "$preset" "$(ctest_summary "$preset")"
done
printf 'total %d min %02d s' $((SECONDS / 60)) $((SECONDS % 60))
if [[ ${#failed[@]} -gt 0 ]]; then
  printf '; FAILED under: %s\n' "${failed[*]}"
  exit 1
fi
printf '; all passed under: release, asan\n'
