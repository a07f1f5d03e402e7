#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/kernel_file.hpp"
#include "app/cli/run_text.hpp"
#include "judge/judge.hpp"
#include "run/settings.hpp"
#include "run/standing.hpp"
#include "run/target_session.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

class CompareProgress final : public Observer {
 public:
  CompareProgress(Console& console, bool silent) : console_(console), silent_(silent) {}
  void on_tier(const TierEvent& event) override {
    if (!silent_) console_.err << tier_line(event, console_.err_style) << std::flush;
  }
  void on_note(const std::string& text) override {
    if (!silent_) console_.err << note_line(text, console_.err_style) << std::flush;
  }

 private:
  Console& console_;
  bool silent_;
};

/// A kernel with the values of its tunables.
struct Side {
  Candidate candidate;
  Bindings tunables;
};

Result<Side> read_side(const std::string& path, const CompareOptions& options, const Settings& settings) {
  Side side;
  KERF_TRY(side.candidate, read_kernel_file(path, options.target));
  Bindings own;
  for (const auto& tunable : side.candidate.tunables)
    if (const auto value = settings.tunables.find(tunable.name); value != settings.tunables.end()) own.insert(*value);
  KERF_TRY(side.tunables, resolve_tunables(side.candidate, own));
  return side;
}

/// Only kernels that compute the right thing are compared.
Status verify(Judge& judge, const Task& task, const Side& side, Observer& observer) {
  observer.on_note("verifying " + side.candidate.name);
  KERF_TRY_VOID(check_against(task, side.candidate));
  KERF_TRY(const Evaluation evaluation, judge.evaluate(side.candidate, side.tunables, observer));
  if (std::holds_alternative<Measurement>(evaluation.outcome)) return {};
  return fail(Errc::invalid_input, "there is nothing to compare: " + failure_report(evaluation, {}));
}

Json to_json(const Speedup& speedup) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"ratio", number(speedup.ratio)},
          {"low", number(speedup.low)},
          {"high", number(speedup.high)},
          {"standing", standing_name(standing_of(speedup))}};
}

std::string words(const Speedup& speedup) {
  switch (standing_of(speedup)) {
    case Standing::faster: return "faster";
    case Standing::slower: return "slower";
    case Standing::undecided: return "no difference is shown";
    case Standing::untimed: return "not timed";
  }
  return "";
}

void show_json(const CompareOptions& options, const Judge& judge, const PairedOutcome& outcome, const std::string& busy,
               Console& console) {
  Json json = {{"schema", 1},
               {"a", options.first},
               {"b", options.second},
               {"target", judge.target().name},
               {"device", judge.target().device->facts().name},
               {"toolchain", judge.toolchain()},
               {"speedup", to_json(*outcome.speedup)},
               {"shapes", Json::array()},
               {"notes", Json::array()}};
  if (!busy.empty()) json["notes"].push_back(busy);
  for (const PairedShape& shape : outcome.shapes) {
    Json entry = {{"shape", shape.shape}, {"weight", shape.weight}};
    entry.update(to_json(shape.speedup));
    json["shapes"].push_back(std::move(entry));
  }
  console.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

void show(const CompareOptions& options, const PairedOutcome& outcome, Console& console) {
  std::vector<std::vector<Cell>> rows{{{"shape"}, {"a over b"}, {""}}};
  const auto add = [&](const std::string& shape, const Speedup& speedup) {
    const Standing standing = standing_of(speedup);
    const Colour colour = standing == Standing::faster   ? Colour::green
                          : standing == Standing::slower ? Colour::red
                                                         : Colour::yellow;
    rows.push_back({{printable(shape)}, {format_speedup(speedup), colour}, {words(speedup)}});
  };
  for (const PairedShape& shape : outcome.shapes) add(shape.shape, shape.speedup);
  if (outcome.shapes.size() > 1) add("all", *outcome.speedup);
  console.out << fmt::format("\na = {}\nb = {}\n\n", printable(options.first), printable(options.second))
              << table(rows, console.out_style)
              << paint("how many times as fast a is as b, with the 95 % interval; both ran in every round\n",
                       Colour::dim, console.out_style)
              << std::flush;
}

}  // namespace

Status compare(const CompareOptions& options, const Environment& environment, Console& console) {
  if (options.pytorch) return compare_pytorch(options, environment, console);
  if (options.first.empty() || options.second.empty())
    return fail(Errc::invalid_input, "give two kernels to compare, or --pytorch; see kerf compare --help");
  if (options.no_compile) return fail(Errc::invalid_input, "--no-compile goes with --pytorch");
  KERF_TRY(const Task task, load_checked_task(options.task, environment));
  KERF_TRY(const Settings settings, parse_settings(options.set));
  KERF_TRY(const Side first, read_side(options.first, options, settings));
  KERF_TRY(const Side second, read_side(options.second, options, settings));
  if (first.candidate.target != second.candidate.target)
    return fail(Errc::invalid_input,
                fmt::format("{} is for target '{}', {} for '{}': they cannot run in turn", options.first,
                            first.candidate.target, options.second, second.candidate.target));
  JudgeOptions judge_options;
  judge_options.seed = options.seed ? *options.seed : fresh_seed();
  judge_options.only_shape = options.shape;
  judge_options.skip_timing = true;
  judge_options.cache = environment.cache;
  KERF_TRY_VOID(apply_settings(settings, judge_options));
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, options.jobs);
  KERF_TRY(const auto session, TargetSession::open(task, first.candidate.target, options.device, context));
  CompareProgress progress(console, options.json);
  KERF_TRY(const auto judge, Judge::open(task, session->tools(), judge_options, progress));
  KERF_TRY_VOID(verify(*judge, task, first, progress));
  KERF_TRY_VOID(verify(*judge, task, second, progress));
  const std::string busy = session->facts().runs_on_host ? busy_words(busy_share()) : "";
  if (!busy.empty()) progress.on_note(busy);
  progress.on_note("timing them in turn");
  KERF_TRY(const PairedOutcome outcome,
           judge->compare({first.candidate, first.tunables}, {second.candidate, second.tunables}));
  if (!outcome.speedup)
    return fail(Errc::invalid_input, outcome.refused ? fmt::format("{} failed while it was timed: {}", options.first,
                                                                   outcome_message(*outcome.refused))
                                                     : fmt::format("{} failed while it was timed", options.second));
  if (options.json)
    show_json(options, *judge, outcome, busy, console);
  else
    show(options, outcome, console);
  return {};
}

}  // namespace kerf::cli
