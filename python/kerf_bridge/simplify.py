"""Passes over a traced graph: what cannot matter, what has a shorter form, which part can be a task."""

import re

SCAN = re.compile("^cum(sum|prod)\\(\x01(\\d+)\x02, axis=(-?\\d+)\\)$")
FLIP = re.compile("^flip\\(\x01(\\d+)\x02, axis=\\[(-?\\d+)\\]\\)$")
CAT = re.compile("^cat\\(\\[\x01(\\d+)\x02, \x01(\\d+)\x02\\], axis=(-?\\d+)\\)$")
NARROW = re.compile("^narrow\\(\x01(\\d+)\x02, (-?\\d+), 0, (\\d+)\\)$")


def shorten_scans(graph):
    """Scans from the end (flip, scan, flip) and sums without the element itself (zeros, then the sum of all but the last) are one
    operation of the task language."""
    for value in graph.values:
        if value.text is None:
            continue
        match = lambda pattern, index: pattern.match(graph.values[index].text or "")  # noqa: E731
        outer = FLIP.match(value.text)
        if outer:
            scan = match(SCAN, int(outer.group(1)))
            inner = match(FLIP, int(scan.group(2))) if scan else None
            if inner and len({int(axis) % value.rank for axis in (outer.group(2), scan.group(3), inner.group(2))}) == 1:
                value.text = f"cum{scan.group(1)}({graph.values[int(inner.group(1))]}, axis={scan.group(3)}, reverse=true)"
            continue
        join = CAT.match(value.text)
        scan = match(SCAN, int(join.group(2))) if join else None
        part = match(NARROW, int(scan.group(2))) if scan and scan.group(1) == "sum" else None
        if part is None or not (graph.values[int(join.group(1))].text or "").startswith("zeros("):
            continue
        axis, source = int(join.group(3)) % value.rank, graph.values[int(part.group(1))]
        same_axis = {axis} == {int(scan.group(3)) % value.rank, int(part.group(2)) % value.rank}
        if same_axis and source.shape == value.shape and int(part.group(3)) == value.shape[axis] - 1:
            value.text = f"cumsum({source}, axis={axis}, exclusive=true)"


def drop_biases(graph, outputs):
    """A bias that the next norm takes away again is left out. Gives the names of the inputs that no longer matter."""
    needed = graph.needed(outputs)
    users = {}
    for index in needed:
        for source in graph.sources(graph.values[index]):
            users.setdefault(source, []).append(index)
    final = {value.index for value in outputs}
    dropped = []
    for index in sorted(needed):
        norm = graph.values[index]
        if norm.cancels_bias is None:
            continue
        value = norm.cancels_bias
        while value is not None and value.index not in final and len(users.get(value.index, ())) == 1:
            if value.without_bias is not None and value.bias is not None:
                dropped.append(value.bias)
                value.text, value.bias = value.without_bias, None
                break
            value = value.keeps_bias
    still = graph.needed(outputs)
    return [bias.origin.name for bias in dropped if bias.index not in still and bias.origin is not None]


def cost(value):
    """Floating-point operations, roughly; bytes of other values count as operations."""
    return max(value.flops, value.elements)


class Part:
    """Some values of the graph as a task: what comes in, what goes out."""

    def __init__(self, values, inputs, outputs, share):
        self.values, self.inputs, self.outputs, self.share = values, inputs, outputs, share


def choose_part(graph, outputs):
    """Everything, when all of it is covered; else the costliest of the parts between operators that are not.

    A value's level is the number of uncovered operators on the longest way to it; covered values of one level are a part: whatever
    leads out of it and back would pass such an operator and so change the level.
    """
    needed = sorted(graph.needed(outputs))
    level = {}
    for index in needed:
        value = graph.values[index]
        below = max((level[source] for source in graph.sources(value)), default=0)
        level[index] = below + (1 if value.opaque else 0)
    whole = sum(cost(graph.values[i]) for i in needed if graph.values[i].origin is None)
    parts = {}
    for index in needed:
        value = graph.values[index]
        if value.text is not None:
            parts.setdefault(level[index], []).append(value)
    if not parts:
        return None
    worth = lambda values: sum(cost(v) for v in values if graph.sources(v))  # noqa: E731
    best = max(parts.values(), key=worth)
    return cut(graph, best, outputs, needed, worth(best) / max(whole, 1))


def cut(graph, values, outputs, needed, share):
    inside = {value.index for value in values}
    inputs, results = [], []
    for value in values:
        for source in graph.sources(value):
            if source not in inside and graph.values[source] not in inputs:
                inputs.append(graph.values[source])
    used_outside = {source for index in needed if index not in inside for source in graph.sources(graph.values[index])}
    final = [value.index for value in outputs]
    for value in outputs:
        if value.index in inside and value not in results:
            results.append(value)
    for value in values:
        if value.index in used_outside and value.index not in final:
            results.append(value)
    return Part(values, inputs, results, share)
