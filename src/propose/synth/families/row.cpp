// Reductions along rows: softmax, norms, losses, sums, argmax; what comes before, between and after them is fused.
//
// Fits row programs (row_program.hpp) whose columns are neighbours in memory. Extents: ROWS, COLS, RUN. PER_ELEMENT
// says whether the output has an element per column; SLOTS how many values per column are kept between passes.
// row_text.hpp tells the rest.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

class Row final : public Family {
 public:
  std::string_view name() const override { return "row"; }

  bool fits(const codegen::Plan& plan, const Group& group) const override {
    const auto program = row_program(plan, group);
    return program && program->fast_columns;
  }

  Result<Filling> fill(const Group& group, const Setting& setting, HookWriter& hooks) const override {
    const auto program = row_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    Filling filling;
    set_row_extents(*program, filling);
    filling.values["PER_ELEMENT"] = program->per_element ? "1" : "0";
    if (setting.target == "cpu")
      host(filling, *program, group, hooks);
    else
      gpu(filling, *program, group, hooks);
    return filling;
  }

 private:
  static void gpu(Filling& filling, const RowProgram& program, const Group& group, HookWriter& hooks) {
    const RowCode kept = write_row_code(program, group, {"k_", true, Keep::everything}, hooks);
    const RowCode ranges = write_row_code(program, group, {"r_", true, Keep::nothing}, hooks);
    filling.values["JOINS"] = join_functions(kept, hooks, true);
    set_keeping_passes(filling, kept, program, group, hooks);
    set_range_passes(filling, ranges, program, group, hooks);
    std::string shared, shared_rows;
    for (std::size_t k = 0; k < kept.results.size(); ++k) {
      shared +=
          "  KERF_SHARED " + state_type(kept.results[k]) + " kerf_m" + std::to_string(k) + "[$BLOCK / KERF_WARP];\n";
      if (finds_index(kept.results[k]))
        shared += "  KERF_SHARED kerf_index kerf_m" + std::to_string(k) + "i[$BLOCK / KERF_WARP];\n";
      shared_rows += "  KERF_SHARED " + state_type(kept.results[k]) + " kerf_m" + std::to_string(k) + "[1];\n";
      if (finds_index(kept.results[k]))
        shared_rows += "  KERF_SHARED kerf_index kerf_m" + std::to_string(k) + "i[1];\n";
    }
    filling.values["SHARED"] = shared;
    filling.values["SHARED_UNUSED"] = shared_rows;
    filling.values["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    filling.values["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    set_split_values(filling, ranges);
  }

  static void host(Filling& filling, const RowProgram& program, const Group& group, HookWriter& hooks) {
    const RowCode kept = write_row_code(program, group, {"k_", false, Keep::expensive, false, true}, hooks);
    const RowCode plain = write_row_code(program, group, {"r_", false, Keep::nothing, false, true}, hooks);
    filling.values["JOINS"] = join_functions(plain, hooks, false);
    set_host_passes(filling, kept, program, hooks, "k_", "_KEEP");
    set_host_passes(filling, plain, program, hooks, "r_", "");
    std::string slots;
    for (std::size_t s = 0; s < kept.slot_types.size(); ++s)
      slots += "    alignas(64) " + kept.slot_types[s] + " kerf_k" + std::to_string(s) + "[$COLS];\n";
    filling.values["SLOTS_HERE"] = slots;
    filling.values["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    filling.values["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    filling.values["RANGE"] =
        "const kerf_index kerf_row = job / $PARTS, begin = job % $PARTS * SPAN;\n"
        "    const kerf_index end = begin + SPAN < $COLS ? begin + SPAN : $COLS;";
  }
};

}  // namespace

const Family& row_family() {
  static const Row family;
  return family;
}

}  // namespace kerf::synth
