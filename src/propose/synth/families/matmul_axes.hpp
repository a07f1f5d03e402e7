#pragma once
// Any two-operand contraction as batches of matrix products.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "propose/synth/family.hpp"

namespace kerf::synth {

/// Axes of a contraction by what they are for. Labels keep the order of the output (k: that of operand a).
struct ProductAxes {
  ir::NodeId a = 0, b = 0;  ///< swapped when needed, so that the output's last axis is one of n
  std::vector<int> a_labels, b_labels, out_labels;
  std::vector<int> batch, m, n, k;
  std::map<int, Dim> extents;  ///< by label

  Dim extent(const std::vector<int>& labels) const;
  Shape shape(const std::vector<int>& labels) const;
};

/// None when a label occurs in one operand only and not in the output (a sum that is no part of a product).
std::optional<ProductAxes> product_axes(const ir::Graph& graph, ir::NodeId contract);

/// An operand that can be read as pointer[offset + batch * sb + row * sr + column * sc].
struct MatrixAccess {
  int buffer = 0;
  std::string pointer;
  DType dtype = DType::f32;
  Dim offset, sb, sr, sc;
};

/// How `node`, whose axes carry `labels`, can be read as matrices whose rows and columns run over these classes of
/// labels; none when the axes of a class do not lie behind each other in memory.
std::optional<MatrixAccess> matrix_access(const HookWriter& hooks, const ProductAxes& axes, ir::NodeId node,
                                          const std::vector<int>& labels, const std::vector<int>& rows,
                                          const std::vector<int>& columns);

/// Index of an operand's or the output's element, given texts for the four flat numbers.
std::vector<std::string> place(const ProductAxes& axes, const std::vector<int>& labels, HookWriter& hooks,
                               const std::string& batch, const std::string& m, const std::string& n,
                               const std::string& k);

}  // namespace kerf::synth
