#pragma once
// Run folders by the names people type.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kerf {

inline constexpr const char* kCampaignFile = "campaign.json";  ///< in a folder whose folders are runs

/// The folders with a run below `runs`: its own and those of campaigns in it; not sorted.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& runs);

/// The run folder that `name` means: a folder with a run in it, or the beginning of the name of exactly one run in
/// `runs`; runs of a campaign are named "campaign/run", or by their own name where only one has it. not_found and
/// invalid_input say which runs there are, or the nearest.
Result<std::filesystem::path> find_run(const std::string& name, const std::filesystem::path& runs);

}  // namespace kerf
