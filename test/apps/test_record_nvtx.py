#!/usr/bin/env python3
"""Records programs that use NVTX and no GPU, with the recorder itself.

test_record_nvtx.py BINARY LIBRARY PROGRAM [unittest args]; `--measure` in their place kills a
program ten times and prints how much of its end each recording lacks.
"""

import os
import pathlib
import select
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

BINARY, LIBRARY, PROGRAM = map(os.path.abspath, sys.argv[1:4])
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR"}


class Folder:
    """A working folder and gprof-ml in it."""

    def __init__(self):
        self.holder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["GPROFML_INJECTION"] = LIBRARY

    def call(self, *arguments):
        return subprocess.run([BINARY, *map(str, arguments)], cwd=self.path, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def start(self, *command):
        return subprocess.Popen([BINARY, "run", "--", *command], cwd=self.path, text=True,
                                env=self.environment, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def query(self, text, name="run.db"):
        database = sqlite3.connect(f"file:{self.path / name}?mode=ro", uri=True)
        rows = database.execute(text).fetchall()
        database.close()
        return rows

    def tables(self, name):
        """Every table of a run.db but meta."""
        names = [n for n, in self.query("select name from sqlite_master where type = 'table' and "
                                        "name != 'meta'", name)]
        return {n: self.query(f'select * from "{n}"', name) for n in names}

    def codes(self):
        return {code for code, in self.query("select s.text from quality q join string s "
                                             "on s.id = q.code")}

    def spools(self):
        return next(p for p in self.path.iterdir() if ".spool-" in p.name)


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_after(folder, lines):
    """Kills an endless program after that many ranges; returns (launcher's end, last range)."""
    launcher = folder.start(PROGRAM, "endless")
    last = 0
    for number, line in enumerate(launcher.stdout):
        if number == lines:
            program, = children_of(launcher.pid)
            os.kill(program, signal.SIGKILL)
        if line.endswith("\n"):
            last = int(line)
    errors = launcher.stderr.read()
    launcher.wait(PATIENCE)
    launcher.stdin.close(), launcher.stdout.close(), launcher.stderr.close()
    return launcher.returncode, errors, last


class RecordNvtx(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.holder.cleanup)

    def test_ranges_and_exit_code(self):
        done = self.folder.call("run", "--require-data", "--", PROGRAM, "exit", "500")
        self.assertEqual((done.returncode, done.stdout), (7, "ready\n"), done.stderr)
        self.assertIn("  recorded  1,000 ranges; 1 process, no GPU work\n", done.stderr)
        self.assertIn("  lost      nothing: 0 records dropped\n", done.stderr)
        self.assertEqual(self.folder.query("select name, count(*) from range_named group by name"),
                         [("inner", 500), ("step", 500)])
        self.assertEqual(self.folder.call("analyze", "run.db").returncode, 0)

    def test_every_inner_range_lies_in_its_step(self):
        self.folder.call("run", "--", PROGRAM, "exit", "50")
        outside, = self.folder.query(
            "select count(*) from range_named i where i.name = 'inner' and not exists (select 1 "
            "from range_named s where s.name = 'step' and s.start_ns <= i.start_ns and "
            "s.end_ns >= i.end_ns)")[0]
        self.assertEqual(outside, 0)

    def test_killed_program(self):
        code, errors, _ = kill_after(self.folder, 700)
        self.assertEqual(code, 137, errors)
        self.assertIn("was killed by signal 9 (SIGKILL)", errors)
        self.assertIn("ended abruptly", errors)
        self.assertIn("ended_abruptly", self.folder.codes())
        self.assertGreater(self.folder.query("select count(*) from range")[0][0], 0)
        self.assertFalse([p for p in self.folder.path.iterdir() if ".spool-" in p.name])

    def test_launcher_killed_and_recovered(self):
        launcher = self.folder.start(PROGRAM, "wait", "200")
        self.assertEqual(launcher.stdout.readline(), "ready\n")
        program, = children_of(launcher.pid)
        launcher.kill()
        launcher.wait()
        spools = self.folder.spools()
        self.await_records(spools)
        refused = self.folder.call("recover", spools)
        self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1), refused.stderr)
        with os.fdopen(os.pidfd_open(program)) as ended:
            launcher.communicate("\n", timeout=PATIENCE)
            self.assertTrue(select.select([ended], [], [], PATIENCE)[0])
        done = self.folder.call("recover", spools)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.folder.query("select count(*) from range"), [(402,)])

    def await_records(self, spools):
        """Until the recorder has written something, which it does while the program waits."""
        deadline = time.monotonic() + PATIENCE
        while self.folder.call("analyze", spools).returncode != 0:
            self.assertLess(time.monotonic(), deadline)

    def test_recover_equals_the_normal_merge(self):
        self.folder.call("run", "--keep-spool", "--", PROGRAM, "exit", "300")
        done = self.folder.call("recover", self.folder.spools(), "-o", "again.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.folder.tables("again.db"), self.folder.tables("run.db"))

    def test_processes_that_a_shell_starts(self):
        done = self.folder.call("run", "--", "sh", "-c", f"'{PROGRAM}' exit 10; '{PROGRAM}' exit 10"
                                "; exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("40 ranges; 2 processes", done.stderr)

    def test_variable_of_another_tool(self):
        self.folder.environment["NVTX_INJECTION64_PATH"] = "/no/such/tool.so"
        done = self.folder.call("run", "--", PROGRAM, "exit")
        self.assertEqual(done.returncode, 7)
        self.assertIn("nothing: NVTX ranges are not recorded: NVTX_INJECTION64_PATH is set already",
                      " ".join(done.stderr.split()))
        self.assertEqual(self.folder.codes(), {"nvtx_variable_taken"})


def measure():
    losses = []
    for _ in range(10):
        folder = Folder()
        _, _, last = kill_after(folder, 1500)
        found = max(int(name) for name, in folder.query("select name from range_named"))
        losses.append((last - found) / 1e6)
        folder.holder.cleanup()
    losses.sort()
    print("missing at the end, ms:", " ".join(f"{loss:.0f}" for loss in losses))
    print(f"median {statistics.median(losses):.0f} ms, most {losses[-1]:.0f} ms")


if __name__ == "__main__":
    if sys.argv[4:] == ["--measure"]:
        measure()
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
