#include "report/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/line_diff.hpp"
#include "run/context_tally.hpp"
#include "run/prompts.hpp"
#include "run/run_json.hpp"

namespace kerf::report {
namespace {

using Json = nlohmann::ordered_json;

struct Dimension {
  std::array<const char*, kLevels> levels;
};
/// In the order of the archive's dimensions; short words for docs/descriptors.md.
constexpr Dimension kDimensionWords[kDimensions] = {
    {{"single elements", "vectors, coalesced", "tiles in fast memory", "several levels, registers, prefetch"}},
    {{"direct, several passes", "fused, one pass", "reformulated: online, streaming", "blocked tiles, matrix units"}},
    {{"independent items", "groups that synchronise", "lanes that exchange values", "hierarchies, whole device"}},
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json time_json(const TimeEstimate& time) {
  return {{"median", number(time.median)}, {"low", number(time.low)}, {"high", number(time.high)}};
}

Json shape_json(const ShapeMeasurement& shape) {
  Json json = {{"shape", shape.shape}, {"weight", number(shape.weight)}, {"time", time_json(shape.time)}};
  json["baselines"] = Json::object();
  for (const auto& [name, time] : shape.baselines) json["baselines"][name] = time_json(time);
  json["speedups"] = Json::object();
  for (const auto& [name, speedup] : shape.speedups) json["speedups"][name] = number(speedup.ratio);
  if (shape.speed_of_light)
    json["light"] = {{"fraction", number(shape.speed_of_light->fraction)},
                     {"floor_us", number(shape.speed_of_light->floor_us)},
                     {"bound", shape.speed_of_light->bound}};
  return json;
}

Json evidence_json(const WrongEvidence& evidence) {
  return {{"output", evidence.output},
          {"shape", evidence.shape},
          {"distribution", evidence.distribution},
          {"wrong", evidence.wrong},
          {"total", evidence.total},
          {"worst_index", evidence.worst_index},
          {"expected", number(evidence.expected)},
          {"actual", number(evidence.actual)},
          {"tolerance", number(evidence.tolerance)},
          {"box_low", evidence.box_low},
          {"box_high", evidence.box_high}};
}

Json step_json(const RunView& run, const Step& step) {
  Json json = {{"n", step.number},
               {"stage", stage_name(step.stage)},
               {"proposer", step.proposer},
               {"operation", step.operation},
               {"change", step.change},
               {"parents", step.parents},
               {"name", step.name},
               {"id", step.evaluation.candidate_id},
               {"direction", step.direction},
               {"outcome", outcome_name(step.evaluation.outcome)},
               {"cell", step.cell},
               {"reasons", reasons_of(step)},
               {"decision", step.decision},
               {"kept", step.kept},
               {"seconds", number(step.seconds)}};
  json["tunables"] = Json::object();
  for (const auto& [name, value] : step.tunables) json["tunables"][name] = value;
  if (const Measurement* measurement = measurement_of(step)) {
    const Speedup speedup = estimated_speedup(run, step);
    if (is_fallback(step)) json["plain"] = true;
    if (const std::string paired = paired_words(step); !paired.empty()) json["paired"] = paired;
    if (speedup.ratio > 0) json["speedup"] = Json::parse(speedup_json(speedup));
    if (!estimate_words(run, step).empty()) json["alone"] = Json::parse(speedup_json(measured_speedup(step)));
    json["seen"] = seen_words(step.evaluation);
    json["shapes"] = Json::array();
    for (const auto& shape : measurement->shapes) json["shapes"].push_back(shape_json(shape));
    return json;
  }
  json["gate"] = outcome_gate(step.evaluation.outcome);
  json["message"] = outcome_message(step.evaluation.outcome).substr(0, 4000);
  if (const auto* wrong = std::get_if<WrongResult>(&step.evaluation.outcome); wrong != nullptr && wrong->evidence)
    json["evidence"] = evidence_json(*wrong->evidence);
  return json;
}

Json diff_json(const RunView& run, const Step& step) {
  const auto lines = diff_lines(run.step(step.parents[0]).source, step.source);
  const auto total = count(lines);
  Json json = {
      {"parent", step.parents[0]}, {"added", total.added}, {"removed", total.removed}, {"hunks", Json::array()}};
  for (const auto& hunk : hunks(lines)) {
    Json part = Json::array();
    for (const auto& line : hunk) part.push_back({std::string(1, line.sign), line.old_line, line.new_line, line.text});
    json["hunks"].push_back(std::move(part));
  }
  return json;
}

Json tally_json(const std::vector<Tally>& tallies) {
  Json json = Json::array();
  for (const auto& one : tallies)
    json.push_back({{"name", one.name},
                    {"tried", one.tried},
                    {"measured", one.measured},
                    {"kept", one.kept},
                    {"best", one.best},
                    {"reached", one.reached},
                    {"gain", number(one.median_gain)}});
  return json;
}

/// Each distinct source once; steps that share one share its index.
class Sources {
 public:
  explicit Sources(std::size_t budget) : budget_(budget) {}
  /// -1 when it is left out.
  int add(const std::string& source, bool must) {
    if (const auto known = index_.find(source); known != index_.end()) return known->second;
    if (!must && bytes_ + source.size() > budget_) return -1;
    bytes_ += source.size();
    texts_.push_back(source);
    return index_[source] = static_cast<int>(texts_.size()) - 1;
  }
  const Json& texts() const { return texts_; }

 private:
  std::size_t budget_, bytes_ = 0;
  std::map<std::string, int> index_;
  Json texts_ = Json::array();
};

void add_steps(Json& json, const RunView& run, std::size_t budget) {
  Sources sources(budget);
  const auto ancestors = run.best != 0 ? ancestors_of(run, run.best) : std::vector<std::int64_t>{};
  for (const std::int64_t member : ancestors) sources.add(run.step(member).source, true);
  for (const Elite& elite : run.archive.elites()) sources.add(run.step(elite.step).source, true);
  json["steps"] = Json::array();
  for (const Step& step : run.steps) {
    Json one = step_json(run, step);
    one["source"] = sources.add(step.source, false);
    json["steps"].push_back(std::move(one));
  }
  json["sources"] = sources.texts();
  json["ancestors"] = ancestors;
  json["lineage"] = run.best != 0 ? lineage_of(run, run.best) : std::vector<std::int64_t>{};
  json["diffs"] = Json::object();
  for (const std::int64_t member : ancestors)
    if (!run.step(member).parents.empty()) json["diffs"][std::to_string(member)] = diff_json(run, run.step(member));
}

void add_known(Json& json, const RunView& run) {
  constexpr std::size_t kMostItems = 24;
  json["minds"] = Json::array();
  for (const MindTally& one : tally_minds(run))
    json["minds"].push_back({{"mind", one.mind},
                             {"kernels", one.kernels},
                             {"passed", one.passed},
                             {"new_best", one.best},
                             {"tokens", one.tokens},
                             {"cost_usd", number(one.cost_usd)}});
  json["arms"] = Json::parse(arms_json(run));
  json["known"] = Json::parse(known_json(run, kMostItems));
}

void add_models(Json& json, const RunView& run) {
  constexpr std::size_t kMostText = 2'000'000;  // bytes of conversations
  json["models"] = Json::parse(models_json(run));
  json["conversations"] = Json::parse(conversations_json(run, kMostText));
  std::size_t of_models = 0;
  for (const ModelTally& one : tally_models(run)) of_models += one.best;
  json["other_best"] = turning_points(run).size() - std::min(of_models, turning_points(run).size());
  json["prompts"] = Json::array();
  for (const PromptTally& one : tally_prompts(run.steps)) {
    Json moves = Json::array();
    for (const auto& [step, mean] : one.moves) moves.push_back({step, number(std::exp(mean))});
    json["prompts"].push_back({{"variant", one.variant},
                               {"first_step", one.first_step},
                               {"last_step", one.last_step},
                               {"answers", one.answers},
                               {"passed", one.passed},
                               {"mean_gain", number(std::exp(one.mean_gain))},
                               {"best_gain", number(std::exp(one.best_gain))},
                               {"moves", std::move(moves)}});
  }
}

}  // namespace

std::string report_data(const RunView& run, const std::vector<ShapeCost>& costs, std::size_t source_budget) {
  Json json;
  json["schema"] = 1;
  for (const char* key :
       {"task", "target", "device", "seed", "search", "finished", "toolchain", "config", "task_source"})
    json[key] = run.fact(key);
  json["version"] = run.fact("kerf_version");
  json["folder"] = run.folder.string();
  double elapsed = 0;
  for (const Step& step : run.steps)
    if (std::isfinite(step.seconds)) elapsed = std::max(elapsed, step.seconds);
  json["elapsed"] = elapsed;
  json["best"] = run.best;
  json["dimensions"] = Json::array();
  for (int d = 0; d < kDimensions; ++d)
    json["dimensions"].push_back({{"name", dimension_name(d)}, {"levels", kDimensionWords[d].levels}});
  add_steps(json, run, source_budget);
  json["cells"] = Json::array();
  for (const auto& [cell, elites] : run.archive.cells()) {
    Json members = Json::array();
    for (const Elite& elite : elites) members.push_back(elite.step);
    json["cells"].push_back({{"cell", cell}, {"elites", members}});
  }
  json["funnel"] = Json::parse(funnel_json(run));
  json["operations"] = tally_json(tally_operations(run));
  json["directions"] = tally_json(tally_directions(run));
  add_models(json, run);
  json["skills"] = Json::parse(skills_json(run));
  add_known(json, run);
  json["costs"] = Json::array();
  for (const auto& cost : costs)
    json["costs"].push_back({{"shape", cost.shape}, {"bytes", number(cost.bytes)}, {"flops", number(cost.flops)}});
  json["peaks"] = Json::parse(run.fact("peaks"), nullptr, false);
  const Json beside = Json::parse(run.fact("pytorch"), nullptr, false);
  json["pytorch"] = beside.is_object() ? beside : Json();
  json["pytorch_step"] = run.fact("pytorch_step");
  if (!json["peaks"].is_object()) json["peaks"] = nullptr;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kerf::report
