"""What an export needs to know of an import: how forward is called, where every input of the task comes from, and how
its outputs become forward's result. docs/pytorch.md has the fields."""

import inspect
import os
import sys

import torch


SCHEMA = 1
MOST_VALUES = 4096  # of a tensor that is written into an export as numbers

# Layers of PyTorch that compute something else in evaluation mode.
MODES = (torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd, torch.nn.RNNBase, torch.nn.RReLU,
         torch.nn.MultiheadAttention, torch.nn.TransformerEncoder, torch.nn.TransformerEncoderLayer)


def dtype_name(dtype):
    return str(dtype).split(".")[-1]


def tree(thing, leaf):
    """Nested arguments or results as JSON; `leaf` gives the entry of a tensor."""
    if isinstance(thing, torch.Tensor):
        return leaf(thing)
    if isinstance(thing, (bool, int, str)) or thing is None:
        return {"value": thing}
    if isinstance(thing, float):
        return {"number": repr(thing)}
    if isinstance(thing, dict) and all(isinstance(key, (str, int)) for key in thing):
        return {"dict": [[key, tree(item, leaf)] for key, item in thing.items()], "type": type_name(thing, dict)}
    if hasattr(thing, "_fields"):
        return {"named": [[key, tree(getattr(thing, key), leaf)] for key in thing._fields], "type": type_name(thing, tuple)}
    if isinstance(thing, (list, tuple)) and type(thing) in (list, tuple, torch.Size):
        kind = "list" if isinstance(thing, list) else "tuple"
        return {kind: [tree(item, leaf) for item in thing]}
    if isinstance(thing, (torch.dtype, torch.device)):
        return {"torch": str(thing)}
    return {"opaque": type(thing).__name__}


def type_name(thing, plain):
    """'' for the plain type, else where the class is found: an attribute of the model file or of a module."""
    kind = type(thing)
    return "" if kind is plain else f"{kind.__module__}:{kind.__qualname__}"


def no_tensor(tensor):
    return {"opaque": f"tensor of {tensor.numel()} elements"}


def bound(function, args, kwargs):
    """The arguments as forward sees them, defaults included: (positional, by keyword)."""
    try:
        call = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return list(args), dict(kwargs)
    call.apply_defaults()
    return list(call.args), dict(call.kwargs)


def arguments_of(loaded, named):
    """Trees of forward's arguments, whose tensors are {"argument": name}. `named` gives, in the order of the tensors, their names."""
    order = iter(named)

    def leaf(tensor):
        return {"argument": next(order), "shape": list(tensor.shape), "dtype": dtype_name(tensor.dtype)}

    class Done(dict):
        pass

    args = [Done(tree(thing, leaf)) for thing in loaded.args]
    kwargs = {name: Done(tree(thing, leaf)) for name, thing in loaded.kwargs.items()}
    args, kwargs = bound(loaded.module.forward, args, kwargs)
    plain = lambda thing: dict(thing) if isinstance(thing, Done) else tree(thing, no_tensor)  # noqa: E731
    return {"args": [plain(thing) for thing in args], "kwargs": {name: plain(thing) for name, thing in kwargs.items()}}


def constant_place(tensor, loaded):
    """Where a tensor that is neither argument, parameter nor buffer is found again, or its values."""
    for path, part in loaded.module.named_modules():
        for name, thing in vars(part).items():
            if thing is tensor:
                return {"attribute": f"{path}.{name}" if path else name}
    for name, thing in vars(loaded.namespace).items():
        if thing is tensor:
            return {"global": name}
    if tensor.device.type != "meta" and tensor.numel() <= MOST_VALUES and not tensor.is_complex():
        values = tensor.detach().cpu()
        return {"values": [repr(v) for v in (values.double() if values.is_floating_point() else values).flatten().tolist()]}
    return {"opaque": f"a tensor of {tensor.numel()} elements that forward makes or finds outside of the model"}


def inputs_of(task, part, tracer, loaded):
    """The task's inputs in order, each with its place in the module or in the call."""
    entries = []
    for value, entry in zip(part.inputs, task.inputs):
        made = {"name": entry["name"], "source": entry["source"], "kind": entry["kind"], "type": entry["type"],
                "shape": list(value.shape), "dtype": dtype_name(value.dtype), "facts": entry["facts"]}
        if entry["kind"] == "constant":
            real = tracer.tensor_of(value)
            made["place"] = constant_place(real, loaded) if real is not None else {"opaque": "a tensor that cannot be found again"}
        if entry["kind"] == "drawn":
            made["place"] = value.origin.drawn
        entries.append(made)
    return entries


def result_tree(result, outputs, names):
    """forward's result with {"output": name} or, where it gives an input back, {"input": ...} for tensors. `outputs` are the values
    of its tensors in order, `names` the task's names by the value's number."""
    order = iter(outputs)

    def leaf(tensor):
        value = next(order)
        if value.index in names:
            return {"output": names[value.index], "dtype": dtype_name(tensor.dtype)}
        if value.origin is not None and value.origin.kind in ("input", "parameter", "buffer"):
            return {"input": value.origin.name, "kind": value.origin.kind}
        return {"opaque": "a tensor that the task does not give"}

    return tree(result, leaf)


def modes_of(module):
    """Modules whose behaviour may depend on their mode, with the mode they were in: layers of PyTorch that are known to, and every
    class of somebody else that looks at it."""
    found = []
    for path, part in module.named_modules():
        own = not type(part).__module__.startswith("torch.nn.")
        looks = own and any("training" in getattr(function, "__code__").co_names for function in vars(type(part)).values()
                            if hasattr(function, "__code__"))
        if looks or isinstance(part, MODES):
            found.append([path, part.training])
    return found


def settings_of(module):
    """Plain attributes of every layer (kernel sizes, eps, ...): what a task has as literals."""
    plain = lambda v: isinstance(v, (bool, int, float, str)) or v is None or (  # noqa: E731
        isinstance(v, (tuple, list)) and all(isinstance(item, (bool, int, float, str)) or item is None for item in v))
    found = {}
    for path, part in module.named_modules():
        own = {name: repr(v) for name, v in vars(part).items() if not name.startswith("_") and name != "training" and plain(v)}
        found[path] = [type(part).__name__, own]
    return found


def local_imports(file):
    """Names of modules that the file imports from its own folder."""
    folder = os.path.dirname(os.path.abspath(file)) + os.sep
    names = []
    for name, thing in list(sys.modules.items()):
        origin = getattr(thing, "__file__", None)
        if origin and os.path.abspath(origin).startswith(folder) and "site-packages" not in origin and "dist-packages" not in origin \
                and name not in ("kerf_user_model", "__main__"):
            names.append(name)
    return sorted(names)


def made_by(loaded):
    args, kwargs = loaded.init
    return {"kind": loaded.made, "name": loaded.name, "args": [tree(thing, no_tensor) for thing in args],
            "kwargs": {name: tree(thing, no_tensor) for name, thing in kwargs.items()}}


def record_of(request, loaded, traced, task, part, answer):
    """The whole record; the run keeps it as its fact 'model'."""
    with open(request["file"], encoding="utf-8") as stream:
        source = stream.read()
    names = {value.index: entry["name"] for value, entry in zip(part.outputs, task.outputs)}
    return {"schema": SCHEMA, "file": os.path.basename(request["file"]), "source": source, "torch": answer["torch"],
            "target": request.get("target", ""), "training": answer["training"], "share": answer["share"],
            "uncovered": answer["uncovered"], "dropped": answer["dropped"], "notes": answer["notes"],
            "model": made_by(loaded), "arguments": arguments_of(loaded, traced.arguments),
            "inputs": inputs_of(task, part, traced.tracer, loaded),
            "outputs": [{"name": entry["name"], "type": entry["type"], "shape": list(value.shape)}
                        for value, entry in zip(part.outputs, task.outputs)],
            "result": result_tree(traced.result, traced.outputs, names), "changes": traced.state + traced.changed_arguments, "modes": modes_of(loaded.module),
            "settings": settings_of(loaded.module), "imports": local_imports(request["file"])}
