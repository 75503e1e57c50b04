# Sourced: runs the tests of one build folder and says what was skipped and why.

# What a sanitizer cannot judge: architecture tests look at sources, not at programs.
readonly kOnceOnly=architecture

# run_ctest PRESET: non-zero when a test failed, when there was none, or when all were skipped.
run_ctest() {
  local preset="$1" results="build/$1/ctest.xml" rc=0
  local options=(--preset "$preset" -j "$kJobs" --no-tests=error --output-on-failure)
  [[ $preset == release ]] || options+=(-LE "$kOnceOnly")
  mkdir -p build/log
  rm -f "$results"
  printf '\n== tests: %s ==\n' "$preset"
  # Passed tests go to the log only: a thousand lines would hide the few that matter.
  ctest "${options[@]}" --output-junit "$PWD/$results" 2>&1 |
    tee "build/log/ctest-$preset.log" |
    grep -v -E '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test +#[0-9]+:.*(Passed|Skipped))' || rc=$?
  python3 scripts/skipped_tests.py "$results" || rc=1
  return "$rc"
}

# ctest_summary PRESET: CTest's own closing line of the last run.
ctest_summary() {
  grep -E '^[0-9]+% tests passed' "build/log/ctest-$1.log" || echo 'no summary: CTest did not finish'
}
