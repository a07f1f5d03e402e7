"""Exports and runs as Python modules."""

import hashlib
import importlib.util
import os
import sys

from .program import KerfError, find_program, run_program


def imported(path, name):
    """A file or a package folder as a module of that name."""
    is_package = os.path.isdir(path)
    file = os.path.join(path, "__init__.py") if is_package else path
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[path] if is_package else None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def name_for(path):
    """The same for one place, so that modules pickled by one process are found by another that loads the same."""
    stem = "".join(c if c.isalnum() else "_" for c in os.path.splitext(os.path.basename(path))[0])
    return f"kerf_loaded_{stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"


def load(path, binary=None):
    """A package of `kerf export --format torch` (with `wrap(module)` and `Model`), a file of `--format kernelbench` (with
    `ModelNew`), or a run, which is exported into its folder first."""
    path = os.path.abspath(os.fspath(path))
    if not os.path.exists(path):
        raise KerfError(f"there is nothing at {path}")
    if os.path.exists(os.path.join(path, "kerf.db")):
        package = os.path.join(path, "export_torch")
        run_program(find_program(binary), ["export", path, "--format", "torch", "--out", package])
        return imported(package, name_for(package))
    if os.path.exists(os.path.join(path, "_plan.py")) or (path.endswith(".py") and os.path.isfile(path)):
        return imported(path, name_for(path))
    raise KerfError(f"{path} is neither a run of kerf nor an export of the formats torch and kernelbench")
