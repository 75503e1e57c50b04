#!/usr/bin/env python3
"""Has llama_infer compare the tokens of its kernels with those of the host, for shapes that reach
each path of the kernels: test_verify.py BINARY [unittest args]. BINARY computes the kernels: on a
GPU or, compiled so, on the host."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv[1]


class Verify(unittest.TestCase):
    def check(self, line, tokens):
        done = subprocess.run([BINARY, "--verify", *line.split()], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.splitlines()[-1], f"verify: {tokens} tokens equal")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_layers_and_heads(self):
        self.check("--layers 3 --width 64 --heads 4 --output-length 10", 10)

    def test_a_head_smaller_than_a_warp_and_one_larger(self):
        self.check("--layers 1 --width 32 --heads 16 --output-length 3", 3)
        self.check("--layers 1 --width 96 --heads 1 --output-length 3", 3)

    def test_a_row_longer_than_a_block(self):
        self.check("--layers 1 --width 288 --heads 2 --prompt-length 2 --output-length 2", 2)

    def test_more_positions_than_threads_of_a_block(self):
        self.check("--layers 1 --width 32 --heads 1 --prompt-length 290 --output-length 3", 3)

    def test_a_prompt_of_one(self):
        self.check("--layers 2 --width 32 --heads 2 --prompt-length 1 --output-length 6", 6)

    def test_a_graph_replays_what_single_launches_do(self):
        line = "--layers 2 --width 32 --heads 2 --batch 2 --output-length 8"
        single, graph = self.check(line, 16), self.check(line + " --graph", 16)
        self.assertEqual(single.splitlines()[-2], graph.splitlines()[-2], "the checksum")

    def test_a_prompt_that_fills_no_tile(self):
        self.check("--layers 1 --width 32 --heads 2 --batch 3 --prompt-length 7 --output-length 2",
                   6)

    def test_weights_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.bin"
            self.check(f"--layers 1 --width 32 --heads 2 --output-length 4 --write-weights {file}",
                       4)
            self.check(f"--output-length 4 --weights {file}", 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
