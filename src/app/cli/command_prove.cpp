#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/cli.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "export/proof/proof.hpp"
#include "judge/judge.hpp"
#include "run/chosen_kernel.hpp"
#include "run/settings.hpp"
#include "run/standing.hpp"
#include "run/target_session.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

/// What sessions on one device differ by: the A/A runs of docs/results stay below it.
constexpr double kSessionNoise = 0.05;
constexpr int kAttempts = 3;

class ProveProgress final : public Observer {
 public:
  explicit ProveProgress(Console& console) : console_(console) {}
  void on_tier(const TierEvent& event) override { console_.err << tier_line(event, console_.err_style) << std::flush; }
  void on_note(const std::string& text) override {
    console_.err << note_line(one_line(text), console_.err_style) << std::flush;
  }

 private:
  Console& console_;
};

Status write_proof(const ProveOptions& options, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  const std::filesystem::path out = options.out.empty() ? folder / "proof" : std::filesystem::path(options.out);
  KERF_TRY_VOID(check_output_folder(out));
  KERF_TRY(const auto run, load_run(folder));
  KERF_TRY(const ChosenKernel chosen, choose_kernel(run, options.step));
  KERF_TRY(const auto proof, exporting::proof_of(run, chosen.step));
  const auto files = exporting::proof_files(proof);
  KERF_TRY_VOID(exporting::write_proof(out, files));
  const Speedup& speedup = measurement_of(run.step(chosen.step))->speedup;
  if (options.json) {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"proof", exporting::proof_id(files)},
                                   {"folder", out.string()},
                                   {"step", chosen.step},
                                   {"standing", standing_name(standing_of(speedup))}};
    console.out << json.dump() << std::endl;
    return {};
  }
  const bool plain = is_fallback(run.step(chosen.step));
  const auto remark = [&](const char* words) {
    console.out << paint(std::string("note: ") + words, Colour::yellow, console.out_style) << "\n";
  };
  console.out << fmt::format(
      "{}\nproof {} of step {}: {}\n", out.string(), exporting::proof_id(files).substr(0, 16), chosen.step,
      plain ? std::string("the plain kernel") : fmt::format("{} over {}", format_speedup(speedup), speedup.vs));
  if (!plain && standing_of(speedup) != Standing::faster)
    console.out << paint(
        fmt::format("it shows that the kernel is right, not that it is fast: it is {}\n", standing_text(speedup)),
        Colour::yellow, console.out_style);
  if (run.fact("finished").empty())
    remark("the run is not finished: its best kernel was not measured again at the end");
  if (!run.step(chosen.step).evaluation.certification)
    remark("the kernel is not certified: only finalists go through the longer test");
  if (!plain && exporting::is_noisy(speedup))
    remark("the interval of its speedup is wide: a check may not be able to confirm it");
  console.out << fmt::format("check it again: kerf prove --check {}\n", out.string()) << std::flush;
  return {};
}

/// The bundle is about the task that the checker has in mind.
Status check_task(const exporting::ReadProof& read, const ProveOptions& options, const Environment& environment) {
  if (options.task.empty()) return {};
  KERF_TRY(const Task wanted, load_checked_task(options.task, environment));
  if (wanted.id == read.task.id) return {};
  return fail(Errc::invalid_input,
              fmt::format("the proof is about another task than {} (ids {} and {}): what is asked for, the shapes, the "
                          "data or the baselines differ; compare it with {}/task/task.toml",
                          options.task, read.task.id.substr(0, 16), wanted.id.substr(0, 16), options.check));
}

/// How sure an attempt is: a confirmed claim before all, then a narrow interval.
bool says_more(const exporting::Comparison& a, const exporting::Comparison& b) {
  if (a.holds() != b.holds()) return a.holds();
  const auto width = [](const Speedup& found) { return found.low > 0 ? found.high / found.low : HUGE_VAL; };
  return width(a.found) < width(b.found);
}

/// The settings are the checker's own: a bundle cannot ask to be judged mildly.
Result<Evaluation> judge_again(const exporting::ReadProof& read, const ProveOptions& options,
                               const Environment& environment, Console& console) {
  const exporting::Proof& proof = read.proof;
  KERF_TRY(Candidate candidate, parse_candidate(proof.kernel_name, proof.kernel_source));
  candidate.target = proof.evaluation.target;
  KERF_TRY(const Bindings tunables, resolve_tunables(candidate, proof.evaluation.tunables));
  JudgeOptions judge_options;
  KERF_TRY(const Settings settings, parse_settings(options.set));
  KERF_TRY_VOID(apply_settings(settings, judge_options));
  judge_options.seed = options.seed ? *options.seed : fresh_seed();
  judge_options.cache = environment.cache;
  judge_options.use_evaluation_cache = false;
  judge_options.certify = true;

  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 0);
  KERF_TRY(const auto session,
           TargetSession::open(read.task, candidate.target, options.device, context, Builds::fresh));
  ProveProgress progress(console);
  NullObserver silent;
  Observer& observer = options.json ? static_cast<Observer&>(silent) : progress;
  KERF_TRY(const auto judge, Judge::open(read.task, session->tools(), judge_options, observer));
  // Other load on the machine changes ratios for a while: one busy moment does not refute a claim.
  Evaluation best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    KERF_TRY(Evaluation fresh, judge->evaluate(candidate, tunables, observer));
    const auto comparison = exporting::compare(proof.evaluation, fresh, kSessionNoise);
    const bool last = comparison.holds() || !comparison.right || !comparison.same_device;
    if (attempt == 0 || !comparison.right ||
        says_more(comparison, exporting::compare(proof.evaluation, best, kSessionNoise)))
      best = std::move(fresh);
    if (last) break;
    if (attempt + 1 < kAttempts) observer.on_note("not the claimed speed, or too noisy; measured again");
  }
  return best;
}

std::string verdict_words(const exporting::Comparison& comparison, const Evaluation& fresh) {
  if (!comparison.right && std::holds_alternative<Measurement>(fresh.outcome))
    return "the claim does not hold: the kernel is less than the claim says";
  if (!comparison.right)
    return fmt::format("the claim does not hold: the kernel is refused ({})", outcome_words(fresh.outcome));
  if (comparison.speed == exporting::SpeedCheck::refuted)
    return fmt::format("the claim does not hold: {} was claimed, {} over {} was found",
                       format_speedup(comparison.claimed), format_speedup(comparison.found),
                       one_line(comparison.found.vs));
  if (comparison.speed == exporting::SpeedCheck::not_checked)
    return comparison.same_device ? "right; its speed was not checked: the timing here is too noisy"
                                  : "right here too; how fast it is on the device of the claim was not checked";
  if (standing_of(comparison.found) != Standing::faster)
    return fmt::format("the claim holds: the kernel is right, and {}", one_line(standing_text(comparison.found)));
  return "the claim holds";
}

const char* speed_name(exporting::SpeedCheck speed) {
  switch (speed) {
    case exporting::SpeedCheck::not_checked: return "not_checked";
    case exporting::SpeedCheck::confirmed: return "confirmed";
    case exporting::SpeedCheck::refuted: return "refuted";
  }
  return "";
}

std::string verdict_json(const exporting::ReadProof& read, const exporting::Comparison& comparison,
                         const Evaluation& fresh) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"proof", read.id},
                                 {"task_id", read.task.id},
                                 {"holds", comparison.holds()},
                                 {"right", comparison.right},
                                 {"same_device", comparison.same_device},
                                 {"speed", speed_name(comparison.speed)},
                                 {"as_fast", comparison.speed == exporting::SpeedCheck::confirmed},
                                 {"standing", standing_name(standing_of(comparison.found))},
                                 {"verdict", verdict_words(comparison, fresh)},
                                 {"remarks", comparison.remarks}};
  json["claimed"] = nlohmann::ordered_json::parse(to_json(read.proof.evaluation));
  json["found"] = nlohmann::ordered_json::parse(to_json(fresh));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void show_verdict(const exporting::Comparison& comparison, const Evaluation& fresh, Console& console) {
  const Style& style = console.out_style;
  console.out << "\n" << evaluation_table(std::span(&fresh, 1), style);
  if (const std::string report = failure_report(fresh, style); !report.empty()) console.out << "\n" << report;
  if (comparison.right) console.out << fitted(seen_words(fresh) + "\n", style);
  console.out << fmt::format("\nclaimed  {} over {}\nfound    {} over {}\n", format_speedup(comparison.claimed),
                             one_line(comparison.claimed.vs), format_speedup(comparison.found),
                             comparison.found.vs.empty() ? "nothing" : one_line(comparison.found.vs));
  for (const auto& remark : comparison.remarks)
    console.out << paint(fitted("note: " + one_line(remark) + "\n", style), Colour::dim, style);
  const bool refuted = !comparison.right || comparison.speed == exporting::SpeedCheck::refuted;
  const bool plain = comparison.holds() && standing_of(comparison.found) == Standing::faster;
  if (!refuted)
    console.out << paint(verdict_words(comparison, fresh), plain ? Colour::green : Colour::yellow, style) << "\n";
  console.out << std::flush;
}

Result<int> check_proof(const ProveOptions& options, const Environment& environment, Console& console) {
  KERF_TRY(const auto read, exporting::read_proof(options.check));
  KERF_TRY_VOID(check_task(read, options, environment));
  const exporting::Proof& proof = read.proof;
  if (!options.json)
    console.err << fmt::format("proof {} of {} (id {}, precision {}) on {}: every file is as it was\n",
                               read.id.substr(0, 16), one_line(proof.task_name), read.task.id.substr(0, 16),
                               precision_name(read.task.precision), one_line(proof.evaluation.target))
                << std::flush;
  KERF_TRY(const Evaluation fresh, judge_again(read, options, environment, console));
  const auto comparison = exporting::compare(proof.evaluation, fresh, kSessionNoise);
  if (options.json)
    console.out << verdict_json(read, comparison, fresh) << std::endl;
  else
    show_verdict(comparison, fresh, console);
  if (comparison.holds()) return kJudged;
  if (comparison.right && comparison.speed == exporting::SpeedCheck::not_checked) return kSpeedNotChecked;
  return fail(Errc::invalid_input, verdict_words(comparison, fresh));
}

/// Options of one of the two ways are not ignored in the other.
Status check_options(const ProveOptions& options) {
  const bool writing = options.check.empty();
  const std::pair<const char*, bool> given[] = {
      {"--task", writing && !options.task.empty()},  {"--device", writing && !options.device.empty()},
      {"--set", writing && !options.set.empty()},    {"--seed", writing && options.seed.has_value()},
      {"--step", !writing && !options.step.empty()}, {"--out", !writing && !options.out.empty()}};
  for (const auto& [name, ignored] : given)
    if (ignored)
      return fail(Errc::invalid_input,
                  fmt::format("{} goes with {}; see kerf prove --help", name,
                              writing ? "--check FOLDER, which checks a proof" : "RUN, of which a proof is written"));
  return {};
}

}  // namespace

Result<int> prove(const ProveOptions& options, const Environment& environment, Console& console) {
  if (options.check.empty() == options.run.empty())
    return fail(Errc::invalid_input,
                "give a RUN to write a proof of, or --check FOLDER to check one; see kerf prove --help");
  KERF_TRY_VOID(check_options(options));
  if (options.check.empty()) return write_proof(options, console).transform([] { return kJudged; });
  return check_proof(options, environment, console);
}

}  // namespace kerf::cli
