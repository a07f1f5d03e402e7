#!/usr/bin/env python3
"""Writes PyTorch's answers to every case of the table into a folder: manifest.json and data.bin.

usage: generate.py FOLDER        (exit status 77: PyTorch is not installed, so there is nothing to compare with)
"""

import json
import os
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed: the conformance test against it is skipped")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import case_table  # noqa: E402
import cases_gather  # noqa: E402,F401
import cases_linear  # noqa: E402,F401
import cases_loss  # noqa: E402,F401
import cases_normalization  # noqa: E402,F401
import cases_pointwise  # noqa: E402,F401
import cases_reduction  # noqa: E402,F401
import cases_shape  # noqa: E402,F401
import cases_window  # noqa: E402,F401


class Blob:
    """All tensors one after the other, each aligned to 8 bytes."""

    def __init__(self):
        self.parts = []
        self.size = 0

    def add(self, tensor):
        tensor = tensor.contiguous()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.view(torch.int16)
        data = tensor.numpy().tobytes()
        offset = self.size
        data += b"\0" * (-len(data) % 8)
        self.parts.append(data)
        self.size += len(data)
        return offset


def answer(tensor):
    """Floats as f64, integers as i64, bools as bytes."""
    if tensor.dtype == torch.bool:
        return "bool", tensor
    return ("f64", tensor.double()) if tensor.is_floating_point() else ("i64", tensor.long())


def run(item, blob):
    inputs, tensors = [], []
    for name, text in item["inputs"].items():
        tensor = case_table.make_input(name, text, item["expression"], item["bind"])
        inputs.append({"name": name, "type": text[:text.index("]") + 1], "shape": list(tensor.shape), "offset": blob.add(tensor)})
        tensors.append(tensor.double() if tensor.is_floating_point() else tensor)
    kind, result = answer(torch.as_tensor(item["reference"](*tensors)))
    return {"expression": item["expression"], "tolerance": item["tolerance"], "bind": item["bind"], "inputs": inputs,
            "output": {"dtype": kind, "shape": list(result.shape), "offset": blob.add(result)}}


def main():
    folder = sys.argv[1]
    torch.set_num_threads(2)
    blob, manifest = Blob(), []
    for item in case_table.CASES:
        try:
            manifest.append(run(item, blob))
        except Exception as error:  # a broken case must name itself
            print(f"case {item['expression']!r} with {item['inputs']}: {error}", file=sys.stderr)
            return 1
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "data.bin"), "wb") as file:
        file.write(b"".join(blob.parts))
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "cases": manifest}, file)
    print(f"{len(manifest)} cases by PyTorch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
