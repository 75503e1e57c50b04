#!/usr/bin/env python3
"""Runs the benchmark executables of a folder and prints their figures as one table.

How an executable speaks is in bench/bench_output.hpp. Called by scripts/bench.sh.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HEADINGS = ("name", "value", "unit", "target", "ok")


def names_of(executable):
    """The figures that an executable can measure."""
    done = subprocess.run([executable, "--list"], text=True, capture_output=True, check=True)
    return done.stdout.split()


def format_value(value):
    """Thousands separated; four significant digits below a hundred."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def row_of(figure):
    """A figure's cells, in the order of HEADINGS."""
    verdict = "" if not figure["target"] else "yes" if figure["ok"] else "NO"
    return (figure["name"], format_value(figure["value"]), figure["unit"], figure["target"], verdict)


def print_table(rows):
    """Columns as wide as their widest cell, values to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        cells = [cell.rjust(width) if heading == "value" else cell.ljust(width)
                 for heading, cell, width in zip(HEADINGS, row, widths)]
        print("  ".join(cells).rstrip())


def measure(registry, wanted):
    """Runs what yields the wanted figures; (figures in order, whether all of them came)."""
    figures, complete = [], True
    for executable, names in registry.items():
        asked = [name for name in names if name in wanted]
        if not asked:
            continue
        print(f"measuring {', '.join(asked)} ...", file=sys.stderr)
        done = subprocess.run([executable, *asked], text=True, stdout=subprocess.PIPE, check=False)
        figures += [json.loads(line) for line in done.stdout.splitlines()]
        complete = complete and done.returncode == 0
    return figures, complete


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--benches", type=pathlib.Path, required=True)
    parser.add_argument("--json", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()

    executables = sorted(path for path in arguments.benches.glob("*") if path.is_file())
    registry = {executable: names_of(executable) for executable in executables}
    known = [name for names in registry.values() for name in names]
    if arguments.list:
        print("\n".join(known))
        return 0
    unknown = sorted(set(arguments.names) - set(known))
    if unknown or not known:
        print(f"no such figure: {', '.join(unknown) or 'there are none'} (--list names them)",
              file=sys.stderr)
        return 2

    figures, complete = measure(registry, arguments.names or known)
    print_table([HEADINGS] + [row_of(figure) for figure in figures])
    if arguments.json:
        by_name = {figure.pop("name"): figure for figure in figures}
        pathlib.Path(arguments.json).write_text(json.dumps(by_name, indent=2) + "\n", encoding="utf-8")
    return 0 if complete and figures else 1


if __name__ == "__main__":
    sys.exit(main())
