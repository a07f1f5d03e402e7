#pragma once
// A run's folder while the run is being started.

#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace kerf {

/// Removes what a run that failed to start has written: the folder and those parents that did not exist before.
class StartedFolder {
 public:
  /// invalid_input when there is something in the folder; nothing is written.
  static Result<StartedFolder> check(const std::filesystem::path& folder);
  StartedFolder(StartedFolder&& other) noexcept;
  StartedFolder& operator=(StartedFolder&&) = delete;
  ~StartedFolder();
  void keep() { made_.clear(), folder_.clear(); }

 private:
  StartedFolder() = default;
  std::filesystem::path folder_;             // emptied ...
  std::vector<std::filesystem::path> made_;  // ... and these removed, innermost first
};

}  // namespace kerf
