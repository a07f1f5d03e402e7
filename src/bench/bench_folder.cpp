#include "bench/bench_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/file.hpp"
#include "bench/parts.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json facts_json(const BenchFacts& facts) {
  return {{"suite", suite_name(facts.suite)},
          {"path", facts.path.string()},
          {"target", facts.target},
          {"device", facts.device},
          {"device_name", facts.device_name},
          {"toolchain", facts.toolchain},
          {"host", facts.host},
          {"kerf", facts.kerf},
          {"seed", std::to_string(facts.seed)},
          {"memory", facts.memory},
          {"settings", facts.settings}};
}

Result<BenchFacts> facts_from(const Json& json) {
  BenchFacts facts;
  KERF_TRY(facts.suite, suite_from_name(json.at("suite").get<std::string>()));
  facts.path = json.at("path").get<std::string>();
  facts.target = json.at("target").get<std::string>();
  facts.device = json.at("device").get<std::string>();
  facts.device_name = json.at("device_name").get<std::string>();
  facts.toolchain = json.at("toolchain").get<std::string>();
  facts.host = json.at("host").get<std::string>();
  facts.kerf = json.at("kerf").get<std::string>();
  facts.seed = std::stoull(json.at("seed").get<std::string>());
  facts.memory = json.at("memory").get<std::string>();
  facts.settings = json.at("settings").get<std::string>();
  return facts;
}

bool before(const Record& a, const Record& b) {
  const auto key = [](const Record& one) {
    return std::tie(one.problem.level, one.problem.number, one.problem.setting);
  };
  return key(a) < key(b);
}

/// The record of a problem that has a folder; one of nothing where there is none or it cannot be read.
Record stored_record(const fs::path& folder, const Problem& problem, std::vector<std::string>& damaged) {
  Record fresh;
  fresh.problem = problem;
  const fs::path file = folder / problem_folder(problem) / kRecordFile;
  std::error_code error;
  if (!fs::exists(file, error)) return fresh;
  const auto text = read_file(file);
  auto record = text ? record_from_json(*text) : Result<Record>(tl::unexpected<Error>(text.error()));
  if (record && problem_id(record->problem) == problem_id(problem)) {
    record->problem = problem;  // the benchmark may have been moved since
    return *std::move(record);
  }
  damaged.push_back(problem_id(problem));
  return fresh;
}

Status check_same(const fs::path& folder, const BenchFacts& known, const BenchFacts& asked) {
  const auto differs = [&](std::string_view what, std::string_view had, std::string_view wanted) {
    return fail(Errc::invalid_input,
                fmt::format("{} holds a bench of {} '{}', not '{}'; choose another folder with --out", folder.string(),
                            what, had, wanted));
  };
  if (known.suite != asked.suite) return differs("the benchmark", suite_name(known.suite), suite_name(asked.suite));
  if (known.target != asked.target) return differs("target", known.target, asked.target);
  if (known.device != asked.device) return differs("device", known.device, asked.device);
  if (known.device_name != asked.device_name && !known.device_name.empty() && !asked.device_name.empty())
    return differs("the device", known.device_name, asked.device_name);
  return {};
}

}  // namespace

Result<BenchState> read_state(const fs::path& folder) {
  const fs::path file = folder / kBenchFile;
  KERF_TRY(const std::string text, read_file(file));
  const Json json = Json::parse(text, nullptr, false);
  BenchState state;
  try {
    if (!json.is_object() || json.at("schema") != kBenchSchema)
      return fail(Errc::invalid_input,
                  file.string() + " is of another version of Kerf; choose another folder with --out");
    KERF_TRY(state.facts, facts_from(json));
    for (const Json& one : json.at("problems")) {
      Problem problem;
      problem.level = one.at("level").get<int>();
      problem.number = one.at("number").get<int>();
      problem.setting = one.at("setting").get<int>();
      problem.name = one.at("name").get<std::string>();
      problem.file = one.at("file").get<std::string>();
      problem.init = one.at("init").get<std::string>();
      problem.inputs = one.at("inputs").get<std::string>();
      std::vector<std::string> damaged;
      state.records.push_back(stored_record(folder, problem, damaged));
    }
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input,
                fmt::format("{} cannot be read ({}); choose another folder with --out", file.string(), error.what()));
  }
  return state;
}

Result<BenchState> open_state(const fs::path& folder, const BenchFacts& facts, std::span<const Problem> problems,
                              std::vector<std::string>& damaged) {
  std::error_code error;
  BenchState state;
  if (fs::exists(folder / kBenchFile, error)) {
    KERF_TRY(state, read_state(folder));
    KERF_TRY_VOID(check_same(folder, state.facts, facts));
    const std::uint64_t seed = state.facts.seed;
    state.facts = facts;
    state.facts.seed = seed;
  } else {
    // A lock may be there already: whoever calls this holds it.
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().filename() != "kerf.lock")
        return fail(
            Errc::invalid_input,
            fmt::format("{} is not empty and holds no bench; choose another folder with --out", folder.string()));
    state.facts = facts;
  }
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < state.records.size(); ++i) known[problem_id(state.records[i].problem)] = i;
  for (const Problem& problem : problems) {
    Record record = stored_record(folder, problem, damaged);
    if (const auto at = known.find(problem_id(problem)); at != known.end())
      state.records[at->second] = std::move(record);
    else
      state.records.push_back(std::move(record));
  }
  std::sort(state.records.begin(), state.records.end(), before);
  return state;
}

Status write_facts(const fs::path& folder, const BenchState& state) {
  Json json{{"schema", kBenchSchema}};
  json.update(facts_json(state.facts));
  json["problems"] = Json::array();
  for (const Record& record : state.records) {
    const Problem& problem = record.problem;
    json["problems"].push_back({{"level", problem.level},
                                {"number", problem.number},
                                {"setting", problem.setting},
                                {"name", problem.name},
                                {"file", problem.file.string()},
                                {"init", problem.init},
                                {"inputs", problem.inputs}});
  }
  return write_file_atomic(folder / kBenchFile, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Status write_record(const fs::path& folder, const Record& record) {
  return write_file_atomic(folder / problem_folder(record.problem) / kRecordFile, to_json(record, 1) + "\n");
}

void forget_failures(const fs::path& folder, std::span<Record> records) {
  for (Record& record : records) {
    if (record.failure == Failure::none) continue;
    record.failure = Failure::none;
    record.stage.clear();
    record.message.clear();
    if (record.progress >= Progress::searched) continue;
    const Problem problem = record.problem;
    record = Record{};
    record.problem = problem;
    std::error_code ignored;
    fs::remove_all(folder / problem_folder(problem) / kRunFolder, ignored);
  }
}

}  // namespace kerf::bench
