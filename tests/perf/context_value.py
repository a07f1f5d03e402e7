#!/usr/bin/env python3
"""What are experiences worth to who writes kernels? A simulation: context_replay (its head says what is real and what is drawn), summed up with intervals.

    tests/perf/context_value.py build/release/tests/perf/context_replay [--seeds 40]

Arms: kerf (values, Thompson sampling), similar (the most similar, no values), published (published update and epsilon-greedy choice), off (nothing is shown). Attempts to the first
right kernel and to the top of the ladder, geometric means over all runs; intervals by bootstrap over seeds, since runs of one seed share a memory.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARMS = ["kerf", "similar", "published", "off"]


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def with_interval(by_seed, statistic, rng, resamples=1000):
    seeds = sorted(by_seed)
    flat = lambda chosen: [value for seed in chosen for value in by_seed[seed]]
    spread = sorted(statistic(flat([rng.choice(seeds) for _ in seeds])) for _ in range(resamples))
    return statistic(flat(seeds)), spread[int(0.025 * resamples)], spread[int(0.975 * resamples)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--clear", nargs="*", type=float, default=[0.3])
    parser.add_argument("--attempts", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--tasks", nargs="*", default=["softmax", "rmsnorm", "layernorm", "rowsum", "argmax", "gelu", "bias_silu", "rope", "matmul", "matmul_bias_gelu"])
    parser.add_argument("--set", action="append", default=[], help="expected, doubt, noise, other_stage or control = VALUE, of the kerf arm")
    args = parser.parse_args()
    rng = random.Random(1)
    for clear in args.clear:
        done = subprocess.run([args.program, str(clear), str(args.attempts), str(args.rounds), str(args.seeds), *args.set, *[str(ROOT / "tasks" / f"{t}.toml") for t in args.tasks]],
                              capture_output=True, text=True, check=True)
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        print(f"\nSIMULATION of the learner's environment: {clear:.0%} of the kernels of the task's family help; {args.attempts} attempts a run, {len(args.tasks)} tasks, "
              f"{args.seeds} seeds; geometric means with 95 % intervals.\n")
        print("| runs | arm | to the first right kernel | to 95 % of the best | questions with help | shown kernels that help |\n|---|---|---:|---:|---:|---:|")
        phases = [(f"campaign, round {r}", lambda one, r=r: one["phase"] == "campaign" and one["round"] == r) for r in (1, args.rounds)]
        phases.append(("held-out task", lambda one: one["phase"] == "held out"))
        for name, wanted in phases:
            for arm in ARMS:
                chosen = [one for one in runs if one["arm"] == arm and wanted(one)]
                cells = []
                for key, statistic in (("first_right", geometric), ("to_top", geometric), ("helped", lambda v: sum(v) / len(v)), ("helpful", lambda v: sum(v) / len(v))):
                    by_seed = {}
                    for one in chosen:
                        by_seed.setdefault(one["seed"], []).append(one[key])
                    value, low, high = with_interval(by_seed, statistic, rng)
                    cells.append(f"{value:.2f} [{low:.2f}, {high:.2f}]")
                print(f"| {name} | {arm} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
