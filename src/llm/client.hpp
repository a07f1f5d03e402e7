#pragma once
// A chat model behind an OpenAI-compatible endpoint: limits, budget, retries and accounts around one HTTP request.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "llm/budget.hpp"
#include "llm/chat.hpp"
#include "llm/http.hpp"
#include "llm/limiter.hpp"

namespace kerf::llm {

/// A model as it is configured; holds no key, so it may be stored.
struct ModelSpec {
  std::string name;  ///< as the endpoint knows it
  std::string base_url;
  std::optional<Price> price;            ///< none: unknown, so no cost is counted
  std::int64_t context_tokens = 32768;   ///< prompt and reply together
  std::int64_t max_reply_tokens = 8192;  ///< of one answer, reasoning included
  std::optional<double> temperature;     ///< none: the endpoint's own
  RateLimits rate;
  std::string key_file;                        ///< path of this model's own key; "": the common one
  std::optional<double> first_byte_seconds{};  ///< longest silence before an answer; none: that of the HTTP limits
  std::optional<double> silence_seconds{};     ///< and inside of it

  bool operator==(const ModelSpec&) const = default;
};

struct RetryRules {
  int attempts = 5;
  std::chrono::milliseconds first_wait{1000};  ///< doubled with every attempt, drawn between half and all of it
  std::chrono::milliseconds longest_wait{60'000};
  std::chrono::milliseconds longest_wish{300'000};  ///< a Retry-After beyond this is not waited for
};

/// Waits so long; tests pass one that moves their clock.
using Sleep = std::function<void(Nanoseconds)>;
Sleep real_sleep();

/// What clients borrow for their life.
struct ClientTools {
  HttpTransport& transport;
  Budget& budget;
  Clock& clock;
  Sleep sleep;
  std::uint64_t seed = 1;  ///< of the waits' jitter
  HttpLimits http{};
  RetryRules retry{};
};

/// An error when the endpoint's address is none, or a key would travel unencrypted to another machine.
Result<std::unique_ptr<ChatModel>> make_chat_client(const ModelSpec& spec, const Secret& key, const ClientTools& tools);

}  // namespace kerf::llm
