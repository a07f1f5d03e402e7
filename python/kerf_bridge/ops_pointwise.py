"""Elementwise operators and activations."""

import torch

from .errors import BridgeError
from .graph import Value, call, literal
from .table import COMPOSED, HANDLERS, Described, need, operator

# The same name and one operand.
for _name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos", "tan",
              "atan", "tanh", "erf", "floor", "ceil", "trunc", "frac", "abs", "neg", "sign", "sgn", "sigmoid", "isnan", "isinf",
              "isfinite", "logical_not", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid", "softsign", "logsigmoid",
              "tanhshrink"):
    HANDLERS[_name] = (lambda name: lambda x=None, inplace=False, input=None: call(name, x if input is None else input))(_name)
HANDLERS["fix"] = HANDLERS["trunc"]
HANDLERS["arctan"] = HANDLERS["atan"]


@operator("relu")
def relu(input, inplace=False):
    return call("relu", input)


@operator("round")
def round_(x, decimals=0):
    need(decimals == 0, "round with decimals")
    return call("round", x)


def shift_or_scale(text, x, other):
    """A text in which a tensor meets a number: what cancels in a norm still does."""
    if isinstance(x, Value) and not isinstance(other, Value):
        return Described(text, keeps_bias=x)
    if isinstance(other, Value) and not isinstance(x, Value):
        return Described(text, keeps_bias=other)
    return text


def operand(x):
    """A number in an expression; negative ones in brackets."""
    text = literal(x)
    return f"({text})" if text.startswith("-") else text


@operator("add")
def add(input, other, *, alpha=1):
    y = operand(other) if alpha == 1 else f"{operand(alpha)} * {operand(other)}"
    return shift_or_scale(f"{operand(input)} + {y}", input, other)


@operator("sub")
def sub(input, other, *, alpha=1):
    y = operand(other) if alpha == 1 else f"{operand(alpha)} * {operand(other)}"
    return shift_or_scale(f"{operand(input)} - {y}", input, other)


@operator("rsub")
def rsub(input, other, *, alpha=1):
    return sub(other, input, alpha=alpha)


@operator("mul")
def mul(input, other):
    return shift_or_scale(f"{operand(input)} * {operand(other)}", input, other)


@operator("div")
def div(input, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return f"{operand(input)} // {operand(other)}"
    if rounding_mode == "trunc":
        return f"trunc({operand(input)} / {operand(other)})"
    text = f"{operand(input)} / {operand(other)}"
    return Described(text, keeps_bias=input) if isinstance(input, Value) and not isinstance(other, Value) else text


@operator("rdiv")
def rdiv(input, other):
    return f"{operand(other)} / {operand(input)}"


@operator("floor_divide")
def floor_divide(input, other):
    return f"{operand(input)} // {operand(other)}"


@operator("rfloor_divide")
def rfloor_divide(input, other):
    return f"{operand(other)} // {operand(input)}"


@operator("remainder")
def remainder(input, other):
    return f"{operand(input)} % {operand(other)}"


@operator("pow")
def pow_(input, exponent):
    return f"{operand(input)} ** {operand(exponent)}"


@operator("rpow")
def rpow(input, other):
    return f"{operand(other)} ** {operand(input)}"


for _name, _sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    HANDLERS[_name] = (lambda sign: lambda input, other: f"{operand(input)} {sign} {operand(other)}")(_sign)
for _name in ("logical_and", "logical_or", "logical_xor", "minimum", "maximum", "logaddexp"):
    HANDLERS[_name] = (lambda name: lambda input, other: call(name, input, other))(_name)


@operator("clamp")
def clamp(input, min=None, max=None):
    return call("clamp", input, min=min, max=max)


@operator("clamp_min")
def clamp_min(input, min):
    return call("clamp", input, min=min)


@operator("clamp_max")
def clamp_max(input, max):
    return call("clamp", input, max=max)


@operator("where")
def where(condition, input=None, other=None):
    need(input is not None, "where without values gives indices, whose number depends on the data")
    return call("where", condition, input, other)


@operator("masked_fill")
def masked_fill(input, mask, value):
    return call("masked_fill", input, mask, value)


@operator("lerp")
def lerp(input, end, weight):
    return call("lerp", input, end, weight)


@operator("addcmul")
def addcmul(input, tensor1, tensor2, *, value=1):
    return call("addcmul", input, tensor1, tensor2, value=value)


@operator("addcdiv")
def addcdiv(input, tensor1, tensor2, *, value=1):
    return f"{input} + {operand(value)} * {tensor1} / {tensor2}"


@operator("leaky_relu")
def leaky_relu(input, negative_slope=0.01, inplace=False):
    return call("leaky_relu", input, slope=negative_slope)


@operator("prelu")
def prelu(input, weight):
    return call("prelu", input, weight)


@operator("elu")
def elu(input, alpha=1.0, inplace=False):
    return call("elu", input, alpha=alpha)


@operator("celu")
def celu(input, alpha=1.0, inplace=False):
    return call("celu", input, alpha=alpha)


@operator("gelu")
def gelu(input, approximate="none"):
    return call("gelu", input, approximate=approximate)


@operator("hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    return call("hardtanh", input, min=min_val, max=max_val)


@operator("softplus")
def softplus(input, beta=1, threshold=20):
    return call("softplus", input, beta=beta, threshold=threshold)


@operator("softshrink")
def softshrink(input, lambd=0.5):
    return f"softshrink({input}, {literal(lambd)})"


@operator("hardshrink")
def hardshrink(input, lambd=0.5):
    return f"hardshrink({input}, {literal(lambd)})"


@operator("threshold")
def threshold(input, threshold, value, inplace=False):
    return call("threshold", input, threshold, value)


@operator("glu")
def glu(input, dim=-1):
    return call("glu", input, axis=dim)


@operator("nan_to_num")
def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    need(posinf is not None and neginf is not None, "nan_to_num without the values for infinities")
    return (f"where(isnan({input}), {literal(nan or 0.0)}, where({input} == inf, {literal(posinf)}, "
            f"where({input} == -inf, {literal(neginf)}, {input})))")


@operator("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "feature_dropout",
          "native_dropout")
def dropout(input, p=0.5, training=True, inplace=False, train=None):
    if train is not None:
        training = train
    if p == 0 or not training:
        return input
    raise BridgeError("random", f"dropout with p={p} is active: it draws random numbers, and a task computes the same in every "
                      "call; call .eval() on the model in the file, or use p=0")


def bitwise(name):
    def text(*operands):
        need(all(isinstance(x, bool) or (isinstance(x, Value) and x.dtype == torch.bool) for x in operands), "bits of integers")
        return call("logical_" + name, *operands)
    return text


for _name in ("and", "or", "xor", "not"):
    operator("bitwise_" + _name)(bitwise(_name))


COMPOSED.update({"glu"})
