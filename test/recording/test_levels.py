#!/usr/bin/env python3
"""What each level records and what it does not, on the simulated GPU.

test_levels.py BUILD PROGRAMS [unittest arguments]; see test_recording.py.
"""

import json
import sys
import unittest

import test_recording
from test_recording import GPROF_ML, LLAMA, PROGRAMS, SIMGPU, RecordingTest

LEVEL_1 = "kernels,copies,fills,graph-nodes,launches,syncs,events,ranges,overhead"
TABLES = ("kernel", "copy", "fill", "graph_launch", "api_call", "sync", "cuda_event", "range",
          "graph_node", "memory_event", "memory_pool_event", "migration", "device", "stream")


class Levels(RecordingTest):
    """llama_infer with a graph, at each level, against the simulator's log."""

    def counts(self, name):
        return {table: self.query(name, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}

    def meta(self, name, key):
        return self.query(name, f"SELECT value FROM meta WHERE key = '{key}'")

    def empty(self, name):
        return {table for table, count in self.counts(name).items() if count == 0}

    def record_graph(self, name, *options):
        done = self.record(name, LLAMA, "--output-length", "8", "--graph", options=options)
        self.assert_equals_log(name)
        return done

    def test_level_0_has_steps_and_whole_graphs(self):
        done = self.record_graph("zero", "--level", "0")
        self.assertEqual(self.empty("zero"), {
            "kernel", "copy", "fill", "sync", "cuda_event", "graph_node", "memory_event",
            "memory_pool_event", "migration"})
        calls = {name for name, in self.query("zero", "SELECT name FROM api_call_named")}
        self.assertEqual(calls, {"cudaGraphLaunch", "cuGraphLaunch"} & calls)
        self.assertIn("cudaGraphLaunch", calls)
        self.assertEqual(self.query("zero", "SELECT count(*) FROM graph_launch WHERE launch IS NULL"),
                         [(0,)])
        self.assertEqual(self.meta("zero", "level"), [("0",)])
        self.assertEqual(self.meta("zero", "recorded_kinds"), [("ranges,overhead",)])
        self.assertIn("graph launches", done.stderr)
        # Work that was not to be recorded is no idle time to blame somebody for.
        self.assertEqual(self.report("zero")["verdict"]["bound"], "unknown")
        text = " ".join(self.text("zero").split())
        self.assertIn("NOT JUDGED: kernels, copies and fills were not to be recorded", text)
        self.assertIn("each recorded as a whole", text)

    def test_level_1_is_the_default(self):
        self.record_graph("default")
        self.record_graph("one", "--level", "1")
        self.assertEqual(self.counts("default"), self.counts("one"))
        self.assertEqual(self.meta("default", "recorded_kinds"), [(LEVEL_1,)])
        self.assertEqual(self.empty("one"),
                         {"graph_launch", "cuda_event", "memory_event", "memory_pool_event",
                          "migration"})
        self.record("events", PROGRAMS / "known_behaviour", "two_streams")
        self.assertGreater(self.counts("events")["cuda_event"], 10)

    def test_level_2_has_all_calls_and_memory(self):
        self.record_graph("one")
        self.record_graph("two", "--level", "2")
        one, two = self.counts("one"), self.counts("two")
        for table in ("kernel", "copy", "fill", "sync", "range", "graph_node"):
            self.assertEqual(one[table], two[table], table)
        self.assertGreater(two["api_call"], one["api_call"])
        self.assertGreater(two["memory_event"], 10)
        calls = {name for name, in self.query("two", "SELECT name FROM api_call_named")}
        self.assertIn("cudaStreamBeginCapture", calls)
        for noisy in ("cudaGetLastError", "cudaPeekAtLastError", "cudaGetDevice",
                      "__cudaPushCallConfiguration"):
            self.assertNotIn(noisy, calls)
        # Each allocation has its call, its thread and the program that asked for it.
        self.assertEqual(self.query("two", """SELECT count(*) FROM memory_event_named
            WHERE call_name IS NULL OR tid IS NULL OR source NOT LIKE '%llama_infer'"""), [(0,)])
        balance = self.query("two", "SELECT sum(bytes) FROM memory_event")[0][0]
        self.assertGreaterEqual(balance, 0)

    def test_level_3_has_what_level_2_has(self):
        self.record_graph("two", "--level", "2")
        self.record_graph("three", "--level", "3")
        self.assertEqual(self.counts("two"), self.counts("three"))

    def test_kinds_by_name(self):
        self.record_graph("kinds", "--kinds", "kernels,graph-nodes,memory,launches")
        self.assertEqual(self.empty("kinds"), {
            "copy", "fill", "sync", "cuda_event", "range", "graph_launch", "memory_pool_event",
            "migration"})
        self.assertEqual(self.meta("kinds", "recorded_kinds"),
                         [("kernels,graph-nodes,launches,memory",)])

    def test_what_is_no_kind_is_refused_before_the_program_starts(self):
        for options, said in ((["--kinds", "kernals"], 'no kind "kernals"'), (["--kinds", ""], ""),
                              (["--level", "4"], "--level"), (["--graphs", "half"], "--graphs")):
            done = self.call(GPROF_ML, "run", *options, "--", "touch", "started", code=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse((self.folder / "started").exists())


class WholeGraphs(RecordingTest):
    """--graphs whole beside node by node: the same program, two views."""

    def union_ns(self, name, *tables):
        rows = sorted(row for table in tables for row in self.query(
            name, f"SELECT start_ns, end_ns FROM {table}"))
        total, end = 0, None
        for start, stop in rows:
            total += max(0, stop - max(start, end if end is not None else start))
            end = stop if end is None else max(end, stop)
        return total

    def test_busy_time_is_the_nodes_and_the_gaps_between_them(self):
        for name, view in (("nodes", "nodes"), ("whole", "whole")):
            self.record(name, LLAMA, "--output-length", "8", "--graph", options=["--graphs", view])
            self.assert_equals_log(name)
        # Each launch as a whole lasts from its first node's start to its last one's end.
        spans = self.query("nodes", """SELECT min(start_ns), max(end_ns) FROM
            (SELECT start_ns, end_ns, launch, graph_node FROM kernel UNION ALL
             SELECT start_ns, end_ns, launch, graph_node FROM copy UNION ALL
             SELECT start_ns, end_ns, launch, graph_node FROM fill)
            WHERE graph_node IS NOT NULL GROUP BY launch ORDER BY 1""")
        whole = self.query("whole", "SELECT start_ns, end_ns FROM graph_launch ORDER BY 1")
        self.assertEqual(spans, whole)
        self.assertGreater(len(whole), 5)
        busy = {name: self.report(name, "--window", "all")["devices"][0] for name in ("nodes", "whole")}
        self.assertEqual(busy["nodes"]["busy_ns"],
                         self.union_ns("nodes", "kernel", "copy", "fill"))
        self.assertEqual(busy["whole"]["busy_ns"],
                         self.union_ns("whole", "kernel", "copy", "fill", "graph_launch"))
        self.assertGreater(busy["whole"]["busy_ns"], busy["nodes"]["busy_ns"])
        self.assertEqual(busy["whole"]["span_ns"], busy["nodes"]["span_ns"])
        self.assertEqual(busy["whole"]["graph_launches"], len(whole))
        self.assertNotIn("graph_launches", busy["nodes"])

    def test_whole_graphs_are_work_everywhere(self):
        self.record("whole", LLAMA, "--output-length", "8", "--graph", options=["--graphs", "whole"])
        report = self.report("whole", "--path")
        self.assertEqual(report["quality"]["coverage"], 1.0)
        self.assertEqual(report["quality"]["unlinked"], 0)
        path = report["critical_path"]["by_class"]
        self.assertGreater(path["cuda_graph"], 0)
        self.assertTrue(any(s["name"].startswith("CUDA graph ")
                            for s in report["critical_path"]["segments"]))
        self.assertTrue(any(k["name"].startswith("CUDA graph ") for k in report["kernels"]))
        decode = [op for op in report["ops"] if op["path"] == "decode_step"]
        self.assertGreater(decode[0]["device_ns"], 0)
        self.assertIn("each recorded as a whole", " ".join(self.text("whole").split()))


class GraphsInFull(RecordingTest):
    """Edges, handles and launches of graphs that change."""

    # Of the graphs that graph_variants launches, in their order: a, b, c are its three kernels.
    EDGES = [["ab", "ac"], ["ab", "bc"], ["ab", "ac", "bc"], ["ab", "ac"]]
    LAUNCHES = [1, 2, 6, 1]

    def edges(self, name):
        """Of each graph that ran, in the order of its first launch."""
        letters = dict(self.query(name, """SELECT DISTINCT graph_node, CASE WHEN text LIKE '%first%'
            THEN 'a' WHEN text LIKE '%second%' THEN 'b' ELSE 'c' END FROM kernel
            JOIN string ON string.id = kernel.name"""))
        graphs = [graph for graph, in self.query(name, """SELECT graph_id FROM kernel JOIN graph_node
            ON graph_node.id = kernel.graph_node GROUP BY graph_id ORDER BY min(start_ns)""")]
        return [sorted(letters[source] + letters[target] for source, target in self.query(
            name, f"""SELECT source, target FROM graph_edge JOIN graph_node ON graph_node.id = source
            WHERE graph_id = {graph}""")) for graph in graphs]

    def check(self, name):
        self.assert_equals_log(name)
        self.assertEqual(self.edges(name), self.EDGES)
        self.assertEqual(self.query(name, "SELECT count(*), count(launch) FROM kernel"),
                         [(3 * sum(self.LAUNCHES),) * 2])
        launches = self.query(name, """SELECT count(DISTINCT launch) FROM kernel JOIN graph_node
            ON graph_node.id = kernel.graph_node GROUP BY graph_id ORDER BY min(start_ns)""")
        self.assertEqual([count for count, in launches], self.LAUNCHES)
        by_name = {name for name, in self.query(name, """SELECT DISTINCT text FROM kernel JOIN api_call
            ON api_call.id = kernel.launch JOIN string ON string.id = api_call.name""")}
        self.assertEqual(by_name, {"cudaGraphLaunch", "cudaGraphLaunch_ptsz", "cuGraphLaunch",
                                   "cuGraphLaunch_ptsz"})

    def test_edges_are_those_of_the_instantiation(self):
        self.record("variants", PROGRAMS / "graph_variants")
        self.check("variants")

    def test_the_handle_of_a_destroyed_graph_comes_back(self):
        (self.folder / "model.json").write_text('{"faults": {"reused_execs": "1"}}')
        self.record("reused", PROGRAMS / "graph_variants", simgpu=["--model", "model.json"])
        self.check("reused")

    def test_whole(self):
        self.record("whole", PROGRAMS / "graph_variants", options=["--graphs", "whole"])
        self.assert_equals_log("whole")
        launches = self.query("whole", """SELECT count(*), count(launch) FROM graph_launch
            GROUP BY graph_id ORDER BY min(start_ns)""")
        self.assertEqual(launches, [(count, count) for count in self.LAUNCHES])

    def test_conditional_nodes_are_flagged(self):
        done = self.record("conditional", PROGRAMS / "graph_variants", "conditional")
        self.assert_equals_log("conditional")
        self.assertEqual(self.query("conditional", "SELECT count(*) FROM kernel"), [(6,)])
        self.assertEqual(self.query("conditional", """SELECT count(*) FROM graph_node_named
            WHERE type = 'conditional'"""), [(2,)])  # as made and as instantiated
        self.assertEqual(self.query("conditional", """SELECT count FROM quality_named
            WHERE code = 'conditional_nodes'"""), [(1,)])
        self.assertIn("conditional_nodes", done.stderr)


class Memory(RecordingTest):
    """Level 2 against the log, to the nanosecond."""

    def test_programs_by_another_hand(self):
        compared = {}
        for program in ("stream_pipeline", "graph_training_step", "multi_gpu_threads"):
            with self.subTest(program=program):
                self.record(program, PROGRAMS / program, options=["--level", "2"])
                compared[program] = self.assert_equals_log(program)
        self.assertRegex(compared["graph_training_step"], r"\d+ pools")
        self.assertRegex(compared["stream_pipeline"], r"\d+ migrations")

    def test_generated_programs(self):
        for seed in range(1, 4):
            with self.subTest(seed=seed):
                self.record(f"seed{seed}", PROGRAMS / "generated_program", "--seed", seed,
                            options=["--level", "2"])
                self.assertRegex(self.assert_equals_log(f"seed{seed}"), r"[1-9]\d* memory")

    def test_a_difference_is_found(self):
        self.record("plain", LLAMA, "--output-length", "4", options=["--level", "2"])
        import sqlite3
        database = sqlite3.connect(self.folder / "plain.db")
        database.execute("UPDATE memory_event SET time_ns = time_ns + 1 WHERE id = 3")
        database.commit()
        database.close()
        logs = sorted(self.folder.glob("plain.*.log"))
        done = self.call(sys.executable, test_recording.HERE / "compare_with_log.py", "plain.db",
                         *logs, code=1)
        self.assertIn("2 rows differ", done.stdout)


class OddRecords(RecordingTest):
    """What a newer CUPTI may hand over."""

    def model(self, **faults):
        (self.folder / "model.json").write_text(json.dumps({"faults": faults}))
        return ["--model", "model.json"]

    def test_longer_records_are_read_as_those_we_know(self):
        self.record("long", LLAMA, "--output-length", "4", "--graph", options=["--level", "2"],
                    simgpu=self.model(longer_records="24"))
        self.assert_equals_log("long")

    def test_unknown_kinds_are_skipped_and_counted(self):
        done = self.record("odd", LLAMA, "--output-length", "4", options=["--level", "2"],
                           simgpu=self.model(unknown_kind="10"))
        self.assert_equals_log("odd")
        counted = self.query("odd", "SELECT sum(count) FROM quality_named WHERE code = 'unknown_records'")
        self.assertGreater(counted[0][0], 20)
        self.assertIn("unknown_records", done.stderr)

    def test_refused_kinds_are_named(self):
        self.record("part", LLAMA, "--output-length", "4", options=["--level", "2"],
                    simgpu=self.model(**{"enable.MEMORY2": "1"}))
        notes = self.query("part", "SELECT detail FROM quality_named WHERE code = 'not_enabled'")
        self.assertTrue(any(": memory: " in detail for detail, in notes), notes)
        self.assertEqual(self.query("part", "SELECT count(*) FROM memory_event"), [(0,)])
        self.assertGreater(self.query("part", "SELECT count(*) FROM kernel")[0][0], 100)

    def test_handles_used_again(self):
        """The handle of a destroyed executable graph is the next one's: ids are what counts."""
        for name, faults in (("fresh", {}), ("reused", {"reused_execs": "1"})):
            self.record(name, PROGRAMS / "graph_training_step", simgpu=self.model(**faults))
            self.assert_equals_log(name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
