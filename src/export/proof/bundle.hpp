#pragma once
// The files of a proof bundle, read once and without following anything that leads out of its folder.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.hpp"

namespace kerf::exporting {

inline constexpr const char* kManifest = "manifest.sha256";

inline constexpr std::uintmax_t kMaxBundleBytes = 64 << 20;  ///< of all files together
inline constexpr std::size_t kMaxBundleFiles = 256;
inline constexpr int kMaxBundleDepth = 8;  ///< folders below each other

/// Text by path relative to the folder. Links, pipes, devices, folders without files and more than the limits above are
/// errors that name the file. What is returned is what was read: nothing is opened a second time.
Result<std::map<std::string, std::string>> read_bundle(const std::filesystem::path& folder);

/// Holds every file to its hash in the manifest. Changed, missing and added files are named in the error; so is a
/// manifest that is not in the form of sha256sum, or whose paths lead elsewhere.
Status check_manifest(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

/// Where a file that the task names lies in the bundle; an error for one outside of the task's folder.
Result<std::string> place_in_bundle(const std::string& name);
/// Every file of `task_files` (JSON, see Proof) has a place.
Status check_places(const std::string& task_files);

}  // namespace kerf::exporting
