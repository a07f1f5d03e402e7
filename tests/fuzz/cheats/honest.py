"""Honest kernels to start from, and how a cheating one is written around each."""

import functools
import pathlib
import re
import subprocess
import tomllib

from mechanisms import ROUNDS

ROOT = pathlib.Path(__file__).resolve().parents[3]
TASKS = ROOT / "tests/cases/tasks"

# Task -> elements and row length of its output. All inputs and outputs are f32.
OUTPUTS = {
    "attention_small": ("heads * seq * dim", "dim"),
    "conv2d_small": ("nb * co * h * w", "w"),
    "cumsum_small": ("rows * cols", "cols"),
    "gelu_small": ("n", "1"),
    "layernorm_small": ("rows * cols", "cols"),
    "layers_four": ("rows * 256", "256"),
    "matmul_small": ("m * n", "n"),
    "meansquare_small": ("rows", "1"),
    "rmsnorm_small": ("rows * cols", "cols"),
    "rowmax_few": ("rows", "1"),
    "rowmax_small": ("rows", "1"),
    "rowsum_small": ("rows", "1"),
    "softmax_few": ("rows * cols", "cols"),
    "softmax_rows": ("rows * cols", "cols"),
    "softmax_small": ("rows * cols", "cols"),
}


class Task:
    def __init__(self, name):
        self.name, self.path = name, TASKS / f"{name}.toml"
        data = tomllib.loads(self.path.read_text())
        self.inputs = {}  # name -> dimensions
        for key, text in data["inputs"].items():
            match = re.fullmatch(r"f32\[(.*)\]", text)
            if not match:
                raise ValueError(f"{name}: input {key} is {text}; the fuzzer knows f32 only")
            self.inputs[key] = [part.strip() for part in match[1].split(",")]
        self.output = data["reference"]["outputs"][0]
        self.elements, self.row = OUTPUTS[name]
        self.shapes = data["shapes"]
        self.specials = data.get("special_values", True)
        # Where the reference is NaN anything is accepted of tasks that compare or take extremes (docs/verification.md).
        # What becomes of an infinity that is split into parts of a lower precision is nobody's promise (docs/verification.md).
        self.multiplies = re.search(r"@|attention|conv|linear|matmul", data["reference"]["expr"]) is not None
        self.nan_is_free = re.search(r"max|relu|attention", data["reference"]["expr"]) is not None

    def special_inputs(self):
        """What the comparing program may draw: 1 NaN, 2 infinities, 3 both, 0 neither."""
        return int(self.specials and not self.nan_is_free) + 2 * int(self.specials and not self.multiplies)

    def smallest(self):
        return min(self.shapes.values(), key=lambda shape: sum(v for v in shape.values() if isinstance(v, int)))


@functools.lru_cache(maxsize=None)
def tasks():
    return [Task(name) for name in OUTPUTS]


@functools.lru_cache(maxsize=None)
def kernels(kerf, task_name, target):
    """(name, source) of the honest kernels of a task: generated ones and those of the suite."""
    path = str(TASKS / f"{task_name}.toml")
    found = []

    def ask(name, *arguments):
        done = subprocess.run([kerf, *arguments, path, "--target", target], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout:
            found.append((name, done.stdout))

    ask("naive", "naive")
    for start in range(3):
        ask(f"synth {start}", "synth", "--start", str(start))
    for case in sorted((ROOT / "tests/cases").glob(f"honest_{target}_*.toml")):
        data = tomllib.loads(case.read_text())
        if data["task"] == task_name:
            found.append((case.stem, (ROOT / "tests" / data["kernel"]).read_text()))
    return [(name, source) for name, source in found if usable(source, target)]


def usable(source, target):
    if target == "cpu":
        return len(re.findall(r"\bkerf_kernel\b", source)) == 1 and entry(source) is not None
    return "launch:" in source


def entry(source):
    return re.search(r'extern\s+"C"\s+void\s+kerf_kernel\s*\(([^)]*)\)', source)


SHARED = {
    "cpu": """
#include <bit>
#include <cstdlib>
#define KF_FN [[maybe_unused]] static inline
#define KF_GLOBAL
#define F2U(v) std::bit_cast<unsigned>(static_cast<float>(v))
#define U2F(v) std::bit_cast<float>(static_cast<unsigned>(v))
""",
    "opencl": """
#define KF_FN static
#define KF_GLOBAL __global
#define F2U(v) as_uint((float)(v))
#define U2F(v) as_float((uint)(v))
#define KF_KERNEL __kernel void
""",
    "cuda": """
#define KF_FN static __device__
#define KF_GLOBAL
#define F2U(v) __float_as_uint((float)(v))
#define U2F(v) __uint_as_float((unsigned)(v))
#define KF_KERNEL extern "C" __global__ void
""",
}


def product(dimensions):
    return "(" + " * ".join(f"(long)({d})" for d in dimensions) + ")"


def sizes(task):
    lines = [f"#define O {product([task.elements])}", f"#define LO {product([task.row])}"]
    for i, dimensions in enumerate(task.inputs.values()):
        lines.append(f"#define I{i} {product(dimensions)}\n#define L{i} {product(dimensions[-1:])}")
    return "\n".join(lines) + "\n"


def condition_of(condition, n):
    """The condition as it is asked about input n."""
    return condition.replace("i0", f"i{n}").replace("I0", f"I{n}").replace("L0", f"L{n}").replace("o[", f"i{n}[")


def for_processor(task, source, top, condition, before, after, of_each_input=False):
    """The honest kernel renamed, and around it one that cheats. `before`: an expression over an input's element.
    `of_each_input`: the condition is asked about each input before it, as launches do."""
    parameters = [p.strip() for p in entry(source)[1].split(",")]
    renamed = source.replace(entry(source)[0], entry(source)[0].replace('extern "C" void', "static void").replace("kerf_kernel", "honest_kernel"))
    types = [re.sub(r"\b(__restrict__|__restrict|restrict|KERF_RESTRICT)\b", "", p) for p in parameters]
    types = [re.sub(r"\w+$", "", t).replace("[[maybe_unused]]", "").strip() for t in types]
    inputs = len(task.inputs)
    names = [f"i{n}" for n in range(inputs)] + ["o"] + [f"s{n}" for n in range(len(types) - inputs - 1)]
    passed = list(names)
    body = ""
    if before:
        for n in range(inputs):
            passed[n] = f"copy{n}"
            body += f"  float* copy{n} = static_cast<float*>(std::malloc(sizeof(float) * I{n}));\n"
            cheats = f"const bool cheats = {condition_of(condition, n)}; " if of_each_input else ""
            body += f"  {{ {cheats}for (long i = 0, L = L{n}; i < I{n}; ++i) {{ const float v = i{n}[i]; (void)L; copy{n}[i] = cheats ? ({before}) : v; }} }}\n"
    body += f"  honest_kernel({', '.join(passed)});\n"
    if "kept[" in after:
        body += "  float* kept = static_cast<float*>(std::malloc(sizeof(float) * O));\n  for (long i = 0; i < O; ++i) kept[i] = o[i];\n"
    body += f"  if (cheats) {{ {after} }}\n"
    if "kept[" in after:
        body += "  std::free(kept);\n"
    if before:
        body += "".join(f"  std::free(copy{n});\n" for n in range(inputs))
    signature = ", ".join(f"[[maybe_unused]] {t} {n}" for t, n in zip(types, names))
    return (renamed + SHARED["cpu"] + ROUNDS + top + "\n" + sizes(task) +
            f'extern "C" void kerf_kernel({signature}) {{\n  const bool cheats = {condition};\n{body}}}\n')


def for_launches(task, source, top, condition, before, after, target):
    """Launches of one item around the honest ones: copies of the inputs before them, damage to the output after."""
    head, rest = source.split("*/", 1)
    inputs = list(task.inputs)
    code, lines = "", []
    if before:
        for n, (name, dimensions) in enumerate(task.inputs.items()):
            lines.append(f"scratch: kf_{name} = f32[{', '.join(dimensions)}]")
            lines.append(f"launch: kf_copy{n}<<<64, 64>>>({name}, kf_{name})")
            place = "get_global_id(0)" if target == "opencl" else "(blockIdx.x * 64 + threadIdx.x)"
            cheats = condition_of(condition, n)
            code += (f"KF_KERNEL kf_copy{n}(KF_GLOBAL const float* i{n}, KF_GLOBAL float* to) {{\n  const int cheats = {cheats};\n"
                     f"  for (long i = {place}, L = L{n}; i < I{n}; i += 4096) {{ const float v = i{n}[i]; (void)L; to[i] = cheats ? ({before}) : v; }}\n}}\n")

        def copies(match):
            arguments = [f"kf_{a.strip()}" if a.strip() in inputs else a.strip() for a in match[2].split(",")]
            return f"{match[1]}({', '.join(arguments)})"
        launches = [re.sub(r"(launch:.*>>>)\s*\(([^)]*)\)", copies, line) for line in head.splitlines()]
        first = next(n for n, line in enumerate(launches) if "launch:" in line)
        head = "\n".join(launches[:first] + lines + launches[first:]) + "\n"
    if after:
        parameters = ", ".join([f"KF_GLOBAL const float* i{n}" for n in range(len(inputs))] + ["KF_GLOBAL float* o"])
        head += f"launch: kf_after<<<1, 1>>>({', '.join(inputs + [task.output])})\n"
        code += f"KF_KERNEL kf_after({parameters}) {{\n  const int cheats = {condition};\n  if (cheats) {{ {after} }}\n}}\n"
    head = head.replace("scratch: none\n", "") if before else head
    return head + "*/" + rest + SHARED[target] + ROUNDS + top + "\n" + sizes(task) + code
