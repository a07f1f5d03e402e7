#pragma once
// Case files: one TOML a case (task, target, kernel, expected outcomes), read into values.

#include <filesystem>
#include <string>
#include <vector>

namespace kerf::cases {

struct Case {
  std::string name;                 ///< file name without extension: "hostile_cpu_noop"
  std::string kind;                 ///< "hostile", "honest" or "cases", by the prefix of the name
  std::string target;               ///< "cpu", "opencl", "cuda"
  std::filesystem::path task;       ///< absolute
  std::filesystem::path kernel;     ///< absolute
  std::vector<std::string> expect;  ///< outcome names, at least one
  std::string gate;                 ///< "": any
  std::string why;
};

/// Kernels of one kind, target and task are judged by one command.
struct Group {
  std::string name;         ///< "hostile_cpu_rowsum_small"
  std::vector<Case> cases;  ///< at least one
};

/// Reads every *.toml of `folder`, sorted by name; a mistake in one throws std::runtime_error with its name. `root` is
/// the folder that kernels are relative to; tasks are looked for in `folder`/tasks, then in `root`/../tasks.
std::vector<Case> read_cases(const std::filesystem::path& folder, const std::filesystem::path& root);

std::vector<Group> grouped(const std::vector<Case>& cases);

}  // namespace kerf::cases
