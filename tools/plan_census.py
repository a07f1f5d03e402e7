#!/usr/bin/env python3
"""What the builtin planner would write first for every model file of some folders, without running any of it.

usage: plan_census.py KERF FOLDER... [--target cuda] [--assume tests/perf/h200.json] [--count 4] [--seconds 120]
                      [--only 1,5-9] [--json FILE] [--tasks FOLDER] [--compare FILE]

Each file is imported once (`kerf check --print-task`; kept in --tasks, so that a second census needs no PyTorch) and planned
(`kerf synth --json`). Of the first plan it says: kernel groups and launches, families, products and convolutions that no
matrix unit computes, groups left to slow fallbacks, and bytes that its kernels move over those that must be moved.
Sorted worst first; the expected time over the least possible one (by the rates in --assume) is the measure. Not a
prediction: only what a plan cannot hide. --compare shows what became of the figures of an earlier --json file.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time

HEAVY = 1e8  # FLOPs below which a product need not be on matrix units
LARGE = 16e6  # bytes below which a slow variant does not matter


def number(path):
    found = re.match(r"(\d+)", os.path.basename(path))
    return int(found.group(1)) if found else 0


def chosen(text):
    picked = set()
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.partition("-")
        picked.update(range(int(first), int(last or first) + 1))
    return picked


def run(command, seconds):
    begun = time.monotonic()
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"took more than {seconds} s", time.monotonic() - begun
    said = [line for line in ran.stderr.strip().splitlines() if line]
    return (ran.stdout if ran.returncode == 0 else None), (said[-1] if said else ""), time.monotonic() - begun


def task_of(path, options):
    """The task file of a model file, imported unless that was done before."""
    with open(path, "rb") as stream:
        digest = hashlib.sha256(stream.read() + options.target.encode()).hexdigest()[:16]
    kept = os.path.join(options.tasks, digest + ".toml")
    if os.path.exists(kept):
        return kept, ""
    text, said, _ = run([options.kerf, "check", path, "--print-task", *options.for_target], options.seconds)
    if text is None:
        return None, said
    with open(kept, "w", encoding="utf-8") as stream:
        stream.write(text)
    return kept, ""


def floor_us(plan, rates):
    """Least time: bytes at the copy rate, or the products at half the rate of the fastest unit."""
    moved = (plan["bytes_read"] + plan["bytes_written"]) / rates.get("copy", 4e12)
    best = max([rates.get(unit, 0) for unit in ("tensor_f16", "fma_f32")] + [6e13])
    return max(moved, plan["fma_flops"] / best, 4e-6) * 1e6


def slow(group):
    """A last resort over much data: an item per result, or columns that are read again for every pass."""
    name = f"{group['family']}/{group['variant']}"
    resort = name == "direct/items" or (name == "column/loop" and group["operations"].count("reduce") > 1)
    return resort and group["bytes_read"] + group["bytes_written"] > LARGE


def judge(plan, rates):
    first = plan["compositions"][0]
    groups = first["groups"]
    written = {group["stored"] for group in groups}
    moved = sum(group["bytes_read"] + group["bytes_written"] for group in groups)
    least = max(plan["bytes_read"] + plan["bytes_written"], 1)
    heavy = [group for group in groups if group["flops"] > HEAVY]
    return {"groups": len(groups), "buffers": len(written), "launches": sum(group["launches"] for group in groups),
            "plan": first["text"], "no_matrix_unit": [f"{g['family']}/{g['variant']}" for g in heavy if not g["unit"].startswith("tensor")],
            "slow": [f"{group['family']}/{group['variant']}" for group in groups if slow(group)], "bytes_ratio": moved / least, "expected_us": sum(g["expected_us"] for g in groups),
            "badness": sum(g["expected_us"] for g in groups) / floor_us(plan, rates), "compositions": len(plan["compositions"])}


def census_of(path, options):
    row = {"problem": f"{os.path.basename(os.path.dirname(path)).replace('level', '')}/{number(path)}",
           "name": re.sub(r"^\d+_|\.py$", "", os.path.basename(path))}
    task, said = task_of(path, options)
    if task is None:
        return {**row, "error": "import: " + said}
    text, said, seconds = run([options.kerf, "synth", task, "--target", options.target, "--json", "--count", str(options.count),
                               "--assume", options.assume], options.seconds)
    row["seconds"] = round(seconds, 2)
    if text is None:
        return {**row, "error": "plan: " + said}
    return {**row, **judge(json.loads(text), options.rates)}


def summary(rows):
    good = [row for row in rows if "error" not in row]
    if not good:
        return {}
    ordered = sorted(row["badness"] for row in good)
    return {"planned": len(good), "failed": len(rows) - len(good), "groups": sum(row["groups"] for row in good),
            "launches": sum(row["launches"] for row in good),
            "five groups or more": sum(row["groups"] >= 5 for row in good),
            "with products off matrix units": sum(bool(row["no_matrix_unit"]) for row in good),
            "with slow fallbacks": sum(bool(row["slow"]) for row in good),
            "bytes moved over least, median": round(sorted(row["bytes_ratio"] for row in good)[len(good) // 2], 2),
            "expected over least, median": round(ordered[len(ordered) // 2], 2),
            "expected over least, above 3": sum(value > 3 for value in ordered),
            "planning, slowest (s)": max(row["seconds"] for row in good)}


def show(rows, before):
    print(f"{'problem':8} {'grp':>3} {'lnch':>4} {'bytes':>6} {'exp us':>8} {'/least':>7} {'s':>5}  plan")
    for row in sorted(rows, key=lambda row: -row.get("badness", 1e9)):
        if "error" in row:
            print(f"{row['problem']:8} {row['name'][:30]}: {row['error'][:160]}")
            continue
        marks = [f"no matrix unit: {', '.join(row['no_matrix_unit'])}"] if row["no_matrix_unit"] else []
        marks += [f"slow: {', '.join(row['slow'])}"] if row["slow"] else []
        was = before.get(row["problem"])
        if was and was.get("plan") != row["plan"]:
            marks.append(f"was {was.get('groups', '-')} groups, {was.get('badness', 0):.1f} of the least")
        print(f"{row['problem']:8} {row['groups']:3} {row['launches']:4} {row['bytes_ratio']:6.2f} {row['expected_us']:8.0f} "
              f"{row['badness']:7.2f} {row['seconds']:5.1f}  {row['plan'][:200]}" + (f"  [{'; '.join(marks)}]" if marks else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--assume", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "perf", "h200.json"))
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--only", help="problem numbers: 1,5-9")
    parser.add_argument("--tasks", default="plan_census_tasks")
    parser.add_argument("--json")
    parser.add_argument("--compare")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with open(options.assume, encoding="utf-8") as stream:
        options.rates = json.load(stream).get("rates", {})
    options.for_target = ["--target", options.target]
    os.makedirs(options.tasks, exist_ok=True)
    before = {}
    if options.compare:
        with open(options.compare, encoding="utf-8") as stream:
            before = {row["problem"]: row for row in json.load(stream)}
    rows, only = [], chosen(options.only)
    for folder in options.folders:
        files = sorted((os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")), key=number)
        files = [file for file in files if not only or number(file) in only]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            rows += list(pool.map(lambda path: census_of(path, options), files))
    show(rows, before)
    for level in sorted({row["problem"].split("/")[0] for row in rows}):
        print(f"\nlevel {level}: {summary([row for row in rows if row['problem'].split('/')[0] == level])}")
        old = [row for row in before.values() if row["problem"].split("/")[0] == level]
        if old:
            print(f"  before: {summary(old)}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
