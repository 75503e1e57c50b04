#!/usr/bin/env python3
"""Recordings of a part of a program: test_windows.py BUILD PROGRAMS [unittest arguments].

On the simulator's virtual clock the truth can be computed from its log: exactly these kernels and no
others. What is typed in a second terminal runs on the wall clock, where nothing is asserted of times
but their order.
"""

import fcntl
import json
import os
import pathlib
import pty
import signal
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BUILD, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
GPROF_ML, SIMGPU = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu"))
SERVER = PROGRAMS / "server_like"
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}


class WindowTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)  # recordings of other tests: not ours

    def call(self, *command, code=0):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True,
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def query(self, sql, name="run.db"):
        database = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def notes(self, name="run.db"):
        return dict(self.query("SELECT code.text, count FROM quality JOIN string code "
                               "ON code.id = quality.code", name))


class OnTheVirtualClock(WindowTest):
    def record(self, *program, options=()):
        return self.call(GPROF_ML, "run", "-o", "run.db", "--force", *options, "--", SIMGPU, "--log",
                         "run.log", "--", SERVER, *program)

    def log(self, kind):
        with open(self.folder / "run.log", encoding="utf-8") as log:
            return [entry for entry in map(json.loads, log) if entry["type"] == kind]

    def kernels(self):
        return self.query("SELECT start_ns, end_ns FROM kernel ORDER BY start_ns")

    def executed(self, numbers=None):
        """The simulator's kernels in the order of time, or those with these numbers."""
        times = sorted((entry["start"], entry["end"]) for entry in self.log("kernel"))
        return times if numbers is None else [times[number] for number in numbers]

    def windows(self):
        return self.query("SELECT start_ns, end_ns, reason FROM window_named ORDER BY start_ns")

    def test_without_windows_everything_is_recorded(self):
        self.record("6")
        self.assertEqual(self.kernels(), self.executed())
        self.assertEqual(len(self.kernels()), 24)
        self.assertEqual(self.windows(), [])

    def test_one_occurrence_of_a_range(self):
        self.record("6", options=["--range", "request#2"])
        self.assertEqual(self.kernels(), self.executed(range(8, 12)))
        [(start, end, reason)] = self.windows()
        self.assertEqual(reason, "range request")
        # The range is the window, to the nanosecond, and what it encloses is there.
        self.assertEqual(self.query("SELECT start_ns, end_ns FROM range_named "
                                    "WHERE name = 'request'"), [(start, end)])
        self.assertEqual(self.query("SELECT name, count(*) FROM range_named GROUP BY name"),
                         [("prefill", 1), ("request", 1), ("token", 3)])

    def test_a_window_that_closes_at_the_end_has_its_command(self):
        self.record("steps", "3", options=["--range", "step#2",
                                           "--on-window", "echo RAN {db} >> ran.txt"])
        self.assertEqual(len(self.windows()), 1)
        # Once, whether the launcher saw the window close or the run.db at the end has it first.
        ran = self.folder / "ran.txt"
        end = time.monotonic() + PATIENCE
        while not (ran.exists() and ran.stat().st_size > 0):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertEqual(ran.read_text(encoding="utf-8"), f"RAN {self.folder / 'run.db'}\n")

    def test_every_occurrence_of_a_range(self):
        self.record("5", options=["--range", "token"])
        self.assertEqual(len(self.windows()), 15)
        tokens = [number for number in range(20) if number % 4 != 0]
        kernels = self.kernels()
        # A prefill that still runs when the first token's window opens is in it too.
        for wanted in self.executed(tokens):
            self.assertIn(wanted, kernels)
        # What encloses the windows is kept, with its true start: it begins before the window.
        requests = self.query("SELECT start_ns FROM range_named WHERE name = 'request'")
        self.assertEqual(len(requests), 5)
        self.assertLess(requests[0][0], self.windows()[0][0])

    def test_a_range_that_never_occurs(self):
        self.record("3", options=["--range", "absent"])
        self.assertEqual(self.kernels(), [])
        self.assertEqual(self.windows(), [])
        self.assertIn("no_window", self.notes())

    def test_steps_by_range(self):
        self.record("steps", "10", options=["--steps", "2,1,3", "--step", "step"])
        # Steps 3, 4 and 5, of four kernels each.
        self.assertEqual(self.kernels(), self.executed(range(12, 24)))
        self.assertEqual(len(self.windows()), 1)

    def test_steps_repeat(self):
        self.record("steps", "10", options=["--steps", "1,1,2,2", "--step", "step"])
        self.assertEqual(self.kernels(), self.executed([*range(8, 16), *range(24, 32)]))
        self.assertEqual(len(self.windows()), 2)

    def test_steps_by_graph_launch(self):
        self.record("steps", "8", options=["--steps", "2,0,2", "--step", "graph"])
        # From the third launch of the graph to the fifth: its kernel, and the three of the next
        # step's own. The kernel before the third launch still runs then, so it is in the window.
        kernels = self.executed(range(10, 19))
        self.assertGreater(kernels[0][1], self.windows()[0][0])
        self.assertEqual(self.kernels(), kernels)

    def test_steps_by_synchronisation(self):
        self.record("steps", "8", options=["--steps", "3,0,2", "--step", "sync"])
        self.assertEqual(self.kernels(), self.executed(range(12, 20)))

    def test_profiler_api(self):
        self.record("profiler", options=["--profiler-api"])
        self.assertEqual(self.kernels(), self.executed([2, 3]))
        self.assertEqual([reason for _, _, reason in self.windows()], ["profiler api"])

    def test_call_stacks_of_a_window(self):
        self.record("6", options=["--level", "3", "--range", "request#2"])
        launches = self.query("SELECT DISTINCT launch FROM kernel")
        self.assertEqual(len(launches), 4)
        stacks = self.query("SELECT DISTINCT call FROM call_stack")
        self.assertLessEqual(set(launches), set(stacks))
        calls = self.query("SELECT id FROM api_call")
        self.assertLessEqual(set(stacks), set(calls))
        self.assertNotIn("stacks_without_call", self.notes())

    def test_a_budget_leaves_windows_that_were_asked_for_alone(self):
        self.record("6", options=["--level", "3", "--range", "request#2", "--overhead-budget",
                                  "0.0001%"])
        self.assertEqual(self.kernels(), self.executed(range(8, 12)))
        self.assertNotIn(("budget_window_closed",),
                         self.query("SELECT kind FROM capture_event_named"))

    def test_payloads_and_counters_outside_of_the_window_are_left_out(self):
        def payloads():
            return self.query("SELECT range_name, key, value FROM range_payload_named ORDER BY id")

        program = [GPROF_ML, "run", "-o", "run.db", "--force"], ["--", PROGRAMS / "nvtx_full"]
        self.call(*program[0], *program[1])
        everything = payloads()
        self.assertGreater(self.query("SELECT count(*) FROM counter_sample")[0][0], 5)
        self.call(*program[0], "--range", "structure", *program[1])
        wanted = [row for row in everything if row[0] == "structure"]
        self.assertGreater(len(wanted), 1)
        self.assertLess(len(wanted), len(everything))
        self.assertEqual(payloads(), wanted)
        self.assertEqual(self.query("SELECT name FROM range_named"), [("structure",)])
        self.assertEqual(self.query("SELECT count(*) FROM counter_sample"), [(0,)])
        self.assertLessEqual(self.notes().keys() & {"undecoded_values", "malformed_records",
                                                    "payloads_cut"}, set())

    def test_work_has_its_calls_and_nothing_is_called_lost(self):
        self.record("6", options=["--range", "request#2"])
        self.assertEqual(self.query("SELECT count(*) FROM kernel WHERE launch IS NULL"), [(0,)])
        self.assertNotIn("window_cut", self.notes())
        self.assertNotIn("open_ranges", self.notes())
        self.assertNotIn("unopened_range_ends", self.notes())

    def test_bad_options_are_refused_before_the_program_starts(self):
        for options in (["--steps", "1,2"], ["--steps", "1,2,0", "--step", "x"], ["--delay", "soon"],
                        ["--steps", "1,1,1"], ["--range", "a", "--profiler-api"]):
            with self.subTest(options=options):
                done = self.call(GPROF_ML, "run", *options, "--", "touch", "started", code=2)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertFalse((self.folder / "started").exists())


class TypedInASecondTerminal(WindowTest):
    """A server that runs, and what a user types beside it."""

    def start(self, *options, program=(SERVER, "0", "5"), terminal=None):
        said = open(self.folder / "said", "w", encoding="utf-8")
        self.addCleanup(said.close)
        more = {"stdin": subprocess.PIPE}
        if terminal is not None:
            more = {"stdin": terminal, "start_new_session": True,
                    "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
        server = subprocess.Popen(
            [str(part) for part in (GPROF_ML, "run", *options, "--", SIMGPU, "--clock", "wall",
                                    "--", *program)],
            cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=said,
            **more)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for stream in (server.stdin, server.stdout):
            if stream is not None:
                self.addCleanup(stream.close)
        for _ in range(5):  # requests served
            self.assertIn("request", server.stdout.readline())
        return server

    def serve(self, server, requests=20):
        """Lets it serve so many more; returns the number of the last."""
        for _ in range(requests):
            line = server.stdout.readline()
        return int(line.split()[1])

    def end(self, server):
        server.stdin.close()
        served = server.stdout.read()
        self.assertEqual(server.wait(PATIENCE), 0)
        return served

    def said(self):
        return (self.folder / "said").read_text(encoding="utf-8")

    def await_said(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.said():
            self.assertLess(time.monotonic(), end, f"{text!r} is not in {self.said()!r}")
            time.sleep(0.02)

    def processes(self):
        done = self.call(GPROF_ML, "control", "status", "--format", "json")
        return json.loads(done.stdout)["processes"]

    def status(self):
        [process] = self.processes()
        return process

    def test_start_stop_and_what_happens_on_it(self):
        server = self.start("--start-paused", "--on-window", "cp {db} copied.db")
        self.assertEqual(self.status()["state"], "paused")
        self.call(GPROF_ML, "control", "start")
        self.assertEqual(self.status()["state"], "recording")
        self.serve(server)
        done = self.call(GPROF_ML, "control", "stop")
        self.assertRegex(done.stdout, r"^pid \d+: paused; 1 window complete")
        self.await_said("window closed -> run.db; simgpu still runs (pid ")
        self.assertGreater(self.query("SELECT count(*) FROM kernel")[0][0], 4)
        end = time.monotonic() + PATIENCE
        while not (self.folder / "copied.db").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.call(GPROF_ML, "control", "start")
        self.serve(server)
        self.call(GPROF_ML, "control", "stop")
        self.await_said("window closed -> run.2.db")
        first = self.query("SELECT max(end_ns) FROM window")[0][0]
        second = self.query("SELECT min(start_ns) FROM window", "run.2.db")[0][0]
        self.assertGreater(second, first)
        self.assertEqual(self.query("SELECT count(*) FROM kernel k WHERE k.start_ns < "
                                    f"{first}", "run.2.db"), [(0,)])
        self.end(server)
        # The run.db of the end has both.
        self.assertEqual(self.query("SELECT count(*) FROM window"), [(2,)])
        self.assertFalse((self.folder / "run.db.old").exists())

    def test_commands_at_the_same_time_take_turns(self):
        server = self.start("--start-paused")
        self.call(GPROF_ML, "control", "start")
        for what in (["stop"] * 3, ["flush"] * 3, ["start", "stop", "flush"]):
            typed = [subprocess.Popen([str(GPROF_ML), "control", word], cwd=self.folder, text=True,
                                      env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                     for word in what]
            for word, command in zip(what, typed):
                told = command.communicate(timeout=PATIENCE)
                self.assertEqual(command.returncode, 0, (what, word, told))
        # None of them was lost: the last `start` has opened a window, whichever came first.
        self.assertEqual(self.status()["windows_opened"], 2)
        self.end(server)

    def test_outside_of_windows_nothing_reaches_the_disk(self):
        server = self.start("--start-paused")
        before = self.status()["records"]
        self.serve(server, 60)
        self.assertEqual(self.status()["records"], before)
        self.end(server)
        self.assertEqual(self.query("SELECT count(*) FROM kernel"), [(0,)])
        self.assertEqual(self.query("SELECT count(*) FROM range"), [(0,)])
        self.assertIn("no_window", self.notes())

    def test_flush_puts_what_there_is_on_the_disk(self):
        server = self.start()
        self.serve(server)
        self.call(GPROF_ML, "control", "flush")
        self.assertGreater(self.status()["records"], 20)
        self.end(server)

    def test_an_ordinary_recording_can_be_paused(self):
        server = self.start()
        self.call(GPROF_ML, "control", "stop")
        last = self.serve(server, 60)
        self.end(server)
        kernels = self.query("SELECT count(*) FROM kernel")[0][0]
        self.assertGreater(kernels, 0)
        self.assertLess(kernels, 4 * last)
        self.assertEqual(self.query("SELECT reason FROM window_named"), [("start",)])

    def test_delay_and_duration(self):
        server = self.start("--delay", "200ms", "--duration", "150ms")
        self.await_said("window closed -> run.db")
        self.end(server)
        [(start, end)] = self.query("SELECT start_ns, end_ns FROM window")
        self.assertEqual(end - start, 150_000_000)
        self.assertEqual(self.query("SELECT count(*) FROM kernel k JOIN api_call c ON c.id = "
                                    f"k.launch WHERE c.end_ns <= {start} OR c.end_ns > {end}"),
                         [(0,)])

    def test_a_signal_to_the_launcher_loses_nothing(self):
        server = self.start()
        last = self.serve(server)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 128 + signal.SIGTERM)
        requests = self.query("SELECT count(*) FROM range_named WHERE name = 'request'")[0][0]
        self.assertGreater(requests, last)

    def test_three_processes_obey_together(self):
        # Each child inherits the pipe whose end tells it to end.
        children = f"exec 3<&0; for i in 1 2 3; do {SERVER} 0 5 <&3 & done; wait"
        server = self.start("--start-paused", program=("sh", "-c", children))
        end = time.monotonic() + PATIENCE
        while len(self.processes()) < 3:
            self.assertLess(time.monotonic(), end)
            self.serve(server)
        self.assertEqual({process["state"] for process in self.processes()}, {"paused"})
        self.call(GPROF_ML, "control", "start")
        self.assertEqual({process["state"] for process in self.processes()}, {"recording"})
        self.serve(server, 60)
        # By the process id of any of them.
        pid = self.processes()[1]["pid"]
        done = self.call(GPROF_ML, "control", "stop", "--pid", pid)
        self.assertEqual(done.stdout.count(": paused; 1 window complete"), 3)
        self.await_said("window closed -> run.db")
        self.end(server)
        self.assertEqual(self.said().count("closed -> "), 1, self.said())
        windows = self.query("SELECT start_ns, end_ns FROM window")
        self.assertEqual(len(windows), 3)
        # All begin and end with the commands.
        self.assertLess(max(start for start, _ in windows), min(end for _, end in windows))
        self.assertEqual(self.query("SELECT count(DISTINCT thread.process) FROM kernel JOIN api_call "
                                    "ON api_call.id = launch JOIN thread ON thread.id = "
                                    "api_call.thread"), [(3,)])

    def test_windows_that_follow_each_other_quickly_share_run_dbs(self):
        server = self.start("--range", "request", "--on-window", "echo {db} >> made")
        self.serve(server, 150)
        self.await_said(" to ")
        self.end(server)
        windows = self.query("SELECT count(*) FROM window")[0][0]
        self.assertGreater(windows, 150)
        told = [line for line in self.said().splitlines() if "closed -> " in line]
        self.assertLess(len(told), windows / 4)
        # "windows 3 to 17 closed": without a gap, from the first on.
        at = 1
        for line in told:
            words = line.split()
            if "window" in words:
                at += 1
                continue
            first, last = int(words[words.index("to") - 1]), int(words[words.index("to") + 1])
            self.assertEqual(first, at, told)
            at = last + 1
        made = (self.folder / "made").read_text(encoding="utf-8").split()
        names = [pathlib.Path(name).name for name in made]
        self.assertEqual(names[:len(told)],
                         ["run.db"] + [f"run.{n}.db" for n in range(2, len(told) + 1)])
        # Those that closed after the last of these are in the run.db at the end.
        self.assertEqual(names[len(told):], ["run.db"] if windows >= at else [])

    def test_interrupted_from_the_terminal_while_a_window_is_open(self):
        typed, terminal = pty.openpty()
        self.addCleanup(os.close, typed)
        server = self.start("--start-paused", terminal=terminal)
        os.close(terminal)
        self.call(GPROF_ML, "control", "start")
        self.serve(server)
        os.write(typed, b"\x03")
        server.stdout.read()
        self.assertEqual(server.wait(PATIENCE), -signal.SIGINT)
        [(start, end)] = self.query("SELECT start_ns, end_ns FROM window")
        self.assertGreater(end, start)
        kernels = self.kernel_times()
        self.assertGreater(len(kernels), 20)
        self.assertLessEqual(max(at for at, _ in kernels), end)
        self.assertGreaterEqual(min(at for at, _ in kernels), start)

    def kernel_times(self):
        return self.query("SELECT start_ns, end_ns FROM kernel ORDER BY start_ns")

    def test_what_a_user_says_goes_before_the_budget(self):
        server = self.start("--overhead-budget", "0.0001%")
        self.call(GPROF_ML, "control", "start")
        self.serve(server, 400)
        self.assertEqual(self.status()["state"], "recording")
        self.call(GPROF_ML, "control", "stop")
        self.serve(server, 400)
        self.assertEqual(self.status()["state"], "paused")
        self.end(server)

    def test_without_a_recording_it_says_so(self):
        done = self.call(GPROF_ML, "control", "stop", code=2)
        self.assertIn("no recording of yours runs here", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
