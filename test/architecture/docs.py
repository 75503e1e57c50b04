#!/usr/bin/env python3
"""Checks that README.md and docs/ speak of what exists.

docs.py ROOT [GPROF_ML]: the two commands stand at the top of the README; scripts that are named
exist and are executable; links inside the tree lead somewhere; .ci/run calls scripts/test.sh and
nothing else; and, given the built program, each `gprof-ml SUB --flag` that is shown is known to it.
"""

import os
import pathlib
import re
import subprocess
import sys

TOP_COMMANDS = ["scripts/demo.sh", "scripts/test.sh"]
TOP_LINES = 25
SCRIPT = re.compile(r"(?<![\w./-])(?:scripts|\.ci)/[\w-]+(?:\.(?:sh|py))?")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
COMMAND = re.compile(r"(?<![\w/.-])(?:[\w./]+/)?gprof-ml +([a-z]+)\b([^\n`|]*)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def documents(root):
    """README.md and every page in docs/."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def check_top(root):
    """The two commands, in this order, near the top of the README."""
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()[:TOP_LINES]
    places = [next((i for i, line in enumerate(lines) if line.strip().startswith(command)), None)
              for command in TOP_COMMANDS]
    if None in places or places != sorted(places):
        return [f"README.md: its first {TOP_LINES} lines do not show {' and '.join(TOP_COMMANDS)}"]
    return []


def check_scripts(root, path):
    """Each script that a page names exists and can be run (common parts are sourced, not run)."""
    found = []
    for name in sorted(set(SCRIPT.findall(path.read_text(encoding="utf-8")))):
        script = root / name
        if not script.is_file():
            found.append(f"{path.name}: {name} does not exist")
        elif script.read_bytes()[:2] == b"#!" and not os.access(script, os.X_OK):
            found.append(f"{path.name}: {name} is not executable")
    return found


def check_links(path):
    """Each relative link of a page leads to a file or folder."""
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    return [f"{path.name}: the link to {target} leads nowhere" for target in targets
            if "://" not in target and not (path.parent / target).exists()]


def check_ci(root):
    """The commands of .ci/run, blank lines, comments and options aside, are cd and scripts/test.sh."""
    lines = (root / ".ci/run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.strip() and not line.startswith(("#", "set ", "cd "))]
    return [] if commands == ["exec scripts/test.sh"] else [f".ci/run: calls {commands}"]


def check_flags(path, program, helps):
    """Each flag shown with a sub-command stands in that sub-command's --help."""
    found = []
    for subcommand, rest in COMMAND.findall(path.read_text(encoding="utf-8")):
        flags = FLAG.findall(rest)
        if flags and subcommand not in helps:
            done = subprocess.run([program, subcommand, "--help"], text=True, capture_output=True,
                                  check=False)
            helps[subcommand] = set(FLAG.findall(done.stdout)) if done.returncode == 0 else set()
        found += [f"{path.name}: gprof-ml {subcommand} knows no {flag}"
                  for flag in flags if flag not in helps[subcommand]]
    return found


def check(root, program=None):
    """All findings of the tree at root."""
    found, helps = check_top(root) + check_ci(root), {}
    for path in documents(root):
        found += check_scripts(root, path) + check_links(path)
        if program:
            found += check_flags(path, program, helps)
    return found


def main(root, program=None):
    found = check(pathlib.Path(root).resolve(), program)
    print("\n".join(found) or "README.md and docs/ speak of what exists")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
