#!/usr/bin/env python3
"""Every way to end, and every fault: test_ends.py BUILD PROGRAMS [unittest arguments].

One table. A row is a program, how it ends or what is done to it, and what the simulated CUPTI does
wrong. The program runs twice, without the recorder and with it: output, exit code or signal and
files must be the same. Then run.db must hold what the simulator's log says ran, as far as the row
allows, and its notes and the summary must say what it lacks. Rows that need root are skipped, and
said, without it. ROWS=REGEX in the environment runs only rows of such names.

Ground: ../../../shared/research/collector.md, B.5 (ways to end) and F.4 (faults).
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import typing
import unittest

import ends_runner
from ends_runner import BUILD, GPROF_ML, PROGRAMS, WAYS, wait_until

HERE = pathlib.Path(__file__).resolve().parent
CUDART = next((BUILD / "lib").glob("**/libcudart.so.1[0-9]")).name
SHAPES, PYTHON_ENDS = HERE / "process_shapes.py", HERE / "python_ends.py"
CUPTI_12 = BUILD / "lib/simgpu-cupti12/libcupti.so.12"
AT_ONCE = 3  # rows that run beside each other
IS_ROOT = os.geteuid() == 0


def way(*arguments):
    return (WAYS, *arguments)


def python(script, *arguments):
    return (sys.executable, "-B", script, CUDART, *arguments)


def nothing_meanwhile(work, where, process):
    """The program is left alone."""


@dataclasses.dataclass
class Row:
    name: str
    program: tuple
    records: str = "all"  # which of the checks below, `records_…`
    codes: dict = dataclasses.field(default_factory=dict)  # exactly these: count, or None for any
    perhaps: tuple = ()  # codes that may be there: what a range was when the end came is chance
    details: dict = dataclasses.field(default_factory=dict)  # code: what its detail must match
    lost: typing.Optional[str] = "^nothing"  # what the summary's line must match; None: no summary
    missing: str = "^$"  # the same of its line "missing"
    ends: tuple = ("orderly",)
    faults: dict = dataclasses.field(default_factory=dict)
    options: tuple = ()
    clock: str = "virtual"
    log: bool = True
    steps: int = 0  # where there is no log: so many, by the grids of their kernels
    needs_root: bool = False
    mount: str = ""  # the recording goes to a tmpfs with these options
    before: tuple = ()  # of the launcher's command line
    code: typing.Optional[int] = None  # of gprof-ml where it is not the program's
    meanwhile: typing.Callable = nothing_meanwhile
    after: typing.Optional[typing.Callable] = None  # what the user then types
    crashes_anyway: tuple = ()  # exit codes that the program has at times without us, too


# --- what is done from outside --------------------------------------------------------------------


def let_go(work, where, process):
    """The program waits; it is told to go on."""
    wait_until((work.base / where / "waiting").exists, "the program waits")
    (work.base / where / "go").touch()


def launcher_is_killed(work, where, process):
    wait_until((work.base / where / "waiting").exists, "the program waits")
    if where == "with":
        work.program = ends_runner.child_of(process.pid)
        process.kill()
        process.wait()
    (work.base / where / "go").touch()


def recover(work):
    if hasattr(work, "program"):
        wait_until(lambda: ends_runner.is_over(work.program), "the program ends")
    done = subprocess.run([GPROF_ML, "recover", work.spools(), "-o", work.base / "with/run.db"],
                          cwd=work.base, env=ends_runner.environment(), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          timeout=ends_runner.PATIENCE)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    work.output = work.base / "with/run.db"


def signalled(number):
    def meanwhile(work, where, process):
        wait_until((work.base / where / "waiting").exists, "the program waits")
        process.send_signal(number)
    return meanwhile


def disk_is_full_for_a_while(work, where, process):
    """What fills the disk goes away once the recorder has met its end."""
    wait_until((work.base / where / "waiting").exists, "the program waits")
    if where == "with":
        program = ends_runner.child_of(process.pid)
        wait_until(lambda: not ends_runner.has_recorder(program), "the recorder gives up")
        (work.base / "disk/ballast").unlink()
    (work.base / where / "go").touch()


def fill_the_disk(work):
    (work.base / "disk/ballast").write_bytes(bytes(900 * 1024))


# --- the table --------------------------------------------------------------------------------------

ABRUPT = {"ended_abruptly": 1}
SAYS_ABRUPT = "^pid .* ended abruptly, its last moments may be missing$"
FORKED = "forked from one that had used CUDA, and CUDA does not work in it"
SAYS_WRITE_FAILED = "could not write any more, what followed is missing$"


def abrupt(name, program, **more):
    return Row(name, program, **{"records": "settled", "codes": ABRUPT, "lost": SAYS_ABRUPT,
                                 "ends": ("abrupt",), "perhaps": ("open_ranges",), **more})


def fault(name, *program, **more):
    return Row(name, program or way("return"), **more)


WAYS_TO_END = [
    Row("return from main", way("return")),
    Row("exit()", way("exit")),
    Row("exit() of another thread", way("exit_of_a_thread")),
    # glibc before 2.41 runs exit() unsynchronised: of threads that call it at once one may read a
    # block of handlers (stdlib/exit.c: `cur->idx`) that another has freed. That is without us, and
    # without the simulator too: a program of nothing but 200 atexit() and 8 threads that call
    # exit() died of SIGSEGV in 4 of 400 runs, with glibc 2.36, always there.
    Row("exit() of eight threads at once", way("exits_of_many"), crashes_anyway=(-11, 128 + 11)),
    abrupt("_exit", way("abruptly", "_exit")),
    abrupt("quick_exit", way("abruptly", "quick_exit")),
    abrupt("abort", way("abruptly", "abort")),
    abrupt("SIGTERM, default", way("abruptly", "SIGTERM"), clock="wall"),
    abrupt("SIGKILL", way("abruptly", "SIGKILL"), clock="wall"),
    abrupt("SIGSEGV", way("abruptly", "SIGSEGV"), clock="wall"),
    Row("execve in place", way("exec"), codes=ABRUPT, lost=SAYS_ABRUPT, ends=("abrupt", "orderly"),
        records="settled", perhaps=("open_ranges",)),
    Row("handlers that were registered before CUDA use it", way("late_handler"),
        records="all_but_late", perhaps=("work_after_exit",), lost="."),
    Row("many exit handlers", way("many_handlers")),
    Row("fork() after CUDA, child calls exit()", way("fork_later", "exit"),
        codes={"cuda_not_recorded": 1}, missing=FORKED, ends=("orderly", "orderly")),
    *(Row(f"fork() after CUDA, child {how}", way("fork_later", how), missing=FORKED,
          codes={"cuda_not_recorded": 1, **ABRUPT}, perhaps=("open_ranges",), lost=SAYS_ABRUPT,
          ends=("abrupt", "orderly")) for how in ("_exit", "abort")),
    Row("fork() before CUDA, child calls exit()", way("fork_first", "exit"),
        ends=("orderly", "orderly")),
    Row("fork() before CUDA, child calls _exit()", way("fork_first", "_exit"), codes=ABRUPT,
        lost=SAYS_ABRUPT, ends=("abrupt", "orderly"), records="settled"),
    Row("vfork", way("vfork")),
    Row("posix_spawn", way("posix_spawn"), ends=("orderly", "orderly")),
    Row("system", way("system")),
    Row("popen", way("popen")),
    Row("raw clone", way("raw_clone")),
    abrupt("Python os._exit", python(PYTHON_ENDS, "os_exit")),
    abrupt("Python, unhandled KeyboardInterrupt", python(PYTHON_ENDS, "interrupted"), clock="wall"),
    abrupt("Python, SIGTERM", python(PYTHON_ENDS, "terminated"), clock="wall"),
    Row("Python, SIGTERM handled by sys.exit", python(PYTHON_ENDS, "handled")),
    Row("Python, uncaught exception", python(PYTHON_ENDS, "uncaught")),
    Row("Python multiprocessing, fork", python(SHAPES, "fork"), codes={"ended_abruptly": 2},
        lost="ended abruptly, their last moments may be missing$", ends=("abrupt", "abrupt")),
    Row("Python multiprocessing, forkserver", python(SHAPES, "forkserver"),
        codes={"ended_abruptly": 2}, ends=("abrupt", "abrupt"),
        lost="ended abruptly, their last moments may be missing$"),
    Row("Python multiprocessing, spawn", python(SHAPES, "spawn"), ends=("orderly", "orderly")),
    Row("SIGTERM from outside", way("wait_for_go"), clock="wall", meanwhile=signalled(signal.SIGTERM),
        codes=ABRUPT, lost=SAYS_ABRUPT, ends=("abrupt",)),
    Row("SIGINT from outside", way("wait_for_go"), clock="wall", meanwhile=signalled(signal.SIGINT),
        codes=ABRUPT, lost=SAYS_ABRUPT, ends=("abrupt",)),
]

DONE_TO_IT = [
    Row("close_range(3, ~0) at the start", way("close_range_at_the_start")),
    Row("close_range(3, ~0) in the middle, the numbers used again", way("close_range_in_the_middle")),
    Row("all signals blocked", way("many_signals_blocked")),
    Row("RLIMIT_FSIZE from now on", way("limited_file_size"), log=False, steps=2010, records="part",
        codes={"write_failed": 1}, perhaps=("open_ranges",), lost=SAYS_WRITE_FAILED,
        ends=("write_failed",)),
    abrupt("RLIMIT_FSIZE kills it by its own file", way("died_of_file_size"), log=False, steps=10),
    Row("RLIMIT_FSIZE of the launcher", way("much", "3000"), log=False, steps=3010, records="part",
        before=("prlimit", "--fsize=200000"), after=recover, lost=None,
        codes={"write_failed": 1}, perhaps=("open_ranges",), ends=("write_failed",)),
    Row("privileges dropped after CUDA", way("nobody_later"), needs_root=True, log=False, steps=20),
    Row("privileges dropped before CUDA", way("nobody_first"), needs_root=True, log=False,
        records="none", codes={"nothing_recorded": 1}, ends=(), lost="^$",
        details={"nothing_recorded": "could not write to the spool folder .another user"}),
    Row("chroot after CUDA", way("chroot_later"), needs_root=True, log=False, steps=20),
    abrupt("chroot, and all descriptors closed", way("chroot_and_close"), needs_root=True, log=False,
           steps=10, details={"ended_abruptly": "took the recorder's file away"}),
    Row("the folder of raw records removed", way("folder_removed"), records="none", ends=(),
        codes={"spools_gone": 1}, lost="^$"),
    Row("disk full", way("much", "5000"), needs_root=True, mount="size=200k", log=False, steps=5010,
        records="part", codes={"write_failed": 1}, perhaps=("open_ranges",), ends=("write_failed",),
        lost=None, after=recover),
    Row("disk full for a while", way("wait_for_go", "3000"), needs_root=True, mount="size=1m",
        log=False, steps=3030, records="part", meanwhile=disk_is_full_for_a_while,
        codes={"write_failed": 1}, perhaps=("open_ranges",), lost=SAYS_WRITE_FAILED,
        ends=("write_failed",)),
    Row("launcher killed", way("wait_for_go"), meanwhile=launcher_is_killed, after=recover, lost=None,
        code=-9),
]

UNTIMED = 13  # of 40 kernels and fills, every third
NOT_RECORDED = {"cuda_not_recorded": 1}


def refused(name, result, reason, **more):
    return Row(name, way("return"), records="ranges_only", codes=NOT_RECORDED,
               details={"cuda_not_recorded": reason}, missing=reason, lost="^nothing: 0 records",
               faults={"subscribe": result, **more})


def not_enabled(result, reason):
    return Row(f"enable refused with {result}", way("return"), records="no_work",
               codes={**NOT_RECORDED, "not_enabled": None}, details={"cuda_not_recorded": reason},
               missing=reason, lost="not_enabled", faults={"enable": result})


FAULTS = [
    refused("subscribe refused, with a name", 39, "nsys", subscribe_owner="nsys"),
    *(refused(f"subscribe refused with {result}", result, reason)
      for result, reason in ((35, "INSUFFICIENT_PRIVILEGES"), (26, r"\(26\)"), (15, r"\(15\)"),
                             (999, "no driver or a stub"))),
    *(not_enabled(result, reason)
      for result, reason in ((35, "INSUFFICIENT_PRIVILEGES"), (26, r"\(26\)"), (15, r"\(15\)"),
                             (999, "no driver or a stub"))),
    Row("one kind refused", way("return"), records="no_fills", codes={"not_enabled": 1},
        details={"not_enabled": "fills"}, lost="not_enabled", faults={"enable.MEMSET": 1}),
    Row("every seventh record dropped", way("return"), records="dropped",
        codes={"dropped_records": None}, lost=r"\d+ records dropped", faults={"drop_every": 7}),
    Row("start = end = 0", way("return"), records="untimed", lost="^13 GPU activities have no usable times$",
        faults={"zero_timestamps": 3}),
    Row("end before start", way("return"), records="untimed", codes={"bad_times": 13},
        lost="^13 GPU activities have no usable times; incomplete: bad_times 13",
        faults={"reversed_timestamps": 3}),
    Row("start before the launch", way("return"), records="other_times",
        faults={"early_starts": 3}),
    Row("records shuffled", way("return"), faults={"shuffled_records": 40}),
    Row("records shuffled, many threads", (PROGRAMS / "generated_program", "--threads", "4"),
        faults={"shuffled_records": 100}),
    # Where an earlier flush had taken all, the forced one has none to spoil.
    Row("incomplete record at the forced flush", way("much", "1000"), records="incomplete",
        perhaps=("incomplete_records",), lost="1 record was unfinished|^nothing",
        faults={"incomplete_at_forced_flush": 1}),
    Row("FlushAll never returns", way("return"), records="ranges_only", codes={"flush_timeout": 1},
        lost="flush_timeout", faults={"flush_hangs": 1}),
    Row("buffers come back on many threads", (PROGRAMS / "generated_program", "--threads", "8"),
        faults={"completion_threads": 8}),
    # 700,000 kernels are 150 MB of CUPTI's records; the pool has 128.
    Row("the pool of buffers is empty", way("graph", "1000", "700"), records="discarded", log=False,
        steps=700_000, codes={"discarded_records": None}, lost="records dropped",
        faults={"buffers_held": 1}),
    Row("records of an unknown kind", way("return"), codes={"unknown_records": None},
        lost="unknown_records", faults={"unknown_kind": 3}),
    Row("records longer than we know", way("return"), faults={"longer_records": 40}),
    Row("names used again after unload", way("modules"), faults={"reused_names": 1}),
    Row("a graph of 100 nodes", way("graph", "100", "3")),
    Row("graphs: handles used again, all spellings of launch", (PROGRAMS / "graph_variants",),
        faults={"reused_execs": 1}),
    Row("context destroyed with records undelivered", way("context_reset"), records="dropped",
        codes={"dropped_records": None}, lost=r"\d+ records dropped",
        faults={"context_loses_records": 1}),
    Row("context destroyed", way("context_reset")),
    Row("two majors of CUPTI, the other loaded first", way("two_cuptis", CUPTI_12)),
    *(Row(f"the clock is set by {step} ns", way("return"), records="other_times", lost=lost,
          codes=codes, faults={"clock_step_ns": step, "clock_step_at_ns": 150_200_000})
      for step, codes, lost in ((50_000, {}, "^nothing"),
                                (-50_000, {"bad_times": None}, "bad_times"))),
    Row("correlation ids pass 32 bits", way("return"), faults={"first_correlation": 2**32 - 30}),
    Row("all times wrong at once", way("return"), records="untimed", codes={"bad_times": None},
        lost="^13 GPU activities have no usable times; incomplete: bad_times 1",
        faults={"reversed_timestamps": 3, "early_starts": 4, "clock_step_ns": -50_000,
                "clock_step_at_ns": 150_200_000}),
    Row("CUPTI reports a fatal error", way("return"), records="ranges_only",
        codes={"cupti_fatal_error": 1}, details={"cupti_fatal_error": "Xid 79"},
        lost="cupti_fatal_error", faults={"fatal_error": "Xid 79"}),
]

# What the recorder does without a function of CUPTI, for each that it uses.
NEEDED = {"ActivityRegisterCallbacks", "ActivityEnable", "ActivityGetNextRecord", "ActivityFlushAll"}
WORSE = {"GetCallbackName": {"records": "nameless"}}


def functions_of_the_recorder():
    header = (HERE.parents[1] / "injection/cupti_library.hpp").read_text(encoding="utf-8")
    return re.findall(r"^  X\((\w+)\)", header, re.M)


def without_function(name):
    row = Row(f"CUPTI without {name}", way("return"), faults={"missing_symbol": f"cupti{name}"})
    row.codes = {"cupti_lacks_functions": 1}
    row.details = {"cupti_lacks_functions": f"cupti{name}|{name}"}
    row.lost = "cupti_lacks_functions"
    if name in NEEDED:
        row.records = "ranges_only"
        row.codes = {**row.codes, **NOT_RECORDED}
        row.missing = row.details["cuda_not_recorded"] = "lacks functions that recording needs"
    for key, value in WORSE.get(name, {}).items():
        setattr(row, key, value)
    return row


MISSING = [*(without_function(name) for name in functions_of_the_recorder()),
           Row("CUPTI without Subscribe_v2", way("return"),
               faults={"missing_symbol": "cuptiSubscribe_v2"}),
           Row("CUPTI without both ways to subscribe", way("return"), records="ranges_only",
               codes={"cupti_lacks_functions": 1, **NOT_RECORDED}, lost="cupti_lacks_functions",
               missing="lacks functions", faults={"missing_symbol": "cuptiSubscribe,cuptiSubscribe_v2"})]


class Checks:
    """What run.db must hold of the simulator's log; one method a value of Row.records."""

    def __init__(self, test, row, database, logs):
        self.test, self.row, self.database = test, row, database
        self.compared = ends_runner.Comparison(database, logs) if row.log else None
        self.ranges = database.rows("SELECT count(*) FROM range_named WHERE name = 'step'")[0][0]
        self.grids = [grid for grid, in database.rows(
            "SELECT grid_x FROM kernel_named WHERE name LIKE '%::step(%' ORDER BY grid_x")]

    def nothing_invented(self):
        self.test.assertEqual(self.compared.invented[:5], [])

    def all_ranges(self):
        """Of programs that have them, as many as kernels in the log."""
        if self.row.program[0] == WAYS and self.row.program[1] not in ("graph", "modules"):
            self.test.assertGreater(self.ranges, 0)
            self.test.assertEqual(self.ranges, self.compared.steps)

    def records_all(self):
        if not self.row.log:
            return self.test.assertEqual(self.grids, list(range(1, self.row.steps + 1)))
        self.nothing_invented()
        self.test.assertEqual(self.compared.missing[:5], [])
        self.all_ranges()

    def records_settled(self):
        """All that happened before it settled; the rest may be there or not."""
        if not self.row.log:
            return self.test.assertEqual(self.grids, list(range(1, self.row.steps + 1)))
        self.nothing_invented()
        self.test.assertEqual(self.compared.unexcused[:5], [])
        self.test.assertGreaterEqual(self.ranges, self.compared.settled_steps)

    def records_part(self):
        """The first so many."""
        self.test.assertEqual(self.grids, list(range(1, len(self.grids) + 1)))
        self.test.assertLess(len(self.grids), self.row.steps)
        self.test.assertGreaterEqual(len(self.grids), 10)  # so many before it settled

    def records_none(self):
        for table in ("kernel", "api_call", "range"):
            self.test.assertEqual(self.database.count(table), 0)

    def records_ranges_only(self):
        for table in ("kernel", "fill", "api_call", "sync"):
            self.test.assertEqual(self.database.count(table), 0)
        self.all_ranges()

    def records_no_work(self):
        for table in ("kernel", "fill", "sync"):
            self.test.assertEqual(self.database.count(table), 0)
        self.test.assertEqual(self.compared.missing_of("calls"), [])
        self.all_ranges()

    def records_no_fills(self):
        self.nothing_invented()
        self.test.assertEqual({row[0] for row in self.compared.missing}, {"fills"})
        self.test.assertEqual(self.database.count("fill"), 0)
        self.all_ranges()

    def lost_no_more_than(self, count):
        """Streams and contexts are records too, and what names them is lost with them."""
        self.test.assertGreater(count, 0)
        self.test.assertGreater(len(self.compared.missing), 0)
        self.test.assertLessEqual(
            len(self.compared.missing_of("kernels", "copies", "fills", "calls", "syncs")), count)

    def records_dropped(self):
        self.lost_no_more_than(self.database.notes["dropped_records"])
        self.all_ranges()

    def records_discarded(self):
        """Each kernel that is not there is counted."""
        kept = len(self.grids)
        self.test.assertGreater(kept, 0)
        self.test.assertLess(kept, self.row.steps)
        self.test.assertGreaterEqual(kept + self.database.notes["discarded_records"], self.row.steps)

    def records_nameless(self):
        """Which calls to leave out goes by their names."""
        self.test.assertEqual({row[0] for row in self.compared.missing}, {"calls"})
        self.test.assertEqual({row[2] for row in self.compared.invented}, {""})
        self.test.assertGreaterEqual(len(self.compared.invented), len(self.compared.missing))
        self.all_ranges()

    def records_all_but_late(self):
        """A flush of the recorder's may come in between; what does not come with it is noted."""
        self.nothing_invented()
        late = self.compared.missing_of("kernels")
        self.test.assertLessEqual(len(late), 4)
        if self.compared.missing:
            self.test.assertEqual(self.database.notes["work_after_exit"], 1)
        self.all_ranges()

    def records_incomplete(self):
        """What stood behind it in its buffer could not be read either."""
        self.nothing_invented()
        missing = self.compared.missing
        self.test.assertEqual(len([row for row in missing if row[0] in ("kernels", "fills")]),
                              self.database.notes["incomplete_records"])
        self.test.assertLess(len(missing), 10)
        self.all_ranges()

    def work(self, rows):
        """Kernels and fills without their times: (name, correlation)."""
        found = []
        for table, *row in rows:
            if table == "kernels":
                found.append((row[0], row[6]))
            elif table == "fills":
                found.append(("fill", row[7]))
        return sorted(found)

    def records_other_times(self):
        """All is there, under other times than those in the log."""
        self.test.assertGreater(len(self.compared.missing), 0)
        self.test.assertEqual(self.work(self.compared.missing), self.work(self.compared.invented))
        # What spans a step backwards ends before it starts: calls and ranges are left out, counted.
        left_out = self.database.notes["bad_times"]
        if "reversed_timestamps" in self.row.faults:
            left_out -= UNTIMED
        lacking = self.compared.missing_of("calls", "syncs")
        found = [row for row in self.compared.invented if row[0] in ("calls", "syncs")]
        ranges_left_out = self.compared.steps - self.ranges
        self.test.assertEqual(len(lacking) - len(found) + ranges_left_out, left_out)

    def records_untimed(self):
        """All is there, some of it without times: no time is made up."""
        self.records_other_times()
        zero = self.database.rows("""SELECT count(*) FROM (SELECT start_ns, end_ns FROM kernel
            UNION ALL SELECT start_ns, end_ns FROM fill) WHERE start_ns = 0 AND end_ns = 0""")
        self.test.assertEqual(zero, [(UNTIMED,)])


class Ends(unittest.TestCase):
    def without_us(self, work):
        """The reference. Some programs crash by themselves at times; then once more."""
        run = work.without()
        for _ in range(20):
            if run.code not in self.row.crashes_anyway:
                break
            run = work.without()
        return run

    def recorded(self, work):
        run = work.recorded()
        for _ in range(20):
            if run.code not in self.row.crashes_anyway:
                break
            work.output.unlink(missing_ok=True)
            for log in work.base.glob("with.*.log*"):
                log.unlink()
            run = work.recorded()
        return run

    def check_program(self, row, reference, run):
        """The program behaves as without us."""
        code = reference.code
        if code < 0 and -code not in (signal.SIGINT, signal.SIGQUIT):
            code = 128 - code
        self.assertEqual(run.code, code if row.code is None else row.code, run.errors)
        self.assertEqual(run.output, reference.output)
        for line in reference.errors.splitlines():
            if "Traceback" not in line and "File " not in line:
                self.assertIn(line, run.errors)
        self.assertEqual(run.files, reference.files)

    def check_row(self, row, work):
        self.row = row
        if "disk_is_full_for_a_while" == row.meanwhile.__name__:
            fill_the_disk(work)
        reference = self.without_us(work)
        run = self.recorded(work)
        self.check_program(row, reference, run)
        if row.after:
            row.after(work)
        database = ends_runner.Database(work.output)
        if row.lost is not None:
            self.assertRegex(ends_runner.summary_line(run.errors, "lost"), row.lost)
            self.assertRegex(ends_runner.summary_line(run.errors, "missing"), row.missing)
        self.assertEqual(set(database.notes) - set(row.perhaps), set(row.codes),
                         dict(database.details))
        for code, count in row.codes.items():
            if count is not None:
                self.assertEqual(database.notes[code], count, code)
        for code, pattern in row.details.items():
            self.assertRegex(database.details[code], pattern)
        self.assertEqual(database.ends(), row.ends)
        logs = sorted(work.base.glob("with.*.log*"))
        checks = Checks(self, row, database, logs)
        getattr(checks, f"records_{row.records}")()

    def run_row(self, row):
        with tempfile.TemporaryDirectory() as base:
            work = ends_runner.Work(pathlib.Path(base).resolve(), row)
            try:
                Ends("check_row").check_row(row, work)
            finally:
                work.close()

    def check_table(self, rows):
        rows = [row for row in rows if re.search(os.environ.get("ROWS", ""), row.name)]
        if not IS_ROOT:
            left_out = [row.name for row in rows if row.needs_root]
            rows = [row for row in rows if not row.needs_root]
            if left_out:
                print(f"NOT RUN, they need root: {'; '.join(left_out)}", file=sys.stderr)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = [(row, pool.submit(self.run_row, row)) for row in rows]
            for row, outcome in outcomes:
                with self.subTest(row.name):
                    outcome.result()

    def test_names_are_told_apart(self):
        names = [row.name for row in WAYS_TO_END + DONE_TO_IT + FAULTS + MISSING]
        self.assertEqual(len(names), len(set(names)))

    def test_ways_to_end(self):
        self.check_table(WAYS_TO_END)

    def test_done_to_it(self):
        self.check_table(DONE_TO_IT)

    def test_faults(self):
        self.check_table(FAULTS)

    def test_missing_functions(self):
        self.check_table(MISSING)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
