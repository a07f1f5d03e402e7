#pragma once
// The settings of a search by name: search.*.

#include <vector>

#include "base/setting.hpp"
#include "search/loop.hpp"

namespace kerf {

const std::vector<Setting<SearchOptions>>& search_settings();

/// The archive's rule in a search with these options: the published one keeps one kernel a cell and lets any larger
/// number replace it. Whoever replays a run's steps uses the same.
ArchiveOptions archive_options(const SearchOptions& options);

}  // namespace kerf
