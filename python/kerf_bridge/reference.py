"""The model in double precision, and the accuracy class of what PyTorch computes."""

import copy
import os
import time

import torch

from .agreement import bits_of, errors, passes, tolerance_of
from .programs import byte_count, free_memory, is_out_of_memory, run_once, synchronize
from .trace import replaced, tensors_in

NAMES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}


class Exact:
    """Outputs in double precision. `rows`: only so many of the first axis; `how`: "full", "part", or why there are none."""

    def __init__(self, outputs, how, rows=None, batch=None):
        self.outputs, self.how, self.rows, self.batch = outputs, how, rows, batch

    def errors(self, given):
        if self.outputs is None or given is None:
            return None
        if self.rows is not None:
            given = [tensor[:self.rows] if tensor.dim() and tensor.shape[0] == self.batch else tensor for tensor in given]
        return errors(self.outputs, given)


def as_double(inputs):
    return replaced(inputs, lambda tensor: tensor.double() if tensor.dtype.is_floating_point else tensor)


def batch_of(inputs):
    """The extent of the first axis of the first argument."""
    for tensor in tensors_in(inputs):
        return tensor.shape[0] if tensor.dim() else 0
    return 0


def first_rows(inputs, batch, rows):
    return replaced(inputs, lambda tensor: tensor[:rows] if tensor.dim() and tensor.shape[0] == batch else tensor)


def rows_are_independent(module, inputs, outputs, batch, rows):
    """Whether the first rows of the results depend on the first rows of the arguments alone, on this data."""
    if batch < 2 or any(not tensor.dim() or tensor.shape[0] != batch for tensor in outputs):
        return False
    some = run_once(module, first_rows(inputs, batch, rows))
    return all(a.shape[0] == rows and passes(b[:rows], a, tolerance_of(b.dtype)) for a, b in zip(some, outputs))


def exact_outputs(module, inputs, outputs, work_bytes, seconds, limit, device):
    """`work_bytes`: what one call needs beside its inputs; `seconds`: how long it takes; `limit`: seconds to spend here."""
    if not any(tensor.dtype.is_floating_point for tensor in outputs):
        return Exact(None, "no output is a floating-point number")
    held = sum(p.numel() * 8 for p in list(module.parameters()) + list(module.buffers()))
    need = held + 2 * (byte_count(inputs) + max(work_bytes, 2 * byte_count(outputs)))
    free = 0.8 * free_memory(device)
    share = min(1.0, max(0.0, (free - held) / max(need - held, 1)))
    slower = 60 if device == "cuda" else 4  # than in single precision, at worst: convolutions on a GPU
    share = min(share, limit / max(seconds * slower, 1e-9))
    batch = batch_of(inputs)
    try:
        if share >= 1:
            return Exact(in_double(module, inputs, device), "full")
        rows = int(batch * share * 0.9)
        reason = "it would need too much memory or time"
        if rows < 1 or not rows_are_independent(module, inputs, outputs, batch, rows):
            return Exact(None, reason + ", and the first rows cannot be computed without the others")
        return Exact(in_double(module, first_rows(inputs, batch, rows), device), "part", rows, batch)
    except Exception as error:
        if is_out_of_memory(error):
            return Exact(None, "out of memory")
        return Exact(None, f"the model does not run in double precision: {type(error).__name__}: {str(error).strip()[:200]}")


def in_double(module, inputs, device, change=None):
    """`change`: what is done to every floating-point operand first."""
    double = copy.deepcopy(module).double()
    if change is not None:
        with torch.no_grad():
            for tensor in list(double.parameters()) + list(double.buffers()):
                if tensor.dtype.is_floating_point:
                    tensor.copy_(change(tensor))
    given = as_double(inputs)
    if change is not None:
        given = replaced(given, lambda tensor: change(tensor) if tensor.dtype.is_floating_point else tensor)
    result = run_once(double, given)
    synchronize(device)
    return result


class WithoutTf32:
    """Products and convolutions of single precision on a GPU in full, as far as PyTorch can be told."""

    def __enter__(self):
        self.kept = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    def __exit__(self, *_):
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.kept


def class_of_eager(module, inputs, outputs, exact, device):
    """(class, evidence). A class is only named when the figures show it."""
    floats = [tensor.dtype for tensor in outputs if tensor.dtype.is_floating_point]
    if not floats:
        return "undecided", "no output is a floating-point number"
    if floats[0] in NAMES:
        return NAMES[floats[0]], "the type of its outputs"
    try:
        return class_on_gpu(module, inputs, outputs, exact) if device == "cuda" else class_on_cpu(module, inputs, outputs, exact, device)
    except Exception as error:
        return "undecided", f"{type(error).__name__}: {str(error).strip()[:200]}"


def class_on_gpu(module, inputs, outputs, exact):
    """TF32 is seen by turning it off: either no bit changes, or the error falls."""
    with WithoutTf32():
        full = run_once(module, inputs)
        torch.cuda.synchronize()
    if bits_of(full) == bits_of(outputs):
        return "f32", "no bit changes when TF32 is turned off"
    on, off = exact.errors(outputs), exact.errors(full)
    if on is not None and off is not None:
        ratio = on["rms"] / max(off["rms"], 1e-300)
        evidence = f"its error is {ratio:.2g} times that without TF32"
        return ("tf32" if ratio > 3 else "f32" if ratio < 1.5 else "undecided"), evidence
    moved = errors(full, outputs)
    if moved is None:
        return "undecided", "its outputs are not finite"
    evidence = f"turning TF32 off moves its outputs by {moved['rms']:.2g} of their size"
    return ("tf32" if moved["rms"] > 1e-5 else "f32" if moved["rms"] < 3e-6 else "undecided"), evidence


def class_on_cpu(module, inputs, outputs, exact, device):
    """Without a switch PyTorch computes f32 as f32 on processors; with one, bf16 is told by the error of rounded operands."""
    precision = torch.get_float32_matmul_precision() if hasattr(torch, "get_float32_matmul_precision") else "highest"
    math_mode = os.environ.get("ONEDNN_DEFAULT_FPMATH_MODE", "STRICT").upper()
    own = exact.errors(outputs)
    if precision == "highest" and math_mode == "STRICT":
        return "f32", "no switch for lower precision is set"
    if own is None or exact.rows is not None:
        return "undecided", "lower precision is allowed, and there is no result in double precision to hold it against"
    coarse = exact.errors(in_double(module, inputs, device, lambda tensor: tensor.to(torch.bfloat16).double()))
    ratio = own["rms"] / max(coarse["rms"], 1e-300) if coarse else 0
    evidence = f"its error is {ratio:.2g} times that of operands rounded to bf16"
    return ("bf16" if ratio > 0.35 else "f32" if ratio < 0.1 else "undecided"), evidence


def in_class(own, eager, outputs):
    """Whether errors are no larger than those of eager PyTorch, up to what different orders of summation make of them."""
    floats = [tensor.dtype for tensor in outputs if tensor.dtype.is_floating_point]
    if own is None or eager is None or not floats:
        return None
    step = torch.finfo(floats[0]).eps
    return own["rms"] <= max(2 * eager["rms"], 4 * step) and own["worst"] <= max(4 * eager["worst"], 32 * step)


def harder(inputs):
    """The same inputs with both signs and a wider range; integers, and what holds only 0, 1 and -1, stay as they are."""
    def change(tensor):
        if not tensor.dtype.is_floating_point or tensor.numel() < 2:
            return tensor
        sample = tensor.reshape(-1)[:4096]
        if bool(((sample == 0) | (sample.abs() == 1)).all()):
            return tensor
        low, high = float(sample.min()), float(sample.max())
        return tensor if high <= low else (tensor - (low + high) / 2) * (8.0 / (high - low))
    return replaced(inputs, change)


def timed_once(module, inputs, device):
    """(outputs, seconds) of a call."""
    synchronize(device)
    begin = time.perf_counter()
    outputs = run_once(module, inputs)
    synchronize(device)
    return outputs, time.perf_counter() - begin
