#include "bench/prepared_comparisons.hpp"

namespace kerf::bench {

namespace fs = std::filesystem;

PreparedComparisons::~PreparedComparisons() {
  for (auto& [problem, one] : open_) pytorch::end_comparison(one.wait_for);
  std::error_code error;
  for (auto& [problem, one] : open_) {
    one.answer.wait();
    fs::remove(one.wait_for, error);
  }
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

std::optional<pytorch::Comparison> PreparedComparisons::finish(const std::string& problem, const fs::path& kernel,
                                                               std::chrono::milliseconds timing) {
  One one;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(problem);
    if (found == open_.end()) return {};
    one = std::move(found->second);
    open_.erase(found);
  }
  const bool told = pytorch::begin_comparison(one.wait_for, kernel, timing).has_value();
  if (!told) pytorch::end_comparison(one.wait_for);
  auto answer = one.answer.get();
  std::error_code error;
  const bool unread = fs::remove(one.wait_for, error);  // it ended before it could be told
  if (!told || unread || !answer) return {};
  return *std::move(answer);
}

}  // namespace kerf::bench
