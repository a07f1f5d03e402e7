"""Losses and distances."""

import torch
import torch.nn.functional as F

from case_table import case

REDUCTIONS = ("mean", "sum", "none")


def reduced(losses, reduction):
    return {"mean": losses.mean, "sum": losses.sum, "none": lambda: losses}[reduction]()


for r in REDUCTIONS:
    text = f"reduction=\"{r}\""
    for name, function, target in [
            ("mse_loss", F.mse_loss, "f64[5, 7]"), ("l1_loss", F.l1_loss, "f64[5, 7]"), ("smooth_l1_loss", F.smooth_l1_loss, "f64[5, 7]"),
            ("huber_loss", F.huber_loss, "f64[5, 7]")]:
        case(f"y = {name}(x, t, {text})", lambda x, t, f=function, r=r: f(x, t, reduction=r), x="f64[5, 7]", t=target)
    case(f"y = hinge_loss(x, t, {text})", lambda x, t, r=r: reduced((1 - x * t).clamp(min=0), r), x="f64[5, 7]", t="f64[5, 7] signs")
    case(f"y = cross_entropy(x, t, {text})", lambda x, t, r=r: F.cross_entropy(x, t, reduction=r), x="f64[9, 7]", t="i64[9] 0..6")
    case(f"y = cross_entropy(x, t, {text}, label_smoothing=0.2)", lambda x, t, r=r: F.cross_entropy(x, t, reduction=r, label_smoothing=0.2),
         x="f64[9, 7]", t="i64[9] 0..6")
    case(f"y = cross_entropy(x, t, {text})", lambda x, t, r=r: F.cross_entropy(x, t, reduction=r), x="f64[3, 7, 4, 2]", t="i64[3, 4, 2] 0..6")
    case(f"y = cross_entropy(x, t, {text})", lambda x, t, r=r: F.cross_entropy(x, t, reduction=r), x="f64[9, 7]", t="f64[9, 7] probabilities")
    case(f"y = nll_loss(x, t, {text})", lambda x, t, r=r: F.nll_loss(x, t, reduction=r), x="f64[9, 7]", t="i64[9] 0..6")
    case(f"y = kl_div(log_softmax(x), t, {text})", lambda x, t, r=r: F.kl_div(x.log_softmax(-1), t, reduction=r), x="f64[5, 7]", t="f64[5, 7] probabilities")
    case(f"y = kl_div(x, t, {text}, log_target=true)", lambda x, t, r=r: F.kl_div(x, t, reduction=r, log_target=True), x="f64[5, 7]", t="f64[5, 7]")
    case(f"y = binary_cross_entropy(x, t, {text})", lambda x, t, r=r: F.binary_cross_entropy(x, t, reduction=r), x="f64[5, 7] 0..1", t="f64[5, 7] 0..1")
    case(f"y = binary_cross_entropy_with_logits(x, t, {text})", lambda x, t, r=r: F.binary_cross_entropy_with_logits(x, t, reduction=r),
         x="f64[5, 7] -90..90", t="f64[5, 7] 0..1")
    case(f"y = margin_ranking_loss(a, b, t, 0.2, {text})", lambda a, b, t, r=r: F.margin_ranking_loss(a, b, t, 0.2, reduction=r),
         a="f64[11]", b="f64[11]", t="f64[11] signs")
    case(f"y = triplet_margin_loss(a, p, n, {text})", lambda a, p, n, r=r: F.triplet_margin_loss(a, p, n, reduction=r), a="f64[6, 8]", p="f64[6, 8]", n="f64[6, 8]")
case("y = cross_entropy(x, t)", F.cross_entropy, x="f32[65, 1001]", t="i64[65] 0..1000")
case("y = kl_div(x, t, reduction=\"batchmean\")", lambda x, t: F.kl_div(x, t, reduction="batchmean"), x="f64[5, 7]", t="f64[5, 7] probabilities")
case("y = smooth_l1_loss(x, t, beta=0.3)", lambda x, t: F.smooth_l1_loss(x, t, beta=0.3), x="f64[5, 7]", t="f64[5, 7]")
case("y = huber_loss(x, t, delta=0.4)", lambda x, t: F.huber_loss(x, t, delta=0.4), x="f64[5, 7]", t="f64[5, 7]")
case("y = bce(x, t)", F.binary_cross_entropy, x="f64[5, 7] 0..1", t="f64[5, 7] 0..1")
case("y = bce(x, t)", F.binary_cross_entropy, x="f64[5] 0..0", t="f64[5] 0..1")
case("y = bce_with_logits(x, t, pos_weight=w)", lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w), x="f64[5, 7]", t="f64[5, 7] 0..1", w="f64[7] 0.5..2")
case("y = triplet_margin_loss(a, p, n, margin=0.5, p=1)", lambda a, p, n: F.triplet_margin_loss(a, p, n, 0.5, 1), a="f64[6, 8]", p="f64[6, 8]", n="f64[6, 8]")
case("y = triplet_margin_loss(a, p, n, swap=true)", lambda a, p, n: F.triplet_margin_loss(a, p, n, swap=True), a="f64[6, 8]", p="f64[6, 8]", n="f64[6, 8]")
case("y = pairwise_distance(a, b)", F.pairwise_distance, a="f64[6, 8]", b="f64[6, 8]")
case("y = pairwise_distance(a, b, p=1, keepdims=true)", lambda a, b: F.pairwise_distance(a, b, 1, keepdim=True), a="f64[6, 8]", b="f64[6, 8]")
case("y = cosine_similarity(a, b)", F.cosine_similarity, a="f64[6, 8]", b="f64[6, 8]")
case("y = cosine_similarity(a, b, axis=-1)", lambda a, b: F.cosine_similarity(a, b, -1), a="f64[2, 6, 8]", b="f64[6, 8]")
case("y = mse_loss(x, t)", F.mse_loss, x="f16[40, 3]", t="bf16[40, 3]")
case("y = mse_loss(x, t)", F.mse_loss, x="f64[1]", t="f64[1]")
