#include "verify/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace kerf {
namespace {

using Outputs = std::vector<ir::HostTensor>;

/// One call on staged data.
struct RepeatedCall {
  int slot = 0;
  const oracle::DataSet& data;
  Poison poison = Poison::a;
  CallManner manner{};
  bool is_checked = true;  ///< the data set's expected values are known
};

/// Its outputs, or the refusal of a call that failed or is wrong.
Result<std::variant<Outputs, Refusal>> outputs_of(Bench& bench, KernelHandle kernel, const RepeatedCall& call,
                                                  const std::vector<BufferSpec>& outputs,
                                                  const VerifyOptions& options) {
  KERF_TRY_VOID(bench.stage(call.slot, call.data, call.poison));
  KERF_TRY(const RunOutcome outcome, bench.run_as(kernel, call.slot, call.manner, options.call_limit));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  if (call.is_checked) {
    KERF_TRY(const SlotReport report, bench.check(call.slot, call.data));
    if (auto refusal = judge_slot(report, call.data, outputs)) return *std::move(refusal);
  }
  Outputs seen;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    KERF_TRY(ir::HostTensor tensor, bench.read_output(call.slot, static_cast<int>(i)));
    seen.push_back(std::move(tensor));
  }
  return seen;
}

std::string manner_text(const CallManner& manner) {
  return manner.threads > 0 ? fmt::format(" with {} threads", manner.threads) : "";
}

std::int64_t row_bytes(const ir::HostTensor& tensor) {
  return tensor.shape.empty() || tensor.shape[0] == 0
             ? 0
             : static_cast<std::int64_t>(tensor.bytes.size()) / tensor.shape[0];
}

bool same_row(const ir::HostTensor& a, const ir::HostTensor& b, std::size_t row) {
  const std::int64_t bytes = row_bytes(a), begin = bytes * static_cast<std::int64_t>(row);
  return std::equal(a.bytes.begin() + begin, a.bytes.begin() + begin + bytes, b.bytes.begin() + begin);
}

/// The first row that is kept and differs; none when all are equal.
std::optional<std::size_t> first_difference(const ir::HostTensor& a, const ir::HostTensor& b,
                                            const std::vector<bool>& kept) {
  for (std::size_t row = 0; row < kept.size(); ++row)
    if (kept[row] && !same_row(a, b, row)) return row;
  return std::nullopt;
}

bool is_batched(const ir::TensorType& tensor, const std::string& batch) {
  return !tensor.shape.empty() && tensor.shape[0].to_string() == batch;
}

}  // namespace

Result<Seen> compare_repeats(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, int slots,
                             std::span<const CallManner> manners, const std::vector<BufferSpec>& outputs,
                             const VerifyOptions& options) {
  Outputs first;
  for (std::size_t call = 0; call < manners.size(); ++call) {
    const int slot = static_cast<int>(call) % slots;
    const RepeatedCall made{slot, checked, call % 2 == 0 ? Poison::a : Poison::b, manners[call]};
    KERF_TRY(auto seen, outputs_of(bench, kernel, made, outputs, options));
    if (auto* refusal = std::get_if<Refusal>(&seen)) return Seen(std::move(*refusal));
    if (call == 0) {
      first = std::get<Outputs>(std::move(seen));
      continue;
    }
    const auto& now = std::get<Outputs>(seen);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (now[i].bytes != first[i].bytes)
        return Seen(fmt::format("{} has other bits in call {} of {}{} on shape '{}'", outputs[i].name, call + 1,
                                manners.size(), manner_text(manners[call]), checked.shape));
  }
  return Seen(std::string());
}

oracle::DataSet changed_in_place(const oracle::DataSet& data, Rng& rng) {
  constexpr std::int64_t kPart = 64;  // of an input's elements: few, and enough for a sum to show
  oracle::DataSet changed;
  changed.id = oracle::next_data_id();
  changed.shape = data.shape;
  changed.distribution = data.distribution;
  changed.inputs = data.inputs;
  for (ir::HostTensor& input : changed.inputs) {
    const std::int64_t elements = input.elements(), size = static_cast<std::int64_t>(dtype_size(input.dtype));
    if (elements < 2) continue;
    const std::int64_t length = std::max<std::int64_t>(1, elements / kPart);
    const std::int64_t begin = rng.integer(0, elements - length);
    for (std::int64_t i = begin; i < begin + length; ++i)
      std::copy_n(input.bytes.begin() + (i + elements / 2) % elements * size, size, input.bytes.begin() + i * size);
  }
  return changed;
}

Result<std::optional<Refusal>> verify_second_use(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked,
                                                 int slots, const std::vector<BufferSpec>& outputs,
                                                 const VerifyOptions& options) {
  if (slots < 2 || checked.inputs.empty() || checked.inputs.front().bytes.empty()) return std::nullopt;
  Rng rng = Rng(options.seed).fork("second use");
  const int first = static_cast<int>(rng.integer(0, slots - 1));
  const int second = static_cast<int>((first + rng.integer(1, slots - 1)) % slots);
  const oracle::DataSet changed = changed_in_place(checked, rng);
  // Both are staged before the first call: staging would poison scratch.
  bench.expect(kernel, std::array<int, 2>{first, second});
  KERF_TRY_VOID(bench.stage(first, changed, Poison::a));
  KERF_TRY_VOID(bench.stage(second, checked, Poison::b));
  for (const int slot : {first, second}) {
    KERF_TRY(const RunOutcome outcome, bench.run(kernel, std::span(&slot, 1), options.call_limit));
    if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
    for (std::size_t i = 0; slot == first && i < outputs.size(); ++i) {
      KERF_TRY(const ir::HostTensor seen, bench.read_output(first, static_cast<int>(i)));
      KERF_TRY_VOID(bench.write_output(second, static_cast<int>(i), seen.bytes));
    }
  }
  KERF_TRY(const SlotReport report, bench.check(second, checked));
  auto refusal = judge_slot(report, checked, outputs);
  // One of two calls that follow each other has the stack that the kernel knows.
  if (!refusal) return verify_call(bench, kernel, first, checked, Poison::a, outputs, options);
  add_wrong_box(*refusal, bench, second, checked, outputs);
  if (auto* wrong = std::get_if<WrongResult>(&*refusal))
    wrong->message += " (after a call on nearly the same inputs, whose results the outputs held)";
  return refusal;
}

std::vector<CallManner> repeat_manners(const DeviceFacts& facts) {
  using Guest = CallManner::Guest;
  std::vector<CallManner> manners(4);
  if (!facts.runs_on_host) return manners;
  const int cores = std::max(1, facts.compute_units);
  for (const int threads : {1, 2, 3, cores + 1}) manners.push_back({Guest::none, threads});
  return manners;
}

int split_bits(std::int64_t rows) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1) - 1))));
}

std::optional<OtherRows> with_other_rows(const Task& task, const ShapeSet& shape, const oracle::DataSet& data,
                                         const oracle::DataSet& other, RowSplit split) {
  const auto rows = shape.symbols.find(task.batch);
  if (rows == shape.symbols.end() || data.inputs.size() != task.inputs.size() ||
      other.inputs.size() != task.inputs.size())
    return std::nullopt;
  OtherRows made{{}, std::vector<bool>(static_cast<std::size_t>(rows->second))};
  for (std::size_t row = 0; row < made.kept.size(); ++row)
    made.kept[row] = (row >> split.bit) % 2 == (split.keep_set ? 1 : 0);
  made.data.id = oracle::next_data_id();
  made.data.shape = data.shape;
  made.data.distribution = data.distribution;
  made.data.inputs = data.inputs;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (!is_batched(task.inputs[i], task.batch)) continue;
    auto& bytes = made.data.inputs[i].bytes;
    const auto& from = other.inputs[i].bytes;
    if (bytes.empty() || bytes.size() != from.size()) return std::nullopt;
    const std::int64_t length = row_bytes(made.data.inputs[i]);
    for (std::size_t row = 0; row < made.kept.size(); ++row)
      if (!made.kept[row])
        std::copy_n(from.begin() + length * static_cast<std::int64_t>(row), length,
                    bytes.begin() + length * static_cast<std::int64_t>(row));
  }
  return made;
}

Status check_rows_are_independent(const Task& task, const ShapeSet& shape, const oracle::Reference& reference,
                                  const oracle::DataSet& data, const OtherRows& rows) {
  KERF_TRY(const oracle::DataSet expected, reference.expect(shape, rows.data.inputs));
  for (std::size_t i = 0; i < std::min(expected.expected.size(), data.expected.size()); ++i)
    if (const auto row = first_difference(data.expected[i], expected.expected[i], rows.kept))
      return fail(Errc::invalid_input,
                  fmt::format("task {} requires batch_invariant, but row {} of {} depends on other rows of the batch "
                              "'{}' by the task's own reference; leave batch_invariant out of 'require'",
                              task.name, *row, task.outputs[i].name, task.batch));
  return {};
}

Result<Seen> compare_rows(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, const OtherRows& rows,
                          const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  std::array<Outputs, 2> seen;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const RepeatedCall call{0, i == 0 ? checked : rows.data, Poison::a, {}, i == 0};
    KERF_TRY(auto outcome, outputs_of(bench, kernel, call, outputs, options));
    if (auto* refusal = std::get_if<Refusal>(&outcome)) return Seen(std::move(*refusal));
    seen[i] = std::get<Outputs>(std::move(outcome));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const auto row = first_difference(seen[0][i], seen[1][i], rows.kept))
      return Seen(fmt::format("row {} of {} has other bits when other rows of the batch change, on shape '{}'", *row,
                              outputs[i].name, checked.shape));
  return Seen(std::string());
}

}  // namespace kerf
