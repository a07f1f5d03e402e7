#!/usr/bin/env python3
"""Exports built with the vendor's compilers and run: export_test.py KERF MAKE_RUN. CUDA is compiled where nvcc is found."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

KERF, MAKE_RUN = (os.path.abspath(path) for path in sys.argv[1:3])
TASKS = pathlib.Path(__file__).resolve().parents[2] / "tasks"
NVCC = os.environ.get("KERF_NVCC") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", **options)


class Export(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def must(self, *command, **options):
        result = run(*command, **options)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result.stdout

    def fixture(self, target, steps=60):
        self.must(MAKE_RUN, self.folder / "run", target, steps)
        return self.folder / "run"

    def export(self, source, form):
        out = self.folder / ("out-" + form)
        self.must(KERF, "export", source, "--format", form, "--out", out)
        return out

    def build(self, source):
        self.must("cmake", "-S", source, "-B", source / "build", "-G", "Ninja")
        self.must("cmake", "--build", source / "build")

    def checked(self, source, name, *symbols):
        self.build(source)
        return self.must(source / "build" / ("check_" + name), *symbols)

    def test_cpu_kernels_build_and_agree_with_the_reference(self):
        text = self.checked(self.export(self.fixture("cpu", 120), "cmake"), "rmsnorm", "rows=7", "cols=19")
        for path in ("wide", "tall", "tail", "fallback"):
            self.assertRegex(text, rf"ok +\w+ +{path} ")
        self.assertIn("all right", text)

    def test_opencl_kernels_build_and_agree_with_the_reference(self):
        text = self.checked(self.export(self.fixture("opencl"), "cmake"), "rmsnorm", "rows=7", "cols=19")
        for path in ("wide", "tall", "tail", "fallback"):
            self.assertRegex(text, rf"ok +\w+ +{path} ")

    def test_the_check_finds_a_kernel_that_is_wrong(self):
        source = self.export(self.fixture("cpu"), "cmake")
        for file in source.glob("rmsnorm_*.cpp"):
            text = file.read_text()
            if "scale * w[c]" in text:
                file.write_text(text.replace("scale * w[c]", "scale * w[0]"))
        self.build(source)
        result = run(source / "build" / "check_rmsnorm")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("WRONG", result.stdout)

    def test_one_header_for_cpu_is_enough(self):
        out = self.export(self.fixture("cpu"), "c-header")
        (out / "main.cpp").write_text(
            '#define RMSNORM_IMPLEMENTATION\n#include "rmsnorm.h"\n'
            "int main() {\n  std::vector<float> x(96 * 1024, 3.0f), w(1024, 2.0f), y(96 * 1024);\n"
            "  if (rmsnorm(1024, 96, x.data(), w.data(), y.data()) != RMSNORM_OK || std::fabs(y[7] - 2) > 1e-3) return 1;\n"
            '  if (std::string(rmsnorm_path(1024, 96)) != "wide" || std::string(rmsnorm_path(5, 3)) != "fallback") return 2;\n'
            "  y[14] = 0;\n  if (rmsnorm(5, 3, x.data(), w.data(), y.data()) != RMSNORM_OK || std::fabs(y[14] - 2) > 1e-3) return 3;\n"
            "  return rmsnorm(0, 3, x.data(), w.data(), y.data()) == RMSNORM_INVALID_SHAPE && !rmsnorm_path(0, 3) ? 0 : 4;\n}\n")
        self.must("g++", "-std=gnu++20", "-O2", "-fopenmp", "-include", "string", out / "main.cpp", "-o", out / "main")
        self.must(out / "main")

    def test_one_header_for_opencl_is_plain_c(self):
        out = self.export(self.fixture("opencl"), "c-header")
        (out / "main.c").write_text('#define RMSNORM_IMPLEMENTATION\n#include "rmsnorm.h"\nint main(void) { return 0; }\n')
        self.must("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", out / "main.c", "-o", out / "main", "-l:libOpenCL.so.1")

    @unittest.skipUnless(NVCC, "SKIPPED: no nvcc here (KERF_NVCC names one)")
    def test_cuda_kernels_compile(self):
        source = self.fixture("cuda")
        for form in ("cmake", "c-header"):
            out = self.export(source, form)
            if form == "c-header":
                (out / "main.cu").write_text('#define RMSNORM_IMPLEMENTATION\n#include "rmsnorm.cuh"\nint main() { return 0; }\n')
            for file in out.glob("*.cu"):
                self.must(NVCC, "-std=c++17", "-arch=sm_90", "-c", file, "-o", str(file) + ".o")

    def test_what_the_search_finds_can_be_exported(self):
        # Integer inputs, integer outputs, products; whatever kernels the families have for them.
        cases = {"argmax": ["rows=5", "cols=9"], "cross_entropy": ["rows=6", "classes=11"], "matmul": ["m=9", "n=7", "k=5"]}
        environment = dict(os.environ, KERF_CACHE=str(self.folder / "cache"))
        for task, symbols in cases.items():
            with self.subTest(task=task):
                source = self.folder / ("run-" + task)
                self.must(KERF, "optimize", TASKS / (task + ".toml"), "--target", "cpu", "--evals", 2, "--seed", 5, "--out", source,
                          "--set", "measure.max_rounds=3", env=environment)
                out = self.folder / ("out-" + task)
                self.must(KERF, "export", source, "--format", "cmake", "--out", out)
                self.assertIn("all right", self.checked(out, task, *symbols))

    def test_misuse_is_explained(self):
        wrong = run(KERF, "export", self.fixture("cpu"), "--format", "cmke")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean 'cmake'", wrong.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
