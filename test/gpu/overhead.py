"""What recording costs: each loop without, with, with and without it again, level by level."""

import json
import time

TARGETS = {0: 0.01, 1: 0.03, None: 0.03}  # of a step's time; 10 % on short kernels
SHORT_TARGET = 0.10


def measured(installation, loop, seconds, level, recorded, number):
    program = installation.program("loops", loop, seconds)
    if recorded:
        name = f"loop_{loop}_{level}_{number}"
        output = installation.record(name, level, *program)
    else:
        name = None
        output = installation.call(f"plain_{loop}_{level}_{number}", *program)
    result = json.loads(output.strip().splitlines()[-1])
    return result["median_ns"], result, name


def check_kernels(checks, installation, name, level, result):
    """Level 0 has the steps; from level 1 on every kernel is there."""
    (steps,), = installation.query(name, "SELECT count(*) FROM range_named WHERE name = 'step'")
    checks.equal(f"{name}: steps", steps, result["steps"])
    if level == 0:
        return
    expected = (result["steps"] + result["warm_up"]) * result["kernels_a_step"]
    (kernels,), = installation.query(name, "SELECT count(*) FROM kernel")
    checks.equal(f"{name}: kernels", kernels, expected)
    (installation.out / f"{name}.db").unlink()  # large, and nothing more is asked of it


def measure(checks, installation, loops, levels, seconds):
    rows = []
    for loop in loops:
        for level in levels:
            begin = time.monotonic()
            if rows and installation.left_s() < 2 * rows[-1]["took_s"]:
                checks.add(f"overhead {loop} level {level}", None, "no time left")
                continue
            medians = {False: [], True: []}
            for number, recorded in enumerate((False, True, True, False)):
                median, result, name = measured(installation, loop, seconds, level, recorded, number)
                medians[recorded].append(median)
                if recorded:
                    check_kernels(checks, installation, name, level, result)
            plain, with_us = (sum(medians[key]) / 2 for key in (False, True))
            target = SHORT_TARGET if loop == "short" else TARGETS.get(level)
            rows.append({
                "loop": loop, "level": level, "plain_ns": medians[False],
                "recorded_ns": medians[True], "overhead": with_us / plain - 1,
                "plain_spread": abs(medians[False][0] - medians[False][1]) / plain,
                "target": target, "took_s": round(time.monotonic() - begin, 1),
                "steps": result["steps"]})
    return rows
