// Running sums, products, maxima and minima along one axis, with what is elementwise before and after.
//
// Rows are the lines that are scanned, columns the positions along them. Extents: ROWS, COLS, RUN, OUT as in `row` and
// `column`. FAST says that the scanned axis is the fastest. REVERSE and EXCLUSIVE are 0 or 1, IDENTITY the start, T the
// type, JOINED two values `a` and `b` together. Programs as row_values.hpp describes them: VECTORS (`running[v]` is the
// running value), SINGLES (`running[l]`) and, unless FAST, TILES (many lines at once).

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_values.hpp"

namespace kerf::synth {
namespace {

class Scan final : public Family {
 public:
  std::string_view name() const override { return "scan"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    return scan_program(plan, group).has_value();
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const auto program = scan_program(hooks.plan(), group);
    KERF_CHECK(program.has_value(), "fill is called for groups that fit");
    TemplateValues values;
    set_row_extents(*program, values);
    Dim out = 1;
    const std::vector<bool> fast = program->fast_axes();
    for (std::size_t d = 0; d < fast.size(); ++d)
      if (!fast[d] && !program->domain.reduced[d]) out = out * program->domain.shape[d];
    values.extents["OUT"] = out.to_string();
    set_operation(values, group.anchors[0], hooks);
    values.text["FAST"] = program->fast_columns ? "1" : "0";
    const auto write = [&](const RowStyle& style, const std::string& scanned, const std::string& name) {
      const RowCode code = write_scan_code(*program, group, style, scanned, hooks);
      values.lists[name] = scan_record(*program, group, style, code, hooks);
    };
    if (!hooks.dialect().host_entry) write({.prefix = "v_", .read_leaves = true}, "running[v]", "VECTORS");
    write({.prefix = "s_"}, "running[l]", "SINGLES");
    if (!program->fast_columns) write({.prefix = "t_", .rows_at_once = true}, "running[l]", "TILES");
    return values;
  }

 private:
  static void set_operation(TemplateValues& values, ir::NodeId id, const HookWriter& hooks) {
    const ir::Node& node = hooks.plan().graph[id];
    const auto& scan = ir::attr<ir::ScanAttr>(node);
    RowResult result;
    switch (scan.op) {
      case ir::ScanOp::sum: result.op = ir::ReduceOp::sum; break;
      case ir::ScanOp::prod: result.op = ir::ReduceOp::prod; break;
      case ir::ScanOp::max: result.op = ir::ReduceOp::max; break;
      case ir::ScanOp::min: result.op = ir::ReduceOp::min; break;
    }
    result.type = hooks.type_name(id);
    result.dtype = codegen::value_type(node, hooks.options());
    values.text["IDENTITY"] = identity_text(result, hooks);
    values.text["T"] = result.type;
    values.text["JOINED"] = join_text(result);
    values.text["TYPE"] = result.dtype == DType::boolean ? "i32" : std::string(dtype_name(result.dtype));
    values.text["REVERSE"] = scan.reverse ? "1" : "0";
    values.text["EXCLUSIVE"] = scan.exclusive ? "1" : "0";
    values.text["F32"] = result.type == "float" ? "1" : "0";
  }
};

}  // namespace

const Family& scan_family() {
  static const Scan family;
  return family;
}

}  // namespace kerf::synth
