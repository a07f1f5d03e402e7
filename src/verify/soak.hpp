#pragma once
// Many more calls than a verdict needs, for kernels that are about to be called certified: races and rare errors show.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/rng.hpp"
#include "verify/verify.hpp"

namespace kerf {

struct SoakOptions {
  std::chrono::milliseconds budget{2000};  ///< wall clock; the call under way is finished
  std::int64_t max_calls = 4000;
  bool brief = false;   ///< a part of every verdict: what it finds is refused where that stands
  int max_threads = 0;  ///< threads are drawn up to this; 0: the device does not vary them
  VerifyOptions verify;
};

struct SoakResult {
  std::int64_t calls = 0;          ///< whose results were checked
  std::optional<Refusal> refusal;  ///< of the call after those; a fault replaced the worker
};

/// Calls the kernel on data, slots, patterns and thread counts drawn at random, alone and in batches, and checks every
/// slot. At least one call is made.
Result<SoakResult> soak(Bench& bench, KernelHandle kernel, const std::vector<const oracle::DataSet*>& data, int slots,
                        const std::vector<BufferSpec>& outputs, const SoakOptions& options, Clock& clock, Rng& rng);

}  // namespace kerf
