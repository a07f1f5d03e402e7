// Running sums, products, maxima and minima along one axis, with what is elementwise before and after.
//
// Rows are the lines that are scanned, columns the positions along them. Extents: ROWS, COLS, RUN, OUT as in `row` and
// `column`. FAST says that the scanned axis is the fastest. REVERSE and EXCLUSIVE are 0 or 1, IDENTITY the start, T the
// type. $join(a, b) combines two values. Per style the code READS, TERM, FINISH_READS, FINISH; `kerf_z[...]` is the
// running value.

#include <fmt/format.h>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_text.hpp"

namespace kerf::synth {
namespace {

class Scan final : public Family {
 public:
  std::string_view name() const override { return "scan"; }

  bool fits(const codegen::Plan& plan, const Group& group) const override {
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
    const auto put = [&](const std::string& suffix, const RowStyle& style, const std::string& scanned) {
      const RowCode code = write_scan_code(*program, group, style, scanned, hooks);
      values.text["BEFORE" + suffix] = indent(code.before, 4);
      values.text["READS" + suffix] = indent(code.passes[0].reads, 6);
      values.text["TERM" + suffix] = code.passes[0].term;
      values.text["FINISH_READS" + suffix] = indent(code.passes[1].reads, 6);
      values.text["FINISH" + suffix] = code.passes[1].term;
      values.text["SCALARS" + suffix] = arrays(code);
    };
    const codegen::Buffer& buffer = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)];
    const std::string type = hooks.type_name(group.root);
    values.text["OUT_TYPE"] = type;
    values.text["OUT_PTR"] = buffer.parameter;
    values.text["OUT_F32"] = buffer.dtype == DType::f32 && type == "float" ? "1" : "0";
    values.text["OUT_AT"] = root_address(*program, group, hooks);
    if (!hooks.dialect().host_entry) put("_V", {"v_", true, Keep::nothing}, "kerf_z[v]");
    put("", {"s_", false, Keep::nothing}, "kerf_z[l]");
    if (!program->fast_columns) put("_TILE", {"t_", false, Keep::nothing, true}, "kerf_z[l]");
    return values;
  }

 private:
  static std::string arrays(const RowCode& code) {
    std::string text;
    for (std::size_t s = 0; s < code.scalar_names.size(); ++s)
      text += fmt::format("  {} {}[W];\n", code.scalar_types[s], code.scalar_names[s]);
    return text;
  }

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
