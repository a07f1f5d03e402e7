// Gather, and the indices of the largest.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/parallel.hpp"
#include "ir/interpret/nodes.hpp"

namespace kerf::ir::eval {
namespace {

using Int = std::int64_t;

constexpr Int kThreadWork = 20'000;  // elements worth a thread

/// Whether a comes before b: the larger first (or the smaller), a NaN counts as larger than all.
template <class T>
bool before(T a, T b, bool largest) {
  if (a != a || b != b) return largest ? a != a && b == b : a == a && b != b;
  return largest ? a > b : a < b;
}

template <class T>
void top_lines(const TopAttr& top, const Value& x, Value& out, int threads) {
  const auto axis = static_cast<std::size_t>(top.axis);
  const Int extent = x.extents[axis], count = out.extents[axis];
  Int inner = 1, lines = 1;
  for (std::size_t d = 0; d < x.extents.size(); ++d)
    if (d != axis) lines *= x.extents[d];
  for (std::size_t d = axis + 1; d < x.extents.size(); ++d) inner *= x.extents[d];
  const T* data = reinterpret_cast<const T*>(x.data);
  Int* result = reinterpret_cast<Int*>(out.writable);
  parallel_for(lines, std::max<Int>(1, kThreadWork / std::max<Int>(1, extent)), threads, [&](Int begin, Int end) {
    std::vector<Int> order(static_cast<std::size_t>(extent));
    for (Int line = begin; line < end; ++line) {
      const T* row = data + line / inner * extent * inner + line % inner;
      std::iota(order.begin(), order.end(), Int{0});
      std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Int a, Int b) {
        const T left = row[a * inner], right = row[b * inner];
        if (before(left, right, top.largest)) return true;
        return !before(right, left, top.largest) && a < b;
      });
      for (Int k = 0; k < count; ++k)
        result[(line / inner * count + k) * inner + line % inner] = order[static_cast<std::size_t>(k)];
    }
  });
}

}  // namespace

void run_top(const TopAttr& top, const Value& x, Value& out, int threads) {
  if (x.storage == DType::f64)
    top_lines<double>(top, x, out, threads);
  else
    top_lines<Int>(top, x, out, threads);
}

void run_gather(const GatherAttr& gather, const Value& x, const Value& index, Value& out, int threads) {
  const auto axis = static_cast<std::size_t>(gather.axis);
  const Int extent = x.extents[axis], size = static_cast<Int>(dtype_size(out.storage));
  const Extents x_strides = row_major_strides(x.extents);
  Extents index_strides = row_major_strides(index.extents);
  for (std::size_t d = 0; d < index_strides.size(); ++d)
    if (index.extents[d] == 1) index_strides[d] = 0;
  const Int* indices = reinterpret_cast<const Int*>(index.data);
  parallel_for(out.count(), kThreadWork, threads, [&](Int begin, Int end) {
    for (Int p = begin; p < end; ++p) {
      Int rest = p, from = 0, at = 0;
      for (std::size_t d = out.extents.size(); d-- > 0;) {
        const Int i = rest % out.extents[d];
        rest /= out.extents[d];
        at += i * index_strides[d];
        if (d != axis) from += i * x_strides[d];
      }
      const Int chosen = indices[at];
      std::byte* to = out.writable + p * size;
      if (chosen >= 0 && chosen < extent)
        std::memcpy(to, x.data + (from + chosen * x_strides[axis]) * size, static_cast<std::size_t>(size));
      else
        std::memset(to, 0, static_cast<std::size_t>(size));
    }
  });
}

}  // namespace kerf::ir::eval
