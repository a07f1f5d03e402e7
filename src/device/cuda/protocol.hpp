#pragma once
// What the judge (bench.cpp) and a GPU worker (worker.cpp) say to each other. Every request starts with a Command,
// every answer with an Answer; text follows where the answer is not `ok`.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/message.hpp"

namespace kerf::cuda {

enum class Command : std::uint32_t {
  setup,        ///< text cubin of the judge's kernels, text cubin of those that scrub local memory, u64 staging bytes;
                ///< descriptor: memfd -> (nothing)
  layout,       ///< u64 red key, sum key, slots, buffers (u64 bytes each) -> (nothing); forgets everything before it
  data_make,    ///< u64 id, arrays (u64 bytes each) -> (nothing)
  data_write,   ///< u64 id, array, offset, staging offset, bytes -> (nothing)
  data_seal,    ///< u64 id, u64 inputs -> (nothing): takes the keyed sums
  data_drop,    ///< u64 id -> (nothing)
  data_draw,    ///< u64 id, array, dtype, count, seed, form, f64 a, b -> (nothing): an input, drawn on the device
  data_oracle,  ///< u64 id, u64 inputs, text cubin, scratch, LaunchNumbers..., outputs (OracleOutput) -> u64 sums
  load,         ///< u64 handle, text cubin, scratch (u64 bytes each), LaunchNumbers... -> (nothing)
  unload,       ///< u64 handle -> (nothing)
  follow,       ///< u64 handle, StepRequest... -> StepAnswer...: all of them in order, without coming back in between
  read,         ///< u64 slot, buffer, offset, staging offset, bytes -> (nothing)
  write,        ///< the same, from the staging memory into a buffer of the slot
  reset,        ///< frees everything but the judge's kernels -> (nothing)
};

enum class Answer : std::uint32_t {
  ok,
  refused,        ///< the device does not do this; the worker is as before. Text: why
  out_of_memory,  ///< the same, out of memory
  broken,         ///< a CUDA error: the context is lost. Text: the driver's words
};

/// One launch with every extent evaluated. `args` index the slot's buffers, then scratch.
struct LaunchNumbers {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::vector<std::uint64_t> args;
};

inline void write(worker::Writer& out, const LaunchNumbers& launch) {
  out.text(launch.kernel);
  for (const auto extent : launch.grid) out.put(extent);
  for (const auto extent : launch.block) out.put(extent);
  out.put(launch.shared_bytes).put<std::uint64_t>(launch.args.size());
  for (const auto arg : launch.args) out.put(arg);
}

inline LaunchNumbers read_launch(worker::Reader& in) {
  LaunchNumbers launch;
  launch.kernel = in.text();
  for (auto& extent : launch.grid) extent = in.get<std::uint64_t>();
  for (auto& extent : launch.block) extent = in.get<std::uint64_t>();
  launch.shared_bytes = in.get<std::uint64_t>();
  launch.args.resize(in.count());
  for (auto& arg : launch.args) arg = in.get<std::uint64_t>();
  return launch;
}

/// Arrays of a data set: inputs, then per output expected values (64-bit words) and bounds (32- or 64-bit floats).
inline std::uint64_t expected_array(std::uint64_t inputs, std::uint64_t output) { return inputs + 2 * output; }
inline std::uint64_t bound_array(std::uint64_t inputs, std::uint64_t output) { return inputs + 2 * output + 1; }

/// Bytes before every buffer, less a drawn shift; behind it at least as many, up to a whole number of pages, so that
/// all memory that is mapped around a buffer is red zone.
inline constexpr std::uint64_t kRedZone = 1 << 20;
inline constexpr std::uint64_t kMostShift = 64 << 10;   ///< of a buffer towards the front, out of its red zone
inline constexpr std::uint64_t kBufferAlignment = 256;  ///< as that of cuMemAlloc
inline constexpr std::uint64_t kPage = 2 << 20;         ///< of device memory

}  // namespace kerf::cuda
