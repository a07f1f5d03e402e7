"""The program kerf: where it is, and running it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess


class KerfError(RuntimeError):
    """What kerf said when it could not do what was asked. `code` is its exit code: 2 for bad input, 1 for the environment."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


def find_program(binary=None):
    """The path of the program: `binary`, KERF_BINARY, `kerf` on PATH, or the repository's own build."""
    for named, whose in ((binary, "binary"), (os.environ.get("KERF_BINARY"), "KERF_BINARY")):
        if named:
            found = shutil.which(str(named))
            if found is None:
                raise KerfError(f"{whose}: '{named}' is no program that can be run")
            return os.path.abspath(found)
    built = [pathlib.Path(__file__).resolve().parents[2] / "build" / tree / "kerf" for tree in ("release", "dev")]
    for candidate in [shutil.which("kerf"), *map(str, built)]:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise KerfError("the program kerf is not found: build it (./demo.sh in its repository), then put it on PATH, set KERF_BINARY "
                    "or give binary=PATH", code=1)


def run_program(program, arguments):
    """Standard output of a command; its error message as a KerfError. An interrupt ends the command in an orderly way."""
    process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    interrupted = False
    while True:
        try:
            out, err = process.communicate()
            break
        except KeyboardInterrupt:
            process.send_signal(signal.SIGKILL if interrupted else signal.SIGINT)
            interrupted = True
    if process.returncode != 0:
        raise KerfError(message_of(err) or f"kerf ended with {process.returncode}", process.returncode)
    return out


def message_of(err):
    text = err.strip()
    at = text.find("error: ")
    return text[at + len("error: "):] if at >= 0 else text[-2000:]


def run_json(program, arguments):
    out = run_program(program, [*arguments, "--json"])
    try:
        return json.loads(out)
    except ValueError:
        raise KerfError(f"kerf answered with something that is no JSON: {out[:200]!r}", 1) from None
