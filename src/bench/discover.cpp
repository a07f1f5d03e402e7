#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "base/file.hpp"
#include "base/text.hpp"
#include "bench/problem.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSettings = 10'000;  ///< of one task; a product of lists grows fast

/// The number behind `prefix`: 3 of "level3"; nothing where the name is another.
std::optional<int> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number <= 0) return {};
  return number;
}

/// 23 of "23_Softmax.py".
std::optional<int> number_of_file(const std::string& name) {
  const auto line = name.find('_');
  return name.ends_with(".py") && line != std::string::npos ? number_after(name.substr(0, line), "") : std::nullopt;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Folders of levels below `root`, by their number.
std::map<int, fs::path> levels_below(const fs::path& root, std::string_view prefix) {
  std::map<int, fs::path> levels;
  std::error_code error;
  for (const fs::path& entry : entries_of(root))
    if (const auto level = number_after(entry.filename().string(), prefix); level && fs::is_directory(entry, error))
      levels.emplace(*level, entry);
  return levels;
}

Status check_folder(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  return fail(Errc::not_found,
              fmt::format("there is no folder '{}'; --path names a checkout of the benchmark", path.string()));
}

std::string list(const std::set<int>& numbers) {
  if (numbers.empty()) return "none";
  std::vector<std::string> parts;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    parts.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return join(parts, ", ");
}

int nearest_number(int number, const std::set<int>& known) {
  return *std::min_element(known.begin(), known.end(),
                           [&](int a, int b) { return std::abs(a - number) < std::abs(b - number); });
}

/// Every range must hold at least one number that exists.
Status check_ranges(const std::string& option, const std::string& noun, const Selection& selection,
                    const std::set<int>& known) {
  for (const auto& [first, last] : selection.ranges) {
    const auto at = known.lower_bound(first);
    if (at != known.end() && *at <= last) continue;
    return fail(Errc::invalid_input,
                fmt::format("{}: there is no {} {}; the nearest is {} (there are {})", option, noun,
                            first == last ? std::to_string(first) : fmt::format("{} to {}", first, last),
                            nearest_number(first, known), list(known)));
  }
  return {};
}

bool chosen(const Selection& selection, int number, const std::string& name) {
  if (selection.all()) return true;
  for (const auto& [first, last] : selection.ranges)
    if (number >= first && number <= last) return true;
  return std::find(selection.names.begin(), selection.names.end(), name) != selection.names.end();
}

Result<std::vector<Problem>> kernelbench_problems(const fs::path& path) {
  std::map<int, fs::path> levels;
  for (const fs::path& root : {path / "KernelBench", path})
    if (levels.empty()) levels = levels_below(root, "level");
  if (const auto own = number_after(fs::weakly_canonical(path).filename().string(), "level"); own && levels.empty())
    levels.emplace(*own, path);
  if (levels.empty())
    return fail(Errc::not_found, fmt::format("'{}' has no folders level1, level2, ...; --path names KernelBench's "
                                             "repository or the folder of its levels",
                                             path.string()));
  std::vector<Problem> problems;
  for (const auto& [level, folder] : levels) {
    std::map<int, std::string> seen;
    for (const fs::path& file : entries_of(folder)) {
      const auto number = number_of_file(file.filename().string());
      if (!number) continue;
      if (const auto [at, fresh] = seen.emplace(*number, file.filename().string()); !fresh)
        return fail(Errc::invalid_input, fmt::format("{} has two problems {}: {} and {}", folder.string(), *number,
                                                     at->second, file.filename().string()));
      Problem problem;
      problem.level = level;
      problem.number = *number;
      problem.name = file.stem().string();
      problem.file = file;
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

/// A list of JSON objects; a single empty one where it is missing.
std::vector<Json> objects_at(const Json& config, const std::string& key) {
  std::vector<Json> found;
  if (const auto at = config.find(key); at != config.end() && at->is_array())
    for (const Json& one : *at)
      if (one.is_object()) found.push_back(one);
  if (found.empty()) found.push_back(Json::object());
  return found;
}

/// As robust-kbench combines them: what is shared overrides the rest.
Status add_settings(const Problem& task, const fs::path& config_file, bool every, std::vector<Problem>& problems) {
  KERF_TRY(const std::string text, read_file(config_file));
  const Json config = Json::parse(text, nullptr, false);
  if (!config.is_object())
    return fail(Errc::invalid_input, config_file.string() + " is no JSON object; repair or remove that task");
  const std::string which = every ? "multi" : "single";
  std::vector<Problem> own;
  for (const Json& init : objects_at(config, which + "_init_configs"))
    for (const Json& inputs : objects_at(config, which + "_input_configs"))
      for (const Json& shared : objects_at(config, which + "_shared_configs")) {
        if (own.size() >= kMostSettings)
          return fail(Errc::invalid_input,
                      fmt::format("{} has more than {} settings", config_file.string(), kMostSettings));
        Json of_init = init, of_inputs = inputs;
        of_init.update(shared);
        of_inputs.update(shared);
        Problem problem = task;
        problem.init = of_init.dump(-1, ' ', false, Json::error_handler_t::replace);
        problem.inputs = of_inputs.dump(-1, ' ', false, Json::error_handler_t::replace);
        own.push_back(std::move(problem));
      }
  if (own.size() > 1)
    for (std::size_t i = 0; i < own.size(); ++i) own[i].setting = static_cast<int>(i) + 1;
  problems.insert(problems.end(), own.begin(), own.end());
  return {};
}

Result<std::vector<Problem>> robust_problems(const fs::path& path, bool every) {
  std::error_code error;
  const fs::path root = fs::is_directory(path / "tasks", error) ? path / "tasks" : path;
  std::vector<Problem> problems;
  const auto add = [&](const fs::path& folder, int level, int number, const std::string& name) -> Status {
    Problem task;
    task.level = level;
    task.number = number;
    task.name = name;
    task.file = folder / "func_forward.py";
    return add_settings(task, folder / "config_forward.json", every, problems);
  };
  const auto is_task = [&](const fs::path& folder) { return fs::is_regular_file(folder / "func_forward.py", error); };
  int number = 0;
  for (const fs::path& folder : entries_of(root))
    if (is_task(folder)) {
      KERF_TRY_VOID(add(folder, 0, ++number, folder.filename().string()));
    }
  for (const auto& [level, folder] : levels_below(root / "kernelbench", "level_"))
    for (const auto& [task, place] : levels_below(folder, "task_")) {
      if (!is_task(place)) continue;
      std::string name = fmt::format("task_{}", task);
      for (const fs::path& file : entries_of(place))
        if (number_of_file(file.filename().string())) name = file.stem().string();
      KERF_TRY_VOID(add(place, level, task, name));
    }
  if (problems.empty())
    return fail(Errc::not_found, fmt::format("'{}' has no folders with a func_forward.py; --path names robust-kbench's "
                                             "repository or its tasks folder",
                                             path.string()));
  return problems;
}

}  // namespace

Result<std::vector<Problem>> find_problems(const Wanted& wanted) {
  KERF_TRY_VOID(check_folder(wanted.path));
  KERF_TRY(std::vector<Problem> found, wanted.suite == Suite::kernelbench
                                           ? kernelbench_problems(wanted.path)
                                           : robust_problems(wanted.path, wanted.every_setting));
  std::set<int> levels, numbers;
  std::vector<std::string> names;
  for (const Problem& one : found) levels.insert(one.level);
  std::vector<std::string> words = wanted.levels.names;
  Selection chosen_levels = wanted.levels;
  if (const auto own = std::find(words.begin(), words.end(), "own"); own != words.end()) {
    words.erase(own);
    chosen_levels.ranges.push_back({0, 0});
  }
  if (!words.empty())
    return fail(Errc::invalid_input, fmt::format("--level: '{}' is no level (there are {})", words[0], list(levels)));
  KERF_TRY_VOID(check_ranges("--level", "level", chosen_levels, levels));
  std::erase_if(found, [&](const Problem& one) { return !chosen(chosen_levels, one.level, ""); });
  for (const Problem& one : found) {
    numbers.insert(one.number);
    names.push_back(one.name);
  }
  if (found.empty()) return fail(Errc::not_found, fmt::format("'{}' has no problems", wanted.path.string()));
  for (const std::string& name : wanted.problems.names)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return fail(Errc::invalid_input, fmt::format("--problems: there is no problem '{}'{}; give numbers, ranges or "
                                                   "names: 1,5-9",
                                                   name, did_you_mean(name, names)));
  KERF_TRY_VOID(check_ranges("--problems", "problem", wanted.problems, numbers));
  std::erase_if(found, [&](const Problem& one) { return !chosen(wanted.problems, one.number, one.name); });
  std::sort(found.begin(), found.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.level, a.number, a.setting) < std::tie(b.level, b.number, b.setting);
  });
  return found;
}

}  // namespace kerf::bench
