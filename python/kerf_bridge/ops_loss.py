"""Losses."""

from .graph import call
from .table import COMPOSED, need, operator


def reduced(size_average, reduce, reduction):
    need(size_average is None and reduce is None, "the old arguments size_average and reduce")
    return reduction


@operator("cross_entropy")
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    need(weight is None, "cross_entropy with class weights")
    return call("cross_entropy", input, target, reduction=reduced(size_average, reduce, reduction),
                label_smoothing=label_smoothing or None)


@operator("nll_loss")
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    need(weight is None, "nll_loss with class weights")
    return call("nll_loss", input, target, reduction=reduced(size_average, reduce, reduction))


def two_sided(name):
    def text(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
        need(weight is None, f"{name} with weights")
        return call(name, input, target, reduction=reduced(size_average, reduce, reduction))
    return text


for _name in ("mse_loss", "l1_loss"):
    operator(_name)(two_sided(_name))


@operator("smooth_l1_loss")
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return call("smooth_l1_loss", input, target, reduction=reduced(size_average, reduce, reduction), beta=beta)


@operator("huber_loss")
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    need(weight is None, "huber_loss with weights")
    return call("huber_loss", input, target, reduction=reduction, delta=delta)


@operator("kl_div")
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    return call("kl_div", input, target, reduction=reduced(size_average, reduce, reduction), log_target=True if log_target else None)


@operator("binary_cross_entropy")
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    need(weight is None, "binary_cross_entropy with weights")
    return call("binary_cross_entropy", input, target, reduction=reduced(size_average, reduce, reduction))


@operator("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    need(weight is None, "binary_cross_entropy_with_logits with weights")
    return call("binary_cross_entropy_with_logits", input, target, reduction=reduced(size_average, reduce, reduction),
                pos_weight=pos_weight)


@operator("margin_ranking_loss")
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return call("margin_ranking_loss", input1, input2, target, margin=margin, reduction=reduced(size_average, reduce, reduction))


@operator("triplet_margin_loss")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    return call("triplet_margin_loss", anchor, positive, negative, margin=margin, p=p, eps=eps, swap=True if swap else None,
                reduction=reduced(size_average, reduce, reduction))


@operator("pairwise_distance")
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return call("pairwise_distance", x1, x2, p=p, eps=eps, keepdims=True if keepdim else None)


COMPOSED.update({"cross_entropy", "triplet_margin_with_distance_loss"})
