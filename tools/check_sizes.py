#!/usr/bin/env python3
"""Lists files past their hard size (style guide): header 300, source 700, test 900 lines, CMakeLists 80. Exit 1 if any."""
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
files = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=True).stdout.split()
bad, soft = [], 0
for name in files:
    path = root / name
    if not path.is_file():
        continue
    if name.endswith("_test.cpp"):
        hard, wanted = 900, 500
    elif name.endswith(".cpp"):
        hard, wanted = 700, 400
    elif name.endswith(".hpp"):
        hard, wanted = 300, 150
    elif name.endswith("CMakeLists.txt"):
        hard, wanted = 80, 40
    else:
        continue
    lines = len(path.read_text(errors="replace").splitlines())
    soft += lines > wanted
    if lines > hard:
        bad.append(f"{name}: {lines} lines, at most {hard}")
print("\n".join(bad) if bad else f"sizes: no file past its hard limit ({soft} past the soft one)")
sys.exit(1 if bad else 0)
