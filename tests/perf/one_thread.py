#!/usr/bin/env python3
"""A bench's solutions beside PyTorch once more, on one thread, in processor time of the process: for machines that others use too.

  VENV/bin/python tests/perf/one_thread.py runs/modules-cpu [--time 10] [--problems 3 7]

Eager, torch.compile and ModelNew of every problem run in turn, with cold caches, as `kerf compare --pytorch` has them; only the clock
and the number of threads differ. Two threads of a busy machine wait for each other, and wall-clock times count the waiting.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compare(model, kernel, seconds):
    import torch
    from kerf_bridge import programs, rounds

    class ProcessorTime(rounds.Processor):
        def call(self, module, inputs):
            self.buffer.add_(1)
            with torch.no_grad():
                begin = time.process_time_ns()
                result = module(*inputs[0], **inputs[1])
                end = time.process_time_ns()
            del result
            return (end - begin) / 1e3

    torch.set_num_threads(1)
    task = programs.Task(str(model), "cpu")
    modules = {"eager": task.module(1), "kernel": programs.load_kernel(str(kernel), task, 1)}
    torch._dynamo.reset()
    modules["compiled"] = torch.compile(modules["eager"])
    inputs = task.inputs(2)
    expected = programs.run_once(modules["eager"], inputs)
    for name in ("kernel", "compiled"):
        for mine, theirs in zip(programs.run_once(modules[name], inputs), expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-3)
    if modules["kernel"].kerf_runtime.used["original"] > 0:
        raise RuntimeError("ModelNew called the original")
    rounds.keep_pages_mapped()
    stage = ProcessorTime(0, 0)
    timed = rounds.Rounds(stage, rounds.rotating(task, inputs, 3, stage, 0), 1)
    for module in modules.values():
        for one in timed.sets[:2]:
            programs.run_once(module, one)
    timed.run(modules, seconds, least=20)
    return {"times": {name: timed.times(name) for name in modules}, "over_eager": timed.ratio("eager", "kernel"),
            "over_compiled": timed.ratio("compiled", "kernel"), "compiled_over_eager": timed.ratio("eager", "compiled")}


def child(queue, *given):
    try:
        queue.put(compare(*given))
    except Exception as error:
        queue.put({"error": f"{type(error).__name__}: {error}"[:300]})


def ratio(value):
    return f"{value['ratio']:.2f} [{value['interval'][0]:.2f}, {value['interval'][1]:.2f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the folder of a kerf bench")
    parser.add_argument("--time", type=float, default=10, help="seconds of rounds per problem")
    parser.add_argument("--problems", type=int, nargs="*")
    parser.add_argument("--json", help="a file for everything")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(ROOT / "python"))
    folders = [f for f in pathlib.Path(arguments.bench).glob("level*/*") if (f / "solution.py").exists()]
    folders = sorted(folders, key=lambda f: (f.parent.name, int(f.name.split("_")[0])))
    print("| problem | eager ms | compile ms | kernel ms | over eager | over compile | compile over eager | load |\n|---" + "|---" * 7 + "|")
    answers = {}
    for folder in folders:
        if arguments.problems and int(folder.name.split("_")[0]) not in arguments.problems:
            continue
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=child, args=(queue, folder / f"{folder.name}.py", folder / "solution.py", arguments.time))
        process.start()
        answer = answers[folder.name] = queue.get(timeout=600)
        process.join()
        if "error" in answer:
            print(f"| {folder.name} | {answer['error']} |")
            continue
        times = [f"{answer['times'][name]['median_us'] / 1e3:.3g}" for name in ("eager", "compiled", "kernel")]
        ratios = [ratio(answer[name]) for name in ("over_eager", "over_compiled", "compiled_over_eager")]
        print("| " + " | ".join([folder.name, *times, *ratios, f"{os.getloadavg()[0]:.1f}"]) + " |", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(answers, indent=1))


if __name__ == "__main__":
    main()
