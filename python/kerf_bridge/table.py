"""The operator table: for each PyTorch function how the task language says it."""

import torch

from .graph import NotCovered, call, dtype_word, literal

HANDLERS = {}   # name: function of the call's arguments (tensors as values) to a text, a list of texts, or a value
COMPOSED = set()  # names whose Python body is traced where the entry says "not covered"
PLACES = {"device", "layout", "requires_grad", "pin_memory", "memory_format", "non_blocking", "generator", "_stacklevel"}


class Described:
    """A text with what later passes want to know about it."""

    def __init__(self, text, without_bias=None, bias=None, cancels_bias=None, keeps_bias=None, flops=0):
        self.text, self.without_bias, self.bias = text, without_bias, bias
        self.cancels_bias, self.keeps_bias, self.flops = cancels_bias, keeps_bias, flops


def operator(*names):
    def add(function):
        for name in names:
            HANDLERS[name] = function
        return function
    return add


def number_text(number, dtype=None):
    """A number; of a 0-d tensor of a type that numbers do not have by themselves, with its type."""
    text = literal(number)
    if dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32):
        return f"full([], {text}, dtype={literal(dtype)})"
    return text


def cast_text(value, dtype):
    word = dtype_word(dtype)
    if word is None:
        return None
    return f'cast({value}, "{word}")'


def axis_in(value, axis):
    return axis + value.rank if axis < 0 else axis


def with_dtype(x, dtype):
    """The operand of a function that was given dtype=."""
    return x if dtype is None or dtype == x.dtype else cast_text(x, dtype)


def need(condition, reason):
    if not condition:
        raise NotCovered(reason)


# Functions that give the tensor itself or a copy of it.
SAME = {"clone", "contiguous", "detach", "data", "to", "float", "half", "bfloat16", "double", "long", "int", "bool", "cpu", "cuda",
        "type", "type_as", "detach_", "alias", "requires_grad_", "xpu", "short", "byte", "char", "positive", "__pos__",
        "resolve_conj", "resolve_neg", "pin_memory", "share_memory_"}
KINDS = {"float": torch.float32, "half": torch.float16, "bfloat16": torch.bfloat16, "double": torch.float64, "long": torch.int64,
         "int": torch.int32, "bool": torch.bool, "short": torch.int16, "byte": torch.uint8, "char": torch.int8}


def converted_dtype(name, args, kwargs):
    """The type that the result of a function of SAME has; None: that of the tensor."""
    if name in KINDS:
        return KINDS[name]
    if name in ("to", "type", "type_as"):
        for arg in list(args[1:]) + list(kwargs.values()):
            if isinstance(arg, torch.dtype):
                return arg
            if isinstance(arg, torch.Tensor):
                return arg.dtype
        if name == "type" and len(args) > 1 and isinstance(args[1], str):
            return getattr(torch, {"FloatTensor": "float32", "LongTensor": "int64", "HalfTensor": "float16",
                                   "DoubleTensor": "float64", "IntTensor": "int32", "BoolTensor": "bool"}[args[1].split(".")[-1]])
    return None


# Constants made in forward.

def _shape_call(name):
    def text(result, *args, **kwargs):
        del args, kwargs
        return call(name, list(result.shape), dtype=result.dtype)
    return text


def _full(result, *args, **kwargs):
    value = kwargs.get("fill_value", args[-1] if args else None)
    if isinstance(value, torch.Tensor):
        return None
    if isinstance(value, bool):
        value = int(value)
    return call("full", list(result.shape), value, dtype=result.dtype)


def _arange(result, *args, **kwargs):
    bounds = list(args) + [kwargs[name] for name in ("start", "end", "step") if name in kwargs]
    if "end" in kwargs and "start" not in kwargs and not args:
        bounds = [0, kwargs["end"]] + ([kwargs["step"]] if "step" in kwargs else [])
    if len(bounds) == 1:
        bounds = [0] + bounds
    return call("arange", *bounds, dtype=result.dtype)


def _linspace(result, start, end, steps=100, **kwargs):
    del kwargs
    return call("linspace", start, end, steps, dtype=result.dtype)


def _eye(result, *args, **kwargs):
    del args, kwargs
    return call("eye", *result.shape, dtype=result.dtype)


RANDOM = {"rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "normal", "bernoulli", "bernoulli_",
          "multinomial", "uniform_", "normal_", "random_", "exponential_", "poisson"}
FACTORIES = {"zeros": _shape_call("zeros"), "ones": _shape_call("ones"), "empty": _shape_call("zeros"), "full": _full,
             "zeros_like": _shape_call("zeros"), "ones_like": _shape_call("ones"), "empty_like": _shape_call("zeros"),
             "full_like": _full, "new_zeros": _shape_call("zeros"), "new_ones": _shape_call("ones"),
             "new_empty": _shape_call("zeros"), "new_full": _full, "arange": _arange, "linspace": _linspace, "eye": _eye,
             "tensor": None, "as_tensor": None, "from_numpy": None, "scalar_tensor": None, "new_tensor": None}
FACTORIES.update({name: None for name in RANDOM})
