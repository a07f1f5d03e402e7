#pragma once
// Run folders by the names people type.

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace kerf {

/// The run folder that `name` means: a folder with a run in it, or the beginning of the name of exactly one run in
/// `runs`. not_found and invalid_input say which runs there are, or the nearest.
Result<std::filesystem::path> find_run(const std::string& name, const std::filesystem::path& runs);

}  // namespace kerf
