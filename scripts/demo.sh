#!/usr/bin/env bash
# Builds gprof-ml and prints its report on a small trace that is in the tree: a decode loop on one GPU,
# planned by test/synth. Complete on a fresh Debian 12 machine.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/setup.sh build
configure release
build release gprof-ml
echo >&2
exec build/release/bin/gprof-ml analyze samples/decode_small.json
