#pragma once
// Naive kernels from an op graph: plain loops, one work item per output element, as an ordinary candidate file. In f32
// they are the baseline that every task has; in f64 they are the oracle for tensors too large for the interpreter.

#include <string>

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "ir/graph.hpp"

namespace kerf::codegen {

/// Mantissa bits that operands of contractions and convolutions keep (the range is not narrowed).
enum class OperandRounding { none, tf32, f16, bf16 };

struct NaiveOptions {
  DType compute = DType::f32;            ///< f32 or f64: type in which float nodes are computed and accumulated
  bool outputs_in_compute_type = false;  ///< float outputs are written in `compute`, whatever their declared dtype
  OperandRounding operand_rounding = OperandRounding::none;
  bool running_sums = false;            ///< sums in one accumulator, as the plainest code has them, not in pieces
  std::string kernel_prefix = "naive";  ///< kernels are <prefix>_0, <prefix>_1, ...
  bool parallel = false;                ///< languages with a host entry: all cores share the loop over work items
  bool header = true;                   ///< with the `kerf` header comment
  std::string target;                   ///< value of the header's `target:` line; "": without that line
  /// With the extents of a shape set, long sums, products and scans are computed by work-groups together where the
  /// dialect can (group_kernels.hpp). The text then serves this shape set only. Borrowed.
  const Bindings* shape = nullptr;
};

/// Source text that serves every shape set: extents appear under the names of their shape symbols, which the compiler
/// driver defines as integer constants before this text. Integers are computed in 64 bits. Casts between float types
/// do not round, as in the interpreter; only stores to buffers do. The C++ entry point takes inputs, outputs and then
/// scratch buffers, in the order of the header. An error names the node it is about.
Result<std::string> generate_naive(const ir::Graph& graph, const DialectTraits& dialect, const NaiveOptions& options);

}  // namespace kerf::codegen
