#pragma once
// Row programs as code for templates: joins of partial results, passes on a GPU and on a host.

#include <string>

#include "propose/synth/families/row_program.hpp"

namespace kerf::synth {

/// $join_0(a, b) of every reduction, or $better_0(b, bi, a, ai) of those that look for an index; and in GPU code
/// $all_0(...), the result of all threads of a row, in each of them.
std::string join_functions(const RowCode& code, const HookWriter& hooks, bool gpu);

/// Values of the template for kernels in which the threads of a row keep what they read: SHARED, SLOTS_HERE, PASSES,
/// FINISH. The template defines V, THREADS, PER, FULL, lane, kerf_row and the macros $slot and $each.
void set_keeping_passes(Filling& filling, const RowCode& code, const RowProgram& program, const Group& group,
                        HookWriter& hooks);

/// Values for kernels that read a row once per pass: RANGE_PASSES, RANGE_FINISH (columns `begin` to `end`), and per
/// pass of a split row PARTIAL_k (the pass and its result to scratch) after GATHER_k (results of earlier passes from
/// scratch).
void set_range_passes(Filling& filling, const RowCode& code, const RowProgram& program, const Group& group,
                      HookWriter& hooks);

/// Host code: functions $pass_0($args, kerf_row, begin, end, ...) and $last(...) over ranges of columns (FUNCTIONS),
/// their calls for a whole row (ROW_CALLS) and for rows in parts (PART_CALLS).
void set_host_passes(Filling& filling, const RowCode& code, const RowProgram& program, const HookWriter& hooks,
                     const std::string& prefix, const std::string& suffix);

bool finds_index(const RowResult& result);
std::string identity_text(const RowResult& result, const HookWriter& hooks);  ///< of the total, or of the best term
std::string state_type(const RowResult& result);                              ///< of the total, or of the best term
std::string indent(const std::string& text, int spaces);

}  // namespace kerf::synth
