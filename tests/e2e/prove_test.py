#!/usr/bin/env python3
"""Proof bundles written, forged and checked by the real judge: prove_test.py KERF MAKE_RUN."""
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

KERF, MAKE_RUN = (os.path.abspath(path) for path in sys.argv[1:3])


class Prove(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.cache = holder.name  # of compiled kernels, for all tests

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.bundle = self.folder / "proof"
        subprocess.run([MAKE_RUN, self.folder / "run", "cpu", "40"], check=True)
        written = self.kerf("prove", self.folder / "run", "--out", self.bundle)
        self.assertEqual(written.returncode, 0, written.stderr)

    def kerf(self, *arguments):
        return subprocess.run([KERF, *map(str, arguments)], capture_output=True, text=True, env=dict(os.environ, KERF_CACHE=self.cache))

    def check(self, *arguments):
        result = self.kerf("prove", "--check", self.bundle, "--json", "--set", "measure.max_rounds=4", *arguments)
        return result, json.loads(result.stdout) if result.stdout.strip() else None

    def list_files(self):
        """A manifest of what is there, in Kerf's own order."""
        order = ["PROOF.md", "claim.json", "kernel.cpp", "task/task.toml"]
        files = [str(p.relative_to(self.bundle)) for p in self.bundle.rglob("*") if p.is_file() and p.name != "manifest.sha256"]
        files.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
        (self.bundle / "manifest.sha256").write_text(
            "".join(f"{hashlib.sha256((self.bundle / name).read_bytes()).hexdigest()}  {name}\n" for name in files))

    def forge(self, kernel=None, claim=None):
        """What someone would do who wants a false claim to look whole: change the run, and let Kerf write the bundle."""
        with sqlite3.connect(self.folder / "run/kerf.db") as db:
            step = int(db.execute("SELECT value FROM facts WHERE key = 'best_step'").fetchone()[0])
            source, text = db.execute("SELECT source, evaluation FROM steps WHERE number = ?", (step,)).fetchone()
            evaluation = json.loads(text)
            if kernel:
                source = kernel(source.decode()).encode()
                evaluation["candidate"] = hashlib.sha256(source).hexdigest()
            if claim:
                claim(evaluation)
            db.execute("UPDATE steps SET source = ?, evaluation = ? WHERE number = ?", (source, json.dumps(evaluation), step))
        written = self.kerf("prove", self.folder / "run", "--out", self.bundle)
        self.assertEqual(written.returncode, 0, written.stderr)

    def here(self, factor):
        """Makes the claim one about this device: `factor` times the ratios that are found here."""
        _, first = self.check()

        vs = first["found"]["speedup"]["vs"]

        def times(ratio):
            return {key: value if key == "vs" else value * factor for key, value in ratio.items()}

        def change(evaluation):
            evaluation["device"] = first["found"]["device"]
            by_name = {shape["shape"]: shape["speedups"][vs] for shape in first["found"]["shapes"]}
            for shape in evaluation["shapes"]:
                shape["speedups"] = {vs: times(by_name[shape["shape"]])}
            evaluation["speedup"] = times(first["found"]["speedup"])

        self.forge(claim=change)

    def test_an_honest_bundle_from_elsewhere_is_right_and_its_speed_is_not_checked(self):
        result, verdict = self.check()
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertTrue(verdict["right"])
        self.assertFalse(verdict["holds"] or verdict["same_device"])
        self.assertEqual(verdict["speed"], "not_checked")
        self.assertIn("Example processor", verdict["remarks"][0])
        self.assertNotEqual(verdict["claimed"]["seed"], verdict["found"]["seed"])
        sums = subprocess.run(["sha256sum", "-c", "manifest.sha256"], cwd=self.bundle, capture_output=True)
        self.assertEqual(sums.returncode, 0)
        text = self.kerf("prove", "--check", self.bundle, "--set", "measure.max_rounds=4")
        self.assertEqual(text.returncode, 3)
        self.assertIn("was not checked", text.stdout)

    def test_settings_of_the_bundle_are_not_used(self):
        with sqlite3.connect(self.folder / "run/kerf.db") as db:
            db.execute("UPDATE facts SET value = ? WHERE key = 'config'", ('seed = "1"\n[verify]\ntolerance = 1e9\n[measure]\nmax_rounds = 1\n',))
        self.forge(kernel=lambda text: text.replace("scale * w[c]", "scale * w[c] * 1.001f"))
        result, verdict = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertEqual(verdict["found"]["outcome"], "wrong_result")

    def test_a_task_of_the_checkers_own_decides(self):
        mine = self.folder / "rmsnorm.toml"
        mine.write_text((self.bundle / "task/task.toml").read_text())
        result, _ = self.check("--task", mine)
        self.assertEqual(result.returncode, 3, result.stderr)
        mine.write_text(mine.read_text().replace("cols = 1024", "cols = 1000"))
        result, _ = self.check("--task", mine)
        self.assertEqual(result.returncode, 2)
        self.assertIn("the proof is about another task", result.stderr)

    def test_only_regular_files_are_read(self):
        (self.bundle / "task/task.toml").rename(self.folder / "elsewhere.toml")
        (self.bundle / "task/task.toml").symlink_to(self.folder / "elsewhere.toml")
        result, _ = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertIn("task/task.toml is not a regular file", result.stderr)
        (self.bundle / "task/task.toml").unlink()
        os.mkfifo(self.bundle / "task/task.toml")
        result, _ = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertIn("task/task.toml is not a regular file", result.stderr)

    def test_a_page_that_says_something_else_is_named(self):
        page = self.bundle / "PROOF.md"
        page.write_text(page.read_text().replace("# rmsnorm", "# rmsnorm, checked"))
        self.list_files()
        result, _ = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertIn("PROOF.md is not what the claim's data give", result.stderr)

    def test_damaged_runs_are_reported_and_not_followed(self):
        damages = {
            "UPDATE parents SET parent = step WHERE step = (SELECT max(step) FROM parents)": "as a parent",
            "UPDATE parents SET parent = 999 WHERE step = (SELECT max(step) FROM parents)": "names step 999 as a parent",
            "UPDATE facts SET value = '-3' WHERE key = 'best_step'": "its best step is said to be '-3'",
            "UPDATE steps SET evaluation = '{\"schema\": 1}' WHERE number = 2": "is damaged: step 2",
            "DELETE FROM steps WHERE number = 1": "step 1 is expected",
            "DROP TABLE steps": "no such table",
        }
        for number, (sql, words) in enumerate(damages.items()):
            run = self.folder / f"run{number}"
            shutil.copytree(self.folder / "run", run)
            db = sqlite3.connect(run / "kerf.db")
            db.execute("PRAGMA foreign_keys = OFF")
            db.execute(sql)
            db.commit()
            db.close()
            for command in (["show", run], ["explain", run, "best"], ["report", run], ["prove", run], ["export", run]):
                result = self.kerf(*command)
                self.assertEqual(result.returncode, 2, (command, result.stdout, result.stderr))
                self.assertIn(words, result.stderr)

    def test_line_breaks_in_names_are_escaped(self):
        self.forge(claim=lambda e: e.update(device="H200\n\nthe claim holds", toolchain="g++\x1b[2J"))
        text = self.kerf("prove", "--check", self.bundle, "--set", "measure.max_rounds=4")
        self.assertEqual(text.returncode, 3, text.stderr)
        self.assertIn("H200\\n\\nthe claim holds", text.stdout)
        self.assertNotIn("\x1b", text.stdout + text.stderr)
        self.assertNotIn("\nthe claim holds", text.stdout)

    def test_any_changed_file_is_named(self):
        for name in ("kernel.cpp", "claim.json", "task/task.toml", "PROOF.md"):
            before = (self.bundle / name).read_bytes()
            (self.bundle / name).write_bytes(before + b"\n")
            result, _ = self.check()
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{name} was changed", result.stderr)
            (self.bundle / name).write_bytes(before)

    def test_a_wrong_kernel_is_refused_however_well_it_is_forged(self):
        self.forge(kernel=lambda text: text.replace("scale * w[c]", "scale * w[0]"))
        result, verdict = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertFalse(verdict["right"] or verdict["holds"])
        self.assertEqual(verdict["found"]["outcome"], "wrong_result")
        self.assertIn("does not hold", result.stderr)

    def test_an_exaggerated_speed_is_refused_on_the_same_device(self):
        self.here(factor=1000)
        result, verdict = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertTrue(verdict["right"] and verdict["same_device"])
        self.assertEqual(verdict["speed"], "refuted")
        self.assertFalse(verdict["as_fast"] or verdict["holds"])

    def test_a_claim_about_this_device_is_held_against_what_is_found(self):
        self.here(factor=1)
        for _ in range(3):  # how fast a busy machine is, is no test; what is made of it, is
            _, verdict = self.check()
            claimed, found = verdict["claimed"]["speedup"]["ratio"], verdict["found"]["speedup"]
            inside = claimed * 1.05 >= found["low"] and claimed <= found["high"] * 1.05
            shapes = any("was claimed" in remark for remark in verdict["remarks"])
            self.assertEqual(verdict["speed"] == "refuted", shapes or not inside, verdict)

    def test_another_task_is_refused(self):
        text = (self.bundle / "task/task.toml").read_text()
        (self.bundle / "task/task.toml").write_text(text.replace("1e-6", "1e-5"))
        self.list_files()
        result, _ = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertIn("not the task that the claim is about", result.stderr)

    def test_a_folder_with_other_things_is_not_overwritten(self):
        other = self.folder / "mine"
        other.mkdir()
        (other / "thesis.tex").write_text("x")
        result = self.kerf("prove", self.folder / "run", "--out", other)
        self.assertEqual(result.returncode, 2)
        self.assertTrue((other / "thesis.tex").exists())
        self.assertEqual(self.kerf("prove", self.folder / "run", "--out", self.bundle).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
