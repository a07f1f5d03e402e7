#!/usr/bin/env python3
"""clang-tidy (.clang-tidy) on the sources under src/ that changed, within a time box; a finding is an error.

Changed are, in this order, files that differ from the last commit, files of commits that origin/main does not have,
and, where that is the same commit (a fresh clone), files of the last commits, the newest first. Files that are not
reached in time are named. Nothing needs to be built before.
usage: tools/check_tidy.py [--seconds N] [--commits N] [FILE...]
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACROS = ["KERF_SOURCE_DIR", "KERF_BINARY", "KERF_NVRTC_DIR", "KERF_ELF_SAMPLE"]  # of tests
FLAGS = ["-std=c++20", "-I", str(ROOT / "src"), *(f'-D{macro}=""' for macro in MACROS)]


def git(*arguments):
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed_files(commits):
    """Sources that changed, newest change first; of the last `commits` commits in a fresh clone."""
    names = git("diff", "--name-only", "HEAD") + git("log", "--name-only", "--format=", "origin/main..HEAD")
    if not names:
        names = git("log", "--name-only", "--format=", "-n", str(commits))
    return [n for n in dict.fromkeys(names) if n.startswith("src/") and n.endswith(".cpp") and (ROOT / n).is_file()]


def check(tool, name):
    """What clang-tidy says about a file, or "" when it finds nothing."""
    command = [tool, "--quiet", str(ROOT / name), "--", *FLAGS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=90.0, help="no file is begun after that")
    parser.add_argument("--commits", type=int, default=30, help="of which the files are changed, in a fresh clone")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tool = shutil.which("clang-tidy-19")
    if tool is None:
        print("tidy: not checked, clang-tidy-19 is not installed")
        return 0
    names = arguments.names or changed_files(arguments.commits)
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
