#pragma once
// The judge as a search uses it: short measurements while searching, a fresh judge with the full budget for the
// finalists.

#include <memory>

#include "model/task.hpp"
#include "search/evaluate.hpp"
#include "search/evaluator.hpp"

namespace kerf {

class JudgeEvaluator final : public Evaluator {
 public:
  /// `options` are those of the final measurements. `references`: baseline times of an earlier part of the run, or
  /// empty.
  JudgeEvaluator(const Task& task, const JudgeTools& tools, const JudgeOptions& options, Judge::References references,
                 Observer& observer);

  Result<std::optional<Inspection>> inspect(const Candidate& candidate, const Bindings& tunables) override;
  Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort) override;
  void prefetch(const std::vector<std::pair<const Candidate*, Bindings>>& next) override;

  /// The judge for this effort; opened when it is first needed, and the other one closed.
  Result<Judge*> judge(Effort effort);

 private:
  const Task& task_;
  JudgeTools tools_;
  JudgeOptions options_;
  Judge::References references_;
  Observer& observer_;
  std::unique_ptr<Judge> judge_;
  Effort effort_ = Effort::search;
};

/// Baseline times of a measured evaluation, by shape.
Judge::References references_of(const Evaluation& evaluation);

/// Shorter than `full`: enough to tell good from bad.
MeasureOptions search_pace(const MeasureOptions& full);

}  // namespace kerf
