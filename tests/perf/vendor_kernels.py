#!/usr/bin/env python3
"""Is a vendor's library ever refused? cuBLAS, cuDNN and PyTorch's own kernels (on a processor: what PyTorch uses there) as candidates, at the precision the task declares.

    ninja -C build/release vendor_kernels
    tests/perf/vendor_kernels.py --target cpu --draws 20
    tests/perf/vendor_kernels.py --target cuda --draws 50 --jobs 5 --seconds 60 --json vendor.jsonl

build/release/tests/perf/vendor_kernels draws the judge's data sets (every pattern on the small shape, on the large one those that the judge would draw; --all-patterns: all) and judges the results
by the judge's own code; this script computes them with PyTorch. A draw is one seed: all data sets of a judgement. Per task and implementation: data sets, refusals, and the largest share of each limit
that was used (beyond 1 it is a refusal): rms, worst element, worst run of neighbours, numbers of large errors, and what makes an element wrong.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# name: precision, inputs, expression, shapes (small, on a processor, on a GPU), implementations of `implementations()`
# A distribution after a dtype's shape: "f32[n] ~ uniform(0.5, 2)".
TASKS = {
    "matmul_1024": ("f32", {"a": "f32[m, k]", "b": "f32[k, n]"}, "matmul(a, b)", ({"m": 67, "n": 89, "k": 43}, {"m": 256, "n": 256, "k": 512}, {"m": 1024, "n": 1024, "k": 1024}), ["matmul"]),
    "matmul_4096": ("f32", {"a": "f32[m, k]", "b": "f32[k, n]"}, "matmul(a, b)", ({"m": 65, "n": 33, "k": 257}, {"m": 128, "n": 128, "k": 2048}, {"m": 4096, "n": 4096, "k": 4096}), ["matmul"]),
    "matmul_tf32": ("tf32", {"a": "f32[m, k]", "b": "f32[k, n]"}, "matmul(a, b)", ({"m": 67, "n": 89, "k": 43}, {"m": 256, "n": 256, "k": 512}, {"m": 2048, "n": 2048, "k": 2048}), ["matmul", "matmul tf32"]),
    "matmul_f16": ("f16", {"a": "f16[m, k]", "b": "f16[k, n]"}, "matmul(a, b)", ({"m": 67, "n": 89, "k": 43}, {"m": 128, "n": 128, "k": 512}, {"m": 2048, "n": 2048, "k": 2048}), ["matmul", "matmul full sums"]),
    "matmul_bf16": ("bf16", {"a": "bf16[m, k]", "b": "bf16[k, n]"}, "matmul(a, b)", ({"m": 67, "n": 89, "k": 43}, {"m": 128, "n": 128, "k": 512}, {"m": 2048, "n": 2048, "k": 2048}), ["matmul", "matmul full sums"]),
    "batched_matmul": ("f32", {"a": "f32[batch, m, k]", "b": "f32[batch, k, n]"}, "matmul(a, b)",
                       ({"batch": 3, "m": 17, "n": 33, "k": 43}, {"batch": 8, "m": 64, "n": 64, "k": 256}, {"batch": 64, "m": 256, "n": 256, "k": 512}), ["matmul"]),
    "linear_layers": ("f32", {"x": "f32[rows, n]", "w1": "f32[n, n]", "w2": "f32[n, n]", "w3": "f32[n, n]", "w4": "f32[n, n]"}, "relu(relu(relu(relu(x @ w1) @ w2) @ w3) @ w4)",
                      ({"rows": 37, "n": 48}, {"rows": 128, "n": 128}, {"rows": 4096, "n": 512}), ["linear layers"]),
    "conv2d": ("f32", {"x": "f32[batch, channels, size, size]", "w": "f32[filters, channels, 3, 3]"}, "conv2d(x, w, padding=1)",
               ({"batch": 2, "channels": 5, "size": 13, "filters": 7}, {"batch": 2, "channels": 16, "size": 28, "filters": 16}, {"batch": 16, "channels": 64, "size": 56, "filters": 64}), ["conv2d"]),
    "conv2d_tf32": ("tf32", {"x": "f32[batch, channels, size, size]", "w": "f32[filters, channels, 3, 3]"}, "conv2d(x, w, padding=1)",
                    ({"batch": 2, "channels": 5, "size": 13, "filters": 7}, {"batch": 2, "channels": 16, "size": 28, "filters": 16}, {"batch": 16, "channels": 64, "size": 56, "filters": 64}),
                    ["conv2d", "conv2d tf32"]),
    "conv2d_mish_batchnorm": ("tf32", {"x": "f32[batch, channels, size, size]", "w": "f32[filters, channels, 3, 3]", "bias": "f32[filters]"},
                              "batch_norm(mish(conv2d(x, w, bias)))",
                              ({"batch": 2, "channels": 5, "size": 13, "filters": 7}, {"batch": 2, "channels": 16, "size": 28, "filters": 16}, {"batch": 32, "channels": 64, "size": 64, "filters": 64}),
                              ["conv2d mish batchnorm", "conv2d mish batchnorm tf32"]),
    "conv_transpose2d": ("tf32", {"x": "f32[batch, channels, size, size]", "w": "f32[channels, filters, 3, 3]"}, "conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)",
                         ({"batch": 2, "channels": 5, "size": 7, "filters": 3}, {"batch": 2, "channels": 16, "size": 16, "filters": 16}, {"batch": 16, "channels": 64, "size": 32, "filters": 64}),
                         ["conv_transpose2d", "conv_transpose2d tf32"]),
    "softmax": ("f32", {"x": "f32[rows, cols]"}, "softmax(x, -1)", ({"rows": 33, "cols": 67}, {"rows": 256, "cols": 1000}, {"rows": 4096, "cols": 4096}), ["softmax"]),
    "log_softmax": ("f32", {"x": "f32[rows, cols]"}, "log_softmax(x, -1)", ({"rows": 33, "cols": 67}, {"rows": 256, "cols": 1000}, {"rows": 4096, "cols": 4096}), ["log_softmax"]),
    "layer_norm": ("f32", {"x": "f32[rows, cols]", "w": "f32[cols]", "b": "f32[cols]"}, "layer_norm(x, [cols], w, b)",
                   ({"rows": 33, "cols": 67}, {"rows": 256, "cols": 1024}, {"rows": 4096, "cols": 4096}), ["layer_norm"]),
    "group_norm": ("f32", {"x": "f32[batch, channels, size, size]", "w": "f32[channels]", "b": "f32[channels]"}, "group_norm(x, 4, w, b)",
                   ({"batch": 2, "channels": 8, "size": 9}, {"batch": 4, "channels": 32, "size": 32}, {"batch": 16, "channels": 64, "size": 64}), ["group_norm"]),
    "batch_norm": ("f32", {"x": "f32[batch, channels, size, size]"}, "batch_norm(x)",
                   ({"batch": 2, "channels": 8, "size": 9}, {"batch": 4, "channels": 32, "size": 32}, {"batch": 16, "channels": 64, "size": 64}), ["batch_norm"]),
    "attention_f32": ("f32", {"q": "f32[batch, heads, seq, dim]", "k": "f32[batch, heads, seq, dim]", "v": "f32[batch, heads, seq, dim]"}, "attention(q, k, v)",
                      ({"batch": 2, "heads": 3, "seq": 37, "dim": 24}, {"batch": 2, "heads": 4, "seq": 128, "dim": 64}, {"batch": 4, "heads": 8, "seq": 512, "dim": 64}),
                      ["attention composed", "attention math", "attention efficient"]),
    "attention_f16": ("f16", {"q": "f16[batch, heads, seq, dim]", "k": "f16[batch, heads, seq, dim]", "v": "f16[batch, heads, seq, dim]"}, "attention(q, k, v)",
                      ({"batch": 2, "heads": 3, "seq": 37, "dim": 24}, {"batch": 2, "heads": 4, "seq": 128, "dim": 64}, {"batch": 4, "heads": 8, "seq": 512, "dim": 64}),
                      ["attention math", "attention efficient", "attention flash", "attention cudnn"]),
    "gelu": ("f32", {"x": "f32[rows, cols]"}, "gelu(x)", ({"rows": 33, "cols": 67}, {"rows": 256, "cols": 1024}, {"rows": 4096, "cols": 4096}), ["gelu"]),
    "cross_entropy": ("f32", {"x": "f32[rows, classes]", "t": "i64[rows] ~ integers(0, classes - 1)"}, "cross_entropy(x, t)",
                      ({"rows": 37, "classes": 101}, {"rows": 512, "classes": 1000}, {"rows": 16384, "classes": 1024}), ["cross_entropy"]),
    "cumsum": ("f32", {"x": "f32[rows, cols]"}, "cumsum(x, -1)", ({"rows": 13, "cols": 509}, {"rows": 64, "cols": 4096}, {"rows": 2048, "cols": 4096}), ["cumsum"]),
    "sum": ("f32", {"x": "f32[rows, cols]"}, "sum(x, -1)", ({"rows": 13, "cols": 1009}, {"rows": 32, "cols": 65536}, {"rows": 128, "cols": 1048576 // 8}), ["sum"]),
    "mean": ("f32", {"x": "f32[rows, cols]"}, "mean(x, -1)", ({"rows": 33, "cols": 521}, {"rows": 512, "cols": 4096}, {"rows": 4096, "cols": 4096}), ["mean"]),
    "max_pool2d": ("f32", {"x": "f32[batch, channels, size, size]"}, "max_pool2d(x, 3, stride=2, padding=1)",
                   ({"batch": 2, "channels": 3, "size": 19}, {"batch": 4, "channels": 16, "size": 64}, {"batch": 16, "channels": 64, "size": 64}), ["max_pool2d"]),
}


def implementations(torch):
    """Name -> function of the inputs in the task's order."""
    F = torch.nn.functional

    @contextlib.contextmanager
    def tf32(allowed):
        torch.backends.cuda.matmul.allow_tf32 = allowed
        torch.backends.cudnn.allow_tf32 = allowed
        yield

    def with_tf32(work):
        def run(*inputs):
            with tf32(True):
                try:
                    return work(*inputs)
                finally:
                    with tf32(False):
                        pass
        return run

    def full_sums(a, b):
        settings = torch.backends.cuda.matmul
        settings.allow_fp16_reduced_precision_reduction = settings.allow_bf16_reduced_precision_reduction = False
        try:
            return a @ b
        finally:
            settings.allow_fp16_reduced_precision_reduction = settings.allow_bf16_reduced_precision_reduction = True

    def math_order(q, k, v):
        """What the MATH backend does, for versions of PyTorch without it: the root of the scale on both operands."""
        root = q.shape[-1] ** -0.25
        return torch.softmax((q * root) @ (k * root).transpose(-1, -2), -1) @ v

    def sdpa(backend):
        def run(q, k, v):
            if backend == "MATH" and not hasattr(torch.nn, "attention"):
                return math_order(q, k, v)
            from torch.nn.attention import SDPBackend, sdpa_kernel
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return F.scaled_dot_product_attention(q, k, v)
        return run

    def composed_attention(q, k, v):
        return torch.softmax((q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5, -1) @ v

    def mish_batchnorm(x, w, bias):
        return F.batch_norm(F.mish(F.conv2d(x, w, bias)), None, None, training=True)

    def transposed(x, w):
        return F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)

    def conv(x, w):
        return F.conv2d(x, w, padding=1)

    def layers(x, *weights):
        for w in weights:
            x = torch.relu(x @ w)
        return x

    return {
        "matmul": torch.matmul, "matmul tf32": with_tf32(torch.matmul), "matmul full sums": full_sums, "linear layers": layers,
        "conv2d": conv, "conv2d tf32": with_tf32(conv), "conv2d mish batchnorm": mish_batchnorm, "conv2d mish batchnorm tf32": with_tf32(mish_batchnorm),
        "conv_transpose2d": transposed, "conv_transpose2d tf32": with_tf32(transposed),
        "softmax": lambda x: torch.softmax(x, -1), "log_softmax": lambda x: torch.log_softmax(x, -1),
        "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), "group_norm": lambda x, w, b: F.group_norm(x, 4, w, b),
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
        "attention composed": composed_attention, "attention math": sdpa("MATH"), "attention efficient": sdpa("EFFICIENT_ATTENTION"), "attention flash": sdpa("FLASH_ATTENTION"),
        "attention cudnn": sdpa("CUDNN_ATTENTION"),
        "gelu": F.gelu, "cross_entropy": F.cross_entropy, "cumsum": lambda x: torch.cumsum(x, -1), "sum": lambda x: torch.sum(x, -1), "mean": lambda x: torch.mean(x, -1),
        "max_pool2d": lambda x: F.max_pool2d(x, 3, stride=2, padding=1),
    }


def task_text(name, target):
    precision, inputs, expression, (small, host, gpu), _ = TASKS[name]
    shape = lambda extents, more="": "{ " + ", ".join(f"{k} = {v}" for k, v in extents.items()) + more + " }"
    given = {k: v.split("~")[1].strip() for k, v in inputs.items() if "~" in v}
    lines = [f'name = "{name}"', f'precision = "{precision}"', "[inputs]"] + [f'{k} = "{v.split("~")[0].strip()}"' for k, v in inputs.items()]
    if given:
        lines += ["[distributions]"] + [f'{k} = "{v}"' for k, v in given.items()]
    lines += ["[shapes]", "large = " + shape(gpu if target == "cuda" else host, ", weight = 1"), "small = " + shape(small), "[reference]", f'expr = "y = {expression}"', 'outputs = ["y"]']
    return "\n".join(lines) + "\n"


def kinds(torch):
    return {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64}


def load(torch, folder, spec, device):
    data = bytearray((folder / spec["file"]).read_bytes())
    return torch.frombuffer(data, dtype=kinds(torch)[spec["dtype"]]).reshape(spec["shape"]).to(device)


def save(torch, folder, spec, tensor):
    tensor = tensor.detach().contiguous().cpu()
    if tensor.dtype != kinds(torch)[spec["dtype"]] or list(tensor.shape) != spec["shape"]:
        raise SystemExit(f"{spec['name']}: the library gives {tensor.dtype} {list(tensor.shape)}, the task wants {spec['dtype']} {spec['shape']}")
    (folder / spec["file"]).write_bytes((ctypes.c_char * (tensor.numel() * tensor.element_size())).from_address(tensor.data_ptr()))


def judge_task(name, arguments):
    """Asks the program for data sets and answers with PyTorch's results; rows for the report."""
    import torch
    torch.set_num_threads(2)
    device = "cuda" if arguments.target == "cuda" else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    known = implementations(torch)
    memory = pathlib.Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 8 << 30
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vendor-", dir=memory if roomy else None))
    rows, missing = [], {}
    try:
        (folder / "task.toml").write_text(task_text(name, arguments.target))
        command = [arguments.program, folder / "task.toml", "--kerf", arguments.kerf, "--folder", folder, "--cache", arguments.cache, "--target", arguments.target,
                   "--first-seed", arguments.first_seed, "--draws", arguments.draws, "--seconds", arguments.seconds] + (["--all-patterns"] if arguments.all_patterns else [])
        server = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def ask(line):
            server.stdin.write(line + "\n")
            server.stdin.flush()
            return server.stdout.readline()

        line = server.stdout.readline()
        while line and not (data := json.loads(line)).get("done"):
            inputs = [load(torch, folder, spec, device) for spec in data["inputs"]]
            for implementation in TASKS[name][4]:
                if implementation in missing:
                    continue
                try:
                    with torch.no_grad():
                        result = known[implementation](*inputs)
                except (RuntimeError, ImportError, AttributeError, AssertionError) as error:
                    missing[implementation] = (str(error) or repr(error)).splitlines()[0]
                    continue
                save(torch, folder, data["outputs"][0], result)
                answer = json.loads(ask("check " + implementation))
                rows.append({"task": name, "draw": data["draw"], "shape": data["shape"], "pattern": data["pattern"], **answer})
            line = ask("next")
        server.stdin.close()
        if server.wait() != 0 or not line:
            raise SystemExit(f"{name}: the program ended with exit code {server.returncode}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for implementation, why in missing.items():
        print(f"{name}: {implementation} is not here: {why}", file=sys.stderr, flush=True)
    return rows


LIMITS = ["rms", "worst", "run", "counts", "values"]


def report(rows):
    """One line per task and implementation, then the refusals."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["task"], row["name"]].append(row)
    print(f"| {'task':22} | {'implementation':27} | draws | data sets | refused | " + " | ".join(f"largest share: {limit}" for limit in LIMITS) + " |")
    print("|---|---|---|---|---|" + "---|" * len(LIMITS))
    for (task, name), group in groups.items():
        cells = []
        for limit in LIMITS:
            value, pattern = max((row["outputs"][0].get(f"{limit}_share") or 0, f"{row['pattern']}, {row['shape']}") for row in group)
            cells.append(f"{value:.2g} ({pattern})")
        print(f"| {task:22} | {name:27} | {len({row['draw'] for row in group})} | {len(group)} | {sum(1 for row in group if row['refused'])} | " + " | ".join(cells) + " |")
    refused = [row for row in rows if row["refused"]]
    for row in refused:
        print(f"refused: {row['task']} {row['name']} draw {row['draw']}: {row['refused']}")
    draws = len({(row["task"], row["name"], row["draw"]) for row in rows})
    print(f"\n{len(rows)} data sets of {draws} draws, {len({row['task'] for row in rows})} tasks: {len(refused)} refused, in {len({(r['task'], r['name'], r['draw']) for r in refused})} draws")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help="names; all where none is given")
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda", "opencl"])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="per task: no draw begins after it")
    parser.add_argument("--all-patterns", action="store_true", help="on the large shape, too")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at a time")
    parser.add_argument("--kerf", default=ROOT / "build/release/kerf", type=pathlib.Path)
    parser.add_argument("--program", default=ROOT / "build/release/tests/perf/vendor_kernels", type=pathlib.Path)
    parser.add_argument("--cache", default=pathlib.Path(tempfile.gettempdir()) / "kerf-vendor-cache", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="a line for every data set and implementation")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        for row in judge_task(arguments.one, arguments):
            print(json.dumps(row))
        return 0
    names = arguments.tasks or list(TASKS)
    for name in names:
        if name not in TASKS:
            parser.error(f"unknown task '{name}'; choose one of: {', '.join(TASKS)}")
    rows, failed = [], []

    def one(name):  # a process for each: PyTorch's settings are global
        done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--one", name], stdout=subprocess.PIPE, text=True, env=os.environ)
        print(f"{name}: {'done' if done.returncode == 0 else 'failed'}", file=sys.stderr, flush=True)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, (code, found) in zip(names, pool.map(one, names)):
            rows += found
            failed += [name] if code != 0 else []
    if arguments.json:
        arguments.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if rows:
        report(rows)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed or any(row["refused"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
