"""One search for a module, and what comes of it."""

import os
import shutil
import sys
import time as clock

import torch

from .live_module import write_model_file
from .loading import imported, name_for
from .program import KerfError, find_program, run_json, run_program


def call_arguments(inputs):
    """What `inputs` means: the list of forward's arguments, a dict of keyword arguments, ([...], {...}), or one tensor."""
    if isinstance(inputs, torch.Tensor):
        return [inputs], {}
    if isinstance(inputs, dict):
        return [], dict(inputs)
    inputs = list(inputs)
    if len(inputs) == 2 and isinstance(inputs[0], (list, tuple)) and isinstance(inputs[1], dict):
        return list(inputs[0]), dict(inputs[1])
    return inputs, {}


def tensors_in(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    items = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
    return [tensor for item in items for tensor in tensors_in(item)]


def default_target(module, args, kwargs):
    tensors = list(module.parameters()) + tensors_in([args, kwargs])
    return "cuda" if any(tensor.is_cuda for tensor in tensors) else "cpu"


def seconds_of(function, on_gpu):
    if on_gpu:
        torch.cuda.synchronize()
    start = clock.perf_counter()
    with torch.no_grad():
        function()
    if on_gpu:
        torch.cuda.synchronize()
    return clock.perf_counter() - start


def timed_in_turn(first, second, on_gpu, budget=2.0):
    """How many times as fast `second` is: the median of ratios of calls in turn, about `budget` seconds of them."""
    for function in (first, second, first, second):
        seconds_of(function, on_gpu)
    ratios, end = [], clock.perf_counter() + budget
    while len(ratios) < 5 or (clock.perf_counter() < end and len(ratios) < 1000):
        a, b = seconds_of(first, on_gpu), seconds_of(second, on_gpu)
        ratios.append(a / b)
    return sorted(ratios)[len(ratios) // 2]


class Result:
    """What a search found.

    module    a drop-in for the module that was given: it shares parameters and buffers with it
    speedup   how many times as fast it is as that module, timed in turn in this process when it is first asked for
    run       the run's folder: kerf show, kerf report, kerf export and kerf.load take it
    found     whether a kernel passed every gate; without one `module` is the module that was given
    report    what `kerf optimize --json` said (docs/formats.md)
    """

    def __init__(self, folder, program, module, args, kwargs, report):
        self.folder, self.report, self.run = folder, report, report["run"]
        self._program, self._original, self._call = program, module, (args, kwargs)
        self._module = self._speedup = None
        self.found = report["best"] is not None

    @property
    def module(self):
        if self._module is None:
            if not self.found or self._original is None:
                self._module = self._original
            else:
                package = self.export("torch", os.path.join(self.folder, "package"))
                self._module = imported(package, name_for(package)).wrap(self._original)
        return self._module

    @property
    def speedup(self):
        if self._speedup is None:
            if self.module is self._original:
                return 1.0
            args, kwargs = self._call
            on_gpu = any(tensor.is_cuda for tensor in tensors_in([args, kwargs]))
            self._speedup = timed_in_turn(lambda: self._original(*args, **kwargs), lambda: self.module(*args, **kwargs), on_gpu)
        return self._speedup

    def export(self, format="torch", out=None):
        """Writes the kernel in a format of `kerf export`; gives the path."""
        own = os.path.join(self.folder, "model")
        live = os.path.exists(os.path.join(own, "module.pt"))
        if live and format == "kernelbench":
            raise KerfError("a single file cannot hold a module that had no model file; write a file with a class Model and give its path "
                            "to kerf.optimize, or export with format='torch'")
        out = os.path.abspath(out or os.path.join(self.folder, "export_" + format.replace("-", "_") + (".py" if format == "kernelbench" else "")))
        run_program(self._program, ["export", self.run, "--format", format, "--out", out])
        if live and format == "torch":
            for name in ("module.pt", "inputs.pt"):
                shutil.copy(os.path.join(own, name), os.path.join(out, name))
        return out

    def __repr__(self):
        return f"<kerf.Result of {self.run}: {'a kernel was found' if self.found else 'no kernel was found'}>"


def optimize(module, inputs=None, *, target=None, time=None, evals=None, seed=None, out=None, binary=None, options=()):
    """Searches for faster kernels of `module` called with `inputs`.

    module   an nn.Module, or the path of a model file (a Model with get_inputs)
    inputs   forward's arguments: a list, a dict of keyword arguments, ([...], {...}) or one tensor; not for a model file
    target   'cpu', 'cuda', ...; where the module or its arguments are, when it is not given
    time     seconds of search; evals: kernels to judge. Without either 30 seconds
    out      a new folder for everything that is written; one below runs/ when it is not given
    options  more arguments for `kerf optimize`, as on the command line
    Raises KerfError with the program's words.
    """
    program = find_program(binary)
    is_file = not isinstance(module, torch.nn.Module)
    if is_file and not isinstance(module, (str, os.PathLike)):
        raise TypeError(f"module is a {type(module).__name__}, neither an nn.Module nor a path")
    if is_file != (inputs is None):
        raise TypeError("inputs: a model file has its own (get_inputs)" if is_file else "inputs: give forward's arguments")
    args, kwargs = ([], {}) if is_file else call_arguments(inputs)
    name = os.path.splitext(os.path.basename(os.fspath(module)))[0] if is_file else type(module).__name__
    folder = os.path.abspath(out or os.path.join("runs", f"{name}-python-{clock.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"))
    if os.path.exists(folder) and os.listdir(folder):
        raise KerfError(f"out: there is something in {folder}; choose another place")
    file = os.fspath(module) if is_file else write_model_file(os.path.join(folder, "model"), module, args, kwargs)
    command = ["--python", sys.executable, "optimize", file, "--out", os.path.join(folder, "run")]
    target = target or (None if is_file else default_target(module, args, kwargs))
    command += ["--target", target] if target else []
    if time is None and evals is None:
        time = 30
    for flag, value in (("--time", time), ("--evals", evals), ("--seed", seed)):
        command += [flag, value] if value is not None else []
    report = run_json(program, [*command, *options])
    return Result(folder, program, None if is_file else module, args, kwargs, report)
