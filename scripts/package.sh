#!/usr/bin/env bash
# Packs gprof-ml for a machine with neither compiler nor package registry: the command, the recorder,
# the samples, the simulated GPU and the programs of scripts/gpu_check.sh, in one folder that runs from
# wherever it is unpacked. Needs glibc 2.35 and libstdc++ of GCC 12 there (Debian 12, Ubuntu 22.04);
# everything else lies in lib/bundled. Writes build/package/gprof-ml-VERSION-linux-x86_64.tar.gz.
#   scripts/package.sh [--build FOLDER] [--output FOLDER]   FOLDER of a build that is there already
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly kMostBytes=$((32 * 1024 * 1024))
readonly kNewestGlibc=2.35
folder=''
output=build/package
while [[ $# -gt 0 ]]; do
  case "$1" in
    --build) folder="$2"; shift 2 ;;
    --output) output="$2"; shift 2 ;;
    *) echo "usage: scripts/package.sh [--build FOLDER] [--output FOLDER]" >&2; exit 2 ;;
  esac
done

fail() { echo "package: $*" >&2; exit 1; }

if [[ -z $folder ]]; then
  scripts/setup.sh build
  configure release
  folder=build/release
  targets=(gprof-ml)
  can_record release && targets+=(gprofml_injection simgpu gpu_check_programs)
  build release "${targets[@]}"
fi
[[ -x $folder/bin/gprof-ml ]] || fail "$folder has no bin/gprof-ml; build it first"

version=$("$folder/bin/gprof-ml" --version | awk '{print $2}')
name="gprof-ml-$version-linux-x86_64"
mkdir -p "$output"
stage="$output/$name"
rm -rf "$stage"
mkdir -p "$stage"/{bin,lib/bundled,samples,gpu_check}

# put FILE FOLDER [NAME]: a program or library without its debug information
put() {
  local target="$2/${3:-$(basename "$1")}"
  cp -L "$1" "$target"
  strip --strip-unneeded "$target"
}

put "$folder/bin/gprof-ml" "$stage/bin"
cp samples/*.json samples/*.db "$stage/samples/"
cp docs/run-db.md docs/report.schema.json "$stage/"
if [[ -e $folder/lib/libgprofml_injection.so ]]; then
  put "$folder/lib/libgprofml_injection.so" "$stage/lib"
  put "$folder/bin/simgpu" "$stage/bin"
  mkdir -p "$stage/lib/simgpu"
  for library in "$folder"/lib/simgpu/*.so*; do
    if [[ -L $library ]]; then cp -P "$library" "$stage/lib/simgpu/"; else put "$library" "$stage/lib/simgpu"; fi
  done
else
  echo 'package: no CUDA toolkit here: the package analyzes, but cannot record' >&2
fi
if [[ -d $folder/gpu_check/real ]]; then
  mkdir -p "$stage/gpu_check"/{real,simulated}
  for kind in real simulated; do
    for program in known_work loops; do put "$folder/gpu_check/$kind/$program" "$stage/gpu_check/$kind"; done
  done
  put "$folder/bin/llama_infer_static" "$stage/gpu_check/real" llama_infer
  put "$folder/bin/llama_infer" "$stage/gpu_check/simulated"
  for program in cuda_init refusing_injection.so cupti_probe.so; do put "$folder/gpu_check/$program" "$stage/gpu_check"; done
  cp test/gpu/*.py "$stage/gpu_check/"
  cp scripts/gpu_check.sh "$stage/"
  # A driver alone brings no CUPTI; NVIDIA lets it be passed on with a program (EULA, attachment A).
  cupti=$("$folder/bin/gprof-ml" doctor --format json | grep -o '/[^ "]*libcupti\.so\.[0-9]*: found' | head -n 1 || true)
  if [[ -n $cupti ]]; then
    mkdir -p "$stage/cuda/lib64"
    cp -L "${cupti%: found}" "$stage/cuda/lib64/"
  fi
fi

# What the programs need and no plain system has. GPROFML_INJECTION etc. play no part in ldd.
needed() { ldd "$1" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}'; }
system='^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|libstdc\+\+|libgcc_s|libcuda|libcudart|libcupti|libsimgpu_engine)\.so'
for program in "$stage"/bin/* "$stage"/lib/simgpu/libsimgpu_engine.so; do
  [[ -e $program ]] || continue
  for library in $(needed "$program"); do
    base=$(basename "$library")
    [[ $base =~ $system || -e $stage/lib/bundled/$base ]] && continue
    put "$library" "$stage/lib/bundled"
  done
done
# The engine's own search ends at its folder.
if [[ -e $stage/lib/simgpu/libsimgpu_engine.so ]]; then
  for library in $(needed "$stage/lib/simgpu/libsimgpu_engine.so"); do
    base=$(basename "$library")
    [[ -e $stage/lib/bundled/$base ]] && ln -sf "../bundled/$base" "$stage/lib/simgpu/$base"
  done
fi

# newest_glibc FILE: the newest version of glibc that it asks for
newest_glibc() { objdump -T "$1" 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 || true; }
while IFS= read -r -d '' file; do
  newest=$(newest_glibc "$file")
  [[ -z $newest || $(printf '%s\n' "${newest#GLIBC_}" "$kNewestGlibc" | sort -V | tail -n 1) == "$kNewestGlibc" ]] ||
    fail "${file#"$stage"/} needs $newest, which Ubuntu 22.04 does not have"
done < <(find "$stage" -type f \( -perm -u+x -o -name '*.so*' \) -print0)

cat >"$stage/README" <<TEXT
gprof-ml $version: records GPU programs and says where their time went. Nothing needs to be installed.

  bin/gprof-ml doctor                       what can be recorded on this machine
  bin/gprof-ml run -- PROGRAM               record; writes run.db
  bin/gprof-ml analyze run.db               report
  bin/simgpu -- gpu_check/simulated/llama_infer      the sample without a GPU
  ./gpu_check.sh                            check and measure the recorder on this machine's GPU

Needs glibc 2.35 or newer and libstdc++ of GCC 12 or newer. The tables of run.db: run-db.md.
TEXT

archive="$output/$name.tar.gz"
tar -C "$output" --owner=0 --group=0 --sort=name -cf - "$name" | gzip -9n >"$archive"
bytes=$(stat -c %s "$archive")
[[ $bytes -le $kMostBytes ]] || fail "$archive has $bytes bytes, more than $kMostBytes"
rm -rf "$stage"
printf 'package: %s, %s KiB\n' "$archive" $((bytes / 1024))
