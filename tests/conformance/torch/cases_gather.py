"""Elements chosen by indices, and the largest of a line."""

import torch
import torch.nn.functional as F

from case_table import case

for axis in (0, 1, -1):
    case(f"y = gather(x, {axis}, i)", lambda x, i, a=axis: torch.gather(x, a, i), x="f64[4, 5, 6]", i="i64[4, 5, 6] 0..3")
case("y = gather(x, i, axis=1)", lambda x, i: torch.gather(x, 1, i), x="f64[4, 50]", i="i64[3, 7] 0..49")
case("y = gather(x, 1, i)", lambda x, i: torch.gather(x, 1, i.long()), x="f32[40, 50]", i="i32[40, 300] 0..49")
case("y = gather(b, 0, i)", lambda b, i: torch.gather(b, 0, i), b="bool[9, 3]", i="i64[5, 3] 0..8")
case("y = gather(n, 0, i)", lambda n, i: torch.gather(n, 0, i), n="i64[9, 3]", i="i64[5, 3] 0..8")
case("y = embedding(i, w)", F.embedding, i="i64[6, 3] 0..19", w="f64[20, 5]")
case("y = embedding(i, w) * 2 + 1", lambda i, w: F.embedding(i, w) * 2 + 1, bind={"v": 20, "d": 5}, i="i64[6, 3] 0..19",
     w="f64[v, d]")
for axis in (0, 1, 2):
    case(f"y = index_select(x, {axis}, i)", lambda x, i, a=axis: torch.index_select(x, a, i), x="f64[4, 5, 6]", i="i64[9] 0..3")
    case(f"y = take(x, i, axis={axis})", lambda x, i, a=axis: torch.index_select(x, a, i.flatten()).unflatten(a, (2, 3)),
         x="f64[4, 5, 6]", i="i64[2, 3] 0..3")
case("y = take(x, i)", torch.take, x="f64[4, 5]", i="i64[7] 0..19")


def topk(x, k, axis, largest):
    """Ties by the lower index, which torch.topk does not promise; a NaN is larger than everything."""
    order = torch.sort(x, dim=axis, descending=largest, stable=True)
    return order.values.narrow(axis, 0, k), order.indices.narrow(axis, 0, k)


for largest in (True, False):
    word = "true" if largest else "false"
    for axis in (0, 1, -1):
        for part in (0, 1):
            case(f"y = topk(x, 3, {axis}, largest={word})[{part}]",
                 lambda x, a=axis, g=largest, p=part: topk(x, 3, a, g)[p], x="f64[7, 9, 5]")
    case(f"y = topk(x, 4, largest={word}).indices", lambda x, g=largest: topk(x, 4, -1, g)[1], x="f64[30, 12] halves")
    case(f"y = topk(x, 6, largest={word}).values", lambda x, g=largest: topk(x, 6, -1, g)[0], x="f64[30, 12] special")
    case(f"y = topk(n, k, 0, largest={word})[1]", lambda n, g=largest: topk(n, 2, 0, g)[1], bind={"k": 2}, n="i64[9, k]")
