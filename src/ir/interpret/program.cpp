#include "ir/interpret/program.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kerf::ir::eval {
namespace {

/// Row-major position as an index per axis; steps through the rows of the last axis.
class Odometer {
 public:
  Odometer(const Extents& extents, std::int64_t position) : extents_(extents), index_(extents.size(), 0) {
    for (std::size_t d = extents.size(); d-- > 0;) {
      index_[d] = position % extents[d];
      position /= extents[d];
    }
  }
  std::int64_t operator[](std::size_t d) const { return index_[d]; }
  /// Elements left in the row of the last axis.
  std::int64_t row_left() const { return extents_.back() - index_.back(); }
  /// Moves on by `n` <= row_left().
  void advance(std::int64_t n) {
    index_.back() += n;
    for (std::size_t d = extents_.size(); d-- > 1 && index_[d] == extents_[d];) {
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

 private:
  const Extents& extents_;
  Extents index_;
};

/// Calls row(done, offset, stride, n) for the pieces of [begin, begin + n) in which the walk steps evenly.
template <class Row>
void for_rows(const Walk& walk, std::int64_t begin, std::int64_t n, Row row) {
  if (walk.extents.empty()) return row(std::int64_t{0}, walk.base, std::int64_t{0}, n);
  Odometer at(walk.extents, begin);
  const std::int64_t stride = walk.strides.back();
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t length = std::min(n - done, at.row_left());
    std::int64_t offset = walk.base;
    for (std::size_t d = 0; d < walk.extents.size(); ++d) offset += at[d] * walk.strides[d];
    row(done, offset, stride, length);
    at.advance(length);
    done += length;
  }
}

/// The offsets themselves: for walks whose rows are too short to be worth a call each.
void walk_offsets(const Walk& walk, std::int64_t begin, std::int64_t n, std::int64_t* offsets) {
  for_rows(walk, begin, n, [&](std::int64_t done, std::int64_t offset, std::int64_t stride, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) offsets[done + i] = offset + i * stride;
  });
}

template <class T>
void pick_lanes(const std::byte* source, const std::int64_t* offsets, std::int64_t n, void* out) {
  const T* in = reinterpret_cast<const T*>(source);
  T* result = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) result[i] = in[offsets[i]];
}

void run_load(const Kernels& kernels, const Walk& walk, DType storage, const std::byte* source, std::int64_t begin,
              std::int64_t n, std::byte* out) {
  constexpr std::int64_t kShortRow = 24;
  if (!walk.extents.empty() && walk.extents.back() < kShortRow) {
    std::int64_t offsets[kBlock];
    walk_offsets(walk, begin, n, offsets);
    const std::size_t size = dtype_size(storage);
    if (size == 8) return pick_lanes<std::int64_t>(source, offsets, n, out);
    alignas(64) std::byte narrow[4 * kBlock];  // picked as it is, then widened in one go
    if (size == 4)
      pick_lanes<std::int32_t>(source, offsets, n, narrow);
    else if (size == 2)
      pick_lanes<std::int16_t>(source, offsets, n, narrow);
    else
      pick_lanes<std::int8_t>(source, offsets, n, narrow);
    return kernels.load(storage, narrow, 0, 1, n, out);
  }
  for_rows(walk, begin, n, [&](std::int64_t done, std::int64_t offset, std::int64_t stride, std::int64_t length) {
    kernels.load(storage, source, offset, stride, length, out + done * kLane);
  });
}

void run_iota(const Kernels& kernels, const Walk& walk, bool floating, std::int64_t begin, std::int64_t n,
              std::byte* out) {
  for_rows(walk, begin, n, [&](std::int64_t done, std::int64_t offset, std::int64_t stride, std::int64_t length) {
    kernels.ramp(floating, offset, stride, length, out + done * kLane);
  });
}

std::int64_t floor_mod(std::int64_t a, std::int64_t m) { return ((a % m) + m) % m; }

/// Steps i >= 0 for which low <= start + i * step < high, clipped to [0, n): as a range.
std::pair<std::int64_t, std::int64_t> steps_inside(std::int64_t start, std::int64_t step, std::int64_t low,
                                                   std::int64_t high, std::int64_t n) {
  if (step == 0) return start >= low && start < high ? std::pair{std::int64_t{0}, n} : std::pair{n, n};
  if (step < 0) return steps_inside(-start, -step, -high + 1, -low + 1, n);
  const auto first_at_least = [&](std::int64_t bound) {
    return start >= bound ? std::int64_t{0} : (bound - start + step - 1) / step;
  };
  const std::int64_t from = std::min(n, first_at_least(low));
  return {from, std::max(from, std::min(n, first_at_least(high)))};
}

void fill_lanes(bool floating, double value, std::int64_t n, std::byte* out) {
  const std::int64_t bits = floating ? std::bit_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  std::fill_n(reinterpret_cast<std::int64_t*>(out), n, bits);
}

void run_gather(const Kernels& kernels, const GatherAccess& access, bool floating, DType storage,
                const std::byte* source, std::int64_t begin, std::int64_t n, std::byte* out) {
  Extents iteration = access.iteration;
  if (iteration.empty()) iteration.push_back(1);
  const std::size_t inner = iteration.size() - 1;
  const auto coefficient = [&](const GatherAccess::Axis& axis, std::size_t a) {
    return a < axis.index.coefficients.size() ? axis.index.coefficients[a] : 0;
  };
  Odometer at(iteration, begin);
  for (std::int64_t done = 0; done < n;) {
    std::int64_t length = std::min(n - done, at.row_left());
    // The longest piece without a wrap, then the part of it that lies inside.
    std::int64_t offset = 0, stride = 0, from = 0, to = length;
    Extents starts;
    for (const auto& axis : access.axes) {
      std::int64_t start = axis.index.offset;
      for (std::size_t a = 0; a <= inner; ++a) start += coefficient(axis, a) * at[a];
      if (axis.modulo != 0) {
        start = floor_mod(start, axis.modulo);
        const auto [first, last] = steps_inside(start, coefficient(axis, inner), 0, axis.modulo, length);
        length = std::max<std::int64_t>(1, last - first);
      }
      starts.push_back(start);
      offset += start * axis.stride;
      stride += coefficient(axis, inner) * axis.stride;
    }
    to = length;
    if (access.fill) {
      for (std::size_t d = 0; d < access.axes.size(); ++d) {
        const auto [first, last] =
            steps_inside(starts[d], coefficient(access.axes[d], inner), 0, access.axes[d].extent, length);
        from = std::max(from, first);
        to = std::min(to, last);
      }
      to = std::max(from, to);
      fill_lanes(floating, *access.fill, from, out + done * kLane);
      fill_lanes(floating, *access.fill, length - to, out + (done + to) * kLane);
    }
    kernels.load(storage, source, offset + from * stride, stride, to - from, out + (done + from) * kLane);
    at.advance(length);
    done += length;
  }
}

}  // namespace

ProgramRun::ProgramRun(const Program& program, std::span<const std::byte* const> sources,
                       std::span<std::byte* const> stores)
    : program_(program),
      kernels_(kernels()),
      sources_(sources.begin(), sources.end()),
      stores_(stores.begin(), stores.end()),
      scratch_(static_cast<std::size_t>(program.slots) * kBlock * kLane + 64),
      registers_(program.places.size()) {
  auto* aligned = scratch_.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch_.data()) % 64);
  for (std::size_t r = 0; r < registers_.size(); ++r)
    if (program.places[r].slot >= 0) registers_[r] = aligned + program.places[r].slot * kBlock * kLane;
  for (const auto& uniform : program.uniforms) {
    std::byte* lanes = registers_[static_cast<std::size_t>(uniform.reg)];
    if (uniform.source < 0) {
      std::fill_n(reinterpret_cast<std::int64_t*>(lanes), kBlock, uniform.bits);
    } else {
      const auto source = static_cast<std::size_t>(uniform.source);
      kernels_.load(program.sources[source].storage, sources_[source], uniform.offset, 0, kBlock, lanes);
    }
  }
}

const void* ProgramRun::result(std::size_t index) const {
  return registers_[static_cast<std::size_t>(program_.results[index])];
}

void ProgramRun::run(std::int64_t begin, std::int64_t n) {
  for (std::size_t r = 0; r < registers_.size(); ++r) {
    const Program::Place& place = program_.places[r];
    if (place.source >= 0)
      registers_[r] =
          const_cast<std::byte*>(sources_[static_cast<std::size_t>(place.source)]) + (place.offset + begin) * kLane;
    else if (place.store >= 0)
      registers_[r] = stores_[static_cast<std::size_t>(place.store)] + begin * kLane;
  }
  for (const auto& operation : program_.operations) execute(operation, begin, n);
}

void ProgramRun::execute(const Operation& operation, std::int64_t begin, std::int64_t n) {
  const auto lanes = [&](int reg) { return reg < 0 ? nullptr : registers_[static_cast<std::size_t>(reg)]; };
  const auto detail = static_cast<std::size_t>(operation.detail);
  std::byte* out = lanes(operation.out);
  switch (operation.kind) {
    case Operation::Kind::map:
      return kernels_.map(operation.op, operation.floating, n, lanes(operation.in[0]), lanes(operation.in[1]),
                          lanes(operation.in[2]), out);
    case Operation::Kind::convert: return kernels_.convert(operation.conversion, n, lanes(operation.in[0]), out);
    case Operation::Kind::load: {
      const LoadAccess& access = program_.loads[detail];
      const auto source = static_cast<std::size_t>(access.source);
      return run_load(kernels_, access.walk, program_.sources[source].storage, sources_[source], begin, n, out);
    }
    case Operation::Kind::gather: {
      const GatherAccess& access = program_.gathers[detail];
      const auto source = static_cast<std::size_t>(access.source);
      return run_gather(kernels_, access, operation.floating, program_.sources[source].storage, sources_[source], begin,
                        n, out);
    }
    case Operation::Kind::iota: return run_iota(kernels_, program_.iotas[detail], operation.floating, begin, n, out);
    case Operation::Kind::store: {
      const bool boolean = program_.stores[detail].storage == DType::boolean;
      const void* in = lanes(operation.in[0]);
      if (boolean) return kernels_.store_bool(in, n, stores_[detail] + begin);
      std::memcpy(stores_[detail] + begin * kLane, in, static_cast<std::size_t>(n) * kLane);
      return;
    }
  }
}

}  // namespace kerf::ir::eval
