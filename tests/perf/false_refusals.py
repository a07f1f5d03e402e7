#!/usr/bin/env python3
"""How often is an honest kernel refused? Every honest kernel of the suite, with many seeds, on its own task and on the sample task of the same function.

    tests/perf/false_refusals.py build/release/kerf --target cpu --seeds 20
    tests/perf/false_refusals.py build/release/kerf --target cuda --seeds 3 --only-samples

Only verification is asked for, no timing. A sample task is the same function when it has the name (without _small or _long) and
the inputs of the kernel's own task.
Every refusal is printed with its seed, so that `kerf eval TASK KERNEL --seed SEED --verify-only` repeats it.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(path):
    return tomllib.loads(path.read_text())


def function_of(task):
    return task["inputs"], re.sub(r"_(small|long)$", "", task["name"]), task.get("precision", "f32")


def work(target, only_samples):
    """Task file -> kernels to judge with it."""
    samples = [(path, read(path)) for path in sorted((ROOT / "tasks").glob("*.toml"))]
    kernels = collections.defaultdict(list)
    for path in sorted((ROOT / "tests/cases").glob(f"honest_{target}_*.toml")):
        case = read(path)
        own = ROOT / "tests/cases/tasks" / f"{case['task']}.toml"
        kernel = ROOT / "tests" / case["kernel"]
        if not only_samples and own.exists():
            kernels[own].append(kernel)
        if own.exists():
            for sample, task in samples:
                if function_of(task) == function_of(read(own)):
                    kernels[sample].append(kernel)
    return kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only-samples", action="store_true", help="leave out the kernels' own, small tasks")
    arguments = parser.parse_args()
    judged, refused = collections.Counter(), collections.Counter()
    for task, kernels in work(arguments.target, arguments.only_samples).items():
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            done = subprocess.run([arguments.kerf, "eval", str(task), *map(str, kernels), "--target", arguments.target, "--verify-only", "--no-cache", "--json",
                                   "--seed", str(seed)], capture_output=True, text=True)
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode != 0 or len(rows) != len(kernels):
                sys.exit(f"{task.name}, seed {seed}: exit {done.returncode}, {len(rows)} of {len(kernels)} verdicts\n{done.stderr[-2000:]}")
            for row in rows:
                judged[task.stem] += 1
                if row["outcome"] != "measured":
                    refused[task.stem] += 1
                    print(f"{task.stem} {pathlib.Path(row['kernel']).name} seed {seed}: {row['outcome']}: {row.get('message')}", flush=True)
        print(f"{task.stem}: {refused[task.stem]} of {judged[task.stem]} refused ({len(kernels)} kernels, {arguments.seeds} seeds)", flush=True)
    total, wrong = sum(judged.values()), sum(refused.values())
    if total == 0:
        sys.exit(f"there is no honest kernel for target {arguments.target}")
    # The rule of three: nothing seen in n trials leaves at most 3 / n at 95 %.
    bound = f", at most {300 / total:.2f} % at 95 % confidence" if wrong == 0 else ""
    print(f"\n{arguments.target}: {wrong} of {total} verdicts on honest kernels were refusals{bound}.")


if __name__ == "__main__":
    main()
