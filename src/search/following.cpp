#include "search/following.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "search/bandit.hpp"

namespace kerf {

std::optional<std::int64_t> Following::here(std::int64_t recorded) const {
  const auto found = steps_.find(recorded);
  if (found == steps_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::int64_t> Following::here(const std::vector<std::int64_t>& recorded) const {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t number : recorded)
    if (const auto found = here(number)) numbers.push_back(*found);
  return numbers;
}

/// The question as it was asked; none when one of its kernels is missing here.
std::optional<ProposalRequest> Following::request(const Step& step, const SearchState& state) const {
  ProposalRequest request;
  request.operation = step.operation;
  request.start_number = step.asked.start_number;
  request.seed = step.asked.seed;
  request.direction = direction_from_text(step.direction);
  if (step.asked.parent) {
    const auto parent = here(*step.asked.parent);
    if (!parent) return std::nullopt;
    request.parent = state.record(*parent);
  }
  const auto inspirations = here(step.asked.inspirations);
  if (inspirations.size() != step.asked.inspirations.size()) return std::nullopt;
  for (const std::int64_t one : inspirations) request.inspirations.push_back(state.record(one));
  return request;
}

Result<std::optional<Planned>> Following::next(const SearchState& state, std::span<Proposer* const> minds,
                                               std::vector<std::string>& remarks) {
  while (!done() && (is_trial(recorded_[position_]) || is_confirmation(recorded_[position_]))) ++position_;
  if (done()) return std::optional<Planned>{};
  const Step& old = recorded_[position_++];
  Planned planned;
  planned.follows = old.number;
  Step& step = planned.step;
  step = old;
  step.evaluation = {};
  step.cell.clear();
  step.descriptors.clear();
  step.decision.clear();
  step.kept = false;
  step.parents = here(old.parents);
  step.asked.parent = old.asked.parent ? here(*old.asked.parent) : std::nullopt;
  step.asked.inspirations = here(old.asked.inspirations);
  step.asked.failures = here(old.asked.failures);
  const auto mind = std::find_if(minds.begin(), minds.end(), [&](const Proposer* one) {
    return one->name() == old.proposer && one->questions_at_once() == 0;
  });
  const bool asked = old.stage == Stage::start || old.stage == Stage::search;
  if (mind != minds.end() && asked)
    if (const auto question = request(old, state)) {
      const auto answer = (*mind)->propose(*question);
      if (!answer || !*answer || (*answer)->source != old.source)
        remarks.push_back(fmt::format("step {}: the {} mind now {}; the recorded kernel is taken", old.number,
                                      old.proposer,
                                      !answer    ? "fails: " + answer.error().message
                                      : !*answer ? "has no answer"
                                                 : "writes another kernel"));
    }
  auto candidate = parse_candidate(step.name, step.source);
  if (!candidate) {
    planned.refused = true;
    step.evaluation.candidate = step.name;
    step.evaluation.outcome = Rejected{Gate::parse, candidate.error().message};
  } else {
    planned.candidate = *std::move(candidate);
    if (planned.candidate.target.empty()) planned.candidate.target = target_;
  }
  return std::optional(std::move(planned));
}

}  // namespace kerf
