#!/usr/bin/env python3
"""Kerf's tuner against the strategies of kernel_tuner (PyPI), on recorded landscapes: evaluations until a tuple within 2 % of the best.

    cmake --build build/release --target tuner_trace
    tests/perf/kernel_tuner_compare.py --trace build/release/tests/perf/tuner_trace --landscapes DIR --hub DIR --out DIR
    tests/perf/kernel_tuner_compare.py ... --quick                       three strategies, few seeds: does it run?

--landscapes has files of `kerf tune --all N --json` (tests/perf/tuning.py records them). --hub is a copy of the public
collection github.com/AutoTuningAssociation/benchmark_hub; of its spaces those of HUB are taken, where they are there.
Every tuple of a landscape has one time (the recorded score), for Kerf's tuner, which runs in tuner_trace, as for
kernel_tuner, which runs in its simulation mode with default options. A tuple counts when it is evaluated first; only Kerf's
repeated timings count as well. Kerf begins at a tuple drawn at random, as kernel_tuner does, not at a kernel's defaults.
Both get the same budget: half of the tuples, at most --budget. A run that does not get there counts as budget + 1.

kernel_tuner is installed into --venv when it is not there. What is in --out already is kept, so that this can be stopped
and taken up again. Prints markdown tables; results.json in --out has the evaluations of every seed.
"""
import argparse
import gzip
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLOSE = 1.02
STRATEGIES = ["random_sample", "genetic_algorithm", "simulated_annealing", "greedy_ils", "diff_evo", "pso", "dual_annealing",
              "basinhopping", "bayes_opt", "hybrid_vndx", "adaptive_tabu_greywolf"]
QUICK = ["random_sample", "greedy_ils", "bayes_opt"]
HUB = {
    "convolution, A100": "cachefiles/convolution_milo/A100.json.gz",
    "convolution, A4000": "cachefiles/convolution_milo/A4000.json.gz",
    "dedispersion, A100": "cachefiles/dedispersion_milo/A100.json.gz",
    "dedispersion, A4000": "cachefiles/dedispersion_milo/A4000.json.gz",
    "hotspot, A100": "cachefiles/hotspot_milo/A100.json.gz",
    "gemm, A100": "cachefiles/gemm_milo/A100.json.gz",
    "gemm (OpenCL), RTX 3090": "currently_unused/cachefiles/KernelTuner data/gemm/RTX_3090.json.gz",
    "pnpoly, RTX 3090": "currently_unused/cachefiles/pnpoly/RTX_3090.json.gz",
    "pnpoly, RTX 2080 Ti": "currently_unused/cachefiles/pnpoly/RTX_2080_Ti.json.gz",
}


def landscape(values, rows):
    """`rows`: pairs of a tuple as a dictionary and its time in us, None where it fails. Tunables with one value are left out."""
    names = [name for name, list_ in values.items() if len(list_) > 1]
    for name in names:
        if not all(type(value) is int for value in values[name]):
            raise ValueError(f"tunable {name} has values that are no integers")
    return {"names": names, "values": [sorted(values[name]) for name in names],
            "points": [[point[name] for name in names] for point, _ in rows], "us": [us for _, us in rows]}


def recorded_by_kerf(path):
    record = json.loads(path.read_text())
    if not record.get("complete"):
        raise ValueError(f"{path} is not complete; record it with 'kerf tune --all 3 --json'")
    return landscape(record["tunables"], [(row["tunables"], row.get("score_us")) for row in record["table"]])


def recorded_by_kernel_tuner(path):
    record = json.loads(gzip.open(path).read())
    return landscape(record["tune_params"], [(entry, None if isinstance(entry["time"], str) else entry["time"] * 1e3)
                                             for entry in record["cache"].values()])


def spaces(args):
    """Name, kind and landscape of all spaces that are there."""
    for path in sorted(args.landscapes.glob("*.json")) if args.landscapes else []:
        if path.name != "results.json":
            yield path.stem, "cpu", recorded_by_kerf(path)
    for name, file in HUB.items() if args.hub else []:
        if (args.hub / file).is_file():
            yield name, "gpu", recorded_by_kernel_tuner(args.hub / file)
        else:
            print(f"not there: {file}", file=sys.stderr)


def python_with_kernel_tuner(venv):
    python = venv / "bin/python"
    if subprocess.run([python, "-c", "import kernel_tuner, sklearn"], capture_output=True).returncode if python.exists() else True:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "kernel_tuner", "scikit-learn"], check=True)
    version = subprocess.run([python, "-c", "import importlib.metadata as m; print(m.version('kernel_tuner'))"], capture_output=True, text=True)
    return str(python), version.stdout.strip()


def runs(command, path):
    """The points each seed evaluates, from `path` or else from the command."""
    if not path.exists():
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-2000:]}")
        path.write_text(done.stdout)
    return [json.loads(line) for line in path.read_text().splitlines()]


def evaluations(orders, land, budget):
    """Per seed the evaluations until the first that is close to the best; budget + 1 where there is none."""
    close = CLOSE * min(us for us in land["us"] if us is not None)
    result = []
    for order in orders:
        hits = [n for n, at in enumerate(order[:budget], 1) if land["us"][at] is not None and land["us"][at] <= close]
        result.append(hits[0] if hits else budget + 1)
    return result


def log_mean(counts):
    return statistics.fmean(map(math.log, counts))


def interval(values):
    ordered = sorted(values)
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered))]


def again(counts, rng):
    return rng.choices(counts, k=len(counts))


def ratio(theirs, ours, rng, resamples=4000):
    """Their evaluations over ours (geometric means) with a 95 % interval by bootstrap over the seeds."""
    low, high = interval([math.exp(log_mean(again(theirs, rng)) - log_mean(again(ours, rng))) for _ in range(resamples)])
    return math.exp(log_mean(theirs) - log_mean(ours)), low, high


def overall(chosen, rng, resamples=2000):
    """Geometric mean over spaces of (theirs, ours), its interval by bootstrap over spaces and seeds."""
    def mean(pairs, pick):
        return math.exp(statistics.fmean(log_mean(pick(theirs)) - log_mean(pick(ours)) for theirs, ours in pairs))
    draws = [mean(rng.choices(chosen, k=len(chosen)), lambda counts: again(counts, rng)) for _ in range(resamples)]
    return mean(chosen, lambda counts: counts), *interval(draws)


def cell(counts, budget):
    quarters = statistics.quantiles(counts, n=4, method="inclusive")
    words = ["-" if value > budget else f"{value:.0f}" for value in (statistics.median(counts), quarters[0], quarters[2])]
    reached = sum(count <= budget for count in counts) / len(counts)
    return f"{words[0]} ({words[1]} .. {words[2]}), {100 * reached:.0f} %"


def in_words(figures):
    return f"{figures[0]:.2f} [{figures[1]:.2f}, {figures[2]:.2f}]"


def report(results, strategies):
    rng = random.Random(1)
    for kind in sorted({r["kind"] for r in results}):
        mine = [r for r in results if r["kind"] == kind]
        counts = [r["evaluations"] for r in mine]
        print(f"\n| {kind} | " + " | ".join(r["space"] for r in mine) + " | its evaluations over Kerf's |")
        print("|---|" + "---:|" * (1 + len(mine)))
        print("| tuples | " + " | ".join(f"{r['points']}" for r in mine) + " | |")
        print("| within 2 % | " + " | ".join(f"{r['close']}" for r in mine) + " | |")
        print("| budget | " + " | ".join(f"{r['budget']}" for r in mine) + " | |")
        for s in ["kerf", *sorted(strategies, key=lambda s: statistics.fmean(log_mean(c[s]) for c in counts))]:
            against = "" if s == "kerf" else in_words(overall([(c[s], c["kerf"]) for c in counts], rng))
            print(f"| {s} | " + " | ".join(cell(r["evaluations"][s], r["budget"]) for r in mine) + f" | {against} |")
    print("\n| space | kernel_tuner's best here | its evaluations over Kerf's | random_sample's over Kerf's |\n|---|---|---:|---:|")
    for r in results:
        counts = r["evaluations"]
        best = min(strategies, key=lambda s: log_mean(counts[s]))
        chance = in_words(ratio(counts["random_sample"], counts["kerf"], rng)) if "random_sample" in counts else ""
        print(f"| {r['space']} | {best} | {in_words(ratio(counts[best], counts['kerf'], rng))} | {chance} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True, help="the program tuner_trace")
    parser.add_argument("--landscapes", type=pathlib.Path)
    parser.add_argument("--hub", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build/venv_kernel_tuner")
    parser.add_argument("--strategies", nargs="*", default=STRATEGIES)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--budget", type=int, default=200, help="evaluations at most; never more than half of the tuples")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.strategies, args.seeds, args.budget = QUICK, 5, 40
    args.out.mkdir(parents=True, exist_ok=True)
    python, version = python_with_kernel_tuner(args.venv)
    results = []
    for name, kind, land in spaces(args):
        budget = min(args.budget, len(land["points"]) // 2)
        stem = "".join(letter if letter.isalnum() else "_" for letter in name)
        file = args.out / f"{stem}.landscape.json"
        file.write_text(json.dumps(land))
        best = min(us for us in land["us"] if us is not None)
        same = ["--seeds", args.seeds, "--budget", budget]
        suffix = f"{args.seeds}.{budget}.runs"
        counts = {"kerf": evaluations(runs([args.trace, *same, "--close", CLOSE, file], args.out / f"{stem}.kerf.{suffix}"), land, budget)}
        for strategy in args.strategies:
            command = [python, HERE / "kernel_tuner_runs.py", file, strategy, *same]
            counts[strategy] = evaluations(runs(command, args.out / f"{stem}.{strategy}.{suffix}"), land, budget)
        results.append({"space": name, "kind": kind, "points": len(land["points"]), "budget": budget, "evaluations": counts,
                        "close": sum(us is not None and us <= CLOSE * best for us in land["us"])})
        print(f"{name}: done", file=sys.stderr)
    if not results:
        sys.exit("no landscapes: give --landscapes, --hub or both")
    (args.out / "results.json").write_text(json.dumps({"kernel_tuner": version, "seeds": args.seeds, "spaces": results}, indent=1))
    print(f"kernel_tuner {version}, {args.seeds} seeds. Evaluations to within 2 % of the best: median (quartiles), seeds that got there.")
    report(results, args.strategies)


if __name__ == "__main__":
    main()
