#pragma once
// Row programs as code for templates: joins of partial results, passes on a GPU and on a host.

#include <string>

#include "propose/synth/families/row_program.hpp"

namespace kerf::synth {

/// $join_0(a, b) of every reduction, or $better_0(b, bi, a, ai) of those that look for an index; and in GPU code
/// $all_0(...), the result of all threads of a row, in each of them.
std::string join_functions(const RowCode& code, const HookWriter& hooks, bool gpu);

/// The same for groups of $X rows and $Y threads per row, of which neighbours belong to different rows.
std::string column_join_functions(const RowCode& code, const HookWriter& hooks);

/// Values of the template for kernels in which the threads of a row keep what they read: PASSES, FINISH,
/// SLOTS_IN_REGISTERS, SLOTS_IN_SHARED. The template defines V, THREADS, PER, FULL, lane, kerf_row, end (of the
/// columns), inside (0 when this row does not exist) and the macros $slot and $each.
void set_keeping_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const Group& group,
                        HookWriter& hooks);

/// Values for kernels that read a row once per pass: RANGE_PASSES, RANGE_FINISH (columns `begin` to `end`), and per
/// pass of a split row PARTIAL_k (the pass and its result to scratch); GATHER gets all results from scratch. The
/// template defines V, THREADS, lane, kerf_row, inside and the macro $depth, the number of vectors read at a time.
void set_range_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const Group& group,
                      HookWriter& hooks);

/// Host code: functions $pass_0($args, kerf_row, begin, end, ...) and $last(...) over ranges of columns (FUNCTIONS),
/// their calls for a whole row (ROW_CALLS) and for rows in parts (PART_CALLS); for kernels with a part of a row each,
/// PART_0 and so on per pass, through scratch, and PART_LAST. `streamed`: where floats from kerf_col on are stored when
/// they may pass the cache (where $STREAM is 1), else "".
void set_host_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const HookWriter& hooks,
                     const std::string& prefix, const std::string& suffix, const std::string& streamed);

/// Host code for many rows at once: TILE_BODY, the rows kerf_in = from + l, l < n, of kerf_out.
void set_tile_passes(TemplateValues& values, const RowCode& code, const RowProgram& program, const HookWriter& hooks);

// Pairs of reductions, see Pair. The state is in kerf_a<k>, kerf_a<k>m and kerf_a<k>n, the results in kerf_s<k> and
// kerf_s<k>m.
/// $merge_k and $local_k; in GPU code also $all_k.
std::string pair_functions(const RowResult& result, std::size_t k, const HookWriter& hooks, bool gpu);
std::string declare_pair(const RowResult& result, std::size_t k);
std::string conclude_pair(const RowResult& result, std::size_t k);
/// A thread's share of the columns from `begin` to `end`, without joining the threads.
std::string pair_range(const RowResult& result, std::size_t k, const PassCode& pass);
/// The host's function $pass_k.
std::string host_pair(const RowResult& result, std::size_t k, const PassCode& pass, const std::string& suffix,
                      const std::string& known, const HookWriter& hooks);

/// Scratch of split rows: TYPE_k, WHERE_k, MORE_k, HAS_PASS_k, and PASSES_n for the number of passes (at most 3 are
/// supported).
void set_split_values(TemplateValues& values, const RowCode& code);

/// Declarations of the arrays through which the threads of a row join: `count` per reduction.
std::string shared_arrays(const RowCode& code, const std::string& count);
std::string join_text(const RowResult& result);  ///< C expression of two totals `a` and `b`
bool finds_index(const RowResult& result);
std::string identity_text(const RowResult& result, const HookWriter& hooks);  ///< of the total, or of the best term
std::string state_type(const RowResult& result);                              ///< of the total, or of the best term
std::string indent(const std::string& text, int spaces);

}  // namespace kerf::synth
