#pragma once
// What a search asks of the judge: a seam, so that the loop can be tested without compilers and devices.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "inspect/descriptors.hpp"
#include "judge/observer.hpp"
#include "judge/paired_timing.hpp"
#include "model/candidate.hpp"
#include "model/counters.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// How much time an evaluation may take: the verdict is the same, the interval is not.
enum class Effort { search, careful, final };

/// The identity of compiled code with its launch plan, and its behaviour.
struct Inspection {
  std::string code;  ///< equal for candidates that run the same instructions in the same launches
  Descriptors descriptors;
};

/// What tuning a candidate came to.
struct Tuned {
  Bindings best;
  Evaluation verdict;  ///< of the best, as from `evaluate`
};
using OnTrial = std::function<void(const Evaluation& trial)>;  ///< a quick timing: it has times, but no speedup

/// `evaluate`, `compare`, `count` and `tune` are for one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Compiles; none when the candidate does not (its evaluation says why). Thread-safe; may run beside all others.
  virtual Result<std::optional<Inspection>> inspect(const Candidate& candidate, const Bindings& tunables) = 0;
  virtual Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort,
                                      Observer& observer) = 0;
  /// Both were measured before with this effort's data.
  virtual Result<PairedOutcome> compare(const PairedKernel& ours, const PairedKernel& theirs, Effort effort) = 0;
  /// What the machine's counters say of a kernel that was measured; none when it fails, Unavailable where nothing can
  /// be counted.
  virtual Result<std::optional<Counters>> count(const Candidate& candidate, const Bindings& tunables) {
    (void)candidate;
    (void)tunables;
    return fail(Errc::unavailable, "nothing is counted here");
  }
  /// Times values of the candidate's tunables quickly, at most `trials` times while `go_on`, then judges the best.
  /// invalid_input when there is nothing to tune.
  virtual Result<Tuned> tune(const Candidate& candidate, int trials, std::uint64_t seed, const OnTrial& on_trial,
                             const std::function<bool()>& go_on, Observer& observer) = 0;
};

}  // namespace kerf
