#!/usr/bin/env python3
"""What the shipped library needs and shows, read from the file: check_library.py LIBRARY."""

import re
import subprocess
import sys
import unittest

LIBRARY = None
OLDEST_GLIBC = (2, 17)
MOST_TLS_BYTES = 256
# libgcc is linked statically, the C++ runtime not at all.
ALLOWED_LIBRARIES = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
EXPORTS = {"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2",
           "InitializeInjectionNvtxExtension"}


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, LIBRARY], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


class Library(unittest.TestCase):
    def test_needs_nothing_newer_than_glibc_2_17(self):
        versions = set(re.findall(r"Name: (\w+_[\w.]+)", readelf("-V")))
        self.assertTrue(versions)
        for version in versions:
            number = re.fullmatch(r"GLIBC_([\d.]+)", version)
            self.assertIsNotNone(number, f"{version} is no version of the C library")
            self.assertLessEqual(tuple(map(int, number[1].split("."))), OLDEST_GLIBC, version)

    def test_names_libpthread_and_libdl_for_older_systems(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d")))
        self.assertLessEqual(needed, ALLOWED_LIBRARIES)
        self.assertLessEqual({"libpthread.so.0", "libdl.so.2"}, needed)

    def test_shows_only_its_entries(self):
        shown = set()
        for line in readelf("--dyn-syms").splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK") and fields[6] != "UND":
                shown.add(fields[7].split("@")[0])
        self.assertEqual(shown, EXPORTS)

    def test_takes_little_initial_exec_tls(self):
        sizes = [int(line.split()[5], 16) for line in readelf("-l").splitlines()
                 if line.split()[:1] == ["TLS"]]
        self.assertLess(sum(sizes), MOST_TLS_BYTES)
        self.assertNotRegex(readelf("-r"), r"R_X86_64_DTPMOD64|R_X86_64_TLSDESC")

    def test_stays_loaded_and_binds_at_once(self):
        flags = readelf("-d")
        self.assertIn("NODELETE", flags)
        self.assertIn("NOW", flags)

    def test_has_no_executable_stack(self):
        stack = [line for line in readelf("-l").splitlines() if "GNU_STACK" in line]
        self.assertEqual(len(stack), 1)
        self.assertNotIn("E", stack[0].split()[6])


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(1)
    unittest.main()
