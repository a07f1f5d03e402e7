"""main([REQUEST, ANSWER]): both are JSON files. Exit code 0 whenever there is an answer. main(["--serve", SOCKET]): see server.py."""

import json
import os
import sys


def refusal(kind, message, line=0, frames=()):
    return {"schema": 1, "ok": False, "kind": kind, "message": message, "line": line, "frames": list(frames)}


def no_torch():
    """Why this Python cannot be used, as an answer; None when it can."""
    try:
        import torch  # noqa: F401
    except Exception as error:
        return refusal("no_torch", f"it cannot import torch: {error}")
    try:
        from torch.overrides import TorchFunctionMode  # noqa: F401
    except ImportError:
        return refusal("no_torch", f"its PyTorch {torch.__version__} is older than 1.13")
    return None


def answer(request, keep=lambda answer: None):
    """`keep` gets answers that are not complete yet."""
    problem = no_torch()
    if problem is not None:
        return problem
    from kerf_bridge.errors import BridgeError, from_exception
    try:
        if request.get("do") == "compare":
            from kerf_bridge.compare import compare
            return compare(request, keep)
        from kerf_bridge.bridge import import_model
        return import_model(request)
    except BridgeError as error:
        problem = error
    except MemoryError as error:
        problem = from_exception("memory", "out of memory", error, request.get("file") or request.get("model"))
    return refusal(problem.kind, problem.message, problem.line, problem.frames)


def finite(thing):
    """JSON has no infinities."""
    if isinstance(thing, float):
        return thing if thing - thing == 0 else None
    if isinstance(thing, dict):
        return {key: finite(item) for key, item in thing.items()}
    return [finite(item) for item in thing] if isinstance(thing, (list, tuple)) else thing


def write(path, result):
    """Whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(finite(result), stream)
    os.replace(path + ".new", path)


def main(arguments):
    if arguments[0] == "--serve":
        from kerf_bridge.server import serve
        return serve(int(arguments[1]))
    with open(arguments[0], encoding="utf-8") as stream:
        request = json.load(stream)
    write(arguments[1], answer(request, lambda result: write(arguments[1], result)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
