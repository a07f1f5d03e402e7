#include "judge/judge.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "judge/evaluation_cache.hpp"
#include "judge/judge_sources.hpp"
#include "oracle/error_walk.hpp"
#include "task/task.hpp"
#include "verify/cpp_reference.hpp"

namespace kerf {

Judge::Judge(const Task& task, const JudgeTools& tools, const JudgeOptions& options)
    : task_(task), tools_(tools), options_(options) {}

Result<std::unique_ptr<Judge>> Judge::open(const Task& task, const JudgeTools& tools, const JudgeOptions& options,
                                           Observer& observer, std::optional<First> first) {
  auto judge = std::unique_ptr<Judge>(new Judge(task, tools, options));
  std::vector<std::string> names;
  const std::vector<ShapeSet> all = shapes_for(task, tools.target.name);
  for (const ShapeSet& shape : all) {
    names.push_back(shape.name);
    if (options.only_shape.empty() || options.only_shape == shape.name) judge->shapes_.push_back(shape);
  }
  if (!options.only_shape.empty() && !judge->shapes_.empty() && judge->shapes_[0].weight <= 0)
    judge->shapes_[0].weight = 1;  // asked for by name: it is timed
  if (judge->shapes_.empty()) {
    if (options.only_shape.empty())
      return fail(Errc::invalid_input,
                  fmt::format("task {} has no shape for target {}: add one, or the target to the 'targets' of one",
                              task.name, tools.target.name));
    return fail(Errc::invalid_input,
                fmt::format("task {} has no shape '{}' for target {}{}; it has: {}", task.name, options.only_shape,
                            tools.target.name, did_you_mean(options.only_shape, names), join(names, ", ")));
  }
  const auto smaller = [&](const ShapeSet& a, const ShapeSet& b) {
    return element_count(task, a) < element_count(task, b);
  };
  std::stable_sort(judge->shapes_.begin(), judge->shapes_.end(), smaller);
  judge->contexts_.resize(judge->shapes_.size());
  if (task.graph) {
    KERF_TRY(judge->reference_, oracle::make_graph_reference(task));
  } else {
    if (tools.cpp == nullptr) return fail(Errc::unavailable, "a C++ reference needs a C++ compiler: install g++");
    KERF_TRY(judge->reference_, make_cpp_reference(task, *tools.cpp->language, *tools.cpp->device));
  }
  if (judge->reference_->errors_walk()) judge->notes_.emplace_back(oracle::kWalkNote);
  judge->compile_shapes_ahead();
  if (first) judge->compile_ahead(*std::move(first));
  // Admission is about the task, whatever shape, target and seed are asked for.
  const std::int64_t host_bytes = tools.host_bytes > 0 ? tools.host_bytes : available_memory_bytes();
  if (!tools.admitted) {
    KERF_TRY(judge->admission_, admit(task, *judge->reference_, host_bytes));
    for (const std::string& note : judge->admission_.notes)
      if (std::ranges::find(judge->notes_, note) == judge->notes_.end()) judge->notes_.push_back(note);
  }
  if (!judge->admission_.admitted)
    return fail(Errc::invalid_input, "task " + task.name + " is refused: " + judge->admission_.reason);
  for (const std::string& input : judge->admission_.idle)
    judge->notes_.push_back(fmt::format("the outputs do not depend on input {}: it cancels out", input));
  if (!options.cache.empty()) judge->peaks_ = load_peaks(options.cache, tools.target.device->facts());
  (void)observer;
  return judge;
}

ShapeContext::Inputs Judge::inputs_of(std::size_t shape) const {
  return {task_,         shapes_[shape],           tools_.target,     *reference_,   tools_.builds,
          options_.seed, options_.timed_data_sets, tools_.host_bytes, &tools_.clock, !options_.skip_timing};
}

void Judge::compile_shapes_ahead() {
  for (std::size_t shape = 0; tools_.compile_ahead && shape < shapes_.size(); ++shape)
    ahead_.emplace_back([this, shape] { ShapeContext::compile_ahead(inputs_of(shape)); });
}

void Judge::compile_ahead(First first) {
  NullObserver silent;
  if (!tools_.compile_ahead || compiled_ahead_) return;
  if (check_parse(make_trial(first.candidate, first.tunables, silent))) return;
  compiled_ahead_ = true;
  const auto shared = std::make_shared<const First>(std::move(first));  // the threads outlive the call
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape)
    ahead_.emplace_back([this, shape, shared] { (void)build(shared->candidate, shared->tunables, shape); });
}

Result<ShapeContext*> Judge::context(std::size_t shape, Observer& observer) {
  if (!contexts_[shape]) {
    if (shape > 0) observer.on_note("preparing data and baselines for shape '" + shapes_[shape].name + "'");
    const ShapeContext::Inputs inputs = inputs_of(shape);
    UsablePatterns found;
    const std::unique_lock quiet(quiet_);  // the naive kernel is timed here
    KERF_TRY(contexts_[shape], ShapeContext::prepare(inputs, shape == 0 ? nullptr : &patterns_, found));
    const auto& costs = contexts_[shape]->costs();
    prepared_.insert(prepared_.end(), costs.begin(), costs.end());
    if (shape == 0) {
      patterns_ = found;
      notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
    }
  }
  return contexts_[shape].get();
}

Result<CompileOutcome> Judge::build(const Candidate& candidate, const Bindings& tunables, std::size_t shape) {
  const CompileRequest request =
      make_request(candidate, with_tunables(shapes_[shape].symbols, tunables), tools_.target.device->facts().arch);
  return tools_.builds.compile(*tools_.target.language, request);
}

void Judge::prefetch(const Candidate& candidate, const Bindings& tunables) {
  if (tools_.compile_ahead) {
    std::vector<std::jthread> others;
    for (std::size_t shape = 1; shape < shapes_.size(); ++shape)
      others.emplace_back([&, shape] { (void)build(candidate, tunables, shape); });
    (void)build(candidate, tunables, 0);
    return;
  }
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    std::shared_lock quiet(quiet_, std::defer_lock);
    if (tools_.target.device->facts().runs_on_host) quiet.lock();
    const auto outcome = build(candidate, tunables, shape);
    if (!outcome || std::holds_alternative<CompileFailed>(*outcome)) return;  // evaluate() will report it
  }
}

Result<std::optional<Judge::Compiled>> Judge::compile(const Candidate& candidate, const Bindings& tunables) {
  NullObserver silent;
  if (check_parse(make_trial(candidate, tunables, silent))) return std::optional<Compiled>{};
  std::vector<Result<CompileOutcome>> outcomes(shapes_.size(), fail(Errc::cancelled, "not compiled"));
  parallel_for(static_cast<std::int64_t>(shapes_.size()), 1, 0, [&](std::int64_t begin, std::int64_t end) {
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
      std::shared_lock quiet(quiet_, std::defer_lock);
      if (tools_.target.device->facts().runs_on_host) quiet.lock();
      outcomes[s] = build(candidate, tunables, s);
    }
  });
  Compiled compiled;
  double weight = 0;
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    KERF_TRY(CompileOutcome outcome, std::move(outcomes[s]));
    if (std::holds_alternative<CompileFailed>(outcome)) return std::optional<Compiled>{};
    if (shapes_[s].weight <= 0) continue;
    if (shapes_[s].weight > weight) {
      weight = shapes_[s].weight;
      compiled.main = compiled.artifacts.size();
    }
    compiled.artifacts.push_back(std::get<Artifact>(std::move(outcome)));
    compiled.constants.push_back(with_tunables(shapes_[s].symbols, tunables));
  }
  if (compiled.artifacts.empty()) return std::optional<Compiled>{};
  return std::optional<Compiled>(std::move(compiled));
}

Result<Evaluation> Judge::evaluate(const Candidate& candidate, const Bindings& tunables, Observer& observer) {
  Evaluation evaluation;
  evaluation.task = task_.name;
  evaluation.task_id = task_.id;
  evaluation.target = tools_.target.name;
  evaluation.device = tools_.target.device->facts().name;
  evaluation.candidate = candidate.name;
  evaluation.candidate_id = candidate.id;
  evaluation.toolchain = toolchain();
  evaluation.tunables = tunables;
  evaluation.seed = options_.seed;

  const std::string key = evaluation_key(candidate, tunables);
  if (options_.use_evaluation_cache && !options_.cache.empty()) {
    auto known = load_evaluation(options_.cache, key);
    // Compiler output has the name of the file in it: that of another file is not shown.
    if (known && std::holds_alternative<BuildFailed>(known->outcome) && known->candidate != candidate.name)
      known.reset();
    if (known) {
      known->from_cache = true;
      known->candidate = candidate.name;
      return *std::move(known);
    }
  }

  Trial trial = make_trial(candidate, tunables, observer);
  prepared_.clear();
  compile_ahead({candidate, tunables});
  std::vector<Tier> tiers = all_tiers(trial);
  if (options_.certify && options_.soak_seconds > 0)
    tiers.push_back({"soak", [this, &trial] { return check_soak(trial); }});
  KERF_TRY(Stop end, run_tiers(trial, tiers, &evaluation.tiers));
  ahead_.clear();
  evaluation.seen = trial.seen;
  evaluation.certification = trial.certification;
  evaluation.preparation = std::move(prepared_);
  if (!end) combine_speedups(trial.measurement);
  note_cache_trouble(observer);
  evaluation.outcome = end ? *std::move(end) : Outcome(std::move(trial.measurement));
  evaluation.notes = notes_;
  // A brief timing is for those who have seen a faster kernel; others are not given it.
  if (options_.use_evaluation_cache && !options_.cache.empty() && !trial.timed_briefly)
    (void)save_evaluation(options_.cache, key, evaluation);
  return evaluation;
}

void Judge::note_cache_trouble(Observer& observer) {
  const std::string error = tools_.builds.write_error();
  if (error.empty() || cache_trouble_noted_) return;
  cache_trouble_noted_ = true;
  notes_.push_back("compiled code is not kept for the next start: " + error);
  observer.on_note(notes_.back());
}

std::string Judge::toolchain() const {
  return fmt::format("{}; {}; kerf {}", tools_.target.language->version(), tools_.target.device->facts().driver,
                     kKerfVersion);
}

std::string Judge::evaluation_key(const Candidate& candidate, const Bindings& tunables) const {
  const DeviceFacts& facts = tools_.target.device->facts();
  std::string text = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", candidate.id, task_.id, tools_.target.name, facts.name,
                                 facts.arch, toolchain(), judge_sources(), key_text(options_));
  for (const auto& [name, value] : tunables) text += fmt::format("|{}={}", name, value);
  if (peaks_) {
    text += "|peaks " + peaks_->device;
    for (const auto& [name, rate] : peaks_->rates) text += fmt::format("|{}={}", name, rate);
  }
  for (const auto& [shape, times] : references_)
    for (const auto& [name, time] : times) text += fmt::format("|{} {} took {}", shape, name, time.median);
  return evaluation_cache_key(text);
}

}  // namespace kerf
