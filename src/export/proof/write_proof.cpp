#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/one_line.hpp"
#include "export/proof/bundle.hpp"
#include "export/proof/proof.hpp"

namespace kerf::exporting {
namespace fs = std::filesystem;
namespace {

/// A folder of its own inside of another; it goes with what is left in it.
class StagedFolder {
 public:
  explicit StagedFolder(const fs::path& folder) {
    std::string pattern = (folder / ".kerf-proof-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Every file is as the manifest says, and is one of those that bundles have; whether the claim is true does not
/// matter.
Status check_is_bundle(const fs::path& folder, const std::map<std::string, std::string>& files) {
  KERF_TRY_VOID(check_manifest(folder, files));
  const auto claim = files.find("claim.json");
  const auto json = claim == files.end() ? nlohmann::json() : nlohmann::json::parse(claim->second, nullptr, false);
  if (!json.is_object() || !json.contains("kerf_version") || !json.contains("evaluation"))
    return fail(Errc::invalid_input, "it has no claim.json of Kerf's");
  for (const auto& [path, text] : files)
    if (path != "PROOF.md" && path != "claim.json" && path != kManifest && !path.starts_with("kernel.") &&
        !path.starts_with("task/"))
      return fail(Errc::invalid_input, fmt::format("{} is no file of a bundle", one_line(path)));
  return {};
}

/// The paths of the bundle that is there: all that a later one may remove. Empty when there is nothing in the folder.
Result<std::set<std::string>> older_bundle(const fs::path& folder) {
  std::set<std::string> paths;
  std::error_code error;
  if (!fs::exists(folder, error)) return paths;
  if (fs::is_directory(folder, error) && fs::is_empty(folder, error)) return paths;
  const auto files = read_bundle(folder);
  if (const Status whole = files ? check_is_bundle(folder, *files) : Status(tl::unexpected(files.error())); !whole)
    return fail(
        Errc::invalid_input,
        fmt::format("{} exists and is not a whole proof bundle ({}); choose another place with --out, or remove "
                    "it first",
                    one_line(folder.string()), whole.error().message));
  for (const auto& [path, text] : *files) paths.insert(path);
  return paths;
}

/// Renames within one file system: nothing that can run out of space.
Status move_into_place(const fs::path& from, const fs::path& to, const std::vector<File>& files) {
  std::error_code error;
  for (const File& file : files) {
    fs::create_directories((to / file.path).parent_path(), error);
    fs::rename(from / file.path, to / file.path, error);
    if (error) return fail(Errc::io, fmt::format("cannot write {}: {}", (to / file.path).string(), error.message()));
  }
  return {};
}

}  // namespace

Status write_proof(const fs::path& folder, const std::vector<File>& files) {
  KERF_TRY(std::set<std::string> left_over, older_bundle(folder));
  std::error_code error;
  fs::create_directories(folder, error);
  const StagedFolder staged(folder);
  if (staged.path().empty())
    return fail(Errc::io, fmt::format("cannot make a folder in {}: {}", folder.string(), std::strerror(errno)));
  for (const File& file : files) KERF_TRY_VOID(write_file_atomic(staged.path() / file.path, file.text));
  KERF_TRY_VOID(move_into_place(staged.path(), folder, files));
  for (const File& file : files) left_over.erase(file.path);
  for (const std::string& path : left_over) {
    fs::remove(folder / path, error);
    for (fs::path at = fs::path(path).parent_path(); !at.empty(); at = at.parent_path())
      fs::remove(folder / at, error);  // refused by the system where something is in it
  }
  return {};
}

}  // namespace kerf::exporting
