#!/usr/bin/env python3
"""Commands on kernels of the user's own, with real compilers and the processor: cli_test.py KERF."""
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import fcntl
import termios

KERF = os.path.abspath(sys.argv[1])
TASK = """name = "tiny"
[inputs]
x = "f32[n]"
[shapes]
default = { n = 20000, weight = 1 }
tail = { n = 33 }
[reference]
expr = "y = exp(x) * 0.5"
"""
OWN = """/* kerf
target:  cpu
tune:    STEP = {4, 8, 16}
*/
#include <cmath>
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long long i = 0; i < n; i += STEP)
    for (long long k = i; k < (i + STEP < n ? i + STEP : n); ++k) y[k] = std::exp(x[k]) * 0.5f;
}
"""
QUICK = ["--set", "measure.max_rounds=8", "--set", "measure.time_limit_ms=200"]


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        os.environ["KERF_CACHE"] = holder.name  # of compiled kernels, for all tests

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        (self.folder / "tiny.toml").write_text(TASK)
        (self.folder / "own.cpp").write_text(OWN)
        (self.folder / "wrong.cpp").write_text(OWN.replace("0.5f", "0.25f"))

    def kerf(self, *args, code=0):
        ran = subprocess.run([KERF, *args], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def test_a_search_starts_from_my_kernel_and_tunes_it(self):
        ran = self.kerf("optimize", "tiny.toml", "--from", "own.cpp", "--evals", "20", "--seed", "3", "--json", "--out", "run",
                        "--set", "search.starts=1", *QUICK)
        result = json.loads(ran.stdout)
        self.assertIn(result["standing"], ("faster", "undecided", "slower"))
        self.assertEqual(result["naive"] is None, result["standing"] == "faster")
        rows = self.kerf("show", "run", "--csv").stdout.splitlines()
        first = dict(zip(rows[0].split(","), rows[1].split(",")))
        self.assertEqual((first["step"], first["proposer"], first["stage"], first["kernel"]), ("1", "own", "start", "own.cpp"))
        self.assertEqual(first["outcome"], "measured")
        source = self.kerf("show", "run", "--source", "1").stdout
        self.assertEqual(source, OWN)
        listed = json.loads(self.kerf("runs", ".", "--json").stdout)["runs"]
        self.assertEqual((listed[0]["task"], listed[0]["target"], listed[0]["state"]), ("tiny", "cpu", "finished"))
        self.kerf("optimize", "--resume", "run", "--evals", "22", "--json")

    def test_every_search_judges_my_kernels(self):
        (self.folder / "two.cpp").write_text(OWN.replace("{4, 8, 16}", "{16, 8}"))
        self.kerf("optimize", "tiny.toml", "--search", "random", "--from", "own.cpp", "--from", "two.cpp", "--evals", "4",
                  "--seed", "3", "--out", "run", "--set", "search.starts=1", *QUICK)
        rows = [row.split(",") for row in self.kerf("show", "run", "--csv").stdout.splitlines()]
        at = {name: rows[0].index(name) for name in ("proposer", "kernel", "outcome")}
        self.assertEqual([[row[at[name]] for name in ("proposer", "kernel", "outcome")] for row in rows[1:3]],
                         [["own", "own.cpp", "measured"], ["own", "two.cpp", "measured"]])

    def test_a_kernel_that_does_not_fit_ends_the_start_and_leaves_nothing(self):
        (self.folder / "odd.cl").write_text("/* kerf\ntarget: opencl\nlaunch: k<<<1, 1>>>(x, y)\n*/\n")
        ran = self.kerf("optimize", "tiny.toml", "--from", "odd.cl", "--target", "cpu", code=2)
        self.assertIn("written for target 'opencl'", ran.stderr)
        self.kerf("optimize", "tiny.toml", "--from", "nothing.cpp", code=2)
        self.kerf("optimize", "tiny.toml", "--device", "cpu:99", code=2)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["odd.cl", "own.cpp", "tiny.toml", "wrong.cpp"])

    def test_kernels_are_written_without_compiler_and_device(self):
        bare = {"PATH": "/nonexistent", "HOME": str(self.folder), "OPENCL_VENDOR_PATH": "/nonexistent"}
        for target, mark in (("cuda", "__global__"), ("opencl", "__kernel"), ("cpu", "kerf_kernel")):
            for command in ("naive", "synth"):
                ran = subprocess.run([KERF, command, "tiny.toml", "--target", target], cwd=self.folder, env=bare,
                                     capture_output=True, text=True)
                self.assertEqual(ran.returncode, 0, f"{command} {target}: {ran.stderr}")
                self.assertIn(f"target: {target}", re.sub(" +", " ", ran.stdout))
                self.assertIn(mark, ran.stdout)

    def test_two_kernels_are_timed_in_turn(self):
        naive = self.kerf("naive", "tiny.toml", "--target", "cpu").stdout
        (self.folder / "naive.cpp").write_text(naive)
        result = json.loads(self.kerf("compare", "tiny.toml", "own.cpp", "naive.cpp", "--set", "STEP=16", "--json", *QUICK).stdout)
        self.assertEqual([s["shape"] for s in result["shapes"]], ["default"])
        self.assertGreater(result["speedup"]["ratio"], 0)
        self.assertLessEqual(result["speedup"]["low"], result["speedup"]["high"])
        refused = self.kerf("compare", "tiny.toml", "own.cpp", "wrong.cpp", *QUICK, code=2)
        self.assertIn("there is nothing to compare: wrong.cpp: wrong result at gate 'values'", refused.stderr)

    def test_output_that_could_not_be_written_is_an_error_and_a_closed_pipe_is_not(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([KERF, "tasks"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("could be written", done.stderr)
        ends = os.pipe()
        os.close(ends[0])
        done = subprocess.run([KERF, "tasks"], stdout=ends[1], stderr=subprocess.PIPE, text=True, check=False)
        os.close(ends[1])
        self.assertEqual(done.stderr, "")

    def test_strict_is_for_ci(self):
        self.kerf("eval", "tiny.toml", "wrong.cpp", *QUICK)
        self.kerf("eval", "tiny.toml", "own.cpp", "--strict", *QUICK)
        self.assertIn("does not pass (wrong result)", self.kerf("eval", "tiny.toml", "own.cpp", "wrong.cpp", "--strict", *QUICK, code=1).stderr)
        self.assertIn("not at least 1000x", self.kerf("eval", "tiny.toml", "own.cpp", "--strict", "--at-least", "1000", *QUICK, code=1).stderr)

    def test_progress_fits_a_terminal_of_80_columns(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ["TERM"] = "xterm"
            os.execv(KERF, [KERF, "optimize", "tiny.toml", "--evals", "6", "--out", "run", *QUICK])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        text = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the program ended
                break
            if not part:
                break
            text += part
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)
        plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text.decode())
        during = plain[:plain.index("evaluations in ")].splitlines()[:-3]
        self.assertTrue(any("finalist 1 of " in line for line in during), during[-20:])
        self.assertLessEqual(max(len(line.rstrip("\r")) for line in during), 80)
        self.assertNotIn(" 0 s left", plain)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
