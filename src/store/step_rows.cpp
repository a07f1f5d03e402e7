#include "store/step_rows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::store {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string bindings_json(const Bindings& bindings) {
  Json json = Json::object();
  for (const auto& [name, value] : bindings) json[name] = value;
  return dump(json);
}

/// Values of JSON that this file wrote; anything else is a damaged database.
template <class T>
Result<T> parse(const std::string& text, std::int64_t step, const char* what) {
  try {
    return Json::parse(text).get<T>();
  } catch (const std::exception& error) {
    return fail(Errc::io, fmt::format("step {} has damaged {}: {}", step, what, error.what()));
  }
}

}  // namespace

Status insert_step(Database& database, const Step& step) {
  const std::string id = step.evaluation.candidate_id.empty() ? sha256_hex(step.source) : step.evaluation.candidate_id;
  auto row = database.prepare(
      "INSERT INTO steps (number, stage, proposer, operation, change, name, candidate, source, genome, tunables, "
      "direction, "
      "outcome, evaluation, cell, descriptors, decision, kept, seconds) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.integer(step.number).text(step.stage).text(step.proposer).text(step.operation).text(step.change).text(step.name);
  row.text(id).blob(step.source).text(step.genome).text(bindings_json(step.tunables)).text(step.direction);
  row.text(outcome_name(step.evaluation.outcome)).text(to_json(step.evaluation)).text(dump(Json(step.cell)));
  row.text(step.descriptors).text(step.decision).integer(step.kept ? 1 : 0).real(step.seconds);
  KERF_TRY_VOID(row.run());
  for (std::size_t i = 0; i < step.parents.size(); ++i) {
    auto parent = database.prepare("INSERT INTO parents (step, position, parent) VALUES (?, ?, ?)");
    parent.integer(step.number).integer(static_cast<std::int64_t>(i)).integer(step.parents[i]);
    KERF_TRY_VOID(parent.run());
  }
  return {};
}

const char* const kStepColumns =
    "number, stage, proposer, operation, change, name, source, genome, tunables, direction, evaluation, cell, "
    "descriptors, "
    "decision, kept, seconds, "
    "(SELECT group_concat(parent) FROM (SELECT parent FROM parents WHERE step = steps.number ORDER BY position))";

Result<Step> read_step(const Statement& row) {
  Step step;
  step.number = row.column_integer(0);
  step.stage = row.column_text(1);
  step.proposer = row.column_text(2);
  step.operation = row.column_text(3);
  step.change = row.column_text(4);
  step.name = row.column_text(5);
  step.source = row.column_text(6);
  step.genome = row.column_text(7);
  KERF_TRY(step.tunables, parse<Bindings>(row.column_text(8), step.number, "tunables"));
  step.direction = row.column_text(9);
  auto evaluation = evaluation_from_json(row.column_text(10));
  if (!evaluation) return fail(Errc::io, fmt::format("step {}: {}", step.number, evaluation.error().message));
  step.evaluation = *std::move(evaluation);
  KERF_TRY(step.cell, parse<std::vector<int>>(row.column_text(11), step.number, "cell"));
  step.descriptors = row.column_text(12);
  step.decision = row.column_text(13);
  step.kept = row.column_integer(14) != 0;
  step.seconds = row.column_real(15);
  const std::string parents = row.column_text(16);
  if (parents.empty()) return step;
  for (const auto& text : split(parents, ',')) {
    std::int64_t parent = 0;
    std::from_chars(text.data(), text.data() + text.size(), parent);
    step.parents.push_back(parent);
  }
  return step;
}

std::string step_event(const Step& step) {
  Json json;
  json["event"] = "step";
  json["number"] = step.number;
  json["seconds"] = number(step.seconds);
  json["stage"] = step.stage;
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
    const Speedup& speedup = measurement->speedup;
    json["speedup"] = {{"vs", speedup.vs},
                       {"ratio", number(speedup.ratio)},
                       {"low", number(speedup.low)},
                       {"high", number(speedup.high)}};
    json["cell"] = step.cell;
  } else {
    json["gate"] = outcome_gate(step.evaluation.outcome);
    json["message"] = outcome_message(step.evaluation.outcome).substr(0, 500);
  }
  json["kept"] = step.kept;
  json["decision"] = step.decision;
  return dump(json);
}

std::string note_event(const std::string& kind, const std::map<std::string, std::string>& details) {
  Json json;
  json["event"] = kind;
  for (const auto& [name, value] : details)
    if (name != "event") json[name] = value;
  return dump(json);
}

}  // namespace kerf::store
