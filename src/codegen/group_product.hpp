#pragma once
// Contractions and convolutions as batched matrix products of work-groups. Internal to group_kernels.cpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/group_kernels.hpp"

namespace kerf::codegen {

/// What a node's kernels are written from. All references are borrowed.
struct GroupContext {
  const BufferPlan& plan;
  const KernelPlan& kernel;
  const DialectTraits& dialect;
  const NaiveOptions& options;
  const std::string& partials;

  std::int64_t extent(const Dim& dim) const { return dim.evaluate(*options.shape).value_or(0); }
};

/// The text of one launch under way.
struct GroupWriter {
  explicit GroupWriter(const GroupContext& context)
      : code(1, *context.plan.names), lowering(context.plan, context.dialect, context.options, code, uses) {}
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  GroupLaunch launch(std::int64_t groups) const { return {code.text(), uses, groups, false, false}; }

  Uses uses;
  Code code;
  Lowering lowering;
};

/// Sums along lines: `lanes` work items share a chunk of one.
struct LineShape {
  std::int64_t lines = 0, length = 0, lanes = 32, chunks = 1, chunk = 0;
};

/// out[group, row, column] = sum over depth of left[group, row, depth] * right[group, depth, column].
struct Product {
  std::int64_t groups = 1, rows = 1, columns = 1, depth = 1;
  bool left_along_depth = false,
       right_along_depth = false;  ///< neighbours in memory: along the depth, or the other axis
  /// Writes the lines that compute one element and assigns it to `value`. `present`, where it is not empty, is set to 0
  /// when there is no such element: it takes no part in the sum, whatever it would be multiplied by.
  using Element = std::function<void(GroupWriter& w, const std::string& group, const std::string& index,
                                     const std::string& depth, const std::string& value, const std::string& present)>;
  Element left, right;
  bool left_may_be_absent = false;
  /// The axes of an element of the node.
  std::function<std::vector<std::string>(GroupWriter& w, const std::string& group, const std::string& row,
                                         const std::string& column)>
      place;
  /// One term of the sum at an element of the node; empty where products are always tiled.
  std::function<std::string(GroupWriter& w, const std::vector<std::string>& at, const std::string& depth)> term;
};

/// None when the node is no product, is so small that it does not matter, or has a form that is not covered.
std::optional<Product> product_of(const GroupContext& context);

GroupKernels tiled_product(const GroupContext& context, const Product& product);

}  // namespace kerf::codegen
