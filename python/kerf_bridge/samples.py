"""Large tensors that a file makes (inputs, parameters) without their memory: each is a tensor without data beside a small
sample of it, on which every operation is repeated, so that its kind of values is known.

An extent of a sample is min(extent, limit), the limit by the number of axes: 4096 for one, 256 for two, 24 beyond.
"""

import torch
from torch.overrides import TorchFunctionMode

from .trace import function_name, replaced, tensors_in

LARGE = 1 << 20  # elements; smaller tensors are made as they are
LIMITS = {0: 1, 1: 4096, 2: 256}
EXACT = {"rand": "uniform(0, 1)", "rand_like": "uniform(0, 1)", "randn": "normal(0, 1)", "randn_like": "normal(0, 1)"}
SIZED = {"rand", "randn", "zeros", "ones", "empty", "full", "randint"}


def sample_shape(shape):
    limit = LIMITS.get(len(shape), 24)
    return tuple(min(extent, limit) for extent in shape)


class LargeTensors(TorchFunctionMode):
    """While it is on, factories of large tensors give tensors without data. `sample_of` gives what is known of one."""

    def __init__(self):
        super().__init__()
        self._samples = {}  # storage or id: (tensor, sample, exact)

    def sample_of(self, tensor):
        """(a real tensor with some values or None, a distribution that is known exactly or None)."""
        if tensor.device.type != "meta":
            return tensor.detach(), self._exact(tensor)
        entry = self._samples.get(id(tensor)) or self._samples.get(storage_key(tensor))
        if entry is None:
            return None, None
        return entry[1], entry[2]

    def _exact(self, tensor):
        entry = self._samples.get(id(tensor))
        return entry[2] if entry is not None else None

    def _keep(self, tensor, sample, exact):
        self._samples[id(tensor)] = (tensor, sample, exact)
        key = storage_key(tensor)
        if key is not None and tensor.device.type == "meta":
            self._samples.setdefault(key, (tensor, sample, exact))
            if exact is None or sample is None or tensor._version:
                self._samples[key] = (tensor, sample, exact)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function_name(func)
        given = list(tensors_in((args, kwargs)))
        if name in SIZED or (name in EXACT and not given):
            return self._make(name, func, args, kwargs)
        if not any(tensor.device.type == "meta" for tensor in given):
            result = func(*args, **kwargs)
            if name in EXACT and isinstance(result, torch.Tensor):
                self._keep(result, result, EXACT[name])
            return result
        return self._follow(name, func, args, kwargs)

    def _make(self, name, func, args, kwargs):
        exact = EXACT.get(name)
        if name == "randint":
            exact = self._integers(args, kwargs)
        shape = tuple(func(*args, **dict(kwargs, device="meta", **({"pin_memory": False} if "pin_memory" in kwargs else {}))).shape)
        count = 1
        for extent in shape:
            count *= extent
        if count <= LARGE:
            result = func(*args, **dict(kwargs, device="cpu"))
            self._keep(result, result, exact)
            return result
        meta = func(*args, **dict(kwargs, device="meta"))
        small = func(*self._resized(name, args), **dict(self._resized_kwargs(kwargs), device="cpu"))
        self._keep(meta, small, exact)
        return meta

    @staticmethod
    def _integers(args, kwargs):
        bounds = [a for a in args if isinstance(a, int)] + [kwargs[k] for k in ("low", "high") if k in kwargs]
        low, high = ([0] + bounds)[-2:] if len(bounds) < 2 else bounds[:2]
        return f"integers({low}, {high - 1})"

    @staticmethod
    def _resized(name, args):
        if name in ("full", "randint"):
            return [sample_shape(a) if isinstance(a, (list, tuple)) else a for a in args]
        if args and isinstance(args[0], (list, tuple)):
            return [sample_shape(args[0]), *args[1:]]
        return list(sample_shape(args))

    @staticmethod
    def _resized_kwargs(kwargs):
        return {k: sample_shape(v) if k == "size" else v for k, v in kwargs.items()}

    def _follow(self, name, func, args, kwargs):
        """The operation on tensors without data, and on their samples where it has a meaning for them."""
        meta = lambda t: t if t.device.type == "meta" else t.to("meta")  # noqa: E731
        result = func(*replaced(args, meta), **replaced(kwargs, meta))
        results = list(tensors_in(result))
        if not results:
            return result
        samples = None
        try:
            taken = [self.sample_of(t)[0] for t in tensors_in((args, kwargs))]
            if all(sample is not None for sample in taken):
                order = iter(taken)
                with torch.no_grad():
                    done = func(*replaced(args, lambda _: next(order)), **replaced(kwargs, lambda _: next(order)))
                samples = list(tensors_in(done))
        except Exception:  # sizes of the whole tensor that its sample does not have: nothing is known of the result
            samples = None
        exact = [None] * len(results)
        if name in ("detach", "requires_grad_", "to", "clone", "contiguous", "cpu", "cuda") and len(results) == 1:
            first = next(tensors_in((args, kwargs)))
            exact = [self.sample_of(first)[1] if first.dtype == results[0].dtype else None]
        for i, tensor in enumerate(results):
            sample = samples[i] if samples is not None and len(samples) == len(results) else None
            self._keep(tensor, sample, exact[i])
        return result


def storage_key(tensor):
    """The same for a tensor and for a Parameter around it."""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()
        return ("storage", storage._cdata, tuple(tensor.shape))
    except Exception:  # tensors without storage
        return None
