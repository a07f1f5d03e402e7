#!/usr/bin/env python3
"""`kerf tune` with the real judge: finds the fast tuple, refuses the wrong one, writes the kernel back. tune_test.py KERF"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TASK = """
[inputs]
x = "f32[n]"
[shapes]
default = { n = 65536, weight = 1 }
tail = { n = 1001 }
[reference]
expr = "y = 2 * x + 1"
"""
# WASTE repeats the work, for so long that waiting for a busy machine's cores, a few of their time slices of some
# milliseconds, looks like nothing beside it; BROKEN = 1 is wrong, BROKEN = 2 does not compile, STEP only has to divide 64.
KERNEL = """/* kerf
target: cpu
tune: WASTE = {20000, 1, 10000}
tune: BROKEN = {0, 1, 2}
tune: STEP = {1, 2, 3}
require: 64 % STEP == 0
*/
extern "C" void kerf_kernel(const float* x, float* y) {
  static_assert(BROKEN != 2, "not like this");
  volatile long step = STEP;
  for (long round = 0; round < WASTE; ++round) {
    for (long i = 0; i < n; ++i) y[i] = 2 * x[i] + (BROKEN == 1 ? 1.5f : 1.0f);
    asm volatile("" : : "r"(y) : "memory");
  }
}
"""


def main():
    kerf = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "twice.toml").write_text(TASK)
        (folder / "twice.cpp").write_text(KERNEL)
        env = dict(os.environ, KERF_CACHE=str(folder / "cache"), NO_COLOR="1")

        def run(*args):
            return subprocess.run([kerf, "tune", *args], cwd=folder, env=env, capture_output=True, text=True, timeout=600)

        done = run("twice.toml", "twice.cpp", "--evals", "16", "--json", "--out", "tuned.cpp", "--set", "measure.max_rounds=3")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["schema"] == 2 and report["tuples"] == 27 and report["timings"] <= 16, report
        assert report["best"]["WASTE"] == 1 and report["best"]["BROKEN"] == 0, report["best"]
        assert report["verdict"]["outcome"] == "measured" and report["verdict"]["tunables"] == report["best"]
        assert report["before"]["tunables"] == {"WASTE": 20000, "BROKEN": 0, "STEP": 1}
        assert report["gain"]["low"] > 1  # timed in turn
        assert all(row["tunables"]["STEP"] != 3 for row in report["table"]), "a requirement that does not hold"
        outcomes = {row["tunables"]["BROKEN"]: row["outcome"] for row in report["table"]}
        assert outcomes[0] == "timed"
        assert outcomes.get(1, "wrong_result") == "wrong_result" and outcomes.get(2, "build_failed") == "build_failed", outcomes
        times = [row["score_us"] for row in report["table"] if row["outcome"] == "timed"]
        assert times == sorted(times) and all("speedup" not in row for row in report["table"])
        tuned = (folder / "tuned.cpp").read_text()
        assert "tune: WASTE = {1, 20000, 10000}\ntune: BROKEN = {0, 1, 2}\n" in tuned, tuned

        done = run("twice.toml", "twice.cpp", "--evals", "1", "--out", "twice.toml")
        assert done.returncode == 2 and "twice.toml: the file exists" in done.stderr, done.stderr
        assert (folder / "twice.toml").read_text() == TASK
        done = run("twice.toml", "twice.cpp", "--evals", "1", "--out", "tuned.cpp", "--set", "measure.max_rounds=3")
        assert done.returncode == 0, done.stderr  # the same kernel with other defaults
        (folder / "tuned.cpp").write_text(tuned)

        done = run("twice.toml", "tuned.cpp", "--evals", "8", "--set", "measure.max_rounds=3")
        assert done.returncode == 0, done.stderr
        kept = "the defaults are kept: nothing" in done.stdout
        assert kept != ("over the defaults" in done.stdout), done.stdout  # STEP = 2 may be faster by chance

        done = run("twice.toml", "twice.cpp", "--all", "1", "--rounds", "1", "--set", "measure.max_rounds=3")
        assert done.returncode == 0 and "18 quick timings, 18 of 27 tuples" in done.stdout, done.stdout + done.stderr
        assert "wrong result" in done.stdout + done.stderr and "(all that are allowed)" in done.stdout
        ranking, note, _ = done.stdout.partition("times are lower quartiles")
        assert note and not re.search(r"\[\S+ \S+ \.\. ", ranking + done.stderr), "one estimate per table"
        (folder / "unused.cpp").write_text(KERNEL.replace("BROKEN = {0, 1, 2}", "BROKEN = {0}").replace("STEP = {1, 2, 3}", "STEP = {1, 2}")
                                           .replace("  volatile long step = STEP;\n", ""))
        done = run("twice.toml", "unused.cpp", "--set", "measure.max_rounds=3")
        assert "3 of 6 tuples" in done.stdout and "(all that differ in their code)" in done.stdout, done.stdout + done.stderr

        (folder / "plain.cpp").write_text("/* kerf\ntarget: cpu\n*/\n" + KERNEL.split("*/\n", 1)[1])
        for args, words in [(("twice.toml", "plain.cpp"), "has no tunables"),
                            (("twice.toml", "missing.cpp"), "there is no kernel file"),
                            (("twice.toml", "twice.cpp", "--set", "WASTE=1"), "tuning chooses the tunables"),
                            (("twice.toml", "twice.cpp", "--evalz", "3"), "did you mean '--evals'"),
                            (("twice.toml", "twice.cpp", "--target", "opencl"), "is written for target 'cpu'")]:
            done = run(*args)
            assert done.returncode == 2 and words in done.stderr, (args, done.returncode, done.stderr)
        (folder / "never.cpp").write_text(KERNEL.replace("64 % STEP == 0", "STEP > 5"))
        done = run("twice.toml", "never.cpp")
        assert done.returncode == 2 and "no tuple of its tunables satisfies" in done.stderr, done.stderr
        (folder / "wrong.cpp").write_text(KERNEL.replace("BROKEN = {0, 1, 2}", "BROKEN = {1, 2}"))
        done = run("twice.toml", "wrong.cpp", "--evals", "4", "--out", "never.txt")
        assert done.returncode == 2 and "no tuple passes" in done.stderr and not (folder / "never.txt").exists(), done.stderr
    print("ok")


if __name__ == "__main__":
    main()
