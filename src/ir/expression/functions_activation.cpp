// Activation functions. Piecewise ones are written with minimum and maximum rather than a comparison: the same values,
// but continuous, so that no element is ever too close to a threshold to be judged.

#include <array>
#include <cmath>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

T float_x(Call& call) { return call.ops.to_float(call.tensor("x")); }
Value done(T result) { return Value::of(result); }

T softplus(T x) { return maximum(x, 0) + apply(MapOp::log1p, apply(MapOp::exp, -apply(MapOp::abs, x))); }
T sigmoid(T x) { return apply(MapOp::sigmoid, x); }
T exponential_unit(T x, double alpha, double scale) {
  return maximum(x, 0) + alpha * apply(MapOp::expm1, minimum(x, 0) / scale);
}

Value relu(Call& call) { return done(maximum(call.tensor("x"), 0)); }
Value relu6(Call& call) { return done(clamp(call.tensor("x"), 0, 6)); }
Value leaky_relu(Call& call) {
  const T x = float_x(call);
  return done(maximum(x, 0) + call.real("slope") * minimum(x, 0));
}
Value prelu(Call& call) {
  const T x = float_x(call);
  T weight = call.tensor("weight");
  if (weight.rank() == 1 && x.rank() > 2 && !weight.extent(0).is_one()) weight = along_axis(weight, 1, x.rank());
  return done(maximum(x, 0) + weight * minimum(x, 0));
}
Value elu(Call& call) { return done(exponential_unit(float_x(call), call.real("alpha"), 1)); }
Value selu(Call& call) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return done(kScale * exponential_unit(float_x(call), kAlpha, 1));
}
Value celu(Call& call) {
  const double alpha = call.real("alpha");
  if (alpha == 0) call.fail("alpha", "must not be 0");
  return done(exponential_unit(float_x(call), alpha, alpha));
}
Value gelu(Call& call) {
  const T x = float_x(call);
  if (call.word("approximate", {"none", "tanh"}) == "none")
    return done(0.5 * x * (1.0 + apply(MapOp::erf, x * std::sqrt(0.5))));
  const T inner = std::sqrt(2 / M_PI) * (x + 0.044715 * (x * x * x));
  return done(0.5 * x * (1.0 + apply(MapOp::tanh, inner)));
}
Value silu(Call& call) {
  const T x = float_x(call);
  return done(x * sigmoid(x));
}
Value mish(Call& call) {
  const T x = float_x(call);
  return done(x * apply(MapOp::tanh, softplus(x)));
}
Value hardtanh(Call& call) { return done(clamp(call.tensor("x"), call.real("min"), call.real("max"))); }
Value hardsigmoid(Call& call) { return done(clamp(float_x(call) + 3, 0, 6) / 6); }
Value hardswish(Call& call) {
  const T x = float_x(call);
  return done(x * clamp(x + 3, 0, 6) / 6);
}
Value softplus_with_threshold(Call& call) {
  const T x = float_x(call);
  const double beta = call.real("beta"), threshold = call.real("threshold");
  if (beta == 0) call.fail("beta", "must not be 0");
  const T scaled = x * beta;
  const T soft = apply(MapOp::log1p, apply(MapOp::exp, minimum(scaled, threshold))) / beta;
  return done(select(apply(MapOp::greater, scaled, threshold), x, soft));
}
Value softsign(Call& call) {
  const T x = float_x(call);
  return done(x / (1.0 + apply(MapOp::abs, x)));
}
Value logsigmoid(Call& call) {
  const T x = float_x(call);
  return done(minimum(x, 0) - apply(MapOp::log1p, apply(MapOp::exp, -apply(MapOp::abs, x))));
}
Value tanhshrink(Call& call) {
  const T x = float_x(call);
  return done(x - apply(MapOp::tanh, x));
}
Value softshrink(Call& call) {
  const T x = float_x(call);
  const double lambda = call.real("lambda");
  return done(x - clamp(x, -lambda, lambda));
}
Value hardshrink(Call& call) {
  const T x = float_x(call);
  const T inside = apply(MapOp::less_equal, apply(MapOp::abs, x), call.real("lambda"));
  return done(select(inside, number_like(x, 0), x));
}
Value threshold(Call& call) {
  const T x = call.tensor("x");
  return done(select(apply(MapOp::less_equal, x, call.real("threshold")), number_like(x, call.real("value")), x));
}
Value glu(Call& call) {
  const T x = float_x(call);
  const int axis = call.axis("axis", x.rank());
  const Dim half = floor_div(x.extent(axis), 2);
  if (call.ops.failed()) return {};
  if (!call.ops.builder().same_extent(half * Dim(2), x.extent(axis))) call.fail("axis", "must have an even extent");
  const auto part = [&](const Dim& offset) {
    ViewAttr view;
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = half;
    for (int d = 0; d < x.rank(); ++d) view.axes.push_back({d == axis ? offset : Dim(0), {{d, 1}}, std::nullopt});
    return call.ops.view(x, std::move(view), std::move(shape));
  };
  return done(part(0) * sigmoid(part(half)));
}

}  // namespace

std::span<const FunctionRow> activation_functions() {
  static constexpr FunctionRow kRows[] = {
      {"relu(x)", "max(x, 0).", relu},
      {"relu6(x)", "x limited to [0, 6].", relu6},
      {"leaky_relu(x, slope=0.01)", "x where positive, else slope * x.", leaky_relu},
      {"prelu(x, weight)", "x where positive, else weight * x; one weight, or one per channel (axis 1).", prelu},
      {"elu(x, alpha=1.0)", "x where positive, else alpha * (exp(x) - 1).", elu},
      {"selu(x)", "elu with the self-normalising constants.", selu},
      {"celu(x, alpha=1.0)", "x where positive, else alpha * (exp(x / alpha) - 1).", celu},
      {"gelu(x, approximate=\"none\")", "0.5 * x * (1 + erf(x / sqrt(2))), or its \"tanh\" approximation.", gelu},
      {"silu(x)", "x * sigmoid(x).", silu, true, "swish"},
      {"mish(x)", "x * tanh(softplus(x)).", mish},
      {"hardtanh(x, min=-1.0, max=1.0)", "x limited to [min, max].", hardtanh},
      {"hardswish(x)", "x * clamp(x + 3, 0, 6) / 6.", hardswish},
      {"hardsigmoid(x)", "clamp(x + 3, 0, 6) / 6.", hardsigmoid},
      {"softplus(x, beta=1.0, threshold=20.0)", "log(1 + exp(beta * x)) / beta; x itself above the threshold.",
       softplus_with_threshold},
      {"softsign(x)", "x / (1 + abs(x)).", softsign},
      {"logsigmoid(x)", "log(sigmoid(x)).", logsigmoid, true, "log_sigmoid"},
      {"tanhshrink(x)", "x - tanh(x).", tanhshrink},
      {"softshrink(x, lambda=0.5)", "x moved towards 0 by lambda.", softshrink},
      {"hardshrink(x, lambda=0.5)", "x, or 0 within [-lambda, lambda].", hardshrink},
      {"threshold(x, threshold, value)", "x where above the threshold, else value.", threshold},
      {"glu(x, axis=-1)", "First half of the axis times sigmoid of the second half.", glu},
  };
  return kRows;
}

}  // namespace kerf::ir
