#!/usr/bin/env python3
"""Programs of several processes on the simulated GPU: test_processes.py BUILD PROGRAMS [unittest arguments]."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import test_recording
from test_recording import BUILD, GPROF_ML, HERE, PROGRAMS, SIMGPU, RecordingTest

SHAPES = HERE / "process_shapes.py"
CUDART = next((BUILD / "lib").glob("**/libcudart.so.1[0-9]")).name
WALL = ("--clock", "wall")


class ProcessTest(RecordingTest):
    def shape(self, name, shape, *arguments, options=(), simgpu=(), **more):
        return self.call(GPROF_ML, "run", "-o", f"{name}.db", *options, "--", SIMGPU, *simgpu, "--",
                         sys.executable, SHAPES, CUDART, shape, *arguments, **more)

    def fills(self, name):
        """Fills of each process of a recording, sorted."""
        return sorted(count for count, in self.query(name, """SELECT count(fill.id) FROM process
            LEFT JOIN context ON context.process = process.id
            LEFT JOIN stream ON stream.context = context.id
            LEFT JOIN fill ON fill.stream = stream.id GROUP BY process.id"""))

    def meta(self, name):
        return dict(self.query(name, "SELECT key, value FROM meta"))

    def left_behind(self):
        return [path.name for path in self.folder.iterdir() if "spool" in path.name]


class Shapes(ProcessTest):
    """However processes come into being, each that works is a row of its own."""

    def test_multiprocessing(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                self.shape(method, method)
                self.assertEqual(self.fills(method), [11, 12])
                self.assertEqual(self.left_behind(), [])

    def test_fork(self):
        self.shape("first", "fork_first", code=7)
        self.assertEqual(self.fills("first"), [20, 21])
        self.shape("later", "fork_later", code=7)
        self.assertEqual(self.fills("later"), [20])

    def test_posix_spawn_and_vfork(self):
        self.shape("spawned", "spawned")
        self.assertEqual(self.fills("spawned"), [50, 51, 52])

    def test_exec_in_place(self):
        self.shape("exec", "exec")
        self.assertEqual(self.fills("exec"), [41, 42])
        pids = self.query("exec", "SELECT pid FROM process")
        self.assertEqual(pids[0], pids[1])

    def test_processes_that_record_nothing_leave_no_trace(self):
        self.shape("helpers", "helpers")
        # One that started CUDA and ended by _exit() may have done more than it handed over, and is
        # there with a note unless its first words say otherwise.
        fills = self.fills("helpers")
        self.assertIn(fills, ([60], [0, 60]))
        self.assertEqual(self.meta("helpers")["idle_processes"], "2" if fills == [60] else "1")
        self.assertEqual(self.query("helpers", "SELECT code FROM quality_named"),
                         [] if fills == [60] else [("ended_abruptly",)])
        self.assertEqual(self.left_behind(), [])

    def test_where_none_does_anything_the_summary_says_so(self):
        done = self.shape("none", "only_start_cuda")
        self.assertIn("nothing", done.stderr)
        self.assertEqual(self.fills("none"), [0])


class Daemons(ProcessTest):
    """Processes that outlive the program."""

    def test_a_daemon_is_waited_for_when_asked(self):
        done = self.shape("daemon", "daemon", options=("--wait", "all"), DAEMON_SECONDS="0.5")
        self.assertEqual(self.fills("daemon"), [63])
        self.assertEqual(self.left_behind(), [])
        self.assertNotIn("still", done.stderr)

    def test_a_process_that_begins_to_record_later_is_waited_for_too(self):
        self.call(GPROF_ML, "run", "--wait", "all", "-o", "later.db", "--", "sh", "-c",
                  f"(sleep 0.5; exec {SIMGPU} -- {sys.executable} {SHAPES} {CUDART} daemon) "
                  ">later.out 2>&1 & exit 0")
        self.assertGreater(self.query("later", "SELECT count(*) FROM fill")[0][0], 0)

    def test_and_not_when_not(self):
        done = self.shape("none", "daemon", options=("--wait", "none"), DAEMON_SECONDS="60")
        self.assertIn("gprof-ml recover", done.stderr)
        self.assertEqual(len(self.left_behind()), 1)
        self.end_daemon("none")

    def end_daemon(self, name):
        for pid, in self.query(name, "SELECT pid FROM process"):
            os.kill(pid, signal.SIGKILL)

    def test_seconds(self):
        done = self.shape("seconds", "daemon", options=("--wait", "0.2"), DAEMON_SECONDS="60")
        self.assertEqual(len(self.left_behind()), 1)
        self.assertIn("still runs", done.stderr)
        self.end_daemon("seconds")

    def test_who_has_enough_of_waiting_still_gets_the_recording(self):
        launcher = subprocess.Popen(
            [str(part) for part in (GPROF_ML, "run", "--wait", "all", "-o", "enough.db", "--", SIMGPU,
                                    "--", sys.executable, SHAPES, CUDART, "daemon")],
            cwd=self.folder, env={**self.environment, "DAEMON_SECONDS": "60"}, text=True,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for line in launcher.stderr:
            if "waited for" in line:
                break
        launcher.send_signal(signal.SIGINT)
        rest = launcher.stderr.read()
        self.assertEqual(launcher.wait(), 0, rest)
        launcher.stderr.close()
        self.assertIn("enough.db", rest)
        self.assertEqual(self.fills("enough")[0] % 31, 0)
        self.end_daemon("enough")

    def test_bad_waits_are_refused(self):
        for wait in ("", "forever", "-1", "1x"):
            done = self.call(GPROF_ML, "run", "--wait", wait, "--", "true", code=2)
            self.assertIn("--wait", done.stderr)


class Ranks(ProcessTest):
    def ranks(self, name):
        return self.query(name, """SELECT process.rank, count(fill.id) FROM process
            JOIN context ON context.process = process.id JOIN stream ON stream.context = context.id
            JOIN fill ON fill.stream = stream.id GROUP BY process.id ORDER BY 1""")

    def test_one_recording_of_all_ranks(self):
        self.shape("ranks", "ranks")
        self.assertEqual(self.ranks("ranks"), [(0, 70), (1, 71), (2, 72)])
        meta = self.meta("ranks")
        self.assertEqual(meta["env.OMPI_COMM_WORLD_SIZE"], "3")
        self.assertEqual({meta[f"process.{row}.env.OMPI_COMM_WORLD_RANK"] for row in range(3)},
                         {"0", "1", "2"})
        self.shape("torch", "torchrun")
        self.assertEqual(self.ranks("torch"), [(0, 80), (1, 81)])

    def record_rank(self, rank, *own, fills, **variables):
        return self.call(GPROF_ML, "run", *own, "--", SIMGPU, "--", sys.executable, SHAPES, CUDART,
                         "fills", str(fills), OMPI_COMM_WORLD_RANK=str(rank),
                         OMPI_COMM_WORLD_SIZE="2", **variables)

    def test_a_recording_each_and_merged(self):
        for rank in range(2):
            self.record_rank(rank, fills=10 + rank)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["run.0.db", "run.1.db"])
        done = self.call(GPROF_ML, "merge", "run.0.db", "run.1.db", "-o", "all.db")
        self.assertIn("wrote all.db: 2 processes, 2 GPUs", done.stderr)  # both see both
        self.assertNotIn("warning", done.stderr)
        self.assertEqual(self.ranks("all"), [(0, 10), (1, 11)])
        meta = self.meta("all")
        self.assertEqual(meta["simulated"], "true")
        self.assertEqual(meta["env.OMPI_COMM_WORLD_SIZE"], "2")
        self.assertEqual({meta[f"process.{row}.env.OMPI_COMM_WORLD_RANK"] for row in range(2)},
                         {"0", "1"})
        report = self.report("all", "--window", "all")
        self.assertEqual([device["fills"] for device in report["devices"] if device["fills"]], [21])

    def test_merge_refuses_and_warns(self):
        self.record_rank(0, fills=1)
        self.record_rank(0, "-o", "again-%r.db", fills=2)
        self.record_rank(1, "-o", "other.db", fills=3, SLURM_JOB_ID="17")
        merge = (GPROF_ML, "merge", "-o", "all.db")
        done = self.call(*merge, "run.0.db", "again-0.db")
        self.assertIn("both hold rank 0", done.stderr)
        done = self.call(*merge, "run.0.db", "other.db", code=2)
        self.assertIn("all.db: exists", done.stderr)
        self.call(*merge, "--force", "run.0.db", "other.db")
        self.assertEqual(self.ranks("all"), [(0, 1), (1, 3)])
        self.assertIn("twice", self.call(*merge, "--force", "run.0.db", "./run.0.db", code=2).stderr)
        self.assertIn("input", self.call(*merge, "--force", "all.db", "run.0.db", code=2).stderr)
        (self.folder / "trace.json").write_text('{"traceEvents": []}')
        self.call(*merge, "--force", "run.0.db", "trace.json", code=2)
        self.assertEqual(self.ranks("all"), [(0, 1), (1, 3)])

    def test_a_rank_in_the_name_needs_one(self):
        done = self.call(GPROF_ML, "run", "-o", "run.%r.db", "--", "true", code=2)
        self.assertIn("OMPI_COMM_WORLD_RANK", done.stderr)


class Kept(ProcessTest):
    """What of the environment and the command line is kept."""

    def test_variables(self):
        self.shape("kept", "fills", "3", CUDA_DEVICE_MAX_CONNECTIONS="8", NCCL_ALGO="Ring",
                   VLLM_API_KEY="planted-word", HF_TOKEN="planted-word", MY_OWN="planted-word",
                   TORCH_URL="https://me:planted-word@example.com")
        meta = self.meta("kept")
        self.assertEqual(meta["env.CUDA_DEVICE_MAX_CONNECTIONS"], "8")
        self.assertEqual(meta["env.NCCL_ALGO"], "Ring")
        self.assertNotIn(b"planted-word", (self.folder / "kept.db").read_bytes())

    def test_redact(self):
        self.shape("plain", "fills", "3", "planted-word")
        self.assertIn(b"planted-word", (self.folder / "plain.db").read_bytes())
        self.shape("redacted", "fills", "3", "planted-word",
                   options=("--redact", "--keep-spool"))
        self.assertEqual(self.fills("redacted"), [3])
        self.assertNotIn(b"planted-word", (self.folder / "redacted.db").read_bytes())
        folder, = (path for path in self.folder.iterdir() if path.is_dir())
        for path in folder.iterdir():
            self.assertNotIn(b"planted-word", path.read_bytes(), path.name)
        self.assertEqual(self.query("redacted", "SELECT command FROM process_named"),
                         [(sys.executable,)])


class Size(ProcessTest):
    def test_the_recording_ends_and_the_program_runs_on(self):
        done = self.shape("small", "fills", "20000", options=("--max-size", "300kB", "--keep-spool"))
        fills, = self.fills("small")
        self.assertGreater(fills, 500)
        self.assertLess(fills, 20000)
        self.assertEqual(self.query("small", "SELECT kind FROM capture_event_named"), [("size_limit",)])
        self.assertEqual(self.query("small", "SELECT code, count FROM quality_named WHERE code = 'size_limit'"),
                         [("size_limit", 1)])
        self.assertIn("--max-size", " ".join(done.stderr.split()))

    def test_sizes_that_are_none(self):
        done = self.call(GPROF_ML, "run", "--max-size", "much", "--", "true", code=2)
        self.assertIn("--max-size", done.stderr)


class Machine(ProcessTest):
    """What the launcher sees of the machine."""

    def record_wall(self, name, **more):
        return self.shape(name, "burn", options=("--keep-spool",), simgpu=WALL, **more)

    def test_host_threads_on_the_wall_clock(self):
        self.record_wall("wall")
        rows = self.query("wall", """SELECT thread_name, max(on_cpu_ns), min(time_ns), max(time_ns)
            FROM thread_sample_named GROUP BY tid""")
        burned = {name: on_cpu for name, on_cpu, _, _ in rows}
        self.assertGreaterEqual(burned["burner"], 300_000_000)
        self.assertLess(burned["sleeper"], 100_000_000)
        first, last = self.query("wall", "SELECT min(start_ns), max(end_ns) FROM fill")[0]
        self.assertTrue(any(low <= last and high >= first for _, _, low, high in rows))
        self.assertGreater(int(self.meta("wall")["sampler_cpu_ns"]), 0)
        # The folder alone gives the same.
        folder, = (path for path in self.folder.iterdir() if path.is_dir())
        self.call(GPROF_ML, "recover", folder, "-o", "recovered.db")
        every = "SELECT time_ns, on_cpu_ns, tid FROM thread_sample_named ORDER BY 1, 2, 3"
        self.assertEqual(self.query("wall", every), self.query("recovered", every))

    def test_gpus_on_the_wall_clock(self):
        """A fake NVML that shows the GPU of the recording and another one."""
        self.shape("uuid", "fills", "1")
        uuid, = self.query("uuid", "SELECT uuid FROM device_named ORDER BY ordinal")[0]
        shutil.copy(BUILD / "lib/libfake_machine_nvml.so", self.folder / "libnvidia-ml.so.1")
        paths = f"{self.folder}:{self.environment.get('LD_LIBRARY_PATH', '')}"
        done = self.record_wall("gpu", LD_LIBRARY_PATH=paths, FAKE_NVML_UUID=uuid)
        samples = self.query("gpu", """SELECT DISTINCT uuid, sm_clock_mhz, memory_clock_mhz,
            power_mw, temperature_c, throttle_reasons, memory_used_bytes, busy_percent
            FROM gpu_sample_named""")
        self.assertEqual(samples, [(uuid, 1500, 2600, 350000, 60, "0x24", 40, 87)])
        self.assertIn("held down by its power limit in 100 %", " ".join(done.stderr.split()))
        first, last = self.query("gpu", "SELECT min(start_ns), max(end_ns) FROM fill")[0]
        low, high = self.query("gpu", "SELECT min(time_ns), max(time_ns) FROM gpu_sample")[0]
        self.assertTrue(low <= last and high >= first)

    def test_not_joined_with_a_simulated_clock(self):
        self.shape("virtual", "burn")
        self.assertEqual(self.query("virtual", "SELECT count(*) FROM thread_sample"), [(0,)])
        self.assertIn("simulated", self.meta("virtual")["machine_samples"])


class Signals(ProcessTest):
    def test_what_was_done_before_a_signal_is_there(self):
        """The launcher has it written before it hands the signal on, and the program dies of it."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                name = f"signal{int(number)}"
                launcher = subprocess.Popen(
                    [str(part) for part in (GPROF_ML, "run", "-o", f"{name}.db", "--", SIMGPU, "--",
                                            sys.executable, "-c", DIE.format(SHAPES=HERE), CUDART)],
                    cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
                self.assertEqual(launcher.stdout.readline(), "works\n")
                launcher.send_signal(number)
                launcher.communicate(timeout=test_recording.PATIENCE)
                self.assertIn(launcher.returncode, (-number, 128 + number))
                self.assertEqual(self.fills(name), [90])


DIE = """
import signal, sys
sys.path.insert(0, "{SHAPES}")
signal.signal(signal.SIGINT, signal.SIG_DFL)
import process_shapes
process_shapes.until_signal()
"""

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
