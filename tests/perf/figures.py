#!/usr/bin/env python3
"""The tables of docs/results: every sample task on one target, found by `kerf optimize`, against the naive kernel and PyTorch.

  python3 tests/perf/figures.py --target cpu --time 40                 all sample tasks, PyTorch eager beside them
  python3 tests/perf/figures.py --target cpu --time 10 --threads 1 --compile    with torch.compile, on a machine that others use too
  python3 tests/perf/figures.py --target cuda --time 8 --compile       with torch.compile
  python3 tests/perf/figures.py --target opencl --no-torch             against the naive kernel only

For each task the search runs first; then the winner is measured again by `kerf eval --no-cache`, which gives its time, speedup over the
naive kernel and share of the floor.

PyTorch on a GPU: before and after that, on the same shape, inputs rotating; the ratio is PyTorch's median over Kerf's, its interval from the extremes of both.
PyTorch on a CPU: the winner is exported (`kerf export`), compiled as the export says and called in PyTorch's own process, both in turn on the same
tensors, which rotate over copies that exceed the last-level cache, with equal threads. "cold result" writes to memory that is not in the cache, for both;
"warm result" writes to the same memory every time, for both. The interval of the ratio of medians is bootstrapped. With --threads 1 calls are
timed in processor time of the process, which other programs on the machine disturb less than they disturb wall-clock time.
"load" is the machine's load average when a task's comparisons ended; the script itself is about 1 of it.

Results go to --out (JSON lines, one per task; tasks already there are skipped) and a markdown table to stdout.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_kerf(kerf, *args, timeout=1800):
    done = subprocess.run([kerf, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"kerf {' '.join(map(str, args))}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


KINDS = ("eager", "eager, cold result", "eager, warm result", "compile", "compile, cold result", "compile, warm result")  # what PyTorch is asked for


def shape_of(task, target):
    """The shape set with the largest weight for the target, as Kerf chooses its main shape."""
    sets = [(name, dict(s)) for name, s in task["shapes"].items() if target in s.get("targets", [target])]
    return max(sets, key=lambda entry: entry[1].get("weight", 0))


def torch_functions(torch):
    F = torch.nn.functional

    def attention(q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ v

    def rope(x, cosines, sines):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosines - b * sines, b * cosines + a * sines), -1)

    return {
        "gelu": lambda x: F.gelu(x),
        "bias_silu": lambda x, b: F.silu(x + b),
        "softmax": lambda x: torch.softmax(x, -1),
        "rmsnorm": lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w,
        "layernorm": lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-5),
        "rowsum": lambda x: x.sum(-1),
        "argmax": lambda x: x.argmax(-1),
        "cross_entropy": lambda logits, target: F.cross_entropy(logits, target),
        "cumsum": lambda x: torch.cumsum(x, -1),
        "matmul": lambda a, b: a @ b,
        "matmul_bias_gelu": lambda a, w, bias: F.gelu(torch.addmm(bias, a, w)),
        "batched_matmul_t": lambda a, b: torch.bmm(a, b.transpose(1, 2)),
        "conv2d_relu": lambda x, w, bias: F.relu(F.conv2d(x, w, bias, padding=1)),
        "depthwise_conv2d": lambda x, w: F.conv2d(x, w, padding=1, groups=64),
        "conv_transpose3d": lambda x, w: F.conv_transpose3d(x, w, stride=2, padding=1, output_padding=1),
        "maxpool2d": lambda x: F.max_pool2d(x, 3, stride=2, padding=1),
        "causal_attention": attention,
        "gelu_f16": lambda x: F.gelu(x),
        "rope": rope,
    }


def make_inputs(torch, task, symbols, device, copies):
    scope = {k: v for k, v in symbols.items() if isinstance(v, int)}
    sets = []
    for _ in range(copies):
        inputs = []
        for name, text in task["inputs"].items():
            dtype, dims = text.split("[", 1)
            shape = [eval(d, {}, scope) for d in dims.rstrip("]").split(",") if d.strip()]  # "2*cols" and the like
            if dtype == "i64":
                inputs.append(torch.randint(0, scope["classes"], shape, device=device))
            else:
                inputs.append(torch.randn(shape, device=device, dtype={"f32": torch.float32, "f16": torch.float16}[dtype]))
        sets.append(inputs)
    return sets


def time_on_gpu(torch, function, sets, seconds=0.6):
    """Microseconds per call: median and extremes of the middle 80 %. Before each the L2 cache is flushed and left as Kerf leaves it: modified lines in the share that results have of all traffic."""
    with torch.no_grad():
        for inputs in sets[:2]:
            result = function(*inputs)
        size = lambda tensor: tensor.numel() * tensor.element_size()
        read, written, cache = sum(map(size, sets[0])), size(result), torch.cuda.get_device_properties(0).L2_cache_size
        modified = torch.empty(max(1, int(min(written, cache * written / (read + written))) // 4), device="cuda")
        del result
        samples, begin = [], time.perf_counter()
        flush = torch.zeros(1 << 26, device="cuda")
        while (time.perf_counter() - begin < seconds or len(samples) < 10) and len(samples) < 400:
            flush.sum()
            modified.zero_()
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            function(*sets[len(samples) % len(sets)])
            stop.record()
            torch.cuda.synchronize()
            samples.append(start.elapsed_time(stop) * 1e3)
    samples.sort()
    cut = len(samples) // 10
    return {"median": statistics.median(samples), "low": samples[cut], "high": samples[-1 - cut], "samples": len(samples)}


def keep_pages_mapped():
    """Asks the C library never to give freed memory back: PyTorch's results then cost no page faults once all blocks were used."""
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
    library = ctypes.CDLL(None)
    library.mallopt(trim_threshold, 1 << 30)
    library.mallopt(mmap_threshold, 1 << 25)  # the most it takes


def exported_kernel(kerf, run, task, symbols, folder):
    """The run's winner as a function of tensors (inputs, then the output), compiled as its export says."""
    name = task["name"]
    run_kerf(kerf, "export", run, "--format", "source", "--out", folder)
    header = (folder / f"{name}.h").read_text()
    library = folder / f"{name}.so"
    subprocess.run(["g++", "-std=gnu++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-w",
                    "-shared", "-fPIC", *map(str, sorted(folder.glob("*.cpp"))), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    names = [p.split()[-1].lstrip("*") for p in re.search(rf"int {name}\(([^)]*)\);", header)[1].split(",")][1:]
    fields = [f.strip() for f in re.search(rf"struct {name}_shape \{{\s*long long ([^;]*);", header)[1].split(",")]

    class Shape(ctypes.Structure):
        _fields_ = [(field, ctypes.c_longlong) for field in fields]

    shape = Shape(*[symbols[field] for field in fields])
    path = getattr(loaded, f"{name}_path")
    path.restype = ctypes.c_char_p
    taken = path(shape)
    if taken in (None, b"fallback"):
        raise RuntimeError(f"{name}: the export has no kernel of its own for this shape")
    function = getattr(loaded, name)

    def call(inputs, output):
        tensors = dict(zip(task["inputs"], inputs))
        tensors[task["reference"]["outputs"][0]] = output
        status = function(shape, *[ctypes.c_void_p(tensors[n].data_ptr()) for n in names])
        if status != 0:
            raise RuntimeError(f"{name}: the exported kernel returned {status}")

    return call


def compare_on_cpu(torch, function, kernel, sets, cold, seconds=3.0):
    """PyTorch's and Kerf's calls in turn, in random order. The ratio of medians with a bootstrapped 95 % interval."""
    generator, pairs, kept = random.Random(1), [], [None] * len(sets)
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    with torch.no_grad():
        expected = function(*sets[0])
        outputs = [torch.empty_like(expected) for _ in (sets if cold else sets[:1])]
        kernel(sets[0], outputs[0])
        if not torch.allclose(outputs[0].double(), expected.double(), rtol=1e-3, atol=1e-3):
            raise RuntimeError("the exported kernel disagrees with PyTorch")
        begin, at = None, 0
        while begin is None or (time.perf_counter() - begin < seconds or len(pairs) < 20) and len(pairs) < 600:
            slot = at % len(sets)
            kept[slot] = None
            times = {}
            for which in generator.sample(("torch", "kerf"), 2):
                t0 = clock()
                if which == "torch":
                    result = function(*sets[slot])
                else:
                    kernel(sets[slot - len(sets) // 2], outputs[slot % len(outputs)])  # inputs that PyTorch has not just read
                times[which] = (clock() - t0) * 1e6
            kept[slot] = result if cold else None
            del result
            at += 1
            if begin is None and at >= 4 * len(sets):  # until then blocks are new to the allocator
                begin = time.perf_counter()
            if begin is not None:
                pairs.append((times["torch"], times["kerf"]))

    def ratio(sample):
        return statistics.median(t for t, _ in sample) / statistics.median(k for _, k in sample)

    drawn = sorted(ratio(generator.choices(pairs, k=len(pairs))) for _ in range(400))
    return {"median": statistics.median(t for t, _ in pairs), "own": statistics.median(k for _, k in pairs), "ratio": ratio(pairs),
            "low": drawn[10], "high": drawn[-11], "samples": len(pairs)}


def measure(arguments, torch, task_file):
    task = tomllib.loads(task_file.read_text())
    name = task["name"]
    out = pathlib.Path(arguments.runs) / f"{name}-{arguments.target}"
    row = {"task": name, "target": arguments.target}
    if not (out / "run.toml").exists():
        run_kerf(arguments.kerf, "optimize", task_file, "--memory", "off", "--target", arguments.target, "--time", arguments.time, "--evals",
                 arguments.evals, "--seed", arguments.seed, "--out", out, "--json")
    database = sqlite3.connect(f"file:{out}/kerf.db?mode=ro", uri=True)
    row["evaluations"], seconds = database.execute("SELECT COUNT(*), MAX(seconds) FROM steps").fetchone()
    row["seconds"] = round(seconds or 0, 1)
    database.close()
    if arguments.search_only:
        return None
    best = next(out.glob("best.*"))
    shape_name, symbols = shape_of(task, arguments.target)
    device = "cuda" if arguments.target == "cuda" else "cpu"
    functions, sets, before = {}, [], {}
    if torch is not None:
        function = torch_functions(torch).get(name)
        if function is None:
            raise RuntimeError(f"{name}: this script does not know how to say it in PyTorch")
        bytes_each = sum(t.numel() * t.element_size() for t in make_inputs(torch, task, symbols, device, 1)[0])
        sets = make_inputs(torch, task, symbols, device, max(2, min(16, math.ceil(3e8 / max(1, bytes_each)))))
        functions["eager"] = function
        if arguments.compile:
            functions["compile"] = torch.compile(function, dynamic=False)
        if device == "cuda":
            before = {kind: time_on_gpu(torch, f, sets) for kind, f in functions.items()}
    evaluation = run_kerf(arguments.kerf, "eval", task_file, best, "--target", arguments.target, "--shape", shape_name, "--no-cache",
                          "--json")[-1]
    row.update(message=evaluation.get("message"), outcome=evaluation["outcome"], speedup=evaluation.get("speedup"), time_us=evaluation.get("time_us"),
               speed_of_light=evaluation.get("speed_of_light"), device=evaluation["device"], shape=shape_name)
    if evaluation["outcome"] != "measured":
        return row
    own = evaluation["time_us"]
    for kind, function in functions.items() if device == "cuda" else ():
        first, second = before[kind], time_on_gpu(torch, function, sets)
        median = statistics.mean((first["median"], second["median"]))
        row[kind] = {"median": median, "ratio": median / own["median"],
                     "low": min(first["low"], second["low"]) / own["high"], "high": max(first["high"], second["high"]) / own["low"]}
    if torch is not None and device == "cpu":
        kernel = exported_kernel(arguments.kerf, out, task, symbols, out.resolve() / "exported")
        for kind, function in functions.items():
            for result, cold in (("cold", True), ("warm", False)):
                row[f"{kind}, {result} result"] = compare_on_cpu(torch, function, kernel, sets, cold)
    row["load"] = round(os.getloadavg()[0], 1)
    return row


def table(rows, target):
    kinds = [kind for kind in KINDS if any(kind in row for row in rows)]
    print(f"| task | time | vs naive | of floor | {''.join(f'vs PyTorch {k} | ' for k in kinds)}evaluations | seconds | load |")
    print("|---" * (7 + len(kinds)) + "|")
    logs = {}
    for row in rows:
        if row["outcome"] != "measured":
            print(f"| {row['task']} | {row['outcome']}: {row.get('message')} |")
            continue
        s, sol = row["speedup"], row.get("speed_of_light")
        cells = [row["task"], f"{row['time_us']['median']:.4g} us", f"{s['ratio']:.2f} [{s['low']:.2f}, {s['high']:.2f}]",
                 f"{sol['fraction']:.2f} {sol['bound']}" if sol else "-"]
        logs.setdefault("naive", []).append(math.log(s["ratio"]))
        for kind in kinds:
            k = row.get(kind)
            cells.append(f"{k['ratio']:.2f} [{k['low']:.2f}, {k['high']:.2f}]" if k else "-")
            if k:
                logs.setdefault(kind, []).append(math.log(k["ratio"]))
        cells += [str(row.get("evaluations", "-")), str(row.get("seconds", "-")), str(row.get("load", "-"))]
        print("| " + " | ".join(cells) + " |")
    for kind, values in logs.items():
        print(f"\nGeometric mean over {len(values)} tasks, vs {kind}: {math.exp(statistics.mean(values)):.2f}", end="")
    print(f"\n\nTarget {target}, device {rows[0].get('device') if rows else '-'}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kerf", default=str(ROOT / "build/release/kerf"))
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--time", default=40, type=float, help="seconds of search per task")
    parser.add_argument("--evals", default=400, type=int)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--threads", default=os.cpu_count(), type=int, help="of PyTorch and of the exported kernel, on a CPU")
    parser.add_argument("--tasks", nargs="*", help="names; default: all sample tasks")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--search-only", action="store_true", help="only make the runs; a later call measures them")
    parser.add_argument("--runs", default="figures")
    parser.add_argument("--out", default=None)
    arguments = parser.parse_args()
    torch = None
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    if not arguments.no_torch and not arguments.search_only:
        import torch
        if arguments.target != "cuda":
            torch.set_num_threads(arguments.threads)
            keep_pages_mapped()
    pathlib.Path(arguments.runs).mkdir(parents=True, exist_ok=True)
    out = pathlib.Path(arguments.out or f"{arguments.runs}/{arguments.target}.jsonl")
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {row["task"] for row in rows}
    for task_file in sorted((ROOT / "tasks").glob("*.toml")):
        if task_file.stem in done or (arguments.tasks and task_file.stem not in arguments.tasks):
            continue
        try:
            row = measure(arguments, torch, task_file)
        except (RuntimeError, StopIteration, subprocess.TimeoutExpired) as error:
            print(f"{task_file.stem}: {error}", file=sys.stderr)
            continue
        if row is None:
            continue
        rows.append(row)
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['task']}: {row['outcome']} {(row.get('speedup') or {}).get('ratio', 0):.2f}x naive"
              + "".join(f", {row[k]['ratio']:.2f}x {k}" for k in KINDS if k in row), file=sys.stderr, flush=True)
    if rows:
        table(rows, arguments.target)


if __name__ == "__main__":
    main()
