# Sourced by the scripts beside it, not run: where the tree is, and how a build is done quietly.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly kJobs=2  # GCC and clang take up to 1.5 GB each on the heavy headers

# CMake reads this at the first configuration of a build folder. The sloppiness lets ccache work
# together with precompiled headers.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi

# quiet LOG TEXT COMMAND...: one line of progress; the output goes to build/log/LOG and is shown
# only when the command fails.
quiet() {
  local log="build/log/$1" text="$2" begin=$SECONDS
  shift 2
  mkdir -p build/log
  printf '%s ... ' "$text" >&2
  if "$@" >"$log" 2>&1; then
    printf 'done, %d s\n' $((SECONDS - begin)) >&2
    return 0
  fi
  printf 'FAILED, %d s\n' $((SECONDS - begin)) >&2
  # The first error counts; with several compilers at work it is not at the end.
  { grep -m 1 -A 60 -E '^(FAILED|CMake Error)' "$log" || tail -n 60 "$log"; } >&2
  printf 'the whole output is in %s\n' "$log" >&2
  return 1
}

# configure PRESET [OPTION...]: without options only when the build folder has none yet; Ninja
# itself runs CMake again when a CMakeLists.txt has changed.
configure() {
  local preset="$1"
  shift
  if [[ $# -eq 0 && -e "build/$preset/build.ninja" && CMakePresets.json -ot "build/$preset/build.ninja" ]]; then
    return 0
  fi
  quiet "configure-$preset.log" "configure $preset" cmake --preset "$preset" "$@"
}

# build PRESET [TARGET...]
build() {
  local preset="$1"
  shift
  quiet "build-$preset.log" "build $preset${*:+ ($*)}" \
    cmake --build --preset "$preset" -j "$kJobs" ${*:+--target "$@"}
}

# can_record PRESET: whether the build folder found a CUDA toolkit, so that the recorder and the
# samples are built in it.
can_record() { grep -q '^build llama_infer: phony' "build/$1/build.ninja"; }

# has_gpu: whether a driver has a GPU here.
has_gpu() { [[ -e /dev/nvidia0 ]] && { ! command -v nvidia-smi >/dev/null || nvidia-smi -L >/dev/null 2>&1; }; }
