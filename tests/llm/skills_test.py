#!/usr/bin/env python3
"""Skills with the writer of known abilities, on real executions: its effects are the truth that a trial is held against.

skills_test.py KERF                            the way of a skill through a trial, a run and its traces (minutes)
skills_test.py KERF --trial SAMPLES KIND...    trials of a good, inert or harmful skill; prints one JSON object each

Figures are a simulation of the learner's environment, not of a language model."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import writer

KERF = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else ""
TASK = """
[inputs]
x = "f32[rows, cols]"
[shapes]
default = {{ rows = {rows}, cols = {cols}, weight = 1 }}
tail = {{ rows = 33, cols = 129 }}
[reference]
expr = "y = softmax(x, axis=-1)"
"""
SHAPES = {"wide": (128, 1024), "square": (256, 512), "tall": (512, 256), "other": (64, 2048)}
FAST = ["--set", "measure.max_rounds=2", "--set", "measure.min_rounds=2"]
PLANTED = {  # what the writer makes of each is documented on its first page
    "good": f"Use {writer.HELPFUL_SKILL}: take several rows at a time and finish them before the next.",
    "inert": "Read the task twice before you begin, and be careful with every line you write.",
    "harmful": f"{writer.HARMFUL} That keeps the source short.",
}


def skill_file(name, idea):
    return (f'name = "{name}"\ndescription = "Advice on the order in which rows of a softmax are computed"\n'
            f'tags = ["softmax", "row"]\n[scope]\ntargets = ["cpu"]\nfamilies = ["reduce"]\n[body]\nkey_idea = "{idea}"\n')


class Place:
    """A folder with the tasks, a memory of its own and a writer that knows their kernels."""

    def __init__(self, folder, seed=1):
        self.folder = pathlib.Path(folder)
        self.env = {**os.environ, "KERF_MEMORY": str(self.folder / "memory.db"), "KERF_CACHE": str(self.folder / "cache")}
        for name, (rows, cols) in SHAPES.items():
            (self.folder / f"{name}.toml").write_text(TASK.format(rows=rows, cols=cols))
        for name, idea in PLANTED.items():
            (self.folder / f"{name}-skill.toml").write_text(skill_file(name, idea))
        starts = self.kerf("synth", "square.toml", "--target", "cpu", "--list").splitlines()
        ladder = [self.kerf("naive", "square.toml", "--target", "cpu")]  # right for every shape: extents are constants of the build
        ladder += [self.kerf("synth", "square.toml", "--target", "cpu", "--start", n) for n in reversed(range(min(len(starts), 4)))]
        self.notes = open(self.folder / "notes.jsonl", "a", buffering=1)
        self.server = writer.serve(writer.Writer(ladder, seed=seed), self.notes)
        self.models = ["--mind", "llm", "--model", "writer", "--base-url", f"http://127.0.0.1:{self.server.server_address[1]}/v1"]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.notes.close()

    def kerf(self, *args):
        done = subprocess.run([KERF, *map(str, args)], cwd=self.folder, env=self.env, text=True, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stdout[-1500:] + done.stderr[-3000:])
        return done.stdout

    def trial(self, name, samples, evaluations):
        self.kerf("skills", "add", f"{name}-skill.toml")
        return json.loads(self.kerf("skills", "verify", name, "--task", "wide.toml", "--task", "square.toml", "--task", "tall.toml",
                                    "--unrelated", "other.toml", "--samples", samples, "--evals", evaluations, "--seed", 1,
                                    *FAST, *self.models, "--json"))

    def told(self):
        """What the writer found in the prompts so far."""
        return [json.loads(line) for line in (self.folder / "notes.jsonl").read_text().splitlines()]


@unittest.skipUnless(KERF, "no kerf was named")
class Skills(unittest.TestCase):
    def test_the_way_of_a_skill(self):
        with tempfile.TemporaryDirectory() as name:
            place = Place(name)
            # A trial shows the skill in one arm of three.
            tried = place.trial("good", 2, 1)
            kernels = [note for note in place.told() if note["asked"] == "kernel"]
            with_skill = [note for note in kernels if "skill" in note["found"]]
            self.assertEqual(len(kernels), 24, "four tasks, three arms, two samples of one answer")
            self.assertEqual(len(with_skill), 8)
            self.assertIn(tried["state"], ("verified", "refused"))
            self.assertEqual(tried["evidence"][-1]["samples"], 6)
            self.assertEqual(tried["evidence"][-1]["unrelated"], "other")
            # Runs do not use what was not verified, unless they are told to; then a model chooses.
            optimize = ["optimize", "square.toml", "--evals", 5, "--seed", 3, "--set", "search.tunings=0",
                        "--set", "search.finalists=1", *FAST, *place.models, "--json"]
            place.kerf("skills", "add", "inert-skill.toml")
            place.kerf(*optimize, "--out", "plain")
            traces = [json.loads(line) for line in place.kerf("traces", "export", "plain").splitlines()]
            self.assertFalse([t for t in traces if t["role"] == "select"])
            place.kerf(*optimize, "--out", "chosen", "--skills", "all")
            traces = [json.loads(line) for line in place.kerf("traces", "export", "chosen").splitlines()]
            choices = [t for t in traces if t["role"] == "select"]
            self.assertTrue(choices, "a model was asked which skills to show")
            self.assertIn("Advice on the order", choices[0]["messages"][-1]["content"])
            place.close()


def trials(samples, kinds):
    with tempfile.TemporaryDirectory() as name:
        place = Place(name, seed=7)
        for kind in kinds:
            tried = place.trial(kind, samples, 6)
            print(json.dumps({"skill": kind, "state": tried["state"], **tried["evidence"][-1]}), flush=True)
        place.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trial"]:
        trials(int(sys.argv[2]), sys.argv[3:] or list(PLANTED))
    else:
        unittest.main()
