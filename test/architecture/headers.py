#!/usr/bin/env python3
"""Checks that each header compiles on its own, included first and twice, without a warning.

A header that the source of its own name includes first is proven by the build already, and twice by
its `#pragma once`: that spares two thirds of the time.

headers.py ROOT COMPILER [INCLUDE_FOLDER...]: prints the compiler's words for each that does not.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# What test/CMakeLists.txt defines for each test.
DEFINITIONS = ['-DGPROFML_SOURCE_DIR="."', '-DGPROFML_SHARED_DIR="../shared"']
FOLDERS = ("libprofile", "libanalysis", "apps", "test", "bench", "injection", "samples")
# Headers that need NVIDIA's, and are built only where those are.
OF_CUDA = ("test/simgpu/", "test/recording/", "test/samples/", "injection/", "samples/")


def headers(root, with_cuda=True):
    """Every header of the project, as a path from its root."""
    found = []
    for folder in FOLDERS:
        found += [path.relative_to(root).as_posix() for path in (root / folder).rglob("*.hpp")]
    return sorted(header for header in found if with_cuda or not header.startswith(OF_CUDA))


def is_proven(root, header):
    """Whether a source of the same name, which the build compiles, begins with this header."""
    source = (root / header).with_suffix(".cpp")
    if not source.is_file() or "#pragma once" not in (root / header).read_text(encoding="utf-8"):
        return False
    includes = (line for line in source.read_text(encoding="utf-8").splitlines()
                if line.startswith("#"))
    return next(includes, "") == f'#include "{header}"'


def has_cuda(include_folders):
    """Whether one of the folders holds NVIDIA's headers."""
    return any((pathlib.Path(folder) / "cuda.h").is_file() for folder in include_folders if folder)


def compile_alone(root, compiler, include_folders, header):
    """The compiler's complaint about a unit that holds nothing but this header; '' when content."""
    unit = f'#include "{header}"\n#include "{header}"\n'
    command = [compiler, *FLAGS, *DEFINITIONS, f"-I{root}"]
    command += [argument for folder in include_folders for argument in ("-isystem", folder)]
    done = subprocess.run(command + ["-x", "c++", "-"], input=unit, text=True, cwd=root,
                          capture_output=True, check=False)
    return "" if done.returncode == 0 else f"{header}:\n{done.stderr}"


def check(root, compiler, include_folders=()):
    """The complaints about all headers of the tree at root."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = pool.map(lambda header: compile_alone(root, compiler, include_folders, header),
                              (header for header in headers(root, has_cuda(include_folders))
                               if not is_proven(root, header)))
        return [complaint for complaint in complaints if complaint]


def main(root, compiler, *include_folders):
    root = pathlib.Path(root).resolve()
    found = check(root, compiler, [folder for folder in include_folders if folder])
    with_cuda = has_cuda(include_folders)
    count = len(headers(root, with_cuda))
    without = "" if with_cuda else f"; those that need CUDA's are left out: {', '.join(OF_CUDA)}"
    print("\n".join(found) or f"{count} headers compile on their own{without}")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
