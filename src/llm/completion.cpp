#include "llm/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace kerf::llm {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 2u << 20;  // of an answer, and of its reasoning
constexpr std::size_t kLongestErrorBody = 64u << 10;
constexpr std::size_t kLongestMessage = 500;  // of the endpoint's own words in ours

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t count_of(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double number = found->get<double>();
  return number > 0 && number < 1e15 ? static_cast<std::int64_t>(number) : 0;
}

/// Contents are a text, or a list of parts with texts.
std::string content_of(const Json& message) {
  if (!message.is_object()) return "";
  const auto found = message.find("content");
  if (found == message.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  std::string text;
  if (found->is_array())
    for (const Json& part : *found) text += text_of(part, "text");
  return text;
}

std::string shortened(std::string text) {
  if (text.size() > kLongestMessage) text = text.substr(0, kLongestMessage) + " ...";
  return printable(text);
}

FailureKind kind_of_status(int status, std::string_view code) {
  if (code == "insufficient_quota" || status == 401 || status == 402 || status == 403) return FailureKind::auth;
  if (status == 429) return FailureKind::rate_limit;
  if (status == 408 || status == 425 || status >= 500) return FailureKind::server;
  return FailureKind::bad_request;
}

const char* remedy_of(FailureKind kind) {
  if (kind == FailureKind::auth) return "; check OPENAI_API_KEY or --key-file, and the account";
  if (kind == FailureKind::bad_request) return "; check --model and --base-url";
  return "";
}

/// "error" of a body: {"error": {"message": ..., "code": ...}}, {"error": "text"} or {"message": ...}.
struct NamedError {
  std::string message, code;
  int status = 0;
};
std::optional<NamedError> error_in(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("error");
  if (found == json.end() || found->is_null()) return std::nullopt;
  if (found->is_string()) return NamedError{found->get<std::string>(), "", 0};
  NamedError error{text_of(*found, "message"), text_of(*found, "code"), static_cast<int>(count_of(*found, "code"))};
  if (error.code.empty()) error.code = text_of(*found, "type");
  return error;
}

}  // namespace

std::string request_json(const std::string& model, const ChatRequest& request, std::optional<double> temperature,
                         const Dialect& dialect) {
  Json json;
  json["model"] = model;
  json["messages"] = Json::array();
  for (const Message& message : request.messages)
    json["messages"].push_back({{"role", message.role}, {"content", message.content}});
  json[dialect.completion_tokens ? "max_completion_tokens" : "max_tokens"] = request.max_reply_tokens;
  if (temperature && dialect.temperature) json["temperature"] = *temperature;
  json["stream"] = true;
  if (dialect.stream_options) json["stream_options"] = {{"include_usage", true}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Dialect> other_dialect(const Dialect& tried, std::string_view message) {
  Dialect other = tried;
  const auto names = [&](std::string_view word) { return message.find(word) != std::string_view::npos; };
  if (names("max_completion_tokens") && !tried.completion_tokens)
    other.completion_tokens = true;
  else if (names("max_completion_tokens") && tried.completion_tokens)
    other.completion_tokens = false;
  if (names("temperature")) other.temperature = false;
  if (names("stream_options")) other.stream_options = false;
  return other == tried ? std::nullopt : std::optional(other);
}

ReplyReader::ReplyReader(std::string model, const ChatRequest& request, const Secret& key)
    : model_(std::move(model)), request_(request), key_(key) {}

bool ReplyReader::feed(const HttpHead& head, std::string_view bytes) {
  if (!begun_) streamed_ = head.status == 200 && head.content_type.find("event-stream") != std::string::npos;
  begun_ = true;
  if (streamed_) {
    events_.feed(bytes, [this](std::string_view data) { take_event(data); });
  } else {
    const std::size_t most = head.status == 200 ? 4 * kLongestText : kLongestErrorBody;
    body_ += bytes.substr(0, most - std::min(most, body_.size()));
    if (body_.size() >= most && head.status == 200) too_large_ = true;
    if (body_.size() >= most) return false;
  }
  too_large_ = too_large_ || text_.size() > kLongestText || reasoning_.size() > 4 * kLongestText;
  return !too_large_ && !error_ && bad_.empty();
}

void ReplyReader::take_event(std::string_view data) {
  if (data == "[DONE]")
    done_ = true;
  else if (!done_)
    take_completion(data);
}

/// A whole completion (`message`) or a piece of one (`delta`).
void ReplyReader::take_completion(std::string_view text) {
  const Json json = Json::parse(valid_utf8(text), nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    if (bad_.empty()) bad_ = "it is no JSON object: " + shortened(key_.scrub(std::string(text.substr(0, 200))));
    return;
  }
  if (const auto error = error_in(json)) {
    const FailureKind kind = error->status == 0 && error->code.empty()
                                 ? FailureKind::server
                                 : kind_of_status(error->status == 0 ? 500 : error->status, error->code);
    error_ = failure(kind, fmt::format("{} failed: {}{}", model_, shortened(error->message), remedy_of(kind)));
    return;
  }
  if (const auto usage = json.find("usage"); usage != json.end() && usage->is_object()) {
    Usage counted;
    counted.prompt_tokens = count_of(*usage, "prompt_tokens");
    counted.reply_tokens = count_of(*usage, "completion_tokens");
    if (const auto details = usage->find("completion_tokens_details"); details != usage->end())
      counted.reasoning_tokens = count_of(*details, "reasoning_tokens");
    if (const auto cost = usage->find("cost"); cost != usage->end() && cost->is_number() && cost->get<double>() >= 0) {
      counted.cost_usd = cost->get<double>();
      cost_named_ = true;
    }
    if (counted.tokens() > 0) usage_ = counted;
  }
  const auto choices = json.find("choices");
  if (choices == json.end() || !choices->is_array()) return;
  completion_seen_ = true;
  if (choices->empty() || !choices->front().is_object()) return;
  const Json& choice = choices->front();
  for (const char* key : {"delta", "message"}) {
    const auto message = choice.find(key);
    if (message == choice.end() || !message->is_object()) continue;
    text_ += content_of(*message);
    const std::string thought = text_of(*message, "reasoning_content");
    reasoning_ += thought.empty() ? text_of(*message, "reasoning") : thought;
    refusal_ += text_of(*message, "refusal");
  }
  if (const std::string reason = text_of(choice, "finish_reason"); !reason.empty()) finish_reason_ = reason;
}

ChatFailure ReplyReader::failure(FailureKind kind, std::string message) const {
  return {kind, key_.scrub(std::move(message))};
}

std::optional<ChatFailure> ReplyReader::transport_failure(const HttpOutcome& http) const {
  using End = HttpOutcome::End;
  switch (http.end) {
    case End::complete:
    case End::stopped: return std::nullopt;
    case End::cancelled: return failure(FailureKind::cancelled, "given up");
    case End::no_connection:
      return failure(FailureKind::network,
                     fmt::format("{} cannot be reached: {}; check --base-url", model_, http.detail));
    case End::broken:
      return failure(FailureKind::network, fmt::format("the connection to {} broke: {}", model_, http.detail));
    case End::no_first_byte: return failure(FailureKind::timeout, model_ + " did not begin to answer in time");
    case End::silent: return failure(FailureKind::timeout, model_ + " fell silent in the middle of its answer");
    case End::took_too_long: return failure(FailureKind::timeout, model_ + " took too long to answer");
    case End::too_large: return failure(FailureKind::too_large, model_ + " sends more than is taken from an answer");
  }
  return std::nullopt;
}

ChatFailure ReplyReader::status_failure(const HttpHead& head) const {
  if (head.status >= 300 && head.status < 400)
    return failure(FailureKind::bad_request,
                   fmt::format("{}'s endpoint redirects to '{}', which is not followed; if you trust it, give its "
                               "address with --base-url",
                               model_, shortened(head.location)));
  NamedError error;
  const Json json = Json::parse(valid_utf8(body_), nullptr, false);
  if (const auto named = error_in(json))
    error = *named;
  else if (json.is_object())
    error.message = text_of(json, "message");
  if (error.message.empty()) error.message = body_.empty() ? "no reason is given" : body_;
  const FailureKind kind = kind_of_status(head.status, error.code);
  ChatFailure failed = failure(kind, fmt::format("{}'s endpoint answers with status {}: {}{}", model_, head.status,
                                                 shortened(key_.scrub(error.message)), remedy_of(kind)));
  failed.retry_after = head.retry_after;
  return failed;
}

/// As the endpoint counted, else by the bytes.
Usage ReplyReader::counted(bool anything_sent) {
  if (usage_) return *usage_;
  Usage usage;
  if (!anything_sent) return usage;
  usage.prompt_tokens = estimated_tokens(request_.messages);
  usage.reply_tokens = estimated_tokens(text_) + estimated_tokens(reasoning_);
  usage.reasoning_tokens = estimated_tokens(reasoning_);
  usage.estimated = true;
  return usage;
}

ChatOutcome ReplyReader::finish(const HttpOutcome& http) {
  if (streamed_ && !too_large_) events_.finish([this](std::string_view data) { take_event(data); });
  const HttpHead& head = http.head;
  std::optional<ChatFailure> failed;
  const bool ended = done_ || !finish_reason_.empty();
  if (head.status != 0 && head.status != 200 && http.end != HttpOutcome::End::cancelled) {
    failed = status_failure(head);
  } else if (auto transport = transport_failure(http); transport && !ended) {
    failed = std::move(transport);
  } else if (too_large_) {
    failed = failure(FailureKind::too_large,
                     fmt::format("{} sends more than {} bytes, which is no kernel", model_, kLongestText));
  } else {
    if (!streamed_ && begun_) take_completion(body_);
    if (error_)
      failed = error_;
    else if (!bad_.empty() || !completion_seen_)
      failed =
          failure(FailureKind::malformed,
                  fmt::format("{}'s endpoint answers with '{}', which is not a chat completion{}; check --base-url",
                              model_, head.content_type, bad_.empty() ? "" : ": " + bad_));
    else if (finish_reason_ == "content_filter" || !refusal_.empty())
      failed = failure(FailureKind::refused,
                       fmt::format("{} refuses to answer{}", model_,
                                   refusal_.empty() ? ": its filter ended the answer" : ": " + shortened(refusal_)));
    else if (finish_reason_ == "length")
      failed = failure(FailureKind::truncated,
                       fmt::format("{}'s answer ended at the limit of {} tokens", model_, request_.max_reply_tokens));
    else if (streamed_ && !done_ && finish_reason_.empty())
      failed = failure(FailureKind::network, model_ + "'s answer ended in the middle");
    else if (text_.find_first_not_of(" \t\r\n") == std::string::npos)
      failed = failure(FailureKind::empty, fmt::format("{} answered with no text{}", model_,
                                                       reasoning_.empty() ? "" : ", only with thoughts"));
  }
  const bool was_read = head.status == 200 || http.end == HttpOutcome::End::no_first_byte;  // the prompt, so it is paid
  const Usage usage = counted(was_read);
  std::string text = key_.scrub_answer(valid_utf8(text_)), reasoning = key_.scrub_answer(valid_utf8(reasoning_));
  if (text.size() > kLongestText) text.resize(kLongestText);
  if (!failed) return ChatReply{std::move(text), std::move(reasoning), usage};
  failed->text = std::move(text);
  failed->usage = usage;
  return *std::move(failed);
}

}  // namespace kerf::llm
