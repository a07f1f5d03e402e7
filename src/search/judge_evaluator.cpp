#include "search/judge_evaluator.hpp"

#include <algorithm>

#include "base/rng.hpp"
#include "search/duplicates.hpp"
#include "search/tune.hpp"

namespace kerf {
MeasureOptions search_pace(const MeasureOptions& full) {
  MeasureOptions quick = full;
  quick.time_limit = std::min<std::chrono::milliseconds>(full.time_limit, std::chrono::milliseconds(300));
  quick.max_rounds = std::min(full.max_rounds, 25);
  quick.target_noise = std::max(full.target_noise, 0.02);
  quick.min_baseline_rounds = std::min(full.min_baseline_rounds, 3);
  return quick;
}

MeasureOptions final_pace(const MeasureOptions& full) {
  MeasureOptions all = full;
  all.decided_noise = all.target_noise;
  all.max_rounds = 3 * full.max_rounds;  // what is presented is worth the whole time limit
  all.settle_rounds = all.max_rounds;
  all.precise_baselines = true;  // its ratio is what people read
  return all;
}

MeasureOptions careful_pace(const MeasureOptions& full) {
  MeasureOptions careful = full;
  careful.time_limit = std::min<std::chrono::milliseconds>(full.time_limit, std::chrono::milliseconds(1000));
  careful.target_noise = std::min(full.target_noise, 0.01);
  return careful;
}

Judge::References references_of(const Evaluation& evaluation) {
  Judge::References references;
  if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome))
    for (const ShapeMeasurement& shape : measurement->shapes) references[shape.shape] = shape.baselines;
  return references;
}

JudgeEvaluator::JudgeEvaluator(const Task& task, const JudgeTools& tools, const JudgeOptions& options,
                               Judge::References references)
    : task_(task), tools_(tools), options_(options), references_(std::move(references)) {}

Status JudgeEvaluator::open(bool final, Observer& observer) {
  if (judge_ && final_ == final) return {};
  judge_.reset();  // first: two sets of buffers may not fit on the device
  JudgeOptions options = options_;
  if (final) options.seed = Rng(options_.seed).fork("final").bits();  // data the search never saw
  options.certify = final;
  KERF_TRY(judge_, Judge::open(task_, tools_, options, observer));
  tools_.admitted = true;
  final_ = final;
  if (!final) judge_->set_references(references_);
  return {};
}

Result<Judge*> JudgeEvaluator::judge(Effort effort, Observer& observer) {
  const bool final = effort == Effort::final;
  std::shared_lock shared(in_use_);
  if (!judge_ || final_ != final) {
    shared.unlock();
    const std::unique_lock alone(in_use_);  // waits for what is being compiled
    KERF_TRY_VOID(open(final, observer));
  }
  judge_->set_measure(final                       ? final_pace(options_.measure)
                      : effort == Effort::careful ? careful_pace(options_.measure)
                                                  : search_pace(options_.measure));
  return judge_.get();
}

Result<std::optional<Inspection>> JudgeEvaluator::inspect(const Candidate& candidate, const Bindings& tunables) {
  NullObserver silent;
  std::shared_lock shared(in_use_);
  if (!judge_) {
    shared.unlock();
    {
      const std::unique_lock alone(in_use_);
      if (!judge_) KERF_TRY_VOID(open(false, silent));
    }
    shared.lock();
  }
  KERF_TRY(const auto compiled, judge_->compile(candidate, tunables));
  if (!compiled) return std::optional<Inspection>{};
  Inspection inspection;
  inspection.code = code_identity(candidate.plan, *compiled);
  inspection.descriptors =
      describe(compiled->artifacts[compiled->main], candidate, compiled->constants[compiled->main]);
  return std::optional<Inspection>(std::move(inspection));
}

Result<Evaluation> JudgeEvaluator::evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort,
                                            Observer& observer) {
  KERF_TRY(Judge* const judge, this->judge(effort, observer));
  KERF_TRY(Evaluation evaluation, judge->evaluate(candidate, tunables, observer));
  if (effort != Effort::final && references_.empty() && std::holds_alternative<Measurement>(evaluation.outcome)) {
    references_ = references_of(evaluation);
    judge->set_references(references_);
  }
  return evaluation;
}

Result<PairedOutcome> JudgeEvaluator::compare(const PairedKernel& ours, const PairedKernel& theirs, Effort effort) {
  NullObserver silent;
  KERF_TRY(Judge* const judge, this->judge(effort, silent));
  return judge->compare(ours, theirs);
}

Result<std::optional<Counters>> JudgeEvaluator::count(const Candidate& candidate, const Bindings& tunables) {
  NullObserver silent;
  KERF_TRY(Judge* const judge, this->judge(Effort::search, silent));
  return judge->count(candidate, tunables);
}

Result<Tuned> JudgeEvaluator::tune(const Candidate& candidate, int trials, std::uint64_t seed, const OnTrial& on_trial,
                                   const std::function<bool()>& go_on, Observer& observer) {
  struct Listener final : TuneObserver {
    Evaluation like;
    const OnTrial& heard;
    Observer& observer;
    Listener(Evaluation identity, const OnTrial& hear, Observer& notes)
        : like(std::move(identity)), heard(hear), observer(notes) {}
    void on_trial(const TuneTrial& trial) override { heard(to_record(trial, like)); }
    void on_note(const std::string& text) override { observer.on_note(text); }
  };
  KERF_TRY(Judge* const judge, this->judge(Effort::search, observer));
  Evaluation identity;
  identity.task = task_.name;
  identity.task_id = task_.id;
  identity.target = tools_.target.name;
  identity.device = tools_.target.device->facts().name;
  identity.candidate = candidate.name;
  identity.candidate_id = candidate.id;
  identity.toolchain = judge->toolchain();
  identity.seed = options_.seed;
  Listener listener(std::move(identity), on_trial, observer);
  TuneOptions options;
  options.evaluations = trials;
  options.seed = seed;
  options.go_on = go_on;
  KERF_TRY(TuneReport report, kerf::tune(*judge, candidate, options, tools_.clock, listener));
  return Tuned{std::move(report.best), std::move(report.verdict)};
}

}  // namespace kerf
