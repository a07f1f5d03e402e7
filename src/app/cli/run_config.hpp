#pragma once
// How a run was started: kept as run.toml in its folder, read again when it is resumed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "app/cli/commands.hpp"
#include "judge/judge.hpp"
#include "search/loop.hpp"
#include "store/run_store.hpp"

namespace kerf::cli {

struct RunConfig {
  std::string target = "cpu";
  std::string device;  ///< as given; "": the first
  JudgeOptions judge;
  SearchOptions search;
};

std::string to_toml(const RunConfig& config, const std::string& task);
Result<RunConfig> config_from_toml(const std::string& text);

/// An opened run with its task.
struct Run {
  std::unique_ptr<RunStore> store;
  Task task;
  RunConfig config;
  bool resumed = false;
};

/// A new run folder for the task, or the run that --resume names with this command's changes on top.
Result<Run> open_run(const OptimizeOptions& options, std::int64_t wall_ms, std::uint64_t fresh_seed);

}  // namespace kerf::cli
