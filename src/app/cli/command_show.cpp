#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "run/context_tally.hpp"
#include "run/skill_tally.hpp"
#include "run/standing.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kShowSchema = 1;

Json brief(const Step& step) {
  Json json = {{"step", step.number},
               {"kernel", step.name},
               {"candidate", step.evaluation.candidate_id},
               {"outcome", outcome_name(step.evaluation.outcome)},
               {"cell", step.cell}};
  if (is_fallback(step)) json["plain"] = true;
  if (const Measurement* measurement = measurement_of(step); measurement != nullptr && !is_fallback(step)) {
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    json["speedup"] = {{"vs", measurement->speedup.vs},
                       {"ratio", number(measurement->speedup.ratio)},
                       {"low", number(measurement->speedup.low)},
                       {"high", number(measurement->speedup.high)},
                       {"standing", standing_name(standing_of(measurement->speedup))}};
  }
  return json;
}

Json known_json(const RunView& run) {
  Json known{{"arms", Json::array()}, {"items", Json::array()}};
  for (const KnowledgeArm& arm : knowledge_arms(run))
    known["arms"].push_back({{"kind", arm.kind},
                             {"with", arm.with},
                             {"answers", arm.answers},
                             {"passed", arm.passed},
                             {"mean_gain", std::exp(arm.mean_gain)}});
  for (const ContextTally& item : tally_context(run))
    known["items"].push_back({{"id", item.id},
                              {"kind", item.kind},
                              {"about", item.about},
                              {"uses", item.uses},
                              {"passed", item.passed},
                              {"moves", item.moves}});
  return known;
}

std::string show_json(const RunView& run) {
  Json json;
  json["schema"] = kShowSchema;
  json["run"] = run.folder.string();
  for (const char* key :
       {"task", "target", "device", "seed", "search", "finished", "toolchain", "kerf_version", "config"})
    json[key] = run.facts.contains(key) ? Json(run.fact(key)) : Json(nullptr);
  json["evaluations"] = run.steps.size();
  json["best"] = nullptr;
  if (run.best != 0) {
    json["best"] = brief(run.step(run.best));
    json["best"]["evaluation"] = Json::parse(to_json(run.step(run.best).evaluation));
  }
  json["funnel"] = Json::array();
  for (const auto& stage : funnel_of(run))
    json["funnel"].push_back({{"stage", stage.name}, {"count", stage.count}, {"lost", stage.lost}});
  json["outcomes"] = Json::object();
  for (const Step& step : run.steps) {
    auto& count = json["outcomes"][outcome_name(step.evaluation.outcome)];
    count = (count.is_null() ? 0 : count.get<int>()) + 1;
  }
  json["models"] = Json::array();
  for (const ModelTally& one : tally_models(run))
    json["models"].push_back({{"model", one.model},
                              {"answers", one.answers},
                              {"kernels", one.kernels},
                              {"passed", one.passed},
                              {"new_best", one.best},
                              {"tokens", one.tokens},
                              {"cost_usd", one.cost_usd},
                              {"seconds", one.seconds}});
  json["skills"] = Json::array();
  for (const SkillTally& one : tally_skills(run))
    json["skills"].push_back({{"id", one.skill.id},
                              {"name", one.skill.name},
                              {"state", skill::state_name(one.skill.state)},
                              {"used", one.used},
                              {"passed", one.passed},
                              {"new_best", one.best},
                              {"compared", one.compared},
                              {"gain", one.gain}});
  json["known"] = known_json(run);
  json["archive"] = Json::array();
  for (const auto& [cell, elites] : run.archive.cells()) {
    Json members = Json::array();
    for (const Elite& elite : elites) members.push_back(brief(run.step(elite.step)));
    json["archive"].push_back({{"cell", cell}, {"elites", members}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Status show(const ShowOptions& options, const Environment&, Console& console) {
  if (int{options.json} + int{options.csv} + int{options.source} > 1)
    return fail(Errc::invalid_input, "give one of --json, --csv and --source: each prints the run in another form");
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder));
  if (options.source) {
    KERF_TRY(const auto number, find_step(run, options.step.empty() ? "best" : options.step));
    console.out << run.step(number).source << std::flush;
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
  console.out << run_heading(run, style) << best_text(run, style) << funnel_text(run, style) << minds_text(run, style)
              << models_text(run, style) << knowledge_text(run, style) << skills_text(run, style)
              << archive_text(run, style) << top_text(run, options.top, style) << std::flush;
  return {};
}

}  // namespace kerf::cli
