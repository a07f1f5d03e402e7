"""The traced computation: values with the expression that gives each, in the order of execution."""

import re

import torch

MARK = re.compile("\x01(\\d+)\x02")

DTYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64",
          torch.int32: "i32", torch.int64: "i64", torch.bool: "bool"}
# Held by tasks as the next wider kind; values are the same.
WIDENED = {torch.int8: "i32", torch.int16: "i32", torch.uint8: "i32"}


def dtype_word(dtype):
    """The task language's name, or None."""
    return DTYPES.get(dtype) or WIDENED.get(dtype)


class Value:
    """One tensor of the computation. In a text it stands as a mark with its number."""

    def __init__(self, index, shape, dtype):
        self.index = index
        self.shape = tuple(shape)
        self.dtype = dtype
        self.text = None       # expression with marks; None for inputs and for values nobody can express
        self.without_bias = None   # the same expression without its bias, and the bias
        self.bias = None
        self.keeps_bias = None     # a scaling or shift whose operand is this value: what a norm cancels goes through it
        self.cancels_bias = None   # a norm over the batch or positions, whose operand is this value
        self.origin = None     # inputs: an Origin
        self.operator = ""     # as PyTorch calls it
        self.module = ""       # path of the module it was computed in
        self.line = 0          # of the user's file
        self.flops = 0         # multiplications and additions of products and windows

    def __str__(self):
        return f"\x01{self.index}\x02"

    __repr__ = __str__
    __format__ = lambda self, spec: str(self)  # noqa: E731

    @property
    def rank(self):
        return len(self.shape)

    @property
    def elements(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def is_float(self):
        return self.dtype.is_floating_point

    @property
    def opaque(self):
        """Computed by an operator that the task language does not have."""
        return self.text is None and self.origin is None


class Origin:
    """Where an input comes from, and what is known about its values."""

    def __init__(self, kind, name, sample=None, exact=None):
        self.kind = kind        # "input", "parameter", "buffer", "constant", "drawn" (random numbers) or "between" (computed by PyTorch)
        self.name = name        # as the user calls it: "x", "conv1.weight"
        self.sample = sample    # a real tensor with some of its values, or None
        self.exact = exact      # a distribution that is known exactly, or None
        self.drawn = None       # of random numbers: {"function": "randn", "here": drawn on the device of the arguments}


class Graph:
    def __init__(self):
        self.values = []
        self.opaque_sources = {}  # index of an opaque value: the values it was computed from

    def new(self, shape, dtype):
        value = Value(len(self.values), shape, dtype)
        self.values.append(value)
        return value

    def sources(self, value):
        """Numbers of the values that this one is computed from."""
        if value.opaque:
            return [source.index for source in self.opaque_sources.get(value.index, ())]
        return [int(number) for number in MARK.findall(value.text or "")]

    def needed(self, outputs):
        """Numbers of all values that the outputs rest on, the outputs included."""
        wanted, todo = set(), [value.index for value in outputs]
        while todo:
            index = todo.pop()
            if index in wanted:
                continue
            wanted.add(index)
            todo.extend(self.sources(self.values[index]))
        return wanted


def literal(thing):
    """A Python value as the task language writes it."""
    if thing is None:
        return "none"
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, int):
        return str(int(thing))
    if isinstance(thing, float):
        if thing != thing:
            return "nan"
        if thing in (float("inf"), float("-inf")):
            return "inf" if thing > 0 else "-inf"
        return repr(float(thing))
    if isinstance(thing, (list, tuple)):
        return "[" + ", ".join(literal(item) for item in thing) + "]"
    if isinstance(thing, str):
        return '"' + thing + '"'
    if isinstance(thing, Value):
        return str(thing)
    if isinstance(thing, torch.dtype):
        word = dtype_word(thing)
        if word is None:
            raise NotCovered(f"values of the type {thing}")
        return '"' + word + '"'
    raise NotCovered(f"an argument of the type {type(thing).__name__}")


def call(function, *args, **kwargs):
    """The text of a call; arguments that are None by name are left out."""
    parts = [literal(arg) for arg in args]
    parts += [f"{name}={literal(arg)}" for name, arg in kwargs.items() if arg is not None]
    return f"{function}({', '.join(parts)})"


class NotCovered(Exception):
    """The task language cannot say this use of an operator; the operator stays with PyTorch."""
