#pragma once
// What a task does with the values of an input, as far as they keep their size: through copies, sums and extremes, and
// not through functions that bound them (exp of what is never above 0, erf, comparisons).

#include <string>

#include "ir/graph.hpp"

namespace kerf::oracle {

struct InputUses {
  bool multiplied = false;  ///< with values that are no constants
  bool contracted = false;  ///< an operand of a product of matrices or of a convolution
  bool weights = false;     ///< the second operand of a convolution
};

InputUses uses_of(const ir::Graph& graph, const std::string& input);

}  // namespace kerf::oracle
