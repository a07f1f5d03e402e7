#!/usr/bin/env python3
"""Imports models and writes, for each, the task with PyTorch's own inputs and outputs (computed in f64) into a folder.

usage: generate.py FOLDER [MODEL.py ...]     (exit status 77: PyTorch is not installed)

Without names the models of models.py are used. Files are made small first: whole numbers of 16 and more that are assigned to names at
the top of a file are divided by the largest of 512, 256, ... 1 with which the model still runs (but not below 4).
"""

import ast
import copy
import json
import os
import sys
import tempfile

try:
    import torch
except ImportError:
    print("PyTorch is not installed: imported models are not compared with it")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "python"))
sys.path.insert(0, HERE)

from kerf_bridge import bridge, loading, samples  # noqa: E402
from kerf_bridge.errors import BridgeError  # noqa: E402
from kerf_bridge.trace import replaced, tensors_in  # noqa: E402

MOST_FLOPS = float(os.environ.get("MOST_FLOPS", "3e9"))  # of a model that the interpreter computes in f64
MOST_ELEMENTS = float(os.environ.get("MOST_ELEMENTS", "1.6e7"))


class Blob:
    """All tensors one after the other, each aligned to 8 bytes."""

    def __init__(self):
        self.parts, self.size = [], 0

    def add(self, tensor):
        tensor = tensor.detach().contiguous()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.view(torch.int16)
        data = tensor.numpy().tobytes()
        offset = self.size
        data += b"\0" * (-len(data) % 8)
        self.parts.append(data)
        self.size += len(data)
        return offset


def divided(thing, factor):
    if isinstance(thing, tuple):
        return tuple(divided(item, factor) for item in thing)
    if isinstance(thing, int) and not isinstance(thing, bool) and thing >= 16:
        return max(4, thing // factor)
    return thing


def shrunk(text, factor):
    """The file with the whole numbers at its top divided: x = 64, x = 2 * 512, x = (512, 64)."""
    tree = ast.parse(text)
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        parts = (ast.Constant, ast.BinOp, ast.Tuple, ast.operator, ast.expr_context)
        if all(isinstance(node, parts) for node in ast.walk(statement.value)):
            value = eval(compile(ast.Expression(statement.value), "number", "eval"))  # numbers and operators only
            statement.value = ast.parse(repr(divided(value, factor)), mode="eval").body
    return ast.unparse(ast.fix_missing_locations(tree))


def perturbed(module):
    """Parameters that are all the same value would not show where they are used."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += (0.1 * torch.randn(parameter.shape, generator=generator)).to(parameter.dtype)


def widened(thing):
    return replaced(thing, lambda t: t.double() if t.is_floating_point() else t)


def expected(loaded):
    """forward in f64, as (label, tensor)."""
    module = copy.deepcopy(loaded.module)
    for part in module.modules():  # attributes that are no parameters too
        for name, thing in list(vars(part).items()):
            if isinstance(thing, torch.Tensor) and thing.is_floating_point():
                setattr(part, name, thing.double())
    module = module.double()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            return list(bridge.labelled(module(*widened(loaded.args), **widened(loaded.kwargs))))
    finally:
        torch.set_default_dtype(torch.float32)


def answer_dtype(tensor):
    if tensor.dtype == torch.bool:
        return "bool", tensor
    return ("f64", tensor.double()) if tensor.is_floating_point() else ("i64", tensor.long())


def case(file, name, functions, blob):
    notes = []
    samples.LARGE = 1 << 40  # everything is real
    loaded = loading.load(file, notes)
    count = sum(t.numel() for t in tensors_in((loaded.args, loaded.kwargs))) + sum(p.numel() for p in loaded.module.parameters())
    if count > MOST_ELEMENTS:
        raise OverflowError(f"{count} elements")
    perturbed(loaded.module)
    answer, part = bridge.import_loaded({"file": file, "functions": functions}, loaded, notes)
    if answer["uncovered"]:
        raise BridgeError("uncovered", ", ".join(entry["operator"] for entry in answer["uncovered"]))
    flops = sum(value.flops for value in part.values)
    if flops > MOST_FLOPS:
        raise OverflowError(f"{flops:.2g} operations")
    inputs = []
    for value, entry in zip(part.inputs, answer["inputs"]):
        real = value.origin.sample
        if real is None:
            raise BridgeError("random", f"{entry['name']} is drawn in forward")
        assert tuple(real.shape) == value.shape, (entry, real.shape)
        inputs.append({"name": entry["name"], "shape": list(real.shape), "offset": blob.add(real)})
    results, seen = [], set()
    for (label, tensor), output in zip(expected(loaded), answer["outputs"]):
        del label
        kind, tensor = answer_dtype(tensor)
        results.append({"name": output["name"], "dtype": kind, "shape": list(tensor.shape), "offset": blob.add(tensor)})
        seen.add(output["name"])
    return {"name": name, "task": answer["task"], "inputs": inputs, "outputs": results}


def smallest_case(text, name, functions, blob, folder):
    last = None
    for factor in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        path = os.path.join(folder, "model.py")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(shrunk(text, factor))
        try:
            return case(path, name, functions, blob)
        except OverflowError as error:
            raise BridgeError("size", f"too large with factor {factor}: {error}") from None
        except BridgeError as error:
            if error.kind in ("random", "uncovered"):
                raise
            last = error
        except (RuntimeError, ValueError, AssertionError, IndexError, ZeroDivisionError) as error:
            last = BridgeError("shrink", f"{type(error).__name__}: {error}")
    raise last


def main():
    folder, files = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(2)
    from functions import FUNCTIONS
    blob, manifest, refused = Blob(), [], []
    if files:
        texts = []
        for file in files:
            with open(file, encoding="utf-8") as stream:
                texts.append((os.path.join(os.path.basename(os.path.dirname(file)), os.path.basename(file)), stream.read()))
    else:
        import models
        texts = models.TEXTS.items()
    for name, text in texts:
        try:
            with tempfile.TemporaryDirectory() as place:
                manifest.append(smallest_case(text, name, FUNCTIONS, blob, place))
        except BridgeError as error:
            refused.append((name, error.kind, error.message))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "data.bin"), "wb") as stream:
        stream.write(b"".join(blob.parts))
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as stream:
        json.dump({"torch": torch.__version__, "models": manifest}, stream)
    for name, kind, message in refused:
        print(f"{name}: {kind}: {message}")
    print(f"{len(manifest)} models by PyTorch {torch.__version__}, {len(refused)} refused")
    return 1 if refused and not files else 0


if __name__ == "__main__":
    sys.exit(main())
