// Concat, scan and pooling.

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/parallel.hpp"
#include "ir/interpret/kernels.hpp"
#include "ir/interpret/nodes.hpp"
#include "ir/interpret/reduce.hpp"

namespace kerf::ir::eval {
namespace {

constexpr std::int64_t kThreadWork = 100'000;  // elements worth a thread

std::int64_t product(const Extents& extents, std::size_t begin, std::size_t end) {
  return element_count(Extents(extents.begin() + static_cast<std::ptrdiff_t>(begin),
                               extents.begin() + static_cast<std::ptrdiff_t>(end)));
}

std::int64_t grain_of(std::int64_t unit_work) {
  return std::max<std::int64_t>(1, kThreadWork / std::max<std::int64_t>(1, unit_work));
}

}  // namespace

Result<Value> as_lanes(const Value& value, Memory& memory, int threads) {
  if (value.storage == DType::f64 || value.storage == DType::i64) return value;
  Value lanes;
  lanes.storage = is_float(value.storage) ? DType::f64 : DType::i64;
  lanes.extents = value.extents;
  KERF_TRY(lanes.owner, memory.allocate(value.count() * 8, "a converted operand"));
  lanes.data = lanes.writable = lanes.owner.get();
  parallel_for(value.count(), kThreadWork, threads, [&](std::int64_t begin, std::int64_t end) {
    kernels().load(value.storage, value.data, begin, 1, end - begin, lanes.writable + begin * 8);
  });
  return lanes;
}

void run_concat(int axis, std::span<const Value> args, Value& out, int threads) {
  const auto split = static_cast<std::size_t>(axis);
  const std::int64_t outer = product(out.extents, 0, split);
  const std::int64_t out_row = product(out.extents, split, out.extents.size());
  const auto size = static_cast<std::int64_t>(dtype_size(out.storage));
  std::int64_t at = 0;
  for (const Value& arg : args) {
    const std::int64_t row = product(arg.extents, split, arg.extents.size());
    parallel_for(outer * row, kThreadWork, threads, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t o = begin / row, first = begin % row;
        const std::int64_t n = std::min(row - first, end - begin);
        std::byte* to = out.writable + (o * out_row + at + first) * size;
        if (arg.storage == out.storage)
          std::memcpy(to, arg.data + begin * size, static_cast<std::size_t>(n * size));
        else if (out.storage != DType::boolean)
          kernels().load(arg.storage, arg.data, begin, 1, n, to);
        begin += n;
      }
    });
    at += row;
  }
}

namespace {

template <class T, class Fold>
struct Scan {
  const T* x;
  T* out;
  std::int64_t length, inner;  // of the axis, and elements between its neighbours
  bool exclusive, reverse;
  static constexpr bool kCompensated = std::is_same_v<Fold, FoldSum<double>>;

  /// Columns [begin, end) of one outer row, at most kBlock of them.
  void columns(std::int64_t outer, std::int64_t begin, std::int64_t end) const {
    T sum[kBlock], lost[kBlock];
    const std::int64_t width = end - begin;
    std::fill_n(sum, width, Fold::start);
    std::fill_n(lost, width, T{0});
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t row = (outer * length + (reverse ? length - 1 - i : i)) * inner + begin;
      for (std::int64_t j = 0; j < width; ++j) {
        if (exclusive) out[row + j] = value(sum[j], lost[j]);
        if constexpr (kCompensated)
          compensated_add(sum[j], lost[j], x[row + j]);
        else
          sum[j] = Fold::fold(sum[j], x[row + j]);
        if (!exclusive) out[row + j] = value(sum[j], lost[j]);
      }
    }
  }
  static T value(T sum, T lost) {
    if constexpr (kCompensated)
      return std::isfinite(sum) ? sum + lost : sum;
    else
      return sum;
  }
};

template <class T, class Fold>
void scan_with(const ScanAttr& scan, const Value& x, Value& out, int threads) {
  const auto axis = static_cast<std::size_t>(scan.axis);
  const std::int64_t outer = product(x.extents, 0, axis), length = x.extents[axis];
  const std::int64_t inner = product(x.extents, axis + 1, x.extents.size());
  const Scan<T, Fold> work{reinterpret_cast<const T*>(x.data),
                           reinterpret_cast<T*>(out.writable),
                           length,
                           inner,
                           scan.exclusive,
                           scan.reverse};
  const std::int64_t width = std::min<std::int64_t>(std::max<std::int64_t>(inner, 1), 64);
  const std::int64_t tiles = (inner + width - 1) / width;
  parallel_for(outer * tiles, grain_of(length * width), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t first = unit % tiles * width;
      work.columns(unit / tiles, first, std::min(inner, first + width));
    }
  });
}

template <class T>
void scan_typed(const ScanAttr& scan, const Value& x, Value& out, int threads) {
  using Arithmetic = std::conditional_t<std::is_same_v<T, double>, double, Word>;  // integers wrap
  switch (scan.op) {
    case ScanOp::sum: return scan_with<Arithmetic, FoldSum<Arithmetic>>(scan, x, out, threads);
    case ScanOp::prod: return scan_with<Arithmetic, FoldProduct<Arithmetic>>(scan, x, out, threads);
    case ScanOp::max: return scan_with<T, FoldMax<T>>(scan, x, out, threads);
    case ScanOp::min: return scan_with<T, FoldMin<T>>(scan, x, out, threads);
  }
}

/// Steps o in [0, count) with 0 <= o * stride + start < extent, as a range.
std::pair<std::int64_t, std::int64_t> inside(std::int64_t start, std::int64_t stride, std::int64_t extent,
                                             std::int64_t count) {
  const std::int64_t from = start >= 0 ? 0 : (-start + stride - 1) / stride;
  const std::int64_t to = start >= extent ? 0 : (extent - start + stride - 1) / stride;
  return {std::min(from, count), std::max(std::min(from, count), std::min(to, count))};
}

/// Pooling of one row of outputs along the last axis. Window rows are summed before they are added up, so a large
/// window loses no more than a few units in the last place.
template <class T, class Fold>
class PoolRows {
 public:
  PoolRows(const PoolAttr& pool, const Value& x, Value& out)
      : pool_(pool),
        x_(reinterpret_cast<const T*>(x.data)),
        out_(reinterpret_cast<T*>(out.writable)),
        rank_(pool.kernel.size()),
        in_(x.extents.end() - static_cast<std::ptrdiff_t>(rank_), x.extents.end()),
        result_(out.extents.end() - static_cast<std::ptrdiff_t>(rank_), out.extents.end()),
        strides_(row_major_strides(in_)) {
    window_rows_ = element_count(Extents(pool.kernel.begin(), pool.kernel.end() - 1));
    plane_ = element_count(in_);
  }
  std::int64_t row_length() const { return result_.back(); }
  std::int64_t row_work() const { return row_length() * window_rows_ * pool_.kernel.back(); }

  void row(std::int64_t index) const {
    const std::int64_t width = row_length();
    std::vector<T> part(static_cast<std::size_t>(width));
    T* out = out_ + index * width;
    std::fill_n(out, width, Fold::start);
    std::int64_t left = index;
    Extents origin(rank_, 0);  // of the window in the leading axes
    for (std::size_t d = rank_ - 1; d-- > 0;) {
      origin[d] = left % result_[d] * pool_.stride[d] - pool_.padding[d];
      left /= result_[d];
    }
    for (std::int64_t w = 0; w < window_rows_; ++w) {
      std::int64_t rest = w, offset = left * plane_;
      bool valid = true;
      for (std::size_t d = rank_ - 1; d-- > 0;) {
        const std::int64_t at = origin[d] + rest % pool_.kernel[d] * pool_.dilation[d];
        rest /= pool_.kernel[d];
        valid = valid && at >= 0 && at < in_[d];
        offset += at * strides_[d];
      }
      if (!valid) continue;
      std::fill(part.begin(), part.end(), Fold::start);
      window_row(x_ + offset, part.data());
      for (std::int64_t j = 0; j < width; ++j) out[j] = Fold::fold(out[j], part[static_cast<std::size_t>(j)]);
    }
  }

 private:
  void window_row(const T* in, T* part) const {
    const std::int64_t stride = pool_.stride.back();
    for (std::int64_t k = 0; k < pool_.kernel.back(); ++k) {
      const std::int64_t start = k * pool_.dilation.back() - pool_.padding.back();
      const auto [from, to] = inside(start, stride, in_.back(), row_length());
      for (std::int64_t j = from; j < to; ++j) part[j] = Fold::fold(part[j], in[start + j * stride]);
    }
  }

  const PoolAttr& pool_;
  const T* x_;
  T* out_;
  std::size_t rank_;
  Extents in_, result_, strides_;
  std::int64_t window_rows_ = 1, plane_ = 1;
};

template <class T, class Fold>
void pool_with(const PoolAttr& pool, const Value& x, Value& out, int threads) {
  if (out.count() == 0) return;
  const PoolRows<T, Fold> rows(pool, x, out);
  parallel_for(out.count() / rows.row_length(), grain_of(rows.row_work()), threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) rows.row(row);
               });
}

template <class T, class Fold>
void adaptive_with(const AdaptivePoolAttr& pool, const Value& x, Value& out, int threads) {
  if (out.count() == 0) return;
  const auto rank = static_cast<std::ptrdiff_t>(pool.rank);
  const Extents in(x.extents.end() - rank, x.extents.end()), result(out.extents.end() - rank, out.extents.end());
  const Extents strides = row_major_strides(in);
  const std::int64_t plane = element_count(in);
  const auto* source = reinterpret_cast<const T*>(x.data);
  auto* to = reinterpret_cast<T*>(out.writable);
  const auto one = [&](std::int64_t position) {
    Extents first(in.size()), extent(in.size());
    std::int64_t left = position;
    for (std::size_t d = in.size(); d-- > 0;) {
      const std::int64_t i = left % result[d];
      left /= result[d];
      first[d] = i * in[d] / result[d];
      extent[d] = ((i + 1) * in[d] + result[d] - 1) / result[d] - first[d];
    }
    T value = Fold::start;
    const std::int64_t rows = product(extent, 0, extent.size() - 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t rest = r, offset = left * plane + first.back();
      for (std::size_t d = in.size() - 1; d-- > 0;) {
        offset += (first[d] + rest % extent[d]) * strides[d];
        rest /= extent[d];
      }
      value = Fold::fold(value, fold_run<Fold>(source + offset, extent.back()));
    }
    to[position] = value;
  };
  const std::int64_t work = std::max<std::int64_t>(1, plane / std::max<std::int64_t>(1, element_count(result)));
  parallel_for(out.count(), grain_of(work), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t position = begin; position < end; ++position) one(position);
  });
}

}  // namespace

void run_scan(const ScanAttr& scan, const Value& x, Value& out, int threads) {
  if (x.storage == DType::f64)
    scan_typed<double>(scan, x, out, threads);
  else
    scan_typed<Int>(scan, x, out, threads);
}

void run_pool(const PoolAttr& pool, const Value& x, Value& out, int threads) {
  const bool floating = x.storage == DType::f64, max = pool.op == PoolOp::max;
  if (floating)
    (max ? pool_with<double, FoldMax<double>> : pool_with<double, FoldSum<double>>)(pool, x, out, threads);
  else
    (max ? pool_with<Int, FoldMax<Int>> : pool_with<Word, FoldSum<Word>>)(pool, x, out, threads);
}

void run_adaptive_pool(const AdaptivePoolAttr& pool, const Value& x, Value& out, int threads) {
  const bool floating = x.storage == DType::f64, max = pool.op == PoolOp::max;
  if (floating)
    (max ? adaptive_with<double, FoldMax<double>> : adaptive_with<double, FoldSum<double>>)(pool, x, out, threads);
  else
    (max ? adaptive_with<Int, FoldMax<Int>> : adaptive_with<Word, FoldSum<Word>>)(pool, x, out, threads);
}

}  // namespace kerf::ir::eval
