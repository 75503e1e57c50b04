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
# Every launch must have its kernel, no kernel may start before its launch, and ranges must enclose the
# calls made in them: NVTX, calls and kernels are on one clock. 256 tokens are 255 decode steps, of which
# a report may leave out some as warm-up.
for variant in plain graph; do
  check "complete_and_one_clock_$variant" python3 - "$out/json_$variant.txt" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
quality = report["quality"]
early = [w for w in quality["warnings"] if w["code"] == "before_launch"]
ops = {op["path"]: op["kernels"] for op in report["ops"]}
attention = ops.get("decode_step/layer_0/attention", 0)
print(quality, report["steps"]["count"], attention)
sys.exit(not (quality["coverage"] == 1 and quality["unlinked"] == 0 and quality["dropped"] == 0
              and not early and report["steps"]["count"] == 255 and attention >= 200
              and report["run"]["simulated"] is False))
PYTHON
done
echo "results: $out"
exit "$failed"
