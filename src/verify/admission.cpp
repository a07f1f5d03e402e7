#include "verify/admission.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "ir/analysis/cost.hpp"
#include "oracle/compare.hpp"
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
std::vector<TrivialCandidate> trivial_candidates(const Task& task, const DataSet& data, const DataSet& other) {
  std::vector<TrivialCandidate> all;
  all.push_back({"zeros", fill(task, data, [](std::size_t, std::int64_t) { return 0.0; })});
  all.push_back({"constant one", fill(task, data, [](std::size_t, std::int64_t) { return 1.0; })});
  std::vector<double> means;
  for (const auto& expected : other.expected) means.push_back(mean_of(expected));
  all.push_back(
      {"mean of the expected values", fill(task, data, [&](std::size_t k, std::int64_t) { return means[k]; })});
  all.push_back({"first expected value everywhere", fill(task, data, [&](std::size_t k, std::int64_t) {
                   return load_element(other.expected[k].dtype, other.expected[k].bytes.data(), 0);
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

/// The reference's own outputs for other inputs, in the output dtypes: a trivial candidate that computes the right
/// thing from wrong data.
Result<std::vector<ir::HostTensor>> answer(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                                           std::vector<ir::HostTensor> inputs) {
  KERF_TRY(const DataSet other, reference.expect(shape, std::move(inputs)));
  return fill(task, other, [&](std::size_t k, std::int64_t i) {
    return load_element(other.expected[k].dtype, other.expected[k].bytes.data(), static_cast<std::size_t>(i));
  });
}

/// Inputs moved by one rounding of the task's accuracy class, up or down at random. What that does to the outputs is
/// about what an honest implementation loses.
std::vector<ir::HostTensor> moved(const Task& task, const std::vector<ir::HostTensor>& inputs, std::uint64_t seed) {
  const ir::ErrorModel model = oracle::error_model(task.precision);
  const double unit = std::max(model.rounding, model.operand);
  std::vector<ir::HostTensor> all = inputs;
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (!is_float(all[j].dtype)) continue;
    // Half a step or less would be rounded away again.
    const double step = 1.5 * std::max(unit, oracle::rounding_unit(all[j].dtype));
    for (std::int64_t i = 0; i < all[j].elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = load_element(all[j].dtype, all[j].bytes.data(), at);
      const bool up =
          (mix64(seed + mix64(static_cast<std::uint64_t>(i) + (static_cast<std::uint64_t>(j) << 48))) & 1) != 0;
      store_element(all[j].dtype, all[j].bytes.data(), at, value * (up ? 1 + step : 1 - step));
    }
  }
  return all;
}

Status estimate_honest_errors(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                              DataSet& data, std::uint64_t seed) {
  KERF_TRY(const auto outputs, answer(task, reference, shape, moved(task, data.inputs, seed)));
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

/// An input that a trivial candidate does not look at, or only at half of along an axis.
struct Change {
  std::size_t input = 0;
  std::optional<std::size_t> axis;
};

/// Operations that the reference's answers to changed inputs may take together, and the fewest answers.
constexpr double kChangesWork = 4e9;
constexpr std::size_t kFewestChanges = 8;

/// All changes; of tasks with many inputs that take long to answer, a choice that depends on the task alone.
std::vector<Change> changes_to_try(const Task& task, const ShapeSet& shape, const DataSet& data) {
  std::vector<Change> all;
  for (std::size_t j = 0; j < data.inputs.size(); ++j) all.push_back({j, std::nullopt});
  if (reads_everything(task, shape, data))
    for (std::size_t j = 0; j < data.inputs.size(); ++j)
      for (std::size_t axis = 0; axis < data.inputs[j].shape.size(); ++axis)
        if (data.inputs[j].shape[axis] >= 2 && data.inputs[j].elements() > 0) all.push_back({j, axis});
  if (!task.graph) return all;
  const auto cost = ir::cost(*task.graph, shape.symbols);
  if (!cost) return all;
  const auto most = static_cast<std::size_t>(kChangesWork / std::max(1.0, cost->fma_flops / 2 + cost->other_flops));
  if (all.size() <= std::max(most, kFewestChanges)) return all;
  Rng rng = Rng(hash64(task.id)).fork("changes");
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(i) - 1))]);
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

/// Whether input `j` cancels out: other values of any size change nothing. (Where a function is saturated, small ones
/// do.) Asked of tasks that promise finite inputs alone: others' kernels must let NaN through.
Result<bool> cancels_out(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                         const DataSet& data, std::size_t j, const ir::HostTensor& other) {
  if (!is_float(other.dtype)) return false;
  for (const double scale : {1.0, 0x1p-10, 0x1p10}) {
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
};

/// Tries trivial candidates on one draw (`all`: also those that take further answers of the reference); names those
/// that failed, as they must, in `tried`.
Result<std::vector<Suspect>> suspects_on(const Task& task, const oracle::Reference& reference, const ShapeSet& shape,
                                         const DataSet& data, std::uint64_t seed, bool all,
                                         std::vector<std::string>& tried, std::set<std::string>& idle) {
  std::vector<Suspect> suspects;
  const auto judge = [&](std::string trivial, const std::vector<ir::HostTensor>& outputs, std::string refusal) {
    if (would_pass(task, data, outputs))
      suspects.push_back({std::move(trivial), std::move(refusal)});
    else
      tried.push_back(std::move(trivial));
  };
  KERF_TRY(const DataSet elsewhere, oracle::make_data(task, reference, shape, {oracle::Pattern::normal, seed + 2}));
  for (const TrivialCandidate& trivial : trivial_candidates(task, data, elsewhere))
    judge(trivial.name, trivial.outputs,
          fmt::format("a kernel that does no work would pass: {}. Change the task or its [distributions] so that the "
                      "outputs depend on the data.",
                      trivial.name));
  judge("answer to other inputs",
        fill(task, elsewhere,
             [&](std::size_t k, std::int64_t i) {
               return load_element(elsewhere.expected[k].dtype, elsewhere.expected[k].bytes.data(),
                                   static_cast<std::size_t>(i));
             }),
        "the outputs hardly depend on the inputs: the answer to other inputs would pass.");
  if (!all) return suspects;
  KERF_TRY(const auto other, oracle::draw_inputs(task, shape, {oracle::Pattern::normal, seed + 1}));
  for (const Change& change : changes_to_try(task, shape, data)) {
    const std::size_t j = change.input;
    std::vector<ir::HostTensor> changed = data.inputs;
    changed[j] = change.axis ? halved(data.inputs[j], *change.axis) : other[j];
    if (changed[j].bytes == data.inputs[j].bytes) continue;  // a constant input cannot vary
    KERF_TRY(const auto outputs, answer(task, reference, shape, std::move(changed)));
    const std::string& name = task.inputs[j].name;
    if (idle.contains(task.inputs[j].name)) continue;
    if (!change.axis && !task.special_values) {
      KERF_TRY(const bool cancels, cancels_out(task, reference, shape, data, j, other[j]));
      if (cancels) {
        idle.insert(name);
        continue;
      }
    }
    if (change.axis)
      judge(fmt::format("subsample of {} along axis {}", name, *change.axis), outputs,
            fmt::format("half of input {} along axis {} is enough to pass: a subsampling kernel would be rewarded.",
                        name, *change.axis));
    else
      judge("ignoring input " + name, outputs,
            fmt::format("the outputs do not depend on input {}: a kernel that ignores it would pass.", name));
  }
  return suspects;
}

/// Draws a trivial candidate must pass before the task is refused. Half of a row holds its largest element every second
/// time, so on one draw of a few rows a subsampled argmax passes by luck; on all of these it does so once in 2^20 at
/// worst.
constexpr int kDraws = 20;

constexpr std::uint64_t kSeedsPerDraw = 3;

/// Timed shapes up to this many elements and multiply-adds are tried, too: what the reference answers within a second.
constexpr double kMostElements = 1 << 22, kMostWork = 1e9;

/// Data sets that are alive at the same time: the drawn one and the one with changed inputs.
constexpr int kLiveSets = 2;

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
  for (int draw = 0; draw < kDraws; ++draw, seed += kSeedsPerDraw) {
    KERF_TRY(DataSet data, oracle::make_data(task, reference, shape, {oracle::Pattern::normal, seed}));
    KERF_TRY_VOID(estimate_honest_errors(task, reference, shape, data, seed));
    for (std::size_t k = 0; k < task.outputs.size(); ++k) {
      const std::int64_t total = data.expected[k].elements(), compared = comparable(data, k);
      if (total > 0 && compared * 2 < total)
        return refuse(
            fmt::format("output {} cannot be checked on ordinary inputs: {} of {} elements are NaN or too close to a "
                        "jump. Give the inputs a [distributions] entry that avoids this.",
                        task.outputs[k].name, total - compared, total));
    }
    std::vector<std::string> failed;
    std::set<std::string> idle;
    KERF_TRY(auto passing, suspects_on(task, reference, shape, data, seed, all, failed, idle));
    if (draw == 0) result.idle.assign(idle.begin(), idle.end());
    if (draw == 0) {
      suspects = std::move(passing);
    } else {
      std::erase_if(suspects,
                    [&](const Suspect& one) { return std::ranges::find(failed, one.trivial) != failed.end(); });
    }
    for (auto& name : failed)
      if (std::ranges::find(result.tried, name) == result.tried.end()) result.tried.push_back(std::move(name));
    if (suspects.empty()) return result;
  }
  return refuse(suspects.front().refusal);
}

bool is_quick(const Task& task, const ShapeSet& shape) {
  if (element_count(task, shape) > kMostElements || !task.graph) return false;
  const auto cost = ir::cost(*task.graph, shape.symbols);
  return cost && cost->fma_flops / 2 + cost->other_flops <= kMostWork;
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
