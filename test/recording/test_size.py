#!/usr/bin/env python3
"""Recordings of size on the simulated GPU: test_size.py BUILD PROGRAMS [unittest arguments].

The soak (issue 4, "done when" 2) makes 1.5 million records, under GPROFML_VALIDATE 30 million. It
runs on the wall clock, since how much piles up in the recorder depends on how fast a program is; what
is asserted does not.
"""

import os
import re
import sys
import unittest

from test_recording import GPROF_ML, PROGRAMS, SIMGPU, RecordingTest

SIZE = PROGRAMS / "size"
MOST_GROWTH_KIB = 200 * 1024
# A launch with <<<>>> makes three records: the kernel, the runtime's call and the driver's.
RECORDS_OF_LAUNCH = 3
SOAK_RECORDS = 30_000_000 if os.environ.get("GPROFML_VALIDATE") else 1_500_000
# Records that tell of what was not recorded, by their note in table `quality`.
LOSSES = ("dropped_records", "discarded_records", "incomplete_records")


def told(done):
    """What the program says of itself."""
    line = done.stdout.strip().splitlines()[-1]
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}


class Soak(RecordingTest):
    def lost(self, name):
        return self.query(name, f"""SELECT coalesce(sum(count), 0) FROM quality q
            JOIN string s ON s.id = q.code WHERE s.text IN {LOSSES}""")[0][0]

    def test_many_launches_in_little_memory_and_no_loss_untold(self):
        program = (SIZE, "launches", SOAK_RECORDS // RECORDS_OF_LAUNCH)
        alone = told(self.call(SIMGPU, "--clock", "wall", "--", *program))
        recorded = told(self.record("soak", *program, simgpu=("--clock", "wall")))
        launches = recorded["kernels"]
        self.assertGreaterEqual(launches * RECORDS_OF_LAUNCH, SOAK_RECORDS)
        self.assertLessEqual(recorded["peak_kib"] - alone["peak_kib"], MOST_GROWTH_KIB)

        kernels = self.query("soak", "SELECT count(*) FROM kernel")[0][0]
        by_kind = dict(self.query("soak", """SELECT kind, count(*) FROM api_call_named
            WHERE name LIKE '%LaunchKernel%' GROUP BY kind"""))
        missing = launches - kernels + sum(launches - by_kind.get(kind, 0)
                                           for kind in ("runtime", "driver"))
        lost = self.lost("soak")
        # What else may be among the lost: a few records for each wait, some tens at start and end.
        self.assertLessEqual(missing, lost)
        self.assertLessEqual(lost, missing + 4 * recorded["waits"] + 100)
        if lost == 0:
            self.assertEqual(self.query("soak", "SELECT count(*) FROM kernel WHERE launch IS NULL"),
                             [(0,)])

    def record(self, name, *program, simgpu=(), **more):
        """Without the simulator's log, which would cost more than the recording."""
        return self.call(GPROF_ML, "run", "-o", f"{name}.db", "--", SIMGPU, *simgpu, "--", *program,
                         patience=1800, **more)


class Graph(RecordingTest):
    """Done when 3: a graph of 500 nodes, replayed 1,000 times."""

    NODES, TIMES = 500, 1000

    def test_every_kernel_of_every_replay_has_its_op(self):
        self.call(GPROF_ML, "run", "-o", "graph.db", "--", SIMGPU, "--", SIZE, "replays",
                  self.NODES, self.TIMES)
        ops = self.query("graph", """SELECT op.text, count(*), count(DISTINCT k.graph_node)
            FROM kernel k LEFT JOIN graph_node g ON g.id = k.graph_node
            LEFT JOIN range r ON r.id = g.op LEFT JOIN string op ON op.id = r.name
            GROUP BY op.text""")
        layers = self.NODES // 10
        self.assertEqual(sorted(ops), sorted((f"layer_{i}", 10 * self.TIMES, 10)
                                             for i in range(layers)))
        calls = self.query("graph", """SELECT count(DISTINCT launch), count(*) FROM kernel
            WHERE launch IS NOT NULL""")
        self.assertEqual(calls, [(self.TIMES, self.NODES * self.TIMES)])
        self.assertEqual(self.query("graph", """SELECT DISTINCT around.text FROM graph_node g
            JOIN range r ON r.id = g.op JOIN range o ON o.thread = r.thread
                AND o.start_ns <= r.start_ns AND o.end_ns >= r.end_ns AND o.id != r.id
            JOIN string around ON around.id = o.name"""), [("captured_step",)])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
