// Reductions along rows: softmax, norms, losses, sums, argmax; what comes before, between and after them is fused.
//
// Fits row programs (row_program.hpp) whose columns are neighbours in memory. Extents: ROWS, COLS, RUN; ONE_RUN says
// whether a row is one run. PER_ELEMENT says whether the output has an element per column; FEW_ROWS whether rows must
// be split to fill the device, into at least LEAST_GROUPS groups; FEW_WARPS whether a warp per row cannot fill it.
// Programs as row_values.hpp describes them: KEPT and RANGES for the threads of GPUs (what is read is kept, or read
// again by every pass), HOST_KEPT and HOST_RANGES for processors. SLOTS (HOST_SLOTS) is how many values per column are
// kept, KEEPS (HOST_KEEPS) whether any are; STREAMS whether results may pass the cache.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_values.hpp"

namespace kerf::synth {
namespace {

class Row final : public Family {
 public:
  std::string_view name() const override { return "row"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    const auto program = row_program(plan, group);
    return program && program->fast_columns;
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext& context, HookWriter& hooks) const override {
    auto program = row_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    shorten_run(*program, group, hooks.plan(), context.shapes);
    const bool host_entry = hooks.dialect().host_entry;
    TemplateValues values;
    set_row_extents(*program, values);
    values.text["ONE_RUN"] = values.extents["RUN"] == values.extents["COLS"] ? "1" : "0";
    values.text["PER_ELEMENT"] = program->per_element ? "1" : "0";
    values.text["FEW_ROWS"] = few_rows(values, context, 1, host_entry ? 16384 : 65536) ? "1" : "0";
    values.text["FEW_WARPS"] = few_rows(values, context, kWarpsPerUnit, 8192) ? "1" : "0";
    values.text["LEAST_GROUPS"] = std::to_string(least_groups(context));
    values.text["STREAMS"] = host_entry && program->per_element && stores_floats(group, hooks) ? "1" : "0";
    const auto write = [&](const RowStyle& style, const std::string& name) {
      const RowCode code = write_row_code(*program, group, style, hooks);
      values.lists[name] = row_record(*program, group, style, code, hooks);
      return code;
    };
    const auto count = [&](const RowCode& code, const std::string& start) {
      values.text[start + "SLOTS"] = std::to_string(std::max<std::size_t>(1, code.slot_types.size()));
      values.text[start + "KEEPS"] = code.slot_types.empty() ? "0" : "1";
    };
    if (!host_entry) {
      count(write({.prefix = "k_", .read_leaves = true, .keep = Keep::everything}, "KEPT"), "");
      set_split_values(values, write({.prefix = "r_", .read_leaves = true, .pairs = true}, "RANGES"));
    }
    if (host_entry || context.facts.runs_on_host) {
      count(write({.prefix = "host_k_", .keep = Keep::expensive, .majors = true}, "HOST_KEPT"), "HOST_");
      write({.prefix = "host_r_", .majors = true, .pairs = true}, "HOST_RANGES");
    }
    return values;
  }

 private:
  static constexpr std::int64_t kWarpsPerUnit = 16;  ///< so many have loads enough in flight for all the bandwidth

  /// Groups of threads below which a split row leaves multiprocessors without work; a processor's cores share any
  /// number.
  static std::int64_t least_groups(const TargetContext& context) {
    constexpr std::int64_t kPerUnit = 4, kEnough = 1024;
    return context.facts.runs_on_host ? 1
                                      : std::clamp<std::int64_t>(kPerUnit * context.facts.compute_units, 1, kEnough);
  }

  /// Whether in every timed shape there are fewer than so many rows for each of the device's units, and all are at
  /// least so long: a group of threads (or a warp) per row then leaves most of the device idle.
  static bool few_rows(const TemplateValues& values, const TargetContext& context, std::int64_t per_unit,
                       std::int64_t longest) {
    const auto rows = parse_dim(values.extents.at("ROWS")), cols = parse_dim(values.extents.at("COLS"));
    if (!rows || !cols) return false;
    const std::int64_t most = per_unit * (context.facts.compute_units > 0 ? context.facts.compute_units : 64);
    bool few = false;
    for (const ShapeSet& shape : context.shapes) {
      if (shape.weight <= 0) continue;
      const auto r = rows->evaluate(shape.symbols), c = cols->evaluate(shape.symbols);
      if (!r || !c || *r >= most || *c < longest) return false;
      few = true;
    }
    return few;
  }
};

}  // namespace

const Family& row_family() {
  static const Row family;
  return family;
}

}  // namespace kerf::synth
