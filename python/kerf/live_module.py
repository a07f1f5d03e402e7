"""A module that lives in this process as a model file: the module and its arguments are pickled, and a small file loads them.

Classes that are defined in a script or a notebook (`__main__`) cannot be imported by another process. Their source is written
into the file, with the functions, imports and plain values that it uses.
"""

import ast
import inspect
import os
import pickle
import sys
import textwrap
import types

import torch

from .program import KerfError

ALIAS = "kerf_live_model"  # what pickles call the file

LOADER = '''

sys.modules["{alias}"] = sys.modules[__name__]
_folder = os.path.dirname(os.path.abspath(__file__))
model = torch.load(os.path.join(_folder, "module.pt"), map_location="cpu", **_options)


def get_inputs():
    return torch.load(os.path.join(_folder, "inputs.pt"), map_location="cpu", **_options)
'''


def names_in(source):
    """All names that a definition uses: bases, decorators and bodies."""
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


class MainSource:
    """The part of __main__ that some classes need, as text."""

    def __init__(self):
        self.globals = vars(sys.modules["__main__"])
        self.imports, self.values, self.definitions, self.done = [], [], [], set()
        self.classes = []

    def add(self, thing):
        """A class or function of __main__ with everything it uses, before it."""
        if thing.__qualname__ in self.done:
            return
        self.done.add(thing.__qualname__)
        if "<locals>" in thing.__qualname__ or "." in thing.__qualname__:
            raise KerfError(f"{thing.__qualname__} is defined inside a function or class, where another process cannot find it; move it to "
                            "the top of the script or into a module")
        try:
            source = textwrap.dedent(inspect.getsource(thing))  # below 'if __name__ ...' too
        except (OSError, TypeError):
            raise KerfError(f"the source of {thing.__qualname__} cannot be read (it was typed into a prompt, or its file is gone); put it "
                            "into a module or a notebook cell, or write a model file and give its path") from None
        for name in sorted(names_in(source)):
            self.need(name)
        self.definitions.append(source)
        if inspect.isclass(thing):
            self.classes.append(thing)

    def need(self, name):
        if name not in self.globals or name in self.done or name in ("__name__", "__file__"):
            return
        thing = self.globals[name]
        if isinstance(thing, types.ModuleType):
            self.done.add(name)
            self.imports.append(f"import {thing.__name__} as {name}")
        elif inspect.isclass(thing) or inspect.isfunction(thing) or inspect.isbuiltin(thing):
            if getattr(thing, "__module__", None) == "__main__":
                self.add(thing)
            elif getattr(thing, "__module__", None):
                self.done.add(name)
                self.imports.append(f"from {thing.__module__} import {thing.__name__} as {name}")
        elif isinstance(thing, (bool, int, float, str, type(None), tuple, list, dict)):
            self.done.add(name)
            self.values.append(f"{name} = {thing!r}")

    def text(self):
        return "\n".join(self.imports + self.values) + "\n\n\n" + "\n\n".join(self.definitions)


def classes_in_main(module, values):
    found = []
    for part in list(module.modules()) + values:
        for kind in type(part).__mro__:
            if kind.__module__ == "__main__" and kind not in found:
                found.append(kind)
    return found


def pickled(path, thing, classes):
    """Pickles with the classes of __main__ under the name that the file gives itself."""
    alias = types.ModuleType(ALIAS)
    for kind in classes:
        setattr(alias, kind.__name__, kind)
    sys.modules[ALIAS] = alias
    try:
        for kind in classes:
            kind.__module__ = ALIAS
        torch.save(thing, path)
    except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
        raise KerfError(f"the module cannot be pickled ({error}); write a model file with a class Model and get_inputs, and give its "
                        "path") from None
    finally:
        for kind in classes:
            kind.__module__ = "__main__"
        del sys.modules[ALIAS]


def flat(thing):
    if isinstance(thing, dict):
        return [item for value in thing.values() for item in flat(value)]
    if isinstance(thing, (list, tuple)):
        return [thing] + [item for value in thing for item in flat(value)]
    return [thing]


def write_model_file(folder, module, args, kwargs):
    """Writes module.pt, inputs.pt and the file that loads them; gives the file's path."""
    os.makedirs(folder, exist_ok=True)
    source = MainSource()
    for kind in classes_in_main(module, flat([args, kwargs])):
        source.add(kind)
    pickled(os.path.join(folder, "module.pt"), module, source.classes)
    pickled(os.path.join(folder, "inputs.pt"), (list(args), dict(kwargs)), source.classes)
    path = os.path.join(folder, "model.py")
    folders = [place for place in sys.path if place and os.path.isdir(place)] + [os.getcwd()]
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("# Written by kerf.optimize for a module that had no model file.\nimport os\nimport sys\n\nimport torch\n\n"
                     f"for _place in {folders!r}:\n    if _place not in sys.path:\n        sys.path.append(_place)\n"
                     "_options = {'weights_only': False}\n\n")
        stream.write(source.text() + LOADER.format(alias=ALIAS))
    return path
