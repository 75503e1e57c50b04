#!/usr/bin/env python3
"""Runs llama_infer on the host as a user would: test_llama_infer.py BINARY [unittest args].

No GPU is needed."""

import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv[1]
SMALL = ("--layers", 2, "--width", 64, "--heads", 4, "--prompt-length", 5)
NO_GPU = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
VOCABULARY = 1024
MASK = (1 << 64) - 1


def run(*arguments, **options):
    """The finished process, its output as text; never longer than a minute."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False, **options)


def outcome(*arguments):
    """(tokens shown, checksum) of a run on the host that must succeed."""
    done = run("--cpu", *arguments)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{arguments}: exit code {done.returncode}, {done.stderr}")
    tokens = re.search(r"^tokens  +([\d ]+?)(?: \.\.\.)?$", done.stdout, re.MULTILINE).group(1)
    checksum = re.search(r"^checksum ([0-9a-f]{16})$", done.stdout, re.MULTILINE).group(1)
    return [int(token) for token in tokens.split()], checksum


class OnTheHost(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "model.bin"

    def test_a_seed_decides_everything(self):
        self.assertEqual(outcome(*SMALL, "--seed", 3), outcome(*SMALL, "--seed", 3))
        self.assertNotEqual(outcome(*SMALL, "--seed", 3), outcome(*SMALL, "--seed", 4))

    def test_a_shorter_output_is_the_beginning_of_a_longer_one(self):
        short, _ = outcome(*SMALL, "--output-length", 8)
        long, _ = outcome(*SMALL, "--output-length", 16)
        self.assertEqual(len(short), 8)
        self.assertEqual(len(long), 16)
        self.assertEqual(short, long[:8])
        self.assertGreater(len(set(long)), 4, "a constant would have this property too")

    def test_the_first_sequence_knows_nothing_of_the_others(self):
        self.assertEqual(outcome(*SMALL)[0], outcome(*SMALL, "--batch", 3)[0])
        self.assertNotEqual(outcome(*SMALL)[1], outcome(*SMALL, "--batch", 3)[1])

    def test_a_written_model_is_the_same_when_read(self):
        written = outcome(*SMALL, "--write-weights", self.file)
        self.assertEqual(outcome("--weights", self.file, "--prompt-length", 5), written)

    def test_another_model_with_the_same_prompt_says_something_else(self):
        first = outcome(*SMALL, "--write-weights", self.file)
        data = bytearray(self.file.read_bytes())
        for place in range(len(data) // 2 // 4 * 4, len(data), 4):
            value, = struct.unpack_from("<f", data, place)
            struct.pack_into("<f", data, place, -value)
        self.file.write_bytes(data)
        self.assertNotEqual(outcome("--weights", self.file, "--prompt-length", 5), first)

    def test_extremes(self):
        self.assertEqual(len(outcome(*SMALL, "--output-length", 1)[0]), 1)
        outcome("--layers", 1, "--width", 32, "--heads", 16, "--prompt-length", 1)
        outcome("--layers", 1, "--width", 32, "--heads", 1, "--prompt-length", 300,
                "--output-length", 3)

    def test_help_names_every_option(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("layers", "width", "heads", "prompt-length", "output-length", "batch",
                       "seed", "weights", "write-weights", "graph", "cpu", "verify", "help"):
            self.assertIn(f"  --{option} ", done.stdout)


class Refused(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "model.bin"

    def assert_refused(self, *arguments, words=()):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Allama_infer: [^\n]+\n\Z")
        for word in words:
            self.assertIn(str(word), done.stderr)

    def test_bad_options(self):
        for line in ("--layers 0", "--layers 257", "--width 33", "--width many", "--width 64x",
                     "--heads 3", "--heads 256", "--prompt-length 0", "--prompt-length 4090",
                     "--output-length -1", "--batch 257", "--seed -1", "--seed=",
                     "--seed 99999999999999999999", "--seed", "--graph=yes", "--fast"):
            with self.subTest(line=line):
                self.assert_refused(*line.split(), words=re.findall(r"^--[a-z-]+", line))

    def test_options_that_exclude_each_other(self):
        for line, word in {"--seed 1 --seed 2": "twice", "--cpu --verify": "--verify",
                           "--cpu --graph": "--graph",
                           "--weights x --layers 2": "--layers"}.items():
            with self.subTest(line=line):
                self.assert_refused(*line.split(), words=[word])

    def test_a_word_that_is_no_option(self):
        self.assert_refused("prompt", words=["prompt"])

    def test_files_that_are_no_model(self):
        whole = outcome(*SMALL, "--write-weights", self.file)
        self.assertTrue(whole)
        data = self.file.read_bytes()
        wrong_heads = data[:20] + struct.pack("<i", 7) + data[24:]
        for name, content in {"empty": b"", "a part of the header": data[:31],
                              "no magic": b"x" + data[1:], "a float is missing": data[:-4],
                              "a byte too many": data + b"\0", "another version":
                              data[:8] + b"\2" + data[9:], "impossible": wrong_heads,
                              "negative": data[:12] + b"\xff" * 4 + data[16:]}.items():
            with self.subTest(name=name):
                self.file.write_bytes(content)
                self.assert_refused("--cpu", "--weights", self.file, words=[self.file])

    def test_no_file_no_folder(self):
        self.assert_refused("--cpu", "--weights", self.file, words=[self.file])
        self.assert_refused("--cpu", *SMALL, "--write-weights", self.file / "x", words=[self.file])


class WithoutGpu(unittest.TestCase):
    def test_it_says_what_works(self):
        done = run(env=NO_GPU)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr,
                         r"\Allama_infer: no CUDA device found \([^\n]+\); --cpu [^\n]+\n\Z")


def random_bits(seed, index):
    """SplitMix64's output function, as random_value.hpp describes it."""
    bits = ((seed + 1) * 0x9e3779b97f4a7c15 + index * 0xd1342543de82ef95) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94d049bb133111eb) & MASK
    return bits ^ (bits >> 31)


class TextbookModel:
    """The model as the papers write it, in double precision, without a cache: each token's logits
    from all tokens before it. Reads the weight file by its documented format."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, version, self.layers, self.width, self.heads, vocabulary, _ = struct.unpack_from(
            "<8s6i", data)
        assert (magic, version, vocabulary) == (b"LLAMAF32", 1, VOCABULARY)
        self.numbers = struct.unpack_from(f"<{(len(data) - 32) // 4}f", data, 32)
        self.place = 0
        width, hidden = self.width, (self.width * 8 // 3 + 63) // 64 * 64
        self.embedding = self.matrix(VOCABULARY, width)
        self.layer = [(self.vector(width), self.matrix(3 * width, width), self.matrix(width, width),
                       self.vector(width), self.matrix(2 * hidden, width),
                       self.matrix(width, hidden)) for _ in range(self.layers)]
        self.final_norm = self.vector(width)
        self.output = self.matrix(VOCABULARY, width)
        assert self.place == len(self.numbers)

    def vector(self, size):
        self.place += size
        return self.numbers[self.place - size:self.place]

    def matrix(self, rows, columns):
        return [self.vector(columns) for _ in range(rows)]

    @staticmethod
    def times(matrix, vector):
        return [sum(map(float.__mul__, row, vector)) for row in matrix]

    @staticmethod
    def norm(vector, weight):
        scale = 1 / math.sqrt(sum(x * x for x in vector) / len(vector) + 1e-5)
        return [x * scale * w for x, w in zip(vector, weight)]

    def turned(self, head, position):
        out = []
        for pair in range(len(head) // 2):
            angle = position * 10000 ** (-2 * pair / len(head))
            x, y = head[2 * pair], head[2 * pair + 1]
            out += [x * math.cos(angle) - y * math.sin(angle),
                    x * math.sin(angle) + y * math.cos(angle)]
        return out

    def split(self, vector):
        size = self.width // self.heads
        return [vector[i:i + size] for i in range(0, self.width, size)]

    def attention(self, states, qkv_weights):
        """For each state the weighted values of all heads."""
        heads = []  # (queries, keys, values) of each position
        for position, state in enumerate(states):
            qkv = self.times(qkv_weights, state)
            query, key, value = (self.split(qkv[i:i + self.width])
                                 for i in range(0, 3 * self.width, self.width))
            heads.append(([self.turned(h, position) for h in query],
                          [self.turned(h, position) for h in key], value))
        result = []
        for position, (queries, _, _) in enumerate(heads):
            out = []
            for head, query in enumerate(queries):
                scores = [sum(map(float.__mul__, query, heads[i][1][head])) / math.sqrt(len(query))
                          for i in range(position + 1)]
                parts = [math.exp(score - max(scores)) for score in scores]
                out += [sum(part * heads[i][2][head][j] for i, part in enumerate(parts)) /
                        sum(parts) for j in range(len(query))]
            result.append(out)
        return result

    def logits(self, tokens):
        """The logits after each token."""
        hidden = [list(self.embedding[token]) for token in tokens]
        for attention_norm, qkv, attention_out, mlp_norm, gate_up, down in self.layer:
            attended = self.attention([self.norm(h, attention_norm) for h in hidden], qkv)
            for h, a in zip(hidden, attended):
                h[:] = map(float.__add__, h, self.times(attention_out, a))
                gate_and_up = self.times(gate_up, self.norm(h, mlp_norm))
                half = len(gate_and_up) // 2
                gated = [gate / (1 + math.exp(-gate)) * up
                         for gate, up in zip(gate_and_up[:half], gate_and_up[half:])]
                h[:] = map(float.__add__, h, self.times(down, gated))
        return [self.times(self.output, self.norm(h, self.final_norm)) for h in hidden]


class AgainstTextbook(unittest.TestCase):
    def check(self, *shape, prompt_length, output_length, seed):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.bin"
            tokens, _ = outcome(*shape, "--prompt-length", prompt_length, "--output-length",
                                output_length, "--seed", seed, "--write-weights", file)
            model = TextbookModel(file)
        prompt = [random_bits(~seed & MASK, i) % VOCABULARY for i in range(prompt_length)]
        all_logits = model.logits(prompt + tokens[:-1])
        for token, logits in zip(tokens, all_logits[prompt_length - 1:]):
            # Single precision may choose another one only of a pair that is nearly equal.
            self.assertGreater(logits[token], max(logits) - 1e-4)
            self.assertGreater(max(logits) - sorted(logits)[-10], 1e-2, "else any token would do")

    def test_several_heads(self):
        self.check("--layers", 2, "--width", 32, "--heads", 4,
                   prompt_length=7, output_length=10, seed=5)

    def test_a_prompt_of_one(self):
        self.check("--layers", 1, "--width", 64, "--heads", 1,
                   prompt_length=1, output_length=8, seed=6)

    def test_a_prompt_longer_than_a_tile(self):
        self.check("--layers", 1, "--width", 32, "--heads", 2,
                   prompt_length=19, output_length=4, seed=7)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
