#!/usr/bin/env python3
"""gprof-ml run and recover from the outside: test_run.py BINARY SOURCE_DIR [unittest args].

Most programs here are Python scripts. Where a recording is needed without the recorder, the script
writes the spool itself (spool_writer.py), in the place of a library that is only named.
"""

import errno
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = sys.executable
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_OPTIONS"}
PATIENCE = 60  # seconds until a test gives up; none is a measure of anything

# What a script needs to write a recording into the folder that the launcher gave it.
SPOOL = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {str(HERE)!r})
import spool_writer
def spool(name="a", names=("load", "step"), **more):
    made = spool_writer.Spool(os.path.join(os.environ["GPROFML_SPOOL_DIR"], name + ".spool"),
                              os.getpid(), **more)
    made.chunk(spool_writer.fact("nvtx", "recorded"), spool_writer.fact("command", "script"))
    made.ranges(names, os.getpid())
    return made
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.library = self.folder / "library" / "libgprofml_injection.so"
        self.library.parent.mkdir()
        self.library.touch()
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.environment["GPROFML_INJECTION"] = str(self.library)

    def call(self, *arguments, **options):
        options = {"cwd": self.work, "env": self.environment, "capture_output": True,
                   "timeout": PATIENCE, "check": False, "stdin": subprocess.DEVNULL, **options}
        if "input" in options:
            del options["stdin"]
        return subprocess.run([BINARY, *map(os.fspath, arguments)], **options)

    def run_program(self, *command, own=(), **options):
        return self.call("run", *own, "--", *command, **options)

    def script(self, text, *arguments):
        """A command that runs a Python script."""
        return [PYTHON, "-c", text, *arguments]

    def start(self, *command, own=(), **options):
        """A launcher that runs on; killed with its program at the end of the test."""
        options = {"cwd": self.work, "env": self.environment, "stdin": subprocess.PIPE,
                   "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        launcher = subprocess.Popen([BINARY, "run", *own, "--", *command], **options)
        self.addCleanup(self.stop, launcher)
        return launcher

    @staticmethod
    def stop(launcher):
        launcher.kill()
        launcher.wait()
        for stream in [launcher.stdin, launcher.stdout, launcher.stderr]:
            stream.close()

    def files(self):
        return sorted(p.name for p in self.work.iterdir())

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(done.stderr.startswith(b"gprof-ml: "), done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        for word in words:
            self.assertIn(str(word).encode(), done.stderr)

    def spool_folder(self):
        found = [p for p in self.work.iterdir() if ".spool-" in p.name]
        self.assertEqual(len(found), 1, self.files())
        return found[0]


def await_line(stream, line):
    """Reads lines until `line`; the program says so that it has come this far."""
    for got in stream:
        if got.strip() == line:
            return
    raise AssertionError(f"ended without {line!r}")


def tables(path):
    """Every table of a run.db but meta, as {name: rows}."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = [row[0] for row in database.execute("select name from sqlite_master "
                                                "where type = 'table' and name != 'meta'")]
    found = {name: database.execute(f'select * from "{name}"').fetchall() for name in names}
    database.close()
    return found


def query(path, text):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = database.execute(text).fetchall()
    database.close()
    return rows


class ExitCode(RunTest):
    def test_every_code_is_the_programs(self):
        for code in range(256):
            done = self.run_program("sh", "-c", f"exit {code}", own=["--quiet"])
            self.assertEqual(done.returncode, code, done.stderr)

    def test_signals_are_128_and_more(self):
        for number in [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT,
                       signal.SIGKILL, signal.SIGUSR1, signal.SIGSEGV, signal.SIGPIPE,
                       signal.SIGALRM, signal.SIGTERM]:
            with self.subTest(signal=number):
                done = self.run_program("sh", "-c", f"ulimit -c 0; kill -{int(number)} $$")
                # Of what a keyboard sends the launcher dies itself: see Signals.
                by_keyboard = number in [signal.SIGINT, signal.SIGQUIT]
                self.assertEqual(done.returncode, -number if by_keyboard else 128 + number)
                self.assertIn(f"was killed by signal {int(number)} ({number.name})".encode(),
                              done.stderr)

    def test_program_that_cannot_be_started(self):
        plain = self.work / "plain"
        plain.write_text("no program")
        for program in ["no-such-program", "./missing", str(plain), str(self.work)]:
            with self.subTest(program=program):
                done = self.run_program(program)
                self.assertEqual(done.returncode, 127)
                self.assertIn(program.encode(), done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertEqual(self.files(), ["plain"])

    def test_require_data(self):
        own = ["--require-data"]
        self.assertEqual(self.run_program("true", own=own).returncode, 3)
        self.assertEqual(self.run_program("sh", "-c", "exit 9", own=own).returncode, 9)
        recorded = self.run_program(*self.script(SPOOL + "spool().close()"), own=own)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)


class BadUsage(RunTest):
    def test_no_program(self):
        for arguments in [["run"], ["run", "--"], ["run", "--force"], ["run", "-o", "x.db"]]:
            self.assert_refused(self.call(*arguments), "PROGRAM")

    def test_unknown_option_is_not_the_program(self):
        self.assert_refused(self.call("run", "--fast", "true"), "--fast")
        self.assert_refused(self.call("run", "-o"), "-o")

    def test_empty_output(self):
        self.assert_refused(self.call("run", "-o", "", "--", "true"), "--output")

    def test_errors_name_the_commands_own_help(self):
        for command in ["run", "recover"]:
            self.assert_refused(self.call(command, "--fast"), f"; see gprof-ml {command} --help")

    def test_help(self):
        done = self.call("run", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"Example: gprof-ml run", done.stdout)
        done = self.call("recover", "--help")
        self.assertIn(b"Example: gprof-ml recover", done.stdout)


class PassThrough(RunTest):
    def test_input_and_output_byte_for_byte(self):
        data = os.urandom(1 << 20)
        done = self.run_program("cat", input=data)
        self.assertEqual(done.stdout, data)
        self.assertEqual(done.returncode, 0)

    def test_summary_stands_behind_what_the_program_says(self):
        done = self.run_program("sh", "-c", "echo out; echo err >&2")
        self.assertEqual(done.stdout, b"out\n")
        self.assertTrue(done.stderr.startswith(b"err\ngprof-ml: sh exited 0 after "), done.stderr)

    def test_arguments(self):
        odd = ["", " ", "--", "-o", "x.db", "--force", "--help", "a\nb", "'", '"', "\\", "*", "%p",
               "\u00e4", "--quiet=1", "@file", "analyze"]
        show = self.script("import sys; sys.stdout.buffer.write(repr(sys.argv[1:]).encode())", *odd)
        for separator in [["--"], []]:
            done = self.call("run", *separator, *show)
            self.assertEqual(done.stdout.decode(), repr(odd), done.stderr)
        raw = os.fsdecode(b"\xff\xfe")
        done = self.run_program("printf", "%s", raw)
        self.assertEqual(done.stdout, b"\xff\xfe")

    def test_many_and_long_arguments(self):
        long = ["x" * 100_000] * 12
        done = self.run_program(*self.script("import sys; print(len(''.join(sys.argv[1:])))", *long))
        self.assertEqual(done.stdout, b"1200000\n", done.stderr[:200])

    def test_names_of_our_commands_are_programs_too(self):
        tool = self.work / "analyze"
        tool.write_text("#!/bin/sh\necho mine $1\n")
        tool.chmod(0o755)
        self.environment["PATH"] = f"{self.work}:{self.environment['PATH']}"
        self.assertEqual(self.call("run", "analyze", "--version").stdout, b"mine --version\n")

    def test_environment_is_untouched_but_for_ours(self):
        self.environment["ODD"] = "a\nb=c"
        show = self.script("import os, json; print(json.dumps(dict(os.environ)))")
        seen = json.loads(self.run_program(*show).stdout)
        self.assertEqual(seen.pop("CUDA_INJECTION64_PATH"), str(self.library))
        self.assertEqual(seen.pop("NVTX_INJECTION64_PATH"), str(self.library))
        spools = pathlib.Path(seen.pop("GPROFML_SPOOL_DIR"))
        self.assertEqual(spools.parent, self.work)
        self.assertTrue(spools.name.startswith("run.db.spool-"))
        self.assertEqual(seen.pop("GPROFML_OPTIONS"), f"max_bytes={4 << 30}")
        alone = subprocess.run(show, capture_output=True, check=True, env=self.environment,
                               cwd=self.work)
        self.assertEqual(seen, json.loads(alone.stdout))

    def test_no_descriptor_leaks(self):
        show = self.script("import os; print({f: os.readlink(f'/proc/self/fd/{f}') for f in "
                           "os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{f}')})")
        with open(self.folder / "kept", "wb") as kept, open(self.folder / "out", "w+b") as out:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.DEVNULL,
                       "env": self.environment, "cwd": self.work, "pass_fds": [kept.fileno()],
                       "check": True, "timeout": PATIENCE}
            subprocess.run(show, **options)
            subprocess.run([BINARY, "run", "--", *show], **options)
            out.seek(0)
            alone, recorded = out.read().splitlines()
        self.assertEqual(recorded, alone)

    def test_closed_standard_descriptors_stay_closed(self):
        show = "import os, sys; sys.exit(sum(1 << f for f in range(8) if " \
               "os.path.exists(f'/proc/self/fd/{f}') and " \
               "not os.readlink(f'/proc/self/fd/{f}').startswith('/proc')))"
        close = f"exec 0<&- 1>&-; exec \"$@\""
        for command in [self.script(show), [BINARY, "run", "--", *self.script(show)]]:
            done = subprocess.run(["sh", "-c", close, "sh", *command], env=self.environment,
                                  cwd=self.work, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode & 0b11, 0, done.stderr)
        self.assertEqual(query(self.work / "run.db", "select count(*) from process"), [(1,)])

    def test_signal_mask_and_dispositions(self):
        show = self.script("import os; print([l for l in open('/proc/self/status') "
                           "if l.startswith(('SigBlk', 'SigIgn'))])")

        def unusual():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})

        for prepare in [None, unusual]:
            alone = subprocess.run(show, capture_output=True, check=True, preexec_fn=prepare)
            recorded = self.run_program(*show, preexec_fn=prepare)
            self.assertEqual(recorded.stdout, alone.stdout)
            self.assertEqual(recorded.returncode, 0)

    def test_process_group_session_and_limits(self):
        show = self.script("import os, resource; print(os.getsid(0), os.getpgrp(), os.umask(0), "
                           "resource.getrlimit(resource.RLIMIT_NOFILE), os.getcwd())")
        limit = lambda: (resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)), os.umask(0o27))
        alone = subprocess.run(show, capture_output=True, check=True, preexec_fn=limit,
                               cwd=self.work)
        self.assertEqual(self.run_program(*show, preexec_fn=limit).stdout, alone.stdout)


class Signals(RunTest):
    COUNT = """
import signal, sys
counts = {}
def note(number, _):
    counts[number] = counts.get(number, 0) + 1
    print("got", number, flush=True)
for number in map(int, sys.argv[1:]):
    signal.signal(number, note)
print("ready", flush=True)
sys.stdin.readline()
sys.exit(sum(counts.values()))
"""

    def test_what_is_sent_to_the_launcher_alone_is_handed_on(self):
        numbers = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT, signal.SIGRTMIN + 3]
        launcher = self.start(*self.script(self.COUNT, *[str(int(n)) for n in numbers]))
        await_line(launcher.stdout, b"ready")
        for number in numbers:
            launcher.send_signal(number)
            await_line(launcher.stdout, b"got %d" % number)
        launcher.communicate(b"\n", timeout=PATIENCE)
        self.assertEqual(launcher.returncode, len(numbers))

    def test_default_action_of_a_signal_ends_both(self):
        launcher = self.start("sh", "-c", "echo ready; exec sleep 1000")
        await_line(launcher.stdout, b"ready")
        launcher.send_signal(signal.SIGTERM)
        _, errors = launcher.communicate(timeout=PATIENCE)
        self.assertEqual(launcher.returncode, 128 + signal.SIGTERM)
        self.assertIn(b"(SIGTERM)", errors)
        self.assertEqual(self.files(), ["run.db"])

    def on_terminal(self, *command):
        """(pid, master) of a launcher that leads a session on a terminal of its own."""
        pid, master = pty.fork()
        if pid == 0:
            try:
                os.chdir(self.work)
                os.execve(BINARY, [BINARY, "run", "--", *command], self.environment)
            finally:
                os._exit(127)
        self.addCleanup(os.close, master)
        return pid, master

    def read_until(self, master, text):
        seen = b""
        while text not in seen:
            ready, _, _ = select.select([master], [], [], PATIENCE)
            self.assertTrue(ready, seen)
            try:
                seen += os.read(master, 4096)
            except OSError as error:  # the terminal's other side is closed
                self.assertEqual(error.errno, errno.EIO)
                self.fail(f"ended without {text}: {seen}")
        return seen

    def test_control_c_reaches_the_program_once(self):
        pid, master = self.on_terminal(*self.script(self.COUNT, str(int(signal.SIGINT))))
        self.read_until(master, b"ready")
        os.write(master, b"\x03")
        self.read_until(master, b"got 2")
        os.write(master, b"\n")
        self.read_until(master, b"wrote")
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 1)

    def test_control_c_that_kills_the_program_leaves_the_recording(self):
        text = SPOOL + "s = spool(); print('ready', flush=True); signal.pause()"
        pid, master = self.on_terminal(*self.script("import signal\n" + text.replace(
            "import os, signal", "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)"
            "\nimport os, signal", 1)))
        self.read_until(master, b"ready")
        os.write(master, b"\x03")
        self.read_until(master, b"wrote")
        _, status = os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), -signal.SIGINT)
        self.assertEqual(query(self.work / "run.db", "select count(*) from range"), [(2,)])

    def test_control_c_ends_a_shells_loop(self):
        loop = 'for i in 1 2 3; do "$@"; echo "went on $?"; done'
        command = [BINARY, "run", "--", "sh", "-c", "echo ready; exec sleep 1000"]
        shell = subprocess.Popen(["bash", "-c", loop, "bash", *command], cwd=self.work,
                                 env=self.environment, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 process_group=0)
        self.addCleanup(self.stop, shell)
        await_line(shell.stdout, b"ready")
        os.killpg(shell.pid, signal.SIGINT)  # what the terminal does
        out, errors = shell.communicate(timeout=PATIENCE)
        self.assertEqual((shell.returncode, out), (-signal.SIGINT, b""), errors)
        self.assertIn(b"  wrote ", errors)

    def test_quit_makes_no_core_of_ours(self):
        unlimited = resource.getrlimit(resource.RLIMIT_CORE)[1]
        launcher = self.start("sh", "-c", "ulimit -c 0; kill -QUIT $$",
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_CORE, (unlimited, unlimited)))
        _, status = os.waitpid(launcher.pid, 0)
        self.assertEqual(os.WTERMSIG(status), signal.SIGQUIT)
        self.assertFalse(os.WCOREDUMP(status))

    def test_the_program_reads_from_the_terminal(self):
        pid, master = self.on_terminal("sh", "-c", "read x; echo \"<$x>\"")
        os.write(master, b"hello\n")
        self.read_until(master, b"<hello>")
        self.read_until(master, b"wrote")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def wait_for_stop(self, pid):
        _, status = os.waitpid(pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status), status)

    def test_a_stopped_program_is_a_stopped_job(self):
        text = "import os, sys, signal; print(os.getpid(), flush=True); " \
               "os.kill(os.getpid(), signal.SIGTSTP); print('on', flush=True)"
        launcher = self.start(*self.script(text), process_group=0)
        self.wait_for_stop(launcher.pid)
        program = int(launcher.stdout.readline())
        self.assertIn("State:\tT", pathlib.Path(f"/proc/{program}/status").read_text())
        os.kill(launcher.pid, signal.SIGCONT)  # the launcher alone
        await_line(launcher.stdout, b"on")
        launcher.communicate(timeout=PATIENCE)
        self.assertEqual(launcher.returncode, 0)

    def test_stop_and_continue_of_the_whole_job(self):
        launcher = self.start(*self.script(self.COUNT, str(int(signal.SIGUSR1))), process_group=0)
        await_line(launcher.stdout, b"ready")
        for _ in range(3):
            os.killpg(launcher.pid, signal.SIGTSTP)
            self.wait_for_stop(launcher.pid)
            os.killpg(launcher.pid, signal.SIGCONT)
            launcher.send_signal(signal.SIGUSR1)
            await_line(launcher.stdout, b"got %d" % signal.SIGUSR1)
        launcher.communicate(b"\n", timeout=PATIENCE)
        self.assertEqual(launcher.returncode, 3)

    def test_a_program_stopped_and_continued_alone(self):
        text = "import os; print(os.getpid(), flush=True); input()"
        launcher = self.start(*self.script(text))
        program = int(launcher.stdout.readline())
        os.kill(program, signal.SIGSTOP)
        os.kill(program, signal.SIGCONT)
        launcher.communicate(b"\n", timeout=PATIENCE)
        self.assertEqual(launcher.returncode, 0)

    def test_children_that_were_there_before_are_left_alone(self):
        done = subprocess.run(["sh", "-c", "true & exec \"$@\"", "sh", BINARY, "run", "--", "sh",
                               "-c", "exit 5"], env=self.environment, cwd=self.work,
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 5)


class Output(RunTest):
    def test_default_keeps_one_earlier(self):
        for expected in [["run.db"], ["run.db", "run.db.old"], ["run.db", "run.db.old"]]:
            before = (self.work / "run.db").read_bytes() if "run.db" in self.files() else None
            done = self.run_program("true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.files(), expected)
            if before is not None:
                self.assertEqual((self.work / "run.db.old").read_bytes(), before)
                self.assertIn(b"(previous one kept as run.db.old)", done.stderr)

    def test_explicit_output_needs_force(self):
        (self.work / "mine.db").write_text("mine")
        self.assert_refused(self.run_program("touch", "started", own=["-o", "mine.db"]), "mine.db",
                            "--force")
        self.assertEqual(self.files(), ["mine.db"])
        self.assertEqual((self.work / "mine.db").read_text(), "mine")
        self.assertEqual(self.run_program("true", own=["-o", "mine.db", "--force"]).returncode, 0)
        self.assertEqual(self.files(), ["mine.db"])
        self.assertTrue((self.work / "mine.db").read_bytes().startswith(b"SQLite"))

    def test_file_that_appears_meanwhile_is_not_replaced(self):
        script = self.script(SPOOL + "spool().close(); open('mine.db', 'w').write('mine')")
        done = self.run_program(*script, own=["-omine.db"])
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.work / "mine.db").read_text(), "mine")
        self.assertIn(b"gprof-ml recover ", done.stderr)
        folder = self.spool_folder()
        self.assert_refused(self.call("recover", folder), "mine.db")
        recovered = self.call("recover", folder, "-o", "other.db", "--remove")
        self.assertEqual(recovered.returncode, 0, recovered.stderr)
        self.assertEqual(self.files(), ["mine.db", "other.db"])

    def test_names_that_expand(self):
        done = self.run_program("sh", "-c", "echo $$", own=["-o", "%h-%p-100%%.db"])
        pid = int(done.stdout)
        self.assertEqual(self.files(), [f"{socket.gethostname()}-{pid}-100%.db"])
        for pattern in ["%", "a%", "%d.db", "100%.db"]:
            self.assert_refused(self.run_program("touch", "started", own=["-o", pattern]), pattern)
        self.assertNotIn("started", self.files())

    def test_odd_names(self):
        for name in ["two words.db", "li\nne.db", "'quote\".db", "-dash.db", "$HOME.db",
                     "\u00e4.db", "x" * 240 + ".db", ".hidden"]:
            with self.subTest(name=name):
                done = self.run_program(*self.script(SPOOL + "spool().close()"),
                                        own=["--output=" + name])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.files(), [name], done.stderr)
                self.assertEqual(query(self.work.joinpath(name).as_posix().replace("%", "%25"),
                                       "select count(*) from range"), [(2,)])
                (self.work / name).unlink()

    def test_refused_before_the_program_starts(self):
        (self.work / "folder").mkdir()
        for name in ["missing/run.db", "folder", "."]:
            self.assert_refused(self.run_program("touch", "started", own=["-o", name]), name)
        (self.work / "run.db").mkdir()
        self.assert_refused(self.run_program("touch", "started"), "run.db")
        self.assertEqual(self.files(), ["folder", "run.db"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_without_write_permission(self):
        self.work.chmod(0o555)
        self.addCleanup(self.work.chmod, 0o755)
        self.assert_refused(self.run_program("true"), "run.db")

    def test_program_that_changes_folder(self):
        done = self.run_program(*self.script(SPOOL + "os.chdir('/'); spool().close()"),
                                own=["-o", "sub.db"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["sub.db"])

    def test_program_that_removes_its_spools(self):
        text = SPOOL + "import shutil; spool().close(); " \
                       "shutil.rmtree(os.environ['GPROFML_SPOOL_DIR']); sys.exit(4)"
        done = self.run_program(*self.script(text))
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"nothing", done.stderr)
        self.assertEqual(self.files(), ["run.db"])
        self.assertEqual(query(self.work / "run.db", "select s.text from quality q join string s "
                               "on s.id = q.code"), [("spools_gone",)])

    def test_program_that_removes_the_output_folder(self):
        text = "import shutil, os; shutil.rmtree(os.getcwd()); os._exit(6)"
        inner = self.work / "inner"
        inner.mkdir()
        done = self.run_program(*self.script(text), cwd=inner)
        self.assertEqual(done.returncode, 6)
        self.assertNotIn(b"is kept", done.stderr)
        self.assertIn(b"was removed while the program ran", done.stderr)
        self.assertEqual(self.files(), [])
        self.assertIn(b"gprof-ml: ", done.stderr)

    def test_spools_are_private(self):
        text = "import os; print(oct(os.stat(os.environ['GPROFML_SPOOL_DIR']).st_mode & 0o777))"
        done = self.run_program(*self.script(text), preexec_fn=lambda: os.umask(0o777))
        self.assertEqual(done.stdout, b"0o700\n", done.stderr)

    def test_analyze_prints_the_report_behind_the_programs_output(self):
        done = self.run_program(*self.script(SPOOL + "spool().close(); print('mine', flush=True)"),
                                own=["--analyze"])
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.call("analyze", "run.db").stdout
        self.assertEqual(done.stdout, b"mine\n" + report)


class Streams(RunTest):
    def gone(self):
        """A pipe whose reader is gone."""
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        return writer

    def test_nobody_reads_the_summary(self):
        done = self.call("run", "--", *self.script(SPOOL + "spool().close(); os._exit(3)"),
                         capture_output=False, stdout=subprocess.DEVNULL, stderr=self.gone())
        self.assertEqual(done.returncode, 3)
        self.assertEqual(self.files(), ["run.db"])

    def test_nobody_reads_the_report(self):
        done = self.call("run", "--analyze", "--", *self.script(SPOOL + "spool().close()"),
                         capture_output=False, stdout=self.gone(), stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"standard output: cannot write", done.stderr)
        self.assertNotIn(b"recover", done.stderr)

    def test_nobody_reads_that_it_is_not_recorded(self):
        self.library.unlink()
        done = self.run_program("sh", "-c", "exit 5", capture_output=False, stderr=self.gone())
        self.assertEqual(done.returncode, 5)  # not SIGPIPE, which was the launcher's own


class SizeLimit(RunTest):
    """ulimit -f ends whoever writes more with SIGXFSZ, unless that is ignored."""

    def limited(self, limit):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    def test_run_db_that_may_not_be_written(self):
        done = self.run_program(*self.script(SPOOL + "spool().close(); sys.exit(5)"),
                                preexec_fn=self.limited(8192))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn(b"run.db: cannot be written: ", done.stderr)
        self.assertIn(b" (no file may have more than 8192 bytes here: ulimit -f); what was "
                      b"recorded is kept: gprof-ml recover ", done.stderr)
        self.assertEqual(self.files(), [self.spool_folder().name])
        folder = self.spool_folder()
        refused = self.call("recover", folder, preexec_fn=self.limited(8192))
        self.assert_refused(refused, "run.db")
        self.assertEqual(self.call("recover", folder).returncode, 0)

    def test_nothing_may_be_written(self):
        done = self.run_program("sh", "-c", "exit 5", preexec_fn=self.limited(0))
        self.assertEqual(done.returncode, 5, done.stderr)

    def test_the_program_still_dies_of_it(self):
        done = self.run_program("sh", "-c", "ulimit -c 0; ulimit -f 1; exec head -c 100000 "
                                            "/dev/zero > big")
        self.assertEqual(done.returncode, 128 + signal.SIGXFSZ, done.stderr)


class Unrecorded(RunTest):
    def test_library_is_missing(self):
        self.library.unlink()
        done = self.run_program(*self.script("import os, sys; sys.exit('GPROFML_SPOOL_DIR' in "
                                             "os.environ or 'CUDA_INJECTION64_PATH' in os.environ)"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"gprof-ml: not recording: ", done.stderr)
        self.assertIn("not_recording", self.codes())
        self.assertEqual(self.files(), ["run.db"])

    def codes(self):
        return [row[0] for row in query(self.work / "run.db", "select s.text from quality q join "
                                        "string s on s.id = q.code order by 1")]

    def test_variable_of_another_tool_stays(self):
        for name, code in [("CUDA_INJECTION64_PATH", "cuda_variable_taken"),
                           ("NVTX_INJECTION64_PATH", "nvtx_variable_taken")]:
            with self.subTest(name=name):
                self.environment = {k: v for k, v in self.environment.items() if k not in OURS}
                self.environment[name] = "/opt/other/tool.so"
                text = SPOOL + f"spool().close(); print(os.environ['{name}'])"
                done = self.run_program(*self.script(text))
                self.assertEqual(done.stdout, b"/opt/other/tool.so\n", done.stderr)
                first = done.stderr.splitlines()[0]
                self.assertIn(name.encode(), first)
                self.assertIn(b"/opt/other/tool.so", first)
                self.assertEqual(self.codes(), [code])

    def test_recording_inside_a_recording(self):
        inner = [BINARY, "run", "-o", "inner.db", "--", *self.script(SPOOL + "spool().close()")]
        done = self.run_program(*inner)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(query(self.work / "inner.db", "select count(*) from range"), [(2,)])
        self.assertEqual(self.codes(), ["nested_recording"])
        said = " ".join(done.stderr.decode().split())
        self.assertIn("recorded nothing: a `gprof-ml run` inside this one recorded what it started "
                      "into", said)
        self.assertIn("inner.db", self.call("analyze", "run.db").stderr.decode())

    def test_nothing_recorded_is_said_and_written(self):
        done = self.run_program("true")
        self.assertEqual(done.returncode, 0)
        reason = "no recorder started: the program used neither CUDA nor NVTX, or could not " \
                 "write to the spool folder (another user, root folder or mount)"
        self.assertIn(f"recorded nothing: {reason} wrote", " ".join(done.stderr.decode().split()))
        self.assertIn(b"is it the right program?", done.stderr)
        self.assertEqual(self.codes(), ["nothing_recorded"])
        self.assertEqual(dict(query(self.work / "run.db", "select key, value from meta"))["command"],
                         "true")
        analyzed = self.call("analyze", "run.db")
        self.assertEqual(analyzed.returncode, 3)
        self.assertEqual(analyzed.stderr.decode(),
                         f"gprof-ml: run.db: holds no record of any kind: {reason}\n")

    def reason(self, script):
        """Why a script recorded nothing: as `run`, run.db and `analyze` say it."""
        done = self.run_program(*self.script(SPOOL + "import spool_writer as w\n"
                                             "path = os.environ['GPROFML_SPOOL_DIR'] + '/a.spool'\n"
                                             + script))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["run.db"], done.stderr)
        detail, = query(self.work / "run.db", "select d.text from quality q join string s on s.id "
                        "= q.code join string d on d.id = q.detail where s.text = "
                        "'nothing_recorded'")[0]
        said = " ".join(done.stderr.decode().split())
        self.assertIn(f"recorded nothing: {detail} wrote", said)
        self.assertNotIn("right program", said)
        analyzed = self.call("analyze", "run.db")
        self.assertEqual(analyzed.stderr.decode(),
                         f"gprof-ml: run.db: holds no record of any kind: {detail}\n")
        (self.work / "run.db").unlink()
        return detail

    def test_process_that_only_began_to_record(self):
        self.assertRegex(self.reason("w.Spool(path, os.getpid()).file.flush(); os._exit(0)"),
                         r"^pid \d+ began to record and ended abruptly before anything was handed")
        self.assertRegex(self.reason("w.Spool(path, os.getpid()).close()"),
                         r"^pid \d+ began to record and ended before anything was handed over$")
        self.assertRegex(self.reason("s = w.Spool(path, os.getpid()); s.chunk(w.fact('cuda', "
                                     "'no driver')); s.close()"), r"^pid \d+: CUDA: no driver$")

    def test_spool_without_a_whole_header(self):
        for size in [0, 20]:
            self.assertIn("a.spool: ends before its header does",
                          self.reason(f"open(path, 'wb').write(b'GPRFSPOL' * 9)\n"
                                      f"os.truncate(path, {size})"))

    def test_quiet(self):
        done = self.run_program(*self.script(SPOOL + "spool().close()"), own=["--quiet"])
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, b"", b""))
        done = self.run_program("true", own=["--quiet"])
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)


class Recorded(RunTest):
    GPU = SPOOL + """
s = spool_writer.Spool(os.path.join(os.environ["GPROFML_SPOOL_DIR"], "a.spool"), os.getpid())
s.chunk(spool_writer.fact("cuda", "recorded"), spool_writer.fact("simulated", sys.argv[1]))
s.steps(1200, os.getpid())
s.close()
"""

    def test_summary_of_gpu_work(self):
        done = self.run_program(*self.script(self.GPU, "0"))
        lines = done.stderr.decode().splitlines()[1:-2]
        self.assertEqual(lines[:2], [
            "  recorded  1,200 kernels, 1,200 ranges, 1,200 CUDA calls; 1 process, 1x H200",
            "  lost      nothing: every submission has its GPU work, 0 records dropped"])
        self.assertRegex("\n".join(lines[2:]), r"^  steps     1,200 found, median 100\.0 us; GPU "
                                               r"busy 40\.0 % in the steady\s+1,\d\d\d$")

    def test_simulated_recordings_say_so(self):
        done = self.run_program(*self.script(self.GPU, "1"))
        self.assertIn("SIMULATED GPU", done.stderr.decode())
        self.assertNotIn("SIMULATED", self.run_program(*self.script(self.GPU, "0")).stderr.decode())

    def test_summary(self):
        done = self.run_program(*self.script(SPOOL + "spool(names=['x'] * 1234).close()"))
        self.assertEqual(done.returncode, 0)
        lines = done.stderr.decode().splitlines()
        self.assertRegex(lines[0], r"^gprof-ml: script exited 0 after [\d.]+ \w+ \(output and "
                                   r"exit code are its own\)$")
        self.assertEqual(lines[1], "  recorded  1,234 ranges; 1 process, no GPU work")
        self.assertEqual(lines[2], "  lost      nothing: 0 records dropped")
        self.assertRegex(lines[3], r"^  wrote     run\.db, [\d.]+ [kM]B in [\d.]+ m?s$")
        self.assertEqual(lines[4], "  next      gprof-ml analyze run.db")
        self.assertEqual(len(lines), 5, done.stderr)

    def test_summary_has_80_columns(self):
        name = "a rather long name of a run " * 5 + ".db"
        text = SPOOL + "s = spool(); s.chunk(spool_writer.fact('cuda', 'not recorded: ' + 'why ' * " \
                       "60)); s.close(orderly=False)"
        done = self.run_program(*self.script(text), own=["-o", name])
        lines = done.stderr.decode().splitlines()
        self.assertEqual([line for line in lines[:-1] if len(line) > 80], [])
        self.assertEqual(lines[-1], f"  next      gprof-ml analyze '{name}'")
        self.assertIn("missing", done.stderr.decode())

    def test_run_db_says_how_it_ended(self):
        self.run_program(*self.script(SPOOL + "spool().close(); sys.exit(3)"))
        meta = dict(query(self.work / "run.db", "select key, value from meta"))
        self.assertEqual(meta["exit_code"], "3")
        self.assertEqual(meta["working_folder"], str(self.work))
        self.assertEqual(meta["host"], socket.gethostname())
        self.assertIn("-c", meta["command"])
        self.run_program(*self.script(SPOOL + "spool(); os.kill(os.getpid(), 9)"))
        meta = dict(query(self.work / "run.db", "select key, value from meta"))
        self.assertEqual(meta["exit_signal"], "9")

    def test_killed_program_leaves_what_it_wrote(self):
        done = self.run_program(*self.script(SPOOL + "spool(); os.kill(os.getpid(), 9)"))
        self.assertEqual(done.returncode, 137)
        self.assertIn(b"was killed by signal 9 (SIGKILL)", done.stderr)
        self.assertIn(b"ended abruptly", done.stderr)
        self.assertEqual(query(self.work / "run.db", "select count(*) from range"), [(2,)])
        self.assertEqual(self.files(), ["run.db"])

    def test_records_unfinished_at_the_end_are_lost(self):
        text = self.GPU.replace("s.close()",
                                "s.chunk(spool_writer.status(incomplete=2)); s.close()")
        done = self.run_program(*self.script(text, "0"))
        self.assertIn(b"  lost      2 records were unfinished when the program ended\n",
                      done.stderr)

    def test_records_that_cannot_be_used_are_no_loss_of_nothing(self):
        text = self.GPU.replace("s.close()", """
s.chunk(spool_writer.record(9999, 'Q', 0), spool_writer.string(9000, 'open_graph'),
        spool_writer.note(9000, 9000, 3))
s.close()""")
        done = self.run_program(*self.script(text, "0"))
        self.assertIn(b"  lost      incomplete: open_graph 3, unknown_spool_records 1 ",
                      done.stderr)

    def test_process_that_could_not_write_is_one_and_not_abrupt(self):
        text = SPOOL + "s = spool(); s.chunk(spool_writer.string(90, 'write_failed'), " \
            "spool_writer.string(91, 'No space left on device'), spool_writer.note(90, 91, 1), " \
            "spool_writer.end(s.start_ns + 900_000, reason=3)); s.close(orderly=False); " \
            "print(os.getpid())"
        done = self.run_program(*self.script(text))
        pid = done.stdout.decode().strip()
        self.assertIn(f"  lost      pid {pid} could not write any more, what followed is missing\n",
                      done.stderr.decode())
        self.assertEqual(query(self.work / "run.db", "select s.text, q.count, d.text from quality "
                               "q join string s on s.id = q.code join string d on d.id = q.detail"),
                         [("write_failed", 1, f"pid {pid}: No space left on device")])

    def test_several_processes(self):
        text = SPOOL + """
import subprocess
for name in "bc":
    if os.fork() == 0:
        spool(name).close()
        os._exit(0)
    os.wait()
spool("a").close()
"""
        done = self.run_program(*self.script(text))
        self.assertIn(b"6 ranges; 3 processes", done.stderr)

    # A child that lives on with its spool open, until the pipe on its standard input is closed.
    DAEMON = SPOOL + """
if os.fork() == 0:
    os.setsid()
    s = spool("daemon")
    print("writing", flush=True)
    os.close(1), os.close(2)
    sys.stdin.read()
    s.close()
    os._exit(0)
else:
    spool("main").close()
    signal.pause() if "stay" in sys.argv else None
    while not os.path.exists(os.path.join(os.environ["GPROFML_SPOOL_DIR"], "daemon.spool")):
        pass
"""

    def test_process_that_outlives_the_program(self):
        launcher = self.start(*self.script(self.DAEMON))
        await_line(launcher.stdout, b"writing")
        errors = launcher.stderr.read()  # to its end: the launcher does not wait for the other one
        self.assertEqual(launcher.wait(PATIENCE), 0)
        self.assertIn(b"still runs", errors)
        self.assertEqual(query(self.work / "run.db", "select count(*) from range"), [(4,)])
        folder = self.spool_folder()
        self.assertEqual(self.call("analyze", folder).returncode, 0)
        self.assert_refused(self.call("recover", folder), "daemon.spool", "--still-running")
        taken = self.call("recover", folder, "--still-running", "-o", "part.db", "--remove")
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertEqual(self.files(), sorted(["part.db", "run.db", folder.name]))
        launcher.stdin.close()
        self.await_writers(folder)
        whole = self.call("recover", folder, "--remove")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertEqual(self.files(), ["part.db", "run.db", "run.db.old"])

    def test_command_for_what_still_runs_can_be_pasted(self):
        launcher = self.start(*self.script(self.DAEMON),
                              own=["-o", "a " + "long " * 20 + "name.db"])
        await_line(launcher.stdout, b"writing")
        errors = launcher.stderr.read().decode()
        self.assertEqual(launcher.wait(PATIENCE), 0)
        command, = [line for line in errors.splitlines() if "gprof-ml recover" in line]
        launcher.stdin.close()
        self.await_writers(self.spool_folder())
        done = subprocess.run(["sh", "-c", command.replace("gprof-ml", BINARY, 1)], cwd=self.work,
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, (command, done.stderr))

    def test_part_of_a_recording_leaves_the_launchers_output_alone(self):
        for own, part in [([], "run.partial.db"), (["-o", "x"], "x.partial")]:
            with self.subTest(own=own):
                launcher = self.start(*self.script(self.DAEMON, "stay"), own=own)
                await_line(launcher.stdout, b"writing")
                folder = self.spool_folder()
                taken = self.call("recover", folder, "--still-running")
                self.assertEqual(taken.returncode, 0, taken.stderr)
                self.assertIn(f"this part goes to {self.work / part}\n".encode(), taken.stderr)
                self.assertGreater(query(self.work / part, "select count(*) from range")[0][0], 0)
                launcher.send_signal(signal.SIGTERM)
                launcher.stdin.close()
                errors = launcher.stderr.read()
                self.assertEqual(launcher.wait(PATIENCE), 128 + signal.SIGTERM, errors)
                self.assertIn(b"  wrote ", errors)
                self.assertEqual(self.files(), sorted([own[-1] if own else "run.db", part]), errors)
                for name in self.files():
                    (self.work / name).unlink()

    def await_writers(self, folder):
        import fcntl
        for path in folder.glob("*.spool"):
            with open(path, "rb") as spool:
                fcntl.flock(spool, fcntl.LOCK_SH)


class MeasuredOverhead(RunTest):
    """--measure-overhead: the program without and with recording, in turns."""

    # Writes down whether it is recorded; what it reads must be there in each run.
    TELLING = SPOOL + """
recorded = "GPROFML_SPOOL_DIR" in os.environ
with open("order", "a") as order:
    order.write("B" if recorded else "A")
if recorded:
    spool()
assert sys.stdin.read() == "input"
time.sleep(0.3 if recorded else 0)
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 and recorded else 0)
"""

    def measure(self, own, *arguments):
        (self.work / "stdin").write_text("input")
        with open(self.work / "stdin") as stdin:
            done = self.run_program(*self.script(self.TELLING, *arguments), own=own, stdin=stdin)
        return done, (self.work / "order").read_text()

    def meta(self):
        database = sqlite3.connect(f"file:{self.work / 'run.db'}?mode=ro", uri=True)
        try:
            return dict(database.execute("SELECT key, value FROM meta"))
        finally:
            database.close()

    def test_pairs_alternate_and_the_last_recorded_run_is_kept(self):
        done, order = self.measure(["--measure-overhead=3"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(order, "ABBAAB")
        meta = self.meta()
        self.assertEqual(meta["overhead_pairs"], "3")
        low, estimate, high = (int(meta[f"overhead_{name}_ppm"]) for name in ("low", "measured", "high"))
        self.assertLess(low, estimate)
        self.assertLess(estimate, high)
        # Recorded runs sleep so long, whatever the load; how long the others take nobody promises.
        self.assertGreaterEqual(int(meta["overhead_with_median_ns"]), 300_000_000)
        self.assertIn(b"of wall time, measured: ", b" ".join(done.stderr.split()))
        self.assertEqual(self.files(), ["order", "run.db", "stdin"])

    def test_five_pairs_unless_told(self):
        done, order = self.measure(["--measure-overhead"])
        self.assertEqual((done.returncode, order), (0, "ABBAABBAAB"), done.stderr)

    def test_a_run_that_fails_ends_the_series(self):
        done, order = self.measure(["--measure-overhead"], "3")
        self.assertEqual((done.returncode, order), (3, "AB"), done.stderr)
        self.assertIn(b"not measured: a run exited with 3", done.stderr)
        self.assertNotIn("overhead_pairs", self.meta())


class Recover(RunTest):
    def test_gives_what_the_launcher_would_have(self):
        text = SPOOL + "spool('a').close(); spool('b').close(orderly=False)"
        done = self.run_program(*self.script(text), own=["--keep-spool"])
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.spool_folder()
        self.assertEqual(self.call("recover", folder, "-o", "again.db").returncode, 0)
        self.assertEqual(tables(self.work / "again.db"), tables(self.work / "run.db"))
        meta = dict(query(self.work / "again.db", "select key, value from meta"))
        self.assertEqual(meta["recovered"], "true")
        self.assertTrue(folder.exists())

    def test_launcher_killed(self):
        text = SPOOL + "s = spool(); print(os.getpid(), flush=True); input(); s.close(); " \
                       "print('went on', flush=True)"
        launcher = self.start(*self.script(text))
        program = int(launcher.stdout.readline())
        launcher.kill()
        launcher.wait()
        folder = self.spool_folder()
        os.kill(program, 0)
        self.assertIn(str(program).encode() + b"", (folder / "manifest").read_bytes())
        report = self.call("analyze", folder, "--format", "json")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assert_refused(self.call("recover", folder), "a.spool")
        launcher.stdin.write(b"\n")
        launcher.stdin.close()
        await_line(launcher.stdout, b"went on")
        self.await_end(program)
        done = self.call("recover", folder, "--remove")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["run.db"])
        self.assertEqual(query(self.work / "run.db", "select count(*) from range"), [(2,)])

    def await_end(self, pid):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text():
                    return
            except OSError:
                return
        self.fail(f"{pid} runs on")

    def test_launcher_killed_before_anything_was_recorded(self):
        launcher = self.start(*self.script("print('ready', flush=True); input()"))
        await_line(launcher.stdout, b"ready")
        launcher.kill()
        launcher.communicate()
        folder = self.spool_folder()
        self.assertEqual(self.call("analyze", folder).returncode, 3)
        self.assertEqual(self.call("recover", folder).returncode, 0)
        self.assertEqual(query(self.work / "run.db", "select count(*) from process"), [(1,)])

    def test_output_is_where_the_launcher_wanted_it(self):
        launcher = self.start(*self.script(SPOOL + "spool().close(); print('ready', flush=True); "
                                           "input()"), own=["-o", "../there.db"])
        await_line(launcher.stdout, b"ready")
        launcher.kill()
        launcher.communicate()
        folder = next(self.folder.glob("there.db.spool-*"))
        self.assertEqual(self.call("recover", folder, cwd="/").returncode, 0)
        self.assertTrue((self.folder / "there.db").exists())
        self.assert_refused(self.call("recover", folder, cwd="/"), "there.db", "--force")
        self.assertEqual(self.call("recover", folder, "--force", cwd="/").returncode, 0)

    def test_folders_that_are_none(self):
        (self.work / "empty").mkdir()
        for command in ["recover", "analyze"]:
            for path in ["empty", "/"]:
                self.assert_refused(self.call(command, path), path)
        self.assert_refused(self.call("recover", "missing"), "missing")
        (self.work / "file").write_text("x")
        self.assert_refused(self.call("recover", "file"), "file")

    def test_damaged_manifest_and_spools(self):
        self.run_program(*self.script(SPOOL + "spool('a').close(); spool('b').close()"),
                         own=["--keep-spool"])
        folder = self.spool_folder()
        (folder / "manifest").write_bytes(os.urandom(100))
        (folder / "b.spool").write_bytes(b"junk")
        done = self.call("recover", folder, "-o", "part.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(query(self.work / "part.db", "select count(*) from range"), [(2,)])
        (folder / "a.spool").write_bytes(b"x" * 100)
        refused = self.call("recover", folder, "-o", "none.db")
        self.assert_refused(refused, folder, "nothing that can be recovered")
        self.assertNotIn(b"can be deleted", refused.stderr)  # another version may read it
        (folder / "a.spool").write_bytes(b"")
        (folder / "b.spool").write_bytes(b"")
        refused = self.call("recover", folder, "-o", "none.db")
        self.assert_refused(refused, folder, "nothing that can be recovered and can be deleted")

    def test_files_of_others_in_the_folder_stay(self):
        self.run_program(*self.script(SPOOL + "spool().close(); "
                                      "open(os.environ['GPROFML_SPOOL_DIR'] + '/mine', 'w')"))
        self.assertEqual([p.name for p in self.spool_folder().iterdir()], ["mine"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
