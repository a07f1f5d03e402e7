#!/usr/bin/env python3
"""What judging costs at real sizes: KernelBench-like problems with their own shapes, judged with kernels of Kerf's own.

For every problem: the time from the command to the first verdict, further verdicts per second, the cost of each tier and of
the preparation by part; with --search also a short search, and what each confirmation on fresh data took.

    tests/perf/real_sizes.py build/release/kerf                        all problems, evaluations only
    tests/perf/real_sizes.py build/release/kerf --only conv --search 10
    tests/perf/real_sizes.py build/release/kerf --list                 names and sizes
"""
import argparse
import json
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

# name: precision, inputs, shapes of the problem and of a small one, expression
PROBLEMS = {
    "small_rmsnorm": ("f32", "x=[r,c] w=[c]", {"r": 1024, "c": 1024}, {"r": 5, "c": 67},
                      "y = x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6) * w"),
    "matmul": ("f32", "a=[m,k] b=[k,n]", {"m": 4096, "k": 4096, "n": 4096}, {"m": 67, "k": 43, "n": 89}, "y = a @ b"),
    "bmm": ("f32", "a=[g,m,k] b=[g,k,n]", {"g": 128, "m": 512, "k": 1024, "n": 2048}, {"g": 3, "m": 33, "k": 43, "n": 70},
            "y = bmm(a, b)"),
    "large_k": ("f32", "a=[m,k] b=[k,n]", {"m": 256, "k": 524288, "n": 256}, {"m": 33, "k": 600, "n": 40}, "y = a @ b"),
    "batch_norm": ("f32", "x=[b,c,h,w] g=[c] s=[c]", {"b": 64, "c": 64, "h": 512, "w": 512}, {"b": 3, "c": 5, "h": 7, "w": 9},
                   "y = batch_norm(x, weight=g, bias=s)"),
    "group_norm": ("f32", "x=[b,c,h,w] g=[c] s=[c]", {"b": 112, "c": 64, "h": 512, "w": 512}, {"b": 2, "c": 16, "h": 7, "w": 9},
                   "y = group_norm(x, 8, g, s)"),
    "layer_norm": ("f32", "x=[b,n] g=[n] s=[n]", {"b": 16, "n": 4194304}, {"b": 3, "n": 1031},
                   "y = layer_norm(x, weight=g, bias=s)"),
    "max_pool1d": ("f32", "x=[b,c,n]", {"b": 64, "c": 192, "n": 65536}, {"b": 2, "c": 3, "n": 101},
                   "y = max_pool1d(x, 8, stride=1, padding=4, dilation=3)"),
    "argmin": ("f32", "x=[b,k,n]", {"b": 128, "k": 4096, "n": 4095}, {"b": 2, "k": 37, "n": 31}, "y = argmin(x, axis=1)"),
    "conv2d": ("tf32", "x=[b,c,h,w] k=[o,c,11,11] s=[o]", {"b": 256, "c": 3, "h": 224, "w": 224, "o": 96},
               {"b": 2, "c": 3, "h": 23, "w": 27, "o": 8}, "y = conv2d(x, k, s, stride=4, padding=2)"),
    "conv3d": ("tf32", "x=[b,c,d,h,w] k=[o,c,3,5,7]", {"b": 16, "c": 3, "d": 64, "h": 64, "w": 64, "o": 64},
               {"b": 2, "c": 3, "d": 6, "h": 9, "w": 10, "o": 5}, "y = conv3d(x, k)"),
    "conv_pointwise": ("tf32", "x=[b,c,h,w] k=[o,c,1,1]", {"b": 16, "c": 64, "h": 1024, "w": 1024, "o": 128},
                       {"b": 2, "c": 8, "h": 9, "w": 10, "o": 12}, "y = conv2d(x, k)"),
    "gelu": ("f32", "x=[m,n]", {"m": 8192, "n": 8192}, {"m": 7, "n": 131},
             "y = 0.5*x*(1+tanh(0.7978845608*(x+0.044715*x**3)))"),
    "cumsum_reverse": ("f32", "x=[m,n]", {"m": 32768, "n": 32768}, {"m": 5, "n": 131}, "y = cumsum(x, 1, reverse=true)"),
    "attention": ("f32", "q=[b,h,s,e] k=[b,h,s,e] v=[b,h,s,e]", {"b": 32, "h": 32, "s": 512, "e": 1024},
                  {"b": 2, "h": 2, "s": 19, "e": 24}, "y = attention(q, k, v)"),
    "kl_div": ("f32", "p=[m,n] t=[m,n]", {"m": 16384, "n": 16384}, {"m": 5, "n": 131},
               "y = kl_div(log(softmax(p)), softmax(t), reduction='batchmean')"),
    "conv_relu_bias": ("tf32", "x=[b,c,h,w] k=[o,c,3,3] s=[o] a=[o,1,1]", {"b": 128, "c": 64, "h": 128, "w": 128, "o": 128},
                       {"b": 2, "c": 6, "h": 11, "w": 13, "o": 7}, "y = relu(conv2d(x, k, s)) + a"),
    "gemm_swish_bias_gn": ("f32", "x=[m,k] w=[n,k] s=[n] a=[n] g=[n] h=[n]", {"m": 32768, "k": 1024, "n": 4096},
                           {"m": 5, "k": 19, "n": 128}, "y = group_norm(silu(linear(x, w, s)) + a, 64, g, h)"),
    "gemm_sigmoid_gemm_lse": ("f32", "x=[m,k] w=[n,k] s=[n] u=[o,n] t=[o]", {"m": 16384, "k": 2048, "n": 4096, "o": 1024},
                              {"m": 5, "k": 19, "n": 33, "o": 21},
                              "y = logsumexp(linear(sigmoid(linear(x, w, s)), u, t), axis=1)"),
    "conv_mish_bn": ("tf32", "x=[b,c,h,w] k=[o,c,3,3] s=[o] g=[o] t=[o]", {"b": 64, "c": 64, "h": 128, "w": 128, "o": 128},
                     {"b": 2, "c": 6, "h": 11, "w": 13, "o": 7}, "y = batch_norm(mish(conv2d(x, k, s)), weight=g, bias=t)"),
    "gemm_gelu_softmax": ("f32", "x=[m,k] w=[n,k] s=[n]", {"m": 1024, "k": 8192, "n": 8192}, {"m": 5, "k": 19, "n": 131},
                          "y = softmax(gelu(linear(x, w, s)))"),
}


def task_text(name: str) -> str:
    precision, inputs, real, small, expression = PROBLEMS[name]
    lines = [f'name = "{name}"', f'precision = "{precision}"', "[inputs]"]
    lines += ['{} = "f32{}"'.format(*one.split("=")) for one in inputs.split()]
    symbols = lambda shape: ", ".join(f"{key} = {value}" for key, value in shape.items())
    lines += ["[shapes]", f"real = {{ {symbols(real)}, weight = 1 }}", f"small = {{ {symbols(small)} }}"]
    return "\n".join(lines + ["[reference]", f'expr = "{expression}"', 'outputs = ["y"]']) + "\n"


def run(command: list, limit: float) -> tuple:
    """Standard output of the command by line with the second at which each came, and the seconds it took."""
    start, lines = time.monotonic(), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                lines.append((time.monotonic() - start, line))
                if time.monotonic() - start > limit:
                    process.kill()
                    break
            errors = process.stderr.read()
        except KeyboardInterrupt:
            process.kill()
            raise
    return lines, time.monotonic() - start, errors.strip()


def parts_text(parts: list, key: str) -> str:
    return ", ".join(f"{part[key]} {part['ms']:.0f}" for part in parts if part["ms"] >= 1)


def evaluate(options: argparse.Namespace, name: str, folder: pathlib.Path) -> dict:
    """Judges the first kernels of the synthesiser, which differ in their code."""
    task = folder / f"{name}.toml"
    task.write_text(task_text(name))
    kernels, errors = [], ""
    for start in range(options.count):
        lines, _, errors = run([options.kerf, "synth", str(task), "--target", options.target, "--start", str(start)],
                               options.limit)
        text = "".join(line for _, line in lines)
        if "kerf" not in text:
            break  # fewer compositions than asked for
        kernels.append(folder / f"{name}_{start}.cu")
        kernels[-1].write_text(text)
    if not kernels:
        return {"name": name, "error": errors[-300:] or "no kernel"}
    command = [options.kerf, "eval", str(task), *map(str, kernels), "--target", options.target, "--json", "--no-cache",
               "--seed", str(options.seed)]
    lines, seconds, errors = run(command, options.limit)
    verdicts = [(second, json.loads(line)) for second, line in lines if line.startswith("{")]
    if not verdicts:
        return {"name": name, "error": f"no verdict after {seconds:.1f} s: {errors[-300:]}"}
    found = {"name": name, "first_s": verdicts[0][0], "verdicts": [v for _, v in verdicts],
             "outcomes": [v["outcome"] for _, v in verdicts]}
    if len(verdicts) > 1:
        found["per_s"] = (len(verdicts) - 1) / max(1e-3, verdicts[-1][0] - verdicts[0][0])
    return found


def confirmations(run: pathlib.Path) -> list:
    """Seconds that each finalist took on fresh data: its preparation and its tiers, the soak by itself."""
    with sqlite3.connect(run / "kerf.db") as store:
        rows = store.execute("SELECT evaluation FROM steps WHERE operation = 'confirm' ORDER BY number").fetchall()
    found = []
    for (text,) in rows:
        evaluation = json.loads(text)
        tiers = {tier["tier"]: tier["ms"] / 1000 for tier in evaluation["tiers"]}
        soak = tiers.pop("soak", 0)
        prepared = sum(part["ms"] for part in evaluation.get("preparation", [])) / 1000
        found.append({"prepared_s": round(prepared, 3), "judged_s": round(sum(tiers.values()), 3), "soak_s": round(soak, 3)})
    return found


def search(options: argparse.Namespace, name: str, folder: pathlib.Path) -> dict:
    task = folder / f"{name}.toml"
    out = folder / f"run_{name}"
    lines, seconds, errors = run([options.kerf, "optimize", str(task), "--memory", "off", "--target", options.target, "--time",
                                  str(options.search), "--seed", str(options.seed), "--json", "--out", str(out)],
                                 options.limit)
    texts = [line for _, line in lines if line.startswith("{")]
    if not texts:
        return {"error": errors[-300:]}
    result = json.loads(texts[-1])
    best = result.get("best") or {}
    return {"evaluations": result.get("evaluations"), "beyond_s": seconds - options.search, "kernel": best.get("kernel"),
            "time_us": (best.get("time_us") or {}).get("median"), "stopped": result.get("stopped"),
            "confirmations": confirmations(out)}


def print_problem(found: dict) -> None:
    if "error" in found:
        print(f"{found['name']:22} {found['error']}", flush=True)
        return
    print(f"{found['name']:22} first {found['first_s']:6.2f} s, then {found.get('per_s', 0):5.2f} /s, "
          f"{' '.join(found['outcomes'])}")
    for number in sorted({0, len(found["verdicts"]) - 1}):
        verdict = found["verdicts"][number]
        print(f"    kernel {number}: {pathlib.Path(verdict['kernel']).name}")
        print(f"      tiers, ms: {parts_text(verdict['tiers'], 'tier')}")
        if verdict.get("preparation"):
            print(f"      prepared, ms: {parts_text(verdict['preparation'], 'part')}")
        if verdict["outcome"] != "measured":
            print(f"      {verdict['outcome']} at {verdict.get('gate')}: {verdict.get('message', '')[:300]}")
    if "search" in found:
        print(f"      search: {json.dumps(found['search'])}")
        for one in found["search"].get("confirmations", []):
            print(f"      confirmed on fresh data in {one['prepared_s'] + one['judged_s']:.2f} s "
                  f"({one['prepared_s']:.2f} s to prepare), soak {one['soak_s']:.2f} s")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--only", action="append", default=[], help="problems whose name contains this; may be repeated")
    parser.add_argument("--count", type=int, default=4, help="kernels judged per problem")
    parser.add_argument("--search", type=float, default=0, help="also search for so many seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a command is given up")
    parser.add_argument("--total", type=float, default=1e9, help="seconds after which no further problem is begun")
    parser.add_argument("--out", help="a file for everything that was found, as JSON")
    parser.add_argument("--list", action="store_true", help="write the task files' text and end")
    options = parser.parse_args()
    names = [name for name in PROBLEMS if not options.only or any(word in name for word in options.only)]
    if options.list:
        for name in names:
            print(task_text(name))
        return
    start, results = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if time.monotonic() - start > options.total:
                break
            found = evaluate(options, name, pathlib.Path(folder))
            if options.search and "error" not in found:
                found["search"] = search(options, name, pathlib.Path(folder))
            print_problem(found)
            results.append(found)
            if options.out:
                pathlib.Path(options.out).write_text(json.dumps(results))
    firsts = [one["first_s"] for one in results if "first_s" in one]
    rates = [one["per_s"] for one in results if "per_s" in one]
    if firsts:
        print(f"first verdict, s: median {statistics.median(firsts):.2f}, worst {max(firsts):.2f} ({len(firsts)} problems)")
    if rates:
        print(f"further verdicts per s: median {statistics.median(rates):.2f}, least {min(rates):.2f}")


if __name__ == "__main__":
    main()
