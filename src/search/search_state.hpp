#pragma once
// Everything a search knows, as a function of the steps so far: replaying them rebuilds it after any interruption.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "archive/speedup_estimates.hpp"
#include "base/result.hpp"
#include "model/candidate.hpp"
#include "propose/proposer.hpp"
#include "search/policy.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// Quick timings of values of one step's tunables.
struct Tuning {
  int trials = 0;
  bool finished = false;  ///< its best was judged
  Bindings best;          ///< of the trials so far
  double best_log_us = 0;
};

class SearchState {
 public:
  SearchState(std::unique_ptr<Policy> policy, const ArchiveOptions& archive);

  /// Takes the step in: archive, policy, counters. Fills its `decision` and `kept`, unless it is replayed and has them.
  Decision observe(Step& step);

  std::int64_t next_number() const { return static_cast<std::int64_t>(steps_.size()) + 1; }
  const std::vector<Step>& steps() const { return steps_; }
  const Step& step(std::int64_t number) const { return steps_.at(static_cast<std::size_t>(number - 1)); }
  const Archive& archive() const { return archive_; }
  const SpeedupEstimates& estimates() const { return estimates_; }
  Policy& policy() { return *policy_; }

  int evaluations() const { return evaluations_; }  ///< without duplicates, confirmations and fallbacks
  int duplicates() const { return duplicates_; }
  int failures() const { return failures_; }
  int starts() const { return starts_; }  ///< steps of the first stage
  int asked() const { return asked_; }    ///< steps that minds proposed
  int since_improvement() const { return since_improvement_; }
  double seconds() const { return steps_.empty() ? 0 : steps_.back().seconds; }

  const std::map<std::int64_t, Tuning>& tunings() const { return tunings_; }  ///< by the step they started from
  /// Whether the figures leave open if this is a new best, or better than what its cell holds: worth a longer
  /// measurement.
  bool is_contested(const Evaluation& evaluation, const Cell& cell) const;

  /// The step with this program, by text, before it is compiled.
  std::optional<std::int64_t> step_with_source(const std::string& identity) const;
  /// The step with this compiled code, if any.
  std::optional<std::int64_t> step_with_code(const std::string& code) const;

  /// The step to show as best: the best confirmation if there is one for the present archive, else the best elite. 0:
  /// none.
  std::int64_t best_step() const;
  /// The earliest confirmation of a kernel that is still an elite; the others are measured against it.
  std::optional<std::int64_t> first_confirmation() const;
  /// Confirmation of `step`, if it was made; its number.
  std::optional<std::int64_t> confirmation_of(std::int64_t step) const;

  const Candidate& candidate(std::int64_t step) const { return candidates_.at(static_cast<std::size_t>(step - 1)); }
  KernelRecord record(std::int64_t step) const;  ///< as minds see it
  /// What the tuner timed of the step's kernel, the fastest first; at most `count`.
  std::vector<TimedValues> timed_values(std::int64_t step, std::size_t count) const;
  /// Refused kernels, newest first, the children of `parent` before others; at most `count`.
  std::vector<std::int64_t> failures(std::optional<std::int64_t> parent, std::size_t count) const;

 private:
  std::unique_ptr<Policy> policy_;
  Archive archive_;
  SpeedupEstimates estimates_;
  std::vector<Step> steps_;
  std::vector<Candidate> candidates_;  // parsed, one per step
  std::map<std::string, std::int64_t> sources_;
  std::map<std::string, std::int64_t> codes_;
  std::map<std::int64_t, std::int64_t> confirmations_;  // step to its confirmation
  void observe_trial(const Step& step);
  std::map<std::int64_t, Tuning> tunings_;
  int evaluations_ = 0, duplicates_ = 0, failures_ = 0, starts_ = 0, asked_ = 0, since_improvement_ = 0;
};

}  // namespace kerf
