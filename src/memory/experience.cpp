#include "memory/experience.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/printable.hpp"
#include "memory/limits.hpp"

namespace kerf::memory {
namespace {

using Json = nlohmann::json;

constexpr double kMostCount = 1e9, kMostReward = 3, kMostSpeedup = 1e9, kMostTime = 1e12, kMostMs = 1e15;
constexpr std::size_t kMostFamilies = 64;

std::string text_hash(const std::string& source) { return sha256_hex(source).substr(0, 32); }

Json to_object(const Value& value) { return {{"count", value.count}, {"mean", value.mean}}; }

Result<Value> value_from(const Json& object) {
  Value value;
  KERF_TRY(value.count, limited_number(object, "count", 0, kMostCount));
  KERF_TRY(value.mean, limited_number(object, "mean", -2 * kMostReward, 2 * kMostReward));
  return value;
}

Result<StageValue> stage_value_from(const Json& object) {
  StageValue value;
  KERF_TRY(value.all, value_from(object));
  if (!object.contains("residuals")) return value;
  const Json& residuals = object["residuals"];
  if (!residuals.is_object() || residuals.size() > kMostFamilies)
    return fail(Errc::invalid_input, fmt::format("'residuals' is not an object of at most {} values", kMostFamilies));
  for (const auto& [family, residual] : residuals.items()) {
    if (family.size() > kLongestWord) return fail(Errc::invalid_input, "'residuals' has a name that is too long");
    KERF_TRY(value.residuals[family], value_from(residual));
  }
  return value;
}

Result<std::map<ValueStage, StageValue>> values_from(const Json& object) {
  if (!object.is_object()) return fail(Errc::invalid_input, "'values' is not an object");
  std::map<ValueStage, StageValue> values;
  for (const ValueStage stage : kValueStages)
    if (const auto found = object.find(value_stage_name(stage)); found != object.end()) {
      KERF_TRY(values[stage], stage_value_from(*found));
    }
  return values;
}

Json to_object(const std::map<ValueStage, StageValue>& values) {
  Json object = Json::object();
  for (const auto& [stage, value] : values) {
    Json one = to_object(value.all);
    for (const auto& [family, residual] : value.residuals) one["residuals"][family] = to_object(residual);
    object[std::string(value_stage_name(stage))] = std::move(one);
  }
  return object;
}

Status read_outcome(const Json& json, Experience& experience) {
  KERF_TRY(experience.outcome, limited_text(json, "outcome", kLongestWord));
  KERF_TRY(experience.gate, limited_text(json, "gate", kLongestWord));
  KERF_TRY(experience.message, limited_text(json, "message", kLongestText));
  const bool kernel = experience.kind == kKernelKind;
  KERF_TRY(experience.speedup, limited_number(json, "speedup", 0, kMostSpeedup));
  KERF_TRY(experience.share, limited_number(json, "share", 0, 1));
  KERF_TRY(experience.time_us, limited_number(json, "time_us", 0, kMostTime));
  experience.confirmed = json.value("confirmed", Json(false)) == Json(true);  // older records have none
  if (kernel != (experience.speedup > 0) || kernel != (experience.share > 0))
    return fail(Errc::invalid_input, fmt::format("a {} with speedup {}", experience.kind, experience.speedup));
  return {};
}

Status read_provenance(const Json& json, Experience& experience) {
  KERF_TRY(const double seen, limited_number(json, "seen", 1, 1e6));
  KERF_TRY(experience.run, limited_text(json, "run", kLongestWord));
  KERF_TRY(const double step, limited_number(json, "step", 0, 1e9));
  KERF_TRY(experience.mind, limited_text(json, "mind", kLongestWord));
  KERF_TRY(experience.operation, limited_text(json, "operation", kLongestWord));
  KERF_TRY(experience.kerf_version, limited_text(json, "kerf_version", kLongestWord));
  KERF_TRY(const double recorded, limited_number(json, "recorded_ms", 0, kMostMs));
  experience.seen = static_cast<int>(seen);
  experience.step = static_cast<std::int64_t>(step);
  experience.recorded_ms = static_cast<std::int64_t>(recorded);
  experience.imported = json.value("imported", Json(false)) == Json(true);
  experience.frozen = json.value("frozen", Json(false)) == Json(true);
  return {};
}

/// A kernel is known by its recipe or by its text; one of them must be there.
Status read_identity(const Json& json, Experience& experience) {
  if (json.contains("source_hash")) {  // older records have none
    KERF_TRY(experience.source_hash, limited_text(json, "source_hash", kLongestWord));
  }
  if (!json.contains("recipe")) return fail(Errc::invalid_input, "'recipe' is missing");
  if (!json["recipe"].is_null() || experience.source_hash.empty()) {
    KERF_TRY(experience.recipe, recipe_from_json(json["recipe"].dump()));
  }
  if (!json.contains("source")) return {};
  KERF_TRY(experience.source, limited_text(json, "source", kLongestSource));
  if (text_hash(experience.source) != experience.source_hash)
    return fail(Errc::invalid_input, "'source' is not the text that 'source_hash' is of");
  return {};
}

}  // namespace

std::string experience_id(const Experience& experience) {
  const std::string kernel = experience.recipe.genes.empty()
                                 ? "source\n" + experience.source_hash
                                 : recipe_words(experience.recipe) + "\n" + experience.recipe.genome;
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", experience.task_id, experience.signature.target,
                                experience.signature.device.name, kernel))
      .substr(0, 16);
}

double similarity_to(const TaskSignature& task, const Experience& experience, const TextSimilarity& by_text) {
  const double by_structure = similarity(task, experience.signature);
  const auto found = by_text.find(experience.task_id);
  return found == by_text.end() ? by_structure : (by_structure + std::clamp(found->second, 0.0, 1.0)) / 2;
}

void keep_confirmed(const Experience& known, Experience& again) {
  if (!known.confirmed || again.confirmed || again.kind != known.kind) return;
  again.speedup = known.speedup;
  again.share = known.share;
  again.time_us = known.time_us;
  again.confirmed = true;
}

void set_source(Experience& experience, const std::string& source) {
  experience.source_hash = text_hash(source);
  const bool text = valid_utf8(source) == source && source.find('\0') == std::string::npos;
  experience.source = text && source.size() <= kLongestSource ? source : "";
}

std::map<ValueStage, StageValue> first_values(const Experience& experience) {
  const bool kernel = experience.kind == kKernelKind;
  std::map<ValueStage, StageValue> values;
  values[ValueStage::draft].all.mean = kernel ? 1 : -1;
  values[ValueStage::refine].all.mean = kernel ? std::tanh(std::log(experience.share)) : -1;
  return values;
}

double value_of(const Experience& experience, ValueStage stage, const std::string& family) {
  const auto found = experience.values.find(stage);
  return found == experience.values.end() ? 0 : found->second.of(family);
}

double value_count(const Experience& experience, ValueStage stage) {
  const auto found = experience.values.find(stage);
  return found == experience.values.end() ? 0 : found->second.all.count;
}

std::string values_to_json(const std::map<ValueStage, StageValue>& values) { return to_object(values).dump(); }

Result<std::map<ValueStage, StageValue>> values_from_json(std::string_view text) {
  if (text.size() > kLongestRecord) return fail(Errc::invalid_input, "the values are too long");
  return values_from(Json::parse(text, nullptr, false));
}

std::string to_json(const Experience& experience) {
  const bool made = !experience.recipe.genes.empty();
  nlohmann::ordered_json json{{"id", experience.id},
                              {"kind", experience.kind},
                              {"task", experience.task},
                              {"task_id", experience.task_id},
                              {"signature", Json::parse(to_json(experience.signature))},
                              {"recipe", made ? Json::parse(to_json(experience.recipe)) : Json()},
                              {"source_hash", experience.source_hash},
                              {"outcome", experience.outcome},
                              {"gate", experience.gate},
                              {"message", experience.message},
                              {"speedup", experience.speedup},
                              {"share", experience.share},
                              {"time_us", experience.time_us},
                              {"confirmed", experience.confirmed},
                              {"seen", experience.seen},
                              {"run", experience.run},
                              {"step", experience.step},
                              {"mind", experience.mind},
                              {"operation", experience.operation},
                              {"kerf_version", experience.kerf_version},
                              {"recorded_ms", experience.recorded_ms},
                              {"imported", experience.imported},
                              {"frozen", experience.frozen},
                              {"values", to_object(experience.values)}};
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (experience.source.empty()) return line;
  json["source"] = experience.source;
  const std::string longer = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return longer.size() <= kLongestRecord ? longer : line;
}

Result<Experience> experience_from_json(std::string_view line) {
  if (line.size() > kLongestRecord)
    return fail(Errc::invalid_input, fmt::format("the record has more than {} bytes", kLongestRecord));
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "not a JSON object");
  Experience experience;
  KERF_TRY(experience.id, limited_text(json, "id", kLongestWord));
  KERF_TRY(experience.kind, limited_text(json, "kind", kLongestWord));
  if (experience.kind != kKernelKind && experience.kind != kFailureKind)
    return fail(Errc::invalid_input,
                fmt::format("unknown kind '{}'; choose one of: {}, {}", experience.kind, kKernelKind, kFailureKind));
  KERF_TRY(experience.task, limited_text(json, "task", kLongestWord));
  KERF_TRY(experience.task_id, limited_text(json, "task_id", kLongestWord));
  for (const char* key : {"signature", "values"})
    if (!json.contains(key)) return fail(Errc::invalid_input, fmt::format("'{}' is missing", key));
  KERF_TRY(experience.signature, signature_from_json(json["signature"].dump()));
  KERF_TRY_VOID(read_identity(json, experience));
  KERF_TRY(experience.values, values_from(json["values"]));
  KERF_TRY_VOID(read_outcome(json, experience));
  KERF_TRY_VOID(read_provenance(json, experience));
  if (experience.id != experience_id(experience))
    return fail(Errc::invalid_input, fmt::format("the id '{}' is not that of its content", experience.id));
  return experience;
}

}  // namespace kerf::memory
