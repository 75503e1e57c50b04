#!/usr/bin/env python3
"""--overhead-budget on a running program: test_budget.py BUILD PROGRAMS [unittest arguments].

How fast a budget is overrun depends on the machine; what is given up first does not. That the share
is held is shown on models of cost (test/injection/test_budget.cpp).
"""

import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
GPROF_ML, SIMGPU = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu"))
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}
GIVEN_UP = ["stacks_given_up", "memory_events_given_up", "budget_window_closed"]


class Budget(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)

    def query(self, sql):
        database = sqlite3.connect(f"file:{self.folder / 'run.db'}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def record(self, *options, seconds=5):
        """Records a program that launches as fast as a driver lets it, until it is interrupted."""
        run = subprocess.Popen(
            [str(part) for part in (GPROF_ML, "run", *options, "--", SIMGPU, "--clock", "wall", "--",
                                    PROGRAMS / "endless", "far_ahead", "10000")],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(seconds)
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=PATIENCE)[1]
        self.assertEqual(run.returncode, -signal.SIGINT, said)
        return said

    def events(self):
        return self.query("SELECT kind, time_ns FROM capture_event_named ORDER BY time_ns")

    def test_what_costs_most_goes_first_and_nothing_is_recorded_across_a_switch(self):
        self.record("--level", "3", "--overhead-budget", "0.1%")
        events = [(kind, at) for kind, at in self.events() if kind in GIVEN_UP]
        self.assertEqual([kind for kind, _ in events][:3], GIVEN_UP)
        stacks_gone, _, closed = [at for _, at in events][:3]
        # A stack is taken while its call begins.
        last_stack, = self.query("SELECT max(start_ns) FROM api_call JOIN call_stack ON call = api_call.id")[0]
        self.assertLess(0, last_stack)
        self.assertLess(last_stack, stacks_gone + 50_000_000)
        # Each switch begins a window, and between windows there is nothing.
        windows = self.query("SELECT start_ns, end_ns FROM window ORDER BY start_ns")
        self.assertGreaterEqual(len(windows), 3)
        for (_, end), (start, _) in zip(windows, windows[1:]):
            self.assertLessEqual(end, start)
        after, = self.query(f"SELECT count(*) FROM api_call WHERE start_ns > {windows[2][1]} AND "
                            f"start_ns < {windows[2][1] + 500_000_000}")[0]
        self.assertEqual((after, windows[2][1] <= closed), (0, True))

    def test_what_fits_is_left_alone(self):
        self.record("--level", "3", "--overhead-budget", "100%", seconds=3)
        self.assertEqual([kind for kind, _ in self.events() if kind in GIVEN_UP], [])
        self.assertEqual(self.query("SELECT count(*) FROM window"), [(0,)])

    def test_a_bad_budget_is_refused_before_the_program_starts(self):
        for share in ("0%", "three", "200%", "-1%"):
            done = subprocess.run([str(GPROF_ML), "run", "--overhead-budget", share, "--", "true"],
                                  cwd=self.folder, env=self.environment, capture_output=True,
                                  text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--overhead-budget", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    sys.argv[1:3] = []
    unittest.main()
