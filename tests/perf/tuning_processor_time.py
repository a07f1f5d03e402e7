#!/usr/bin/env python3
"""Records landscapes of the kernels in tests/perf/tuning in processor time, for machines that other programs keep busy.

    tests/perf/tuning_processor_time.py --out DIR                        transpose, rmsnorm, conv2d, matmul

`kerf tune --all` measures elapsed time, which says little where several programs share a core. Here each tuple is compiled
with the flags of Kerf's C++ compiler and called on one thread; times are the process's own. Tuples take turns, in a new random
order each pass. Results are not checked: the kernels are Kerf's test kernels, and `kerf tune` checks them. Writes files in
the form of `kerf tune --json`, as far as tuning_replay and kernel_tuner_compare.py read them.
"""
import argparse
import array
import concurrent.futures
import ctypes
import itertools
import json
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent / "tuning"
FLAGS = ["-std=gnu++20", "-O3", "-march=native", "-fopenmp", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
         "-fno-semantic-interposition", "-fno-stack-protector", "-w", "-shared"]
# Lengths of the arguments, inputs first, as expressions over the shape's symbols.
KERNELS = {
    "transpose": ["rows * cols", "rows * cols"],
    "rmsnorm": ["rows * cols", "cols", "rows * cols"],
    "conv2d": ["batch * channels * height * width", "filters * channels * 9", "batch * filters * (height - 2) * (width - 2)"],
    "matmul": ["m * k", "k * n", "m * n"],
}


def tuples(source):
    lines = re.findall(r"^tune: *(\w+) *= *\{([^}]*)\}", source, re.M)
    values = {name: [int(value) for value in text.split(",")] for name, text in lines}
    return values, [dict(zip(values, choice)) for choice in itertools.product(*values.values())]


def compiled(source, symbols, point, path):
    """The kernel with the shape and the tuple as constants, as Kerf compiles it."""
    head = "".join(f"static constexpr long {name} = {value};\n" for name, value in {**symbols, **point}.items())
    subprocess.run(["g++", *FLAGS, "-x", "c++", "-", "-o", path], input=head + source, text=True, check=True)
    return path


def buffers(lengths, rng):
    noise = array.array("f", (rng.uniform(-1, 1) for _ in range(4096)))
    return [(ctypes.c_float * length).from_buffer(bytearray((noise * (length // 4096 + 1)).tobytes()[: 4 * length])) for length in lengths]


def sample(call, arguments, seconds):
    """One time per call in us, over about `seconds` of processor time."""
    begin = time.process_time_ns()
    calls = 0
    while calls < 3 or time.process_time_ns() - begin < 1e9 * seconds:
        call(*arguments)
        calls += 1
    return (time.process_time_ns() - begin) / calls / 1e3


def record(name, args):
    source = (FOLDER / f"{name}.cpp").read_text()
    symbols = {key: value for key, value in tomllib.loads((FOLDER / f"{name}.toml").read_text())["shapes"]["default"].items() if key != "weight"}
    values, points = tuples(source)
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        libraries = pool.map(lambda i: compiled(source, symbols, points[i], f"{folder}/{i}.so"), range(len(points)))
        calls = [ctypes.CDLL(path).kerf_kernel for path in libraries]
    data = buffers([eval(length, {}, symbols) for length in KERNELS[name]], rng)
    us = [[] for _ in points]
    for _ in range(args.passes):
        for i in rng.sample(range(len(points)), len(points)):
            for _ in range(args.rounds):
                us[i].append(sample(calls[i], data, args.seconds))
    # The lower quartile, as `kerf tune` scores.
    table = [{"tunables": point, "outcome": "timed", "score_us": statistics.quantiles(times, n=4)[0],
              "shapes": [{"shape": "default", "weight": 1, "us": times}]} for point, times in zip(points, us)]
    return {"kernel": name, "device": f"{platform.processor() or platform.machine()}, processor time", "tunables": values,
            "complete": True, "table": table}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3, help="samples of a tuple in a row")
    parser.add_argument("--seconds", type=float, default=0.004, help="processor time of a sample")
    parser.add_argument("--jobs", type=int, default=2, help="compilers side by side")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.kernels:
        path = args.out / f"{name}.json"
        if path.exists():
            continue
        begin = time.time()
        path.write_text(json.dumps(record(name, args)))
        print(f"{name}: {time.time() - begin:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
