#!/usr/bin/env python3
"""What is a memory worth? Evaluations to 95 % of the best known speed on held-out tasks, after a campaign on the others: memory on, memory off, and random search without one.

    tests/perf/memory_value.py build/release/kerf --out /tmp/value                        real kernels and timings: nine tasks, five seeds
    tests/perf/memory_value.py build/release/kerf --out /tmp/value0 --set search.starts=0  without the planner's first guesses
    tests/perf/memory_value.py build/release/kerf --out /tmp/value --quick                 two tasks, one seed, few evaluations
    tests/perf/memory_value.py build/release/kerf --out /tmp/value --target cuda --passes 0 --time 300   on a quiet device: a run's own figures, within a time
    tests/perf/memory_value.py --simulated build/release/tests/perf/memory_replay          real search, genomes and memory, made-up times: a minute

Real: a campaign over all tasks fills one memory. For every held-out task it is exported without that task and imported into a file of its own; every run works on a copy, so
that runs teach each other nothing. Kernels that led are measured again side by side, as in search_quality.py, which says why. Needs a quiet machine and hours.
With --passes 0 they are not: the goal is then 95 % of the largest figure that any run confirmed at its end, and runs count by their own timings, which is fair on a device that
nothing else uses. With --time no run is begun after so many seconds, and only seeds that all tasks and arms have count.

Simulated: `memory_replay` runs the real search, the real builtin mind and the real memory on made-up speeds (its head says which), for several degrees to which tasks have
something in common. Its figures say how well experience is used, and nothing about kernels.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import search_quality as quality

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS = ["softmax", "rmsnorm", "layernorm", "rowsum", "cross_entropy", "gelu", "bias_silu", "rope", "matmul", "matmul_bias_gelu"]
ARMS = ["on", "off", "random"]  # random: no memory, and kernels drawn without regard to what was found


def kerf(args, *words):
    done = subprocess.run([args.kerf, *map(str, words)], capture_output=True, text=True, env=args.env)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def task_file(task, args=None):
    """The sample task, or with --shrink a copy whose timed shapes are smaller: the first extent that is large enough is divided."""
    path = ROOT / "tasks" / f"{task}.toml"
    if args is None or args.shrink == 1:
        return path
    def smaller(line):
        extent = next((found for found in re.finditer(r"(\w+) = (\d+)", line) if found[1] != "weight" and int(found[2]) >= 64 * args.shrink), None)
        return line if "weight" not in line or extent is None else line[:extent.start(2)] + str(int(extent[2]) // args.shrink) + line[extent.end(2):]
    copy = args.out / "tasks" / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text("\n".join(map(smaller, path.read_text().splitlines())) + "\n")
    return copy


def setting_words(args, *more):
    return [word for text in [*more, *args.cheap] for word in ("--set", text)]


def campaign(args):
    memory = args.out / "campaign.db"
    if args.campaign:
        for task in args.tasks:
            shutil.copy(args.campaign / f"without-{task}.db", args.out)
        return
    kerf(args, "campaign", *[task_file(task, args) for task in args.tasks], "--target", args.target, "--evals", args.evals, "--rounds", 2, "--seed", 77,
         "--memory", memory, "--out", args.out / "campaign", "--json", *setting_words(args, "search.floor_fraction=1000000"))
    for task in args.tasks:
        held_out = args.out / f"without-{task}.db"
        if not held_out.exists():
            text = args.out / f"without-{task}.jsonl"
            kerf(args, "memory", "export", text, "--without", task, "--memory", memory)
            kerf(args, "memory", "import", text, "--memory", held_out)


def run_once(args, task, arm, seed):
    name = f"{task}-{args.target}-{arm}-{seed}"
    record = args.out / "records" / f"{name}.json"
    if record.exists():
        return json.loads(record.read_text())
    folder = args.out / "runs" / name
    shutil.rmtree(folder, ignore_errors=True)
    memory = "off"
    if arm == "on":
        memory = args.out / "memories" / f"{name}.db"
        memory.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(args.out / f"without-{task}.db", memory)
    settings = setting_words(args, "search.patience=0", "search.floor_fraction=1000000", *args.set)
    if arm == "random":
        settings += ["--search", "random"]
    out = kerf(args, "optimize", task_file(task, args), "--target", args.target, "--seed", seed, "--evals", args.evals, "--memory", memory, "--out", folder,
               "--json", *settings)
    result = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
    best = result["best"] or {}
    summary = {"task": task, "search": arm, "seed": seed, "confirmed": (best.get("speedup") or {}).get("ratio") or 0, "folder": name,
               "seconds": result["seconds"], "device": best.get("device", "")}
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(summary))
    print(f"{name}: {summary['confirmed']:.2f}x, {result['seconds']:.0f} s", file=sys.stderr)
    return summary


def report(found, arms, tasks, evals, title):
    rng = random.Random(1)
    print(f"\n{title}\n")
    print("| task | " + " | ".join(arms) + " |")
    print("|---|" + "---:|" * len(arms))
    for task in tasks:
        print(f"| {task} | " + " | ".join(quality.cell(found[task, arm], evals, rng) for arm in arms) + " |")
    print()
    print("\n".join(quality.overall(found, arms, rng)))


def own_figures(args, runs):
    best = {task: max([r["confirmed"] for r in runs if r["task"] == task], default=0) for task in args.tasks}
    found = {(task, arm): [] for task in args.tasks for arm in args.arms}
    for r in runs:
        ratios = [ratio for _, ratio in quality.evaluations_of(args.out / "runs" / r["folder"])]
        found[r["task"], r["search"]].append(next((n for n, ratio in enumerate(ratios, 1) if ratio >= args.goal * best[r["task"]]), args.evals + 1))
    devices = ", ".join(sorted({r["device"] for r in runs if r["device"]}))
    report(found, args.arms, args.tasks, args.evals, f"Evaluations to {100 * args.goal:.0f} % of the best known speed, by arm ({devices}; "
           f"{' '.join(args.set) or 'defaults'}; runs' own timings): geometric mean with 95 % interval over {args.seeds} seeds, and how many runs got there within {args.evals}.")
    (args.out / "results.json").write_text(json.dumps([{"task": t, "arm": a, "to_goal": v} for (t, a), v in found.items()], indent=1))


def real(args):
    args.out.mkdir(parents=True, exist_ok=True)
    campaign(args)
    began, runs = time.monotonic(), []
    for seed in range(1, args.seeds + 1):
        of_seed = []
        for task in args.tasks:
            for arm in args.arms:
                if not args.time or time.monotonic() - began < args.time:
                    of_seed.append(run_once(args, task, arm, seed))
        if len(of_seed) < len(args.tasks) * len(args.arms):
            break
        runs += of_seed
    args.seeds = max([r["seed"] for r in runs], default=0)
    if args.passes == 0:
        own_figures(args, runs)
        return
    values = {task: quality.measure_side_by_side(args, task, [r for r in runs if r["task"] == task]) for task in args.tasks}
    best = {task: max(least for _, least in values[task].values()) for task in args.tasks}
    leading = {r["folder"]: quality.leaders(quality.evaluations_of(args.out / "runs" / r["folder"])) for r in runs}
    found = {(task, arm): [quality.evaluations_to(leading[r["folder"]], values[task], args.goal * best[task], args.evals) for r in runs
                           if r["task"] == task and r["search"] == arm] for task in args.tasks for arm in args.arms}
    devices = ", ".join(sorted({r["device"] for r in runs if r["device"]}))
    report(found, args.arms, args.tasks, args.evals, f"Evaluations to {100 * args.goal:.0f} % of the best known speed, by arm ({devices}; "
           f"{' '.join(args.set) or 'defaults'}): geometric mean with 95 % interval over {args.seeds} seeds, and how many runs got there within {args.evals}.")
    (args.out / "results.json").write_text(json.dumps([{"task": t, "arm": a, "to_goal": v} for (t, a), v in found.items()], indent=1))


def simulated(args):
    arms = ["kerf", "off", "random", "similar", "published"]
    for shared in args.shared:
        for starts in (12, 0):
            done = subprocess.run([args.kerf, str(shared), str(args.evals), str(starts), str(args.seeds), *[str(task_file(t)) for t in args.tasks]],
                                  capture_output=True, text=True, check=True)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            tasks = sorted({line["task"] for line in lines})
            found = {(t, a): [line["evaluations"] for line in lines if line["task"] == t and line["arm"] == a] for t in tasks for a in arms}
            report(found, arms, tasks, args.evals, f"SIMULATION, tasks share {shared} of what makes a kernel fast, search.starts={starts}: evaluations to 95 % of "
                   f"the best known speed, {args.seeds} seeds. kerf, similar, published: memory on, by rule; off: no memory; random: random search.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf", help="the program, or with --simulated memory_replay")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tasks", nargs="*", default=TASKS)
    parser.add_argument("--arms", nargs="*", default=ARMS, choices=ARMS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evals", type=int, default=60)
    parser.add_argument("--passes", type=int, default=3, help="times the leaders are measured side by side; 0: not at all")
    parser.add_argument("--time", type=float, default=0, help="seconds after which no run is begun; 0: no limit")
    parser.add_argument("--shrink", type=int, default=1, help="divide the timed shapes by this, for machines that others use too")
    parser.add_argument("--campaign", type=pathlib.Path, help="use the memories of this earlier --out")
    parser.add_argument("--cheap", nargs="*", default=[], help="settings of campaign and runs alike, such as judge.soak_seconds=0")
    parser.add_argument("--goal", type=float, default=0.95)
    parser.add_argument("--set", action="append", default=[], help="passed on to kerf optimize")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--shared", nargs="*", type=float, default=[0, 0.5, 0.8], help="with --simulated")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.tasks, args.seeds, args.evals, args.passes = args.tasks[:2], 1, 12, 1
    args.kerf = str(pathlib.Path(args.kerf).resolve())
    if args.simulated:
        simulated(args)
        return
    if args.out is None:
        parser.error("--out FOLDER is needed for real runs")
    args.out = args.out.resolve()
    args.env = dict(os.environ, KERF_CACHE=str(args.out / "cache"), KERF_MEMORY="off")
    real(args)


if __name__ == "__main__":
    main()
