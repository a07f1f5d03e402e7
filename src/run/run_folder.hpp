#pragma once
// A run's folder while the run is being started.

#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// Removes the folder of a run that failed to start and those parents that did not exist before, where they are empty.
/// Files are the business of who holds the run's lock (`discard_run`).
class StartedFolder {
 public:
  /// invalid_input when there is something in the folder; nothing is written.
  static Result<StartedFolder> check(const std::filesystem::path& folder);
  StartedFolder(StartedFolder&& other) noexcept;
  StartedFolder& operator=(StartedFolder&&) = delete;
  ~StartedFolder();
  void keep() { made_.clear(); }

 private:
  StartedFolder() = default;
  std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace kerf
