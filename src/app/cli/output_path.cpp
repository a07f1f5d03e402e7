#include "app/cli/output_path.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

auto refused(const fs::path& path, const std::string& why) {
  return fail(Errc::invalid_input, fmt::format("cannot write {}: {}; choose another place", path.string(), why));
}

/// Tries a file of its own in the nearest folder that is there: permissions alone do not tell (read-only or virtual
/// file systems, the superuser).
Status check_parent(const fs::path& path, fs::path folder) {
  std::error_code error;
  if (folder.empty()) folder = ".";
  const fs::path wanted = folder.lexically_normal();
  while (!fs::exists(fs::symlink_status(folder, error)) && folder.has_parent_path()) folder = folder.parent_path();
  if (!fs::exists(fs::symlink_status(folder, error))) folder = ".";  // the first part of a relative path
  if (!fs::is_directory(folder, error)) return refused(path, folder.string() + " is not a folder");
  if (folder == folder.root_path() && wanted != folder) {  // a slip rather than a wish
    const fs::path missing = folder / *std::next(wanted.begin());
    return refused(
        path, fmt::format("there is no folder {}, and none is made at the top of the file system", missing.string()));
  }
  std::string probe = (folder / ".kerf-probe-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0 && errno == ENOENT) return refused(path, fmt::format("no files can be made in {}", folder.string()));
  if (file < 0) return refused(path, fmt::format("{}: {}", folder.string(), std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
  return {};
}

}  // namespace

Status check_output_file(const fs::path& path) {
  if (path.empty()) return {};
  std::error_code error;
  if (fs::is_directory(path, error) || !path.has_filename()) return refused(path, "it is a folder, not a file");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {  // a device or pipe is written in place
    if (::access(path.c_str(), W_OK) == 0) return {};
    return refused(path, std::strerror(errno));
  }
  return check_parent(path, path.parent_path());
}

Status check_output_folder(const fs::path& path) {
  if (path.empty()) return {};
  return check_parent(path, path);
}

}  // namespace kerf::cli
