#!/usr/bin/env python3
"""Every model of a folder (KernelBench's level1, ...) beside itself: what `kerf compare --pytorch` says when the kernel is the model.

  python3 tests/perf/compare_self.py build/release/kerf DIR/level1 --target cuda --time 1 --problems 1,19,23,37 --out self.jsonl

The ratio should be 1 within its interval, every verdict right. Shows the accuracy class, weak outputs, how double precision was had, and
the times of eager and torch.compile. One JSON line per file in --out; files already there are skipped.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile


def number(path):
    found = re.match(r"(\d+)", path.name)
    return int(found.group(1)) if found else 0


def chosen(text):
    numbers = set()
    for part in filter(None, (text or "").split(",")):
        low, _, high = part.partition("-")
        numbers |= set(range(int(low), int(high or low) + 1))
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--time", default="1")
    parser.add_argument("--problems", help="numbers: 1,5-9 (default: all)")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--out", default="compare_self.jsonl")
    options = parser.parse_args()
    wanted = chosen(options.problems)
    done = set()
    if os.path.exists(options.out):
        with open(options.out, encoding="utf-8") as stream:
            done = {json.loads(line)["file"] for line in stream}
    for file in sorted(options.folder.glob("*.py"), key=number):
        if (wanted and number(file) not in wanted) or str(file) in done:
            continue
        with tempfile.TemporaryDirectory() as folder:
            new = pathlib.Path(folder) / "model_new.py"
            new.write_text(file.read_text() + "\n\nModelNew = Model\n")
            ran = subprocess.run([options.kerf, "compare", "--pytorch", str(file), str(new), "--target", options.target, "--time", options.time,
                                  "--json", *([] if options.compile else ["--no-compile"])], capture_output=True, text=True)
        row = json.loads(ran.stdout) if ran.returncode == 0 else {"error": ran.stderr.strip()}
        row["file"] = str(file)
        with open(options.out, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        if "error" in row:
            print(f"{file.name[:40]:40} {row['error'][:120]}", flush=True)
            continue
        time = lambda p: f"{row[p]['times']['median_us'] / 1e3:.3g} ms" if row[p].get("times") else row[p]["status"]  # noqa: E731
        ratio = row["over_eager"]
        print(f"{file.name[:40]:40} eager {time('eager'):>12} compile {time('compiled'):>12} ratio "
              f"{'-' if not ratio else '%.3f [%.3f, %.3f]' % (ratio['ratio'], *ratio['interval'])} {row['accuracy_class']:9} "
              f"{'right' if row['kernelbench']['correct'] else 'WRONG'} f64 {row['double_precision'][:12]:12} "
              f"{','.join(sorted({weak['kind'] for weak in row['weak']})) or '-'}", flush=True)


if __name__ == "__main__":
    main()
