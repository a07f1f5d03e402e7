// Contractions and convolutions as products of matrices with separable addresses (see gemm.hpp).

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.hpp"
#include "ir/interpret/gemm.hpp"
#include "ir/interpret/kernels.hpp"
#include "ir/interpret/nodes.hpp"

namespace kerf::ir::eval {
namespace {

/// Offsets of all index combinations in row-major order, given the offsets along each axis.
std::vector<std::int64_t> combined_offsets(const std::vector<std::vector<std::int64_t>>& axes) {
  std::vector<std::int64_t> all{0};
  for (const auto& axis : axes) {
    std::vector<std::int64_t> next;
    next.reserve(all.size() * axis.size());
    for (const std::int64_t base : all)
      for (const std::int64_t offset : axis) next.push_back(base + offset);
    all = std::move(next);
  }
  return all;
}

std::vector<std::int64_t> even_offsets(std::int64_t count, std::int64_t stride, std::int64_t first = 0) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = first + static_cast<std::int64_t>(i) * stride;
  return offsets;
}

/// One operand's labels with their extents and strides; an extent of 1 repeats.
struct Labelled {
  const std::vector<int>& labels;
  const Extents& extents;
  const Extents& strides;

  bool has(int label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
  std::int64_t extent(int label) const { return has(label) ? extents[place(label)] : 1; }
  std::int64_t stride(int label) const { return has(label) && extent(label) != 1 ? strides[place(label)] : 0; }
  std::size_t place(int label) const {
    return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
};

/// The labels of a contraction by role, and the address tables of each role.
struct Roles {
  std::vector<int> batch, rows, cols, sum;
};

Roles roles_of(const ContractAttr& contract, const Labelled& lhs, const Labelled& rhs) {
  Roles roles;
  for (const int label : contract.out) {
    if (lhs.has(label) && rhs.has(label))
      roles.batch.push_back(label);
    else if (lhs.has(label))
      roles.rows.push_back(label);
    else
      roles.cols.push_back(label);
  }
  std::set<int> seen(contract.out.begin(), contract.out.end());
  for (const auto* labels : {&contract.lhs, &contract.rhs})
    for (const int label : *labels)
      if (seen.insert(label).second) roles.sum.push_back(label);
  return roles;
}

template <class T>
void direct_products(const GemmOperand& a, const GemmOperand& b, const GemmResult<T>& c,
                     std::span<const GemmBatch> batch, int threads) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
  const auto* left = static_cast<const Sum*>(a.data);
  const auto* right = static_cast<const Sum*>(b.data);
  const std::size_t depth = a.cols.size();
  const auto work = static_cast<std::int64_t>(std::max<std::size_t>(1, depth * c.rows.size() * c.cols.size()));
  const auto dot = [&](const Sum* x, const Sum* y) {
    Sum sums[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= depth; k += 4)
      for (std::size_t l = 0; l < 4; ++l) sums[l] += x[a.cols[k + l]] * y[b.rows[k + l]];
    for (; k < depth; ++k) sums[0] += x[a.cols[k]] * y[b.rows[k]];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
  };
  parallel_for(static_cast<std::int64_t>(batch.size()), std::max<std::int64_t>(1, 100'000 / work), threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t t = begin; t < end; ++t) {
                   const GemmBatch& base = batch[static_cast<std::size_t>(t)];
                   for (std::size_t i = 0; i < c.rows.size(); ++i)
                     for (std::size_t j = 0; j < c.cols.size(); ++j)
                       c.data[base.c + c.rows[i] + c.cols[j]] =
                           static_cast<T>(dot(left + base.a + a.rows[i], right + base.b + b.cols[j]));
                 }
               });
}

void multiply(const GemmOperand& a, const GemmOperand& b, const Value& out, std::span<const std::int64_t> rows,
              std::span<const std::int64_t> cols, std::span<const GemmBatch> batch, int threads) {
  const auto lanes = [](DType dtype) { return dtype == DType::f64 || dtype == DType::i64; };
  const bool direct = rows.size() * cols.size() <= 4 && lanes(a.dtype) && lanes(b.dtype);
  if (out.storage == DType::f64) {
    const GemmResult<double> c{reinterpret_cast<double*>(out.writable), rows, cols};
    return direct ? direct_products(a, b, c, batch, threads) : gemm(a, b, c, batch, threads);
  }
  const GemmResult<std::int64_t> c{reinterpret_cast<std::int64_t*>(out.writable), rows, cols};
  return direct ? direct_products(a, b, c, batch, threads) : gemm(a, b, c, batch, threads);
}

}  // namespace

Status run_contract(const ContractAttr& contract, const StridedValue& lhs, const StridedValue& rhs, Value& out,
                    Memory& memory, int threads) {
  const Extents out_strides = row_major_strides(out.extents);
  const Labelled left{contract.lhs, lhs.extents, lhs.strides}, right{contract.rhs, rhs.extents, rhs.strides};
  const Labelled result{contract.out, out.extents, out_strides};
  const Roles roles = roles_of(contract, left, right);
  const auto table = [&](const std::vector<int>& labels, const Labelled& operand) {
    std::vector<std::vector<std::int64_t>> axes;
    for (const int label : labels) {
      const std::int64_t extent =
          result.has(label) ? result.extent(label) : std::max(left.extent(label), right.extent(label));
      const bool empty = (left.has(label) && left.extent(label) == 0) || (right.has(label) && right.extent(label) == 0);
      axes.push_back(even_offsets(empty ? 0 : extent, operand.stride(label)));
    }
    return combined_offsets(axes);
  };
  const auto batch_a = table(roles.batch, left), batch_b = table(roles.batch, right),
             batch_c = table(roles.batch, result);
  std::vector<GemmBatch> batch;
  for (std::size_t i = 0; i < batch_a.size(); ++i)
    batch.push_back({batch_a[i] + lhs.base, batch_b[i] + rhs.base, batch_c[i]});
  const auto a_rows = table(roles.rows, left), a_cols = table(roles.sum, left);
  const auto b_rows = table(roles.sum, right), b_cols = table(roles.cols, right);
  const auto c_rows = table(roles.rows, result), c_cols = table(roles.cols, result);
  Value a = lhs.value, b = rhs.value;
  if (c_rows.size() * c_cols.size() <= 4) {
    KERF_TRY(a, as_lanes(lhs.value, memory, threads));
    KERF_TRY(b, as_lanes(rhs.value, memory, threads));
  }
  multiply({a.data, a.storage, a_rows, a_cols}, {b.data, b.storage, b_rows, b_cols}, out, c_rows, c_cols, batch,
           threads);
  return {};
}

namespace {

/// The convolution's sizes: [batch, groups * channels, spatial...].
struct ConvShape {
  std::size_t rank;
  std::int64_t images, groups, in_channels, out_channels;  // channels per group
  Extents in, kernel, out;                                 // spatial
};

ConvShape shape_of(const ConvAttr& conv, const Value& x, const Value& w, const Value& out) {
  const auto spatial = [](const Value& v) { return Extents(v.extents.begin() + 2, v.extents.end()); };
  // The weight's second axis has the channels of one group.
  const std::int64_t groups = (conv.transposed ? out : x).extents[1] / std::max<std::int64_t>(1, w.extents[1]);
  const std::int64_t divisor = std::max<std::int64_t>(1, groups);
  return {x.extents.size() - 2,     x.extents[0], groups,     x.extents[1] / divisor,
          out.extents[1] / divisor, spatial(x),   spatial(w), spatial(out)};
}

/// x with `before` zeros in front of each spatial axis, `extents` long; x itself when that is what it is.
Result<Value> padded_input(const Value& x, const Extents& before, const Extents& extents, Memory& memory, int threads) {
  const Extents in(x.extents.begin() + 2, x.extents.end());
  const bool unchanged =
      extents == in && std::all_of(before.begin(), before.end(), [](std::int64_t b) { return b == 0; });
  if (unchanged) return x;
  Value padded;
  padded.storage = is_float(x.storage) ? DType::f64 : DType::i64;
  padded.extents = {x.extents[0], x.extents[1]};
  padded.extents.insert(padded.extents.end(), extents.begin(), extents.end());
  KERF_TRY(padded.owner, memory.allocate(padded.count() * 8, "the padded input of a convolution"));
  padded.data = padded.writable = padded.owner.get();
  const std::size_t last = in.size() - 1;
  const std::int64_t rows = padded.count() / std::max<std::int64_t>(1, extents[last]);
  parallel_for(rows, std::max<std::int64_t>(1, 50'000 / std::max<std::int64_t>(1, extents[last])), threads,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   std::int64_t left = row, offset = 0, stride = in[last];
                   bool valid = true;
                   for (std::size_t d = last; d-- > 0;) {
                     const std::int64_t at = left % extents[d] - before[d];
                     left /= extents[d];
                     valid = valid && at >= 0 && at < in[d];
                     offset += at * stride;
                     stride *= in[d];
                   }
                   auto* to = reinterpret_cast<std::int64_t*>(padded.writable) + row * extents[last];
                   const std::int64_t copied =
                       valid ? std::clamp<std::int64_t>(extents[last] - before[last], 0, in[last]) : 0;
                   const std::int64_t front = std::min(before[last], extents[last]);
                   std::fill_n(to, front, 0);
                   kernels().load(x.storage, x.data, left * stride + offset, 1, copied, to + front);
                   std::fill(to + front + copied, to + extents[last], 0);
                 }
               });
  return padded;
}

/// All images and groups as one batch of products of w and the windows of x.
std::vector<GemmBatch> conv_batch(const ConvShape& shape, std::int64_t w_group, std::int64_t x_plane) {
  std::vector<GemmBatch> batch;
  const std::int64_t out_plane = element_count(shape.out);
  for (std::int64_t n = 0; n < shape.images; ++n)
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      const std::int64_t block = n * shape.groups + g;
      batch.push_back({g * w_group, block * shape.in_channels * x_plane, block * shape.out_channels * out_plane});
    }
  return batch;
}

Status run_forward(const ConvAttr& conv, const ConvShape& shape, const Value& x, const Value& w, Value& out,
                   Memory& memory, int threads) {
  Extents extents(shape.rank);
  bool padded = false;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    extents[d] = std::max(shape.in[d] + conv.padding[d],
                          (shape.out[d] - 1) * conv.stride[d] + conv.dilation[d] * (shape.kernel[d] - 1) + 1);
    padded = padded || conv.padding[d] != 0;
  }
  KERF_TRY(const Value input,
           padded_input(x, padded ? Extents(conv.padding) : Extents(shape.rank, 0), extents, memory, threads));
  const std::int64_t plane = element_count(extents), taps = element_count(shape.kernel);
  const Extents strides = row_major_strides(extents);
  std::vector<std::vector<std::int64_t>> tap_axes{even_offsets(shape.in_channels, plane)}, window_axes;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    tap_axes.push_back(even_offsets(shape.kernel[d], conv.dilation[d] * strides[d]));
    window_axes.push_back(even_offsets(shape.out[d], conv.stride[d] * strides[d]));
  }
  const std::int64_t depth = shape.in_channels * taps, out_plane = element_count(shape.out);
  const auto a_rows = even_offsets(shape.out_channels, depth), a_cols = even_offsets(depth, 1);
  const auto b_rows = combined_offsets(tap_axes), b_cols = combined_offsets(window_axes);
  const auto c_rows = even_offsets(shape.out_channels, out_plane), c_cols = even_offsets(out_plane, 1);
  multiply({w.data, w.storage, a_rows, a_cols}, {input.data, input.storage, b_rows, b_cols}, out, c_rows, c_cols,
           conv_batch(shape, shape.out_channels * depth, plane), threads);
  return {};
}

/// The kernel taps that reach outputs o = phase + stride * q along one axis: output q takes input q + shift.
struct Phase {
  std::int64_t outputs = 0;  ///< number of q
  std::vector<std::int64_t> taps, shifts;
};

Phase phase_of(const ConvAttr& conv, const ConvShape& shape, std::size_t d, std::int64_t phase) {
  Phase result;
  const std::int64_t stride = conv.stride[d];
  result.outputs = phase < shape.out[d] ? (shape.out[d] - phase + stride - 1) / stride : 0;
  for (std::int64_t k = 0; k < shape.kernel[d]; ++k) {
    const std::int64_t reach = phase + conv.padding[d] - k * conv.dilation[d];
    if (((reach % stride) + stride) % stride != 0) continue;
    result.taps.push_back(k);
    result.shifts.push_back(reach / stride);
  }
  return result;
}

/// A transposed convolution gathers: outputs with the same remainder by the stride form a plain convolution with stride
/// 1 and a subset of the taps, so no product with an inserted zero is ever computed.
Status run_transposed(const ConvAttr& conv, const ConvShape& shape, const Value& x, const Value& w, Value& out,
                      Memory& memory, int threads) {
  std::vector<std::vector<Phase>> phases(shape.rank);
  Extents before(shape.rank, 0), extents = shape.in;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    for (std::int64_t p = 0; p < conv.stride[d]; ++p) phases[d].push_back(phase_of(conv, shape, d, p));
    for (const Phase& phase : phases[d])
      for (const std::int64_t shift : phase.shifts) {
        if (phase.outputs == 0) continue;
        before[d] = std::max(before[d], -shift);
        extents[d] = std::max(extents[d], phase.outputs + shift);
      }
    extents[d] += before[d];
  }
  KERF_TRY(const Value input, padded_input(x, before, extents, memory, threads));
  const std::int64_t plane = element_count(extents), taps = element_count(shape.kernel);
  const std::int64_t out_plane = element_count(shape.out);
  const Extents strides = row_major_strides(extents), out_strides = row_major_strides(shape.out);
  const Extents kernel_strides = row_major_strides(shape.kernel);
  const auto a_rows = even_offsets(shape.out_channels, taps), c_rows = even_offsets(shape.out_channels, out_plane);
  const auto batch = conv_batch(shape, shape.in_channels * shape.out_channels * taps, plane);
  const Extents phase_counts(conv.stride.begin(), conv.stride.end());
  for (std::int64_t p = 0; p < element_count(phase_counts); ++p) {
    std::vector<std::vector<std::int64_t>> w_axes{even_offsets(shape.in_channels, shape.out_channels * taps)};
    std::vector<std::vector<std::int64_t>> x_axes{even_offsets(shape.in_channels, plane)}, window_axes, out_axes;
    std::int64_t rest = p;
    std::vector<std::int64_t> remainder(shape.rank);
    for (std::size_t d = shape.rank; d-- > 0; rest /= conv.stride[d]) remainder[d] = rest % conv.stride[d];
    for (std::size_t d = 0; d < shape.rank; ++d) {
      const Phase& phase = phases[d][static_cast<std::size_t>(remainder[d])];
      std::vector<std::int64_t> w_offsets, x_offsets;
      for (std::size_t t = 0; t < phase.taps.size(); ++t) {
        w_offsets.push_back(phase.taps[t] * kernel_strides[d]);
        x_offsets.push_back((phase.shifts[t] + before[d]) * strides[d]);
      }
      w_axes.push_back(std::move(w_offsets));
      x_axes.push_back(std::move(x_offsets));
      window_axes.push_back(even_offsets(phase.outputs, strides[d]));
      out_axes.push_back(even_offsets(phase.outputs, conv.stride[d] * out_strides[d], remainder[d] * out_strides[d]));
    }
    const auto a_cols = combined_offsets(w_axes), b_rows = combined_offsets(x_axes);
    const auto b_cols = combined_offsets(window_axes), c_cols = combined_offsets(out_axes);
    multiply({w.data, w.storage, a_rows, a_cols}, {input.data, input.storage, b_rows, b_cols}, out, c_rows, c_cols,
             batch, threads);
  }
  return {};
}

/// The weights, with 0 for those that are not finite; their places in `special`. Null when all are finite.
Result<Value> finite_weights(const Value& w, std::vector<std::int64_t>& special, Memory& memory, int threads) {
  KERF_TRY(const Value lanes, as_lanes(w, memory, threads));
  const auto* from = reinterpret_cast<const double*>(lanes.data);
  for (std::int64_t i = 0; i < w.count(); ++i)
    if (!std::isfinite(from[i])) special.push_back(i);
  if (special.empty()) return w;
  Value clean = lanes;
  KERF_TRY(clean.owner, memory.allocate(w.count() * 8, "the finite weights of a convolution"));
  clean.data = clean.writable = clean.owner.get();
  auto* to = reinterpret_cast<double*>(clean.writable);
  std::copy_n(from, w.count(), to);
  for (const std::int64_t i : special) to[i] = 0;
  return clean;
}

/// Adds what weight `tap` (its place in w) contributes: nothing for outputs that it would reach from outside of the
/// input only.
void add_weight(const ConvAttr& conv, const ConvShape& shape, const double* x, double weight, std::int64_t tap,
                double* out) {
  const std::int64_t taps = element_count(shape.kernel), in_plane = element_count(shape.in),
                     out_plane = element_count(shape.out);
  const std::int64_t filter = tap / taps % shape.out_channels, channel = tap / taps / shape.out_channels;
  const std::int64_t group = channel / shape.in_channels;
  for (std::int64_t image = 0; image < shape.images; ++image)
    for (std::int64_t i = 0; i < in_plane; ++i) {
      std::int64_t rest_i = i, rest_k = tap % taps, place = 0, stride = 1;
      bool inside = true;
      for (std::size_t d = shape.rank; d-- > 0;
           rest_i /= shape.in[d], rest_k /= shape.kernel[d], stride *= shape.out[d]) {
        const std::int64_t o =
            rest_i % shape.in[d] * conv.stride[d] + rest_k % shape.kernel[d] * conv.dilation[d] - conv.padding[d];
        inside = inside && o >= 0 && o < shape.out[d];
        place += o * stride;
      }
      if (inside)
        out[((image * shape.groups + group) * shape.out_channels + filter) * out_plane + place] +=
            x[(image * shape.groups * shape.in_channels + channel) * in_plane + i] * weight;
    }
}

/// One output of a transposed convolution, term by term: only inputs that are there count.
double exact_output(const ConvAttr& conv, const ConvShape& shape, const double* x, const double* w, std::int64_t image,
                    std::int64_t group, std::int64_t filter, std::int64_t place) {
  const std::int64_t taps = element_count(shape.kernel), in_plane = element_count(shape.in);
  double sum = 0;
  for (std::int64_t k = 0; k < taps; ++k) {
    std::int64_t rest_o = place, rest_k = k, i = 0, stride = 1;
    bool inside = true;
    for (std::size_t d = shape.rank; d-- > 0;
         rest_o /= shape.out[d], rest_k /= shape.kernel[d], stride *= shape.in[d]) {
      const std::int64_t distance =
          rest_o % shape.out[d] + conv.padding[d] - rest_k % shape.kernel[d] * conv.dilation[d];
      inside = inside && distance >= 0 && distance % conv.stride[d] == 0 && distance / conv.stride[d] < shape.in[d];
      i += distance / conv.stride[d] * stride;
    }
    if (!inside) continue;
    for (std::int64_t c = 0; c < shape.in_channels; ++c) {
      const std::int64_t channel = group * shape.in_channels + c;
      sum += x[(image * shape.groups * shape.in_channels + channel) * in_plane + i] *
             w[(channel * shape.out_channels + filter) * taps + k];
    }
  }
  return sum;
}

/// Around the input of a transposed convolution there is nothing: infinite weights must not meet the zeros that
/// run_transposed puts there, nor infinite inputs the zeros that stand in for such weights.
Status run_transposed_with_specials(const ConvAttr& conv, const ConvShape& shape, const Value& x, const Value& w,
                                    Value& out, Memory& memory, int threads) {
  std::vector<std::int64_t> special;
  if (!is_float(w.storage) || out.storage != DType::f64) return run_transposed(conv, shape, x, w, out, memory, threads);
  KERF_TRY(const Value clean, finite_weights(w, special, memory, threads));
  KERF_TRY_VOID(run_transposed(conv, shape, x, clean, out, memory, threads));
  if (special.empty()) return {};
  KERF_TRY(const Value from, as_lanes(x, memory, threads));
  KERF_TRY(const Value weights, as_lanes(w, memory, threads));
  const auto* inputs = reinterpret_cast<const double*>(from.data);
  const auto* all = reinterpret_cast<const double*>(weights.data);
  auto* results = reinterpret_cast<double*>(out.writable);
  const std::int64_t taps = element_count(shape.kernel), out_plane = element_count(shape.out);
  std::set<std::pair<std::int64_t, std::int64_t>> planes;  // group and filter of outputs that such a weight reaches
  for (const std::int64_t tap : special) {
    add_weight(conv, shape, inputs, all[tap], tap, results);
    planes.emplace(tap / taps / shape.out_channels / shape.in_channels, tap / taps % shape.out_channels);
  }
  for (const auto& [group, filter] : planes)
    for (std::int64_t image = 0; image < shape.images; ++image) {
      double* plane = results + ((image * shape.groups + group) * shape.out_channels + filter) * out_plane;
      for (std::int64_t place = 0; place < out_plane; ++place)
        if (std::isnan(plane[place]))
          plane[place] = exact_output(conv, shape, inputs, all, image, group, filter, place);
    }
  return {};
}

}  // namespace

Status run_conv(const ConvAttr& conv, const Value& x, const Value& w, Value& out, Memory& memory, int threads) {
  if (out.count() == 0) return {};
  const ConvShape shape = shape_of(conv, x, w, out);
  return (conv.transposed ? run_transposed_with_specials : run_forward)(conv, shape, x, w, out, memory, threads);
}

}  // namespace kerf::ir::eval
