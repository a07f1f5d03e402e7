"""Products, attention, convolutions, pooling and recurrent layers."""

import math

from .graph import call, literal
from .table import COMPOSED, Described, need, operator
from .errors import BridgeError


def product_flops(x, y, out_last):
    return 2 * x.elements * out_last


@operator("matmul")
def matmul(input, other):
    return Described(f"{input} @ {other}", flops=product_flops(input, other, other.shape[-1] if other.rank > 1 else 1))


@operator("mm", "bmm")
def mm(input, mat2):
    return matmul(input, mat2)


@operator("rmatmul")
def rmatmul(input, other):
    return matmul(other, input)


@operator("mv")
def mv(input, vec):
    return Described(f"{input} @ {vec}", flops=2 * input.elements)


@operator("dot", "inner", "vdot")
def dot(input, other):
    need(input.rank == 1 and other.rank == 1, "inner of more than vectors")
    return Described(f"dot({input}, {other})", flops=2 * input.elements)


@operator("outer", "ger")
def outer(input, vec2):
    return call("outer", input, vec2)


@operator("linear")
def linear(input, weight, bias=None):
    plain = f"linear({input}, {weight})"
    flops = product_flops(input, weight, weight.shape[0])
    if bias is None:
        return Described(plain, flops=flops)
    # The bias belongs to the last axis; a norm per channel (axis 1) cancels it where that is the last one.
    cancels = (plain, bias) if input.rank == 2 else (None, None)
    return Described(f"linear({input}, {weight}, {bias})", cancels[0], cancels[1], flops=flops)


@operator("bilinear")
def bilinear(input1, input2, weight, bias=None):
    return call("bilinear", input1, input2, weight, bias=bias)


@operator("addmm", "baddbmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return Described(call("addmm", input, mat1, mat2, beta=beta, alpha=alpha), flops=product_flops(mat1, mat2, mat2.shape[-1]))


@operator("einsum")
def einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    need(isinstance(equation, str), "einsum with lists of axes")
    equation = equation.replace(" ", "")
    letters = {}
    for part, value in zip(equation.split("->")[0].split(","), operands):
        if "." not in part:
            letters.update(zip(part, value.shape))
    flops = 2 * math.prod(letters.values()) if len(operands) > 1 else 0
    return Described(f'einsum({literal(equation)}, {", ".join(map(str, operands))})', flops=flops)


@operator("tensordot")
def tensordot(a, b, dims=2, out=None):
    need(isinstance(dims, int), "tensordot with lists of axes")
    letters = [chr(97 + i) for i in range(a.rank + b.rank - dims)]
    left, right = letters[:a.rank], letters[a.rank - dims:]
    result = letters[:a.rank - dims] + letters[a.rank:]
    return einsum("".join(left) + "," + "".join(right) + "->" + "".join(result), a, b)


@operator("scaled_dot_product_attention")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p != 0:
        raise BridgeError("random", f"attention with dropout_p={dropout_p} draws random numbers; use 0")
    need(not enable_gqa, "attention with enable_gqa")
    text = call("attention", query, key, value, mask=attn_mask, causal=True if is_causal else None, scale=scale)
    return Described(text, flops=2 * query.elements * key.shape[-2] * 2)


# Convolutions

def tuple_of(thing, count):
    return [thing] * count if isinstance(thing, int) else list(thing)


def short(numbers, default):
    """One number where all are the same; None where it is the default."""
    if isinstance(numbers, str):
        return numbers
    if isinstance(numbers, (list, tuple)) and len(set(numbers)) == 1:
        numbers = numbers[0]
    return None if numbers == default else numbers if isinstance(numbers, int) else list(numbers)


def convolution(axes):
    def text(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        need(input.rank == axes + 2, "a convolution without a batch axis")
        plain = dict(stride=short(stride, 1), padding=short(padding, 0), dilation=short(dilation, 1),
                     groups=None if groups == 1 else groups)
        name = f"conv{axes}d"
        pads = padding if not isinstance(padding, str) else 0
        positions = 1
        for size, kernel, step, pad, apart in zip(input.shape[2:], weight.shape[2:], tuple_of(stride, axes), tuple_of(pads, axes),
                                                  tuple_of(dilation, axes)):
            positions *= (size + 2 * pad - apart * (kernel - 1) - 1) // step + 1 if padding != "same" else size
        flops = 2 * input.shape[0] * positions * weight.elements
        return Described(call(name, input, weight, bias=bias, **plain), call(name, input, weight, **plain), bias, flops=flops)
    return text


def transposed(axes):
    def text(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        need(input.rank == axes + 2, "a convolution without a batch axis")
        plain = dict(stride=short(stride, 1), padding=short(padding, 0), output_padding=short(output_padding, 0),
                     groups=None if groups == 1 else groups, dilation=short(dilation, 1))
        name = f"conv_transpose{axes}d"
        flops = 2 * (input.elements // input.shape[1]) * weight.elements
        return Described(call(name, input, weight, bias=bias, **plain), call(name, input, weight, **plain), bias, flops=flops)
    return text


for _axes in (1, 2, 3):
    operator(f"conv{_axes}d")(convolution(_axes))
    operator(f"conv_transpose{_axes}d")(transposed(_axes))


# Pooling

def max_pool(axes):
    def text(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        need(not return_indices, "max_pool with indices")
        need(input.rank == axes + 2, "pooling without a batch axis")
        return call(f"max_pool{axes}d", input, short(kernel_size, None), stride=short(stride or None, None),
                    padding=short(padding, 0), dilation=short(dilation, 1), ceil_mode=True if ceil_mode else None)
    return text


def avg_pool(axes):
    def text(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        need(input.rank == axes + 2, "pooling without a batch axis")
        return call(f"avg_pool{axes}d", input, short(kernel_size, None), stride=short(stride or None, None),
                    padding=short(padding, 0), ceil_mode=True if ceil_mode else None,
                    count_include_pad=None if count_include_pad else False, divisor_override=divisor_override)
    return text


def adaptive(kind, axes):
    def text(input, output_size, return_indices=False):
        need(not return_indices, "adaptive pooling with indices")
        need(input.rank == axes + 2, "pooling without a batch axis")
        sizes = tuple_of(output_size, axes)
        sizes = [input.shape[2 + i] if size is None else size for i, size in enumerate(sizes)]
        return call(f"adaptive_{kind}_pool{axes}d", input, short(sizes, None))
    return text


for _axes in (1, 2, 3):
    operator(f"max_pool{_axes}d")(max_pool(_axes))
    operator(f"avg_pool{_axes}d")(avg_pool(_axes))
    operator(f"adaptive_avg_pool{_axes}d")(adaptive("avg", _axes))
    operator(f"adaptive_max_pool{_axes}d")(adaptive("max", _axes))
COMPOSED.update({"bilinear"})
