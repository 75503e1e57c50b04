"""Runs a program with the recorder's library and reads what it left behind."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import spool_dump

WAIT_S = 60  # gives up on a program or a condition; never part of what is asserted


def environment(library, folder, **more):
    """The launcher's variables, and nothing of an outer recording."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("GPROFML_", "NVTX_INJECTION", "CUDA_INJECTION"))}
    return {**kept, "CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library,
            "GPROFML_SPOOL_DIR": str(folder), "EXPECT_RECORDING": "1", **more}


def plain_environment():
    return {key: value for key, value in os.environ.items()
            if not key.startswith(("GPROFML_", "NVTX_INJECTION", "CUDA_INJECTION"))}


class Recording:
    """One run: exit code and output beside the spools."""

    def __init__(self, result, folder):
        self.code, self.output, self.errors = result.returncode, result.stdout, result.stderr
        self.paths = sorted(pathlib.Path(folder).glob("*.spool"))

    def spools(self, check_crc=True):
        return [spool_dump.read_spool(path, check_crc) for path in self.paths]

    def spool(self, check_crc=True):
        (spool,) = self.spools(check_crc)
        return spool


@contextlib.contextmanager
def recorded(library, command, folder=None, **more):
    """The Recording of a program that ran to its end."""
    with tempfile.TemporaryDirectory() as own:
        folder = folder or own
        result = subprocess.run(command, env=environment(library, folder, **more), timeout=WAIT_S,
                                capture_output=True, text=True)
        yield Recording(result, folder)


def without_recorder(command):
    return subprocess.run(command, env=plain_environment(), timeout=WAIT_S, capture_output=True,
                          text=True)


def is_locked(path):
    """Whether a writer holds the spool."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def wait_for(condition):
    """What `condition` returns once it is true."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise TimeoutError("the condition never came true")


@contextlib.contextmanager
def running(library, command, folder):
    """A program that the test ends itself: yields the process, kills it afterwards."""
    process = subprocess.Popen(command, env=environment(library, folder),
                               stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


def unpaired(spool):
    """What breaks the nesting of pushes and pops or the pairs of starts and ends, as text."""
    open_pushes, started, ended, wrong = {}, set(), set(), []
    for record in spool.records:
        key = (record.get("tid"), record.get("domain"))
        if record["kind"] == "range_push":
            open_pushes.setdefault(key, []).append(record)
        elif record["kind"] == "range_pop":
            if not open_pushes.get(key):
                wrong.append(f"pop without push in {key}")
                continue
            push = open_pushes[key].pop()
            if record["time_ns"] < push["time_ns"]:
                wrong.append(f"a range of {key} ends before it starts")
        elif record["kind"] == "range_start":
            started.add(record["id"])
        elif record["kind"] == "range_end":
            ended.add(record["id"])
    wrong += [f"push without pop: {push}" for pushes in open_pushes.values() for push in pushes]
    wrong += [f"start without end: {number}" for number in started - ended]
    wrong += [f"end without start: {number}" for number in ended - started]
    return wrong
