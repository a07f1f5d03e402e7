#!/usr/bin/env python3
"""Kernels beside PyTorch, with a real PyTorch: compare_pytorch_test.py KERF PYTHON [cpu|cuda] (a Python that may have PyTorch, and where
it runs). Without a PyTorch, or without a GPU for cuda, it is skipped."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

KERF, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
TREE = pathlib.Path(__file__).resolve().parents[2]
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def model(forward, inputs="[torch.rand(64, 128)]", init="pass", name="Model"):
    return HEAD + f"""class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x, *rest):
        {forward}


def get_inputs():
    return {inputs}


def get_init_inputs():
    return []
"""


LINEAR = "self.l = nn.Linear(128, 32)"


class ComparePyTorch(unittest.TestCase):
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

    def kerf(self, *args, code=0, **variables):
        ran = subprocess.run([KERF, *args], cwd=self.folder, capture_output=True, text=True, env={**os.environ, **variables})
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def write(self, text, name):
        (self.folder / name).write_text(text)

    def compare(self, original, new, *args):
        self.write(original, "model.py")
        self.write(new, "new.py")
        return json.loads(self.kerf("compare", "--pytorch", "model.py", "new.py", "--target", DEVICE, "--time", "0.3", "--json", *args).stdout)

    def test_a_right_kernel_has_times_ratios_and_errors(self):
        made = self.compare(model("return torch.relu(self.l(x))", init=LINEAR),
                            model("return torch.addmm(self.l.bias, x, self.l.weight.t()).clamp(min=0)", init=LINEAR, name="ModelNew"))
        self.assertTrue(made["complete"])
        self.assertEqual([made[p]["status"] for p in ("eager", "kernel")], ["measured", "measured"])
        self.assertEqual((made["kernelbench"]["correct"], made["kernelbench"]["draws"], made["kernelbench"]["passed"]), (True, 3, 3))
        self.assertEqual(made["kernelbench"]["tolerance"], 1e-4)
        ratio = made["over_eager"]
        self.assertTrue(0 < ratio["interval"][0] <= ratio["ratio"] <= ratio["interval"][1], ratio)
        times = made["kernel"]["times"]
        self.assertTrue(0 < times["interval_us"][0] <= times["median_us"] <= times["interval_us"][1], times)
        self.assertEqual((made["double_precision"], made["accuracy_class"], made["in_class"]), ("full", "f32", True))
        self.assertTrue(0 < made["eager"]["errors"]["rms"] < 1e-6, made["eager"])
        self.assertEqual(made["weak"], [])
        has_compile = subprocess.run([PYTHON, "-c", "import torch; torch.compile"], capture_output=True).returncode == 0
        self.assertIn(made["compiled"]["status"], ("measured", "failed", "timed_out") if has_compile else ("unavailable",))
        self.assertEqual(made["over_compiled"] is not None, made["compiled"]["status"] == "measured")

    def test_a_wrong_kernel_is_timed_and_called_wrong(self):
        made = self.compare(model("return torch.relu(x - 0.5)"), model("return torch.relu(x - 0.501)", name="ModelNew"), "--no-compile")
        self.assertEqual((made["kernel"]["status"], made["kernelbench"]["correct"], made["in_class"]), ("wrong", False, False))
        self.assertIn("values differ by up to 0.001", made["kernelbench"]["problem"])
        self.assertIsNotNone(made["kernel"]["times"])
        self.assertEqual(made["compiled"]["status"], "not_asked")

    def test_every_other_failure_is_a_value_and_eager_is_timed(self):
        plain = model("return x * 2")
        for body, status, words in [("return x[1:]", "wrong", "shape (63, 128) instead of (64, 128)"),
                                    ("raise ValueError('no')", "failed", "ValueError: no"),
                                    ("return x.mul_(2)", "failed", "changes its inputs"),
                                    ("return torch.empty(1 << 60)", "out_of_memory", "")]:
            with self.subTest(body):
                made = self.compare(plain, model(body, name="ModelNew"), "--no-compile")
                self.assertEqual(made["kernel"]["status"], status, made["kernel"])
                self.assertIn(words, made["kernel"]["message"])
                self.assertEqual(made["eager"]["status"], "measured")
                self.assertIsNotNone(made["eager"]["times"])
        made = self.compare(plain, model("import os; os.abort()", name="ModelNew"), "--no-compile")
        self.assertEqual((made["complete"], made["kernel"]["status"]), (False, "crashed"))
        made = self.compare(plain, HEAD + "class Other(nn.Module):\n    pass\n", "--no-compile")
        self.assertIn("no 'ModelNew'", made["kernel"]["message"])

    def test_outputs_that_tell_nothing_are_flagged(self):
        for body, inputs, kinds in [("return torch.relu(x)", "[torch.rand(64, 128)]", {"first_input"}),
                                    ("return x * 5e-5", "[torch.rand(64, 128)]", {"zeros", "constant", "mean", "another_draw"}),
                                    ("return torch.clamp(x + 5, max=1)", "[torch.rand(64, 128)]", {"constant", "mean", "another_draw"}),
                                    ("return torch.exp(x)", "[torch.rand(64, 128)]", set())]:
            with self.subTest(body):
                made = self.compare(model(body, inputs), model(body, inputs, name="ModelNew"), "--no-compile")
                self.assertEqual({weak["kind"] for weak in made["weak"]}, kinds)
                self.assertEqual(made["hard_inputs"], True if kinds else None)
        identity = self.compare(model("return torch.relu(x)"), model("return x.clone()", name="ModelNew"), "--no-compile")
        self.assertEqual((identity["kernelbench"]["correct"], identity["hard_inputs"]), (True, False))

    def test_modules_of_halves_are_held_to_their_class(self):
        half = model("return torch.tanh(x)", "[torch.rand(64, 128).bfloat16()]")
        made = self.compare(half, half.replace("class Model(", "class ModelNew("), "--no-compile")
        self.assertEqual((made["accuracy_class"], made["kernelbench"]["tolerance"], made["in_class"]), ("bf16", 1e-2, True))

    def test_a_run_keeps_the_comparison_and_shows_it(self):
        self.write(model("return torch.softmax(x, dim=-1) * rest[0]", "[torch.rand(256, 512), torch.rand(512)]"), "model.py")
        quick = ["--set", "measure.max_rounds=6", "--set", "measure.time_limit_ms=100"]
        found = self.kerf("optimize", "model.py", "--target", DEVICE, "--evals", "4", "--seed", "1", "--out", "run", *quick)
        if "PyTorch" not in found.stdout:  # nothing was faster than the plain kernel on a busy machine, which is not compared by itself
            found = self.kerf("compare", "--pytorch", "run", "--time", "0.3")
        self.assertRegex(found.stdout, r"PyTorch \d+\.\d+ eager [\d.]+ \w+, .*this kernel [\d.]+ \w+: [\d.]+x \([\d.]+ to [\d.]+\)")
        self.assertIn("right by KernelBench's rule", found.stdout)
        self.assertIn("Beside PyTorch", self.kerf("show", "run").stdout)
        kept = json.loads(self.kerf("show", "run", "--json").stdout)
        self.assertTrue(kept["pytorch"]["kernelbench"]["correct"])
        self.kerf("report", "run")
        self.assertIn('"over_eager"', (self.folder / "run/report.html").read_text())
        (self.folder / "model.py").unlink()  # the run has all that is needed
        again = json.loads(self.kerf("compare", "--pytorch", "run", "--time", "0.3", "--no-compile", "--json").stdout)
        self.assertTrue(again["kernelbench"]["correct"])

    def test_misuse_is_refused(self):
        self.write(model("return x"), "model.py")
        self.assertIn("give a file with ModelNew", self.kerf("compare", "--pytorch", "model.py", code=2).stderr)
        self.assertIn("there is no file", self.kerf("compare", "--pytorch", "model.py", "none.py", code=2).stderr)
        self.write(model("return x", name="ModelNew"), "new.py")
        self.assertIn("PyTorch has no device for target 'opencl'",
                      self.kerf("compare", "--pytorch", "model.py", "new.py", "--target", "opencl", code=2).stderr)
        self.write("def f(:\n", "broken.py")
        self.assertIn("broken.py:1: syntax error", self.kerf("compare", "--pytorch", "broken.py", "new.py", code=2).stderr)
        self.assertIn("two kernels", self.kerf("compare", "model.py", "a.cpp", code=2).stderr)

    def test_many_files_are_imported_by_one_python(self):
        self.write(model("return x * 2"), "whole.py")
        self.write(model("y = torch.relu(x @ x.T); return torch.linalg.inv(y + torch.eye(64)) @ y"), "part.py")
        self.write(model("return F.dropout(x)"), "refused.py")
        self.write(model("import os; os.abort()"), "dead.py")
        said = self.kerf("check", "whole.py", "part.py", "refused.py", "dead.py", "whole.py", code=2)
        self.assertIn("2 of 5 whole, 1 in part, 2 refused", said.stdout)
        self.assertIn("2 of 5 files are no tasks", said.stderr)
        rows = [json.loads(line) for line in self.kerf("check", "whole.py", "part.py", "dead.py", "--json", code=2).stdout.splitlines()]
        self.assertEqual([row["state"] for row in rows], ["whole", "part", "refused"])
        self.assertEqual(rows[1]["uncovered"][0]["operator"], "linalg_inv")
        self.assertIn("signal 6", rows[2]["error"])

    def ask(self, request, first="pass"):
        """The bridge as a process of its own, which writes its answer to answer.json; `first`: statements before it."""
        (self.folder / "request.json").write_text(json.dumps(request))
        code = f"import sys; {first}; from kerf_bridge.__main__ import main; sys.exit(main(sys.argv[1:]))"
        return subprocess.Popen([PYTHON, "-c", code, self.folder / "request.json", self.folder / "answer.json"],
                                env={**os.environ, "PYTHONPATH": str(TREE / "python")}, start_new_session=True)

    def until(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.01)

    def request(self):
        self.write(model("return torch.relu(self.l(x))", init=LINEAR), "model.py")
        self.write(model("return self.l(x).clamp(min=0)", init=LINEAR, name="ModelNew"), "new.py")
        return {"do": "compare", "model": str(self.folder / "model.py"), "device": DEVICE, "timing_s": 0.3, "compile": False,
                "wait_for": str(self.folder / "go")}

    def go_on(self, told):
        (self.folder / "go.new").write_text(json.dumps(told))
        (self.folder / "go.new").rename(self.folder / "go")

    def stage(self):
        try:
            return json.loads((self.folder / "answer.json").read_text())["stage"]
        except FileNotFoundError:
            return ""

    def test_a_prepared_comparison_waits_for_its_kernel(self):
        process = self.ask(self.request())
        try:
            self.until(lambda: self.stage() == "wait")
            self.go_on({"kernel": str(self.folder / "new.py")})
            self.assertEqual(process.wait(120), 0)
        finally:
            process.kill()
        made = json.loads((self.folder / "answer.json").read_text())
        self.assertTrue(made["complete"])
        self.assertTrue(made["kernelbench"]["correct"])
        self.assertEqual(made["kernel"]["status"], "measured")
        self.assertGreater(made["over_eager"]["ratio"], 0)
        self.assertFalse((self.folder / "go").exists())

    def test_a_model_that_counts_its_calls_is_made_anew_where_its_tensors_were_not_kept(self):
        request = self.request()
        counts = model("self.n += 1; return x * 2 + (1.0 if self.n == 1 else 0.0)", init="self.n = 0")
        self.write(counts, "model.py")
        self.write(counts.replace("class Model", "class ModelNew"), "new.py")
        process = self.ask(request, "import kerf_bridge.compare as compare; compare.WAITING_BYTES = 0")
        try:
            self.until(lambda: self.stage() == "wait")
            self.go_on({"kernel": str(self.folder / "new.py"), "time_limit_s": 60})
            self.assertEqual(process.wait(120), 0)
        finally:
            process.kill()
        made = json.loads((self.folder / "answer.json").read_text())
        self.assertTrue(made["kernelbench"]["correct"], made["kernelbench"])
        self.assertEqual(made["kernel"]["status"], "measured")

    def test_a_comparison_that_hangs_before_its_kernel_comes_can_be_cancelled(self):
        request = self.request()
        self.write(model("import time; time.sleep(1000)"), "model.py")
        ours, theirs = socket.socketpair()
        server = subprocess.Popen([PYTHON, "-m", "kerf_bridge", "--serve", str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                  env={**os.environ, "PYTHONPATH": str(TREE / "python")}, start_new_session=True)
        try:
            theirs.close()
            lines = ours.makefile("rw", encoding="utf-8")
            self.assertTrue(json.loads(lines.readline())["ready"])
            # One is cancelled while it hangs, the other before its request comes.
            early = {**request, "wait_for": str(self.folder / "early")}
            for line in ({"cancel": early["wait_for"]},
                         {"id": 6, "request": early, "answer": str(self.folder / "early.json"), "said": str(self.folder / "said.txt")}):
                lines.write(json.dumps(line) + "\n")
            lines.flush()
            self.assertEqual(json.loads(lines.readline()), {"id": 6, "exit_code": 0, "signal": 9, "timed_out": False})
            for line in ({"id": 7, "request": request, "answer": str(self.folder / "answer.json"), "said": str(self.folder / "said.txt")},
                         {"cancel": "/another"}):
                lines.write(json.dumps(line) + "\n")
            lines.flush()
            self.until(lambda: self.stage() == "load")
            lines.write(json.dumps({"cancel": request["wait_for"]}) + "\n")
            lines.flush()
            self.assertEqual(json.loads(lines.readline()), {"id": 7, "exit_code": 0, "signal": 9, "timed_out": False})
            lines.close()
            ours.close()
            self.assertEqual(server.wait(30), 0)
        finally:
            server.kill()


if __name__ == "__main__":
    test = "import torch" + ("; assert torch.cuda.is_available()" if DEVICE == "cuda" else "")
    if not PYTHON or subprocess.run([PYTHON, "-c", test], capture_output=True).returncode != 0:
        print(f"'{PYTHON}' has no PyTorch for {DEVICE}: kernels beside PyTorch are not tried")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
