#!/usr/bin/env python3
"""Every header compiles on its own: one empty translation unit per header, without precompiled headers.

usage: tools/check_headers.py [--compiler CXX] [HEADER...]      (default: g++, every header under src/)
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(compiler, header):
    """Compiler output, or "" when the header stands on its own."""
    name = header.relative_to(ROOT / "src")
    unit = f'#include "{name}"\n'
    macros = [f"-D{macro}=\"\"" for macro in ("KERF_SOURCE_DIR", "KERF_BINARY", "KERF_NVRTC_DIR")]  # of test fixtures
    command = [*compiler, *macros, "-std=c++20", "-fsyntax-only", "-I", str(ROOT / "src"), "-x", "c++", "-"]
    done = subprocess.run(command, input=unit, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    first = [line for line in done.stderr.splitlines() if "error:" in line][:3]
    return "\n".join(first) or done.stderr[:500]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("headers", nargs="*")
    arguments = parser.parse_args()
    headers = [pathlib.Path(h).resolve() for h in arguments.headers] or sorted((ROOT / "src").rglob("*.hpp"))
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
    print(f"headers: all {len(headers)} compile on their own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
