#pragma once
// A row program: a group whose reductions all run over the same axes of one index space.
//
// Each index along the axes that are kept names a row, each index along the reduced ones a column. The program goes
// over a row once per reduction, in order, since later ones may use the results of earlier ones, and once more for an
// output with an element per column. Values that depend on the row alone are computed once, between the passes.

#include <optional>
#include <string>
#include <vector>

#include "propose/synth/families/row_places.hpp"

namespace kerf::synth {

struct RowProgram {
  Domain domain;
  std::vector<ir::NodeId> reduces;  ///< in the order they run
  bool per_element = false;         ///< the root has an element per row and column; otherwise one per row
  bool fast_columns = false;        ///< neighbours in memory are neighbours along the columns (else along the rows)

  /// Set when the root's axes are not the domain's (a group norm's channels): its axes from `run_axis` on, `run`
  /// elements in all, divide a row, so that what depends on the other axes only is constant along a run.
  std::optional<Dim> run;
  std::size_t run_axis = 0;

  /// The last axes as far as they are all reduced (fast_columns) or all kept: the run of neighbours in memory.
  std::vector<bool> fast_axes() const;
};

/// None when the group is not a row program.
std::optional<RowProgram> row_program(const codegen::Plan& plan, const Group& group);

/// Sets `run` where that helps and is right for all `shapes`.
void shorten_run(RowProgram& program, const Group& group, const codegen::Plan& plan,
                 const std::vector<ShapeSet>& shapes);

/// As `row_program` for a group with one scan, along the only axis that counts as reduced.
std::optional<RowProgram> scan_program(const codegen::Plan& plan, const Group& group);

/// What a pass keeps for later passes instead of computing it again.
enum class Keep { nothing, expensive, everything };

struct RowStyle {
  std::string prefix;  ///< of the hooks' names
  bool read_leaves =
      false;  ///< leaves are read by the template's code (see RowCode::reads), V at a time, not by the hooks
  Keep keep = Keep::nothing;
  /// Many rows at once, `l` of them: hooks take (kerf_out, kerf_in) with kerf_row = kerf_out * RUN + kerf_in, and
  /// values of the row are elements [l] of arrays.
  bool rows_at_once = false;
  /// Hooks also take kerf_major, which run of columns kerf_col is in, so that a loop within a run has nothing to
  /// divide.
  bool majors = false;
  /// Two reductions of which the second uses the first become one pass where that is possible, see Pair.
  bool pairs = false;
};

/// Reductions that one pass can find together, piece by piece.
enum class Pair {
  none,
  moments,  ///< the sum, and the sum of squares of what lies off the mean
  online,   ///< the maximum, and the sum of the exponentials of what lies below it
};

/// Whether reductions k and k + 1 are a pair.
Pair pair_from(const RowProgram& program, const codegen::Plan& plan, std::size_t k);

/// The code of one pass. In all texts `kerf_row` and `kerf_col` are the indices, `v` the position within V columns from
/// `kerf_col - v` on, and `$slot(kerf_k0)` the kept value of this column.
struct PassCode {
  std::string reads;    ///< statements before the loop over v: reads leaves of the columns from `base` on
  std::string values;   ///< statements per column: new values
  std::string term;     ///< expression per column: what is reduced, or the finished value of the root
  std::string saves;    ///< statements per column, last: values that are kept
  std::string scalars;  ///< statements after the pass: values of the row
};

/// A result of a reduction.
struct RowResult {
  ir::ReduceOp op = ir::ReduceOp::sum;
  std::string type;       ///< of the total; of the index for argmax and argmin
  std::string term_type;  ///< of what is compared, for argmax and argmin
  std::string name;       ///< variable with the result: kerf_s0
  DType dtype = DType::f32, term_dtype = DType::f32;
  Pair pair = Pair::none;  ///< the second result is in <name>m
};

struct RowCode {
  std::string before;                   ///< values of the row that need no reduction
  std::vector<PassCode> passes;         ///< one per reduction (or pair), then one for the root
  std::vector<RowResult> results;       ///< one per reduction (or pair)
  std::vector<std::string> slot_types;  ///< types of kerf_k0, kerf_k1, ...
  std::vector<std::string> scalar_types,
      scalar_names;               ///< of all values of the row but the results, in order of definition
  std::vector<int> scalar_stage;  ///< the pass each is known after; -1: from the start
};

/// Writes the hooks of a program in one style. `root` is stored by the hook `$<prefix>put($args, kerf_row, kerf_col,
/// value)`, or without the column when there is one element per row.
RowCode write_row_code(const RowProgram& program, const Group& group, const RowStyle& style, HookWriter& hooks);

/// The same for a program whose one anchor is a scan along the columns: passes[0] gives what is scanned, passes[1] the
/// finished value of the root from the running one, `scanned` ("kerf_z[v]").
RowCode write_scan_code(const RowProgram& program, const Group& group, const RowStyle& style,
                        const std::string& scanned, HookWriter& hooks);

/// C expression for the position of the root's element (kerf_row, kerf_col) in its buffer.
std::string root_address(const RowProgram& program, const Group& group, HookWriter& hooks);

/// Extents that all templates share: ROWS, COLS, and RUN, the number of neighbours in memory along the fast axes.
void set_row_extents(const RowProgram& program, TemplateValues& values);

}  // namespace kerf::synth
