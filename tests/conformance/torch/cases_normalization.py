"""Normalisations."""

import torch
import torch.nn.functional as F

from case_table import case


def rms_norm(x, axes, weight=1.0, eps=1e-6):
    return x * torch.rsqrt((x * x).mean(axes, keepdim=True) + eps) * weight


X, C = "f64[3, 6, 5, 4]", "f64[6]"
case("y = layer_norm(x)", lambda x: F.layer_norm(x, (4,)), x=X)
case("y = layer_norm(x, 4, w, b)", lambda x, w, b: F.layer_norm(x, (4,), w, b), x=X, w="f64[4]", b="f64[4]")
case("y = layer_norm(x, [5, 4], eps=1e-3)", lambda x: F.layer_norm(x, (5, 4), eps=1e-3), x=X)
case("y = layer_norm(x, [6, 5, 4], w, b)", lambda x, w, b: F.layer_norm(x, (6, 5, 4), w, b), x=X, w="f64[6, 5, 4]", b="f64[6, 5, 4]")
case("y = layer_norm(x, axes=[-1])", lambda x: F.layer_norm(x, (4099,)), x="f32[5, 4099]")
case("y = rms_norm(x)", lambda x: rms_norm(x, -1), x=X)
case("y = rms_norm(x, 4, w, eps=1e-2)", lambda x, w: rms_norm(x, -1, w, 1e-2), x=X, w="f64[4]")
case("y = rms_norm(x, axes=[1])", lambda x: rms_norm(x, 1), x=X)
case("y = rms_norm(x)", lambda x: rms_norm(x, -1), x="f16[33, 1025]")
for groups in (1, 2, 3, 6):
    case(f"y = group_norm(x, {groups})", lambda x, g=groups: F.group_norm(x, g), x=X)
case("y = group_norm(x, 3, w, b, eps=1e-3)", lambda x, w, b: F.group_norm(x, 3, w, b, 1e-3), x=X, w=C, b=C)
case("y = group_norm(x, 2)", lambda x: F.group_norm(x, 2), x="f64[3, 6]")
case("y = instance_norm(x)", F.instance_norm, x=X)
case("y = instance_norm(x, w, b, eps=1e-3)", lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-3), x=X, w=C, b=C)
case("y = instance_norm(x)", F.instance_norm, x="f64[2, 3, 11]")
case("y = instance_norm(x)", F.instance_norm, x="f64[2, 3, 3, 4, 5]")
case("y = batch_norm(x)", lambda x: F.batch_norm(x, None, None, training=True), x=X)
case("y = batch_norm(x)", lambda x: F.batch_norm(x, None, None, training=True), x="f64[7, 6]")
case("y = batch_norm(x)", lambda x: F.batch_norm(x, None, None, training=True), x="f32[4, 3, 33, 31]")
case("y = batch_norm(x, weight=w, bias=b, eps=1e-3)", lambda x, w, b: F.batch_norm(x, None, None, w, b, True, eps=1e-3), x=X, w=C, b=C)
case("y = batch_norm(x, m, v)", F.batch_norm, x=X, m=C, v="f64[6] 0.5..2")
case("y = batch_norm(x, m, v, w, b)", F.batch_norm, x=X, m=C, v="f64[6] 0.5..2", w=C, b=C)
case("y = batch_norm(x, m, v, w, b, training=true)", lambda x, m, v, w, b: F.batch_norm(x, None, None, w, b, True), x=X, m=C, v="f64[6] 0.5..2", w=C, b=C)
case("y = l2_normalize(x)", lambda x: F.normalize(x, dim=-1), x=X)
case("y = l2_normalize(x, axis=1, eps=3.0)", lambda x: F.normalize(x, dim=1, eps=3.0), x=X)
case("y = l1_normalize(x)", lambda x: F.normalize(x, 1.0, -1), x=X)
case("y = l1_normalize(x, 0)", lambda x: F.normalize(x, 1.0, 0), x=X)
case("y = normalize(x)", F.normalize, x=X)
case("y = normalize(x, p=3, axis=-2)", lambda x: F.normalize(x, 3.0, -2), x=X)
case("y = l2_normalize(x * 0)", lambda x: F.normalize(x * 0, dim=-1), x=X)
