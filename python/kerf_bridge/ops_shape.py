"""Layout, indexing, and elements chosen by data."""

import torch

from .graph import NotCovered, Value, call, literal
from .table import HANDLERS, axis_in, need, operator


def sizes(args):
    if len(args) == 1 and isinstance(args[0], (list, tuple, torch.Size)):
        return list(args[0])
    return list(args)


@operator("view", "reshape", "_unsafe_view")
def reshape(input, *shape, size=None):
    shape = [size] if size is not None else shape
    need(not (shape and isinstance(shape[0], torch.dtype)), "a view as another type")
    return call("reshape", input, sizes(shape))


@operator("view_as", "reshape_as")
def view_as(input, other):
    return call("reshape", input, list(other.shape))


@operator("flatten", "ravel")
def flatten(input, start_dim=0, end_dim=-1):
    return call("flatten", input, start_dim, end_dim)


@operator("unflatten")
def unflatten(input, dim, sizes=None, unflattened_size=None):
    return call("unflatten", input, dim, list(sizes if sizes is not None else unflattened_size))


@operator("squeeze")
def squeeze(input, dim=None):
    if isinstance(dim, int) and input.shape[dim] != 1:
        return call("clone", input)
    return call("squeeze", input, axis=dim)


@operator("unsqueeze")
def unsqueeze(input, dim):
    return call("unsqueeze", input, dim)


@operator("transpose")
def transpose(input, dim0, dim1):
    return call("transpose", input, dim0, dim1)


@operator("t", "T")
def t(input):
    return call("clone", input) if input.rank < 2 else call("permute", input, list(range(input.rank))[::-1])


@operator("mT", "adjoint", "H", "mH")
def mT(input):
    return call("transpose", input, -2, -1)


@operator("permute")
def permute(input, *dims):
    return call("permute", input, [axis_in(input, d) for d in sizes(dims)])


@operator("movedim")
def movedim(input, source, destination):
    return call("movedim", input, source, destination)


@operator("expand")
def expand(input, *shape, implicit=False):
    return call("expand", input, sizes(shape))


@operator("expand_as")
def expand_as(input, other):
    return call("expand", input, list(other.shape))


@operator("broadcast_to")
def broadcast_to(input, size):
    return call("expand", input, list(size))


@operator("repeat", "tile")
def repeat(input, *repeats, dims=None):
    repeats = sizes(repeats) if repeats else list(dims)
    repeats = [1] * (input.rank - len(repeats)) + repeats
    return call("repeat", input, repeats)


@operator("repeat_interleave")
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    need(isinstance(repeats, int) and dim is not None, "repeat_interleave by a tensor or without an axis")
    return call("repeat_interleave", input, repeats, dim)


@operator("cat")
def cat(tensors, dim=0, *, axis=None):
    parts = [t for t in tensors if t.elements > 0]
    if len(parts) == 1:
        return call("clone", parts[0])
    return call("cat", parts, axis=dim if axis is None else axis)


@operator("stack")
def stack(tensors, dim=0):
    return call("stack", list(tensors), axis=dim)


@operator("hstack")
def hstack(tensors):
    return call("cat", list(tensors), axis=0 if tensors[0].rank == 1 else 1)


def pieces(input, lengths, dim):
    dim, at, texts = axis_in(input, dim), 0, []
    for length in lengths:
        texts.append(call("narrow", input, dim, at, length))
        at += length
    return texts


@operator("chunk", "tensor_split")
def chunk(input, chunks, dim=0):
    extent = input.shape[dim]
    need(isinstance(chunks, int) and extent % chunks == 0, "parts of different sizes")
    return pieces(input, [extent // chunks] * chunks, dim)


@operator("split", "split_with_sizes")
def split(input, split_size_or_sections=None, dim=0, split_size=None, split_sizes=None):
    sections = next(s for s in (split_size_or_sections, split_size, split_sizes) if s is not None)
    extent = input.shape[dim]
    if isinstance(sections, int):
        sections = [min(sections, extent - at) for at in range(0, extent, sections)]
    return pieces(input, sections, dim)


@operator("unbind", "__iter__")
def unbind(input, dim=0):
    return [call("select", input, dim, i) for i in range(input.shape[dim])]


@operator("narrow")
def narrow(input, dim, start, length):
    return call("narrow", input, dim, start, length)


@operator("select")
def select(input, dim, index):
    return call("select", input, dim, index if index >= 0 else index + input.shape[dim])


@operator("flip")
def flip(input, *dims):
    return call("flip", input, axis=sizes(dims))


@operator("fliplr")
def fliplr(input):
    return call("flip", input, axis=[1])


@operator("roll")
def roll(input, shifts, dims=None):
    return call("roll", input, shifts, axis=dims)


@operator("pad", "constant_pad_nd")
def pad(input, pad, mode="constant", value=None):
    need(mode == "constant", f"padding with mode={mode!r}")
    return call("pad", input, list(pad), value=0 if value is None else value)


@operator("unfold")
def unfold(input, dimension=None, size=None, step=None, **others):
    need(not others and isinstance(size, int), "unfold of images")
    return call("unfold", input, dimension, size, step)


@operator("tril")
def tril(input, diagonal=0):
    return call("tril", input, diagonal=diagonal)


@operator("triu")
def triu(input, diagonal=0):
    return call("triu", input, diagonal=diagonal)


@operator("diag")
def diag(input, diagonal=0):
    return call("diag", input, diagonal=diagonal)


@operator("diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    need(input.rank == 1 and offset == 0, "diag_embed of batches")
    return call("diag", input)


@operator("pixel_shuffle")
def pixel_shuffle(input, upscale_factor):
    need(input.rank == 4, "pixel_shuffle without a batch axis")
    n, c, h, w = input.shape
    r = upscale_factor
    return (f"reshape(permute(reshape({input}, {[n, c // r // r, r, r, h, w]}), [0, 1, 4, 2, 5, 3]), "
            f"{[n, c // r // r, h * r, w * r]})")


@operator("channel_shuffle")
def channel_shuffle(input, groups):
    shape = list(input.shape)
    return (f"reshape(transpose(reshape({input}, {[shape[0], groups, shape[1] // groups] + shape[2:]}), 1, 2), {shape})")


@operator("interpolate", "upsample")
def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    need(mode == "nearest" and scale_factor is not None and size is None, f"interpolate with mode={mode!r} or a size")
    factors = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * (input.rank - 2)
    need(all(f == int(f) for f in factors), "interpolate by a fraction")
    text = str(input)
    for axis, factor in enumerate(factors):
        if factor != 1:
            text = f"repeat_interleave({text}, {int(factor)}, {axis + 2})"
    return text


# Chosen by data

@operator("gather")
def gather(input, dim, index, *, sparse_grad=False):
    return call("gather", input, index, dim)


@operator("index_select")
def index_select(input, dim, index):
    return call("index_select", input, index, dim)


@operator("take_along_dim")
def take_along_dim(input, indices, dim=None):
    need(dim is not None, "take_along_dim without an axis")
    return call("gather", input, indices, dim)


@operator("embedding")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    need(max_norm is None, "embedding with max_norm")
    return call("embedding", input, weight)


@operator("one_hot")
def one_hot(tensor, num_classes=-1):
    need(num_classes > 0, "one_hot without num_classes")
    return call("one_hot", tensor, num_classes)


def slice_text(part):
    bound = lambda b: "" if b is None else literal(b)  # noqa: E731
    text = f"{bound(part.start)}:{bound(part.stop)}"
    return text if part.step in (None, 1) else text + f":{literal(part.step)}"


def clipped(part, extent):
    """Bounds inside of the axis, as Python cuts them."""
    start, stop, step = part.indices(extent)
    return slice(None if start == 0 else start, None if stop >= extent else stop, step)


@operator("__getitem__")
def item(input, index):
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, (Value, list)) for part in index):
        return chosen(input, index)
    parts, axis = [], 0
    given = sum(part is not None and part is not Ellipsis for part in index)
    for part in index:
        if part is None:
            parts.append("None")
        elif part is Ellipsis:
            parts.append("...")
            axis += input.rank - given
        elif isinstance(part, slice):
            parts.append(slice_text(clipped(part, input.shape[axis])))
            axis += 1
        elif isinstance(part, int) and not isinstance(part, bool):
            parts.append(str(part))
            axis += 1
        else:
            raise NotCovered(f"an index of the type {type(part).__name__}")
    return f"{input}[{', '.join(parts)}]"


def chosen(input, index):
    """One tensor of integers among full slices."""
    need(Ellipsis not in [part for part in index if not isinstance(part, Value)], "a tensor as index beside '...'")
    tensors = [i for i, part in enumerate(index) if isinstance(part, Value)]
    rest = [part for part in index if not isinstance(part, Value)]
    need(len(tensors) == 1 and all(isinstance(part, slice) and part == slice(None) for part in rest),
         "more than one tensor as index, or beside something else than ':'")
    which = index[tensors[0]]
    need(which.dtype in (torch.int64, torch.int32), "a mask as index: the number of elements depends on the data")
    return call("take", input, which, axis=tensors[0])


def assigned(input, index, value):
    """x[index] = value, where the index is one range of one axis."""
    index = index if isinstance(index, tuple) else (index,)
    if Ellipsis in [part for part in index if not isinstance(part, Value)]:
        at = index.index(Ellipsis)
        index = index[:at] + (slice(None),) * (input.rank - len(index) + 1) + index[at + 1:]
    if len(index) == 1 and isinstance(index[0], Value) and index[0].dtype == torch.bool and index[0].shape == input.shape:
        need(not isinstance(value, Value) or value.rank == 0, "an assignment by mask of more than a number")
        return call("where", index[0], value, input)
    ranges, mask_shape = [], list(input.shape)
    for axis, part in enumerate(index):
        need(isinstance(part, (int, slice)) and not isinstance(part, bool), "an assignment by tensor")
        if isinstance(part, int):
            at = part if part >= 0 else part + input.shape[axis]
            part = slice(at, at + 1)
            if isinstance(value, Value):
                mask_shape[axis] = 1
        start, stop, step = part.indices(input.shape[axis])
        need(step == 1, "an assignment with a step")
        if (start, stop) != (0, input.shape[axis]):
            ranges.append((axis, start, stop))
    need(len(ranges) <= 1, "an assignment to ranges of several axes")
    region = list(input.shape)
    for axis, start, stop in ranges:
        region[axis] = stop - start
    if isinstance(value, Value):
        kept = [region[a] for a in range(input.rank) if not (a < len(index) and isinstance(index[a], int))]
        inner = f"reshape(expand({value}, {kept}), {region})"
        if value.dtype != input.dtype:
            inner = f"cast({inner}, {literal(input.dtype)})"
    else:
        inner = call("full", region, int(value) if isinstance(value, bool) else value, dtype=input.dtype)
    if not ranges:
        return inner
    axis, start, stop = ranges[0]
    parts = [call("narrow", input, axis, 0, start)] if start > 0 else []
    parts.append(inner)
    if stop < input.shape[axis]:
        parts.append(call("narrow", input, axis, stop, input.shape[axis] - stop))
    return f"cat([{', '.join(parts)}], axis={axis})"


@operator("copy")
def copy(input, src, non_blocking=False):
    text = f"expand({src}, {list(input.shape)})" if src.shape != input.shape else f"clone({src})"
    return text if src.dtype == input.dtype else f"cast({text}, {literal(input.dtype)})"


@operator("fill")
def fill(input, value):
    return call("full", list(input.shape), value, dtype=input.dtype)


@operator("zero")
def zero(input):
    return call("zeros", list(input.shape), dtype=input.dtype)


HANDLERS["squeeze_copy"] = squeeze
