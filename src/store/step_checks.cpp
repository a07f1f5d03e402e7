#include "store/step_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/one_line.hpp"

namespace kerf::store {
namespace {

constexpr int kMostLevels = 64;  ///< of a behaviour dimension; real ones have four
constexpr std::size_t kMostDimensions = 8;

/// Times, weights and ratios are not negative; what was not measured is not a number.
bool is_figure(double value) { return std::isnan(value) || (value >= 0 && std::isfinite(value)); }

bool is_possible(const TimeEstimate& time) {
  return is_figure(time.median) && is_figure(time.low) && is_figure(time.high) && is_figure(time.lower_quartile) &&
         time.samples >= 0;
}

bool is_possible(const Speedup& speedup) {
  return is_figure(speedup.ratio) && is_figure(speedup.low) && is_figure(speedup.high);
}

bool is_possible(const Measurement& measurement) {
  if (!is_possible(measurement.speedup)) return false;
  return std::all_of(measurement.shapes.begin(), measurement.shapes.end(), [](const ShapeMeasurement& shape) {
    return is_figure(shape.weight) && is_possible(shape.time) &&
           std::all_of(shape.baselines.begin(), shape.baselines.end(),
                       [](const auto& one) { return is_possible(one.second); }) &&
           std::all_of(shape.speedups.begin(), shape.speedups.end(),
                       [](const auto& one) { return is_possible(one.second); });
  });
}

/// "" or what is wrong with the steps that `step` names.
std::string wrong_reference(const Step& step) {
  const auto is_earlier = [&](std::int64_t number) { return number >= 1 && number < step.number; };
  for (const std::int64_t parent : step.parents)
    if (!is_earlier(parent)) return fmt::format("names step {} as a parent", parent);
  if (step.asked.parent && !is_earlier(*step.asked.parent))
    return fmt::format("was asked for from step {}", *step.asked.parent);
  for (const auto* named : {&step.asked.inspirations, &step.asked.failures})
    for (const std::int64_t number : *named)
      if (!is_earlier(number)) return fmt::format("was shown step {}", number);
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measured != nullptr && measured->comparison && !is_earlier(measured->comparison->step))
    return fmt::format("was compared with step {}", measured->comparison->step);
  return "";
}

std::string wrong_value(const Step& step) {
  const std::string& judged = step.evaluation.candidate_id;
  // Version 0.1 kept a tuned kernel with the id that it had before its values became the defaults.
  if (step.stage != Stage::tune && !judged.empty() && judged != sha256_hex(step.source))
    return "has another source than the one that was judged";
  const auto is_level = [](int level) { return level >= 0 && level < kMostLevels; };
  for (const auto* cell : {&step.cell, &step.evaluation.cell})
    if (cell->size() > kMostDimensions || !std::all_of(cell->begin(), cell->end(), is_level))
      return "has an impossible cell";
  if (step.seconds < 0) return "has a negative time";
  if (step.provenance.prompt_tokens < 0 || step.provenance.reply_tokens < 0 || step.provenance.cost_usd < 0)
    return "has a negative cost";
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measured != nullptr && !is_possible(*measured)) return "has impossible figures";
  return "";
}

}  // namespace

std::string wrong_step(const Step& step) {
  std::string wrong = wrong_reference(step);
  return wrong.empty() ? wrong_value(step) : wrong;
}

tl::unexpected<Error> damaged(const std::string& run, const std::string& what) {
  return fail(Errc::invalid_input,
              fmt::format("the run {} is damaged: {}; its kernels may still be read with sqlite3 from kerf.db",
                          one_line(run), one_line(what)));
}

Status check_steps(const std::vector<Step>& steps, const std::string& run) {
  std::int64_t next = 1;
  for (const Step& step : steps) {
    if (step.number != next)
      return damaged(run, fmt::format("there is a step {} where step {} is expected", step.number, next));
    ++next;
    if (const std::string wrong = wrong_step(step); !wrong.empty())
      return damaged(run, fmt::format("step {} {}", step.number, wrong));
  }
  return {};
}

}  // namespace kerf::store
