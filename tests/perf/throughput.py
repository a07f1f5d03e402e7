#!/usr/bin/env python3
"""How fast is the loop? Judges many distinct correct kernels and prints candidates per second and the latency per tier.

    tests/perf/throughput.py build/release/kerf cuda --count 200
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

BODY = "x[i] / (1.0f + {exp}(-1.5f * x[i])) + 0.25f"

CPU = """/* kerf
target: cpu
*/
// variant {k}
extern "C" void kerf_kernel(const float* x, float* y) {{
#pragma omp parallel for simd schedule(static, {chunk})
  for (int i = 0; i < n; ++i) y[i] = """ + BODY.format(exp="expf") + """;
}}
"""
OPENCL = """/* kerf
target: opencl
launch: k<<<ceil_div(n, {block} * {unroll}), {block}>>>(x, y)
*/
// variant {k}
__kernel void k(__global const float* x, __global float* y) {{
  for (int u = 0; u < {unroll}; ++u) {{
    int i = (get_group_id(0) * {unroll} + u) * {block} + get_local_id(0);
    if (i < n) y[i] = """ + BODY.format(exp="exp") + """;
  }}
}}
"""
CUDA = """/* kerf
target: cuda
launch: k<<<ceil_div(n, {block} * {unroll}), {block}>>>(x, y)
*/
// variant {k}
extern "C" __global__ void k(const float* x, float* y) {{
#pragma unroll
  for (int u = 0; u < {unroll}; ++u) {{
    int i = (blockIdx.x * {unroll} + u) * {block} + threadIdx.x;
    if (i < n) y[i] = """ + BODY.format(exp="expf") + """;
  }}
}}
"""
TEMPLATES = {"cpu": (CPU, ".cpp"), "opencl": (OPENCL, ".cl"), "cuda": (CUDA, ".cu")}


def variant(target: str, k: int) -> str:
    blocks, unrolls = [64, 128, 256, 512], [1, 2, 4, 8]
    return TEMPLATES[target][0].format(k=k, block=blocks[k % 4], unroll=unrolls[k // 4 % 4], chunk=1024 * (1 + k % 16))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("target", choices=sorted(TEMPLATES))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--set", action="append", default=[], help="handed to kerf eval")
    options = parser.parse_args()
    task = pathlib.Path(__file__).with_name("elementwise.toml")
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k in range(options.count):
            file = pathlib.Path(folder) / f"variant_{k}{TEMPLATES[options.target][1]}"
            file.write_text(variant(options.target, k))
            files.append(str(file))
        command = [options.kerf, "eval", str(task), *files, "--target", options.target, "--json", "--no-cache"]
        for setting in options.set:
            command += ["--set", setting]
        start = time.monotonic()
        stamps, results = [], []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                stamps.append(time.monotonic() - start)
                results.append(json.loads(line))
        wall = time.monotonic() - start
    outcomes = {}
    for result in results:
        outcomes[result["outcome"]] = outcomes.get(result["outcome"], 0) + 1
    tiers = {}
    for result in results[1:]:  # the first one also pays for the task's data
        for tier in result["tiers"]:
            tiers.setdefault(tier["tier"], []).append(tier["ms"])
    steady = (len(stamps) - 1) / (stamps[-1] - stamps[0]) if len(stamps) > 1 else 0
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "device": results[0]["device"] if results else None,
        "target": options.target,
        "candidates": len(results),
        "outcomes": outcomes,
        "wall_s": round(wall, 2),
        "first_verdict_s": round(stamps[0], 2) if stamps else None,
        "candidates_per_s_after_the_first": round(steady, 2),
        "candidates_per_minute_after_the_first": round(60 * steady, 1),
        "median_ms_per_tier": {name: round(statistics.median(values), 2) for name, values in tiers.items()},
        "median_ms_candidate_to_verdict": round(statistics.median([sum(t["ms"] for t in r["tiers"]) for r in results[1:] or results]), 2),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
