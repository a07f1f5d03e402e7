#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/kernel_file.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "run/settings.hpp"
#include "run/target_session.hpp"
#include "search/tune.hpp"
#include "search/tune_space.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

using nlohmann::json;

std::string words(const Bindings& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

/// One line per quick timing, with the best so far marked.
class TuneProgress final : public TuneObserver {
 public:
  TuneProgress(Console& console, bool silent) : console_(console), silent_(silent) {}

  void on_trial(const TuneTrial& trial) override {
    const bool leads = !trial.refused && (best_us_ == 0 || trial.score_us < best_us_);
    if (leads) best_us_ = trial.score_us;
    if (silent_) return;
    const std::string what = trial.refused ? outcome_words(*trial.refused) : format_us(trial.score_us);
    const std::string again = trial.timings > 1 ? fmt::format("  (timing {})", trial.timings) : "";
    const Colour colour = trial.refused ? Colour::red : leads ? Colour::green : Colour::none;
    console_.err << fmt::format("{:5}  {}  {}{}\n", trial.number, words(trial.tunables),
                                paint(what, colour, console_.err_style), again)
                 << std::flush;
  }
  void on_note(const std::string& text) override {
    if (!silent_) console_.err << paint("   .. " + printable(text), Colour::dim, console_.err_style) << std::endl;
  }

 private:
  Console& console_;
  bool silent_;
  double best_us_ = 0;
};

json to_json(const Bindings& bindings) {
  json object = json::object();
  for (const auto& [name, value] : bindings) object[name] = value;
  return object;
}

json to_json(const TimeEstimate& time) {
  return {{"median", time.median}, {"low", time.low}, {"high", time.high}, {"samples", time.samples}};
}

json to_json(const TuneTrial& trial) {
  json object{{"tunables", to_json(trial.tunables)},
              {"timings", trial.timings},
              {"outcome", trial.refused ? outcome_name(*trial.refused) : "timed"}};
  if (trial.refused) {
    object["gate"] = outcome_gate(*trial.refused);
    object["message"] = printable(outcome_message(*trial.refused));
    return object;
  }
  object["time_us"] = to_json(trial.time);
  object["score_us"] = trial.score_us;
  for (const auto& shape : trial.shapes)
    object["shapes"].push_back(
        {{"shape", shape.shape}, {"weight", shape.weight}, {"time_us", to_json(shape.time)}, {"us", shape.us}});
  return object;
}

json to_json(const TuneReport& report, const Candidate& candidate) {
  json object{{"schema", 2},
              {"task", report.verdict.task},
              {"kernel", candidate.name},
              {"target", report.verdict.target},
              {"device", report.verdict.device},
              {"tuples", report.tuples},
              {"timings", report.timings},
              {"seconds", report.seconds},
              {"known_code", report.known_code},
              {"unused_tunables", report.unused},
              {"complete", report.complete},
              {"defaults", to_json(report.defaults)},
              {"best", to_json(report.best)},
              {"verdict", json::parse(kerf::to_json(report.verdict))},
              {"before", nullptr},
              {"gain", nullptr},
              {"rejected", nullptr},
              {"best_by_shape", json::object()},
              {"table", json::array()}};
  for (const Tunable& tunable : candidate.tunables) object["tunables"][tunable.name] = tunable.values;
  if (report.before) object["before"] = json::parse(kerf::to_json(*report.before));
  if (report.gain)
    object["gain"] = {{"ratio", report.gain->ratio}, {"low", report.gain->low}, {"high", report.gain->high}};
  if (report.rejected) object["rejected"] = to_json(*report.rejected);
  for (const auto& [shape, best] : report.best_by_shape) object["best_by_shape"][shape] = to_json(best);
  for (const TuneTrial& trial : report.table) object["table"].push_back(to_json(trial));
  return object;
}

/// Other values take the place of the defaults only where they are faster beyond the noise.
void keep_defaults_unless_shown(TuneReport& report) {
  if (!report.gain || report.gain->low > 1 || !report.before) return;
  report.rejected = std::exchange(report.best, report.defaults);
  for (auto& [shape, best] : report.best_by_shape)
    if (best == *report.rejected) best = report.defaults;
  report.verdict = *std::exchange(report.before, std::nullopt);
}

/// Says plainly that tuning changed nothing; "" when it did, or when nothing passed.
std::string kept_words(const TuneReport& report) {
  if (report.best != report.defaults || !std::holds_alternative<Measurement>(report.verdict.outcome)) return "";
  if (report.rejected)
    return fmt::format("the defaults are kept: nothing was shown to be faster when timed in turn ({} came nearest{})",
                       words(*report.rejected), report.gain ? ": " + format_speedup(*report.gain) : "");
  return "the defaults are kept: nothing found was faster";
}

/// Which tunables do nothing, and what was not timed because of that; "" when every tuple is code of its own.
std::string unused_words(const TuneReport& report) {
  std::string text;
  if (report.known_code > 0)
    text += fmt::format("{} not timed: the compiled code is that of another one\n",
                        counted(report.known_code, "further tuple"));
  for (const std::string& name : report.unused)
    text += fmt::format(
        "{0} changes nothing in the compiled code: use it in the kernel, or remove its 'tune: {0}' line\n", name);
  return text;
}

/// What the tuples that were looked at are, where those were all there is; "" when the budget ended it.
std::string rest_words(const TuneReport& report) {
  const double rest = report.tuples - static_cast<double>(report.table.size());
  if (!report.complete) return "";
  if (!(rest > 0)) return " (all)";
  if (report.known_code == 0) return " (all that are allowed)";
  return rest > report.known_code ? " (all that are allowed and differ in their code)"
                                  : " (all that differ in their code)";
}

void show(const TuneReport& report, Console& console) {
  constexpr std::size_t kRows = 12;
  std::vector<std::vector<Cell>> rows{{{"tunables"}, {"time", Colour::none, true}, {"timings", Colour::none, true}}};
  for (const TuneTrial& trial : report.table) {
    if (rows.size() > kRows) break;
    if (trial.refused) {
      rows.push_back({{words(trial.tunables)}, {outcome_words(*trial.refused), Colour::red}});
      continue;
    }
    const Colour colour = trial.tunables == report.best ? Colour::green : Colour::none;
    rows.push_back({{words(trial.tunables), colour},
                    {format_us(trial.score_us), Colour::none, true},
                    {std::to_string(trial.timings), Colour::none, true}});
  }
  console.out << "\n" << table(rows, console.out_style);
  console.out << paint("times are lower quartiles: what else the machine does only ever slows a kernel down\n",
                       Colour::dim, console.out_style);
  if (report.table.size() > kRows) console.out << fmt::format("... and {} more\n", report.table.size() - kRows);
  console.out << fmt::format("\n{}, {} of {:.0f} tuples, {:.1f} s{}\n", counted(report.timings, "quick timing"),
                             report.table.size(), report.tuples, report.seconds, rest_words(report));
  console.out << unused_words(report) << "\n";
  std::vector<Evaluation> verdicts{report.verdict};
  verdicts.back().candidate += " (" + words(report.best) + ")";
  console.out << evaluation_table(verdicts, console.out_style);
  if (report.gain && report.best != report.defaults)
    console.out << fmt::format("{} over the defaults ({}), timed in turn\n", format_speedup(*report.gain),
                               words(report.defaults));
  if (const std::string kept = kept_words(report); !kept.empty())
    console.out << paint(kept, Colour::yellow, console.out_style) << "\n";
  if (const std::string failure = failure_report(report.verdict, console.out_style); !failure.empty())
    console.out << "\n" << failure;
  for (const auto& [shape, best] : report.best_by_shape)
    if (best != report.best) console.out << fmt::format("shape '{}' is faster with {}\n", shape, words(best));
}

/// A file that is there is replaced when it is this kernel with other defaults: its own, or what was tuned before.
Status check_tuned_file(const std::string& path, const Candidate& candidate) {
  std::error_code error;
  const auto present = std::filesystem::is_regular_file(path, error) ? read_file(path) : Result<std::string>("");
  if (present) {
    KERF_TRY(const Bindings defaults, resolve_tunables(candidate, {}));
    KERF_TRY(const std::string wanted, with_defaults(candidate.source, defaults));
    const auto found = with_defaults(*present, defaults);
    if (found && *found == wanted) return check_output_file(path);
  }
  return check_output({path, OutputKind::kernel});
}

}  // namespace

Status tune_kernel(const TuneCommand& options, const Environment& environment, Console& console) {
  KERF_TRY(const Task task, load_checked_task(options.task, environment));
  KERF_TRY(const Candidate candidate, read_kernel_file(options.kernel, options.target));
  KERF_TRY_VOID(check_tuned_file(options.out, candidate));
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.tunables.empty())
    return fail(
        Errc::invalid_input,
        fmt::format("--set {0}=...: tuning chooses the tunables; remove values from the kernel's 'tune: {0}' line "
                    "to leave them out",
                    settings.tunables.begin()->first));
  JudgeOptions judge_options;
  judge_options.seed = options.seed.value_or(1);
  judge_options.only_shape = options.shape;
  judge_options.cache = environment.cache;
  KERF_TRY_VOID(apply_settings(settings, judge_options));

  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, options.jobs);
  KERF_TRY(const auto session, TargetSession::open(task, candidate.target, options.device, context));
  NullObserver silent;
  KERF_TRY(const auto judge, Judge::open(task, session->tools(), judge_options, silent));
  // A header that does not fit the task is the user's to mend before anything is tuned.
  KERF_TRY_VOID(check_against(task, candidate));

  TuneOptions tuning;
  tuning.evaluations = options.evaluations;
  tuning.seconds = options.seconds;
  tuning.seed = options.seed.value_or(1);
  tuning.rounds = options.rounds;
  tuning.passes = options.all;
  tuning.jobs = options.jobs > 0 ? options.jobs : available_cores();
  TuneProgress progress(console, options.json);
  const std::string busy = session->facts().runs_on_host ? busy_words(busy_share()) : "";
  if (!busy.empty()) progress.on_note(busy);
  KERF_TRY(TuneReport report, tune(*judge, candidate, tuning, session->clock(), progress));
  keep_defaults_unless_shown(report);
  if (!busy.empty()) report.verdict.notes.push_back(busy);

  if (options.json)
    console.out << to_json(report, candidate).dump() << std::endl;
  else
    show(report, console);
  if (options.out.empty()) return {};
  if (!std::holds_alternative<Measurement>(report.verdict.outcome))
    return fail(Errc::invalid_input, fmt::format("{} was not written: no tuple passes", options.out));
  KERF_TRY(const std::string tuned, with_defaults(candidate.source, report.best));
  KERF_TRY_VOID(write_file_atomic(options.out, tuned));
  if (!options.json) console.out << "written to " << options.out << "\n";
  return {};
}

}  // namespace kerf::cli
