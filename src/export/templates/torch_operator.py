# The kernels as an operator of PyTorch, kerf_ID::NAME(Tensor[] tensors, int module) -> Tensor[]: what torch.compile sees of a
# call. `tensors` are the task's inputs, then the other tensors that gradients may be asked for; `module` is the number of the
# live module, whose original computes gradients.

import itertools
import threading
import weakref


def kerf_registry():
    """What all packages of a process share: operators are defined once, modules have numbers of their own."""
    registry = sys.modules.get("kerf_operators")
    if registry is None:
        registry = types.ModuleType("kerf_operators")
        registry.live, registry.numbers, registry.operators = weakref.WeakValueDictionary(), itertools.count(1), {}
        registry.libraries = []
        sys.modules["kerf_operators"] = registry
    return registry


def kerf_is_compiling():
    if KERF_TORCH >= (2, 1):
        return torch.compiler.is_compiling()
    return KERF_TORCH >= (2, 0) and torch._dynamo.is_compiling()


def kerf_run(tensors, module):
    runtime = kerf_registry().live[module].kerf_runtime
    return runtime.kernels.run(runtime.prepared(tensors[:len(runtime.plan["inputs"])]))


def kerf_run_backward(grads, tensors, module):
    live = kerf_registry().live[module]
    runtime = live.kerf_runtime
    values = dict(zip(live.kerf_layout, tensors))
    own = dict(live.named_parameters())
    leaves, places = [], []
    for number, (kind, source) in enumerate(live.kerf_layout):
        leaf = own.get(source) if kind == "parameter" else values[kind, source] if kind == "input" else None
        if leaf is None or not leaf.is_floating_point() or (kind == "parameter" and not leaf.requires_grad):
            continue
        leaves.append(leaf)
        places.append(number)
        if kind == "input":
            values[kind, source] = leaves[-1] = leaf.detach().requires_grad_()
    args = [kerf_rebuilt(tree, values) for tree in runtime.forms["args"]]
    kwargs = {name: kerf_rebuilt(tree, values) for name, tree in runtime.forms["kwargs"].items()}
    found = kerf_above_autograd(tensors[0].device, lambda: kerf_gradients(runtime, live, args, kwargs, leaves, grads))
    results = [torch.zeros_like(tensor) for tensor in tensors]
    for place, grad in zip(places, found):
        if grad is not None:
            results[place] = grad.contiguous().clone()
    return results


def kerf_above_autograd(device, compute):
    """What `compute` gives in a thread of its own: inside an operator PyTorch records nothing for gradients."""
    answer = []
    stream = torch.cuda.current_stream(device) if device.type == "cuda" else None

    def work():
        try:
            if stream is None:
                answer.append((compute(), None))
            else:
                with torch.cuda.device(device), torch.cuda.stream(stream):
                    answer.append((compute(), None))
        except BaseException as error:
            answer.append((None, error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    found, error = answer[0]
    if error is not None:
        raise error
    return found


def kerf_rebuilt(tree, values):
    """An argument of forward from the tensors of a call."""
    if "argument" in tree:
        return values["input", tree["argument"]]
    if "list" in tree or "tuple" in tree:
        items = [kerf_rebuilt(item, values) for item in tree.get("list") or tree.get("tuple") or []]
        return items if "list" in tree else tuple(items)
    if "dict" in tree:
        return {key: kerf_rebuilt(item, values) for key, item in tree["dict"]}
    if "named" in tree:
        return tuple(kerf_rebuilt(item, values) for _, item in tree["named"])
    return kerf_value(tree)


def kerf_define(runtime, space):
    """The operator of these kernels; the same one when the package is loaded again."""
    registry = kerf_registry()
    if space not in registry.operators:
        define = kerf_define_new if KERF_TORCH >= (2, 4) else kerf_define_old
        define(runtime, space, registry)
        registry.operators[space] = getattr(getattr(torch.ops, space), runtime.name)
    return registry.operators[space]


def kerf_define_new(runtime, space, registry):
    def fake(tensors, module):
        return kerf_outputs(runtime.plan, tensors[0].device)

    def fake_backward(grads, tensors, module):
        return [torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in tensors]

    def setup(ctx, inputs, output):
        tensors, ctx.module = inputs
        ctx.save_for_backward(*tensors)

    def backward(ctx, grads):
        tensors = list(ctx.saved_tensors)
        known = [torch.zeros(entry["shape"], dtype=dtype, device=tensors[0].device) if grad is None else grad
                 for grad, entry, dtype in zip(grads, runtime.plan["outputs"], runtime.kernels.types)]
        found = step_back(known, tensors, ctx.module)
        return [grad if tensor.is_floating_point() else None for grad, tensor in zip(found, tensors)], None

    kinds = {"device_types": runtime.device, "mutates_args": ()}
    operator = torch.library.custom_op(space + "::" + runtime.name, kerf_run, schema="(Tensor[] tensors, int module) -> Tensor[]", **kinds)
    operator.register_fake(fake)
    step_back = torch.library.custom_op(space + "::" + runtime.name + "_backward", kerf_run_backward,
                                        schema="(Tensor[] grads, Tensor[] tensors, int module) -> Tensor[]", **kinds)
    step_back.register_fake(fake_backward)
    operator.register_autograd(backward, setup_context=setup)
    registry.libraries += [operator, step_back]


def kerf_define_old(runtime, space, registry):
    library = torch.library.Library(space, "DEF")
    library.define(runtime.name + "(Tensor[] tensors, int module) -> Tensor[]")
    library.impl(runtime.name, kerf_run, runtime.device.upper())
    library.impl(runtime.name, lambda tensors, module: kerf_outputs(runtime.plan, "meta"), "Meta")
    registry.libraries.append(library)


class KerfTorchRuntime(KerfRuntime):
    """The same, with an operator for torch.compile."""

    def __init__(self, plan, source, space):
        super().__init__(plan, source)
        self.find_namespace = lambda: None
        self.operator = kerf_define(self, space)

    def class_of(self, text):
        self.namespace = self.find_namespace()
        return super().class_of(text)

    def constant(self, module, entry, device):
        if "global" in entry["place"]:
            self.namespace = self.find_namespace()
        return super().constant(module, entry, device)

    def adopt(self, module):
        """Gives a module its number, and the order of the operator's tensors."""
        layout = [(entry["kind"], entry["source"]) for entry in self.plan["inputs"]]
        names = []
        for tree in list(self.forms["args"]) + list(self.forms["kwargs"].values()):
            kerf_argument_names(tree, names)
        layout += [("input", name) for name in names if ("input", name) not in layout]
        layout += [("parameter", name) for name, _ in module.named_parameters() if ("parameter", name) not in layout]
        module.kerf_layout = layout
        module.__dict__.pop("kerf_rest", None)
        module.kerf_number = next(kerf_registry().numbers)
        kerf_registry().live[module.kerf_number] = module

    def traced(self, module, args, kwargs):
        """A call under torch.compile: one operator, or the original."""
        found = {}
        reason = self.reason(module, args, kwargs, found)
        if reason or self.draws:
            return module.forward_of_original(*args, **kwargs)
        inputs, reason = self.inputs(module, found)
        wants = not reason and torch.is_grad_enabled() and KERF_TORCH < (2, 4) and len(kerf_leaves(self, module, found, inputs)) > 0
        if reason or wants:
            return module.forward_of_original(*args, **kwargs)
        for kind, source in module.kerf_layout[len(inputs):]:
            inputs.append(found[source] if kind == "input" else self.state(module, {"kind": kind, "source": source}))
        outputs = self.operator(inputs, module.kerf_number)
        named = {entry["name"]: tensor for entry, tensor in zip(self.plan["outputs"], outputs)}
        return self.assembled(self.plan["result"], named, module, found)


def kerf_argument_names(tree, names):
    if "argument" in tree:
        names.append(tree["argument"])
    for item in tree.get("list") or tree.get("tuple") or []:
        kerf_argument_names(item, names)
    for _, item in tree.get("dict") or tree.get("named") or []:
        kerf_argument_names(item, names)


class KerfTorchModule(KerfModule):
    def forward(self, *args, **kwargs):
        if kerf_is_compiling():
            return self.kerf_runtime.traced(self, args, kwargs)
        return self.kerf_runtime.call(self, args, kwargs)

    def kerf_plain(self):
        """The original module, which shares everything with this one."""
        plain = self.kerf_original_class.__new__(self.kerf_original_class)
        plain.__dict__.update({name: thing for name, thing in self.__dict__.items() if not name.startswith("kerf_")})
        return plain

    def __deepcopy__(self, memo):
        twin = self.__class__.__new__(self.__class__)
        memo[id(self)] = twin
        twin.__dict__.update({name: copy.deepcopy(thing, memo) for name, thing in self.__dict__.items()})
        self.kerf_runtime.adopt(twin)
        return twin

    def __reduce__(self):
        if hasattr(type(self), "kerf_wrap"):  # its class was made for it and has no place of its own
            return type(self).kerf_wrap, (self.kerf_plain(),)
        return super().__reduce__()

    def __setstate__(self, state):
        super().__setstate__(state)
        self.kerf_runtime.adopt(self)


def kerf_settings_reason(settings, module):
    """How a module differs from the one that was optimized: literals of the kernels are these settings of its layers."""
    own = dict(module.named_modules())
    for path, (kind, values) in settings.items():
        part = own.get(path)
        name = path or "the model"
        if part is None:
            return "there is no layer {}".format(name)
        if type(part).__name__ != kind:
            return "{} is a {}, not a {}".format(name, type(part).__name__, kind)
        for key, wanted in values.items():
            if hasattr(part, key) and repr(getattr(part, key)) != wanted:
                return "{}.{} is {!r}, not {}".format(name, key, getattr(part, key), wanted)
    return ""
