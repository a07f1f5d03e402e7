// The end of a search: the best are measured again, and held against what a user has anyway.

#include <fmt/format.h>

#include <algorithm>

#include "search/search.hpp"
#include "search/variants.hpp"

namespace kerf {

/// The best, then those with the largest figures, are measured again; the search's own figures favour the lucky ones.
/// Kernels that have less than half of the best speed, whatever the noise of both, are left out.
/// One that is refused then is no finalist any more, and its figure counts for nothing.
Status Search::confirm() {
  constexpr double kFarBehind = 0.7;  // a logarithm
  while (!inputs_.interrupted) {
    std::vector<Elite> finalists = state_.archive().elites();
    const Elite* const best = state_.archive().best();
    std::ranges::stable_partition(finalists,
                                  [&](const Elite& elite) { return best != nullptr && elite.step == best->step; });
    const double least =
        finalists.empty() ? 0 : finalists.front().fitness.log_speedup - finalists.front().fitness.below - kFarBehind;
    std::erase_if(finalists, [&](const Elite& elite) {
      return elite.fitness.log_speedup + elite.fitness.above < least && !state_.confirmation_of(elite.step);
    });
    finalists_ = std::min(options_.finalists, static_cast<int>(finalists.size()));
    confirmed_ = 0;
    std::int64_t next = 0;
    for (const Elite& elite : finalists) {
      if (confirmed_ == options_.finalists) break;
      if (!state_.confirmation_of(elite.step)) {
        next = elite.step;
        break;
      }
      ++confirmed_;
    }
    if (next == 0) break;
    KERF_TRY_VOID(measure_again(next));
    if (!state_.confirmation_of(next)) break;  // interrupted
  }
  return {};
}

Status Search::measure_again(std::int64_t step) {
  if (state_.confirmation_of(step)) return {};
  add(variant_of(state_, step, Stage::final, "confirm", fmt::format("step {} measured again", step)), true,
      Effort::final);
  return judge_reserved();
}

/// A finalist's second figure may fall short of the search's first one, which favours the lucky: then a kernel that the
/// user has anyway is measured beside it, however far behind it seemed.
Status Search::settle() {
  if (is_shown_faster(state_.best_step()) || inputs_.interrupted) return {};
  KERF_TRY_VOID(fall_back());
  for (std::int64_t number = 1; number < state_.next_number() && !inputs_.interrupted; ++number) {
    const Step& step = state_.step(number);
    const bool measured = std::holds_alternative<Measurement>(step.evaluation.outcome);
    if (is_fallback(step) && measured && !is_confirmation(step)) KERF_TRY_VOID(measure_again(number));
  }
  return {};
}

bool Search::is_shown_faster(std::int64_t step) const {
  return step != 0 && compared_speedup(std::get<Measurement>(state_.step(step).evaluation.outcome)).low > 1;
}

/// A kernel that a user has anyway is a candidate like others; it is tried when nothing was shown to be faster.
Status Search::fall_back() {
  tickets_.clear();  // what is still being built or asked for is given up
  reserved_.reset();
  if (is_shown_faster(state_.best_step())) return {};
  for (const Proposal& fallback : inputs_.fallbacks) {
    Question question;
    question.operation = {kBaselineProposer, {"naive"}};
    Planned planned = asking_.receive(question, fallback);
    if (planned.refused || inputs_.interrupted) continue;  // known: it was tried
    add(std::move(planned), true);
    KERF_TRY_VOID(judge_reserved());
  }
  return {};
}

}  // namespace kerf
