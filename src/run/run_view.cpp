#include "run/run_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "run/run_config.hpp"
#include "search/search_settings.hpp"
#include "store/step_checks.hpp"

namespace kerf {
namespace {

/// The options of the run's search, as far as they can be read: a run of another version may have settings that are not
/// known here.
SearchOptions search_options(const std::map<std::string, std::string>& facts) {
  const auto text = facts.find("config");
  if (text != facts.end())
    if (const auto config = config_from_toml(text->second)) return config->search;
  SearchOptions options;
  if (const auto search = facts.find("search"); search != facts.end()) options.search = search->second;
  return options;
}

/// The archive as the run's own rule builds it; `heard` is told of every newcomer.
template <class Heard>
Archive replay(const RunView& run, Heard heard) {
  Archive archive(archive_options(search_options(run.facts)));
  for (const Step& step : run.steps) {
    if (!is_trial(step) && !is_confirmation(step))
      heard(step, archive.insert({step.number, step.parents, step.evaluation, step.cell}));
    for (const std::int64_t refuted : refuted_steps(std::span(&step, 1))) archive.refute(refuted);
  }
  return archive;
}

std::int64_t parse_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// The first five are those of `Reached`.
enum Stage : std::size_t { proposed, readable, compiled, ran, right, timed, kept };
static_assert(static_cast<Stage>(Reached::proposed) == proposed && static_cast<Stage>(Reached::right) == right);
constexpr const char* kStageNames[] = {"proposed", "readable", "compiled", "ran", "right", "timed", "kept"};

/// The last stage a step came through.
Stage stage_of(const Step& step) {
  const Outcome& outcome = step.evaluation.outcome;
  if (std::holds_alternative<Measurement>(outcome)) return step.kept ? kept : timed;
  if (std::holds_alternative<Crashed>(outcome) || std::holds_alternative<TimedOut>(outcome)) return compiled;
  if (std::holds_alternative<WrongResult>(outcome)) return ran;
  if (is_duplicate(step) && step.descriptors.empty()) return readable;  // known by its text: it was not compiled
  return static_cast<Stage>(reached_at(*failed_gate(outcome)));
}

/// "4 wrong result (values)": what ended the steps that stopped here, most frequent first.
std::string describe_losses(const std::map<std::string, std::size_t>& losses) {
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [what, count] : losses) order.emplace_back(count, what);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [count, what] : order) parts.push_back(fmt::format("{} {}", count, what));
  return join(parts, ", ");
}

std::string loss_of(const Step& step) {
  if (std::holds_alternative<Measurement>(step.evaluation.outcome))
    return is_trial(step) ? "timed quickly while tuning" : "no better than what is kept";
  std::string words = outcome_name(step.evaluation.outcome);
  std::replace(words.begin(), words.end(), '_', ' ');
  const std::string gate = outcome_gate(step.evaluation.outcome);
  return gate.empty() || gate == "compile" ? words : fmt::format("{} ({})", words, gate);
}

/// True when the child's cell lies where the direction text ("memory+1", "compute+0") pointed from its parent's cell.
bool reached(const Step& child, const Step& parent) {
  if (child.cell.empty() || child.cell.size() != parent.cell.size()) return false;
  const auto sign = child.direction.find_first_of("+-");
  if (sign == std::string::npos) return false;
  const std::string shift = child.direction.substr(sign + (child.direction[sign] == '+' ? 1 : 0));
  for (int d = 0; d < static_cast<int>(child.cell.size()) && d < kDimensions; ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (child.direction.substr(0, sign) == dimension_name(d))
      return child.cell[at] - parent.cell[at] == static_cast<int>(parse_number(shift));
  }
  return false;
}

template <class Name>
std::vector<Tally> tally(const RunView& run, Name name_of) {
  std::map<std::string, Tally> tallies;
  std::map<std::string, std::vector<double>> gains;
  std::set<std::int64_t> turning;
  for (const auto& point : turning_points(run)) turning.insert(point.step);
  for (const Step& step : run.steps) {
    const std::string name = name_of(step);
    if (name.empty() || is_confirmation(step)) continue;
    Tally& one = tallies[name];
    one.name = name;
    ++one.tried;
    one.measured += measurement_of(step) != nullptr ? 1 : 0;
    one.kept += step.kept ? 1 : 0;
    one.best += turning.contains(step.number) ? 1 : 0;
    if (step.parents.empty()) continue;
    const Step& parent = run.step(step.parents[0]);
    one.reached += reached(step, parent) ? 1 : 0;
    const double ours = speedup_of(run, step), theirs = speedup_of(run, parent);
    if (ours > 0 && theirs > 0) gains[name].push_back(ours / theirs);
  }
  std::vector<Tally> sorted;
  for (auto& [name, one] : tallies) {
    if (!gains[name].empty()) one.median_gain = median(gains[name]);
    sorted.push_back(one);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Tally& a, const Tally& b) { return a.tried > b.tried; });
  return sorted;
}

}  // namespace

std::string RunView::fact(const std::string& key) const {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

Result<RunView> load_run(const std::filesystem::path& folder, RunDetail detail) {
  KERF_TRY(const auto store, open_run_store(folder, RunStore::Access::read));
  RunView run;
  run.folder = folder;
  KERF_TRY(run.facts, store->facts());
  KERF_TRY(run.steps, store->steps());
  if (detail == RunDetail::conversations) {
    KERF_TRY(run.conversations, load_conversations(*store, run.steps));
  }
  run.archive = replay(run, [](const Step&, const Decision&) {});
  for (const Step& step : run.steps) run.estimates.observe(step);
  run.refuted = refuted_steps(run.steps);
  const std::string named = run.fact("best_step");
  if (!named.empty()) {
    run.best = parse_number(named);
    if (run.best < (named == "0" ? 0 : 1) || run.best > static_cast<std::int64_t>(run.steps.size()))
      return store::damaged(folder.string(), fmt::format("its best step is said to be '{}'", named));
  }
  if (run.best != 0 && !run.refuted.contains(run.best)) return run;
  run.best = 0;
  if (const Elite* best = run.archive.best()) run.best = best->step;
  return run;
}

const Measurement* measurement_of(const Step& step) { return std::get_if<Measurement>(&step.evaluation.outcome); }

Speedup measured_speedup(const Step& step) {
  const Measurement* measurement = measurement_of(step);
  if (measurement == nullptr || is_fallback(step)) return {};
  return std::isfinite(measurement->speedup.ratio) ? measurement->speedup : Speedup{};
}

Speedup estimated_speedup(const RunView& run, const Step& step) {
  if (run.refuted.contains(step.number)) return {};
  return run.estimates.on_scale_of(run.best, step.number);
}

double speedup_of(const RunView& run, const Step& step) { return estimated_speedup(run, step).ratio; }

std::string estimate_words(const RunView& run, const Step& step) {
  constexpr double kSame = 0.005;  // less than what is shown of a figure
  const double own = measured_speedup(step).ratio;
  const Speedup estimate = estimated_speedup(run, step);
  if (!(own > 0) || !(estimate.ratio > 0) || std::abs(std::log(estimate.ratio / own)) < kSame) return "";
  return fmt::format("among the run's kernels: {:.3g}x ({:.3g}x to {:.3g}x), on the scale of the best", estimate.ratio,
                     estimate.low, estimate.high);
}

std::string paired_words(const Step& step) {
  const Measurement* measurement = measurement_of(step);
  if (measurement == nullptr || !measurement->comparison) return "";
  const auto& [other, its_speedup, ratio, low, high] = *measurement->comparison;
  return fmt::format("{} as step {}, timed in turn", factor_text({ratio, low, high}), other);
}

std::vector<std::string> reasons_of(const Step& step) {
  const auto json = nlohmann::json::parse(step.descriptors, nullptr, false);
  std::vector<std::string> reasons;
  if (!json.is_object() || !json.contains("reasons") || !json["reasons"].is_array()) return reasons;
  for (std::size_t d = 0; d < json["reasons"].size() && d < step.cell.size() && d < kDimensions; ++d)
    if (const auto& reason = json["reasons"][d]; reason.is_string())
      reasons.push_back(
          fmt::format("{} {}: {}", dimension_name(static_cast<int>(d)), step.cell[d], reason.get<std::string>()));
  return reasons;
}

Result<std::int64_t> find_step(const RunView& run, const std::string& text) {
  const auto count = static_cast<std::int64_t>(run.steps.size());
  if (count == 0) return fail(Errc::not_found, fmt::format("the run {} has no steps yet", run.folder.string()));
  if (text == "best") {
    if (run.best == 0) return fail(Errc::not_found, "no kernel of this run was measured yet");
    return run.best;
  }
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (const std::int64_t number = parse_number(text); digits && number >= 1 && number <= count) return number;
  std::int64_t found = 0;
  std::set<std::string> ids;
  for (const Step& step : run.steps) {
    if (text.size() < 4 || !step.evaluation.candidate_id.starts_with(text)) continue;
    ids.insert(step.evaluation.candidate_id);
    if (found == 0 || speedup_of(run, step) > speedup_of(run, run.step(found))) found = step.number;
  }
  if (ids.size() > 1)
    return fail(Errc::invalid_input,
                fmt::format("'{}' is the beginning of {} kernels; type more of it", text, ids.size()));
  if (found != 0) return found;
  return fail(Errc::not_found,
              fmt::format("there is no step or kernel '{}' in {}; steps are 1 to {}{}", text, run.folder.string(),
                          count, run.best != 0 ? fmt::format(", the best is {}", run.best) : ""));
}

std::vector<FunnelStage> funnel_of(const RunView& run) {
  std::vector<FunnelStage> funnel;
  for (const char* name : kStageNames) funnel.push_back({name, 0, ""});
  std::vector<std::map<std::string, std::size_t>> losses(funnel.size());
  for (const Step& step : run.steps) {
    if (is_confirmation(step)) continue;  // a kernel that is counted already
    const std::size_t last = stage_of(step);
    for (std::size_t stage = 0; stage <= last; ++stage) ++funnel[stage].count;
    if (last != kept) ++losses[last][loss_of(step)];
  }
  for (std::size_t stage = 0; stage < funnel.size(); ++stage) funnel[stage].lost = describe_losses(losses[stage]);
  return funnel;
}

std::vector<std::int64_t> lineage_of(const RunView& run, std::int64_t number) {
  std::vector<std::int64_t> line{number};
  while (!run.step(line.back()).parents.empty()) line.push_back(run.step(line.back()).parents[0]);
  std::reverse(line.begin(), line.end());
  return line;
}

std::vector<std::int64_t> ancestors_of(const RunView& run, std::int64_t number) {
  std::set<std::int64_t> known{number};
  std::vector<std::int64_t> open{number};
  while (!open.empty()) {
    const std::int64_t next = open.back();
    open.pop_back();
    for (const std::int64_t parent : run.step(next).parents)
      if (known.insert(parent).second) open.push_back(parent);
  }
  return {known.begin(), known.end()};
}

std::vector<TurningPoint> turning_points(const RunView& run) {
  std::vector<TurningPoint> points;
  replay(run, [&](const Step& step, const Decision& decision) {
    if (!decision.new_best || run.refuted.contains(step.number)) return;
    TurningPoint point{step.number, speedup_of(run, step), 1};
    if (!points.empty() && points.back().speedup > 0 && point.speedup > 0)
      point.gain = point.speedup / points.back().speedup;
    points.push_back(point);
  });
  return points;
}

std::vector<Tally> tally_operations(const RunView& run) {
  return tally(run, [](const Step& step) { return step.proposer + " " + step.operation; });
}

std::vector<Tally> tally_directions(const RunView& run) {
  return tally(run, [](const Step& step) { return step.direction; });
}

std::vector<ModelTally> tally_models(const RunView& run) {
  std::map<std::string, ModelTally> by_model;
  std::set<std::int64_t> best;
  for (const TurningPoint& point : turning_points(run)) best.insert(point.step);
  for (const Step& step : run.steps) {
    const Provenance& from = step.provenance;
    if (from.model.empty()) continue;
    ModelTally& tally = by_model[from.model];
    tally.model = from.model;
    ++tally.answers;
    tally.kernels += failed_gate(step.evaluation.outcome) != Gate::parse ? 1 : 0;
    tally.passed += measurement_of(step) != nullptr ? 1 : 0;
    tally.best += best.contains(step.number) ? 1 : 0;
    tally.tokens += from.prompt_tokens + from.reply_tokens;
    tally.cost_usd += from.cost_usd;
    tally.seconds += from.seconds;
  }
  std::vector<ModelTally> all;
  for (auto& [name, tally] : by_model) all.push_back(std::move(tally));
  std::stable_sort(all.begin(), all.end(),
                   [](const ModelTally& a, const ModelTally& b) { return a.answers > b.answers; });
  return all;
}

}  // namespace kerf
