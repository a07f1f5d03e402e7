#!/usr/bin/env python3
"""Exports for PyTorch, used with a real PyTorch: torch_export_test.py KERF PYTHON FAKE_CUDA SHIM NVRTC. FAKE_CUDA is a CUDA driver
without a GPU and SHIM its header for kernels (src/device/cuda/fake); NVRTC a folder with libnvrtc, or nothing."""
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

KERF, PYTHON = os.path.abspath(sys.argv[1]), sys.argv[2]
FAKE_CUDA, SHIM, NVRTC = (sys.argv[3:] + ["", "", ""])[:3]
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
HEAD = "import collections\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
QUICK = ["--set", "measure.max_rounds=3", "--set", "measure.time_limit_ms=50", "--set", "judge.soak_seconds=0.1"]
MODELS = {
    "block": HEAD + """class Model(nn.Module):
    def __init__(self, channels, slope=0.1):
        super(Model, self).__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.slope = slope

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), self.slope)


batch = 2


def get_inputs():
    return [torch.rand(batch, 3, 8, 8)]


def get_init_inputs():
    return [4]
""",
    "linear": HEAD + """class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first = nn.Linear(features, 32)
        self.table = torch.randn(32)
        self.register_buffer("scale", torch.rand(32))

    def forward(self, x):
        return F.gelu(self.first(x)) * self.scale + self.table


def get_inputs():
    return [torch.randn(16, 24)]


def get_init_inputs():
    return {"features": 24}
""",
    "several": HEAD + """Pair = collections.namedtuple("Pair", ["soft", "index"])


class Model(nn.Module):
    def forward(self, x, mask=None, *, scale, power=2):
        shifted = x + torch.tensor([0.5, -0.5] * 50)
        pair = Pair(torch.softmax(shifted * scale, dim=-1), x.argmax(dim=-1))
        return pair, {"power": x ** power, "x": x, "n": 3}, [scale]


def get_inputs():
    return [torch.randn(8, 100)], {"scale": torch.randn(100)}
""",
    "wide": HEAD + """model = nn.Sequential(nn.Linear(12, 20), nn.Tanh()).double()
example_inputs = [torch.randn(6, 12, dtype=torch.float64)]
""",
    "short": HEAD + """class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.l(x))


_Class = Model


def Model():
    return _Class().bfloat16()


def get_inputs():
    return [torch.randn(8, 16).bfloat16()]
""",
}
# What every snippet begins with: `both` gives an original and its twin with the same weights.
COMMON = """
import copy, importlib, importlib.util, json, os, sys, warnings
import torch

def file(name):
    spec = importlib.util.spec_from_file_location(os.path.basename(name)[:-3], name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

def tensors(thing):
    if isinstance(thing, torch.Tensor): return [thing]
    items = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else []
    return [t for item in items for t in tensors(item)]

def same(a, b, tolerance=1e-5):
    a, b = tensors(a), tensors(b)
    assert len(a) == len(b), (len(a), len(b))
    for x, y in zip(a, b):
        assert x.shape == y.shape and x.dtype == y.dtype, (x.shape, y.shape, x.dtype, y.dtype)
        assert torch.allclose(x.double(), y.double(), rtol=tolerance, atol=tolerance), (x.double() - y.double()).abs().max()

warnings.simplefilter("error")
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", **options)


class TorchExport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        os.environ.update(KERF_CACHE=str(cls.folder / "cache"), KERF_PYTHON=PYTHON, KERF_BINARY=KERF, PYTHONDONTWRITEBYTECODE="1")
        for name, text in MODELS.items():
            (cls.folder / (name + ".py")).write_text(text)
        done = run(KERF, "campaign", *[name + ".py" for name in MODELS], "--rounds", 1, "--evals", 1, "--seed", 1, "--out", "found", *QUICK,
                   cwd=cls.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        for name in MODELS:  # nothing of the file is needed any more
            (cls.folder / (name + ".py")).rename(cls.folder / (name + "_reference.py"))
        (cls.folder / "elsewhere").mkdir()
        for name in MODELS:
            for form, out in (("kernelbench", f"{name}_new.py"), ("torch", f"fast_{name}")):
                done = run(KERF, "export", cls.run_of(name), "--format", form, "--out", out, cwd=cls.folder, env={**os.environ, "KERF_PYTHON": "/no"})
                assert done.returncode == 0, done.stdout + done.stderr

    @classmethod
    def run_of(cls, name):
        return next(path for path in (cls.folder / "found").glob(name + "*") if path.is_dir())

    def python(self, code, succeeds=True, **variables):
        environment = {**os.environ, **variables}
        done = run(PYTHON, "-c", COMMON + code, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode == 0, succeeds, done.stdout + done.stderr)
        return done.stdout if succeeds else done.stderr

    def test_one_file_has_the_same_weights_and_results(self):
        self.python("""
# As KernelBench loads them: both texts in one namespace, the same seed before each model.
context = {}
exec(compile(open("block_reference.py").read(), "<string>", "exec"), context)
Model, get_inputs = context["Model"], context["get_inputs"]
torch.manual_seed(42); first = Model(4)
names = set(context)
exec(compile(open("block_new.py").read(), "<string>", "exec"), context)
torch.manual_seed(42); second = context["ModelNew"](4)
assert context["Model"] is Model and context["batch"] == 2 and context["get_inputs"] is get_inputs
assert all(name.lower().startswith(("kerf", "_")) or name in names or name in sys.modules or name == "ModelNew" for name in context), set(context) - names
assert list(first.state_dict()) == list(second.state_dict())
for a, b in zip(first.state_dict().values(), second.state_dict().values()): assert torch.equal(a, b)
x, = get_inputs()
with torch.no_grad(): same(first(x), second(x))
same(first(x), second(x))           # KernelBench times without no_grad
same(first(x.transpose(2, 3)), second(x.transpose(2, 3)))
assert second.kerf_runtime.used == {"kernels": 3, "original": 0}
assert isinstance(second, torch.nn.Module)
""")

    def test_attributes_that_are_no_buffers_and_keyword_arguments_of_the_class(self):
        self.python("""
new, old = file("linear_new.py"), file("linear_reference.py")
torch.manual_seed(1); a = old.Model(24)
torch.manual_seed(1); b = new.ModelNew(features=24)
x, = old.get_inputs()
same(a(x), b(x))
a.first.weight.data.mul_(2); b.load_state_dict(a.state_dict())
same(a(x), b(x))
assert b.kerf_runtime.used == {"kernels": 2, "original": 0}
""")

    def test_results_keep_their_form(self):
        self.python("""
new, old = file("several_new.py"), file("several_reference.py")
a, b = old.Model(), new.ModelNew()
args, kwargs = old.get_inputs()
one, two = a(*args, **kwargs), b(*args, **kwargs)
same(one, two)
assert type(two[0]).__name__ == "Pair" and torch.equal(one[0].index, two[0].index) and list(two[1]) == ["power", "x", "n"] and two[1]["n"] == 3
assert two[1]["x"] is args[0] and two[2][0] is kwargs["scale"] and type(two[2]) is list
same(one, b(x=args[0], scale=kwargs["scale"], power=2))     # the same call, written differently
assert b.kerf_runtime.used == {"kernels": 2, "original": 0}
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as told:
    same(a(*args, **kwargs, power=3), b(*args, **kwargs, power=3))
    same(a(args[0], mask=args[0], **kwargs), b(args[0], mask=args[0], **kwargs))
assert "power is 3, not 2" in str(told[0].message) and "argument 2" in str(told[1].message), [str(w.message) for w in told]
""")

    def test_other_precisions(self):
        self.python("""
new, old = file("wide_new.py"), file("wide_reference.py")
m = new.ModelNew()
m.load_state_dict(old.model.state_dict())
x, = old.example_inputs
same(old.model(x), m(x), 1e-12)
assert m.kerf_runtime.used == {"kernels": 1, "original": 0}
new, old = file("short_new.py"), file("short_reference.py")
m, n = new.ModelNew(), old.Model()
m.load_state_dict(n.state_dict())
x, = old.get_inputs()
same(n(x), m(x), 2e-2)
assert m.kerf_runtime.used == {"kernels": 1, "original": 0}, m.kerf_runtime.told
""")

    def test_what_the_kernels_are_not_for_is_computed_by_the_original(self):
        self.python("""
warnings.simplefilter("always")
new, old = file("block_new.py"), file("block_reference.py")
def pair(*args, **kwargs):
    torch.manual_seed(3); a = old.Model(*args, **kwargs)
    torch.manual_seed(3); return a, new.ModelNew(*args, **kwargs)
x = torch.rand(2, 3, 8, 8)
words = []
for change, call in ((lambda m: m, x[:1]), (lambda m: m.eval(), x), (lambda m: m.double(), x.double())):
    a, b = map(change, pair(4))
    with warnings.catch_warnings(record=True) as told: same(a(call), b(call))
    words.append(str(told[0].message))
for options in ({"slope": 0.2}, {}):
    a, b = pair(5 if not options else 4, **options)
    with warnings.catch_warnings(record=True) as told: same(a(x), b(x))
    words.append(str(told[0].message))
for word, message in zip(("the shape [1, 3, 8, 8]", "evaluation mode", "torch.float64", "slope is 0.2", "channels is 5"), words):
    assert word in message, words
used = new.KERF.used
assert used == {"kernels": 0, "original": 5}, used
""")

    def test_gradients_are_the_originals(self):
        self.python("""
for name, arguments in (("block", (4,)), ("linear", (24,))):
    package, old = importlib.import_module("fast_" + name), file(name + "_reference.py")
    a = old.Model(*arguments)
    for b in (package.wrap(copy.deepcopy(a)), None):
        if b is None:
            b = package.Model(*arguments)
            b.load_state_dict(a.state_dict())
            if hasattr(a, "table"): b.table = a.table
        x = old.get_inputs()[0].requires_grad_()
        y = (x.detach() * 1).requires_grad_()
        weight = torch.randn_like(a(x))
        for p in a.parameters(): p.grad = None
        x.grad = None
        state = copy.deepcopy(a.state_dict())
        b.load_state_dict(state)
        (a(x) * weight).sum().backward()
        (b(y * 1) * weight).sum().backward()
        same(x.grad, y.grad)
        for p, q in zip(a.parameters(), b.parameters()): same(p.grad, q.grad)
        same(list(a.state_dict().values()), list(b.state_dict().values()))    # running statistics too
        assert package.runtime.used["original"] == 0
        b(y.detach())
        try:
            loss = (b(y) * weight).sum()
            torch.autograd.grad(torch.autograd.grad(loss, y, create_graph=True)[0].sum(), y)
            raise SystemExit("second derivatives cannot be right")
        except RuntimeError as error:
            assert "once_differentiable" in str(error) or "does not require grad" in str(error), error
""")

    def test_a_package_wraps_copies_and_pickles(self):
        self.python("""
import io, pickle
import fast_block, fast_linear      # two exports in one process
old = file("block_reference.py")
a = old.Model(4)
b = fast_block.wrap(a)
x, = old.get_inputs()
a.load_state_dict(a.state_dict())
assert list(a.state_dict()) == list(b.state_dict()) and isinstance(b, old.Model) and b.conv is a.conv
same(a(x), b(x))
c = copy.deepcopy(b)
c.conv.weight.data.zero_()
same(a(x), b(x))
assert not torch.allclose(c(x), b(x))
same(b(x), fast_block.wrap(b)(x))
d = fast_block.Model(4)
e = pickle.loads(pickle.dumps(d))
same(d(x), e(x))
linear = fast_linear.Model(24)
y = torch.randn(16, 24)
same(linear(y), linear.forward_of_original(y))
assert fast_block.runtime.used["original"] == 0 and fast_linear.runtime.used == {"kernels": 1, "original": 0}
warnings.simplefilter("always")
a.norm.eps = 0.1
with warnings.catch_warnings(record=True) as told: same(a(x), fast_block.wrap(a)(x))
assert "norm.eps is 0.1, not 1e-05" in str(told[0].message), told
operator = getattr(torch.ops, "kerf_" + b.kerf_runtime.operator.__module__.split("kerf_")[-1], None)
assert operator is not None
""")

    def test_an_operator_of_pytorch_that_compilers_leave_whole(self):
        self.python("""
import fast_block
m = fast_block.Model(4)
x = torch.rand(2, 3, 8, 8)
inputs, reason = m.kerf_runtime.inputs(m, {"x": x})
rest = [m.kerf_runtime.state(m, {"kind": k, "source": s}) for k, s in m.kerf_layout[len(inputs):]]
with torch.no_grad(): same(m.kerf_runtime.operator(inputs + rest, m.kerf_number)[0], m(x))
if not hasattr(torch, "compile"): sys.exit(0)
seen = []
def backend(graph, _):
    seen.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
    return graph.forward
with torch.no_grad(): same(torch.compile(m, fullgraph=True, backend=backend)(x), m(x))
assert len([name for name in seen if "kerf_" in name]) == 1 and not any("conv" in name or "norm" in name for name in seen), seen
torch._dynamo.reset()
def gradients(f):
    for p in m.parameters(): p.grad = None
    y = x.clone().requires_grad_()
    f(y).square().sum().backward()
    return [y.grad] + [p.grad for p in m.parameters()]
same(gradients(torch.compile(m, fullgraph=True, backend="aot_eager")), gradients(m), 1e-4)
""")

    def test_the_check_program_tells_right_from_wrong(self):
        for name in ("block", "linear", "wide"):
            done = run(PYTHON, "-m", f"fast_{name}.check", cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("all right", done.stdout)
        broken = self.folder / "broken"
        shutil.copytree(self.folder / "fast_block", broken)
        text = (broken / "_plan.py").read_text()
        self.assertIn("0.1", text)
        (broken / "_plan.py").write_text(text.replace("0.1", "0.3"))
        done = run(PYTHON, "-m", "broken.check", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)

    def test_two_processes_may_compile_at_once(self):
        code = COMMON + "m = file('block_new.py').ModelNew(4); x = torch.rand(2, 3, 8, 8); same(m(x), m.forward_of_original(x))"
        environment = {**os.environ, "KERF_CACHE": str(self.folder / "fresh")}
        running = [subprocess.Popen([PYTHON, "-c", code], cwd=self.folder, env=environment) for _ in range(3)]
        self.assertEqual([process.wait() for process in running], [0, 0, 0])
        self.assertEqual(len(list((self.folder / "fresh" / "exports").glob("*.so"))), 1)
        self.assertEqual(list((self.folder / "fresh" / "exports").glob("work-*")), [])

    def test_a_missing_or_bad_compiler_is_named(self):
        code = "m = file('block_new.py').ModelNew(4); m(torch.rand(2, 3, 8, 8))"
        said = self.python(code, succeeds=False, PATH="/nowhere", CXX="", KERF_CACHE=str(self.folder / "none"))
        self.assertIn("no g++ or clang++ is on PATH", said)
        said = self.python(code, succeeds=False, CXX="false", KERF_CACHE=str(self.folder / "none"))
        self.assertIn("does not compile the kernel", said)
        os.chmod(self.folder / "elsewhere", 0o500)
        self.python(code, KERF_CACHE=str(self.folder / "elsewhere"))  # a cache that cannot be written is done without

    def as_cuda(self, name, kernel):
        """The run with a CUDA kernel in the place of its best one: nothing here can search for one."""
        there = self.folder / f"{name}-cuda"
        shutil.copytree(self.run_of(name), there)
        database = sqlite3.connect(there / "kerf.db")
        best, = database.execute("select value from facts where key = 'best_step'").fetchone()
        evaluation = json.loads(database.execute("select evaluation from steps where number = ?", (best,)).fetchone()[0])
        identity = hashlib.sha256(kernel.encode()).hexdigest()
        evaluation.update(candidate=identity, target="cuda", tunables={})
        database.execute("update facts set value = 'cuda' where key = 'target'")
        database.execute("update steps set source = ?, candidate = ?, tunables = '{}', evaluation = ? where number = ?",
                         (kernel.encode(), identity, json.dumps(evaluation), best))
        database.commit()
        database.close()
        done = run(KERF, "export", there, "--format", "kernelbench", "--out", f"{name}_cuda.py", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def kernel(self, command, name):
        done = run(KERF, command, f"{name}_reference.py", "--target", "cuda", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipUnless(NVRTC and os.path.isdir(NVRTC), "SKIPPED: no NVRTC here")
    def test_cuda_kernels_are_compiled_from_the_file(self):
        self.as_cuda("linear", self.kernel("synth", "linear"))
        self.python("""
import time
new = file("linear_cuda.py")
cubin, = new.kerf_cubins(new.KERF_PLAN, new.KERF_KERNEL, "sm_90")
assert cubin[:4] == b"\\x7fELF"
for launch in new.KERF_PLAN["launches"]: assert launch["kernel"].encode() in cubin
start = time.time()
assert new.kerf_cubins(new.KERF_PLAN, new.KERF_KERNEL, "sm_90") == [cubin] and time.time() - start < 1
warnings.simplefilter("ignore")
m = new.ModelNew(24)
x = torch.randn(16, 24)
same(m(x), m.forward_of_original(x))        # not on a GPU
assert "is on cpu, not on cuda" in str(new.KERF.told)
try:
    new.kerf_cubins(new.KERF_PLAN, "__global__ void f() { this is wrong; }", "sm_90")
    raise SystemExit("compiled")
except new.KerfError as error:
    assert "kernel.cu(1)" in str(error), error
# A program of many kernels in two parts, each without the other's.
heads = ['extern "C" __global__ void a(float* x) {', 'extern "C" __global__ void b(float* x) {']
text = "// \\u00e9\\n" + "".join(head + " *x = 1; }\\n" for head in heads)
at = [text.encode().index(head.encode()) for head in heads]
parts = [[[at[1], len(text.encode())]], [[at[0], at[1]]]]
first, second = new.kerf_cubins(dict(new.KERF_PLAN, parts=parts), text, "sm_90")
assert b".text.a" in first and b".text.b" not in first and b".text.b" in second and b".text.a" not in second
assert new.kerf_without(b"ab\\ncd\\nef", [[1, 4]]) == b"a\\nd\\nef"
""", KERF_NVRTC=NVRTC)

    @unittest.skipUnless(FAKE_CUDA and os.path.exists(FAKE_CUDA), "SKIPPED: no fake driver")
    def test_cuda_kernels_are_launched_as_planned(self):
        self.as_cuda("block", self.kernel("naive", "block"))
        (self.folder / "driver").mkdir()
        shutil.copy(FAKE_CUDA, self.folder / "driver" / "libcuda.so.1")
        self.python(f"""
# Device memory of the fake driver is host memory: tensors of the CPU stand for those of a GPU.
import ctypes, subprocess
ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)     # kernels find their thread's number in it
new, old = file("block_cuda.py"), file("block_reference.py")
def compiled(plan, source, arch):
    assert arch == "sm_90"
    with open("fake.cpp", "w") as out: out.write('#include "{SHIM}"\\n' + plan["constants"] + source)
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "fake.cpp", "-o", "fake.so"], check=True)
    with open("fake.so", "rb") as made: return [made.read()]
new.kerf_cubins = compiled
torch.cuda.get_device_capability = lambda index: (9, 0)
torch.cuda.synchronize = lambda index: start()
kernels = new.KERF.kernels
kernels.stream = lambda index: 0
def start():
    driver = kernels.driver = kernels.driver or new.KerfDriver()
    context, device = ctypes.c_void_p(), ctypes.c_int()
    driver.call("cuInit", 0)
    driver.call("cuDeviceGet", ctypes.byref(device), 0)
    driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver.call("cuCtxSetCurrent", context)
m = old.Model(4)
for _ in range(3):
    x = torch.rand(2, 3, 8, 8)
    inputs = [x, m.conv.weight, m.norm.weight, m.norm.bias]
    same(kernels.run_here(0, [t.detach().contiguous() for t in inputs])[0], m(x).detach())
# Launches whose buffers have come twice are a graph from then on, which computes with what the buffers hold now.
fake = ctypes.CDLL("libcuda.so.1")
graphs = ctypes.c_int.in_dll(fake, "kerf_fake_graphs")
assert graphs.value == 0
kept, empty = {{}}, torch.empty
torch.empty = lambda *shape, **options: kept.setdefault(str((shape, options)), empty(*shape, **options))
new.KerfGraphs.LEAST_LAUNCHES = 1
kernels.threads.clear()
inputs = [t.detach().contiguous().clone() for t in inputs]
for number in range(5):
    inputs[0].copy_(torch.rand(2, 3, 8, 8))
    same(kernels.run_here(0, inputs)[0], m(inputs[0]).detach())
    assert graphs.value == number, (number, graphs.value)
inputs[0] = inputs[0].clone()           # elsewhere: launched as they are, once
same(kernels.run_here(0, inputs)[0], m(inputs[0]).detach())
assert graphs.value == 4, graphs.value
new.KerfGraphs.MOST = 1
for _ in range(3): same(kernels.run_here(0, inputs)[0], m(inputs[0]).detach())
assert graphs.value == 4, "no more graphs than that"
""", LD_LIBRARY_PATH=str(self.folder / "driver"))

    def test_refusals_say_why(self):
        (self.folder / "part.py").write_text(HEAD + """class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(torch.relu(x @ x.T) + torch.eye(4)) @ x


def get_inputs():
    return [torch.randn(4, 8)]
""")
        (self.folder / "plain.toml").write_text('name = "plain"\n[inputs]\nx = "f32[64]"\n[reference]\nexpr = "y = x * 2"\n')
        for file in ("part.py", "plain.toml"):
            done = run(KERF, "optimize", file, "--evals", 1, "--seed", 1, "--out", file[:-3] + "-run", *QUICK, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        cases = [(["part-run"], "these operators stay with PyTorch: linalg_inv (line 9)"),
                 (["plain.t-run"], "was not made from a PyTorch model file"),
                 ([self.run_of("block"), "--shapes", "n=3"], "a model has literal shapes"),
                 ([self.run_of("block"), "--out", "folder"], "give FILE.py")]
        for arguments, words in cases:
            done = run(KERF, "export", *arguments, "--format", "kernelbench", cwd=self.folder)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stderr)
        done = run(KERF, "export", self.run_of("block"), "--format", "torch", "--out", "two-words", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'two-words'", done.stderr)

    def test_a_resumed_and_a_followed_run_can_be_exported(self):
        source = self.folder / "again"
        shutil.copytree(self.run_of("block"), source)
        for arguments in (["--resume", "again", "--evals", "2"], ["--replay", "again", "--out", "followed"]):
            done = run(KERF, "optimize", *arguments, *QUICK, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("again", "followed"):
            self.assertEqual(run(KERF, "export", name, "--format", "kernelbench", cwd=self.folder).returncode, 0)

    def test_the_python_package_optimizes_live_modules(self):
        script = self.folder / "script.py"
        script.write_text(f"""import sys
sys.path.insert(0, {str(PACKAGE)!r})
import torch
import torch.nn as nn
import kerf

SLOPE = 0.25


def bent(x):
    return torch.where(x > 0, x, SLOPE * x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 24)

    def forward(self, x, shift):
        return bent(self.layer(x)) + shift


if __name__ == "__main__":
    net = Net().eval()
    x, shift = torch.randn(32, 16), torch.randn(24)
    result = kerf.optimize(net, ([x], {{"shift": shift}}), evals=1, seed=1, out="live", options={QUICK!r})
    assert result.found and result.report["seed"] == 1, result
    assert torch.allclose(result.module(x, shift=shift), net(x, shift), atol=1e-5)
    assert result.module.kerf_runtime.used == {{"kernels": 1, "original": 0}}, result.module.kerf_runtime.told
    assert result.speedup > 0 and result.module.layer is net.layer
    out = result.export("torch", "live_package")
    package = kerf.load(out)
    assert torch.allclose(package.wrap(net)(x, shift), net(x, shift), atol=1e-5)
    assert torch.allclose(package.original.model(x, shift), net(x, shift))
    assert torch.allclose(kerf.load(result.run).wrap(net)(x, shift), net(x, shift), atol=1e-5)
    try:
        result.export("kernelbench")
        raise SystemExit("exported")
    except kerf.KerfError as error:
        assert "a single file cannot hold" in str(error)
    class Inner(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x
    for module, inputs, words in ((Inner(), [x], "a decision depends on the values"),):
        try:
            kerf.optimize(module, inputs, evals=1, out="bad")
            raise SystemExit("optimized")
        except kerf.KerfError as error:
            assert words in str(error) and error.code == 2, error
    try:
        kerf.optimize(net, [x], evals=1, out="bad2", binary="/nowhere/kerf")
        raise SystemExit("optimized")
    except kerf.KerfError as error:
        assert "no program that can be run" in str(error)
    assert kerf.load("block_new.py").ModelNew(4) is not None
    found = kerf.optimize("linear_reference.py", evals=1, seed=1, out="from_file", options={QUICK!r})
    assert found.module is None and found.export("kernelbench").endswith(".py")
    print("done")
""")
        done = run(PYTHON, script, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("done", done.stdout)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        print("PyTorch is not installed: exports for it are not tried")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
