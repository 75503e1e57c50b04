#!/usr/bin/env bash
# Formats the C++ sources with the settings in .clang-format.
#   scripts/format.sh [--check]     --check changes nothing and fails when something would change
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh lint
case "${1:-}" in
  '') options=(-i) ;;
  --check) options=(--dry-run --Werror) ;;
  *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
  xargs -0 -r clang-format-14 "${options[@]}"
