#include "archive/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/result.hpp"
#include "base/text.hpp"

namespace kerf {
namespace {

constexpr int kMeasuredRung = 5;

int rung_of(const Outcome& outcome) {
  struct Rung {
    int operator()(const Rejected&) const { return 0; }
    int operator()(const BuildFailed&) const { return 1; }
    int operator()(const Crashed&) const { return 2; }
    int operator()(const TimedOut&) const { return 3; }
    int operator()(const WrongResult&) const { return 4; }
    int operator()(const Measurement&) const { return kMeasuredRung; }
  };
  return std::visit(Rung{}, outcome);
}

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.size() > 160) text = text.substr(0, 157) + "...";
  return text;
}

std::string failure_sentence(const Outcome& outcome) {
  const std::string gate = outcome_gate(outcome), message = first_line(outcome_message(outcome));
  if (failed_gate(outcome) == Gate::duplicate) return "not evaluated: " + message;
  std::string name = outcome_name(outcome);
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format("not kept: {}{}{}", name, gate.empty() ? "" : " at gate '" + gate + "'",
                     message.empty() ? "" : ": " + message);
}

}  // namespace

bool Fitness::measured() const { return rung == kMeasuredRung; }

std::string factor_text(const Factor& factor) {
  return fmt::format("{:.3g} times as fast ({:.3g} to {:.3g})", factor.ratio, factor.low, factor.high);
}

Fitness fitness_of(const Evaluation& evaluation) {
  Fitness fitness;
  fitness.rung = rung_of(evaluation.outcome);
  if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome)) {
    const Speedup speedup = compared_speedup(*measurement);
    if (speedup.ratio > 0) fitness.log_speedup = std::log(speedup.ratio);
    if (speedup.low > 0 && speedup.low < speedup.ratio) fitness.below = std::log(speedup.ratio / speedup.low);
    if (speedup.high > speedup.ratio) fitness.above = std::log(speedup.high / speedup.ratio);
  }
  return fitness;
}

Factor factor_between(const Fitness& a, const Fitness& b) {
  // Both ends in logarithms; the two measurements are independent, so their half widths add in squares.
  const double difference = a.log_speedup - b.log_speedup;
  return {std::exp(difference), std::exp(difference - std::hypot(a.below, b.above)),
          std::exp(difference + std::hypot(a.above, b.below))};
}

Factor factor_between(const Elite& a, const Elite& b) {
  Fitness left = a.fitness, right = b.fitness;
  if (a.compared_with == b.step && a.compared_with != 0) right.below = right.above = 0;
  if (b.compared_with == a.step && b.compared_with != 0) left.below = left.above = 0;
  return factor_between(left, right);
}

namespace {

/// "1.2 times as fast (1.1 to 1.3) as step 4", with ", timed in turn" where that decided.
std::string against_text(const Elite& newcomer, const Elite& other) {
  return fmt::format("{} as step {}{}", factor_text(factor_between(newcomer, other)), other.step,
                     newcomer.compared_with == other.step ? ", timed in turn" : "");
}

}  // namespace

bool Archive::beats(const Elite& a, const Elite& b) const {
  return options_.noise_aware ? factor_between(a, b).low > 1 : a.fitness.log_speedup > b.fitness.log_speedup;
}

Decision Archive::insert(const Newcomer& newcomer) {
  Elite elite{newcomer.step, newcomer.cell, fitness_of(newcomer.evaluation)};
  if (const auto* measurement = std::get_if<Measurement>(&newcomer.evaluation.outcome);
      measurement && measurement->comparison)
    elite.compared_with = measurement->comparison->step;
  const Elite* const champion = best();
  Decision decision;
  const bool placed = elite.fitness.measured() && elite.cell.size() == kDimensions;
  if (placed) {
    const bool new_best = champion == nullptr || beats(elite, *champion);
    decision = place(elite, new_best);
    decision.new_best = new_best;
    if (new_best) best_ = elite.step;
  } else if (elite.fitness.measured()) {
    decision.sentence = "not kept: timed, but without a verdict or a cell";
  } else {
    decision.sentence = failure_sentence(newcomer.evaluation.outcome);
  }
  for (const std::int64_t parent : newcomer.parents) {
    Transition transition{parent, newcomer.step, {}, elite.cell, 0, placed, decision.kept};
    if (const auto known = measured_.find(parent); known != measured_.end()) {
      transition.from = known->second.cell;
      if (transition.measured) transition.gain = elite.fitness.log_speedup - known->second.fitness.log_speedup;
    }
    transitions_.push_back(std::move(transition));
  }
  if (placed) measured_.emplace(elite.step, elite);
  return decision;
}

Decision Archive::place(const Elite& newcomer, bool new_best) {
  auto& members = cells_[newcomer.cell];
  Decision decision;
  decision.new_cell = members.empty();
  const auto sorted_in = [&] {
    const auto at = std::find_if(members.begin(), members.end(), [&](const Elite& member) {
      return member.fitness.log_speedup < newcomer.fitness.log_speedup;
    });
    members.insert(at, newcomer);
    decision.kept = true;
  };
  if (decision.new_cell) {
    sorted_in();
    const auto compared_with = measured_.find(newcomer.compared_with);
    const std::string how =
        compared_with == measured_.end() ? "" : against_text(newcomer, compared_with->second) + ", ";
    decision.sentence = fmt::format("kept: {}the first in cell {}", how, cell_text(newcomer.cell));
    return decision;
  }
  const Elite front = members.front();
  const std::string against = against_text(newcomer, front);
  if (static_cast<int>(members.size()) < options_.keep) {
    sorted_in();
    decision.sentence = fmt::format("kept: {}, the best of its cell, which has room for {}", against, options_.keep);
    return decision;
  }
  // The slowest of those that are clearly beaten makes room; for a new best, the one with the smallest figure.
  auto victim =
      std::find_if(members.rbegin(), members.rend(), [&](const Elite& member) { return beats(newcomer, member); });
  if (victim == members.rend() && new_best) victim = members.rbegin();
  if (victim == members.rend()) {
    const Elite& last = members.back();
    const bool slower = beats(last, newcomer);
    decision.sentence =
        fmt::format("not kept: {}, {} in its full cell {}", against_text(newcomer, last),
                    slower ? "the slowest" : "within the noise of the slowest", cell_text(newcomer.cell));
    return decision;
  }
  const Elite out = *victim;
  members.erase(std::next(victim).base());
  sorted_in();
  decision.replaced = {out.step};
  decision.sentence = fmt::format("kept: {}, which it replaces", against_text(newcomer, out));
  if (out.step != front.step) decision.sentence += fmt::format("; {}, the best of its cell", against);
  return decision;
}

void Archive::refute(std::int64_t step) {
  const auto found = measured_.find(step);
  if (found == measured_.end()) return;
  const Cell cell = found->second.cell;
  measured_.erase(found);
  for (Transition& transition : transitions_) {
    if (transition.child != step) continue;
    transition.to.clear();
    transition.gain = 0;
    transition.measured = transition.kept = false;
  }
  const auto room = cells_.find(cell);
  if (room == cells_.end() || std::erase_if(room->second, [&](const Elite& e) { return e.step == step; }) == 0) return;
  if (room->second.empty()) cells_.erase(room);
  for (const auto& [number, other] : measured_)
    if (other.cell == cell && find(number) == nullptr) place(other, false);
  if (best_ != step) return;
  const Elite* champion = nullptr;
  for (const auto& [number, other] : measured_) {
    const Elite* elite = find(number);
    if (elite != nullptr && (champion == nullptr || beats(*elite, *champion))) champion = elite;
  }
  best_ = champion == nullptr ? 0 : champion->step;
}

std::vector<Elite> Archive::elites() const {
  std::vector<Elite> all;
  for (const auto& [cell, members] : cells_) all.insert(all.end(), members.begin(), members.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Elite& a, const Elite& b) { return a.fitness.log_speedup > b.fitness.log_speedup; });
  return all;
}

const Elite* Archive::find(std::int64_t step) const {
  for (const auto& [cell, members] : cells_)
    for (const Elite& member : members)
      if (member.step == step) return &member;
  return nullptr;
}

const Elite* Archive::best() const { return best_ == 0 ? nullptr : find(best_); }

}  // namespace kerf
