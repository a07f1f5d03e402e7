#!/usr/bin/env python3
"""The code in knowledge/ compiles: C++ with g++, OpenCL C with clang, CUDA C++ with the NVRTC under build/; where a compiler is missing its blocks are passed over, which is said."""
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLANG = next((name for name in ("clang-19", "clang") if shutil.which(name)), None)
COMPILERS = {
    "cpp": ["g++", "-std=gnu++20", "-O1", "-march=native", "-fopenmp", "-fsyntax-only", "-Wall", "-Werror"],
    "cl": CLANG and [CLANG, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64", "-fsyntax-only", "-Werror"],
}
HOMES = {"cpp": "cpu", "cl": "opencl", "cu": "cuda"}


NVRTC = next(iter(sorted((ROOT / "build").glob("nvrtc/**/libnvrtc.so.*"))), None)


def nvrtc_words(code):
    """What NVRTC says; "" when it compiles."""
    for builtins in NVRTC.parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)  # which it would not find beside itself
    library = ctypes.CDLL(str(NVRTC))
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"block.cu", 0, None, None)
    options = (ctypes.c_char_p * 3)(b"--gpu-architecture=compute_90", b"--std=c++17", b"-default-device")
    if library.nvrtcCompileProgram(program, 3, options) == 0:
        return ""
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    return log.value.decode()


def words_of(language, code):
    """What the compiler says; "" when it compiles, None when there is no compiler."""
    if language == "cu":
        return nvrtc_words(code) if NVRTC else None
    command = COMPILERS[language]
    if not command or not shutil.which(command[0]):
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"block.{language}"
        file.write_text(code)
        done = subprocess.run([*command, str(file)], text=True, capture_output=True)
    return done.stderr or "it fails" if done.returncode != 0 else ""


def main():
    failed, counts = 0, {}
    for path in sorted((ROOT / "knowledge").glob("*/*.md")):
        for number, (language, code) in enumerate(re.findall(r"```(\w+)\n(.*?)```", path.read_text(), re.S), 1):
            if HOMES.get(language) != path.parent.name:
                print(f"{path}: block {number} is marked '{language}'")
                failed += 1
                continue
            words = words_of(language, code)
            key = language if words is not None else language + " passed over"
            counts[key] = counts.get(key, 0) + 1
            if words:
                print(f"{path}: block {number} does not compile\n{words[:2000]}")
                failed += 1
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    sys.exit(1 if failed else 0)


main()
