#pragma once
// The functions of the expression language, one table per family. A row is a signature, a summary and the formula.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expression/call.hpp"
#include "ir/expression/expression.hpp"

namespace kerf::ir {

struct FunctionRow {
  const char* signature;  ///< defaults in it are the defaults; `none` means absent
  const char* summary;    ///< one line for the documentation
  Value (*formula)(Call&);
  bool composite = true;         ///< its nodes carry "name#k" as their origin
  const char* other_names = "";  ///< separated by spaces
};
/// The row of a function that is one node, or so few that they need no origin.
inline constexpr bool kPrimitive = false;

std::span<const FunctionRow> pointwise_functions();
std::span<const FunctionRow> activation_functions();
std::span<const FunctionRow> reduction_functions();
std::span<const FunctionRow> normalization_functions();
std::span<const FunctionRow> linear_functions();
std::span<const FunctionRow> window_functions();
std::span<const FunctionRow> shape_functions();
std::span<const FunctionRow> creation_functions();
std::span<const FunctionRow> loss_functions();
std::span<const FunctionRow> gather_functions();

struct Function {
  FunctionHelp help;
  std::vector<Parameter> parameters;
  const FunctionRow* row = nullptr;
};

const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

// Formulas that several families need.
T softmax(T x, int axis);
T log_softmax(T x, int axis);
T norm(T x, double p, const std::vector<int>& axes, bool keepdims);
/// (x - mean) * rsqrt(variance + eps) over `axes`.
T standardize(T x, const std::vector<int>& axes, double eps);
/// Einstein summation over labels (any integers); labels missing from `out` are summed, extents 1 stretch.
T einsum(Ops& ops, std::vector<T> operands, std::vector<std::vector<int>> labels, const std::vector<int>& out);
/// `value` in row-major order along the trailing axes [rows, cols]: true where col - row <= diagonal.
T below_diagonal(Ops& ops, const Dim& rows, const Dim& cols, const Dim& diagonal);
/// x reshaped so that its only axis stands at `axis` of a tensor of rank `rank`.
T along_axis(T x, int axis, int rank);

}  // namespace kerf::ir
