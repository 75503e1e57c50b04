#!/usr/bin/env python3
"""The recorder with a CUPTI of version 12.6, and without one that works.

test_cupti.py LIBRARY PROGRAM TOOLKIT TOOLKIT_WITHOUT_FILTER [unittest arguments]; a toolkit is a
folder with lib64/libcupti.so.12.
"""

import os
import sys
import unittest

import recording

LIBRARY = PROGRAM = TOOLKIT = WITHOUT_FILTER = None
NO_ID = 0xFFFFFFFF
NO_EVENT_SYNC = 0xFFFFFFFFFFFFFFFF


def record(scenario, toolkit=None, **more):
    return recording.recorded(LIBRARY, [PROGRAM, scenario], CUDA_HOME=toolkit or TOOLKIT, **more)


def fields(record, *leave_out):
    return {key: value for key, value in record.items()
            if key not in ("kind", "chunk", "written_ns", *leave_out)}


class Test(unittest.TestCase):
    maxDiff = None

    def spool(self, scenario="", toolkit=None, **more):
        with record(scenario, toolkit, **more) as run:
            self.assertEqual((run.code, run.output, run.errors), (6, "done\n", ""))
            return run.spool()

    def test_kernels(self):
        spool = self.spool()
        first, second = spool.of("kernel")
        self.assertEqual(fields(first), {
            "start_ns": 1011, "end_ns": 1511, "graph_node": 0x100000002, "graph": 3,
            "name": "_Z5firstv", "device": 1, "context": 2, "stream": 7, "correlation": 11,
            "launch_config": 1})
        self.assertEqual((second["name"], second["launch_config"]), ("_Z6secondv", 1))
        (config,) = spool.of("launch_config")
        self.assertEqual(fields(config), {
            "id": 1, "grid_x": 10, "grid_y": 11, "grid_z": 12, "block_x": 128, "block_y": 2,
            "block_z": 1, "cluster_x": 4, "cluster_y": 5, "cluster_z": 6,
            "registers_per_thread": 64, "static_shared_bytes": 256, "dynamic_shared_bytes": 512,
            "local_bytes_per_thread": 32})

    def test_copies_and_fills(self):
        spool = self.spool()
        copy, peer = spool.of("copy")
        self.assertEqual(fields(copy), {
            "start_ns": 3000, "end_ns": 4000, "bytes": 5000000000, "graph_node": 31, "graph": 32,
            "device": 1, "context": 2, "stream": 8, "correlation": 21, "source_device": NO_ID,
            "target_device": NO_ID, "copy_kind": 1, "source_memory": 2, "target_memory": 3,
            "flags": 1})
        self.assertEqual(fields(peer, "source_memory", "target_memory"), {
            "start_ns": 3001, "end_ns": 4001, "bytes": 77, "graph_node": 33, "graph": 34,
            "device": 1, "context": 2, "stream": 9, "correlation": 22, "source_device": 4,
            "target_device": 5, "copy_kind": 10, "flags": 0})
        (fill,) = spool.of("fill")
        self.assertEqual(fields(fill), {
            "start_ns": 3002, "end_ns": 4002, "bytes": 99, "graph_node": 35, "graph": 36,
            "device": 1, "context": 2, "stream": 10, "correlation": 23, "value": 0xab,
            "memory": 5, "flags": 1})

    def test_places(self):
        spool = self.spool()
        self.assertEqual(fields(spool.of("device")[0]), {
            "id": 1, "name": "Old device", "uuid": "5a" * 16, "mig_uuid": "c3" * 16,
            "memory_bytes": 80000000000, "multiprocessors": 132, "compute_major": 9,
            "compute_minor": 0})
        self.assertEqual(fields(spool.of("context")[0]), {"id": 2, "device": 1, "null_stream": 7})
        self.assertEqual(fields(spool.of("stream")[0]),
                         {"context": 2, "id": 8, "priority": -5, "flag": 2, "correlation": 24})

    def test_what_old_records_lack_is_marked_unknown(self):
        spool = self.spool()
        self.assertEqual(fields(spool.of("sync")[0]), {
            "start_ns": 5000, "end_ns": 5001, "event_sync": NO_EVENT_SYNC, "type": 2,
            "correlation": 25, "context": 2, "stream": 8, "event": 40, "return_value": 0})
        self.assertEqual(fields(spool.of("cuda_event")[0]), {
            "event_sync": NO_EVENT_SYNC, "device_time_ns": 0, "correlation": 26, "context": 2,
            "stream": 9, "event": 40})
        self.assertEqual(fields(spool.of("overhead")[0]),
                         {"start_ns": 6000, "end_ns": 6001, "overhead_kind": 1 << 16, "tid": 4711,
                          "correlation": 0})

    def check_calls(self, spool):
        self.assertEqual(
            sorted((call["name"], call["domain"], call["correlation"]) for call in
                   spool.of("api_call")),
            [("cuInit", 1, 401), ("cuLaunchKernel_ptsz", 1, 402), ("cuMemFree_v2", 1, 404),
             ("cudaLaunchKernel_v7000", 0, 302), ("cudaMemcpyAsync_ptsz_v7000", 0, 303)])
        self.assertEqual({(call["tid"], call["return_value"], call["end_ns"] - call["start_ns"])
                          for call in spool.of("api_call")}, {(spool.header["pid"], 1, 100)})

    def test_only_calls_of_the_default_level(self):
        self.check_calls(self.spool())

    def test_calls_are_chosen_by_the_writer_where_cupti_cannot(self):
        spool = self.spool(toolkit=WITHOUT_FILTER)
        self.check_calls(spool)
        (note,) = [note for note in spool.of("note") if note["code"] == "cupti_lacks_functions"]
        self.assertIn("cuptiActivityEnableDriverApi", note["detail"])

    def test_graph_nodes_and_edges(self):
        spool = self.spool()
        self.assertEqual([fields(node, "time_ns", "tid") for node in spool.of("graph_node")], [
            {"node": 51, "original_node": 0, "graph": 50, "original_graph": 0, "type": 0},
            {"node": 61, "original_node": 51, "graph": 60, "original_graph": 50, "type": 0}])
        self.assertEqual(spool.of("graph_node")[0]["tid"], spool.header["pid"])
        self.assertEqual([fields(edge, "time_ns") for edge in spool.of("graph_edge")],
                         [{"source": 51, "target": 52, "is_removed": 0}])

    def test_level_2_has_memory_of_older_records(self):
        spool = self.spool(GPROFML_OPTIONS="level=2")
        self.assertEqual([fields(event) for event in spool.of("memory_event")], [{
            "time_ns": 7000, "address": 0xf000000000000010, "bytes": 5000000001, "pool": 0xabc0,
            "pool_size": 6000000000, "pool_used": 5500000000, "operation": 2, "memory": 3,
            "correlation": 27, "device": 1, "context": 2, "stream": 8, "source": 0}])
        self.assertEqual([fields(pool) for pool in spool.of("memory_pool")], [{
            "time_ns": 7100, "pool": 0xabc0, "size": 4096, "used": NO_EVENT_SYNC,
            "release_threshold": 1024, "operation": 3, "device": 1, "correlation": 28}])
        self.assertEqual([fields(moved) for moved in spool.of("unified_memory")], [{
            "start_ns": 7200, "end_ns": 7300, "address": 0x7000, "value": 65536, "counter": 2,
            "source_device": 1, "target_device": NO_ID, "flags": 3}])
        self.assertEqual(spool.of("graph_launch"), [])
        self.assertEqual(spool.facts()["level"], "2")
        self.assertEqual(spool.of("status")[-1]["unknown_records"], 1)

    def test_level_0_has_graphs_as_a_whole(self):
        spool = self.spool(GPROFML_OPTIONS="level=0")
        self.assertEqual([fields(launch) for launch in spool.of("graph_launch")], [{
            "start_ns": 7400, "end_ns": 7500, "graph": 60, "device": 1, "context": 2, "stream": 9,
            "correlation": 29}])
        self.assertEqual(spool.of("api_call", "memory_event"), [])

    def test_the_default_level_has_neither(self):
        self.assertEqual(self.spool().of("memory_event", "memory_pool", "unified_memory",
                                         "graph_launch"), [])

    def test_facts_and_counts(self):
        spool = self.spool()
        facts = spool.facts()
        self.assertEqual(facts["cuda"], "recorded")
        self.assertEqual(facts["nvtx"], "recorded")
        self.assertEqual(facts["cupti_version"], "24")
        self.assertEqual(os.path.realpath(facts["cupti_path"]),
                         os.path.realpath(TOOLKIT + "/lib64/libcupti.so.12"))
        self.assertNotIn("simulated", facts)
        last = spool.of("status")[-1]
        self.assertEqual((last["cupti_dropped"], last["unknown_records"],
                          last["incomplete_records"], last["discarded"]), (7, 1, 0, 0))
        self.assertNotEqual(last["cupti_ns"], 0)

    def test_a_name_at_an_address_used_before(self):
        names = [kernel["name"] for kernel in self.spool("again").of("kernel")]
        self.assertEqual(names[2:], ["_Z7kernel0v", "_Z7kernel1v", "_Z7kernel2v"])

    def test_incomplete_record_is_counted_and_what_is_before_it_kept(self):
        spool = self.spool("again", OLD_CUPTI_FAULT="incomplete")
        self.assertEqual(len(spool.of("kernel")), 5)
        self.assertEqual(spool.of("status")[-1]["incomplete_records"], 1)

    def test_forked_child_of_a_cuda_program_records_nvtx_only(self):
        with record("fork") as run:
            # The program would say so if CUPTI were called in the child.
            self.assertEqual((run.code, run.output, run.errors), (6, "done\n", ""))
            spools = {push["name"]: spool for spool in run.spools()
                      for push in spool.of("range_push")}
        self.assertEqual(set(spools), {"before CUDA", "child", "grandchild"})
        self.assertEqual(spools["before CUDA"].facts()["cuda"], "recorded")
        for name, parent in (("child", "before CUDA"), ("grandchild", "child")):
            spool, facts = spools[name], spools[name].facts()
            self.assertEqual(facts["parent_pid"], spools[parent].facts()["pid"])
            self.assertEqual(facts["cuda"], "not recorded: this process was forked from one that "
                                            "had used CUDA, and CUDA does not work in it")
            self.assertEqual(facts["nvtx"], "recorded")
            self.assertEqual({status["cupti_ns"] for status in spool.of("status")}, {0})
            self.assertGreaterEqual(spool.of("range_push")[0]["time_ns"], spool.header["start_ns"])
            self.assertEqual(spool.of("kernel", "api_call", "graph_node"), [])
            self.assertEqual(recording.unpaired(spool), [])
            self.assertTrue(spool.ended)

    def test_kind_that_is_refused(self):
        spool = self.spool(OLD_CUPTI_FAULT="no_copies")
        self.assertEqual([(note["code"], note["detail"]) for note in spool.of("note")
                          if note["code"] == "not_enabled"],
                         [("not_enabled", "copies: CUPTI_ERROR_NOT_COMPATIBLE (14)")])
        self.assertEqual(spool.facts()["cuda"], "recorded")
        self.assertEqual(len(spool.of("kernel")), 2)

    def check_nvtx_only(self, spool, why):
        self.assertRegex(spool.facts()["cuda"], why)
        self.assertEqual(spool.of("kernel", "api_call"), [])
        self.assertEqual([push["name"] for push in spool.of("range_push")], ["before CUDA"])
        self.assertEqual(recording.unpaired(spool), [])
        self.assertTrue(spool.ended)

    def test_another_tool_has_subscribed(self):
        self.check_nvtx_only(self.spool(OLD_CUPTI_FAULT="taken"), "another tool")

    def test_no_driver(self):
        self.check_nvtx_only(self.spool(OLD_CUPTI_FAULT="no_driver"), "driver")

    def test_flush_that_never_returns(self):
        spool = self.spool(OLD_CUPTI_FAULT="hang")
        self.assertIn("flush_timeout", [note["code"] for note in spool.of("note")])
        self.assertEqual(len(spool.of("kernel")), 2)
        self.assertTrue(spool.ended)

    def test_work_of_exit_handlers_after_ours_is_not_lost_silently(self):
        for scenario, wanted in (("late", ["work_after_exit"]), ("", [])):
            spool = self.spool(scenario, OLD_CUPTI_FAULT="withhold")
            self.assertEqual(len(spool.of("kernel")), 2)
            self.assertEqual([note["code"] for note in spool.of("note")
                              if note["code"] == "work_after_exit"], wanted)

    def test_fatal_error_of_cupti(self):
        spool = self.spool("break", OLD_CUPTI_FAULT="hang")
        self.assertEqual([(note["code"], note["detail"]) for note in spool.of("note")
                          if note["code"].startswith("cupti_fatal")],
                         [("cupti_fatal_error", "CUPTI_ERROR_NOT_COMPATIBLE (14): out of order")])
        self.assertTrue(spool.ended)


if __name__ == "__main__":
    LIBRARY, PROGRAM, TOOLKIT, WITHOUT_FILTER = (
        os.path.abspath(sys.argv.pop(1)) for _ in range(4))
    unittest.main()
