"""Runs a module once on tensors without data and writes down every PyTorch function it calls.

The calls are seen by a TorchFunctionMode, at the level the user writes them (conv2d, softmax, max with its tuple), with
the same code for every PyTorch since 1.13. Loops and conditions of Python run as they are, so that they are unrolled.
Changes in place give the tensor a new value; PyTorch's version counters, which views share with what they are views of,
say when another name of the same memory was changed.
"""

import contextlib
import os
import re
import sys

import torch
from torch.overrides import TorchFunctionMode

from . import operators
from .errors import BridgeError
from .graph import Graph, NotCovered, Origin, Value, dtype_word

RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
SLOT = re.compile("\x01(-\\d+)\x02")  # a value between the statements of an unrolled layer

# Questions about a tensor that its shape and type answer.
ABOUT = {"size", "dim", "ndimension", "numel", "nelement", "stride", "is_contiguous", "element_size", "__len__", "shape",
         "dtype", "device", "ndim", "layout", "is_floating_point", "is_complex", "is_signed", "is_cuda", "is_meta", "is_sparse",
         "is_quantized", "is_mkldnn", "is_mps", "is_leaf", "is_nested", "requires_grad", "requires_grad_", "grad", "grad_fn",
         "names", "is_tensor", "is_inference", "get_device", "storage_offset", "_version", "is_same_size", "_is_view",
         "data_ptr", "__hash__", "type_as_dtype", "is_conj", "is_neg", "result_type", "can_cast", "promote_types", "output_nr",
         "retain_grad", "register_hook", "itemsize", "nbytes", "__repr__", "broadcast_shapes", "set_grad_enabled", "is_grad_enabled"}
# Questions about its values.
VALUES = {"item", "tolist", "__bool__", "__float__", "__int__", "__index__", "numpy", "__array__", "__contains__", "nonzero",
          "is_nonzero", "equal", "allclose", "__complex__", "masked_select", "unique"}
# Dunder spellings of operators that have a name.
NAMES = {"__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul", "__rmul__": "mul",
         "__truediv__": "div", "__rtruediv__": "rdiv", "__div__": "div", "__rdiv__": "rdiv", "__matmul__": "matmul",
         "__rmatmul__": "rmatmul", "__pow__": "pow", "__rpow__": "rpow", "__neg__": "neg", "__floordiv__": "floor_divide",
         "__mod__": "remainder", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
         "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not",
         "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__idiv__": "div_",
         "__ipow__": "pow_", "__abs__": "abs", "__rfloordiv__": "rfloor_divide", "__iand__": "bitwise_and_",
         "__ior__": "bitwise_or_", "__rand__": "bitwise_and", "__ror__": "bitwise_or",
         "concat": "cat", "concatenate": "cat", "absolute": "abs", "multiply": "mul", "subtract": "sub", "divide": "div",
         "true_divide": "div", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
         "clip": "clamp", "special_expit": "sigmoid", "special_erf": "erf", "negative": "neg", "moveaxis": "movedim",
         "swapaxes": "transpose", "swapdims": "transpose", "unsafe_chunk": "chunk", "unsafe_split": "split"}


def function_name(func):
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__"):  # of a property of tensors
        name = getattr(func.__self__, "__name__", name) if name == "__get__" else "__set__"
    return NAMES.get(name, name)


def tensors_in(thing):
    """All tensors of nested tuples, lists and dicts, in order."""
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            yield from tensors_in(item)
    elif isinstance(thing, dict):
        for item in thing.values():
            yield from tensors_in(item)


def replaced(thing, change):
    """The same nesting with every tensor changed."""
    if isinstance(thing, torch.Tensor):
        return change(thing)
    if isinstance(thing, torch.Size):
        return thing
    if isinstance(thing, (list, tuple)):
        items = [replaced(item, change) for item in thing]
        if isinstance(thing, list):
            return items
        return type(thing)(*items) if hasattr(thing, "_fields") else tuple(items)
    if isinstance(thing, slice):
        return slice(*(replaced(part, change) for part in (thing.start, thing.stop, thing.step)))
    if isinstance(thing, dict):
        return {key: replaced(item, change) for key, item in thing.items()}
    return thing


@contextlib.contextmanager
def seen_indexing():
    """PyTorch 1.13 does not show x[0] and x[1:] to modes; with this it does."""
    def shown(plain):
        def function(self, *args):
            if torch.overrides.has_torch_function((self,)):
                return torch.overrides.handle_torch_function(plain, (self,), self, *args)
            return plain(self, *args)
        return function

    kept = torch.Tensor.__getitem__, torch.Tensor.__setitem__
    torch.Tensor.__getitem__, torch.Tensor.__setitem__ = map(shown, kept)
    try:
        yield
    finally:
        torch.Tensor.__getitem__, torch.Tensor.__setitem__ = kept


class Tracer(TorchFunctionMode):
    def __init__(self, file):
        super().__init__()
        self.file = os.path.abspath(file)
        self.graph = Graph()
        self.large = ()        # LargeTensors that know tensors without data which are no parameters
        self.modules = []      # paths of the modules being run, outermost first
        self.notes = []
        self._bound = {}       # id of a tensor without data: (tensor, value, its version then)
        self._twins = {}       # id of a real tensor: (tensor, its twin without data)
        self._real = {}        # id of a twin: the real tensor

    # Tensors and values

    def add_input(self, kind, name, shape, dtype, sample=None, exact=None, real=None):
        """A tensor without data that stands for an input of the task."""
        twin = torch.empty(tuple(shape), dtype=dtype, device="meta")
        value = self.graph.new(shape, dtype)
        value.origin = Origin(kind, name, sample, exact)
        self._bind(twin, value)
        if real is not None:
            self._real[id(twin)] = real
        return twin

    def set_real(self, twin, tensor):
        """What an input's tensor holds now; a layer that keeps it in a list of its own means the same input."""
        self._real[id(twin)] = tensor
        self._twins.setdefault(id(tensor), (tensor, twin))

    def input_of(self, tensor):
        """The object whose change in place is a change of this input."""
        return self._bound.get(id(tensor))

    def was_changed(self, twin):
        """Whether forward changed this input's tensor in place."""
        entry = self._bound.get(id(twin))
        return entry is not None and (entry[1].origin is None or twin._version != entry[2])

    def tensor_of(self, value):
        """The tensor that a constant stands for: the file's own, or one without data that stands for it; None when it is not known."""
        for twin, known, _ in self._bound.values():
            if known is value:
                return self._real.get(id(twin), twin)
        return None

    def alias(self, tensor, twin):
        """Another object for the same input: a Parameter around its twin."""
        self._bind(tensor, self.value_of(twin))

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def _bind(self, tensor, value):
        self._bound[id(tensor)] = (tensor, value, tensor._version)

    def value_of(self, tensor):
        """The value that a tensor holds now."""
        entry = self._bound.get(id(tensor))
        if entry is None:
            if tensor.device.type == "meta":
                for large in self.large:  # an attribute that is no buffer
                    sample, exact = large.sample_of(tensor)
                    if sample is not None:
                        return self._constant(tensor, sample, exact)
                raise BridgeError("forward", "a tensor was made in a way that cannot be followed (outside of PyTorch's functions)",
                                  self.user_line())
            return self.value_of(self._twin_of(tensor))
        if tensor._version != entry[2]:
            raise BridgeError("forward", "a tensor is used after a view of it, or what it is a view of, was changed in place; "
                              "write the change without '_' or the index assignment", self.user_line())
        return entry[1]

    def _twin_of(self, tensor):
        """For a real tensor that meets traced ones: a constant of the task, or a number."""
        known = self._twins.get(id(tensor))
        if known is not None:
            return known[1]
        twin = torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device="meta")
        value = self.graph.new(tensor.shape, tensor.dtype)
        if tensor.numel() == 1 and tensor.dim() == 0:
            number = tensor.item()
            value.text = operators.number_text(number, tensor.dtype)
        else:
            value.origin = Origin("constant", self._constant_name(), tensor.detach())
        self._bind(twin, value)
        self._twins[id(tensor)] = (tensor, twin)
        self._real[id(twin)] = tensor
        return twin

    def _constant_name(self):
        return f"constant{sum(v.origin is not None and v.origin.kind == 'constant' for v in self.graph.values) + 1}"

    def _constant(self, tensor, sample, exact):
        value = self.graph.new(tensor.shape, tensor.dtype)
        value.origin = Origin("constant", self._constant_name(), sample, exact)
        self._bind(tensor, value)
        return value

    def meta_of(self, tensor):
        return tensor if tensor.device.type == "meta" else self._twin_of(tensor)

    def user_line(self):
        frame = sys._getframe(1)
        while frame is not None:
            if os.path.abspath(frame.f_code.co_filename) == self.file:
                return frame.f_lineno
            frame = frame.f_back
        return 0

    # Calls

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function_name(func)
        if name in ABOUT:
            return func(*args, **kwargs)
        if name == "__set__":
            return self._set_property(func, args)
        if name in VALUES:
            return self._ask_value(name, func, args, kwargs)
        if name in operators.FACTORIES:
            return self._make(name, func, args, kwargs)
        if name in operators.SAME:
            return self._same(name, func, args, kwargs)
        if not any(True for _ in tensors_in((args, kwargs))):
            return func(*args, **kwargs)
        return self._record(name, func, args, kwargs)

    def _set_property(self, func, args):
        if getattr(func.__self__, "__name__", "") == "data":
            value = self.value_of(args[1])
            self._bind(args[0], value)
            return None
        return func(*args)

    def _ask_value(self, name, func, args, kwargs):
        asked = list(tensors_in((args, kwargs)))
        real = []
        for tensor in asked:
            known = tensor if tensor.device.type != "meta" else self._real.get(id(tensor))
            if known is None or (tensor.device.type == "meta" and tensor._version != self._bound[id(tensor)][2]):
                what = "the number of elements" if name in ("nonzero", "masked_select", "unique") else "a decision"
                raise BridgeError("data", f"{name.strip('_')}: {what} depends on the values of a tensor, which differ from call "
                                  "to call; a task has one shape and one path", self.user_line())
            real.append(known)
        if any(tensor.device.type == "meta" for tensor in asked):
            self.note(f"line {self.user_line()}: {name.strip('_')} was asked of a parameter or buffer; its value now is part of the task")
        order = iter(real)
        return func(*replaced(args, lambda _: next(order)), **kwargs)

    def _make(self, name, func, args, kwargs):
        """zeros, arange, ...: a constant that the task computes, where it has the function."""
        if name in operators.RANDOM:
            return self._draw(name, func, args, kwargs)
        text_of = operators.FACTORIES[name]
        if text_of is None:  # torch.tensor and its like: real, a constant when it is used
            changed = dict(kwargs)
            if str(changed.get("device", "")).split(":")[0] not in ("", "None"):
                changed["device"] = "cpu"
            return func(*args, **changed)
        moved = dict(kwargs, device="meta") if not name.startswith("new_") and not name.endswith("_like") else dict(kwargs)
        moved.pop("pin_memory", None)
        result = func(*replaced(args, self.meta_of), **moved)
        return self._results(name, result, text_of(result, *args, **{k: v for k, v in kwargs.items() if k not in operators.PLACES}), [])

    def _draw(self, name, func, args, kwargs):
        """Random numbers that forward draws become an input: the task computes the same in every call."""
        if name not in ("rand", "randn", "rand_like", "randn_like"):
            raise BridgeError("random", f"{name} draws random numbers in forward; a task computes the same in every call: give them "
                              "to forward as an argument", self.user_line())
        moved = dict(kwargs) if name.endswith("_like") else dict(kwargs, device="meta")
        drawn = func(*replaced(args, self.meta_of), **moved)
        number = sum(v.origin is not None and v.origin.kind == "drawn" for v in self.graph.values) + 1
        self.note(f"line {self.user_line()}: {name} draws random numbers; they are an input of the task, drawn{number}")
        exact = "uniform(0, 1)" if name.startswith("rand_") or name == "rand" else "normal(0, 1)"
        value = self.graph.new(drawn.shape, drawn.dtype)
        value.origin = Origin("drawn", f"drawn{number}", None, exact)
        value.origin.drawn = {"function": name.replace("_like", ""), "here": name.endswith("_like") or kwargs.get("device") is not None}
        self._bind(drawn, value)
        return drawn

    def _same(self, name, func, args, kwargs):
        """Functions that give the tensor itself, or a copy: nothing is computed."""
        tensor = self.meta_of(args[0])
        value = self.value_of(tensor)
        dtype = operators.converted_dtype(name, args, kwargs)
        if dtype is None or dtype == value.dtype:
            copies = name == "clone" or (name == "contiguous" and not tensor.is_contiguous())
            if copies or name in ("detach", "data"):
                twin = torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device="meta") if copies else tensor.detach()
                self._bind(twin, value)
                if id(tensor) in self._real:
                    self._real[id(twin)] = self._real[id(tensor)]
                return twin
            return args[0]
        result = torch.empty(tuple(tensor.shape), dtype=dtype, device="meta")
        return self._results(name, result, operators.cast_text(value, dtype), [value])

    def _record(self, name, func, args, kwargs):
        in_place = name.endswith("_") and not name.endswith("__")
        plain = name[:-1] if in_place else name
        given = list(tensors_in((args, kwargs)))
        values = {id(tensor): self.value_of(tensor) for tensor in given}
        as_values = lambda thing: replaced(thing, lambda tensor: values[id(tensor)])  # noqa: E731
        sources = list(values.values())
        if plain == "__setitem__":
            text = self._text(plain, operators.assigned, as_values(args), {})
            target = self.meta_of(args[0])
            new = self._new_value(plain, target, text, sources)
            with torch.no_grad():
                target.zero_()  # raises the version that views share
            self._bind(target, new)
            return None
        handler = operators.HANDLERS.get(plain)
        if handler is None and not in_place and hasattr(func, "__code__"):
            return self._inside(func, args, kwargs)
        text = self._text(plain, handler, as_values(args), as_values(kwargs))
        if text is None and handler is not None and not in_place and hasattr(func, "__code__") and plain in operators.COMPOSED:
            return self._inside(func, args, kwargs)
        if isinstance(text, Value):  # it does nothing: dropout without effect
            return args[0] if args else kwargs["input"]
        result = self._shaped(plain, func, args, kwargs)
        return self._results(plain, result, text, sources)

    def _text(self, name, handler, args, kwargs):
        """What the operator's entry says; None when this use of it is not covered."""
        if handler is None:
            return None
        try:
            return handler(*args, **{k: v for k, v in kwargs.items() if k not in operators.PLACES})
        except NotCovered as reason:
            self.note(f"line {self.user_line()}: {name} is not covered here: {reason}")
            return None
        except BridgeError as error:
            error.line = error.line or self.user_line()
            raise
        except TypeError as reason:
            self.note(f"line {self.user_line()}: {name} is not covered with these arguments: {reason}")
            return None

    def _inside(self, func, args, kwargs):
        """A function written in Python that the table does not have: its body is traced instead."""
        namespace = func.__globals__
        names = [n for n in ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic") if n in namespace]
        kept = {n: namespace[n] for n in names}

        def once(*_):
            for n in names:
                namespace[n] = kept[n]
            return False

        for n in names:
            namespace[n] = once
        try:
            with self:
                return func(*args, **kwargs)
        finally:
            for n in names:
                namespace[n] = kept[n]

    def _shaped(self, name, func, args, kwargs):
        """Shapes and types of the results, by PyTorch itself on tensors without data."""
        meta_args, meta_kwargs = replaced(args, self.meta_of), replaced(kwargs, self.meta_of)
        if meta_kwargs.get("out") is not None:
            raise BridgeError("forward", f"{name} with out=; assign the result instead", self.user_line())
        if "device" in meta_kwargs:
            meta_kwargs["device"] = "meta"
        if name in RECURRENT and len(meta_args) == 9 and isinstance(meta_args[3], bool) and meta_args[0].dim() == 3:
            return self._shaped_by_step(name, func, meta_args, meta_kwargs)
        try:
            with torch.no_grad():
                return func(*meta_args, **meta_kwargs)
        except NotImplementedError:
            return self._shaped_by_data(name, func, meta_args, meta_kwargs)

    def _shaped_by_step(self, name, func, args, kwargs):
        """Recurrent layers: one step tells. PyTorch 2.x computes shapes step by step, in minutes where there are thousands."""
        axis = 1 if args[8] else 0
        steps = args[0].shape[axis]
        one = (args[0].narrow(axis, 0, 1), *args[1:])
        try:
            with torch.no_grad():
                first, *rest = func(*one, **kwargs)
        except NotImplementedError:
            first, *rest = self._shaped_by_data(name, func, one, kwargs)
        shape = list(first.shape)
        shape[axis] = steps
        return (torch.empty(shape, dtype=first.dtype, device="meta"), *rest)

    def _shaped_by_data(self, name, func, args, kwargs):
        """For operators that this PyTorch cannot run without data: on zeros that take no memory."""
        cut = "pool" in name and args and isinstance(args[0], torch.Tensor) and args[0].dim() > 2
        if cut:  # every sample and channel by itself: one of them tells
            whole = tuple(args[0].shape[:2])
            args = (args[0][:1, :1], *args[1:])
        largest = max((t.numel() for t in tensors_in((args, kwargs))), default=0)
        if largest > 1 << 26:
            raise BridgeError("forward", f"{name}: this PyTorch cannot tell the shape of its result without data, and the data is "
                              "too large to try; a newer PyTorch may", self.user_line())
        zeros = lambda t: torch.zeros((), dtype=t.dtype).expand(t.shape).contiguous()  # noqa: E731
        with torch.no_grad():
            result = func(*replaced(args, zeros), **replaced(kwargs, zeros))
        shape_of = lambda t: whole + tuple(t.shape[2:]) if cut else tuple(t.shape)  # noqa: E731
        return replaced(result, lambda t: torch.empty(shape_of(t), dtype=t.dtype, device="meta"))

    def _new_value(self, name, tensor, text, sources):
        value = self.graph.new(tensor.shape, tensor.dtype)
        value.operator, value.line = name, self.user_line()
        value.module = self.modules[-1] if self.modules else ""
        if text is None or dtype_word(tensor.dtype) is None:
            self.graph.opaque_sources[value.index] = sources
        elif isinstance(text, operators.Described):
            value.text, value.without_bias, value.bias = text.text, text.without_bias, text.bias
            value.cancels_bias, value.keeps_bias, value.flops = text.cancels_bias, text.keeps_bias, text.flops
        else:
            value.text = str(text)
        return value

    def _unroll(self, name, unrolled):
        """The values between, then the texts of the results with their numbers."""
        numbers = {}
        renumber = lambda text: SLOT.sub(lambda m: str(self.graph.values[numbers[int(m.group(1))]]), text)  # noqa: E731
        for unnumbered, text, flops in unrolled.steps:
            value = self._new_value(name, unnumbered, renumber(text), [])
            value.flops = flops
            numbers[unnumbered.index] = value.index
        return [renumber(text) for text in unrolled.results]

    def _results(self, name, result, text, sources):
        if isinstance(text, operators.Unrolled):
            text = self._unroll(name, text)
        results = list(tensors_in(result))
        texts = list(text) if isinstance(text, (list, tuple)) else [text] * len(results) if text is None else [text]
        if len(texts) != len(results):
            texts = [None] * len(results)
        for tensor, one in zip(results, texts):
            self._bind(tensor, self._new_value(name, tensor, one, sources))
        return result
