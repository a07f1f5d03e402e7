#pragma once
// The kernel of a run that a command is about.

#include <string>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "run/run_view.hpp"

namespace kerf {

struct ChosenKernel {
  std::int64_t step = 0;
  Candidate candidate;
  Bindings tunables;
};

/// The named step ("": the best), which must have passed every gate, with its kernel and values.
Result<ChosenKernel> choose_kernel(const RunView& run, const std::string& step);

}  // namespace kerf
