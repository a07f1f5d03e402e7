#include "propose/agents/conversations.hpp"

#include <algorithm>

namespace kerf::agents {
namespace {

constexpr std::size_t kMostKept = 64;  // old ones are forgotten: their kernels are no longer shown as failures
constexpr int kMostTurns = 4;

}  // namespace

void Conversations::keep(Conversation conversation) {
  kept_.push_back(std::move(conversation));
  if (kept_.size() > kMostKept) kept_.pop_front();
}

void Conversations::became(const Step& step) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Conversation& one) {
    return one.step == 0 && one.source == step.source && one.change == step.change;
  });
  if (found != kept_.end()) found->step = step.number;
}

std::optional<std::pair<Conversation, std::size_t>> Conversations::resume(std::span<const KernelRecord> failures) {
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Conversation& one) {
      const bool same = one.step != 0 ? one.step == failures[i].step : one.source == failures[i].source;
      return same && one.turns < kMostTurns;
    });
    if (found == kept_.end()) continue;
    Conversation conversation = std::move(*found);
    kept_.erase(found);
    return std::pair(std::move(conversation), i);
  }
  return std::nullopt;
}

}  // namespace kerf::agents
