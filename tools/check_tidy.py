#!/usr/bin/env python3
"""clang-tidy (.clang-tidy) on the sources under src/ that changed, within a time box; a finding is an error.

What counts as changed is in tools/changed.py. Files that are not reached in time are named. Nothing needs to be built
before.
usage: tools/check_tidy.py [--seconds N] [--commits N] [FILE...]
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import time

from changed import ROOT, changed_files

MACROS = ["KERF_SOURCE_DIR", "KERF_BINARY", "KERF_NVRTC_DIR", "KERF_ELF_SAMPLE"]  # of tests
FLAGS = ["-std=c++20", "-I", str(ROOT / "src"), *(f'-D{macro}=""' for macro in MACROS)]


def check(tool, name):
    """What clang-tidy says about a file, or "" when it finds nothing."""
    command = [tool, "--quiet", str(ROOT / name), "--", *FLAGS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=25.0, help="no file is begun after that")
    parser.add_argument("--commits", type=int, default=10, help="of which the files are changed, in a fresh clone")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tool = shutil.which("clang-tidy-19")
    if tool is None:
        print("tidy: not checked, clang-tidy-19 is not installed")
        return 0
    names = arguments.names or changed_files(".cpp", arguments.commits)
    ends = time.monotonic() + arguments.seconds
    failed, left = [], []

    def one(name):
        if time.monotonic() > ends:
            left.append(name)
            return
        if output := check(tool, name):
            failed.append(name)
            print(output, file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(one, names))
    if left:
        print(f"tidy: out of time, {len(left)} changed files not checked: {' '.join(left)}")
    print(f"tidy: {len(names) - len(left)} changed files checked, {len(failed)} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
