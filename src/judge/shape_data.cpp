// The data sets of a shape, with what a plain implementation loses on them.

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "ir/analysis/cost.hpp"
#include "judge/shape_context.hpp"

namespace kerf {
namespace {

using oracle::Pattern;

/// A baseline may take this long per call; it is ours or the user's, not a candidate.
constexpr std::chrono::milliseconds kBaselineLimit{120000};

/// A pattern is of no use when the plain kernel's errors exceed this many bounds somewhere.
constexpr double kWorstUsable = 64;

/// Data sets of one kind that are drawn at most to know the errors of a plain implementation, and the work (elements
/// and multiply-adds) they may take together.
constexpr int kMostDraws = 8;
constexpr double kDrawWork = 1 << 24;
/// So many elements, in so many rows (the errors of one row may have a common cause), are enough to go by.
constexpr std::int64_t kEnoughElements = 256, kEnoughRows = 8;

/// Work that all draws of one pattern may take on the smallest shape, so that every kind of row is among them.
constexpr double kKindsWork = 1 << 25;
/// A pattern is given up when so many kinds of it in a row were of no use.
constexpr int kHopeless = 3;

/// Data of which fewer elements are compared is noted; a task of which `normal` inputs have fewer is not admitted.
constexpr double kLeastCompared = 0.5;

/// What every shape is checked with; of the others each shape takes at least one at random, and timed shapes take as
/// many as they have data sets.
bool is_for_every_shape(Pattern pattern) {
  return pattern == Pattern::normal || pattern == Pattern::spikes || pattern == Pattern::specials;
}

/// Draws with narrower scales are tried in turn where a plain implementation overflows. The first two are for the
/// smallest shape of tasks that add nothing up: products of split numbers take range, and a sum that honest kernels
/// take a large number from afterwards loses what is far below it.
constexpr int kOctaves[] = {104, 52, oracle::kWidestOctaves, 13, 6, 3, 1};
constexpr std::size_t kUsualOctaves = 2;
/// Of patterns without a scale: another seed may be less unlucky.
constexpr int kTries = 2;

double elements_of(const Task& task, const ShapeSet& shape) {
  double elements = 0;
  for (const auto* list : {&task.inputs, &task.outputs})
    for (const auto& tensor : *list)
      if (const auto count = element_count(tensor.shape).evaluate(shape.symbols))
        elements += static_cast<double>(*count);
  return elements;
}

double work_of(const Task& task, const ShapeSet& shape) {
  double work = elements_of(task, shape);
  if (task.graph)
    if (const auto cost = ir::cost(*task.graph, shape.symbols)) work += cost->fma_flops / 2;
  return std::max(work, 1.0);
}

/// Of vectors every element is one.
std::int64_t rows_of(const BufferSpec& output) {
  std::int64_t rows = 1;
  const std::size_t axes = output.shape.size() > 1 ? output.shape.size() - 1 : output.shape.size();
  for (std::size_t d = 0; d < axes; ++d) rows *= output.shape[d];
  return rows;
}

/// Neighbours whose errors may have one cause; those of a vector have a cause each. A long row counts as several
/// causes: else the errors of an output of few rows, however even, would count as few.
std::int64_t with_one_cause(const BufferSpec& output) {
  return output.shape.size() > 1 ? std::clamp<std::int64_t>(output.shape.back(), 1, oracle::kRun) : 1;
}

double time_of(const Timing& timing) { return timing.device_us > 0 ? timing.device_us : timing.host_us; }

/// Time of one call on slot 0, as it is staged.
Result<double> run_once(Bench& bench, const LoadedBaseline& plain, const std::string& shape) {
  const std::array<int, 1> slots{0};
  KERF_TRY(const RunOutcome outcome, bench.run(*plain.handle, slots, kBaselineLimit));
  if (const auto* fault = std::get_if<Fault>(&outcome))
    return fail(Errc::tool_failed, "the naive kernel failed on shape '" + shape + "': " + fault->message);
  return time_of(std::get<Timing>(outcome));
}

bool usable(const SlotReport& report) {
  if (!report.broken_red_zones.empty() || !report.changed_inputs.empty()) return false;
  return std::ranges::none_of(report.outputs, [](const oracle::CompareStats& stats) {
    return stats.wrong > 0 && stats.worst_ratio * oracle::kBoundFactor > kWorstUsable;
  });
}

}  // namespace

int timed_sets(const Task& task, const ShapeSet& shape, int at_least) {
  const double elements = elements_of(task, shape);
  if (elements < 1 << 21) return std::max(at_least, 12);  // every pattern
  if (elements > 1 << 26) return at_least;                // each takes room on the device, or time to make it again
  return std::max(at_least, elements < 1 << 23 ? 6 : 4);
}

std::ptrdiff_t usual_sets(const Task& task, const ShapeSet& shape) {
  const double elements = elements_of(task, shape);
  return elements < 1 << 18 ? 6 : elements > 1 << 26 ? 1 : 3;
}

oracle::DataDraw ShapeContext::draw_of(const Inputs& inputs, const Kind& kind) const {
  return {kind.pattern, Rng(inputs.seed).fork(shape_.name).fork(kind.label).bits(), kind.octaves, kind.turn};
}

Result<oracle::DataSet> ShapeContext::draw(const Inputs& inputs, const Kind& kind) {
  const oracle::DataDraw wanted = draw_of(inputs, kind);
  return part(inputs, "data and oracle", [&] {
    return device_data_ ? device_data_->make(wanted)
                        : oracle::make_data(inputs.task, inputs.reference, inputs.shape, wanted);
  });
}

Result<bool> ShapeContext::ask_plain(LoadedBaseline& plain, oracle::DataSet& data) {
  KERF_TRY_VOID(bench_->stage(0, data, Poison::a));
  KERF_TRY(plain.estimate_us, run_once(*bench_, plain, shape_.name));
  KERF_TRY(SlotReport report, bench_->check(0, data));
  if (!usable(report)) return false;
  if (std::ranges::any_of(report.outputs, [](const auto& s) { return s.squares_count >= oracle::kCountedFrom; })) {
    for (const auto& stats : report.outputs) {  // once more, with the sizes of errors counted in their own unit
      oracle::Allowance allowance;
      if (const double unit = oracle::rms(stats); unit > 0) allowance.unit = unit;
      data.allowances.push_back(allowance);
    }
    KERF_TRY(report, bench_->check(0, data));
  }
  for (std::size_t k = 0; k < report.outputs.size(); ++k) {
    const oracle::CompareStats& stats = report.outputs[k];
    if (stats.total > 0)
      data.compared = std::min(data.compared, static_cast<double>(stats.compared) / static_cast<double>(stats.total));
    data.honest.push_back(oracle::honest_errors(stats));
    data.honest.back().together = with_one_cause(outputs_[k]);
  }
  return true;
}

Result<bool> ShapeContext::find_honest_errors(const Inputs& inputs, LoadedBaseline& plain, oracle::DataSet& data,
                                              const Kind& kind) {
  KERF_TRY(const bool right, part(inputs, "plain kernel", [&] { return ask_plain(plain, data); }));
  if (!right) return false;
  const auto most = static_cast<int>(std::min<double>(kMostDraws, kDrawWork / work_of(inputs.task, inputs.shape)));
  const auto few = [&](std::size_t k, int draws) {
    const std::int64_t count = data.honest[k].count;
    return count > 0 && (count < kEnoughElements || rows_of(outputs_[k]) * draws < kEnoughRows ||
                         oracle::deciding(data.honest[k]) < oracle::kEnoughDeciding);
  };
  const auto any_few = [&](int draws) {
    for (std::size_t k = 0; k < data.honest.size(); ++k)
      if (few(k, draws)) return true;
    return false;
  };
  for (int more = 1; more < most && any_few(more); ++more) {
    Kind again = kind;
    again.label = fmt::format("{} again {}", kind.label, more);
    KERF_TRY(oracle::DataSet other, draw(inputs, again));
    KERF_TRY(const bool usable, part(inputs, "plain kernel", [&] { return ask_plain(plain, other); }));
    for (std::size_t k = 0; usable && k < data.honest.size(); ++k)
      if (few(k, more)) merge(data.honest[k], other.honest[k]);
  }
  return true;
}

Result<bool> ShapeContext::add_data(const Inputs& inputs, Kind kind, LoadedBaseline* plain) {
  const std::string label = kind.label;
  const std::size_t first = kind.wide ? 0 : kUsualOctaves;
  const int tries = oracle::has_scale(kind.pattern) ? static_cast<int>(std::size(kOctaves) - first) : kTries;
  for (int attempt = 0; attempt < (plain == nullptr ? 1 : tries); ++attempt) {
    kind.label = attempt == 0 ? label : fmt::format("{} try {}", label, attempt);
    if (oracle::has_scale(kind.pattern)) kind.octaves = kOctaves[first + static_cast<std::size_t>(attempt)];
    KERF_TRY(oracle::DataSet drawn, draw(inputs, kind));
    auto data = std::make_unique<oracle::DataSet>(std::move(drawn));
    data->unusual = !oracle::is_usual(kind.pattern);
    if (plain != nullptr) {
      KERF_TRY(const bool right, find_honest_errors(inputs, *plain, *data, kind));
      if (!right) continue;
      // Sums of small integers are exact in any order, which no kernel is obliged to keep.
      if (kind.pattern == Pattern::integers && !data_.empty())
        for (std::size_t k = 0; k < data->honest.size(); ++k)
          if (data->honest[k].rms < data_.front()->honest[k].rms) data->honest[k] = data_.front()->honest[k];
      for (std::size_t k = 0; !data_.empty() && k < data->honest.size(); ++k)
        oracle::widen_to_resolution(data->honest[k], data_.front()->honest[k]);
      KERF_TRY(const auto draws, oracle::input_draws(inputs.task, inputs.shape, draw_of(inputs, kind)));
      const bool of_rows = kind.pattern == Pattern::rows || std::ranges::any_of(draws, oracle::is_constant);
      if (of_rows && oracle::has_reductions(inputs.task)) std::ranges::for_each(data->honest, oracle::widen_for_rows);
      data->allowances.clear();
      for (const auto& honest : data->honest) data->allowances.push_back(oracle::allowance_of(honest));
    }
    data_.push_back(std::move(data));
    parts_.push_back(fmt::format("{} {}", oracle::pattern_name(kind.pattern), kind.part));
    return true;
  }
  return false;
}

Result<std::map<Pattern, int>> ShapeContext::parts_of(const Inputs& inputs, bool smallest) const {
  std::map<Pattern, int> parts;
  const auto affordable = static_cast<int>(std::clamp(kKindsWork / work_of(inputs.task, inputs.shape), 1.0, 64.0));
  for (const Pattern pattern : oracle::kAllPatterns) {
    KERF_TRY(const int all, oracle::draws_for_all_kinds(inputs.task, inputs.shape, pattern));
    parts[pattern] = smallest ? std::min(all, affordable) : 1;
  }
  return parts;
}

std::vector<Pattern> ShapeContext::patterns_for(const Inputs& inputs, const UsablePatterns* known) {
  std::vector<Pattern> fixed, others;
  for (const Pattern pattern : oracle::kAllPatterns) {
    if (pattern == Pattern::normal || (pattern == Pattern::specials && !inputs.task.special_values)) continue;
    if (known != nullptr && std::ranges::find(known->usable, pattern) == known->usable.end()) continue;
    (is_for_every_shape(pattern) || known == nullptr ? fixed : others).push_back(pattern);
  }
  Rng rng = Rng(inputs.seed).fork(shape_.name).fork("families");
  for (std::size_t i = others.size(); i > 1; --i)
    std::swap(others[i - 1], others[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(i) - 1))]);
  const std::size_t wanted =
      shape_.weight > 0 ? static_cast<std::size_t>(timed_sets(inputs.task, shape_, inputs.timed_data_sets)) : 0;
  // Specials are not timed: what a processor takes for denormals and NaN is no matter of the kernel's.
  const auto timed = [&] {
    return 1 + fixed.size() - static_cast<std::size_t>(std::ranges::count(fixed, Pattern::specials));
  };
  for (const Pattern pattern : others)
    if (pattern == others.front() || timed() < wanted) fixed.push_back(pattern);
  std::vector<Pattern> more{Pattern::normal};  // again, with other seeds, where there are fewer patterns than data sets
  for (const Pattern pattern : fixed)
    if (pattern != Pattern::specials) more.push_back(pattern);
  for (std::size_t i = 0; timed() < wanted; ++i) fixed.push_back(more[i % more.size()]);
  // What is timed counts on usual data, which no process sees twice: there has to be enough of it.
  const auto usual = [&] { return 1 + std::ranges::count_if(fixed, oracle::is_usual); };
  while (shape_.weight > 0 && usual() < usual_sets(inputs.task, shape_)) fixed.push_back(Pattern::normal);
  return fixed;
}

Status ShapeContext::make_data(const Inputs& inputs, const UsablePatterns* patterns, UsablePatterns& found) {
  KERF_TRY(const auto loaded, part(inputs, "loading baselines", [&] { return baselines(); }));
  LoadedBaseline* const naive = loaded.empty() || loaded[0]->name != "naive" ? nullptr : loaded[0];
  LoadedBaseline* const plain = accuracy_ ? accuracy_.get() : naive;
  if (accuracy_) KERF_TRY_VOID(load(*accuracy_));
  KERF_TRY(device_data_, part(inputs, "compiling the oracle", [&] {
             return DeviceData::open(inputs.task, inputs.reference, shape_, inputs.target, inputs.builds, *bench_);
           }));

  KERF_TRY(const bool ordinary, add_data(inputs, {Pattern::normal, "normal"}, plain));
  if (!ordinary)
    return fail(
        Errc::invalid_input,
        fmt::format(
            "the reference cannot be computed at precision {} on shape '{}': even the naive kernel misses its error "
            "bound on ordinary inputs. Give the inputs a [distributions] entry or choose another precision.",
            precision_name(inputs.task.precision), shape_.name));
  if (naive != nullptr && naive != plain) {
    naive->estimate_us = plain_us();
    if (inputs.target.device->facts().runs_on_host) {  // on one core, unlike the other
      KERF_TRY_VOID(bench_->stage(0, *data_.front(), Poison::a));
      KERF_TRY(naive->estimate_us, run_once(*bench_, *naive, shape_.name));
    }
  }
  KERF_TRY(auto parts, parts_of(inputs, patterns == nullptr));
  std::map<Pattern, int> drawn;
  const bool wide = patterns == nullptr && !oracle::has_sums(inputs.task);
  const std::int64_t first_turn = Rng(inputs.seed).fork(shape_.name).fork("turns").integer(0, 1 << 20);
  const auto add = [&](Pattern pattern) -> Result<bool> {
    const std::string name(oracle::pattern_name(pattern));
    const int before = drawn[pattern]++;
    const std::string label = before == 0 && pattern != Pattern::normal ? name : fmt::format("{} {}", name, before + 1);
    return add_data(
        inputs, {pattern, label, oracle::kWidestOctaves, first_turn + before, before % parts[pattern], wide}, plain);
  };
  const auto enough = static_cast<std::size_t>(timed_sets(inputs.task, shape_, inputs.timed_data_sets));
  for (const Pattern pattern : patterns_for(inputs, patterns)) {
    if (drawn[pattern] > 0 || pattern == Pattern::normal) {  // once more, for timed calls
      const auto usual = std::ranges::count_if(data_, [](const auto& data) { return !data->unusual; });
      const bool wanted = oracle::is_usual(pattern) && usual < usual_sets(inputs.task, shape_);
      if (wanted || timed().size() < enough) KERF_TRY_VOID(add(pattern));
      continue;
    }
    bool right = false;
    while (drawn[pattern] < (right ? parts[pattern] : std::min(parts[pattern], kHopeless))) {
      KERF_TRY(const bool added, add(pattern));
      right = right || added;
    }
    if (right)
      found.usable.push_back(pattern);
    else
      found.notes.push_back(fmt::format("{} inputs are left out: a plain implementation overflows or cancels on them",
                                        oracle::pattern_name(pattern)));
    if (const double share = compared_share(pattern); share < kLeastCompared)
      found.notes.push_back(
          fmt::format("of one result on {} inputs {:.0f} % of the elements are not compared: they lie next to a jump, "
                      "their error has no bound, or the task's operators treat NaN in more than one way",
                      oracle::pattern_name(pattern), 100 * (1 - share)));
  }
  if (accuracy_) bench_->unload(*std::exchange(accuracy_->handle, std::nullopt));
  return {};
}

double ShapeContext::compared_share(Pattern pattern) const {
  double share = 1;
  for (const auto& data : data_)
    if (data->distribution == oracle::pattern_name(pattern)) share = std::min(share, data->compared);
  return share;
}

std::vector<const oracle::DataSet*> ShapeContext::checked() const {
  std::vector<const oracle::DataSet*> all;
  for (const auto& data : data_) all.push_back(data.get());
  return all;
}

std::vector<const oracle::DataSet*> ShapeContext::checked(Rng rng) const {
  std::vector<std::size_t> order(data_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(i) - 1))]);
  std::set<std::string> seen;
  std::vector<const oracle::DataSet*> all;
  for (const std::size_t i : order)
    if (seen.insert(parts_[i]).second) all.push_back(data_[i].get());
  return all;
}

std::vector<const oracle::DataSet*> ShapeContext::timed() const {
  std::vector<const oracle::DataSet*> all = checked();
  std::erase_if(
      all, [](const oracle::DataSet* data) { return data->distribution == oracle::pattern_name(Pattern::specials); });
  return all;
}

}  // namespace kerf
