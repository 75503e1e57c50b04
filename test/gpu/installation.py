"""Where the programs of the check are, and how they are started: from a package or a build folder."""

import json
import os
import pathlib
import sqlite3
import subprocess
import time

OURS = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION")


class Failed(Exception):
    """A program of the check did not do what it must: one line."""


class Installation:
    """Programs under ROOT; with `simulated` each runs on the simulated GPU."""

    def __init__(self, root, out, simulated, patience_s):
        self.root, self.out = pathlib.Path(root).resolve(), pathlib.Path(out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.simulated = simulated
        self.deadline = time.monotonic() + patience_s
        self.gprof_ml = self.root / "bin/gprof-ml"
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}
        self.levels = self.known_levels()
        self.doctor = json.loads(self.call("doctor", self.gprof_ml, "doctor", "--format", "json",
                                           "--folder", self.out))
        self.cupti = self.choose_cupti()

    def left_s(self):
        """Seconds until the check must have ended."""
        return self.deadline - time.monotonic()

    def known_levels(self):
        """Levels that this gprof-ml offers; [None] where it has the default alone."""
        text = self.call("help", self.gprof_ml, "run", "--help")
        return [0, 1, 2] if "--level" in text else [None]

    def found_cupti(self):
        finding, = [f for f in self.doctor["findings"] if f["code"] in
                    ("cupti_found", "cupti_missing")][:1] or [{"looked_at": []}]
        places = [p.split(": found")[0] for p in finding["looked_at"] if ": found (" in p]
        return places[0] if places else ""

    def choose_cupti(self):
        """The machine's own, else the one that the package brings."""
        brought = self.root / "cuda/lib64"
        refused = any(f["code"] == "cupti_newer_than_driver" for f in self.doctor["findings"])
        found = self.found_cupti()
        if found and not refused:
            return found
        libraries = sorted(brought.glob("libcupti.so.*"))
        if libraries and not found:
            self.environment["CUDA_HOME"] = str(brought.parent)
            return str(libraries[0])
        return found

    def file(self, name):
        """A program of the check by its name."""
        kind = "simulated" if self.simulated else "real"
        built = {"llama_infer": "bin/llama_infer" if self.simulated else "bin/llama_infer_static"}
        for place in (f"gpu_check/{kind}/{name}", f"gpu_check/{name}", built.get(name, "")):
            if place and (self.root / place).is_file():
                return self.root / place
        raise Failed(f"{self.root} has no {name}: build the target gpu_check_programs")

    def program(self, name, *arguments):
        """The command that runs a program of the check."""
        command = [self.file(name), *arguments]
        if self.simulated:
            command = [self.root / "bin/simgpu", "--clock", "wall", "--", *command]
        return command

    def call(self, name, *command, **environment):
        """Standard output of a command; both streams go to OUT/NAME.txt."""
        limit = max(self.left_s(), 1)
        try:
            done = subprocess.run([str(c) for c in command], text=True, capture_output=True,
                                  env={**self.environment, **environment}, timeout=limit,
                                  stdin=subprocess.DEVNULL, check=False, cwd=self.out)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{name}: did not end within the {limit:.0f} s that were left") from error
        (self.out / f"{name}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or [""])[-1]
            raise Failed(f"{name}: exit code {done.returncode}: {last}")
        return done.stdout

    def record(self, name, level, *command):
        """Records a command into OUT/NAME.db; returns the command's output."""
        options = [] if level is None else ["--level", level]
        return self.call(f"run_{name}", self.gprof_ml, "run", "--require-data", "--force", "-o",
                         self.out / f"{name}.db", *options, "--", *command)

    def query(self, name, sql, *values):
        database = sqlite3.connect(f"file:{self.out / name}.db?mode=ro", uri=True)
        try:
            return database.execute(sql, values).fetchall()
        finally:
            database.close()

    def report(self, name):
        return json.loads(self.call(f"json_{name}", self.gprof_ml, "analyze", self.out / f"{name}.db",
                                    "--format", "json"))
