#pragma once
// What a task may require of a kernel beyond right results: the same bits in every call, and rows that do not depend on
// their neighbours.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.hpp"
#include "model/task.hpp"
#include "oracle/reference.hpp"
#include "verify/verify.hpp"

namespace kerf {

/// What was seen: "" for equal bits, else where they differ, in words; or a refusal when a call failed or is wrong.
using Seen = std::variant<std::string, Refusal>;

/// Calls the kernel on the same data in every one of `manners`, on changing slots and patterns, and compares the bits
/// of all outputs with those of the first call.
Result<Seen> compare_repeats(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, int slots,
                             std::span<const CallManner> manners, const std::vector<BufferSpec>& outputs,
                             const VerifyOptions& options);

/// The data set after its caller changed a stretch of every input in place, to values from elsewhere in the same input:
/// most of it, and most of what a kernel could recognise it by, is as it was. Without expected values.
oracle::DataSet changed_in_place(const oracle::DataSet& data, Rng& rng);

/// Two calls as in a program's loop: on data that was changed in a few places, then, at other addresses, on the data
/// itself, with outputs that hold the results of the first call and scratch that holds what it left there; then once
/// more on the data. The last two are compared. Nothing where there are too few slots or the data is not in the host's
/// memory.
Result<std::optional<Refusal>> verify_second_use(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked,
                                                 int slots, const std::vector<BufferSpec>& outputs,
                                                 const VerifyOptions& options);

/// Thread counts to try where kernels run on the host's cores; elsewhere ordinary calls.
std::vector<CallManner> repeat_manners(const DeviceFacts& facts);

/// Which half of the rows is kept: those whose index has, or has not, this bit. Two different rows differ in some bit,
/// so that the splits by all bits, each with both halves, keep each row once while the other changes.
struct RowSplit {
  int bit = 0;
  bool keep_set = false;
};
/// Bits that tell the rows of a batch apart; at least one.
int split_bits(std::int64_t rows);

/// The same problem with other rows beside those that are kept: of the inputs whose first extent is the batch the rows
/// that are not kept come from another data set.
struct OtherRows {
  oracle::DataSet data;
  std::vector<bool> kept;  ///< per row of the batch
};
/// None when the data is not in the host's memory.
std::optional<OtherRows> with_other_rows(const Task& task, const ShapeSet& shape, const oracle::DataSet& data,
                                         const oracle::DataSet& other, RowSplit split);

/// An error (invalid_input) when the reference itself gives other values to the rows that are kept: then rows depend on
/// each other and nobody can compute them independently.
Status check_rows_are_independent(const Task& task, const ShapeSet& shape, const oracle::Reference& reference,
                                  const oracle::DataSet& data, const OtherRows& rows);

/// Runs the kernel on the data and on the rows beside others, and compares the bits of the rows that were kept.
Result<Seen> compare_rows(Bench& bench, KernelHandle kernel, const oracle::DataSet& checked, const OtherRows& rows,
                          const std::vector<BufferSpec>& outputs, const VerifyOptions& options);

}  // namespace kerf
