#!/usr/bin/env python3
"""Checks that no file of the tree knows the machine it was written on.

portable.py ROOT: prints each absolute path into a home or working folder, and each address of a
host that is not a known place of documentation (so package registries, mirrors, own servers).
"""

import gzip
import pathlib
import re
import subprocess
import sys
import zlib

# Behind "}" it goes on from something filled in: "/proc/{}/root" is any machine's.
MACHINE_PATH = re.compile(rb"(?<![\w.\-/\\}])/(?:root|work|home|Users)(?=/|[^\w./-]|$)")
ADDRESS = re.compile(rb"\b(?:https?|ftp)://(?:[^\s/@\x22]*@)?([A-Za-z0-9.-]+)")
DOCUMENTATION = {
    "github.com", "sqlite.org", "www.sqlite.org", "doi.org", "arxiv.org", "json-schema.org",
    "docs.nvidia.com", "pytorch.org", "en.cppreference.com", "llvm.org", "gcc.gnu.org", "cmake.org",
    "www.rfc-editor.org", "ui.perfetto.dev", "perfetto.dev", "example.com", "simdjson.org",
}


def files(root):
    """Files that git tracks or would track; without git, all but build folders."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        paths = [root / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if path.relative_to(root).parts[0] != "build"]
    return sorted(path for path in paths if path.is_file())


def content(path):
    """The bytes of a file, unpacked where it is a whole gzip file."""
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data  # fault samples are cut or damaged on purpose


def check_bytes(data):
    """(line number, what) for each trace of a machine in these bytes."""
    found = []
    for match in MACHINE_PATH.finditer(data):
        found.append((match.start(), f"a path of one machine, {match.group().decode()}"))
    for match in ADDRESS.finditer(data):
        host = match.group(1).decode().lower()
        if host not in DOCUMENTATION:
            found.append((match.start(), f"the address of a host, {host}"))
    return [(data.count(b"\n", 0, offset) + 1, what) for offset, what in found]


def check(root):
    """All findings of the tree at root as 'file:line: what'."""
    return [f"{path.relative_to(root)}:{line}: {what}"
            for path in files(root) for line, what in check_bytes(content(path))]


def main(root):
    root = pathlib.Path(root).resolve()
    found, count = check(root), len(files(root))
    print("\n".join(found) or f"{count} files know no machine")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
