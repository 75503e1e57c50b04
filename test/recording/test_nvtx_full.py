#!/usr/bin/env python3
"""NVTX in full, from the program to run.db: test_nvtx_full.py BUILD PROGRAMS NCCL [unittest arguments].

BUILD and PROGRAMS as test_recording.py has them. NCCL is a libnccl.so, empty where there is none:
then the test that needs it is skipped, and says so.
"""

import pathlib
import sys
import unittest

NCCL = sys.argv.pop(3)

from test_recording import GPROF_ML, PROGRAMS, RecordingTest  # pylint: disable=wrong-import-position

COLLECTIVES = ("SELECT operation, bytes, kernel_name, communicator, group_size FROM collective_named "
               "ORDER BY bytes, start_ns")


class Nvtx(RecordingTest):
    """What nvtx_full says."""

    def setUp(self):
        super().setUp()
        self.say("said")

    def say(self, wanted, *arguments, code=0):
        done = self.call(GPROF_ML, "run", "-o", "said.db", "--force", "--", PROGRAMS / "nvtx_full",
                         *arguments, code=code)
        self.assertEqual(done.stdout.strip(), wanted)
        return done

    def payload(self, name):
        return self.query("said", "SELECT key, value FROM range_payload_named WHERE range_name = "
                          f"'{name}' ORDER BY id")

    def test_everything(self):
        """One recording for all that it is asked, since each costs a start."""
        for check in (self.categories, self.plain_payloads, self.structures, self.dynamic,
                      self.counters, self.threads, self.nothing_is_missing):
            with self.subTest(check.__name__):
                check()

    def categories(self):
        rows = self.query("said", "SELECT name, domain, category, color FROM range_named "
                          "WHERE category <> '' ORDER BY name")
        self.assertEqual(rows, [("default category 3", "", "loading", 0xFF00FF80),
                                ("default category 4", "", "schön", None),
                                ("domain category 3", "model", "attention", 0),
                                ("named later", "model", "late", None),
                                ("never named", "model", "77", None)])

    def plain_payloads(self):
        for name, value in {"int32": "-7", "uint32": "4000000000", "int64": "-9007199254740993",
                            "uint64": "18446744073709551615", "float": "0.25",
                            "double": "0.001", "on another thread": "1"}.items():
            self.assertEqual(self.payload(name), [("payload", value)], name)

    def structures(self):
        self.assertEqual(self.payload("structure"), [
            ("request", "42"), ("small", "-1"), ("mode", "decode"), ("bits", "read|evict"),
            ("name", "gpt\ufffd"), ("inner[0].layer", "7"), ("inner[0].rate", "[0.5, 1, 2]"),
            ("inner[1].layer", "8"), ("inner[1].rate", "[3, 4, 5]"),
            ("handle", "a registered string"), ("payload", "5")])

    def dynamic(self):
        begun = [("n", "3"), ("positions", "[10, 11, 12]"), ("label", "heat"), ("last", "9")]
        rows = self.query("said", "SELECT id, kind, start_ns = end_ns FROM range_named "
                          "WHERE name = 'heat' ORDER BY start_ns")
        self.assertEqual(len(rows), 3)
        values = {row: self.query("said", "SELECT key, value FROM range_payload_named WHERE range = "
                                  f"{row} ORDER BY id") for row, _, _ in rows}
        (push, push_kind, _), (mark, _, is_mark), (start, start_kind, _) = rows
        self.assertEqual((push_kind, is_mark, start_kind),
                         ("push_pop", 1, "start_end"))
        self.assertEqual(values[push], begun + [("payload", "42")])
        self.assertEqual(values[mark], begun)
        self.assertEqual(values[start], begun + [("payload", "42")])

    def counters(self):
        rows = self.query("said", "SELECT name, value, unit, process_pid IS NOT NULL FROM "
                          "counter_sample_named ORDER BY name, time_ns, id")
        values = {}
        for name, value, unit, of_process in rows:
            self.assertTrue(of_process)
            values.setdefault((name, unit), []).append(value)
        self.assertEqual(values, {("model/queue", "tokens"): [5, 5, 0, -3],
                                  ("loss", ""): [0.125, 1.5, 2.5, 3.5],
                                  ("model/cache.used", "tokens"): [17],
                                  ("model/cache.rate[0]", ""): [0.5],
                                  ("model/cache.rate[1]", ""): [0.75]})
        described = self.query("said", "SELECT description.text FROM counter_metric JOIN string AS "
                               "name ON name.id = counter_metric.name JOIN string AS description "
                               "ON description.id = description WHERE name.text = 'model/queue'")
        self.assertEqual(described, [("what waits",)])

    def threads(self):
        rows = self.query("said", "SELECT thread_name FROM range_named "
                          "WHERE name = 'on another thread'")
        self.assertEqual(rows, [("worker",)])

    def nothing_is_missing(self):
        rows = self.query("said", "SELECT code, count, detail FROM quality_named WHERE code IN "
                          "('undecoded_values', 'payloads_cut', 'counter_samples_lost', "
                          "'nvtx_registrations_lost', 'malformed_records', 'ranges_lost')")
        self.assertEqual(rows, [])

    def test_nonsense_hurts_nobody(self):
        self.say("survived", "hostile", code=5)
        noted = {code: count for code, count in
                 self.query("said", "SELECT code, count FROM quality_named")}
        for code in ("undecoded_values", "payloads_cut", "counter_samples_lost",
                     "nvtx_registrations_lost"):
            self.assertGreater(noted.get(code, 0), 0, code)
        names = [name for name, in self.query("said", "SELECT name FROM range_named ORDER BY start_ns")]
        self.assertEqual(names, ["hostile", "too many", "nothing there", "too long", "after"])
        (value,), = self.query("said", "SELECT value FROM range_payload_named "
                               "WHERE range_name = 'too long'")
        self.assertEqual(value, "0x" + "00" * 4096)


class Nccl(RecordingTest):
    """NCCL's calls become collectives."""

    def test_planted_calls(self):
        self.record("planted", PROGRAMS / "nccl_like")
        reduce, broadcast, send = ("ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                   "ncclDevKernel_Broadcast_RING_LL", "ncclDevKernel_SendRecv")
        ours, other = ("0xabcdef0123456789", 8), ("0x77", None)
        self.assertEqual(self.query("planted", COLLECTIVES), [
            ("ncclBroadcast", 50, None, *other),
            ("ncclSend", 100, send, *ours),
            ("ncclRecv", 200, send, *ours),
            ("ncclAllReduce", 300, reduce, *ours),
            ("ncclBroadcast", 400, broadcast, *ours),
            ("ncclAllReduce", 500, None, *ours),
            ("ncclAllReduce", 600, None, *other),
            *[("ncclAllReduce", 700, reduce, *ours)] * 3,
            ("ncclAllReduce", 4096, reduce, *ours)])
        # Send and receive share a kernel; the replays and the two of one group do not.
        distinct = self.query("planted", "SELECT COUNT(kernel), COUNT(DISTINCT kernel) FROM collective")
        self.assertEqual(distinct, [(8, 7)])
        inside = self.query("planted", "SELECT COUNT(*) FROM collective JOIN range ON range.id = "
                            "collective.range JOIN kernel ON kernel.id = collective.kernel JOIN api_call "
                            "ON api_call.id = kernel.launch WHERE bytes = 4096 AND api_call.start_ns "
                            "BETWEEN range.start_ns AND range.end_ns")
        self.assertEqual(inside, [(1,)])
        self.report("planted")

    @unittest.skipIf(not NCCL, "there is no libnccl.so here: what the real NCCL says is NOT tested")
    def test_the_real_nccl(self):
        done = self.call(GPROF_ML, "run", "-o", "real.db", "--", PROGRAMS / "real_nccl", NCCL)
        # 4, an invalid argument: it says what it was to do before it looks at that.
        self.assertEqual(done.stdout, "ncclAllReduce: 4\nncclSend: 4\n")
        self.assertEqual(self.query("real", COLLECTIVES), [
            ("ncclSend", 400, None, "0x0", None),
            ("ncclAllReduce", 8196000, None, "0x0", None)])
        said = self.query("real", "SELECT range_name, key FROM range_payload_named ORDER BY start_ns, id")
        self.assertEqual(said, [
            ("ncclAllReduce", "NCCL communicator ID"), ("ncclAllReduce", "Message size [bytes]"),
            ("ncclAllReduce", "Reduction operation"), ("ncclSend", "NCCL communicator ID"),
            ("ncclSend", "Message size [bytes]"), ("ncclSend", "Peer rank")])
        peer = self.query("real", "SELECT value FROM range_payload_named WHERE key = 'Peer rank'")
        self.assertEqual(peer, [("3",)])


if __name__ == "__main__":
    if NCCL and not pathlib.Path(NCCL).exists():
        sys.exit(f"{NCCL} does not exist")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
