#!/usr/bin/env python3
"""Speed and error of an exported CUDA matrix product against cuBLAS f32, in one process.

  kerf export RUN --format cmake --out DIR && python3 tests/perf/matmul_accuracy.py DIR [--size 4096]

DIR must hold the export of a task with inputs a[m, k], b[k, n] and output c[m, n]. It is compiled with nvcc into a shared library. Errors are
|result - f64| / (|A| |B|) per element, as in the table of docs/results/h200.md: worst and root mean square over all elements.
"""
import argparse
import ctypes
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


def build(folder):
    """The exported launcher behind a C name, and its parameters as the header declares them."""
    header = next(iter(sorted(folder.glob("*.cuh"))), None)
    found = header and re.search(r"cudaError_t\s+(\w+)\s*\(([^)]*)\)", header.read_text())
    if not found:
        sys.exit(f"no launcher found in the header of {folder}")
    name, parameters = found.group(1), [p.strip() for p in found.group(2).split(",")]
    scratch = pathlib.Path(tempfile.mkdtemp())
    names = [re.findall(r"\w+", parameter)[-1] for parameter in parameters]
    (scratch / "entry.cu").write_text(f'#include "{header.name}"\nextern "C" cudaError_t entry({", ".join(parameters)}) {{ return {name}({", ".join(names)}); }}\n')
    sources = [str(p) for p in sorted(folder.glob("*.cu")) if p.name not in ("check.cu", "reference.cu")]
    subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-O3", "-w", f"-I{folder}",
                    *sources, str(scratch / "entry.cu"), "-o", str(scratch / "kernel.so")], check=True)
    return ctypes.CDLL(str(scratch / "kernel.so")).entry, parameters, names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=4096)
    arguments = parser.parse_args()
    import torch
    launch, parameters, names = build(arguments.folder)
    n = arguments.size
    torch.backends.cuda.matmul.allow_tf32 = False
    generator = torch.Generator(device="cuda").manual_seed(1)

    def call(a, b, c):
        values = {"a": ctypes.c_void_p(a.data_ptr()), "b": ctypes.c_void_p(b.data_ptr()), "c": ctypes.c_void_p(c.data_ptr())}
        given = []
        for parameter, word in zip(parameters, names):
            if word in values:
                given.append(values[word])
            elif "stream" in parameter.lower():
                given.append(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            else:
                given.append(ctypes.c_longlong(n))
        code = launch(*given)
        if code != 0:
            sys.exit(f"the launcher returned {code}")

    def wide(*shape):
        sign = torch.randint(0, 2, shape, device="cuda", generator=generator) * 2 - 1
        return sign * torch.exp2(torch.rand(shape, device="cuda", generator=generator) * 24 - 12)

    def spiky(*shape):  # one entry in 1e5 is 2^40 times the others: these rows need the fallback
        x = torch.randn(shape, device="cuda", generator=generator)
        mask = torch.rand(shape, device="cuda", generator=generator) < 1e-5
        return torch.where(mask, x * 2.0**40, x)

    makers = {"uniform": lambda *s: torch.rand(s, device="cuda", generator=generator),
              "normal": lambda *s: torch.randn(s, device="cuda", generator=generator), "wide (24 binades)": wide, "spikes (fallback)": spiky}
    print("| inputs | Kerf worst / rms | cuBLAS f32 worst / rms |\n|---|---|---|")
    for label, make in makers.items():
        a, b = make(n, n).float(), make(n, n).float()
        c = torch.full((n, n), float("nan"), device="cuda")
        call(a, b, c)
        torch.cuda.synchronize()
        exact, scale = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        cells = []
        for result in (c, a @ b):
            error = (result.double() - exact).abs() / scale
            cells.append(f"{error.max().item():.2e} / {error.square().mean().sqrt().item():.2e}")
        print(f"| {label} | {cells[0]} | {cells[1]} |", flush=True)
        del exact, scale
    a, b, c = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda"), torch.empty(n, n, device="cuda")
    flush = torch.empty(1 << 26, device="cuda")
    times = {"kerf": [], "cublas": []}
    for round_ in range(40):
        for kind, run in (("kerf", lambda: call(a, b, c)), ("cublas", lambda: torch.mm(a, b, out=c))):
            flush.zero_()
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            run()
            stop.record()
            torch.cuda.synchronize()
            if round_ >= 5:
                times[kind].append(start.elapsed_time(stop))
    ratios = sorted(q / p for p, q in zip(times["kerf"], times["cublas"]))
    print(f"\n{n}^3: Kerf {statistics.median(times['kerf']):.3f} ms, cuBLAS f32 {statistics.median(times['cublas']):.3f} ms, ratio "
          f"{statistics.median(ratios):.2f} [{ratios[1]:.2f}, {ratios[-2]:.2f}] ({len(ratios)} interleaved pairs)")


if __name__ == "__main__":
    main()
