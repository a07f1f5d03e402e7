#pragma once
// The runs in a folder, by their facts: of their steps only the best is read.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/evaluation.hpp"

namespace kerf {

enum class RunState {
  running,     ///< a process holds its lock
  finished,    ///< it ended by itself
  unfinished,  ///< it was interrupted; it can be resumed
  damaged,     ///< its database cannot be read
};
std::string run_state_name(RunState state);

struct RunEntry {
  std::filesystem::path folder;
  std::string task, target;
  RunState state = RunState::unfinished;
  std::int64_t best_step = 0;   ///< 0: nothing was measured
  std::optional<Speedup> best;  ///< of that step; none for the plain kernel, which is not compared with itself
  bool plain = false;           ///< that step is the plain kernel
  std::int64_t changed_ms = 0;  ///< wall clock of its last change, milliseconds since 1970 in UTC
  std::string ended;            ///< why it ended, or what is wrong with it; "" while it runs
};

/// Whether a process works on the run in this folder now.
bool is_running(const std::filesystem::path& run);

/// Newest first, those of campaigns too. A folder that is not there holds none.
std::vector<RunEntry> list_runs(const std::filesystem::path& runs);

}  // namespace kerf
