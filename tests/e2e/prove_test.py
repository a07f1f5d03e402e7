#!/usr/bin/env python3
"""Proof bundles written, forged and checked by the real judge: prove_test.py KERF MAKE_RUN."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

KERF, MAKE_RUN = (os.path.abspath(path) for path in sys.argv[1:3])


class Prove(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.bundle = self.folder / "proof"
        subprocess.run([MAKE_RUN, self.folder / "run", "cpu", "40"], check=True)
        written = self.kerf("prove", self.folder / "run", "--out", self.bundle)
        self.assertEqual(written.returncode, 0, written.stderr)

    def kerf(self, *arguments):
        return subprocess.run([KERF, *map(str, arguments)], capture_output=True, text=True, env=dict(os.environ, KERF_CACHE=str(self.folder / "cache")))

    def check(self):
        result = self.kerf("prove", "--check", self.bundle, "--json", "--set", "measure.max_rounds=4")
        return result, json.loads(result.stdout) if result.stdout.strip() else None

    def forge(self, kernel=None, claim=None):
        """What someone would do who wants a false claim to look whole."""
        claimed = json.loads((self.bundle / "claim.json").read_text())
        if kernel:
            text = kernel((self.bundle / "kernel.cpp").read_text())
            (self.bundle / "kernel.cpp").write_text(text)
            claimed["evaluation"]["candidate"] = hashlib.sha256(text.encode()).hexdigest()
        if claim:
            claim(claimed)
        (self.bundle / "claim.json").write_text(json.dumps(claimed))
        files = sorted(p for p in self.bundle.rglob("*") if p.is_file() and p.name != "manifest.sha256")
        (self.bundle / "manifest.sha256").write_text(
            "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(self.bundle)}\n" for p in files))

    def test_an_honest_bundle_is_right_and_says_that_the_device_differs(self):
        result, verdict = self.check()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(verdict["right"] and verdict["holds"])
        self.assertFalse(verdict["same_device"])
        self.assertIn("Example processor", verdict["remarks"][0])
        self.assertNotEqual(verdict["claimed"]["seed"], verdict["found"]["seed"])
        sums = subprocess.run(["sha256sum", "-c", "manifest.sha256"], cwd=self.bundle, capture_output=True)
        self.assertEqual(sums.returncode, 0)

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
        _, first = self.check()

        def exaggerate(claim):
            claim["evaluation"]["device"] = first["found"]["device"]
            claim["evaluation"]["speedup"].update(ratio=1e6, low=9e5, high=1.1e6)

        self.forge(claim=exaggerate)
        result, verdict = self.check()
        self.assertEqual(result.returncode, 2)
        self.assertTrue(verdict["right"] and verdict["same_device"])
        self.assertFalse(verdict["as_fast"] or verdict["holds"])

    def test_another_task_is_refused(self):
        text = (self.bundle / "task/task.toml").read_text()
        (self.bundle / "task/task.toml").write_text(text.replace("1e-6", "1e-5"))
        self.forge()
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
