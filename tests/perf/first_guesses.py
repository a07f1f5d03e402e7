#!/usr/bin/env python3
"""Whether first guesses are good ones: variants and parameters of kernel families beside each other, on tasks where they differ most.

A first guess is often all there is time for (docs/results/kernelbench.md). For every task the builtin mind's first composition is
judged beside other variants of the same family and beside other parameters; times are from one `kerf eval`, in one process.

    tests/perf/first_guesses.py build/release/kerf --target cuda                 all tasks
    tests/perf/first_guesses.py build/release/kerf --target cuda --only few_channels,short_rows --json guesses.json
    tests/perf/first_guesses.py build/release/kerf --list
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# name: precision, inputs (the first extent of x is the batch, 1 in a shape that is only checked), expression, family,
# {variant: parameters to try beside the first guess's}
TASKS = {
    "few_channels": ("f32", {"x": [128, 8, 256, 256], "w": [32, 8, 3, 3], "b": [32]}, "y = conv2d(x, w, b)", "conv", {
        "few_channels": ["", "FILTERS=16", "FILTERS=16 ROWS=1", "FILTERS=8 ROWS=4", "FILTERS=16 COLUMNS=8 ROWS=1"],
        "tensor_split_f16": ["", "BM=64 BN=64"], "implicit": [""]}),
    "few_channels_3d": ("f32", {"x": [128, 3, 16, 32, 32], "w": [16, 3, 3, 3, 3], "b": [16]}, "y = conv3d(x, w, b)", "conv", {
        "few_channels": ["", "FILTERS=16", "FILTERS=16 ROWS=1", "FILTERS=8 ROWS=4"],
        "tensor_split_f16": ["", "BM=64 BN=64"], "implicit": [""]}),
    "few_channels_tf32": ("tf32", {"x": [64, 3, 256, 256], "w": [64, 3, 3, 3], "b": [64]}, "y = conv2d(x, w, b)", "conv", {
        "few_channels": [""], "tensor_f16": ["", "BM=64"], "tensor_tf32": [""]}),
    "filters_64": ("f32", {"x": [4, 32, 32, 128, 128], "w": [64, 32, 3, 3, 3], "b": [64]}, "y = conv3d(x, w, b, padding=1)", "conv", {
        "tensor_split_f16": ["", "BN=128 STAGES=3", "STAGES=3", "BM=64 STAGES=3"], "few_channels": [""]}),
    "filters_128": ("tf32", {"x": [128, 64, 128, 128], "w": [128, 64, 3, 3], "b": [128]}, "y = conv2d(x, w, b)", "conv", {
        "tensor_f16": ["", "BM=128", "BM=128 STAGES=3", "STAGES=3", "BN=64"]}),
    "transposed_64": ("tf32", {"x": [32, 32, 16, 32, 32], "w": [32, 64, 4, 4, 4], "b": [64]},
                      "y = conv_transpose3d(x, w, b, stride=2, padding=1)", "conv", {
        "tensor_f16": ["", "BM=256 BN=128 STAGES=4", "STAGES=4", "STAGES=5", "BM=64"], "implicit": [""]}),
    "transposed_32": ("tf32", {"x": [8, 32, 512, 1024], "w": [32, 32, 3, 3]}, "y = conv_transpose2d(x, w)", "conv", {
        "tensor_f16": ["", "BN=64", "BM=256", "STAGES=4"], "tensor_tf32": [""]}),
    "short_rows": ("f32", {"x": [32, 64, 32, 64, 64], "g": [64], "b": [64]}, "y = gelu(layer_norm(x, 64, g, b))", "row", {
        "lanes": ["", "LANES=16", "LANES=4"], "block": ["", "BLOCK=64 VEC=1"], "warp": [""]}),
    "short_sums": ("f32", {"x": [32768, 32], "w": [32, 32768]}, "y = x @ w", "matmul", {
        "tensor_split_f16_short": [""], "tensor_split_f16": [""], "tiled": [""]}),
    "columns": ("f32", {"x": [128, 4096, 4095]}, "y = sum(x, axis=1, keepdims=true)", "column", {
        "loop": ["", "X=32", "X=64"]}),
}


def task_text(name, precision, inputs, expression):
    lines = [f'name = "{name}"'] + ([f'precision = "{precision}"'] if precision != "f32" else []) + ["[inputs]"]
    for key, shape in inputs.items():
        dims = [str(extent) for extent in shape]
        if key == "x":
            dims[0] = "batch"
        lines.append(f'{key} = "f32[{", ".join(dims)}]"')
    lines += ["[shapes]", f"main = {{ batch = {inputs['x'][0]}, weight = 1 }}", "small = { batch = 1 }", "[reference]",
              f"expr = '{expression}'", 'outputs = ["y"]']
    return "\n".join(lines) + "\n"


def with_parameters(source, parameters):
    """The candidate with these values first in its lists of tunables: the first is the one that is judged."""
    for item in parameters.split():
        key, value = item.split("=")

        def reordered(found, value=value):
            rest = [v.strip() for v in found.group(2).split(",") if v.strip() != value]
            return found.group(1) + "{" + ", ".join([value] + rest) + "}"

        source, count = re.subn(rf"(tune:\s+G0_{key} = )\{{([^}}]*)\}}", reordered, source, count=1)
        if count != 1:
            sys.exit(f"no tunable {key} in the candidate")
    return source


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def candidates(kerf, target, assume, task, family, variants, folder):
    """[(label, path)], the first guess first."""
    ask = [kerf, "synth", task, "--target", target] + (["--assume", assume] if assume else [])
    starts = {}
    for line in run(ask + ["--list"]).splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdigit():
            starts.setdefault(words[1], words[0])
    first = next(name for name, number in starts.items() if number == "0") if "0" in starts.values() else None
    made = []
    for variant, sets in variants.items():
        number = starts.get(f"{family}/{variant}")
        if number is None:
            print(f"  no composition of {family}/{variant} alone here", file=sys.stderr)
            continue
        source = run(ask + ["--start", number])
        for parameters in sets:
            label = f"{variant} {parameters}".strip() + (" (first guess)" if f"{family}/{variant}" == first and not parameters else "")
            path = folder / (re.sub(r"[^A-Za-z0-9]+", "_", label) + {"cuda": ".cu", "opencl": ".cl", "cpu": ".cpp"}[target])
            path.write_text(with_parameters(source, parameters))
            made.append((label, path))
    return sorted(made, key=lambda one: "(first guess)" not in one[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf", nargs="?", type=pathlib.Path)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--only", default="")
    parser.add_argument("--assume", help="plan for the device that this JSON file describes")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list or args.kerf is None:
        for name, (precision, inputs, expression, _, _) in TASKS.items():
            print(f"{name:18} {precision:5} {expression}   x = {inputs['x']}")
        return
    chosen = [name for name in args.only.split(",") if name] or list(TASKS)
    unknown = [name for name in chosen if name not in TASKS]
    if unknown:
        sys.exit(f"unknown task {unknown[0]}; choose from: {', '.join(TASKS)}")
    results = []
    for name in chosen:
        precision, inputs, expression, family, variants = TASKS[name]
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            task = folder / f"{name}.toml"
            task.write_text(task_text(name, precision, inputs, expression))
            made = candidates(args.kerf, args.target, args.assume, task, family, variants, folder)
            text = run([args.kerf, "eval", task, *[path for _, path in made], "--target", args.target, "--json", "--seed", args.seed])
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        print(f"{name}: {expression}")
        for (label, _), row in zip(made, rows, strict=True):
            time = row.get("time_us")
            results.append({"task": name, "candidate": label, "outcome": row["outcome"], "time_us": time})
            words = f"{time['median']:10.1f} us [{time['low']:.1f}, {time['high']:.1f}]" if time else row["outcome"]
            print(f"  {label:42} {words}", flush=True)
    if args.json:
        args.json.write_text(json.dumps({"target": args.target, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
