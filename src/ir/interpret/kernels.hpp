#pragma once
// The inner loops of the interpreter, in one version per instruction set. All values are 8-byte lanes: double for float
// nodes, int64 for integers and bools (0 or 1).

#include <cstdint>

#include "ir/graph.hpp"

namespace kerf::ir::eval {

/// Elements that a program computes at a time: a register is 4 KiB, so a handful stay in the first-level cache.
constexpr std::int64_t kBlock = 512;
constexpr std::int64_t kLane = 8;  ///< bytes of a lane: a double or an i64

enum class Conversion { none, float_to_int, float_to_i32, float_to_bool, int_to_float, int_to_i32, int_to_bool };

struct Kernels {
  /// out[i] = op(a[i], b[i], c[i]); `floating` is the class of the operands (of `select`: of its branches).
  void (*map)(MapOp op, bool floating, std::int64_t n, const void* a, const void* b, const void* c, void* out);
  void (*convert)(Conversion conversion, std::int64_t n, const void* in, void* out);
  /// Lanes from storage of `dtype`: out[i] = source[offset + i * stride].
  void (*load)(DType dtype, const void* source, std::int64_t offset, std::int64_t stride, std::int64_t n, void* out);
  /// out[i] = first + i * step, as doubles or int64.
  void (*ramp)(bool floating, std::int64_t first, std::int64_t step, std::int64_t n, void* out);
  /// out[i] = (in[i] != 0), from int64 lanes to bytes.
  void (*store_bool)(const void* in, std::int64_t n, void* out);
  /// Folds `rows` rows of `width` lanes into a running reduction of `width` results (see interpreter_reduce.hpp);
  /// `row` is the reduction index of the first row.
  void (*accumulate)(ReduceOp op, bool floating, const void* data, std::int64_t rows, std::int64_t width,
                     std::int64_t row, void* first, void* second);
};

/// The fastest version that this processor runs.
const Kernels& kernels();

// State of a running reduction: `width` lanes each of `first` and `second`.
//   sum of floats: the sum and the rounding error it has lost; argmax, argmin: the extreme and its index, -1 for none
//   yet; all others: the value, with `second` unused.
void reduction_begin(ReduceOp op, bool floating, std::int64_t width, void* first, void* second);
/// Folds another state, of rows that follow, into this one.
void reduction_merge(ReduceOp op, bool floating, std::int64_t width, const void* other_first, const void* other_second,
                     void* first, void* second);
/// Replaces `first` by the result lanes.
void reduction_end(ReduceOp op, bool floating, std::int64_t width, void* first, const void* second);

}  // namespace kerf::ir::eval
