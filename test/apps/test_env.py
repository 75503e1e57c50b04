#!/usr/bin/env python3
"""gprof-ml env: what it prints is pasted and a program recorded with it, without `gprof-ml run`.

test_env.py BUILD [unittest arguments]; BUILD has bin/ with gprof-ml, simgpu and llama_infer.
"""

import json
import os
import pathlib
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
GPROF_ML, SIMGPU, LLAMA = (BUILD / "bin" / name for name in ("gprof-ml", "simgpu", "llama_infer"))
OURS = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPROFML_SPOOL_DIR", "GPROFML_INJECTION"}
PATIENCE = 120  # seconds until a test gives up
PROGRAM = f"{SIMGPU} -- {LLAMA} --output-length 6"

# What happened, without ids of the operating system.
EVENTS = ["SELECT name, start_ns, end_ns, stream_id, op_name, launch_name, grid_x FROM kernel_named",
          "SELECT kind, start_ns, end_ns, bytes FROM copy_named",
          "SELECT name, start_ns, end_ns FROM range_named",
          "SELECT name, start_ns, end_ns, result FROM api_call_named"]


class Env(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.environment = {k: v for k, v in os.environ.items() if k not in OURS}

    def call(self, *command, code=0, **more):
        done = subprocess.run([str(c) for c in command], cwd=self.folder, text=True,
                              env={**self.environment, **more}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def env(self, *options, **more):
        return self.call(GPROF_ML, "env", *options, **more)

    def events(self, name):
        database = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
        rows = [sorted(database.execute(sql).fetchall(), key=repr) for sql in EVENTS]
        database.close()
        return rows

    def collect(self, text):
        """Types the command behind "Afterwards"."""
        command = shlex.split(re.search(r"^# Afterwards[^:]*: gprof-ml (.*)$", text, re.M)[1])
        return self.call(GPROF_ML, *command)

    def test_the_shell_form_records(self):
        for number, form in enumerate(([], ["--slurm"])):
            with self.subTest(form=form):
                text = self.env(*form, "-o", f"a folder {number}").stdout
                self.call("sh", "-c", f"{text}\n{PROGRAM}")
                self.collect(text)
                self.call(GPROF_ML, "run", "-o", "usual.db", "--force", "--", "sh", "-c", PROGRAM)
                self.assertEqual(self.events("run.db"), self.events("usual.db"))
                self.assertGreater(len(self.events("run.db")[0]), 100)
                (self.folder / "run.db").unlink()

    def test_eval_of_the_shell_form(self):
        done = self.call("sh", "-c", f'eval "$({GPROF_ML} env -o spools)"; env')
        made = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        self.assertEqual(made["GPROFML_SPOOL_DIR"], str(self.folder / "spools"))
        self.assertTrue(made["CUDA_INJECTION64_PATH"].endswith("libgprofml_injection.so"))
        self.assertEqual(made["CUDA_INJECTION64_PATH"], made["NVTX_INJECTION64_PATH"])
        self.assertEqual(stat.S_IMODE((self.folder / "spools").stat().st_mode), 0o700)

    def test_the_docker_command_is_a_shell_command(self):
        text = self.env("--docker", "-o", "it's").stdout
        command = shlex.split(text, comments=True)
        self.assertEqual((command[:4], command[-2:]),
                         (["docker", "run", "--gpus", "all"], ["IMAGE", "PROGRAM"]))
        mounts = [command[i + 1] for i, word in enumerate(command) if word == "-v"]
        values = dict(command[i + 1].split("=", 1) for i, word in enumerate(command) if word == "-e")
        inside = {mount.split(":")[1]: mount.split(":")[0] for mount in mounts}
        self.assertEqual(inside[values["GPROFML_SPOOL_DIR"]], str(self.folder / "it's"))
        self.assertTrue(os.path.isfile(inside[values["CUDA_INJECTION64_PATH"]]))
        self.assertEqual(values["NVTX_INJECTION64_PATH"], values["CUDA_INJECTION64_PATH"])
        # Whoever the container's user is, it can write there.
        self.assertEqual(stat.S_IMODE((self.folder / "it's").stat().st_mode), 0o1777)

    def test_the_patch_for_kubernetes_is_whole(self):
        text = self.env("--k8s", "-o", "spools").stdout
        names = re.findall(r"- name: (\S+)\n +value: (\".*\")", text)
        values = {name: json.loads(value) for name, value in names}
        self.assertLessEqual(OURS - {"GPROFML_INJECTION"}, set(values))
        for name in ("gprof-ml-recorder", "gprof-ml-spool"):
            self.assertEqual(len(re.findall(f"name: {name}$", text, re.M)), 2, text)
        self.assertEqual(text.count(f"mountPath: {values['GPROFML_SPOOL_DIR']}\n"), 1)
        self.assertIn(f'path: "{self.folder / "spools"}"\n', text)

    def test_what_is_recorded(self):
        text = self.env("-o", "spools", "--level", "0").stdout
        self.call("sh", "-c", f"{text}\n{PROGRAM}")
        self.collect(text)
        self.assertEqual(self.events("run.db")[0], [])
        self.assertGreater(len(self.events("run.db")[2]), 10)

    def test_a_window(self):
        """One occurrence of a range, and nothing else."""
        self.call("sh", "-c", f"{self.env('-o', 'all').stdout}\n{PROGRAM}")
        self.call(GPROF_ML, "recover", "all", "-o", "all.db")
        ranges = self.events("all.db")[2]
        ((name, start, end),) = [row for row in ranges if row[0] == "decode_step"][3:4]
        for form in ([], ["--slurm"]):
            with self.subTest(form=form):
                text = self.env(*form, "-o", "spools", "--range", "decode_step#3").stdout
                self.call("sh", "-c", f"{text}\n{PROGRAM}")
                self.collect(text)
                self.assertIn((name, start, end), self.events("run.db")[2])
                self.assertGreater(len(self.events("run.db")[0]), 0)
                for _, launched, returned, _ in self.events("run.db")[3]:
                    self.assertLess(launched, end)
                    self.assertGreater(returned, start)
                (self.folder / "run.db").unlink()
        for form in ("--docker", "--k8s"):
            self.assertIn("range=decode_step", self.env(form, "--range", "decode_step#3").stdout)

    def test_paused_until_told(self):
        for form in ([], ["--docker"], ["--k8s"], ["--slurm"]):
            with self.subTest(form=form):
                text = self.env(*form, "-o", "it's here", "--start-paused").stdout
                told = re.search(r"^# To record while it runs: gprof-ml (.*)$", text, re.M)[1]
                # The command works as it stands.
                self.call(GPROF_ML, *shlex.split(told))
        self.assertEqual((self.folder / "it's here/control").stat().st_mode & 0o777, 0o600)
        self.assertNotIn("while it runs", self.env("-o", "it's here").stdout)
        text = self.env("-o", "spools", "--start-paused").stdout
        self.call("sh", "-c", f"{text}\n{PROGRAM}")
        self.collect(text)
        self.assertEqual(self.events("run.db")[0], [])

    def test_collected_before_anything_ran(self):
        text = self.env("-o", "spools").stdout
        done = self.collect(text)
        self.assertIn("nothing", done.stderr)

    def test_a_new_folder_each_time(self):
        folders = [re.search(r"GPROFML_SPOOL_DIR=(\S+)", self.env().stdout)[1] for _ in range(2)]
        self.assertEqual(len({f for f in folders if os.path.isdir(f)}), 2)

    def test_refusals(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/letter").touch()
        for options in (["-o", "mine"], ["-o", "mine/letter"], ["-o", "no/such"], ["--docker", "--k8s"]):
            with self.subTest(options=options):
                done = self.env(*options, code=2)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)

    def test_a_variable_of_another_tool_is_left_and_named(self):
        done = self.env("-o", "spools", CUDA_INJECTION64_PATH="/opt/nsys.so")
        self.assertNotIn("export CUDA_INJECTION64_PATH", done.stdout)
        self.assertIn("export NVTX_INJECTION64_PATH", done.stdout)
        self.assertIn("/opt/nsys.so", done.stderr)
        # Inside a container it is not set.
        self.assertIn("CUDA_INJECTION64_PATH", self.env("--docker", "-o", "spools",
                                                       CUDA_INJECTION64_PATH="/x.so").stdout)


class CannotFollow(Env):
    """`run` says when a program is started where it cannot be followed, and starts it."""

    def setUp(self):
        super().setUp()
        for name in ("docker", "podman", "kubectl", "srun", "sudo"):
            script = self.folder / "bin" / name
            script.parent.mkdir(exist_ok=True)
            script.write_text("#!/bin/sh\necho ran \"$@\"\nexit 5\n")
            script.chmod(0o755)
        self.environment["PATH"] = f"{self.folder / 'bin'}:{self.environment['PATH']}"

    def said(self, *command):
        done = self.call(GPROF_ML, "run", "--force", "-o", "x.db", "--", *command, code=5)
        self.assertEqual(done.stdout, f"ran {' '.join(command[1:])}\n")
        return [line for line in done.stderr.splitlines() if "cannot be followed" in line]

    def test_said(self):
        for form, command in (("--docker", "docker run --gpus all image"),
                              ("--docker", "docker compose up"), ("--docker", "podman exec a b"),
                              ("--docker", "sudo -E docker run image"),
                              ("--k8s", "kubectl exec pod -- program"),
                              ("--slurm", "srun --container-image=x program")):
            with self.subTest(command=command):
                line, = self.said(*command.split())
                self.assertIn(f"`gprof-ml env {form}`", line)

    def test_not_said(self):
        for command in ("docker ps", "kubectl get pods", "srun -n 2 program", "sudo program run"):
            with self.subTest(command=command):
                self.assertEqual(self.said(*command.split()), [])


for name in [n for n in dir(Env) if n.startswith("test_")]:
    setattr(CannotFollow, name, None)  # inherited for its tools, not for its tests

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
