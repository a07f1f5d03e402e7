// A run's steps as a table for spreadsheets (RFC 4180).
#include <fmt/format.h>

#include <cmath>

#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"

namespace kerf::cli {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string number(double value) { return std::isfinite(value) && value != 0 ? fmt::format("{}", value) : ""; }

template <class List>
std::string numbers(const List& list) {
  std::vector<std::string> parts;
  for (const auto value : list) parts.push_back(std::to_string(value));
  return join(parts, " ");
}

std::string tunable_values(const Bindings& tunables) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : tunables) parts.push_back(fmt::format("{}={}", name, value));
  return join(parts, " ");
}

}  // namespace

std::string steps_csv(const RunView& run) {
  std::string text =
      "step,seconds,stage,proposer,operation,parents,kernel,candidate,tunables,outcome,gate,baseline,speedup,"
      "speedup_low,speedup_high,estimate,estimate_low,estimate_high,shape,time_us,time_us_low,time_us_high,cell,kept,"
      "decision,change\n";
  for (const Step& step : run.steps) {
    const Measurement* measurement = measurement_of(step);
    const ShapeMeasurement* shape = measurement == nullptr ? nullptr : main_shape(*measurement);
    const Speedup speedup = measured_speedup(step), estimate = estimated_speedup(run, step);
    const TimeEstimate time = shape == nullptr ? TimeEstimate{} : shape->time;
    const std::vector<std::string> cells = {std::to_string(step.number),
                                            fmt::format("{:.3f}", step.seconds),
                                            std::string(stage_name(step.stage)),
                                            step.proposer,
                                            step.operation,
                                            numbers(step.parents),
                                            step.name,
                                            step.evaluation.candidate_id,
                                            tunable_values(step.tunables),
                                            outcome_name(step.evaluation.outcome),
                                            outcome_gate(step.evaluation.outcome),
                                            speedup.vs,
                                            number(speedup.ratio),
                                            number(speedup.low),
                                            number(speedup.high),
                                            number(estimate.ratio),
                                            number(estimate.low),
                                            number(estimate.high),
                                            shape == nullptr ? "" : shape->shape,
                                            number(time.median),
                                            number(time.low),
                                            number(time.high),
                                            numbers(step.cell),
                                            step.kept ? "yes" : "no",
                                            step.decision,
                                            step.change};
    std::vector<std::string> row;
    for (const auto& cell : cells) row.push_back(quoted(one_line(cell)));
    text += join(row, ",") + "\n";
  }
  return text;
}

}  // namespace kerf::cli
