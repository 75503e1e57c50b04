#!/usr/bin/env python3
"""The check of the recorder on a GPU: check.py ROOT OUT [--simulated] [--quick]

ROOT is an unpacked package or a build folder. Prints a table; OUT/gpu_check.json has all figures.
--simulated runs the same steps on the simulated GPU: whether they work, not what a GPU does.
--quick leaves out most of the measuring. Exit code: 0, or 1 when a check failed.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import known_truth  # noqa: E402
import overhead  # noqa: E402
import questions  # noqa: E402
from installation import Failed, Installation  # noqa: E402

PATIENCE_S = 340  # the whole check is to take at most six minutes


def machine(installation):
    """What stands in the answer beside the figures, so that they can be compared."""
    facts = {"simulated": installation.simulated, "cupti": installation.cupti,
             "verdict": installation.doctor["verdict"],
             "findings": [f["code"] for f in installation.doctor["findings"]],
             "gprof_ml": installation.doctor["tool_version"]}
    if shutil.which("nvidia-smi") and not installation.simulated:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,mig.mode.current",
                               "--format=csv,noheader"], text=True, capture_output=True, check=False)
        facts["gpus"] = done.stdout.strip().splitlines()
    return facts


def mark(ok):
    return {True: "ok", False: "FAILED", None: "-"}[ok]


def table(result):
    lines = []
    if result["machine"]["simulated"]:
        lines.append("SIMULATED GPU: this shows that the check works, and measures nothing")
    for check in result["checks"]:
        lines.append(f"{mark(check['ok']):<7} {check['name']:<46} {check['detail']}".rstrip())
    lines.append("")
    for answer in result["questions"]:
        lines += [answer["question"], f"        {answer['answer']}"]
    if result["overhead"]:
        lines += ["", "loop   level   plain us  recorded us  overhead  plain spread  target"]
    for row in result["overhead"]:
        plain, recorded = (sum(row[key]) / 2000 for key in ("plain_ns", "recorded_ns"))
        target = "" if row["target"] is None else f"{row['target']:.0%}"
        level = "-" if row["level"] is None else row["level"]
        lines.append(f"{row['loop']:<6} {level:>5} {plain:>10.1f} {recorded:>12.1f} "
                     f"{row['overhead']:>9.1%} {row['plain_spread']:>13.1%} {target:>7}")
    failed = sum(1 for check in result["checks"] if check["ok"] is False)
    lines += ["", f"{len(result['checks'])} checks, {failed} failed, {result['took_s']} s"]
    return "\n".join(lines)


def run(arguments):
    begin = time.monotonic()
    installation = Installation(arguments.root, arguments.out, arguments.simulated, PATIENCE_S)
    checks = known_truth.Checks()
    tokens = 256 if not arguments.simulated else 16
    seconds = 3 if not arguments.simulated else 0.3
    checks.attempt("known_work", known_truth.check_known_work, checks, installation)
    checks.attempt("llama_infer", known_truth.check_sample, checks, installation, tokens)
    answers = questions.ask_all(checks, installation, seconds)
    rows = []
    loops = ["graph"] if arguments.quick else ["gemm", "short", "graph"]
    levels = installation.levels[-1:] if arguments.quick else installation.levels
    checks.attempt("overhead", lambda: rows.extend(
        overhead.measure(checks, installation, loops, levels, seconds)))
    return {"machine": machine(installation), "checks": checks.rows, "questions": answers,
            "overhead": rows, "took_s": round(time.monotonic() - begin, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root")
    parser.add_argument("out")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    try:
        result = run(arguments)
    except Failed as error:
        print(f"gpu_check: {error}", file=sys.stderr)
        return 1
    out = pathlib.Path(arguments.out)
    (out / "gpu_check.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    text = table(result)
    (out / "gpu_check.txt").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 1 if any(check["ok"] is False for check in result["checks"]) else 0


if __name__ == "__main__":
    sys.exit(main())
