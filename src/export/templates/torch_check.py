"""Compares the kernels with the original in double precision: python -m NAME.check [--seed N]. Exit code 1 when they differ, or
when the kernels are not used."""
import argparse
import copy
import sys

import torch

import importlib

package = importlib.import_module(__package__)
TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "tf32": 5e-3, "f16": 2e-2, "bf16": 1e-1}  # of what is next to a value's own scale


def given(arguments):
    """A list, a dict of keyword arguments, or ([...], {...}), as model files give them."""
    if isinstance(arguments, dict):
        return [], dict(arguments)
    if isinstance(arguments, (list, tuple)):
        if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
            return list(arguments[0]), dict(arguments[1])
        return list(arguments), {}
    return [arguments], {}


def made(original):
    """The original model and example arguments of its file."""
    how = package.runtime.plan["model"]
    module = getattr(original, how["name"])
    if how["kind"] != "instance":
        args, kwargs = given(original.get_init_inputs()) if hasattr(original, "get_init_inputs") else ([], {})
        module = module(*args, **kwargs)
    give = getattr(original, "get_inputs", None) or original.example_inputs
    return (module, *given(give() if callable(give) else give))


def changed(thing, change):
    return package._runtime.kerf_replaced(thing, change)


def wide(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def error_of(value, exact):
    """The largest difference, in units of the value's size or of the output's where that is larger."""
    if not value.is_floating_point():
        return float((value != exact).double().mean())  # the share of elements that differ
    if value.numel() == 0:
        return 0.0
    value, exact = value.double(), exact.double()
    same = (value == exact) | (torch.isnan(value) & torch.isnan(exact))
    scale = exact.abs() + exact[torch.isfinite(exact)].square().mean().sqrt().nan_to_num()
    return float(torch.where(same, torch.zeros_like(exact), (value - exact).abs() / scale.clamp_min(1e-30)).max())


def main():
    parser = argparse.ArgumentParser(prog="python -m {}.check".format(__package__), description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    device = package.runtime.device
    if device == "cuda" and not torch.cuda.is_available():
        print("not checked: the kernels are CUDA and PyTorch finds no GPU here")
        return 2
    torch.manual_seed(seed)
    module, args, kwargs = made(package.original)
    module = module.to(device)
    args, kwargs = changed([args, kwargs], lambda tensor: tensor.to(device))
    wrapped = package.wrap(copy.deepcopy(module))
    with torch.no_grad():
        again = lambda thing: changed(thing, torch.clone)  # noqa: E731
        ours = package._runtime.kerf_tensors(wrapped(*again(args), **again(kwargs)))
        theirs = package._runtime.kerf_tensors(copy.deepcopy(module)(*again(args), **again(kwargs)))
        exact = package._runtime.kerf_tensors(copy.deepcopy(module).double()(*changed(args, wide), **changed(kwargs, wide)))
    if package.runtime.used["kernels"] == 0:
        print("WRONG: the kernels were not used: {}".format("; ".join(sorted(package.runtime.told)) or "unknown"))
        return 1
    tolerance, right = TOLERANCES[package.runtime.plan["precision"]], True
    if len(ours) != len(theirs):
        print("WRONG: {} tensors instead of {}".format(len(ours), len(theirs)))
        return 1
    for number, (value, expected, reference) in enumerate(zip(ours, theirs, exact)):
        if value.shape != expected.shape or value.dtype != expected.dtype:
            print("WRONG: output {} is {} {}, not {} {}".format(number, value.dtype, list(value.shape), expected.dtype, list(expected.shape)))
            return 1
        found, known = error_of(value, reference), error_of(expected, reference)
        good = found <= max(tolerance, 4 * known)
        right = right and good
        print("{}  output {}: error {:.2g} (PyTorch's own {:.2g}, allowed {:.2g})".format(
            "ok   " if good else "WRONG", number, found, known, max(tolerance, 4 * known)))
    if sorted(wrapped.state_dict()) != sorted(module.state_dict()):
        print("WRONG: state_dict has other keys")
        return 1
    print("all right" if right else "the kernels compute something else")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
