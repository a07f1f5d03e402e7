#pragma once
// Row programs as values for the templates in kernels/row, kernels/column and kernels/scan.

#include <string>

#include "base/template.hpp"
#include "propose/synth/families/row_program.hpp"

namespace kerf::synth {

/// A program written in one style, as a record:
///   passes   one per reduction or pair, each with
///              kind        value, find (argmax, argmin), moments or online (pairs, see Pair)
///              name        of its result; second: of the other result of a pair
///              type        of what is kept while it runs; result_type: of the result
///              identity    what it starts with; join: of `a` and `b`; sign, real: how terms are compared; exp:
///              function leaves, values, term, saves, scalars   as in PassCode parameters, arguments   ", float max0"
///              and ", max0": what the pass uses of what is known before it earlier     the passes before it that it
///              needs
///   finish   leaves, term, parameters and arguments of the root
///   before   values of the row that need no pass; scalars: those and the ones after passes
///   slots    arrays of kept values
///   whole    inputs with an element per row and column (host kernels only): pointer, at
///   put      the hook that stores an element; out: type, and pointer and `at` of neighbouring floats
templates::Value row_record(const RowProgram& program, const Group& group, const RowStyle& style, const RowCode& code,
                            HookWriter& hooks);

/// A scan: before, first (what is scanned), finish, put and out.
templates::Value scan_record(const RowProgram& program, const Group& group, const RowStyle& style, const RowCode& code,
                             HookWriter& hooks);

/// For variants with one kernel per pass: PASSES_1 to PASSES_3 (how many there are), and TYPE_0 and so on, the types of
/// their results in scratch.
void set_split_values(TemplateValues& values, const RowCode& code);

/// Whether the root is stored as floats, so that neighbours can be stored together.
bool stores_floats(const Group& group, const HookWriter& hooks);

std::string join_text(const RowResult& result);  ///< C expression of two totals `a` and `b`
bool finds_index(const RowResult& result);
std::string identity_text(const RowResult& result, const HookWriter& hooks);  ///< of the total, or of the best term

}  // namespace kerf::synth
