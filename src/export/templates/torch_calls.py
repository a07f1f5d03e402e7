# Matching. The kernels are for one form of call: these shapes, types, numbers and modes, and one device. Everything else is
# computed by the original.

KERF_PLAIN = (torch.Tensor, torch.nn.Parameter)
KERF_TORCH = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


def kerf_value(tree):
    """The Python value of a tree without tensors; trees are those of docs/pytorch.md."""
    if "value" in tree:
        return tree["value"]
    if "number" in tree:
        return float(tree["number"])
    if "list" in tree:
        return [kerf_value(item) for item in tree["list"]]
    if "tuple" in tree:
        return tuple(kerf_value(item) for item in tree["tuple"])
    if "named" in tree:
        return tuple(kerf_value(item) for _, item in tree["named"])
    if "dict" in tree:
        return {key: kerf_value(item) for key, item in tree["dict"]}
    if "torch" in tree:
        return tree["torch"]
    return None


def kerf_differs(tree, thing, name):
    """"" when `thing` is what the tree without tensors says, else how it differs."""
    if "opaque" in tree:
        return ""
    if "torch" in tree:
        return "" if str(thing) == tree["torch"] else "{} is {}, not {}".format(name, thing, tree["torch"])
    wanted = kerf_value(tree)
    if isinstance(thing, torch.Tensor):
        return "{} is a tensor, not {!r}".format(name, wanted)
    same = thing == wanted or (wanted != wanted and thing != thing)
    if isinstance(wanted, (list, tuple)) and isinstance(thing, (list, tuple)):
        same = list(thing) == list(wanted)
    return "" if same else "{} is {!r}, not {!r}".format(name, thing, wanted)


def kerf_bound(function, args, kwargs):
    """Arguments as the function sees them, defaults included."""
    call = inspect.signature(function).bind(*args, **kwargs)
    call.apply_defaults()
    return call.args, call.kwargs


class KerfRuntime:
    """One set of kernels and the calls of `forward` that it is for."""

    def __init__(self, plan, source, namespace=None):
        self.plan, self.namespace = plan, namespace
        self.name = plan["name"]
        self.device, language = KERF_LANGUAGES[plan["language"]]
        self.kernels = language(plan, source)
        self.types = kerf_types(plan["inputs"])
        self.forms = plan["arguments"]
        self.positional = len(self.forms["args"])
        self.casts = plan.get("casts", False)
        self.used = {"kernels": 0, "original": 0}  # calls so far
        self.constants = {}                        # (name, device): tensor
        self.told = set()
        self.draws = any(entry["kind"] == "drawn" for entry in plan["inputs"])

    # What a call has

    def tensor_reason(self, name, tensor, shape, dtype):
        if type(tensor) not in KERF_PLAIN:
            return "{} is a {}".format(name, type(tensor).__name__)
        if list(tensor.shape) != shape:
            return "{} has the shape {}, not {}".format(name, list(tensor.shape), shape)
        if tensor.dtype is not dtype and not (self.casts and tensor.is_floating_point() and not dtype.is_floating_point):
            return "{} is {}, not {}".format(name, tensor.dtype, dtype)
        if tensor.device.type != self.device:
            return "{} is on {}, not on {}".format(name, tensor.device, self.device)
        return "" if tensor.layout is torch.strided else "{} is not dense".format(name)

    def match(self, tree, thing, name, found):
        """Adds the tensors of an argument to `found`, or says what is different."""
        if "argument" in tree:
            found[tree["argument"]] = thing
            return self.tensor_reason(tree["argument"], thing, tree["shape"], getattr(torch, tree["dtype"]))
        items = tree.get("list") or tree.get("tuple")
        if items is not None:
            if not isinstance(thing, (list, tuple)) or len(thing) != len(items):
                return "{} is not a sequence of {}".format(name, len(items))
            pairs = zip(items, thing)
        elif "dict" in tree:
            if not isinstance(thing, dict) or list(thing) != [key for key, _ in tree["dict"]]:
                return "{} has other keys".format(name)
            pairs = [(item, thing[key]) for key, item in tree["dict"]]
        elif "named" in tree:
            if not isinstance(thing, tuple) or len(thing) != len(tree["named"]):
                return "{} has other fields".format(name)
            pairs = [(item, part) for (_, item), part in zip(tree["named"], thing)]
        else:
            return kerf_differs(tree, thing, name)
        for item, part in pairs:
            reason = self.match(item, part, name, found)
            if reason:
                return reason
        return ""

    def arguments(self, module, args, kwargs, found):
        if kwargs or len(args) != self.positional or self.forms["kwargs"]:
            args, kwargs = kerf_bound(module.forward_of_original, args, kwargs)
        if len(args) != self.positional or set(kwargs) != set(self.forms["kwargs"]):
            return "it is called with other arguments"
        for number, (tree, thing) in enumerate(zip(self.forms["args"], args)):
            reason = self.match(tree, thing, "argument {}".format(number + 1), found)
            if reason:
                return reason
        for name, tree in self.forms["kwargs"].items():
            reason = self.match(tree, kwargs[name], name, found)
            if reason:
                return reason
        return ""

    def autocast(self):
        if KERF_TORCH >= (2, 4):
            return torch.is_autocast_enabled(self.device)
        return torch.is_autocast_enabled() if self.device == "cuda" else torch.is_autocast_cpu_enabled()

    def mode_reason(self, module):
        for path, training in self.plan["modes"]:
            part = module
            for name in path.split(".") if path else []:
                part = part._modules[name]
            if part.training is not training:
                return "{} is in {} mode".format(path or "the model", "training" if part.training else "evaluation")
        return "autocast is on" if self.autocast() else ""

    def state(self, module, entry):
        """A parameter, buffer or attribute by its path."""
        *path, name = entry["source"].split(".")
        for step in path:
            module = module._modules[step]
        store = module._parameters if entry["kind"] == "parameter" else module._buffers
        return store[name] if name in store else getattr(module, name)

    def constant(self, module, entry, device):
        place = entry["place"]
        if "attribute" in place:
            for step in place["attribute"].split("."):
                module = getattr(module, step)
            return module.to(device)
        key = (entry["name"], device)
        if key not in self.constants:
            dtype = getattr(torch, entry["dtype"])
            if "global" in place:
                tensor = getattr(self.namespace, place["global"])
            else:
                read = float if dtype.is_floating_point else (lambda text: text == "True") if dtype is torch.bool else int
                tensor = torch.tensor([read(text) for text in place["values"]], dtype=dtype).reshape(entry["shape"])
            self.constants[key] = tensor.to(device)
        return self.constants[key]

    def drawn(self, entry, device):
        place = entry["place"]
        draw = getattr(torch, place["function"])
        tensor = draw(entry["shape"], dtype=getattr(torch, entry["dtype"]), device=device if place["here"] else None)
        return tensor.to(device)

    def inputs(self, module, found):
        """(the task's inputs in order, "") or (None, why the kernels are not for this call)."""
        device = next(iter(found.values())).device if found else None
        inputs = []
        for entry in self.plan["inputs"]:
            kind = entry["kind"]
            if kind == "input":
                tensor = found[entry["source"]]
            elif kind in ("parameter", "buffer"):
                tensor = self.state(module, entry)
                reason = self.tensor_reason(entry["source"], tensor, entry["shape"], getattr(torch, entry["dtype"]))
                if reason:
                    return None, reason
            else:
                tensor = self.constant(module, entry, device) if kind == "constant" else self.drawn(entry, device)
            device = device or tensor.device
            if tensor.device != device:
                return None, "{} is on {}, not on {}".format(entry["source"], tensor.device, device)
            inputs.append(tensor)
        return inputs, ""

    def prepared(self, inputs):
        """As the kernels read them: contiguous, in the task's types."""
        ready = []
        for dtype, tensor in zip(self.types, inputs):
            ready.append((tensor if tensor.dtype is dtype else tensor.to(dtype)).contiguous())
        return ready

    # Results

    def assembled(self, tree, outputs, module, found):
        if "output" in tree:
            tensor = outputs[tree["output"]]
            return tensor if tree["dtype"] == str(tensor.dtype).split(".")[-1] else tensor.to(getattr(torch, tree["dtype"]))
        if "input" in tree:
            if tree["kind"] == "input":
                return found[tree["input"]]
            return self.state(module, {"source": tree["input"], "kind": tree["kind"]})
        whole = lambda item: self.assembled(item, outputs, module, found)  # noqa: E731
        if "list" in tree:
            return [whole(item) for item in tree["list"]]
        if "tuple" in tree:
            return tuple(whole(item) for item in tree["tuple"])
        if "dict" in tree:
            plain = {key: whole(item) for key, item in tree["dict"]}
            return self.class_of(tree["type"])(plain) if tree["type"] else plain
        if "named" in tree:
            return self.class_of(tree["type"])(*[whole(item) for _, item in tree["named"]])
        return kerf_value(tree)

    def class_of(self, text):
        module, name = text.split(":")
        thing = self.namespace if module == "kerf_user_model" else sys.modules[module]
        for step in name.split("."):
            thing = getattr(thing, step)
        return thing

    # Calls

    def reason(self, module, args, kwargs, found):
        return module.kerf_reason or self.mode_reason(module) or self.arguments(module, args, kwargs, found)

    def call(self, module, args, kwargs):
        """forward by the kernels where they are for this call, else by the original."""
        found = {}
        reason = self.reason(module, args, kwargs, found)
        inputs = None
        if not reason:
            inputs, reason = self.inputs(module, found)
        if reason:
            return self.original(module, args, kwargs, reason)
        if torch.is_grad_enabled():
            leaves = kerf_leaves(self, module, found, inputs)
            if leaves:
                if self.draws:
                    return self.original(module, args, kwargs, "a gradient is asked for and forward draws random numbers")
                outputs = KerfGradient.apply(self, module, args, kwargs, inputs, *leaves)
                return self.finished(outputs, module, found)
        return self.finished(self.kernels.run(self.prepared(inputs)), module, found)

    def finished(self, outputs, module, found):
        self.used["kernels"] += 1
        named = {entry["name"]: tensor for entry, tensor in zip(self.plan["outputs"], outputs)}
        return self.assembled(self.plan["result"], named, module, found)

    def original(self, module, args, kwargs, reason):
        self.used["original"] += 1
        if reason not in self.told:
            self.told.add(reason)
            warnings.warn("{}: PyTorch computes this call, not Kerf's kernels: {}".format(self.name, reason), stacklevel=4)
        return module.forward_of_original(*args, **kwargs)

    def made_reason(self, function, args, kwargs):
        """Whether a model made with these arguments is the one that the kernels are for."""
        made = self.plan["model"]
        if made["kind"] == "instance":
            return ""
        wanted = kerf_bound(function, [KerfTree(tree) for tree in made["args"]],
                            {name: KerfTree(tree) for name, tree in made["kwargs"].items()})
        given = kerf_bound(function, args, kwargs)
        names = list(inspect.signature(function).parameters) + ["argument"] * len(wanted[0])
        pairs = list(zip(names, wanted[0], given[0])) + [(name, tree, given[1].get(name)) for name, tree in wanted[1].items()]
        if len(wanted[0]) != len(given[0]) or set(wanted[1]) != set(given[1]):
            return "it was made with other arguments"
        for name, tree, thing in pairs:
            reason = kerf_differs(tree.tree, thing, name) if isinstance(tree, KerfTree) else ""
            if not reason and not isinstance(tree, KerfTree) and thing is not tree and thing != tree:
                reason = "{} is {!r}, not {!r}".format(name, thing, tree)
            if reason:
                return "it was made with other arguments: " + reason
        return ""


class KerfTree:
    """A recorded argument among real ones."""

    def __init__(self, tree):
        self.tree = tree


def kerf_leaves(runtime, module, found, inputs):
    """Tensors that gradients are asked for, each once: the task's inputs, other arguments, parameters that the task does without."""
    if "kerf_rest" not in module.__dict__:  # where they are, not which: they may be replaced
        known = {entry["source"] for entry in runtime.plan["inputs"] if entry["kind"] == "parameter"}
        module.__dict__["kerf_rest"] = [(part._parameters, name) for path, part in module.named_modules() for name in part._parameters
                                        if (path + "." + name if path else name) not in known]
    leaves = {id(tensor): tensor for tensor in inputs if tensor.requires_grad}
    leaves.update({id(tensor): tensor for tensor in found.values() if tensor.requires_grad})
    for store, name in module.__dict__["kerf_rest"]:
        tensor = store.get(name)
        if tensor is not None and tensor.requires_grad:
            leaves[id(tensor)] = tensor
    return list(leaves.values())


def kerf_tensors(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    items = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
    return [tensor for item in items for tensor in kerf_tensors(item)]


def kerf_replaced(thing, change):
    if isinstance(thing, torch.Tensor):
        return change(thing)
    if isinstance(thing, dict):
        return {key: kerf_replaced(item, change) for key, item in thing.items()}
    if hasattr(thing, "_fields"):
        return type(thing)(*[kerf_replaced(item, change) for item in thing])
    return type(thing)(kerf_replaced(item, change) for item in thing) if isinstance(thing, (list, tuple)) else thing


def kerf_gradients(runtime, module, args, kwargs, leaves, grads):
    """Gradients of the original for each leaf: its forward once more, then its backward. `grads` belong to the task's outputs."""
    twins = {}
    changes = any("." not in name for name in runtime.plan["changes"])  # an argument, perhaps: a leaf cannot be changed in place

    def detached(tensor):
        if id(tensor) not in twins:
            twins[id(tensor)] = tensor.detach().requires_grad_(tensor.requires_grad)
        return twins[id(tensor)].clone() if changes else twins[id(tensor)]

    with torch.enable_grad():
        result = module.forward_of_original(*kerf_replaced(list(args), detached), **kerf_replaced(dict(kwargs), detached))
        named = {}
        kerf_pair(runtime.plan["result"], result, named)
        outputs, given = [], []
        for entry, grad in zip(runtime.plan["outputs"], grads):
            output = named[entry["name"]]
            if grad is not None and output.requires_grad:
                outputs.append(output)
                given.append(grad.to(output.dtype))
        wanted = [twins.get(id(leaf), leaf) for leaf in leaves]
        if not outputs:
            return [None] * len(leaves)
        return list(torch.autograd.grad(outputs, wanted, given, allow_unused=True))


def kerf_pair(tree, result, named):
    """The tensors of a result by the names of the task's outputs."""
    if "output" in tree:
        named[tree["output"]] = result
        return
    items = tree.get("list") or tree.get("tuple") or []
    for item, part in zip(items, result if items else []):
        kerf_pair(item, part, named)
    for key, item in tree.get("dict") or []:
        kerf_pair(item, result[key], named)
    for key, item in tree.get("named") or []:
        kerf_pair(item, getattr(result, key), named)


class KerfGradient(torch.autograd.Function):
    """Kernels forward, the original backward."""

    @staticmethod
    def forward(ctx, runtime, module, args, kwargs, inputs, *leaves):
        ctx.runtime, ctx.module, ctx.call, ctx.leaves = runtime, module, (args, kwargs), leaves
        ctx.save_for_backward(*leaves)
        outputs = runtime.kernels.run(runtime.prepared(inputs))
        ctx.mark_non_differentiable(*[tensor for tensor in outputs if not tensor.is_floating_point()])
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *grads):
        ctx.saved_tensors  # an error when one of them was changed in the meantime
        args, kwargs = ctx.call
        return (None, None, None, None, None, *kerf_gradients(ctx.runtime, ctx.module, args, kwargs, ctx.leaves, grads))


def kerf_namespace(name, file, text):
    """The original model file as a module of its own."""
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    return module


class KerfModule:
    """The part of a model's class that calls the kernels; `kerf_runtime` and `forward_of_original` come with the class, and
    `kerf_reason` says why a model is not one that the kernels are for."""

    kerf_reason = ""

    def forward(self, *args, **kwargs):
        return self.kerf_runtime.call(self, args, kwargs)


def kerf_wrapped(runtime, module, reason="", base=KerfModule):
    """A module of a class of its own that shares parameters, buffers, hooks and everything else with `module`."""
    kind = type(module)
    own = {"kerf_runtime": runtime, "forward_of_original": kind.forward, "kerf_original_class": kind}
    state = dict(module.__dict__)
    if "forward" in state:  # of this object alone
        own["forward_of_original"] = staticmethod(state.pop("forward"))
    twin = kind.__new__(type(kind.__name__, (base, kind), own))
    twin.__dict__.update(state)
    twin.kerf_reason = reason
    return twin
