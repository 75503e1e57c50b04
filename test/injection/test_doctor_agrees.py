#!/usr/bin/env python3
"""The doctor and the recorder take the same CUPTI: both are asked on planted folders.

test_doctor_agrees.py GPROF_ML LIBRARY PROGRAM CUPTI ANY [unittest arguments]; CUPTI is a
libcupti.so.12 that works without a driver (old_cupti.c), PROGRAM loads the recorder as the driver
does, ANY is some library, which plays the CUDA runtime.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import recording

GPROF_ML = LIBRARY = PROGRAM = CUPTI = ANY = None

# Where CUPTI is planted, below the test's folder, the place that counts least first.
PLACES = ["on_path", "cuda_path/lib", "cuda_path/extras/CUPTI/lib64", "cuda_path/lib64",
          "cuda_home/lib", "cuda_home/extras/CUPTI/lib64", "cuda_home/lib64",
          "wheels/cu13/lib", "wheels/cuda_cupti/lib", "extras/CUPTI/lib64",
          "wheels/cuda_runtime/extras/CUPTI/lib64", "wheels/cuda_runtime/lib"]


class Agreement(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.runtime = self.folder / "wheels/cuda_runtime/lib/libcudart.so.13"
        self.runtime.parent.mkdir(parents=True)
        shutil.copy(ANY, self.runtime)  # only its name is looked at
        self.variables = {"CUDA_HOME": str(self.folder / "cuda_home"),
                          "CUDA_PATH": str(self.folder / "cuda_path"),
                          "LD_LIBRARY_PATH": f"{self.runtime.parent}:{self.folder / 'on_path'}"}

    def plant(self, place, name="libcupti.so.12"):
        folder = self.folder / place
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(CUPTI, folder / name)

    def recorder_takes(self, **more):
        with recording.recorded(LIBRARY, [PROGRAM, ""], LD_PRELOAD=str(self.runtime),
                                **{**self.variables, **more}) as run:
            return os.path.realpath(run.spool().facts()["cupti_path"])

    def doctor_takes(self, **more):
        done = subprocess.run([GPROF_ML, "doctor", "--format", "json"], text=True, check=True,
                              env={**recording.plain_environment(), **self.variables, **more},
                              capture_output=True, timeout=recording.WAIT_S)
        for finding in json.loads(done.stdout)["findings"]:
            if finding["code"] in ("cupti_found", "cupti_missing"):
                found = [place.split(": found")[0] for place in finding["looked_at"]
                         if ": found (" in place]
                return os.path.realpath(found[0]) if found else None
        return None

    def assert_agree(self, place=None, **more):
        recorder, doctor = self.recorder_takes(**more), self.doctor_takes(**more)
        self.assertEqual(recorder, doctor)
        if place:
            self.assertEqual(recorder, str(self.folder / place / "libcupti.so.12"))

    def test_each_place_comes_before_those_planted_earlier(self):
        for place in PLACES:
            with self.subTest(place=place):
                self.plant(place)
                if place == "on_path":
                    # A machine with a toolkit has others that come first.
                    self.assert_agree()
                else:
                    self.assert_agree(place)

    def test_two_majors_in_one_folder(self):
        self.plant("cuda_home/lib64")
        self.plant("cuda_home/lib64", "libcupti.so.13")
        self.assert_agree()
        self.assertTrue(self.doctor_takes().endswith("libcupti.so.13"))

    def test_stubs_are_left_out(self):
        self.plant("cuda_home/stubs/lib64")
        self.plant("cuda_path/lib64")
        self.assert_agree("cuda_path/lib64", CUDA_HOME=str(self.folder / "cuda_home/stubs"))

    def test_no_variables(self):
        for name in ("CUDA_HOME", "CUDA_PATH"):
            self.plant("wheels/cuda_cupti/lib")
            self.assert_agree("wheels/cuda_cupti/lib", **{name: ""})


if __name__ == "__main__":
    GPROF_ML, LIBRARY, PROGRAM, CUPTI, ANY = map(os.path.abspath, sys.argv[1:6])
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
