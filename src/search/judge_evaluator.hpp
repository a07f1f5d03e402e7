#pragma once
// The judge as a search uses it: short measurements while searching, a fresh judge with the full budget for the
// finalists.

#include <memory>
#include <shared_mutex>

#include "judge/judge.hpp"
#include "model/task.hpp"
#include "search/evaluator.hpp"

namespace kerf {

class JudgeEvaluator final : public Evaluator {
 public:
  /// `options` are those of the final measurements. `references`: baseline times of an earlier part of the run, or
  /// empty.
  JudgeEvaluator(const Task& task, const JudgeTools& tools, const JudgeOptions& options, Judge::References references);

  Result<std::optional<Inspection>> inspect(const Candidate& candidate, const Bindings& tunables) override;
  Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort,
                              Observer& observer) override;
  Result<PairedOutcome> compare(const PairedKernel& ours, const PairedKernel& theirs, Effort effort) override;
  Result<std::optional<Counters>> count(const Candidate& candidate, const Bindings& tunables) override;
  Result<Tuned> tune(const Candidate& candidate, int trials, std::uint64_t seed, const OnTrial& on_trial,
                     const std::function<bool()>& go_on, Observer& observer) override;

  /// The judge for this effort; opened when it is first needed, and the other one closed (finals have their own).
  Result<Judge*> judge(Effort effort, Observer& observer);

 private:
  Status open(bool final, Observer& observer);

  const Task& task_;
  JudgeTools tools_;
  JudgeOptions options_;
  Judge::References references_;
  std::shared_mutex in_use_;  // shared while something is compiled, alone while judge_ changes
  std::unique_ptr<Judge> judge_;
  bool final_ = false;  // judge_ is for finals
};

/// Baseline times of a measured evaluation, by shape.
Judge::References references_of(const Evaluation& evaluation);

/// Shorter than `full`: enough to tell good from bad.
MeasureOptions search_pace(const MeasureOptions& full);
/// For what is presented: the whole time limit, where the wished noise takes it.
MeasureOptions final_pace(const MeasureOptions& full);
/// In between: for kernels whose first figures leave it open whether they are better.
MeasureOptions careful_pace(const MeasureOptions& full);

}  // namespace kerf
