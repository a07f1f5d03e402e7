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
std::optional<RowProgram> row_program(const codegen::BufferPlan& plan, const Group& group);

/// Sets `run` where that helps and is right for all `shapes`.
void shorten_run(RowProgram& program, const Group& group, const codegen::BufferPlan& plan,
                 const std::vector<ShapeSet>& shapes);

/// As `row_program` for a group with one scan, along the only axis that counts as reduced.
std::optional<RowProgram> scan_program(const codegen::BufferPlan& plan, const Group& group);

/// What a pass keeps for later passes instead of computing it again.
enum class Keep { nothing, expensive, everything };

struct RowStyle {
  std::string prefix;        ///< of the hooks' names
  bool read_leaves = false;  ///< leaves are read by the template's code (see RowLeaf), V at a time, not by the hooks
  Keep keep = Keep::nothing;
  /// Many rows at once, `l` of them: hooks take (outer, inner) with row = outer * RUN + inner, and values of the row
  /// are elements [l] of arrays.
  bool rows_at_once = false;
  /// Hooks also take `run`, which run of columns `col` is in, so that a loop within a run has nothing to divide.
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
Pair pair_from(const RowProgram& program, const codegen::BufferPlan& plan, std::size_t k);

/// A name that stands for a text in the code: `const type name = text;`.
struct RowValue {
  std::string type, name, text;
};

/// A leaf that the template reads itself: V elements of columns from `base` on, into `name`.
struct RowLeaf {
  std::string type, name;
  std::string hook;     ///< "$k_leaf_0": reads one element
  bool floats = false;  ///< they are neighbouring floats, `pointer[at]` and so on
  std::string pointer, at;
};

/// The code of one pass. In all texts `row` and `col` are the indices and `v` is the position within V columns from
/// `col - v` on. $AT is where the template keeps the value of this column, in arrays kept0, kept1, ...
struct PassCode {
  std::vector<RowLeaf> leaves;    ///< read before the loop over v
  std::vector<RowValue> values;   ///< per column: new values
  std::string term;               ///< per column: what is reduced, or the finished value of the root
  std::vector<RowValue> saves;    ///< per column, last: the array that each kept value goes to
  std::vector<RowValue> scalars;  ///< values of the row that are known after the pass
};

/// A result of a reduction.
struct RowResult {
  ir::ReduceOp op = ir::ReduceOp::sum;
  std::string type;       ///< of the total; of the index for argmax and argmin
  std::string term_type;  ///< of what is compared, for argmax and argmin
  std::string name;       ///< variable with the result: "sum0"
  DType dtype = DType::f32, term_dtype = DType::f32;
  Pair pair = Pair::none;
  std::string second;  ///< variable with the second result of a pair: "squares0"
};

struct RowCode {
  std::vector<RowValue> before;         ///< values of the row that need no reduction
  std::vector<PassCode> passes;         ///< one per reduction (or pair), then one for the root
  std::vector<RowResult> results;       ///< one per reduction (or pair)
  std::vector<std::string> slot_types;  ///< types of kept0, kept1, ...
  std::vector<std::string> whole;       ///< buffers whose element (row, col) lies at `whole_at`
  std::string whole_at;
};

/// Writes the hooks of a program in one style. `root` is stored by the hook `$<prefix>put($args, row, col, value)`, or
/// without the column when there is one element per row.
RowCode write_row_code(const RowProgram& program, const Group& group, const RowStyle& style, HookWriter& hooks);

/// The same for a program whose one anchor is a scan along the columns: passes[0] gives what is scanned, passes[1] the
/// finished value of the root from the running one, `scanned` ("running[v]").
RowCode write_scan_code(const RowProgram& program, const Group& group, const RowStyle& style,
                        const std::string& scanned, HookWriter& hooks);

/// C expression for the position of the root's element (row, col) in its buffer.
std::string root_address(const RowProgram& program, const Group& group, HookWriter& hooks);

/// Extents that all templates share: ROWS, COLS, and RUN, the number of neighbours in memory along the fast axes.
void set_row_extents(const RowProgram& program, TemplateValues& values);

}  // namespace kerf::synth
