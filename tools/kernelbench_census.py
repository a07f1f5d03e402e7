#!/usr/bin/env python3
"""Imports every model file of a folder (KernelBench's level1, level2, ...) at its real sizes and says which become tasks.

usage: kernelbench_census.py KERF FOLDER... [--json FILE]

Each file goes through `kerf check FILE --print-task`, so that the task is also read by the program, and costs no memory for its inputs.
Prints one line per file that is not imported whole, then the counts and what was missing how often.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys


def number(path):
    found = re.match(r"(\d+)", os.path.basename(path))
    return (int(found.group(1)) if found else 0, path)


def import_one(kerf, path):
    ran = subprocess.run([kerf, "check", path, "--print-task"], capture_output=True, text=True)
    partly = "(the part that is covered)" in ran.stdout
    said = ran.stderr.strip().splitlines()
    return {"file": path, "state": "refused" if ran.returncode else "part" if partly else "whole",
            "message": said[0] if said else "", "inputs": len(re.findall(r'^\w+ = "\w+\[', ran.stdout, re.M)),
            "statements": len(re.findall(r"^\w+ = (?!\")", ran.stdout, re.M))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kerf")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        files = sorted((os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")), key=number)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda path: import_one(options.kerf, path), files))
        for row in found:
            if row["state"] != "whole":
                print(f"{row['state']:8} {row['file']}  {row['message'][-220:]}")
        counts = collections.Counter(row["state"] for row in found)
        print(f"{folder}: {counts['whole']} of {len(found)} whole, {counts['part']} in part, {counts['refused']} refused")
        rows += found
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
