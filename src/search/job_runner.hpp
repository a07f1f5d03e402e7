#pragma once
// Does the jobs of a search on threads of this process: one lane for the device, some for compilers, some for each slow
// mind. So the device never waits for a model, and nothing is timed beside another timing.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "search/job.hpp"

namespace kerf {

/// `submit` and `wait` are for one thread; jobs run on others. Jobs of one lane run in the order they were submitted.
class JobRunner {
 public:
  /// All borrowed for the life of the runner. `tuning_goes_on` is asked before every quick timing, on the device's
  /// lane.
  JobRunner(Evaluator& evaluator, std::span<Proposer* const> minds, int build_lanes,
            std::function<bool()> tuning_goes_on);
  /// Gives up questions under way and waits for all other jobs.
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  void submit(std::int64_t ticket, Job job);
  /// The next message, in the order they were reported; none when there is none within `limit`.
  std::optional<JobMessage> wait(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kerf
