#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "export/proof/proof.hpp"
#include "judge/judge.hpp"
#include "run/chosen_kernel.hpp"
#include "run/run_config.hpp"
#include "run/run_task.hpp"
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
    console_.err << paint("  .. " + printable(text), Colour::dim, console_.err_style) << std::endl;
  }

 private:
  Console& console_;
};

Status write_proof(const ProveOptions& options, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, load_run(folder));
  KERF_TRY(const ChosenKernel chosen, choose_kernel(run, options.step));
  KERF_TRY(const auto proof, exporting::proof_of(run, chosen.step));
  const auto files = exporting::proof_files(proof);
  const std::filesystem::path out = options.out.empty() ? folder / "proof" : std::filesystem::path(options.out);
  std::error_code error;
  if (std::filesystem::exists(out, error) && !std::filesystem::exists(out / files.back().path, error))
    return fail(Errc::invalid_input,
                fmt::format("{} exists and is not a proof bundle; choose another place with --out", out.string()));
  std::filesystem::remove_all(out, error);  // an older bundle: a file left over would not be in the manifest
  for (const auto& file : files) KERF_TRY_VOID(write_file_atomic(out / file.path, file.text));
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
  console.out << fmt::format("{}\nproof {} of step {}: {} over {}\n", out.string(),
                             exporting::proof_id(files).substr(0, 16), chosen.step, format_speedup(speedup),
                             speedup.vs);
  if (standing_of(speedup) != Standing::faster)
    console.out << paint(
        fmt::format("it shows that the kernel is right, not that it is fast: it is {}\n", standing_text(speedup)),
        Colour::yellow, console.out_style);
  console.out << fmt::format("check it again: kerf prove --check {}\n", out.string()) << std::flush;
  return {};
}

Result<Evaluation> judge_again(const exporting::Proof& proof, const ProveOptions& options,
                               const Environment& environment, Console& console) {
  KERF_TRY(const Task task, restore_task(proof.task_source, proof.task_files, proof.task_name));
  if (task.id != proof.evaluation.task_id)
    return fail(Errc::invalid_input,
                "the bundle was tampered with: task/task.toml is not the task that the claim is about");
  KERF_TRY(Candidate candidate, parse_candidate(proof.kernel_name, proof.kernel_source));
  if (candidate.target.empty()) candidate.target = proof.evaluation.target;
  KERF_TRY_VOID(check_target_name(candidate.target));
  KERF_TRY(const Bindings tunables, resolve_tunables(candidate, proof.evaluation.tunables));
  JudgeOptions judge_options;
  if (const auto config = config_from_toml(proof.config)) judge_options = config->judge;
  KERF_TRY(const Settings settings, parse_settings(options.set));
  KERF_TRY_VOID(apply_settings(settings, judge_options));
  judge_options.seed = options.seed ? *options.seed : fresh_seed();
  judge_options.cache = environment.cache;
  judge_options.use_evaluation_cache = false;

  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 0);
  KERF_TRY(const auto session, TargetSession::open(task, candidate.target, options.device, context, Builds::fresh));
  ProveProgress progress(console);
  NullObserver silent;
  Observer& observer = options.json ? static_cast<Observer&>(silent) : progress;
  KERF_TRY(const auto judge, Judge::open(task, session->tools(), judge_options, observer));
  // Other load on the machine makes a kernel look slow, never fast for long: one busy moment does not refute a claim.
  Evaluation best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    KERF_TRY(Evaluation fresh, judge->evaluate(candidate, tunables, observer));
    const auto comparison = exporting::compare(proof.evaluation, fresh, kSessionNoise);
    if (attempt == 0 || comparison.as_fast || !comparison.right) best = std::move(fresh);
    if (comparison.holds() || !comparison.right) break;
    if (attempt + 1 < kAttempts) observer.on_note("slower than claimed; measured again");
  }
  return best;
}

std::string verdict_words(const exporting::Comparison& comparison, const Evaluation& fresh) {
  if (!comparison.right)
    return fmt::format("the claim does not hold: the kernel is refused ({})", outcome_words(fresh.outcome));
  if (!comparison.same_device) return "right here too; how fast it is on the device of the claim was not checked";
  if (!comparison.as_fast)
    return fmt::format("the claim does not hold: {} was claimed, {} was found", format_speedup(comparison.claimed),
                       format_speedup(comparison.found));
  if (standing_of(comparison.found) != Standing::faster)
    return fmt::format("the claim holds: the kernel is right, and {}", standing_text(comparison.found));
  return "the claim holds";
}

Status check_proof(const ProveOptions& options, const Environment& environment, Console& console) {
  KERF_TRY(const auto read, exporting::read_proof(options.check));
  const exporting::Proof& proof = read.proof;
  if (!options.json)
    console.err << fmt::format("proof {} of {} on {}: every file is as it was\n", read.id.substr(0, 16),
                               printable(proof.task_name), printable(proof.evaluation.target))
                << std::flush;
  KERF_TRY(const Evaluation fresh, judge_again(proof, options, environment, console));
  const auto comparison = exporting::compare(proof.evaluation, fresh, kSessionNoise);
  const std::string words = verdict_words(comparison, fresh);
  if (options.json) {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"proof", read.id},
                                   {"holds", comparison.holds()},
                                   {"right", comparison.right},
                                   {"same_device", comparison.same_device},
                                   {"as_fast", comparison.as_fast},
                                   {"standing", standing_name(standing_of(comparison.found))},
                                   {"verdict", words},
                                   {"remarks", comparison.remarks}};
    json["claimed"] = nlohmann::ordered_json::parse(to_json(proof.evaluation));
    json["found"] = nlohmann::ordered_json::parse(to_json(fresh));
    console.out << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << std::endl;
  } else {
    const Style& style = console.out_style;
    console.out << "\n" << evaluation_table(std::span(&fresh, 1), style);
    if (const std::string report = failure_report(fresh, style); !report.empty()) console.out << "\n" << report;
    console.out << fmt::format("\nclaimed  {} over {}\nfound    {}\n", format_speedup(comparison.claimed),
                               printable(comparison.claimed.vs), format_speedup(comparison.found));
    for (const auto& remark : comparison.remarks)
      console.out << paint("note: " + printable(remark), Colour::dim, style) << "\n";
    if (comparison.holds())
      console.out << paint(words, standing_of(comparison.found) == Standing::faster ? Colour::green : Colour::yellow,
                           style)
                  << "\n";
    console.out << std::flush;
  }
  if (!comparison.holds()) return fail(Errc::invalid_input, words);
  return {};
}

}  // namespace

Status prove(const ProveOptions& options, const Environment& environment, Console& console) {
  if (options.check.empty() == options.run.empty())
    return fail(Errc::invalid_input,
                "give a RUN to write a proof of, or --check FOLDER to check one; see kerf prove --help");
  return options.check.empty() ? write_proof(options, console) : check_proof(options, environment, console);
}

}  // namespace kerf::cli
