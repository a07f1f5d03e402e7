"""Times of programs that run in turn: in every round each runs once (or a few times when it is short), in random order, on inputs that
it has not just seen, with caches as Kerf's own timings have them."""

import ctypes
import math
import random
import statistics
import time

import torch

from .programs import byte_count, free_memory
from .trace import replaced

RESAMPLES = 500


def last_level_cache():
    """Bytes; a guess where Linux does not say."""
    for index in (4, 3, 2):
        try:
            with open(f"/sys/devices/system/cpu/cpu0/cache/index{index}/size", encoding="utf-8") as stream:
                text = stream.read().strip()
                return int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0)
        except (OSError, ValueError):
            continue
    return 32 << 20


def keep_pages_mapped():
    """Asks the C library to keep freed memory: results then cost no page faults once all blocks were used, in no program."""
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
    try:
        library = ctypes.CDLL(None)
        library.mallopt(trim_threshold, 1 << 30)
        library.mallopt(mmap_threshold, 1 << 25)  # the most it takes
    except (OSError, AttributeError):
        pass


class Processor:
    """Caches are cold: before each call a buffer of three times the last one is written."""
    device = "cpu"

    def __init__(self, read_bytes, written_bytes):
        del read_bytes, written_bytes
        self.cache = last_level_cache()
        self.buffer = torch.zeros(min(3 * self.cache, 384 << 20) // 4, dtype=torch.float32)

    def call(self, module, inputs):
        """Microseconds."""
        self.buffer.add_(1)
        with torch.no_grad():
            begin = time.perf_counter_ns()
            result = module(*inputs[0], **inputs[1])
            end = time.perf_counter_ns()
        del result
        return (end - begin) / 1e3


class Gpu:
    """The L2 cache is left as a call leaves it: read over with memory that is nobody's, then as much modified as results have of all
    traffic. Both are queued before the first event, so that the program is waited for by the device and not the other way round."""
    device = "cuda"

    def __init__(self, read_bytes, written_bytes):
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self.cache = getattr(properties, "L2_cache_size", 0) or 64 << 20
        modified = min(written_bytes, self.cache * written_bytes / max(read_bytes + written_bytes, 1))
        self.buffer = torch.zeros(2 * self.cache // 4, device="cuda")
        self.modified = torch.zeros(max(1, int(modified) // 4), device="cuda")

    def call(self, module, inputs):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.no_grad():
            self.buffer.sum()
            self.modified.zero_()
            start.record()
            result = module(*inputs[0], **inputs[1])
            stop.record()
        torch.cuda.synchronize()
        del result
        return start.elapsed_time(stop) * 1e3


def make_stage(device, read_bytes, written_bytes):
    return (Gpu if device == "cuda" else Processor)(read_bytes, written_bytes)


def rotating(task, inputs, first_seed, stage, reserve):
    """Sets of inputs that together exceed the caches, as far as memory allows; `reserve`: bytes that calls need."""
    size = max(byte_count(inputs), 1)
    room = max(0, free_memory(stage.device) - 2 * reserve) // 2
    wanted = max(2, min(16, math.ceil(3 * stage.cache / size)))
    count = int(min(wanted, 1 + room // size))
    sets = [inputs]
    for number in range(1, count):
        # Small ones are drawn anew; a copy of large ones is as cold.
        sets.append(task.inputs(first_seed + number) if size < 16 << 20 else replaced(inputs, lambda tensor: tensor.clone()))
    return sets


class Rounds:
    """Samples of each program, one a round: microseconds by name."""

    def __init__(self, stage, sets, seed):
        self.stage, self.sets, self.random = stage, sets, random.Random(seed)
        self.samples = []  # one dict a round
        self.turn = 0

    def _one(self, module, calls):
        taken = []
        for _ in range(calls):
            taken.append(self.stage.call(module, self.sets[self.turn % len(self.sets)]))
            self.turn += 1
        return statistics.median(taken)

    def run(self, programs, seconds, least=5, most=400):
        """`programs`: {name: module}, warm already."""
        shortest = min(self._one(module, 1) for module in programs.values())
        calls = max(1, min(5, math.ceil(300 / max(shortest, 1))))
        begin, done = time.perf_counter(), 0
        while done < most and (done < least or time.perf_counter() - begin < seconds):
            if done >= 1 and (time.perf_counter() - begin) > 3 * max(seconds, 1):
                break  # far slower than there is time for
            names = list(programs)
            self.random.shuffle(names)
            self.samples.append({name: self._one(programs[name], calls) for name in names})
            done += 1

    def times(self, name):
        taken = [one[name] for one in self.samples if name in one]
        if not taken:
            return None
        low, high = self._interval(taken)
        return {"median_us": statistics.median(taken), "interval_us": [low, high], "samples": len(taken)}

    def ratio(self, over, name):
        """How many times as fast `name` is as `over`: the median of the rounds' ratios."""
        taken = [one[over] / one[name] for one in self.samples if over in one and name in one and one[name] > 0]
        if not taken:
            return None
        low, high = self._interval(taken)
        return {"ratio": statistics.median(taken), "interval": [low, high]}

    def _interval(self, taken):
        """95 %, of the median, by the percentile bootstrap."""
        generator = random.Random(1)
        drawn = sorted(statistics.median(generator.choices(taken, k=len(taken))) for _ in range(RESAMPLES))
        cut = int(0.025 * RESAMPLES)
        return drawn[cut], drawn[-1 - cut]
