#include "search/judge_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace kerf {
namespace {

/// The launches as numbers: code that is the same may still be launched differently.
std::string plan_text(const LaunchPlan& plan, const Bindings& constants) {
  std::string text;
  const auto number = [&](const Dim& dim) {
    const auto value = dim.evaluate(constants);
    text += value ? fmt::format("{},", *value) : "?,";
  };
  for (const ir::TensorType& scratch : plan.scratch) {
    text += "scratch ";
    for (const Dim& extent : scratch.shape) number(extent);
  }
  for (const Launch& launch : plan.launches) {
    text += launch.kernel + "<";
    for (const Dim& extent : launch.grid) number(extent);
    text += ";";
    for (const Dim& extent : launch.block) number(extent);
    text += ";";
    number(launch.shared_bytes);
    text += ">";
    for (const std::string& argument : launch.args) text += argument + " ";
  }
  return text;
}

}  // namespace

MeasureOptions search_pace(const MeasureOptions& full) {
  MeasureOptions quick = full;
  quick.time_limit = std::min<std::chrono::milliseconds>(full.time_limit, std::chrono::milliseconds(300));
  quick.max_rounds = std::min(full.max_rounds, 25);
  quick.target_noise = std::max(full.target_noise, 0.02);
  quick.min_baseline_rounds = std::min(full.min_baseline_rounds, 3);
  return quick;
}

Judge::References references_of(const Evaluation& evaluation) {
  Judge::References references;
  if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome))
    for (const ShapeMeasurement& shape : measurement->shapes) references[shape.shape] = shape.baselines;
  return references;
}

JudgeEvaluator::JudgeEvaluator(const Task& task, const JudgeTools& tools, const JudgeOptions& options,
                               Judge::References references, Observer& observer)
    : task_(task), tools_(tools), options_(options), references_(std::move(references)), observer_(observer) {}

Result<Judge*> JudgeEvaluator::judge(Effort effort) {
  if (judge_ && effort_ == effort) return judge_.get();
  judge_.reset();  // first: two sets of buffers may not fit on the device
  JudgeOptions options = options_;
  if (effort == Effort::search) {
    options.measure = search_pace(options_.measure);
  } else {
    options.seed = Rng(options_.seed).fork("final").bits();  // data the search never saw
  }
  KERF_TRY(judge_, Judge::open(task_, tools_, options, observer_));
  effort_ = effort;
  if (effort == Effort::search) judge_->set_references(references_);
  return judge_.get();
}

Result<std::optional<Inspection>> JudgeEvaluator::inspect(const Candidate& candidate, const Bindings& tunables) {
  KERF_TRY(Judge* const judge, this->judge(judge_ ? effort_ : Effort::search));
  KERF_TRY(const auto compiled, judge->compile(candidate, tunables));
  if (!compiled) return std::optional<Inspection>{};
  Inspection inspection;
  std::string identity;
  for (std::size_t i = 0; i < compiled->artifacts.size(); ++i)
    identity += compiled->artifacts[i].id + plan_text(candidate.plan, compiled->constants[i]);
  inspection.code = sha256_hex(identity);
  inspection.descriptors =
      describe(compiled->artifacts[compiled->main], candidate, compiled->constants[compiled->main]);
  return std::optional<Inspection>(std::move(inspection));
}

Result<Evaluation> JudgeEvaluator::evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort) {
  KERF_TRY(Judge* const judge, this->judge(effort));
  KERF_TRY(Evaluation evaluation, judge->evaluate(candidate, tunables, observer_));
  if (effort == Effort::search && references_.empty() && std::holds_alternative<Measurement>(evaluation.outcome)) {
    references_ = references_of(evaluation);
    judge->set_references(references_);
  }
  return evaluation;
}

void JudgeEvaluator::prefetch(const std::vector<std::pair<const Candidate*, Bindings>>& next) {
  const auto judge = this->judge(judge_ ? effort_ : Effort::search);
  if (!judge) return;  // evaluate() will report it
  parallel_for(static_cast<std::int64_t>(next.size()), 1, 0, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      (*judge)->prefetch(*next[i].first, next[i].second);
  });
}

}  // namespace kerf
