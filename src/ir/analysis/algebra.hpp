#pragma once
// Other graphs that compute the same: what algebra allows before a kernel is planned.

#include <vector>

#include "ir/graph.hpp"

namespace kerf::ir {

/// What is known about the data: on values that are not finite some forms differ.
enum class Values { any, finite };

/// The simplified graph first, then different graphs with the same inputs and outputs that are equal in exact
/// arithmetic and usually take less work, each building on the one before:
/// - layout: transposes and broadcasts become labels of contractions and axes of reductions; views, reshapes and nested
///   reductions merge; a pooling down to one element becomes a reduction, one of a pooling whose windows touch a
///   single one. The same values are combined by the same
///   operators, only in another order.
/// - linear: factors that do not depend on the summed axes leave sums and contractions, sums move inside of additions,
///   contractions and convolutions (the sum over the columns of a matrix product becomes a product with a vector),
///   max(c*x + b) becomes c*max(x) + b.
/// - pooling: sums over windows of a convolution become a convolution with a wider kernel and a larger stride.
/// - products: a convolution of single taps is a contraction, a contraction with one row or column a sum of products,
///   one with few results and long sums is cut into pieces that give `tiles` groups of threads work on the shape `real`
///   (0: none is). The same products, summed in another order.
/// - joined: elementwise operators move inside of concatenations, where that leaves none but at the outputs; the same
///   operators for every element.
/// Forms that change nothing are left out, so the list has one to six entries. Only float nodes are rewritten.
///
/// On data that is not finite, or overflows on the way, linear and pooling may differ from the graph they started from:
/// where the original adds products of opposite infinities to NaN, or multiplies 0 by an infinity that cancels in the
/// sum, the other order may give a number, and the other way round. So they are left out unless `values` are known to
/// be finite.
std::vector<Graph> algebraic_forms(const Graph& graph, Values values, std::int64_t tiles = 0,
                                   const Bindings& real = {});

}  // namespace kerf::ir
