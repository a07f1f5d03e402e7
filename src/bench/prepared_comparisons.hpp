#pragma once
// Comparisons whose PyTorch half is under way while the kernel is searched for: importing PyTorch, the model's first
// call and torch.compile take longer than the timing itself.

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "pytorch/bridge_server.hpp"
#include "pytorch/compare.hpp"

namespace kerf::bench {

/// What came of a comparison that was prepared.
struct Finished {
  std::optional<pytorch::Comparison> comparison;  ///< none: there is none, or it ended before the kernel was there
  bool timed_out = false;
};

/// Thread-safe. `server` is borrowed.
class PreparedComparisons {
 public:
  explicit PreparedComparisons(pytorch::BridgeServer& server) : server_(server) {}
  ~PreparedComparisons();  ///< ends those that nobody finished, whatever they are doing
  PreparedComparisons(const PreparedComparisons&) = delete;
  PreparedComparisons& operator=(const PreparedComparisons&) = delete;

  /// Begins one, named by its problem; it is told to go on by a file beside the model. Nothing happens where it is
  /// there already.
  void begin(const std::string& problem, pytorch::CompareRequest request);

  /// Goes on with kernel, rounds and limit of `request`. Ends early, without a comparison, when `stop` is set.
  Finished finish(const std::string& problem, const pytorch::CompareRequest& request, const std::atomic<bool>& stop);

 private:
  struct One {
    std::filesystem::path wait_for;
    std::future<Result<pytorch::Comparison>> answer;
  };
  void end(One& one);

  pytorch::BridgeServer& server_;
  std::mutex mutex_;
  std::map<std::string, One> open_;  // guarded by mutex_
};

}  // namespace kerf::bench
