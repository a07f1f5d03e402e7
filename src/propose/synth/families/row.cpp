// Reductions along rows: softmax, norms, losses, sums, argmax; what comes before, between and after them is fused.
//
// Fits row programs (row_program.hpp) whose columns are neighbours in memory. Extents: ROWS, COLS, RUN. PER_ELEMENT
// says whether the output has an element per column; FEW_ROWS whether rows must be split to fill the device; SLOTS how
// many values per column are kept between passes. row_text.hpp tells the rest. On OpenCL devices that are processors
// the host's values are there too, as ITEM_<name>.

#include <fmt/format.h>

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
    auto program = row_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    shorten_run(*program, group, hooks.plan(), setting.shapes);
    Filling filling;
    set_row_extents(*program, filling);
    filling.values["PER_ELEMENT"] = program->per_element ? "1" : "0";
    filling.values["FEW_ROWS"] = few_rows(filling, setting) ? "1" : "0";
    if (setting.target == "cpu") {
      host(filling, *program, group, hooks, "");
      return filling;
    }
    gpu(filling, *program, group, hooks);
    if (setting.facts.processor) {
      Filling items;
      host(items, *program, group, hooks, "item_");
      for (auto& [name, value] : items.values) filling.values["ITEM_" + name] = std::move(value);
    }
    return filling;
  }

 private:
  /// Whether rows are so few and long in every timed shape that one group of threads per row leaves most of the device
  /// idle.
  static bool few_rows(const Filling& filling, const Setting& setting) {
    const auto rows = parse_dim(filling.extents.at("ROWS")), cols = parse_dim(filling.extents.at("COLS"));
    if (!rows || !cols) return false;
    const std::int64_t units = setting.facts.compute_units > 0 ? setting.facts.compute_units : 64,
                       longest = setting.target == "cpu" ? 16384 : 65536;
    bool few = false;
    for (const ShapeSet& shape : setting.shapes) {
      if (shape.weight <= 0) continue;
      const auto r = rows->evaluate(shape.symbols), c = cols->evaluate(shape.symbols);
      if (!r || !c || *r >= units || *c < longest) return false;
      few = true;
    }
    return few;
  }

  static void gpu(Filling& filling, const RowProgram& program, const Group& group, HookWriter& hooks) {
    const RowCode kept = write_row_code(program, group, {"k_", true, Keep::everything}, hooks);
    const RowCode ranges = write_row_code(program, group, {.prefix = "r_", .read_leaves = true, .pairs = true}, hooks);
    filling.values["JOINS"] = join_functions(kept, hooks, true);
    set_keeping_passes(filling, kept, program, group, hooks);
    set_range_passes(filling, ranges, program, group, hooks);
    filling.values["SHARED"] = shared_arrays(kept, "($BLOCK / KERF_WARP)");
    filling.values["SHARED_UNUSED"] = shared_arrays(kept, "1");
    filling.values["RANGE_JOINS"] = join_functions(ranges, hooks, true);
    filling.values["RANGE_SHARED"] = shared_arrays(ranges, "($BLOCK / KERF_WARP)");
    filling.values["RANGE_SHARED_UNUSED"] = shared_arrays(ranges, "1");
    filling.values["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    filling.values["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    set_split_values(filling, ranges);
  }

  /// Where the floats of columns from kerf_col on are stored; "" when there are none.
  static std::string streamed_address(const RowProgram& program, const Group& group, HookWriter& hooks) {
    const codegen::Buffer& out = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)];
    const bool floats = out.dtype == DType::f32 && hooks.type_name(group.root) == "float";
    if (!program.per_element || !floats) return {};
    return fmt::format("{} + ({})", out.parameter, root_address(program, group, hooks));
  }

  /// `start`: of the names of hooks.
  static void host(Filling& filling, const RowProgram& program, const Group& group, HookWriter& hooks,
                   const std::string& start) {
    const std::string keeping = start + "k_", ranges = start + "r_";
    const RowCode kept = write_row_code(program, group, {keeping, false, Keep::expensive, false, true}, hooks);
    const RowCode plain = write_row_code(program, group, {.prefix = ranges, .majors = true, .pairs = true}, hooks);
    filling.values["JOINS"] = join_functions(kept, hooks, false);
    filling.values["RANGE_JOINS"] = join_functions(plain, hooks, false);
    const std::string streamed = hooks.dialect().host_entry ? streamed_address(program, group, hooks) : "";
    filling.values["STREAMS"] = streamed.empty() ? "0" : "1";
    set_host_passes(filling, kept, program, hooks, keeping, "_KEEP", streamed);
    set_host_passes(filling, plain, program, hooks, ranges, "", streamed);
    std::string slots;
    for (std::size_t s = 0; s < kept.slot_types.size(); ++s)
      slots += "    " + kept.slot_types[s] + " kerf_k" + std::to_string(s) + "[$COLS] __attribute__((aligned(64)));\n";
    filling.values["SLOTS_HERE"] = slots;
    filling.values["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    filling.values["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    // The same columns of all rows follow each other: what the rows share is then still in the cache.
    filling.values["RANGE"] =
        "const kerf_index kerf_row = turn % $ROWS, part = turn / $ROWS, begin = part * SPAN, job = kerf_row * $PARTS + "
        "part;\n"
        "    const kerf_index end = begin + SPAN < $COLS ? begin + SPAN : $COLS;";
  }
};

}  // namespace

const Family& row_family() {
  static const Row family;
  return family;
}

}  // namespace kerf::synth
