#pragma once
// Comparisons whose PyTorch half is under way while the kernel is searched for: importing PyTorch, the model's first
// call and torch.compile take longer than the timing itself.

#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "pytorch/bridge_server.hpp"
#include "pytorch/compare.hpp"

namespace kerf::bench {

/// Thread-safe. `server` is borrowed.
class PreparedComparisons {
 public:
  explicit PreparedComparisons(pytorch::BridgeServer& server) : server_(server) {}
  ~PreparedComparisons();  ///< ends those that still wait
  PreparedComparisons(const PreparedComparisons&) = delete;
  PreparedComparisons& operator=(const PreparedComparisons&) = delete;

  /// Begins one, named by its problem; it is told to go on by a file beside the model. Nothing happens where it is
  /// there already.
  void begin(const std::string& problem, pytorch::CompareRequest request);

  /// What came of it with this kernel. None: there is none, or it ended before the kernel was there.
  std::optional<pytorch::Comparison> finish(const std::string& problem, const std::filesystem::path& kernel,
                                            std::chrono::milliseconds timing);

 private:
  struct One {
    std::filesystem::path wait_for;
    std::future<Result<pytorch::Comparison>> answer;
  };
  pytorch::BridgeServer& server_;
  std::mutex mutex_;
  std::map<std::string, One> open_;  // guarded by mutex_
};

}  // namespace kerf::bench
