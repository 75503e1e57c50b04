#!/usr/bin/env python3
"""From coarse to fine, as a user types it: test_follow.py BUILD PROGRAMS [unittest arguments].

First a cheap recording, then `run --follow` on it; what the second holds, and what it does not, is
compared with the simulator's own log.
"""

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
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}


class FollowTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)

    def call(self, *command, code=0):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True,
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def record(self, output, *options, program):
        """What was said on standard error about the plan."""
        done = self.call(GPROF_ML, "run", "-o", output, "--force", *options, "--", SIMGPU, "--log",
                         "run.log", "--", SERVER, *program)
        return [line for line in done.stderr.splitlines() if line.startswith("gprof-ml: follow: ")]

    def query(self, name, sql):
        database = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def meta(self, name):
        return dict(self.query(name, "SELECT key, value FROM meta"))

    def executed(self):
        """The simulator's kernels in the order of time."""
        with open(self.folder / "run.log", encoding="utf-8") as log:
            return sorted((entry["start"], entry["end"]) for entry in map(json.loads, log)
                          if entry["type"] == "kernel")

    def kernels(self, name):
        return self.query(name, "SELECT start_ns, end_ns FROM kernel ORDER BY start_ns")

    def test_a_server_recorded_as_ranges_is_followed_by_the_work_of_a_few_requests(self):
        self.assertEqual(self.record("coarse.db", "--level", "0", program=["20"]), [])
        self.assertEqual(self.kernels("coarse.db"), [])
        said = self.record("fine.db", "--follow", "coarse.db", program=["20"])
        self.assertEqual(len(said), 2, said)
        self.assertIn("because kernels, copies and fills were not recorded", said[0])
        self.assertIn("5 occurrences of range request after 5, because ", said[1])
        # A prefill and three tokens are a kernel each: requests 5 to 9, no other.
        self.assertEqual(self.kernels("fine.db"), self.executed()[20:40])
        self.assertEqual(self.query("fine.db", "SELECT name, count(*) FROM range_named GROUP BY name"),
                         [("prefill", 5), ("request", 5), ("token", 15)])
        meta = self.meta("fine.db")
        self.assertEqual((meta["follow_of"], meta["level"]), ("coarse.db", "1"))
        self.assertEqual(meta["follow_reasons"], "; ".join(
            line[len("gprof-ml: follow: "):] for line in said))
        self.assertNotIn("follow_of", self.meta("coarse.db"))
        # The next is finer still, of the same requests: the host's code has no name yet.
        said = self.record("finer.db", "--follow", "fine.db", program=["20"])
        self.assertIn("call stacks", said[0])
        self.assertEqual(self.meta("finer.db")["level"], "3")
        self.assertEqual(self.query("fine.db", "SELECT count(*) FROM call_stack"), [(0,)])
        self.assertGreater(self.query("finer.db", "SELECT count(*) FROM call_stack")[0][0], 0)
        self.assertEqual(self.kernels("finer.db"), self.executed()[20:40])

    def test_graphs_recorded_as_wholes_are_followed_by_their_nodes(self):
        self.record("coarse.db", "--level", "1", "--graphs", "whole", program=["steps", "12"])
        self.assertEqual(self.query("coarse.db", "SELECT count(*) FROM graph_launch"), [(12,)])
        said = self.record("fine.db", "--follow", "coarse.db", program=["steps", "12"])
        self.assertIn("CUDA graphs node by node, because what ran inside of", said[0])
        self.assertEqual(self.query("fine.db", "SELECT count(*) FROM graph_launch"), [(0,)])
        self.assertEqual(self.query("fine.db", "SELECT count(*) FROM kernel "
                                               "WHERE graph_node IS NOT NULL"), [(5,)])
        self.assertEqual(self.query("fine.db", "SELECT count(*) FROM range_named "
                                               "WHERE name = 'step'"), [(5,)])

    def test_what_is_said_goes_before_the_plan(self):
        self.record("coarse.db", "--level", "0", program=["8"])
        said = self.record("fine.db", "--follow", "coarse.db", "--level", "2", program=["8"])
        self.assertEqual(len(said), 1, said)
        self.assertIn("of range request", said[0])
        self.assertEqual(self.meta("fine.db")["level"], "2")
        said = self.record("fine.db", "--follow", "coarse.db", "--range", "token#4", program=["8"])
        self.assertEqual(len(said), 1, said)
        self.assertIn("all GPU work", said[0])
        self.assertEqual(self.query("fine.db", "SELECT count(*) FROM range_named "
                                               "WHERE name = 'token'"), [(1,)])
        self.assertIn(self.executed()[6], self.kernels("fine.db"))

    def test_the_default_output_may_be_what_is_followed(self):
        command = [GPROF_ML, "run", "--quiet", "--level", "0", "--", SIMGPU, "--", SERVER, "8"]
        self.call(*command)
        done = self.call(GPROF_ML, "run", "--quiet", "--follow", "run.db", *command[5:])
        self.assertNotIn("follow:", done.stderr)
        self.assertEqual(self.query("run.db", "SELECT count(*) FROM kernel"), [(20,)])
        self.assertEqual(self.query("run.db.old", "SELECT count(*) FROM kernel"), [(0,)])

    def test_what_cannot_be_followed_is_refused_before_the_program_starts(self):
        (self.folder / "other.json").write_text('{"traceEvents": []}')
        (self.folder / "damaged.db").write_bytes(b"SQLite format 3\0" + b"x" * 500)
        for name in ("absent.db", "other.json", "damaged.db"):
            done = self.call(GPROF_ML, "run", "--follow", name, "--", "touch", "started", code=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(name, done.stderr)
            self.assertFalse((self.folder / "started").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
