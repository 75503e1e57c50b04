#!/usr/bin/env python3
"""The checks of this folder must be able to fail: each sees a violation planted in a small tree.

TEST_COMPILER names the compiler that the header check is tried with (c++ when absent).
"""

import gzip
import os
import pathlib
import tempfile
import unittest

import docs
import headers
import includes
import portable


class PlantedTree(unittest.TestCase):
    """A test with an empty tree of its own, to plant files in."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def plant(self, path, text, mode=0o644):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def plant_headers(self, *paths):
        for path in paths:
            self.plant(path, "#pragma once\n")


class Includes(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant_headers("libprofile/trace/trace.hpp", "libprofile/store/store.hpp",
                           "libprofile/import/import.hpp", "libanalysis/graph/graph.hpp",
                           "libanalysis/window/window.hpp", "libanalysis/report/report.hpp",
                           "apps/gprof-ml/analyze.hpp", "test/synth/synth.hpp")

    def assert_one(self, path, line, *words):
        """Planting `line` in a source at `path` yields exactly one violation, saying `words`."""
        self.assertEqual(includes.check(self.root), [])
        self.plant(path, f"#include <vector>\n{line}\n")
        found = includes.check(self.root)
        self.assertEqual(len(found), 1, found)
        for word in (path, *words):
            self.assertIn(word, found[0])

    def test_arrows_that_are_allowed(self):
        self.plant("apps/gprof-ml/main.cpp", '#include <CLI/CLI.hpp>\n#include <fmt/format.h>\n'
                   '#include "libanalysis/report/report.hpp"\n#include "libprofile/store/store.hpp"\n')
        self.plant("libprofile/store/read.cpp", '#include <sqlite3.h>\n#include <unistd.h>\n'
                   '#include "libprofile/store/store.hpp"\n#include "libprofile/trace/trace.hpp"\n')
        self.plant("libanalysis/report/json.cpp", '#include <nlohmann/json.hpp>\n'
                   '#include "libanalysis/graph/graph.hpp"\n#include "report.hpp"\n')
        self.plant("libanalysis/analyze.cpp", '#include "libanalysis/report/report.hpp"\n')
        self.assertEqual(includes.check(self.root), [])

    def test_analysis_must_not_know_the_store(self):
        self.assert_one("libanalysis/graph/a.cpp", '#include "libprofile/store/store.hpp"', "a.cpp:2:")

    def test_analysis_must_not_know_sqlite(self):
        self.assert_one("libanalysis/graph/a.cpp", "#  include <sqlite3.h>", "sqlite3.h")

    def test_analysis_must_not_know_cupti_simdjson_zlib_or_the_system(self):
        for number, header in enumerate(("cupti.h", "simdjson.h", "zlib.h", "unistd.h", "cuda.h")):
            self.plant(f"libanalysis/window/a{number}.cpp", f"#include <{header}>\n")
        self.assertEqual(len(includes.check(self.root)), 5)

    def test_only_report_may_know_nlohmann(self):
        self.assert_one("libanalysis/window/a.cpp", "#include <nlohmann/json.hpp>", "nlohmann")

    def test_profile_must_not_know_analysis(self):
        self.assert_one("libprofile/store/a.cpp", '#include "libanalysis/graph/graph.hpp"')

    def test_import_must_not_know_the_store(self):
        self.assert_one("libprofile/import/a.cpp", '#include "libprofile/store/store.hpp"')

    def test_trace_must_not_know_import(self):
        self.assert_one("libprofile/trace/a.cpp", '#include "../import/import.hpp"')

    def test_no_library_may_know_the_apps(self):
        self.assert_one("libanalysis/graph/a.cpp", '#include "apps/gprof-ml/analyze.hpp"')

    def test_synth_must_not_know_the_analysis_it_judges(self):
        self.assert_one("test/synth/a.cpp", '#include "libanalysis/graph/graph.hpp"')

    def test_a_new_part_needs_a_rule(self):
        self.assert_one("libprofile/newcomer/a.cpp", "#include <string>", "no rule")

    def test_an_include_that_is_no_file(self):
        self.assert_one("libanalysis/graph/a.cpp", '#include "sqlite3.h"', "no file")

    def test_parts_must_not_include_each_other(self):
        self.plant("libanalysis/graph/a.cpp", '#include "libanalysis/window/window.hpp"\n')
        self.plant("libanalysis/window/a.cpp", '#include "libanalysis/report/report.hpp"\n')
        self.assertEqual(includes.check(self.root), [])
        self.plant("libanalysis/report/a.cpp", '#include "libanalysis/graph/graph.hpp"\n')
        found = includes.check(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertIn("include each other", found[0])

    def test_an_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(includes.main(empty), 1)


class Headers(PlantedTree):
    compiler = os.environ.get("TEST_COMPILER", "c++")

    def test_only_the_incomplete_ones_are_named(self):
        self.plant("libprofile/trace/good.hpp",
                   "#pragma once\n#include <string>\nstruct Good { std::string name; };\n")
        self.plant("libprofile/trace/leans.hpp", "#pragma once\nstruct Leans { std::string name; };\n")
        self.plant("libanalysis/twice.hpp", "struct Twice {};\n")
        self.plant("libanalysis/warns.hpp",
                   "#pragma once\ninline int narrow(long wide) { return wide; }\n")
        named = [complaint.split(":")[0] for complaint in headers.check(self.root, self.compiler)]
        self.assertEqual(named, ["libanalysis/twice.hpp", "libanalysis/warns.hpp",
                                 "libprofile/trace/leans.hpp"])


class Portable(PlantedTree):
    # In pieces, since this file is checked too.
    PATH = "/" + "root/gprof-ml/x.cpp"
    HOST = "https:" + "//registry.example.org/simple"

    def test_a_path_of_this_machine(self):
        self.plant("docs/a.md", f"fine\nsee {self.PATH}\n")
        self.assertEqual(len(portable.check(self.root)), 1)
        self.assertTrue(portable.check(self.root)[0].startswith("docs/a.md:2:"))

    def test_a_host(self):
        self.plant("scripts/a.sh", f"get {self.HOST}\n")
        self.assertEqual(len(portable.check(self.root)), 1)

    def test_a_host_behind_a_user(self):
        self.plant("a.py", "https:" + "//me:word@registry.example.org/x")
        self.assertEqual(portable.check(self.root), ["a.py:1: the address of a host, registry.example.org"])

    def test_inside_gzip(self):
        (self.root / "a.json.gz").write_bytes(gzip.compress(f'"{self.PATH}"'.encode()))
        self.assertEqual(len(portable.check(self.root)), 1)

    def test_what_is_fine(self):
        self.plant("a.md", "https:" + "//github.com/x/y, test/" + "work/a, ../" + "root, /" +
                   "workspace, /usr/include, n/" + "home, /proc/{}/" + "root{}, https:" +
                   "//me:word@example.com/x\n")
        self.assertEqual(portable.check(self.root), [])

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(portable.main(self.root), 1)


class Docs(PlantedTree):
    def setUp(self):
        super().setUp()
        self.readme = "# x\n\n    scripts/demo.sh\n    scripts/test.sh\n"
        self.plant("README.md", self.readme)
        self.plant("scripts/demo.sh", "#!/bin/sh\n", 0o755)
        self.plant("scripts/test.sh", "#!/bin/sh\n", 0o755)
        self.plant(".ci/run", "#!/bin/sh\nset -eu\ncd ..\nexec scripts/test.sh\n", 0o755)
        self.plant("gprof-ml", "#!/bin/sh\necho ' -o,--output FILE  --top N'\n", 0o755)
        self.assertEqual(docs.check(self.root, str(self.root / "gprof-ml")), [])

    def assert_one(self, word):
        found = docs.check(self.root, str(self.root / "gprof-ml"))
        self.assertEqual(len(found), 1, found)
        self.assertIn(word, found[0])

    def test_a_script_that_cannot_run(self):
        (self.root / "scripts/test.sh").chmod(0o644)
        self.assert_one("not executable")

    def test_a_script_that_is_gone(self):
        (self.root / "scripts/demo.sh").unlink()
        self.assert_one("does not exist")

    def test_commands_not_at_the_top(self):
        self.plant("README.md", "\n" * 30 + self.readme)
        self.assert_one("do not show")

    def test_a_dead_link(self):
        self.plant("README.md", self.readme + "[db](docs/run-db.md)\n")
        self.assert_one("leads nowhere")

    def test_an_unknown_flag(self):
        self.plant("docs/a.md", "`build/gprof-ml analyze x --top 3 --bottom 4`\n")
        self.assert_one("--bottom")

    def test_ci_that_does_more(self):
        self.plant(".ci/run", "set -eu\nmake\nexec scripts/test.sh\n", 0o755)
        self.assert_one(".ci/run")


if __name__ == "__main__":
    unittest.main()
