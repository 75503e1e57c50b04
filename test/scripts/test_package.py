#!/usr/bin/env python3
"""The package of scripts/package.sh: packed, unpacked somewhere else, and used there.

test_package.py SOURCE BUILD [unittest arguments]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PATIENCE = 300  # seconds until a test gives up
MOST_BYTES = 32 * 1024 * 1024
# What a plain Debian 12 or Ubuntu 22.04 has.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        folder = pathlib.Path(cls.holder.name).resolve()
        done = subprocess.run([SOURCE / "scripts/package.sh", "--build", BUILD, "--output",
                               folder / "made"], text=True, capture_output=True, timeout=PATIENCE,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.archive, = (folder / "made").iterdir()
        with tarfile.open(cls.archive) as archive:
            archive.extractall(folder / "else where")
        cls.root, = (folder / "else where").iterdir()
        cls.work = folder / "work"
        cls.work.mkdir()

    def call(self, *command, code=0, **environment):
        """Without anything of this machine's environment."""
        done = subprocess.run([str(c) for c in command], cwd=self.work, text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def gprof_ml(self, *arguments, **more):
        return self.call(self.root / "bin/gprof-ml", *arguments, **more)

    def test_size(self):
        self.assertLessEqual(self.archive.stat().st_size, MOST_BYTES)

    def test_programs_need_only_what_is_packed(self):
        for program in [*(self.root / "bin").iterdir(),
                        *(self.root / "lib/simgpu").glob("libsimgpu_engine.so")]:
            # As the simulator sets it for its program.
            text = self.call("ldd", program,
                             LD_LIBRARY_PATH=str(self.root / "lib/simgpu")).stdout
            self.assertNotIn("not found", text)
            for name, path in re.findall(r"(\S+) => (.+) \(0x", text):
                if not SYSTEM.match(name):
                    self.assertTrue(os.path.realpath(path).startswith(str(self.root)),
                                    f"{program.name}: {name} comes from {path}")

    def test_nothing_of_the_build_folder_is_needed(self):
        for program in (self.root / "bin").iterdir():
            text = self.call("readelf", "-d", program).stdout
            self.assertNotIn(str(BUILD), text)

    def test_analyze(self):
        self.assertIn("gprof-ml ", self.gprof_ml("--version").stdout)
        report = json.loads(self.gprof_ml("analyze", self.root / "samples/decode_small.json",
                                          "--format", "json").stdout)
        self.assertGreater(len(report["kernels"]), 0)

    def test_doctor_finds_the_recorder(self):
        found = json.loads(self.gprof_ml("doctor", "--format", "json").stdout)["findings"]
        self.assertIn("injection_found", [finding["code"] for finding in found])

    def test_record_on_the_simulated_gpu(self):
        done = self.gprof_ml("run", "--require-data", "--", self.root / "bin/simgpu", "--",
                             self.root / "gpu_check/simulated/llama_infer", "--output-length", "4")
        self.assertIn("lost      nothing", done.stderr)

    def test_gpu_check(self):
        """The whole check on the simulated GPU, from the package alone."""
        out = self.work / "out"
        self.call(self.root / "gpu_check.sh", "--simulated", "--quick", OUT=str(out))
        result = json.loads((out / "gpu_check.json").read_text())
        self.assertTrue(result["machine"]["simulated"])
        self.assertEqual([c for c in result["checks"] if c["ok"] is False], [])
        self.assertGreater(sum(1 for c in result["checks"] if c["ok"]), 30)
        self.assertEqual(len(result["questions"]), 4)
        self.assertEqual([q for q in result["questions"] if q["answer"] == "unknown"], [])
        self.assertEqual(len(result["overhead"]), 1)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU here")
    def test_gpu_check_without_a_gpu(self):
        done = self.call(self.root / "gpu_check.sh", code=77)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
        self.assertIn("no GPU", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
