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

  Result<TemplateValues> fill(const Group& group, const TargetContext& context, HookWriter& hooks) const override {
    auto program = row_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    shorten_run(*program, group, hooks.plan(), context.shapes);
    TemplateValues values;
    set_row_extents(*program, values);
    values.text["PER_ELEMENT"] = program->per_element ? "1" : "0";
    values.text["FEW_ROWS"] = few_rows(values, context, hooks.dialect().host_entry) ? "1" : "0";
    if (hooks.dialect().host_entry) {
      host(values, *program, group, hooks, "");
      return values;
    }
    gpu(values, *program, group, hooks);
    if (context.facts.runs_on_host) {
      TemplateValues items;
      host(items, *program, group, hooks, "item_");
      for (auto& [name, value] : items.text) values.text["ITEM_" + name] = std::move(value);
    }
    return values;
  }

 private:
  /// Whether rows are so few and long in every timed shape that one group of threads per row leaves most of the device
  /// idle.
  static bool few_rows(const TemplateValues& values, const TargetContext& context, bool host) {
    const auto rows = parse_dim(values.extents.at("ROWS")), cols = parse_dim(values.extents.at("COLS"));
    if (!rows || !cols) return false;
    const std::int64_t units = context.facts.compute_units > 0 ? context.facts.compute_units : 64,
                       longest = host ? 16384 : 65536;
    bool few = false;
    for (const ShapeSet& shape : context.shapes) {
      if (shape.weight <= 0) continue;
      const auto r = rows->evaluate(shape.symbols), c = cols->evaluate(shape.symbols);
      if (!r || !c || *r >= units || *c < longest) return false;
      few = true;
    }
    return few;
  }

  static void gpu(TemplateValues& values, const RowProgram& program, const Group& group, HookWriter& hooks) {
    const RowCode kept = write_row_code(program, group, {"k_", true, Keep::everything}, hooks);
    const RowCode ranges = write_row_code(program, group, {.prefix = "r_", .read_leaves = true, .pairs = true}, hooks);
    values.text["JOINS"] = join_functions(kept, hooks, true);
    set_keeping_passes(values, kept, program, group, hooks);
    set_range_passes(values, ranges, program, group, hooks);
    values.text["SHARED"] = shared_arrays(kept, "($BLOCK / KERF_WARP)");
    values.text["SHARED_UNUSED"] = shared_arrays(kept, "1");
    values.text["RANGE_JOINS"] = join_functions(ranges, hooks, true);
    values.text["RANGE_SHARED"] = shared_arrays(ranges, "($BLOCK / KERF_WARP)");
    values.text["RANGE_SHARED_UNUSED"] = shared_arrays(ranges, "1");
    values.text["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    values.text["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    set_split_values(values, ranges);
  }

  /// Where the floats of columns from kerf_col on are stored; "" when there are none.
  static std::string streamed_address(const RowProgram& program, const Group& group, HookWriter& hooks) {
    const codegen::Buffer& out = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)];
    const bool floats = out.dtype == DType::f32 && hooks.type_name(group.root) == "float";
    if (!program.per_element || !floats) return {};
    return fmt::format("{} + ({})", out.parameter, root_address(program, group, hooks));
  }

  /// `start`: of the names of hooks.
  static void host(TemplateValues& values, const RowProgram& program, const Group& group, HookWriter& hooks,
                   const std::string& start) {
    const std::string keeping = start + "k_", ranges = start + "r_";
    const RowCode kept = write_row_code(program, group, {keeping, false, Keep::expensive, false, true}, hooks);
    const RowCode plain = write_row_code(program, group, {.prefix = ranges, .majors = true, .pairs = true}, hooks);
    values.text["JOINS"] = join_functions(kept, hooks, false);
    values.text["RANGE_JOINS"] = join_functions(plain, hooks, false);
    const std::string streamed = hooks.dialect().host_entry ? streamed_address(program, group, hooks) : "";
    values.text["STREAMS"] = streamed.empty() ? "0" : "1";
    set_host_passes(values, kept, program, hooks, keeping, "_KEEP", streamed);
    set_host_passes(values, plain, program, hooks, ranges, "", streamed);
    std::string slots;
    for (std::size_t s = 0; s < kept.slot_types.size(); ++s)
      slots += "    " + kept.slot_types[s] + " kerf_k" + std::to_string(s) + "[$COLS] __attribute__((aligned(64)));\n";
    values.text["SLOTS_HERE"] = slots;
    values.text["SLOTS"] = std::to_string(std::max<std::size_t>(1, kept.slot_types.size()));
    values.text["KEEPS"] = kept.slot_types.empty() ? "0" : "1";
    // The same columns of all rows follow each other: what the rows share is then still in the cache.
    values.text["RANGE"] =
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
