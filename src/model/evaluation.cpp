#include "model/evaluation.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace kerf {

std::string outcome_name(const Outcome& outcome) {
  static constexpr const char* kNames[] = {"measured", "build_failed", "wrong_result",
                                           "crashed",  "timed_out",    "rejected"};
  static_assert(std::variant_size_v<Outcome> == std::size(kNames));
  return kNames[outcome.index()];
}

std::optional<Gate> failed_gate(const Outcome& outcome) {
  return std::visit(
      [](const auto& value) -> std::optional<Gate> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Measurement>)
          return std::nullopt;
        else if constexpr (std::is_same_v<T, BuildFailed>)
          return Gate::compile;
        else
          return value.gate;
      },
      outcome);
}

std::string outcome_gate(const Outcome& outcome) {
  const auto gate = failed_gate(outcome);
  return gate ? std::string(gate_name(*gate)) : "";
}

std::string outcome_message(const Outcome& outcome) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Measurement>)
          return "";
        else if constexpr (std::is_same_v<T, BuildFailed>)
          return value.log;
        else
          return value.message;
      },
      outcome);
}

std::optional<double> before_us(const ShapeMeasurement& shape, const std::string& baseline) {
  const auto found = shape.speedups.find(baseline);
  if (found == shape.speedups.end() || !(found->second.ratio > 0)) return std::nullopt;
  return shape.time.median * found->second.ratio;
}

bool beats_baseline(const Measurement& measurement) { return measurement.speedup.low > 1; }

Speedup compared_speedup(const Measurement& measurement) {
  if (!measurement.comparison) return measurement.speedup;
  const auto& [step, its_speedup, ratio, low, high] = *measurement.comparison;
  return {measurement.speedup.vs, its_speedup * ratio, its_speedup * low, its_speedup * high};
}

const ShapeMeasurement* main_shape(const Measurement& measurement) {
  const ShapeMeasurement* best = nullptr;
  for (const auto& shape : measurement.shapes)
    if (best == nullptr || shape.weight > best->weight) best = &shape;
  return best;
}

std::string seen_words(const Evaluation& evaluation) {
  const auto word = [](const std::optional<bool>& seen) { return !seen ? "not tested" : *seen ? "yes" : "no"; };
  std::string text = fmt::format("deterministic: {}, batch invariant: {}, ", word(evaluation.seen.deterministic),
                                 word(evaluation.seen.batch_invariant));
  if (!evaluation.certification) return text + "not certified";
  return text + fmt::format("certified: {} calls, 0 wrong", evaluation.certification->calls);
}

}  // namespace kerf
