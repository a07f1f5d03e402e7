#!/usr/bin/env python3
"""PyTorch model files as tasks, with a real PyTorch: pytorch_test.py KERF PYTHON (one that may have PyTorch)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

KERF, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
BLOCK = HEAD + """class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(torch.max(F.relu(self.norm(self.conv(x))), dim=1)[0])


def get_inputs():
    return [torch.rand(2, 3, 8, 8)]


def get_init_inputs():
    return [4]
"""
ROWS = HEAD + """class Model(nn.Module):
    def forward(self, x, *, scale):
        return torch.softmax(x * scale, dim=-1), x.argmax(dim=-1)


def get_inputs():
    return [torch.randn(64, 100)], {"scale": torch.randn(100)}
"""


def model(forward, inputs="[torch.randn(4, 8)]", init="pass"):
    return HEAD + f"""class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x, *rest):
        {forward}


def get_inputs():
    return {inputs}
"""


class PyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        os.environ["KERF_CACHE"] = holder.name
        os.environ["KERF_PYTHON"] = PYTHON

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)

    def write(self, text, name="model.py"):
        (self.folder / name).write_text(text)

    def kerf(self, *args, code=0, **variables):
        ran = subprocess.run([KERF, *args], cwd=self.folder, capture_output=True, text=True, env={**os.environ, **variables})
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def task(self, text):
        self.write(text)
        return self.kerf("check", "model.py", "--print-task").stdout

    def test_a_model_becomes_a_task_that_a_person_could_have_written(self):
        self.write(BLOCK)
        shown = self.kerf("check", "model.py").stdout
        self.assertIn("imported with PyTorch", shown)
        self.assertIn("left out, because the norm behind them takes them away: conv.bias", shown)
        self.assertIn("forward changes norm.num_batches_tracked", shown)
        self.assertIn("admitted", shown)
        task = self.kerf("check", "model.py", "--print-task").stdout
        self.assertIn('x = "f32[2, 3, 8, 8]"', task)
        self.assertIn('norm_weight = "uniform(0.5, 1.5)"', task)
        self.assertIn("batch_norm(v1, weight=norm_weight, bias=norm_bias, training=true", task)
        self.assertNotIn("dropout", task)
        self.assertNotIn("argmax", task)  # max(x, dim)[0]: the indices are not needed
        self.assertIn("special_values = false", task)
        self.write(task, "again.toml")
        first, second = (json.loads(self.kerf("check", file, "--json").stdout) for file in ("model.py", "again.toml"))
        self.assertEqual(first["task_id"], second["task_id"])
        self.assertEqual(first["import"]["dropped"], ["conv.bias"])

    def test_a_search_keeps_the_task_and_needs_python_no_more(self):
        self.write(ROWS)
        quick = ["--set", "measure.max_rounds=6", "--set", "measure.time_limit_ms=100"]
        found = json.loads(self.kerf("optimize", "model.py", "--evals", "4", "--seed", "1", "--out", "run", "--json", *quick).stdout)
        self.assertEqual(found["best"]["task"], "model")
        self.kerf("show", "run", KERF_PYTHON="/nowhere")
        self.kerf("optimize", "--resume", "run", "--evals", "5", "--json", *quick, KERF_PYTHON="/nowhere")
        kernel = self.kerf("naive", "model.py", "--target", "cpu").stdout
        self.write(kernel, "mine.cpp")
        judged = json.loads(self.kerf("eval", "model.py", "mine.cpp", "--json", "--verify-only").stdout)
        self.assertEqual(judged["outcome"], "measured")

    def test_the_users_line_is_named_when_the_file_is_wrong(self):
        cases = [("def f(:\n", "model.py:1: syntax error"),
                 (HEAD + "raise RuntimeError('no')\n", "model.py:6: the file cannot be imported: RuntimeError: no"),
                 (HEAD + "import not_there_at_all\n", "model.py:6: the file cannot be imported: ModuleNotFoundError"),
                 (HEAD + "class Net(nn.Module):\n    pass\n", "the file has no 'Model'"),
                 (HEAD + "class Model(nn.Module):\n    pass\n", "the file has no 'get_inputs'"),
                 (model("return x @ x"), "model.py:12: forward raised: RuntimeError"),
                 (model("return x if x.sum() > 0 else -x"), "model.py:12: bool: a decision depends on the values"),
                 (model("return F.dropout(x)"), "model.py:12: dropout with p=0.5 is active"),
                 (model("return x + torch.empty(8).normal_()"), "model.py:12: normal_ draws random numbers in forward"),
                 (model("return x", init="raise ValueError('bad')"), "model.py:9: Model(...) raised: ValueError: bad")]
        for text, message in cases:
            with self.subTest(message):
                self.write(text)
                self.assertIn(message, self.kerf("check", "model.py", code=2).stderr)
        self.assertIn("there is no model file", self.kerf("check", "none.py", code=2).stderr)

    def test_without_pytorch_it_says_what_to_try(self):
        self.write(BLOCK)
        bare = self.folder / "bare"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        bare.chmod(0o755)
        said = self.kerf("check", "model.py", code=1, KERF_PYTHON=str(bare)).stderr
        self.assertIn("cannot import torch", said)
        self.assertIn("--python PATH", said)
        said = self.kerf("--python", "/nowhere", "check", "model.py", code=2).stderr
        self.assertIn("'/nowhere' is no program", said)

    def test_what_the_language_lacks_stays_with_pytorch(self):
        self.write(model("y = torch.relu(x @ self.w); z = torch.linalg.inv(y @ y.T + torch.eye(4)); return z @ y",
                         init="self.w = nn.Parameter(torch.randn(8, 8))"))
        shown = self.kerf("check", "model.py").stdout
        self.assertRegex(shown, r"a part of the model is the task, about \d+ % of its arithmetic")
        self.assertIn("linalg_inv", shown)
        self.assertIn("line 12", shown)
        imported = json.loads(self.kerf("check", "model.py", "--json").stdout)["import"]
        self.assertLess(imported["share"], 1)

    def test_facts_of_the_inputs_reach_the_task(self):
        task = self.task(model("a, labels, signs, p = rest; return F.cross_entropy(x, labels) + (signs * x[:, 0]).sum() + "
                               "torch.log(p).sum() + torch.sum(a @ x.T)",
                               "[torch.randn(16, 8), torch.tril(torch.randn(8, 8)), torch.randint(0, 8, (16,)), "
                               "torch.randint(0, 2, (16,)).float() * 2 - 1, torch.rand(16, 4).softmax(-1)]"))
        self.assertIn("rest0_tril = tril(rest0)", task)
        self.assertIn('rest1 = "integers(0, 7)"', task)
        self.assertIn('rest2 = "integers(-1, 1)"', task)
        self.assertIn('rest3 = "uniform(0.001, 1)"', task)

    def test_random_numbers_of_forward_become_an_input(self):
        self.assertIn('drawn1 = "f32[8]"', self.task(model("return x + torch.randn(8)")))

    def test_precision_follows_the_module(self):
        half = model("return self.l(x)", "[torch.randn(4, 8).half()]", "self.l = nn.Linear(8, 8).half()")
        self.assertIn('precision = "f16"', self.task(half))
        self.assertIn('precision = "bf16"', self.task(half.replace("half()", "bfloat16()")))

    def test_large_inputs_take_no_memory(self):
        task = self.task(model("return x.sum()", "[torch.rand(1 << 19, 1 << 14)]"))  # 32 GiB
        self.assertIn('x = "f32[d64*8192, d16384]"', task)
        self.assertIn("default = { d64 = 64, d16384 = 16384, weight = 1 }", task)


if __name__ == "__main__":
    if not PYTHON or subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        print("PyTorch is not installed: importing models is not tried")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
