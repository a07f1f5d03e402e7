"""Convolutions and pooling: every attribute over the range that real networks use, then random combinations."""

import random

import torch
import torch.nn.functional as F

from case_table import case

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def text(value):
    return str(list(value)) if isinstance(value, (tuple, list)) else str(value)


def extents(*values):
    return ", ".join(str(v) for v in values)


def conv(rank, size, channels, filters, kernel, bias=False, dtype="f64", transposed=False, batch=2, **attributes):
    groups = attributes.get("groups", 1)
    spatial = size if isinstance(size, tuple) else (size,) * rank
    taps = kernel if isinstance(kernel, tuple) else (kernel,) * rank
    weight = (channels, filters // groups) if transposed else (filters, channels // groups)
    inputs = {"x": f"{dtype}[{extents(batch, channels, *spatial)}]", "w": f"{dtype}[{extents(*weight, *taps)}]"}
    if bias:
        inputs["b"] = f"{dtype}[{filters}]"
    arguments = "".join(f", {name}={text(value)}" for name, value in attributes.items())
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    function = (TRANSPOSED if transposed else CONV)[rank]
    case(f"y = {name}(x, w{', b' if bias else ''}{arguments})",
         lambda x, w, b=None: function(x, w, b, **attributes), **inputs)


# One attribute at a time.
for kernel in range(1, 12):
    conv(1, 17, 3, 4, kernel)
    conv(2, (13, 12), 2, 3, (kernel, 12 - kernel), padding=(kernel // 2, 1))
    conv(1, 7, 3, 4, kernel, transposed=True)
for stride in range(1, 6):
    conv(1, 31, 2, 3, 3, stride=stride)
    conv(2, (17, 19), 2, 3, 3, stride=(stride, 6 - stride))
    conv(2, (5, 4), 3, 2, 3, stride=(stride, 6 - stride), transposed=True)
    conv(3, 7, 2, 3, 2, stride=stride)
    conv(3, 3, 2, 3, 3, stride=stride, transposed=True)
for padding in range(0, 5):
    conv(1, 9, 2, 3, 5, padding=padding, bias=True)
    conv(2, (9, 8), 2, 3, 5, padding=(padding, 4 - padding), bias=True)
    conv(2, (9, 8), 2, 3, 5, padding=padding // 2, stride=2, transposed=True, bias=True)
for dilation in range(1, 5):
    conv(1, 23, 2, 3, 3, dilation=dilation)
    conv(2, (15, 16), 2, 3, 3, dilation=(dilation, 5 - dilation), padding=2)
    conv(2, (5, 6), 2, 3, 3, dilation=(dilation, 5 - dilation), padding=1, stride=2, transposed=True)
for groups in (1, 3, 4, 6, 12, 24):
    conv(2, (6, 7), 24, 48 if groups < 24 else 24, 3, groups=groups, padding=1)
    conv(1, 11, 24, 24, 3, groups=groups, stride=2)
    conv(2, (4, 5), 24, 24, 3, groups=groups, stride=2, transposed=True)
for output_padding in (0, 1):
    for rank in (1, 2, 3):
        conv(rank, 4, 3, 2, 3, stride=2, padding=1, output_padding=output_padding, transposed=True, bias=True)
for padding in ("same", "valid"):
    case(f"y = conv2d(x, w, padding=\"{padding}\")", lambda x, w, p=padding: F.conv2d(x, w, padding=p), x="f64[1, 2, 9, 8]", w="f64[3, 2, 3, 5]")
    case(f"y = conv1d(x, w, padding=\"{padding}\", dilation=2)", lambda x, w, p=padding: F.conv1d(x, w, padding=p, dilation=2), x="f64[1, 2, 19]", w="f64[3, 2, 4]")
conv(2, (33, 29), 16, 24, 3, padding=1, dtype="f32", batch=1)
conv(2, (14, 14), 8, 8, (1, 1), dtype="f16")
conv(2, (14, 14), 8, 8, 3, dtype="bf16", transposed=True, stride=2)
conv(2, (1, 1), 3, 4, 1, batch=1)
conv(3, (3, 5, 7), 3, 4, (3, 1, 5), padding=(1, 0, 2), bias=True)
conv(3, (3, 5, 4), 3, 4, (2, 3, 1), stride=(1, 2, 3), padding=(0, 1, 0), output_padding=(0, 1, 2), transposed=True)

# Combinations.
rng = random.Random(7)
for _ in range(60):
    rank = rng.choice((1, 2, 2, 3))
    transposed = rng.random() < 0.5
    groups = rng.choice((1, 1, 2, 3))
    kernel = tuple(rng.randint(1, 4) for _ in range(rank))
    stride = tuple(rng.randint(1, 3) for _ in range(rank))
    dilation = tuple(rng.randint(1, 3) for _ in range(rank))
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    padding = tuple(rng.randint(0, min(2, (r - 1) // 2) if transposed else 3) for r in reach)
    size = tuple(rng.randint(2, 5) if transposed else r + rng.randint(0, 6) for r in reach)
    more = {"output_padding": tuple(rng.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation))} if transposed else {}
    conv(rank, size, groups * rng.randint(1, 3), groups * rng.randint(1, 3), kernel, bias=rng.random() < 0.3, transposed=transposed,
         stride=stride, padding=padding, dilation=dilation, groups=groups, **more)

MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
SIZES = {1: "23", 2: "13, 11", 3: "7, 9, 8"}
for rank in (1, 2, 3):
    x = f"f64[2, 3, {SIZES[rank]}]"
    for attributes in ({"kernel_size": 2}, {"kernel_size": 3, "stride": 1}, {"kernel_size": 3, "stride": 2, "padding": 1},
                       {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}, {"kernel_size": 2, "stride": 3, "ceil_mode": True}):
        arguments = ", ".join(f"{n}={str(v).lower()}" for n, v in attributes.items())
        case(f"y = max_pool{rank}d(x, {arguments})", lambda x, r=rank, a=attributes: MAX_POOL[r](x, **a), x=x)
        case(f"y = avg_pool{rank}d(x, {arguments})", lambda x, r=rank, a=attributes: AVG_POOL[r](x, **a), x=x)
    case(f"y = max_pool{rank}d(x, 3, dilation=2)", lambda x, r=rank: MAX_POOL[r](x, 3, dilation=2), x=x)
    case(f"y = max_pool{rank}d(x, 2, 2)", lambda x, r=rank: MAX_POOL[r](x, 2, 2), x=f"f64[1, 2, {SIZES[rank]}] special")
    case(f"y = avg_pool{rank}d(x, 3, 2, 1, count_include_pad=false)", lambda x, r=rank: AVG_POOL[r](x, 3, 2, 1, count_include_pad=False), x=x)
    case(f"y = avg_pool{rank}d(x, 3, 2, 1, true, false)", lambda x, r=rank: AVG_POOL[r](x, 3, 2, 1, True, False), x=x)
    for size in (1, 2, 5):
        case(f"y = adaptive_avg_pool{rank}d(x, {size})", lambda x, r=rank, s=size: getattr(F, f"adaptive_avg_pool{r}d")(x, s), x=x)
        case(f"y = adaptive_max_pool{rank}d(x, {size})", lambda x, r=rank, s=size: getattr(F, f"adaptive_max_pool{r}d")(x, s), x=x)
case("y = avg_pool2d(x, 3, divisor_override=5)", lambda x: F.avg_pool2d(x, 3, divisor_override=5), x="f64[1, 2, 7, 8]")
case("y = max_pool2d(x, [2, 3], [1, 2], [1, 0])", lambda x: F.max_pool2d(x, (2, 3), (1, 2), (1, 0)), x="f64[1, 2, 7, 8]")
case("y = avg_pool2d(x, [5, 1])", lambda x: F.avg_pool2d(x, (5, 1)), x="f64[1, 2, 7, 8]")
case("y = adaptive_avg_pool2d(x, [3, 7])", lambda x: F.adaptive_avg_pool2d(x, (3, 7)), x="f64[1, 2, 7, 8]")
case("y = max_pool2d(relu(x), 2) * 2", lambda x: F.max_pool2d(F.relu(x), 2) * 2, x="f32[2, 3, 32, 32]")
case("y = max_pool2d(x, 2)", lambda x: F.max_pool2d(x.double(), 2).long(), x="i64[2, 3, 8, 8]")
case("y = global_avg_pool(x)", lambda x: x.mean((2, 3), keepdim=True), x="f64[2, 3, 7, 8]")
case("y = global_max_pool(x)", lambda x: x.amax((2, 3, 4), keepdim=True), x="f64[2, 3, 3, 4, 5]")
case("y = relu(conv2d(x, w, padding=1) + reshape(b, 1, 5, 1, 1))", lambda x, w, b: F.relu(F.conv2d(x, w, b, padding=1)),
     x="f32[2, 3, 8, 9]", w="f32[5, 3, 3, 3]", b="f32[5]")

# Groups and window sizes that are symbols.
case("y = conv2d(x, w, groups=c, padding=1)", lambda x, w: F.conv2d(x, w, groups=6, padding=1), bind={"c": 6},
     x="f64[2, c, 7, 5]", w="f64[c, 1, 3, 3]")
case("y = conv2d(x, w, groups=c // 2)", lambda x, w: F.conv2d(x, w, groups=3), bind={"c": 6}, x="f64[2, c, 7, 5]", w="f64[9, 2, 3, 3]")
case("y = conv_transpose1d(x, w, groups=c, stride=2)", lambda x, w: F.conv_transpose1d(x, w, groups=4, stride=2), bind={"c": 4},
     x="f64[2, c, 7]", w="f64[c, 3, 3]")
case("y = max_pool2d(x, k, stride=k - 1)", lambda x: F.max_pool2d(x, 3, stride=2), bind={"k": 3}, x="f64[2, k, 9, 9]")
