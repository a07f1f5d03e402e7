#pragma once
// All settings by name, put together from the rooms that have some: what `--set`, run.toml and docs/settings.md go by.

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/setting.hpp"
#include "ir/dim.hpp"
#include "judge/judge.hpp"
#include "search/loop.hpp"

namespace kerf {

/// Values given with --set, split into tunables and settings.
struct Settings {
  Bindings tunables;
  std::vector<std::pair<std::string, std::string>> options;  ///< keys with a dot
};
Result<Settings> parse_settings(const std::vector<std::string>& texts);

/// Writes the settings (measure.*, judge.* and, where there is a search, search.*) into the options. An unknown name is
/// an error with the nearest known one; so is a value outside of its range.
Status apply_settings(const Settings& settings, JudgeOptions& judge, SearchOptions* search = nullptr);

/// Every setting by name, with its value; in the order of `all_settings`.
std::vector<std::pair<std::string, double>> effective_settings(const JudgeOptions& judge, const SearchOptions& search);

std::vector<SettingFacts> all_settings();

/// "1 to 1000000"; a bound that nobody reaches is left out: "at least 0".
std::string range_text(const SettingFacts& setting);

/// docs/settings.md.
std::string settings_markdown();

}  // namespace kerf
