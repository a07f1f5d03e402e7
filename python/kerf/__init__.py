"""Kerf for people who live in Python: faster kernels for a PyTorch module, verified.

    result = kerf.optimize(model, [x], time=30)
    model = result.module            # a drop-in: same parameters, same state_dict
    again = kerf.load("fast_model")  # an export or a run

The work is done by the program `kerf`, which is found by the argument `binary`, KERF_BINARY, PATH, or in the repository
that this package lies in.
"""

from .loading import load
from .optimizing import Result, optimize
from .program import KerfError, find_program

__all__ = ["KerfError", "Result", "find_program", "load", "optimize"]
