#pragma once
// Runs a program of the user's in a folder, under a time limit, and ends all that it started. Not a sandbox: an agent
// needs the network and the user's files.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.hpp"

namespace kerf::agents {

struct ProgramEnd {
  int exit_code = 0;  ///< 128 and the signal's number when one ended it
  bool timed_out = false, cancelled = false;
  std::string output;  ///< the end of what it printed, both streams, valid UTF-8
  double seconds = 0;
};

/// `command` is given to /bin/sh, in a process group of its own, with `environment` and nothing else. The group is
/// killed when the time is over, when `cancelled` is set, and when the program has ended.
Result<ProgramEnd> run_program(const std::string& command, const std::filesystem::path& folder,
                               const std::map<std::string, std::string>& environment, std::chrono::milliseconds limit,
                               const std::atomic<bool>& cancelled);

}  // namespace kerf::agents
