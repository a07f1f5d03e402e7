import concurrent.futures
import copy
import ctypes
import hashlib
import inspect
import json
import linecache
import os
import shutil
import subprocess
import sys
import tempfile
import types
import warnings
import _thread

import torch

# Compiling. What was compiled is kept in a folder of the user's own, by a hash of everything that went into it; files
# appear there whole, so that several processes may begin at once.


class KerfError(RuntimeError):
    """The kernels cannot be compiled, loaded or run here."""


def kerf_cache_folder():
    """$KERF_CACHE/exports, else below $XDG_CACHE_HOME or ~/.cache; a new temporary folder where that cannot be written."""
    base = os.environ.get("KERF_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "kerf")
    folder = os.path.join(base, "exports")
    there = folder
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    if not os.access(there, os.W_OK | os.X_OK):
        return tempfile.mkdtemp(prefix="kerf-exports-")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def kerf_cached(name, make):
    """The path of the file `name` in the cache; `make(path)` writes it where it is missing."""
    folder = kerf_cache_folder()
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    work = tempfile.mkdtemp(prefix="work-", dir=folder)
    made = os.path.join(work, name)
    make(made)
    os.replace(made, path)
    shutil.rmtree(work, ignore_errors=True)
    return path


def kerf_hash(*parts):
    return hashlib.sha256("\0".join(str(part) for part in parts).encode("utf-8")).hexdigest()[:40]


def kerf_file_mark(path):
    """Tells one version of a tool from another."""
    real = os.path.realpath(path)
    return "{} {} {}".format(real, os.stat(real).st_size, os.stat(real).st_mtime_ns)


def kerf_cpp_compiler():
    """(path, whether it is clang) of the first usable name: $CXX, g++, clang++, then those with a version."""
    names = [os.environ.get("CXX", ""), "g++", "clang++"]
    names += ["g++-{}".format(n) for n in range(17, 9, -1)] + ["clang++-{}".format(n) for n in range(23, 13, -1)]
    for name in names:
        path = shutil.which(name) if name else None
        if path:
            return path, "clang" in os.path.basename(os.path.realpath(path))
    raise KerfError("the kernel is C++ and is compiled at its first use: no g++ or clang++ is on PATH; install one "
                    "(Debian and Ubuntu: apt-get install g++) or name one with CXX")


def kerf_processor():
    """-march=native means this."""
    flags = ""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as stream:
            flags = "".join(sorted({line for line in stream if line.startswith(("flags", "Features", "CPU part"))}))
    return flags


def kerf_shared_object(plan, source):
    """The path of the compiled C++ kernel. It shares PyTorch's own OpenMP threads where that is libgomp."""
    compiler, clang = kerf_cpp_compiler()
    shares = not clang and hasattr(ctypes.CDLL(None), "GOMP_parallel")
    options = list(plan["options"])
    key = kerf_hash("cpp 1", source, plan["constants"], plan["prelude"], options, shares, kerf_file_mark(compiler), kerf_processor())

    def run(command, folder):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0:
            raise KerfError("{} does not compile the kernel (it needs OpenMP and C++20):\n{}".format(compiler, done.stdout[-3000:]))

    def make(path):
        folder = os.path.dirname(path)
        with open(os.path.join(folder, "kernel.cpp"), "w", encoding="utf-8") as stream:
            stream.write(plan["prelude"] + plan["constants"] + '#line 1 "kernel.cpp"\n' + source)
        run([compiler, *options, "-c", "kernel.cpp", "-o", "kernel.o"], folder)
        run([compiler, "-shared", *([] if shares else ["-fopenmp"]), "kernel.o", "-o", path], folder)

    return kerf_cached(plan["name"] + "-" + key + ".so", make)


def kerf_cuda_roots():
    """Folders that may hold a CUDA toolkit or the parts of one that PyTorch's wheels bring."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    roots = [os.environ.get(name, "") for name in ("KERF_NVRTC", "CUDA_HOME", "CUDA_PATH")]
    roots += [site, os.path.join(site, "torch"), "/usr/local/cuda", "/opt/cuda"]
    if os.path.isdir("/usr/local"):
        roots += [os.path.join("/usr/local", name) for name in sorted(os.listdir("/usr/local"), reverse=True) if name.startswith("cuda-")]
    roots += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    roots += os.environ.get("LD_LIBRARY_PATH", "").split(":") + ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
    return [root for root in roots if root and os.path.isdir(root)]


def kerf_listed(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def kerf_version_of(name):
    """[13, 0] of libnvrtc.so.13.0; empty for other files."""
    numbers = name.split(".so.")[-1].split(".") if ".so." in name and not name.startswith("libnvrtc.alt") else []
    return [int(number) for number in numbers] if all(number.isdigit() for number in numbers) else []


def kerf_newest(folder, stem):
    """The newest library `stem`.so.N of a folder (PyTorch's older wheels write stem-0123abcd.so.N), or None."""
    found = [(kerf_version_of(name), name) for name in kerf_listed(folder)
             if name.startswith((stem + ".so.", stem + "-")) and kerf_version_of(name)]
    if stem == "libnvrtc":
        found = [entry for entry in found if not entry[1].startswith("libnvrtc-builtins")]
    return os.path.join(folder, max(found)[1]) if found else None


def kerf_find_nvrtc():
    """(libnvrtc, libnvrtc-builtins or None, header folders)."""
    looked = kerf_cuda_roots()
    if not any(kerf_nvrtc_in(root) for root in looked):
        from torch.utils import cpp_extension  # knows where nvcc on PATH belongs
        looked = looked + [cpp_extension.CUDA_HOME or ""]
    for root in looked:
        folder = kerf_nvrtc_in(root) if root else None
        if folder:
            return kerf_newest(folder, "libnvrtc"), kerf_newest(folder, "libnvrtc-builtins"), kerf_headers(folder)
    raise KerfError("the kernels are CUDA C++ and are compiled at their first use: no libnvrtc.so in {}; install the CUDA toolkit "
                    "and set CUDA_HOME, or pip install nvidia-cuda-nvrtc for this Python".format(", ".join(looked)))


def kerf_nvrtc_in(root):
    """The folder below `root` that has libnvrtc, or None."""
    folders = [root, os.path.join(root, "lib64"), os.path.join(root, "lib"), os.path.join(root, "targets/x86_64-linux/lib")]
    folders += [os.path.join(root, "nvidia", package, "lib") for package in kerf_listed(os.path.join(root, "nvidia"))]
    for folder in folders:
        if kerf_newest(folder, "libnvrtc"):
            return folder
    return None


def kerf_headers(folder):
    """Where cuda_fp16.h, mma.h and what they include are, for libnvrtc in `folder`."""
    above = os.path.dirname(folder)
    candidates = [os.path.join(above, "include"), os.path.join(os.path.dirname(above), "include")]
    if os.path.basename(os.path.dirname(above)) == "nvidia":
        packages = os.path.dirname(above)
        candidates += [os.path.join(packages, package, "include") for package in kerf_listed(packages)]
    found = []
    for candidate in candidates:
        if any(os.path.exists(os.path.join(candidate, name)) for name in ("cuda_fp16.h", "crt/mma.h", "nv/target")):
            found += [path for path in (candidate, os.path.join(candidate, "cccl")) if os.path.isdir(path) and path not in found]
    return found


def kerf_cubins(plan, source, arch):
    """The kernels compiled for an architecture ("sm_90"), in parts that have some of them each; needs libnvrtc, but no GPU."""
    library, builtins, headers = kerf_find_nvrtc()
    key = kerf_hash("cuda 2", source, plan["constants"], plan["options"], json.dumps(plan["headers"]), arch, kerf_file_mark(library))

    def make(path):
        if builtins:  # libnvrtc asks for it by its bare name
            ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
        whole = source.encode("utf-8")
        texts = [kerf_without(whole, ranges) for ranges in plan["parts"]] or [whole]
        with concurrent.futures.ThreadPoolExecutor(min(len(texts), os.cpu_count() or 1)) as threads:
            cubins = list(threads.map(lambda text: kerf_compile_cuda(plan, text, arch, library, headers), texts))
        with open(path, "wb") as stream:
            stream.write(json.dumps([len(cubin) for cubin in cubins]).encode() + b"\n" + b"".join(cubins))

    with open(kerf_cached(plan["name"] + "-" + arch + "-" + key + ".cubins", make), "rb") as stream:
        return [stream.read(size) for size in json.loads(stream.readline().decode())]


def kerf_without(source, ranges):
    """Blanks for these bytes of a source, so that lines keep their numbers."""
    pieces, at = [], 0
    for begin, end in ranges:
        pieces += [source[at:begin], b"\n" * source.count(b"\n", begin, end)]
        at = end
    return b"".join(pieces + [source[at:]])


def kerf_compile_cuda(plan, source, arch, library, headers):
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    text = (plan["constants"] + '#line 1 "kernel.cu"\n').encode("utf-8") + source
    names = [name.encode() for name in plan["headers"]]
    bodies = [body.encode() for body in plan["headers"].values()]
    strings = lambda items: (ctypes.c_char_p * max(len(items), 1))(*items)  # noqa: E731
    # Instructions of exactly one generation (wgmma) need its 'a' variant; compilers without it take the plain name.
    number = int("".join(c for c in arch if c.isdigit()))
    for name in [arch + "a", arch] if number >= 90 and arch[-1].isdigit() else [arch]:
        program = ctypes.c_void_p()
        error = nvrtc.nvrtcCreateProgram(ctypes.byref(program), ctypes.c_char_p(text), b"kernel.cu", len(names), strings(bodies), strings(names))
        if error != 0:
            raise KerfError("NVRTC: " + nvrtc.nvrtcGetErrorString(error).decode())
        options = [o.encode() for o in plan["options"]] + [b"--gpu-architecture=" + name.encode()] + [b"-I" + h.encode() for h in headers]
        error = nvrtc.nvrtcCompileProgram(program, len(options), strings(options))
        if error == 0:
            cubin = kerf_nvrtc_text(nvrtc, program, "CUBIN")
        else:
            log = kerf_nvrtc_text(nvrtc, program, "ProgramLog").decode("utf-8", "replace") or nvrtc.nvrtcGetErrorString(error).decode()
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if error == 0:
            return cubin
        if error != 5:  # NVRTC_ERROR_INVALID_OPTION
            break
    raise KerfError("{} does not compile the kernels for {} (headers in {}):\n{}".format(library, arch, headers or "no folder", log[:3000]))


def kerf_nvrtc_text(nvrtc, program, what):
    size = ctypes.c_size_t()
    getattr(nvrtc, "nvrtcGet{}Size".format(what))(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(size.value, 1))
    getattr(nvrtc, "nvrtcGet" + what)(program, text)
    return text.raw[:size.value] if what == "CUBIN" else text.value
