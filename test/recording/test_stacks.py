#!/usr/bin/env python3
"""Call stacks on the simulated GPU: test_stacks.py BUILD PROGRAMS [unittest arguments].

The programs plant chains of functions (stacks.cu), compiled with frame pointers and without them.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

BUILD, PROGRAMS = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
GPROF_ML, SIMGPU, LLAMA = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu", "llama_infer"))
PATIENCE = 120  # seconds until a test gives up
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION",
        "GPROFML_OPTIONS"}
PLANTED = ("stacks_frames", "stacks_bare")
# What the C library has around main() and threads, and what nvcc puts in front of a launch.
AROUND = {"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
          "start_thread", "clone", "clone3", "__clone3", ""}


def bare_name(function):
    return function.split("(")[0].removeprefix("planted::")


class StacksTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()

    def call(self, *command, code=0, **environment):
        kept = {k: v for k, v in os.environ.items() if k not in OURS}
        done = subprocess.run([str(part) for part in command], cwd=self.folder, text=True,
                              env={**kept, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def record(self, *program, options=(), simgpu=(), **environment):
        return self.call(GPROF_ML, "run", "-o", "run.db", "--force", "--level", "3", *options, "--",
                         SIMGPU, *simgpu, "--", *program, **environment)

    def query(self, sql, *parameters):
        with sqlite3.connect(f"file:{self.folder}/run.db?mode=ro", uri=True) as database:
            return database.execute(sql, parameters).fetchall()

    def functions(self, frame):
        """Names from the outermost function inwards."""
        frames = {row[0]: row[1:] for row in
                  self.query("SELECT id, parent, function, module FROM stack_frame_named")}
        chain = []
        while frame is not None:
            parent, function, _ = frames[frame]
            chain.append(function)
            frame = parent
        return chain[::-1]

    def chain(self, frame):
        """The planted functions of a stack: from main() inwards, without stubs."""
        names = [bare_name(name) for name in self.functions(frame)]
        names = [name for name in names
                 if name not in AROUND and not name.startswith("__device_stub__")
                 and name != "planted_kernel" and "cudaLaunchKernel" not in name
                 and not name.startswith("gprofml::simgpu")]
        return tuple(names)

    def chains_of_calls(self):
        rows = self.query("SELECT call_name, frame FROM call_stack_named WHERE call IS NOT NULL "
                          "ORDER BY call")
        return [(name, self.chain(frame)) for name, frame in rows]

    def notes(self):
        return {row[0]: row[1] for row in
                self.query("SELECT code.text, sum(count) FROM quality JOIN string AS code "
                           "ON code.id = quality.code GROUP BY 1")}


class Chains(StacksTest):
    """Every launch has exactly the planted chain of functions."""

    LAUNCH, COPY, FILL, GRAPH = "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaGraphLaunch"

    def test_chains(self):
        expected = [
            (self.LAUNCH, ("main", "chains", "layer", "attention", "launch")),
            (self.LAUNCH, ("main", "chains", "layer", "feed_forward", "launch")),
            (self.COPY, ("main", "chains", "layer", "feed_forward", "copy")),
            (self.FILL, ("main", "chains", "fill")),
            (self.LAUNCH, ("main", "chains", "capture", "attention", "launch")),
        ] + 3 * [(self.GRAPH, ("main", "chains", "capture"))]
        for program in PLANTED:
            with self.subTest(program=program):
                self.record(PROGRAMS / program, "chains")
                found = [(name.lstrip("_").split("_")[0], chain)
                         for name, chain in self.chains_of_calls()]
                self.assertEqual(found, expected)
                # The captured node, and the copies of it that replays name.
                nodes = self.query("SELECT DISTINCT graph_node FROM kernel "
                                   "WHERE graph_node IS NOT NULL")
                self.assertEqual(len(nodes), 1)
                for (node,) in nodes:
                    ((frame,),) = self.query("SELECT frame FROM call_stack WHERE graph_node = ?", node)
                    self.assertEqual(self.chain(frame),
                                     ("main", "chains", "capture", "attention", "launch"))
                self.assertEqual({code for code in self.notes() if "stack" in code}, set())

    def test_every_launch_has_its_stack(self):
        for program in PLANTED:
            with self.subTest(program=program):
                self.record(PROGRAMS / program, "threads")
                ((launches,),) = self.query("SELECT count(*) FROM kernel")
                lost = self.notes().get("stacks_lost", 0)
                chains = [chain for name, chain in self.chains_of_calls() if "LaunchKernel" in name]
                self.assertEqual(launches, 8 * 50 * 3)
                self.assertEqual(len(chains) + lost, launches)
                self.assertLess(lost, launches / 2)
                allowed = {("thread_body", "layer", "attention", "launch"),
                           ("thread_body", "layer", "feed_forward", "launch")}
                allowed |= {("thread_body",) + ("deep",) * (depth + 1) + ("launch",)
                            for depth in range(5)}
                self.assertLessEqual(set(chains), allowed)

    def test_deep(self):
        """Frames beyond 4 KiB are found by frame pointers; without them the stack is short, its
        inner part right."""
        whole = ("main",) + 41 * ("deep",) + ("launch",)
        self.record(PROGRAMS / "stacks_frames", "deep", "40")
        (found,) = [chain for name, chain in self.chains_of_calls() if "LaunchKernel" in name]
        self.assertEqual(found, whole)
        self.record(PROGRAMS / "stacks_bare", "deep", "40")
        (found,) = [chain for name, chain in self.chains_of_calls() if "LaunchKernel" in name]
        self.assertEqual(found, whole[-len(found):])
        self.assertGreater(len(found), 4)

    def test_equal_stacks_are_one(self):
        self.record(PROGRAMS / "stacks_bare", "many", "300", options=("--keep-spool",))
        ((rows, frames),) = self.query("SELECT count(*), count(DISTINCT frame) FROM call_stack")
        lost = self.notes().get("stacks_lost", 0)
        self.assertEqual((rows + lost, frames), (300, 1))
        (spool,) = self.folder.glob("run.db.spool-*/*.spool")
        # 4 KiB each would be 1.2 MB; told once they are little beside the records of 300 launches.
        self.assertLess(spool.stat().st_size, 200_000)

    def test_modules(self):
        self.record(PROGRAMS / "stacks_bare", "chains")
        paths = {row[0] for row in self.query("SELECT path FROM module_named")}
        self.assertIn(str(PROGRAMS / "stacks_bare"), paths)

    def test_no_names_from_another_file(self):
        """A program that was built anew between its run and the merge gives no names."""
        program = self.folder / "program"
        shutil.copy(PROGRAMS / "stacks_frames", program)
        self.record(program, "chains", options=("--keep-spool",))
        (folder,) = self.folder.glob("run.db.spool-*")
        shutil.copy(PROGRAMS / "stacks_bare", program)
        self.call(GPROF_ML, "recover", folder, "-o", "again.db", "--force")
        shutil.move(self.folder / "again.db", self.folder / "run.db")
        named = self.query("SELECT count(*) FROM stack_frame_named WHERE function LIKE '%planted%'")
        self.assertEqual(named, [(0,)])
        places = self.query("SELECT count(*) FROM stack_frame_named WHERE module = ? "
                            "AND offset IS NOT NULL", str(program))
        self.assertGreater(places[0][0], 0)
        self.assertIn("code_changed", self.notes())


class Hostile(StacksTest):
    """Whatever a program does to its stack and frame pointer, it runs on, and it is counted."""

    def test_hostile(self):
        for program in PLANTED:
            with self.subTest(program=program):
                self.record(PROGRAMS / program, "hostile")
                ((launches,),) = self.query("SELECT count(*) FROM kernel")
                chains = [chain for name, chain in self.chains_of_calls()]
                self.assertEqual(launches, 16)
                # Coroutines and signal handlers are told as far as 4 KiB go.
                self.assertEqual(sum(chain[-2:] == ("coroutine", "launch") for chain in chains), 3)
                self.assertEqual(sum("on_signal" in chain for chain in chains), 1)
                self.assertEqual(sum(chain[-2:] == ("tiny_thread", "launch") for chain in chains), 1)
                wild = [chain for chain in chains if "launch_with_frame_pointer" in chain]
                self.assertEqual(len(wild), 11)
                for chain in chains:
                    self.assertEqual(chain[-1], "launch")
                self.assertGreater(self.notes().get("stacks_elsewhere", 0), 0)


class Ops(StacksTest):
    """Ops of programs without ranges."""

    def test_function_names(self):
        self.record(PROGRAMS / "stacks_bare", "chains")
        text = self.call(GPROF_ML, "analyze", "run.db", "--window", "all").stdout
        self.assertIn("planted::chains/planted::layer/planted::attention/planted::launch",
                      self.paths())
        self.assertIn("function names of call stacks", text)

    def paths(self):
        done = self.call(GPROF_ML, "analyze", "run.db", "--format", "json", "--window", "all")
        self.ops = {op["path"]: op for op in json.loads(done.stdout)["ops"]}
        return self.ops

    def test_llama_infer_without_ranges(self):
        self.record(LLAMA, "--output-length", "8", "--no-ranges")
        paths = self.paths()
        ((kernels,),) = self.query("SELECT count(*) FROM kernel")
        self.assertGreater(kernels, 0)
        self.assertEqual({op["source"] for op in paths.values()}, {"call_stack"})
        self.assertTrue(any(path.endswith("/llama_infer::gemv") for path in paths), sorted(paths))
        self.assertEqual({op["host_ns"] for op in paths.values()}, {None})

    def test_kernel_families(self):
        self.call(GPROF_ML, "run", "-o", "run.db", "--force", "--", SIMGPU, "--", LLAMA,
                  "--output-length", "8", "--no-ranges")
        paths = self.paths()
        self.assertEqual({op["source"] for op in paths.values()}, {"kernel_family"})
        self.assertIn("GEMM, GEMV", paths)
        text = self.call(GPROF_ML, "analyze", "run.db").stdout
        self.assertIn("kernel families, by GPU time", text)


MODEL = """
import ctypes

cudart = ctypes.CDLL("libcudart.so.{major}")
memory = ctypes.c_void_p()


def attention():
    cudart.cudaMemset(memory, 0, 4096)


class Model:
    def forward(self):
        attention()


def train():
    assert cudart.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
    Model().forward()
    cudart.cudaDeviceSynchronize()


train()
"""


def python_with_perf_maps():
    """A Python >= 3.12 that writes perf maps, None where there is none."""
    names = [shutil.which(f"python3.{minor}") for minor in range(12, 20)]
    names += sorted(pathlib.Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python3"))
    for name in [sys.executable, *filter(None, names)]:
        done = subprocess.run([str(name), "-X", "perf", "-c", "import sys; sys.exit(77 if "
                               "getattr(sys, 'is_stack_trampoline_active', bool)() else 0)"],
                              capture_output=True, check=False)
        if done.returncode == 77:
            return name
    return None


class Python(StacksTest):
    def test_python_functions(self):
        python = python_with_perf_maps()
        if python is None:
            self.skipTest(f"no Python >= 3.12 here (this is {sys.version.split()[0]}): its functions "
                          "are tested with planted maps only (test_symbols)")
        (runtime,) = (BUILD / "lib/simgpu").glob("libcudart.so.*")
        model = self.folder / "model.py"
        model.write_text(MODEL.replace("{major}", runtime.suffix[1:]))
        self.record(python, model, options=("--python",))
        ((frame,),) = self.query("SELECT frame FROM call_stack_named WHERE call_name LIKE 'cudaMemset%'")
        rows = {row[0]: row[1:] for row in
                self.query("SELECT id, parent, function, module FROM stack_frame_named")}
        own = []
        while frame is not None:
            parent, function, module = rows[frame]
            if module == str(model):
                own.append(function)
            frame = parent
        self.assertEqual(own[:3], ["attention", "Model.forward", "train"])
        done = self.call(GPROF_ML, "analyze", "run.db", "--format", "json", "--window", "all")
        self.assertIn("train/Model.forward/attention",
                      {op["path"] for op in json.loads(done.stdout)["ops"]})
        # What is kept beside the spools goes with them.
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["model.py", "run.db"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
