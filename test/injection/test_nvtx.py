#!/usr/bin/env python3
"""NVTX recorded without CUDA: test_nvtx.py LIBRARY PROGRAM [unittest arguments]."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import recording
import spool_dump

LIBRARY = PROGRAM = None


def record(*arguments, **more):
    return recording.recorded(LIBRARY, [PROGRAM, *arguments], **more)


def names(spool, *kinds):
    return [entry["name"] for entry in spool.of(*kinds)]


class Content(unittest.TestCase):
    """What the program says is what the spool holds."""

    def record_same(self, *arguments):
        """The spool of a run whose output and exit code are those of a run without us."""
        bare = recording.without_recorder([PROGRAM, *arguments])
        with record(*arguments) as run:
            self.assertEqual((run.code, run.output, run.errors),
                             (bare.returncode, bare.stdout, bare.stderr))
            return run.spool()

    def test_default_domain(self):
        spool = self.record_same("default_domain")
        self.assertEqual(names(spool, "range_push"),
                         ["outer", "wïde ☃ 🚀", "inner", "", "", ""])
        self.assertEqual(names(spool, "mark"), ["mark a", "mark w", "mark ex"])
        self.assertEqual(names(spool, "range_start"), ["start a", "start w", "start ex"])
        ids = [start["id"] for start in spool.of("range_start")]
        self.assertEqual([end["id"] for end in spool.of("range_end")], [ids[1], ids[0], ids[2]])
        self.assertEqual([push["category"] for push in spool.of("range_push")], [0, 0, 17, 0, 0, 0])
        self.assertEqual([mark["category"] for mark in spool.of("mark")], [0, 0, 3])
        self.assertEqual(recording.unpaired(spool), [])
        self.assertEqual({record["domain"] for record in spool.of("range_push", "mark")}, {0})

    def test_a_process_ends_with_its_last_thread(self):
        spool = self.record_same("main_ends_first")
        self.assertEqual(names(spool, "range_push"), ["main", "after main"])
        self.assertEqual(len(spool.of("end")), 1)

    def test_times_do_not_run_backwards(self):
        spool = self.record_same("default_domain")
        times = [record["time_ns"] for record in spool.records if "tid" in record
                 and "time_ns" in record]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], spool.header["start_ns"])
        self.assertLessEqual(times[-1], spool.of("end")[-1]["time_ns"])

    def test_domains_and_registered_strings(self):
        spool = self.record_same("domains")
        self.assertEqual([(push["domain_name"], push["name"]) for push in spool.of("range_push")],
                         [("first domain", "registered"), ("second dömain", "régistered"),
                          ("first domain", "registered"), ("", "default")])
        self.assertEqual([(mark["domain_name"], mark["name"]) for mark in spool.of("mark")],
                         [("second dömain", "régistered")])
        self.assertEqual(recording.unpaired(spool), [])

    def test_handles_that_were_never_given_are_not_followed(self):
        spool = self.record_same("foreign_handles")
        self.assertEqual([(push["domain_name"], push["name"]) for push in spool.of("range_push")],
                         [("good domain", "good string")] + 3 * [("", "unknown domain")])
        self.assertEqual([(mark["domain_name"], mark["name"]) for mark in spool.of("mark")],
                         3 * [("", "unknown domain")] + 4 * [("good domain", "")]
                         + [("good domain", "good string")])
        self.assertEqual(recording.unpaired(spool), [])
        notes = spool.of("note")
        self.assertEqual({note["code"] for note in notes}, {"unknown_nvtx_handles"})
        self.assertEqual(sum(note["count"] for note in notes), 3 * 3 + 4)
        self.assertEqual(spool.of("status")[-1]["ranges_lost"], 0)

    def test_domains_beyond_those_that_are_followed_are_counted(self):
        spool = self.record_same("many_domains")
        recorded = len(spool.of("range_push"))
        self.assertEqual(recorded, 1023)
        self.assertEqual(spool.of("status")[-1]["ranges_lost"], 1500 - recorded)
        self.assertEqual(recording.unpaired(spool), [])

    def test_ends_of_nothing_are_counted(self):
        spool = self.record_same("unopened")
        notes = spool.of("note")
        self.assertEqual({note["code"] for note in notes}, {"unopened_range_ends"})
        self.assertEqual(sum(note["count"] for note in notes), 3)
        self.assertEqual(names(spool, "range_push"), ["whole"])
        self.assertEqual(recording.unpaired(spool), [])
        self.assertEqual(spool.of("status")[-1]["ranges_lost"], 0)

    def test_deep_nesting(self):
        spool = self.record_same("deep")
        self.assertEqual(len(spool.of("range_push")), 300)
        self.assertEqual(recording.unpaired(spool), [])

    def test_long_and_invalid_names(self):
        spool = self.record_same("long_names")
        narrow, wide = names(spool, "range_push")
        self.assertEqual((set(narrow), len(narrow.encode())), ({"ä"}, 4000))
        self.assertEqual((set(wide), len(wide.encode())), ({"€"}, 3999))
        self.assertEqual(names(spool, "mark"), ["a��b"])

    def test_range_ended_by_another_thread(self):
        spool = self.record_same("across_threads")
        (start,), (end,) = spool.of("range_start"), spool.of("range_end")
        self.assertEqual(start["id"], end["id"])
        self.assertNotEqual(start["tid"], end["tid"])
        self.assertEqual({thread["tid"] for thread in spool.of("thread")},
                         {start["tid"], end["tid"]})

    def test_starts_stand_before_ends_of_other_threads(self):
        spool = self.record_same("started_elsewhere")
        self.assertEqual(recording.unpaired(spool), [])
        started = set()
        for entry in spool.of("range_start", "range_end"):
            if entry["kind"] == "range_start":
                started.add(entry["id"])
            else:
                self.assertIn(entry["id"], started)
        self.assertEqual(len(started), 50)

    def test_thread_names(self):
        spool = self.record_same("thread_names")
        last_name = {thread["tid"]: thread["name"] for thread in spool.of("thread")}
        self.assertEqual({mark["name"]: last_name[mark["tid"]] for mark in spool.of("mark")},
                         {"main": "mäin", "loader": "loader"})

    def test_more_threads_than_rings(self):
        spool = self.record_same("many_threads")
        lost = spool.of("status")[-1]["ranges_lost"]
        recorded = len(spool.of("range_push", "range_pop"))
        # A pop that finds a ring where its push found none counts as a pop without a push.
        self.assertLessEqual(recorded + lost, 10000)
        self.assertGreaterEqual(recorded + 2 * lost, 10000)
        self.assertEqual(recording.unpaired(spool), [])

    def test_facts(self):
        with record("default_domain") as run:
            facts = run.spool().facts()
        self.assertEqual(facts["command"], f"{PROGRAM}\0default_domain")
        self.assertEqual(facts["executable"], os.path.realpath(PROGRAM))
        self.assertEqual(facts["working_folder"], os.getcwd())
        self.assertEqual(facts["parent_pid"], str(os.getpid()))
        self.assertEqual(facts["nvtx"], "recorded")
        self.assertNotIn("cuda", facts)

    def test_simulation_is_marked_without_any_cuda(self):
        mark = str(pathlib.Path(PROGRAM).parent / "libsimulated_mark.so")
        with record("fork", "exit", LD_PRELOAD=mark) as run:
            self.assertEqual([spool.facts().get("simulated") for spool in run.spools()], ["1", "1"])
        with record("fork", "exit") as run:
            self.assertEqual([spool.facts().get("simulated") for spool in run.spools()],
                             [None, None])

    def test_full_rings_lose_pairs_and_count_them(self):
        threads, rounds = 32, 20000
        with record("hammer", str(threads), str(rounds)) as run:
            spool = run.spool(check_crc=False)
        self.assertEqual(run.code, 0)
        self.assertEqual(recording.unpaired(spool), [])
        kept = len(spool.of("range_push", "range_pop", "range_start", "range_end"))
        lost = spool.of("status")[-1]["ranges_lost"]
        self.assertEqual(kept + lost, threads * rounds * 8)


class Ending(unittest.TestCase):
    """However the program ends, its exit code comes through and the spool reads."""

    def check(self, how, code, ended):
        with record("end", how) as run:
            self.assertEqual(run.code, code)
            spool = run.spool()
        self.assertEqual(spool.ended, ended)
        self.assertEqual(spool.facts()["executable"], os.path.realpath(PROGRAM))
        if ended:
            self.assertEqual(names(spool, "range_push", "mark"), ["whole", "before the end"])

    def test_return(self):
        self.check("return", 42, True)

    def test_exit(self):
        self.check("exit", 43, True)

    def test_early_exits_leave_a_readable_spool(self):
        for how, code in (("_exit", 44), ("abort", -signal.SIGABRT), ("SIGTERM", -signal.SIGTERM),
                          ("SIGKILL", -signal.SIGKILL)):
            with self.subTest(how):
                self.check(how, code, False)

    def test_worker_that_ends_soon_keeps_its_ranges(self):
        with tempfile.TemporaryDirectory() as folder:
            with record("short_worker", folder, "15", folder=folder) as run:
                self.assertEqual(run.code, 44)
                spool = run.spool()
        self.assertFalse(spool.ended)
        self.assertGreaterEqual(len(spool.of("range_pop")), int(run.output.split()[-1]))
        # Load makes the pauses between the writes longer; that all are is out of the question.
        written = sorted({entry["written_ns"] for entry in spool.of("range_pop")})
        self.assertLess(min(b - a for a, b in zip(written, written[1:])), 50_000_000)

    def test_exec_begins_a_spool_of_its_own(self):
        with record("end", "exec") as run:
            self.assertEqual(run.code, 42)
            spools = sorted(run.spools(), key=lambda spool: spool.header["start_ns"])
        self.assertEqual([spool.ended for spool in spools], [False, True])
        self.assertEqual(spools[0].header["pid"], spools[1].header["pid"])

    def test_exit_handlers_that_run_after_ours(self):
        with record("late_handler") as run:
            spool = run.spool()
        self.assertEqual(names(spool, "mark", "range_push"), ["early", "in an exit handler"])
        self.assertEqual(recording.unpaired(spool), [])

    def test_killed_in_mid_run(self):
        with tempfile.TemporaryDirectory() as folder:
            with recording.running(LIBRARY, [PROGRAM, "endless"], folder) as process:
                (path,) = recording.wait_for(lambda: list(pathlib.Path(folder).glob("*.spool")))

                def marks():
                    try:
                        return len(spool_dump.read_spool(path).of("mark"))
                    except spool_dump.FormatError:
                        return 0  # the header is not there yet
                seen = recording.wait_for(lambda: marks() if marks() > 100 else 0)
                self.assertTrue(recording.is_locked(path))
                process.send_signal(signal.SIGKILL)
                self.assertEqual(process.wait(), -signal.SIGKILL)
            spool = spool_dump.read_spool(path)
            self.assertGreaterEqual(len(spool.of("mark")), seen)
            self.assertEqual(names(spool, "mark"),
                             [f"mark {number}" for number in range(len(spool.of("mark")))])
            self.assertFalse(spool.ended)
            self.assertFalse(recording.is_locked(path))


class Processes(unittest.TestCase):
    def test_forked_child_has_a_spool_of_its_own(self):
        with record("fork", "exit") as run:
            self.assertEqual(run.output, "scenario fork\nchild ended with 7\n")
            by_name = {name: spool for spool in run.spools() for name in names(spool, "range_push")}
        self.assertEqual(set(by_name), {"parent", "child"})
        self.assertNotEqual(by_name["parent"].header["pid"], by_name["child"].header["pid"])
        self.assertEqual(by_name["child"].facts()["parent_pid"], by_name["parent"].facts()["pid"])
        for spool in by_name.values():
            self.assertTrue(spool.ended)
            self.assertEqual(recording.unpaired(spool), [])

    def test_forked_child_that_skips_exit_handlers(self):
        with record("fork", "_exit") as run:
            self.assertEqual(run.output, "scenario fork\nchild ended with 7\n")
            self.assertEqual(sorted(spool.ended for spool in run.spools()), [False, True])


class Trouble(unittest.TestCase):
    """What fails on our side is never the program's business."""

    def same(self, command, environment):
        bare = recording.without_recorder(command)
        result = subprocess.run(command, env=environment, timeout=recording.WAIT_S,
                                capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (bare.returncode, bare.stdout, bare.stderr))

    def test_no_folder_given(self):
        environment = recording.environment(LIBRARY, "")
        del environment["EXPECT_RECORDING"]
        self.same([PROGRAM, "default_domain"], environment)
        del environment["GPROFML_SPOOL_DIR"]
        self.same([PROGRAM, "default_domain"], environment)

    def test_folder_that_does_not_exist_or_takes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for place in (folder + "/absent", "/proc", "/dev/null", folder + "/" + "x" * 5000):
                with self.subTest(place[:20]):
                    environment = recording.environment(LIBRARY, place)
                    del environment["EXPECT_RECORDING"]
                    self.same([PROGRAM, "end", "exit"], environment)

    def test_speaks_only_when_asked(self):
        with record("end", "exit", folder="/absent", GPROFML_VERBOSE="1") as run:
            self.assertEqual(run.code, 43)
            self.assertRegex(run.errors, r"\Agprof-ml: nothing is recorded: .*/absent.*\n\Z")

    def test_program_that_closes_every_descriptor(self):
        with tempfile.TemporaryDirectory() as own, record("close_everything", own) as run:
            self.assertEqual(run.code, 0)
            files = list(pathlib.Path(own).iterdir())
            self.assertGreater(len(files), 900)
            self.assertEqual({file.read_bytes() for file in files}, {b"own"})
            spool = run.spool()
        self.assertEqual(recording.unpaired(spool), [])
        self.assertIn("before", names(spool, "range_push"))
        self.assertIn("after", names(spool, "range_push"))

    def test_file_size_limit(self):
        with record("limited_file_size") as run:
            self.assertEqual((run.code, run.output),
                             (9, "scenario limited_file_size\nSIGXFSZ seen 0 times\n"))
            spool = run.spool()
        self.assertLessEqual(spool.file_bytes, 65536)
        self.assertEqual(spool.stopped, "")
        self.check_stopped(spool)

    def test_file_size_limit_at_the_first_write(self):
        for limit in (0, 1, 100, 500, 1000):
            for verbose in ("0", "1"):
                with self.subTest(limit), record("limited_from_the_start", str(limit),
                                                 GPROFML_VERBOSE=verbose) as run:
                    self.assertEqual((run.code, run.output),
                                     (9, "scenario limited_from_the_start\nSIGXFSZ pending: 0\n"
                                         "SIGXFSZ blocked: 0\n"))
                    self.assertEqual(run.errors.count("gprof-ml: "), int(verbose))
                    # Without room for the header there is no file at all.
                    self.assertEqual(len(run.paths), 0 if limit < 64 else 1)
                    for spool in run.spools():
                        self.assertLessEqual(spool.file_bytes, limit)
                        self.assertEqual((spool.stopped, names(spool, "range_push")), ("", []))
                        self.check_stopped(spool)

    def check_stopped(self, spool):
        """Cut off, it says so if that still fits."""
        for end in spool.of("end"):
            self.assertEqual(end["reason"], 3)
        for note in spool.of("note"):
            self.assertEqual(note["code"], "write_failed")

    def test_full_disk(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as out:
            script = ('mount -t tmpfs -o size=128k none "$1" || exit 77\n'
                      '"$2" hammer 4 20000; code=$?\ncp "$1"/*.spool "$3"; exit $code')
            result = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, "sh", folder, PROGRAM, out],
                env=recording.environment(LIBRARY, folder), capture_output=True, text=True)
            if result.returncode == 77 or "unshare" in result.stderr:
                self.skipTest("no file system can be mounted here")
            self.assertEqual((result.returncode, result.stdout), (0, "scenario hammer\n"))
            (path,) = pathlib.Path(out).glob("*.spool")
            spool = spool_dump.read_spool(path)
        self.assertEqual(spool.stopped, "")
        self.check_stopped(spool)

    def test_handlers_never_run_on_our_threads(self):
        with record("signals") as run:
            self.assertEqual(run.output,
                             "scenario signals\na handler ran on another thread: 0\n")


if __name__ == "__main__":
    LIBRARY, PROGRAM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
