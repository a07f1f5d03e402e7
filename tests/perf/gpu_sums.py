#!/usr/bin/env python3
"""Does the vendor's library meet the tolerance that Kerf holds kernels to? Matrix products and layer norms in f32 on a GPU, against f64.

    tests/perf/gpu_sums.py                       needs PyTorch with CUDA

Matrix product: |error| over Kerf's tolerance, 4 * (1 + sqrt(k) / 2) * 2^-24 * (|A| |B|), of the worst element of each draw: above 1 it would be refused. `one chain` adds the k products of an
element one after the other, as tests/honest/cuda/matmul_tiled.cu does. Layer norm: worst |error| of a draw, relative to the largest result of its row, in roundings (2^-24); `Welford, 32 lanes` is
tests/honest/cuda/layernorm_welford.cu. Inputs are drawn like Kerf's families `normal`, `spikes` (one element in 500 is 300 times larger) and `positive` (uniform).
"""
import argparse
import math
import statistics

import torch

FAMILIES = ["normal", "spikes", "positive"]


def draw(family, shape, generator):
    if family == "positive":
        return torch.rand(shape, device="cuda", generator=generator)
    x = torch.randn(shape, device="cuda", generator=generator)
    if family == "spikes":
        x = torch.where(torch.rand(shape, device="cuda", generator=generator) < 1 / 500, 300 * x, x)
    return x


def one_chain(a, b):
    c = torch.zeros(a.shape[0], b.shape[1], device="cuda")
    for p in range(a.shape[1]):
        c.addcmul_(a[:, p : p + 1], b[p : p + 1, :])
    return c


def matrix_product(size, family, generator):
    """Worst |error| / tolerance and how many elements exceed it, by implementation."""
    a, b = draw(family, (size, size), generator), draw(family, (size, size), generator)
    exact = a.double() @ b.double()
    tolerance = 4 * (1 + math.sqrt(size) / 2) * 2.0**-24 * (a.double().abs() @ b.double().abs())
    found = {}
    for name, result in (("cuBLAS f32", a @ b), ("one chain", one_chain(a, b))):
        ratio = (result.double() - exact).abs() / tolerance
        found[name] = (float(ratio.max()), int((ratio > 1).sum()))
    return found


def welford(x, lanes=32, eps=1e-5):
    """Every lane updates its own mean and sum of squares over its columns; then the lanes are merged in pairs."""
    rows, columns = x.shape
    mean, square, count = (torch.zeros(rows, lanes, device="cuda") for _ in range(3))
    for step in x.view(rows, columns // lanes, lanes).unbind(1):
        d = step - mean
        count += 1
        mean += d / count
        square += d * (step - mean)
    while mean.shape[1] > 1:
        half = mean.shape[1] // 2
        m, s, n = (mean[:, half:], square[:, half:], count[:, half:])
        mean, square, count = mean[:, :half], square[:, :half], count[:, :half]
        total, delta = count + n, m - mean
        mean, square, count = (mean * count + m * n) / total, square + s + delta * delta * count * n / total, total
    return (x - mean) * torch.rsqrt(square / columns + eps)


def layer_norm(rows, columns, family, generator):
    """Worst |error| / largest result of the row in roundings, by implementation."""
    x = draw(family, (rows, columns), generator)
    exact = torch.nn.functional.layer_norm(x.double(), (columns,))
    scale = exact.abs().amax(dim=1, keepdim=True)
    results = {"PyTorch": torch.nn.functional.layer_norm(x, (columns,)), "Welford, 32 lanes": welford(x)}
    return {name: (float(((y.double() - exact).abs() / scale).max()) * 2**24, 0) for name, y in results.items()}


def show(title, draws):
    for name in draws[0]:
        worst = [d[name][0] for d in draws]
        beyond = sum(1 for d in draws if d[name][1] > 0)
        print(f"{title:32} {name:20} median {statistics.median(worst):9.2f}  largest {max(worst):9.2f}  draws with elements beyond 1: {beyond}" if "product" in title
              else f"{title:32} {name:20} median {statistics.median(worst):9.1f}  largest {max(worst):9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--columns", type=int, default=4194304, help="a multiple of 32")
    parser.add_argument("--draws", type=int, default=20)
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    generator = torch.Generator(device="cuda").manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; {args.draws} draws (layer norm 1)")
    for family in FAMILIES:
        show(f"product {args.size}^3, {family}", [matrix_product(args.size, family, generator) for _ in range(args.draws)])
    for family in FAMILIES:
        show(f"layer norm {args.rows}x{args.columns}, {family}", [layer_norm(args.rows, args.columns, family, generator)])


if __name__ == "__main__":
    main()
