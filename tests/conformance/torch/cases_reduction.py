"""Reductions, softmax family, scans."""

import torch
import torch.nn.functional as F

from case_table import case, each

REDUCTIONS = {
    "sum": torch.sum, "prod": torch.prod, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin,
    "any": lambda x, *a, **k: torch.any(x != 0, *a, **k), "all": lambda x, *a, **k: torch.all(x != 0, *a, **k),
    "argmax": torch.argmax, "argmin": torch.argmin, "var": torch.var, "std": torch.std, "logsumexp": torch.logsumexp,
}
for name, function in REDUCTIONS.items():
    for axis in (0, 1, -1):
        case(f"y = {name}(x, {axis})", lambda x, f=function, a=axis: f(x, a), x="f64[4, 7, 5]")
    case(f"y = {name}(x, axis=-2, keepdims=true)", lambda x, f=function: f(x, -2, keepdim=True), x="f64[4, 7, 5]")
    case(f"y = {name}(x, 0)", lambda x, f=function: f(x, 0), x="f64[613, 1]")
for name in ("sum", "mean", "amax", "amin", "var", "std", "logsumexp"):
    function = REDUCTIONS[name]
    case(f"y = {name}(x, [0, 2])", lambda x, f=function: f(x, (0, 2)), x="f64[4, 7, 5]")
    case(f"y = {name}(x, [0, -1], keepdims=true)", lambda x, f=function: f(x, (0, -1), keepdim=True), x="f64[3, 4, 5, 2]")
for name, function in {"sum": torch.sum, "prod": torch.prod, "mean": torch.mean, "max": torch.max, "min": torch.min,
                       "amax": torch.max, "argmax": torch.argmax, "argmin": torch.argmin, "var": torch.var,
                       "std": torch.std, "any": torch.any, "all": torch.all, "norm": torch.norm}.items():
    case(f"y = {name}(x)", function, x="f64[3, 11]")
case("y = logsumexp(x)", lambda x: torch.logsumexp(x, (0, 1)), x="f64[3, 11]")
case("y = max(x, 1)", lambda x: x.max(1).values, x="f64[3, 11]")
case("y = max(x, dim=1)[0]", lambda x: x.max(dim=1)[0], x="f64[3, 11]")
case("y = max(x, dim=1)[1]", lambda x: x.max(dim=1)[1], x="f64[3, 11]")
case("y = min(x, dim=0, keepdim=true)[1]", lambda x: x.min(dim=0, keepdim=True)[1], x="f64[3, 11]")
case("m = max(x, dim=1)\ny = m.values + m.indices", lambda x: x.max(1).values + x.max(1).indices, x="f64[3, 11]")
case("y = min(x, axis=0, keepdims=true)", lambda x: x.min(0, keepdim=True).values, x="f64[3, 11]")

# NaN, infinities, ties and empty axes.
each([
    ("y = max(x, 1)", lambda x: x.max(1).values), ("y = min(x, 0)", lambda x: x.min(0).values),
    ("y = argmax(x, 1)", lambda x: x.argmax(1)), ("y = argmin(x, 0)", lambda x: x.argmin(0)),
    ("y = prod(x, 0)", lambda x: x.prod(0)),
    ("y = any(x, 1)", lambda x: (x != 0).any(1)), ("y = count_nonzero(x, 1)", lambda x: torch.count_nonzero(x, 1)),
    ("y = logsumexp(x, 1)", lambda x: torch.logsumexp(x, 1)), ("y = softmax(x, 0)", lambda x: torch.softmax(x, 0)),
], x="f64[64, 5] special")
each([("y = sum(x, 1)", lambda x: x.sum(1)), ("y = sum(x, 0)", lambda x: x.sum(0)), ("y = cumsum(x, 0)", lambda x: x.cumsum(0)),
      ("y = mean(x, 1)", lambda x: x.mean(1))], x="f64[64, 5] nonfinite")
case("y = sum(x, 1)", lambda x: x.sum(1), x="f64[5, 3] nonfinite")
case("y = sum(x, 1)", lambda x: x.sum(1), x="f64[40, 1] nonfinite")
case("y = argmax(x, 1)", lambda x: first_index(x, x.amax(1, keepdim=True)), x="f64[50, 40] halves")
case("y = argmin(x, 0)", lambda x: first_index(x.T, x.T.amin(1, keepdim=True)), x="f64[700, 9] halves")
case("y = sum(x, 0)", lambda x: x.sum(0), x="f64[0, 3]")
case("y = prod(x, 1)", lambda x: x.prod(1), x="f64[3, 0]")
case("y = all(x, 1)", lambda x: (x != 0).all(1), x="f64[3, 0]")
case("y = sum(x)", torch.sum, x="f64[0]")
case("y = max(x, 0)", lambda x: x.max(0).values, x="f64[4, 0]")


def first_index(x, extreme):
    index = torch.arange(x.shape[1]).expand_as(x)
    return torch.where(x == extreme, index, torch.full_like(index, x.shape[1])).amin(1)


# Integers and bools.
each([
    ("y = sum(x, 0)", lambda x: x.sum(0)), ("y = prod(x, 0)", lambda x: x.prod(0)), ("y = max(x, 1)", lambda x: x.max(1).values),
    ("y = argmax(x, 1)", lambda x: first_index(x, x.amax(1, keepdim=True))), ("y = amin(x)", lambda x: x.min()),
    ("y = mean(x, 1)", lambda x: x.double().mean(1)), ("y = any(x, 1)", lambda x: (x != 0).any(1)),
], x="i32[6, 7]")
case("y = sum(x, 1)", lambda x: x.sum(1), x="i64[5, 600] -1000000000..1000000000")
case("y = sum(b, 1)", lambda b: b.sum(1), b="bool[5, 600]")
case("y = any(b, 0)", lambda b: b.any(0), b="bool[5, 6]")
case("y = all(b, -1, keepdims=true)", lambda b: b.all(-1, keepdim=True), b="bool[5, 2]")
case("y = count_nonzero(x)", torch.count_nonzero, x="i32[6, 7] -1..1")
case("y = mean(x, -1)", lambda x: x.mean(-1), x="f16[6, 33]")
case("y = sum(x, 0)", lambda x: x.sum(0), x="bf16[600, 7]")

# Large and ill-conditioned sums.
case("y = sum(x, -1)", lambda x: x.sum(-1), x="f32[3, 100003]")
case("y = sum(x)", torch.sum, x="f64[300, 1000]")
case("y = sum(x, 0)", lambda x: x.sum(0), x="f64[1000, 700]")
case("y = var(x * 1e-3 + 1000, -1)", lambda x: torch.var(x * 1e-3 + 1000, -1), tolerance=1e-9, x="f64[4, 5000]")

each([
    ("y = var(x, 1, correction=0)", lambda x: x.var(1, unbiased=False)), ("y = var(x, 1, unbiased=false)", lambda x: x.var(1, unbiased=False)),
    ("y = std(x, 0, correction=0, keepdims=true)", lambda x: x.std(0, unbiased=False, keepdim=True)),
    ("y = norm(x)", lambda x: x.norm()), ("y = norm(x, \"fro\")", lambda x: x.norm()), ("y = norm(x, 1)", lambda x: x.norm(1)),
    ("y = norm(x, inf)", lambda x: x.norm(float("inf"))), ("y = norm(x, -inf, axis=1)", lambda x: x.norm(float("-inf"), 1)),
    ("y = norm(x, 3, axis=-1, keepdims=true)", lambda x: x.norm(3, -1, keepdim=True)), ("y = norm(x, 0, axis=0)", lambda x: x.norm(0, 0)),
    ("y = norm(x, 2, axis=[0, 1])", lambda x: x.norm(2, (0, 1))),
    ("y = count_nonzero(x)", torch.count_nonzero),
    ("y = softmax(x)", lambda x: x.softmax(-1)), ("y = softmax(x, 0)", lambda x: x.softmax(0)),
    ("y = softmax(x * 500, axis=1)", lambda x: (x * 500).softmax(1)), ("y = log_softmax(x, 0)", lambda x: x.log_softmax(0)),
    ("y = log_softmax(x * 500)", lambda x: (x * 500).log_softmax(-1)), ("y = softmin(x)", lambda x: F.softmin(x, -1)),
    ("y = softmin(x, axis=0)", lambda x: F.softmin(x, 0)),
    ("y = logsumexp(x * 800, -1)", lambda x: (x * 800).logsumexp(-1)),
], x="f64[7, 9]")
case("y = softmax(x, 1)", lambda x: x.softmax(1), x="f64[2, 513, 3]")
case("y = softmax(x, -1)", lambda x: x.softmax(-1), x="f64[3, 1]")
case("y = softmax(x, -1)", lambda x: x.softmax(-1), x="f32[5, 4099]")
case("y = exp(x - max(x, -1, keepdims=true)) / sum(exp(x - max(x, -1, keepdims=true)), -1, keepdims=true)",
     lambda x: x.softmax(-1), x="f64[33, 129]")

SCANS = {"cumsum": torch.cumsum, "cumprod": torch.cumprod, "cummax": lambda x, a: x.cummax(a).values,
         "cummin": lambda x, a: x.cummin(a).values}
for name, function in SCANS.items():
    for axis in (0, 1, -1):
        case(f"y = {name}(x, {axis})", lambda x, f=function, a=axis: f(x, a), x="f64[5, 7, 3]")
    case(f"y = {name}(x, axis=1, reverse=true)", lambda x, f=function: f(x.flip(1), 1).flip(1), x="f64[5, 7, 3]")
    case(f"y = {name}(x, 0)", lambda x, f=function: f(x, 0), x="i64[9, 70] -2..2")
    case(f"y = {name}(x, 0)", lambda x, f=function: f(x, 0), x="f64[1]")
case("y = cumsum(x, -1)", lambda x: x.cumsum(-1), x="f64[3, 5001]")
case("y = cumsum(x, 1, exclusive=true)", lambda x: x.cumsum(1) - x, x="f64[3, 9]")
case("y = cumsum(x, 1, exclusive=true, reverse=true)", lambda x: x.flip(1).cumsum(1).flip(1) - x, x="f64[3, 9]")
case("y = cumprod(x, 0, exclusive=true)", lambda x: torch.cat([torch.ones_like(x[:1]), x.cumprod(0)[:-1]]), x="f64[6, 2]")
case("y = cumsum(x, 0)", lambda x: x.cumsum(0), x="f64[0, 3]")
case("y = cumsum(x, 0)", lambda x: x.cumsum(0), x="bool[33]")
case("y = cumsum(x, 0)", lambda x: x.cumsum(0), x="f64[40] special")
