#!/usr/bin/env python3
"""Holds our C++ to .clang-format with clang-format 19; other versions break lines elsewhere. Says so and leaves when it is not installed.

The kernels of the test suites and of benchmarks are left as their authors wrote them. --fix formats instead.
"""
import pathlib
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
AS_WRITTEN = ("tests/honest/", "tests/hostile/", "tests/cases/kernels/", "tests/perf/tuning/", "tests/perf/scale")

tool = shutil.which("clang-format-19")
if tool is None:
    print("format: not checked, clang-format-19 is not installed")
    sys.exit(0)
names = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "src/*.cpp", "src/*.hpp", "tests/*.cpp", "tests/*.hpp"], capture_output=True,
                       text=True, check=True).stdout.split()
files = [str(root / name) for name in names if not name.startswith(AS_WRITTEN) and (root / name).is_file()]
mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
done = subprocess.run([tool, *mode, *files], capture_output=True, text=True)
if done.returncode != 0:
    wrong = sorted({line.split(":")[0].removeprefix(f"{root}/") for line in done.stderr.splitlines() if "error:" in line})
    print("\n".join(wrong))
    print(f"format: {len(wrong)} files differ from .clang-format; tools/check_format.py --fix")
    sys.exit(1)
print("format: done" if mode == ["-i"] else f"format: {len(files)} files as .clang-format wants them")
