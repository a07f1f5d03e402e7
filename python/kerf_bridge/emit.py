"""A part of a graph as a task file."""

import re

import torch

from . import facts
from .graph import MARK, dtype_word

# Beside the functions of the task language, which the caller names. The task reader has the whole list and says so itself.
TAKEN = set("""and or not true false none inf nan pi if else for while do switch case default break continue return goto int long short
char float double bool void signed unsigned auto const static extern inline class struct union enum template typename this new delete
operator public private protected virtual friend namespace using try catch throw register volatile mutable explicit export sizeof
typedef half kernel global local constant generic main std linux half2 float2 float4 restrict asm xor compl bitand bitor""".split())


def identifier(text, taken):
    """A name for the task from a name of the user's."""
    name = re.sub(r"[^0-9A-Za-z_]", "_", text).strip("_") or "v"
    if name[0].isdigit() or name.lower().startswith("kerf"):
        name = "m_" + name
    name = re.sub(r"_+", "_", name)[:56]
    base, number = name, 1
    while name in taken:
        name = f"{base}_{'in' if number == 1 else number}"
        number += 1
    taken.add(name)
    return name


def type_text(value):
    return f"{dtype_word(value.dtype)}[{', '.join(str(extent) for extent in value.shape)}]"


def precision_of(values, tf32):
    floats = [value.dtype for value in values if value.dtype.is_floating_point]
    for dtype, word in ((torch.float16, "f16"), (torch.bfloat16, "bf16")):
        if dtype in floats and floats.count(dtype) * 2 >= len(floats):
            return word
    if floats and all(dtype == torch.float64 for dtype in floats):
        return "f64"
    return "tf32" if tf32 else "f32"


def distribution(value, texts):
    origin = value.origin
    if origin is None:  # computed by PyTorch before this part
        return None if value.dtype.is_floating_point or value.dtype == torch.bool else "integers(0, 1)"
    if origin.kind in ("parameter", "buffer", "constant") and value.dtype.is_floating_point:
        return facts.weight_distribution(origin.sample, origin.exact)
    return facts.input_distribution(origin.sample, origin.exact, value.dtype, texts)


DEEP = 5  # layers with weights, from which their default initialisation lets the signal die out


def fan_in(value, part):
    """The extents that a weight is summed over, as text; "" when it is no weight of a product."""
    origin = value.origin
    if origin is None or origin.kind != "parameter" or len(value.shape) < 2 or not value.dtype.is_floating_point:
        return ""
    for other in part.values:
        marks = MARK.findall(other.text or "")
        if str(value.index) in marks[1:2] and re.match(r"(linear|conv)", other.text):
            shape = list(value.shape)
            del shape[1 if other.text.startswith("conv_transpose") else 0]
            return "*".join(str(extent) for extent in shape)
    return ""


def scaled(text, fan, deep):
    """A distribution around 0 as one that is divided by the root of `fan`: products keep their size where extents are smaller. In deep
    networks with the gain that keeps it from layer to layer, or no result would depend on the first weights."""
    match = re.fullmatch(r"(uniform|normal)\((-?[0-9.e-]+), ([0-9.e-]+)\)", text or "")
    if match is None or not fan:
        return text
    kind, low, high = match.group(1), float(match.group(2)), float(match.group(3))
    if (kind == "uniform" and low != -high) or (kind == "normal" and low != 0):
        return text
    root = 1.0
    for extent in fan.split("*"):
        root *= int(extent)
    size = facts.rounded(high * root ** 0.5)
    if deep:
        size = max(size, facts.rounded(2 ** 0.5 if kind == "normal" else 6 ** 0.5))
    low = facts.text_of(-size) if kind == "uniform" else "0"
    return f"{kind}({low}, {facts.text_of(size)}) / sqrt({fan})"


class Emitted:
    def __init__(self):
        self.text = ""
        self.inputs = []    # (task name, user's name, kind, facts)
        self.outputs = []


def comment_of(value):
    return f"  # {value.module}" if value.module else ""


def emit(part, name, description, functions, special_values, tf32, output_names):
    taken = set(functions) | TAKEN
    names, result = {}, Emitted()
    wrapped = {}
    for value in part.inputs:
        origin = value.origin
        wish = origin.name if origin is not None else f"{value.operator}_out"
        names[value.index] = identifier(wish, taken)
        known = facts.facts_of(origin.sample) if origin is not None and origin.kind == "input" else []
        result.inputs.append({"name": names[value.index], "source": wish, "kind": origin.kind if origin is not None else "between",
                              "type": type_text(value), "facts": known})
        for word, function in (("lower_triangular", "tril"), ("upper_triangular", "triu")):
            if word in known:
                wrapped[value.index] = function
    ends = {}
    for value, wish in zip(part.outputs, output_names):
        if value.index not in ends:
            ends[value.index] = identifier(wish, taken)
    lines = []
    for index, function in wrapped.items():
        shaped = identifier(f"{names[index]}_{function}", taken)
        lines.append(f"{shaped} = {function}({names[index]})  # zero elsewhere in every call, says get_inputs")
        names[index] = shaped
    number = 0
    for value in part.values:
        text = MARK.sub(lambda mark: names[int(mark.group(1))], value.text)
        if value.index in ends:
            target = ends[value.index]
        else:
            number += 1
            target = f"v{number}"
            while target in taken:
                number += 1
                target = f"v{number}"
        names[value.index] = target
        lines.append(f"{target} = {text}{comment_of(value)}")
    for value in part.outputs:
        result.outputs.append({"name": ends[value.index], "type": type_text(value)})
    texts = [value.text for value in part.values]
    out = [f'name = "{name}"', f'description = "{description}"']
    precision = precision_of(part.inputs + part.values, tf32)
    if precision != "f32":
        out.append(f'precision = "{precision}"')
    if not special_values:
        out.append("special_values = false")
    out.append("\n[inputs]")
    drawn = []
    fans = {value.index: fan_in(value, part) for value in part.inputs}
    deep = sum(1 for fan in fans.values() if fan) >= DEEP
    for value, entry in zip(part.inputs, result.inputs):
        origin = value.origin
        source = "" if origin is None or origin.name == entry["name"] else f"  # {entry['source']}"
        out.append(f'{entry["name"]} = "{entry["type"]}"{source}')
        how = scaled(distribution(value, texts), fans[value.index], deep)
        if how is not None:
            drawn.append(f'{entry["name"]} = "{how}"')
    if drawn:
        out += ["\n[distributions]"] + drawn
    ordered = ", ".join(f'"{ends[value.index]}"' for value in part.outputs)
    out += ["\n[reference]", "expr = '''"] + lines + ["'''", f"outputs = [{ordered}]"]
    result.text = "\n".join(out) + "\n"
    return result
