#!/usr/bin/env bash
# What only a real GPU can show, in one short call: llama_infer's tokens against the CPU's, and the
# recorder on the real driver and CUPTI. Prints one line a check; results go to $OUT (build/gpu_check
# unless set). Builds what is missing. Without a GPU it says so and exits 77.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

has_gpu || { echo 'gpu_check: no GPU here' >&2; exit 77; }
out="${OUT:-$PWD/build/gpu_check}"
mkdir -p "$out"
scripts/setup.sh build
configure release
build release gprof-ml gprofml_injection llama_infer

bin=build/release/bin
failed=0
# check NAME COMMAND...: output to $out/NAME.txt
check() {
  local name="$1" rc=0
  shift
  "$@" >"$out/$name.txt" 2>&1 || rc=$?
  if [[ $rc -eq 0 ]]; then
    echo "ok      $name"
  else
    echo "FAILED  $name (exit code $rc)"
    tail -n 5 "$out/$name.txt"
    failed=1
  fi
}

nvidia-smi >"$out/nvidia-smi.txt" 2>&1 || true
check tokens_equal_cpu "$bin/llama_infer" --verify
check tokens_equal_cpu_graph "$bin/llama_infer" --verify --graph
for variant in plain graph; do
  options=()
  [[ $variant == plain ]] || options=(--graph)
  check "record_$variant" "$bin/gprof-ml" run --require-data --force -o "$out/$variant.db" -- \
    "$bin/llama_infer" --output-length 256 "${options[@]}"
  check "report_$variant" "$bin/gprof-ml" analyze "$out/$variant.db"
  check "json_$variant" "$bin/gprof-ml" analyze --format json "$out/$variant.db"
done
# Every launch must have its kernel, and NVTX and kernels must share a clock: a step's kernels start
# inside the step or, launched at its end, soon after.
check nothing_lost python3 - "$out/json_plain.txt" <<'PYTHON'
import json, sys
quality = json.load(open(sys.argv[1]))["quality"]
print(quality)
sys.exit(0 if quality["submissions"] == quality["linked"] > 0 and not quality["dropped"] else 1)
PYTHON
echo "results: $out"
exit "$failed"
