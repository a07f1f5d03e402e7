#pragma once
// The work of a search as values: what is asked of minds, compilers and devices, and what comes back. Several jobs are
// under way at once, and whoever does one needs nothing but its value.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/event.hpp"
#include "propose/proposer.hpp"
#include "search/evaluator.hpp"

namespace kerf {

/// A candidate with values of its tunables.
struct Kernel {
  Candidate candidate;
  Bindings tunables;
};

struct ProposeJob {
  std::string mind;
  ProposalRequest request;
};
/// Compile and describe.
struct InspectJob {
  Kernel kernel;
};
struct EvaluateJob {
  Kernel kernel;
  Effort effort = Effort::search;
};
/// Time two kernels in turn.
struct CompareJob {
  Kernel ours, theirs;
  Effort effort = Effort::search;
};
struct TuneJob {
  Candidate candidate;
  int trials = 0;  ///< at most
  std::uint64_t seed = 0;
};
/// Read the machine's counters over calls of a kernel that was measured.
struct CountJob {
  Kernel kernel;
};
using Job = std::variant<ProposeJob, InspectJob, EvaluateJob, CompareJob, TuneJob, CountJob>;

/// What came of a job, in the order of `Job`'s alternatives.
using JobResult = std::variant<Result<std::optional<Proposal>>, Result<std::optional<Inspection>>, Result<Evaluation>,
                               Result<PairedOutcome>, Result<Tuned>, Result<std::optional<Counters>>>;

/// Something a job reports: a tier it passed, a remark, a quick timing while tuning, or its result, which is the last.
struct JobMessage {
  std::int64_t ticket = 0;  ///< as given when the job was submitted
  std::variant<TierEvent, RunNote, Evaluation, JobResult> content;
};

}  // namespace kerf
