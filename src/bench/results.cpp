#include "bench/results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "bench/page.hpp"
#include "bench/scores.hpp"

namespace kerf::bench {
namespace {

using Json = nlohmann::ordered_json;

Json score_json(const Score& score) {
  return {{"tasks", score.tasks},
          {"correct", score.correct},
          {"timed", score.timed},
          {"fast_1", score.fast_1},
          {"fast_1.2", score.fast_1_2},
          {"fast_2", score.fast_2},
          {"geometric_mean", score.geometric_mean}};
}

Json set_json(const ScoreSet& set) {
  Json json{{"level", set.level < 0 ? Json("all") : Json(set.level)},
            {"problems", set.eager.tasks},
            {"failed", set.failed},
            {"missing", set.missing},
            {"weak", set.weak},
            {"seconds", set.seconds},
            {"over_eager", score_json(set.eager)},
            {"over_compiled", score_json(set.compiled)},
            {"over_eager_by_kernelbench", score_json(set.eager_by_kernelbench)},
            {"over_compiled_by_kernelbench", score_json(set.compiled_by_kernelbench)},
            {"torch_compile_over_eager", score_json(set.torch_compile)},
            {"over_eager_without_weak", nullptr},
            {"over_compiled_without_weak", nullptr}};
  if (set.eager_without_weak) json["over_eager_without_weak"] = score_json(*set.eager_without_weak);
  if (set.compiled_without_weak) json["over_compiled_without_weak"] = score_json(*set.compiled_without_weak);
  return json;
}

/// A field of a table: no tabs, no line breaks.
std::string field(std::string_view text) { return one_line(text); }
std::string figure(double value) { return std::isfinite(value) && value != 0 ? fmt::format("{:.6g}", value) : ""; }
std::string ms(const std::optional<TimeSpan>& time) { return time ? figure(time->median_us / 1e3) : ""; }
std::string yes(bool value) { return value ? "yes" : "no"; }

void add_ratio(std::vector<std::string>& row, const std::optional<SpeedRatio>& ratio) {
  row.push_back(ratio ? figure(ratio->ratio) : "");
  row.push_back(ratio ? figure(ratio->low) : "");
  row.push_back(ratio ? figure(ratio->high) : "");
}

constexpr const char* kHeadings =
    "id\tlevel\tnumber\tsetting\tname\tprogress\tfailure\teager_ms\tcompiled_ms\tours_ms\tover_eager\tover_eager_low\t"
    "over_eager_high\tover_compiled\tover_compiled_low\tover_compiled_high\tcompiled_over_eager\tcorrect\t"
    "kernelbench_correct\tweak\tprecision\tshare\tevaluations\tkernel\tspeed_of_light\tseconds\tsearch_memory_"
    "mb\tmessage";

std::string row_of(const Record& record) {
  const Problem& problem = record.problem;
  std::vector<std::string> row{problem_id(problem),
                               problem.level == 0 ? "own" : std::to_string(problem.level),
                               std::to_string(problem.number),
                               problem.setting == 0 ? "" : std::to_string(problem.setting),
                               field(problem.name),
                               std::string(progress_name(record.progress)),
                               std::string(failure_name(record.failure)),
                               ms(record.eager),
                               ms(record.compiled),
                               ms(record.ours)};
  add_ratio(row, record.over_eager);
  add_ratio(row, record.over_compiled);
  row.push_back(record.compiled_over_eager ? figure(record.compiled_over_eager->ratio) : "");
  row.push_back(record.finished() ? yes(record.correct) : "");
  row.push_back(record.kernelbench_correct ? yes(*record.kernelbench_correct) : "");
  row.push_back(field(join(record.weak, " ")));
  row.push_back(field(record.precision));
  row.push_back(figure(record.share));
  row.push_back(std::to_string(record.evaluations));
  row.push_back(field(record.kernel));
  row.push_back(record.light ? figure(record.light->fraction) : "");
  row.push_back(fmt::format("{:.1f}", record.spent.total()));
  row.push_back(fmt::format("{:.0f}", static_cast<double>(record.spent.search_memory_bytes) / 1e6));
  row.push_back(field(record.message));
  return join(row, "\t");
}

}  // namespace

std::string results_json(const BenchState& state, int indent) {
  const BenchFacts& facts = state.facts;
  Json json{{"schema", kBenchSchema},
            {"suite", suite_name(facts.suite)},
            {"path", facts.path.string()},
            {"target", facts.target},
            {"device", facts.device_name},
            {"toolchain", facts.toolchain},
            {"host", facts.host},
            {"kerf", facts.kerf},
            {"seed", std::to_string(facts.seed)},
            {"memory", facts.memory},
            {"settings", facts.settings},
            {"torch", nullptr},
            {"scores", Json::array()},
            {"failures", Json::object()},
            {"problems", Json::array()}};
  for (const ScoreSet& set : score_sets(state.records)) json["scores"].push_back(set_json(set));
  for (const FailureCount& one : failures_by_reason(state.records))
    json["failures"][std::string(failure_name(one.failure))] = one.problems;
  for (const Record& record : state.records) {
    Json one = Json::parse(to_json(record));
    one["folder"] = problem_folder(record.problem).generic_string();
    if (json["torch"].is_null() && !record.torch.empty()) json["torch"] = record.torch;
    json["problems"].push_back(std::move(one));
  }
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string results_tsv(const BenchState& state) {
  std::string text = std::string(kHeadings) + "\n";
  for (const Record& record : state.records) text += row_of(record) + "\n";
  return text;
}

Status write_results(const std::filesystem::path& folder, const BenchState& state) {
  const std::string json = results_json(state, 1);
  KERF_TRY_VOID(write_file_atomic(folder / kResultsJson, json + "\n"));
  KERF_TRY_VOID(write_file_atomic(folder / kResultsTsv, results_tsv(state)));
  return write_file_atomic(folder / kResultsPage, results_page(state, results_json(state)));
}

}  // namespace kerf::bench
