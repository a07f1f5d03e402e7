#pragma once
// How wrong may an honest implementation be? A rewrite that adds, for every float output y, an output "y!bound": the
// absolute error, element by element, that straightforward arithmetic at the given precision can reach on these inputs.

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir {

/// Unit round-offs of an accuracy class.
struct ErrorModel {
  double rounding = 0x1.0p-24;  ///< each elementwise result, relative (f32: 2^-24)
  double operand = 0;  ///< operands of contractions and convolutions, relative, beyond their dtype (tf32: 2^-11)
  double accumulate = 0x1.0p-24;  ///< each partial sum, relative
  double tiny = 0x1.0p-126;       ///< absolute floor of any rounding: results this small may be flushed
  bool walk = false;  ///< errors that meet in a result are independent, so that their squares add up (see below)
};

/// With ErrorModel::walk the bound of an output is this many of the deviations that independent errors lead to.
inline constexpr double kWalkDeviations = 4;

/// The bound of an infinity times a computed number other than 0: either infinity or NaN, as x (r w) - m (r w) has it
/// where (x - m) r w has an infinity, but no number. Bounds that follow from it may be smaller.
inline constexpr double kNotFinite = 0x1.0p127;

/// Outputs of the result: y0, y0!bound, y1, y1!bound, ... (bounds in f64 with y's shape). First-order running error
/// analysis, itself expressed as graph nodes so that the interpreter and the device oracle evaluate it unchanged:
/// - inputs, constants, views, selections and integers are exact (bound 0);
/// - a map op passes on |df/dx| * bound(x) and adds rounding * c * |f|;
/// - a sum of K terms adds (1 + sqrt(K)/2) * accumulate * sum|x| (random-walk growth, not the worst case, so that a
///   lower precision cannot hide under it); contractions and convolutions the same over |a||b|, plus 2 * operand *
///   |a||b|;
/// - max and min pass on the largest bound; discontinuous results (comparisons, floor, arg-reductions, ...) that are
///   closer to their threshold than the bound are ambiguous: their bound is +inf and the element is not compared.
/// An integer or bool output gets the bound 0 (exact) or +inf (ambiguous).
///
/// Errors of arguments add up in size: sum(x) gets sum(bound(x)), which multiplies from layer to layer by the root of
/// the layer's width and says nothing after a dozen layers. With `walk` they add up in squares: sum(x) gets
/// sqrt(sum(bound(x)^2)), and what a sum adds is (1 + sqrt(K)/2) * accumulate * sqrt(sum(x^2) + sum(x)^2), contractions
/// and convolutions the same over (a b)^2, plus 2 * operand^2 * (a b)^2 in the square. Such a bound is what honest code
/// loses on average, kWalkDeviations times; extremes and jumps are as before.
Result<Graph> with_error_bounds(const Graph& graph, const ErrorModel& model, const std::vector<Bindings>& shape_sets);

}  // namespace kerf::ir
