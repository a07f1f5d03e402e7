#!/usr/bin/env python3
"""Does the tuner find a tuple within 2 % of the best with a fifth of the evaluations? On whole landscapes of real kernels.

    cmake --build build/release --target tuning_replay
    tests/perf/tuning.py build/release/kerf build/release/tests/perf/tuning_replay --out /tmp/tuning
    tests/perf/tuning.py ... --quick                                     two spaces, one pass, few seeds: does it run?

First every tuple of every space (kernels composed for sample tasks, and those in tests/perf/tuning) is timed, several passes in random orders (`kerf tune --all`); landscapes that
are in --out already are kept, so this can be stopped and taken up again. Use an idle machine. Then the tuner is replayed on them with many
seeds, each from a tuple drawn at random in place of the kernel's defaults: each timing draws from the samples taken of that tuple, so its noise
is the machine's. The same is done for random search.
Prints a markdown table; results.json has everything.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent / "tuning"
WRITTEN = ["transpose.cpp", "rmsnorm.cpp", "conv2d.cpp", "matmul.cpp", "rowsum.cl", "softmax.cl", "matmul.cl"]
# Kernels that the search composes for sample tasks, with those values of their tunables that make a space one can time completely.
COMPOSED = {
    "attention": ("causal_attention", "cpu", {}),
    "product": ("matmul_bias_gelu", "cpu", {"BK": [256], "MT": [16, 4], "NT": [6, 2]}),
    "convolution": ("conv2d_relu", "cpu", {"CB": [32], "COLUMNS": [64], "MT": [8, 2], "ROWS": [8, 2]}),
    "batched": ("batched_matmul_t", "cpu", {"BK": [256, 64], "MT": [16, 4], "NT": [6]}),
    "volume": ("conv_transpose3d", "cpu", {"CB": [32], "COLUMNS": [64], "MT": [8, 2], "ROWS": [8, 2]}),
}
SPACES = [*COMPOSED, *WRITTEN]
QUICK = ["transpose.cpp", "attention"]


def composed(kerf, name, args):
    """Task and kernel file of a composed space."""
    stem, target, values = COMPOSED[name]
    task = FOLDER.parents[2] / "tasks" / f"{stem}.toml"
    done = subprocess.run([kerf, "synth", str(task), "--target", target], capture_output=True, text=True, check=True)

    def narrowed(match):
        wanted = values.get(match["name"])
        return match[0] if wanted is None else f"{match['head']}{{{', '.join(map(str, wanted))}}}"

    source = args.out / f"{name}.cpp"
    source.write_text(re.sub(r"(?P<head>^tune: +G\d+_(?P<name>\w+) = )\{[^}]*\}", narrowed, done.stdout, flags=re.M))
    return task, source


def landscape(kerf, kernel, args):
    """The file with all tuples of the space, recorded when it is not there."""
    path = args.out / f"{kernel}.json"
    if path.exists():
        return path
    task, source = composed(kerf, kernel, args) if kernel in COMPOSED else (FOLDER / (pathlib.Path(kernel).stem + ".toml"), FOLDER / kernel)
    start = time.time()
    command = [kerf, "tune", str(task), str(source), "--all", str(args.passes), "--rounds", str(args.rounds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, KERF_CACHE=str(args.out / "cache")))
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    partial = path.with_suffix(".partial")
    partial.write_text(done.stdout)
    partial.rename(path)
    print(f"{kernel}: {len(json.loads(done.stdout)['table'])} tuples in {time.time() - start:.0f} s", file=sys.stderr)
    return path


def row(result):
    name = pathlib.Path(result["landscape"]).name.removesuffix(".json")
    kerf, random = result["kerf"], result["random"]
    share = lambda r: f"{100 * r['close']:.0f} % [{100 * r['close_low']:.0f} .. {100 * r['close_high']:.0f}]"
    # A run that never comes close counts as one timing more than its budget.
    first = lambda r: "none" if r["median_evaluations_to_close"] > result["budget"] else f"{r['median_evaluations_to_close']:.0f}"
    return (f"| {name} | {result['points']} | {result['points_within_2_percent']} | {result['defaults_loss']:.2f}x | "
            f"{100 * result['median_noise']:.1f} % | {result['budget']} | {share(kerf)} | {first(kerf)} | "
            f"{100 * (kerf['median_loss'] - 1):.1f} % / {100 * (kerf['p90_loss'] - 1):.1f} % | {share(random)} | {first(random)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("replay", nargs="?", help="the program tuning_replay; without it, the spaces are timed and that is all")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--spaces", nargs="*", help="composed ones, or kernel files of tests/perf/tuning; all by default")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.spaces, args.passes, args.rounds, args.seeds = args.spaces or QUICK, 1, 3, 20
    unknown = sorted(set(args.spaces or []) - set(SPACES))
    if unknown:
        parser.error(f"no space '{unknown[0]}'; there are {', '.join(SPACES)}")
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    files = [landscape(str(pathlib.Path(args.kerf).resolve()), kernel, args) for kernel in args.spaces or SPACES]
    if args.replay is None:
        return
    done = subprocess.run([args.replay, "--seeds", str(args.seeds), "--share", str(args.share), *map(str, files)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"replay failed: {done.stderr}")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    devices = sorted({json.loads(f.read_text())["device"] for f in files})
    (args.out / "results.json").write_text(json.dumps({"devices": devices, "seeds": args.seeds, "share": args.share, "spaces": results}, indent=1))
    print(f"{args.seeds} replays per space on recorded times; a fifth means {100 * args.share:.0f} % of the points, repeated timings counted. "
          f"Devices: {', '.join(devices)}.\n")
    print("| space | points | within 2 % | defaults | noise | budget | found within 2 % | timings (median) | loss median / p90 | random: found | timings |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for result in results:
        print(row(result))
    worst = min(r["kerf"]["close"] for r in results)
    print(f"\n{len(results)} spaces; found within 2 % in {100 * sum(r['kerf']['close'] for r in results) / len(results):.0f} % of all replays, "
          f"in {100 * worst:.0f} % on the hardest.")


if __name__ == "__main__":
    main()
