#!/usr/bin/env python3
"""What a server's requests took, recorded: test_serving.py BUILD PROGRAMS [unittest arguments].

The figures of the report against the ranges in the run.db, added up here by other means, and what
the program printed itself (`run --metric`).
"""

import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

BUILD, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
GPROF_ML, SIMGPU = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu"))
SERVER = PROGRAMS / "server_like"
PATIENCE = 60
REQUESTS = 23
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}


def quantiles(values):
    """Median, and percentiles by nearest rank, as the schema says."""
    values = sorted(values)
    half = len(values) // 2
    median = values[half] if len(values) % 2 else (values[half - 1] + values[half]) // 2
    at = lambda percent: values[-(-len(values) * percent // 100) - 1]
    return {"count": len(values), "median_ns": median, "p95_ns": at(95), "p99_ns": at(99)}


class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name).resolve()
        cls.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        cls.environment["XDG_RUNTIME_DIR"] = str(cls.folder)
        cls.recorded = cls.call(GPROF_ML, "run", "-o", "run.db", "--metric",
                                "last=request ([0-9]+)", "--", SIMGPU, "--", SERVER, str(REQUESTS))
        cls.report = json.loads(cls.call(GPROF_ML, "analyze", "run.db", "--window", "all",
                                         "--format", "json").stdout)

    @classmethod
    def call(cls, *command):
        return subprocess.run([str(part) for part in command], cwd=cls.folder, text=True,
                              env=cls.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=True)

    def ranges(self):
        """The times of each name, in the order of time."""
        database = sqlite3.connect(f"file:{self.folder / 'run.db'}?mode=ro", uri=True)
        rows = database.execute("SELECT name, start_ns, end_ns FROM range_named ORDER BY start_ns")
        named = collections.defaultdict(list)
        for name, start, end in rows:
            named[name].append((start, end))
        database.close()
        return named

    def test_ttft_tpot_and_latency_are_those_of_the_ranges(self):
        ranges = self.ranges()
        requests = ranges["request"]
        self.assertEqual(len(requests), REQUESTS)
        ttft, tpot = [], []
        for start, end in requests:
            ends = [token_end for token_start, token_end in ranges["token"]
                    if start <= token_start and token_end <= end]
            self.assertEqual(len(ends), 3)
            ttft.append(ends[0] - start)
            tpot.append((2 * (ends[-1] - ends[0]) + 2) // 4)  # over two, to the nearest
        serving = self.report["serving"]
        self.assertEqual((serving["requests"], serving["judged"], serving["tokens"]),
                         (REQUESTS, REQUESTS, 3 * REQUESTS))
        self.assertEqual(serving["ttft"], quantiles(ttft))
        self.assertEqual(serving["tpot"], quantiles(tpot))
        self.assertEqual(serving["latency"], quantiles([end - start for start, end in requests]))
        self.assertEqual(serving["span_ns"], requests[-1][1] - requests[0][0])

    def test_ranges_around_launches_alone_are_called_times_of_the_host(self):
        self.assertEqual(self.report["serving"]["ended_before_gpu"], 4 * REQUESTS)

    def test_what_the_program_printed_is_a_metric(self):
        self.assertEqual(self.recorded.stdout, "".join(f"request {k}\n" for k in range(REQUESTS)))
        [metric] = self.report["metrics"]
        self.assertEqual((metric["name"], metric["value"], metric["count"], metric["min"], metric["max"]),
                         ("last", REQUESTS - 1, REQUESTS, 0, REQUESTS - 1))
        text = self.call(GPROF_ML, "analyze", "run.db").stdout
        self.assertIn(f"metric  last {REQUESTS - 1}, the last of {REQUESTS} that the program printed", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
