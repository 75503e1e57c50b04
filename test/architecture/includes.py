#!/usr/bin/env python3
"""Checks who includes whom: includes.py ROOT prints each include against the arrows, exit code 1.

A part is one folder of a library (libprofile/store), or a whole top folder (apps, bench, injection).
A part without a rule here is itself a violation: a new part states whom it may know.
"""

import dataclasses
import pathlib
import posixpath
import re
import sys

SOURCE_SUFFIXES = {".hpp", ".h", ".cpp", ".cc", ".c", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclasses.dataclass(frozen=True)
class Rule:
    """Whom a part may include beside itself and the C++ standard library.

    project: prefixes of paths from the root; external: prefixes of headers in angle brackets;
    system: whether POSIX headers (<unistd.h>, <sys/stat.h>) are allowed.
    """

    project: tuple = ()
    external: tuple = ()
    system: bool = False


LIBPROFILE = {
    "trace": Rule(external=("fmt/",)),
    "devices": Rule(external=("fmt/", "nlohmann/")),
    "store": Rule(("libprofile/trace/",), ("fmt/", "sqlite3.h"), True),
    "import": Rule(("libprofile/trace/",),
                   ("fmt/", "simdjson.h", "zlib.h", "libdeflate.h", "zstd.h", "sqlite3.h",
                    "emmintrin.h"), True),
    "export": Rule(("libprofile/trace/",), ("fmt/", "nlohmann/", "zlib.h", "libdeflate.h", "zstd.h"), True),
    "spool": Rule((), ("fmt/",), True),
    "symbols": Rule((), ("fmt/", "elfutils/", "gelf.h", "dwarf.h"), True),
    "capture": Rule(("libprofile/trace/", "libprofile/spool/", "libprofile/store/",
                     "libprofile/symbols/"), ("fmt/",), True),
}
# Pure data in, pure data out: no file formats, no databases, no drivers, no operating system.
ANALYSIS = Rule(("libanalysis/", "libprofile/trace/", "libprofile/devices/"),
                ("fmt/", "boost/", "Eigen/", "tbb/", "oneapi/"))
ANALYSIS_REPORT = Rule(ANALYSIS.project, ANALYSIS.external + ("nlohmann/",))
APPS = Rule(("libanalysis/",) + tuple(f"libprofile/{part}/" for part in (
    "trace", "devices", "store", "import", "export", "capture", "metrics", "history")),
    ("fmt/", "CLI/"), True)
INJECTION = Rule(tuple(f"libprofile/spool/{name}.hpp" for name in ("format", "options", "control", "environment_names")), ("cupti", "cuda", "nvtx", "generated_"), True)
# The simulated GPU is built from NVIDIA's headers alone: it must not know the product it tests.
SIMGPU = Rule((), ("cupti", "cuda", "crt/", "nvtx", "generated_", "driver_types.h", "vector_types.h",
                   "nlohmann/", "fmt/", "catch2/"), True)
# Traces with known truth must not know the analysis that they judge.
SYNTH = Rule(("libprofile/trace/", "test/seeds.hpp"), ("fmt/", "nlohmann/", "zlib.h", "catch2/"), True)
ANYTHING = Rule(("libanalysis/", "libprofile/", "injection/", "test/", "bench/", "samples/"), ("",), True)


def part_of(path):
    """The part that a source belongs to, by its path from the root."""
    folders = path.split("/")[:-1]
    if not folders:
        return ""
    if folders[0] in ("libprofile", "libanalysis"):
        return "/".join(folders[:2])
    if folders[:2] in (["test", "synth"], ["test", "simgpu"]):
        return "/".join(folders[:2])
    return folders[0]


def rule_of(part):
    """The rule of a part, None when nobody has stated one."""
    top, _, rest = part.partition("/")
    if top == "libprofile":
        return LIBPROFILE.get(rest)
    if top == "libanalysis":
        return ANALYSIS_REPORT if rest == "report" else ANALYSIS
    return {"apps": APPS, "injection": INJECTION, "test/synth": SYNTH,
            "test/simgpu": SIMGPU,
            "test": ANYTHING, "bench": ANYTHING, "samples": Rule(external=("cuda", "nvtx"), system=True),
            }.get(part)


def is_standard(header):
    """C++ standard headers have neither a folder nor a suffix."""
    return "/" not in header and "." not in header


def is_system(header):
    """What the C library and POSIX offer."""
    return header.startswith(("sys/", "arpa/", "netinet/", "linux/")) or header in {
        "cxxabi.h", "dirent.h", "dlfcn.h", "elf.h", "errno.h", "execinfo.h", "fcntl.h",
        "poll.h", "pthread.h", "signal.h", "spawn.h",
        "stdint.h", "stdio.h", "stdlib.h", "string.h", "termios.h", "time.h", "unistd.h"}


def sources(root):
    """Paths from the root of every source, build folders left out."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.suffix in SOURCE_SUFFIXES and relative.parts[0] != "build" and path.is_file():
            yield relative.as_posix()


def includes(root, path):
    """(line number, bracket, header) of each include of a source."""
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def resolve(root, path, header):
    """A quoted include as a path from the root, None when there is no such file."""
    for candidate in (header, posixpath.normpath(posixpath.join(posixpath.dirname(path), header))):
        if not candidate.startswith("..") and (root / candidate).is_file():
            return candidate
    return None


def violation(root, path, part, rule, bracket, header):
    """Why this include is against the arrows, None when it is not."""
    if bracket == '"':
        target = resolve(root, path, header)
        if target is None:
            return f'"{header}" is no file of the project (others go in angle brackets)'
        if part_of(target) == part or target.startswith(rule.project):
            return None
        return f"{part} must not know {part_of(target)} ({target})"
    if is_standard(header) or (rule.system and is_system(header)) or header.startswith(rule.external):
        return None
    return f"{part} must not know <{header}>"


def arrows(root):
    """Every violation of the rules as 'file:line: why'."""
    found = []
    without_rule = {}
    for path in sources(root):
        part = part_of(path)
        rule = rule_of(part)
        if rule is None:
            without_rule.setdefault(part, path)
            continue
        for number, bracket, header in includes(root, path):
            why = violation(root, path, part, rule, bracket, header)
            if why:
                found.append(f"{path}:{number}: {why}")
    return found + [f"{path}: no rule says whom {part or 'the root'} may know"
                    for part, path in sorted(without_rule.items())]


def part_graph(root, library):
    """part -> {part it includes: 'file:line' of one such include}, within one library."""
    graph = {}
    for path in sources(root):
        part = part_of(path)
        if part.split("/")[0] != library:
            continue
        for number, bracket, header in includes(root, path):
            target = resolve(root, path, header) if bracket == '"' else None
            if target and target.startswith(library + "/") and part_of(target) != part:
                graph.setdefault(part, {}).setdefault(part_of(target), f"{path}:{number}")
    return graph


def cycle(graph):
    """The parts of one cycle in order, empty when there is none (depth-first search)."""
    finished, stack = set(), []

    def visit(part):
        if part in stack:
            return stack[stack.index(part):] + [part]
        if part in finished:
            return []
        stack.append(part)
        for target in sorted(graph.get(part, {})):
            found = visit(target)
            if found:
                return found
        stack.pop()
        finished.add(part)
        return []

    for start in sorted(graph):
        found = visit(start)
        if found:
            return found
    return []


def check(root):
    """All violations of the tree at root."""
    found = arrows(root)
    for library in ("libprofile", "libanalysis"):
        graph = part_graph(root, library)
        parts = cycle(graph)
        if parts:
            where = ", ".join(graph[a][b] for a, b in zip(parts, parts[1:]))
            found.append(f"{library}: parts include each other: {' -> '.join(parts)} ({where})")
    return found


def main(root):
    root = pathlib.Path(root)
    found = check(root)
    print("\n".join(found) or f"{len(list(sources(root)))} sources keep to the arrows")
    return 1 if found or not list(sources(root)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
