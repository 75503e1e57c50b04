"""Runs one program without and with the recorder and says how the two differ; for test_ends.py."""

import collections
import dataclasses
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

import compare_with_log

BUILD, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
GPROF_ML, SIMGPU, LLAMA = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu", "llama_infer"))
WAYS = PROGRAMS / "ways_to_end"
PATIENCE = 100  # seconds until a row gives up; none is a measure of anything
OURS = re.compile(r"^run\.db($|\.spool-|-journal$)")


def environment():
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("GPROFML_", "NVTX_INJECTION", "CUDA_INJECTION"))}
    return {**kept, "LC_ALL": "C"}


def files_of(folder):
    """What a program left in its working folder, without what is ours."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if OURS.match(name.split("/")[0]):
            continue
        found[name] = path.read_bytes() if path.is_file() else None
    return found


@dataclasses.dataclass
class Run:
    """How one run of a program went."""
    folder: pathlib.Path
    code: int
    output: str
    errors: str
    files: dict


class Work:
    """A folder for one row: `without/` and `with/` are its programs' working folders."""

    def __init__(self, base, row):
        self.row = row
        self.base = base
        self.model = base / "model.json"
        self.model.write_text(json.dumps({"faults": {k: str(v) for k, v in row.faults.items()}}))
        base.chmod(0o777)
        self.output = base / "with/run.db"
        for name in ("without", "with"):
            (base / name).mkdir()
            (base / name).chmod(0o777)
        if row.mount:
            (base / "disk").mkdir()
            self.output = base / "disk/run.db"
            subprocess.run(["mount", "-t", "tmpfs", "-o", row.mount, "none", base / "disk"],
                           check=True)

    def close(self):
        if self.row.mount:
            subprocess.run(["umount", "-l", self.base / "disk"], check=True)

    def spools(self):
        """The folder of raw records that was left."""
        folder, = self.output.parent.glob("run.db.spool-*")
        return folder

    def simulated(self, log):
        options = [SIMGPU, "--model", self.model, "--clock", self.row.clock]
        if self.row.log:
            options += ["--log", self.base / f"{log}.%p.log"]
        return [*options, "--", *self.row.program]

    def start(self, where, command, **more):
        return subprocess.Popen([str(part) for part in command], cwd=self.base / where,
                                env={**environment(), **more}, text=True, errors="replace",
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def finish(self, where, process):
        """The Run of a process that ends by itself."""
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        folder = self.base / where
        return Run(folder, process.returncode, output, errors, files_of(folder))

    def without(self):
        process = self.start("without", self.simulated("without"))
        self.row.meanwhile(self, "without", process)
        return self.finish("without", process)

    def recording_command(self):
        return [*self.row.before, GPROF_ML, "run", "-o", self.output, *self.row.options, "--",
                *self.simulated("with")]

    def recorded(self):
        process = self.start("with", self.recording_command())
        self.row.meanwhile(self, "with", process)
        return self.finish("with", process)


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.002)


def child_of(pid):
    child, = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(child)


def is_over(pid):
    """Gone, or only waited for."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def has_recorder(pid):
    """Whether the recorder's threads are there, beside the simulated CUPTI's, which was started by
    one of them and has its name."""
    try:
        return sum(path.read_text() == "gprof-ml\n"
                   for path in pathlib.Path(f"/proc/{pid}/task").glob("*/comm")) > 1
    except OSError:
        return False


class Database:
    """The run.db of a row."""

    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.meta = dict(self.rows("SELECT key, value FROM meta"))
        self.notes = collections.defaultdict(int)
        self.details = collections.defaultdict(str)
        for code, count, detail in self.rows("SELECT code, count, detail FROM quality_named"):
            self.notes[code] += count
            self.details[code] += (detail or "") + "\n"

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def count(self, table):
        return self.rows(f"SELECT count(*) FROM {table}")[0][0]

    def ends(self):
        """How each recorded process ended, as the recorder saw it."""
        common = self.meta.get("end")  # what is the same for all is said once
        ends = [self.meta.get(f"process.{row}.end", common) for row in range(self.count("process"))]
        return tuple(sorted(end for end in ends if end))

    def kinds(self):
        return set(self.meta.get("recorded_kinds", "").split(","))


# Where a row of compare_with_log's tables has its correlation.
CORRELATION = {"kernels": 6, "copies": 9, "fills": 7, "calls": 4, "syncs": 3}
NO_MARKER = 1 << 62  # all is due


class Comparison:
    """What of the simulator's logs a recording has. All its processes together: one that replaced
    itself has two rows, one pid and one log."""

    def __init__(self, database, logs):
        self.missing, self.invented, self.unexcused = [], [], []
        self.steps = self.settled_steps = 0
        executed, recorded, due = ({table: collections.Counter() for table in compare_with_log.TABLES}
                                   for _ in range(3))
        for path in logs:
            log = compare_with_log.read_log(path)
            one = compare_with_log.Executed(log, database.kinds())
            marker = min((k["correlation"] for k in log["kernel"] if "settled_marker" in k["name"]),
                         default=NO_MARKER)
            steps = [k for k in log["kernel"] if re.search(r"\d+step", k["name"])]
            self.steps += len(steps)
            self.settled_steps += sum(k["correlation"] < marker for k in steps)
            for table in compare_with_log.TABLES:
                rows = [tuple(row) for row in getattr(one, table)()]
                executed[table].update(rows)
                at = CORRELATION.get(table)
                if marker == NO_MARKER or at is not None:
                    due[table].update(row for row in rows if at is None or row[at] < marker)
        for process, in database.rows("SELECT id FROM process ORDER BY id"):
            one = compare_with_log.Recorded(database.db, process)
            for table in compare_with_log.TABLES:
                recorded[table].update(tuple(row) for row in getattr(one, table)())
        # Those of other processes, and of a context that is made anew, have the same ids.
        for side in (executed, recorded, due):
            side["streams"] = collections.Counter(set(side["streams"]))
        for table in compare_with_log.TABLES:
            self.missing += self.rows_of(table, executed[table] - recorded[table])
            self.invented += self.rows_of(table, recorded[table] - executed[table])
            self.unexcused += self.rows_of(table, due[table] - recorded[table])

    @staticmethod
    def rows_of(table, rows):
        return [(table, *row) for row in rows.elements()]

    def missing_of(self, *tables):
        return [row for row in self.missing if row[0] in tables]


def summary_line(errors, label):
    """The text of one line of the summary, unwrapped; '' without it."""
    found = re.search(rf"^  {label} +(.*(?:\n {{12}}.*)*)", errors, re.M)
    return " ".join(found.group(1).split()) if found else ""
