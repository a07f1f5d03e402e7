"""Matrix products, einsum, attention."""

import math

import torch
import torch.nn.functional as F

from case_table import case

for a, b in [("5, 7", "7, 3"), ("7", "7"), ("5, 7", "7"), ("7", "7, 3"), ("2, 5, 7", "7, 3"), ("2, 5, 7", "2, 7, 3"),
             ("4, 1, 5, 7", "3, 7, 2"), ("2, 3, 5, 7", "2, 3, 7, 1"), ("1, 1", "1, 1"), ("5, 0", "0, 3"), ("0, 5", "5, 3"),
             ("67, 131", "131, 97"), ("1, 300", "300, 1"), ("257, 1", "1, 129"), ("3, 2, 5, 7", "7"), ("200, 400", "400, 50")]:
    case("y = a @ b", torch.matmul, a=f"f64[{a}]", b=f"f64[{b}]")
    case("y = matmul(a, b)", torch.matmul, a=f"f32[{a}]", b=f"f32[{b}]")
for dtype in ("f16", "bf16", "i64", "i32"):
    case("y = a @ b", torch.matmul, a=f"{dtype}[13, 29]", b=f"{dtype}[29, 31]")
    case("y = a @ b.T", lambda a, b: a @ b.T, a=f"{dtype}[2, 9]", b=f"{dtype}[3, 9]")
case("y = a.T @ b", lambda a, b: a.T @ b, a="f64[30, 40]", b="f64[30, 20]")
case("y = a @ b.mT", lambda a, b: a @ b.mT, a="f64[2, 30, 40]", b="f64[2, 20, 40]")
case("y = (a * 2) @ exp(b)", lambda a, b: (a * 2) @ b.exp(), a="f64[3, 40]", b="f64[40, 20]")
case("y = a[:, ::2] @ b[1:]", lambda a, b: a[:, ::2] @ b[1:], a="f64[9, 20]", b="f64[11, 5]")
case("y = mm(a, b)", torch.mm, a="f64[3, 4]", b="f64[4, 5]")
case("y = bmm(a, b)", torch.bmm, a="f64[6, 3, 4]", b="f64[6, 4, 5]")
case("y = mv(a, b)", torch.mv, a="f64[3, 4]", b="f64[4]")
case("y = dot(a, b)", torch.dot, a="f64[4001]", b="f64[4001]")
case("y = outer(a, b)", torch.outer, a="f64[4]", b="f64[7]")
case("y = linear(x, w)", F.linear, x="f64[2, 5, 8]", w="f64[3, 8]")
case("y = linear(x, w, b)", F.linear, x="f64[5, 8]", w="f64[3, 8]", b="f64[3]")
case("y = linear(x, w, b)", F.linear, x="f32[33, 65]", w="f32[17, 65]", b="f32[17]")
case("y = bilinear(x, z, w)", F.bilinear, x="f64[5, 3]", z="f64[5, 4]", w="f64[6, 3, 4]")
case("y = bilinear(x, z, w, b)", F.bilinear, x="f64[2, 5, 3]", z="f64[2, 5, 4]", w="f64[6, 3, 4]", b="f64[6]")
case("y = addmm(c, a, b)", torch.addmm, c="f64[3, 5]", a="f64[3, 4]", b="f64[4, 5]")
case("y = addmm(c, a, b, beta=0.5, alpha=2)", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), c="f64[5]", a="f64[3, 4]", b="f64[4, 5]")
case("y = baddbmm(c, a, b, alpha=3)", lambda c, a, b: torch.baddbmm(c, a, b, alpha=3), c="f64[2, 3, 5]", a="f64[2, 3, 4]", b="f64[2, 4, 5]")

for equation, shapes in [("ij,jk->ik", ("3, 4", "4, 5")), ("ij,jk", ("3, 4", "4, 5")), ("bij,bjk->bik", ("2, 3, 4", "2, 4, 5")),
                         ("i,j->ij", ("3", "4")), ("ij->ji", ("3, 4",)), ("ij->j", ("3, 4",)), ("ij->", ("3, 4",)), ("ii->i", ("4, 4",)),
                         ("ii", ("4, 4",)), ("ij,ij->i", ("300, 4", "300, 4")), ("ij,ij", ("3, 4", "3, 4")), ("bhid,bhjd->bhij", ("2, 3, 5, 4", "2, 3, 6, 4")),
                         ("...ij,jk->...ik", ("2, 3, 4, 5", "5, 6")), ("ijk,ilm,njm,nlk->", ("2, 3, 4", "2, 3, 5", "2, 3, 5", "2, 3, 4")),
                         ("ij,kj,lj->ikl", ("3, 4", "5, 4", "6, 4")), ("abc,cd->dab", ("2, 3, 4", "4, 5")), ("ij,k->jk", ("3, 4", "5")),
                         ("bijl,lk->bijk", ("2, 3, 4, 5", "5, 6")), ("i,i->", ("7", "7")), ("ij,jk,kl->il", ("3, 4", "4, 5", "5, 6"))]:
    names = "abcd"[:len(shapes)]
    case(f"y = einsum(\"{equation}\", {', '.join(names)})", lambda *t, e=equation: torch.einsum(e, *t),
         **{n: f"f64[{s}]" for n, s in zip(names, shapes)})


def attention(q, k, v, mask=None, causal=False, scale=None):
    weights = q @ k.mT * (scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
    if causal:
        keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
        weights = weights.masked_fill(~keep, float("-inf"))
    if mask is not None:
        weights = weights.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else weights + mask
    return weights.softmax(-1) @ v


Q, K, V = "f64[2, 3, 7, 8]", "f64[2, 3, 9, 8]", "f64[2, 3, 9, 5]"
case("y = attention(q, k, v)", attention, q=Q, k=K, v=V)
case("y = attention(q, k, v, causal=true)", lambda q, k, v: attention(q, k, v, causal=True), q="f64[2, 9, 8]", k="f64[2, 9, 8]", v="f64[2, 9, 8]")
case("y = attention(q, k, v, scale=0.3)", lambda q, k, v: attention(q, k, v, scale=0.3), q=Q, k=K, v=V)
case("y = attention(q, k, v, mask=m)", attention, q=Q, k=K, v=V, m="f64[7, 9]")
case("y = scaled_dot_product_attention(q, k, v, triu(ones_like(q @ k.mT)) * -3)",
     lambda q, k, v: attention(q, k, v, torch.ones(7, 9).triu() * -3), q=Q, k=K, v=V)
case("y = attention(q, k, v, mask=s > 0.0)", lambda q, k, v, s: attention(q, k, v, s > 0.0), q=Q, k=K, v=V, s="f64[7, 9] -0.2..3")
case("y = attention(q, k, v)", attention, q="f16[1, 33, 16]", k="f16[1, 65, 16]", v="f16[1, 65, 16]")
