#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing, when root or sudo without a password allows.
#   scripts/setup.sh [build|tests|bench|lint]   build: what demo.sh needs; tests: what test.sh needs;
#                                               bench: that and LTTng, to compare with
# The other scripts call it; when nothing is missing it takes a moment and prints nothing.
set -euo pipefail

packages=(g++ cmake ninja-build libsimdjson-dev libcli11-dev libfmt-dev libboost-graph-dev
  libtbb-dev libeigen3-dev nlohmann-json3-dev libsqlite3-dev libdw-dev zlib1g-dev catch2 python3)
case "${1:-tests}" in
  build) ;;
  tests) packages+=(clang-14 libclang-rt-14-dev python3-jsonschema git) ;;
  bench)
    packages+=(clang-14 libclang-rt-14-dev python3-jsonschema git lttng-tools liblttng-ust-dev) ;;
  lint) packages+=(clang-format-14 clang-tidy-14 clang-14 git) ;;
  *) echo "usage: scripts/setup.sh [build|tests|bench|lint]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not Debian; going on with what is installed (needed: ${packages[*]})" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $status == ii* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) -eq 0 ]]; then
  as_root=(env)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "setup: packages are missing and this user may not install them; as root: apt-get install ${missing[*]}" >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf 'setup: installing %d packages ... ' "${#missing[@]}" >&2
apt_get=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
if "${apt_get[@]}" update >"$log" 2>&1 &&
  "${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
  echo "done, $SECONDS s" >&2
else
  echo FAILED >&2
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
