#pragma once
// Batched matrix products whose operands lie anywhere: an element's address is a sum of a row and a column offset,
// which covers strided, permuted and windowed (convolution) operands without copying them first.

#include <cstdint>
#include <span>

#include "ir/dtype.hpp"

namespace kerf::ir {

/// Element (i, j) is data[rows[i] + cols[j]], of any dtype.
struct GemmOperand {
  const void* data = nullptr;
  DType dtype = DType::f64;
  std::span<const std::int64_t> rows, cols;
};

/// Element (i, j) is written to data[rows[i] + cols[j]]; all addresses are distinct.
template <class T>
struct GemmResult {
  T* data = nullptr;
  std::span<const std::int64_t> rows, cols;
};

/// Added to every offset of one product of the batch, in elements.
struct GemmBatch {
  std::int64_t a = 0, b = 0, c = 0;
};

/// c = a * b for every entry of `batch`: a is [m, k], b is [k, n], c is [m, n]. Sums run over k in a fixed order, so
/// the result does not depend on `threads` (0: all cores). Floats are multiplied in double; integers wrap.
void gemm(const GemmOperand& a, const GemmOperand& b, const GemmResult<double>& c, std::span<const GemmBatch> batch,
          int threads);
void gemm(const GemmOperand& a, const GemmOperand& b, const GemmResult<std::int64_t>& c,
          std::span<const GemmBatch> batch, int threads);

}  // namespace kerf::ir
