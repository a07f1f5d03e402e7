#!/usr/bin/env python3
"""Exports built with the vendor's compilers and run: export_test.py KERF MAKE_RUN. CUDA is compiled where nvcc is found."""
import hashlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

KERF, MAKE_RUN = (os.path.abspath(path) for path in sys.argv[1:3])
TASKS = pathlib.Path(__file__).resolve().parents[2] / "tasks"
CLANG = shutil.which("clang++-19") or shutil.which("clang++")
COMPILERS = [["g++"]] + ([[CLANG]] if CLANG else [])
STRICT = ["-Wall", "-Wextra", "-Werror"]
NVCC = os.environ.get("KERF_NVCC") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace", **options)


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        os.environ["KERF_CACHE"] = holder.name  # of compiled kernels, for all tests

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def must(self, *command, **options):
        result = run(*command, **options)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result.stdout

    def small(self, name):
        """A sample task with a smaller shape to be timed: what is exported is the same, finding it takes less."""
        text = (TASKS / (name + ".toml")).read_text()
        file = self.folder / (name + ".toml")
        shape = re.search(r"(?m)^default *=.*$", text).group()
        file.write_text(text.replace(shape, re.sub(r"= (\d{3,})", lambda extent: f"= {min(int(extent[1]), 128)}", shape)))
        return file

    def fixture(self, target, steps=60):
        self.must(MAKE_RUN, self.folder / "run", target, steps)
        return self.folder / "run"

    def export(self, source, form, *options):
        out = self.folder / "-".join(["out", form, *map(str, options)])
        self.must(KERF, "export", source, "--format", form, "--out", out, "--no-check", *options)
        return out

    def strict(self, file, *options):
        """Compiles a C++ file with every compiler here, warnings being errors."""
        for compiler in COMPILERS:
            flags = [flag for flag in options if flag != "-fopenmp" or compiler == ["g++"] or self.clang_has_openmp()]
            self.must(*compiler, "-std=gnu++20", "-O2", *STRICT, *flags, "-c", file, "-o", str(file) + ".o")

    def clang_has_openmp(self):
        probe = self.folder / "probe.cpp"
        probe.write_text("#include <omp.h>\nint main() { return omp_get_max_threads() == 0; }\n")
        return run(CLANG, "-fopenmp", "-fsyntax-only", probe).returncode == 0

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

    def test_shape_symbols_may_have_names_of_opencl_functions(self):
        (self.folder / "t.toml").write_text("""name = "twice"
[inputs]
x = "f32[length, step]"
[shapes]
default = { length = 20, step = 30, weight = 1 }
[reference]
expr = "y = x * 2"
""")
        (self.folder / "k.cl").write_text("""/* kerf
target: opencl
launch: twice<<<length, 1>>>(x, y)
*/
__kernel void twice(__global const float* x, __global float* y) {
  const int row = get_group_id(0), total = step;
  for (int step = 0; step < total; ++step) y[row * total + step] = 2 * x[row * total + step];  // hides the symbol
}
""")
        out = self.folder / "out"
        self.must(KERF, "export", "--task", self.folder / "t.toml", "--kernel", self.folder / "k.cl", "--format", "cmake", "--out", out)
        text = self.checked(out, "twice", "length=5", "step=9")
        for path in ("default", "fallback"):
            self.assertRegex(text, rf"ok +\w+ +{path} ")

    def test_exports_are_checked_before_they_are_written(self):
        for target in ("cpu", "opencl"):
            source = self.folder / target
            self.must(MAKE_RUN, source, target, 60)
            for form in ("source", "c-header", "cmake"):
                out = self.folder / (target + form)
                result = run(KERF, "export", source, "--format", form, "--out", out)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, r"(?m)^checked: check_rmsnorm, built with .* and run in the sandbox: 3 comparisons, all right$")
                self.assertTrue((out / "rmsnorm.h").exists())
        result = run(KERF, "export", source, "--out", out, "--no-check")
        self.assertEqual(result.returncode, 0)
        self.assertIn("not checked: --no-check", result.stderr)

    def test_a_check_that_fails_writes_nothing(self):
        harmful = {
            "scale * w[c]": "scale * w[0]",  # wrong
            "const float scale": "volatile char big[16 << 20]; big[0] = big[sizeof big - 1] = 1; const float scale",  # too much stack
            "float sum = 0;": "float sum = 0; __builtin_trap();",  # crashes
            "return sum;": "return summ;",  # does not compile
        }
        for number, (before, after) in enumerate(harmful.items()):
            source, out = self.folder / f"run{number}", self.folder / f"out{number}"
            self.must(MAKE_RUN, source, "cpu", 60)
            with sqlite3.connect(source / "kerf.db") as db:
                step = int(db.execute("SELECT value FROM facts WHERE key = 'best_step'").fetchone()[0])
                text = db.execute("SELECT source FROM steps WHERE number = ?", (step,)).fetchone()[0].decode()
                self.assertIn(before, text)
                changed = text.replace(before, after).encode()
                db.execute("UPDATE steps SET source = ? WHERE number = ?", (changed, step))
            result = run(KERF, "export", source, "--out", out)
            self.assertEqual(result.returncode, 2)
            self.assertIn("has another source than the one that was judged", result.stderr)
            with sqlite3.connect(source / "kerf.db") as db:  # forged with its hash
                hashes = hashlib.sha256(text.encode()).hexdigest(), hashlib.sha256(changed).hexdigest()
                db.execute("UPDATE steps SET evaluation = replace(evaluation, ?, ?) WHERE number = ?", (*hashes, step))
            result = run(KERF, "export", source, "--out", out)
            self.assertNotEqual(result.returncode, 0, after)
            self.assertIn("do not compile" if "summ" in after else "the check program of the export fails", result.stderr)
            self.assertFalse(out.exists())

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
            '#define RMSNORM_IMPLEMENTATION\n#include "rmsnorm.h"\n#include <string>\n'
            "int main() {\n  std::vector<float> x(96 * 1024, 3.0f), w(1024, 2.0f), y(96 * 1024);\n"
            "  const rmsnorm_shape wide = {96, 1024}, other = {3, 5}, none = {3, 0};\n"
            "  if (rmsnorm(wide, x.data(), w.data(), y.data()) != RMSNORM_OK || std::fabs(y[7] - 2) > 1e-3) return 1;\n"
            '  if (std::string(rmsnorm_path(wide)) != "wide" || std::string(rmsnorm_path(other)) != "fallback") return 2;\n'
            "  y[14] = 0;\n  if (rmsnorm(other, x.data(), w.data(), y.data()) != RMSNORM_OK || std::fabs(y[14] - 2) > 1e-3) return 3;\n"
            "  if (rmsnorm(none, x.data(), w.data(), y.data()) != RMSNORM_INVALID_SHAPE || rmsnorm_path(none)) return 4;\n"
            '  return rmsnorm_refusal(none) == std::string("cols must be at least 1") && !rmsnorm_refusal(wide) ? 0 : 5;\n}\n')
        self.must("g++", "-std=gnu++20", "-O2", *STRICT, "-fopenmp", out / "main.cpp", "-o", out / "main")
        self.must(out / "main")

    def test_sources_for_cpu_compile_without_a_warning(self):
        out = self.export(self.fixture("cpu"), "cmake")
        for file in out.glob("*.cpp"):
            self.strict(file, "-fopenmp")
        (out / "user.c").write_text('#include "rmsnorm.h"\nint use(const float* x, const float* w, float* y) {\n'
                                    "  const rmsnorm_shape shape = {.rows = 3, .cols = 5};\n  return rmsnorm(shape, x, w, y);\n}\n")
        self.must("gcc", "-std=c99", *STRICT, "-pedantic", "-c", out / "user.c", "-o", out / "user.o")

    def test_two_exports_fit_into_one_file(self):
        source = self.fixture("cpu")
        first, second = (self.export(source, "c-header", "--name", name) for name in ("first", "second"))
        main = self.folder / "main.cpp"
        main.write_text(f'#define FIRST_IMPLEMENTATION\n#define SECOND_IMPLEMENTATION\n#include "{first}/first.h"\n#include "{second}/second.h"\n'
                        "int main() {\n  float x[15] = {1}, w[5] = {1}, y[15];\n"
                        "  return first({3, 5}, x, w, y) + second({3, 5}, x, w, y);\n}\n")
        self.strict(main, "-fopenmp")
        self.must("g++", "-std=gnu++20", "-O1", "-fopenmp", main, "-o", self.folder / "main")
        self.must(self.folder / "main")

    def test_two_opencl_exports_fit_into_one_c_file(self):
        source = self.fixture("opencl")
        first, second = (self.export(source, "c-header", "--name", name) for name in ("first", "second"))
        main = self.folder / "main.c"
        main.write_text(f'#define FIRST_IMPLEMENTATION\n#define SECOND_IMPLEMENTATION\n#include "{first}/first.h"\n#include "{second}/second.h"\n'
                        "int main(void) { return 0; }\n")
        self.must("gcc", "-std=c99", *STRICT, "-pedantic", main, "-o", self.folder / "main", "-l:libOpenCL.so.1")

    def test_the_header_says_where_it_is_from(self):
        out = self.export(self.fixture("cpu"), "source", "--name", "scaled_rows")
        text = (out / "scaled_rows.h").read_text()
        self.assertRegex(text, r"Task id: [0-9a-f]{64}\n")
        self.assertRegex(text, r"Kernel: .*, id [0-9a-f]{64}\n")
        self.assertRegex(text, r"Exported by Kerf \S+ on \d{4}-\d\d-\d\d\.\n")
        self.assertIn("SPDX-License-Identifier: Apache-2.0", text)
        self.assertIn("long long rows, cols;", text)

    def test_shapes_outside_of_the_domain_are_refused(self):
        # m and n are equal in every shape set, so that a plain kernel would read past the end of the shorter one.
        task = self.folder / "added.toml"
        task.write_text('name = "added"\n[inputs]\na = "f32[rows, m]"\nb = "f32[n]"\n[shapes]\n'
                        "default = { rows = 64, m = 256, n = 256 }\ntail = { rows = 3, m = 37, n = 37 }\n"
                        '[reference]\nexpr = "y = a + b"\noutputs = ["y"]\n')
        self.must(KERF, "optimize", task, "--target", "cpu", "--evals", 2, "--seed", 5, "--out", self.folder / "run",
                  "--set", "measure.max_rounds=3", "--set", "judge.soak_seconds=0.1")
        out = self.export(self.folder / "run", "cmake")
        self.assertIn("all right", self.checked(out, "added", "rows=2", "m=5", "n=5"))
        refused = run(out / "build" / "check_added", "rows=2", "m=6", "n=5")
        self.assertEqual(refused.returncode, 2, "asked for, not wrong")
        self.assertIn("the shape is refused: m must equal n", refused.stdout)
        self.assertNotIn("wrong results", refused.stdout)
        unknown = run(out / "build" / "check_added", "row=2", "m=6", "n=6")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("unknown symbol row; choose from:", unknown.stderr)

    def test_one_header_for_opencl_is_plain_c(self):
        out = self.export(self.fixture("opencl"), "c-header")
        (out / "main.c").write_text('#define RMSNORM_IMPLEMENTATION\n#include "rmsnorm.h"\nint main(void) { return 0; }\n')
        self.must("gcc", "-std=c99", *STRICT, "-pedantic", out / "main.c", "-o", out / "main", "-l:libOpenCL.so.1")
        self.strict_cpp_user(out)

    def strict_cpp_user(self, out):
        (out / "user.cpp").write_text('#include "rmsnorm.h"\nint main() { return 0; }\n')
        self.strict(out / "user.cpp")

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
        for task, symbols in cases.items():
            with self.subTest(task=task):
                source = self.folder / ("run-" + task)
                self.must(KERF, "optimize", self.small(task), "--target", "cpu", "--evals", 2, "--seed", 5, "--out", source,
                          "--set", "measure.max_rounds=3", "--set", "judge.soak_seconds=0.1")
                out = self.folder / ("out-" + task)
                self.must(KERF, "export", source, "--format", "cmake", "--out", out, "--no-check")  # checked here, with more shapes
                self.assertIn("all right", self.checked(out, task, *symbols))
                for file in out.glob("*.cpp"):
                    self.strict(file, "-fopenmp")

    def test_a_kernel_of_ones_own_is_verified_and_exported_for_more_shapes(self):
        kernel, task = self.folder / "mine.cpp", self.small("softmax")
        kernel.write_text(self.must(KERF, "naive", task, "--target", "cpu"))
        out = self.folder / "own"
        options = ["export", "--task", task, "--kernel", kernel, "--format", "cmake", "--out", out]
        self.must(KERF, *options, "--shapes", "rows=4..8:4,cols=32")
        text = self.checked(out, "softmax", "rows=5", "cols=7")
        for path in ("rows4_cols32", "rows8_cols32", "tail", "fallback"):
            self.assertRegex(text, rf"ok +\w+ +{path} ")
        kernel.write_text(kernel.read_text().replace("std::exp(", "std::exp2("))
        wrong = run(KERF, *options)
        self.assertEqual(wrong.returncode, 2, wrong.stdout)
        self.assertIn("the kernel cannot be exported: wrong", wrong.stderr)

    def test_half_precision_outputs_may_lose_what_their_type_does(self):
        for dtype in ("bf16", "f16"):
            task, kernel = self.folder / f"{dtype}.toml", self.folder / f"{dtype}.cpp"
            task.write_text(f'[inputs]\na = "{dtype}[n, 64]"\nb = "{dtype}[64, m]"\n[shapes]\ndefault = {{ n = 64, m = 96 }}\n'
                            'tail = { n = 3, m = 5 }\n[reference]\nexpr = "c = a @ b"\n')
            kernel.write_text(self.must(KERF, "naive", task))
            options = ["export", "--task", task, "--kernel", kernel, "--format", "cmake", "--out", self.folder / f"out-{dtype}"]
            self.must(KERF, *options)
            for source in (self.folder / f"out-{dtype}").rglob("*.cpp"):
                source.write_text(source.read_text().replace("(float)a3)", "(float)a3 * 1.02f)"))  # two percent
            self.build(self.folder / f"out-{dtype}")
            checked = run(self.folder / f"out-{dtype}" / "build" / f"check_{dtype}")
            self.assertEqual(checked.returncode, 1, checked.stdout)
            self.assertIn("WRONG", checked.stdout)

    def test_a_kernel_that_is_not_faster_is_exported_with_a_warning(self):
        for kind, warns in (("slow", True), ("fast", False)):
            folder = self.folder / kind
            self.must(MAKE_RUN, folder, "cpu", 40, 1, kind)
            done = run(KERF, "export", folder, "--format", "c-header")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("warning: this kernel is slower than naive" in done.stderr, warns, done.stderr)

    def test_misuse_is_explained(self):
        wrong = run(KERF, "export", self.fixture("cpu"), "--format", "cmke")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean 'cmake'", wrong.stderr)
        wrong = run(KERF, "export", self.folder / "run", "--name", "two words")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'two words' is not a name", wrong.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
