#include "store/find_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace kerf {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxListed = 8;

bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "kerf.db", error);
}

std::vector<std::string> runs_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& run : run_folders(folder)) names.push_back(run.lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

/// "camp/rows-cpu" begins with "camp/r" and with "ro".
bool begins(const std::string& known, const std::string& name) {
  const auto slash = known.rfind('/');
  return known.starts_with(name) || (slash != std::string::npos && known.substr(slash + 1).starts_with(name));
}

std::string listed(std::vector<std::string> names) {
  const std::size_t more = names.size() > kMaxListed ? names.size() - kMaxListed : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

/// The known name whose beginning is nearest: people rarely type the time at the end.
std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> beginnings;
  for (const auto& other : known) beginnings.push_back(other.substr(0, std::max(name.size(), std::size_t{3})));
  const std::string near = nearest(name, beginnings);
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!near.empty() && beginnings[i] == near) return fmt::format(" (did you mean '{}'?)", known[i]);
  return did_you_mean(name, known);
}

/// "; runs in it are a, b": of a campaign's folder.
std::string runs_inside(const fs::path& folder) {
  std::vector<std::string> inside;
  for (const std::string& name : runs_in(folder)) inside.push_back((folder / name).string());
  return inside.empty() ? "" : "; runs in it are " + listed(inside);
}

}  // namespace

std::vector<fs::path> run_folders(const fs::path& runs) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    if (is_run(entry.path())) found.push_back(entry.path());
    if (!fs::is_regular_file(entry.path() / kCampaignFile, error)) continue;
    for (const auto& inner : fs::directory_iterator(entry.path(), error))
      if (is_run(inner.path())) found.push_back(inner.path());
  }
  return found;
}

Result<fs::path> find_run(const std::string& name, const fs::path& runs) {
  if (!name.empty() && is_run(name)) return fs::path(name);
  const auto known = runs_in(runs);
  std::vector<std::string> matching;
  for (const auto& other : known) {
    if (other == name) return runs / other;
    if (!name.empty() && begins(other, name)) matching.push_back(other);
  }
  if (matching.size() == 1) return runs / matching[0];
  if (matching.size() > 1)
    return fail(Errc::invalid_input, fmt::format("'{}' could be {} runs: {}; type more of the name", name,
                                                 matching.size(), listed(matching)));
  std::error_code error;
  if (fs::is_directory(name, error))
    return fail(Errc::not_found, fmt::format("the folder '{}' holds no run (no kerf.db){}", name, runs_inside(name)));
  if (fs::exists(name, error)) return fail(Errc::not_found, fmt::format("'{}' is a file, not a run folder", name));
  if (known.empty())
    return fail(Errc::not_found, fmt::format("there is no run '{}' and none in {}/; 'kerf optimize TASK' makes one",
                                             name, runs.string()));
  return fail(Errc::not_found, fmt::format("there is no run '{}'{}; runs in {}/ are {}", name, suggestion(name, known),
                                           runs.string(), listed(known)));
}

}  // namespace kerf
