#!/usr/bin/env python3
"""One strategy of kernel_tuner on a recorded landscape, in its simulation mode; run by kernel_tuner_compare.py in an environment that has it.

    kernel_tuner_runs.py LANDSCAPE.json STRATEGY --seeds 50 --budget 200

Prints one line per seed: the points by number in the order in which they were evaluated, each once. What a strategy asks
for outside of the space costs it nothing, and neither does asking again.
"""
import argparse
import contextlib
import io
import json
import pathlib
import random
import sys
import tempfile
import warnings

import numpy
from constraint import FunctionConstraint
from kernel_tuner import interface

SOURCE = "__global__ void recorded(float *a) {}"


def cache_file(landscape, path):
    """The landscape in kernel_tuner's own format; times in ms, as it has them."""
    names = landscape["names"]
    entries = {}
    for point, us in zip(landscape["points"], landscape["us"]):
        result = {"time": "RuntimeFailedConfig"} if us is None else {"time": us / 1e3, "times": [us / 1e3]}
        entries[",".join(map(str, point))] = {**dict(zip(names, point)), **result,
                                              "compile_time": 0, "verification_time": 0, "benchmark_time": 0}
    path.write_text(json.dumps({"device_name": "recorded", "kernel_name": "recorded", "problem_size": [1],
                                "tune_params_keys": names, "tune_params": dict(zip(names, landscape["values"])),
                                "objective": "time", "cache": entries}))


def once(build):
    """Builds at the first call, returns the same at every other."""
    built = []

    def get(*given, **options):
        if not built:
            built.append(build(*given, **options))
        return built[0]

    return get


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("landscape", type=pathlib.Path)
    parser.add_argument("strategy")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--budget", type=int, default=200)
    args = parser.parse_args()
    landscape = json.loads(args.landscape.read_text())
    names = landscape["names"]
    numbers = {tuple(point): i for i, point in enumerate(landscape["points"])}
    warnings.simplefilter("ignore")

    # Spaces take seconds to build and do not depend on the seed: built once.
    interface.Searchspace = once(interface.Searchspace)

    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "recorded.json"
        cache_file(landscape, cache)
        for seed in range(1, args.seeds + 1):
            random.seed(seed)
            numpy.random.seed(seed)
            with contextlib.redirect_stdout(io.StringIO()):
                results, _ = interface.tune_kernel(
                    "recorded", SOURCE, 1, [], dict(zip(names, landscape["values"])), lang="CUDA", cache=str(cache),
                    simulation_mode=True, quiet=True, verify=None, strategy=args.strategy,
                    restrictions=[FunctionConstraint(lambda *values: values in numbers)],
                    strategy_options={"max_fevals": args.budget}, objective="time", seed=seed)
            order = list(dict.fromkeys(numbers[point] for result in results
                                       if (point := tuple(result[name] for name in names)) in numbers))
            print(json.dumps(order[:args.budget]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
