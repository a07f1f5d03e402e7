#include "bench/prepared_comparisons.hpp"

#include <chrono>

namespace kerf::bench {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

static constexpr std::chrono::milliseconds kLook{20};  ///< how often is looked whether the user has stopped

PreparedComparisons::~PreparedComparisons() {
  for (auto& [problem, one] : open_) end(one);
}

void PreparedComparisons::end(One& one) {
  server_.cancel(one.wait_for);
  one.answer.wait();
  std::error_code error;
  fs::remove(one.wait_for, error);
}

void PreparedComparisons::begin(const std::string& problem, pytorch::CompareRequest request) {
  const std::lock_guard lock(mutex_);
  if (open_.contains(problem)) return;
  One one;
  one.wait_for = request.wait_for = request.model.parent_path() / "kernel_is_there";
  std::error_code error;
  fs::remove(one.wait_for, error);  // of a command that was killed
  one.answer =
      std::async(std::launch::async, [this, request] { return pytorch::compare_with_pytorch(request, server_); });
  open_.emplace(problem, std::move(one));
}

Finished PreparedComparisons::finish(const std::string& problem, const pytorch::CompareRequest& request,
                                     const std::atomic<bool>& stop) {
  One one;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(problem);
    if (found == open_.end()) return {};
    one = std::move(found->second);
    open_.erase(found);
  }
  const auto told = pytorch::begin_comparison(one.wait_for, request.kernel, request.timing, request.time_limit);
  const auto deadline = steady_clock::now() + request.time_limit;
  while (told && !stop && steady_clock::now() < deadline)
    if (one.answer.wait_for(kLook) == std::future_status::ready) break;
  if (one.answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    end(one);
    return {std::nullopt, told.has_value() && !stop};
  }
  std::error_code error;
  const bool unread = fs::remove(one.wait_for, error);  // it ended before it could be told
  auto answer = one.answer.get();
  if (!told || unread || !answer) return {};
  return {*std::move(answer), false};
}

}  // namespace kerf::bench
