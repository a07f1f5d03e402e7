// The gates over the state of a slot after a call.

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "oracle/honest.hpp"
#include "verify/gates.hpp"

namespace kerf {
namespace {

std::vector<std::int64_t> unflatten(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

std::string in_words(const WrongEvidence& e) {
  std::string text = fmt::format(
      "{} is wrong on shape '{}' with {} inputs: {} of {} elements; worst at [{}]: expected {:.9g}, got {:.9g}",
      e.output, e.shape, e.distribution, e.wrong, e.total, fmt::join(e.worst_index, ", "), e.expected, e.actual);
  if (std::isfinite(e.expected) && std::isfinite(e.actual)) text += fmt::format(" (allowed error {:.3g})", e.tolerance);
  if (!e.box_low.empty()) {
    std::vector<std::string> ranges;
    for (std::size_t d = 0; d < e.box_low.size(); ++d)
      ranges.push_back(fmt::format("{}..{}", e.box_low[d], e.box_high[d]));
    text += fmt::format("; all wrong elements lie in [{}]", fmt::join(ranges, ", "));
  }
  return text;
}

WrongEvidence evidence_for(const oracle::CompareStats& stats, const oracle::DataSet& data, const BufferSpec& output,
                           double most) {
  WrongEvidence e;
  e.output = output.name;
  e.shape = data.shape;
  e.distribution = data.distribution;
  e.wrong = stats.wrong;
  e.total = stats.total;
  e.worst_index = unflatten(stats.worst, output.shape);
  e.expected = stats.worst_expected;
  e.actual = stats.worst_actual;
  e.tolerance = oracle::tolerance(stats.worst_bound, most);
  return e;
}

std::string where(const SlotState& state) {
  return fmt::format(" (shape '{}', {} inputs)", state.data.shape, state.data.distribution);
}

std::optional<Refusal> judge_red_zones(const SlotState& state) {
  if (state.report.broken_red_zones.empty()) return std::nullopt;
  return Rejected{Gate::red_zone, "wrote outside of " + join(state.report.broken_red_zones, ", ") + where(state)};
}

std::optional<Refusal> judge_inputs(const SlotState& state) {
  if (state.report.changed_inputs.empty()) return std::nullopt;
  return Rejected{Gate::inputs_unchanged,
                  "changed its input " + join(state.report.changed_inputs, ", ") + where(state)};
}

std::optional<Refusal> judge_values(const SlotState& state) {
  for (std::size_t i = 0; i < state.report.outputs.size(); ++i) {
    if (state.report.outputs[i].wrong == 0) continue;
    WrongEvidence evidence =
        evidence_for(state.report.outputs[i], state.data, state.outputs[i], state.data.allowance(i).most);
    return WrongResult{Gate::values, in_words(evidence), std::move(evidence)};
  }
  return std::nullopt;
}

std::optional<Refusal> judge_accuracy(const SlotState& state) {
  for (std::size_t i = 0; i < std::min(state.report.outputs.size(), state.data.honest.size()); ++i)
    if (const auto why = oracle::less_accurate(state.report.outputs[i], state.data.honest[i]))
      return WrongResult{
          Gate::accuracy,
          fmt::format("{} is less accurate than the task's precision allows on shape '{}' with {} inputs: {}. A lower "
                      "precision inside the kernel looks like this.",
                      state.outputs[i].name, state.data.shape, state.data.distribution, *why),
          std::nullopt};
  return std::nullopt;
}

/// In the order they speak.
constexpr SlotGate kSlotGates[] = {judge_red_zones, judge_inputs, judge_values, judge_accuracy};

}  // namespace

std::optional<Refusal> judge_slot(const SlotReport& report, const oracle::DataSet& data,
                                  const std::vector<BufferSpec>& outputs) {
  for (const SlotGate gate : kSlotGates)
    if (auto refusal = gate({report, data, outputs})) return refusal;
  return std::nullopt;
}

void add_wrong_box(Refusal& refusal, Bench& bench, int slot, const oracle::DataSet& data,
                   const std::vector<BufferSpec>& outputs) {
  auto* wrong = std::get_if<WrongResult>(&refusal);
  if (wrong == nullptr || !wrong->evidence || data.expected.size() != outputs.size()) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name != wrong->evidence->output) continue;
    const auto actual = bench.read_output(slot, static_cast<int>(i));
    if (!actual) return;
    const oracle::WrongBox box = oracle::wrong_box(outputs[i].dtype, actual->bytes, data.expected[i], data.bound[i],
                                                   data.nan_is_free, data.allowance(i));
    wrong->evidence->box_low = box.low;
    wrong->evidence->box_high = box.high;
    wrong->message = in_words(*wrong->evidence);
  }
}

}  // namespace kerf
