#!/usr/bin/env bash
# Builds gprof-ml and a small Llama-like decoder, records the decoder and prints the report: on a GPU
# where there is one, else on the simulated GPU of test/simgpu. Without a CUDA toolkit nothing can be
# recorded: then it prints the report of a recording that is in the tree.
#   scripts/demo.sh [OPTION of llama_infer...]     --graph, say
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh build
configure release

if ! can_record release; then
  build release gprof-ml
  echo 'demo: no CUDA toolkit here, so nothing is recorded: this is a simulated run kept in the tree' >&2
  echo >&2
  exec build/release/bin/gprof-ml analyze samples/llama_infer_simulated.db
fi

build release gprof-ml gprofml_injection llama_infer simgpu
on=()
if ! has_gpu; then
  on=(build/release/bin/simgpu --)
  echo 'demo: no GPU here: llama_infer runs on the simulated one, its times are a model' >&2
fi
mkdir -p build/demo
echo >&2
exec build/release/bin/gprof-ml run --force -o build/demo/run.db --analyze -- \
  "${on[@]}" build/release/bin/llama_infer "$@"
