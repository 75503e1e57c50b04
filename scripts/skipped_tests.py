#!/usr/bin/env python3
"""Reads CTest's JUnit file: names the skipped tests with their reason.

Exit code 1 when the file is missing or no test ran, so that a run of nothing never looks green.
"""

import sys
import xml.etree.ElementTree as ElementTree


def reason_of(case):
    """The line in which the test says why; CTest's own words when it said nothing."""
    output = case.findtext("system-out") or ""
    for line in output.splitlines():
        if line.strip().lower().startswith("skip"):
            return line.strip()
    skipped = case.find("skipped")
    return skipped.get("message", "no reason given") if skipped is not None else "no reason given"


def main(path):
    try:
        suite = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        print(f"no test results: {error}")
        return 1
    cases = suite.findall("testcase")
    skipped = [case for case in cases if case.get("status") == "notrun"]
    if skipped:
        print(f"{len(skipped)} of {len(cases)} tests skipped:")
    for case in skipped:
        print(f"  {case.get('name')}: {reason_of(case)}")
    if len(cases) == len(skipped):
        print("no test ran")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
