#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/evaluation.hpp"

namespace kerf {
namespace {

using Json = nlohmann::ordered_json;  // fields are written in the order of docs/formats.md

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json write(const TimeEstimate& time) {
  Json json = {{"median", number(time.median)},
               {"low", number(time.low)},
               {"high", number(time.high)},
               {"samples", time.samples}};
  if (time.lower_quartile > 0) json["lower_quartile"] = number(time.lower_quartile);
  return json;
}
TimeEstimate read_time(const Json& json) {
  TimeEstimate time{number(json.at("median")), number(json.at("low")), number(json.at("high")),
                    json.at("samples").get<int>()};
  if (const auto quartile = json.find("lower_quartile"); quartile != json.end())
    time.lower_quartile = number(*quartile);
  return time;
}

Json write(const Speedup& speedup) {
  return {{"vs", speedup.vs},
          {"ratio", number(speedup.ratio)},
          {"low", number(speedup.low)},
          {"high", number(speedup.high)}};
}
Speedup read_speedup(const Json& json) {
  return {json.at("vs").get<std::string>(), number(json.at("ratio")), number(json.at("low")), number(json.at("high"))};
}

Json write(const std::optional<SpeedOfLight>& floor) {
  if (!floor) return nullptr;
  return {{"floor_us", number(floor->floor_us)}, {"fraction", number(floor->fraction)}, {"bound", floor->bound}};
}
std::optional<SpeedOfLight> read_floor(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return SpeedOfLight{number(json.at("floor_us")), number(json.at("fraction")), json.at("bound").get<std::string>()};
}

template <class T>
Json write(const std::map<std::string, T>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = write(value);
  return json;
}

Json write(const ShapeMeasurement& shape) {
  Json json = {{"shape", shape.shape},
               {"weight", number(shape.weight)},
               {"time_us", write(shape.time)},
               {"baselines", write(shape.baselines)},
               {"speedups", write(shape.speedups)},
               {"speed_of_light", write(shape.speed_of_light)}};
  if (shape.unusual) json["unusual_us"] = write(*shape.unusual);
  return json;
}
ShapeMeasurement read_shape(const Json& json) {
  ShapeMeasurement shape;
  shape.shape = json.at("shape").get<std::string>();
  shape.weight = number(json.at("weight"));
  shape.time = read_time(json.at("time_us"));
  for (const auto& [name, value] : json.at("baselines").items()) shape.baselines[name] = read_time(value);
  for (const auto& [name, value] : json.at("speedups").items()) shape.speedups[name] = read_speedup(value);
  shape.speed_of_light = read_floor(json.at("speed_of_light"));
  if (const auto found = json.find("unusual_us"); found != json.end()) shape.unusual = read_time(*found);
  return shape;
}

Json write(const WrongEvidence& evidence) {
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
WrongEvidence read_evidence(const Json& json) {
  using Index = std::vector<std::int64_t>;
  WrongEvidence evidence;
  evidence.output = json.at("output").get<std::string>();
  evidence.shape = json.at("shape").get<std::string>();
  evidence.distribution = json.at("distribution").get<std::string>();
  evidence.wrong = json.at("wrong").get<std::int64_t>();
  evidence.total = json.at("total").get<std::int64_t>();
  evidence.worst_index = json.at("worst_index").get<Index>();
  evidence.expected = number(json.at("expected"));
  evidence.actual = number(json.at("actual"));
  evidence.tolerance = number(json.at("tolerance"));
  evidence.box_low = json.at("box_low").get<Index>();
  evidence.box_high = json.at("box_high").get<Index>();
  return evidence;
}

void write_failure(Json& json, const Outcome& outcome) {
  json["gate"] = outcome_gate(outcome);
  json["message"] = outcome_message(outcome);
  if (const auto* built = std::get_if<BuildFailed>(&outcome)) json["shape"] = built->shape;
  if (const auto* wrong = std::get_if<WrongResult>(&outcome); wrong != nullptr && wrong->evidence)
    json["evidence"] = write(*wrong->evidence);
}

void write_measurement(Json& json, const Measurement& measurement) {
  if (const ShapeMeasurement* shape = main_shape(measurement)) {
    json["time_us"] = write(shape->time);
    json["baselines"] = write(shape->baselines);
    json["speedup"] = write(measurement.speedup);
    json["speed_of_light"] = write(shape->speed_of_light);
  } else {
    json["speedup"] = write(measurement.speedup);
  }
  json["beats_baseline"] = beats_baseline(measurement);
  json["shapes"] = Json::array();
  for (const auto& shape : measurement.shapes) json["shapes"].push_back(write(shape));
  if (const auto& comparison = measurement.comparison)
    json["comparison"] = {{"step", comparison->step},
                          {"its_speedup", number(comparison->its_speedup)},
                          {"ratio", number(comparison->ratio)},
                          {"low", number(comparison->low)},
                          {"high", number(comparison->high)}};
}

Gate read_gate(const std::string& name) {
  if (const auto gate = gate_from_name(name)) return *gate;
  throw std::invalid_argument(fmt::format("unknown gate '{}'", name));
}

Outcome read_outcome(const Json& json) {
  const auto name = json.at("outcome").get<std::string>();
  if (name == "measured") {
    Measurement measurement;
    measurement.speedup = read_speedup(json.at("speedup"));
    for (const auto& shape : json.at("shapes")) measurement.shapes.push_back(read_shape(shape));
    auto comparison = json.find("comparison");
    if (comparison == json.end()) comparison = json.find("duel");  // its name in runs of version 0.1
    if (comparison != json.end())
      measurement.comparison = PairedComparison{comparison->at("step").get<std::int64_t>(),
                                                number(comparison->at("its_speedup")), number(comparison->at("ratio")),
                                                number(comparison->at("low")), number(comparison->at("high"))};
    return measurement;
  }
  const Gate gate = read_gate(json.at("gate").get<std::string>());
  const auto message = json.at("message").get<std::string>();
  if (name == "build_failed") return BuildFailed{json.at("shape").get<std::string>(), message};
  if (name == "crashed") return Crashed{gate, message};
  if (name == "timed_out") return TimedOut{gate, message};
  if (name == "rejected") return Rejected{gate, message};
  if (name != "wrong_result") throw std::invalid_argument(fmt::format("unknown outcome '{}'", name));
  WrongResult wrong{gate, message, std::nullopt};
  if (json.contains("evidence")) wrong.evidence = read_evidence(json.at("evidence"));
  return wrong;
}

Evaluation read_evaluation(const Json& json) {
  if (json.at("schema").get<int>() != kEvaluationSchema)
    throw std::invalid_argument(
        fmt::format("schema {} instead of {}", json.at("schema").get<int>(), kEvaluationSchema));
  Evaluation evaluation;
  evaluation.task = json.at("task").get<std::string>();
  evaluation.task_id = json.at("task_id").get<std::string>();
  evaluation.target = json.at("target").get<std::string>();
  evaluation.device = json.at("device").get<std::string>();
  evaluation.candidate = json.at("kernel").get<std::string>();
  evaluation.candidate_id = json.at("candidate").get<std::string>();
  evaluation.toolchain = json.at("toolchain").get<std::string>();
  evaluation.seed = json.at("seed").get<std::uint64_t>();
  for (const auto& [name, value] : json.at("tunables").items()) evaluation.tunables[name] = value.get<std::int64_t>();
  evaluation.outcome = read_outcome(json);
  if (!json.at("cell").is_null()) evaluation.cell = json.at("cell").get<std::vector<int>>();
  for (const auto& tier : json.at("tiers"))
    evaluation.tiers.push_back({tier.at("tier").get<std::string>(), number(tier.at("ms"))});
  if (json.contains("preparation"))
    for (const auto& part : json.at("preparation"))
      evaluation.preparation.push_back({part.at("part").get<std::string>(), number(part.at("ms"))});
  if (const auto seen = json.find("seen"); seen != json.end()) {
    const auto read = [](const Json& value) {
      return value.is_null() ? std::nullopt : std::optional(value.get<bool>());
    };
    evaluation.seen = {read(seen->at("deterministic")), read(seen->at("batch_invariant"))};
  }
  if (const auto certified = json.find("certification"); certified != json.end())
    evaluation.certification =
        Certification{certified->at("calls").get<std::int64_t>(), number(certified->at("seconds"))};
  evaluation.notes = json.at("notes").get<std::vector<std::string>>();
  evaluation.from_cache = json.at("from_cache").get<bool>();
  return evaluation;
}

}  // namespace

std::string to_json(const Evaluation& evaluation, int indent) {
  Json json;
  json["schema"] = kEvaluationSchema;
  json["task"] = evaluation.task;
  json["task_id"] = evaluation.task_id;
  json["target"] = evaluation.target;
  json["device"] = evaluation.device;
  json["kernel"] = evaluation.candidate;
  json["candidate"] = evaluation.candidate_id;
  json["outcome"] = outcome_name(evaluation.outcome);
  if (const auto* measurement = std::get_if<Measurement>(&evaluation.outcome))
    write_measurement(json, *measurement);
  else
    write_failure(json, evaluation.outcome);
  const auto seen = [](const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); };
  json["seen"] = {{"deterministic", seen(evaluation.seen.deterministic)},
                  {"batch_invariant", seen(evaluation.seen.batch_invariant)}};
  if (const auto& certified = evaluation.certification)
    json["certification"] = {{"calls", certified->calls}, {"wrong", 0}, {"seconds", number(certified->seconds)}};
  json["cell"] = evaluation.cell.empty() ? Json(nullptr) : Json(evaluation.cell);
  json["tunables"] = Json::object();
  for (const auto& [name, value] : evaluation.tunables) json["tunables"][name] = value;
  json["toolchain"] = evaluation.toolchain;
  json["seed"] = evaluation.seed;
  json["tiers"] = Json::array();
  for (const auto& tier : evaluation.tiers) json["tiers"].push_back({{"tier", tier.tier}, {"ms", number(tier.ms)}});
  if (!evaluation.preparation.empty()) {
    json["preparation"] = Json::array();
    for (const auto& part : evaluation.preparation)
      json["preparation"].push_back({{"part", part.tier}, {"ms", number(part.ms)}});
  }
  json["notes"] = evaluation.notes;
  json["from_cache"] = evaluation.from_cache;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<Evaluation> evaluation_from_json(std::string_view text) {
  try {
    return read_evaluation(Json::parse(text));
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input, fmt::format("not an evaluation: {}", error.what()));
  }
}

}  // namespace kerf
