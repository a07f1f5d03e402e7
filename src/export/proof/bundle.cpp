#include "export/proof/bundle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/hash.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"

namespace kerf::exporting {
namespace fs = std::filesystem;
namespace {

using Files = std::map<std::string, std::string>;

tl::unexpected<Error> refuse(const fs::path& folder, const std::string& why) {
  return fail(Errc::invalid_input, fmt::format("the bundle {} is refused: {}", one_line(folder.string()), why));
}

/// Opened without following a link or waiting for a pipe, and looked at once more through what was opened.
Result<std::string> read_regular(const fs::path& path, std::uintmax_t room) {
  const std::string shown = one_line(path.filename().string());
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return fail(Errc::invalid_input, fmt::format("{} cannot be opened: {}", shown, std::strerror(errno)));
  struct stat found{};
  std::string text;
  Status status;
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    status = fail(Errc::invalid_input, fmt::format("{} is not a regular file", shown));
  } else {
    char part[1 << 16];
    for (ssize_t n; (n = ::read(fd, part, sizeof part)) != 0;) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) status = fail(Errc::io, fmt::format("{} cannot be read: {}", shown, std::strerror(errno)));
      if (n > 0 && text.size() + static_cast<std::size_t>(n) > room)
        status = fail(Errc::invalid_input, fmt::format("its files take more than {} MiB", kMaxBundleBytes >> 20));
      if (!status) break;
      text.append(part, static_cast<std::size_t>(n));
    }
  }
  ::close(fd);
  if (!status) return tl::unexpected(status.error());
  return text;
}

/// Reads what is in one folder of the bundle, then the folders in it.
class Reader {
 public:
  explicit Reader(fs::path root) : root_(std::move(root)) {}

  Status read(const fs::path& folder, int depth) {
    if (depth > kMaxBundleDepth) return refuse(root_, "its folders are nested too deeply");
    std::error_code error;
    bool empty = true;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      empty = false;
      KERF_TRY_VOID(take(entry->path(), depth));
    }
    if (error) return refuse(root_, fmt::format("{} cannot be listed: {}", shown(folder), error.message()));
    if (empty) return refuse(root_, fmt::format("the folder {} is empty", shown(folder)));
    return {};
  }

  Files files;

 private:
  std::string shown(const fs::path& path) const { return one_line(path.lexically_relative(root_).string()); }

  Status take(const fs::path& path, int depth) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (!error && status.type() == fs::file_type::directory) return read(path, depth + 1);
    if (error || status.type() != fs::file_type::regular)
      return refuse(root_, fmt::format("{} is not a regular file", shown(path)));
    if (files.size() >= kMaxBundleFiles)
      return refuse(root_, fmt::format("it has more than {} files", kMaxBundleFiles));
    auto text = read_regular(path, kMaxBundleBytes - bytes_);
    if (!text) return refuse(root_, text.error().message);
    bytes_ += text->size();
    files[path.lexically_relative(root_).string()] = *std::move(text);
    return {};
  }

  fs::path root_;
  std::uintmax_t bytes_ = 0;
};

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// A path inside of the bundle, written the one way it can be.
bool is_inside(const std::string& path) {
  const fs::path parsed(path);
  return !path.empty() && parsed.is_relative() && parsed.lexically_normal().string() == path &&
         *parsed.begin() != ".." && one_line(path) == path;
}

/// What the manifest promises, by path.
Result<Files> promises(const fs::path& folder, const Files& files) {
  const auto manifest = files.find(kManifest);
  if (manifest == files.end())
    return fail(Errc::not_found,
                fmt::format("{} is no proof bundle: it has no {}", one_line(folder.string()), kManifest));
  Files promised;
  for (const auto& line : split(manifest->second, '\n')) {
    if (line.empty()) continue;
    const std::string path = line.size() > 66 ? line.substr(66) : "";
    if (!is_hash(line.substr(0, 64)) || line.substr(64, 2) != "  " || !is_inside(path) ||
        !promised.emplace(path, line.substr(0, 64)).second)
      return refuse(folder, fmt::format("{} was tampered with: '{}' is no line of it", kManifest, one_line(line)));
  }
  return promised;
}

}  // namespace

Result<Files> read_bundle(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(Errc::not_found, fmt::format("{} is not a folder", one_line(folder.string())));
  Reader reader(folder);
  KERF_TRY_VOID(reader.read(folder, 0));
  return std::move(reader.files);
}

Status check_manifest(const fs::path& folder, const Files& files) {
  KERF_TRY(const Files promised, promises(folder, files));
  std::vector<std::string> wrong;
  for (const auto& [path, hash] : promised) {
    const auto found = files.find(path);
    if (found == files.end())
      wrong.push_back(path + " is missing");
    else if (sha256_hex(found->second) != hash)
      wrong.push_back(path + " was changed");
  }
  for (const auto& [path, text] : files)
    if (path != kManifest && !promised.contains(path)) wrong.push_back(one_line(path) + " was added");
  if (wrong.empty()) return {};
  return fail(Errc::invalid_input,
              fmt::format("the bundle {} was tampered with: {}", one_line(folder.string()), join(wrong, ", ")));
}

Result<std::string> place_in_bundle(const std::string& name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || relative.string().starts_with("..") || !relative.has_filename())
    return fail(Errc::invalid_input,
                fmt::format("the task names '{}', which is outside of its folder", one_line(name)));
  return (fs::path("task") / relative).string();
}

Status check_places(const std::string& task_files) {
  if (task_files.empty()) return {};
  const auto files = nlohmann::json::parse(task_files, nullptr, false);
  if (!files.is_object()) return fail(Errc::invalid_input, "the list of the task's files is damaged");
  for (const auto& [name, text] : files.items()) {
    KERF_TRY(const std::string place, place_in_bundle(name));
    if (!text.is_string() || place == "task/task.toml")
      return fail(Errc::invalid_input, fmt::format("the task's file '{}' is damaged", one_line(name)));
  }
  return {};
}

}  // namespace kerf::exporting
