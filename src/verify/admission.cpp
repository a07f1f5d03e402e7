#include "verify/admission.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "ir/analysis/cost.hpp"
#include "ir/analysis/work.hpp"
#include "oracle/compare.hpp"
#include "oracle/error_walk.hpp"
#include "oracle/honest.hpp"
#include "verify/memory.hpp"

namespace kerf {
namespace {

using oracle::DataSet;

oracle::CompareStats compared(const Task& task, const DataSet& data, const ir::HostTensor& output, std::size_t k) {
  return oracle::compare(task.outputs[k].dtype, output.bytes, data.expected[k], data.bound[k], data.nan_is_free,
                         data.allowance(k));
}

/// True when these outputs would be accepted in place of the expected ones.
bool would_pass(const Task& task, const DataSet& data, const std::vector<ir::HostTensor>& outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto stats = compared(task, data, outputs[k], k);
    if (stats.wrong > 0) return false;
    if (k < data.honest.size() && oracle::less_accurate(stats, data.honest[k])) return false;
  }
  return true;
}

/// Outputs of the declared types, filled by `value(output, flat index)`.
std::vector<ir::HostTensor> fill(const Task& task, const DataSet& data,
                                 const std::function<double(std::size_t, std::int64_t)>& value) {
  std::vector<ir::HostTensor> outputs;
  for (std::size_t k = 0; k < task.outputs.size(); ++k) {
    ir::HostTensor tensor = ir::make_tensor(task.outputs[k].dtype, data.expected[k].shape);
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      store_element(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i), value(k, i));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

double mean_of(const ir::HostTensor& tensor) {
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    sum += load_element(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i));
  return tensor.elements() == 0 ? 0 : sum / static_cast<double>(tensor.elements());
}

/// How many elements of output k a candidate is actually held to.
std::int64_t comparable(const DataSet& data, std::size_t k) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < data.expected[k].elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_nan = std::isnan(load_element(data.expected[k].dtype, data.expected[k].bytes.data(), at));
    count += std::isinf(data.bound[k].as<double>()[i]) || (is_nan && data.nan_is_free) ? 0 : 1;
  }
  return count;
}

struct TrivialCandidate {
  std::string name;
  std::vector<ir::HostTensor> outputs;
};

/// `other` is the answer to other inputs: what a kernel could have learnt without looking at these.
std::vector<TrivialCandidate> trivial_candidates(const Task& task, const DataSet& data,
                                                 const std::vector<ir::HostTensor>& other) {
  std::vector<TrivialCandidate> all;
  all.push_back({"zeros", fill(task, data, [](std::size_t, std::int64_t) { return 0.0; })});
  all.push_back({"constant one", fill(task, data, [](std::size_t, std::int64_t) { return 1.0; })});
  std::vector<double> means;
  for (const auto& output : other) means.push_back(mean_of(output));
  all.push_back(
      {"mean of the expected values", fill(task, data, [&](std::size_t k, std::int64_t) { return means[k]; })});
  all.push_back({"first expected value everywhere", fill(task, data, [&](std::size_t k, std::int64_t) {
                   return load_element(other[k].dtype, other[k].bytes.data(), 0);
                 })});
  for (std::size_t j = 0; j < data.inputs.size(); ++j) {
    const ir::HostTensor& input = data.inputs[j];
    if (input.elements() == 0) continue;
    all.push_back({"copy of input " + task.inputs[j].name, fill(task, data, [&](std::size_t, std::int64_t i) {
                     return load_element(input.dtype, input.bytes.data(),
                                         static_cast<std::size_t>(i % input.elements()));
                   })});
  }
  return all;
}

/// `tensor` with the second half of `axis` replaced by its first half.
ir::HostTensor halved(const ir::HostTensor& tensor, std::size_t axis) {
  ir::HostTensor copy = tensor;
  std::int64_t inner = static_cast<std::int64_t>(dtype_size(tensor.dtype));
  for (std::size_t d = axis + 1; d < tensor.shape.size(); ++d) inner *= tensor.shape[d];
  const std::int64_t extent = tensor.shape[axis], half = extent / 2;
  const std::int64_t outer = tensor.elements() * static_cast<std::int64_t>(dtype_size(tensor.dtype)) / (inner * extent);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = half; i < extent; ++i)
      std::memcpy(copy.bytes.data() + (o * extent + i) * inner, tensor.bytes.data() + (o * extent + i % half) * inner,
                  static_cast<std::size_t>(inner));
  return copy;
}

/// Values of the reference in the output dtypes.
std::vector<ir::HostTensor> stored(const Task& task, const std::vector<ir::HostTensor>& values) {
  std::vector<ir::HostTensor> outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    outputs.push_back(ir::make_tensor(task.outputs[k].dtype, values[k].shape));
    for (std::int64_t i = 0; i < values[k].elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      store_element(outputs[k].dtype, outputs[k].bytes.data(), at,
                    load_element(values[k].dtype, values[k].bytes.data(), at));
    }
  }
  return outputs;
}

/// The reference's own outputs for other inputs: a trivial candidate that computes the right thing from wrong data.
Result<std::vector<ir::HostTensor>> answer(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                                           std::vector<ir::HostTensor> inputs) {
  KERF_TRY(const auto values, reference.answer(shape, std::move(inputs)));
  return stored(task, values);
}

/// How far honest errors move an input's values, in relation to them.
struct Move {
  double most = 0;
  bool evenly = true;  ///< by anything up to `most`; otherwise by just that, up or down
  double times = 1;    ///< more than honest errors do, by this
};

/// Up to one rounding of the task's accuracy class, whose errors are spread evenly. Where the format that the values
/// are stored in has no numbers in between, by one and a half of its roundings: half a step or less would be rounded
/// away again. That is too far where the class is finer than the format: the stored values themselves are exact.
Move move_of(const Task& task, DType dtype) {
  if (!is_float(dtype)) return {};
  const ir::ErrorModel model = oracle::error_model(task.precision);
  const double unit = std::max(model.rounding, model.operand), stored = oracle::rounding_unit(dtype);
  if (unit >= 16 * stored) return {unit, true, 1};
  const double step = 1.5 * std::max(unit, stored), even = unit / std::sqrt(3.0);  // rms of one that is spread evenly
  return {step, false, unit < stored ? step / even : 1};
}

/// Those inputs whose `Move::times` this is moved at random, the others as they are.
std::vector<ir::HostTensor> moved(const Task& task, const std::vector<ir::HostTensor>& inputs, double times,
                                  std::uint64_t seed) {
  std::vector<ir::HostTensor> all = inputs;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const Move move = move_of(task, all[j].dtype);
    if (move.most == 0 || move.times != times) continue;
    for (std::int64_t i = 0; i < all[j].elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = load_element(all[j].dtype, all[j].bytes.data(), at);
      const std::uint64_t bits =
          mix64(seed + mix64(static_cast<std::uint64_t>(i) + (static_cast<std::uint64_t>(j) << 48)));
      const double even = static_cast<double>(bits >> 11) * 0x1.0p-52 - 1;  // in [-1, 1)
      const double step = move.evenly ? move.most * even : move.most * ((bits & 1) != 0 ? 1 : -1);
      store_element(all[j].dtype, all[j].bytes.data(), at, value * (1 + step));
    }
  }
  return all;
}

/// Adds a `times`-th of what moves `expected` to `values` to `sum`; where one is not finite, `values` are what it is.
void add_losses(std::vector<ir::HostTensor>& sum, const std::vector<ir::HostTensor>& values,
                const std::vector<ir::HostTensor>& expected, double times) {
  for (std::size_t k = 0; k < sum.size(); ++k)
    for (std::int64_t i = 0; is_float(sum[k].dtype) && i < sum[k].elements(); ++i) {
      double& total = sum[k].as<double>()[i];
      const double value = values[k].as<double>()[i], loss = value - expected[k].as<double>()[i];
      total = std::isfinite(loss) ? total + loss / times : value;
    }
}

/// What moving the inputs does to the outputs is about what an honest implementation loses.
Status estimate_honest_errors(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                              DataSet& data, std::uint64_t seed) {
  std::set<double> kinds;
  for (const ir::HostTensor& input : data.inputs)
    if (const Move move = move_of(task, input.dtype); move.most > 0) kinds.insert(move.times);
  std::vector<ir::HostTensor> values = data.expected;
  for (const double times : kinds) {
    KERF_TRY(const auto answered, reference.answer(shape, moved(task, data.inputs, times, seed)));
    add_losses(values, answered, data.expected, times);
  }
  const auto outputs = stored(task, values);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    oracle::Allowance counted;
    if (const double unit = oracle::rms(compared(task, data, outputs[k], k)); unit > 0) counted.unit = unit;
    data.allowances.push_back(counted);
    data.honest.push_back(oracle::honest_errors(compared(task, data, outputs[k], k)));
    data.allowances.back() = oracle::allowance_of(data.honest.back());
  }
  return {};
}

/// True when the task reads every element of every input, so that half of them cannot suffice.
bool reads_everything(const Task& task, const ShapeSet& shape, const DataSet& data) {
  if (!task.graph) return true;
  const auto cost = ir::cost(*task.graph, shape.symbols);
  if (!cost) return false;
  double all = 0;
  for (const auto& input : data.inputs) all += static_cast<double>(input.bytes.size());
  return cost->bytes_read >= all;
}

/// Operations of one answer of the reference; nothing where it is not known.
std::optional<double> work_of(const Task& task, const ShapeSet& shape) {
  if (!task.graph) return std::nullopt;
  const auto work = ir::whole_work(*task.graph, shape.symbols);
  if (!work) return std::nullopt;
  return std::max(1.0, *work);
}

/// An input that a trivial candidate does not look at, or only at half of along an axis.
struct Change {
  std::size_t input = 0;
  std::optional<std::size_t> axis;
};

/// Operations that the reference's answers to changed inputs may take together, and the fewest answers.
constexpr double kChangesWork = 6e9;
constexpr std::size_t kFewestChanges = 8;

/// All changes; of tasks with many inputs that take long to answer, a choice that depends on the task alone.
std::vector<Change> changes_to_try(const Task& task, const ShapeSet& shape, const DataSet& data) {
  std::vector<Change> all;
  for (std::size_t j = 0; j < data.inputs.size(); ++j) all.push_back({j, std::nullopt});
  if (reads_everything(task, shape, data))
    for (std::size_t j = 0; j < data.inputs.size(); ++j)
      for (std::size_t axis = 0; axis < data.inputs[j].shape.size(); ++axis)
        if (data.inputs[j].shape[axis] >= 2 && data.inputs[j].elements() > 0) all.push_back({j, axis});
  const auto work = work_of(task, shape);
  if (!work) return all;
  const auto most = static_cast<std::size_t>(kChangesWork / *work);
  if (all.size() <= std::max(most, kFewestChanges)) return all;
  Rng rng = Rng(hash64(task.id)).fork("changes");
  for (std::size_t i = all.size(); i > 2; --i)  // the first input, which models have their data in, is always tried
    std::swap(all[i - 1], all[static_cast<std::size_t>(rng.integer(1, static_cast<std::int64_t>(i) - 1))]);
  all.resize(std::max(most, kFewestChanges));
  std::stable_partition(all.begin(), all.end(), [](const Change& change) { return !change.axis; });
  return all;
}

/// Whether outputs are those of `data` but for the rounding of double precision: what was changed cancels out.
bool is_same(const DataSet& data, const std::vector<ir::HostTensor>& outputs) {
  constexpr double kRounding = 1e-6;  // outputs are stored in their own type; what matters at all moves them by more
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < outputs[k].elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double expected = load_element(data.expected[k].dtype, data.expected[k].bytes.data(), at);
      const double given = load_element(outputs[k].dtype, outputs[k].bytes.data(), at);
      if (std::isnan(expected) && std::isnan(given)) continue;
      difference += (expected - given) * (expected - given);
      size += expected * expected;
    }
    const double unit = std::max(kRounding * kRounding, 16 * std::pow(oracle::rounding_unit(outputs[k].dtype), 2));
    if (!(difference <= unit * 1e-2 * size)) return false;
  }
  return true;
}

/// Whether input `j`, of which `other` changes nothing, cancels out: so do other values of any size. (Where a function
/// is saturated, small ones do.) Asked of tasks that promise finite inputs alone: others' kernels must let NaN through.
Result<bool> cancels_out(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                         const DataSet& data, std::size_t j, const ir::HostTensor& other) {
  if (!is_float(other.dtype)) return false;
  for (const double scale : {0x1p-10, 0x1p10}) {
    std::vector<ir::HostTensor> changed = data.inputs;
    changed[j] = other;
    for (std::int64_t i = 0; i < other.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      store_element(other.dtype, changed[j].bytes.data(), at,
                    scale * load_element(other.dtype, other.bytes.data(), at));
    }
    KERF_TRY(const auto outputs, answer(task, reference, shape, std::move(changed)));
    if (!is_same(data, outputs)) return false;
  }
  return true;
}

/// A trivial candidate that was accepted on one draw of data, and what to tell the user when luck is ruled out.
struct Suspect {
  std::string trivial, refusal;
  std::optional<Change> change;  ///< none: it takes no answer to changed inputs
};

/// One draw of data that trivial candidates are tried on, with other data.
struct Draw {
  const Task& task;
  const oracle::Reference& reference;
  const ShapeSet& shape;
  const DataSet& data;
  std::uint64_t seed = 0;

  std::vector<Suspect> passed;
  std::vector<std::string> failed;  ///< as they must
  std::set<std::size_t> idle;       ///< inputs that cancel out, of a task with finite ones
  std::set<std::string> unnoticed;  ///< minor inputs of a deep network that may be ignored or halved

  void judge(Suspect candidate, const std::vector<ir::HostTensor>& outputs) {
    if (!would_pass(task, data, outputs))
      failed.push_back(std::move(candidate.trivial));
    else if (candidate.change && is_minor(candidate.change->input))
      unnoticed.insert(task.inputs[candidate.change->input].name);
    else
      passed.push_back(std::move(candidate));
  }

  /// One of the many vectors of a deep network (a bias, a scale), of which one alone may well matter less than honest
  /// errors do. Ignoring it saves nothing.
  bool is_minor(std::size_t input) const {
    constexpr double kShare = 1.0 / 64;
    double all = 0;
    for (const auto& one : data.inputs) all += static_cast<double>(one.elements());
    return reference.errors_walk() && data.inputs[input].shape.size() <= 1 &&
           static_cast<double>(data.inputs[input].elements()) < kShare * all;
  }

  Status try_constants();
  Status try_changes(const std::vector<Change>& changes);
};

/// Those that look at one other answer at most.
Status Draw::try_constants() {
  KERF_TRY(auto inputs, oracle::draw_inputs(task, shape, {oracle::Pattern::normal, seed + 2}));
  KERF_TRY(const auto elsewhere, answer(task, reference, shape, std::move(inputs)));
  for (TrivialCandidate& trivial : trivial_candidates(task, data, elsewhere))
    judge({trivial.name,
           fmt::format("a kernel that does no work would pass: {}. Change the task or its [distributions] so that the "
                       "outputs depend on the data.",
                       trivial.name),
           std::nullopt},
          trivial.outputs);
  judge({"answer to other inputs", "the outputs hardly depend on the inputs: the answer to other inputs would pass.",
         std::nullopt},
        elsewhere);
  return {};
}

Status Draw::try_changes(const std::vector<Change>& changes) {
  KERF_TRY(const auto other, oracle::draw_inputs(task, shape, {oracle::Pattern::normal, seed + 1}));
  for (const Change& change : changes) {
    const std::size_t j = change.input;
    if (idle.contains(j)) continue;
    std::vector<ir::HostTensor> changed = data.inputs;
    changed[j] = change.axis ? halved(data.inputs[j], *change.axis) : other[j];
    if (changed[j].bytes == data.inputs[j].bytes) continue;  // a constant input cannot vary
    KERF_TRY(const auto outputs, answer(task, reference, shape, std::move(changed)));
    if (!change.axis && !task.special_values && is_same(data, outputs)) {
      KERF_TRY(const bool cancels, cancels_out(task, reference, shape, data, j, other[j]));
      if (cancels) idle.insert(j);
      if (cancels) continue;
    }
    const std::string& name = task.inputs[j].name;
    if (change.axis)
      judge({fmt::format("subsample of {} along axis {}", name, *change.axis),
             fmt::format("half of input {} along axis {} is enough to pass: a subsampling kernel would be rewarded.",
                         name, *change.axis),
             change},
            outputs);
    else
      judge({"ignoring input " + name,
             fmt::format("the outputs do not depend on input {}: a kernel that ignores it would pass.", name), change},
            outputs);
  }
  return {};
}

/// Draws a trivial candidate must pass before the task is refused. Half of a row holds its largest element every second
/// time, so on one draw of a few rows a subsampled argmax passes by luck; on all of these it does so once in 2^20 at
/// worst.
constexpr int kDraws = 20;
/// Of tasks that take long to answer fewer, as long as luck is ruled out: so many draws at least, and as many as have
/// kDraws elements together.
constexpr int kFewestDraws = 3;
/// Operations that the draws after the first may take together, as long as they are more than that.
constexpr double kDrawsWork = 2e10;

constexpr std::uint64_t kSeedsPerDraw = 3;

/// Timed shapes up to this many elements and multiply-adds are tried, too: what the reference answers within a second.
constexpr double kMostElements = 1 << 22, kMostWork = 1e9;

/// Data sets that are alive at the same time: the drawn one and the one with changed inputs.
constexpr int kLiveSets = 2;

/// How many draws decide when `suspects` passed the first. Depends on the task alone.
int draws_for(const Task& task, const ShapeSet& shape, const DataSet& data, const std::vector<Suspect>& suspects) {
  constexpr double kAnswersPerDraw = 5;  // expected values with bounds, moved inputs, other inputs
  const double work = work_of(task, shape).value_or(1);
  const double each = work * (kAnswersPerDraw + static_cast<double>(suspects.size()));
  std::int64_t fewest_elements = kDraws;
  for (const auto& expected : data.expected)
    if (expected.elements() > 0) fewest_elements = std::min(fewest_elements, expected.elements());
  const double least = std::max<double>(kFewestDraws, std::ceil(kDraws / static_cast<double>(fewest_elements)));
  return static_cast<int>(std::clamp<double>(std::floor(kDrawsWork / each), least, kDraws));
}

/// Why the output cannot be checked; "" when it can.
std::string not_comparable(const Task& task, const DataSet& data) {
  for (std::size_t k = 0; k < task.outputs.size(); ++k) {
    const std::int64_t total = data.expected[k].elements(), compared = comparable(data, k);
    if (total > 0 && compared * 2 < total)
      return fmt::format(
          "output {} cannot be checked on ordinary inputs: {} of {} elements are NaN or too close to a "
          "jump. Give the inputs a [distributions] entry that avoids this.",
          task.outputs[k].name, total - compared, total);
  }
  return "";
}

/// Tries trivial candidates on draws until every one of them has failed on some draw, or one has passed all. Later
/// draws see only those that passed so far.
Result<Admission> try_trivial_candidates(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                                         bool all) {
  Admission result;
  std::uint64_t seed = hash64(task.id + shape.name);
  const auto refuse = [&](std::string reason) {
    result.admitted = false;
    result.reason = std::move(reason);
    return result;
  };
  std::vector<Suspect> suspects;
  int draws = kDraws;
  for (int number = 0; number < draws; ++number, seed += kSeedsPerDraw) {
    KERF_TRY(DataSet data, oracle::make_data(task, reference, shape, {oracle::Pattern::normal, seed}));
    KERF_TRY_VOID(estimate_honest_errors(task, reference, shape, data, seed));
    if (std::string reason = not_comparable(task, data); !reason.empty()) return refuse(std::move(reason));
    Draw draw{task, reference, shape, data, seed, {}, {}, {}, {}};
    std::vector<Change> changes;
    bool constants = number == 0;
    if (number == 0 && all) changes = changes_to_try(task, shape, data);
    for (const Suspect& one : suspects) {
      if (one.change) changes.push_back(*one.change);
      constants = constants || !one.change;
    }
    if (constants) KERF_TRY_VOID(draw.try_constants());
    if (!changes.empty()) KERF_TRY_VOID(draw.try_changes(changes));
    if (!draw.unnoticed.empty())
      result.notes.push_back(fmt::format(
          "{} of the inputs (such as {}) can be left out unnoticed: honest errors are larger than what they "
          "bring",
          draw.unnoticed.size(), *draw.unnoticed.begin()));
    if (number == 0)
      for (const std::size_t j : draw.idle) result.idle.push_back(task.inputs[j].name);
    if (number == 0)
      suspects = std::move(draw.passed);
    else
      std::erase_if(suspects, [&](const Suspect& one) {
        return std::ranges::find(draw.failed, one.trivial) != draw.failed.end();
      });
    for (auto& name : draw.failed)
      if (std::ranges::find(result.tried, name) == result.tried.end()) result.tried.push_back(std::move(name));
    if (suspects.empty()) return result;
    if (number == 0) draws = draws_for(task, shape, data, suspects);
  }
  return refuse(suspects.front().refusal);
}

bool is_quick(const Task& task, const ShapeSet& shape) {
  const auto work = work_of(task, shape);
  return work && *work <= kMostWork && element_count(task, shape) <= kMostElements;
}

Result<Admission> admit_shape(const Task& task, const oracle::Reference& reference, const ShapeSet& shape, bool all,
                              std::int64_t host_bytes) {
  const MemoryNeed need = memory_need(task, shape, 0, kLiveSets);
  const MemoryThere there{host_bytes, 0, false};
  KERF_TRY_VOID(check_memory(shape, need, there));
  try {
    return try_trivial_candidates(task, reference, shape, all);
  } catch (const std::bad_alloc&) {  // of the reference's intermediate values, which `need` does not count
    return tl::unexpected<Error>(out_of_memory(shape, need, there));
  }
}

}  // namespace

Result<Admission> admit(const Task& task, const oracle::Reference& reference, std::int64_t host_bytes) {
  const ShapeSet& smallest = *std::ranges::min_element(task.shapes, [&](const ShapeSet& a, const ShapeSet& b) {
    return element_count(task, a) < element_count(task, b);
  });
  KERF_TRY(Admission admission, admit_shape(task, reference, smallest, true, host_bytes));
  if (reference.errors_walk()) admission.notes.emplace_back(oracle::kWalkNote);
  for (const ShapeSet& shape : task.shapes) {
    if (!admission.admitted) break;
    if (&shape == &smallest || shape.weight <= 0 || !is_quick(task, shape)) continue;
    KERF_TRY(Admission timed, admit_shape(task, reference, shape, false, host_bytes));
    admission.admitted = timed.admitted;
    if (!timed.admitted) admission.reason = fmt::format("on shape '{}' {}", shape.name, timed.reason);
  }
  return admission;
}

}  // namespace kerf
