#include "search/search_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "inspect/descriptors.hpp"
#include "search/duplicates.hpp"
#include "search/tune.hpp"

namespace kerf {
namespace {

/// Of a confirmed finalist.
std::string standing_of(const Measurement& measurement) {
  std::string again = "measured again, thoroughly and on fresh data";
  if (!measurement.comparison) return again;
  const PairedComparison& comparison = *measurement.comparison;
  const bool decided = comparison.low > 1 || comparison.high < 1;
  return fmt::format("{}; {} as step {}{}", again, factor_text({comparison.ratio, comparison.low, comparison.high}),
                     comparison.step, decided ? "" : ", within the noise");
}

}  // namespace

SearchState::SearchState(std::unique_ptr<Policy> policy, const ArchiveOptions& archive)
    : policy_(std::move(policy)), archive_(archive) {}

Decision SearchState::observe(Step& step) {
  KERF_CHECK(step.number == next_number(), "steps come in order, without gaps");
  const bool measured = std::holds_alternative<Measurement>(step.evaluation.outcome);
  auto candidate = parse_candidate(step.name, step.source);
  if (candidate && candidate->target.empty()) candidate->target = step.evaluation.target;
  candidates_.push_back(candidate ? *std::move(candidate) : Candidate{});
  Decision decision;
  if (step.stage == Stage::final) {
    if (!step.parents.empty()) confirmations_[step.parents.front()] = step.number;
    if (!step.parents.empty() && !measured) archive_.refute(step.parents.front());
    decision.kept = measured;
    decision.sentence = measured ? standing_of(std::get<Measurement>(step.evaluation.outcome))
                                 : "did not stand: " + outcome_message(step.evaluation.outcome);
  } else if (is_trial(step)) {
    observe_trial(step);
    decision.sentence = measured ? "a quick timing, not a verdict"
                                 : "refused in a quick timing: " + outcome_message(step.evaluation.outcome);
  } else {
    const double seconds = step.seconds - this->seconds();
    const Elite* best = archive_.best();
    const auto best_before = best == nullptr ? std::nullopt : std::optional(best->fitness.log_speedup);
    std::optional<double> parent;
    if (!step.parents.empty() && step.parents.front() < step.number) {
      const Fitness fitness = fitness_of(this->step(step.parents.front()).evaluation);
      if (fitness.measured()) parent = fitness.log_speedup;
    }
    decision = archive_.insert({step.number, step.parents, step.evaluation, step.cell});
    policy_->observe({step, decision, parent, best_before, seconds});
    sources_.emplace(source_identity(candidates_.back(), step.tunables), step.number);
    if (const std::string code = code_of(step.descriptors); !code.empty()) codes_.emplace(code, step.number);
    if (step.stage == Stage::start) ++starts_;
    if (step.stage != Stage::tune) ++asked_;
    if (step.stage == Stage::tune && !step.parents.empty()) tunings_[step.parents.front()].finished = true;
    if (is_duplicate(step)) {
      ++duplicates_;
    } else if (!is_fallback(step)) {
      ++evaluations_;
      since_improvement_ = decision.new_best ? 0 : since_improvement_ + 1;
      if (!measured) ++failures_;
    }
  }
  if (step.decision.empty()) {
    step.decision = decision.sentence;
    step.kept = decision.kept;
  }
  steps_.push_back(step);
  estimates_.observe(step);
  return decision;
}

void SearchState::observe_trial(const Step& step) {
  ++evaluations_;
  Tuning& tuning = tunings_[step.parents.empty() ? 0 : step.parents.front()];
  ++tuning.trials;
  const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measurement == nullptr) ++failures_;
  if (measurement == nullptr || measurement->shapes.empty()) return;
  const double log_us = ranking_log_us(*measurement);
  if (!tuning.best.empty() && log_us >= tuning.best_log_us) return;
  tuning.best = step.tunables;
  tuning.best_log_us = log_us;
}

bool SearchState::is_contested(const Evaluation& evaluation, const Cell& cell) const {
  constexpr double kWide = 0.15;  // of the whole interval, relative
  const Fitness fitness = fitness_of(evaluation);
  const Elite* best = archive_.best();
  if (!fitness.measured() || best == nullptr) return false;
  const auto open = [&](const Fitness& other) {
    return fitness.log_speedup > other.log_speedup && factor_between(fitness, other).low <= 1;
  };
  if (open(best->fitness)) return true;
  const auto members = archive_.cells().find(cell);
  return members != archive_.cells().end() && fitness.below + fitness.above > kWide &&
         open(members->second.back().fitness);
}

std::optional<std::int64_t> SearchState::step_with_code(const std::string& code) const {
  const auto found = codes_.find(code);
  if (found == codes_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> SearchState::confirmation_of(std::int64_t step) const {
  const auto found = confirmations_.find(step);
  if (found == confirmations_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> SearchState::first_confirmation() const {
  std::optional<std::int64_t> first;
  for (const auto& [confirmed, number] : confirmations_)
    if (archive_.find(confirmed) != nullptr && fitness_of(step(number).evaluation).measured())
      first = std::min(first.value_or(number), number);
  return first;
}

std::int64_t SearchState::best_step() const {
  const Elite* elite = archive_.best();
  if (elite == nullptr) return 0;
  // Confirmations count when they cover the present leader; otherwise the search went on after them.
  if (!confirmations_.contains(elite->step)) return elite->step;
  const auto first = first_confirmation();
  if (!first) return elite->step;
  // The first is what the search took for the best: another one takes its place when it is faster beyond the noise.
  // For what a user has anyway it is enough to be faster than one that is slower than the baseline.
  std::int64_t best = *first;
  for (const auto& [confirmed, number] : confirmations_) {
    const Evaluation& evaluation = step(number).evaluation;
    const auto* measurement = std::get_if<Measurement>(&evaluation.outcome);
    const bool plain = is_fallback(step(number));
    if (measurement == nullptr || (archive_.find(confirmed) == nullptr && !plain)) continue;
    const bool slower = std::get<Measurement>(step(*first).evaluation.outcome).speedup.high < 1;
    const bool undecided = measurement->comparison &&
                           (plain && slower ? measurement->comparison->ratio : measurement->comparison->low) <= 1;
    if (!undecided && fitness_of(step(best).evaluation) < fitness_of(evaluation)) best = number;
  }
  return best;
}

std::optional<std::int64_t> SearchState::step_with_source(const std::string& identity) const {
  const auto found = sources_.find(identity);
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

KernelRecord SearchState::record(std::int64_t number) const {
  const Step& step = this->step(number);
  return {number, step.name, step.source, step.genome, step.tunables, step.evaluation, step.cell, {}};
}

std::vector<TimedValues> SearchState::timed_values(std::int64_t number, std::size_t count) const {
  std::vector<TimedValues> all;
  for (const Step& step : steps_) {
    if (!is_trial(step) || step.parents.empty() || step.parents.front() != number) continue;
    const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
    const ShapeMeasurement* shape = measured == nullptr ? nullptr : main_shape(*measured);
    if (shape != nullptr) all.push_back({step.tunables, shape->time.median});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TimedValues& a, const TimedValues& b) { return a.time_us < b.time_us; });
  if (all.size() > count) all.resize(count);
  return all;
}

std::vector<std::int64_t> SearchState::failures(std::optional<std::int64_t> parent, std::size_t count) const {
  std::vector<std::int64_t> related, others;
  bool repeated = false;  // a model is told of the latest known kernel that it wrote; more of them say no more
  for (auto step = steps_.rbegin(); step != steps_.rend() && related.size() < count; ++step) {
    if (std::holds_alternative<Measurement>(step->evaluation.outcome) || is_trial(*step)) continue;
    if (is_duplicate(*step) && (step->provenance.prompt.empty() || std::exchange(repeated, true))) continue;
    const bool child = parent && std::find(step->parents.begin(), step->parents.end(), *parent) != step->parents.end();
    if (child)
      related.push_back(step->number);
    else if (others.size() < count)
      others.push_back(step->number);
  }
  for (const std::int64_t other : others)
    if (related.size() < count) related.push_back(other);
  return related;
}

}  // namespace kerf
