"""Outputs held against each other: KernelBench's rule, errors against double precision, results that pass without being computed.

Everything works on pieces of tensors, so that outputs of many gigabytes need little beside themselves.
"""

import math

import torch

PIECE = 1 << 25  # elements
HALVES = (torch.float16, torch.bfloat16)


def tolerance_of(dtype):
    """KernelBench's, relative and absolute; it has none for other types, which are held to that of f32."""
    return 1e-2 if dtype in HALVES else 1e-4


def pieces(*tensors):
    """The same elements of all of them, some at a time."""
    flat = [tensor.detach().contiguous().reshape(-1) for tensor in tensors]
    for begin in range(0, max(flat[0].numel(), 1), PIECE):
        yield [one[begin:begin + PIECE] for one in flat]


def largest_difference(expected, given):
    worst = 0.0
    for a, b in pieces(expected, given):
        if a.numel():
            one = float((a.double() - b.double()).abs().max())
            worst = math.inf if one != one else max(worst, one)
    return worst


def passes(expected, given, tolerance):
    """torch.allclose(expected, given), in pieces. NaN equals nothing."""
    for a, b in pieces(expected, given):
        if a.dtype == torch.bool or b.dtype == torch.bool:
            if not torch.equal(a.bool(), b.bool()):
                return False
        elif not torch.allclose(a, b.to(a.dtype), atol=tolerance, rtol=tolerance):
            return False
    return True


def kernelbench_problem(expected, given):
    """"" when KernelBench's evaluator would call the outputs equal, else what is wrong, and the largest difference."""
    if len(expected) != len(given):
        return f"{len(given)} outputs instead of {len(expected)}", math.inf
    worst = 0.0
    for a, b in zip(expected, given):
        if a.shape != b.shape:
            return f"shape {tuple(b.shape)} instead of {tuple(a.shape)}", math.inf
        if a.device != b.device:
            return f"an output on {b.device} instead of {a.device}", math.inf
    problem = ""
    for number, (a, b) in enumerate(zip(expected, given)):
        difference = largest_difference(a, b)
        worst = max(worst, difference)
        if not passes(a, b, tolerance_of(a.dtype)):
            where = f"output {number + 1}: " if len(expected) > 1 else ""
            problem = problem or f"{where}values differ by up to {difference:.3g}"
    return problem, worst


def errors(exact, given):
    """{"rms", "worst"} of the differences to `exact` over its root mean square; the largest of all outputs. None: not comparable."""
    found = None
    for a, b in zip(exact, given):
        if not a.dtype.is_floating_point or a.shape != b.shape or a.numel() == 0:
            continue
        squares, scale, worst = 0.0, 0.0, 0.0
        for x, y in pieces(a, b):
            difference = y.double() - x.double()
            squares += float(difference.square().sum())
            scale += float(x.double().square().sum())
            worst = max(worst, float(difference.abs().max()))
        size = math.sqrt(scale / a.numel()) or 1.0
        one = (math.sqrt(squares / a.numel()) / size, worst / size)
        if not all(map(math.isfinite, one)):
            return None
        found = one if found is None else tuple(map(max, found, one))
    return None if found is None else {"rms": found[0], "worst": found[1]}


def bits_of(tensors):
    """A number that changes with the tensors' contents, found without a copy."""
    total = 0
    for tensor in tensors:
        for (piece,) in pieces(tensor):
            kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
            kind = kinds.get(piece.element_size())
            if kind is None or piece.numel() == 0:
                continue
            bits = piece.view(torch.uint8) if piece.dtype == torch.bool else piece.view(kind)
            total = (total * 1000003 + int(bits.sum(dtype=torch.int64))) & ((1 << 64) - 1)
    return total


def constant_passes(output, constant, tolerance):
    if not math.isfinite(constant):
        return False
    allowed = tolerance + tolerance * abs(constant)
    low, high = float(output.min()), float(output.max())
    return constant - low <= allowed and high - constant <= allowed


def mean_of(output):
    total = 0.0
    for (piece,) in pieces(output):
        total += float(piece.double().sum())
    return total / output.numel()


def weak_outputs(outputs, others, inputs):
    """What passes KernelBench's rule on this draw without being computed. `others`: the outputs for another draw."""
    found = []
    for number, output in enumerate(outputs):
        name = "" if len(outputs) == 1 else str(number + 1)
        if not output.numel() or output.dtype == torch.bool:
            continue
        tolerance = tolerance_of(output.dtype)
        kinds = []
        if constant_passes(output, 0.0, tolerance):
            kinds.append("zeros")
        middle = float(output.min()) / 2 + float(output.max()) / 2
        if output.numel() > 1 and constant_passes(output, middle, tolerance):
            kinds.append("constant")
        if output.numel() > 1 and constant_passes(output, mean_of(output), tolerance):
            kinds.append("mean")
        for given in inputs:
            if given.shape == output.shape and given.dtype == output.dtype and passes(output, given, tolerance):
                kinds.append("first_input" if given is inputs[0] else "an_input")
                break
        if others is not None and number < len(others) and others[number].shape == output.shape:
            if passes(output, others[number], tolerance):
                kinds.append("another_draw")
        found += [{"kind": kind, "output": name} for kind in kinds]
    return found
