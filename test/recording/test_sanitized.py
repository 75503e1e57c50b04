#!/usr/bin/env python3
"""16 threads on 32 streams, recorded, with the recorder and the simulated GPU built for
ThreadSanitizer and AddressSanitizer.

    test_sanitized.py BUILD_FOLDER PROGRAM_FOLDER [unittest args]

Exit code 77 (skipped) when those libraries are not built: targets gprofml_injection_thread,
simgpu_thread, gprofml_injection_address, simgpu_address. The programs are as nvcc makes them, so
what is looked at is all that happens in the libraries.
"""

import contextlib
import io
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import compare_with_log

BUILD, PROGRAMS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PATIENCE = 300  # seconds until a test gives up
FOUND = 66  # exit code of a program in which a sanitizer found something
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "LD_PRELOAD"}
OPTIONS = {
    # The recorder's threads never end.
    "TSAN_OPTIONS": f"report_thread_leaks=0:exitcode={FOUND}",
    # What lives until the end of the process is never freed, on purpose: programs call CUDA and
    # NVTX in exit handlers.
    "ASAN_OPTIONS": f"detect_leaks=0:exitcode={FOUND}",
}


def injection(kind):
    return BUILD / f"lib/sanitized/libgprofml_injection_{kind}.so"


def simulator(kind):
    return BUILD / f"lib/simgpu-{kind[0]}san"


def is_built():
    return all(injection(kind).exists() and (simulator(kind) / "libsimgpu_engine.so").exists()
               for kind in ("thread", "address"))


class Sanitized:
    """The tests, for one sanitizer."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def record(self, clock, *program, options=()):
        environment = {k: v for k, v in os.environ.items() if k not in OURS}
        environment.update(OPTIONS, GPROFML_INJECTION=str(injection(self.kind)))
        command = [BUILD / "bin/gprof-ml", "run", *options, "--", BUILD / "bin/simgpu", "--libraries",
                   simulator(self.kind), "--clock", clock, "--log", "log", "--", *program]
        return subprocess.run([str(word) for word in command], cwd=self.folder, text=True,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False)

    def check_clean(self, clock, *program):
        done = self.record(clock, *program)
        self.assertNotIn("Sanitizer", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_recording()

    def check_recording(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = compare_with_log.main([str(self.folder / "run.db"), str(self.folder / "log")])
        self.assertEqual(code, 0, said.getvalue())

    def test_virtual_clock(self):
        self.check_clean("virtual", PROGRAMS / "many_threads", "--rounds", "15")

    def test_wall_clock(self):
        self.check_clean("wall", PROGRAMS / "many_threads", "--rounds", "40", "--shared")

    def test_generated(self):
        self.check_clean("wall", PROGRAMS / "generated_program", "--threads", "16",
                         "--operations", "100")

    def test_call_stacks(self):
        """Level 3 reads stacks of the program's; in coroutines and signal handlers too, where the
        simulator itself does what ThreadSanitizer does not like."""
        for what in ("threads",) if self.kind == "thread" else ("threads", "hostile"):
            done = self.record("wall", PROGRAMS / "stacks_bare", what,
                               options=("--level", "3", "--force", "-o", "run.db"))
            self.assertNotIn("Sanitizer", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            with sqlite3.connect(self.folder / "run.db") as database:
                ((stacks, frames),) = database.execute(
                    "SELECT count(*), count(DISTINCT frame) FROM call_stack")
            self.assertGreater(stacks, 0)
            self.assertGreater(frames, 2)

    def test_windows(self):
        """Many windows, that close while the program and its GPU go on."""
        for options in (("--range", "token"), ("--steps", "1,1,2,0", "--step", "request"),
                        ("--start-paused",)):
            done = self.record("wall", PROGRAMS / "server_like", "30",
                               options=(*options, "--level", "2", "--force", "-o", "run.db"))
            self.assertNotIn("Sanitizer", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            with sqlite3.connect(self.folder / "run.db") as database:
                ((windows,),) = database.execute("SELECT count(*) FROM window")
                ((kernels,),) = database.execute("SELECT count(*) FROM kernel")
            self.assertEqual(windows, {"--range": 90, "--steps": 7}.get(options[0], 0))
            self.assertEqual(kernels > 0, windows > 0)

    def test_planted_fault_is_found(self):
        done = self.record("wall", PROGRAMS / "many_threads", "--rounds", "1", "--planted",
                           PROGRAMS / f"libplanted_faults_{self.kind}.so")
        self.assertEqual(done.returncode, FOUND, done.stderr)
        self.assertIn(self.planted, done.stderr)
        self.assertIn("planted_fault", done.stderr)


class Threads(Sanitized, unittest.TestCase):
    kind = "thread"
    planted = "ThreadSanitizer: data race"


class Addresses(Sanitized, unittest.TestCase):
    kind = "address"
    planted = "AddressSanitizer: heap-buffer-overflow"


if __name__ == "__main__":
    if not is_built():
        print("skipped: the sanitized libraries are not built")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
