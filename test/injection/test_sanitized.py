#!/usr/bin/env python3
"""The recorder's sanitized twins in the programs of the other tests.

test_sanitized.py THREAD_LIBRARY ADDRESS_LIBRARY NVTX_PROGRAM CUDA_PROGRAM TOOLKIT; exit code 77
(skipped) when the twins are not built: targets gprofml_injection_thread and _address.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import recording

THREAD = ADDRESS = NVTX = CUDA = TOOLKIT = None


def runtime(name):
    return subprocess.run(["gcc", f"-print-file-name={name}"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class Test(unittest.TestCase):
    def check(self, library, preload, program, *arguments):
        options = {"LD_PRELOAD": runtime(preload), "CUDA_HOME": TOOLKIT,
                   # Our threads never end, and a forked child starts one of its own.
                   "TSAN_OPTIONS": "report_thread_leaks=0:die_after_fork=0:exitcode=66",
                   # Nothing here uses malloc, and in a forked child LeakSanitizer can wait for
                   # ever for threads that only the parent has.
                   "ASAN_OPTIONS": "detect_leaks=0:exitcode=66"}
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([program, *arguments], timeout=recording.WAIT_S, text=True,
                                    capture_output=True,
                                    env=recording.environment(library, folder, **options))
            self.assertNotIn("Sanitizer:", result.stderr, arguments)
            self.assertNotEqual(result.returncode, 66, arguments)
            self.assertTrue(os.listdir(folder))

    def scenarios(self, library, preload):
        for arguments in (("default_domain",), ("domains",), ("deep",), ("long_names",),
                          ("hammer", "16", "3000"), ("many_threads",), ("across_threads",),
                          ("fork", "exit"), ("late_handler",), ("limited_file_size",)):
            self.check(library, preload, NVTX, *arguments)
        for scenario in ("", "again", "fork", "break"):
            self.check(library, preload, CUDA, scenario)

    def test_threads(self):
        self.scenarios(THREAD, "libtsan.so")

    def test_addresses(self):
        self.scenarios(ADDRESS, "libasan.so")


if __name__ == "__main__":
    THREAD, ADDRESS, NVTX, CUDA, TOOLKIT = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))
    if not (os.path.exists(THREAD) and os.path.exists(ADDRESS)):
        sys.exit(77)
    unittest.main()
