#include "store/step_rows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::store {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

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

std::string asked_json(const Asked& asked) {
  Json json = {{"start_number", asked.start_number}, {"seed", std::to_string(asked.seed)}};
  if (asked.parent) json["parent"] = *asked.parent;
  json["inspirations"] = asked.inspirations;
  json["failures"] = asked.failures;
  return dump(json);
}

Result<Asked> read_asked(const std::string& text, std::int64_t step) {
  KERF_TRY(const Json json, parse<Json>(text, step, "decision"));
  Asked asked;
  if (json.empty()) return asked;  // written by schema 1
  try {
    asked.start_number = json.at("start_number").get<std::size_t>();
    asked.seed = std::stoull(json.at("seed").get<std::string>());
    if (json.contains("parent")) asked.parent = json["parent"].get<std::int64_t>();
    asked.inspirations = json.at("inspirations").get<std::vector<std::int64_t>>();
    asked.failures = json.at("failures").get<std::vector<std::int64_t>>();
  } catch (const std::exception& error) {
    return fail(Errc::io, fmt::format("step {} has a damaged decision: {}", step, error.what()));
  }
  return asked;
}

std::string provenance_json(const Provenance& provenance) {
  if (provenance == Provenance{}) return "{}";
  return dump({{"model", provenance.model},
               {"prompt", provenance.prompt},
               {"context", provenance.context},
               {"prompt_tokens", provenance.prompt_tokens},
               {"reply_tokens", provenance.reply_tokens},
               {"cost_usd", provenance.cost_usd},
               {"seconds", provenance.seconds}});
}

Result<Provenance> read_provenance(const std::string& text, std::int64_t step) {
  KERF_TRY(const Json json, parse<Json>(text, step, "provenance"));
  Provenance provenance;
  if (json.empty()) return provenance;
  try {
    provenance.model = json.at("model").get<std::string>();
    provenance.prompt = json.at("prompt").get<std::string>();
    provenance.context = json.at("context").get<std::vector<std::string>>();
    provenance.prompt_tokens = json.at("prompt_tokens").get<std::int64_t>();
    provenance.reply_tokens = json.at("reply_tokens").get<std::int64_t>();
    provenance.cost_usd = json.at("cost_usd").get<double>();
    provenance.seconds = json.at("seconds").get<double>();
  } catch (const std::exception& error) {
    return fail(Errc::io, fmt::format("step {} has a damaged provenance: {}", step, error.what()));
  }
  return provenance;
}

}  // namespace

Status insert_step(Database& database, const Step& step) {
  const std::string id = step.evaluation.candidate_id.empty() ? sha256_hex(step.source) : step.evaluation.candidate_id;
  auto row = database.prepare(
      "INSERT INTO steps (number, stage, proposer, operation, change, name, candidate, source, genome, tunables, "
      "direction, "
      "outcome, evaluation, cell, descriptors, decision, kept, seconds, asked, provenance) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.integer(step.number)
      .text(std::string(stage_name(step.stage)))
      .text(step.proposer)
      .text(step.operation)
      .text(step.change)
      .text(step.name);
  row.text(id).blob(step.source).text(step.genome).text(bindings_json(step.tunables)).text(step.direction);
  row.text(outcome_name(step.evaluation.outcome)).text(to_json(step.evaluation)).text(dump(Json(step.cell)));
  row.text(step.descriptors).text(step.decision).integer(step.kept ? 1 : 0).real(step.seconds);
  row.text(asked_json(step.asked)).text(provenance_json(step.provenance));
  KERF_TRY_VOID(row.run());
  for (std::size_t i = 0; i < step.parents.size(); ++i) {
    auto parent = database.prepare("INSERT INTO parents (step, position, parent) VALUES (?, ?, ?)");
    parent.integer(step.number).integer(static_cast<std::int64_t>(i)).integer(step.parents[i]);
    KERF_TRY_VOID(parent.run());
  }
  for (std::size_t i = 0; i < step.exchanges.size(); ++i) {
    auto exchange = database.prepare("INSERT INTO exchanges (step, position, exchange) VALUES (?, ?, ?)");
    exchange.integer(step.number).integer(static_cast<std::int64_t>(i)).text(to_json(step.exchanges[i]));
    KERF_TRY_VOID(exchange.run());
  }
  return {};
}

std::string step_columns(std::int64_t schema) {
  return std::string(
             "number, stage, proposer, operation, change, name, source, genome, tunables, direction, evaluation, cell, "
             "descriptors, decision, kept, seconds, "
             "(SELECT group_concat(parent) FROM (SELECT parent FROM parents WHERE step = steps.number ORDER BY "
             "position)), ") +
         (schema < 2 ? "'{}', '{}'" : "asked, provenance");
}

Result<Step> read_step(const Statement& row) {
  Step step;
  step.number = row.column_integer(0);
  const auto stage = stage_from_name(row.column_text(1));
  if (!stage) return fail(Errc::io, fmt::format("step {} has the unknown stage '{}'", step.number, row.column_text(1)));
  step.stage = *stage;
  step.proposer = row.column_text(2);
  step.operation = row.column_text(3);
  if (step.stage == Stage::tune && step.operation == "look") step.operation = kTrialOperation;  // its name in schema 1
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
  KERF_TRY(step.asked, read_asked(row.column_text(17), step.number));
  KERF_TRY(step.provenance, read_provenance(row.column_text(18), step.number));
  const std::string parents = row.column_text(16);
  if (parents.empty()) return step;
  for (const auto& text : split(parents, ',')) {
    std::int64_t parent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parent);
    if (error != std::errc() || end != text.data() + text.size())
      return fail(Errc::io, fmt::format("step {} has the parent '{}'", step.number, text));
    step.parents.push_back(parent);
  }
  return step;
}

}  // namespace kerf::store
