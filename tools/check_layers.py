#!/usr/bin/env python3
"""Checks that every #include in src/ goes along src/layers.txt. Exit 1 lists the offenders."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent / "src"
allowed = {}
for line in (root / "layers.txt").read_text().splitlines():
    line = line.split("#", 1)[0].strip()
    if line:
        room, _, rooms = line.partition(":")
        allowed[room.strip()] = set(rooms.split())


def room_of(path: str) -> str:
    """The longest listed room that contains the path, or its first folder."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    for n in range(len(parts), 0, -1):
        name = "/".join(parts[:n])
        if name in allowed or name == "app":
            return name
    return parts[0] if parts else ""


bad = []
for file in sorted(root.rglob("*.[ch]pp")):
    relative = file.relative_to(root).as_posix()
    room = room_of(relative)
    if room == "app":
        continue
    if room not in allowed:
        bad.append(f"{relative}: room '{room}' is not in layers.txt")
        continue
    test = file.stem.endswith(("_test", "_fixture"))
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        if not match or "/" not in match.group(1):
            continue
        target = room_of(match.group(1))
        if target not in allowed[room] | {room} and not test:
            bad.append(f"{relative}:{number}: {room} may not include {match.group(1)}")
print("\n".join(bad) if bad else "layers: all includes go along src/layers.txt")
sys.exit(1 if bad else 0)
