"""Operators, elementwise functions, activations, casts, creation."""

import math

import torch
import torch.nn.functional as F

from case_table import case, each

# Unary functions on ordinary numbers, on the special ones, and on odd shapes.
UNARY = {
    "abs": torch.abs, "absolute": torch.abs, "neg": torch.neg, "negative": torch.neg, "sign": None, "sgn": None,
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
    "atan": torch.atan, "arctan": torch.atan,
    "tanh": torch.tanh, "erf": torch.erf, "sigmoid": torch.sigmoid, "floor": torch.floor, "ceil": torch.ceil,
    "round": torch.round, "trunc": torch.trunc, "fix": torch.trunc, "frac": torch.frac, "square": torch.square,
    "reciprocal": torch.reciprocal, "relu": F.relu, "relu6": F.relu6, "silu": F.silu, "swish": F.silu, "mish": F.mish,
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "softsign": F.softsign, "logsigmoid": F.logsigmoid,
    "log_sigmoid": F.logsigmoid, "tanhshrink": F.tanhshrink, "selu": F.selu, "gelu": F.gelu, "elu": F.elu,
    "celu": F.celu, "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh, "softplus": F.softplus,
    "softshrink": F.softshrink, "hardshrink": F.hardshrink, "isnan": torch.isnan, "isinf": torch.isinf,
    "isfinite": torch.isfinite, "clone": torch.clone, "contiguous": torch.clone, "detach": torch.clone,
}


def sign(x):
    return torch.where(torch.isnan(x), x, torch.sign(x))  # ours keeps NaN, torch gives 0


UNARY["sign"] = UNARY["sgn"] = sign
# torch has no value of its own to give there: 0 * inf in x * sigmoid(x), inf - inf, or a smooth tail cut to -0.
NO_SPECIALS = {"silu", "swish", "mish", "hardswish", "softsign", "tanhshrink", "frac", "gelu", "softshrink", "hardshrink",
               "hardsigmoid", "relu", "relu6", "hardtanh", "sin", "cos", "tan"}

for name, function in UNARY.items():
    case(f"y = {name}(x)", function, x="f64[37, 5]")
    if name not in NO_SPECIALS:
        case(f"y = {name}(x)", function, x="f64[97] special")
for name in ("relu", "relu6", "hardtanh", "hardsigmoid", "hardswish"):
    case(f"y = {name}(x)", UNARY[name], x="f64[11, 13] -8..8")
for name in ("floor", "ceil", "round", "trunc", "frac"):
    case(f"y = {name}(x)", UNARY[name], x="f64[41] halves")
for name, function in {"log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p,
                       "sqrt": torch.sqrt, "rsqrt": torch.rsqrt}.items():
    case(f"y = {name}(x)", function, x="f64[41, 3] 0.001..100")
    case(f"y = {name}(x)", function, x="f64[53] special")
for shape in ("", "0", "1", "3, 0, 5", "1, 1", "7, 11, 13", "2, 3, 5, 7", "1031"):
    case("y = exp(x) - 1.5", lambda x: torch.exp(x) - 1.5, x=f"f64[{shape}]")
for dtype in ("f32", "f16", "bf16"):
    case("y = tanh(x) * x", lambda x: torch.tanh(x) * x, x=f"{dtype}[19, 23]")
    case("y = x / 3", lambda x: x / 3, x=f"{dtype}[600] -30000..30000")
case("y = abs(x) + sign(x)", lambda x: x.abs() + x.sign(), x="i64[31]")
case("y = neg(x)", torch.neg, x="i32[31]")
case("y = exp(x)", lambda x: torch.exp(x.double()), x="i32[9]")
case("y = sqrt(b)", lambda b: torch.sqrt(b.double()), b="bool[9]")
case("y = erf(x)", torch.erf, x="f64[2000] -6.5..6.5")
case("y = expm1(x)", torch.expm1, x="f64[200] -1e-5..1e-5")
case("y = log1p(x)", torch.log1p, x="f64[200] -1e-5..1e-5")
case("y = exp(x)", torch.exp, x="f64[500] -744..709")

# Activations with parameters.
each([
    ("y = leaky_relu(x, 0.2)", lambda x: F.leaky_relu(x, 0.2)),
    ("y = leaky_relu(x, slope=-0.5)", lambda x: F.leaky_relu(x, -0.5)),
    ("y = elu(x, 0.7)", lambda x: F.elu(x, 0.7)),
    ("y = celu(x, alpha=2.5)", lambda x: F.celu(x, 2.5)),
    ("y = gelu(x, approximate=\"tanh\")", lambda x: F.gelu(x, approximate="tanh")),
    ("y = hardtanh(x, -0.25, 0.75)", lambda x: F.hardtanh(x, -0.25, 0.75)),
    ("y = softplus(x, beta=2.0, threshold=1.5)", lambda x: F.softplus(x, 2.0, 1.5)),
    ("y = softplus(x * 30)", lambda x: F.softplus(x * 30)),
    ("y = softshrink(x, 0.1)", lambda x: F.softshrink(x, 0.1)),
    ("y = hardshrink(x, lambda=0.9)", lambda x: F.hardshrink(x, 0.9)),
    ("y = threshold(x, 0.1, 20)", lambda x: F.threshold(x, 0.1, 20)),
    ("y = glu(x)", F.glu),
    ("y = glu(x, axis=1)", lambda x: F.glu(x, 1)),
    ("y = logsigmoid(x * 400)", lambda x: F.logsigmoid(x * 400)),
], x="f64[5, 6, 8]")
case("y = prelu(x, w)", F.prelu, x="f64[3, 4, 5]", w="f64[4]")
case("y = prelu(x, w)", F.prelu, x="f64[3, 4, 5]", w="f64[1]")

# Binary functions with every kind of broadcasting.
BINARY = {
    "add": torch.add, "sub": torch.sub, "subtract": torch.sub, "mul": torch.mul, "multiply": torch.mul,
    "div": torch.div, "divide": torch.div, "true_divide": torch.div, "minimum": torch.minimum, "maximum": torch.maximum,
    "max": torch.maximum, "min": torch.minimum, "remainder": torch.remainder, "floor_divide": torch.floor_divide,
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "logaddexp": torch.logaddexp,
}
SHAPES = [("7, 5", "7, 5"), ("7, 5", "5"), ("7, 1", "1, 5"), ("", "4, 3"), ("2, 1, 3", "5, 1"), ("0, 3", "3"), ("1", "1, 1, 1")]
for i, (name, function) in enumerate(BINARY.items()):
    case(f"y = {name}(x, y0)", function, x="f64[3, 17] halves", y0="f64[3, 17] halves"
         if name not in ("remainder", "floor_divide", "div", "divide", "true_divide") else "f64[3, 17] 0.5..3")
    left, right = SHAPES[i % len(SHAPES)]
    case(f"y = {name}(a, b)", function, a=f"f64[{left}]", b=f"f64[{right}]")
for name in ("minimum", "maximum", "lt", "ge", "eq", "add", "mul"):
    case(f"y = {name}(a, b)", BINARY[name], a="f64[211] special", b="f64[211] special")
for left, right in SHAPES:
    case("y = (a - b) * a", lambda a, b: (a - b) * a, a=f"f64[{left}]", b=f"f64[{right}]")

# Operators, on floats, integers and bools.
OPERATORS = {
    "a + b": lambda a, b: a + b, "a - b": lambda a, b: a - b, "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a.double() / b.double(), "a // b": lambda a, b: torch.floor_divide(a, b),
    "a % b": torch.remainder, "a < b": lambda a, b: a < b, "a <= b": lambda a, b: a <= b, "a > b": lambda a, b: a > b,
    "a >= b": lambda a, b: a >= b, "a == b": lambda a, b: a == b, "a != b": lambda a, b: a != b,
}
for text, function in OPERATORS.items():
    case(f"y = {text}", function, a="f64[13, 3]", b="f64[3]")
    case(f"y = {text}", function, a="i64[50]", b="i64[50] 1..9")
    case(f"y = {text}", function, a="i32[50] -99..99", b="i32[50] -9..-1")
case("y = -a ** 2", lambda a: -(a ** 2), a="f64[9]")
case("y = a ** b", torch.pow, a="f64[40] 0.1..5", b="f64[40]")
case("y = a ** b", torch.pow, a="f64[40]", b="f64[1] 3..3")
case("y = a ** b", torch.pow, a="i64[40]", b="i64[40] 0..6")
each([(f"y = x ** {e}", lambda x, e=e: torch.pow(x, e)) for e in (2, 3, 4, 5, 0.5, -0.5, -1, -2, 1.7, 0, 1)],
     x="f64[33] 0.2..4")
case("y = pow(x, 3)", lambda x: x ** 3, x="f64[33]")
case("y = power(x, e)", torch.pow, x="f64[33] 0.2..4", e="f64[33]")
case("y = 2 ** x", lambda x: 2 ** x, x="f64[33]")
case("y = a & b | ~a ^ b", lambda a, b: (a & b) | ((~a) ^ b), a="bool[40]", b="bool[40]")
case("y = not a", torch.logical_not, a="bool[40]")
case("y = logical_not(a)", torch.logical_not, a="i32[40] -1..1")
case("y = (a > 0 and b > 0) or a > 1", lambda a, b: ((a > 0) & (b > 0)) | (a > 1), a="f64[40]", b="f64[40]")
case("y = a + b", lambda a, b: a + b, a="i64[7]", b="bool[7]")
case("y = a * b", lambda a, b: a.double() * b, a="i32[7]", b="f64[7]")
case("y = a + b", lambda a, b: a + b, a="f16[7]", b="bf16[7]")
case("y = 1 - 2 * x / 3", lambda x: 1 - 2 * x / 3, x="f64[5]")
case("y = minimum(a, b)", torch.minimum, a="i64[20]", b="i64[20]")
case("y = maximum(a, b)", lambda a, b: torch.maximum(a, b.long()), a="i64[20]", b="bool[20]")

# Selection and small compositions.
case("y = where(m, a, b)", torch.where, m="bool[5, 1]", a="f64[5, 7]", b="f64[7]")
case("y = where(a > 0, a, 0.0)", lambda a: torch.where(a > 0, a, torch.zeros_like(a)), a="f64[5, 7]")
case("y = where(m, a, b)", torch.where, m="bool[9]", a="i64[9]", b="i64[9]")
case("y = masked_fill(x, m, -inf)", lambda x, m: x.masked_fill(m, float("-inf")), x="f64[4, 6]", m="bool[6]")
case("y = masked_fill(x, m, 7)", lambda x, m: x.masked_fill(m, 7), x="i64[4, 6]", m="bool[4, 6]")
each([
    ("y = clamp(x, -0.5, 0.25)", lambda x: x.clamp(-0.5, 0.25)), ("y = clamp(x, min=0.1)", lambda x: x.clamp(min=0.1)),
    ("y = clamp(x, max=0.1)", lambda x: x.clamp(max=0.1)), ("y = clip(x, -1, 1)", lambda x: x.clamp(-1, 1)),
], x="f64[60] special")
case("y = clamp(x, -2, 3)", lambda x: x.clamp(-2, 3), x="i64[30]")
case("y = clamp(x, lo, hi)", torch.clamp, x="f64[30, 3]", lo="f64[3] -1..0", hi="f64[3] 0..1")
case("y = lerp(a, b, 0.3)", lambda a, b: torch.lerp(a, b, 0.3), a="f64[9]", b="f64[9]")
case("y = lerp(a, b, t)", torch.lerp, a="f64[9]", b="f64[9]", t="f64[9]")
case("y = fma(a, b, c)", lambda a, b, c: a * b + c, a="f64[9, 1]", b="f64[4]", c="f64[9, 4]")
case("y = addcmul(a, b, c)", torch.addcmul, a="f64[9]", b="f64[9]", c="f64[9]")
case("y = addcmul(a, b, c, value=0.5)", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), a="f64[9]", b="f64[9]", c="f64[9]")

# Casts: values that every float type holds, since the reference keeps doubles.
for name, dtype in {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
                    "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}.items():
    case(f"y = {name}(x)", lambda x, d=dtype: x.to(d), x="f64[40] halves")
    case(f"y = cast(x, \"{name}\")", lambda x, d=dtype: x.to(d), x="i64[40]")
    case(f"y = {name}(b)", lambda b, d=dtype: b.to(d), b="bool[40]")

# Creation.
f32 = torch.float32
each([
    ("y = x + zeros(3, 4)", lambda x: x + torch.zeros(3, 4)), ("y = x * ones(4)", lambda x: x * torch.ones(4)),
    ("y = x + full([3, 1], 2.5)", lambda x: x + torch.full((3, 1), 2.5)),
    ("y = zeros_like(x)", torch.zeros_like), ("y = ones_like(x)", torch.ones_like),
    ("y = full_like(x, -1.5)", lambda x: torch.full_like(x, -1.5)),
    ("y = zeros(3, 4, dtype=\"i64\")", lambda x: torch.zeros(3, 4, dtype=torch.int64)),
    ("y = full([2, 2], 7)", lambda x: torch.full((2, 2), 7)),
    ("y = x + eye(3, 4)", lambda x: x + torch.eye(3, 4)), ("y = eye(5)", lambda x: torch.eye(5)),
    ("y = arange(7)", lambda x: torch.arange(7)), ("y = arange(2, 11, 3)", lambda x: torch.arange(2, 11, 3)),
    ("y = arange(9, 0, -2)", lambda x: torch.arange(9, 0, -2)), ("y = x + arange(4)", lambda x: x + torch.arange(4)),
    ("y = arange(5, dtype=\"f32\") / 2", lambda x: torch.arange(5, dtype=f32) / 2),
    ("y = linspace(-1, 2, 7)", lambda x: torch.linspace(-1, 2, 7, dtype=torch.float64)),
    ("y = tril(x)", torch.tril), ("y = triu(x)", torch.triu), ("y = tril(x, -1)", lambda x: torch.tril(x, -1)),
    ("y = triu(x, diagonal=2)", lambda x: torch.triu(x, 2)), ("y = trace(x @ x.T)", lambda x: torch.trace(x @ x.T)),
    ("y = diag(x)", torch.diag), ("y = diag(x, 1)", lambda x: torch.diag(x, 1)), ("y = diag(x, -2)", lambda x: torch.diag(x, -2)),
], x="f64[3, 4]")
case("y = diag(v)", torch.diag, v="f64[5]")
case("y = diag(v, -1)", lambda v: torch.diag(v, -1), v="f64[3]")
case("y = tril(x, 1)", lambda x: torch.tril(x, 1), x="f64[2, 5, 3]")
case("y = one_hot(c, 6)", lambda c: F.one_hot(c, 6), c="i64[4, 3] 0..5")
case("y = x * pi + inf * 0", lambda x: x * math.pi + float("nan"), x="f64[3]")

# Shape symbols.
case("y = x * rows + cols", lambda x: x * 6 + 7, bind={"rows": 6, "cols": 7}, x="f64[rows, cols]")
case("y = x[:, :cols // 2] - x[:, cols - cols // 2:]", lambda x: x[:, :3] - x[:, 4:], bind={"rows": 6, "cols": 7}, x="f64[rows, cols]")
