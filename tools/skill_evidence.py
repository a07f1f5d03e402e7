#!/usr/bin/env python3
"""Tries the skills that Kerf comes with, and keeps what was found in skills/evidence.jsonl, refusals too.

skill_evidence.py KERF NAME... [--out FILE] [-- OPTION...]

Each is put through the gate of `kerf skills verify` (real searches on this machine, minutes to hours; OPTION... are passed on to
it). Afterwards build anew: the file becomes part of the program, which shows its trials as those of another machine. A skill
is shipped as verified only where its newest trial admitted it. A trial that is interrupted leaves nothing behind."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(words):
    passed_on = words[words.index("--") + 1:] if "--" in words else []
    words = words[:words.index("--")] if "--" in words else words
    out = ROOT / "skills" / "evidence.jsonl"
    if "--out" in words:
        at = words.index("--out")
        out = pathlib.Path(words[at + 1])
        del words[at:at + 2]
    if len(words) < 2:
        sys.exit(__doc__)
    kerf, names = str(pathlib.Path(words[0]).resolve()), words[1:]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "KERF_MEMORY": str(pathlib.Path(folder) / "memory.db")}
        for name in names:
            subprocess.run([kerf, "skills", "verify", name, *passed_on], check=True, env=env)
        lines = subprocess.run([kerf, "skills", "export", "-"], check=True, env=env, capture_output=True, text=True).stdout.splitlines()
    known = {record["id"]: record for record in map(json.loads, out.read_text().splitlines()[1:])} if out.exists() else {}
    for record in map(json.loads, lines[1:]):
        if record["origin"] == "kerf" and record["evidence"]:
            known[record["id"]] = record
    shipped = {record["id"] for record in map(json.loads, lines[1:])}
    kept = sorted((record for record in known.values() if record["id"] in shipped), key=lambda record: record["name"])
    out.write_text("\n".join([lines[0], *(json.dumps(record, separators=(",", ":"), ensure_ascii=False) for record in kept)]) + "\n")
    print(f"{out}: {len(kept)} skills with evidence")


if __name__ == "__main__":
    main(sys.argv[1:])
