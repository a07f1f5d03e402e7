#!/usr/bin/env python3
"""Holds the prose of README.md, src/README.md and docs/ to 120 columns; tables, headings and code blocks are as wide as they need.
--fix wraps the paragraphs that have longer lines anew."""
import pathlib
import re
import subprocess
import sys
import textwrap

COLUMNS = 120
root = pathlib.Path(__file__).resolve().parent.parent


def is_prose(line):
    return bool(line.strip()) and not line.lstrip().startswith(("|", "#", "<"))


def paragraphs(lines):
    """(first, last) of runs of prose lines; an item of a list is a paragraph of its own."""
    fence, first = False, None
    for at, line in enumerate([*lines, ""]):
        if line.lstrip().startswith("```"):
            fence = not fence
            prose = False
        else:
            prose = is_prose(line) and not fence
        if first is not None and (not prose or re.match(r"\s*([-*]|\d+\.) ", line)):
            yield first, at
            first = None
        if prose and first is None:
            first = at


def wrapped(lines):
    lead = re.match(r"\s*(?:(?:[-*]|\d+\.) )?", lines[0]).group()
    words = " ".join([lines[0][len(lead):], *(line.strip() for line in lines[1:])])
    return textwrap.wrap(words, COLUMNS, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False,
                         break_on_hyphens=False)


def main():
    fix = "--fix" in sys.argv[1:]
    names = subprocess.run(["git", "-C", str(root), "ls-files", "README.md", "src/README.md", "docs/*.md"], capture_output=True,
                           text=True, check=True).stdout.split()
    wrong = []
    for name in names:
        lines = (root / name).read_text().split("\n")
        for first, last in reversed(list(paragraphs(lines))):
            long = [at for at in range(first, last) if len(lines[at]) > COLUMNS]
            if long and fix:
                lines[first:last] = wrapped(lines[first:last])
            wrong += [f"{name}:{at + 1}: {len(lines[at])} columns" for at in long if not fix and " " in lines[at].strip()]
        if fix:
            (root / name).write_text("\n".join(lines))
    if wrong:
        print("\n".join(sorted(wrong)))
        print(f"docs: {len(wrong)} lines are wider than {COLUMNS} columns; tools/check_docs.py --fix")
        sys.exit(1)
    print(f"docs: the prose of {len(names)} files is within {COLUMNS} columns")


if __name__ == "__main__":
    main()
