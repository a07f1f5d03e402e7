#include "run/run_folder.hpp"

#include <fmt/format.h>

namespace kerf {

namespace fs = std::filesystem;

Result<StartedFolder> StartedFolder::check(const fs::path& folder) {
  std::error_code error;
  StartedFolder started;
  if (fs::exists(folder, error)) {
    if (!fs::is_directory(folder, error))
      return fail(Errc::invalid_input, fmt::format("{} is a file; choose another folder", folder.string()));
    if (!fs::is_empty(folder, error))
      return fail(Errc::invalid_input,
                  fs::exists(folder / "kerf.db", error)
                      ? fmt::format("{} holds a run already; continue it with --resume or choose another folder",
                                    folder.string())
                      : fmt::format("{} is not empty (there is '{}'); choose another folder", folder.string(),
                                    fs::directory_iterator(folder, error)->path().filename().string()));
  }
  for (fs::path at = fs::absolute(folder, error); !at.empty() && !fs::exists(at, error) && at != at.parent_path();
       at = at.parent_path())
    started.made_.push_back(at);
  return started;
}

StartedFolder::StartedFolder(StartedFolder&& other) noexcept : made_(std::move(other.made_)) { other.keep(); }

StartedFolder::~StartedFolder() {
  std::error_code error;
  for (const auto& path : made_) fs::remove(path, error);  // refused by the system when there is something in it
}

}  // namespace kerf
