#!/usr/bin/env python3
"""run --metric from the outside: test_metric.py BINARY [unittest arguments].

A program's output passes through a process of ours on its way. Here each byte, each stream's end,
each kind of descriptor and each way to end is compared with the program run alone.
"""

import fcntl
import hashlib
import os
import pathlib
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BINARY = os.path.abspath(sys.argv[1])
PYTHON = sys.executable
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_OPTIONS"}
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything
METRIC = ("--metric", "tok_s=([0-9.,]+) tok/s")


def theirs(output):
    """Without the line of our own behind it: nothing is recorded here."""
    return re.sub(rb"gprof-ml: nothing was recorded: [^\r\n]*\r?\n\Z", b"", output)


class MetricTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        library = self.folder / "libgprofml_injection.so"  # is named and never loaded
        library.touch()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["GPROFML_INJECTION"] = str(library)
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)

    def command(self, program, *options):
        return [BINARY, "run", "--quiet", "-o", "run.db", "--force", *METRIC, *options, "--", *program]

    def python(self, script):
        return [PYTHON, "-c", script]

    def run_tapped(self, program, *options, **more):
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                **more}
        return subprocess.run(self.command(program, *options), cwd=self.folder, check=False,
                              env=self.environment, timeout=PATIENCE, **more)

    def meta(self, name="run.db"):
        database = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
        try:
            rows = database.execute("SELECT key, value FROM meta WHERE key LIKE 'metric.%'").fetchall()
        finally:
            database.close()
        return {key[len("metric."):]: value for key, value in rows}

    def await_true(self, what):
        end = time.monotonic() + PATIENCE
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class Figures(MetricTest):
    def test_last_match_wins_and_the_others_are_counted(self):
        self.run_tapped(self.python("print('speed 10 tok/s, then 30 tok/s'); print('20.5 tok/s')"))
        self.assertEqual(self.meta(), {"tok_s": "20.5", "tok_s.count": "3", "tok_s.min": "10",
                                       "tok_s.max": "30", "tok_s.pattern": METRIC[1][6:]})

    def test_standard_error_is_read_too_and_standard_output_goes_before_it(self):
        self.run_tapped(self.python("import sys; print('1 tok/s', file=sys.stderr)"))
        self.assertEqual(self.meta()["tok_s"], "1")
        self.run_tapped(self.python("import os; os.write(1, b'2 tok/s'); os.write(2, b'1 tok/s')"))
        self.assertEqual((self.meta()["tok_s"], self.meta()["tok_s.count"]), ("2", "2"))

    def test_several_metrics_and_one_that_never_matches(self):
        done = self.run_tapped(self.python("print('5 tok/s loss=0.25')"), "--metric",
                               "loss=loss=(.*)", "--metric", "absent=nothing like it")
        self.assertEqual(theirs(done.stderr), b"")
        meta = self.meta()
        self.assertEqual((meta["tok_s"], meta["loss"], meta["absent.count"]), ("5", "0.25", "0"))
        self.assertNotIn("absent", meta)

    def test_output_in_a_file_is_read_from_where_the_program_began(self):
        with open(self.folder / "out", "wb") as out:
            out.write(b"99 tok/s\n")
            out.flush()
            os.lseek(out.fileno(), 0, os.SEEK_END)
            self.run_tapped(["echo", "7 tok/s"], stdout=out)
        self.assertEqual((self.folder / "out").read_bytes(), b"99 tok/s\n7 tok/s\n")
        self.assertEqual((self.meta()["tok_s"], self.meta()["tok_s.count"]), ("7", "1"))

    def test_a_bad_expression_is_refused_before_the_program_starts(self):
        for bad in ("tok_s=(", "tok_s", "=x", "tok s=x", "tok.s=x", "x="):
            done = subprocess.run([BINARY, "run", "--metric", bad, "--", "touch", "started"],
                                  cwd=self.folder, env=self.environment, capture_output=True,
                                  check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, bad)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(b"--metric", done.stderr)
            self.assertFalse((self.folder / "started").exists())

    def test_the_summary_and_the_report_say_it(self):
        command = [part for part in self.command(["echo", "8 tok/s"]) if part != "--quiet"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True,
                              check=False, timeout=PATIENCE, text=True)
        self.assertIn("  metric    tok_s 8 (the last of 1 match)\n", done.stderr)


class Untouched(MetricTest):
    def test_every_byte_of_much_output_on_both_streams(self):
        script = ("import os, hashlib, sys, threading\n"
                  "data = os.urandom(1 << 20) * 3 + bytes(range(256))\n"
                  "open('digest', 'w').write(hashlib.sha256(data).hexdigest())\n"
                  "def put(fd):\n"
                  "  left = memoryview(data)\n"
                  "  while left: left = left[os.write(fd, left[:70001]):]\n"
                  "threads = [threading.Thread(target=put, args=(fd,)) for fd in (1, 2)]\n"
                  "for t in threads: t.start()\n"
                  "for t in threads: t.join()\n"
                  "os._exit(41)\n")
        done = self.run_tapped(self.python(script))
        digest = (self.folder / "digest").read_text()
        self.assertEqual(done.returncode, 41)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), digest)
        self.assertEqual(hashlib.sha256(theirs(done.stderr)).hexdigest(), digest)

    def test_two_streams_into_one_keep_their_order(self):
        script = "import os\nfor i in range(3000): os.write(1 + i % 2, b'%d\\n' % i)"
        done = self.run_tapped(self.python(script), stderr=subprocess.STDOUT)
        self.assertEqual(theirs(done.stdout), b"".join(b"%d\n" % i for i in range(3000)))

    def test_nothing_is_held_back(self):
        script = "import os\nos.write(1, b'asked'); os.read(0, 1); os.write(1, b'answered')"
        with subprocess.Popen(self.command(self.python(script)), cwd=self.folder,
                              env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.read(5), b"asked")  # before anybody lets it go on
            run.stdin.write(b"x")
            run.stdin.close()
            self.assertEqual(run.stdout.read(), b"answered")

    def test_exit_code_and_signal(self):
        self.assertEqual(self.run_tapped(["sh", "-c", "exit 7"]).returncode, 7)
        self.assertEqual(self.run_tapped(["sh", "-c", "kill -TERM $$"]).returncode, 128 + 15)
        self.assertEqual(self.run_tapped(["/nowhere/no-program"]).returncode, 127)

    def test_a_program_that_closes_its_output(self):
        script = "import os\nos.write(1, b'3 tok/s\\n'); os.close(1); os.write(2, b'later'); os._exit(5)"
        done = self.run_tapped(self.python(script))
        self.assertEqual((done.returncode, done.stdout, theirs(done.stderr)), (5, b"3 tok/s\n", b"later"))
        self.assertEqual(self.meta()["tok_s"], "3")

    def test_closed_output_stays_closed(self):
        script = ("import os\n"
                  "try: os.fstat(1)\n"
                  "except OSError: os._exit(9)\n")
        done = self.run_tapped(self.python(script), stdout=None,
                               preexec_fn=lambda: os.close(1))  # pylint: disable=subprocess-popen-preexec-fn
        self.assertEqual(done.returncode, 9)

    def test_a_reader_that_goes_away_is_seen_by_the_program(self):
        script = ("import os, signal\n"
                  "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
                  "try:\n"
                  "  while True: os.write(1, b'x' * 4096)\n"
                  "except BrokenPipeError: os._exit(6)\n")
        with subprocess.Popen(self.command(self.python(script)), cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE) as run:
            run.stdout.read(10)
            run.stdout.close()
            self.assertEqual(run.wait(PATIENCE), 6)

    def test_a_process_that_outlives_the_program_still_writes(self):
        script = ("import os, time\n"
                  "os.write(1, b'4 tok/s\\n')\n"
                  "if os.fork() == 0:\n"
                  "  os.setsid()\n"
                  "  while not os.path.exists('go'): time.sleep(0.02)\n"
                  "  os.write(1, b'from the grandchild')\n"
                  "  os._exit(0)\n"
                  "os._exit(2)\n")
        with subprocess.Popen(self.command(self.python(script), "--wait", "none"), cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE) as run:
            self.assertEqual(run.wait(PATIENCE), 2)  # although somebody can still write
            self.assertEqual(self.meta()["tok_s"], "4")
            (self.folder / "go").touch()
            self.assertEqual(run.stdout.read(), b"4 tok/s\nfrom the grandchild")
        self.assertEqual(list(self.folder.glob("run.db.spool-*")), [])

    def test_the_launcher_is_killed(self):
        script = ("import os, time\n"
                  "os.write(1, b'6 tok/s\\n')\n"
                  "while not os.path.exists('go'): time.sleep(0.02)\n"
                  "os.write(1, b'x' * 300000); os.write(2, b'9 tok/s\\n')\n"
                  "open('survived', 'w').close()\n")
        with subprocess.Popen(self.command(self.python(script)), cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"6 tok/s\n")
            run.send_signal(signal.SIGKILL)
            self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)
            (self.folder / "go").touch()
            self.assertEqual(run.stdout.read(), b"x" * 300000)
            self.assertEqual(run.stderr.read(), b"9 tok/s\n")
        self.assertTrue((self.folder / "survived").exists())
        [spools] = self.folder.glob("run.db.spool-*")
        subprocess.run([BINARY, "recover", spools], cwd=self.folder, env=self.environment, check=True,
                       capture_output=True, timeout=PATIENCE)
        self.assertEqual((self.meta()["tok_s"], self.meta()["tok_s.count"]), ("6", "2"))

    def test_a_signal_to_the_group_reaches_the_program_and_its_last_words_arrive(self):
        script = ("import os, signal, sys, time\n"
                  "def bye(*_): os.write(1, b'2 tok/s bye'); os._exit(3)\n"
                  "signal.signal(signal.SIGTERM, bye)\n"
                  "os.write(1, b'ready'); time.sleep(60)\n")
        with subprocess.Popen(self.command(self.python(script)), cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE,
                              start_new_session=True) as run:
            self.assertEqual(run.stdout.read(5), b"ready")
            os.killpg(run.pid, signal.SIGTERM)
            self.assertEqual(run.stdout.read(), b"2 tok/s bye")
            self.assertEqual(run.wait(PATIENCE), 3)
        self.assertEqual(self.meta()["tok_s"], "2")

    def test_descriptors_of_the_program_are_its_own(self):
        script = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))"
        alone = subprocess.run(self.python(script), stdin=subprocess.DEVNULL, capture_output=True,
                               check=True, timeout=PATIENCE)
        self.assertEqual(self.run_tapped(self.python(script)).stdout, alone.stdout)


class Terminal(MetricTest):
    def on_terminal(self, program):
        """What a terminal got; the program's standard output and error are it."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        with subprocess.Popen(self.command(program), cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as run:
            os.close(slave)
            shown = b""
            while True:
                if not select.select([master], [], [], PATIENCE)[0]:
                    self.fail("the terminal stays open")
                try:
                    shown += os.read(master, 4096)
                except OSError:
                    break
            code = run.wait(PATIENCE)
        os.close(master)
        return code, shown

    def test_the_program_still_sees_a_terminal_of_that_size(self):
        script = ("import os\n"
                  "print(os.isatty(1), os.isatty(2), *os.get_terminal_size(1))\n"
                  "print('11 tok/s')\n")
        code, shown = self.on_terminal(self.python(script))
        self.assertEqual(code, 0)
        self.assertEqual(theirs(shown), b"True True 77 33\r\n11 tok/s\r\n")  # once: by the terminal itself
        self.assertEqual(self.meta()["tok_s"], "11")

    def test_bytes_for_a_terminal_arrive_as_they_are(self):
        data = bytes(b for b in range(256) if b != 10)
        code, shown = self.on_terminal(self.python(
            f"import os\nos.write(1, {data!r}); os.write(2, b'end')"))
        self.assertEqual((code, theirs(shown)), (0, data + b"end"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
