// Reductions along leading or middle axes: as `row`, but neighbours in memory belong to different rows, so threads and
// vector lanes run over rows. Extents: ROWS, COLS, RUN (neighbours in memory, all of different rows), OUT (ROWS / RUN).
// KEPT and RANGES as in `row`; TILES for processors, with many rows at once.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_values.hpp"

namespace kerf::synth {
namespace {

class Column final : public Family {
 public:
  std::string_view name() const override { return "column"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    const auto program = row_program(plan, group);
    return program && !program->fast_columns;
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext& context, HookWriter& hooks) const override {
    const auto program = row_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    TemplateValues values;
    set_row_extents(*program, values);
    Dim out = 1;
    const std::vector<bool> fast = program->fast_axes();
    for (std::size_t d = 0; d < fast.size(); ++d)
      if (!fast[d] && !program->domain.reduced[d]) out = out * program->domain.shape[d];
    values.extents["OUT"] = out.to_string();
    values.text["PER_ELEMENT"] = program->per_element ? "1" : "0";
    const auto write = [&](const RowStyle& style, const std::string& name) {
      const RowCode code = write_row_code(*program, group, style, hooks);
      values.lists[name] = row_record(*program, group, style, code, hooks);
      return code;
    };
    const bool host_entry = hooks.dialect().host_entry;
    if (!host_entry) {
      const RowCode kept = write({.prefix = "k_", .keep = Keep::everything}, "KEPT");
      values.text["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
      values.text["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
      set_split_values(values, write({.prefix = "r_"}, "RANGES"));
    }
    if (host_entry || context.facts.runs_on_host) write({.prefix = "t_", .rows_at_once = true}, "TILES");
    return values;
  }
};

}  // namespace

const Family& column_family() {
  static const Column family;
  return family;
}

}  // namespace kerf::synth
