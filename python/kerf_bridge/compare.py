"""One comparison: eager PyTorch, torch.compile and a file's ModelNew checked and timed in turn. docs/pytorch.md has the answer's fields.

Whatever goes wrong with one program is part of the answer. The answer is handed out after every stage, so that a process that is ended
leaves what it had.
"""

import json
import os
import resource
import signal
import time

import torch

from .agreement import bits_of, kernelbench_problem, tolerance_of, weak_outputs
from .errors import BridgeError
from .programs import Task, byte_count, is_out_of_memory, load_kernel, run_once, set_seed, synchronize
from .reference import Exact, class_of_eager, exact_outputs, harder, in_class, timed_once
from .rounds import Rounds, keep_pages_mapped, make_stage, rotating
from .trace import replaced, tensors_in

SCHEMA = 1
KEPT_BYTES = 1 << 31     # results in double precision that stay for torch.compile
WAITING_BYTES = 1 << 30  # of tensors that stay on the device while the kernel is waited for
HUGE_INPUTS = 1 / 20     # of the device's memory: beside a search there is no room for such a model
DRAWN_THERE = 128 << 20  # bytes of inputs from which they are drawn on the device
POLL = 0.02              # seconds between looks whether the kernel is there
CHECK_SHARE = 0.3        # of the time limit: further draws and double precision take no more


class CompileTimeout(Exception):
    pass


def failure(error):
    """The status and message of a program that raised."""
    if isinstance(error, CompileTimeout):
        return {"status": "timed_out", "message": "torch.compile took longer than it may"}
    text = error.message if isinstance(error, BridgeError) else f"{type(error).__name__}: {str(error).strip()}"
    cause = error.__cause__ if isinstance(error, BridgeError) and error.__cause__ is not None else error
    return {"status": "out_of_memory" if is_out_of_memory(cause) else "failed", "message": text[:2000]}


def check_device(device):
    if device == "cpu":
        return "processor"
    if device != "cuda":
        raise BridgeError("device", f"'{device}' is no device of PyTorch that can be compared on; it is cpu or cuda")
    if not torch.cuda.is_available():
        raise BridgeError("device", f"this Python's PyTorch {torch.__version__} cannot use a CUDA device; name a Python whose PyTorch "
                          "can with --python")
    return torch.cuda.get_device_name(torch.cuda.current_device())


class Comparison:
    def __init__(self, request, keep):
        self.request, self.keep = request, keep
        self.device = request.get("device") or "cpu"
        self.seed = int(request.get("seed", 42))
        self.begin = time.perf_counter()
        self.limit = float(request.get("time_limit_s", 600))
        self.notes = []
        self.answer = {"schema": SCHEMA, "ok": True, "complete": False, "stage": "load", "torch": torch.__version__, "device": self.device,
                       "device_name": "", "seed": self.seed, "eager": {"status": "crashed", "message": ""},
                       "compiled": {"status": "not_asked", "message": ""}, "kernel": {"status": "crashed", "message": ""},
                       "over_eager": None, "over_compiled": None, "accuracy_class": "undecided", "double_precision": "not reached",
                       "in_class": None, "hard_inputs": None, "weak": [], "notes": self.notes,
                       "kernelbench": {"decided": False, "correct": False, "draws": 0, "passed": 0, "tolerance": 0, "worst": 0,
                                       "problem": ""}}
        self.work_bytes = 0
        self.module, self.compiled = None, None

    def left(self):
        return self.limit - (time.perf_counter() - self.begin)

    def stage(self, name):
        self.answer["stage"] = name
        self.keep(self.answer)

    # The way of a comparison

    def run(self):
        self.answer["device_name"] = check_device(self.device)
        if self.request.get("threads"):
            torch.set_num_threads(int(self.request["threads"]))
        self.stage("load")
        self.task = Task(self.request["model"], self.device)
        self.task.on_device = self.device == "cuda" and self.task.size_of_inputs() > DRAWN_THERE
        self.seeds = self.draw_seeds()
        loaded = False
        if self.request.get("wait_for"):
            loaded = self.prepare()
            self.stage("wait")
            self.request.update(wait_for(self.request["wait_for"]))
            self.begin = time.perf_counter()
            self.limit = float(self.request.get("time_limit_s", self.limit))
            self.stage("load")
        if not loaded and not self.load_eager():
            return self.done()
        if self.task.on_device:
            self.notes.append("inputs are large and were drawn on the device: the same distribution, other numbers than KernelBench's")
        self.stage("kernel")
        self.load_kernel()
        self.stage("check")
        self.check()
        self.stage("double")
        self.hold_to_double()
        self.stage("timing")
        self.time_all()
        return self.done()

    def prepare(self):
        """All that needs no kernel, while the device is used by others. Whether inputs and outputs are there."""
        if self.device == "cuda" and self.task.size_of_inputs() > HUGE_INPUTS * torch.cuda.mem_get_info()[1]:
            return False
        loaded = self.load_eager()
        if loaded and self.request.get("compile", True):
            self.compiled = self.compile(self.inputs)
            if self.answer["compiled"]["status"] not in ("measured", "unavailable"):  # perhaps for lack of room or time here
                self.answer["compiled"] = {"status": "not_asked", "message": ""}
        kept = loaded and byte_count(self.inputs) + byte_count(self.outputs) <= WAITING_BYTES
        if not kept:  # once more when the device is less full, with a model that was not called yet
            self.module = self.inputs = self.outputs = None
            self.notes.clear()
        if self.device == "cuda":
            torch.cuda.empty_cache()
        return kept

    def done(self):
        self.answer["complete"] = True
        self.answer["stage"] = "done"
        return self.answer

    def draw_seeds(self):
        """KernelBench's: drawn from the seed."""
        torch.manual_seed(self.seed)
        return [int(torch.randint(0, 2 ** 32 - 1, (1,)).item()) for _ in range(max(2, int(self.request.get("draws", 3))))]

    def load_eager(self):
        try:
            self.module = self.module or self.task.module(self.seed)
            self.inputs = self.task.inputs(self.seeds[0])
            versions = [tensor._version for tensor in tensors_in(self.inputs)]
            before = self.memory_now(reset=True)
            self.outputs, first = timed_once(self.module, self.inputs, self.device)
            self.work_bytes = max(self.work_bytes, self.memory_now(peak=True) - before)
            self.mutates = versions != [tensor._version for tensor in tensors_in(self.inputs)]
            if self.mutates:
                self.notes.append("the model changes its inputs in place; each program gets copies where outputs are compared")
                self.inputs = self.task.inputs(self.seeds[0])
            _, self.seconds = timed_once(self.module, self.fresh(self.inputs), self.device)
            if not self.outputs:
                raise BridgeError("forward", "forward gives no tensor")
        except BaseException as error:
            self.answer["eager"] = failure(error)
            self.answer["kernel"] = {"status": "not_asked", "message": "the original model does not run"}
            return False
        self.answer["eager"] = {"status": "measured", "message": "", "prepare_seconds": first}
        return True

    def memory_now(self, reset=False, peak=False):
        if self.device != "cuda":
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        if reset:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.max_memory_allocated() if peak else torch.cuda.memory_allocated()

    def fresh(self, inputs):
        """Inputs for one call, copied where calls change them."""
        return replaced(inputs, lambda tensor: tensor.clone()) if self.mutates else inputs

    def load_kernel(self):
        self.kernel, self.kernel_outputs = None, None
        try:
            begin = time.perf_counter()
            kernel = load_kernel(self.request["kernel"], self.task, self.seed)
            before = bits_of(tensors_in(self.inputs))
            self.kernel_outputs = run_once(kernel, self.fresh(self.inputs))
            synchronize(self.device)
            if not self.mutates and bits_of(tensors_in(self.inputs)) != before:
                raise BridgeError("kernel", "ModelNew changes its inputs, which the original does not")
            self.kernel = kernel
            self.answer["kernel"] = {"status": "measured", "message": "", "prepare_seconds": time.perf_counter() - begin}
        except BaseException as error:
            self.answer["kernel"] = failure(error)
            self.kernel_outputs = None
            self.inputs = self.task.inputs(self.seeds[0])  # it may have changed them

    def check(self):
        """KernelBench's rule on every draw; what passes it without being computed."""
        verdict = self.answer["kernelbench"]
        verdict["tolerance"] = max(tolerance_of(tensor.dtype) for tensor in self.outputs)
        if len(self.outputs) > 1:
            self.notes.append("the model gives several tensors; KernelBench's own evaluator takes one only")
        others, until = None, self.left() - CHECK_SHARE * self.limit
        for number, seed in enumerate(self.seeds[:int(self.request.get("draws", 3))]):
            if number > 0 and self.left() < until:
                self.notes.append(f"outputs were compared on {number} draws only, for lack of time")
                break
            try:
                if number == 0:
                    expected, given = self.outputs, self.kernel_outputs
                else:
                    inputs = self.task.inputs(seed)
                    expected = run_once(self.module, self.fresh(inputs))
                    others = others or expected
                    given = self.called(inputs)
            except Exception as error:
                self.notes.append(f"outputs were compared on {number} draws only: {failure(error)['message'][:200]}")
                break
            if given is None:
                continue
            problem, worst = kernelbench_problem(expected, given)
            verdict.update(decided=True, draws=verdict["draws"] + 1, passed=verdict["passed"] + (not problem),
                           worst=max(verdict["worst"], worst), problem=verdict["problem"] or problem)
            if number > 0:
                del inputs, given, expected
        verdict["correct"] = verdict["decided"] and verdict["passed"] == verdict["draws"]
        self.answer["weak"] = weak_outputs(self.outputs, others, list(tensors_in(self.inputs)))

    def called(self, inputs):
        """ModelNew's outputs; None, and its status changed, when it raises."""
        if self.kernel is None:
            return None
        try:
            given = run_once(self.kernel, self.fresh(inputs))
            synchronize(self.device)
            return given
        except Exception as error:
            self.answer["kernel"] = failure(error)
            self.kernel = None
            return None

    def hold_to_double(self):
        limit = min(0.5 * CHECK_SHARE * self.limit, max(5.0, float(self.request.get("timing_s", 10))))
        self.exact = exact_outputs(self.module, self.fresh(self.inputs), self.outputs, self.work_bytes, self.seconds, limit, self.device)
        self.answer["double_precision"] = self.exact.how
        own = self.exact.errors(self.outputs)
        self.answer["eager"]["errors"] = own
        word, evidence = class_of_eager(self.module, self.fresh(self.inputs), self.outputs, self.exact, self.device)
        self.answer["accuracy_class"] = word
        self.answer["class_evidence"] = evidence
        if self.kernel is not None:
            errors = self.exact.errors(self.kernel_outputs)
            self.answer["kernel"]["errors"] = errors
            self.answer["in_class"] = in_class(errors, own, self.outputs)
            self.try_harder()
            if not self.answer["kernelbench"]["correct"] and not self.answer["in_class"]:
                self.answer["kernel"].update(status="wrong", message=self.answer["kernelbench"]["problem"])
        self.output_bytes = byte_count(self.outputs)
        if self.exact.outputs is not None and byte_count(self.exact.outputs) > KEPT_BYTES:
            self.exact = Exact(None, "too large to keep")
        del self.outputs, self.kernel_outputs
        if self.device == "cuda":
            torch.cuda.empty_cache()

    def try_harder(self):
        """Where the file's inputs do not tell right from wrong, inputs of both signs may."""
        if not self.answer["weak"]:
            return
        try:
            inputs = harder(self.inputs)
            expected = run_once(self.module, self.fresh(inputs))
            if not all(bool(torch.isfinite(tensor).all()) for tensor in expected if tensor.dtype.is_floating_point):
                return
            given = self.called(inputs)
            if given is not None:
                self.answer["hard_inputs"] = not kernelbench_problem(expected, given)[0]
        except Exception as error:
            self.notes.append(f"inputs of both signs could not be tried: {failure(error)['message'][:200]}")

    # Timing

    def time_all(self):
        if self.device == "cpu":
            keep_pages_mapped()
        seconds = min(float(self.request.get("timing_s", 10)), max(0.5, self.left() - 10))
        wants_compile = bool(self.request.get("compile", True))
        try:
            stage = make_stage(self.device, byte_count(self.inputs), self.output_bytes)
            sets = rotating(self.task, self.inputs, self.seed + 1000, stage, max(self.work_bytes, 2 * self.output_bytes))
        except Exception as error:
            self.answer["eager"].update(failure(error))
            return
        if len(sets) == 1:
            self.notes.append("inputs are too large for copies: every call reads the same ones")
        self.rounds = Rounds(stage, sets, self.seed)
        programs = {"eager": self.module}
        if self.kernel is not None and self.answer["kernel"]["status"] in ("measured", "wrong"):
            programs["kernel"] = self.kernel
        asked = wants_compile and self.answer["compiled"]["status"] == "not_asked"
        if asked:  # what the others take is known whatever becomes of the compiler
            self.time_programs(programs, seconds * 0.4)
            self.stage("compile")
            self.compiled = self.compile(sets[0])
            self.stage("timing")
        if self.compiled is not None and self.has_errors():
            programs["compiled"] = self.compiled
        self.time_programs(programs, seconds * (0.6 if asked else 1.0))

    def has_errors(self):
        """Those of the compiled module, in the answer; false when it does not run now, whatever it did before."""
        try:
            self.answer["compiled"]["errors"] = self.exact.errors(run_once(self.compiled, self.fresh(self.inputs)))
            return True
        except Exception as error:
            self.answer["compiled"] = failure(error)
            return False

    def time_programs(self, programs, seconds):
        try:
            for module in programs.values():
                for inputs in self.rounds.sets[:2]:
                    run_once(module, inputs)
                synchronize(self.device)
            self.rounds.run(programs, seconds)
        except Exception as error:
            self.notes.append(f"timing ended early: {failure(error)['message'][:300]}")
            if is_out_of_memory(error):
                for name in programs:
                    if self.rounds.times(name) is None:
                        self.answer[name].update(failure(error))
        for name in programs:
            self.answer[name]["times"] = self.rounds.times(name)
        self.answer["over_eager"] = self.rounds.ratio("eager", "kernel")
        self.answer["over_compiled"] = self.rounds.ratio("compiled", "kernel")
        self.answer["compiled_over_eager"] = self.rounds.ratio("eager", "compiled")

    def compile(self, inputs):
        """The compiled module, warm; None when there is none, and why in the answer."""
        if not hasattr(torch, "compile"):
            self.answer["compiled"] = {"status": "unavailable", "message": f"PyTorch {torch.__version__} has no torch.compile"}
            return None
        limit = min(float(self.request.get("compile_limit_s", 120)), self.left() - 5)
        self.answer["compiled"] = {"status": "timed_out", "message": "torch.compile did not end"}  # until it does
        self.keep(self.answer)
        if limit < 1:
            return None

        def expired(_signal, _frame):
            raise CompileTimeout()

        begin = time.perf_counter()
        kept = signal.signal(signal.SIGALRM, expired)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            compiled = torch.compile(self.module)
            for _ in range(2):
                run_once(compiled, self.fresh(inputs))
                synchronize(self.device)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except BaseException as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.answer["compiled"] = failure(CompileTimeout() if timed_out(error) else error)
            self.answer["compiled"]["prepare_seconds"] = time.perf_counter() - begin
            if "not supported" in str(error) and "ython" in str(error):
                self.answer["compiled"]["status"] = "unavailable"
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, kept)
        self.answer["compiled"] = {"status": "measured", "message": "", "prepare_seconds": time.perf_counter() - begin}
        return compiled


def wait_for(file):
    """What the one who asked has written to it, as an object: the kernel to compare. It is taken away."""
    while not os.path.exists(file):
        time.sleep(POLL)
    with open(file, encoding="utf-8") as stream:
        told = dict(json.load(stream))
    os.remove(file)
    return told


def timed_out(error):
    """The alarm may come out wrapped by the compiler it interrupted."""
    while error is not None:
        if isinstance(error, CompileTimeout) or "CompileTimeout" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def limit_memory(request):
    """On processors alone: a GPU's driver maps far more than there is."""
    memory = int(request.get("memory_bytes", 0))
    if memory > 0 and (request.get("device") or "cpu") == "cpu":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def compare(request, keep):
    """The answer to a request; `keep` is called with what is known so far."""
    limit_memory(request)
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    set_seed(int(request.get("seed", 42)))
    return Comparison(request, keep).run()
