#!/usr/bin/env python3
"""run --keep-last: test_keep_last.py BUILD PROGRAMS [unittest arguments].

On the wall clock of the simulated GPU, whose log says what ran. The window that run.db tells is held
against the log: exactly the kernels that meet it. Nothing is asserted of how long something takes.
"""

import json
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
PROGRAM = PROGRAMS / "long_running"
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
MS = 1_000_000
KEPT_NS = 300 * MS
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}


class KeepLastTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)  # recordings of other tests: not ours

    def start(self, *program, options=("--keep-last", "300ms")):
        said = open(self.folder / "said", "w", encoding="utf-8")
        self.addCleanup(said.close)
        run = subprocess.Popen(
            [str(part) for part in (GPROF_ML, "run", *options, "--", SIMGPU, "--clock", "wall",
                                    "--log", "run.log", "--", PROGRAM, *program)],
            cwd=self.folder, env=self.environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=said)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        for stream in (run.stdin, run.stdout):
            self.addCleanup(stream.close)
        self.assertIn("step 0", run.stdout.readline())
        return run

    def segments(self):
        """Numbers of the segments on the disk."""
        return sorted(int(path.name.split(".")[-2], 16)
                      for path in self.folder.glob("run.db.spool-*/*.segment"))

    def step_until(self, run, is_enough):
        """Lets it run, reading what it prints, until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_enough():
            self.assertLess(time.monotonic(), end)
            run.stdout.readline()

    def end(self, run):
        run.stdin.close()
        run.stdout.read()
        self.assertEqual(run.wait(PATIENCE), 0, self.said())

    def said(self):
        return (self.folder / "said").read_text(encoding="utf-8")

    def query(self, sql, name="run.db"):
        database = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def window(self, name="run.db"):
        [(start, end, reason)] = self.query("SELECT start_ns, end_ns, reason FROM window_named",
                                            name)
        self.assertEqual(reason, "keep-last")
        return start, end

    def executed(self):
        with open(self.folder / "run.log", encoding="utf-8") as log:
            return sorted((entry["start"], entry["end"]) for entry in map(json.loads, log)
                          if entry["type"] == "kernel")

    def check_kernels(self, name="run.db", lost_until=None):
        """Those of the log that meet the window, each with its call."""
        start, end = self.window(name)
        # Beyond its end only what ran after a flush, or was lost by a kill.
        wanted = [times for times in self.executed() if times[1] > start and times[0] <= end]
        kernels = self.query("SELECT start_ns, end_ns FROM kernel ORDER BY start_ns", name)
        if lost_until is not None:
            wanted = [times for times in wanted if times[1] <= kernels[-1][1]]
        self.assertGreater(len(kernels), 10)
        self.assertEqual(kernels, wanted)
        self.assertEqual(self.query("SELECT count(*) FROM kernel WHERE launch IS NULL", name),
                         [(0,)])
        return start, end


class OnTheDisk(KeepLastTest):
    def test_it_stays_bounded(self):
        run = self.start(options=("--keep-last", "100ms"))
        spools, totals = set(), []

        def look():
            seen = self.segments()
            # While one is begun the one that goes is still there.
            self.assertLessEqual(len(seen), 3)
            [spool] = self.folder.glob("run.db.spool-*/*.spool")
            spools.add(spool.stat().st_size)
            total = 0
            for path in self.folder.glob("run.db.spool-*/*.segment"):
                try:
                    total += path.stat().st_size
                except FileNotFoundError:
                    pass
            totals.append(total)
            return seen and seen[-1] >= 12

        self.step_until(run, look)
        # What lasts was said in the beginning; twelve times what is kept is not there.
        half = len(totals) // 2
        self.assertLess(max(totals[half:]), 3 * max(totals[:half]))
        self.assertLess(max(spools), 16 * 1024)
        self.end(run)
        self.assertEqual(list(self.folder.glob("run.db.spool-*")), [])

    def test_the_limit_of_size_ends_nothing(self):
        run = self.start(options=("--keep-last", "1h", "--max-size", "400KiB"))
        self.step_until(run, lambda: self.segments() and self.segments()[-1] >= 3)
        self.end(run)
        notes = dict(self.query("SELECT code.text, count FROM quality JOIN string code "
                                "ON code.id = quality.code"))
        self.assertIn("keep_last_cut", notes)
        self.assertNotIn("size_limit", notes)
        self.check_kernels()


class TheLastPart(KeepLastTest):
    def check_ranges(self, start, name="run.db"):
        # What encloses it is there with its true start, however long ago that was.
        rows = self.query("SELECT name, count(*), min(start_ns) FROM range_named "
                          "WHERE name != 'step' GROUP BY name", name)
        self.assertEqual([(row[0], row[1]) for row in rows],
                         [("capture", 1), ("layer", 1), ("program", 1), ("session", 1)])
        first = self.executed()[0][0]
        for _, _, begun in rows:
            self.assertLess(begun, first)
            self.assertLess(begun, start)
        # Work of the graph still knows the range of its capture, which is long over.
        self.assertEqual(self.query("SELECT DISTINCT r.name FROM kernel k JOIN graph_node n "
                                    "ON n.id = k.graph_node JOIN range_named r ON r.id = n.op",
                                    name), [("layer",)])

    def test_before_the_end(self):
        run = self.start()
        self.step_until(run, lambda: self.segments() and self.segments()[-1] >= 3)
        self.end(run)
        start, end = self.check_kernels()
        self.assertEqual(end - start, KEPT_NS)
        self.assertGreaterEqual(end, self.executed()[-1][1])
        self.assertGreater(start, self.executed()[0][1])
        self.check_ranges(start)

    def test_shorter_than_what_is_kept(self):
        run = self.start(options=("--keep-last", "1h"))
        for _ in range(20):
            run.stdout.readline()
        self.end(run)
        self.assertEqual(self.query("SELECT start_ns, end_ns FROM kernel ORDER BY start_ns"),
                         self.executed())

    def test_before_a_kill(self):
        run = self.start()
        self.step_until(run, lambda: self.segments() and self.segments()[-1] >= 3)
        [program] = (pid for pid in self.children(run.pid) if self.runs_the_program(pid))
        os.kill(program, signal.SIGKILL)
        run.stdout.read()
        self.assertEqual(run.wait(PATIENCE), 128 + signal.SIGKILL)
        start, end = self.check_kernels(lost_until=True)
        self.assertEqual(end - start, KEPT_NS)
        self.check_ranges(start)

    def children(self, pid):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        for child in map(int, children.split()):
            yield child
            yield from self.children(child)

    def runs_the_program(self, pid):
        return pathlib.Path(f"/proc/{pid}/exe").resolve().name == PROGRAM.name

    def test_before_a_flush(self):
        run = self.start()
        self.step_until(run, lambda: self.segments() and self.segments()[-1] >= 3)
        flushed = subprocess.run([str(GPROF_ML), "control", "flush"], cwd=self.folder, text=True,
                                 env=self.environment, capture_output=True, timeout=PATIENCE,
                                 check=False)
        self.assertEqual(flushed.returncode, 0, flushed.stderr)
        self.step_until(run, lambda: "flushed -> run.2.db; " in self.said())
        start, end = self.check_kernels("run.2.db", lost_until=True)
        self.assertEqual(end - start, KEPT_NS)
        self.check_ranges(start, "run.2.db")
        self.assertFalse((self.folder / "run.db").exists())
        self.step_until(run, lambda: self.segments()[-1] >= 6)
        self.end(run)
        self.assertGreater(self.check_kernels()[0], end)

    def test_a_program_that_hangs(self):
        # It has done nothing for longer than what is kept: what is open is all there is to tell.
        run = self.start("idle", "20")
        time.sleep(4 * KEPT_NS / 1e9)
        self.end(run)
        self.window()
        self.assertEqual(self.query("SELECT count(*) FROM kernel"), [(0,)])
        names = {name for name, in self.query("SELECT name FROM range_named")}
        self.assertLessEqual({"program", "session"}, names)
        self.assertNotIn("step", names)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
