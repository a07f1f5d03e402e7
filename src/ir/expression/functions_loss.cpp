// Losses and distances.

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

const std::vector<std::string>& reductions() {
  static const std::vector<std::string> kAllowed{"mean", "sum", "none"};
  return kAllowed;
}

/// The elementwise loss reduced as the parameter `reduction` says.
Value reduced(Call& call, T loss) {
  const std::string how = call.word("reduction", reductions());
  if (how == "none" || call.ops.failed()) return Value::of(loss);
  return Value::of(how == "sum" ? call.ops.reduce(ReduceOp::sum, loss, {}, false) : mean(loss, {}, false));
}

struct Pair {
  T input, target;
};

/// Both as floats of one dtype.
Pair float_pair(Call& call) {
  const auto args = call.tensors({"input", "target"});
  return {call.ops.to_float(args[0]), call.ops.to_float(args[1])};
}

T absolute(T x) { return apply(MapOp::abs, x); }
T log1p_exp(T x) { return apply(MapOp::log1p, apply(MapOp::exp, x)); }

Value mse_loss(Call& call) {
  const auto [input, target] = float_pair(call);
  const T difference = input - target;
  return reduced(call, difference * difference);
}

Value l1_loss(Call& call) {
  const auto [input, target] = float_pair(call);
  return reduced(call, absolute(input - target));
}

/// Quadratic below `knee`, linear above: m * (d - m/2) with m = min(d, knee) is both.
T knee_loss(T distance, double knee) {
  const T near = minimum(distance, knee);
  return near * (distance - 0.5 * near);
}

Value smooth_l1_loss(Call& call) {
  const auto [input, target] = float_pair(call);
  const double beta = call.real("beta");
  if (beta < 0) call.fail("beta", "must not be negative");
  const T distance = absolute(input - target);
  return reduced(call, beta == 0 ? distance : knee_loss(distance, beta) / beta);
}

Value huber_loss(Call& call) {
  const auto [input, target] = float_pair(call);
  const double delta = call.real("delta");
  if (delta <= 0) call.fail("delta", "must be positive");
  return reduced(call, knee_loss(absolute(input - target), delta));
}

Value kl_div(Call& call) {
  const auto [input, target] = float_pair(call);
  const std::string how = call.word("reduction", {"mean", "sum", "none", "batchmean"});
  T loss = input;
  if (call.flag("log_target")) {
    loss = apply(MapOp::exp, target) * (target - input);
  } else {
    const T zero = number_like(target, 0);
    const T entropy = select(apply(MapOp::equal, target, 0.0), zero, target * apply(MapOp::log, target));
    loss = entropy - target * input;
  }
  if (how != "batchmean" || call.ops.failed()) return reduced(call, loss);
  return Value::of(divide_by(call.ops.reduce(ReduceOp::sum, loss, {}, false), input.extent(0)));
}

Value bce(Call& call) {
  const auto [input, target] = float_pair(call);
  // PyTorch limits the logarithms, so that a certain and wrong prediction costs 100.
  const T hit = maximum(apply(MapOp::log, input), -100), miss = maximum(apply(MapOp::log1p, -input), -100);
  return reduced(call, -(target * hit + (1.0 - target) * miss));
}

Value bce_with_logits(Call& call) {
  const auto [input, target] = float_pair(call);
  const T soft = log1p_exp(-absolute(input));
  if (!call.has("pos_weight")) return reduced(call, maximum(input, 0) - input * target + soft);
  const T weight = 1.0 + (call.tensor("pos_weight") - 1) * target;
  return reduced(call, (1.0 - target) * input + weight * (soft + maximum(-input, 0)));
}

Value hinge_loss(Call& call) {
  const auto [input, target] = float_pair(call);
  return reduced(call, maximum(1.0 - input * target, 0));
}

Value margin_ranking_loss(Call& call) {
  const auto args = call.tensors({"x", "y", "target"});
  return reduced(call, maximum(-args[2] * (args[0] - args[1]) + call.real("margin"), 0));
}

/// Losses over classes: the class axis is 1, or 0 for a single sample.
struct Classes {
  T input;
  T target;
  int axis = 0;
  bool by_index = true;  ///< integer targets without the class axis; otherwise probabilities
};

Classes classes_of(Call& call) {
  Classes c;
  c.input = call.ops.to_float(call.tensor("input"));
  c.target = call.tensor("target");
  c.by_index = !is_float(c.target.dtype());
  c.axis = c.input.rank() > 1 ? 1 : 0;
  const int expected = c.by_index ? c.input.rank() - 1 : c.input.rank();
  if (!call.ops.failed() && (c.input.rank() == 0 || c.target.rank() != expected))
    call.fail("target", "of shape " + to_string(c.target.shape()) + " does not fit the input " +
                            to_string(c.input.shape()) +
                            ": class indices have no class axis, probabilities have the same shape");
  return c;
}

/// The value at each target's class: where(class == target, x, 0) summed, so that no gather is needed.
T pick(const Classes& c, T x) {
  Ops& ops = *x.ops;
  if (ops.failed()) return x;
  Shape shape(static_cast<std::size_t>(x.rank() - c.axis), Dim(1));
  shape[0] = x.extent(c.axis);
  const T hit = apply(MapOp::equal, ops.iota(0, std::move(shape), DType::i64), unsqueeze(c.target, c.axis));
  // The shapes agree apart from the class axis; a target that would stretch is a mistake.
  const Shape& picked = hit.shape();
  for (std::size_t d = 0; d < picked.size(); ++d)
    if (!ops.builder().same_extent(picked[d], x.shape()[d]))
      ops.fail("the target " + to_string(c.target.shape()) + " does not fit the input " + to_string(x.shape()));
  return ops.reduce(ReduceOp::sum, select(hit, x, number_like(x, 0)), {c.axis}, false);
}

Value cross_entropy(Call& call) {
  const Classes c = classes_of(call);
  const double smoothing = call.real("label_smoothing");
  if (smoothing < 0 || smoothing > 1) call.fail("label_smoothing", "must lie in [0, 1]");
  if (call.ops.failed()) return {};
  const T log_p = log_softmax(c.input, c.axis);
  T loss = c.by_index ? -pick(c, log_p) : -call.ops.reduce(ReduceOp::sum, log_p * c.target, {c.axis}, false);
  if (smoothing != 0) {
    const T uniform = divide_by(-call.ops.reduce(ReduceOp::sum, log_p, {c.axis}, false), c.input.extent(c.axis));
    loss = (1 - smoothing) * loss + smoothing * uniform;
  }
  return reduced(call, loss);
}

Value nll_loss(Call& call) {
  const Classes c = classes_of(call);
  if (!call.ops.failed() && !c.by_index) call.fail("target", "must hold class indices");
  return reduced(call, -pick(c, c.input));
}

T distance(T a, T b, double p, double eps, bool keepdims) {
  const T difference = a - b + eps;
  return norm(difference, p, {difference.rank() - 1}, keepdims);
}

Value pairwise_distance(Call& call) {
  const auto args = call.tensors({"x", "y"});
  const T x = call.ops.to_float(args[0]), y = call.ops.to_float(args[1]);
  return Value::of(distance(x, y, call.real("p"), call.real("eps"), call.flag("keepdims")));
}

Value triplet_margin_loss(Call& call) {
  auto args = call.tensors({"anchor", "positive", "negative"});
  for (T& arg : args) arg = call.ops.to_float(arg);
  const double p = call.real("p"), eps = call.real("eps");
  const T near = distance(args[0], args[1], p, eps, false);
  T far = distance(args[0], args[2], p, eps, false);
  if (call.flag("swap")) far = apply(MapOp::minimum, far, distance(args[1], args[2], p, eps, false));
  return reduced(call, maximum(near - far + call.real("margin"), 0));
}

Value cosine_similarity(Call& call) {
  const auto args = call.tensors({"x", "y"});
  const T x = call.ops.to_float(args[0]), y = call.ops.to_float(args[1]);
  const double eps = call.real("eps");
  const T product = x * y;
  const std::vector<int> axis{call.axis("axis", product.rank())};
  if (call.ops.failed()) return {};
  // The axis is counted in the broadcast shape.
  const auto size = [&](T v) { return maximum(norm(call.ops.broadcast_to(v, product.shape()), 2, axis, false), eps); };
  return Value::of(call.ops.reduce(ReduceOp::sum, product, axis, false) / (size(x) * size(y)));
}

}  // namespace

std::span<const FunctionRow> loss_functions() {
  static constexpr FunctionRow kRows[] = {
      {"cross_entropy(input, target, reduction=\"mean\", label_smoothing=0.0)",
       "-log_softmax(input) at the target class (integers), or weighted by target probabilities; classes on axis 1.",
       cross_entropy},
      {"nll_loss(input, target, reduction=\"mean\")", "-input at the target class; classes on axis 1.", nll_loss},
      {"mse_loss(input, target, reduction=\"mean\")", "Squared difference.", mse_loss},
      {"l1_loss(input, target, reduction=\"mean\")", "Absolute difference.", l1_loss},
      {"smooth_l1_loss(input, target, reduction=\"mean\", beta=1.0)", "Squared below beta, absolute above.",
       smooth_l1_loss},
      {"huber_loss(input, target, reduction=\"mean\", delta=1.0)", "delta * smooth_l1_loss with beta = delta.",
       huber_loss},
      {"kl_div(input, target, reduction=\"mean\", log_target=false)",
       "target * (log(target) - input) for log-probabilities `input`; reduction may be \"batchmean\".", kl_div},
      {"binary_cross_entropy(input, target, reduction=\"mean\")",
       "-(target * log(input) + (1 - target) * log(1 - input)), logarithms limited to -100.", bce, true, "bce"},
      {"binary_cross_entropy_with_logits(input, target, reduction=\"mean\", pos_weight=none)",
       "binary_cross_entropy of sigmoid(input), without overflow.", bce_with_logits, true, "bce_with_logits"},
      {"hinge_loss(input, target, reduction=\"mean\")", "max(0, 1 - input * target).", hinge_loss},
      {"margin_ranking_loss(x, y, target, margin=0.0, reduction=\"mean\")", "max(0, -target * (x - y) + margin).",
       margin_ranking_loss},
      {"triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=false, reduction=\"mean\")",
       "max(0, distance to positive - distance to negative + margin), distances over the last axis.",
       triplet_margin_loss},
      {"pairwise_distance(x, y, p=2, eps=1e-6, keepdims=false)", "norm(x - y + eps, p) over the last axis.",
       pairwise_distance},
      {"cosine_similarity(x, y, axis=1, eps=1e-8)",
       "sum(x * y) / (max(norm(x), eps) * max(norm(y), eps)) over an axis.", cosine_similarity},
  };
  return kRows;
}

}  // namespace kerf::ir
