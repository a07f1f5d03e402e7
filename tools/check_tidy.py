#!/usr/bin/env python3
"""clang-tidy (.clang-tidy) on the sources that changed, within a time box.

Changed are files that differ from origin/main and, where that is the same commit (a fresh clone), those of the last
commits; the newest first. A file that is not reached in time is named, not failed.
usage: tools/check_tidy.py [--build FOLDER] [--seconds N] [--files N] [FILE...]
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


def git(*arguments):
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed_files(most):
    """Sources that changed, newest change first, at most `most`."""
    names = git("diff", "--name-only", "HEAD") + git("diff", "--name-only", "origin/main...HEAD")
    if not names:
        names = git("log", "--name-only", "--format=", "-n", "10")
    wanted = [n for n in dict.fromkeys(names) if n.startswith("src/") and n.endswith(".cpp") and (ROOT / n).is_file()]
    return wanted[:most]


def check(tool, build, name):
    command = [tool, "--quiet", "-p", str(build), str(ROOT / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=str(ROOT / "build/asan"), help="folder with compile_commands.json of clang")
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tool = shutil.which("clang-tidy-19")
    if tool is None:
        print("tidy: not checked, clang-tidy-19 is not installed")
        return 0
    build = pathlib.Path(arguments.build)
    if not (build / "compile_commands.json").is_file():
        print(f"tidy: {build} has no compile_commands.json; configure it first", file=sys.stderr)
        return 1
    names = arguments.names or changed_files(arguments.files)
    ends = time.monotonic() + arguments.seconds
    failed, left = [], []

    def one(name):
        if time.monotonic() > ends:
            left.append(name)
            return
        if output := check(tool, build, name):
            failed.append(name)
            print(output, file=sys.stderr)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(one, names))
    if left:
        print(f"tidy: out of time, not checked: {' '.join(left)}")
    print(f"tidy: {len(names) - len(left)} changed files checked, {len(failed)} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
