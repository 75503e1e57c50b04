#!/usr/bin/env python3
"""Runs the built gprof-ml as a user would: test_command_line.py BINARY SOURCE_DIR [unittest args]."""

import gzip
import json
import os
import pathlib
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

import jsonschema

BINARY = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
SAMPLES = sorted((SOURCE / "samples").glob("*.json"))
SAMPLE = SOURCE / "samples" / "decode_small.json"


def run(*arguments, **options):
    """The finished process, its output as text; never longer than a minute."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False, **options)


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def import_sample(self, name="run.db"):
        path = self.folder / name
        done = run("import", SAMPLE, "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def assert_refused(self, done, *words):
        """Exit code 2, nothing on stdout, one line on stderr that holds all words."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("gprof-ml: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(str(word), done.stderr)

    def assert_no_rest(self, *expected):
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(expected))


class BadUsage(CommandLineTest):
    def test_no_command(self):
        self.assert_refused(run())

    def test_unknown_command(self):
        self.assert_refused(run("profile", SAMPLE))

    def test_unknown_flag(self):
        self.assert_refused(run("analyze", SAMPLE, "--fast"), "--fast")

    def test_no_input(self):
        self.assert_refused(run("analyze"), "INPUT")

    def test_bad_values(self):
        for flag, value in [("--format", "xml"), ("--window", "first"), ("--top", "-1"),
                            ("--top", "many"), ("--threads", "0")]:
            with self.subTest(flag=flag, value=value):
                self.assert_refused(run("analyze", SAMPLE, flag, value), flag)

    def test_window_and_range_exclude_each_other(self):
        self.assert_refused(run("analyze", SAMPLE, "--window", "all", "--range", "x"), "--range")

    def test_simulated_samples_say_so(self):
        for sample in SAMPLES:
            self.assertIn("SIMULATED GPU", run("analyze", sample).stdout)
            done = run("analyze", sample, "--format", "json")
            self.assertTrue(json.loads(done.stdout)["run"]["simulated"])

    def test_the_recording_in_the_tree_is_read(self):
        """What demo.sh shows where there is no CUDA toolkit."""
        done = run("analyze", SOURCE / "samples/llama_infer_simulated.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SIMULATED GPU", done.stdout)
        self.assertIn("ranges named decode_step", done.stdout)

    def test_the_input_is_never_replaced_by_its_report(self):
        trace = self.folder / "trace.json"
        trace.write_bytes(SAMPLE.read_bytes())
        self.assert_refused(run("analyze", trace, "-o", trace), "is the input")
        self.assertEqual(trace.read_bytes(), SAMPLE.read_bytes())
        (self.folder / "link").symlink_to(trace)
        self.assert_refused(run("analyze", trace, "-o", self.folder / "link"), "is the input")

    def test_a_range_may_name_the_steps(self):
        done = run("analyze", SAMPLE, "--window", "steps", "--range", "aten::item",
                   "--format", "json")
        self.assertEqual(json.loads(done.stdout)["steps"]["source"], "ranges:aten::item")

    def test_occurrence_of_a_range_that_does_not_exist(self):
        self.assert_refused(run("analyze", SAMPLE, "--range", "aten::empty#1"),
                            "'aten::empty' occurs 1 time: the last is 'aten::empty#0'")

    def test_range_that_does_not_exist(self):
        self.assert_refused(run("analyze", SAMPLE, "--range", "no such range"), "no such range")

    def test_import_without_output(self):
        self.assert_refused(run("import", SAMPLE), "--output")


class BadInput(CommandLineTest):
    def assert_both_refuse(self, path, *words):
        self.assert_refused(run("analyze", path), path, *words)
        self.assert_refused(run("import", path, "-o", self.folder / "out.db"), path, *words)
        self.assertFalse((self.folder / "out.db").exists())

    def test_missing(self):
        self.assert_both_refuse(self.folder / "missing.json")

    def test_empty(self):
        self.assert_both_refuse(self.file("empty.json", b""), "empty")

    def test_junk(self):
        self.assert_both_refuse(self.file("junk.json", os.urandom(4096).replace(b"{", b"x")))
        self.assert_both_refuse(self.file("text.json", b"this is not a trace\n"))

    def test_json_that_is_no_trace(self):
        self.assert_both_refuse(self.file("other.json", b'{"answer": 42}'))

    def test_directory(self):
        self.assert_both_refuse(self.folder)

    def test_truncated(self):
        cut = self.file("cut.json", SAMPLE.read_bytes()[:100_000])
        self.assert_both_refuse(cut, "--keep-partial")
        kept = run("analyze", cut, "--keep-partial", "--format", "json", "--window", "all")
        self.assertEqual(kept.returncode, 0, kept.stderr)
        whole = json.loads(run("analyze", SAMPLE, "--format", "json", "--window", "all").stdout)
        part = json.loads(kept.stdout)
        self.assertTrue(part["ops"])  # they stand before the GPU work in the file
        self.assertLess(part["quality"]["linked"], whole["quality"]["linked"])

    def test_truncated_gzip(self):
        packed = gzip.compress(SAMPLE.read_bytes())
        self.assert_both_refuse(self.file("cut.json.gz", packed[:len(packed) // 2]))

    def test_sqlite_that_is_no_run_db(self):
        path = self.folder / "other.db"
        database = sqlite3.connect(path)
        database.execute("create table t (a)")
        database.commit()
        database.close()
        self.assert_both_refuse(path)

    def test_truncated_run_db(self):
        whole = self.import_sample().read_bytes()
        cut = self.file("cut.db", whole[:len(whole) // 2])
        self.assert_refused(run("analyze", cut), cut)

    def test_name_with_escapes_gives_one_clean_line(self):
        path = self.folder / "evil\n\x1b[31m.json"
        done = run("analyze", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1, repr(done.stderr))
        self.assertNotIn("\x1b", done.stderr)


class Analyze(CommandLineTest):
    def test_json_fits_its_schema(self):
        schema = json.loads((SOURCE / "docs" / "report.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        self.assertTrue(SAMPLES)
        for sample in SAMPLES:
            for switches in [[], ["--window", "all", "--path"]]:
                with self.subTest(sample=sample.name, switches=switches):
                    done = run("analyze", sample, "--format", "json", *switches)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    errors = validator.iter_errors(json.loads(done.stdout))
                    self.assertEqual([f"{e.json_path}: {e.message}" for e in errors], [])

    def test_json_parts_add_up(self):
        for sample in SAMPLES:
            for window in ["auto", "all"]:
                with self.subTest(sample=sample.name, window=window):
                    done = run("analyze", sample, "--format", "json", "--path", "--window", window)
                    report = json.loads(done.stdout)
                    path = report["critical_path"]
                    self.assertEqual(sum(path["by_class"].values()), path["window_ns"])
                    self.assertEqual(sum(s["duration_ns"] for s in path["segments"]),
                                     path["window_ns"])
                    for device in report["devices"]:
                        self.assertEqual(sum(device["idle"]["by_cause"].values()),
                                         device["idle_ns"])
                        self.assertEqual(device["busy_ns"] + device["idle_ns"], device["span_ns"])

    def test_text_has_80_columns_and_no_escapes(self):
        for sample in SAMPLES:
            for switches in [[], ["--path"], ["--window", "all", "--top", "100"]]:
                with self.subTest(sample=sample.name, switches=switches):
                    done = run("analyze", sample, *switches)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stderr, "")
                    self.assertEqual([l for l in done.stdout.splitlines() if len(l) > 80], [])
                    self.assertNotIn("\x1b", done.stdout)
                    self.assertIn("where the time went", done.stdout)

    def test_next_commands_work(self):
        done = run("analyze", "samples/decode_small.json", cwd=SOURCE)
        commands = [l.split("gprof-ml ")[1].split() for l in done.stdout.splitlines()
                    if "  gprof-ml " in l or l.startswith("next: ")]
        self.assertGreaterEqual(len(commands), 2)
        for command in commands:
            if command[0] == "import":
                command[-1] = str(self.folder / "run.db")
            with self.subTest(command=command):
                self.assertEqual(run(*command, cwd=SOURCE).returncode, 0)

    def test_threads_change_nothing(self):
        one, two = (run("analyze", SAMPLE, "--format", "json", "--path", "--threads", n)
                    for n in (1, 2))
        self.assertEqual(one.stdout, two.stdout)

    def test_gzip_is_read_the_same(self):
        packed = self.file("decode_small.json.gz", gzip.compress(SAMPLE.read_bytes()))
        self.assertEqual(self.report(packed), self.report(SAMPLE))

    def test_through_run_db_is_the_same(self):
        for switches in [[], ["--window", "all"], ["--path"]]:
            with self.subTest(switches=switches):
                database = self.import_sample("".join(switches) + "run.db")
                self.assertEqual(self.report(database, *switches), self.report(SAMPLE, *switches))

    def report(self, path, *switches):
        """The JSON report without the name of the input."""
        done = run("analyze", path, "--format", "json", *switches)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["run"].pop("source"), str(path))
        return report

    def test_trace_without_gpu_work_is_no_error(self):
        path = self.file("cpu.json", json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10,
             "dur": 5}]}).encode())
        done = run("analyze", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No GPU work", done.stdout)
        report = self.report(path)
        self.assertIsNone(report["critical_path"])
        self.assertEqual(report["devices"], [])

    def test_run_db_without_any_record_has_its_own_code(self):
        database = self.import_sample()
        connection = sqlite3.connect(database)
        tables = [row[0] for row in connection.execute(
            "select name from sqlite_master where type = 'table' and name in ('kernel', 'copy', "
            "'fill', 'api_call', 'range', 'sync', 'memory_event', 'collective')")]
        self.assertIn("kernel", tables)
        for table in tables:
            connection.execute(f'delete from "{table}"')
        connection.commit()
        connection.close()
        done = run("analyze", database)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)


class Output(CommandLineTest):
    def test_file_gets_what_stdout_would(self):
        out = self.folder / "report.json"
        out.write_text("old")
        done = run("analyze", SAMPLE, "--format", "json", "-o", out)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(out.read_text(), run("analyze", SAMPLE, "--format", "json").stdout)
        self.assert_no_rest("report.json")

    def test_unwritable_place(self):
        self.assert_refused(run("analyze", SAMPLE, "-o", self.folder / "no" / "report.txt"),
                            "report.txt")
        self.assert_refused(run("analyze", SAMPLE, "-o", self.folder), self.folder)
        self.assert_refused(run("import", SAMPLE, "-o", self.folder / "no" / "run.db"), "run.db")
        self.assert_no_rest()

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_without_write_permission(self):
        self.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self.addCleanup(self.folder.chmod, stat.S_IRWXU)
        self.assert_refused(run("analyze", SAMPLE, "-o", self.folder / "report.txt"))

    def test_full_disk(self):
        self.assert_refused(run("analyze", SAMPLE, "-o", "/dev/full"), "/dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BINARY, "analyze", SAMPLE], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output", done.stderr)

    def test_reader_that_goes_away_ends_it_quietly(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([BINARY, "analyze", SAMPLE, "--format", "json"], stdout=writer,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))

    def test_import_replaces_only_when_told(self):
        database = self.import_sample()
        before = database.read_bytes()
        other = SOURCE / "samples" / "two_streams.json"
        self.assert_refused(run("import", other, "-o", database), database, "--force")
        self.assertEqual(database.read_bytes(), before)
        self.assertEqual(run("import", other, "-o", database, "--force").returncode, 0)
        self.assertNotEqual(database.read_bytes(), before)
        self.assert_no_rest("run.db")

    def test_failed_import_leaves_the_old_file(self):
        database = self.import_sample()
        before = database.read_bytes()
        junk = self.file("junk.json", b"junk")
        self.assert_refused(run("import", junk, "-o", database, "--force"))
        self.assertEqual(database.read_bytes(), before)
        self.assert_no_rest("run.db", "junk.json")

    def test_import_never_replaces_its_input(self):
        database = self.import_sample()
        self.assert_refused(run("import", database, "-o", database, "--force"), "input")

    def test_several_inputs_become_one(self):
        other = SOURCE / "samples" / "two_streams.json"
        both = self.folder / "both.db"
        self.assertEqual(run("import", SAMPLE, other, "-o", both).returncode, 0)
        count = lambda path: sum(d["kernels"] for d in json.loads(
            run("analyze", path, "--format", "json", "--window", "all").stdout)["devices"])
        self.assertEqual(count(both), count(SAMPLE) + count(other))


class Help(CommandLineTest):
    def test_help_and_version(self):
        for arguments in [["--help"], ["analyze", "--help"], ["import", "--help"]]:
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("Usage: gprof-ml", done.stdout)
        version = run("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"^gprof-ml \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
