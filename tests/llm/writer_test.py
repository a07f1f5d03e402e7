#!/usr/bin/env python3
"""The writer with known abilities has them, and a run with it learns what it should. writer_test.py KERF"""
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
default = { rows = 256, cols = 512, weight = 1 }
tail = { rows = 33, cols = 129 }
[reference]
expr = "y = softmax(x, axis=-1)"
"""
LADDER = [f'/* kerf\ntarget: cpu\ntune: A = {{1, 2, 4}}\n*/\nextern "C" void kerf_kernel(const float* x, float* y) {{ step({n}); }}\n'
          for n in range(4)]


def question(shown=None, more=""):
    text = "Write a fast kernel." if shown is None else f"Make this faster.\n\n## The kernel\n\n```cpp\n{shown.strip()}\n```\n"
    return [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": text + more}]


class Abilities(unittest.TestCase):
    def shares(self, more="", shown=None, count=3000):
        mind = writer.Writer(LADDER, seed=7, kind="op: softmax")
        notes = [mind.answer(question(shown, more))[1] for _ in range(count)]
        return {name: sum(note[name] for note in notes) / count for name in ("compiles", "right", "faster")}

    def test_every_effect_is_as_documented(self):
        texts = {"compiler output": "The compiler says:\n error", "wrong elements": "The worst is at [3]",
                 "experience": '<experience id="e1">\nop: softmax\n</experience>',
                 "skill": f'<skill id="s1">\n{writer.HELPFUL_SKILL}\n</skill>',
                 "good section": writer.GOOD, "harmful section": writer.HARMFUL}
        self.assertEqual(set(texts), set(writer.EFFECTS))
        for name, text in texts.items():
            expected = {a: min(max(writer.BASE[a] + writer.EFFECTS[name].get(a, 0), 0.02), 0.98) for a in writer.BASE}
            for ability, share in self.shares(text).items():
                self.assertAlmostEqual(share, expected[ability], delta=0.035, msg=f"{name}, {ability}")

    def test_other_text_has_no_effect(self):
        for text in ("Be brave.", writer.HELPFUL_SKILL, "op: softmax", '<skill id="x">\nop: softmax\n</skill>'):
            for ability, share in self.shares(text).items():
                self.assertAlmostEqual(share, writer.BASE[ability], delta=0.035, msg=text)

    def test_faster_means_one_rung_up(self):
        mind = writer.Writer(LADDER, seed=3)
        for shown in range(4):
            for _ in range(100):
                _, note = mind.answer(question(LADDER[shown]))
                self.assertEqual(note["rung"] > shown, note["faster"] and shown < 3)

    def test_draws_are_repeated_with_the_seed(self):
        a, b = (writer.Writer(LADDER, seed=5) for _ in range(2))
        self.assertEqual([a.answer(question()) for _ in range(20)], [b.answer(question()) for _ in range(20)])


@unittest.skipUnless(KERF, "no kerf was named")
class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.cache = holder.name  # of compiled kernels, for all tests

    def run_kerf(self, *args, folder, memory="off"):
        env = {**os.environ, "KERF_MEMORY": str(memory), "KERF_CACHE": self.cache}
        done = subprocess.run([KERF, *map(str, args)], cwd=folder, env=env, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout[-1500:] + done.stderr[-3000:])
        return done.stdout

    def test_a_run_writes_repairs_improves_and_evolves_its_prompts(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "task.toml").write_text(TASK)
            starts = self.run_kerf("synth", "task.toml", "--target", "cpu", "--list", folder=folder).splitlines()
            ladder = [self.run_kerf("naive", "task.toml", "--target", "cpu", folder=folder)]
            ladder += [self.run_kerf("synth", "task.toml", "--target", "cpu", "--start", n, folder=folder)
                       for n in reversed(range(min(len(starts), 4)))]
            server = writer.serve(writer.Writer(ladder, seed=2))
            url = f"http://127.0.0.1:{server.server_address[1]}/v1"
            result = json.loads(self.run_kerf(
                "optimize", "task.toml", "--mind", "llm", "--model", "writer", "--base-url", url, "--evals", 24, "--seed", 1,
                "--set", "measure.max_rounds=4", "--set", "search.tunings=0", "--set", "search.finalists=1", "--out", "run",
                "--json", folder=folder))
            self.assertGreater(result["best_step"], 0)
            traces = [json.loads(line) for line in self.run_kerf("traces", "export", "run", folder=folder).splitlines()]
            self.assertTrue(any(t["turn"] > 1 for t in traces), "nothing was repaired")
            self.assertTrue(any(t["role"] == "evolve" and t["result"] for t in traces), "no prompt was changed")
            listed = self.run_kerf("prompts", "list", "run", folder=folder)
            self.assertIn("seed, never changed", listed)
            variant = next(line.split()[0] for line in listed.splitlines() if "in use" in line)
            self.assertIn("+", self.run_kerf("prompts", "diff", "run", variant, folder=folder))
            self.assertIn("# strategies", self.run_kerf("prompts", "show", "run", variant, folder=folder))
            # A resumed run knows its prompts again.
            self.run_kerf("optimize", "--resume", "run", "--evals", 28, "--json", folder=folder)
            self.assertIn(variant, self.run_kerf("prompts", "list", "run", folder=folder))
            server.shutdown()
            server.server_close()

    def test_prompts_of_one_task_are_where_the_next_one_begins(self):
        quick = ["--set", "measure.max_rounds=4", "--set", "search.tunings=0", "--set", "search.finalists=1", "--json"]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            memory = folder / "memory.db"
            (folder / "first.toml").write_text(TASK)
            (folder / "second.toml").write_text(TASK.replace("y = softmax(x, axis=-1)", "y = x - mean(x, axis=-1, keepdims=true)"))
            ask = lambda *args: self.run_kerf(*args, folder=folder, memory=memory)
            def run(task, evals, out, *more):
                ladder = [ask("naive", task, "--target", "cpu"), ask("synth", task, "--target", "cpu", "--start", 0)]
                server = writer.serve(writer.Writer(ladder, seed=2))
                url = f"http://127.0.0.1:{server.server_address[1]}/v1"
                ask("optimize", task, "--mind", "llm", "--model", "writer", "--base-url", url, "--evals", evals, "--seed", 1, "--out",
                    out, *quick, *more)
                server.shutdown()
                server.server_close()
            run("first.toml", 15, "one")
            kept = [json.loads(line) for line in ask("prompts", "export").splitlines()[1:]]
            seed = next(one for one in kept if not one["parent"])
            self.assertGreaterEqual(seed["uses"], 12)
            self.assertIn(seed["id"], ask("prompts", "list"))
            # A variant as another machine would send it, worth more there than anything that was tried here: the second task asks with it
            # at once. The first run's own changes cannot have come to the same text.
            told = "Prefer what another machine has measured."
            sent = {**seed, "parent": seed["id"], "text": seed["text"].replace("# strategies\n", f"# strategies\n{told}\n"),
                    "mean": max(one["mean"] for one in kept) + 0.5}
            (folder / "theirs.jsonl").write_text('{"kind":"kerf prompts","schema":1}\n' + json.dumps(sent) + "\n")
            self.assertIn("1 prompt imported", ask("prompts", "import", "theirs.jsonl"))
            run("second.toml", 6, "two")
            run("second.toml", 6, "own", "--prompts", "own")
            asked = lambda out: [json.loads(line)["messages"] for line in ask("traces", "export", out).splitlines()]
            self.assertTrue(any(told in str(messages) for messages in asked("two")[:4]), "the kept prompt was not asked with")
            self.assertFalse(any(told in str(messages) for messages in asked("own")), "--prompts own takes none")
            after = {one["id"]: one for one in map(json.loads, ask("prompts", "export", "-").splitlines()[1:])}
            used = next(one for one in after.values() if told in one["text"] and one["parent"] == seed["id"])
            self.assertGreater(used["uses"], 0)
            self.assertEqual(used["runs"], 1)
            self.assertIn("forgotten", ask("prompts", "reset", "--target", "cpu"))
            self.assertEqual(len(ask("prompts", "export").splitlines()), 1)

    def test_experiences_are_shown_credited_and_ranked(self):
        """The writer is misled by kernels of one task and by no others: their values fall below those of the others."""
        quick = ["--set", "measure.max_rounds=4", "--set", "search.tunings=0", "--set", "search.finalists=1"]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            memory = folder / "memory.db"
            (folder / "task.toml").write_text(TASK)
            # Both are about as similar to the task, so that both are shown.
            for task, expr in (("harmless", "y = x - mean(x, axis=-1, keepdims=true)"), ("misleads", "y = x - min(x, axis=-1, keepdims=true)")):
                (folder / f"{task}.toml").write_text(f'name = "{task}"\n' + TASK.replace("y = softmax(x, axis=-1)", expr))
                self.run_kerf("optimize", f"{task}.toml", "--evals", 4, "--out", task, *quick, folder=folder, memory=memory)
            ladder = [self.run_kerf("naive", "task.toml", "--target", "cpu", folder=folder),
                      self.run_kerf("synth", "task.toml", "--target", "cpu", "--start", 0, folder=folder)]
            # With one of those hardly an answer compiles, else nearly all: neither other draws nor measured times weigh as much.
            mind = writer.Writer(ladder, seed=2, kind="task: misleads", base={"compiles": 0.95, "right": 0.9, "faster": 0.5},
                                 effects={**writer.EFFECTS, "experience": {"compiles": -0.93}, "compiler output": {}})
            server = writer.serve(mind)
            url = f"http://127.0.0.1:{server.server_address[1]}/v1"
            for seed in (1, 2):
                self.run_kerf("optimize", "task.toml", "--mind", "llm", "--model", "writer", "--base-url", url, "--evals", 24,
                              "--seed", seed, "--prompt-rule", "frozen", "--out", f"run{seed}", *quick, folder=folder, memory=memory)
            server.shutdown()
            server.server_close()
            traces = [json.loads(line) for line in self.run_kerf("traces", "export", "run1", folder=folder).splitlines()]
            shown = [trace for trace in traces if any(item.startswith("experience:") for item in trace["context"] or [])]
            self.assertGreater(len(shown), len(traces) // 2)
            self.assertIn("<experience id=", shown[0]["messages"][1]["content"])
            known = [json.loads(line) for line in self.run_kerf("memory", "export", folder=folder, memory=memory).splitlines()[1:]]
            values = {"harmless": [], "misleads": []}
            for one in known:
                for stage in ("draft_shown", "refine_shown"):
                    value = one["values"].get(stage, {"count": 0})
                    if value["count"] and one["task"] in values:
                        values[one["task"]] += [value["mean"]] * int(value["count"])
            mean = {task: sum(list_) / max(1, len(list_)) for task, list_ in values.items()}
            self.assertTrue(all(values.values()), values)
            self.assertGreater(mean["harmless"], mean["misleads"], values)
            # What was written is known now, with its source; the second run began with the first one's kernels.
            written = [one for one in known if one["mind"] == "llm" and one["kind"] == "kernel"]
            self.assertTrue(written and all("kerf_kernel" in one["source"] for one in written))
            self.assertIn("memory", self.run_kerf("show", "run2", "--json", folder=folder))
            self.assertTrue(any(one["kind"] == "failure" and one["mind"] == "llm" for one in known))


if __name__ == "__main__":
    unittest.main()
