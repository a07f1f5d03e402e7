#include "run/traces.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "memory/values.hpp"

namespace kerf {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> log_speedup(const Outcome& outcome) {
  const auto* measured = std::get_if<Measurement>(&outcome);
  if (measured == nullptr || !(measured->speedup.ratio > 0)) return std::nullopt;
  return std::log(compared_speedup(*measured).ratio);
}

Json verdict_json(const Step& step) {
  const Outcome& outcome = step.evaluation.outcome;
  Json json = {{"outcome", outcome_name(outcome)}};
  if (const auto* measured = std::get_if<Measurement>(&outcome)) {
    json["speedup"] = {{"vs", measured->speedup.vs},
                       {"ratio", measured->speedup.ratio},
                       {"low", measured->speedup.low},
                       {"high", measured->speedup.high}};
  } else {
    json["gate"] = outcome_gate(outcome);
    json["message"] = outcome_message(outcome);
  }
  json["kept"] = step.kept;
  return json;
}

}  // namespace

double trace_reward(const Outcome& outcome, std::optional<double> best_log_speedup) {
  if (const auto speedup = log_speedup(outcome))
    return best_log_speedup ? 1 / (1 + std::exp(2 * (*best_log_speedup - *speedup))) : 1;
  return memory::draft_reward(outcome, memory::Rule::kerf);
}

Result<std::int64_t> export_traces(const RunStore& run, const std::function<Status(const std::string& line)>& on_line) {
  KERF_TRY(const auto facts, run.facts());
  const auto fact = [&](const char* key) {
    const auto found = facts.find(key);
    return found == facts.end() ? Json() : Json(found->second);
  };
  KERF_TRY(const std::vector<Step> steps, run.steps());
  std::optional<double> best;
  std::int64_t lines = 0;
  for (const Step& step : steps) {
    KERF_TRY(const std::vector<Exchange> exchanges, run.exchanges(step.number));
    for (const Exchange& exchange : exchanges) {
      Json json = {{"schema", 1}, {"run", run.folder().filename().string()}};
      for (const char* key : {"task", "target", "device", "kerf_version"}) json[key] = fact(key);
      json["step"] = step.number;
      json["stage"] = stage_name(step.stage);
      json["mind"] = step.proposer;
      // A new variant of the prompt and a skill are judged by all that comes of them: the step that they are kept with
      // answers another question.
      const bool for_later = exchange.role == "evolve" || exchange.role == "summarise";
      const auto of_step = [&](const auto& value) { return for_later ? Json() : Json(value); };
      json["operation"] = of_step(step.operation);
      json["parents"] = of_step(step.parents);
      json["context"] = of_step(step.provenance.context);
      json.update(Json::parse(to_json(exchange)));
      json["kernel"] = of_step(step.source);
      json["verdict"] = of_step(verdict_json(step));
      json["reward"] = of_step(trace_reward(step.evaluation.outcome, best));
      KERF_TRY_VOID(on_line(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
      ++lines;
    }
    if (const auto figure = is_trial(step) ? std::nullopt : log_speedup(step.evaluation.outcome))
      best = std::max(best.value_or(*figure), *figure);
  }
  return lines;
}

}  // namespace kerf
