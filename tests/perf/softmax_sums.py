#!/usr/bin/env python3
"""How much does a long fp32 sum lose? The normaliser of softmax on rows with rare spikes, added up in several ways, and PyTorch's own softmax.

    tests/perf/softmax_sums.py                       needs numpy and PyTorch (Debian: python3-torch)

Rows are drawn like Kerf's `spikes` inputs: normal, one element in 500 about 300 times larger. Errors are relative to the sum in double precision, in roundings of fp32 (2^-24);
for PyTorch the error of the row's largest result. Kerf's tolerance for such a sum is 4 * (1 + sqrt(columns) / 2) roundings, plus a few for the exponential and the division.
"""
import argparse
import math
import statistics

import numpy
import torch


def spikes(rows, columns, rng):
    plain, large = rng.standard_normal((2, rows, columns))
    return numpy.where(rng.random((rows, columns)) < 1 / 500, 300 * large, plain).astype(numpy.float32)


def running(terms):
    """The last partial sum of each row, every step rounded to fp32."""
    return numpy.cumsum(terms, axis=-1, dtype=numpy.float32)[..., -1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--columns", type=int, default=2048, help="a multiple of 512")
    parser.add_argument("--seeds", type=int, default=30)
    args = parser.parse_args()
    worst = {}
    for seed in range(args.seeds):
        x = spikes(args.rows, args.columns, numpy.random.default_rng(seed))
        shifted = x - x.max(axis=1, keepdims=True)
        exact = numpy.exp(shifted.astype(numpy.float64)).sum(axis=1)
        terms = numpy.exp(shifted)
        top = shifted.argmax(axis=1)
        probability = torch.softmax(torch.from_numpy(x), 1).numpy()[numpy.arange(args.rows), top].astype(numpy.float64)
        sums = {"one running sum": running(terms),
                "blocks of 512 (the naive kernel)": running(running(terms.reshape(args.rows, -1, 512))),
                "8 partial sums": running(running(terms.reshape(args.rows, -1, 8).transpose(0, 2, 1))),
                "PyTorch softmax": 1 / probability}
        for name, found in sums.items():
            worst.setdefault(name, []).append(float(numpy.max(numpy.abs(found - exact) / exact) * 2**24))
    print(f"{args.rows} rows of {args.columns}, {args.seeds} seeds; error of the worst row in roundings, median and largest over seeds; "
          f"the sum's tolerance is {4 * (1 + math.sqrt(args.columns) / 2):.0f}")
    for name, found in worst.items():
        print(f"{name:34} {statistics.median(found):6.0f} {max(found):6.0f}")


if __name__ == "__main__":
    main()
