"""One import: a model file in, a task or a problem out."""

import inspect
import os
import re

import torch

from . import simplify
from .emit import emit
from .errors import BridgeError, from_exception
from .graph import dtype_word
from .loading import load
from .programs import Task, run_once
from .record import record_of
from .reference import Exact, class_of_eager
from .trace import Tracer, replaced, seen_indexing, tensors_in

SCHEMA = 1


def argument_names(module, args, kwargs):
    """Names of forward's arguments, one per element of args, then those of kwargs."""
    names = []
    try:
        for name, parameter in inspect.signature(module.forward).parameters.items():
            if parameter.kind == parameter.VAR_POSITIONAL:
                names += [f"{name}{i}" for i in range(len(args) - len(names))]
            elif parameter.kind != parameter.VAR_KEYWORD and name not in kwargs:
                names.append(name)
    except (TypeError, ValueError):
        pass
    names += [f"arg{i}" for i in range(len(names), len(args))]
    return names[:len(args)] + list(kwargs)


def add_argument(tracer, name, thing, large, notes, names):
    """A tensor becomes an input, a nest of them several; numbers and the rest stay as they are. Adds the inputs' names to `names`."""
    count = len(list(tensors_in(thing)))
    position = [0]

    def change(tensor):
        position[0] += 1
        sample, exact = large.sample_of(tensor)
        own = name if count == 1 else f"{name}{position[0] - 1}"
        if dtype_word(tensor.dtype) is None:
            raise BridgeError("dtype", f"argument '{own}' has the type {tensor.dtype}; tasks have f32, f16, bf16, f64, i32, i64, bool")
        names.append(own)
        return tracer.add_input("input", own, tensor.shape, tensor.dtype, sample, exact)

    if count == 0 and isinstance(thing, (int, float)) and not isinstance(thing, bool):
        notes.append(f"argument '{name}' is the number {thing} in the task")
    return replaced(thing, change)


def without_data(module, tracer, large):
    """Parameters and buffers replaced by tensors without data; shared ones stay shared. Gives what to put back."""
    seen, kept = {}, []
    paths = {}
    for path, part in module.named_modules():
        for kind, store in (("parameter", part._parameters), ("buffer", part._buffers)):
            for name, tensor in store.items():
                if tensor is not None:
                    paths.setdefault(id(tensor), (kind, f"{path}.{name}" if path else name))
    for part in module.modules():
        for store in (part._parameters, part._buffers):
            for name, tensor in list(store.items()):
                if tensor is None:
                    continue
                kept.append((store, name, tensor))
                if id(tensor) not in seen:
                    kind, path = paths[id(tensor)]
                    sample, exact = large.sample_of(tensor)
                    twin = tracer.add_input(kind, path, tensor.shape, tensor.dtype, sample, exact)
                    if isinstance(tensor, torch.nn.Parameter):
                        wrapped = torch.nn.Parameter(twin, requires_grad=False)
                        tracer.alias(wrapped, twin)
                        twin = wrapped
                    if tensor.device.type != "meta":
                        tracer.set_real(twin, tensor)
                    seen[id(tensor)] = twin
                store[name] = seen[id(tensor)]
    return kept


def watch_modules(module, tracer):
    """Keeps the path of the innermost module that runs, for the task's comments."""
    handles = []
    for path, part in module.named_modules():
        def before(_module, _args, path=path):
            tracer.modules.append(path)

        def after(_module, _args, _result):
            tracer.modules.pop()
        handles += [part.register_forward_pre_hook(before), part.register_forward_hook(after)]
    return handles


def changed_state(module, tracer):
    """Names of parameters and buffers that forward changed."""
    names = []
    for path, tensor in list(module.named_parameters()) + list(module.named_buffers()):
        entry = tracer.input_of(tensor)
        if entry is not None and (entry[1].origin is None or tensor._version != entry[2]):
            names.append(path)
    return names


class Traced:
    """What running forward once gave."""

    def __init__(self, tracer):
        self.tracer = tracer
        self.arguments = []    # names of the tensors among the arguments, in order
        self.outputs = []      # values of the tensors of the result, in order, and their names
        self.labels = []
        self.state = []        # names of parameters and buffers that forward changed
        self.changed_arguments = []
        self.result = None     # as forward gave it


def trace(file, loaded, notes):
    tracer = Tracer(file)
    tracer.large = loaded.large
    large_parameters, large_inputs = loaded.large
    traced = Traced(tracer)
    names = argument_names(loaded.module, loaded.args, loaded.kwargs)
    args = [add_argument(tracer, name, thing, large_inputs, notes, traced.arguments) for name, thing in zip(names, loaded.args)]
    kwargs = {name: add_argument(tracer, name, thing, large_inputs, notes, traced.arguments) for name, thing in loaded.kwargs.items()}
    kept = without_data(loaded.module, tracer, large_parameters)
    handles = watch_modules(loaded.module, tracer)
    try:
        with torch.no_grad(), seen_indexing(), tracer:
            traced.result = loaded.module(*args, **kwargs)
        traced.state = changed_state(loaded.module, tracer)
        traced.changed_arguments = [name for name, twin in zip(traced.arguments, tensors_in((args, kwargs))) if tracer.was_changed(twin)]
    except BaseException as error:
        raise from_exception("forward", "forward raised", error, file) from None
    finally:
        for handle in handles:
            handle.remove()
        for store, name, tensor in kept:
            store[name] = tensor
    for label, tensor in labelled(traced.result):
        traced.outputs.append(tracer.value_of(tracer.meta_of(tensor)))
        traced.labels.append(label)
    if not traced.outputs:
        raise BridgeError("forward", "forward gives no tensor")
    return traced


def labelled(result, prefix=""):
    """(name, tensor) of everything that forward gave."""
    if isinstance(result, torch.Tensor):
        yield prefix or "out", result
    elif isinstance(result, dict):
        for key, item in result.items():
            yield from labelled(item, f"{prefix}_{key}" if prefix else str(key))
    elif hasattr(result, "_fields"):
        for key in result._fields:
            yield from labelled(getattr(result, key), f"{prefix}_{key}" if prefix else key)
    elif isinstance(result, (list, tuple)):
        for i, item in enumerate(result):
            yield from labelled(item, f"{prefix or 'out'}{i}" if len(result) > 1 else prefix or "out")


MOST_MEASURED = 4 << 30  # bytes of inputs; larger models are not run for their class


def measured_class(file, notes):
    """"tf32" or "f32": what eager PyTorch computes with on this machine's GPU, found by turning TF32 off; "" where it cannot be run.
    The library takes full precision for many convolutions although it may take TF32, and then a kernel may not take it either."""
    try:
        if not torch.cuda.is_available():
            return ""
        task = Task(file, "cuda")
        size = task.size_of_inputs()
        if not 0 < size < MOST_MEASURED or torch.cuda.mem_get_info()[0] < 10 * size:
            return ""
        task.on_device = True
        module, inputs = task.module(0), task.inputs(0)
        outputs = run_once(module, inputs)
        torch.cuda.synchronize()
        found, evidence = class_of_eager(module, inputs, outputs, Exact(None, "not asked"), "cuda")
    except Exception:
        return ""
    if found in ("tf32", "f32"):
        notes.append(f"PyTorch computes with {found} on {torch.cuda.get_device_name()}: {evidence}")
        return found
    return ""


def wants_tf32(part, request, notes):
    """Whether PyTorch itself computes this part with TF32 on the target."""
    if request.get("target", "") != "cuda":
        return False
    operators = {value.operator for value in part.values}
    convolution = any(name.startswith("conv") for name in operators)
    product = bool(operators & {"linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "scaled_dot_product_attention"})
    if not (convolution and torch.backends.cudnn.allow_tf32) and not (product and torch.backends.cuda.matmul.allow_tf32):
        return False
    found = measured_class(request["file"], notes)
    if not found:
        notes.append("PyTorch may compute with TF32 here: the task is of that class, which was not measured")
    return found != "f32"


def task_name(file):
    name = re.sub(r"[^0-9A-Za-z_-]", "_", os.path.splitext(os.path.basename(file))[0]).strip("_")
    return (name or "model")[:64]


def uncovered(graph, outputs):
    """Operators that the task language does not have: name, line, module, how often."""
    found = {}
    for index in sorted(graph.needed(outputs)):
        value = graph.values[index]
        if value.opaque:
            entry = found.setdefault((value.operator, value.line), {"operator": value.operator, "line": value.line,
                                                                    "module": value.module, "count": 0})
            entry["count"] += 1
    return list(found.values())


def import_model(request):
    """The answer to a request: see docs/pytorch.md."""
    file = request["file"]
    notes = []
    torch.set_num_threads(1)  # samples are small: threads would wait for each other longer than they work
    return import_loaded(request, load(file, notes), notes)[0]


def import_loaded(request, loaded, notes):
    """The answer, and the part of the graph that it is about."""
    file = request["file"]
    traced = trace(file, loaded, notes)
    tracer, outputs, labels, state = traced.tracer, traced.outputs, traced.labels, traced.state
    graph = tracer.graph
    simplify.shorten_scans(graph)
    dropped = simplify.drop_biases(graph, outputs)
    missing = uncovered(graph, outputs)
    part = simplify.choose_part(graph, outputs)
    if part is None or not part.outputs:
        names = ", ".join(entry["operator"] for entry in missing) or "nothing is computed"
        raise BridgeError("uncovered", f"no part of the model can be a task: {names}", missing[0]["line"] if missing else 0)
    if not part.inputs:
        raise BridgeError("constant", "the result does not depend on any input")
    final = {value.index: label for value, label in zip(outputs, labels)}
    output_names = [final.get(value.index, f"{value.operator}_result") for value in part.outputs]
    if state:
        shown = ", ".join(state[:3]) + (f" and {len(state) - 3} more" if len(state) > 3 else "")
        notes.append(f"forward changes {shown}; the task does not (running statistics and the like are left as they are)")
    if traced.changed_arguments:
        notes.append(f"forward changes its argument {', '.join(traced.changed_arguments)} in place; the task does not")
    if len(set(value.index for value in outputs)) < len(outputs):
        notes.append("some outputs are the same tensor; the task gives it once")
    task = emit(part, task_name(file), describe(loaded, file, missing), request.get("functions", []),
                bool(request.get("special_values", False)), wants_tf32(part, request, notes), output_names)
    untouched = [value.origin.name for value in outputs if value.origin is not None]
    if untouched:
        notes.append(f"outputs that are inputs, which the task does not give again: {', '.join(untouched)}")
    answer = {"schema": SCHEMA, "ok": True, "task": task.text, "name": task_name(file), "inputs": task.inputs, "outputs": task.outputs,
              "notes": notes + tracer.notes, "dropped": dropped, "uncovered": missing, "share": part.share if missing else 1.0,
              "training": loaded.module.training, "torch": torch.__version__}
    answer["model"] = record_of(request, loaded, traced, task, part, answer)
    return answer, part


def describe(loaded, file, missing):
    name = type(loaded.module).__name__
    which = f"{name} of {os.path.basename(file)}" if name != "Model" else f"Model of {os.path.basename(file)}"
    text = f"{which}, imported from PyTorch" + (" (the part that is covered)" if missing else "")
    return text.replace("\\", "/").replace('"', "'")
