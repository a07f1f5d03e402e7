#!/usr/bin/env python3
"""What becomes of a language model's replies: how many are kernels, build, pass every check, and beat the plain kernel.

    tools/small_model.sh start 8080
    tests/perf/model_replies.py build/release/kerf --model smollm2 --base-url http://127.0.0.1:8080/v1 --context 8192

Searches with --mind llm alone, one a task, until each has --replies answers; then every answer's own verdict is counted, off the
traces that `kerf traces export` writes. Prints a table and keeps runs and traces in --out. It says what this model did on these
tasks with this Kerf, and nothing beyond."""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def verdict_of(row):
    """How far the reply came: each step needs those before it."""
    verdict = row["verdict"] or {}
    if row["outcome"] != "reply":
        return "cut" if row["outcome"] == "truncated" else "none"
    outcome, gate = verdict.get("outcome", ""), verdict.get("gate", "")
    if outcome == "rejected" and gate == "parse":
        return "unreadable"
    if outcome == "rejected" and gate == "duplicate":
        return "known"
    if outcome == "build_failed":
        return "unbuilt"
    if outcome == "measured":
        return "faster" if (verdict.get("speedup") or {}).get("ratio", 0) > 1 else "passed"
    return "wrong"


def run(args, task, env):
    folder = args.out / task
    words = [args.kerf, "optimize", str(ROOT / "tasks" / f"{task}.toml"), "--target", args.target, "--mind", "llm", "--models",
             str(args.out / "models.toml"), "--max-tokens", str(args.max_tokens), "--seed", "1", "--evals",
             str(args.replies), "--out", str(folder), "--memory", "off", "--set", "search.patience=0", "--set", "judge.soak_seconds=0"]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr[-2000:])
    traces = subprocess.run([args.kerf, "traces", "export", str(folder)], env=env, capture_output=True, text=True, check=True)
    (args.out / f"{task}.jsonl").write_text(traces.stdout)
    return [json.loads(line) for line in traces.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--context", type=int, default=32768)
    parser.add_argument("--reply-tokens", type=int, default=2048, help="of one answer, at most")
    parser.add_argument("--silence", type=int, default=900, help="seconds before and inside of an answer, at most")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tasks", nargs="+", default=["rowsum", "gelu", "softmax"])
    parser.add_argument("--replies", type=int, default=15, help="of a task")
    parser.add_argument("--max-tokens", type=int, default=150000, help="of a task")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.kerf = str(pathlib.Path(args.kerf).resolve())
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "models.toml").write_text(
        f'[[model]]\nname = "{args.model}"\nbase_url = "{args.base_url}"\ncontext_tokens = {args.context}\n'
        f"max_reply_tokens = {args.reply_tokens}\nfirst_byte_seconds = {args.silence}\nsilence_seconds = {args.silence}\nat_once = 1\n")
    env = {**os.environ, "KERF_CACHE": str(args.out / "cache")}
    kinds = ["none", "cut", "unreadable", "known", "unbuilt", "wrong", "passed", "faster"]
    print("| task | replies | no answer | cut off | no kernel in it | known kernel | does not build | wrong or fails | passes | and is faster |")
    print("|---|" + "---:|" * 9)
    total = collections.Counter()
    for task in args.tasks:
        rows = [row for row in run(args, task, env) if row["role"] == "policy"]
        count = collections.Counter(verdict_of(row) for row in rows)
        count["passed"] += count["faster"]
        total.update(count)
        total["all"] += len(rows)
        print(f"| {task} | {len(rows)} | " + " | ".join(str(count[kind]) for kind in kinds) + " |", flush=True)
    print(f"| all | {total['all']} | " + " | ".join(str(total[kind]) for kind in kinds) + " |")


if __name__ == "__main__":
    main()
