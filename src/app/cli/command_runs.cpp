#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "run/list_runs.hpp"
#include "run/standing.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const RunEntry& entry) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json json = {{"run", entry.folder.string()},         {"task", entry.task},   {"target", entry.target},
               {"state", run_state_name(entry.state)}, {"ended", entry.ended}, {"changed", entry.changed_ms / 1000},
               {"best_step", entry.best_step},         {"plain", entry.plain}, {"best", nullptr}};
  if (entry.best)
    json["best"] = {{"vs", entry.best->vs},
                    {"ratio", number(entry.best->ratio)},
                    {"low", number(entry.best->low)},
                    {"high", number(entry.best->high)},
                    {"standing", standing_name(standing_of(*entry.best))}};
  return json;
}

Cell best_cell(const RunEntry& entry) {
  if (entry.plain) return {"the plain kernel", Colour::yellow};
  if (!entry.best) return {"-", Colour::dim};
  return {speedup_words(*entry.best), standing_of(*entry.best) == Standing::faster ? Colour::green : Colour::yellow};
}

}  // namespace

Status runs(const RunsOptions& options, const Environment&, Console& console) {
  const std::string folder = options.folder.empty() ? kRunsFolder : options.folder;
  std::error_code error;
  if (!options.folder.empty() && !std::filesystem::is_directory(folder, error))
    return fail(Errc::not_found, fmt::format("there is no folder '{}'; give one: kerf runs FOLDER", folder));
  const auto list = list_runs(folder);
  if (options.json) {
    Json json = {{"schema", 1}, {"runs", Json::array()}};
    for (const RunEntry& entry : list) json["runs"].push_back(to_json(entry));
    console.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    return {};
  }
  if (list.empty()) {
    console.out << fmt::format("no runs in {}/; 'kerf optimize TASK' makes one\n", folder) << std::flush;
    return {};
  }
  std::vector<std::vector<Cell>> rows{
      {{"run", {}, false, true}, folding("best"), {"state"}, {"target"}, {"task"}, folding("last change")}};
  for (const RunEntry& entry : list)
    rows.push_back({{one_line(entry.folder.lexically_relative(folder).string()), Colour::bold},
                    best_cell(entry),
                    {run_state_name(entry.state), entry.state == RunState::damaged ? Colour::red : Colour::none},
                    {one_line(entry.target)},
                    {one_line(entry.task)},
                    {format_utc(entry.changed_ms)}});
  console.out << table(rows, console.out_style) << std::flush;
  return {};
}

}  // namespace kerf::cli
