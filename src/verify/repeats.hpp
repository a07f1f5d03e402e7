#pragma once
// What a task may require of a kernel beyond right results: the same bits in every call, and rows that do not depend on
// their neighbours.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/task.hpp"
#include "oracle/reference.hpp"
#include "verify/verify.hpp"

namespace kerf {

/// What was seen: "" for equal bits, else where they differ, in words; or a refusal when a call failed. After a refusal
/// the worker was replaced.
using Seen = std::variant<std::string, Refusal>;

/// Calls the kernel on the same data in every one of `manners`, on changing slots and patterns, and compares the bits
/// of all outputs with those of the first call.
Result<Seen> compare_repeats(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, int slots,
                             std::span<const CallManner> manners, const std::vector<BufferSpec>& outputs,
                             const VerifyOptions& options);

/// Thread counts to try where kernels run on the host's cores; elsewhere ordinary calls.
std::vector<CallManner> repeat_manners(const DeviceFacts& facts);

/// The same problem with other rows beside those that are kept: of the inputs whose first extent is the batch every
/// second row comes from another data set.
struct OtherRows {
  oracle::DataSet data;
  std::vector<bool> kept;  ///< per row of the batch
};
/// `keep_even` says which half is kept. None when the data is not in the host's memory.
std::optional<OtherRows> with_other_rows(const Task& task, const ShapeSet& shape, const oracle::DataSet& data,
                                         const oracle::DataSet& other, bool keep_even);

/// An error (invalid_input) when the reference itself gives other values to the rows that are kept: then rows depend on
/// each other and nobody can compute them independently.
Status check_rows_are_independent(const Task& task, const ShapeSet& shape, const oracle::Reference& reference,
                                  const oracle::DataSet& data, const OtherRows& rows);

/// Runs the kernel on the data and on the rows beside others, and compares the bits of the rows that were kept.
Result<Seen> compare_rows(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, const OtherRows& rows,
                          const std::vector<BufferSpec>& outputs, const VerifyOptions& options);

}  // namespace kerf
