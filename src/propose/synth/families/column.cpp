// Reductions along leading or middle axes: as `row`, but neighbours in memory belong to different rows, so threads and
// vector lanes run over rows. Extents: ROWS, COLS, RUN (neighbours in memory, all of different rows), OUT (ROWS / RUN).

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

class Column final : public Family {
 public:
  std::string_view name() const override { return "column"; }

  bool fits(const codegen::Plan& plan, const Group& group) const override {
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
    const bool host = hooks.dialect().host_entry;
    if (!host) gpu(values, *program, group, hooks);
    if (host || context.facts.runs_on_host) {
      const RowCode code = write_row_code(*program, group, {"t_", false, Keep::nothing, true}, hooks);
      values.text[host ? "JOINS" : "ITEM_JOINS"] = join_functions(code, hooks, false);
      set_tile_passes(values, code, *program, hooks);
    }
    return values;
  }

 private:
  static void gpu(TemplateValues& values, const RowProgram& program, const Group& group, HookWriter& hooks) {
    const RowCode kept = write_row_code(program, group, {"k_", false, Keep::everything, false}, hooks);
    const RowCode ranges = write_row_code(program, group, {"r_", false, Keep::nothing, false}, hooks);
    values.text["JOINS"] = column_join_functions(kept, hooks);
    set_keeping_passes(values, kept, program, group, hooks);
    set_range_passes(values, ranges, program, group, hooks);
    std::string shared;
    for (std::size_t k = 0; k < kept.results.size(); ++k) {
      const auto array = [&](const std::string& type, const std::string& name) {
        shared += "  KERF_SHARED " + type + " " + name + "_all[$X * $Y];\n  KERF_LOCAL " + type + "* " + name + " = " +
                  name + "_all + x;\n";
      };
      array(state_type(kept.results[k]), "kerf_m" + std::to_string(k));
      if (finds_index(kept.results[k])) array("kerf_index", "kerf_m" + std::to_string(k) + "i");
    }
    values.text["SHARED"] = shared;
    values.text["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    values.text["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    set_split_values(values, ranges);
  }
};

}  // namespace

const Family& column_family() {
  static const Column family;
  return family;
}

}  // namespace kerf::synth
