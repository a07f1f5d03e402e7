#!/usr/bin/env python3
"""kerf bench with a real PyTorch on a folder of small problems: bench_test.py KERF PYTHON (one that may have PyTorch)."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from chromium import Chromium  # noqa: E402

KERF, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
HEAD = "import time\nimport torch\nimport torch.nn as nn\n\n\n"


def model(forward, init="pass", inputs="[torch.rand(64, 256)]", before=""):
    return HEAD + f"""class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        return {forward}


def get_inputs():
    {before or 'pass'}
    return {inputs}


def get_init_inputs():
    return []
"""


PROBLEMS = {
    "level1/1_Row_softmax.py": model("torch.softmax(x - 0.5, dim=-1)"),
    "level1/2_Scaled_tanh.py": model("torch.tanh(2 * x) + x"),
    "level1/10_Broken.py": "import torch\n\nclass Model(:\n",
    "level2/1_Active_dropout.py": model("self.drop(x) * 2", init="self.drop = nn.Dropout(0.5)"),
    "level2/3_Hangs.py": model("x + 1", before="time.sleep(600)"),
}
ROBUST = HEAD + """def forward_fn(x, weight):
    return torch.relu(x * weight)


class Model(nn.Module):
    def __init__(self, features, scale=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features) * scale)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight)


def get_inputs(batch=2, features=4):
    return [torch.randn(batch, features)]


input_names = ["x"]
"""


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.root = pathlib.Path(holder.name)
        cls.suite = cls.root / "kb"
        for name, text in PROBLEMS.items():
            file = cls.suite / "KernelBench" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        cls.environment = dict(os.environ, KERF_CACHE=str(cls.root / "cache"), KERF_PYTHON=PYTHON, NO_COLOR="1")

    def command(self, *words):
        return [KERF, "bench", *words]

    def kerf(self, *words, code=0):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, env=self.environment, cwd=self.root, timeout=800)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_a_whole_folder_with_failures_as_rows(self):
        out = self.root / "whole"
        budget = ["--evals", "4", "--seed", "1", "--timing", "1"]
        # The file that hangs is given little time; searches are slow on a busy machine.
        self.kerf("kernelbench", "--path", str(self.suite), "--out", str(out), "--level", "2", "--task-limit", "15", *budget)
        words, progress = self.kerf("kernelbench", "--path", str(self.suite), "--out", str(out), *budget)
        for line in words.splitlines():
            self.assertLessEqual(len(line.replace(str(out), "")), 80, line)
        self.assertIn("level 1", words)
        self.assertIn("failures by reason", words)
        self.assertIn("5 of 5 problems", progress)
        results = json.loads((out / "results.json").read_text())
        rows = {row["id"]: row for row in results["problems"]}
        self.assertEqual(list(rows), ["1/1", "1/2", "1/10", "2/1", "2/3"])
        self.assertEqual({i: row["failure"] for i, row in rows.items()},
                         {"1/1": "", "1/2": "", "1/10": "broken", "2/1": "refused", "2/3": "timed_out"}, words + progress)
        for good in ("1/1", "1/2"):
            row = rows[good]
            self.assertEqual(row["progress"], "done")
            self.assertTrue(row["pytorch"]["correct"])
            self.assertTrue(row["pytorch"]["kernelbench_correct"])
            self.assertGreater(row["pytorch"]["over_eager"]["ratio"], 0)
            self.assertLessEqual(row["pytorch"]["over_eager"]["low"], row["pytorch"]["over_eager"]["high"])
            self.assertGreater(row["pytorch"]["eager"]["median_us"], 0)
            self.assertGreater(row["search_memory_bytes"], 0)
            for name in ("solution.py", "task.toml", "run/report.html", "record.json"):
                self.assertTrue((out / row["folder"] / name).is_file(), name)
        self.assertIsNotNone(rows["2/1"]["pytorch"]["eager"], "PyTorch alone is timed where there is no kernel")
        self.assertIn("dropout", rows["2/1"]["message"])
        self.assertIn("took more than", rows["2/3"]["message"])
        level = results["scores"][1]
        self.assertEqual((level["level"], level["problems"], level["failed"]), (2, 2, 2))
        self.assertEqual(level["over_eager"]["fast_1"], 0)
        self.assertEqual(level["over_eager"]["geometric_mean"], 1)
        table = (out / "results.tsv").read_text().splitlines()
        self.assertEqual(len(table), 6)
        self.assertEqual({len(line.split("\t")) for line in table}, {28})
        self.check_page(out / "index.html")

        # The same command has nothing to do, and says the same.
        before = (out / "level1/1_Row_softmax/record.json").read_text()
        again, progress = self.kerf("kernelbench", "--path", str(self.suite), "--out", str(out), *budget)
        self.assertEqual(again, words)
        self.assertIn("5 of 5 are done already", progress)
        self.assertEqual((out / "level1/1_Row_softmax/record.json").read_text(), before)
        shown, _ = self.kerf("kernelbench", "--show", "--out", str(out), "--json")
        self.assertEqual(json.loads(shown)["scores"], results["scores"])

        # What failed is tried again when it is asked for, with a file that was mended meanwhile.
        (self.suite / "KernelBench/level1/10_Broken.py").write_text(model("torch.relu(x - 0.5)"))
        self.kerf("kernelbench", "--path", str(self.suite), "--out", str(out), "--level", "1", "--retry-failed", *budget)
        rows = {row["id"]: row for row in json.loads((out / "results.json").read_text())["problems"]}
        self.assertEqual(rows["1/10"]["progress"], "done")
        self.assertEqual(rows["2/3"]["failure"], "timed_out", "not asked for now, still reported")

    def check_page(self, page):
        self.assertIn("default-src 'none'", page.read_text())
        if not shutil.which("chromium"):
            print("no chromium: the page is not looked at")
            return
        with Chromium() as browser:
            browser.open(page.as_uri())
            self.assertEqual(browser.js("document.documentElement.dataset.ready"), "yes")
            self.assertEqual(browser.js("document.querySelectorAll('#problem-table tbody tr').length"), 5)
            self.assertEqual(browser.js("document.querySelectorAll('#score-table tbody tr').length"), 3)
            self.assertEqual(browser.js("document.querySelectorAll('#curves-chart .curve').length"), 3)
            self.assertEqual(browser.js("document.querySelectorAll('#speedups-chart .mark').length"), 2)
            first = "document.querySelector('#problem-table tbody tr').dataset.id"
            self.assertEqual(browser.js(first), "1/1")
            browser.js("document.querySelector('#problem-table th button').click()")
            self.assertEqual(browser.js(first), "2/3", "sorted the other way round")
            browser.js("[...document.querySelectorAll('#problems .switch button')].find(b => b.textContent === 'level 1').click()")
            self.assertEqual(browser.js("document.querySelectorAll('#problem-table tbody tr').length"), 3)
            browser.js("document.querySelector('#problem-table tbody tr').click()")
            self.assertIn("Broken", browser.js("document.querySelector('#detail[open] h2').textContent"))
            self.assertEqual(browser.problems, [])
            self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "data:"))], [])

    def test_killed_and_taken_up_again(self):
        out = self.root / "killed"
        words = ["kernelbench", "--path", str(self.suite), "--out", str(out), "--level", "1", "--problems", "1-2", "--evals", "4",
                 "--seed", "3", "--timing", "1"]
        process = subprocess.Popen(self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment, cwd=self.root)
        first = out / "level1/1_Row_softmax"
        deadline = time.monotonic() + 200
        events = first / "run/events.jsonl"
        while not (events.exists() and '"step"' in events.read_text()) and time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "it ended before it was killed")
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertFalse((out / "results.json").exists())
        _, progress = self.kerf(*words)
        self.assertIn("2 of 2 problems", progress)
        rows = json.loads((out / "results.json").read_text())["problems"]
        self.assertEqual([row["progress"] for row in rows], ["done", "done"])
        self.assertIn("resumed", events.read_text())

    def test_robust_kbench_settings(self):
        tasks = self.root / "rkb/tasks/gate"
        tasks.mkdir(parents=True)
        (tasks / "func_forward.py").write_text(ROBUST)
        (tasks / "config_forward.json").write_text(json.dumps({
            "single_input_configs": [{"batch": 64}], "single_init_configs": [{"scale": 1.0}, {"scale": 0.1}],
            "single_shared_configs": [{"features": 256}], "multi_input_configs": [{}], "multi_init_configs": [{}],
            "multi_shared_configs": [{}]}))
        out = self.root / "robust"
        self.kerf("robust-kbench", "--path", str(self.root / "rkb"), "--out", str(out), "--evals", "3", "--timing", "1", "--problems", "gate")
        rows = json.loads((out / "results.json").read_text())["problems"]
        self.assertEqual([(row["id"], row["progress"]) for row in rows], [("own/1.1", "done"), ("own/1.2", "done")])
        self.assertEqual(rows[1]["init"], {"scale": 0.1, "features": 256})
        self.assertIn("f32[64, 256]", (out / rows[0]["folder"] / "task.toml").read_text())

    def test_bad_input_is_named(self):
        path = ["--path", str(self.suite)]
        for words, expected in (
                (["kernelbench"], "give --path DIR"),
                (["kernelbanch", *path], "did you mean 'kernelbench'"),
                (["kernelbench", "--path", "/nowhere"], "there is no folder '/nowhere'"),
                (["kernelbench", *path, "--level", "4"], "the nearest is 2"),
                (["kernelbench", *path, "--problems", "7"], "the nearest is"),
                (["kernelbench", *path, "--problems", "9-5"], "did you mean '5-9'"),
                (["kernelbench", *path, "--target", "gpu"], "gpu"),
                (["kernelbench", *path, "--time", "0"], "more than 0"),
                (["kernelbench", *path, "--settings", "all"], "robust-kbench"),
                (["robust-kbench", *path], "no folders with a func_forward.py"),
                (["kernelbench", "--show", "--out", "/nowhere"], "/nowhere")):
            done = subprocess.run(self.command(*words), capture_output=True, text=True, env=self.environment, cwd=self.root, timeout=100)
            self.assertIn(done.returncode, (1, 2), words)
            self.assertIn(expected, done.stderr, words)
        self.assertFalse((self.root / "runs").exists(), "nothing is left behind by a refused command")


if __name__ == "__main__":
    probe = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, timeout=300)
    if probe.returncode != 0:
        print(f"skipped: {PYTHON} has no PyTorch")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
