"""One process that has imported PyTorch and answers many requests, each in a child that it forks.

It reads JSON lines from a socket: {"id", "request", "answer": path, "said": path, "time_limit_s", "memory_bytes"}, or {"cancel": path}: the
child that has to wait for this file is ended. When a child has ended it writes a line back: {"id", "exit_code", "signal", "timed_out"}. Its first line is {"ready": true, "torch"} or a refusal as in an
answer. The child writes the answer; what it prints goes to `said`. A child that dies, hangs or takes too much memory is the end of its
request only. Several may run side by side. The process ends, with its children, when the other end of the socket is closed.

This process itself starts no thread and touches no GPU: neither survives a fork.
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time

from .__main__ import answer, no_torch, write

DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl.h
FRESH = "import sys; sys.path.insert(0, sys.argv[1]); from kerf_bridge.__main__ import main; sys.exit(main(sys.argv[2:]))"


WARM = """
import torch
import torch.nn as nn
Model = lambda: nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
get_inputs = lambda: [torch.rand(2, 1, 2, 2)]
"""


def prepare():
    """Everything an import needs is loaded and run once, on tensors too small for a second thread. Gives PyTorch's number of threads."""
    import torch
    from . import bridge, compare  # noqa: F401
    threads = torch.get_num_threads()
    path = list(sys.path)
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(WARM)
        file.flush()
        bridge.import_model({"file": file.name})
    sys.path[:] = path
    sys.modules.pop("kerf_user_model", None)
    return threads


class Child:
    def __init__(self, asked, threads):
        self.id = asked["id"]
        self.wait_for = asked["request"].get("wait_for")
        self.deadline = time.monotonic() + float(asked.get("time_limit_s", 300))
        self.timed_out = False
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                be_child(asked, threads)
            finally:
                os._exit(3)

    def kill(self):
        """With all that it started; its first act was to lead a group, which may not have happened yet."""
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def report(self, status):
        if not self.timed_out:
            try:
                os.killpg(self.pid, signal.SIGKILL)  # what it left behind
            except (ProcessLookupError, PermissionError):
                pass
        exited = os.WIFEXITED(status)
        return {"id": self.id, "exit_code": os.WEXITSTATUS(status) if exited else 0, "signal": 0 if exited else os.WTERMSIG(status),
                "timed_out": self.timed_out}


def needs_fresh_process(request):
    """A CUDA driver that was loaded before a fork may refuse to work after it."""
    if request.get("do") != "compare" or request.get("device") != "cuda":
        return False
    import torch
    try:
        torch.cuda.init()
        return False
    except Exception:
        return True


def be_child(asked, threads):
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for ours, theirs in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(ours, theirs)
    os.closerange(3, 64)
    request = asked["request"]
    memory = int(asked.get("memory_bytes", 0))
    if memory > 0 and request.get("target") != "cuda":  # a GPU's driver maps far more than there is
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    code = 0
    try:
        import torch
        torch.set_num_threads(threads)
        if needs_fresh_process(request):
            with open(asked["answer"] + ".request", "w", encoding="utf-8") as stream:
                json.dump(request, stream)
            folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            os.execv(sys.executable, [sys.executable, "-B", "-c", FRESH, folder, asked["answer"] + ".request", asked["answer"]])
        write(asked["answer"], answer(request, lambda result: write(asked["answer"], result)))
    except BaseException:
        import traceback
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Lines:
    """Whole lines of a descriptor as they come; None when it was closed."""

    def __init__(self, descriptor):
        self.descriptor, self.rest = descriptor, b""

    def read(self):
        got = os.read(self.descriptor, 1 << 16)
        if not got:
            return None
        *whole, self.rest = (self.rest + got).split(b"\n")
        return whole


def say(out, thing):
    data = json.dumps(thing).encode() + b"\n"
    while data:
        data = data[os.write(out, data):]


def serve(socket):
    """`socket`: the descriptor's number."""
    problem = no_torch()
    if problem is not None:
        say(socket, problem)
        return 0
    import torch
    threads = prepare()
    say(socket, {"ready": True, "torch": torch.__version__})
    lines, children, cancelled, open_ = Lines(socket), {}, set(), True
    woken, wakes = os.pipe()  # a child's end wakes the loop
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    while open_ or children:
        wait = max(0.0, min((child.deadline for child in children.values()), default=time.monotonic() + 3600) - time.monotonic())
        ready, _, _ = select.select([socket, woken] if open_ else [woken], [], [], wait)
        if woken in ready:
            os.read(woken, 4096)
        if socket in ready:
            got = lines.read()
            if got is None:
                open_ = False
                for child in children.values():
                    child.kill()
            for line in got or ():
                asked = json.loads(line)
                if "cancel" in asked:
                    cancelled.add(asked["cancel"])  # its request may be on the way still
                else:
                    child = Child(asked, threads)
                    children[child.pid] = child
            for child in children.values():
                if child.wait_for in cancelled:
                    child.kill()
        for child in list(children.values()):
            if not child.timed_out and time.monotonic() > child.deadline:
                child.timed_out = True
                child.deadline += 3600
                child.kill()
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                del children[child.pid]
                if open_:
                    say(socket, child.report(status))
    os._exit(0)  # taking PyTorch down again takes its time
