#!/usr/bin/env python3
"""Headers compile on their own: one empty translation unit per header, without precompiled headers.

usage: tools/check_headers.py [--compiler CXX] [--changed] [HEADER...]      (default: g++, every header under src/)
--changed: only headers that changed (tools/changed.py) and those that include one of them directly.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from changed import ROOT, changed_files


def check(compiler, header):
    """Compiler output, or "" when the header stands on its own."""
    name = header.relative_to(ROOT / "src")
    unit = f'#include "{name}"\n'
    macros = ["-DKERF_NVRTC_DIR=\"\""]  # of test fixtures
    command = [*compiler, *macros, "-std=c++20", "-fsyntax-only", "-I", str(ROOT / "src"), "-x", "c++", "-"]
    done = subprocess.run(command, input=unit, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    first = [line for line in done.stderr.splitlines() if "error:" in line][:3]
    return "\n".join(first) or done.stderr[:500]


def changed_headers(headers, commits):
    """Headers that changed, and those that a change in them can break."""
    changed = set(changed_files(".hpp", commits))

    def concerned(header):
        included = re.findall(r'^#include "([^"]+)"', header.read_text(), re.M)
        return str(header.relative_to(ROOT)) in changed or any("src/" + name in changed for name in included)

    return [header for header in headers if concerned(header)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--changed", action="store_true", help="only those that changed or include one that did")
    parser.add_argument("--commits", type=int, default=5, help="of which the files are changed, in a fresh clone")
    parser.add_argument("headers", nargs="*")
    arguments = parser.parse_args()
    headers = [pathlib.Path(h).resolve() for h in arguments.headers] or sorted((ROOT / "src").rglob("*.hpp"))
    if arguments.changed:
        headers = changed_headers(headers, arguments.commits)
    compiler = arguments.compiler.split()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for header, output in zip(headers, pool.map(lambda h: check(compiler, h), headers)):
            if output:
                failed += 1
                print(f"{header.relative_to(ROOT)} does not compile on its own:\n{output}", file=sys.stderr)
    if failed:
        print(f"headers: {failed} of {len(headers)} lack an #include", file=sys.stderr)
        return 1
    print(f"headers: {len(headers)} checked, all compile on their own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
