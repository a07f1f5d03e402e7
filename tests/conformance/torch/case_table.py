"""The table of conformance cases: what a case is, and how its inputs are made."""

import re
import zlib

import torch

CASES = []

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "i64": torch.int64, "i32": torch.int32, "bool": torch.bool}


def case(expression, reference, tolerance=1e-10, bind=None, **inputs):
    """`reference` takes the inputs by position: floats as float64 tensors, whatever their stored dtype, integers and
    bools as they are. An input is 'dtype[extents] distribution'; extents may be names of `bind`."""
    CASES.append({"expression": expression, "reference": reference, "tolerance": tolerance, "bind": bind or {},
                  "inputs": inputs})


def each(expressions_and_references, **inputs):
    for expression, reference in expressions_and_references:
        case(expression, reference, **inputs)


def parse_input(text, bind):
    match = re.fullmatch(r"(\w+)\[([^\]]*)\]\s*(.*)", text)
    dtype, extents, distribution = match.groups()
    shape = [bind[e] if e in bind else int(e) for e in re.split(r"\s*,\s*", extents.strip()) if e]
    return dtype, shape, distribution


SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, 0.5, -2.5, 20.0, -20.0]


def make_input(name, text, seed, bind):
    dtype, shape, distribution = parse_input(text, bind)
    generator = torch.Generator().manual_seed(zlib.crc32((name + text + seed).encode()))

    def uniform(low, high):
        return torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low

    if dtype == "bool":
        return torch.rand(shape, generator=generator) < 0.5
    if dtype in ("i32", "i64"):
        low, high = (int(v) for v in (distribution or "-9..9").split(".."))
        return torch.randint(low, high + 1, shape, generator=generator, dtype=DTYPES[dtype])
    if distribution == "":
        values = torch.randn(shape, generator=generator, dtype=torch.float64)
    elif distribution == "special":
        pick = torch.randint(0, len(SPECIAL), shape, generator=generator)
        values = torch.tensor(SPECIAL, dtype=torch.float64)[pick]
    elif distribution == "nonfinite":
        pick = torch.randint(0, 12, shape, generator=generator)
        values = torch.tensor(SPECIAL[:3] + [0.5, -2.5, 4.0, 1.5, -3.0, 7.0, 8.5, 0.25, -1.0], dtype=torch.float64)[pick]
    elif distribution == "halves":
        values = torch.randint(-9, 10, shape, generator=generator).double() / 2
    elif distribution == "probabilities":
        values = torch.softmax(torch.randn(shape, generator=generator, dtype=torch.float64), -1)
    elif distribution == "signs":
        values = torch.randint(0, 2, shape, generator=generator).double() * 2 - 1
    else:
        low, high = (float(v) for v in distribution.split(".."))
        values = uniform(low, high)
    return values.to(DTYPES[dtype])
