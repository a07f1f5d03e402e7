"""The programs of a comparison: the original model, torch.compile of it, and a file's ModelNew, with the same weights and inputs."""

import importlib.util
import os
import sys

import torch

from .errors import BridgeError, from_exception, from_syntax
from .loading import import_file, split_arguments
from .samples import LargeTensors
from .trace import replaced, tensors_in


def is_out_of_memory(error):
    text = str(error)
    return isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or "out of memory" in text or "DefaultCPUAllocator" in text


def set_seed(seed):
    """As KernelBench seeds: every generator of this process."""
    torch.manual_seed(seed % (1 << 63))


def byte_count(thing):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(thing))


def to_device(thing, device):
    return replaced(thing, lambda tensor: tensor.to(device))


class Task:
    """What the original file gives: a module for a seed, and inputs for a seed."""

    def __init__(self, file, device):
        self.file, self.device = file, device
        self.namespace = import_file(file)
        self.on_device = False  # inputs are drawn where they are used: large ones take seconds on the host
        if getattr(self.namespace, "Model", None) is None and not self._held():
            raise BridgeError("no_model", "the file has no 'Model'")
        if self._inputs_of() is None:
            raise BridgeError("no_inputs", "the file has no 'get_inputs'")

    def _held(self):
        """Modules that the file holds instead of a class."""
        found = {name: thing for name, thing in vars(self.namespace).items() if isinstance(thing, torch.nn.Module) and name[0] != "_"}
        return found.get("model") or (next(iter(found.values())) if len(found) == 1 else None)

    def _inputs_of(self):
        return getattr(self.namespace, "get_inputs", None) or getattr(self.namespace, "example_inputs", None)

    def init_inputs(self, seed):
        init = getattr(self.namespace, "get_init_inputs", None)
        set_seed(seed)
        args, kwargs = split_arguments(init() if callable(init) else [])
        return to_device(args, self.device), to_device(kwargs, self.device)

    def module(self, seed):
        model = getattr(self.namespace, "Model", None)
        if isinstance(model, torch.nn.Module) or model is None:
            return (model or self._held()).to(self.device)
        try:
            args, kwargs = self.init_inputs(seed)
            with torch.no_grad():
                set_seed(seed)
                return model(*args, **kwargs).to(self.device)
        except BaseException as error:
            raise from_exception("init", "Model(...) raised", error, self.file) from error

    def size_of_inputs(self):
        """Bytes, found without making large ones where that works; 0 when it does not."""
        give = self._inputs_of()
        try:
            set_seed(0)
            with LargeTensors():
                return byte_count(give() if callable(give) else give)
        except Exception:
            return 0

    def inputs(self, seed):
        """(args, kwargs) on the device."""
        give = self._inputs_of()
        try:
            set_seed(seed)
            if not callable(give):
                given = give
            elif self.on_device:
                given = self._drawn_there(give, seed)
            else:
                given = give()
            args, kwargs = split_arguments(given)
            return to_device(args, self.device), to_device(kwargs, self.device)
        except BaseException as error:
            raise from_exception("inputs", "get_inputs() raised", error, self.file) from error

    def _drawn_there(self, give, seed):
        try:
            with torch.device(self.device):
                return give()
        except Exception as error:
            if is_out_of_memory(error):
                raise
            self.on_device = False  # it mixes devices, or this PyTorch has no default device
            set_seed(seed)
            return give()


def load_kernel(file, task, seed):
    """ModelNew of the file, made with the weights that KernelBench's evaluator would give it."""
    if not os.path.isfile(file):
        raise BridgeError("not_found", f"there is no file {file}")
    try:
        with open(file, encoding="utf-8") as stream:
            compile(stream.read(), file, "exec")
    except (SyntaxError, UnicodeDecodeError) as error:
        if isinstance(error, SyntaxError):
            raise from_syntax(error, file) from None
        raise BridgeError("syntax", "the file is not UTF-8 text") from None
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location("kerf_kernel_file", file)
    namespace = importlib.util.module_from_spec(spec)
    sys.modules["kerf_kernel_file"] = namespace
    try:
        spec.loader.exec_module(namespace)
        made = getattr(namespace, "ModelNew", None)
        if made is None:
            raise BridgeError("no_model", "the file has no 'ModelNew'")
        args, kwargs = task.init_inputs(seed)
        with torch.no_grad():
            set_seed(seed)
            return (made if isinstance(made, torch.nn.Module) else made(*args, **kwargs)).to(task.device)
    except BridgeError:
        raise
    except BaseException as error:
        raise from_exception("kernel", "ModelNew(...) raised", error, file) from error


def outputs_of(result):
    """The tensors of what forward gave, in order."""
    return list(tensors_in(result))


def run_once(module, inputs):
    with torch.no_grad():
        return outputs_of(module(*inputs[0], **inputs[1]))


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def free_memory(device):
    """Bytes that can still be had; those of the allocator's cache count."""
    if device == "cuda":
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]
    try:
        with open("/proc/meminfo", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 4 << 30
