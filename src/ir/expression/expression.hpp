#pragma once
// The expression language of tasks: NumPy-like statements to an op graph. docs/expressions.md lists every function.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace kerf::ir {

struct TensorType {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
};

/// Parses `text` (statements `name = expression`, one per line or separated by ';', '#' comments) with the given inputs
/// and shape symbols in scope, and returns the graph of `outputs`. An empty `outputs` means the last statement's name.
/// Errors read `line 2, column 9: unknown function 'softmx' (did you mean 'softmax'?)`, followed by the source line and
/// a caret. `shape_sets` lets extents that are only numerically equal match (see Builder).
Result<Graph> parse_expression(std::string_view text, const std::vector<TensorType>& inputs,
                               const std::vector<std::string>& outputs, const std::vector<Bindings>& shape_sets);

/// Names of all functions with their signatures, for help, documentation and "did you mean".
struct FunctionHelp {
  std::string name;
  std::string signature;  ///< "softmax(x, axis=-1)"
  std::string summary;
};
const std::vector<FunctionHelp>& expression_functions();

/// Parses "f32[rows, 2*cols]" (or "f32[]" for a scalar).
Result<TensorType> parse_tensor_type(std::string_view name, std::string_view text);

}  // namespace kerf::ir
