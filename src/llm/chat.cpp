#include "llm/chat.hpp"

#include <array>
#include <utility>

namespace kerf::llm {
namespace {

using Entry = std::pair<FailureKind, std::string_view>;
constexpr auto kNames = std::to_array<Entry>({
    {FailureKind::auth, "auth"},
    {FailureKind::rate_limit, "rate_limit"},
    {FailureKind::timeout, "timeout"},
    {FailureKind::network, "network"},
    {FailureKind::server, "server"},
    {FailureKind::bad_request, "bad_request"},
    {FailureKind::malformed, "malformed"},
    {FailureKind::empty, "empty"},
    {FailureKind::truncated, "truncated"},
    {FailureKind::too_large, "too_large"},
    {FailureKind::refused, "refused"},
    {FailureKind::budget, "budget"},
    {FailureKind::cancelled, "cancelled"},
    {FailureKind::unavailable, "unavailable"},
});

constexpr std::int64_t kBytesPerToken = 3;    // code has 3 to 4
constexpr std::int64_t kMessageOverhead = 8;  // role and separators

}  // namespace

std::string_view failure_name(FailureKind kind) {
  for (const auto& [one, name] : kNames)
    if (one == kind) return name;
  return "unknown";
}

std::optional<FailureKind> failure_from_name(std::string_view name) {
  for (const auto& [kind, known] : kNames)
    if (known == name) return kind;
  return std::nullopt;
}

Usage& Usage::operator+=(const Usage& other) {
  prompt_tokens += other.prompt_tokens;
  reply_tokens += other.reply_tokens;
  reasoning_tokens += other.reasoning_tokens;
  cost_usd += other.cost_usd;
  estimated = estimated || other.estimated;
  return *this;
}

std::int64_t estimated_tokens(std::string_view text) {
  return (static_cast<std::int64_t>(text.size()) + kBytesPerToken - 1) / kBytesPerToken;
}

std::int64_t estimated_tokens(const std::vector<Message>& messages) {
  std::int64_t tokens = kMessageOverhead;
  for (const Message& message : messages) tokens += kMessageOverhead + estimated_tokens(message.content);
  return tokens;
}

}  // namespace kerf::llm
