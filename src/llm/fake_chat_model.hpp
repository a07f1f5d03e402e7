#pragma once
// A chat model for tests: scripted answers, recorded questions.

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "llm/chat.hpp"

namespace kerf::llm {

/// Thread-safe. Without a scripted answer it fails with the kind `unavailable`.
class FakeChatModel final : public ChatModel {
 public:
  explicit FakeChatModel(std::string name) : name_(std::move(name)) {}

  void answer(ChatOutcome outcome) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(outcome));
  }
  void answer(std::string text) { answer(ChatReply{std::move(text), "", Usage{100, 50, 0, 0.01, false}, 1, 2.0}); }
  /// Answers that depend on the question, once the scripted ones are used up.
  void answer_by(std::function<std::string(const ChatRequest&)> by) {
    const std::lock_guard lock(mutex_);
    by_ = std::move(by);
  }
  std::vector<ChatRequest> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  const std::string& name() const override { return name_; }
  ChatOutcome ask(const ChatRequest& request, const std::atomic<bool>&) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
    if (answers_.empty() && by_) return ChatReply{by_(request), "", Usage{100, 50, 0, 0.01, false}, 1, 2.0};
    if (answers_.empty()) return ChatFailure{FailureKind::unavailable, "no answer is scripted"};
    ChatOutcome next = std::move(answers_.front());
    answers_.pop_front();
    return next;
  }

 private:
  std::string name_;
  mutable std::mutex mutex_;
  std::deque<ChatOutcome> answers_;                    // guarded by mutex_
  std::vector<ChatRequest> asked_;                     // likewise
  std::function<std::string(const ChatRequest&)> by_;  // likewise
};

}  // namespace kerf::llm
