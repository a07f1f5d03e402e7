#!/usr/bin/env python3
"""Imports every model file of a folder (KernelBench's level1, level2, ...) at its real sizes and says which become tasks.

usage: kernelbench_census.py KERF FOLDER... [--json FILE]

All files of a folder go through one `kerf check FILES --json`, so that PyTorch is imported once, the tasks are also read by the program,
and inputs cost no memory. Prints one line per file that is not imported whole, then the counts and how long it took.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time


def number(path):
    found = re.match(r"(\d+)", os.path.basename(path))
    return (int(found.group(1)) if found else 0, path)


def import_all(kerf, files):
    ran = subprocess.run([kerf, "check", "--json", *files], capture_output=True, text=True)
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    if len(rows) != len(files):
        sys.exit(ran.stderr.strip() or f"kerf check ended with exit code {ran.returncode}")
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kerf")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        files = sorted((os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".py")), key=number)
        begin = time.perf_counter()
        found = import_all(options.kerf, files)
        seconds = time.perf_counter() - begin
        for row in found:
            if row["state"] != "whole":
                said = row["error"] or ", ".join(sorted({one["operator"] for one in row["uncovered"]}))
                print(f"{row['state']:8} {row['file']}  {said[-220:]}")
        counts = collections.Counter(row["state"] for row in found)
        print(f"{folder}: {counts['whole']} of {len(found)} whole, {counts['part']} in part, {counts['refused']} refused; "
              f"{seconds:.1f} s, {len(found) / seconds:.1f} files a second")
        rows += found
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
