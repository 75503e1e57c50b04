#!/usr/bin/env python3
"""Writes CUDA C++ as the C++ that host_cuda/cuda_runtime.h can carry out: launches.py IN OUT."""

import pathlib
import re
import sys

LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\(", re.DOTALL)
DYNAMIC_SHARED = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")


def main(source, target):
    text = pathlib.Path(source).read_text(encoding="utf-8")
    text = LAUNCH.sub(r"host_cuda::launch(\1, \2)(", text)
    text = DYNAMIC_SHARED.sub(r"\1* \2 = host_cuda::dynamic_shared<\1>();", text)
    # nvcc, too, includes it first by itself.
    head = f'#include <cuda_runtime.h>\n#line 1 "{source}"\n'
    pathlib.Path(target).write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
