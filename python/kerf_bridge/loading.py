"""Imports a model file and makes its module and example inputs."""

import importlib.util
import inspect
import os
import sys

import torch

from .errors import BridgeError, from_exception, from_syntax
from .samples import LargeTensors

SEED = 20240521  # the same weights, and so the same task, in every import


class Loaded:
    def __init__(self, module, args, kwargs, large):
        self.module, self.args, self.kwargs, self.large = module, args, kwargs, large
        self.namespace = None      # the imported file
        self.made = "class"        # what gave the module: a "class", a "function" or the file's "instance"; its name there
        self.name = "Model"
        self.init = ([], {})       # what Model was called with


def import_file(file):
    if not os.path.isfile(file):
        raise BridgeError("not_found", f"there is no file {file}")
    try:
        with open(file, encoding="utf-8") as stream:
            compile(stream.read(), file, "exec")
    except SyntaxError as error:
        raise from_syntax(error, file) from None
    except UnicodeDecodeError as error:
        raise BridgeError("syntax", f"the file is not UTF-8 text: {error.reason}") from None
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location("kerf_user_model", file)
    namespace = importlib.util.module_from_spec(spec)
    sys.modules["kerf_user_model"] = namespace
    torch.manual_seed(SEED)
    try:
        spec.loader.exec_module(namespace)
    except ModuleNotFoundError as error:
        problem = from_exception("import", "the file cannot be imported", error, file)
        problem.message += f"; install {error.name} for this Python, or choose another with --python"
        raise problem from None
    except BaseException as error:  # SystemExit of a script too
        raise from_exception("import", "the file cannot be imported", error, file) from None
    return namespace


def made(file, doing, kind, make):
    """What `make` gives, with large tensors without memory where that works, else as it is."""
    large = LargeTensors()
    torch.manual_seed(SEED)
    try:
        with large:
            return make(), large
    except Exception:  # it looks at values, or mixes them with others: then it is made as it is
        pass
    torch.manual_seed(SEED)
    try:
        return make(), LargeTensors()
    except BaseException as error:
        raise from_exception(kind, doing, error, file) from None


def make_module(namespace, file, notes):
    """An nn.Module, of `Model` and `get_init_inputs` or one that the file holds; its large tensors; how it was made."""
    model = getattr(namespace, "Model", None)
    if model is None:
        candidates = {name: thing for name, thing in vars(namespace).items()
                      if isinstance(thing, torch.nn.Module) and not name.startswith("_")}
        if "model" in candidates or len(candidates) == 1:
            name = "model" if "model" in candidates else next(iter(candidates))
            return candidates[name], LargeTensors(), ("instance", name, ([], {}))
        classes = [name for name, thing in vars(namespace).items() if inspect.isclass(thing) and issubclass(thing, torch.nn.Module)
                   and thing.__module__ == "kerf_user_model"]
        hint = f" (it has {', '.join(classes[:4])}; add: Model = {classes[-1]})" if classes else ""
        raise BridgeError("no_model", "the file has no 'Model': give a class Model(nn.Module), or a module named 'model'" + hint)
    if isinstance(model, torch.nn.Module):
        return model, LargeTensors(), ("instance", "Model", ([], {}))
    if not callable(model):
        raise BridgeError("no_model", "'Model' is neither a class nor a module")
    init = getattr(namespace, "get_init_inputs", None)
    arguments = init() if callable(init) else []
    args, kwargs = split_arguments(arguments)
    module, large = made(file, "Model(...) raised", "init", lambda: model(*args, **kwargs))
    if not isinstance(module, torch.nn.Module):
        raise BridgeError("no_model", f"Model(...) gave a {type(module).__name__}, not an nn.Module")
    return module, large, ("class" if inspect.isclass(model) else "function", "Model", (args, kwargs))


def split_arguments(arguments):
    """get_inputs and get_init_inputs give a list, a dict of keyword arguments, or ([...], {...})."""
    if isinstance(arguments, dict):
        return [], dict(arguments)
    if isinstance(arguments, (list, tuple)):
        if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
            return list(arguments[0]), dict(arguments[1])
        return list(arguments), {}
    return [arguments], {}


def make_inputs(namespace, file):
    give = getattr(namespace, "get_inputs", None) or getattr(namespace, "example_inputs", None)
    if give is None:
        raise BridgeError("no_inputs", "the file has no 'get_inputs': a function that gives the list of forward's arguments "
                          "(or 'example_inputs')")
    arguments, large = made(file, "get_inputs() raised", "inputs", give if callable(give) else lambda: give)
    return (*split_arguments(arguments), large)


def add_missing_functions():
    """Functions of later versions of PyTorch that the trace only needs by name."""
    functional = torch.nn.functional
    if hasattr(functional, "scaled_dot_product_attention"):
        return

    def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
        given = (query, key, value)
        if torch.overrides.has_torch_function(given):
            return torch.overrides.handle_torch_function(scaled_dot_product_attention, given, query, key, value, attn_mask, dropout_p,
                                                         is_causal, scale)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
        return scores.softmax(-1) @ value

    functional.scaled_dot_product_attention = scaled_dot_product_attention


def load(file, notes):
    add_missing_functions()
    namespace = import_file(file)
    try:
        module, large_parameters, how = make_module(namespace, file, notes)
        args, kwargs, large_inputs = make_inputs(namespace, file)
    except BridgeError:
        raise
    except BaseException as error:
        raise from_exception("import", "the file raised", error, file) from None
    loaded = Loaded(module, args, kwargs, (large_parameters, large_inputs))
    loaded.namespace = namespace
    loaded.made, loaded.name, loaded.init = how
    return loaded
