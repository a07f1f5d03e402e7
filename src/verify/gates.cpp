#include "verify/gates.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

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

WrongEvidence evidence_for(const oracle::CompareStats& stats, const oracle::DataSet& data, const BufferSpec& output) {
  WrongEvidence e;
  e.output = output.name;
  e.shape = data.shape;
  e.distribution = data.distribution;
  e.wrong = stats.wrong;
  e.total = stats.total;
  e.worst_index = unflatten(stats.worst, output.shape);
  e.expected = stats.worst_expected;
  e.actual = stats.worst_actual;
  e.tolerance = oracle::tolerance(stats.worst_bound);
  return e;
}

std::optional<Refusal> judge_accuracy(const oracle::CompareStats& stats, double honest, const oracle::DataSet& data,
                                      const BufferSpec& output) {
  const double spread =
      1 + kAccuracySpread / std::sqrt(static_cast<double>(std::max<std::int64_t>(stats.squares_count, 1)));
  const double allowed = std::max(kAccuracyFactor * honest * spread, kAccuracyFloor);
  const double reached = rms(stats);
  if (reached <= allowed) return std::nullopt;
  return WrongResult{
      "accuracy",
      fmt::format("{} is less accurate than the task's precision allows on shape '{}' with {} inputs: rms error "
                  "{:.3g} of the error bound, a plain implementation reaches {:.3g} (allowed: {:.3g}). A lower "
                  "precision inside the kernel looks like this.",
                  output.name, data.shape, data.distribution, reached, honest, allowed),
      std::nullopt};
}

}  // namespace

Refusal refusal_from(const Fault& fault, const std::string& gate) {
  switch (fault.kind) {
    case Fault::Kind::timed_out: return TimedOut{gate, fault.message};
    case Fault::Kind::forbidden: return Rejected{"sandbox", fault.message};
    case Fault::Kind::crashed: break;
  }
  return Crashed{gate, fault.message};
}

Outcome to_outcome(Refusal refusal) {
  return std::visit([](auto&& alternative) -> Outcome { return std::move(alternative); }, std::move(refusal));
}

std::optional<Refusal> judge_static(const StaticFacts& facts) {
  if (!facts.constructors.empty())
    return Rejected{"static_budget", "code would run when the kernel is loaded: " + join(facts.constructors, ", ") +
                                         "; remove static objects with constructors"};
  if (!facts.forbidden_symbols.empty())
    return Rejected{"static_budget", "uses what a kernel may not use: " + join(facts.forbidden_symbols, ", ")};
  if (!facts.writable_globals.empty())
    return Rejected{"static_budget", "writable global memory: " + join(facts.writable_globals, ", ") +
                                         "; results could be kept between calls. Use `scratch:` in the header instead"};
  return std::nullopt;
}

double rms(const oracle::CompareStats& stats) {
  return stats.squares_count == 0 ? 0 : std::sqrt(stats.sum_squares / static_cast<double>(stats.squares_count));
}

std::optional<Refusal> judge_slot(const SlotReport& report, const oracle::DataSet& data, const HonestAccuracy& honest,
                                  const std::vector<BufferSpec>& outputs) {
  const std::string where = fmt::format(" (shape '{}', {} inputs)", data.shape, data.distribution);
  if (!report.broken_red_zones.empty())
    return Rejected{"red_zone", "wrote outside of " + join(report.broken_red_zones, ", ") + where};
  if (!report.changed_inputs.empty())
    return Rejected{"inputs_unchanged", "changed its input " + join(report.changed_inputs, ", ") + where};
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const oracle::CompareStats& stats = report.outputs[i];
    if (stats.wrong > 0) {
      WrongEvidence evidence = evidence_for(stats, data, outputs[i]);
      return WrongResult{"values", in_words(evidence), std::move(evidence)};
    }
    if (i < honest.size() && honest[i] >= 0)
      if (auto refusal = judge_accuracy(stats, honest[i], data, outputs[i])) return refusal;
  }
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
    const oracle::WrongBox box =
        oracle::wrong_box(outputs[i].dtype, actual->bytes, data.expected[i], data.bound[i], data.nan_is_free);
    wrong->evidence->box_low = box.low;
    wrong->evidence->box_high = box.high;
    wrong->message = in_words(*wrong->evidence);
  }
}

}  // namespace kerf
