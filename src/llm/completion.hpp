#pragma once
// The protocol of OpenAI-compatible /chat/completions: a question as JSON, and an answer from whatever the endpoint
// sends, streamed or whole.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "llm/chat.hpp"
#include "llm/http.hpp"
#include "llm/sse.hpp"

namespace kerf::llm {

/// What an endpoint takes; found out by asking, because they differ.
struct Dialect {
  bool completion_tokens = false;  ///< the limit is called max_completion_tokens
  bool temperature = true;
  bool stream_options = true;

  bool operator==(const Dialect&) const = default;
};

std::string request_json(const std::string& model, const ChatRequest& request, std::optional<double> temperature,
                         const Dialect& dialect);

/// The dialect to try after an endpoint refused a question with this message; none when another would not help.
std::optional<Dialect> other_dialect(const Dialect& tried, std::string_view message);

/// One attempt's answer, read while it arrives. Costs are left at 0 unless the endpoint names them.
class ReplyReader {
 public:
  ReplyReader(std::string model, const ChatRequest& request, const Secret& key);

  /// False: enough was read.
  bool feed(const HttpHead& head, std::string_view bytes);
  ChatOutcome finish(const HttpOutcome& http);

  bool cost_was_named() const { return cost_named_; }

 private:
  void take_event(std::string_view data);
  void take_completion(std::string_view json);
  std::optional<ChatFailure> transport_failure(const HttpOutcome& http) const;
  ChatFailure status_failure(const HttpHead& head) const;
  Usage counted(bool anything_sent);
  ChatFailure failure(FailureKind kind, std::string message) const;

  std::string model_;
  const ChatRequest& request_;
  const Secret& key_;
  SseReader events_;
  bool streamed_ = false, begun_ = false, done_ = false;
  bool completion_seen_ = false;  // at least one well-formed piece
  std::string body_;              // of answers that are not streamed
  std::string text_, reasoning_, finish_reason_, refusal_;
  std::string bad_;  // why a piece could not be read; "" while all could
  std::optional<ChatFailure> error_;
  std::optional<Usage> usage_;
  bool cost_named_ = false, too_large_ = false;
};

}  // namespace kerf::llm
