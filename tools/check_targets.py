#!/usr/bin/env python3
"""Checks that only src/language, src/device and src/target name targets. Exit 1 lists the offenders.

A string literal that is exactly a target's name ("cpu") outside of these folders is a decision by name, which a new target
would have to be added to. Ask target/target.hpp, the dialect or the device's facts instead. Unit tests may name targets: they
are about examples."""
import pathlib
import re
import sys

# Files that may name a target, each with its reason. An entry that is no longer needed is an offence too.
EXCEPTIONS = {
    "src/app/cli/command_new.cpp": "an example in the text of a new task",
    "src/app/cli/host_load.cpp": "the word that begins the first line of /proc/stat",
    "src/judge/judge_fixture.hpp": "a target put together from fakes for tests",
    "src/memory/memory_fixture.hpp": "experiences made up for tests",
    "src/opencl/opencl_probe.cpp": "OpenCL's own device type",
    "src/report/fixture_run.cpp": "runs made up for tests, with kernels written by hand for three targets",
    "src/report/fixture_run.hpp": "the same",
    "src/search/landscape_fixture.hpp": "evaluations made up for tests",
    "tests/cases/cases_test.cpp": "a machine without a processor is no excuse, one without a GPU is",
    "tests/conformance/families/opencl_math_test.cpp": "about OpenCL C",
    "tests/conformance/families/readable_test.cpp": "about what compilers of C++ and OpenCL C say",
    "tests/conformance/tensor/tensor_test.cpp": "about the matrix units of CUDA",
    "tests/descriptors/descriptors_test.cpp": "kernels written by hand for each language, and where their levels are read",
}

root = pathlib.Path(__file__).resolve().parent.parent
names = list(dict.fromkeys(name for file in sorted((root / "src/target").glob("*_target.cpp"))
                           for name in re.findall(r'\.name = "(\w+)"', file.read_text())))
if not names:
    sys.exit("targets: src/target/*_target.cpp name none")
literal = re.compile('"(?:' + "|".join(names) + ')"')
knowing = ("src/target/", "src/language/", "src/device/")


def offences(file):
    """Line numbers with a target's name as a literal, comments left out."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if literal.search(line.split("//", 1)[0]):
            yield number


bad, used = [], set()
for file in sorted(list(root.glob("src/**/*.[ch]pp")) + list(root.glob("tests/**/*.[ch]pp"))):
    path = file.relative_to(root).as_posix()
    if path.startswith(knowing) or (path.startswith("src/") and path.endswith("_test.cpp")):
        continue
    for number in offences(file):
        if path in EXCEPTIONS:
            used.add(path)
        else:
            bad.append(f"{path}:{number}: names a target; only src/language, src/device and src/target may")
bad += [f"tools/check_targets.py: {path} needs no exception any more" for path in EXCEPTIONS if path not in used]
print("\n".join(bad) if bad else f"targets: {', '.join(names)} are named only where they are made")
sys.exit(1 if bad else 0)
