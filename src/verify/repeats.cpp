#include "verify/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kerf {
namespace {

using Outputs = std::vector<ir::HostTensor>;

/// One call on staged data; its outputs, or the refusal of a call that failed.
Result<std::variant<Outputs, Refusal>> outputs_of(Bench& bench, KernelHandle kernel, int slot,
                                                  const oracle::DataSet& data, Poison poison, const CallManner& manner,
                                                  std::size_t count, const VerifyOptions& options) {
  KERF_TRY_VOID(bench.stage(slot, data, poison));
  KERF_TRY(const RunOutcome outcome, bench.run_as(kernel, slot, manner, options.call_limit));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  Outputs outputs;
  for (std::size_t i = 0; i < count; ++i) {
    KERF_TRY(ir::HostTensor tensor, bench.read_output(slot, static_cast<int>(i)));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
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
    KERF_TRY(auto seen, outputs_of(bench, kernel, slot, checked, call % 2 == 0 ? Poison::a : Poison::b, manners[call],
                                   outputs.size(), options));
    if (auto* refusal = std::get_if<Refusal>(&seen)) return Seen(std::move(*refusal));
    auto& now = std::get<Outputs>(seen);
    if (call == 0) first = std::move(now);
    for (std::size_t i = 0; call > 0 && i < outputs.size(); ++i)
      if (now[i].bytes != first[i].bytes)
        return Seen(fmt::format("{} has other bits in call {} of {}{} on shape '{}'", outputs[i].name, call + 1,
                                manners.size(), manner_text(manners[call]), checked.shape));
  }
  return Seen(std::string());
}

std::vector<CallManner> repeat_manners(const DeviceFacts& facts) {
  using Guest = CallManner::Guest;
  std::vector<CallManner> manners(4);
  if (!facts.runs_on_host) return manners;
  const int cores = std::max(1, facts.compute_units);
  for (const int threads : {1, 2, 3, cores + 1}) manners.push_back({Guest::none, threads});
  return manners;
}

std::optional<OtherRows> with_other_rows(const Task& task, const ShapeSet& shape, const oracle::DataSet& data,
                                         const oracle::DataSet& other, bool keep_even) {
  const auto rows = shape.symbols.find(task.batch);
  if (rows == shape.symbols.end() || data.inputs.size() != task.inputs.size() ||
      other.inputs.size() != task.inputs.size())
    return std::nullopt;
  OtherRows made{{}, std::vector<bool>(static_cast<std::size_t>(rows->second))};
  for (std::size_t row = 0; row < made.kept.size(); ++row) made.kept[row] = (row % 2 == 0) == keep_even;
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
  const std::array<const oracle::DataSet*, 2> data{&checked, &rows.data};
  for (std::size_t i = 0; i < data.size(); ++i) {
    KERF_TRY(auto outcome, outputs_of(bench, kernel, 0, *data[i], Poison::a, {}, outputs.size(), options));
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
