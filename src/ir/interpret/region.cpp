#include "ir/interpret/region.hpp"

#include <algorithm>
#include <cstring>

#include "base/parallel.hpp"

namespace kerf::ir::eval {
namespace {

/// How [outer, reduce, inner] is cut into units of work. A unit owns whole outer rows, or a range of `reduce` for a
/// range of `inner` of one outer row; ranges of `reduce` give partial results that are merged in order.
struct Tiling {
  Split split;
  std::int64_t outers = 0;  ///< whole outer rows per unit; 0 when a row is larger than a block
  std::int64_t width = 1;   ///< inner positions per block
  std::int64_t rows = 1;    ///< reduce positions per block
  std::int64_t tiles = 1;   ///< units along inner
  std::int64_t chunks = 1;  ///< units along reduce
  std::int64_t chunk = 1;   ///< reduce positions per unit
  std::int64_t units = 0;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Tiling make_tiling(const Split& split) {
  constexpr std::int64_t kUnits = 256;             // enough for every core to get an equal share
  constexpr std::int64_t kMinChunk = 16 * kBlock;  // positions, so that merging costs nothing
  Tiling tiling;
  tiling.split = split;
  const std::int64_t row = split.reduce * split.inner;
  if (row <= kBlock) {
    tiling.outers = std::max<std::int64_t>(1, kBlock / std::max<std::int64_t>(1, row));
    tiling.units = divide_up(split.outer, tiling.outers);
    return tiling;
  }
  tiling.width = std::min(split.inner, kBlock);
  tiling.rows = std::max<std::int64_t>(1, kBlock / tiling.width);
  tiling.tiles = divide_up(split.inner, tiling.width);
  const std::int64_t wanted = divide_up(kUnits, std::max<std::int64_t>(1, split.outer * tiling.tiles));
  const std::int64_t longest = std::max<std::int64_t>(1, split.reduce * tiling.width / kMinChunk);
  tiling.chunk = divide_up(divide_up(split.reduce, std::min(wanted, longest)), tiling.rows) * tiling.rows;
  tiling.chunks = std::max<std::int64_t>(1, divide_up(split.reduce, tiling.chunk));
  tiling.units = split.outer * tiling.tiles * tiling.chunks;
  return tiling;
}

/// Lanes to storage.
void write_lanes(const void* lanes, std::int64_t n, const RegionBuffers::Target& target, std::int64_t position) {
  if (target.storage == DType::boolean)
    kernels().store_bool(lanes, n, target.data + position);
  else
    std::memcpy(target.data + position * kLane, lanes, static_cast<std::size_t>(n * kLane));
}

/// Partial states of one reduction: [chunk][outer * inner] lanes each.
struct Partial {
  std::shared_ptr<std::byte> block;  // shared only because Memory hands it out so
  std::byte* first = nullptr;
  std::byte* second = nullptr;
};

class Pass {
 public:
  Pass(const RegionStep& step, const RegionBuffers& buffers, const Tiling& tiling, std::vector<Partial> partials)
      : step_(step), buffers_(buffers), tiling_(tiling), partials_(std::move(partials)) {}

  void run_units(std::int64_t begin, std::int64_t end) const {
    ProgramRun run(step_.program, buffers_.sources, buffers_.stores);
    std::vector<std::int64_t> state(step_.reductions.size() * 2 * kBlock);
    for (std::int64_t unit = begin; unit < end; ++unit) {
      if (tiling_.outers > 0)
        whole_rows(run, state, unit);
      else
        part_of_row(run, state, unit);
    }
  }

  void merge(std::int64_t begin, std::int64_t end) const {
    const std::int64_t results = tiling_.split.outer * tiling_.split.inner;
    for (std::size_t i = 0; i < step_.reductions.size(); ++i) {
      const Reduction& r = step_.reductions[i];
      const Partial& partial = partials_[i];
      const std::int64_t n = end - begin;
      for (std::int64_t c = 1; c < tiling_.chunks; ++c) {
        const std::int64_t from = (c * results + begin) * kLane;
        reduction_merge(r.op, r.floating, n, partial.first + from, partial.second + from, partial.first + begin * kLane,
                        partial.second + begin * kLane);
      }
      reduction_end(r.op, r.floating, n, partial.first + begin * kLane, partial.second + begin * kLane);
      write_lanes(partial.first + begin * kLane, n, buffers_.reductions[i], begin);
    }
  }

 private:
  static std::int64_t* first(std::vector<std::int64_t>& state, std::size_t i) { return state.data() + i * 2 * kBlock; }
  static std::int64_t* second(std::vector<std::int64_t>& state, std::size_t i) { return first(state, i) + kBlock; }

  void whole_rows(ProgramRun& run, std::vector<std::int64_t>& state, std::int64_t unit) const {
    const auto& [outer, reduce, inner] = tiling_.split;
    const std::int64_t row = reduce * inner;
    const std::int64_t begin = unit * tiling_.outers;
    const std::int64_t n = std::min(tiling_.outers, outer - begin);
    run.run(begin * row, n * row);
    for (std::size_t i = 0; i < step_.reductions.size(); ++i) {
      const Reduction& r = step_.reductions[i];
      const auto* lanes = static_cast<const std::byte*>(run.result(i));
      reduction_begin(r.op, r.floating, n * inner, first(state, i), second(state, i));
      for (std::int64_t o = 0; o < n; ++o)
        kernels().accumulate(r.op, r.floating, lanes + o * row * kLane, reduce, inner, 0, first(state, i) + o * inner,
                             second(state, i) + o * inner);
      reduction_end(r.op, r.floating, n * inner, first(state, i), second(state, i));
      write_lanes(first(state, i), n * inner, buffers_.reductions[i], begin * inner);
    }
  }

  void part_of_row(ProgramRun& run, std::vector<std::int64_t>& state, std::int64_t unit) const {
    const auto& [outer, reduce, inner] = tiling_.split;
    const std::int64_t chunk = unit % tiling_.chunks;
    const std::int64_t tile = unit / tiling_.chunks % tiling_.tiles;
    const std::int64_t o = unit / tiling_.chunks / tiling_.tiles;
    const std::int64_t inner_begin = tile * tiling_.width;
    const std::int64_t width = std::min(tiling_.width, inner - inner_begin);
    const std::int64_t end = std::min(reduce, (chunk + 1) * tiling_.chunk);
    for (std::size_t i = 0; i < step_.reductions.size(); ++i)
      reduction_begin(step_.reductions[i].op, step_.reductions[i].floating, width, first(state, i), second(state, i));
    for (std::int64_t r = chunk * tiling_.chunk; r < end; r += tiling_.rows) {
      const std::int64_t rows = std::min(tiling_.rows, end - r);
      run.run((o * reduce + r) * inner + inner_begin, rows * width);
      for (std::size_t i = 0; i < step_.reductions.size(); ++i)
        kernels().accumulate(step_.reductions[i].op, step_.reductions[i].floating, run.result(i), rows, width, r,
                             first(state, i), second(state, i));
    }
    for (std::size_t i = 0; i < step_.reductions.size(); ++i) {
      const Reduction& r = step_.reductions[i];
      const std::int64_t position = o * inner + inner_begin;
      if (tiling_.chunks == 1) {
        reduction_end(r.op, r.floating, width, first(state, i), second(state, i));
        write_lanes(first(state, i), width, buffers_.reductions[i], position);
      } else {
        const std::int64_t to = (chunk * outer * inner + position) * kLane;
        std::memcpy(partials_[i].first + to, first(state, i), static_cast<std::size_t>(width * kLane));
        std::memcpy(partials_[i].second + to, second(state, i), static_cast<std::size_t>(width * kLane));
      }
    }
  }

  const RegionStep& step_;
  const RegionBuffers& buffers_;
  const Tiling& tiling_;
  std::vector<Partial> partials_;
};

/// Reductions over no elements.
void write_empty(const RegionStep& step, const RegionBuffers& buffers) {
  for (std::size_t i = 0; i < step.reductions.size(); ++i) {
    const Reduction& r = step.reductions[i];
    for (std::int64_t position = 0; position < step.split.outer * step.split.inner; ++position) {
      std::int64_t first = 0, second = 0;
      reduction_begin(r.op, r.floating, 1, &first, &second);
      write_lanes(&first, 1, buffers.reductions[i], position);
    }
  }
}

}  // namespace

Status run_region(const RegionStep& step, const RegionBuffers& buffers, Memory& memory, int threads) {
  if (step.count == 0) {
    write_empty(step, buffers);
    return {};
  }
  const Tiling tiling = make_tiling(step.split);
  const std::int64_t results = step.split.outer * step.split.inner;
  std::vector<Partial> partials(step.reductions.size());
  if (tiling.chunks > 1)
    for (auto& partial : partials) {
      const std::int64_t bytes = tiling.chunks * results * kLane;
      KERF_TRY(partial.block, memory.allocate(2 * bytes, "partial results of a reduction"));
      partial.first = partial.block.get();
      partial.second = partial.first + bytes;
    }
  const Pass pass(step, buffers, tiling, std::move(partials));
  // A thread is worth starting for some tens of microseconds of work.
  constexpr std::int64_t kWork = 200'000;
  const std::int64_t unit_work = std::max<std::int64_t>(1, step.count / tiling.units * step.program.cost);
  parallel_for(tiling.units, std::max<std::int64_t>(1, kWork / unit_work), threads,
               [&](std::int64_t begin, std::int64_t end) { pass.run_units(begin, end); });
  if (tiling.chunks > 1)
    parallel_for(results, std::max<std::int64_t>(1, kWork / (4 * tiling.chunks)), threads,
                 [&](std::int64_t begin, std::int64_t end) { pass.merge(begin, end); });
  return {};
}

Status reduce_buffer(ReduceOp op, bool floating, const std::byte* source, const Split& split,
                     const RegionBuffers::Target& target, Memory& memory, int threads) {
  RegionStep step;
  step.count = split.outer * split.reduce * split.inner;
  step.split = split;
  step.program.sources.push_back({0, floating ? DType::f64 : DType::i64});
  step.program.places.push_back({-1, 0, 0, -1});
  step.program.results.push_back(0);
  step.reductions.push_back({0, op, floating, {}});
  return run_region(step, {{source}, {}, {target}}, memory, threads);
}

}  // namespace kerf::ir::eval
