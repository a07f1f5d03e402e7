#pragma once
// A program of ours in a process of its own, with an eye on its time and on the memory of all that it starts.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kerf::bench {

struct WatchedCommand {
  std::vector<std::string> argv;                   ///< argv[0] is an absolute path
  std::map<std::string, std::string> environment;  ///< all of it
  double most_seconds = 0;                         ///< then it is killed
  std::int64_t most_memory_bytes = 0;              ///< of it and its descendants together; 0: no limit
  const std::atomic<bool>* stop = nullptr;  ///< set: it is asked to end (SIGINT) and killed after `grace_seconds`
  double grace_seconds = 20;
  std::function<void(const std::string&)> on_line{};  ///< each line of its stdout, as it comes
};

struct WatchedOutcome {
  int exit_code = 0;  ///< valid when signal == 0
  int signal = 0;
  bool timed_out = false, out_of_memory = false, stopped = false;
  std::string err;  ///< the end of its stderr
  std::int64_t peak_memory_bytes = 0;
};

/// Returns when it has ended. It is killed when this process dies, and what it started dies with it.
Result<WatchedOutcome> run_watched(const WatchedCommand& command);

/// Memory of a process and its descendants: their shares of what is in memory. 0 when it is gone.
std::int64_t memory_of_tree(int pid);

}  // namespace kerf::bench
