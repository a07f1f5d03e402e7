"""main([REQUEST, ANSWER]): both are JSON files. Exit code 0 whenever there is an answer."""

import json
import sys


def answer(request):
    try:
        import torch  # noqa: F401
    except Exception as error:
        return {"ok": False, "kind": "no_torch", "message": f"it cannot import torch: {error}", "line": 0, "frames": []}
    try:
        from torch.overrides import TorchFunctionMode  # noqa: F401
    except ImportError:
        return {"ok": False, "kind": "no_torch", "message": f"its PyTorch {torch.__version__} is older than 1.13", "line": 0, "frames": []}
    from kerf_bridge.bridge import import_model
    from kerf_bridge.errors import BridgeError, from_exception
    try:
        return import_model(request)
    except BridgeError as error:
        problem = error
    except MemoryError as error:
        problem = from_exception("memory", "out of memory", error, request["file"])
    return {"ok": False, "kind": problem.kind, "message": problem.message, "line": problem.line, "frames": problem.frames}


def main(arguments):
    with open(arguments[0], encoding="utf-8") as stream:
        request = json.load(stream)
    result = answer(request)
    with open(arguments[1], "w", encoding="utf-8") as stream:
        json.dump(result, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
