"""Reductions, softmax, scans and norms."""

import torch

from .graph import Value, call, literal
from .table import Described, axis_in, need, operator, with_dtype


def axes(dim):
    return None if dim is None or dim == () or dim == [] else dim


def reduction(name, x, dim, keepdim, dtype=None):
    x = with_dtype(x, dtype)
    return call(name, x if isinstance(x, Value) else Text(x), axis=axes(dim), keepdims=True if keepdim else None)


class Text(Value):
    """An expression in the place of a value."""

    def __init__(self, text):  # noqa: super-init is for values of a graph
        self.inner = text

    def __str__(self):
        return self.inner

    __repr__ = __str__


@operator("sum")
def sum_(input, dim=None, keepdim=False, *, dtype=None):
    return reduction("sum", input, dim, keepdim, dtype)


@operator("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    return reduction("mean", input, dim, keepdim, dtype)


@operator("prod")
def prod(input, dim=None, keepdim=False, *, dtype=None):
    return reduction("prod", input, dim, keepdim, dtype)


def extreme(name, input, dim, keepdim, other):
    if isinstance(dim, Value) or other is not None:
        return call(name + "imum", input, other if other is not None else dim)
    if dim is None:
        return call("a" + name, input)
    keep = True if keepdim else None
    return [call("a" + name, input, axis=dim, keepdims=keep), call("arg" + name, input, axis=dim, keepdims=keep)]


@operator("max")
def max_(input, dim=None, keepdim=False, *, other=None):
    return extreme("max", input, dim, keepdim, other)


@operator("min")
def min_(input, dim=None, keepdim=False, *, other=None):
    return extreme("min", input, dim, keepdim, other)


@operator("amax")
def amax(input, dim=None, keepdim=False):
    return reduction("amax", input, dim, keepdim)


@operator("amin")
def amin(input, dim=None, keepdim=False):
    return reduction("amin", input, dim, keepdim)


@operator("argmax")
def argmax(input, dim=None, keepdim=False):
    return reduction("argmax", input, dim, keepdim)


@operator("argmin")
def argmin(input, dim=None, keepdim=False):
    return reduction("argmin", input, dim, keepdim)


@operator("any")
def any_(input, dim=None, keepdim=False):
    return reduction("any", input, dim, keepdim)


@operator("all")
def all_(input, dim=None, keepdim=False):
    return reduction("all", input, dim, keepdim)


@operator("count_nonzero")
def count_nonzero(input, dim=None):
    return reduction("count_nonzero", input, dim, False)


def spread(name, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    divisor = correction if correction is not None else (1 if unbiased in (None, True) else 0)
    return call(name, input, axis=axes(dim), correction=divisor, keepdims=True if keepdim else None)


@operator("var")
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return spread("var", input, dim, unbiased, keepdim, correction)


@operator("std")
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return spread("std", input, dim, unbiased, keepdim, correction)


@operator("var_mean")
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return [var(input, dim, unbiased, keepdim, correction=correction), reduction("mean", input, dim, keepdim)]


@operator("linalg_norm")
def linalg_norm(input, ord=None, dim=None, keepdim=False, *, dtype=None):
    axis_count = input.rank if dim is None else 1 if isinstance(dim, int) else len(dim)
    need(axis_count == 1 or ord in (None, "fro"), "a norm of matrices")
    return norm(input, 2 if ord is None else ord, dim, keepdim)


@operator("norm", "linalg_vector_norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None, ord=None, out=None):
    p = ord if ord is not None else p
    need(p != "nuc", "the nuclear norm")
    return call("norm", input, p=2 if p in (None, "fro") else p, axis=axes(dim), keepdims=True if keepdim else None)


@operator("logsumexp")
def logsumexp(input, dim, keepdim=False):
    return reduction("logsumexp", input, dim, keepdim)


def default_softmax_axis(rank):
    return 0 if rank in (0, 1, 3) else 1


def softmax_like(name, input, dim, dtype):
    dim = default_softmax_axis(input.rank) if dim is None else dim
    x = with_dtype(input, dtype)
    return f"{name}({x}, axis={dim})"


@operator("softmax", "_softmax")
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return softmax_like("softmax", input, dim, dtype)


@operator("log_softmax", "_log_softmax")
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return softmax_like("log_softmax", input, dim, dtype)


@operator("softmin")
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return softmax_like("softmin", input, dim, dtype)


@operator("cumsum")
def cumsum(input, dim, *, dtype=None):
    return f"cumsum({with_dtype(input, dtype)}, axis={dim})"


@operator("cumprod")
def cumprod(input, dim, *, dtype=None):
    return f"cumprod({with_dtype(input, dtype)}, axis={dim})"


@operator("normalize")
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    return call("normalize", input, p=p, axis=dim, eps=eps)


@operator("layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    return call("layer_norm", input, shape, weight=weight, bias=bias, eps=eps)


@operator("rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    return call("rms_norm", input, list(normalized_shape), weight=weight, eps=eps)


@operator("group_norm")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    text = call("group_norm", input, num_groups, weight=weight, bias=bias, eps=eps)
    return Described(text, cancels_bias=input) if num_groups == input.shape[1] else text


@operator("instance_norm")
def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    need(use_input_stats, "instance_norm with running statistics")
    return Described(call("instance_norm", input, weight=weight, bias=bias, eps=eps), cancels_bias=input)


@operator("batch_norm")
def batch_norm(input, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5,
               cudnn_enabled=True):
    if training or running_mean is None:
        text = call("batch_norm", input, weight=weight, bias=bias, training=True, eps=eps)
        return Described(text, cancels_bias=input)
    return call("batch_norm", input, running_mean, running_var, weight=weight, bias=bias, training=False, eps=eps)


@operator("cosine_similarity")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    return call("cosine_similarity", x1, x2, axis=dim, eps=eps)


@operator("topk")
def topk(input, k, dim=-1, largest=True, sorted=True):
    parts = call("topk", input, k, axis=dim, largest=largest)
    return [parts + "[0]", parts + "[1]"]


@operator("cummax")
def cummax(input, dim):
    return [f"cummax({input}, axis={axis_in(input, dim)})", None]


@operator("cummin")
def cummin(input, dim):
    return [f"cummin({input}, axis={axis_in(input, dim)})", None]


@operator("trace")
def trace(input):
    return f"trace({literal(input)})"
