#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/pytorch_comparison.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "run/run_json.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kShowSchema = 1;

Json brief(const RunView& run, const Step& step) {
  Json json = {{"step", step.number},
               {"kernel", step.name},
               {"candidate", step.evaluation.candidate_id},
               {"outcome", outcome_name(step.evaluation.outcome)},
               {"cell", step.cell}};
  if (is_fallback(step)) json["plain"] = true;
  if (const Speedup speedup = estimated_speedup(run, step); speedup.ratio > 0)
    json["speedup"] = Json::parse(speedup_json(speedup));
  return json;
}

std::string show_json(const RunView& run) {
  Json json;
  json["schema"] = kShowSchema;
  json["run"] = run.folder.string();
  for (const char* key :
       {"task", "target", "device", "seed", "search", "finished", "toolchain", "kerf_version", "config"})
    json[key] = run.fact(key).empty() ? Json(nullptr) : Json(run.fact(key));
  json["evaluations"] = run.steps.size();
  json["best"] = nullptr;
  if (run.best != 0) {
    json["best"] = brief(run, run.step(run.best));
    json["best"]["evaluation"] = Json::parse(to_json(run.step(run.best).evaluation));
  }
  const Json pytorch = Json::parse(run.fact("pytorch"), nullptr, false);
  json["pytorch"] = pytorch.is_object() ? pytorch : Json();
  json["pytorch_step"] = run.facts.contains("pytorch_step") ? Json(run.fact("pytorch_step")) : Json(nullptr);
  json["funnel"] = Json::parse(funnel_json(run));
  json["outcomes"] = Json::object();
  for (const Step& step : run.steps) {
    auto& count = json["outcomes"][outcome_name(step.evaluation.outcome)];
    count = (count.is_null() ? 0 : count.get<int>()) + 1;
  }
  json["models"] = Json::parse(models_json(run));
  json["conversations"] = Json::parse(conversations_json(run));
  json["skills"] = Json::parse(skills_json(run));
  json["known"] = {{"arms", Json::parse(arms_json(run))}, {"items", Json::parse(known_json(run))}};
  json["archive"] = Json::array();
  for (const auto& [cell, elites] : run.archive.cells()) {
    Json members = Json::array();
    for (const Elite& elite : elites) members.push_back(brief(run, run.step(elite.step)));
    json["archive"].push_back({{"cell", cell}, {"elites", members}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Status show(const ShowOptions& options, const Environment& environment, Console& console) {
  if (int{options.json} + int{options.csv} + int{options.source} > 1)
    return fail(Errc::invalid_input,
                "--json, --csv and --source exclude each other: each prints the run in another form");
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder, RunDetail::conversations));
  if (options.source) {
    KERF_TRY(const auto number, find_step(run, options.step.empty() ? "best" : options.step));
    const std::string& source = run.step(number).source;  // of whoever wrote it: a terminal must not act on it
    console.out << (environment.out_is_terminal ? printable(source) : source) << std::flush;
    return {};
  }
  if (options.csv) {
    console.out << steps_csv(run) << std::flush;
    return {};
  }
  if (options.json) {
    console.out << show_json(run) << std::endl;
    return {};
  }
  const Style& style = console.out_style;
  console.out << run_heading(run, style) << best_text(run, style) << kept_comparison_text(run, style)
              << funnel_text(run, style) << minds_text(run, style) << models_text(run, style)
              << conversations_text(run, options.top, style) << prompts_text(run, style) << knowledge_text(run, style)
              << skills_text(run, style) << archive_text(run, style) << top_text(run, options.top, style) << std::flush;
  return {};
}

}  // namespace kerf::cli
