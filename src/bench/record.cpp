#include "bench/record.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace kerf::bench {
namespace {

using Json = nlohmann::ordered_json;

struct FailureText {
  Failure failure;
  const char *name, *words;
};
constexpr FailureText kFailures[] = {
    {Failure::none, "", ""},
    {Failure::refused, "refused", "not importable"},
    {Failure::broken, "broken", "broken model file"},
    {Failure::no_kernel, "no_kernel", "no kernel passed every gate"},
    {Failure::search_failed, "search_failed", "search failed"},
    {Failure::crashed, "crashed", "crashed"},
    {Failure::timed_out, "timed_out", "timed out"},
    {Failure::out_of_memory, "out_of_memory", "out of memory"},
    {Failure::export_failed, "export_failed", "export failed"},
    {Failure::wrong, "wrong", "wrong in PyTorch"},
    {Failure::compare_failed, "compare_failed", "comparison failed"},
};
constexpr const char* kProgress[] = {"missing", "imported", "searched", "exported", "done"};

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json json_of(const std::optional<TimeSpan>& time) {
  if (!time) return nullptr;
  return {{"median_us", finite(time->median_us)}, {"low_us", finite(time->low_us)}, {"high_us", finite(time->high_us)}};
}
Json json_of(const std::optional<SpeedRatio>& ratio) {
  if (!ratio) return nullptr;
  return {{"ratio", finite(ratio->ratio)}, {"low", finite(ratio->low)}, {"high", finite(ratio->high)}};
}
Json json_of(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<TimeSpan> time_of(const Json& json) {
  if (!json.is_object()) return {};
  return TimeSpan{number(json.at("median_us")), number(json.at("low_us")), number(json.at("high_us"))};
}
std::optional<SpeedRatio> ratio_of(const Json& json) {
  if (!json.is_object()) return {};
  return SpeedRatio{number(json.at("ratio")), number(json.at("low")), number(json.at("high"))};
}

Json problem_json(const Problem& problem) {
  Json json{{"id", problem_id(problem)}, {"level", problem.level},
            {"number", problem.number},  {"setting", problem.setting},
            {"name", problem.name},      {"file", problem.file.string()},
            {"init", nullptr},           {"inputs", nullptr}};
  if (!problem.init.empty()) json["init"] = Json::parse(problem.init, nullptr, false);
  if (!problem.inputs.empty()) json["inputs"] = Json::parse(problem.inputs, nullptr, false);
  return json;
}

Json search_json(const Record& record) {
  Json json{{"step", record.step},
            {"kernel", record.kernel},
            {"composition", composition(record)},
            {"precision", record.precision},
            {"verified", record.verified},
            {"evaluations", record.evaluations},
            {"refused", record.refused},
            {"evaluation_limit", record.evaluation_limit},
            {"seconds_limit", record.seconds_limit},
            {"stopped", record.stopped},
            {"kernel_us", record.kernel_us ? finite(*record.kernel_us) : Json(nullptr)},
            {"over_naive", nullptr},
            {"speed_of_light", nullptr}};
  if (record.over_naive)
    json["over_naive"] = {{"vs", record.over_naive->vs},
                          {"ratio", finite(record.over_naive->ratio)},
                          {"low", finite(record.over_naive->low)},
                          {"high", finite(record.over_naive->high)}};
  if (record.light)
    json["speed_of_light"] = {{"floor_us", finite(record.light->floor_us)},
                              {"fraction", finite(record.light->fraction)},
                              {"bound", record.light->bound}};
  return json;
}

Json pytorch_json(const Record& record) {
  Json json{{"eager", json_of(record.eager)},
            {"compiled", json_of(record.compiled)},
            {"ours", json_of(record.ours)},
            {"over_eager", json_of(record.over_eager)},
            {"over_compiled", json_of(record.over_compiled)},
            {"compiled_over_eager", json_of(record.compiled_over_eager)},
            {"compile_status", record.compile_status},
            {"compile_message", record.compile_message},
            {"correct", record.correct},
            {"kernelbench_correct", json_of(record.kernelbench_correct)},
            {"kernelbench_problem", record.kernelbench_problem},
            {"kernelbench_worst", finite(record.kernelbench_worst)},
            {"eager_class", record.eager_class},
            {"weak", record.weak},
            {"comparison", nullptr}};
  if (!record.comparison.empty()) json["comparison"] = Json::parse(record.comparison, nullptr, false);
  return json;
}

Json record_json(const Record& record) {
  Json json = problem_json(record.problem);
  json["schema"] = kBenchSchema;
  json["progress"] = progress_name(record.progress);
  json["failure"] = failure_name(record.failure);
  json["stage"] = record.stage;
  json["message"] = record.message;
  json["seed"] = std::to_string(record.seed);
  json["seconds"] = {{"import", record.spent.import_seconds},
                     {"search", record.spent.search_seconds},
                     {"export", record.spent.export_seconds},
                     {"compare", record.spent.compare_seconds},
                     {"total", record.spent.total()}};
  json["search_memory_bytes"] = record.spent.search_memory_bytes;
  json["import"] = {{"torch", record.torch}, {"python", record.python},   {"training", record.training},
                    {"share", record.share}, {"missing", record.missing}, {"notes", record.notes}};
  json["search"] = search_json(record);
  json["pytorch"] = pytorch_json(record);
  return json;
}

std::string dumped_or_empty(const Json& json) {
  return json.is_object() ? json.dump(-1, ' ', false, Json::error_handler_t::replace) : "";
}

void read_problem(const Json& json, Problem& problem) {
  problem.level = json.at("level").get<int>();
  problem.number = json.at("number").get<int>();
  problem.setting = json.at("setting").get<int>();
  problem.name = json.at("name").get<std::string>();
  problem.file = json.at("file").get<std::string>();
  problem.init = dumped_or_empty(json.at("init"));
  problem.inputs = dumped_or_empty(json.at("inputs"));
}

void read_search(const Json& json, Record& record) {
  record.step = json.at("step").get<std::int64_t>();
  record.kernel = json.at("kernel").get<std::string>();
  record.precision = json.at("precision").get<std::string>();
  record.verified = json.at("verified").get<bool>();
  record.evaluations = json.at("evaluations").get<int>();
  record.refused = json.at("refused").get<int>();
  record.evaluation_limit = number(json.at("evaluation_limit"));
  record.seconds_limit = number(json.at("seconds_limit"));
  record.stopped = json.at("stopped").get<std::string>();
  if (json.at("kernel_us").is_number()) record.kernel_us = number(json.at("kernel_us"));
  if (const Json& naive = json.at("over_naive"); naive.is_object())
    record.over_naive = Speedup{naive.at("vs").get<std::string>(), number(naive.at("ratio")), number(naive.at("low")),
                                number(naive.at("high"))};
  if (const Json& light = json.at("speed_of_light"); light.is_object())
    record.light =
        SpeedOfLight{number(light.at("floor_us")), number(light.at("fraction")), light.at("bound").get<std::string>()};
}

void read_pytorch(const Json& json, Record& record) {
  record.eager = time_of(json.at("eager"));
  record.compiled = time_of(json.at("compiled"));
  record.ours = time_of(json.at("ours"));
  record.over_eager = ratio_of(json.at("over_eager"));
  record.over_compiled = ratio_of(json.at("over_compiled"));
  record.compiled_over_eager = ratio_of(json.at("compiled_over_eager"));
  record.compile_status = json.at("compile_status").get<std::string>();
  record.compile_message = json.at("compile_message").get<std::string>();
  record.correct = json.at("correct").get<bool>();
  if (json.at("kernelbench_correct").is_boolean()) record.kernelbench_correct = json["kernelbench_correct"].get<bool>();
  record.kernelbench_problem = json.at("kernelbench_problem").get<std::string>();
  record.kernelbench_worst = number(json.at("kernelbench_worst"));
  record.eager_class = json.at("eager_class").get<std::string>();
  record.weak = json.at("weak").get<std::vector<std::string>>();
  record.comparison = dumped_or_empty(json.at("comparison"));
}

Record read_record(const Json& json) {
  Record record;
  read_problem(json, record.problem);
  const auto progress = json.at("progress").get<std::string>(), failure = json.at("failure").get<std::string>();
  for (std::size_t i = 0; i < std::size(kProgress); ++i)
    if (progress == kProgress[i]) record.progress = static_cast<Progress>(i);
  for (const FailureText& one : kFailures)
    if (failure == one.name) record.failure = one.failure;
  record.stage = json.at("stage").get<std::string>();
  record.message = json.at("message").get<std::string>();
  record.seed = std::stoull(json.at("seed").get<std::string>());
  const Json& seconds = json.at("seconds");
  record.spent = {number(seconds.at("import")), number(seconds.at("search")), number(seconds.at("export")),
                  number(seconds.at("compare")), json.at("search_memory_bytes").get<std::int64_t>()};
  const Json& import = json.at("import");
  record.torch = import.at("torch").get<std::string>();
  record.python = import.at("python").get<std::string>();
  record.training = import.at("training").get<bool>();
  record.share = number(import.at("share"));
  record.missing = import.at("missing").get<std::vector<std::string>>();
  record.notes = import.at("notes").get<std::vector<std::string>>();
  read_search(json.at("search"), record);
  read_pytorch(json.at("pytorch"), record);
  return record;
}

}  // namespace

std::string_view failure_name(Failure failure) {
  for (const FailureText& one : kFailures)
    if (one.failure == failure) return one.name;
  return "";
}

std::string_view failure_words(Failure failure) {
  for (const FailureText& one : kFailures)
    if (one.failure == failure) return one.words;
  return "";
}

std::string_view progress_name(Progress progress) { return kProgress[static_cast<std::size_t>(progress)]; }

std::vector<std::string> composition(const Record& record) {
  std::vector<std::string> groups;
  std::string_view rest = record.kernel;
  while (!rest.empty()) {
    const auto plus = rest.find(" + ");
    groups.emplace_back(trim(rest.substr(0, plus)));
    rest = plus == std::string_view::npos ? std::string_view() : rest.substr(plus + 3);
  }
  return groups;
}

std::string to_json(const Record& record, int indent) {
  return record_json(record).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<Record> record_from_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (!json.is_object() || json.at("schema") != kBenchSchema)
      return fail(Errc::invalid_input, "this is no record of a bench, or one of another version of Kerf");
    return read_record(json);
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input, std::string("a record of a bench is damaged: ") + error.what());
  }
}

}  // namespace kerf::bench
