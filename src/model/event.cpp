#include "model/event.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kerf {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json speedup_json(const Speedup& speedup) {
  return {{"vs", speedup.vs},
          {"ratio", finite_or_null(speedup.ratio)},
          {"low", finite_or_null(speedup.low)},
          {"high", finite_or_null(speedup.high)}};
}

std::string step_line(const StepFinished& finished) {
  const Step& step = finished.step;
  Json json;
  json["event"] = "step";
  json["number"] = step.number;
  json["seconds"] = finite_or_null(step.seconds);
  json["stage"] = stage_name(step.stage);
  json["proposer"] = step.proposer;
  json["operation"] = step.operation;
  json["direction"] = step.direction;
  json["change"] = step.change;
  json["parents"] = step.parents;
  json["kernel"] = step.name;
  json["candidate"] = step.evaluation.candidate_id;
  json["tunables"] = Json::object();
  for (const auto& [name, value] : step.tunables) json["tunables"][name] = value;
  json["outcome"] = outcome_name(step.evaluation.outcome);
  if (const auto* measurement = std::get_if<Measurement>(&step.evaluation.outcome)) {
    json["speedup"] = speedup_json(measurement->speedup);
    if (finished.estimate.ratio > 0) json["estimate"] = speedup_json(finished.estimate);
    json["cell"] = step.cell;
  } else {
    json["gate"] = outcome_gate(step.evaluation.outcome);
    json["message"] = outcome_message(step.evaluation.outcome).substr(0, 500);
  }
  json["kept"] = step.kept;
  json["decision"] = step.decision;
  return dump(json);
}

struct ToJson {
  std::string operator()(const ProposalAsked& asked) const {
    return dump(
        {{"event", "asked"}, {"number", asked.number}, {"proposer", asked.proposer}, {"operation", asked.operation}});
  }
  std::string operator()(const CandidateStarted& started) const {
    return dump({{"event", "candidate"},
                 {"number", started.step.number},
                 {"stage", stage_name(started.step.stage)},
                 {"proposer", started.step.proposer},
                 {"operation", started.step.operation},
                 {"change", started.step.change},
                 {"kernel", started.step.name}});
  }
  std::string operator()(const TierEvent& tier) const {
    return dump({{"event", "tier"},
                 {"kernel", tier.candidate},
                 {"tier", tier.tier},
                 {"ok", tier.ok},
                 {"ms", finite_or_null(tier.ms)},
                 {"detail", tier.detail}});
  }
  std::string operator()(const StepFinished& finished) const { return step_line(finished); }
  std::string operator()(const StillWaiting& waiting) const {
    return dump({{"event", "waiting"}, {"seconds", finite_or_null(waiting.progress.seconds)}});
  }
  std::string operator()(const RunNote& note) const { return dump({{"event", "note"}, {"text", note.text}}); }
  std::string operator()(const RunMark& mark) const {
    Json json;
    json["event"] = mark.kind;
    for (const auto& [name, value] : mark.details)
      if (name != "event") json[name] = value;
    return dump(json);
  }
};

}  // namespace

std::string to_json(const RunEvent& event) { return std::visit(ToJson{}, event); }

}  // namespace kerf
