#!/usr/bin/env python3
"""How far the rule of docs/verification.md lies from honest and from cheap products (NumPy, no GPU).

For every family of inputs and length of sums: rms and worst error of several implementations over those of one running
fp32 sum, both in units of the analytic bound. The rule refuses above 8.

    honest_rule.py [--draws 3] [--size 192]
"""
import argparse

import numpy as np

LIMIT = 8.0


def tf32(x):
    u = x.view(np.uint32)
    return ((u + 0xFFF + ((u >> 13) & 1)) & np.uint32(0xFFFFE000)).view(np.float32)


def bf16(x):
    u = x.view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def inputs(family, rng, m, k):
    x = rng.standard_normal((m, k))
    if family == "positive":
        x = rng.random((m, k))
    elif family == "spikes":
        x[rng.random((m, k)) < 1 / 500] *= 300
    elif family == "log_uniform":
        x = np.sign(x) * 2.0 ** rng.uniform(-10, 10, (m, k))
    elif family == "rows":
        scale = 2.0 ** rng.integers(-26, 27, (m, 1))
        x = scale * (x + rng.choice([0, 0, 1, -1], (m, 1)) * 2.0 ** rng.integers(0, 7, (m, 1)))
        x[rng.random(m) < 1 / 8] = 0
    return x.astype(np.float32)


def running(a, b, parts=1):
    """`parts` running sums with fused multiply-adds, added at the end."""
    sums = [np.zeros((a.shape[0], b.shape[1]), np.float32) for _ in range(parts)]
    for p in range(a.shape[1]):
        term = a[:, p : p + 1].astype(np.float64) * b[p : p + 1].astype(np.float64)
        sums[p % parts] = (sums[p % parts] + term).astype(np.float32)
    while len(sums) > 1:
        sums = [sums[i] + sums[i + 1] for i in range(0, len(sums), 2)]
    return sums[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--size", type=int, default=192)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    kinds = {
        "8 sums": lambda a, b: running(a, b, 8),
        "BLAS": lambda a, b: a @ b,
        "tf32": lambda a, b: tf32(a) @ tf32(b),
        "one tf32": lambda a, b: tf32(a) @ b,
        "bf16": lambda a, b: bf16(a) @ bf16(b),
        "one term less": lambda a, b: a[:, 1:] @ b[1:],
    }
    print(f"largest over {options.draws} draws for the first two, smallest for the others: rms / worst; limit {LIMIT:g}")
    for k in (64, 512, 4096):
        for family in ("normal", "spikes", "log_uniform", "rows", "positive"):
            found = {name: [] for name in kinds}
            for _ in range(options.draws):
                a, b = inputs(family, rng, options.size, k), inputs(family, rng, k, options.size)
                exact = a.astype(np.float64) @ b.astype(np.float64)
                bound = 2.0**-24 * (1 + np.sqrt(k) / 2) * (np.abs(a).astype(np.float64) @ np.abs(b)) + 2.0**-24 * np.abs(exact)
                keep = bound > 0
                error = lambda y: (np.abs(y - exact)[keep] / bound[keep])
                plain = error(running(a, b))
                for name, product in kinds.items():
                    other = error(product(a, b))
                    found[name].append((np.sqrt(np.mean(other**2) / np.mean(plain**2)), other.max() / plain.max()))
            cells = []
            for i, (name, ratios) in enumerate(found.items()):
                pick = max if i < 2 else min
                cells.append(f"{name} {pick(r[0] for r in ratios):.3g}/{pick(r[1] for r in ratios):.3g}")
            print(f"K={k:5} {family:12}", "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
