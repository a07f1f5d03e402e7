"""Views, indexing, joining and splitting."""

import torch
import torch.nn.functional as F

from case_table import case, each

each([
    ("y = x[1]", lambda x: x[1]), ("y = x[-1, 2]", lambda x: x[-1, 2]), ("y = x[:, 1:4]", lambda x: x[:, 1:4]),
    ("y = x[..., 0]", lambda x: x[..., 0]), ("y = x[0, ..., -2]", lambda x: x[0, ..., -2]), ("y = x[:, ::2]", lambda x: x[:, ::2]),
    ("y = x[1:, -3:, 1:5:3]", lambda x: x[1:, -3:, 1:5:3]), ("y = x[:, none, 2]", lambda x: x[:, None, 2]),
    ("y = x[:, ::-1]", lambda x: x.flip(1)), ("y = x[:, 4:1:-2]", lambda x: x[:, [4, 2]]), ("y = x[:, 5:2]", lambda x: x[:, 5:2]),
    ("y = x[:, :100]", lambda x: x[:, :100]), ("y = x[-100:2]", lambda x: x[-100:2]),
    ("y = reshape(x, 6, 20)", lambda x: x.reshape(6, 20)), ("y = reshape(x, [4, -1])", lambda x: x.reshape(4, -1)),
    ("y = view(x, -1)", lambda x: x.reshape(-1)), ("y = reshape(x, x.shape[0], x.shape[1] * x.shape[2])", lambda x: x.reshape(4, 30)),
    ("y = flatten(x)", torch.flatten), ("y = flatten(x, 1)", lambda x: x.flatten(1)), ("y = flatten(x, 0, 1)", lambda x: x.flatten(0, 1)),
    ("y = flatten(x, start=-2, end=-1)", lambda x: x.flatten(-2, -1)), ("y = unflatten(x, 1, [3, 2])", lambda x: x.unflatten(1, (3, 2))),
    ("y = unflatten(x, -1, [-1, 5])", lambda x: x.unflatten(-1, (-1, 5))),
    ("y = unsqueeze(x, 0)", lambda x: x.unsqueeze(0)), ("y = unsqueeze(x, -1)", lambda x: x.unsqueeze(-1)),
    ("y = expand_dims(x, 2)", lambda x: x.unsqueeze(2)),
    ("y = transpose(x, 0, 2)", lambda x: x.transpose(0, 2)), ("y = transpose(x, -1, 1)", lambda x: x.transpose(-1, 1)),
    ("y = transpose(x)", lambda x: x.permute(2, 1, 0)), ("y = transpose(x, [1, 0, 2])", lambda x: x.permute(1, 0, 2)),
    ("y = swapaxes(x, 0, 1)", lambda x: x.swapaxes(0, 1)), ("y = swapdims(x, 1, 2)", lambda x: x.swapdims(1, 2)),
    ("y = permute(x, 2, 0, 1)", lambda x: x.permute(2, 0, 1)), ("y = permute(x, [1, 2, 0])", lambda x: x.permute(1, 2, 0)),
    ("y = permute(x, -1, 0, -2)", lambda x: x.permute(-1, 0, -2)), ("y = x.mT", lambda x: x.mT),
    ("y = movedim(x, 0, 2)", lambda x: x.movedim(0, 2)), ("y = moveaxis(x, -1, 0)", lambda x: x.moveaxis(-1, 0)),
    ("y = repeat(x, 2, 1, 3)", lambda x: x.repeat(2, 1, 3)), ("y = repeat(x, [2, 1, 1, 2])", lambda x: x.repeat(2, 1, 1, 2)),
    ("y = tile(x, 1, 2, 2)", lambda x: x.tile(1, 2, 2)), ("y = repeat_interleave(x, 3, 1)", lambda x: x.repeat_interleave(3, 1)),
    ("y = repeat_interleave(x, 2, axis=-1)", lambda x: x.repeat_interleave(2, -1)),
    ("y = flip(x, 0)", lambda x: x.flip(0)), ("y = flip(x, [0, -1])", lambda x: x.flip((0, -1))), ("y = flip(x)", lambda x: x.flip((0, 1, 2))),
    ("y = roll(x, 2, 1)", lambda x: x.roll(2, 1)), ("y = roll(x, -7, axis=-1)", lambda x: x.roll(-7, -1)),
    ("y = roll(x, 5)", lambda x: x.roll(5)), ("y = roll(x, [1, -2], [0, 2])", lambda x: x.roll((1, -2), (0, 2))),
    ("y = pad(x, [1, 2])", lambda x: F.pad(x, (1, 2))), ("y = pad(x, [1, 0, 2, 3], value=1.5)", lambda x: F.pad(x, (1, 0, 2, 3), value=1.5)),
    ("y = pad(x, [-1, 1, 0, -2])", lambda x: F.pad(x, (-1, 1, 0, -2))), ("y = pad(x, [0, 0, 0, 0, 2, 1], -inf)", lambda x: F.pad(x, (0, 0, 0, 0, 2, 1), value=float("-inf"))),
    ("y = narrow(x, 1, 2, 3)", lambda x: x.narrow(1, 2, 3)), ("y = narrow(x, -1, 0, 4)", lambda x: x.narrow(-1, 0, 4)),
    ("y = select(x, 1, 3)", lambda x: x.select(1, 3)), ("y = select(x, -1, -1)", lambda x: x.select(-1, -1)),
    ("y = unfold(x, 1, 3, 1)", lambda x: x.unfold(1, 3, 1)), ("y = unfold(x, -1, 2, 2)", lambda x: x.unfold(-1, 2, 2)),
    ("y = cat([x, x * 2])", lambda x: torch.cat([x, x * 2])), ("y = cat([x, x[:, :2], -x], axis=1)", lambda x: torch.cat([x, x[:, :2], -x], 1)),
    ("y = concat([x, x], -1)", lambda x: torch.cat([x, x], -1)), ("y = concatenate([x[:1], x])", lambda x: torch.cat([x[:1], x])),
    ("y = stack([x, -x, x + 1])", lambda x: torch.stack([x, -x, x + 1])), ("y = stack([x, -x], -1)", lambda x: torch.stack([x, -x], -1)),
    ("y = stack([x, -x], axis=1)", lambda x: torch.stack([x, -x], 1)),
    ("y = chunk(x, 2, axis=1)[1]", lambda x: x.chunk(2, 1)[1]), ("a = chunk(x, 4); y = a[0] * a[3]", lambda x: x.chunk(4)[0] * x.chunk(4)[3]),
    ("y = split(x, 2, 1)[2]", lambda x: x.split(2, 1)[2]), ("y = split(x, [1, 4], axis=-1)[1]", lambda x: x.split([1, 4], -1)[1]),
    ("y = split(x, 3)[1]", lambda x: x.split(3)[1]),
    # Views of computed values, views of views, the same value seen in two ways.
    ("y = transpose(exp(x), 0, 1) * 2", lambda x: x.exp().transpose(0, 1) * 2),
    ("a = tanh(x); y = a + flip(a, [1])", lambda x: x.tanh() + x.tanh().flip(1)),
    ("a = x * x; y = cat([a, roll(a, 1, 1)], 1)[:, ::-1][:, 1:7]", lambda x: torch.cat([x * x, (x * x).roll(1, 1)], 1).flip(1)[:, 1:7]),
    ("y = pad(x[:, 1:], [1, 1]) + pad(x, [1, 1])[:, :-1]", lambda x: F.pad(x[:, 1:], (1, 1)) + F.pad(x, (1, 1))[:, :-1]),
    ("y = reshape(transpose(x + 1, 0, 2), -1) * 2", lambda x: (x + 1).transpose(0, 2).reshape(-1) * 2),
    ("y = sum(unfold(x, 1, 3, 1) * 2, -1)", lambda x: (x.unfold(1, 3, 1) * 2).sum(-1)),
    ("y = reshape(flip(x, 1)[:, :, none] - x[..., none, :], 4, -1)", lambda x: (x.flip(1)[:, :, None] - x[..., None, :]).reshape(4, -1)),
    ("y = repeat_interleave(roll(exp(x), 1, 0), 2, 0)[1:6]", lambda x: x.exp().roll(1, 0).repeat_interleave(2, 0)[1:6]),
], x="f64[4, 6, 5]")

each([
    ("y = squeeze(x)", lambda x: x.squeeze()), ("y = squeeze(x, 0)", lambda x: x.squeeze(0)), ("y = squeeze(x, -2)", lambda x: x.squeeze(-2)),
    ("y = expand(x, 4, 3, 5, 2)", lambda x: x.expand(4, 3, 5, 2)), ("y = expand(x, [2, -1, -1, 6, -1])", lambda x: x.expand(2, 1, 3, 6, 2)),
    ("y = broadcast_to(x, [4, 3, 5, 2])", lambda x: x.broadcast_to(4, 3, 5, 2)),
    ("y = sum(expand(x, 4, 3, 5, 2) * 2, 2)", lambda x: (x.expand(4, 3, 5, 2) * 2).sum(2)),
], x="f64[1, 3, 1, 2]")
for dtype in ("i32", "i64", "bool", "f16", "bf16", "f32"):
    case("y = cat([x, flip(x, 0)], 1)", lambda x: torch.cat([x, x.flip(0)], 1), x=f"{dtype}[5, 3]")
    case("y = transpose(x, 0, 1)[1:]", lambda x: x.T[1:], x=f"{dtype}[37, 41]")
case("y = pad(b, [1, 1], true)", lambda b: F.pad(b, (1, 1), value=True), b="bool[3, 2]")
case("y = pad(x, [2, 1], 7)", lambda x: F.pad(x, (2, 1), value=7), x="i64[3, 2]")
case("y = x.T @ x", lambda x: x.T @ x, x="f64[3, 2]")
case("y = reshape(x, 0, 3)", lambda x: x.reshape(0, 3), x="f64[3, 0]")
case("y = cat([x, z], 0)", lambda x, z: torch.cat([x, z]), x="f64[0, 3]", z="f64[2, 3]")
case("y = cat([x, z], 0)", lambda x, z: torch.cat([x.double(), z]), x="i64[4]", z="f64[2]")
case("y = x + transpose(x, 0, 1)", lambda x: x + x.T, x="f64[600, 600]")
case("y = roll(x, [300, -7], [0, 1])", lambda x: x.roll((300, -7), (0, 1)), x="f32[600, 33]")
case("y = pad(x, [3, 3, 3, 3])[..., 2:-2, 2:-2]", lambda x: F.pad(x, (3, 3, 3, 3))[..., 2:-2, 2:-2], x="f32[2, 3, 31, 29]")
