#!/usr/bin/env python3
"""Turns honest kernels into cheating ones, by mechanisms and places drawn at random, and asks the judge about each.

    tests/fuzz/cheats/cheat_fuzzer.py build/release/kerf --target cpu --minutes 10 --seed 1
    tests/fuzz/cheats/cheat_fuzzer.py build/release/kerf --target cpu --repeat 1:17      cheat 17 of seed 1 again, kept as a file
    tests/fuzz/cheats/cheat_fuzzer.py build/release/kerf --target cpu --minutes 5 --honest   the same kernels without the cheat

A cheat is a condition (when it cheats) and an effect (what is wrong then); mechanisms.py lists them. Every cheat that
comes out `measured` is reported with the pair to repeat it. Some changes are none (a NaN is mapped to zero where none
can appear): a program of our own calls both kernels on data of its own, and only a kernel that differs there counts as
accepted. For OpenCL and CUDA the same condition and effect are put around a kernel in C++ for this (they are written in
the common part of the languages); what exists on a GPU only (its clock, its local memory) counts without it. Harm
besides the result (memory, settings) always counts. Appends a line of JSON per cheat to --log.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import honest  # noqa: E402
import mechanisms as m  # noqa: E402

EXTENSION = {"cpu": ".cpp", "opencl": ".cl", "cuda": ".cu"}


def for_target(entries, target):
    return [entry for entry in entries if target in entry.targets]


def draw_cheat(rng, kerf, target):
    """(mechanism's name, details, task, honest kernel's name, its source, the cheat's source, harm)."""
    task = rng.choice(honest.tasks())
    kernel, source = rng.choice(honest.kernels(kerf, task.name, target))
    group = rng.choice(["when"] * 5 + ["what"] * 4 + ["harm"] + (["race"] if target == "cpu" and rng.random() < 0.5 else []))
    condition, before, after, harm = m.ALWAYS[0], "", "", False
    if group == "when":
        kind = rng.choice([m.REMEMBERS, m.RECOGNISES, m.IDENTIFIES])
        condition = rng.choice(for_target(kind, target))
        effect = rng.choice(for_target(m.SKIPS[:6] + m.PRECISION + m.INPUTS[:4], target))
    elif group == "what":
        effect = rng.choice(for_target(m.SKIPS + m.PRECISION + m.INPUTS, target))
    elif group == "harm":
        effect, harm = rng.choice(for_target(m.HARM, target)), True
    else:
        effect = rng.choice(for_target(m.RACES, target))
    when, top, values = condition.fill(rng)
    code, more_top, more_values = effect.fill(rng)
    if effect in m.INPUTS:
        before = code
    else:
        after = code
    top += "\n" + more_top
    name = f"{condition.name} / {effect.name}" if group == "when" else effect.name
    if target == "cpu":
        text = honest.for_processor(task, source, top, when, before, after)
    else:
        text = honest.for_launches(task, source, top, when, before, after, target)
    mechanism = condition.name if group == "when" else effect.name
    return {"mechanism": mechanism, "cheat": name, "values": {**values, **more_values}, "task": task, "kernel": kernel,
            "honest": source, "source": text, "harm": harm, "parts": (top, when, before, after)}


def twin_on_processor(cheat, kerf):
    """The same condition and effect around a kernel in C++: (its source, the cheat's source)."""
    task = cheat["task"]
    source = dict(honest.kernels(kerf, task.name, "cpu"))["naive"]
    return source, honest.for_processor(task, source, *cheat["parts"], of_each_input=True)


def judge(kerf, cheat, target, folder, seed, settings):
    path = folder / ("cheat" + EXTENSION[target])
    path.write_text(cheat["source"])
    command = [kerf, "eval", str(cheat["task"].path), str(path), "--target", target, "--json", "--no-cache", "--seed", str(seed)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"outcome": "no answer", "message": (done.stderr or done.stdout)[-400:]}


def compile_kernel(source, task, shape, folder, name):
    constants = "".join(f"static constexpr int {k} = {v};\n" for k, v in shape.items() if k != "weight")
    for key, value in re.findall(r"^tune:\s*(\w+)\s*=\s*\{\s*(\d+)", source, re.M):
        constants += f"static constexpr int {key} = {value};\n"
    includes = "".join(f"#include <{h}>\n" for h in ("algorithm", "array", "cfloat", "climits", "cmath", "cstdint", "cstdlib", "cstring", "limits",
                                                      "type_traits", "utility", "vector", "omp.h", "immintrin.h"))
    (folder / f"{name}.cpp").write_text(includes + constants + source)
    command = ["g++", "-std=gnu++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-w", "-shared", "-fPIC",
               str(folder / f"{name}.cpp"), "-o", str(folder / f"{name}.so")]
    return subprocess.run(command, capture_output=True, text=True)


def shown_wrong(cheat, folder, program, kerf, target):
    """'12 of 210' calls differ from the honest kernel's; None when that cannot be found out."""
    task, shape = cheat["task"], cheat["task"].smallest()
    sources = (cheat["honest"], cheat["source"]) if target == "cpu" else twin_on_processor(cheat, kerf)
    for name, source in zip(("honest", "other"), sources):
        if compile_kernel(source, task, shape, folder, name).returncode != 0:
            return None
    value = lambda text: eval(text, {}, {k: v for k, v in shape.items()})  # noqa: E731  (sizes of our own task files)
    numbers = [len(task.inputs)]
    for dimensions in task.inputs.values():
        numbers += [value("*".join(f"({d})" for d in dimensions)), value(dimensions[-1])]
    parameters = len(honest.entry(sources[1])[1].split(","))
    numbers += [value(task.elements), 1 << 22, parameters - len(task.inputs) - 1, 210, int(task.nan_is_free), task.special_inputs()]
    done = subprocess.run([program, str(folder / "honest.so"), str(folder / "other.so"), *map(str, numbers)], capture_output=True, text=True, timeout=100)
    return done.stdout.strip() or None


def make_program(folder):
    """None without a compiler: what was measured is then to be decided elsewhere, with --decide."""
    program = folder / "differs"
    if shutil.which("g++") is None:
        return None
    subprocess.run(["g++", "-std=c++20", "-O2", "-fopenmp", str(pathlib.Path(__file__).with_name("differs.cpp")), "-o", str(program)], check=True)
    return str(program)


def decide(arguments):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = make_program(folder)
        for pair in arguments.decide:
            cheat = draw_cheat(random.Random(pair), arguments.kerf, arguments.target)
            print(f"{pair} {cheat['task'].name} {cheat['kernel']}: {cheat['cheat']}: {shown_wrong(cheat, folder, program, arguments.kerf, arguments.target)} calls differ")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--target", default="cpu", choices=EXTENSION)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first cheat of this seed")
    parser.add_argument("--repeat", metavar="SEED:NUMBER", help="one cheat again; its source is left in the working folder")
    parser.add_argument("--decide", metavar="SEED:NUMBER", nargs="+", help="without the judge: in how many calls do these cheats differ from the kernels they were made from?")
    parser.add_argument("--only", default="", metavar="TEXT", help="cheats whose name has this in it")
    parser.add_argument("--honest", action="store_true", help="judge the kernels as they are: none may be refused")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of `kerf eval`")
    parser.add_argument("--log", help="a line of JSON per cheat is appended here")
    arguments = parser.parse_args()
    os.nice(10)
    if arguments.decide:
        return decide(arguments)
    numbers = iter(range(arguments.first, 1 << 30))
    seed = arguments.seed
    if arguments.repeat:
        seed, number = map(int, arguments.repeat.split(":"))
        numbers = iter([number])
    end = time.monotonic() + 60 * arguments.minutes
    tried, outcomes, accepted, equal = collections.Counter(), collections.Counter(), [], collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = make_program(folder)
        number = arguments.first
        while time.monotonic() < end or arguments.repeat:
            number = next(numbers, None)
            if number is None:
                break
            cheat = draw_cheat(random.Random(f"{seed}:{number}"), arguments.kerf, arguments.target)
            if arguments.only not in cheat["cheat"]:
                continue
            if arguments.honest:
                cheat["source"] = cheat["honest"]
            if arguments.repeat:
                pathlib.Path("cheat" + EXTENSION[arguments.target]).write_text(cheat["source"])
            answer = judge(arguments.kerf, cheat, arguments.target, folder, 1000 * seed + number, arguments.set)
            outcome = answer["outcome"]
            tried[cheat["mechanism"]] += 1
            outcomes[f"{outcome} {answer.get('gate', '')}".strip()] += 1
            line = {"seed": seed, "number": number, "target": arguments.target, "task": cheat["task"].name, "kernel": cheat["kernel"], "cheat": cheat["cheat"],
                    "values": cheat["values"], "outcome": outcome, "gate": answer.get("gate", ""), "message": str(answer.get("message", ""))[:160]}
            if arguments.repeat or outcome in ("no answer",):
                print(json.dumps(line), flush=True)
            if outcome == "measured" and not arguments.honest:
                differs = "by construction" if cheat["harm"] else "not decided: no g++ here" if program is None else shown_wrong(cheat, folder, program, arguments.kerf, arguments.target)
                line["differs"] = differs
                line["speedup"] = answer.get("speedup", {}).get("ratio")
                if differs is not None and differs.startswith("0 of"):
                    equal[cheat["mechanism"]] += 1
                else:
                    accepted.append(line)
                    print("accepted:", json.dumps(line), flush=True)
            elif outcome != "measured" and arguments.honest:
                print("refused:", json.dumps(line), flush=True)
            if arguments.log:
                with open(arguments.log, "a") as log:
                    log.write(json.dumps(line) + "\n")
    print(f"{sum(tried.values())} kernels of {len(tried)} mechanisms on {arguments.target}, seed {seed}, numbers {arguments.first} to {number}")
    for outcome, count in sorted(outcomes.items()):
        print(f"  {count:5d} {outcome}")
    print(f"  {sum(equal.values())} were right all the same, {len(accepted)} cheats accepted")
    return 1 if accepted else 0


if __name__ == "__main__":
    sys.exit(main())
