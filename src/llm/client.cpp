#include "llm/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/rng.hpp"
#include "llm/completion.hpp"

namespace kerf::llm {
namespace {

constexpr Nanoseconds kSlice = std::chrono::milliseconds(20);  // of waiting, between looks at `cancelled`
constexpr int kMostTimeouts = 2;                               // attempts that may end in silence: each takes minutes
constexpr int kMostUnreached = 2;                              // attempts at an endpoint that was never reached
constexpr double kFirstTokensPerByte = 0.5;                    // of prompts, until an endpoint has counted one
constexpr double kMargin = 1.1;                                // over what it counted
constexpr double kLearningBytes = 1000;                        // shorter prompts are mostly framing

bool worth_retrying(FailureKind kind) {
  return kind == FailureKind::rate_limit || kind == FailureKind::server || kind == FailureKind::network ||
         kind == FailureKind::timeout;
}

std::size_t bytes_of(const std::vector<Message>& messages) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.content.size();
  return bytes;
}

class ChatClient final : public ChatModel {
 public:
  ChatClient(ModelSpec spec, const Endpoint& endpoint, Secret key, const ClientTools& tools)
      : spec_(std::move(spec)),
        url_(endpoint.base_url + "/chat/completions"),
        key_(std::move(key)),
        tools_(tools),
        limiter_(spec_.rate, tools.clock) {
    const auto ms = [](double seconds) { return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)); };
    if (spec_.first_byte_seconds) tools_.http.first_byte = ms(*spec_.first_byte_seconds);
    if (spec_.silence_seconds) tools_.http.silence = ms(*spec_.silence_seconds);
  }

  const std::string& name() const override { return spec_.name; }

  ChatOutcome ask(const ChatRequest& request, const std::atomic<bool>& cancelled) override {
    Rng rng = Rng(tools_.seed).fork(fmt::format("retry {} {}", spec_.name, questions_++));
    const Nanoseconds began = tools_.clock.now();
    Usage usage;
    int timeouts = 0;
    for (int attempt = 1;; ++attempt) {
      ChatOutcome outcome = attempt_once(request, cancelled);
      const auto finish = [&](auto& one) {
        usage += one.usage;
        one.usage = usage;
        one.attempts = attempt;
        one.seconds = std::chrono::duration<double>(tools_.clock.now() - began).count();
      };
      std::visit(finish, outcome);
      auto* failed = std::get_if<ChatFailure>(&outcome);
      if (failed == nullptr) return outcome;
      if (failed->kind == FailureKind::bad_request && learn_dialect(failed->message)) continue;
      timeouts += failed->kind == FailureKind::timeout ? 1 : 0;
      const bool unreached = failed->kind == FailureKind::network && !reached_ && attempt >= kMostUnreached;
      if (!worth_retrying(failed->kind) || unreached || attempt >= tools_.retry.attempts || timeouts >= kMostTimeouts) {
        if (attempt > 1) failed->message += fmt::format(" ({} attempts)", attempt);
        return outcome;
      }
      const auto wait = wait_before(attempt + 1, *failed, rng);
      if (!wait) return outcome;
      if (!wait_for(*wait, cancelled)) return given_up(usage, attempt);
    }
  }

 private:
  /// One request, within the limits and the budget.
  ChatOutcome attempt_once(const ChatRequest& asked, const std::atomic<bool>& cancelled) {
    const std::int64_t prompt = prompt_tokens(asked);
    std::optional<Grant> grant;
    while (!grant) {
      if (cancelled) return ChatFailure{FailureKind::cancelled, "given up"};
      auto answer = tools_.budget.reserve(prompt, asked.max_reply_tokens, spec_.price.value_or(Price{}));
      if (const auto* spent = std::get_if<Spent>(&answer)) return ChatFailure{FailureKind::budget, spent->reason};
      if (const auto* granted = std::get_if<Grant>(&answer))
        grant = *granted;
      else
        tools_.sleep(kSlice);
    }
    while (!limiter_.try_begin(grant->prompt_tokens + grant->reply_tokens)) {
      if (cancelled) {
        tools_.budget.settle(*grant, {});
        return ChatFailure{FailureKind::cancelled, "given up"};
      }
      tools_.sleep(kSlice);
    }
    ChatRequest request = asked;
    request.max_reply_tokens = grant->reply_tokens;
    ChatOutcome outcome = send(request, cancelled);
    limiter_.end();
    tools_.budget.settle(*grant, std::visit([](const auto& one) { return one.usage; }, outcome));
    return outcome;
  }

  ChatOutcome send(const ChatRequest& request, const std::atomic<bool>& cancelled) {
    ReplyReader reader(spec_.name, request, key_);
    const HttpRequest http{url_, request_json(spec_.name, request, spec_.temperature, dialect()), key_};
    const HttpOutcome ended = tools_.transport.post(
        http, tools_.http, [&](const HttpHead& head, std::string_view bytes) { return reader.feed(head, bytes); },
        cancelled);
    if (ended.end != HttpOutcome::End::no_connection && ended.end != HttpOutcome::End::cancelled) reached_ = true;
    ChatOutcome outcome = reader.finish(ended);
    std::visit(
        [&](auto& one) {
          Usage& usage = one.usage;
          if (!reader.cost_was_named() && spec_.price)
            usage.cost_usd = spec_.price->of(usage.prompt_tokens, usage.reply_tokens);
          if (!usage.estimated && usage.prompt_tokens > 0) learn_tokens(request, usage.prompt_tokens);
        },
        outcome);
    return outcome;
  }

  /// At least what the endpoint will count, as far as earlier answers tell.
  std::int64_t prompt_tokens(const ChatRequest& request) const {
    const std::lock_guard lock(mutex_);
    const double framing = 16 + 8.0 * static_cast<double>(request.messages.size());
    return static_cast<std::int64_t>(static_cast<double>(bytes_of(request.messages)) * tokens_per_byte_ + framing) + 1;
  }

  void learn_tokens(const ChatRequest& request, std::int64_t counted) {
    const auto bytes = static_cast<double>(bytes_of(request.messages));
    if (bytes < kLearningBytes) return;
    const std::lock_guard lock(mutex_);
    const double seen = std::min(kMargin * static_cast<double>(counted) / bytes, 1.0);
    tokens_per_byte_ = counted_once_ ? std::max(tokens_per_byte_, seen) : seen;
    counted_once_ = true;
  }

  Dialect dialect() const {
    const std::lock_guard lock(mutex_);
    return dialect_;
  }
  /// True when another dialect is worth a try.
  bool learn_dialect(const std::string& message) {
    const std::lock_guard lock(mutex_);
    const auto other = other_dialect(dialect_, message);
    if (!other || ++dialects_tried_ > 4) return false;
    dialect_ = *other;
    return true;
  }

  /// Nothing when the endpoint asks for more patience than there is.
  std::optional<Nanoseconds> wait_before(int attempt, ChatFailure& failed, Rng& rng) const {
    const RetryRules& rules = tools_.retry;
    double ms = static_cast<double>(rules.first_wait.count()) * static_cast<double>(1LL << std::min(attempt - 2, 20));
    ms = std::min(ms, static_cast<double>(rules.longest_wait.count())) * (0.5 + 0.5 * rng.uniform());
    if (failed.retry_after) {
      if (*failed.retry_after > rules.longest_wish) {
        failed.message += fmt::format(" (it asks to be left alone for {} s)", failed.retry_after->count() / 1000);
        return std::nullopt;
      }
      ms = std::max(ms, static_cast<double>(failed.retry_after->count()));
    }
    return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
  }

  bool wait_for(Nanoseconds wait, const std::atomic<bool>& cancelled) const {
    for (const Nanoseconds until = tools_.clock.now() + wait; tools_.clock.now() < until;) {
      if (cancelled) return false;
      tools_.sleep(std::min(kSlice, until - tools_.clock.now()));
    }
    return !cancelled;
  }

  static ChatFailure given_up(const Usage& usage, int attempts) {
    ChatFailure failed{FailureKind::cancelled, "given up"};
    failed.usage = usage;
    failed.attempts = attempts;
    return failed;
  }

  const ModelSpec spec_;
  const std::string url_;
  const Secret key_;
  ClientTools tools_;
  RateLimiter limiter_;
  std::atomic<std::int64_t> questions_{0};
  std::atomic<bool> reached_{false};  // the endpoint, at least once
  mutable std::mutex mutex_;
  Dialect dialect_;  // guarded by mutex_, as all below
  int dialects_tried_ = 0;
  double tokens_per_byte_ = kFirstTokensPerByte;
  bool counted_once_ = false;
};

}  // namespace

Sleep real_sleep() {
  return [](Nanoseconds wait) { std::this_thread::sleep_for(wait); };
}

Result<std::unique_ptr<ChatModel>> make_chat_client(const ModelSpec& spec, const Secret& key,
                                                    const ClientTools& tools) {
  if (spec.name.empty()) return fail(Errc::invalid_input, "a model needs a name: --model NAME");
  KERF_TRY(const Endpoint endpoint, parse_base_url(spec.base_url));
  if (!key.empty() && !endpoint.encrypted && !endpoint.on_this_machine)
    return fail(
        Errc::invalid_input,
        fmt::format("the key would travel unencrypted to {}; give its address with https://", endpoint.base_url));
  return std::make_unique<ChatClient>(spec, endpoint, key, tools);
}

}  // namespace kerf::llm
