#!/usr/bin/env python3
"""KernelBench's own evaluator on exported kernels, on a GPU.

kernelbench_eval.py KERNELBENCH EXPORTS [--out FILE.json] [--trials N] [--perf-trials N] [--static]

KERNELBENCH is a checkout of KernelBench, EXPORTS a folder with files of `kerf export --format kernelbench` named like the problems
they are of: 1_23_Softmax.py or level1/23_Softmax.py for problem 23 of level 1. Every file is evaluated in a process of its own, so that
one that crashes does not stop the rest. Per file: whether KernelBench calls it compiled and correct, its times, and how many calls
Kerf's kernels computed; a file whose calls all fell back to PyTorch is counted as such. Exit code 1 when a file is not correct."""
import argparse
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import types


def problem_of(checkout, path, exports):
    """The reference file of an exported one, or None."""
    relative = path.relative_to(exports).as_posix()
    match = re.match(r"(?:level)?(\d)[_/](\d+)_", relative)
    if match is None:
        return None
    level, number = match.groups()
    found = sorted((checkout / "KernelBench" / f"level{level}").glob(f"{number}_*.py"))
    return found[0] if found else None


class Record:
    """What KernelBench uses of pydantic: fields with defaults, set by name."""

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


def stand_in_for_clients():
    """KernelBench's package imports clients of language models, which evaluating a file does not use: they may be missing."""
    nothing = {"dotenv": ["load_dotenv"], "openai": ["OpenAI"], "litellm": ["completion"], "datasets": ["load_dataset"], "tqdm": ["tqdm"],
               "requests": [], "pydantic": []}
    for name, things in nothing.items():
        try:
            importlib.import_module(name)
        except ImportError:
            module = types.ModuleType(name)
            for thing in things:
                setattr(module, thing, lambda *args, **kwargs: None)
            if name == "pydantic":
                module.BaseModel = Record
            sys.modules[name] = module


def evaluate(checkout, reference, exported, options):
    """In a process of its own: prints one JSON object as its last line."""
    sys.path.insert(0, str(checkout / "src"))
    stand_in_for_clients()
    import torch
    from kernelbench import eval as evaluator
    from kernelbench import timing
    original, text = pathlib.Path(reference).read_text(), pathlib.Path(exported).read_text()
    device = torch.device("cuda:0")
    # The evaluator executes the text in a namespace of its own; what the kernels did is read off the class it made.
    kept = {}
    load = evaluator.load_custom_model
    evaluator.load_custom_model = lambda *args, **kwargs: kept.setdefault("class", load(*args, **kwargs))
    result = evaluator.eval_kernel_against_ref(original, text, num_correct_trials=options.trials, num_perf_trials=options.perf_trials,
                                               measure_performance=True, device=device, backend="cuda", precision=torch.float32)
    answer = {"compiled": bool(result and result.compiled), "correct": bool(result and result.correctness)}
    if result:
        answer.update(ms=result.runtime, reference_ms=result.ref_runtime, metadata={k: str(v) for k, v in result.metadata.items()})
        if result.runtime > 0 and result.ref_runtime > 0:
            answer["speedup"] = result.ref_runtime / result.runtime
    runtime = getattr(kept.get("class"), "kerf_runtime", None)
    if runtime is not None:
        answer.update(calls=dict(runtime.used), told=sorted(runtime.told))
    if options.compile and answer["correct"]:
        stats = timing.measure_ref_program_time("reference", original, num_trials=options.perf_trials, use_torch_compile=True, device=device)
        answer["compile_ms"] = stats["mean"] if stats else None
    print("\n" + json.dumps(answer))


def static_check(checkout, path):
    """What KernelBench's static checker says: errors, then warnings. Needs no GPU."""
    sys.path.insert(0, str(checkout / "src" / "kernelbench"))
    import kernel_static_checker
    valid, errors, warnings = kernel_static_checker.validate_kernel_static(path.read_text(), backend="cuda", precision="fp32")
    return {"valid": valid, "errors": errors, "warnings": warnings}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernelbench", type=pathlib.Path)
    parser.add_argument("exports", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--perf-trials", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=300, help="limit of one file")
    parser.add_argument("--compile", action="store_true", help="time torch.compile too")
    parser.add_argument("--static", action="store_true", help="only the static checker, without a GPU")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return evaluate(options.kernelbench, options.one, options.exports, options)
    rows = []
    for path in sorted(options.exports.rglob("*.py")):
        reference = problem_of(options.kernelbench, path, options.exports)
        row = {"file": path.relative_to(options.exports).as_posix(), "problem": reference.name if reference else None}
        rows.append(row)
        if reference is None:
            row["error"] = "its name does not say of which problem it is"
        elif options.static:
            row.update(static_check(options.kernelbench, path))
        else:
            command = [sys.executable, os.path.abspath(__file__), options.kernelbench, path, "--one", reference, "--trials", options.trials,
                       "--perf-trials", options.perf_trials] + (["--compile"] if options.compile else [])
            try:
                done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=options.seconds)
                row.update(json.loads(done.stdout.strip().splitlines()[-1]))
            except subprocess.TimeoutExpired:
                row["error"] = f"took more than {options.seconds} s"
            except (ValueError, IndexError):
                row["error"] = f"exit code {done.returncode}: {done.stdout[-500:]}"
        print(json.dumps({key: value for key, value in row.items() if key != "metadata"}), flush=True)
    key = "valid" if options.static else "correct"
    good = [row for row in rows if row.get(key)]
    by_kernels = [row for row in good if row.get("calls", {}).get("kernels", 0) > 0 and row["calls"].get("original", 0) == 0]
    summary = {"files": len(rows), key: len(good), "all calls by Kerf's kernels": len(by_kernels)}
    print(json.dumps(summary))
    if options.out:
        options.out.write_text(json.dumps({"schema": 1, "rows": rows, "summary": summary}, indent=1) + "\n")
    return 0 if len(good) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
