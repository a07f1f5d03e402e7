#include "llm/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf::llm {
namespace {

constexpr std::int64_t kShortestReply = 256;  // tokens: with fewer no kernel can be written

}  // namespace

std::variant<Grant, Wait, Spent> Budget::reserve(std::int64_t prompt_tokens, std::int64_t wanted, const Price& price) {
  const std::lock_guard lock(mutex_);
  prompt_tokens += excess_tokens_;  // some endpoints answer more than they are asked for: set that aside, too
  std::int64_t reply = wanted;
  if (limits_.tokens > 0) reply = std::min(reply, limits_.tokens - spent_.tokens() - held_tokens_ - prompt_tokens);
  if (limits_.cost_usd > 0) {
    const double left = limits_.cost_usd - spent_.cost_usd - held_cost_ - excess_cost_ - price.of(prompt_tokens, 0);
    if (left <= 0)
      reply = 0;
    else if (price.reply > 0)
      reply = std::min(reply, static_cast<std::int64_t>(std::min(left / price.reply * 1e6, 1e15)));
  }
  if (reply >= std::min(wanted, kShortestReply)) {
    const Grant grant{prompt_tokens, reply, excess_cost_ + price.of(prompt_tokens, reply)};
    held_tokens_ += grant.prompt_tokens + grant.reply_tokens;
    held_cost_ += grant.cost_usd;
    ++under_way_;
    return grant;
  }
  if (under_way_ > 0) return Wait{};
  const bool tokens =
      limits_.tokens > 0 && limits_.tokens - spent_.tokens() - prompt_tokens < std::min(wanted, kShortestReply);
  const std::string reason =
      tokens
          ? fmt::format("the budget of {} tokens is used up: {} are spent, the next question takes more than is left",
                        limits_.tokens, spent_.tokens())
          : fmt::format("the budget of {} USD is used up: {:.4f} are spent, the next question takes more than is left",
                        limits_.cost_usd, spent_.cost_usd);
  if (!used_up_) used_up_ = reason;
  return kerf::llm::Spent{reason};
}

void Budget::settle(const Grant& grant, const Usage& used) {
  const std::lock_guard lock(mutex_);
  held_tokens_ -= grant.prompt_tokens + grant.reply_tokens;
  held_cost_ -= grant.cost_usd;
  --under_way_;
  spent_ += used;
  excess_tokens_ = std::max(excess_tokens_, used.tokens() - grant.prompt_tokens - grant.reply_tokens);
  excess_cost_ = std::max(excess_cost_, used.cost_usd - grant.cost_usd);
}

Usage Budget::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

void Budget::add_spent(const Usage& before) {
  const std::lock_guard lock(mutex_);
  spent_ += before;
}

std::optional<std::string> Budget::used_up() const {
  const std::lock_guard lock(mutex_);
  return used_up_;
}

}  // namespace kerf::llm
