#!/usr/bin/env python3
"""Searches that share a memory, campaigns, and the commands that look after a memory: memory_test.py KERF."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

KERF = os.path.abspath(sys.argv[1])
TASK = """name = "{name}"
[inputs]
x = "f32[n]"
[shapes]
default = {{ n = 20000, weight = 1 }}
tail = {{ n = 33 }}
[reference]
expr = "y = {expr}"
"""
QUICK = ["--set", "measure.max_rounds=4", "--set", "measure.time_limit_ms=50", "--set", "search.finalists=1", "--set", "judge.soak_seconds=0.1"]


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.cache = holder.name  # of compiled kernels, for all tests

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        for name, expr in (("one", "exp(x) * 0.5"), ("two", "tanh(x) + 1.0"), ("three", "sqrt(abs(x)) * 2.0")):
            (self.folder / f"{name}.toml").write_text(TASK.format(name=name, expr=expr))

    def kerf(self, *args, code=0, **variables):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "KERF_CACHE": self.cache, **variables}
        for name in ("KERF_MEMORY", "XDG_DATA_HOME"):
            if name not in variables:
                environment.pop(name, None)
        ran = subprocess.run([KERF, *args], cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def optimize(self, task, out, *more, **variables):
        return self.kerf("optimize", task, "--evals", "5", "--seed", "3", "--out", out, "--json", *QUICK, *more, **variables)

    def steps(self, run):
        rows = [row.split(",") for row in self.kerf("show", run, "--csv").stdout.splitlines()]
        return [dict(zip(rows[0], row)) for row in rows[1:]]

    def sources(self, run):
        database = sqlite3.connect(f"file:{self.folder / run}/kerf.db?mode=ro", uri=True)
        return [row[0] for row in database.execute("SELECT source FROM steps WHERE proposer = 'memory' AND stage = 'start' ORDER BY number")]

    def test_a_search_begins_with_what_an_earlier_one_learned(self):
        self.optimize("one.toml", "first", "--memory", "memory.db")
        stats = json.loads(self.kerf("memory", "stats", "--memory", "memory.db", "--json").stdout)
        self.assertEqual([task["task"] for task in stats["tasks"]], ["one"])
        self.assertGreater(stats["experiences"], 2)
        self.optimize("two.toml", "second", "--memory", "memory.db")
        steps = self.steps("second")
        self.assertEqual((steps[0]["proposer"], steps[0]["stage"], steps[0]["outcome"]), ("memory", "start", "measured"))
        self.assertIn("remembered from one", self.kerf("explain", "second", "1").stdout)
        # The kernels that were remembered got their rewards.
        stats = json.loads(self.kerf("memory", "stats", "--memory", "memory.db", "--json").stdout)
        self.assertGreater({task["task"]: task["uses"] for task in stats["tasks"]}["one"], 0)
        found = json.loads(self.kerf("memory", "search", "three.toml", "--memory", "memory.db", "--json").stdout)["experiences"]
        self.assertEqual({one["task"] for one in found}, {"one", "two"})
        shown = json.loads(self.kerf("memory", "show", found[0]["id"], "--memory", "memory.db", "--json").stdout)
        self.assertEqual(shown["id"], found[0]["id"])
        self.assertNotIn("kerf\ntarget", self.kerf("memory", "show", found[0]["id"][:10], "--memory", "memory.db").stdout)
        whole = self.kerf("memory", "show", found[0]["id"], "--source", "--memory", "memory.db").stdout
        self.assertIn(shown["source"].splitlines()[-1], whole)
        # What is told as the best is what its run reported: measured again.
        best = {task["task"]: task["best_speedup"] for task in stats["tasks"]}
        reported = json.loads(self.kerf("show", "second", "--json").stdout)["best"]
        if not reported.get("plain"):
            self.assertAlmostEqual(best["two"], reported["speedup"]["ratio"], places=3)
        self.kerf("memory", "show", "zz", "--memory", "memory.db", code=2)
        # Resumed and replayed it takes what it took, whatever became of the memory.
        (self.folder / "memory.db").unlink()
        self.kerf("optimize", "--resume", "second", "--evals", "6", "--memory", "off", "--json")
        replayed = self.kerf("optimize", "--replay", "second", "--out", "again", "--memory", "other.db")
        self.assertNotIn("another kernel", replayed.stdout + replayed.stderr)
        self.assertEqual(self.sources("again"), self.sources("second"))

    def test_the_same_seed_and_memory_take_the_same_kernels(self):
        self.optimize("one.toml", "first", "--memory", "memory.db")
        text = self.kerf("memory", "export", "--memory", "memory.db").stdout
        (self.folder / "kept.jsonl").write_text(text)
        for name in ("a", "b"):
            self.kerf("memory", "import", "kept.jsonl", "--memory", f"{name}.db")
            self.optimize("two.toml", name, "--memory", f"{name}.db")
        self.assertTrue(self.sources("a"))
        self.assertEqual(self.sources("a"), self.sources("b"))

    def test_a_memory_can_be_off(self):
        self.optimize("one.toml", "first", "--memory", "off")
        self.optimize("one.toml", "second", KERF_MEMORY="off")
        self.assertEqual([step for step in self.steps("second") if step["proposer"] == "memory"], [])
        # Off stays off when the run goes on; a file that is given then is used.
        self.kerf("optimize", "--resume", "first", "--evals", "7", "--json")
        self.assertFalse((self.folder / "home" / ".local").exists())
        self.kerf("optimize", "--resume", "first", "--evals", "8", "--memory", "later.db", "--json")
        self.assertTrue((self.folder / "later.db").exists())
        self.kerf("memory", "stats", KERF_MEMORY="off", code=2)

    def test_looking_makes_no_memory(self):
        self.assertIn("nothing is known yet", self.kerf("memory", "stats").stdout)
        self.assertIn("there is no memory nope.db", self.kerf("memory", "stats", "--memory", "nope.db", code=2).stderr)
        self.kerf("memory", "search", "one.toml", code=2)
        self.assertFalse((self.folder / "nope.db").exists() or (self.folder / "home").exists())
        self.assertIn("unexpected argument 'foo'", self.kerf("memory", "stats", "foo", code=2).stderr)

    def test_it_is_kept_in_the_users_folder_unless_told_otherwise(self):
        self.optimize("one.toml", "first")
        self.assertTrue((self.folder / "home/.local/share/kerf/memory.db").exists())
        self.optimize("one.toml", "second", KERF_MEMORY=str(self.folder / "mine.db"))
        self.assertTrue((self.folder / "mine.db").exists())
        self.optimize("two.toml", "third", "--set", "search.remembered=0")
        self.assertEqual([step for step in self.steps("third") if step["proposer"] == "memory"], [])

    def test_a_file_that_is_no_memory_is_refused_by_name_and_left_out_by_default(self):
        (self.folder / "letter.txt").write_text("Dear Sir or Madam, this is not a database and will never be one.\n" * 20)
        ran = self.kerf("optimize", "one.toml", "--memory", "letter.txt", code=2)
        self.assertIn("--memory off", ran.stderr)
        mine = self.folder / "home/.local/share/kerf/memory.db"
        mine.parent.mkdir(parents=True)
        mine.write_text("Dear Sir or Madam, this is not a database and will never be one.\n" * 20)
        self.assertIn("warning", self.optimize("one.toml", "first").stderr)

    def test_what_others_send_is_held_to_its_limits(self):
        self.optimize("one.toml", "first", "--memory", "memory.db")
        lines = self.kerf("memory", "export", "--memory", "memory.db").stdout.splitlines()
        record = json.loads(lines[1])
        record["recipe"]["genes"][0]["parameters"] = {"CHUNK": "$(reboot)"}
        lines += [json.dumps(record), "garbage", "\x1b[31m"]
        (self.folder / "sent.jsonl").write_text("\n".join(lines) + "\n")
        ran = self.kerf("memory", "import", "sent.jsonl", "--memory", "new.db", "--json")
        result = json.loads(ran.stdout)
        self.assertEqual((result["added"], len(result["skipped"])), (len(lines) - 4, 3))
        self.assertIn(f"line {len(lines) - 2}: 'parameters'", ran.stderr)
        self.assertNotIn("\x1b", ran.stdout + ran.stderr)
        again = json.loads(self.kerf("memory", "import", "sent.jsonl", "--memory", "new.db", "--json").stdout)
        self.assertEqual((again["added"], again["known"]), (0, len(lines) - 4))
        without = self.kerf("memory", "export", "--memory", "new.db", "--without", "one").stdout
        self.assertEqual(len(without.splitlines()), 1)
        self.assertIn("did you mean 'one'?", self.kerf("memory", "export", "--memory", "new.db", "--without", "onee", code=2).stderr)
        self.kerf("memory", "import", "sent.jsonl", "--memory", "new.db", "--without", "nope", code=2)
        (self.folder / "bad.jsonl").write_text(lines[0] + "\ngarbage\n")
        self.kerf("memory", "import", "bad.jsonl", "--memory", "new.db", code=1)
        # The name of a task is for people; what identifies an experience is the task's id.
        named = {**json.loads(lines[1]), "task": "another"}
        (self.folder / "named.jsonl").write_text(lines[0] + "\n" + json.dumps(named) + "\n")
        self.kerf("memory", "import", "named.jsonl", "--memory", "named.db")
        (self.folder / "named.jsonl").write_text(lines[0] + "\n" + json.dumps({**named, "task_id": "another"}) + "\n")
        self.kerf("memory", "import", "named.jsonl", "--memory", "named.db", code=1)
        self.kerf("memory", "import", "one.toml", "--memory", "new.db", code=2)
        self.assertIn("choose one of: stats", self.kerf("memory", "stat", "--memory", "new.db", code=2).stderr)

    def test_a_campaign_takes_easy_tasks_first_and_goes_on_after_a_bad_one(self):
        # The builtin mind has no kernels for tasks whose reference is C++ code.
        (self.folder / "bad.toml").write_text(TASK.format(name="bad", expr="x").replace("[shapes]", '[outputs]\ny = "f32[n]"\n[shapes]')
                                              .replace('expr = "y = x"', 'cpp = "ref.cpp"'))
        (self.folder / "ref.cpp").write_text("template <class real> void reference(const real* x, real* y) {\n"
                                             "  for (long long i = 0; i < n; ++i) y[i] = x[i] + x[i];\n}\n")
        (self.folder / "sum.toml").write_text(TASK.format(name="sum", expr="sum(exp(x), axis=0)"))
        rest = ["--evals", "4", "--rounds", "2", "--seed", "5", "--memory", "memory.db", "--out", "runs/all", *QUICK]
        self.assertIn("task 'bad' has a C++ reference", self.kerf("campaign", "one.toml", "bad.toml", *rest, code=2).stderr)
        self.assertFalse((self.folder / "runs").exists())
        result = json.loads(self.kerf("campaign", "sum.toml", "one.toml", "two.toml", "--json", *rest).stdout)
        entries = {entry["task"]: entry for entry in result["tasks"]}
        self.assertEqual(result["tasks"][2]["task"], "sum")
        for name in ("one", "two", "sum"):
            self.assertEqual((entries[name]["error"], entries[name]["rounds_done"]), ("", 2), entries[name])
            self.assertGreaterEqual(entries[name]["evaluations"], 4)
        self.assertGreater(entries["two"]["remembered"], 0)
        runs = json.loads(self.kerf("runs", "--json").stdout)["runs"]
        self.assertEqual({run["task"] for run in runs}, {"one", "two", "sum"})
        self.assertIn("all/sum-cpu", self.kerf("runs").stdout)
        self.assertIn("sum on cpu", self.kerf("show", "all/sum-cpu").stdout)
        # Again with the same folder: what is done stays; one that fails does not stop the others.
        (self.folder / "bad.toml").write_text(TASK.format(name="bad", expr="tanh(x)"))
        (self.folder / "runs/all/bad-cpu").mkdir()
        (self.folder / "runs/all/bad-cpu/letter.txt").write_text("a file in the way of the run\n")
        command = ["campaign", "bad.toml", "sum.toml", "one.toml", "two.toml", *rest]
        again = json.loads(self.kerf(*command, "--json", code=1).stdout)
        self.assertTrue(next(entry["error"] for entry in again["tasks"] if entry["task"] == "bad"))
        self.assertEqual(again["seed"], 5)
        self.assertEqual({entry["task"]: entry["evaluations"] for entry in again["tasks"] if entry["task"] != "bad"},
                         {name: entries[name]["evaluations"] for name in ("one", "two", "sum")})
        table = self.kerf(*command, code=1)
        self.assertIn("1 of 4 tasks failed: bad", table.stderr)
        self.assertIn("tries what failed again", table.stdout)
        self.assertIn("kerf show runs/all/", table.stdout)
        # What is next does not hang on a kernel that is faster than the plain one: as if none were, then as if one were.
        kept = self.folder / "runs/all/campaign.json"
        written = json.loads(kept.read_text())
        for faster in (None, "two"):
            for entry in written["tasks"]:
                won = entry["task"] == faster
                entry.update(plain=not won, best={"vs": "naive", "ratio": 3, "low": 2, "high": 4} if won else None)
            kept.write_text(json.dumps(written))
            told = self.kerf(*command, code=1).stdout
            self.assertIn(f"kerf show runs/all/{faster or 'one'}-cpu", told)
            self.assertEqual("kerf export runs/all/" in told, faster is not None, told)
        self.kerf("campaign", "one.toml", "--out", "runs/all/one-cpu", code=2)
        self.kerf("campaign", "one.toml", "one.toml", "--out", "twice", code=2)

    def test_a_campaign_tries_verified_skills_again_within_its_budget(self):
        """Planted in the memory: a skill for maps that was verified once; its hint is what a search would try anyway."""
        (self.folder / "sum.toml").write_text(TASK.format(name="sum", expr="sum(exp(x), axis=0)"))
        (self.folder / "skill.toml").write_text(
            'name = "planted"\ndescription = "d"\n[scope]\ntargets = ["cpu"]\nfamilies = ["map"]\n[body]\nkey_idea = "k"\n'
            '[[hint]]\nfamily = "pointwise"\nvariant = "simd"\n')
        self.kerf("skills", "add", "skill.toml", "--memory", "memory.db")
        with sqlite3.connect(self.folder / "memory.db") as base:
            ((name, text),) = base.execute("SELECT id, record FROM skills")
            trial = {"admitted": True, "reason": "r", "tasks": ["a", "b", "c"], "unrelated": "d", "samples": 36, "effect": 0.01,
                     "low": 0.001, "high": 0.02, "over_placebo": 0.01, "placebo_low": 0.001, "placebo_high": 0.02, "elsewhere": 0,
                     "elsewhere_low": 0, "elsewhere_high": 0, "right_with": 1, "right_without": 1, "target": "cpu", "device": "d",
                     "mind": "builtin", "kerf_version": "0", "recorded_ms": 5, "imported": False}
            base.execute("UPDATE skills SET state = 'verified', record = ? WHERE id = ?",
                         (json.dumps({**json.loads(text), "state": "verified", "evidence": [trial]}), name))
        rest = ["one.toml", "two.toml", "three.toml", "sum.toml", "--evals", "1", "--rounds", "1", "--seed", "5", "--memory", "memory.db",
                *QUICK]
        evidence = lambda: json.loads(self.kerf("skills", "show", "planted", "--memory", "memory.db", "--json").stdout)["evidence"]
        off = json.loads(self.kerf("campaign", "one.toml", *rest[4:], "--recheck", "0", "--json", "--out", "off").stdout)["skills"]
        self.assertEqual((off["budget"], off["skills"]), (0, []))
        small = json.loads(self.kerf("campaign", *rest, "--recheck", "50", "--json", "--out", "small").stdout)["skills"]
        self.assertEqual((small["budget"], small["evaluations"], small["verified"]), (50, 0, 1))
        self.assertIn("72 evaluations or more", small["note"])
        self.assertEqual(len(evidence()), 1)
        tried = self.kerf("campaign", *rest, "--recheck", "80", "--out", "tried")
        self.assertRegex(tried.stdout, r"skills: 1 of 1 verified tried again, 0 of \d+ candidates, 72 of 80 evaluations")
        kept = json.loads((self.folder / "tried" / "campaign.json").read_text())["skills"]["skills"][0]
        self.assertEqual((kept["name"], kept["pairs"]), ("planted", 6))
        self.assertEqual(evidence()[-1]["admitted"], kept["holds"])
        self.assertFalse((self.folder / "tried" / "skills").exists())
        # Once a campaign.
        again = json.loads(self.kerf("campaign", *rest, "--recheck", "80", "--json", "--out", "tried").stdout)["skills"]
        self.assertEqual(again["skills"][0], kept)
        self.assertEqual(len(evidence()), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
