#include "propose/agents/feedback.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace kerf::agents {
namespace {

std::string index_text(const std::vector<std::int64_t>& index) {
  std::vector<std::string> parts;
  for (const std::int64_t one : index) parts.push_back(std::to_string(one));
  return "[" + join(parts, ", ") + "]";
}

std::string describe_evidence(const WrongEvidence& evidence) {
  std::string text = fmt::format("Output {}, shape {}, data '{}': {} of {} elements are wrong.\n", evidence.output,
                                 evidence.shape, evidence.distribution, evidence.wrong, evidence.total);
  text += fmt::format("The worst is at {}: expected {:.9g}, found {:.9g}, allowed difference {:.3g}.\n",
                      index_text(evidence.worst_index), evidence.expected, evidence.actual, evidence.tolerance);
  if (!evidence.box_low.empty())
    text += fmt::format("All wrong elements lie between {} and {}.\n", index_text(evidence.box_low),
                        index_text(evidence.box_high));
  return text;
}

std::string describe_measurement(const Measurement& measurement) {
  std::string text =
      fmt::format("It is right and {:.3g} times as fast as {} (between {:.3g} and {:.3g}).\n",
                  measurement.speedup.ratio, measurement.speedup.vs, measurement.speedup.low, measurement.speedup.high);
  for (const ShapeMeasurement& shape : measurement.shapes) {
    text += fmt::format("- shape {}: {:.4g} us", shape.shape, shape.time.median);
    for (const auto& [name, speedup] : shape.speedups) text += fmt::format(", {:.3g} times {}", speedup.ratio, name);
    if (const auto& light = shape.speed_of_light)
      text += fmt::format("; {:.0f} % of what the hardware allows, which {} bounds ({:.4g} us)", 100 * light->fraction,
                          light->bound, light->floor_us);
    text += "\n";
  }
  return text;
}

/// Which gate refused it, and on what: "Refused by the gate 'values' (...), on shape tail, data 'wide'."
std::string verdict_source(const Outcome& outcome) {
  const auto gate = failed_gate(outcome);
  if (!gate) return "";
  std::string on;
  if (const auto* built = std::get_if<BuildFailed>(&outcome); built != nullptr && !built->shape.empty())
    on = ", on shape " + built->shape;
  if (const auto* wrong = std::get_if<WrongResult>(&outcome); wrong != nullptr && wrong->evidence)
    on = fmt::format(", on shape {}, data '{}'", wrong->evidence->shape, wrong->evidence->distribution);
  return fmt::format("Refused by the gate '{}' ({}){}.\n", gate_name(*gate), gate_looks_at(*gate), on);
}

}  // namespace

std::string describe(const Evaluation& evaluation) {
  const Outcome& outcome = evaluation.outcome;
  std::string text;
  if (const auto* measured = std::get_if<Measurement>(&outcome)) {
    text = describe_measurement(*measured);
  } else if (const auto* built = std::get_if<BuildFailed>(&outcome)) {
    text = fmt::format("It does not compile{}. The compiler says:\n\n```\n{}\n```\n",
                       built->shape.empty() ? "" : " for shape " + built->shape, trim(built->log));
  } else if (const auto* wrong = std::get_if<WrongResult>(&outcome)) {
    text = fmt::format("Its results are wrong (check: {}). {}\n", gate_name(wrong->gate), wrong->message);
    if (wrong->evidence) text += describe_evidence(*wrong->evidence);
  } else if (outcome_gate(outcome) == gate_name(Gate::duplicate)) {
    text = fmt::format(
        "It was tried before: {}. Write one that works differently; other names and layout are no "
        "difference.\n",
        outcome_message(outcome));
  } else {
    const std::string what = outcome_name(outcome);
    text = fmt::format("It was refused: {} (check: {}). {}\n", what, outcome_gate(outcome), outcome_message(outcome));
  }
  text += verdict_source(outcome);
  if (!evaluation.tunables.empty()) {
    std::vector<std::string> values;
    for (const auto& [name, value] : evaluation.tunables) values.push_back(fmt::format("{}={}", name, value));
    text += "Tunables: " + join(values, ", ") + "\n";
  }
  return text;
}

std::string describe(const Direction& direction) {
  struct Dimension {
    const char *more, *less;
  };
  static constexpr std::array<Dimension, 3> kDimensions = {{
      {"Use the memory system better: wider access, tiles in fast memory, prefetch.",
       "Try plainer memory access: what is clever there now may cost more than it gains."},
      {"Do the arithmetic better: fewer passes, fused multiply-adds, a reformulation, register tiles.",
       "Try plainer arithmetic: fewer live values, shorter loops."},
      {"Use the parallel hardware better: teams, exchange between lanes, a split of long reductions.",
       "Try plainer parallelism: independent workers without meeting points."},
  }};
  const auto at = static_cast<std::size_t>(direction.dimension);
  if (at >= kDimensions.size() || direction.step == 0) return "";
  return direction.step > 0 ? kDimensions[at].more : kDimensions[at].less;
}

std::string headline(const Evaluation& evaluation) {
  if (const auto* measured = std::get_if<Measurement>(&evaluation.outcome))
    return fmt::format("{:.3g} times as fast as {}", measured->speedup.ratio, measured->speedup.vs);
  return outcome_name(evaluation.outcome);
}

}  // namespace kerf::agents
