"""What can be wrong with a model file, as values that the caller prints."""

import linecache
import os
import traceback


class BridgeError(Exception):
    """A problem to report: `kind` is a stable word, `message` says what, where and what to try."""

    def __init__(self, kind, message, line=0, frames=()):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.frames = list(frames)


def user_frames(error, file):
    """The frames of a traceback that lie in the user's folder: (file, line, function, text), outermost first."""
    folder = os.path.dirname(os.path.abspath(file))
    frames = []
    for frame in traceback.extract_tb(error.__traceback__):
        if os.path.abspath(frame.filename).startswith(folder + os.sep):
            frames.append((frame.filename, frame.lineno, frame.name, (frame.line or "").strip()))
    return frames


def from_exception(kind, doing, error, file):
    """An exception of the user's code with the lines of the user's files that led to it."""
    if isinstance(error, BridgeError):
        if not error.frames:
            error.frames = user_frames(error, file)
        if not error.line:
            error.line = line_in(error.frames, file)
        return error
    frames = user_frames(error, file)
    text = str(error).strip() or "no message"
    if isinstance(error, MemoryError) or "DefaultCPUAllocator" in text:
        text += "; the model needs more memory than it may use here"
    return BridgeError(kind, f"{doing}: {type(error).__name__}: {text}", line_in(frames, file), frames)


def line_in(frames, file):
    """The innermost line of `file` itself among the frames; 0 when there is none."""
    lines = [line for name, line, _, _ in frames if os.path.abspath(name) == os.path.abspath(file)]
    return lines[-1] if lines else 0


def from_syntax(error, file):
    text = (error.text or linecache.getline(file, error.lineno or 0)).strip()
    frames = [(file, error.lineno or 0, "", text)] if error.lineno else []
    return BridgeError("syntax", f"syntax error: {error.msg}", error.lineno or 0, frames)
