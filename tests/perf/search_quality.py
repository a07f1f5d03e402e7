#!/usr/bin/env python3
"""How many evaluations does the search take to reach 95 % of the best known value? Kerf's search, the published one, random search.

    tests/perf/search_quality.py build/release/kerf --out /tmp/quality                  six tasks, five seeds, three searches on the CPU
    tests/perf/search_quality.py build/release/kerf --out /tmp/quality --target opencl --tasks softmax matmul
    tests/perf/search_quality.py build/release/kerf --out /tmp/quality --quick          two tasks, two seeds, few evaluations

Every run gets the same number of evaluations: stopping early (patience, floor) is switched off; a run whose space is exhausted ends before. Duplicates of compiled code are not
evaluated and do not count.

Speedups of different runs do not compare well on a shared machine: what else happens there slows a kernel and its baseline differently. So after the runs, the kernels a run
had as its best so far, and the one it ended with, are measured again for all runs of a task side by side, each in turn with one and the same kernel (the best that any run
confirmed), several times over. A kernel's value is the median of these ratios; the best known value is the largest that a kernel reached every time. A run that never gets there
counts as its budget plus one, which is too few, so the comparison is fair to it. Intervals are bootstrapped over seeds (and tasks, in the last line). Runs go one after the other; a finished one is kept
in --out, an unfinished one is resumed.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS = ["rmsnorm", "softmax", "matmul", "bias_silu", "maxpool2d", "depthwise_conv2d"]
SEARCHES = ["kerf", "published", "random"]


def run_once(args, task, search, seed):
    """The record of one run: evaluations in order, and the value confirmed at its end."""
    name = f"{task}-{args.target}-{search}-{seed}"
    record = args.out / "records" / f"{name}.json"
    if record.exists():
        return json.loads(record.read_text())
    folder = args.out / "runs" / name
    limits = ["--evals", str(args.evals), "--json"]
    settings = ["--set", "search.patience=0", "--set", "search.floor_fraction=1000000"]
    for text in args.set:
        settings += ["--set", text]
    fresh = [str(ROOT / "tasks" / f"{task}.toml"), "--target", args.target, "--seed", str(seed), "--search", search, "--out", str(folder)]
    done = None
    if (folder / "kerf.db").exists():
        done = subprocess.run([args.kerf, "optimize", "--resume", str(folder), *limits], capture_output=True, text=True, env=args.env)
    if done is None or done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([args.kerf, "optimize", *fresh, *limits, *settings], capture_output=True, text=True, env=args.env)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: exit {done.returncode}\n{done.stderr[-2000:]}")
    result = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    best = result["best"] or {}
    speedup = (best.get("speedup") or {}).get("ratio") or 0
    summary = {"task": task, "search": search, "seed": seed, "confirmed": speedup, "evaluations": len(evaluations_of(folder)), "folder": name,
               "seconds": result["seconds"], "device": best.get("device", ""), "evals": args.evals}
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_suffix(".partial")
    partial.write_text(json.dumps(summary))
    partial.rename(record)
    print(f"{name}: {speedup:.2f}x after {summary['evaluations']} evaluations, {result['seconds']:.0f} s", file=sys.stderr)
    return summary


def evaluations_of(folder):
    """The evaluations of the search in order, duplicates left out: kernel (source and tunables) and speedup as the run measured it, 0 when refused."""
    database = sqlite3.connect(f"file:{folder}/kerf.db?mode=ro", uri=True)
    found = []
    for stage, source, tunables, text in database.execute("SELECT stage, source, tunables, evaluation FROM steps ORDER BY number"):
        evaluation = json.loads(text)
        if stage == "final" or evaluation.get("gate") == "duplicate":
            continue
        ratio = (evaluation.get("speedup") or {}).get("ratio") or 0
        if "comparison" in evaluation:  # what the search goes by
            ratio = evaluation["comparison"]["its_speedup"] * evaluation["comparison"]["ratio"]
        found.append((as_kernel(source, tunables), ratio if evaluation["outcome"] == "measured" else 0))
    database.close()
    return found


def as_kernel(source, tunables):
    """The source with the chosen value of every tunable first, which makes it the default."""
    text = source.decode("latin-1")
    for name, value in json.loads(tunables).items():
        def reordered(match):
            rest = [v.strip() for v in match.group(2).split(",") if v.strip() != str(value)]
            return match.group(1) + "{" + ", ".join([str(value), *rest]) + "}"
        text = re.sub(rf"(tune:\s+{re.escape(name)}\s*=\s*)\{{([^}}]*)\}}", reordered, text, count=1)
    return text


def ended_with(folder):
    """The kernel the run confirmed at its end; none when it found nothing."""
    return next((path.read_bytes().decode("latin-1") for path in folder.glob("best.*")), None)


def leaders(evaluations):
    """(number, kernel) of the evaluations that were the best so far."""
    best, found = 0, []
    for number, (kernel, ratio) in enumerate(evaluations, 1):
        if ratio > best:
            best = ratio
            found.append((number, kernel))
    return found


def measure_side_by_side(args, task, runs):
    """Kernel -> (median, least) of its ratios to the best confirmed kernel, all measured one after the other in one process, several times."""
    record = args.out / "side_by_side" / f"{task}-{args.target}.json"
    if record.exists():
        return json.loads(record.read_text())
    folders = {r["folder"]: args.out / "runs" / r["folder"] for r in runs}
    kernels = {}
    for folder in folders.values():
        for kernel in [k for _, k in leaders(evaluations_of(folder))] + [ended_with(folder)]:
            if kernel:
                kernels.setdefault(kernel, f"k{len(kernels)}")
    champion = ended_with(folders[max(runs, key=lambda r: r["confirmed"])["folder"]])
    place = args.out / "side_by_side" / f"{task}-{args.target}"
    place.mkdir(parents=True, exist_ok=True)
    suffix = {"cpu": ".cpp", "opencl": ".cl", "cuda": ".cu"}[args.target]
    for kernel, name in kernels.items():
        (place / (name + suffix)).write_bytes(kernel.encode("latin-1"))
    (place / f"champion{suffix}").write_bytes(champion.encode("latin-1"))
    text = (ROOT / "tasks" / f"{task}.toml").read_text()
    (place / "task.toml").write_text(text + f'\n[baselines.champion]\ntarget = "{args.target}"\nkernel = "champion{suffix}"\n')
    files = [str(place / (name + suffix)) for name in kernels.values()]
    ratios = {digest(kernel): [] for kernel in kernels}
    for _ in range(args.passes):
        done = subprocess.run([args.kerf, "eval", str(place / "task.toml"), *files, "--target", args.target, "--json", "--no-cache"], capture_output=True,
                              text=True, env=args.env)
        if done.returncode != 0:
            raise RuntimeError(f"{task}: exit {done.returncode}\n{done.stderr[-2000:]}")
        for kernel, line in zip(kernels, [json.loads(t) for t in done.stdout.splitlines() if t.startswith("{")], strict=True):
            timed = max(line.get("shapes", []), key=lambda shape: shape["weight"], default=None)
            ratios[digest(kernel)].append(timed["speedups"]["champion"]["ratio"] if line["outcome"] == "measured" else 0)
    values = {name: [statistics.median(found), min(found)] for name, found in ratios.items()}
    record.write_text(json.dumps(values))
    print(f"{task}: {len(values)} kernels side by side", file=sys.stderr)
    return values


def digest(kernel):
    return hashlib.sha256(kernel.encode("latin-1")).hexdigest()


def evaluations_to(leading, values, goal, budget):
    for number, kernel in leading:
        if values[digest(kernel)][0] >= goal:
            return number
    return budget + 1


def interval(samples, statistic, rng, resamples=2000):
    """95 % percentile bootstrap."""
    if len(samples) < 2:
        return (math.nan, math.nan)
    found = sorted(statistic([rng.choice(samples) for _ in samples]) for _ in range(resamples))
    return found[int(0.025 * resamples)], found[int(0.975 * resamples)]


def geometric(samples):
    return math.exp(sum(math.log(x) for x in samples) / len(samples))


def cell(samples, budget, rng):
    low, high = interval(samples, geometric, rng)
    reached = sum(1 for s in samples if s <= budget)
    return f"{geometric(samples):.1f} [{low:.1f} .. {high:.1f}] ({reached}/{len(samples)})"


def overall(found, searches, rng, resamples=2000):
    """Geometric mean of evaluations(other) / evaluations(kerf) over tasks, with an interval over tasks and seeds."""
    lines = []
    for other in searches:
        if other == searches[0]:
            continue
        tasks = sorted({task for task, _ in found})
        ratio = lambda names, draw: geometric([geometric(draw(found[t, other])) / geometric(draw(found[t, searches[0]])) for t in names])
        point = ratio(tasks, lambda x: x)
        again = lambda x: [rng.choice(x) for _ in x]
        spread = sorted(ratio([rng.choice(tasks) for _ in tasks], again) for _ in range(resamples))
        lines.append(f"{other} takes {point:.2f} [{spread[int(0.025 * resamples)]:.2f} .. {spread[int(0.975 * resamples)]:.2f}] times the "
                     f"evaluations of {searches[0]}.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tasks", nargs="*", default=TASKS)
    parser.add_argument("--searches", nargs="*", default=SEARCHES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evals", type=int, default=80)
    parser.add_argument("--passes", type=int, default=3, help="times the leaders are measured side by side")
    parser.add_argument("--goal", type=float, default=0.95)
    parser.add_argument("--set", action="append", default=[], help="passed on to kerf optimize")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.tasks, args.seeds, args.evals = args.tasks[:2], 2, 15
    args.kerf = str(pathlib.Path(args.kerf).resolve())
    args.out = args.out.resolve()
    args.env = dict(os.environ, KERF_CACHE=str(args.out / "cache"), KERF_MEMORY="off")
    # Seeds outermost: drift of the machine meets all searches alike, and a part of the runs is already a fair comparison.
    runs = [run_once(args, task, search, seed) for seed in range(1, args.seeds + 1) for task in args.tasks for search in args.searches]
    rng = random.Random(1)
    values = {task: measure_side_by_side(args, task, [r for r in runs if r["task"] == task]) for task in args.tasks}
    best = {task: max(least for _, least in values[task].values()) for task in args.tasks}
    leading = {r["folder"]: leaders(evaluations_of(args.out / "runs" / r["folder"])) for r in runs}
    found = {(task, search): [evaluations_to(leading[r["folder"]], values[task], args.goal * best[task], args.evals) for r in runs
                              if r["task"] == task and r["search"] == search] for task in args.tasks for search in args.searches}

    def end_of(run):
        kernel = ended_with(args.out / "runs" / run["folder"])
        return values[run["task"]][digest(kernel)][0] / best[run["task"]] if kernel else 0

    devices = sorted({r["device"] for r in runs if r["device"]})
    print(f"Evaluations to {100 * args.goal:.0f} % of the best known kernel's speed: geometric mean with 95 % interval over {args.seeds} seeds, and how "
          f"many runs got there within {args.evals}. {', '.join(devices)}.\n")
    print("| task | best known, vs naive | " + " | ".join(args.searches) + " | value at the end, median: " + " / ".join(args.searches) + " |")
    print("|---|---:|" + "---:|" * len(args.searches) + "---:|")
    for task in args.tasks:
        cells = [cell(found[task, s], args.evals, rng) for s in args.searches]
        ends = [statistics.median(end_of(r) for r in runs if r["task"] == task and r["search"] == s) for s in args.searches]
        confirmed = max(r["confirmed"] for r in runs if r["task"] == task)
        print(f"| {task} | {confirmed:.2f}x | " + " | ".join(cells) + " | " + " / ".join(f"{100 * e:.0f} %" for e in ends) + " |")
    print()
    lines = overall(found, args.searches, rng)
    print("\n".join(lines))
    summary = {"goal": args.goal, "evals": args.evals, "best": best, "devices": devices, "lines": lines,
               "evaluations": [{"task": t, "search": s, "to_goal": v} for (t, s), v in found.items()]}
    (args.out / "results.json").write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
