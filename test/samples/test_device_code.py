#!/usr/bin/env python3
"""Compiles the device code of llama_infer to PTX, with the flags of the build, and looks for
operations whose result IEEE 754 does not fix: test_device_code.py COMPILE_COMMANDS.

On a GPU one fused multiply-add is enough for other tokens than the host's. PTX is what can be
checked without one: ptxas fuses nothing that PTX marks as rounded (mul.rn, add.rn)."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from types import MappingProxyType

COMMANDS = pathlib.Path(sys.argv[1])
FLOAT_OPERATION = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z0-9_.]*\.f32)\b", re.MULTILINE)
# Each rounds in one way only; loads, stores, moves and comparisons are exact.
FIXED = re.compile(r"((add|sub|mul|div|rcp|sqrt)\.rn|(ld|st)\.[a-z0-9_.]+|mov|neg|abs|max|min|"
                   r"selp|setp\.[a-z]+|cvt\.(rn|rmi\.f32|rzi\.s32))\.f32")


def ptx(source, other_words=MappingProxyType({})):
    """The PTX of one source of llama_infer, compiled as the build does, other_words apart: a
    dictionary of what to put in the place of what."""
    for entry in json.loads(COMMANDS.read_text(encoding="utf-8")):
        if entry["file"].endswith(source):
            words = shlex.split(entry["command"])
            break
    else:
        raise AssertionError(f"{source} is not in {COMMANDS}")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "kernels.ptx"
        words[words.index("-o") + 1] = str(out)
        words = [other_words.get(word, "-ptx" if word == "-c" else word) for word in words
                 if not word.startswith(("-arch=", "--generate-code=")) and word != "-MD"]
        for flag in ("-MT", "-MF"):
            if flag in words:
                del words[words.index(flag):words.index(flag) + 2]
        subprocess.run([*words, "-arch=compute_80"], check=True, cwd=entry["directory"],
                       timeout=200)
        return out.read_text(encoding="utf-8")


def not_fixed(text):
    """The float operations of PTX whose result is not fixed."""
    return {name for name in FLOAT_OPERATION.findall(text) if not FIXED.fullmatch(name)}


class DeviceCode(unittest.TestCase):
    def test_every_float_operation_is_fixed(self):
        text = ptx("llama_infer/kernels.cu")
        self.assertIn("mul.rn.f32", FLOAT_OPERATION.findall(text))
        self.assertEqual(not_fixed(text), set())

    def test_the_check_can_fail(self):
        found = not_fixed(ptx("llama_infer/kernels.cu", {"-fmad=false": "-fmad=true"}))
        self.assertLessEqual({"mul.f32", "add.f32"}, found)  # ptxas may fuse these
        found = not_fixed(ptx("llama_infer/kernels.cu", {"-fmad=false": "-use_fast_math"}))
        self.assertIn("div.approx.ftz.f32", found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
