"""What is known of an input's values: a distribution for the task, and facts in words."""

import math

import torch


def rounded(number, digits=3):
    return 0.0 if number == 0 else float(f"{number:.{digits}g}")


def text_of(number):
    number = float(number)
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def integer_range(sample):
    return int(sample.min()), int(sample.max())


def is_two_signs(sample):
    return bool(((sample == 1) | (sample == -1)).all()) and bool((sample == 1).any()) and bool((sample == -1).any())


def rows_that_sum_to_one(sample):
    """The axis along which all elements are at least 0 and sum to 1, or None."""
    if sample.dim() == 0 or not bool((sample >= 0).all()):
        return None
    for axis in range(sample.dim() - 1, -1, -1):
        if sample.shape[axis] > 1 and bool(((sample.double().sum(axis) - 1).abs() < 1e-3).all()):
            return axis
    return None


def square(sample):
    return sample.dim() >= 2 and sample.shape[-1] == sample.shape[-2] and sample.shape[-1] > 1


def facts_of(sample):
    """Words of: 'symmetric', 'lower_triangular', 'upper_triangular', 'signs', 'rows_sum_to_one'."""
    found = []
    if sample is None or sample.numel() < 2 or not sample.dtype.is_floating_point:
        return found
    sample = sample.double()
    if square(sample):
        if not bool((sample == 0).all()):
            if bool((torch.triu(sample, 1) == 0).all()) and not diagonal_only(sample):
                found.append("lower_triangular")
            if bool((torch.tril(sample, -1) == 0).all()) and not diagonal_only(sample):
                found.append("upper_triangular")
        if not found and bool((sample == sample.transpose(-1, -2)).all()) and len(torch.unique(sample)) > 2:
            found.append("symmetric")
    if is_two_signs(sample):
        found.append("signs")
    elif rows_that_sum_to_one(sample) is not None:
        found.append("rows_sum_to_one")
    return found


def diagonal_only(sample):
    return bool((torch.triu(sample, 1) == 0).all()) and bool((torch.tril(sample, -1) == 0).all())


def weight_distribution(sample, exact):
    """How the task draws a parameter: with the scale it has in the module. A parameter that is all the same value is drawn around it:
    otherwise a kernel that leaves it out would not be noticed."""
    if exact is not None and not exact.startswith("uniform(0, 1"):
        return exact
    if sample is None or sample.numel() == 0:
        return "normal(0, 0.1)"
    values = sample.detach().double().flatten()
    if not bool(torch.isfinite(values).all()):
        return None
    low, high = float(values.min()), float(values.max())
    if low == high:
        if low == 0:
            return "normal(0, 0.1)"
        near, far = sorted((0.5 * low, 1.5 * low))
        return f"uniform({text_of(rounded(near))}, {text_of(rounded(far))})"
    if bool(((values == 0) | (values == 1)).all()):  # a mask: in between there is nothing
        return "integers(0, 1)"
    mean, deviation = float(values.mean()), float(values.std(unbiased=False))
    flatness = float(((values - mean) ** 4).mean()) / deviation ** 4 if deviation > 0 else 0
    if values.numel() >= 64 and flatness < 2.1:
        bound = max(abs(low), abs(high))
        if abs(low + high) < 0.2 * bound:
            return f"uniform({text_of(-rounded(bound))}, {text_of(rounded(bound))})"
        return f"uniform({text_of(rounded(low))}, {text_of(rounded(high))})"
    if low > 0:  # a variance, a rate: positive
        return f"uniform({text_of(rounded(low))}, {text_of(rounded(max(high, low * 1.01)))})"
    if abs(mean) < 0.1 * deviation or values.numel() < 64:
        mean = 0.0
        deviation = math.sqrt(float((values ** 2).mean()))
    return f"normal({text_of(rounded(mean))}, {text_of(rounded(deviation))})"


# Operators whose result exists for some inputs only.
PARTIAL = ("log(", "log2(", "log10(", "sqrt(", "rsqrt(", "kl_div(", "binary_cross_entropy(", " ** ", "reciprocal(", "cumprod(", "log1p(")


def input_distribution(sample, exact, dtype, texts):
    """Of an argument of forward: None leaves it to Kerf's own patterns, which are harder; given only where the task has no meaning
    outside of the values that the file gives."""
    if not dtype.is_floating_point:
        if dtype == torch.bool:
            return None
        if exact is not None and exact.startswith("integers"):
            return exact
        low, high = integer_range(sample) if sample is not None and sample.numel() else (0, 1)
        return f"integers({low}, {high})"
    if sample is None or sample.numel() == 0:
        return None
    facts = facts_of(sample)
    if "signs" in facts:
        return "integers(-1, 1)"
    if "rows_sum_to_one" in facts:
        return "uniform(0.001, 1)"
    low = float(sample.min())
    if low >= 0 and any(word in text for text in texts for word in PARTIAL):
        return f"uniform({'0.001' if low < 0.001 else text_of(rounded(low))}, {text_of(rounded(max(float(sample.max()), low + 1e-3), 2))})"
    return None
