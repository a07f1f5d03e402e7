#!/usr/bin/env python3
"""The llm mind end to end with a real small model on this machine. small_model_test.py KERF; exit code 77: not to be had."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


def main():
    kerf = str(pathlib.Path(sys.argv[1]).resolve())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = subprocess.run([ROOT / "tools/small_model.sh", "start", str(port)], text=True, capture_output=True)
    if started.returncode == 77:
        print("skipped:", started.stderr.strip().splitlines()[-1])
        sys.exit(77)
    check(started.returncode == 0, started.stdout, started.stderr)
    address = started.stdout.split("http://127.0.0.1:")[1].split("/")[0]  # one that was running already keeps its own
    try:
        with tempfile.TemporaryDirectory() as name:
            exercise(kerf, pathlib.Path(name), f"http://127.0.0.1:{address}/v1")
    finally:
        subprocess.run([ROOT / "tools/small_model.sh", "stop"], stdout=subprocess.DEVNULL, check=False)


def exercise(kerf, folder, url):
    model = ["--model", "smollm2", "--base-url", url]

    def run(*args):
        env = {**os.environ, "KERF_MEMORY": "off", "KERF_CACHE": str(folder / "cache")}
        done = subprocess.run([kerf, *args], cwd=folder, env=env, text=True, capture_output=True)
        check(done.returncode == 0, args, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout

    doctor = json.loads(run("doctor", "--json", *model))
    check(doctor["models"][0]["answers"], doctor["models"])
    limit = 5000
    result = json.loads(run("optimize", str(ROOT / "tasks/rowsum.toml"), "--mind", "llm", *model, "--context", "4096",
                            "--evals", "2", "--max-tokens", str(limit), "--seed", "1", "--out", "run", "--json"))
    check(result["evaluations"] <= 2, result)
    traces = [json.loads(line) for line in run("traces", "export", "run").splitlines()]
    check(traces, "no exchange was kept")
    spent = sum(t["prompt_tokens"] + t["reply_tokens"] for t in traces)
    check(0 < spent <= limit, spent)
    check(all(t["model"] == "smollm2" and t["messages"] and t["seconds"] > 0 for t in traces), traces[0])
    gates = [t["verdict"].get("gate", "measured") for t in traces]
    print(f"{len(traces)} answers: {sum(g != 'parse' for g in gates)} with a kernel in them, "
          f"{sum(g not in ('parse', 'compile') for g in gates)} that compile or are known, "
          f"{gates.count('measured')} that pass; {spent} tokens")


main()
