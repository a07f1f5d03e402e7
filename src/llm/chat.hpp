#pragma once
// Chat models: what is asked, what comes back, and every way in which it can go wrong, as values. A reply is untrusted
// text: valid UTF-8 of limited size, nothing more is promised of it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kerf::llm {

struct Message {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;

  bool operator==(const Message&) const = default;
};

struct ChatRequest {
  std::vector<Message> messages;
  std::int64_t max_reply_tokens = 4096;  ///< what a model thinks to itself included
};

/// What was spent on a question, over all attempts.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t reply_tokens = 0;      ///< with the reasoning ones
  std::int64_t reasoning_tokens = 0;  ///< of these; 0 when the endpoint does not say
  double cost_usd = 0;                ///< 0 for models without a price
  bool estimated = false;             ///< the endpoint did not count (all of) them: counted from the bytes

  std::int64_t tokens() const { return prompt_tokens + reply_tokens; }
  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

struct ChatReply {
  std::string text;         ///< not empty
  std::string reasoning{};  ///< what the model showed of its thinking; "" for most
  Usage usage{};
  int attempts = 1;
  double seconds = 0;  ///< from asking to the answer, waiting included
};

enum class FailureKind {
  auth,         ///< no key, a wrong one, or an account without credit
  rate_limit,   ///< too many requests, and waiting did not help
  timeout,      ///< silent for too long
  network,      ///< no connection, or one that broke
  server,       ///< the endpoint's own error
  bad_request,  ///< the endpoint refuses the question: unknown model, prompt too long
  malformed,    ///< an answer that is no chat completion
  empty,        ///< no text in it
  truncated,    ///< ended at the token limit
  too_large,    ///< more bytes than are taken
  refused,      ///< the model or a filter refuses to answer
  budget,       ///< what is left of the budget does not pay for the question
  cancelled,    ///< given up by us
  unavailable,  ///< cannot be asked at all: no HTTP library, nothing recorded
};
std::string_view failure_name(FailureKind kind);  ///< "auth", ...; stored, so never renamed
std::optional<FailureKind> failure_from_name(std::string_view name);

struct ChatFailure {
  FailureKind kind = FailureKind::network;
  std::string message;  ///< what failed, where, what to try; never holds a key
  std::string text{};   ///< what had arrived of the answer
  Usage usage{};
  std::optional<std::chrono::milliseconds> retry_after{};  ///< the endpoint's wish
  int attempts = 1;
  double seconds = 0;
};

using ChatOutcome = std::variant<ChatReply, ChatFailure>;

class ChatModel {
 public:
  virtual ~ChatModel() = default;
  virtual const std::string& name() const = 0;
  /// Waits for the answer. Thread-safe. Gives up soon after `cancelled` is set.
  virtual ChatOutcome ask(const ChatRequest& request, const std::atomic<bool>& cancelled) = 0;
};

/// A guess from the bytes, on the high side for code and English.
std::int64_t estimated_tokens(std::string_view text);
/// Of all messages, with what their framing takes.
std::int64_t estimated_tokens(const std::vector<Message>& messages);

}  // namespace kerf::llm
